// Owns writing the CMS's records into the replica: in small batches, and never over something newer.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CmsRecord } from '../cms/port.ts';
import { FIRST_EMBEDDED_ID, seriesIdOf } from '../model/records.ts';
import type { ChangeSet } from '../store/changes.ts';
import { mergeIndex } from '../store/full-text-index.ts';
import { eventIdsShowing, getRecord, getRecords } from '../store/records.ts';
import { isTooLarge, readByIds } from './cms-reader.ts';
import { type Collection, idOf, isPublished, recordsPerPage, stampOf } from './collections.ts';
import { decided, isOutdated, markDirty, type SyncContext } from './context.ts';
import { approveDeletions, endSuspension } from './deletion-guard.ts';
import {
  BATCH_SIZE,
  DELETE_BATCH_SIZE,
  deleteOccurrences,
  ingestOccurrences,
  nextBatch,
} from './ingest-occurrences.ts';
import { stampsById } from './replica-records.ts';

/**
 * Writes published records into the replica that were requested at `readMark`. They may repeat. A failure leaves
 * the batches before it in the replica. Throws what the CMS throws.
 */
export async function ingestRecords(
  context: SyncContext,
  collection: Collection,
  records: readonly CmsRecord[],
  readMark: number,
): Promise<void> {
  const { replica, memory } = context;
  const { kind } = collection;
  const distinct = new Map(records.filter(isPublished).map((record) => [idOf(record), record]));
  distinct.delete(0);
  await leaveOutTooLarge(context, collection, [...distinct.values()].filter(isTooLarge), readMark);
  const readable = [...distinct.values()].filter((record) => !isTooLarge(record));
  for (let from = 0; from < readable.length; ) {
    const batch = nextBatch(readable.slice(from, from + BATCH_SIZE));
    from += batch.length;
    let accepted: CmsRecord[] = [];
    const changed = await commitAndPruneEmbedded(context, collection, () => {
      accepted = batch.filter((record) => accept(context, collection, idOf(record), readMark));
      const upserts = accepted.flatMap((record) => [
        collection.read(record, memory.site, memory.linkTables),
        ...collection.embedded.flatMap((readEmbedded) => readEmbedded(record) ?? []),
      ]);
      return { changes: { upserts }, changedIds: accepted.map(idOf) };
    });
    if (changed > 0) memory.kinds[kind].revision += 1;
    memory.tally.changed += changed;
    await nextTurn();
    if (changed > 0 && kind === 'event') while (mergeIndex(replica.db)) await nextTurn();
    if (collection.occurrences) await ingestOccurrences(context, collection.occurrences, accepted, readMark);
  }
}

/** False if the record was written after it was requested: then it is to be read again. */
function accept(context: SyncContext, { kind, name }: Collection, id: number, readMark: number): boolean {
  const { memory } = context;
  if (isOutdated(memory, kind, id, readMark)) {
    decided(context, name, 'refuse: changed after it was requested', { id, readMark });
    markDirty(memory, kind, [id]);
    return false;
  }
  memory.kinds[kind].tooLarge.delete(id);
  memory.kinds[kind].trashed.delete(id);
  return true;
}

/**
 * Commits a change, and then deletes the embedded venues and organizers that no event has any more. `build`
 * returns the change and the ids of the collection's records in it; it is called again if another change came
 * first. Resolves with the number of changed records.
 */
async function commitAndPruneEmbedded(
  { replica, commit }: SyncContext,
  { kind, embedded }: Collection,
  build: () => { changes: ChangeSet; changedIds: readonly number[] },
): Promise<number> {
  const hasEmbedded = kind === 'event' && embedded.length > 0;
  const before = { venue: new Set<number>(), organizer: new Set<number>() };
  const changed = await commit(() => {
    const { changes, changedIds } = build();
    if (!hasEmbedded) return changes;
    for (const event of getRecords(replica.db, 'event', changedIds).values()) {
      for (const id of event.venues) if (id >= FIRST_EMBEDDED_ID) before.venue.add(id);
      for (const id of event.organizers) if (id >= FIRST_EMBEDDED_ID) before.organizer.add(id);
    }
    return changes;
  });
  const deletes = (['venue', 'organizer'] as const).flatMap((linked) => {
    const ids = [...before[linked]].filter((id) => eventIdsShowing(replica.db, linked, id).length === 0);
    return ids.length > 0 ? [{ kind: linked, ids }] : [];
  });
  if (deletes.length > 0) await commit(() => ({ deletes }));
  return changed;
}

interface FetchOptions {
  /** For the log. */
  reason: string;
  /** Records that a webhook or a write reported. */
  reported?: ReadonlySet<number> | undefined;
  /** The deletion guard has already confirmed that missing records may be deleted. */
  isConfirmed?: boolean;
}

/**
 * Reads records by id: ingests those that exist, and deletes those that are missing. An occurrence is read
 * with its series. Throws what the CMS throws.
 */
