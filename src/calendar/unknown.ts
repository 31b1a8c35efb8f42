// Limits how often anonymous callers make the gateway ask the CMS for records that the replica lacks; remembers what the CMS denied.

import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { UpstreamAway } from '../errors.ts';
import type { Kind } from '../records.ts';
import type { Caller } from './visibility.ts';

export interface Unknown {
  /** Whether the CMS denied this within the last five seconds. `name`: `event 12`. */
  isMissing(name: string): boolean;
  /** The CMS denied this, to a caller whose rights made no difference. */
  missing(name: string): void;
  /**
   * Puts a question to the CMS about something that the replica lacks. Authenticated callers always may. Undefined: an anonymous caller is
   * to be answered from the replica, which has just been told of the newest records of the kind where that was possible.
   * @throws UpstreamAway; what the question throws
   */
  ask<T>(caller: Caller, kind: Kind | undefined, question: () => Promise<T>): Promise<{ answer: T } | undefined>;
  /** Whether this caller may cause this many further calls for the current question. */
  mayAsk(caller: Caller, calls: number): boolean;
}

export interface UnknownOptions {
  /** Whether the replica holds all that an anonymous caller may see. */
  isComplete(): boolean;
  /** Whether the CMS cannot be reached. */
  isAway(): boolean;
  /** Brings the newest records of a kind into the replica, with one call. Rejects never. */
  readNewest(kind: Kind): Promise<void>;
  /** Milliseconds of a clock that never goes back. */
  clockMs?: () => number;
}

/** Calls to the CMS that all anonymous callers together may cause at once after a quiet time; otherwise one a second. */
const BURST = 10;
const SECOND_MS = 1000;
/** The longest that a caller waits for the newest records, in milliseconds. */
const LONGEST_WAIT_MS = 2000;
const MISSING_KEPT_MS = 5000;
const MISSING_BYTES = 1024 * 1024;
/** Bytes that an entry takes apart from its name. */
const ENTRY_BYTES = 100;

/**
 * After a quiet time the gateway asks for each unknown record by id, which distinguishes a hidden record, one of another type and none. Once
 * the burst is used up, it reads the newest records of one kind once a second and answers all other callers from the replica.
 */
export function createUnknown(options: UnknownOptions): Unknown {
  const { isComplete, isAway, readNewest, clockMs = () => performance.now() } = options;
  const denied = new LRUCache<string, true>({
    maxSize: MISSING_BYTES,
    sizeCalculation: (_, name) => name.length + ENTRY_BYTES,
    ttl: MISSING_KEPT_MS,
  });
  let left = BURST;
  let filledMs = clockMs();
  /** Kinds that callers asked for since the last read of their newest records, the longest waiting first. */
  const wanted = new Set<Kind>();
  let latest: { kind: Kind; atMs: number; read: Promise<unknown> } | undefined;

  /** Takes calls from the burst if that leaves so many of it. */
  function take(calls: number, leaving: number): boolean {
    const nowMs = clockMs();
    left = Math.min(BURST, left + (nowMs - filledMs) / SECOND_MS);
    filledMs = nowMs;
    if (left - calls < leaving) return false;
    left -= calls;
    return true;
  }

  async function newest(kind: Kind): Promise<void> {
    wanted.add(kind);
    const nowMs = clockMs();
    if ((latest === undefined || nowMs - latest.atMs >= SECOND_MS) && take(1, 0)) {
      const [next = kind] = wanted;
      wanted.delete(next);
      const late = sleep(LONGEST_WAIT_MS, undefined, { ref: false });
      latest = { kind: next, atMs: nowMs, read: Promise.race([readNewest(next), late]) };
    }
    if (latest?.kind === kind) await latest.read;
  }

  return {
    isMissing: (name) => denied.has(name),
    missing: (name) => void denied.set(name, true),
    async ask(caller, kind, question) {
      if (caller.account || !isComplete()) return { answer: await question() };
      if (take(1, 1)) {
        try {
          return { answer: await question() };
        } catch (error) {
          if (error instanceof UpstreamAway && error.reason === 'busy') return undefined;
          throw error;
        }
      }
      if (isAway()) throw new UpstreamAway('busy', 'There are too many requests for records that the replica lacks.');
      if (kind !== undefined) await newest(kind);
      return undefined;
    },
    mayAsk: (caller, calls) => caller.account !== undefined || !isComplete() || take(calls, 1),
  };
}
