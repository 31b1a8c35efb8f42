// What the commands advise: how this program is started, and what to do about each problem of a site that is unusable.

import { findingOfError, type NoApiReason, NoRestApi } from '../cms/wordpress/rest-api.ts';
import { CmsRedirected, CmsRejected, CmsUnavailable, ConfigError } from '../errors.ts';
import type { CmsName } from '../mapping/mapping-file.ts';
import { trimCharactersEnd } from '../text/text.ts';

/** By npm's variable `npm_lifecycle_event`: `cli` is the script of a checkout, `npx` runs an installed package. */
const COMMAND_BY_SCRIPT: Readonly<Record<string, string>> = {
  cli: 'npm run --silent cli --',
  npx: 'npx calendar-gateway',
};

/** The words with which a command of this program begins. */
export const programName = (env: NodeJS.ProcessEnv = process.env): string =>
  COMMAND_BY_SCRIPT[env.npm_lifecycle_event ?? ''] ?? 'calendar-gateway';

/** What the advice about a site says of its CMS. One without a row here does not compile. */
export const CMS_FACTS = {
  wordpress: {
    title: 'WordPress',
    /** What the gateway asks first, below the address of the site. */
    api: 'wp-json/',
    /** Where the API begins in an address. */
    apiPath: /\/(?:index\.php|wp-json)\//,
    /** What a login or a firewall in front of the site has to let through. */
    exempt: '/wp-json/, and ?rest_route= without permalinks,',
    /** What a service account has as its password. */
    secret: 'application password',
    /** The CMS itself does not accept the caller. */
    isAccountError: ({ refusesAccess }: CmsRejected) => refusesAccess,
    /** What is at the address, if the adapter knows that it is no API: waiting does not help. */
    findingOf: (error: unknown) => (error instanceof NoRestApi ? error.finding : undefined),
    noApi: (url: string) =>
      `Open ${url} in a private browser window: it must show JSON that begins with the site's name. If nothing ` +
      'is there or the JSON ends early, the PHP error log of the site names the plugin to switch off. If a page is ' +
      'there or something is around the JSON, exempt /wp-json/ from what makes it (maintenance, firewall, cache ' +
      'plugin such as WP Rocket). If it leads elsewhere or in a circle, correct that rule (often one for https, ' +
      'behind a proxy that does not send X-Forwarded-Proto). If it is another program, give the address of ' +
      'WordPress, with its folder.',
    wrongAccount:
      'Make an application password in wp-admin under Users > Profile (not the login password). Without that ' +
      'section the site needs https, or a plugin switches it off. If user and password are right, the web server ' +
      'withholds the Authorization header from PHP (Apache: "CGIPassAuth On"), or the account may not use the REST ' +
      'API: choose another role (an editor). Or leave both out: public records need no account.',
  },
  payload: {
    title: 'Payload',
    api: 'api/access',
    apiPath: /\/api\//,
    exempt: '/api/',
    secret: 'API key',
    isAccountError: ({ kind }: CmsRejected) => kind === 'unauthenticated' || kind === 'unknown-scheme',
    findingOf: () => undefined,
    noApi: (url: string) =>
      `Open ${url}. It must show JSON with "collections". Give the address of Payload, or that of its REST API if ` +
      'that is below a path (https://example.org/cms/api). If it does, the collection of accounts has another ' +
      'slug: name it as the user and in the mapping, "payload": { "users": "SLUG" }.',
    wrongAccount:
      'Compare the key with that of the account in the admin panel ("Enable API Key"), and the user with the slug ' +
      'of its collection; if that is not users, name it in the mapping: "payload": { "users": "SLUG" }.',
  },
} satisfies Record<CmsName, object>;

export type SiteProblem = NoApiReason | 'no-answer' | 'login-required' | 'wrong-account';

interface Facts {
  cms: CmsName;
  /** The URL that answered, or the one of the API. */
  url: string;
  /** After a redirect: the site's address according to the redirect. */
  target: string;
}

/**
 * What to do, by the problem. Each is tried in test/cli/site-problems.test.ts: following it makes the site usable.
 * Payload has neither `not-found` nor `login-required`.
 */
