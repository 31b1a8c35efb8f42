// Limits how many passwords of protected records anonymous callers can try per second.

import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ApiError, CmsUnavailable } from '../errors.ts';
import { createTokenBucket } from './token-bucket.ts';

export interface PasswordAttempts {
  /**
   * The record as the CMS shows it with this password. A success is cached for one second, a rejection for
   * five.
   * @param record for example `event 12`
   * @throws ApiError 429 if callers are trying too many other passwords; and what `fetch` throws
   */
  read<T>(record: string, password: string, fetch: () => Promise<T>): Promise<T>;
}

/** Attempts of all anonymous callers together. */
const BURST = 10;
const ATTEMPTS_PER_SECOND = 1;
const SECOND_MS = 1000;
const REJECTED_TTL_MS = 5 * SECOND_MS;
const MAX_RESPONSES = 200;
/**
 * A password that was correct within the last hour costs no token. Attempts of others then do not block its
 * users.
 */
const CORRECT_TTL_MS = 3_600_000;
const MAX_CORRECT = 1000;

/**
 * Stores keyed hashes instead of passwords.
 * @param clockMs a monotonic clock in milliseconds
 */
export function createPasswordAttempts(clockMs: () => number = () => performance.now()): PasswordAttempts {
  const key = randomBytes(32);
  const perf = { now: clockMs };
  const responses = new LRUCache<string, Promise<unknown>>({
    max: MAX_RESPONSES,
    ttl: SECOND_MS,
    perf,
    ttlResolution: 0,
  });
  const correct = new LRUCache<string, true>({ max: MAX_CORRECT, ttl: CORRECT_TTL_MS, perf, ttlResolution: 0 });
  const attempts = createTokenBucket(BURST, ATTEMPTS_PER_SECOND, clockMs);

  return {
    async read<T>(record: string, password: string, fetch: () => Promise<T>) {
      const attempt = createHmac('sha256', key).update(`${record} ${password}`).digest('base64');
      const cached = responses.get(attempt);
      if (cached) return cached as Promise<T>;
      if (!correct.has(attempt) && !attempts.take(1)) throw tooManyPasswords();
      const response = fetch();
      responses.set(attempt, response);
      response.then(
        () => void correct.set(attempt, true),
        (error: unknown) => {
          correct.delete(attempt);
          if (error instanceof CmsUnavailable) responses.delete(attempt);
          else responses.set(attempt, response, { ttl: REJECTED_TTL_MS });
        },
      );
      return response;
    },
  };
}

const tooManyPasswords = (): ApiError =>
  new ApiError(429, 'rest_too_many_passwords', 'Too many passwords are being tried. Try again shortly.', {
    headers: { 'Retry-After': '1' },
  });
