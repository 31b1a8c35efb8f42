// What the commands advise: how this program is started, and what the operator can do about a site that cannot be
// used, one row for each problem.

import { findingOfError, type NoApiReason, NoRestApi } from '../cms/wordpress/rest-api.ts';
import { CmsRedirected, CmsRejected, CmsUnavailable, ConfigError } from '../errors.ts';
import type { CmsName } from '../mapping/mapping-file.ts';
import { trimCharactersEnd } from '../text/text.ts';

/**
 * The command by npm's variable `npm_lifecycle_event`: `cli` is the script of a checkout, `npx` runs an installed
 * package.
 */
const COMMAND_BY_SCRIPT: Readonly<Record<string, string>> = {
  cli: 'npm run --silent cli --',
  npx: 'npx calendar-gateway',
};

/** The words with which a command of this program begins. */
export const programName = (env: NodeJS.ProcessEnv = process.env): string =>
  COMMAND_BY_SCRIPT[env.npm_lifecycle_event ?? ''] ?? 'calendar-gateway';

/** Problems of the connection, of the answers, and of the account. */
export type SiteProblem =
  | NoApiReason
  | ('unknown-host' | 'refused' | 'tls' | 'no-answer')
  | ('login-required' | 'wrong-account');

/** Where the operator gives address and account: as arguments of `init`, or as settings. */
export type SettingsFrom = 'arguments' | 'settings';

interface Facts {
  cms: CmsName;
  /** The site's address. */
  site: string;
  /** The URL that answered, or the one of the API. */
  url: string;
  /** Of a redirect: the site's address according to it. */
  target: string;
  from: SettingsFrom;
}

export const GIVE_PASSWORD =
  'Make an application password in wp-admin under Users > Profile (not the login password). Without that section ' +
  'the site needs https, or a plugin switches it off. If user and password are right, the web server withholds the ' +
  'Authorization header from PHP (Apache: "CGIPassAuth On"), or the account may not use the REST API: choose another ' +
  'role (an editor). Or leave both out: public records need no account.';
export const GIVE_KEY =
  'Compare the key with that of the account in the admin panel ("Enable API Key"), and the user with the slug of its ' +
  'collection; if that is not users, name it in the mapping: "payload": { "users": "SLUG" }.';

/** What to do, by the problem. Each is tried in test/cli/site-problems.test.ts: following it makes the site usable. */
export const SITE_ADVICE: Readonly<Record<SiteProblem, (facts: Facts) => string>> = {
  redirect: ({ target, from }) =>
    'The gateway follows no redirect to another address, so that no password goes there. If that is ' +
    'the site, give its new address: ' +
    (from === 'arguments'
      ? `${programName()} init ${target}`
      : `CALENDAR_UPSTREAM_URL=${target} (upstream.url in the configuration)`),
  closed: ({ cms }) =>
    'A login or a firewall in front of the site, a security plugin or a setting closes the REST API. Exempt ' +
    `${cms === 'payload' ? '/api/' : '/wp-json/, and ?rest_route= without permalinks,'} from that, at least for the ` +
    'address of this machine and the user agent "calendar-gateway" (CALENDAR_UPSTREAM_USER_AGENT sets another): the ' +
    'site itself checks the account there.',
  'not-found': ({ url }) =>
    'If WordPress is in a folder (wp-admin > Settings > General > WordPress Address), give the address with it. ' +
    `Otherwise a plugin or a rule of the web server hides the REST API: open ${url} to everybody.`,
  'no-api': ({ cms, url }) =>
    cms === 'payload'
      ? `Open ${url}. It must show JSON with "collections". Give the address of Payload, or that of its REST API if ` +
        'that is below a path (https://example.org/cms/api).'
      : `Open ${url} in a private browser window: it must show JSON that begins with the site's name. If nothing ` +
        'is there or the JSON ends early, the PHP error log of the site names the plugin to switch off. If a page is ' +
        'there or something is around the JSON, exempt /wp-json/ from what makes it (maintenance, firewall, cache ' +
        'plugin such as WP Rocket). If it leads elsewhere or in a circle, correct that rule (often one for https, ' +
        'behind a proxy that does not send X-Forwarded-Proto). If it is another program, give the address of ' +
        'WordPress, with its folder.',
  'unknown-host': ({ site }) =>
    "No such name is known to this machine. Correct the spelling, or this machine's DNS or /etc/hosts: " +
    `"getent hosts ${new URL(site).hostname}" must print an address.`,
  refused: ({ site }) =>
    `Nothing accepts connections at ${new URL(site).host}. Give the right port, start the web server, ` +
    'or let a firewall accept this machine.',
  tls: ({ site }) =>
    `If that port does not speak https, give the address ${site.replace(/^https:/, 'http:')}, or the port of https. ` +
    "If the site's certificate is wrong, renew it, or give the address with the name that it has. Of an authority of " +
    'your own, name the root certificate in NODE_EXTRA_CA_CERTS=FILE.',
  'no-answer': ({ url }) =>
    `Wait a little and try again. If it stays, try "curl ${url}" on this machine: the site is in maintenance or too ` +
    'slow (see its error log), or a firewall, a proxy or a limit of requests ends the connection.',
  'login-required': ({ from }) =>
    'Give a service account, with an application password of that user (wp-admin > Users > Profile): ' +
    (from === 'arguments'
      ? '--user NAME --password-file FILE.'
      : 'CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD.'),
  'wrong-account': ({ cms }) => (cms === 'payload' ? GIVE_KEY : GIVE_PASSWORD),
};

