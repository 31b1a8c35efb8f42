// Why a command cannot use a site, and what the operator can do about it: one row of advice for each problem.

import { describeFinding, type NoApiReason, NoRestApi } from '../cms/wordpress/no-rest-api.ts';
import { CmsRejected, CmsUnavailable, ConfigError } from '../errors.ts';
import type { CmsName } from '../mapping/mapping-file.ts';
import { programName } from './program-name.ts';

/** Problems of the connection, of the answers, and of the account. */
export type SiteProblem =
  | NoApiReason
  | 'unknown-host'
  | 'refused'
  | 'tls-protocol'
  | 'tls-certificate'
  | 'timeout'
  | 'connection-lost'
  | 'rate-limited'
  | 'maintenance'
  | 'bad-gateway'
  | 'server-error'
  | 'unusable-answer'
  | 'login-required'
  | 'wrong-password'
  | 'login-not-read'
  | 'application-passwords-off'
  | 'account-refused';

/** Where the operator gives address and account: as arguments of `init`, or as settings. */
export type SettingsFrom = 'arguments' | 'settings';

interface Facts {
  /** The URL that the advice is about. */
  url: string;
  host: string;
  /** Of a redirect: the site's address according to it. */
  target: string;
  from: SettingsFrom;
}

const NOT_WORDPRESS = (url: string): string =>
  `Open ${url} in a private window of a browser: it must show JSON that begins with the site's name.`;
const EXEMPT =
  'Exempt the REST API (/wp-json/, and ?rest_route= without permalinks) from that: WordPress itself checks the application password there.';
const LOOK_AT_PHP_LOG =
  "Look into the site's PHP error log (or set WP_DEBUG_LOG in wp-config.php), and switch off the plugin that it names.";
const MAKE_PASSWORD =
  'Make an application password in wp-admin under Users > Profile (it is not the login password) and give it with the same user name.';
const STAY_ANONYMOUS = 'Leave user and password out to replicate public records only.';

