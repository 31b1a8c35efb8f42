// How much one caller may ask: requests of an address, and failed logins of an address and of a user.

import { createHmac, randomBytes } from 'node:crypto';
import { createRequire } from 'node:module';
import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '../errors.ts';
import { accountOf } from './login-names.ts';

type RateLimiterMemory = import('rate-limiter-flexible').RateLimiterMemory;
/** By itself: the package as a whole loads its stores for a dozen databases. */
const RateLimiterMemory: typeof import('rate-limiter-flexible').RateLimiterMemory = createRequire(import.meta.url)(
  'rate-limiter-flexible/lib/RateLimiterMemory.js',
);

/** A count of points by name, as rate-limiter-flexible has it. */
type Counter = Pick<RateLimiterMemory, 'get' | 'set' | 'penalty' | 'delete'>;

/** Of several gateways: counts that all of them share, and a key for hashes that all of them make alike. */
export interface SharedCounts {
  count(name: string, points: number, durationS: number): Counter;
  key: Buffer;
}

export interface AddressLimit {
  /**
   * Counts one request. Throws `GatewayError` 429 with `Retry-After` when the address has used up its minute.
   * @param nowMs what `performance.now()` says, for a caller who knows it
   */
  admit(caller: { ip: string }, nowMs?: number): void;
}

const MINUTE_S = 60;
/** Networks counted at once: those that asked least lately are forgotten first. */
const MAX_NETWORKS = 100_000;

interface Minute {
  requests: number;
  /** How many of them the other gateways know of. */
  told: number;
  endsMs: number;
}

/** With several gateways each tells the others once a second; who asks less than this share of the limit is not worth telling. */
const TELL_MS = 1000;
const WORTH_TELLING = 1 / 20;

/** So many requests a minute from one address. Only the refusal tells the figures: what one caller has left is not for a shared cache. */
export function createAddressLimit(
  { requestsPerMinute }: { requestsPerMinute: number },
  shared?: SharedCounts,
): AddressLimit {
  // By size: for a number of entries the room is taken at once, megabytes that a quiet site never fills.
  const minutes = new LRUCache<string, Minute>({ maxSize: MAX_NETWORKS, sizeCalculation: () => 1 });
  const least = requestsPerMinute * WORTH_TELLING;
  /** What is to be told at the end of this second. */
  const news = shared ? new Map<string, Minute>() : undefined;
  if (shared) tellEverySecond(shared.count('requests', requestsPerMinute, MINUTE_S));

  /** What was counted here since is added to what all have counted, which is taken over. */
  function tellEverySecond(all: Counter): void {
    async function tell(network: string, minute: Minute): Promise<void> {
      const more = minute.requests - minute.told;
      minute.told = minute.requests;
      const { consumedPoints, msBeforeNext } = await all.penalty(network, more);
      const since = minute.requests - minute.told;
      minute.requests = consumedPoints + since;
      minute.told = consumedPoints;
      minute.endsMs = performance.now() + msBeforeNext;
    }
    setInterval(() => {
      // Without an answer each counts for itself.
      for (const [network, minute] of news!) void tell(network, minute).catch(() => {});
      news!.clear();
    }, TELL_MS).unref();
  }
  // Counted here and not by a limiter that promises its answer: this stands before every stored answer.
  return {
    admit({ ip }, nowMs = performance.now()) {
      const network = networkOf(ip);
      let minute = minutes.get(network);
      if (!minute || minute.endsMs <= nowMs) {
        minute = { requests: 0, told: 0, endsMs: nowMs + MINUTE_S * 1000 };
        minutes.set(network, minute);
      }
      minute.requests += 1;
      if (news && minute.requests >= least) news.set(network, minute);
      if (minute.requests > requestsPerMinute) throw tooMany(secondsOf(minute.endsMs - nowMs), requestsPerMinute);
    },
  };
}

