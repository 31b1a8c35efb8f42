// Owns writing the occurrences of a series into the replica, and deleting those that it no longer has. The
// record of the series contains them.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CmsRecord } from '../cms/port.ts';
import type { OccurrenceReader } from '../mapping/occurrences.ts';
import type { ChangeSet } from '../store/changes.ts';
import { mergeIndex } from '../store/full-text-index.ts';
import { occurrenceIds } from '../store/records.ts';
import { charactersOf } from '../text/text.ts';
import { idOf } from './collections.ts';
import type { SyncContext } from './context.ts';
import { isOutdated, markDirty } from './dirty-records.ts';

/** Of the records of one transaction, which blocks the event loop for a few milliseconds. One record may have more. */
const BATCH_CHARACTERS = 50_000;
export const BATCH_SIZE = 20;
/** Records that one transaction deletes. */
export const DELETE_BATCH_SIZE = 10;

/** The first of these records that make a batch, at least one. */
export function nextBatch<T>(records: readonly T[]): readonly T[] {
  let characters = 0;
  const end = records.findIndex((record) => {
    characters += charactersOf(record);
    return characters > BATCH_CHARACTERS;
  });
  return end < 0 ? records : records.slice(0, Math.max(1, end));
}

/**
 * Writes the occurrences of events whose own records are in the replica already, and deletes the others of
 * these events, in small batches. If something newer about a series arrives meanwhile, or a batch fails, the
 * series is read again.
 */
export async function ingestOccurrences(
  context: SyncContext,
  readOccurrences: OccurrenceReader,
  events: readonly CmsRecord[],
  readMark: number,
): Promise<void> {
  for (const event of events) {
    const occurrences = readOccurrences(event, context.memory.site, context.memory.links.tables);
    const ids = new Set(occurrences.map(({ id }) => id));
    const gone = occurrenceIds(context.replica.db, idOf(event)).filter((id) => !ids.has(id));
    await commitBatches(context, idOf(event), readMark, occurrences, BATCH_SIZE, (upserts) => ({
      upserts,
    }));
    await deleteIds(context, idOf(event), readMark, gone);
  }
}

/** Deletes the occurrences of an event that is missing, before the event itself, in small batches. */
export async function deleteOccurrences(
  context: SyncContext,
  eventId: number,
  readMark: number,
  isTrashed: boolean,
): Promise<void> {
  await deleteIds(context, eventId, readMark, occurrenceIds(context.replica.db, eventId), isTrashed);
}

const deleteIds = (
  context: SyncContext,
  eventId: number,
  readMark: number,
  ids: readonly number[],
  isTrashed = false,
): Promise<void> =>
  commitBatches(context, eventId, readMark, ids, DELETE_BATCH_SIZE, (batch) => ({
    deletes: [{ kind: 'event', ids: batch, trashed: new Set(isTrashed ? batch : []) }],
  }));

async function commitBatches<T>(
  context: SyncContext,
  eventId: number,
  readMark: number,
  items: readonly T[],
  size: number,
  toChanges: (batch: readonly T[]) => ChangeSet,
): Promise<void> {
  const { memory, commit, replica } = context;
  try {
    for (let from = 0; from < items.length; ) {
      const batch = nextBatch(items.slice(from, from + size));
      from += batch.length;
      if (isOutdated(memory, 'event', eventId, readMark)) {
        markDirty(memory, 'event', [eventId]);
        return;
      }
      const changed = await commit(() => toChanges(batch));
      memory.tally.changed += changed;
      if (changed > 0) memory.kinds.event.revision += 1;
      await nextTurn();
      if (changed > 0) while (mergeIndex(replica.db)) await nextTurn();
    }
  } catch (error) {
    markDirty(memory, 'event', [eventId]);
    throw error;
  }
}