export async function fetchRecords(
  context: SyncContext,
  collection: Collection,
  recordIds: readonly number[],
  { reason, reported, isConfirmed = false }: FetchOptions,
): Promise<void> {
  const ids = [...new Set(recordIds.map(seriesIdOf))];
  if (ids.length > 0) decided(context, collection.name, 'fetch', { ids, reason });
  const { pageSize, memory } = context;
  const size = collection.spec.dedupe ? Math.ceil(pageSize / 5) : recordsPerPage(collection, pageSize);
  const missing: { ids: number[]; readMark: number }[] = [];
  for (let from = 0; from < ids.length; from += size) {
    const slice = ids.slice(from, from + size);
    const { records, readMark } = await readByIds(context, collection, slice);
    await ingestRecords(context, collection, records, readMark);
    const existing = new Set(records.filter(isPublished).map(idOf));
    endSuspension(memory, collection.kind, existing);
    missing.push({ ids: slice.filter((id) => !existing.has(id)), readMark });
  }
  const missingIds = missing.flatMap((slice) => slice.ids);
  if (missingIds.length === 0) return;
  const stamps = stampsById(context, collection, missingIds);
  const stored = missingIds.filter((id) => stamps.has(id));
  const approved = new Set(isConfirmed ? stored : approveDeletions(context, collection, stored, reported));
  const suspended = new Set(stored.filter((id) => !approved.has(id)));
  for (const slice of missing) {
    const deletable = slice.ids.filter((id) => !suspended.has(id));
    await deleteRecords(context, collection, deletable, slice.readMark);
  }
  endSuspension(memory, collection.kind, approved);
}

/**
 * Removes records that are too large to be read: what the replica has of them is outdated, and may no longer
 * be public.
 */
async function leaveOutTooLarge(
  context: SyncContext,
  collection: Collection,
  records: readonly CmsRecord[],
  readMark: number,
): Promise<void> {
  const { replica, memory, observe } = context;
  const { kind, name } = collection;
  const { tooLarge } = memory.kinds[kind];
  for (const stamp of records.map(stampOf)) {
    const { id } = stamp;
    const message = `record ${id} of "${name}" is larger than 5 MB: the gateway leaves it out`;
    if (!tooLarge.has(id)) observe({ type: 'message', level: 'warn', message });
    if (getRecord(replica.db, kind, id)) await deleteRecords(context, collection, [id], readMark);
    tooLarge.set(id, stamp);
  }
}

/** Re-reads the dirty records. Throws what the CMS throws. */
export async function fetchDirty(
  context: SyncContext,
  collection: Collection,
  reported?: ReadonlySet<number>,
): Promise<void> {
  const { memory } = context;
  const { kind } = collection;
  const dirty = [...memory.kinds[kind].dirty];
  memory.kinds[kind].dirty.clear();
  try {
    await fetchRecords(context, collection, dirty, { reason: 'dirty', reported });
  } catch (error) {
    markDirty(memory, kind, dirty);
    throw error;
  }
}

/** Deletes records that were missing in the response to the request with `readMark`. */
async function deleteRecords(
  context: SyncContext,
  collection: Collection,
  ids: readonly number[],
  readMark: number,
): Promise<void> {
  const { kind } = collection;
  const { memory } = context;
  const { trashed } = memory.kinds[kind];
  for (let from = 0; from < ids.length; from += DELETE_BATCH_SIZE) {
    const batch = ids.slice(from, from + DELETE_BATCH_SIZE);
    for (const id of batch) memory.kinds[kind].tooLarge.delete(id);
    if (collection.occurrences) for (const id of batch) await deleteOccurrences(context, id, readMark, trashed.has(id));
    const removed = await commitAndPruneEmbedded(context, collection, () => {
      const deletable = deletableIds(context, collection, batch, readMark);
      return { changes: { deletes: [{ kind, ids: deletable, trashed }] }, changedIds: deletable };
    });
    for (const id of batch) trashed.delete(id);
    decided(context, collection.name, 'delete', { ids: batch, removed });
    if (removed > 0) memory.kinds[kind].revision += 1;
    memory.tally.removed += removed;
    await nextTurn();
  }
}

/**
 * The ids whose records the replica still has and that were not written since. The CMS removes a deleted term from
 * its events without touching `modified`, so this makes these events dirty.
 */
function deletableIds(
  context: SyncContext,
  collection: Collection,
  ids: readonly number[],
  readMark: number,
): number[] {
  const { replica, memory } = context;
  const { kind, isStoredAsPosts } = collection;
  const outdated = new Set(ids.filter((id) => isOutdated(memory, kind, id, readMark)));
  markDirty(memory, kind, outdated);
  const certain = [...new Set(ids)].filter((id) => !outdated.has(id));
  const stored = stampsById(context, collection, certain);
  // The replica may withhold a post, which then has no stamp.
  const deletable = isStoredAsPosts ? certain : certain.filter((id) => stored.has(id));
  if (!isStoredAsPosts && kind !== 'event')
    for (const id of deletable) markDirty(memory, 'event', eventIdsShowing(replica.db, kind, id));
  return deletable;
}
