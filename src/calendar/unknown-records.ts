// Limits the CMS calls that anonymous callers can cause by requesting records that the replica lacks, and
// caches which ones are missing.

import { LRUCache } from 'lru-cache';
import { CmsUnavailable } from '../errors.ts';
import type { Actor } from './permissions.ts';
import { createTokenBucket } from './token-bucket.ts';

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
const BURST = 100;
const CALLS_PER_SECOND = 5;
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
  const bucket = createTokenBucket(BURST, CALLS_PER_SECOND, lookupsMs);
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
