// The `init` command: looks at a site, decides on a mapping, and writes configuration, mapping, secrets and the
// plugin of the site, in this order.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { basicAuth } from '../../config.ts';
import { ConfigError } from '../../errors.ts';
import { compileMapping } from '../../mapping/compile.ts';
import { loadMapping } from '../../mapping/load.ts';
import { programName, siteError } from '../advice.ts';
import { openSite } from '../open-site.ts';
import { SITE_PLUGINS } from '../plugin/companion-plugin.ts';
import { printable } from '../table.ts';
import type { InitOptions } from './options.ts';
import { type ChosenMapping, propose } from './propose.ts';
import { proposalLines, siteLines, whyNothingLines } from './report.ts';
import { cmsAt, probe } from './site.ts';
import { initSource } from './source.ts';

const printLine = (line: string): void => void process.stdout.write(`${printable(line)}\n`);

/** Resolves with the exit code: 0 written, 1 not. @throws ConfigError if the site does not answer, or a file exists */
export async function init(options: InitOptions, print = printLine): Promise<number> {
  const printAll = (lines: readonly string[]) => {
    for (const line of lines) print(line);
  };
  const { url, source, userAgent } = options;
  if (source) return initSource(source, options, print);
  if (url === undefined)
    throw new ConfigError('init', 'needs the address of a site', `${programName()} init https://example.org`);
  const account = accountOf(options);
  const { proposal, lines } = await PROPOSERS[await cmsAt(url, userAgent)](url, options, account);
  printAll(lines);
  if (!proposal) return 1;
  if (!options.yes) {
    print(`Nothing is written. Add --yes to write this to ${options.out}.`);
    return 1;
  }
  const files = outputFiles(url, proposal, options, account);
  printAll(writeFiles(options.out, files, options.force).map((file) => `wrote ${file}`));
  printAll(nextStepLines(proposal, options.out, files, account !== undefined));
  return 0;
}

type ServiceAccount = NonNullable<ReturnType<typeof accountOf>>;

/** `isFromFile` is false for a password from the environment, which stays there and is written to no file. */
function accountOf({ user, password, isPasswordFromFile }: InitOptions) {
  if (user === undefined && password === undefined) return undefined;
  if (user === undefined || password === undefined)
    throw new ConfigError(
      '--user',
      'goes with an application password (of Payload: with an API key)',
      'Give both, or neither: --user NAME, and --password-file FILE or CALENDAR_UPSTREAM_PASSWORD.',
    );
  return { user, password, isFromFile: isPasswordFromFile };
}

async function proposeForWordPress(url: string, options: InitOptions, account?: ServiceAccount) {
  const login = account && basicAuth(account.user, account.password);
  const connection = openSite(url, login, { userAgent: options.userAgent }, { cms: 'wordpress' });
  try {
    const site = await probe(connection);
    const proposal = propose(site, options);
    const lines = proposal ? proposalLines(proposal, site) : whyNothingLines(site, options.eventType);
    return { proposal, lines: [...siteLines(site), '', ...lines] };
  } catch (error) {
    throw siteError(error, connection.url, account !== undefined, 'wordpress');
  } finally {
    await connection.close();
  }
}

/** What looks at a site: resolves with the mapping to write, if it finds one, and the lines that say why. */
const PROPOSERS = { wordpress: proposeForWordPress, payload: proposeForPayload };

/** A copy of the bundled mapping, without its time zone: the operator edits the names of collections and fields. */
async function proposeForPayload(url: string, { mapping: name, eventType, fields, user }: InitOptions) {
  if ((name ?? 'payload') !== 'payload' || eventType !== undefined || Object.keys(fields).length > 0)
    throw new ConfigError(
      url,
      'is a Payload site: --mapping, --field and --event-type are for WordPress',
      'Leave them out, and name its collections and fields in mapping.json.',
    );
  // The mapping names the collection of the accounts, which `--user` says. `users` is its default.
  const payload = user === undefined || user === 'users' ? {} : { users: user };
  const mapping = { ...loadMapping('payload').file, name: 'payload-here', payload };
  const lines = [
    `Site        ${url}, Payload`,
    'Mapping     a copy of the mapping payload, which you edit: init does not know how the collections and fields ' +
      'of a Payload site are called (docs/mapping.md, Payload; check names what the site lacks)',
    '',
  ];
  return { proposal: { preset: undefined, mapping, isSeenOnSite: false, needsPlugin: false }, lines };
}

