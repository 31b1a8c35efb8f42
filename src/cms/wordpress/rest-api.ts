// Finds WordPress's REST API (at `/wp-json/`, or at `index.php?rest_route=` with plain permalinks) or tells what
// answers there instead, calls its routes, asks for smaller pages where PHP cannot make large ones, and translates
// WordPress's errors into the gateway's.

import { CmsRedirected, CmsRejected, CmsUnavailable, type RejectionKind } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import { type CmsClient, isServerError, type RestCall } from '../client.ts';
import { type CmsResponse, describeBody, effectiveStatus, errorCode, isWrite, parseJson } from '../http-exchange.ts';
import type { CmsRecord, Query } from '../port.ts';

/**
 * Creates the function that calls the site at `url`, which may also be the address of its API. Calls search for the API
 * first, until it is found. They throw NoRestApi if the site has none.
 */
export function createRestCall(client: CmsClient, url: URL): RestCall {
  let found: Promise<RouteResolver> | undefined;
  return inSmallerPages(async (method, route, parts = {}, options = {}) => {
    // All concurrent calls share the search: only the client's deadline ends it, no caller's signal.
    found ??= discover(client, url).catch((error: unknown) => {
      found = undefined;
      throw error;
    });
    const resolveRoute = await found;
    options.signal?.throwIfAborted();
    const { path, query } = resolveRoute(route);
    try {
      const request = { method, path, ...parts, query: { ...query, ...parts.query }, ...options, label: `/${route}` };
      const response = await client.request(request);
      if (response.status >= 400) throw rejection(response, method, `/${route}`);
      return response;
    } catch (error) {
      // A site whose API has moved responds with a page instead of JSON.
      if (error instanceof CmsUnavailable && error.reason === 'not-json') found = undefined;
      throw error;
    }
  });
}