export const SITE_ADVICE: Readonly<Record<SiteProblem, (facts: Facts) => string>> = {
  redirect: ({ target }) =>
    'The gateway follows no redirect to another address, so that no password goes there. If that is the site, give ' +
    `its new address: CALENDAR_UPSTREAM_URL=${target} (upstream.url in the configuration), or init ${target}`,
  closed: ({ cms }) =>
    'A login or a firewall in front of the site, a security plugin or a setting closes the REST API. Exempt ' +
    `${CMS_FACTS[cms].exempt} from that, at least for the address of this machine and the user agent ` +
    '"calendar-gateway": the site itself checks the account there.',
  'not-found': ({ url }) =>
    'If WordPress is in a folder (wp-admin > Settings > General > WordPress Address), give the address with it. ' +
    `Otherwise a plugin or a rule of the web server hides the REST API: open ${url} to everybody.`,
  'no-api': ({ cms, url }) => CMS_FACTS[cms].noApi(url),
  'no-answer': ({ url }) =>
    `Try "curl -I ${url}" on this machine. If name, port or https is wrong, correct the address; this machine's DNS ` +
    'must know the name. If the site is in maintenance, too slow or not running, see its error log. A firewall, a ' +
    'proxy or a limit of requests may end the connection. Of a certificate of an authority of your own, name the ' +
    'root certificate in NODE_EXTRA_CA_CERTS=FILE.',
  'login-required': () =>
    'Give a service account, with an application password of that user (wp-admin > Users > Profile): ' +
    'CALENDAR_UPSTREAM_USER and CALENDAR_UPSTREAM_PASSWORD, or of init --user NAME --password-file FILE. After init ' +
    'they are in secrets.env: set -a; . calendar-gateway/secrets.env; set +a',
  'wrong-account': ({ cms }) => CMS_FACTS[cms].wrongAccount,
};

/**
 * The error that ends a command because it cannot use the site at `url`; other errors are returned as they are.
 * @param hasAccount a service account is given
 */
export function siteError(error: unknown, url: string, hasAccount: boolean, cms: CmsName): unknown {
  if (!(error instanceof CmsUnavailable || error instanceof CmsRejected)) return error;
  const { title, api, apiPath, secret, isAccountError } = CMS_FACTS[cms];
  const finding = CMS_FACTS[cms].findingOf(error);
  const target = finding?.target ?? (error instanceof CmsRedirected ? error.target : undefined);
  const facts = { cms, url: finding?.url ?? `${url}/${api}`, target: target ? siteAddress(target, apiPath) : url };
  if (error instanceof CmsRejected && isAccountError(error)) {
    const ofAccount = `the site does not accept this user with this ${secret} (${error.code})`;
    const ofVisitor = `the site's REST API answers only signed-in users (status ${error.status}, ${error.code})`;
    const advice = SITE_ADVICE[hasAccount ? 'wrong-account' : 'login-required'](facts);
    return new ConfigError('the account (CALENDAR_UPSTREAM_USER)', hasAccount ? ofAccount : ofVisitor, advice);
  }
  const found = finding ? error.message : `${url} does not answer as a ${title} site: ${error.message}`;
  const advice = SITE_ADVICE[problemOf(error, cms)](facts);
  return new ConfigError('the address (CALENDAR_UPSTREAM_URL)', found, advice);
}

/** The problem that an error of the CMS port shows, which is none of the account. */
export function problemOf(error: CmsUnavailable | CmsRejected, cms: CmsName): SiteProblem {
  const finding = CMS_FACTS[cms].findingOf(error);
  if (finding) return finding.reason;
  // GET found the API, and a rule of the web server redirects OPTIONS. The URL, '', is not used.
  if (error instanceof CmsRedirected) return findingOfError('', error)?.reason ?? 'no-api';
  const { status = 0 } = error;
  if (status === 401 || status === 403) return 'closed';
  const hasNoConnection = error instanceof CmsUnavailable && ['refused', 'timeout', 'reset'].includes(error.reason);
  return hasNoConnection || status === 429 || status >= 500 ? 'no-answer' : 'no-api';
}

/** The address in a redirect of the site's front page or of its API, without what belongs to the API. */
function siteAddress({ origin, pathname }: URL, apiPath: RegExp): string {
  const [path = ''] = `${pathname}/`.split(apiPath);
  return origin + trimCharactersEnd(path, '/');
}
