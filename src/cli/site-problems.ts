// Why a command cannot use a site, and what the operator can do about it: one row of advice for each problem.

import { describeFinding, findingOfError, type NoApiReason, NoRestApi } from '../cms/wordpress/no-rest-api.ts';
import { CmsRedirected, CmsRejected, CmsUnavailable, ConfigError } from '../errors.ts';
import type { CmsName } from '../mapping/mapping-file.ts';
import { trimCharactersEnd } from '../text/text.ts';
import { programName } from './program-name.ts';

/** Problems of the connection, of the answers, and of the account. */
export type SiteProblem =
  | NoApiReason
  | ('unknown-host' | 'refused' | 'tls-protocol' | 'tls-certificate' | 'no-answer' | 'rate-limited' | 'server-error')
  | ('login-required' | 'wrong-account' | 'account-refused');

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
  'Authorization header from PHP (Apache: "CGIPassAuth On"). Or leave both out: public records need no account.';
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
  'redirect-loop': ({ url }) =>
    `Open ${url} in a private window of a browser. If it ends at another address, give that one; else correct the ` +
    'rule on the site (often one for https, behind a proxy that does not send X-Forwarded-Proto).',
  'login-page': ({ cms }) =>
    'Something in front of the site asks for a login. Exempt the REST API ' +
    `(${cms === 'payload' ? '/api/' : '/wp-json/, and ?rest_route= without permalinks'}) from that: ` +
    'the site itself checks the account there.',
  forbidden: ({ url }) =>
    `A firewall or a security plugin refuses the gateway. Allow ${url} for the address of this machine and the user ` +
    'agent "calendar-gateway", and switch off a setting that closes the REST API.',
  'api-closed': () =>
    'A plugin or a setting of the site closes its REST API. Open it there, at least for users with an ' +
    'application password.',
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
        'plugin such as WP Rocket). If it is another program, give the address of WordPress, with its folder.',
  'unknown-host': ({ site }) =>
    "No such name is known to this machine. Correct the spelling, or this machine's DNS or /etc/hosts: " +
    `"getent hosts ${new URL(site).hostname}" must print an address.`,
  refused: ({ site }) =>
    `Nothing accepts connections at ${new URL(site).host}. Give the right port, start the web server, ` +
    'or let a firewall accept this machine.',
  'tls-protocol': ({ site }) =>
    `That port does not speak https. Give the address ${site.replace(/^https:/, 'http:')}, or the port of https.`,
  'tls-certificate': () =>
    "Renew the site's certificate, or give the address with the name that the certificate has. Of an " +
    'authority of your own, name the root certificate in NODE_EXTRA_CA_CERTS=FILE.',
  'no-answer': ({ url }) =>
    `Try again. If it stays, try "curl ${url}" on this machine: a firewall, a proxy or a crash of the ` +
    'site ends the connection, or the site is too slow.',
  'rate-limited': () =>
    'Wait a little and try again. If it stays, raise the limit for the address of this machine in the ' +
    'firewall or security plugin.',
  'server-error': () =>
    'Wait and try again: the site may be in maintenance or restarting. If it stays, look into the ' +
    'error log of the site, and that of the proxy in front of it.',
  'login-required': ({ from }) =>
    'Give a service account, with an application password of that user (wp-admin > Users > Profile): ' +
    (from === 'arguments'
      ? '--user NAME --password-file FILE.'
      : 'CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD.'),
  'wrong-account': ({ cms }) => (cms === 'payload' ? GIVE_KEY : GIVE_PASSWORD),
  'account-refused': () =>
    'The site knows this account and does not let it use the REST API. Choose an account with another ' +
    'role (an editor), or allow it in the plugin that closes the REST API.',
};

const TLS_PROTOCOL = /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST|EPROTO)$/;
const TLS_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/;

/** The problem that an error of the CMS port shows. `hasAccount`: the call had the service account's login. */
function problemOf(error: CmsUnavailable | CmsRejected, hasAccount: boolean, cms: CmsName): SiteProblem {
  if (error instanceof NoRestApi) return error.finding.reason;
  // A rule of the web server may redirect OPTIONS alone.
  if (error instanceof CmsRedirected) return findingOfError('', error)?.reason ?? 'no-api';
  const { status = 0 } = error;
  // Payload answers 401 and 403 itself only where it takes the caller for a visitor; else something in front of it
  // does.
  if (cms === 'payload' && (status === 401 || status === 403))
    return isAccountError(error, cms) ? 'wrong-account' : 'login-page';
  if (error instanceof CmsRejected) return isAccountError(error, cms) ? accountProblem(error, hasAccount) : 'no-api';
  const code = error.cause instanceof Error && 'code' in error.cause ? String(error.cause.code) : '';
  if (TLS_PROTOCOL.test(code)) return 'tls-protocol';
  if (TLS_CERTIFICATE.test(code)) return 'tls-certificate';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'unknown-host';
  if (error.reason === 'refused') return 'refused';
  if (error.reason === 'timeout' || error.reason === 'reset') return 'no-answer';
  if (status === 429) return 'rate-limited';
  return status >= 500 ? 'server-error' : 'no-api';
}

/** As in rest_authorization_required_code(): 401 for a caller whom WordPress does not know, 403 for one who may not. */
const accountProblem = ({ status, code }: CmsRejected, hasAccount: boolean): SiteProblem => {
  if (!hasAccount) return 'login-required';
  return status === 403 && !code.startsWith('application_passwords') ? 'account-refused' : 'wrong-account';
};

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
    ? `${describeFinding(finding)}: there is no REST API of WordPress`
    : `${url} does not answer as a ${cms === 'payload' ? 'Payload' : 'WordPress'} site: ${error.message}`;
  return new ConfigError(address!, found, advice);
}

/** The address in a redirect of the site's front page or of its API, without what belongs to the API. */
function siteAddress({ origin, pathname }: URL, cms: CmsName): string {
  const [path = ''] = `${pathname}/`.split(cms === 'payload' ? '/api/' : /\/(?:index\.php|wp-json)\//);
  return origin + trimCharactersEnd(path, '/');
}
