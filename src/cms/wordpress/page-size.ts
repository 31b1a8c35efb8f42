// Owns the size of pages: a host may end PHP with a 500 if a page takes too much memory or time, and send a smaller
// one.

import { CmsUnavailable } from '../../errors.ts';
import { isServerError, type RestCall, type RestCallBody } from '../client.ts';
import type { CmsResponse } from '../http-exchange.ts';
import type { CallOptions } from '../port.ts';

/** A page of a hundred is tried with 100, 50, 25, 10 and 5 records a request: a host that fails with five is down. */
const SMALLEST = 5;

/**
 * Asks for a page in ever smaller parts while the site fails with a 5xx, and remembers the size that worked for the
 * route. The caller gets the page as one response.
 */
export function inSmallerPages(call: RestCall): RestCall {
  const learned = new Map<string, number>();

  return async (method, route, parts = {}, options = {}) => {
    const wanted = parts.query?.per_page;
    if (method !== 'GET' || typeof wanted !== 'number') return call(method, route, parts, options);
    let failure: unknown;
    for (let size = divisorOf(wanted, learned.get(route) ?? wanted); ; size = divisorOf(wanted, size / 2)) {
      // Five failures in a row open the circuit breaker: each size gets one attempt.
      const attempt = { ...parts, callerAsksForFewer: size > SMALLEST };
      try {
        if (size === wanted) return await call(method, route, attempt, options);
        const response = await readInParts(call, route, attempt, options, wanted, size);
        if (failure !== undefined) learned.set(route, size);
        return response;
      } catch (error) {
        failure ??= error;
        if (!(error instanceof CmsUnavailable && isServerError(error)) || size <= SMALLEST) throw failure;
      }
    }
  };
}

/** The largest divisor up to a limit: page 3 of a hundred begins with a page of 50, 25 ... too. */
function divisorOf(total: number, limit: number): number {
  let divisor = Math.max(1, Math.min(total, Math.floor(limit)));
  while (total % divisor !== 0) divisor -= 1;
  return divisor;
}

async function readInParts(
  call: RestCall,
  route: string,
  parts: RestCallBody,
  options: CallOptions,
  wanted: number,
  size: number,
): Promise<CmsResponse> {
  const { offset, page = 1, ...query } = parts.query ?? {};
  const first = offset === undefined ? (Number(page) - 1) * wanted : Number(offset);
  const records: unknown[] = [];
  for (let at = first; ; at += size) {
    const position = offset === undefined ? { page: at / size + 1 } : { offset: at };
    const part = { ...parts, query: { ...query, ...position, per_page: size } };
    const response = await call('GET', route, part, options);
    if (!Array.isArray(response.json)) return response;
    records.push(...response.json);
    const isLast = at + size >= first + wanted || !(at + size < Number(response.headers['x-wp-total']));
    if (isLast) return { ...response, json: records };
  }
}