/** What to do, by the problem. Each is tried in test/cli/site-problems.test.ts: following it makes the site usable. */
export const SITE_ADVICE: Readonly<Record<SiteProblem, (facts: Facts) => string>> = {
  redirect: ({ target, from }) =>
    `The gateway follows no redirect to another address, so that no password goes there. If that is the site, give its new address: ${from === 'arguments' ? `${programName()} init ${target}` : `CALENDAR_UPSTREAM_URL=${target} (upstream.url in the configuration)`}`,
  'redirect-loop': ({ url }) =>
    `Open ${url} in a private window of a browser. If it ends at another address, give that one; if the browser reports too many redirects, correct the rule on the site (often one for https, behind a proxy that does not send X-Forwarded-Proto).`,
  'login-page': () => `A plugin or the web server sends visitors to a login page. ${EXEMPT}`,
  'server-password': () =>
    `The web server has a password of its own (HTTP authentication), which uses the header of the application password. ${EXEMPT}`,
  unauthorized: () => `Something in front of WordPress requires a login. ${EXEMPT}`,
  forbidden: ({ url }) =>
    `A firewall or a security plugin refuses the gateway. Allow ${url} for the address of this machine and the user agent "calendar-gateway", and switch off a setting that closes the REST API.`,
  'api-error': () =>
    'A plugin or a setting of the site closes its REST API. Open it there, at least for users with an application password.',
  'broken-json': ({ url }) =>
    `${NOT_WORDPRESS(url)} If it ends early: ${LOOK_AT_PHP_LOG} If something else is around it, exempt /wp-json/ in the plugin that caches or changes pages, such as WP Rocket, LiteSpeed Cache, W3 Total Cache or WP Super Cache.`,
  'too-large': ({ url }) =>
    `${NOT_WORDPRESS(url)} If it is another program or a download, give the address of the WordPress site.`,
  page: ({ url }) =>
    `${NOT_WORDPRESS(url)} If it shows a maintenance or coming-soon page, or a firewall's check of the browser, exempt /wp-json/ there. Otherwise give the address of the WordPress site, with its folder (wp-admin > Settings > General > WordPress Address).`,
  'other-json': ({ url }) =>
    `${NOT_WORDPRESS(url)} If it is another program's, give the address of the WordPress site, with its folder; if it is WordPress's without the namespace wp/v2, switch off the plugin that removes it.`,
  empty: ({ url }) => `${NOT_WORDPRESS(url)} If it shows nothing: ${LOOK_AT_PHP_LOG}`,
  'not-found': ({ url }) =>
    `If WordPress is in a folder (wp-admin > Settings > General > WordPress Address), give the address with the folder. If the address is right, a plugin or a rule of the web server hides the REST API: open ${url} to everybody.`,
  'other-status': ({ url }) => `${NOT_WORDPRESS(url)} If it does not, ask who runs the web server.`,
  'unknown-host': ({ host }) =>
    `No such name is known to this machine. Correct the spelling, or this machine's DNS or /etc/hosts: "getent hosts ${host}" must print an address.`,
  refused: ({ host }) =>
    `Nothing accepts connections at ${host}. Give the right port, start the web server, or let a firewall accept this machine.`,
  'tls-protocol': ({ url }) =>
    `That port does not speak https. Give the address ${url.replace(/^https:/, 'http:')}, or the port of https.`,
  'tls-certificate': () =>
    "Renew the site's certificate, or give the address with the name that the certificate has. Of an authority of your own, name the root certificate in NODE_EXTRA_CA_CERTS=FILE.",
  timeout: ({ url, from }) =>
    `Try "curl ${url}" on this machine. If it gets no answer either, a firewall may be in the way.${from === 'settings' ? ' If the site is only slow, raise upstream.limits.deadlineMs.' : ''}`,
  'connection-lost': ({ url }) =>
    `Try again. If it stays, try "curl ${url}" on this machine: a firewall, a proxy or a crash of PHP ends the connection.`,
  'rate-limited': () =>
    'Wait a little and try again. If it stays, raise the limit for the address of this machine in the firewall or security plugin.',
  maintenance: () =>
    'The site is in maintenance or overloaded: wait and try again. If it stays, delete the file .maintenance beside wp-config.php, or switch off the maintenance plugin.',
  'bad-gateway': () => "The proxy in front of the site gets no answer from it: restart the site's PHP or web server.",
  'server-error': () => LOOK_AT_PHP_LOG,
  'unusable-answer': ({ url }) => `Try again. If it stays: ${NOT_WORDPRESS(`${url}/wp-json/`)}`,
  'login-required': ({ from }) =>
    `Give a service account, with an application password of that user (wp-admin > Users > Profile): ${from === 'arguments' ? '--user NAME --password-file FILE' : 'CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD'}.`,
  'wrong-password': () => `${MAKE_PASSWORD} ${STAY_ANONYMOUS}`,
  // Observed on WordPress 7.1.1: where a plugin closes the REST API, a wrong password gets the plugin's
  // error, not WordPress's.
  'login-not-read': () =>
    `Compare user name and password: a site that is closed to visitors does not say which is wrong. ${MAKE_PASSWORD} If Users > Profile has no section Application Passwords, the site needs https, or a plugin switches them off. If both are right, the web server withholds the Authorization header from PHP (Apache: "CGIPassAuth On").`,
  'application-passwords-off': () =>
    `The site has switched application passwords off, for all or for this user, often by a security plugin. Switch them on. ${STAY_ANONYMOUS}`,
  'account-refused': () =>
    'The site knows this account and does not let it use the REST API. Choose an account with another role (an editor), or allow it in the plugin that closes the REST API.',
};

const TLS_PROTOCOL = /^(ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG|ERR_SSL_HTTP_REQUEST|EPROTO)$/;
const TLS_CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME/;

/** The problem that an error of the CMS port shows. `hasAccount`: the call had the service account's login. */
function problemOf(error: CmsUnavailable | CmsRejected, hasAccount: boolean): SiteProblem {
  if (error instanceof NoRestApi) return error.finding.reason;
  if (error instanceof CmsRejected) return isAccessRefused(error) ? loginProblem(error, hasAccount) : 'unusable-answer';
  const code = causeCode(error);
  if (TLS_PROTOCOL.test(code)) return 'tls-protocol';
  if (TLS_CERTIFICATE.test(code)) return 'tls-certificate';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'unknown-host';
  if (error.reason === 'refused' || error.reason === 'timeout') return error.reason;
  if (error.reason === 'reset') return 'connection-lost';
  const { status = 0 } = error;
  if (status === 429) return 'rate-limited';
  if (status === 503) return 'maintenance';
  if (status === 502 || status === 504) return 'bad-gateway';
  return status >= 500 ? 'server-error' : 'unusable-answer';
}

/**
 * By the codes of wp_authenticate_application_password(). For others by the status, as in
 * rest_authorization_required_code(): 401 for a caller whom WordPress does not know, 403 for one who may not.
 */
function loginProblem({ code, status }: CmsRejected, hasAccount: boolean): SiteProblem {
  if (!hasAccount) return 'login-required';
  if (/^(incorrect_password|invalid_username|invalid_email|invalid_application_credentials)$/.test(code))
    return 'wrong-password';
  if (code.startsWith('application_passwords_disabled')) return 'application-passwords-off';
  return status === 403 ? 'account-refused' : 'login-not-read';
}

