// Where a site's REST API is: `/wp-json/`, or `?rest_route=` where permalinks are plain.

import { UpstreamAway } from '../../errors.ts';
import { errorCode, REDIRECTED } from '../answer.ts';
import type { Client } from '../client.ts';
import type { Query } from '../port.ts';

/** Turns a route such as `wp/v2/posts` into the path and query of a request. */
export type Locate = (route: string) => { path: string; query: Query };

export interface Discovery {
  /** Asked of the site with the first call, and again after a failure. */
  locate(): Promise<Locate>;
  /** Look again with the next call: the site's permalinks may have changed. */
  forget(): void;
}

/** The relation by which WordPress names its API in the `Link` header of every page. */
const API_LINK = /<([^<>]*)>\s{0,9};\s{0,9}rel="https:\/\/api\.w\.org\/"/;
/** Reasons that say nothing about the place asked, only that the CMS is not to be had now. */
const NOT_NOW = new Set(['refused', 'timeout', 'reset', 'busy', 'breaker-open']);

/**
 * Finds the API of the site at `url` (which may also be the API's own address).
 * @throws UpstreamAway (from `locate`) when the CMS is away, or `status` when there is no REST API of WordPress
 */
export function createDiscovery(client: Client, url: URL): Discovery {
  let found: Promise<Locate> | undefined;
  return {
    locate() {
      // Shared by all that wait for it, so no single caller's signal may end it; the client's deadline does.
      found ??= discover(client, url).catch((error: unknown) => {
        found = undefined;
        throw error;
      });
      return found;
    },
    forget() {
      found = undefined;
    },
  };
}

async function discover(client: Client, url: URL): Promise<Locate> {
  const site = `${url.pathname.replace(/\/(wp-json\/?)?$/, '')}/`;
  const places = [`${site}wp-json/`, `${site}?rest_route=/`, `${site}index.php?rest_route=/`];
  const { place: linked, redirect } = await linkedPlace(client, site, url);
  const reasons: string[] = [];
  for (const place of new Set(linked === undefined ? places : [linked, ...places])) {
    const reason = await reasonAgainst(client, place);
    if (reason === undefined) return locator(place);
    reasons.push(`${place}: ${reason}`);
  }
  // Nothing is asked of the other address, which may be anybody's: the operator decides whether that is the site.
  if (redirect !== undefined) throw redirect;
  throw new UpstreamAway(
    'status',
    `There is no REST API of WordPress at ${url.origin}${site} (${reasons[0]}). Is the address right, and is the API switched on?`,
  );
}

/**
 * The place that the site's front page names, or that it redirects to another origin. Only the path of the link counts: a site behind a
 * proxy gives its public address, the gateway may know it by an inner one.
 */
async function linkedPlace(
  client: Client,
  site: string,
  url: URL,
): Promise<{ place?: string | undefined; redirect?: UpstreamAway }> {
  try {
    const { headers } = await client.request({ method: 'HEAD', path: site, expect: 'any' });
    const target = API_LINK.exec(headers.link ?? '')?.[1];
    if (target === undefined || !URL.canParse(target, url.href)) return {};
    const { pathname, search } = new URL(target, url);
    return { place: pathname + search };
  } catch (error) {
    if (isNotNow(error)) throw error;
    return error instanceof UpstreamAway && error.status === REDIRECTED ? { redirect: error } : {};
  }
}

/** Why there is no API at this place; undefined when there is one. */
async function reasonAgainst(client: Client, place: string): Promise<string | undefined> {
  const { path, query } = locator(place)('');
  try {
    const { status, json } = await client.request({ method: 'GET', path, query: { ...query, _fields: 'namespaces' } });
    if (isRecord(json) && Array.isArray(json.namespaces) && json.namespaces.includes('wp/v2')) return undefined;
    const code = errorCode(json);
    // An API that refuses anonymous readers exists all the same: this is the form of WordPress's refusals.
    if ((status === 401 || status === 403) && code) return undefined;
    return `it answers with status ${status}${code ? ` (${code})` : ''}`;
  } catch (error) {
    if (isNotNow(error)) throw error;
    return error instanceof Error ? error.message.replace(/\.$/, '') : String(error);
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

function isNotNow(error: unknown): boolean {
  return error instanceof UpstreamAway && (NOT_NOW.has(error.reason) || (error.status ?? 0) >= 500);
}

function locator(place: string): Locate {
  const [path = '/', search] = place.split('?');
  if (search === undefined) return (route) => ({ path: `${path.replace(/\/$/, '')}/${route}`, query: {} });
  return (route) => ({ path, query: { rest_route: `/${route}` } });
}