/** The body as a list of records. @throws CmsUnavailable `not-json` for any other body */
export function recordsOf({ json, status }: CmsResponse): CmsRecord[] {
  if (Array.isArray(json) && json.every(isObject)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered with something other than a list of records.', { status });
}

/** Converts a route such as `wp/v2/posts` into the path and query of a request. */
type RouteResolver = (route: string) => { path: string; query: Query };

/**
 * Every WordPress has its API at `index.php?rest_route=`, with plain permalinks and with another prefix than `wp-json`
 * too.
 */
async function discover(client: CmsClient, url: URL): Promise<RouteResolver> {
  const site = `${url.pathname.replace(/\/(wp-json\/?)?$/, '')}/`;
  const candidates = [`${site}wp-json/`, `${site}index.php?rest_route=/`, `${site}?rest_route=/`];
  const findings: NoApiFinding[] = [];
  for (const apiRoot of candidates) {
    const found = await probeApi(client, apiRoot, url.origin);
    if ('root' in found) return createRouteResolver(found.root);
    findings.push(found.finding);
  }
  throw new NoRestApi(findings.find(({ reason }) => reason !== 'not-found') ?? findings[0]!);
}

/** The root of the API if `apiRoot` leads to one, otherwise what is there instead. */
async function probeApi(
  client: CmsClient,
  apiRoot: string,
  origin: string,
): Promise<{ root: string } | { finding: NoApiFinding }> {
  const { path, query } = createRouteResolver(apiRoot)('');
  try {
    const request = { method: 'GET', path, query: { ...query, _fields: 'namespaces' }, expect: 'any' } as const;
    const response = await client.request(request);
    return isApi(response)
      ? { root: redirectedRoot(response) ?? apiRoot }
      : { finding: findingOf(origin + apiRoot, response) };
  } catch (error) {
    const finding = error instanceof CmsUnavailable ? findingOfError(origin + apiRoot, error) : undefined;
    if (finding === undefined) throw error;
    return { finding };
  }
}

/** True for the API's description, and for WordPress's own refusal of anonymous requests. */
function isApi({ status: httpStatus, bytes }: CmsResponse): boolean {
  const json = parseJson(bytes);
  if (isObject(json) && Array.isArray(json.namespaces)) return json.namespaces.includes('wp/v2');
  const status = effectiveStatus(httpStatus, json);
  return (status === 401 || status === 403) && Boolean(errorCode(json));
}

/** Where a redirect within the site led: the gateway calls that directly, since it follows no redirect of a write. */
function redirectedRoot({ redirectedTo }: CmsResponse): string | undefined {
  if (redirectedTo === undefined) return undefined;
  const [path = '/', search] = redirectedTo.split('?');
  return new URLSearchParams(search).has('rest_route') ? `${path}?rest_route=/` : path;
}

function createRouteResolver(apiRoot: string): RouteResolver {
  const [path = '/', search] = apiRoot.split('?');
  if (search === undefined) return (route) => ({ path: `${path.replace(/\/$/, '')}/${route}`, query: {} });
  return (route) => ({ path, query: { rest_route: `/${route}` } });
}

export type NoApiReason =
  /** To another scheme, host or port. */
  | 'redirect'
  /** A login page, a 401 or 403 that is not WordPress's, or an error of WordPress's form with another status. */
  | 'closed'
  | 'not-found'
  /** Anything else than WordPress's description of its API: a web page with status 200, a redirect in a circle. */
  | 'no-api';

interface NoApiFinding {
  reason: NoApiReason;
  /** The URL that answered so. */
  url: string;
  /** What it does: `answers with a web page (status 200, "Coming soon")`. */
  says: string;
  /** Of a redirect, without query. */
  target?: URL;
}

/** No REST API of WordPress at the site's address. `message` names the URL and what it answers. */
export class NoRestApi extends CmsUnavailable {
  readonly finding: NoApiFinding;

  constructor(finding: NoApiFinding) {
    super('status', `${finding.url} ${finding.says}: there is no REST API of WordPress`, { status: 404 });
    this.name = 'NoRestApi';
    this.finding = finding;
  }
}

/** Of a page, for its title. */
const INSPECTED_BYTES = 16_384;
/** Of a page's title, or of an error's code and message, in characters. */
const MAX_WORDS = 120;
const LOGIN_PATH = /^[^?]*\/(wp-login\.php|log-?in|sign-?in|sso|saml2?|oauth2?|cas|auth)(?:[/.?]|$)/i;

/** What a response without the API's description means. `url`: what was requested. */
function findingOf(url: string, { status, bytes, redirectedTo = '' }: CmsResponse): NoApiFinding {
  const json = parseJson(bytes);
  const code = errorCode(json);
  const title = /<title[^<>]{0,200}>([^<]{1,300})/i.exec(bytes.toString('utf8', 0, INSPECTED_BYTES))?.[1];
  const words = code === undefined ? title : `${code} ${isObject(json) ? String(json.message) : ''}`;
  const details = words ? `status ${status}, "${shorten(words)}"` : `status ${status}`;
  const finding = (reason: NoApiReason, says: string) => ({ reason, url, says: `${says} (${details})` });
  if (LOGIN_PATH.test(redirectedTo)) return finding('closed', 'answers with a login page');
  if (status === 401) return finding('closed', 'requires a login, and not as WordPress does');
  if (status === 403) return finding('closed', 'is forbidden, and not by WordPress');
  if (code) return finding('closed', 'answers with an error');
  if (status === 404 || status === 410) return finding('not-found', 'is not found');
  if (json !== undefined) return finding('no-api', 'answers with JSON that does not describe that API');
  return finding('no-api', `answers with ${describeBody(bytes)}`);
}

/** What a failed request means; undefined for a failure that says nothing about the address (refused, timeout, 5xx). */
export function findingOfError(url: string, error: CmsUnavailable): NoApiFinding | undefined {
  if (error.reason === 'too-large') return { reason: 'no-api', url, says: 'answers with more than the gateway reads' };
  if (!(error instanceof CmsRedirected)) return undefined;
  const { target, isLoop } = error;
  if (!target) return { reason: 'no-api', url, says: 'redirects to no address of the web' };
  const to = `to ${(target.origin + target.pathname).slice(0, 200)}`;
  if (LOGIN_PATH.test(target.pathname))
    return { reason: 'closed', url, says: `answers with a login page (${to})`, target };
  return isLoop
    ? { reason: 'no-api', url, says: `redirects in a circle (${to})`, target }
    : { reason: 'redirect', url, says: `redirects to another address (${to})`, target };
}

/** One line of printable characters: a page's words go to a terminal. */
function shorten(text: string): string {
  const plain = text.replace(/[\p{C}\s]+/gu, ' ').trim();
  return plain.length > MAX_WORDS ? `${plain.slice(0, MAX_WORDS - 1)}…` : plain;
}

/** `kind` and `fields`: of the rejection. `isEarly`: WordPress gives the error before it writes anything. */
interface Meaning {
  kind?: RejectionKind;
  fields?: readonly string[];
  isEarly?: true;
}

const EARLY = { isEarly: true } as const;

/**
 * By WordPress's own error codes. A create inserts a post before WordPress checks its terms and meta fields, and the
 * post stays: such an error is not early. Nor is a code that a plugin is likely to use as well, at any time.
 */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  rest_post_invalid_id: { kind: 'not-found' },
  rest_term_invalid: { kind: 'not-found' },
  rest_user_invalid_id: { kind: 'not-found' },
  rest_forbidden: { kind: 'not-visible' },
  rest_no_route: { kind: 'no-collection' },
  rest_not_logged_in: { kind: 'unauthenticated', ...EARLY },
  incorrect_password: { kind: 'unauthenticated', ...EARLY },
  invalid_username: { kind: 'unauthenticated', fields: ['username'], ...EARLY },
  invalid_email: { kind: 'unauthenticated', fields: ['email'], ...EARLY },
  rest_already_trashed: { kind: 'in-trash', ...EARLY },
  rest_trash_not_supported: { kind: 'no-trash', ...EARLY },
  rest_invalid_author: { kind: 'invalid', fields: ['author'], ...EARLY },
  rest_invalid_featured_media: { kind: 'invalid', fields: ['featured_media'] },
  empty_content: { kind: 'invalid', fields: ['title'], ...EARLY },
  empty_term_name: { kind: 'invalid', fields: ['name'], ...EARLY },
  /** Of a term: its name is too long for the database. */
  db_insert_error: { kind: 'failed', fields: ['name'] },
  duplicate_term_slug: { kind: 'conflict', fields: ['slug'], ...EARLY },
  term_exists: { kind: 'conflict', fields: ['name'], ...EARLY },
  missing_parent: EARLY,
  /** Only of a mapping of somebody's own that writes WordPress's `sticky`. The bundled ones do not. */
  rest_cannot_assign_sticky: EARLY,
  rest_cannot_assign_term: EARLY,
  rest_cannot_create: EARLY,
  rest_cannot_edit_others: EARLY,
  rest_cannot_publish: EARLY,
  rest_missing_callback_param: EARLY,
  rest_post_exists: EARLY,
  rest_taxonomy_not_hierarchical: EARLY,
};

