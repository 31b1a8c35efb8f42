// The records of this replica that differ from the change log, kept in the replica's file so that a restart
// does not lose them.

import type { Replica } from '../store/replica.ts';

/**
 * Keys of the records that differ from the change log, each with a revision that grows with every further
 * change. `unknown`: which records differ is not known.
 */
export type UnpublishedKeys = ReadonlyMap<string, number> | 'unknown';

export const isFullyPublished = (unpublished: UnpublishedKeys): boolean =>
  unpublished !== 'unknown' && unpublished.size === 0;

export interface UnpublishedChanges {
  readonly keys: UnpublishedKeys;
  /**
   * Adds records. `unknown` drops the known keys. Keys that are added after it stay unpublished when a
   * snapshot replaces the replica.
   */
  markUnpublished(keys: Iterable<string> | 'unknown'): void;
  /** These records equal the change log again, except those that changed once more since. */
  markPublished(records: ReadonlyMap<string, number>): void;
  /**
   * A snapshot replaced the replica: what differs now are these records of the snapshot, and those marked
   * since `unknown`.
   */
  replicaReplaced(keys: readonly string[]): void;
  /** The whole replica equals the change log. */
  clear(): void;
}

const STATE_KEY = 'cluster.unpublished';
/** With more of them a snapshot is cheaper. */
const MAX_KEYS = 1000;

/** Restores the keys of the last run. */
export function openUnpublishedChanges(replica: Replica): UnpublishedChanges {
  const stored = JSON.parse(replica.state(STATE_KEY) ?? '[]') as string[] | 'unknown';
  let isUnknown = stored === 'unknown';
  let revision = 0;
  let records = new Map((stored === 'unknown' ? [] : stored).map((key) => [key, revision]));
  let isOverflowed = false;

  function store(): void {
    let text: string | undefined;
    if (isUnknown) text = '"unknown"';
    else if (records.size > 0) text = JSON.stringify([...records.keys()]);
    replica.setState(STATE_KEY, text);
  }

  function add(keys: Iterable<string>): void {
    revision += 1;
    for (const key of keys) records.set(key, revision);
    if (records.size <= MAX_KEYS) return;
    records = new Map();
    isOverflowed = true;
  }

  return {
    get keys() {
      return isUnknown ? 'unknown' : records;
    },
    markUnpublished(keys) {
      if (keys === 'unknown') {
        records = new Map();
        isOverflowed = false;
        isUnknown = true;
      } else if (!isOverflowed) {
        add(keys);
        isUnknown ||= isOverflowed;
      }
      store();
    },
    markPublished(published) {
      for (const [key, revision] of published) if (records.get(key) === revision) records.delete(key);
      store();
    },
    replicaReplaced(keys) {
      if (!isOverflowed) add(keys);
      isUnknown = isOverflowed;
      store();
    },
    clear() {
      records = new Map();
      isOverflowed = false;
      isUnknown = false;
      store();
    },
  };
}
