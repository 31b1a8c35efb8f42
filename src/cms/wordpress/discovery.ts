// Finds a site's REST API: at `/wp-json/`, or at `?rest_route=` with plain permalinks.

import { CmsUnavailable } from '../../errors.ts';
import type { CmsClient } from '../client.ts';
import type { Query } from '../port.ts';
import { errorCode, REDIRECT_STATUS } from '../response.ts';

/** Converts a route such as `wp/v2/posts` into the path and query of a request. */
export type RouteResolver = (route: string) => { path: string; query: Query };

export interface Discovery {
  /** Searches for the API on the first call, and again after a failure. */
  resolver(): Promise<RouteResolver>;
  /** Makes the next call search again: the site's permalinks may have changed. */
  invalidate(): void;
}

/** The link to its API that WordPress sends with every page. */
const API_LINK = /<([^<>]*)>\s{0,9};\s{0,9}rel="https:\/\/api\.w\.org\/"/;
/** Failures of the CMS as a whole, which say nothing about one URL. */
const TEMPORARY_REASONS = new Set(['refused', 'timeout', 'reset', 'busy', 'breaker-open']);

/**
 * Creates a search for the API of the site at `url`, which may also be the API's own URL. `resolver` throws
 * CmsUnavailable if the CMS is unavailable, and with `status` if the site has no WordPress REST API.
 */
export function createDiscovery(client: CmsClient, url: URL): Discovery {
  let resolver: Promise<RouteResolver> | undefined;
  return {
    resolver() {
      // All concurrent calls share the search: only the client's deadline ends it, no caller's signal.
      resolver ??= discover(client, url).catch((error: unknown) => {
        resolver = undefined;
        throw error;
      });
      return resolver;
    },
    invalidate() {
      resolver = undefined;
    },
  };
}

async function discover(client: CmsClient, url: URL): Promise<RouteResolver> {
  const site = `${url.pathname.replace(/\/(wp-json\/?)?$/, '')}/`;
  const candidates = [`${site}wp-json/`, `${site}?rest_route=/`, `${site}index.php?rest_route=/`];
  const { apiRoot: linked, redirect } = await readApiLink(client, site, url);
  const reasons: string[] = [];
  for (const apiRoot of new Set(linked === undefined ? candidates : [linked, ...candidates])) {
    const reason = await probeApi(client, apiRoot);
    if (reason === undefined) return createRouteResolver(apiRoot);
    reasons.push(`${apiRoot}: ${reason}`);
  }
  // The operator has to confirm that the other origin is the site: the gateway does not call it.
  if (redirect !== undefined) throw redirect;
  throw new CmsUnavailable(
    'status',
    `There is no REST API of WordPress at ${url.origin}${site} (${reasons[0]}). Is the address right, and is the API switched on?`,
  );
}

/**
 * Returns the API root that the site's front page links to, or its redirect to another origin. Uses only the
 * link's path: a site behind a proxy sends its public origin, while the gateway may call it by an internal
 * one.
 */
async function readApiLink(
  client: CmsClient,
  site: string,
  url: URL,
): Promise<{ apiRoot?: string; redirect?: CmsUnavailable }> {
  try {
    const { headers } = await client.request({ method: 'HEAD', path: site, expect: 'any' });
    const target = API_LINK.exec(headers.link ?? '')?.[1];
    if (target === undefined || !URL.canParse(target, url.href)) return {};
    const { pathname, search } = new URL(target, url);
    return { apiRoot: pathname + search };
  } catch (error) {
    if (isTemporary(error)) throw error;
    return error instanceof CmsUnavailable && error.status === REDIRECT_STATUS ? { redirect: error } : {};
  }
}

/** Returns why there is no API at `apiRoot`; undefined if there is one. */
async function probeApi(client: CmsClient, apiRoot: string): Promise<string | undefined> {
  const { path, query } = createRouteResolver(apiRoot)('');
  try {
    const { status, json } = await client.request({ method: 'GET', path, query: { ...query, _fields: 'namespaces' } });
    if (isRecord(json) && Array.isArray(json.namespaces) && json.namespaces.includes('wp/v2')) return undefined;
    const code = errorCode(json);
    // This is WordPress's own error: the API exists but rejects anonymous requests.
    if ((status === 401 || status === 403) && code) return undefined;
    return `it answers with status ${status}${code ? ` (${code})` : ''}`;
  } catch (error) {
    if (isTemporary(error)) throw error;
    return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function isTemporary(error: unknown): boolean {
  return error instanceof CmsUnavailable && (TEMPORARY_REASONS.has(error.reason) || (error.status ?? 0) >= 500);
}

function createRouteResolver(apiRoot: string): RouteResolver {
  const [path = '/', search] = apiRoot.split('?');
  if (search === undefined) return (route) => ({ path: `${path.replace(/\/$/, '')}/${route}`, query: {} });
  return (route) => ({ path, query: { rest_route: `/${route}` } });
}