/** The code of an error without one, as some plugins send it. */
const FALLBACK_CODE = 'rest_upstream_error';

/** Converts the error body `{code, message, data}` of a response with status 400 or more. */
export function rejection({ status, json }: Pick<CmsResponse, 'status' | 'json'>, method: string, route: string) {
  const body = isObject(json) ? json : {};
  const code = errorCode(json) || FALLBACK_CODE;
  const data = isObject(body.data) ? body.data : {};
  const cmsMessage = typeof body.message === 'string' ? body.message : `The CMS answered with status ${status}.`;
  // WordPress's message does not name the route.
  const message = code === 'rest_no_route' ? `The CMS has no route ${method} ${route}.` : cmsMessage;
  return new CmsRejected(kindOf(status, code, data), invalidReasons(data) || message, {
    status,
    code,
    fields: MEANINGS[code]?.fields ?? invalidFields(data),
    ...(code === 'term_exists' && { existingId: Number(data.term_id ?? 0) }),
    written: isWrite(method) && !isBeforeWrite(status, code, data) ? 'unknown' : 'no',
  });
}

/**
 *     404 rest_post_invalid_id                 not-found
 *     500 rest_forbidden                       failed: a plugin may use WordPress's codes for whatever it refuses
 *     403 rest_cannot_edit                     forbidden
 *     400 of any other code; with `params`     invalid
 *     404 or 500 of any other code             failed
 */
