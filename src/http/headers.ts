// Headers of API responses: those of every response, CORS, and caching.

import type { IncomingHttpHeaders } from 'node:http';
import type { Services } from '../calendar/services.ts';
import type { Config } from '../config-schema.ts';
import type { CmsName } from '../mapping/mapping-file.ts';
import { UNKNOWN_SITE } from '../model/records.ts';

/** The headers that say who calls. */
export const CALLER_HEADERS = ['Authorization', 'X-WP-Nonce'];

export const namesCaller = (headers: IncomingHttpHeaders): boolean =>
  CALLER_HEADERS.some((name) => headers[name.toLowerCase()] !== undefined);

export const COMMON_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json; charset=UTF-8',
  'X-Robots-Tag': 'noindex',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Expose-Headers':
    'X-TEC-Total, X-TEC-TotalPages, X-WP-Total, X-WP-TotalPages, Link, ETag, X-Request-Id, Retry-After, Date, ' +
    'Age, Warning, WWW-Authenticate, X-Unknown-Parameters, X-Calendar-Version, Idempotent-Replayed',
  'Access-Control-Allow-Headers':
    `${CALLER_HEADERS.join(', ')}, Content-Disposition, Content-MD5, Content-Type, ` +
    'If-None-Match, Cache-Control, X-Requested-With, X-Calendar-Min-Version, Idempotency-Key',
  // Without the nonce: alone it is refused (`invalidNonce`), and beside a login it is ignored.
  Vary: 'Origin, Authorization, Accept-Encoding, X-Calendar-Min-Version',
};

/** A create with this header, sent again, gets the record of the first one, and the second header. */
export const IDEMPOTENCY_KEY_HEADER = 'Idempotency-Key';
export const REPLAYED_HEADER = 'Idempotent-Replayed';

/** How long a browser may reuse the answer to a preflight request: two hours, the longest that Chromium keeps one. */
const PREFLIGHT_HEADERS = { 'Access-Control-Max-Age': '7200' };

/** The headers by which a browser lets scripts of this origin read a response. */
export type Cors = (origin: string | undefined, method?: string) => Record<string, string>;

/** @param allowed no origins: every one, as The Events Calendar allows */
export function createCors(allowed: readonly string[]): Cors {
  return (origin, method) => {
    if (!origin || (allowed.length > 0 && !allowed.includes(origin))) return {};
    return {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Allow-Methods': 'OPTIONS, GET, POST, PUT, PATCH, DELETE',
      'Access-Control-Allow-Credentials': 'true',
      ...(method === 'OPTIONS' && PREFLIGHT_HEADERS),
    };
  };
}

/** The scheme of the header `Authorization`, and what it carries. */
export const LOGINS = {
  wordpress: { scheme: 'Basic', description: 'User name and application password of the CMS' },
  payload: { scheme: 'Bearer', description: 'Token of a login at the CMS; or `users API-Key KEY`, in this header' },
} satisfies Record<CmsName, object>;

/** Of a 401. None for a browser, which would ask its user for a password instead of giving the script the response. */
export function challengeHeaders(headers: IncomingHttpHeaders, cms: CmsName): Record<string, string> {
  if (headers.origin !== undefined || headers['sec-fetch-mode'] !== undefined) return {};
  return { 'WWW-Authenticate': `${LOGINS[cms].scheme} realm="calendar"` };
}

export type Freshness = Pick<Config['cache'], 'maxAgeS' | 'staleWhileRevalidateS'>;

/** `Cache-Control` of a public response (RFC 9111, 5.2.2; RFC 5861, 3). */
export const publicCacheControl = ({ maxAgeS, staleWhileRevalidateS }: Freshness): string =>
  `public, max-age=${maxAgeS}, stale-while-revalidate=${staleWhileRevalidateS}`;

/** Of responses that no cache may store, as WordPress sends them to authenticated callers. */
export const PRIVATE_HEADERS: Readonly<Record<string, string>> = {
  Expires: 'Wed, 11 Jan 1984 05:00:00 GMT',
  'Cache-Control': 'no-cache, must-revalidate, max-age=0, no-store, private',
};

const MAX_TAGS = 300;

/**
 * Cache tags for purging a CDN by record, names and values in turn: Fastly and Varnish read the first header,
 * Cloudflare the second. Of further records there is one tag for each kind (`many-event`), which has to be
 * purged with each of its records.
 */
export function cacheTagHeaders(tags: readonly string[]): string[] {
  if (tags.length === 0) return [];
  const kindsOfOthers = tags.slice(MAX_TAGS).map((tag) => `many-${tag.slice(0, tag.lastIndexOf('-'))}`);
  const sent = [...tags.slice(0, MAX_TAGS), ...new Set(kindsOfOthers)];
  return ['Surrogate-Key', sent.join(' '), 'Cache-Tag', sent.join(',')];
}

/** Tells that the replica has not caught up with the CMS for a while (RFC 9111, 5.1; `Warning` for older clients). */
export const staleHeaders = (ageS: number): Record<string, string> => ({
  Age: String(ageS),
  Warning: '110 - "Response is Stale"',
});

/** Links to WordPress's REST API, as WordPress always does. A URL may have characters that a header may not. */
export function apiLink({ site, mapping, cms }: Pick<Services, 'site' | 'mapping' | 'cms'>): Record<string, string> {
  if (mapping.cms !== 'wordpress' || cms.isReadOnly || site() === UNKNOWN_SITE) return {};
  return { Link: `<${URL.parse(`${site().url}/wp-json/`)?.href ?? ''}>; rel="https://api.w.org/"` };
}