type OutputFile = ReturnType<typeof outputFiles>[number];

const SECRETS_FILE = 'secrets.env';

/** `isSecret`: only its owner may read the file. */
function outputFiles(
  url: string,
  proposal: ChosenMapping,
  { out, publicUrl, webhookUrl }: InitOptions,
  account: ServiceAccount | undefined,
) {
  // A mapping that does not compile is a mistake of `init`: nothing is written.
  const mapping = compileMapping(proposal.mapping, 'proposal');
  const secrets = secretsOf(earlierSecrets(out, url), account, webhookUrl !== undefined);
  const isOwnMapping = proposal.preset === undefined;
  const config = {
    $schema: schemaPath(out, 'config/schema.json'),
    // The user is here if the password stays in the environment: serve then names the variable of a missing password.
    upstream: { url, ...(account && secrets.CALENDAR_UPSTREAM_USER === undefined ? { user: account.user } : {}) },
    // Relative to config.json: the folder may be moved, or mounted into a container.
    mapping: isOwnMapping ? 'mapping.json' : proposal.preset,
    publicUrl,
    ...(webhookUrl !== undefined && listenFor(webhookUrl)),
  };
  const schema = schemaPath(out, 'src/mapping/mapping.schema.json');
  // The first `$schema` makes it the first key. The second replaces that of a bundled mapping, a path from its folder.
  const ownMapping = { ...{ $schema: schema }, ...proposal.mapping, $schema: schema };
  const files = [{ name: 'config.json', text: toJsonText(config), isSecret: false }];
  if (isOwnMapping) files.push({ name: 'mapping.json', text: toJsonText(ownMapping), isSecret: false });
  if (Object.keys(secrets).length > 0)
    files.push({ name: SECRETS_FILE, text: toEnvironmentText(secrets), isSecret: true });
  if (proposal.needsPlugin || webhookUrl !== undefined) {
    const { fileName, text } = SITE_PLUGINS[mapping.cms];
    const webhookSecret = webhookUrl === undefined ? undefined : secrets.CALENDAR_WEBHOOK_SECRET;
    const plugin = text(mapping, { webhookUrl, webhookSecret });
    files.push({ name: fileName, text: plugin, isSecret: webhookSecret !== undefined });
  }
  return files;
}

/** Editors complete and check a file by its schema. Away from this package, the gateway ignores the path. */
function schemaPath(folder: string, name: string): string {
  const schema = fileURLToPath(new URL(`../../../${name}`, import.meta.url));
  return relative(resolve(folder), schema).replaceAll('\\', '/');
}

type Secrets = Partial<
  Record<'CALENDAR_UPSTREAM_USER' | 'CALENDAR_UPSTREAM_PASSWORD' | 'CALENDAR_WEBHOOK_SECRET', string>
>;

/** The secrets of an earlier run for this site: the password of another site must not be sent to this one. */
function earlierSecrets(folder: string, url: string): Secrets {
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  try {
    return JSON.parse(read('config.json')).upstream.url === url ? parseEnv(read(SECRETS_FILE)) : {};
  } catch {
    // There are no files yet; or they are unreadable, then `writeFiles` says so.
    return {};
  }
}

/**
 * Keeps the earlier secrets: the CMS showed the password once, and the site may have a plugin with the webhook secret.
 *
 *   password of this run                the file has then
 *   none                                the earlier account
 *   from a file                         that account
 *   from the environment                the earlier account, if its password is the same; else none
 */