const GIVE_API_URL =
  'It must show JSON with "collections". Give the address of Payload, or that of its REST API if that is below a path (https://example.org/cms/api).';
const LOOK_AT_LOG = "Look into the log of the site's process.";

/**
 * What to do about a Payload site, where that differs from WordPress. Each is tried in
 * test/cli/payload-problems.test.ts.
 */
export const PAYLOAD_SITE_ADVICE: Readonly<Partial<Record<SiteProblem, (facts: Facts) => string>>> = {
  'unusable-answer': ({ url }) => `Open ${url}/api/access. ${GIVE_API_URL}`,
  'login-required': () =>
    'Something in front of Payload requires a login: exempt the REST API (/api/) from that. Payload itself checks the API key there.',
  'account-refused': () =>
    'Compare the key with that of the account in the admin panel ("Enable API Key"), and the user with the slug of its collection; if that is not users, name it in the mapping: "payload": { "users": "SLUG" }.',
  'server-error': () => LOOK_AT_LOG,
  maintenance: () => `The site is in maintenance or overloaded: wait and try again. If it stays: ${LOOK_AT_LOG}`,
  'bad-gateway': () => 'The proxy in front of the site gets no answer from it: restart the site.',
  'connection-lost': ({ url }) =>
    `Try again. If it stays, try "curl ${url}/api/access" on this machine: a firewall, a proxy or a crash of the site ends the connection.`,
};

/**
 * Payload answers 401 and 403 itself only where it takes the caller for a visitor; else something in front of it does.
 */
function payloadProblem(error: CmsUnavailable | CmsRejected, hasAccount: boolean): SiteProblem {
  if (isUnknownKey(error)) return 'account-refused';
  return error.status === 401 || error.status === 403 ? 'login-required' : problemOf(error, hasAccount);
}

const isUnknownKey = (error: unknown): boolean =>
  error instanceof CmsRejected && (error.kind === 'unauthenticated' || error.kind === 'unknown-scheme');

/**
 * The error that ends a command because it cannot use the site at `url`; other errors are returned as they are.
 * @param hasAccount a service account is given
 */
export function siteError(error: unknown, url: string, hasAccount: boolean, from: SettingsFrom, cms: CmsName): unknown {
  if (!(error instanceof CmsUnavailable || error instanceof CmsRejected)) return error;
  const isPayload = cms === 'payload';
  const problem = isPayload ? payloadProblem(error, hasAccount) : problemOf(error, hasAccount);
  const finding = error instanceof NoRestApi ? error.finding : undefined;
  const facts: Facts = {
    url: finding?.url ?? url,
    host: new URL(url).host,
    target: finding?.target ? siteAddress(finding.target) : url,
    from,
  };
  const isLogin = isPayload ? isUnknownKey(error) : isAccessRefused(error);
  const [user, address] =
    from === 'settings' ? ['CALENDAR_UPSTREAM_USER', 'CALENDAR_UPSTREAM_URL'] : ['--user', 'the address'];
  return new ConfigError(
    isLogin ? user! : address!,
    isLogin ? describeLogin(error as CmsRejected, hasAccount, isPayload) : describeSite(error, url, isPayload),
    ((isPayload ? PAYLOAD_SITE_ADVICE[problem] : undefined) ?? SITE_ADVICE[problem])(facts),
  );
}

/** What to do about an account that the site rejects. */
export const loginAdvice = (error: CmsRejected): string =>
  SITE_ADVICE[loginProblem(error, true)]({ url: '', host: '', target: '', from: 'settings' });

/** What the site says to the login. */
function describeLogin({ status, code }: CmsRejected, hasAccount: boolean, isPayload: boolean): string {
  if (isPayload) return 'the site knows no account of this collection with this API key';
  return hasAccount
    ? `the site does not accept this user with this application password (${code})`
    : `the site's REST API answers only signed-in users (status ${status}, ${code})`;
}

const describeSite = (error: CmsUnavailable | CmsRejected, url: string, isPayload: boolean): string =>
  error instanceof NoRestApi
    ? `${describeFinding(error.finding)}: there is no REST API of WordPress`
    : `${url} does not answer as a ${isPayload ? 'Payload' : 'WordPress'} site: ${error.message}`;

export const isAccessRefused = (error: unknown): error is CmsRejected =>
  error instanceof CmsRejected && (error.status === 401 || error.status === 403);

/** The address in a redirect of the site's front page or of its API, without what belongs to the API. */
const siteAddress = ({ origin, pathname }: URL): string =>
  (origin + pathname).replace(/\/(?:index\.php\/?|wp-json\/?)?$/, '');

function causeCode({ cause }: CmsUnavailable): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  return typeof code === 'string' ? code : '';
}