const TLS = /^ERR_SSL_|^EPROTO$|CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/;

/** The problem that an error of the CMS port shows. `hasAccount`: the call had the service account's login. */
function problemOf(error: CmsUnavailable | CmsRejected, hasAccount: boolean, cms: CmsName): SiteProblem {
  if (error instanceof NoRestApi) return error.finding.reason;
  // A rule of the web server may redirect OPTIONS alone.
  if (error instanceof CmsRedirected) return findingOfError('', error)?.reason ?? 'no-api';
  const { status = 0 } = error;
  if (isAccountError(error, cms)) return hasAccount || cms === 'payload' ? 'wrong-account' : 'login-required';
  // Payload answers 401 and 403 itself only to a wrong account.
  if (cms === 'payload' && (status === 401 || status === 403)) return 'closed';
  const code = error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : '';
  // A server without TLS may end the connection instead of answering the handshake.
  if (TLS.test(code) || (code === 'ECONNRESET' && (error as CmsUnavailable).reason === 'refused')) return 'tls';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'unknown-host';
  if (error instanceof CmsUnavailable && error.reason === 'refused') return 'refused';
  const isTransient = error instanceof CmsUnavailable && (error.reason === 'timeout' || error.reason === 'reset');
  return isTransient || status === 429 || status >= 500 ? 'no-answer' : 'no-api';
}

/** The CMS itself does not accept the caller. */
const isAccountError = (error: CmsUnavailable | CmsRejected, cms: CmsName): boolean =>
  cms === 'payload'
    ? error instanceof CmsRejected && (error.kind === 'unauthenticated' || error.kind === 'unknown-scheme')
    : isAccessRefused(error);

export const isAccessRefused = (error: unknown): error is CmsRejected =>
  error instanceof CmsRejected && (error.status === 401 || error.status === 403);

/**
 * The error that ends a command because it cannot use the site at `url`; other errors are returned as they are.
 * @param hasAccount a service account is given
 */
export function siteError(error: unknown, url: string, hasAccount: boolean, from: SettingsFrom, cms: CmsName): unknown {
  if (!(error instanceof CmsUnavailable || error instanceof CmsRejected)) return error;
  const finding = error instanceof NoRestApi ? error.finding : undefined;
  const target = finding?.target ?? (error instanceof CmsRedirected ? error.target : undefined);
  const advice = SITE_ADVICE[problemOf(error, hasAccount, cms)]({
    cms,
    site: url,
    url: finding?.url ?? `${url}/${cms === 'payload' ? 'api/access' : 'wp-json/'}`,
    target: target ? siteAddress(target, cms) : url,
    from,
  });
  const [user, address] =
    from === 'settings' ? ['CALENDAR_UPSTREAM_USER', 'CALENDAR_UPSTREAM_URL'] : ['--user', 'the address'];
  if (error instanceof CmsRejected && isAccountError(error, cms)) {
    const secret = cms === 'payload' ? 'API key' : 'application password';
    const ofAccount = `the site does not accept this user with this ${secret}`;
    const ofVisitor = "the site's REST API answers only signed-in users";
    return new ConfigError(
      user!,
      hasAccount ? `${ofAccount} (${error.code})` : `${ofVisitor} (status ${error.status}, ${error.code})`,
      advice,
    );
  }
  const found = finding
    ? error.message
    : `${url} does not answer as a ${cms === 'payload' ? 'Payload' : 'WordPress'} site: ${error.message}`;
  return new ConfigError(address!, found, advice);
}

/** The address in a redirect of the site's front page or of its API, without what belongs to the API. */
function siteAddress({ origin, pathname }: URL, cms: CmsName): string {
  const [path = ''] = `${pathname}/`.split(cms === 'payload' ? '/api/' : /\/(?:index\.php|wp-json)\//);
  return origin + trimCharactersEnd(path, '/');
}
