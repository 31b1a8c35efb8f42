// The rate limit: requests per minute from one client address.

import type { RateLimiterMemory } from 'rate-limiter-flexible';
import { tooManyRequests } from '../interface/errors.ts';
import { createLargeCache } from '../large-cache.ts';
import { type ClientAddress, networkOf } from './client-address.ts';
import type { Middleware } from './state.ts';

/** A counter of rate-limiter-flexible, by key. */
export type Counter = Pick<RateLimiterMemory, 'get' | 'set' | 'penalty' | 'reward' | 'delete'>;

/** Counters that several gateways share, and the key of the hashes by which they count. */
export interface SharedCounters {
  count(name: string, points: number, durationS: number): Counter;
  key: Buffer;
}

export interface RateLimit {
  /**
   * Counts a request. Returns false, without counting, if the address has used up its minute.
   * @param nowMs `performance.now()`
   */
  tryConsume(address: string, nowMs?: number): boolean;
  /** Counts what a request cost beyond one, afterwards, so that the address reaches its limit earlier. */
  charge(address: string, requests: number): void;
  /** Counts a request. Throws `ApiError` 429 with `Retry-After` if the address has used up its minute. */
  consume(address: string): void;
}

const MINUTE_S = 60;
/**
 * Bytes that count as one request if they are built for this request: twice a list of 50 ordinary events. With
 * `_fields` most of them may not be sent.
 */
const BYTES_PER_REQUEST = 512 * 1024;
/** Beyond this many networks, the least recently used are forgotten. */
const MAX_NETWORKS = 100_000;

interface Window {
  requests: number;
  /** How many of them the shared counter has. */
  shared: number;
  endsMs: number;
}

/** Gateways exchange their counts at this interval, of networks that have used at least this fraction of the limit. */
const SHARE_INTERVAL_MS = 1000;
const MIN_SHARED_FRACTION = 1 / 20;

export function createRateLimit(
  { requestsPerMinute }: { requestsPerMinute: number },
  shared?: SharedCounters,
): RateLimit {
  const windows = createLargeCache<string, Window>(MAX_NETWORKS);
  const minShared = requestsPerMinute * MIN_SHARED_FRACTION;
  const changed = shared ? new Map<string, Window>() : undefined;
  if (shared) shareCounts(shared.count('requests', requestsPerMinute, MINUTE_S));

  function shareCounts(counter: Counter): void {
    /** Adds the new requests to the shared count and takes over the sum. */
    async function share(network: string, window: Window): Promise<void> {
      const unshared = window.requests - window.shared;
      window.shared = window.requests;
      const { consumedPoints, msBeforeNext } = await counter.penalty(network, unshared);
      const meanwhile = window.requests - window.shared;
      window.requests = consumedPoints + meanwhile;
      window.shared = consumedPoints;
      window.endsMs = performance.now() + msBeforeNext;
    }
    setInterval(() => {
      // If the shared counter fails, each gateway counts alone.
      for (const [network, window] of changed!) void share(network, window).catch(() => {});
      changed!.clear();
    }, SHARE_INTERVAL_MS).unref();
  }

  function windowOf(network: string, nowMs: number): Window {
    let window = windows.get(network);
    if (!window || window.endsMs <= nowMs) {
      window = { requests: 0, shared: 0, endsMs: nowMs + MINUTE_S * 1000 };
      windows.set(network, window);
    }
    return window;
  }

  function add(network: string, window: Window, requests: number): void {
    window.requests += requests;
    if (changed && window.requests >= minShared) changed.set(network, window);
  }

  // Not a limiter of rate-limiter-flexible: those are asynchronous, and this runs before every cache hit.
  function tryConsume(address: string, nowMs = performance.now()): boolean {
    const network = networkOf(address);
    const window = windowOf(network, nowMs);
    if (window.requests >= requestsPerMinute) return false;
    add(network, window, 1);
    return true;
  }

  return {
    tryConsume,
    charge(address, requests) {
      const network = networkOf(address);
      add(network, windowOf(network, performance.now()), requests);
    },
    consume(address) {
      const nowMs = performance.now();
      if (tryConsume(address, nowMs)) return;
      const { endsMs } = windowOf(networkOf(address), nowMs);
      throw tooManyRequests(wholeSeconds(endsMs - nowMs), requestsPerMinute);
    },
  };
}

/**
 * Rejects requests of a client beyond its limit, and counts what a long response cost. The fast path counts
 * the hits that it serves.
 */
export function rateLimiting(rateLimit: RateLimit, clientAddress: ClientAddress): Middleware {
  return async function rateLimitMiddleware(ctx, next) {
    const address = clientAddress(ctx.req);
    rateLimit.consume(address);
    await next();
    const { apiResponse, cached, cache } = ctx.state;
    if (!apiResponse || cache === 'shared') return;
    const builtBytes = Math.max(apiResponse.builtBytes ?? 0, cached?.bytes.byteLength ?? 0);
    const ofBytes = Math.ceil(builtBytes / BYTES_PER_REQUEST) - 1;
    const extra = Math.max(apiResponse.extraRequests ?? 0, ofBytes);
    if (extra > 0) rateLimit.charge(address, extra);
  };
}

export const wholeSeconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1000));
