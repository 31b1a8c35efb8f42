// The shared change log and this replica as its result: every gateway appends a change first, and applies all
// changes in the log's order.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { NotLeaderError, ReplicaError } from '../errors.ts';
import { createLargeCache } from '../large-cache.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { Replica } from '../store/replica.ts';
import {
  compareIds,
  encodeEntry,
  firstPart,
  isEmptyChange,
  LOG_START,
  type LogEntry,
  type StoredEntry,
} from './change-log-entry.ts';
import { changesOf, keysOf, parseKey } from './record-keys.ts';
import { type Redis, RedisUnavailable } from './redis.ts';
import { openUnpublishedChanges, type UnpublishedChanges, type UnpublishedKeys } from './unpublished-changes.ts';

/** Where a change may be written at the moment. */
export type WriteMode =
  /** To the log, then to the replica; only while the lock is held under `token`, if given. */
  | { type: 'log'; redis: Redis; token?: number | undefined }
  /**
   * To this replica only. `isBaseline`: a new log will begin with this replica as its baseline, or a snapshot will
   * replace the replica.
   */
  | { type: 'local'; isBaseline?: boolean };

/** Why a record changes: a poll found it, or a request read it from the CMS or wrote it there. */
export type ChangeSource = 'poll' | 'read' | 'write';

export interface ChangeLog {
  /** Id of the last applied entry. */
  readonly offset: string;
  readonly unpublished: UnpublishedKeys;
  /** Where to continue reading: after `offset` if later entries were skipped. */
  readonly cursor: string;
  /** Id of the last entry that was skipped as unreadable. */
  readonly lastSkipped: string;
  /** Entries applied since the start. */
  readonly appliedCount: number;
  /**
   * Appends and applies a change once the replica is at the end of the log. Calls `build` again whenever
   * another gateway's entry came first. `republish`: appends records that did not change, too. Throws
   * `NotLeaderError`.
   */
  commit(source: ChangeSource, build: () => ChangeSet, options?: { republish?: boolean }): Promise<number>;
  /** Call it before a CMS call; `changedSince` then tells whether the response is outdated. */
  changeMark(): number;
  /** Whether an entry about this record was applied after that mark. */
  changedSince(key: string, changeMark: number): boolean;
  /**
   * False if the entries do not continue at the offset, or contain another gateway's baseline. `force`:
   * applies them anyway.
   */
  applyEntries(entries: readonly StoredEntry[], force?: boolean): Promise<boolean>;
  /** Applies all existing entries; false as `applyEntries`. Throws `RedisUnavailable`. */
  applyPending(redis: Redis, force?: boolean): Promise<boolean>;
  /** Makes this replica the baseline of a new log. False if the lock is lost. Throws `RedisUnavailable`. */
  writeBaseline(redis: Redis, token: number): Promise<boolean>;
  /** A snapshot replaced the replica: it is at this offset, except for the unpublished records. */
  replicaReplaced(offset: string, unpublished: readonly string[]): void;
  markUnpublished: UnpublishedChanges['markUnpublished'];
  markPublished: UnpublishedChanges['markPublished'];
  /** Whether the replica reached this offset within the time and before the abort. */
  waitFor(offset: string, withinMs: number, signal?: AbortSignal): Promise<boolean>;
}

export interface ChangeLogOptions {
  replica: Replica;
  nodeId: string;
  writeMode(source: ChangeSource): WriteMode;
  /** Called after an entry was applied. */
  onApplied(entry: LogEntry): void;
  /** Receives the error of an entry that no gateway wrote, or that cannot be applied. The log skips it. */
  reportInvalid?(error: unknown): void;
}

const OFFSET_KEY = 'cluster.offset';
/**
 * Records whose last change is remembered. A CMS response older than the oldest of them counts as outdated.
 */
const MAX_REMEMBERED = 20_000;
export const ENTRIES_PER_READ = 100;

