// What one client may have: a part of the slots that all clients share, and requests per minute.

import { isIPv6 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import type { RateLimiterMemory } from 'rate-limiter-flexible';
import { tooManyRequests } from '../interface/errors.ts';
import type { ClientAddress } from './client-address.ts';
import type { Middleware } from './state.ts';

/**
 * Whom every limit counts as one client: an IPv4 address, or the /48 of an IPv6 address. A home connection or a rented
 * server has up to 65,536 networks of /64, and ten of these would hold all slots.
 */
export function network48Of(address: string): string {
  // An IPv4 address has no colon, which is quicker to see than what `isIPv6` looks for.
  if (!address.includes(':') || !isIPv6(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = parsed.parts.slice(0, 3).map((group) => group.toString(16));
  return `${groups.join(':')}::/48`;
}

/** A tenth: ten networks together can take all slots. */
const SHARES = 10;

/** Slots that all clients share, such as open connections: no network holds more than a tenth of them. */
export class SharedSlots {
  readonly #total: number;
  readonly #held = new Map<string, number>();
  #taken = 0;

  constructor(total: number) {
    this.#total = total;
  }

  get isFull(): boolean {
    return this.#taken >= this.#total;
  }

  /**
   * Returns false, and takes nothing, if no slot is free or the network has its share.
   * @param mayHoldAll for a proxy, through which all clients come
   */
  tryTake(network: string, mayHoldAll = false): boolean {
    const held = this.#held.get(network) ?? 0;
    if (this.isFull || (!mayHoldAll && held >= Math.ceil(this.#total / SHARES))) return false;
    this.#held.set(network, held + 1);
    this.#taken += 1;
    return true;
  }

  release(network: string): void {
    const left = (this.#held.get(network) ?? 0) - 1;
    if (left > 0) this.#held.set(network, left);
    else this.#held.delete(network);
    this.#taken -= 1;
  }
}

export type Counter = Pick<RateLimiterMemory, 'get' | 'set' | 'penalty' | 'reward' | 'delete'>;

/** Counters that several gateways share, and the key of the hashes by which they count. */
export interface SharedCounters {
  count(name: string, points: number, durationS: number): Counter;
  hashKey: Buffer;
}

const MINUTE_S = 60;
/**
 * Bytes that count as one request: twice a list of 50 ordinary events. What was built for the request counts: with
 * `_fields=id` a list of 2 MB counts as four requests, though it sends few bytes. From the cache it counts as one.
 */
const BYTES_PER_REQUEST = 512 * 1024;
/** Beyond this many networks, the least recently used are forgotten. */
const MAX_NETWORKS = 100_000;

interface Window {
  network: string;
  requests: number;
  /** How many of them the sum in Redis has already. */
  reported: number;
  endsMs: number;
}

/** Gateways exchange their counts at this interval, of networks that have used at least this fraction of the limit. */
const SHARE_INTERVAL_MS = 1000;
const MIN_SHARED_FRACTION = 1 / 20;

export class RateLimit {
  readonly #requestsPerMinute: number;
  /** The option `max` would allocate memory for all of them in advance. */
  readonly #windows = new LRUCache<string, Window>({ maxSize: MAX_NETWORKS, sizeCalculation: () => 1 });
  /** Windows whose new requests the other gateways do not know yet. */
  readonly #changed: Map<string, Window> | undefined;

  constructor({ requestsPerMinute }: { requestsPerMinute: number }, shared?: SharedCounters) {
    this.#requestsPerMinute = requestsPerMinute;
    if (!shared) return;
    const counter = shared.count('requests', requestsPerMinute, MINUTE_S);
    const changed = new Map<string, Window>();
    this.#changed = changed;
    setInterval(() => {
      // If the shared counter fails, each gateway counts alone.
      for (const window of changed.values()) void share(counter, window).catch(() => {});
      changed.clear();
    }, SHARE_INTERVAL_MS).unref();
  }

  /**
   * Counts a request. Returns false, without counting, if the address has used up its minute. Not a limiter of
   * rate-limiter-flexible: those are asynchronous, and this runs before every cache hit.
   */
  tryConsume(address: string, nowMs = performance.now()): boolean {
    const window = this.#windowOf(address, nowMs);
    if (window.requests >= this.#requestsPerMinute) return false;
    this.#add(window, 1);
    return true;
  }

  /** Counts a request. Throws `ApiError` 429 with `Retry-After` if the address has used up its minute. */
  consume(address: string): void {
    const nowMs = performance.now();
    if (this.tryConsume(address, nowMs)) return;
    const { endsMs } = this.#windowOf(address, nowMs);
    throw tooManyRequests(wholeSeconds(endsMs - nowMs), this.#requestsPerMinute);
  }

  /** Counts what a request cost beyond one, afterwards, so that the address reaches its limit earlier. */
  charge(address: string, requests: number): void {
    this.#add(this.#windowOf(address, performance.now()), requests);
  }

  /** Opens a new window if the network has none, or if its minute is over. */
  #windowOf(address: string, nowMs: number): Window {
    const network = network48Of(address);
    let window = this.#windows.get(network);
    if (!window || window.endsMs <= nowMs) {
      window = { network, requests: 0, reported: 0, endsMs: nowMs + MINUTE_S * 1000 };
      this.#windows.set(network, window);
    }
    return window;
  }

  #add(window: Window, requests: number): void {
    window.requests += requests;
    if (window.requests >= this.#requestsPerMinute * MIN_SHARED_FRACTION) this.#changed?.set(window.network, window);
  }
}

/**
 * Adds the new requests to the sum in Redis, and takes over the sum: with 45 requests here, of which 30 are in a sum of
 * 80, the sum becomes 95, and so does the count here. If Redis fails, the 15 are not sent again: it may have them.
 */
async function share(counter: Counter, window: Window): Promise<void> {
  const unreported = window.requests - window.reported;
  window.reported = window.requests;
  const { consumedPoints: sum, msBeforeNext } = await counter.penalty(window.network, unreported);
  const meanwhile = window.requests - window.reported;
  window.requests = sum + meanwhile;
  window.reported = sum;
  window.endsMs = performance.now() + msBeforeNext;
}

/** Rejects requests of a client beyond its limit, and counts what a long response cost. `fastPath` counts its hits. */
export function rateLimiting(rateLimit: RateLimit, clientAddress: ClientAddress): Middleware {
  return async function rateLimitMiddleware(ctx, next) {
    const address = clientAddress(ctx.req);
    rateLimit.consume(address);
    await next();
    const { apiResponse, cacheOutcome } = ctx.state;
    if (!apiResponse?.chargedBytes || cacheOutcome === 'shared') return;
    rateLimit.charge(address, Math.ceil(apiResponse.chargedBytes / BYTES_PER_REQUEST) - 1);
  };
}

export const wholeSeconds = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1000));
