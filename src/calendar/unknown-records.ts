// Limits the CMS calls that anonymous callers can cause by requesting records that the replica lacks, and
// caches which ones are missing.

import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { CmsUnavailable } from '../errors.ts';
import type { Kind } from '../model/records.ts';
import type { Actor } from './permissions.ts';
import { createTokenBucket } from './token-bucket.ts';

export interface UnknownRecords {
  /** Whether the CMS lacked the record within the last five seconds. `name`: of record and caller, `event 12 7`. */
  isMissing(name: string): boolean;
  /** The CMS lacks the record, or does not show it to this caller. */
  markMissing(name: string): void;
  /**
   * Calls the CMS for a record that the replica lacks. An account always may. Resolves with undefined if an
   * anonymous caller may not: the response then comes from the replica, into which the newest records of the
   * kind have been read if possible.
   * @throws CmsUnavailable; and what `fetch` throws
   */
  lookUp<T>(actor: Actor, kind: Kind | undefined, fetch: () => Promise<T>): Promise<{ result: T } | undefined>;
  /** Whether the actor may cause this many further calls within a lookup. */
  mayCall(actor: Actor, calls: number): boolean;
}

export interface UnknownRecordsOptions {
  /** Whether the replica has everything that an anonymous caller may see. */
  isComplete(): boolean;
  /** Whether the CMS cannot be reached. */
  isUnreachable(): boolean;
  /** Reads the newest records of a kind into the replica, in one call. Never rejects. */
  readNewest(kind: Kind): Promise<void>;
  /** A monotonic clock in milliseconds. */
  clockMs?: (() => number) | undefined;
  /** Another, by which callers get new lookups. */
  lookupsMs?: (() => number) | undefined;
}

/** Calls of all anonymous callers together; one more each second. */
const BURST = 10;
const SECOND_MS = 1000;
/** The longest that a request waits for the newest records. */
const MAX_WAIT_MS = 2000;
const MISSING_TTL_MS = 5000;
const MISSING_BYTES = 1024 * 1024;
/** Bytes of an entry besides its name. */
const ENTRY_BYTES = 100;

/**
 * A lookup by id can tell a hidden record, a record of another type and a missing one apart. Once callers
 * have used up the burst, it reads the newest records of one kind per second instead, and all anonymous
 * callers get responses from the replica.
 */
export function createUnknownRecords(options: UnknownRecordsOptions): UnknownRecords {
  const { isComplete, isUnreachable, readNewest, clockMs = () => performance.now(), lookupsMs = clockMs } = options;
  const missing = new LRUCache<string, true>({
    maxSize: MISSING_BYTES,
    sizeCalculation: (_, name) => name.length + ENTRY_BYTES,
    ttl: MISSING_TTL_MS,
    perf: { now: clockMs },
  });
  const bucket = createTokenBucket(BURST, lookupsMs);
  /** Kinds whose newest records callers are waiting for, in the order of their first request. */
  const requestedKinds = new Set<Kind>();
  let latest: { kind: Kind; startedMs: number; done: Promise<unknown> } | undefined;

  async function waitForNewest(kind: Kind): Promise<void> {
    requestedKinds.add(kind);
    const nowMs = lookupsMs();
    if ((latest === undefined || nowMs - latest.startedMs >= SECOND_MS) && bucket.take(1)) {
      const [next = kind] = requestedKinds;
      requestedKinds.delete(next);
      const timeout = sleep(MAX_WAIT_MS, undefined, { ref: false });
      latest = { kind: next, startedMs: nowMs, done: Promise.race([readNewest(next), timeout]) };
    }
    if (latest?.kind === kind) await latest.done;
  }

  return {
    isMissing: (name) => missing.has(name),
    markMissing: (name) => void missing.set(name, true),
    async lookUp(actor, kind, fetch) {
      if (actor.account || !isComplete()) return { result: await fetch() };
      if (bucket.take(1, { reserve: 1 })) {
        try {
          return { result: await fetch() };
        } catch (error) {
          if (error instanceof CmsUnavailable && error.reason === 'busy') return undefined;
          throw error;
        }
      }
      if (isUnreachable())
        throw new CmsUnavailable('busy', 'There are too many requests for records that the replica lacks.');
      if (kind !== undefined) await waitForNewest(kind);
      return undefined;
    },
    mayCall: (actor, calls) => actor.account !== undefined || !isComplete() || bucket.take(calls, { reserve: 1 }),
  };
}
