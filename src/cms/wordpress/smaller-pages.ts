// Lists of a host whose PHP fails with large pages: they are read ten records at a time.

import { CmsUnavailable } from '../../errors.ts';
import type { RestCall } from '../client.ts';
import { is5xxWithoutRetryAfter } from '../response.ts';

const SMALL_PAGE = 10;

/**
 * Asks for a page ten records at a time where the site fails with a 5xx that has no `Retry-After`, and from then on for
 * every page of that route. The caller gets the page as one response.
 */
export function inSmallerPages(call: RestCall): RestCall {
  const failing = new Set<string>();

  return async (method, route, parts = {}, options = {}) => {
    const { per_page: wanted, page = 1, offset, ...query } = parts.query ?? {};
    if (method !== 'GET' || typeof wanted !== 'number' || wanted <= SMALL_PAGE || wanted % SMALL_PAGE !== 0)
      return call(method, route, parts, options);
    if (!failing.has(route))
      try {
        // Not repeated (`isTransient` in send-request.ts): two more such failures may take all the time of the call.
        return await call(method, route, { ...parts, callerAsksForFewer: true }, options);
      } catch (error) {
        if (!(error instanceof CmsUnavailable && is5xxWithoutRetryAfter(error))) throw error;
      }
    // Indexes of records in the list. Counted in pages they are multiples of ten, since `wanted` is one.
    const first = Number(offset ?? (Number(page) - 1) * wanted);
    const records: unknown[] = [];
    for (let at = first; ; at += SMALL_PAGE) {
      const position = offset === undefined ? { page: at / SMALL_PAGE + 1 } : { offset: at };
      const part = { query: { ...query, ...position, per_page: SMALL_PAGE } };
      const response = await call('GET', route, part, options);
      // Only after a response: a host that fails with ten records too is down.
      failing.add(route);
      if (!Array.isArray(response.json)) return response;
      records.push(...response.json);
      const end = at + SMALL_PAGE;
      const hasMore = end < Number(response.headers['x-wp-total']);
      if (end >= first + wanted || !hasMore) return { ...response, json: records };
    }
  };
}
