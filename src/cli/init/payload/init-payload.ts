// `init` for a Payload site: shows its collections, proposes a mapping for them, and writes the configuration.

import { apiKeyLogin } from '../../../cms/payload/payload.ts';
import { ConfigError } from '../../../errors.ts';
import { compileMapping } from '../../../mapping/compile.ts';
import { openPayloadSite } from '../../open-site.ts';
import { readSampleRecords } from '../../sample-records.ts';
import { siteError } from '../../site-problems.ts';
import { advise } from '../advice.ts';
import { displayPath, nextStepLines, outputFiles, writeFiles } from '../files.ts';
import type { InitOptions } from '../options.ts';
import { assertCollections, type Proposal } from '../propose.ts';
import type { Terminal } from '../questions.ts';
import { assumptionLines, previewLines, proposalLines } from '../report.ts';
import { type PayloadSite, probePayload } from './probe.ts';
import { proposePayload } from './propose.ts';

const GIVE_KEY =
  'Give an account with an API key (enableAPIKey): --user SLUG, the slug of its collection, such as users, and the key in --password-file FILE.';
const NAME_FIELDS =
  'Name the collection and its fields: --event-type SLUG --field event.start_date=PATH --field event.end_date=PATH.';

/**
 * Resolves with the exit code (0 written, 1 nothing written), or with undefined if the address is not that of
 * a Payload site.
 * @throws ConfigError if the account is unknown, or if a file exists
 */
export async function initPayload(
  url: string,
  options: InitOptions,
  { print, ask }: Terminal,
  mount: string,
): Promise<number | undefined> {
  const { user, password, anonymous } = options;
  const account =
    anonymous || user === undefined || password === undefined
      ? undefined
      : { user, password, isFromEnvironment: options.isPasswordFromEnvironment };
  // Only for Payload: a password of WordPress may have any characters.
  const login = account && (() => apiKeyLogin(account.user, account.password));
  const site = await probePayload(url, login);
  if (!site) return undefined;
  if (!anonymous && !account && user !== undefined) throw new ConfigError('--user', 'goes with an API key', GIVE_KEY);
  if (!anonymous && !account && password !== undefined)
    throw new ConfigError('--user', 'is missing: there is an API key without one', GIVE_KEY);
  assertSinglePaths(options);
  const bases = site.types.map(({ base }) => base);
  assertCollections(
    options,
    () => bases,
    () => `It has ${bases.join(', ')}.`,
  );
  const credentials = login?.();
  if (account && !site.account)
    throw new ConfigError('--user', `the site knows no account of "${account.user}" with this API key`, GIVE_KEY);
  const printAll = (lines: readonly string[]): void => {
    for (const line of lines) print(line);
  };
  printAll([...siteLines(site), '']);
  const name = options.name ?? (await ask?.name(site.name));
  const proposal = proposePayload(site, { ...options, name });
  if (!proposal) {
    printAll(['No collection has a field that looks like the start of an event.', `  ${NAME_FIELDS}`]);
    return 1;
  }
  printAll([...assumptionLines(proposal), ...proposalLines(proposal), '']);
  printAll([
    ...(await preview(site, proposal, credentials, (options.publicUrl ?? 'http://localhost:3000') + mount)),
    '',
  ]);
  if (!options.yes && !(await ask?.write(options.out))) {
    print(`Nothing is written${ask ? '.' : `: there is no terminal to ask on. ${advise('accept')}`}`);
    return 1;
  }
  const mapping = compileMapping(proposal.mapping, 'proposal');
  const files = outputFiles(url, mapping, proposal, options, account);
  printAll(writeFiles(options.out, files, options.force).map((file) => `wrote ${displayPath(file)}`));
  printAll(nextStepLines(proposal, options.out, files, account !== undefined));
  return 0;
}

/** Throws `ConfigError` for a date and a time of day in two fields: Payload's dates have both. */
function assertSinglePaths({ fields = {} }: InitOptions): void {
  for (const [name, path] of Object.entries(fields))
    if (path.includes(','))
      throw new ConfigError(
        `--field ${name}=${path}`,
        'is not one path',
        'Name the field of Payload that has the date and the time of day.',
      );
}

function siteLines({ url, account, types }: PayloadSite): string[] {
  return [
    `Site        ${url}, Payload`,
    account
      ? `Account     ${account.name} (${account.roles.join(', ') || 'no role'})`
      : `Account     none: only public records are readable. ${GIVE_KEY}`,
    `Collections ${types.map(({ base, total }) => `${base} (${total})`).join(', ')}`,
  ];
}

async function preview(
  site: PayloadSite,
  proposal: Proposal,
  credentials: string | undefined,
  baseUrl: string,
): Promise<string[]> {
  const mapping = compileMapping(proposal.mapping, 'proposal');
  const connection = openPayloadSite(site.url, credentials, mapping);
  try {
    const records = await readSampleRecords(connection, mapping, await connection.cms.site());
    return previewLines(records, mapping, await connection.cms.site(), baseUrl, proposal);
  } catch (error) {
    throw siteError(error, site.url, credentials !== undefined, 'arguments', 'payload');
  } finally {
    await connection.close();
  }
}
