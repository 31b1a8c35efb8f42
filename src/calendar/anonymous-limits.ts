// What anonymous callers may cause at the CMS: lookups of records that the replica lacks, and attempts at passwords.

import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { CmsRejected, CmsUnavailable } from '../errors.ts';
import { tooManyPasswords } from '../interface/errors.ts';
import type { Actor } from './request.ts';

/**
 * Tokens for calls: `burst` at first and at most, of which `perSecond` come back each second. The result takes tokens
 * if there are as many; otherwise it takes none and returns false.
 */
function createTokens(burst: number, perSecond: number, clockMs: () => number): (tokens: number) => boolean {
  let available = burst;
  let refilledMs = clockMs();
  return (tokens) => {
    const nowMs = clockMs();
    available = Math.min(burst, available + ((nowMs - refilledMs) / 1000) * perSecond);
    refilledMs = nowMs;
    if (available < tokens) return false;
    available -= tokens;
    return true;
  };
}

/** Calls of all anonymous callers together: an app may ask for each of a hundred events that are in the trash. */
const LOOKUP_BURST = 100;
const LOOKUPS_PER_SECOND = 5;

/**
 * Lookups of records that the replica lacks: one by id tells a hidden record (403), a record of another type (400) and
 * a missing one (404) apart. Once callers have used up the burst, anonymous callers get 404 for all three.
 */
export class LookupLimit {
  readonly #isComplete: () => boolean;
  readonly #takeLookups: (calls: number) => boolean;

  /** @param isComplete whether the replica has everything that an anonymous caller may see */
  constructor(isComplete: () => boolean, clockMs: () => number = () => performance.now()) {
    this.#isComplete = isComplete;
    this.#takeLookups = createTokens(LOOKUP_BURST, LOOKUPS_PER_SECOND, clockMs);
  }

  /**
   * Takes tokens for this many calls to the CMS. False: too few are left. An account needs none, and nobody does during
   * the initial sync, when the replica lacks most records.
   */
  tryTake(actor: Actor, calls: number): boolean {
    return actor.account !== undefined || !this.#isComplete() || this.#takeLookups(calls);
  }

  /**
   * Calls the CMS for a record that the replica lacks. Resolves with undefined, as if there were no such record, if no
   * token is left, or if too many anonymous callers wait for their calls.
   */
  async lookUp<T>(actor: Actor, fetch: () => Promise<T>): Promise<T | undefined> {
    if (!this.tryTake(actor, 1)) return undefined;
    try {
      return await fetch();
    } catch (error) {
      const isBusy = error instanceof CmsUnavailable && error.reason === 'busy';
      if (isBusy && !actor.account && this.#isComplete()) return undefined;
      throw error;
    }
  }
}

const ATTEMPT_BURST = 10;
const ATTEMPTS_PER_SECOND = 1;
/** A password that was correct within the last hour costs no token. Attempts of others then do not block its users. */
const CORRECT_TTL_MS = 3_600_000;
const MAX_CORRECT = 1000;

/** Attempts of anonymous callers at passwords of protected records. Stores keyed hashes instead of passwords. */
export class PasswordAttempts {
  readonly #hashKey = randomBytes(32);
  readonly #correct: LRUCache<string, true>;
  readonly #takeAttempts: (attempts: number) => boolean;

  constructor(clockMs: () => number = () => performance.now()) {
    this.#takeAttempts = createTokens(ATTEMPT_BURST, ATTEMPTS_PER_SECOND, clockMs);
    this.#correct = new LRUCache({ max: MAX_CORRECT, ttl: CORRECT_TTL_MS, perf: { now: clockMs }, ttlResolution: 0 });
  }

  /**
   * The record as the CMS shows it with this password.
   * @param record for example `event 12`
   */
  async read<T>(record: string, password: string, fetch: () => Promise<T>): Promise<T> {
    const attempt = createHmac('sha256', this.#hashKey).update(`${record} ${password}`).digest('base64');
    if (!this.#correct.has(attempt) && !this.#takeAttempts(1)) throw tooManyPasswords();
    try {
      const result = await fetch();
      this.#correct.set(attempt, true);
      return result;
    } catch (error) {
      // If the CMS is away, or its plugin is being updated (404), the password may still be right.
      if (error instanceof CmsRejected && error.refusesAccess) this.#correct.delete(attempt);
      throw error;
    }
  }
}
