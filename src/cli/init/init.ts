// The `init` command: looks at a site, decides on a mapping, and writes a configuration that serves it, in this order.

import { apiKeyLogin } from '../../cms/payload/payload.ts';
import { ConfigError } from '../../errors.ts';
import { printable } from '../../text/text.ts';
import { basicAuth, openSite } from '../open-site.ts';
import { programName } from '../program-name.ts';
import { siteError } from '../site-problems.ts';
import type { InitOptions } from './options.ts';
import { probe } from './probe.ts';
import { probePayload } from './probe-payload.ts';
import { propose } from './propose.ts';
import { proposalLines, siteLines, whyNothingLines } from './report.ts';
import type { ProbedSite } from './site.ts';
import { displayPath, nextStepLines, outputFiles, type ServiceAccount, writeFiles } from './write.ts';

const printLine = (line: string): void => void process.stdout.write(`${printable(line)}\n`);

/**
 * Resolves with the exit code: 0 written, 1 nothing written. Throws `ConfigError` if the site does not
 * answer, or if a file exists.
 */
export async function init(options: InitOptions, print = printLine): Promise<number> {
  const printAll = (lines: readonly string[]) => {
    for (const line of lines) print(line);
  };
  const { url } = options;
  if (url === undefined)
    throw new ConfigError('init', 'needs the address of a site', `${programName()} init https://example.org`);
  const { site, account } = await look(url, options);
  printAll([...siteLines(site), '']);
  const proposal = propose(site, options);
  if (!proposal) {
    printAll(whyNothingLines(site, options.collections?.event));
    return 1;
  }
  printAll(proposal.assumed.map((what) => `Assumed     ${what}`));
  printAll([...proposalLines(proposal, site), '']);
  if (!options.yes) {
    print(`Nothing is written. Add --yes to write this to ${options.out}.`);
    return 1;
  }
  const files = outputFiles(url, proposal, options, account);
  printAll(writeFiles(options.out, files, options.force).map((file) => `wrote ${displayPath(file)}`));
  printAll(nextStepLines(proposal, options.out, files, account !== undefined));
  return 0;
}

interface Look {
  site: ProbedSite;
  account: ServiceAccount | undefined;
}

const GIVE_KEY =
  'Give an account with an API key (enableAPIKey): --user SLUG, the slug of its collection, such as ' +
  'users, and the key in --password-file FILE.';

/** A site of Payload answers at /api/access; any other address is taken for WordPress. */
async function look(url: string, options: InitOptions): Promise<Look> {
  const { user, password, anonymous, isPasswordFromEnvironment: isFromEnvironment } = options;
  const account = user === undefined || password === undefined ? undefined : { user, password, isFromEnvironment };
  // Only for Payload: a password of WordPress may have any characters.
  const login = account && (() => apiKeyLogin(account.user, account.password));
  const site = await probePayload(url, login);
  if (!site) return lookAtWordPress(url, options);
  if (!anonymous && !account && (user ?? password) !== undefined)
    throw new ConfigError('--user', 'goes with an API key, and the key with a user', GIVE_KEY);
  if (account && !site.account)
    throw new ConfigError('--user', `the site knows no account of "${account.user}" with this API key`, GIVE_KEY);
  return { site, account };
}

async function lookAtWordPress(url: string, options: InitOptions): Promise<Look> {
  const account = accountOf(options);
  const credentials = account && basicAuth(account.user, account.password);
  const connection = openSite(url, credentials);
  try {
    return { site: await probe(connection), account };
  } catch (error) {
    throw siteError(error, connection.url, account !== undefined, 'arguments', 'wordpress');
  } finally {
    await connection.close();
  }
}

function accountOf({ user, password, isPasswordFromEnvironment }: InitOptions): ServiceAccount | undefined {
  if (user === undefined && password === undefined) return undefined;
  if (user === undefined)
    throw new ConfigError('--user', 'is missing: there is a password without one', 'Give both, or --anonymous.');
  if (password === undefined)
    throw new ConfigError(
      '--user',
      'goes with an application password',
      'Give it as --password-file FILE or in CALENDAR_UPSTREAM_PASSWORD.',
    );
  return { user, password, isFromEnvironment: isPasswordFromEnvironment };
}
