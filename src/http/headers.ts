// Headers that every answer of the interface carries (interface-behaviour 9), and those that say how long it may be kept.

/** Sent whatever the answer is. */
export const STANDING: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json; charset=UTF-8',
  'X-Robots-Tag': 'noindex',
  'X-Content-Type-Options': 'nosniff',
  'Access-Control-Expose-Headers': 'X-TEC-Total, X-TEC-TotalPages, X-WP-Total, X-WP-TotalPages, Link',
  'Access-Control-Allow-Headers': 'Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type',
  Vary: 'Origin, Authorization, Accept-Encoding',
};

/** On a create: a retry with the same key gets the same record, and the second header with it. */
export const KEY_HEADER = 'Idempotency-Key';
export const REPLAYED_HEADER = 'Idempotent-Replayed';

/** For browsers that call from another origin. */
export const corsHeaders = (origin: string): Record<string, string> => ({
  'Access-Control-Allow-Origin': origin,
  'Access-Control-Allow-Methods': 'OPTIONS, GET, POST, PUT, PATCH, DELETE',
  'Access-Control-Allow-Credentials': 'true',
});

export interface Freshness {
  maxAgeS: number;
  staleWhileRevalidateS: number;
}

/** `Cache-Control` of a public answer (RFC 9111, 5.2.2; RFC 5861, 3). */
export const publicCaching = ({ maxAgeS, staleWhileRevalidateS }: Freshness): string =>
  `public, max-age=${maxAgeS}, stale-while-revalidate=${staleWhileRevalidateS}`;

/** As WordPress answers whoever is logged in. */
export const PRIVATE: Readonly<Record<string, string>> = {
  Expires: 'Wed, 11 Jan 1984 05:00:00 GMT',
  'Cache-Control': 'no-cache, must-revalidate, max-age=0, no-store, private',
};

const MAX_TAGS = 300;

/**
 * Record names for purging a CDN by record, names and values by turns. Fastly and Varnish read the one,
 * Cloudflare and others the other. What is more than 300 names is left out.
 */
export function purgeTags(tags: readonly string[]): string[] {
  if (tags.length === 0) return [];
  const named = tags.length > MAX_TAGS ? tags.slice(0, MAX_TAGS) : tags;
  return ['Surrogate-Key', named.join(' '), 'Cache-Tag', named.join(',')];
}

/** Says that the copy has not been compared with the CMS for a while (RFC 9111, 5.1; `Warning` for older readers). */
export const staleness = (ageS: number): Record<string, string> => ({
  Age: String(ageS),
  Warning: '110 - "Response is Stale"',
});
