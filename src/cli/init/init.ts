// The `init` command: looks at a site, decides on a mapping, and writes a configuration that serves it, in this order.

import { ConfigError } from '../../errors.ts';
import { loadMapping } from '../../mapping/load.ts';
import { printable } from '../../text/text.ts';
import { programName, siteError } from '../advice.ts';
import { basicAuth, openSite } from '../open-site.ts';
import type { InitOptions } from './options.ts';
import { type ChosenMapping, proposalLines, propose, siteLines, whyNothingLines } from './propose.ts';
import { isPayload, type ProbedSite, probe } from './site.ts';
import { displayPath, nextStepLines, outputFiles, type ServiceAccount, writeFiles } from './write.ts';

const printLine = (line: string): void => void process.stdout.write(`${printable(line)}\n`);

/**
 * Resolves with the exit code: 0 written, 1 nothing written. Throws `ConfigError` if the site does not answer, or if a
 * file exists.
 */
export async function init(options: InitOptions, print = printLine): Promise<number> {
  const printAll = (lines: readonly string[]) => {
    for (const line of lines) print(line);
  };
  const { url, userAgent } = options;
  if (url === undefined)
    throw new ConfigError('init', 'needs the address of a site', `${programName()} init https://example.org`);
  const account = accountOf(options);
  const { proposal, lines } = (await isPayload(url, userAgent))
    ? proposeForPayload(url, options)
    : proposeForWordPress(await look(url, account, userAgent), options);
  printAll(lines);
  if (!proposal) return 1;
  if (!options.yes) {
    print(`Nothing is written. Add --yes to write this to ${options.out}.`);
    return 1;
  }
  const files = outputFiles(url, proposal, options, account);
  printAll(writeFiles(options.out, files, options.force).map((file) => `wrote ${displayPath(file)}`));
  printAll(nextStepLines(proposal, options.out, files, account !== undefined));
  return 0;
}

function accountOf({ user, password, isPasswordFromEnvironment }: InitOptions): ServiceAccount | undefined {
  if (user === undefined && password === undefined) return undefined;
  if (user === undefined)
    throw new ConfigError(
      '--user',
      'is missing: there is a password or an API key without one',
      'Give both, or neither.',
    );
  if (password === undefined)
    throw new ConfigError(
      '--user',
      'goes with an application password (of Payload: with an API key)',
      'Give it as --password-file FILE or in CALENDAR_UPSTREAM_PASSWORD.',
    );
  return { user, password, isFromEnvironment: isPasswordFromEnvironment };
}

interface Found {
  proposal: ChosenMapping | undefined;
  /** What `init` prints of it. */
  lines: string[];
}

async function look(url: string, account?: ServiceAccount, userAgent?: string): Promise<ProbedSite> {
  const login = account && basicAuth(account.user, account.password);
  const connection = openSite(url, login, undefined, { userAgent });
  try {
    return await probe(connection);
  } catch (error) {
    throw siteError(error, connection.url, account !== undefined, 'arguments', 'wordpress');
  } finally {
    await connection.close();
  }
}

function proposeForWordPress(site: ProbedSite, options: InitOptions): Found {
  const proposal = propose(site, options);
  const lines = proposal
    ? [...proposal.assumed.map((what) => `Assumed     ${what}`), ...proposalLines(proposal, site), '']
    : whyNothingLines(site, options.eventType);
  return { proposal, lines: [...siteLines(site), '', ...lines] };
}

const PAYLOAD_MAPPING = 'payload';

/**
 * A copy of the bundled mapping, without its time zone: only the operator knows how the collections and fields of a
 * Payload site correspond to the API's.
 */
function proposeForPayload(url: string, { mapping: name, eventType, fields, user }: InitOptions): Found {
  if ((name ?? PAYLOAD_MAPPING) !== PAYLOAD_MAPPING || eventType !== undefined || Object.keys(fields ?? {}).length > 0)
    throw new ConfigError(
      url,
      'is a Payload site: --mapping, --field and --event-type are for WordPress',
      'Leave them out, and name its collections and fields in mapping.json.',
    );
  const { source } = loadMapping(PAYLOAD_MAPPING);
  const payload = user === undefined || user === 'users' ? {} : { users: user };
  const mapping = { ...source, name: `${PAYLOAD_MAPPING}-here`, payload };
  return {
    proposal: { origin: 'preset', preset: undefined, mapping, needsPlugin: false },
    lines: [
      `Site        ${url}, Payload`,
      'Mapping     a copy of the mapping payload, which you edit: init does not know how the collections and fields ' +
        'of a Payload site are called (docs/mapping.md, Payload; check names what the site lacks)',
      '',
    ],
  };
}
