// Owns what the replica holds of one collection, as it compares with the CMS's lists.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { WITHHELD } from '../model/records.ts';
import type { RecordStamp } from '../store/record-queries.ts';
import type { Replica } from '../store/replica.ts';
import type { Collection } from './collections.ts';
import type { SyncContext } from './context.ts';

const IDS_PER_SLICE = 2_000;

/**
 * Ids, modification times and statuses of those records that the replica holds, by id, as the CMS lists them.
 * Records that are left out because they are too large are among them: they are read again when they change.
 */
export function stampsById(
  { replica, memory }: SyncContext,
  { kind }: Collection,
  ids: readonly number[],
): Map<number, RecordStamp> {
  const stamps = replica.stampsById(kind, ids);
  // The CMS lists a withheld record as published.
  for (const [id, stamp] of stamps) if (stamp.status === WITHHELD) stamps.set(id, { ...stamp, status: 'publish' });
  for (const id of ids) {
    const tooLarge = memory.kinds[kind].tooLarge.get(id);
    if (tooLarge) stamps.set(id, tooLarge);
  }
  return stamps;
}

/**
 * Stamps of all records of the replica within the collection's statuses, ascending by id. Yields to
 * the event loop.
 */
export async function allStamps(
  replica: Replica,
  { kind, statuses, isStoredAsPosts }: Collection,
): Promise<RecordStamp[]> {
  const stamps: RecordStamp[] = [];
  for (;;) {
    const after = stamps.at(-1)?.id ?? 0;
    const slice = replica.stamps(kind, {
      after,
      limit: IDS_PER_SLICE,
      withoutOccurrences: true,
      ...(isStoredAsPosts && { statuses }),
    });
    stamps.push(...slice);
    if (slice.length < IDS_PER_SLICE) return stamps;
    await nextTurn();
  }
}

/** Number of records of the replica within the collection's statuses. */
export function countRecords({ replica, memory }: SyncContext, collection: Collection): number {
  const { kind, isStoredAsPosts, staffStatuses, statuses } = collection;
  if (memory.recordCounts.version !== replica.version)
    memory.recordCounts = { version: replica.version, kinds: replica.counts() };
  const count = memory.recordCounts.kinds[kind] ?? 0;
  // Without a service account the replica has records in these statuses only because callers listed them.
  const statusesOfCallers = staffStatuses.filter((status) => !statuses.includes(status));
  if (!isStoredAsPosts || statusesOfCallers.length === 0) return count;
  return count - replica.stamps(kind, { statuses: statusesOfCallers, withoutOccurrences: true }).length;
}

/** The listed records that the replica lacks, or has with another modification time or status. */
export function findDiffering(context: SyncContext, collection: Collection, listed: readonly RecordStamp[]): number[] {
  const ids = listed.map(({ id }) => id).filter((id) => id !== 0);
  const stored = stampsById(context, collection, ids);
  return listed.flatMap(({ id, modifiedUtc, status }) => {
    const stamp = stored.get(id);
    const isSame =
      stamp && (!collection.isStoredAsPosts || (stamp.modifiedUtc === modifiedUtc && stamp.status === status));
    return id === 0 || isSame ? [] : id;
  });
}