function tooMany(seconds: number, requestsPerMinute: number): GatewayError {
  return new GatewayError(429, 'rest_too_many_requests', 'Too many requests from this address. Try again later.', {
    headers: {
      'Retry-After': String(seconds),
      RateLimit: `"minute";r=0;t=${seconds}`,
      'RateLimit-Policy': `"minute";q=${requestsPerMinute};w=${MINUTE_S}`,
      // The same as earlier drafts of the header fields have it, for the many clients that read those.
      'RateLimit-Limit': String(requestsPerMinute),
      'RateLimit-Remaining': '0',
      'RateLimit-Reset': String(seconds),
    },
  });
}

/** `trusted`: the user logged in from this address within a day. */
export type LoginAllowance = { ok: true; trusted: boolean } | { ok: false; retryAfterS: number };

export interface LoginLimit {
  /** Whether these credentials may be shown to the CMS now; counts as under way until its end is told, or for 20 s. */
  allowed(address: string, user: string): Promise<LoginAllowance>;
  failed(address: string, user: string): Promise<void>;
  succeeded(address: string, user: string): Promise<void>;
  /** The CMS gave no usable answer, which says nothing about the password. */
  unanswered(address: string, user: string): Promise<void>;
}

export interface LoginLimitOptions {
  /** Failures from one address (an IPv6 /64; four times as many from its /56, 16 times from its /48) and of one user, within the window. */
  failedLoginsPerAddress: number;
  failedLoginsPerUser: number;
  failedLoginWindowS: number;
}

/** A home connection or a rented server has whole networks of IPv6 addresses: failures of these count as well. */
const WIDTHS = [
  { name: 'logins-address', times: 1 },
  { name: 'logins-network', times: 4 },
  { name: 'logins-site', times: 16 },
] as const;

/** The network itself, and of an IPv6 network its /56 and its /48. */
function widerNetworksOf(network: string): string[] {
  if (!network.endsWith('::/64')) return [network];
  const [a, b, c, d = '0'] = network.slice(0, -'::/64'.length).split(':');
  const eightBits = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [network, `${a}:${b}:${c}:${eightBits}::/56`, `${a}:${b}:${c}::/48`];
}

const TRUSTED_MS = 24 * 3600_000;
const MAX_TRUSTED = 10_000;
const UNDER_WAY_MS = 20_000;

/**
 * Slows guessing at the CMS's passwords through the gateway. Whoever logged in as a user from an address within a day has a count of
 * their own there: neither guesses at that user from elsewhere nor a neighbour's failures lock them out, and their success does not
 * give those others a new start. All spellings of a user name count together; they are kept as keyed hashes.
 */
