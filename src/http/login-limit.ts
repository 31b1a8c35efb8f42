// The limit of failed logins, by client address and by user name.

import { createHmac, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import type { Login } from '../cms/port.ts';
import type { Config } from '../config-schema.ts';
import { createLargeCache } from '../large-cache.ts';
import { networkOf } from './client-address.ts';
import { type Counter, type SharedCounters, wholeSeconds } from './rate-limit.ts';

/**
 * `trusted`: the user has logged in from this address within a day. `isIgnored`: the reason is only that the
 * CMS has ignored too many tokens from this address.
 */
export type LoginDecision = { ok: true; trusted: boolean } | { ok: false; retryAfterS: number; isIgnored: boolean };

/** Tokens have no user name. */
type LoginKind = Login['kind'];

export interface LoginLimit {
  /**
   * Whether the CMS may check these credentials now. An attempt by password counts as a failure until its
   * result is reported, or for 20 s. An attempt by token does not, because running tokens must not block
   * passwords: `auth.ts` limits how many run at a time.
   */
  check(address: string, user: string, kind?: LoginKind): Promise<LoginDecision>;
  /** The CMS ignores this token, as it ignores each that it does not know. Passwords have another counter. */
  ignored(address: string, user: string): Promise<void>;
  failed(address: string, user: string, kind?: LoginKind): Promise<void>;
  succeeded(address: string, user: string, kind?: LoginKind): Promise<void>;
  /** The CMS gave no usable response, which says nothing about the password. */
  inconclusive(address: string, user: string, kind?: LoginKind): Promise<void>;
}

type FailureLimits = Pick<Config['limits'], 'failedLoginsPerAddress' | 'failedLoginsPerUser' | 'failedLoginWindowS'>;

/**
 * A home connection or a rented server has whole networks of IPv6 addresses. The limits count a /64 as one
 * address, and count its /56 and its /48 as well.
 */
const NETWORK_WIDTHS = [
  { name: 'address', factor: 1 },
  { name: 'network56', factor: 4 },
  { name: 'network48', factor: 16 },
] as const;

/** The network itself, and the /56 and /48 around an IPv6 network. */
function widerNetworksOf(network: string): string[] {
  if (!network.endsWith('::/64')) return [network];
  const [a, b, c, d = '0'] = network.slice(0, -'::/64'.length).split(':');
  const eightBits = (Number.parseInt(d, 16) & 0xff00).toString(16);
  return [network, `${a}:${b}:${c}:${eightBits}::/56`, `${a}:${b}:${c}::/48`];
}

const TRUSTED_MS = 24 * 3600_000;
const MAX_TRUSTED = 10_000;
const MAX_ATTEMPT_MS = 20_000;

/**
 * Slows down password guessing through the gateway. A user who logged in from an address within a day has a
 * counter of their own there: guesses from elsewhere and a neighbour's failures do not lock them out, and
 * their success does not reset the counters of others. A counter's key is a keyed hash of the name.
 */
export function createLoginLimit(options: FailureLimits, shared?: SharedCounters): LoginLimit {
  const { failedLoginsPerAddress, failedLoginsPerUser, failedLoginWindowS: duration } = options;
  const key = shared?.key ?? randomBytes(32);
  const counter = (name: string, points: number): Counter =>
    shared?.count(name, points, duration) ?? new RateLimiterMemory({ points, duration });
  const countByNetwork = (what: 'logins' | 'ignored') =>
    NETWORK_WIDTHS.map(({ name, factor }) => {
      const points = failedLoginsPerAddress * factor;
      return createFailureCount(points, counter(`${what}-${name}`, points));
    });
  const byNetwork = countByNetwork('logins');
  const ignoredByNetwork = countByNetwork('ignored');
  const byUser = createFailureCount(failedLoginsPerUser, counter('logins-user', failedLoginsPerUser));
  const byUserAndNetwork = createFailureCount(failedLoginsPerUser, counter('logins-both', failedLoginsPerUser));
  const sharedTrusted = shared?.count('trusted', 1, TRUSTED_MS / 1000);
  const trusted = createLargeCache<string, true>(MAX_TRUSTED, { ttl: TRUSTED_MS });

  function countersOf(address: string, user: string) {
    const network = networkOf(address);
    const userHash = createHmac('sha256', key)
      .update(accountKey(user) ?? user)
      .digest('base64url');
    // An IPv4 address has no wider networks.
    const networks = widerNetworksOf(network).map((name, i) => ({
      name,
      count: byNetwork[i]!,
      ignored: ignoredByNetwork[i]!,
    }));
    return { networks, userHash, userAndNetwork: `${network} ${userHash}` };
  }

  function end(address: string, user: string, kind: LoginKind): void {
    if (kind === 'token') return;
    const { networks, userHash, userAndNetwork } = countersOf(address, user);
    for (const { name, count } of networks) count.end(name);
    byUser.end(userHash);
    byUserAndNetwork.end(userAndNetwork);
  }

  return {
    async check(address, user, kind = 'password') {
      const { networks, userHash, userAndNetwork } = countersOf(address, user);
      const start = (count: FailureCount, name: string) => (kind === 'token' ? 0 : count.start(name));
      // All counters start before the first await, so that concurrent attempts see each other.
      const started = networks.map(({ name, count }) => ({ name, count, running: start(count, name) }));
      const runningOfUser = start(byUser, userHash);
      const runningOfBoth = start(byUserAndNetwork, userAndNetwork);
      const isTrusted = trusted.has(userAndNetwork) || (await isTrustedByPeers(userAndNetwork));
      const waits = isTrusted
        ? [byUserAndNetwork.waitS(userAndNetwork, runningOfBoth)]
        : [
            ...started.map(({ name, count, running }) => count.waitS(name, running)),
            byUser.waitS(userHash, runningOfUser),
          ];
      const ignoredWaits =
        kind === 'token' && !isTrusted ? networks.map(({ name, ignored }) => ignored.waitS(name, 0)) : [];
      const failedS = Math.max(...(await Promise.all(waits)));
      const ignoredS = Math.max(0, ...(await Promise.all(ignoredWaits)));
      if (failedS === 0 && ignoredS === 0) return { ok: true, trusted: isTrusted };
      end(address, user, kind);
      return { ok: false, retryAfterS: Math.max(failedS, ignoredS), isIgnored: failedS === 0 };
    },
    async ignored(address, user) {
      const { networks } = countersOf(address, user);
      await Promise.all(networks.map(({ name, ignored }) => ignored.fail(name)));
    },
    async failed(address, user, kind = 'password') {
      end(address, user, kind);
      const { networks, userHash, userAndNetwork } = countersOf(address, user);
      const failures = networks.map(({ name, count }) => count.fail(name));
      await Promise.all([...failures, byUser.fail(userHash), byUserAndNetwork.fail(userAndNetwork)]);
    },
    async succeeded(address, user, kind = 'password') {
      end(address, user, kind);
      const { userAndNetwork } = countersOf(address, user);
      trusted.set(userAndNetwork, true);
      await sharedTrusted?.set(userAndNetwork, 1, TRUSTED_MS / 1000);
      await byUserAndNetwork.reset(userAndNetwork);
    },
    async inconclusive(address, user, kind = 'password') {
      end(address, user, kind);
    },
  };

  async function isTrustedByPeers(userAndNetwork: string): Promise<boolean> {
    return sharedTrusted !== undefined && (await sharedTrusted.get(userAndNetwork)) !== null;
  }
}

interface FailureCount {
  /** Starts an attempt; returns how many were running before. */
  start(name: string): number;
  /** Seconds until this name may try again; 0 if it may now. */
  waitS(name: string, running: number): Promise<number>;
  end(name: string): void;
  fail(name: string): Promise<void>;
  reset(name: string): Promise<void>;
}

/** Failures by name. Running attempts count as failures, so that concurrent guesses gain nothing. */
function createFailureCount(points: number, failures: Counter): FailureCount {
  const attempts = new Map<string, NodeJS.Timeout[]>();

  function end(name: string): void {
    const timers = attempts.get(name);
    clearTimeout(timers?.shift());
    if (timers?.length === 0) attempts.delete(name);
  }

  return {
    start(name) {
      const timers = attempts.get(name) ?? [];
      attempts.set(name, timers);
      // An attempt whose result is never reported must not lock the user out forever.
      return timers.push(setTimeout(() => end(name), MAX_ATTEMPT_MS).unref()) - 1;
    },
    async waitS(name, running) {
      const result = await failures.get(name);
      const failed = result?.consumedPoints ?? 0;
      if (failed >= points) return wholeSeconds(result!.msBeforeNext);
      return failed + running >= points ? 1 : 0;
    },
    end,
    async fail(name) {
      await failures.penalty(name);
    },
    async reset(name) {
      await failures.delete(name);
    },
  };
}

const MAX_NAME_LENGTH = 250;
/** Control characters, characters of HTML tags, and malformed UTF-8. */
const INVALID_NAME = /[\p{Cc}<>\uFFFD]/u;

/**
 * The name under which failed logins of a user count: in lower case. Undefined for one from which WordPress removes
 * characters, so that it might be the name of another user.
 */
export function accountKey(user: string): string | undefined {
  return user.length > MAX_NAME_LENGTH || INVALID_NAME.test(user) ? undefined : user.trim().toLowerCase();
}
