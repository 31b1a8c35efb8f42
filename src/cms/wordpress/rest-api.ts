// Finds WordPress's REST API (at `/wp-json/`, or at `index.php?rest_route=` with plain permalinks), calls its routes,
// and throws its errors.

import { CmsUnavailable } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import { type CmsClient, type RestCall, sentBody } from '../client.ts';
import { type CmsResponse, effectiveStatus, errorCode, parseJson } from '../http-exchange.ts';
import type { CmsRecord, Query } from '../port.ts';
import { findingOf, findingOfError, type NoApiFinding, NoRestApi } from './no-rest-api.ts';
import { inSmallerPages } from './page-size.ts';
import { rejection } from './rejections.ts';

/**
 * Creates the function that calls the site at `url`, which may also be the address of its API. Calls search for the API
 * first, until it is found. They throw NoRestApi if the site has none.
 */
export function createRestCall(client: CmsClient, url: URL): RestCall {
  let found: Promise<RouteResolver> | undefined;
  const search = async (): Promise<RouteResolver> => {
    try {
      return await discover(client, url);
    } catch (error) {
      found = undefined;
      throw error;
    }
  };
  return inSmallerPages(async (method, route, parts = {}, options = {}) => {
    // All concurrent calls share the search: only the client's deadline ends it, no caller's signal.
    found ??= search();
    const resolveRoute = await found;
    options.signal?.throwIfAborted();
    const { path, query } = resolveRoute(route);
    try {
      const response = await client.request({
        method,
        path,
        query: { ...query, ...parts.query },
        ...sentBody(parts),
        callerAsksForFewer: parts.callerAsksForFewer,
        ...options,
        label: `/${route}`,
      });
      if (response.status >= 400) throw rejection(response, method, `/${route}`);
      return response;
    } catch (error) {
      // A site whose API has moved responds with a page instead of JSON.
      if (error instanceof CmsUnavailable && error.reason === 'not-json') found = undefined;
      throw error;
    }
  });
}

/** The body as a record. @throws CmsUnavailable `not-json` for any other body */
export function recordOf({ json, status }: CmsResponse): CmsRecord {
  if (isObject(json)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered with a list instead of a record.', { status });
}

/**
 * The body of a write's response as the written record. @throws CmsUnavailable `not-json`, outcome unknown,
 * for any other body
 */
export function writtenRecordOf({ json, status }: CmsResponse): CmsRecord {
  if (isObject(json) && (isId(json.id) || json.deleted === true)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered a write with something other than the record.', {
    status,
    outcomeUnknown: true,
  });
}

export const isId = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

/** The body as a list of records. @throws CmsUnavailable `not-json` for any other body */
export function recordsOf({ json, status }: CmsResponse): CmsRecord[] {
  if (Array.isArray(json) && json.every(isObject)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered with something other than a list of records.', { status });
}

/** Returns an object as it is, and `{}` for any other value: PHP serialises an empty object as `[]`. */
export function objectOrEmpty(value: unknown): CmsRecord {
  return isObject(value) ? value : {};
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
    if (typeof found === 'string') return createRouteResolver(found);
    findings.push(found);
  }
  throw new NoRestApi(findings.find(({ reason }) => reason !== 'not-found') ?? findings[0]!);
}

/** Returns the root of the API if there is one at `apiRoot`, otherwise what is there instead. */
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