/** Continues at the offset of the replica on disk. Commits run one at a time, in the order of their calls. */
export function createChangeLog(options: ChangeLogOptions): ChangeLog {
  const { replica, nodeId, writeMode, onApplied, reportInvalid = () => {} } = options;
  let offset = replica.state(OFFSET_KEY) ?? LOG_START;
  replica.journal.setOffset(offset);
  const unpublished = openUnpublishedChanges(replica);
  let appliedCount = 0;
  let lastSkipped = LOG_START;
  const cursorNow = () => (compareIds(lastSkipped, offset) > 0 ? lastSkipped : offset);
  /** Grows with every change. */
  let lastMark = 0;
  /** The mark of the latest change that is no longer remembered. */
  let forgottenMark = 0;
  const marks = createLargeCache<string, number>(MAX_REMEMBERED, {
    dispose: (mark, _key, reason) => {
      if (reason === 'evict') forgottenMark = Math.max(forgottenMark, mark);
    },
  });
  const waiters = new Set<{ offset: string; resolve: () => void }>();
  let queue: Promise<unknown> = Promise.resolve();

  function enqueue<T>(task: () => Promise<T>): Promise<T> {
    const done = queue.then(task);
    queue = done.catch(() => {});
    return done;
  }

  function resolveWaiters(): void {
    for (const waiter of waiters) if (compareIds(offset, waiter.offset) >= 0) waiter.resolve();
  }

  function remember(change: ChangeSet): void {
    lastMark += 1;
    for (const key of keysOf(change)) marks.set(key, lastMark);
  }

  function apply(entry: LogEntry & { id: string }): void {
    replica.transaction(() => {
      replica.setState(OFFSET_KEY, entry.id);
      replica.journal.setOffset(entry.id);
      replica.apply(entry.change);
      // This replica may have stored the change before the log had it: the journal notes it once more, at this offset.
      for (const { kind, id } of keysOf(entry.change).map(parseKey))
        if (kind !== 'image') replica.journal.moveToPresentOffset(kind, id);
    });
    offset = entry.id;
    appliedCount += 1;
    remember(entry.change);
    onApplied(entry);
    resolveWaiters();
  }

  function skip(entry: StoredEntry, error: unknown): void {
    lastSkipped = entry.id;
    reportInvalid(error);
  }

  async function applyEntries(entries: readonly StoredEntry[], force = false): Promise<boolean> {
    for (const entry of entries) {
      // The entry was read twice, or `append` has applied it.
      if (compareIds(entry.id, cursorNow()) <= 0) continue;
      if (entry.malformed) {
        skip(entry, entry.malformed);
        continue;
      }
      const isForeignBaseline = entry.type === 'baseline' && entry.from !== nodeId;
      if (!force && (entry.previousId !== offset || isForeignBaseline)) return false;
      try {
        apply(entry);
      } catch (error) {
        if (error instanceof ReplicaError) throw error;
        skip(entry, error);
      }
      await nextTurn();
    }
    return true;
  }

  async function applyPending(redis: Redis, force = false): Promise<boolean> {
    for (;;) {
      const entries = await redis.readEntries(cursorNow(), ENTRIES_PER_READ);
      if (!(await applyEntries(entries, force))) return false;
      if (entries.length < ENTRIES_PER_READ) return true;
    }
  }

  function applyLocally(source: ChangeSource, change: ChangeSet): number {
    unpublished.markUnpublished(keysOf(change));
    const changed = replica.apply(change);
    if (source === 'write') {
      remember(change);
      onApplied({ from: nodeId, type: source, change });
    }
    return changed;
  }

  /**
   * Appends one entry and applies it. Resolves with the tail of the log if it is not the expected one. Throws
   * `RedisUnavailable` and `NotLeaderError`.
   */
  async function append(
    { redis, token }: Extract<WriteMode, { type: 'log' }>,
    entry: LogEntry,
    expectedTail = offset,
  ): Promise<string | undefined> {
    const reply = await redis.append({ token, expectedTail, lastKnownId: offset, entry: encodeEntry(entry) });
    if (reply.type === 'fenced') throw new NotLeaderError();
    if (reply.type === 'behind') return reply.tail;
    // The reader of the log may have been faster than the reply.
    if (compareIds(reply.id, offset) > 0) apply({ ...entry, id: reply.id });
    return undefined;
  }

  /**
   * Appends one entry at the offset. False if other entries came first; they are applied then. Throws as
   * `append`.
   */
  async function appendInOrder(mode: Extract<WriteMode, { type: 'log' }>, entry: LogEntry): Promise<boolean> {
    const tail = await append(mode, entry);
    if (tail === undefined) return true;
    const isLost = compareIds(tail, offset) < 0;
    if (isLost || !(await applyPending(mode.redis)) || compareIds(offset, tail) < 0)
      throw new RedisUnavailable('the change log does not continue at the offset');
    return false;
  }

  async function commit(source: ChangeSource, build: () => ChangeSet, republish: boolean): Promise<number> {
    let changed = 0;
    for (;;) {
      const mode = writeMode(source);
      if (mode.type === 'local' && mode.isBaseline && unpublished.keys === 'unknown')
        return changed + replica.apply(build());
      const change = republish ? build() : changesOf(replica, build());
      if (isEmptyChange(change)) return changed;
      if (mode.type === 'local') return changed + applyLocally(source, change);
      const part = republish ? change : firstPart(change);
      try {
        // What a request read is to the other gateways what a poll found.
        const type = source === 'write' ? 'write' : 'poll';
        if (!(await appendInOrder(mode, { from: nodeId, type, change: part }))) continue;
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        // The next poll finds it again; what a request wrote is in the CMS, and unpublished until Redis is
        // back.
        if (source === 'poll') throw new NotLeaderError();
        return changed + applyLocally(source, change);
      }
      changed += keysOf(part).length;
      if (part === change) return changed;
    }
  }

  async function writeBaseline(redis: Redis, token: number): Promise<boolean> {
    const baseline: LogEntry = { from: nodeId, type: 'baseline', change: {} };
    try {
      let tail = await append({ type: 'log', redis, token }, baseline);
      while (tail !== undefined) {
        // Entries of other gateways, over gaps too: this replica comes from the CMS, and lacks at most the
        // latest writes.
        await applyPending(redis, true);
        tail = await append({ type: 'log', redis, token }, baseline, tail);
      }
    } catch (error) {
      if (error instanceof NotLeaderError) return false;
      throw error;
    }
    unpublished.clear();
    // The other gateways do not have what this one read before.
    replica.journal.startAt(offset);
    return true;
  }

  return {
    get offset() {
      return offset;
    },
    get cursor() {
      return cursorNow();
    },
    get lastSkipped() {
      return lastSkipped;
    },
    get unpublished() {
      return unpublished.keys;
    },
    get appliedCount() {
      return appliedCount;
    },
    commit: (source, build, { republish = false } = {}) => enqueue(() => commit(source, build, republish)),
    changeMark: () => lastMark,
    changedSince: (key, changeMark) => (marks.get(key) ?? forgottenMark) > changeMark,
    applyEntries,
    applyPending,
    writeBaseline: (redis, token) => enqueue(() => writeBaseline(redis, token)),
    replicaReplaced(newOffset, keys) {
      offset = newOffset;
      replica.setState(OFFSET_KEY, offset);
      replica.journal.setOffset(offset);
      lastMark += 1;
      forgottenMark = lastMark;
      marks.clear();
      unpublished.replicaReplaced(keys);
      resolveWaiters();
    },
    markUnpublished: unpublished.markUnpublished,
    markPublished: unpublished.markPublished,
    async waitFor(target, withinMs, signal) {
      if (compareIds(offset, target) >= 0) return true;
      if (signal?.aborted) return false;
      return new Promise((resolve) => {
        const settle = (isReached: boolean) => {
          clearTimeout(timer);
          waiters.delete(waiter);
          resolve(isReached);
        };
        const timer = setTimeout(() => settle(false), withinMs);
        const waiter = { offset: target, resolve: () => settle(true) };
        waiters.add(waiter);
        signal?.addEventListener('abort', () => settle(false), { once: true });
      });
    },
  };
}
