// Finds WordPress's REST API, or tells what answers instead, and calls its routes.

import { CmsRedirected, CmsUnavailable } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import type { CmsClient, RestCall } from '../client.ts';
import type { CmsRecord, Query } from '../port.ts';
import { type CmsResponse, describeBody, effectiveStatus, errorCode, parseJson } from '../response.ts';
import { rejection } from './rejections.ts';
import { inSmallerPages } from './smaller-pages.ts';

export const MAX_PAGE_SIZE = 100;

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

/** Finds the API, in this order. Throws NoRestApi if it is at none of these addresses. */
async function discover(client: CmsClient, url: URL): Promise<RouteResolver> {
  const site = `${url.pathname.replace(/\/(wp-json\/?)?$/, '')}/`;
  // Its usual place; with plain permalinks or another prefix; where the server does not serve `index.php` by its name.
  const candidates = [`${site}wp-json/`, `${site}index.php?rest_route=/`, `${site}?rest_route=/`];
  const findings: NoApiFinding[] = [];
  for (const apiRoot of candidates) {
    const found = await probeApi(client, apiRoot, url.origin);
    if (typeof found === 'string') return createRouteResolver(found);
    findings.push(found);
  }
  throw new NoRestApi(findings.find(({ reason }) => reason !== 'not-found') ?? findings[0]!);
}

/** The root of the API if `apiRoot` leads to one, otherwise what is there instead. */
async function probeApi(client: CmsClient, apiRoot: string, origin: string): Promise<string | NoApiFinding> {
  const { path, query } = createRouteResolver(apiRoot)('');
  try {
    const request = { method: 'GET', path, query: { ...query, _fields: 'namespaces' }, expect: 'any' } as const;
    const response = await client.request(request);
    return isApi(response) ? (redirectedRoot(response) ?? apiRoot) : findingOf(origin + apiRoot, response);
  } catch (error) {
    const finding = error instanceof CmsUnavailable ? findingOfError(origin + apiRoot, error) : undefined;
    if (finding === undefined) throw error;
    return finding;
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
    // 404, whatever the URL answered, also a redirect: an address without an API is no failing CMS.
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
  if (status === 401 || status === 403 || code) return finding('closed', 'answers with an error');
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