export function createLoginLimit(options: LoginLimitOptions, shared?: SharedCounts): LoginLimit {
  const { failedLoginsPerAddress, failedLoginsPerUser, failedLoginWindowS: duration } = options;
  const key = shared?.key ?? randomBytes(32);
  const counter = (name: string, points: number): Counter =>
    shared?.count(name, points, duration) ?? new RateLimiterMemory({ points, duration });
  const byNetwork = WIDTHS.map(({ name, times }) => {
    const points = failedLoginsPerAddress * times;
    return createCount(points, counter(name, points));
  });
  const byUser = createCount(failedLoginsPerUser, counter('logins-user', failedLoginsPerUser));
  const byBoth = createCount(failedLoginsPerUser, counter('logins-both', failedLoginsPerUser));
  const trustedByAll = shared?.count('trusted', 1, TRUSTED_MS / 1000);
  const trusted = new LRUCache<string, true>({ max: MAX_TRUSTED, ttl: TRUSTED_MS });

  function keysOf(address: string, user: string) {
    const network = networkOf(address);
    const hash = createHmac('sha256', key)
      .update(accountOf(user) ?? user)
      .digest('base64url');
    // Of an IPv4 address there is one network alone.
    const counts = widerNetworksOf(network).map((name, i) => ({ name, count: byNetwork[i]! }));
    return { counts, hash, both: `${network} ${hash}` };
  }

  function end(address: string, user: string): void {
    const { counts, hash, both } = keysOf(address, user);
    for (const { name, count } of counts) count.end(name);
    byUser.end(hash);
    byBoth.end(both);
  }

  return {
    async allowed(address, user) {
      const { counts, hash, both } = keysOf(address, user);
      // All begin before anything is awaited: of many attempts at once each sees those before it.
      const here = counts.map(({ name, count }) => ({ name, count, before: count.begin(name) }));
      const [named, known] = [byUser.begin(hash), byBoth.begin(both)];
      const isTrusted = trusted.has(both) || (trustedByAll !== undefined && (await trustedByAll.get(both)) !== null);
      const waits = isTrusted
        ? [byBoth.waitS(both, known)]
        : [...here.map(({ name, count, before }) => count.waitS(name, before)), byUser.waitS(hash, named)];
      const retryAfterS = Math.max(...(await Promise.all(waits)));
      if (retryAfterS > 0) {
        end(address, user);
        return { ok: false, retryAfterS };
      }
      return { ok: true, trusted: isTrusted };
    },
    async failed(address, user) {
      const { counts, hash, both } = keysOf(address, user);
      await Promise.all([...counts.map(({ name, count }) => count.fail(name)), byUser.fail(hash), byBoth.fail(both)]);
    },
    async succeeded(address, user) {
      const { counts, hash, both } = keysOf(address, user);
      trusted.set(both, true);
      for (const { name, count } of counts) count.end(name);
      byUser.end(hash);
      await trustedByAll?.set(both, 1, TRUSTED_MS / 1000);
      await byBoth.forget(both);
    },
    async unanswered(address, user) {
      end(address, user);
    },
  };
}

interface Count {
  /** How many attempts were under way before this one. */
  begin(name: string): number;
  /** Seconds until this name may try again; 0: now. */
  waitS(name: string, before: number): Promise<number>;
  end(name: string): void;
  fail(name: string): Promise<void>;
  forget(name: string): Promise<void>;
}

/** Failures by name, with those attempts whose end is not known yet counted in, so that many at once gain nothing. */
function createCount(points: number, failures: Counter): Count {
  const underWay = new Map<string, NodeJS.Timeout[]>();

  function end(name: string): void {
    const timers = underWay.get(name);
    clearTimeout(timers?.shift());
    if (timers?.length === 0) underWay.delete(name);
  }

  return {
    begin(name) {
      const timers = underWay.get(name) ?? [];
      underWay.set(name, timers);
      // Whoever forgets to tell the end of an attempt must not lock anybody out for good.
      return timers.push(setTimeout(() => end(name), UNDER_WAY_MS).unref()) - 1;
    },
    async waitS(name, before) {
      const found = await failures.get(name);
      const failed = found?.consumedPoints ?? 0;
      if (failed >= points) return secondsOf(found!.msBeforeNext);
      return failed + before >= points ? 1 : 0;
    },
    end,
    async fail(name) {
      end(name);
      await failures.penalty(name);
    },
    async forget(name) {
      end(name);
      await failures.delete(name);
    },
  };
}

const secondsOf = (milliseconds: number): number => Math.max(1, Math.ceil(milliseconds / 1000));

/** What counts as one address: an IPv4 address, also in IPv6 clothes; the 64-bit network of an IPv6 address, since a caller has all of it. */
export function networkOf(address: string): string {
  if (!address.includes(':')) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!isIPv6(address)) return address;
  const [head = '', tail] = address.toLowerCase().split('%')[0]!.split('::');
  const groups = head === '' ? [] : head.split(':');
  const behind = tail ? tail.split(':').length + (tail.includes('.') ? 1 : 0) : 0;
  const filled = tail === undefined ? groups : [...groups, ...Array(Math.max(0, 8 - groups.length - behind)).fill('0')];
  const all = [...filled, ...(tail ? tail.split(':') : [])];
  return `${all
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`;
}
