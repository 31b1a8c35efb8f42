// Stores what the CMS responded to the use cases' calls in the replica, and through the change log in the
// replicas of all peers.

import { setTimeout as sleep } from 'node:timers/promises';
import { ReplicaError } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { type CalendarRecord, FIRST_EMBEDDED_ID } from '../model/records.ts';
import { applyChangeSet, type ChangeSet } from '../store/change-set.ts';
import { isTermRecord } from '../store/rendered-cache.ts';
import type { Replica } from '../store/replica.ts';
import type { WriteThrough } from '../sync/peers.ts';
import type { Sync } from '../sync/sync.ts';

/** The longest that a write waits until its record is re-read. */
const REREAD_MS = 5000;

/** For a gateway without peers. */
export const localWriteThrough = (replica: Replica, sync: Sync, mapping: Mapping): WriteThrough => ({
  readMark: () => 0,
  async storeRead(changes) {
    applyChangeSet(replica, changes);
  },
  async storeWritten(changes) {
    applyChangeSet(replica, changes);
    for (const { kind, id } of changes.upserts ?? []) sync.recordWrite(kind, id);
    for (const { kind, ids } of changes.deletes ?? [])
      if (kind !== 'image') for (const id of ids) sync.recordWrite(kind, id);
  },
  async reread(kind, id) {
    sync.recordWrite(kind, id);
    const fetched = sync.fetchChanged([{ collection: mapping.kinds[kind]!.collection, id }]).catch(() => undefined);
    await Promise.race([fetched, sleep(REREAD_MS, undefined, { ref: false })]);
  },
});

/**
 * Does not fail if the replica cannot be written (a full disk): the CMS has responded or accepted the write
 * all the same. Passes accepted changes that the replica could not store to `rereadLater`. A response to a
 * read that is older than the replica's record, from a cache or a delayed database in front of the CMS, does
 * not replace the record: `rereadLater` lets the sync decide.
 */
export function tolerantWriteThrough(
  writeThrough: WriteThrough,
  replica: Replica,
  rereadLater: (changes: ChangeSet) => void,
): WriteThrough {
  function isOutdated(record: CalendarRecord): boolean {
    if (isTermRecord(record)) return false;
    const stored = replica.get(record.kind, record.id);
    return stored !== undefined && stored.modifiedUtc > record.modifiedUtc;
  }

  /** Removes outdated records and the records embedded in them. */
  function onlyNewer(changes: ChangeSet): ChangeSet {
    const { upserts = [] } = changes;
    const outdated = upserts.filter(isOutdated);
    if (outdated.length === 0) return changes;
    const isEmbedded = (record: CalendarRecord) => !isTermRecord(record) && record.id >= FIRST_EMBEDDED_ID;
    rereadLater({ upserts: outdated.filter((record) => !isEmbedded(record)) });
    return { ...changes, upserts: upserts.filter((record) => !outdated.includes(record) && !isEmbedded(record)) };
  }

  async function tolerate(store: () => Promise<void>, onFailure?: () => void): Promise<void> {
    try {
      await store();
    } catch (error) {
      if (!(error instanceof ReplicaError)) throw error;
      onFailure?.();
    }
  }

  return {
    readMark: () => writeThrough.readMark(),
    storeRead: (changes, readMark) => tolerate(() => writeThrough.storeRead(onlyNewer(changes), readMark)),
    storeWritten: (changes, readMark) =>
      tolerate(
        () => writeThrough.storeWritten(changes, readMark),
        () => rereadLater(changes),
      ),
    reread: (kind, id) => writeThrough.reread(kind, id),
  };
}
