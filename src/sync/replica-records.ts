// Owns what the replica holds of one collection, as it compares with the CMS's lists.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type RecordStamp, recordCounts, stamps, stampsById } from '../store/records.ts';
import type { Replica } from '../store/replica.ts';
import type { Collection } from './collections.ts';
import type { SyncContext } from './context.ts';

const IDS_PER_SLICE = 2_000;

/** Stamps of all records of the collection in the replica, ascending by id. Yields to the event loop. */
export async function allStamps(replica: Replica, { kind }: Collection): Promise<RecordStamp[]> {
  const all: RecordStamp[] = [];
  for (;;) {
    const after = all.at(-1)?.id ?? 0;
    const slice = stamps(replica.db, kind, { after, limit: IDS_PER_SLICE, withoutOccurrences: true });
    all.push(...slice);
    if (slice.length < IDS_PER_SLICE) return all;
    await nextTurn();
  }
}

/** Number of records of the collection in the replica. */
export const countRecords = ({ replica }: SyncContext, { kind }: Collection): number => recordCounts(replica.db)[kind];

/**
 * The listed records that the replica lacks, or has with another modification time. One that was left out because it is
 * too large differs once it changes.
 */
export function findDiffering(
  { replica, memory }: SyncContext,
  { kind, isStoredAsPosts }: Collection,
  listed: readonly RecordStamp[],
): number[] {
  const ids = listed.map(({ id }) => id);
  const stored = stampsById(replica.db, kind, ids);
  return listed.flatMap(({ id, modifiedUtc }) => {
    const stamp = stored.get(id) ?? memory.kinds[kind].tooLarge.get(id);
    const isSame = stamp && (!isStoredAsPosts || stamp.modifiedUtc === modifiedUtc);
    return id === 0 || isSame ? [] : id;
  });
}