function kindOf(status: number, code: string, data: CmsRecord): RejectionKind {
  const kind = MEANINGS[code]?.kind;
  const isRefused = status === 401 || status === 403;
  const isMisused = (kind === 'not-found' && status !== 404) || (kind === 'not-visible' && !isRefused);
  if (kind && !isMisused) return kind;
  if (isRefused) return 'forbidden';
  return data.params !== undefined || (status < 500 && status !== 404) ? 'invalid' : 'failed';
}

const isBeforeWrite = (status: number, code: string, data: CmsRecord): boolean =>
  status === 401 ||
  MEANINGS[code]?.isEarly === true ||
  /^rest_upload_\w+$/.test(code) ||
  // With `params`, the error comes from the validation of the parameters.
  (code === 'rest_invalid_param' && data.params !== undefined);

/**
 * The parameters that WordPress names as invalid. A message may begin with a more exact location than its
 * key: `meta.start is not ...`, `acf[price] is not ...`, `price is a required property of acf`.
 */
function invalidFields({ params, details }: CmsRecord): string[] {
  return Object.entries(isObject(params) ? params : {}).flatMap(([key, message]) => {
    const first = typeof message === 'string' ? message.split(' ', 1)[0]! : '';
    const detail = isObject(details) ? details[key] : undefined;
    const isMissing = isObject(detail) && detail.code === 'rest_property_required';
    const location = (isMissing ? `${key}.${first}` : first).replaceAll('[', '.').replaceAll(']', '');
    return location.startsWith(`${key}.`) ? [key, location] : [key];
  });
}

/** WordPress's message about invalid parameters names them without the reasons. */
const invalidReasons = ({ params }: CmsRecord): string =>
  isObject(params) ? Object.values(params).map(String).join(' ') : '';

/** A host that fails with ten records a request is down. */
const SMALL_PAGE = 10;

/**
 * Asks for a page ten records at a time where the site fails with a 5xx, and from then on for every page of that route.
 * The caller gets the page as one response.
 */
export function inSmallerPages(call: RestCall): RestCall {
  const failing = new Set<string>();

  return async (method, route, parts = {}, options = {}) => {
    const { per_page: wanted, page = 1, offset, ...query } = parts.query ?? {};
    if (method !== 'GET' || typeof wanted !== 'number' || wanted <= SMALL_PAGE || wanted % SMALL_PAGE !== 0)
      return call(method, route, parts, options);
    if (!failing.has(route))
      try {
        // Five failures in a row open the circuit breaker: this one is not repeated.
        return await call(method, route, { ...parts, callerAsksForFewer: true }, options);
      } catch (error) {
        if (!(error instanceof CmsUnavailable && isServerError(error))) throw error;
      }
    const first = Number(offset ?? (Number(page) - 1) * wanted);
    const records: unknown[] = [];
    for (let at = first; ; at += SMALL_PAGE) {
      const position = offset === undefined ? { page: at / SMALL_PAGE + 1 } : { offset: at };
      const part = { query: { ...query, ...position, per_page: SMALL_PAGE } };
      const response = await call('GET', route, part, options);
      failing.add(route);
      if (!Array.isArray(response.json)) return response;
      records.push(...response.json);
      const end = at + SMALL_PAGE;
      if (end >= first + wanted || !(end < Number(response.headers['x-wp-total'])))
        return { ...response, json: records };
    }
  };
}
