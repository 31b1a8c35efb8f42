// Bulkheads: each class of calls has its own share of the connections to the CMS and its own bounded queue.

import { CmsUnavailable } from '../errors.ts';
import type { Observe } from '../observability/observations.ts';
import type { BulkheadName } from './port.ts';

/** Decides which queue a call joins, and whose part of it. */
export interface CallClass {
  bulkhead: BulkheadName;
  /**
   * Calls with one key (one user) have a part of their bulkhead at most: all connections but one, half of the queue.
   * Calls without a key have no such limit.
   */
  fairnessKey?: string | undefined;
}

export interface Bulkheads {
  /**
   * Runs the task as soon as its bulkhead may use a connection.
   * @throws CmsUnavailable `busy`, immediately, when the bulkhead's queue is full or one fairness key fills
   * half of it
   */
  run<T>(callClass: CallClass, task: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface BulkheadLimits {
  /** Connections that no other bulkhead may use. */
  reserved: number;
  /** Connections that it may use while the other bulkheads need none. */
  max: number;
  queue: number;
}

/**
 * Divides connections and queue. Of eight connections, one each is reserved for anonymous calls, logins and
 * the sync, three for authenticated callers, and two are open to the first call. Fewer than four cannot be
 * divided: then the bulkheads only take turns.
 */
export function bulkheadLimits({
  connections,
  queue,
}: {
  connections: number;
  queue: number;
}): Record<BulkheadName, BulkheadLimits> {
  const eighth = Math.floor(connections / 8);
  const isDivisible = connections >= 4;
  const small = { reserved: eighth, max: Math.max(1, Math.floor(connections / 4)), queue: Math.ceil(queue / 5) };
  const large = (reserved: number) => ({ reserved: isDivisible ? Math.max(1, reserved) : 0, max: connections, queue });
  return {
    anonymous: small,
    logins: small,
    callers: large(Math.floor((connections * 3) / 8)),
    sync: large(eighth),
  };
}

interface QueuedCall extends CallClass {
  start: () => void;
}

interface Bulkhead extends BulkheadLimits {
  name: BulkheadName;
  running: number;
  runningByKey: Map<string, number>;
  queued: Set<QueuedCall>;
}

/**
 * Divides the connections among the bulkheads. Within a bulkhead calls start in the order of arrival, except those of
 * a key that has its part. Own code, since cockatiel's bulkhead has a single queue and
 * keeps an aborted task until its turn comes.
 */
export function createBulkheads(limits: { connections: number; queue: number }, observe: Observe): Bulkheads {
  const bulkheads = Object.entries(bulkheadLimits(limits)).map(
    ([name, shares]): Bulkhead => ({
      ...shares,
      name: name as BulkheadName,
      running: 0,
      runningByKey: new Map(),
      queued: new Set(),
    }),
  );
  const bulkheadOf = (call: CallClass): Bulkhead => bulkheads.find(({ name }) => name === call.bulkhead)!;
  const sum = (count: (bulkhead: Bulkhead) => number) => bulkheads.reduce((total, each) => total + count(each), 0);
  const running = () => sum((each) => each.running);
  const observeQueue = () => observe({ type: 'queue', waiting: sum(({ queued }) => queued.size), running: running() });

  function canStart(bulkhead: Bulkhead, { fairnessKey = '' }: CallClass): boolean {
    const reserved = sum((other) => (other === bulkhead ? 0 : Math.max(0, other.reserved - other.running)));
    if (bulkhead.running >= bulkhead.max || running() + reserved >= limits.connections) return false;
    return fairnessKey === '' || (bulkhead.runningByKey.get(fairnessKey) ?? 0) < maxPerFairnessKey(bulkhead);
  }

  /**
   * A single key leaves one connection of its bulkhead to the others, however slowly the CMS responds to it.
   */
  function maxPerFairnessKey(bulkhead: Bulkhead): number {
    const reserved = sum((other) => (other === bulkhead ? 0 : other.reserved));
    return Math.max(1, Math.min(bulkhead.max, limits.connections - reserved) - 1);
  }

  function canQueue(bulkhead: Bulkhead, { fairnessKey = '' }: CallClass): boolean {
    if (bulkhead.queued.size >= bulkhead.queue) return false;
    if (fairnessKey === '') return true;
    const sameKey = [...bulkhead.queued].filter((call) => call.fairnessKey === fairnessKey).length;
    return sameKey < Math.ceil(bulkhead.queue / 2);
  }

  function countRunning(bulkhead: Bulkhead, { fairnessKey = '' }: CallClass, change: 1 | -1): void {
    bulkhead.running += change;
    const ofKey = (bulkhead.runningByKey.get(fairnessKey) ?? 0) + change;
    if (ofKey > 0) bulkhead.runningByKey.set(fairnessKey, ofKey);
    else bulkhead.runningByKey.delete(fairnessKey);
  }

  function start(bulkhead: Bulkhead, call: CallClass): void {
    countRunning(bulkhead, call, 1);
    // Moves to the end: the bulkhead served last is served next only if no other one waits.
    bulkheads.push(...bulkheads.splice(bulkheads.indexOf(bulkhead), 1));
  }

  function nextQueued(bulkhead: Bulkhead): QueuedCall | undefined {
    for (const call of bulkhead.queued) if (canStart(bulkhead, call)) return call;
    return undefined;
  }

  /** Gives free connections to queued calls before a new call can take them. */
  function startQueued(): void {
    for (;;) {
      const bulkhead = bulkheads.find(nextQueued);
      const next = bulkhead && nextQueued(bulkhead);
      if (!bulkhead || !next) return;
      bulkhead.queued.delete(next);
      start(bulkhead, next);
      next.start();
    }
  }

  const enqueue = (bulkhead: Bulkhead, callClass: CallClass, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const call: QueuedCall = {
        ...callClass,
        start() {
          signal.removeEventListener('abort', abort);
          resolve();
        },
      };
      function abort() {
        bulkhead.queued.delete(call);
        observeQueue();
        reject(signal.reason);
      }
      signal.addEventListener('abort', abort, { once: true });
      bulkhead.queued.add(call);
      observeQueue();
    });

  return {
    async run(callClass, task, signal) {
      signal.throwIfAborted();
      const bulkhead = bulkheadOf(callClass);
      if (canStart(bulkhead, callClass)) {
        start(bulkhead, callClass);
        observeQueue();
      } else if (canQueue(bulkhead, callClass)) await enqueue(bulkhead, callClass, signal);
      else throw new CmsUnavailable('busy', 'Too many requests are waiting for the CMS.', { retryAfterS: 1 });
      try {
        return await task();
      } finally {
        countRunning(bulkhead, callClass, -1);
        startQueued();
        observeQueue();
      }
    },
  };
}