function secretsOf(earlier: Secrets, account: ServiceAccount | undefined, hasWebhooks: boolean): Secrets {
  const { CALENDAR_WEBHOOK_SECRET: earlierSecret, ...earlierAccount } = earlier;
  const webhookSecret = earlierSecret ?? (hasWebhooks ? randomBytes(24).toString('base64url') : undefined);
  const keepsAccount = account === undefined || account.password === earlier.CALENDAR_UPSTREAM_PASSWORD;
  return {
    ...(keepsAccount && earlierAccount),
    ...(account?.isFromFile && {
      CALENDAR_UPSTREAM_USER: account.user,
      CALENDAR_UPSTREAM_PASSWORD: account.password,
    }),
    ...(webhookSecret !== undefined && { CALENDAR_WEBHOOK_SECRET: webhookSecret }),
  };
}

/** The admin port that webhooks name. Without a port, or with TLS, a proxy receives them and knows the admin port. */
function listenFor(webhookUrl: string): { listen?: { adminPort: number } } {
  const url = URL.parse(webhookUrl);
  return url?.protocol === 'http:' && url.port !== '' ? { listen: { adminPort: Number(url.port) } } : {};
}

/** Creates the folder. If a file exists and `force` is false, throws `ConfigError` and writes nothing. */
function writeFiles(folder: string, files: readonly OutputFile[], force: boolean): string[] {
  const existing = files.filter(({ name }) => existsSync(join(folder, name)));
  if (existing.length > 0 && !force)
    throw new ConfigError(
      folder,
      `${existing.map(({ name }) => name).join(', ')} exist${existing.length > 1 ? '' : 's'} already`,
      'Name another folder with --out, or overwrite with --force.',
    );
  try {
    mkdirSync(folder, { recursive: true });
    return files.map(({ name, text, isSecret }) => {
      const file = join(folder, name);
      // Replaces a secret file: an existing one would keep its mode, and another process may have it open.
      if (isSecret) rmSync(file, { force: true });
      writeFileSync(file, text, isSecret ? { mode: 0o600, flag: 'wx' } : {});
      return file;
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new ConfigError(folder, `cannot be written (${code ?? message})`, 'Name another folder with --out.');
  }
}

/**
 * What to do next. If the gateway needs the companion plugin, first:
 *
 *   the mapping is           isSeenOnSite   first
 *   bundled                  true           install it: the mapping has the form of each field
 *   of its own               true           install it, and run init again: forms are found by values
 *   bundled                  false          install it, make an event, and run init again
 */
function nextStepLines(
  { preset, isSeenOnSite, mapping: { upstream: cms, event }, needsPlugin }: ChosenMapping,
  out: string,
  files: readonly OutputFile[],
  hasAccount: boolean,
): string[] {
  const has = (name: string): boolean => files.some((file) => file.name === name);
  const path = (name: string): string => join(out, name);
  const secrets = has(SECRETS_FILE) ? `set -a; . ${path(SECRETS_FILE)}; set +a; ` : '';
  const lines = ['', 'Next'];
  const { fileName, place } = SITE_PLUGINS[cms];
  if (has(fileName)) {
    lines.push(`  put ${path(fileName)} ${place}`);
    if (needsPlugin) lines.push('  without it the gateway cannot read the events, or not all of their fields');
    const andEvent = isSeenOnSite ? '' : ' and an event';
    if (needsPlugin && (!isSeenOnSite || preset === undefined))
      lines.push(`  with it${andEvent}, run the same init with --force: it sees the values then`);
  }
  const step = (command: string, rest = ''): string =>
    `  ${secrets}${programName()} ${command} --config ${path('config.json')}${rest}`;
  const tryWriting = '  before clients write, try each field on drafts, which check deletes again';
  const isWritable = hasAccount && event.readOnly !== true;
  return [...lines, step('check'), ...(isWritable ? [tryWriting, step('check', ' --write')] : []), step('serve')];
}

/** Characters that shells and systemd read in different ways between quotation marks. */
const UNWRITABLE = /["\\$`\n]/;

/** An environment file that sh, systemd, compose and `node --env-file` all read. */
function toEnvironmentText(secrets: Secrets): string {
  const lines = Object.entries(secrets).map(([name, value]) => {
    if (UNWRITABLE.test(value))
      throw new ConfigError(
        name,
        'holds a quotation mark, backslash, dollar or line break',
        'An application password has none of these; set this one in the environment yourself.',
      );
    return `${name}="${value}"`;
  });
  return `${lines.join('\n')}\n`;
}

const toJsonText = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
