// The limits of work that callers share: calls to the CMS for records that the replica lacks, attempts at passwords,
// and long work in the event loop.

import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ApiError, CmsUnavailable } from '../errors.ts';
import type { Actor } from './request.ts';

const SECOND_MS = 1000;

export interface TokenBucket {
  /** Takes `tokens` if there are as many; otherwise takes none and returns false. */
  take(tokens: number): boolean;
}

/**
 * @param burst tokens at first, and at most
 * @param perSecond tokens that come back each second
 * @param clockMs a monotonic clock in milliseconds
 */
export function createTokenBucket(burst: number, perSecond: number, clockMs: () => number): TokenBucket {
  let available = burst;
  let refilledMs = clockMs();
  return {
    take(tokens) {
      const nowMs = clockMs();
      available = Math.min(burst, available + ((nowMs - refilledMs) / SECOND_MS) * perSecond);
      refilledMs = nowMs;
      if (available < tokens) return false;
      available -= tokens;
      return true;
    },
  };
}

export interface UnknownRecords {
  /** Whether the CMS lacked the record within the last five seconds. `name`: of record and caller, `event 12 7`. */
  isMissing(name: string): boolean;
  /** The CMS lacks the record, or does not show it to this caller. */
  markMissing(name: string): void;
  /**
   * Calls the CMS for a record that the replica lacks. An account always may. Resolves with undefined if an
   * anonymous caller may not: the response then comes from the replica.
   * @throws CmsUnavailable; and what `fetch` throws
   */
  lookUp<T>(actor: Actor, fetch: () => Promise<T>): Promise<{ result: T } | undefined>;
  /** Whether the actor may cause this many further calls within a lookup. */
  mayCall(actor: Actor, calls: number): boolean;
}

export interface UnknownRecordsOptions {
  /** Whether the replica has everything that an anonymous caller may see. */
  isComplete(): boolean;
  /** Whether the CMS cannot be reached. */
  isUnreachable(): boolean;
  /** A monotonic clock in milliseconds. */
  clockMs?: (() => number) | undefined;
  /** Another, by which callers get new lookups. */
  lookupsMs?: (() => number) | undefined;
}

/** Calls of all anonymous callers together: an app that asks for a page of removed events must not be told less. */
const LOOKUP_BURST = 100;
const LOOKUPS_PER_SECOND = 5;
const MISSING_TTL_MS = 5000;
const MISSING_BYTES = 1024 * 1024;
/** Bytes of an entry besides its name. */
const ENTRY_BYTES = 100;

/**
 * A lookup by id can tell a hidden record (403), a record of another type (400) and a missing one (404) apart. Once
 * callers have used up the burst, anonymous callers get 404 for all three, from the replica.
 */
export function createUnknownRecords(options: UnknownRecordsOptions): UnknownRecords {
  const { isComplete, isUnreachable, clockMs = () => performance.now(), lookupsMs = clockMs } = options;
  const missing = new LRUCache<string, true>({
    maxSize: MISSING_BYTES,
    sizeCalculation: (_, name) => name.length + ENTRY_BYTES,
    ttl: MISSING_TTL_MS,
    perf: { now: clockMs },
  });
  const bucket = createTokenBucket(LOOKUP_BURST, LOOKUPS_PER_SECOND, lookupsMs);
  const isLimited = (actor: Actor) => !actor.account && isComplete();

  return {
    isMissing: (name) => missing.has(name),
    markMissing: (name) => void missing.set(name, true),
    async lookUp(actor, fetch) {
      if (!isLimited(actor)) return { result: await fetch() };
      if (bucket.take(1)) {
        try {
          return { result: await fetch() };
        } catch (error) {
          if (error instanceof CmsUnavailable && error.reason === 'busy') return undefined;
          throw error;
        }
      }
      if (isUnreachable())
        throw new CmsUnavailable('busy', 'There are too many requests for records that the replica lacks.');
      return undefined;
    },
    mayCall: (actor, calls) => !isLimited(actor) || bucket.take(calls),
  };
}

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
const ATTEMPT_BURST = 10;
const ATTEMPTS_PER_SECOND = 1;
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
  const attempts = createTokenBucket(ATTEMPT_BURST, ATTEMPTS_PER_SECOND, clockMs);

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

const waiting: (() => void)[] = [];

function runNext(): void {
  waiting.shift()!();
  if (waiting.length > 0) setImmediate(runNext);
}

/**
 * Resolves in a later turn of the event loop, in which no other caller of this function continues. With
 * `setImmediate` alone, the steps of ten requests would run in one turn, and block all others ten times as
 * long.
 */
export function ownTurn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    if (waiting.length === 1) setImmediate(runNext);
  });
}

/** Runs work when one of the places is free. */
export type InPlace = <T>(caller: string, work: () => Promise<T>) => Promise<T>;

/**
 * Places for work that holds many records. Callers take turns: of one who asks for 600 lists on 600 connections, all
 * would otherwise begin at once, hold 400 KB each, and delay the lists of all others.
 */
export function createPlaces(count: number): InPlace {
  let taken = 0;
  /** By caller, in the order in which the callers are served. */
  const queues = new Map<string, (() => void)[]>();
  return async (caller, work) => {
    if (taken < count) taken += 1;
    else await new Promise<void>((resolve) => queues.set(caller, [...(queues.get(caller) ?? []), resolve]));
    try {
      return await work();
    } finally {
      const [next] = queues;
      if (!next) taken -= 1;
      else {
        const [name, [begin, ...rest]] = next;
        queues.delete(name);
        if (rest.length > 0) queues.set(name, rest);
        begin!();
      }
    }
  };
}
