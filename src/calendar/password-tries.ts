// How often anonymous callers may make the gateway try the password of a protected record at the CMS.

import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { GatewayError, UpstreamAway } from '../errors.ts';
import type { Native } from '../upstream/port.ts';

export interface PasswordTries {
  /**
   * The record as the CMS shows it with this password; the answer is reused for a second (a refusal: five seconds).
   * `record`: `event 12`. Throws `GatewayError` 429 when too many other passwords are being tried, and what `ask` throws.
   */
  read(record: string, password: string, ask: () => Promise<Native>): Promise<Native>;
}

/** Passwords that all anonymous callers together may try at once after a quiet time; otherwise one a second. */
const BURST = 10;
const SECOND_MS = 1000;
const REFUSED_KEPT_MS = 5 * SECOND_MS;
const MOST_KEPT = 200;
/** A password that was right within the last hour does not count as a guess, so guesses do not block its readers. */
const RIGHT_KEPT_MS = 3_600_000;
const MOST_RIGHT = 1000;

/**
 * Keeps keyed hashes of passwords, never the passwords.
 * @param clockMs a monotonic clock in milliseconds
 */
export function createPasswordTries(clockMs: () => number = () => performance.now()): PasswordTries {
  const key = randomBytes(32);
  const perf = { now: clockMs };
  const kept = new LRUCache<string, Promise<Native>>({ max: MOST_KEPT, ttl: SECOND_MS, perf, ttlResolution: 0 });
  const right = new LRUCache<string, true>({ max: MOST_RIGHT, ttl: RIGHT_KEPT_MS, perf, ttlResolution: 0 });
  let left = BURST;
  let filledMs = clockMs();

  function take(): boolean {
    const nowMs = clockMs();
    left = Math.min(BURST, left + (nowMs - filledMs) / SECOND_MS);
    filledMs = nowMs;
    if (left < 1) return false;
    left -= 1;
    return true;
  }

  return {
    async read(record, password, ask) {
      const name = createHmac('sha256', key).update(`${record} ${password}`).digest('base64');
      const known = kept.get(name);
      if (known) return known;
      if (!right.has(name) && !take()) throw tooMany();
      const asked = ask();
      kept.set(name, asked);
      asked.then(
        () => void right.set(name, true),
        (error: unknown) => {
          right.delete(name);
          if (error instanceof UpstreamAway) kept.delete(name);
          else kept.set(name, asked, { ttl: REFUSED_KEPT_MS });
        },
      );
      return asked;
    },
  };
}

const tooMany = (): GatewayError =>
  new GatewayError(429, 'rest_too_many_passwords', 'Too many passwords are being tried. Try again shortly.', {
    headers: { 'Retry-After': '1' },
  });
