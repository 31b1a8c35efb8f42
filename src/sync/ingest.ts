// Owns writing the CMS's records into the replica: in small batches, and never over something newer.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CmsRecord } from '../cms/port.ts';
import { type CalendarRecord, FIRST_EMBEDDED_ID, type PostRecord, seriesIdOf } from '../model/records.ts';
import type { ChangeSet } from '../store/changes.ts';
import { mergeIndex } from '../store/full-text-index.ts';
import { eventIdsShowing, getImages, getRecord, getRecords, type RecordStamp } from '../store/records.ts';
import { isTooLarge, readByIds, sentAtMs } from './cms-reader.ts';
import { type Collection, idOf, isPublished, recordsPerPage, stampOf } from './collections.ts';
import { decided, type SyncContext } from './context.ts';
import { approveDeletions, endSuspension } from './deletion-guard.ts';
import { isOutdated, markDirty, setReadMark, takeDirty, trackModified } from './dirty-records.ts';
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
 * @param byId the records were requested by their ids. Only then may one replace a record of the replica whose
 * modification time is later, as after a restored backup: a page of a list may be older than the replica.
 */
export async function ingestRecords(
  context: SyncContext,
  collection: Collection,
  records: readonly CmsRecord[],
  readMark: number,
  { byId = false }: { byId?: boolean } = {},
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
    let acceptedIds: readonly number[] = [];
    const changed = await commitAndPruneEmbedded(context, collection, () => {
      const accepted = acceptRecords(context, collection, batch, readMark, byId);
      acceptedIds = accepted.map(({ id }) => id);
      return { changes: { upserts: accepted }, changedIds: acceptedIds };
    });
    if (changed > 0) memory.kinds[kind].revision += 1;
    memory.tally.changed += changed;
    await nextTurn();
    if (changed > 0 && kind === 'event') while (mergeIndex(replica.db)) await nextTurn();
    if (!collection.occurrences) continue;
    const accepted = batch.filter((record) => acceptedIds.includes(idOf(record)));
    await ingestOccurrences(context, collection.occurrences, accepted, readMark);
  }
}

/**
 * The records of a batch that are not older than the replica's, with the records that are embedded in them.
 */
function acceptRecords(
  context: SyncContext,
  collection: Collection,
  batch: readonly CmsRecord[],
  readMark: number,
  byId: boolean,
): CalendarRecord[] {
  const { replica, memory } = context;
  const stored = stampsById(context, collection, batch.map(idOf));
  const accepted: CalendarRecord[] = [];
  const images: number[] = [];
  for (const cmsRecord of batch) {
    const id = idOf(cmsRecord);
    if (isOutdated(memory, collection.kind, id, readMark)) {
      decided(context, collection.name, 'refuse: changed after it was requested', { id, readMark });
      markDirty(memory, collection.kind, [id]);
      continue;
    }
    const record = collection.read(cmsRecord, memory.site, memory.links.tables);
    if (!accept(context, collection, record, stored.get(id), readMark, byId)) {
      const sent = stampOf(cmsRecord).modifiedUtc;
      decided(context, collection.name, 'refuse: older than in the replica', { id, sent, stored: stored.get(id) });
      markDirty(memory, collection.kind, [id]);
      continue;
    }
    memory.kinds[collection.kind].tooLarge.delete(id);
    memory.kinds[collection.kind].trashed.delete(id);
    if (byId) setReadMark(memory, collection.kind, id, readMark);
    if ('image' in record && record.image !== 0) images.push(record.image);
    accepted.push(record, ...collection.embedded.flatMap((readEmbedded) => readEmbedded(cmsRecord) ?? []));
  }
  const known = byId ? undefined : getImages(replica.db, images);
  for (const image of images) if (!known?.has(image)) memory.media.toRead.add(image);
  return accepted;
}

/**
 * Whether the record may replace that of the replica. If so, it is remembered as seen. If not, the replica's was
 * modified later: it is to be read again.
 */
function accept(
  context: SyncContext,
  { kind, isStoredAsPosts }: Collection,
  record: CalendarRecord,
  stored: RecordStamp | undefined,
  readMark: number,
  byId: boolean,
): boolean {
  const { memory } = context;
  const { id } = record;
  const { unsettled, isPolled, watermarkUtc } = memory.kinds[kind];
  if (!isStoredAsPosts) {
    unsettled.delete(id);
    return true;
  }
  const { modifiedUtc } = record as PostRecord;
  if (!byId && stored !== undefined && stored.modifiedUtc > modifiedUtc) return false;
  const mayChangeAgain = (stored?.modifiedUtc !== modifiedUtc || !isPolled) && modifiedUtc >= watermarkUtc;
  trackModified(memory, kind, id, sentAtMs(context, readMark), mayChangeAgain);
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
    await ingestRecords(context, collection, records, readMark, { byId: true });
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
  const dirty = takeDirty(memory, kind);
  try {
    await fetchRecords(context, collection, dirty, { reason: 'changed, or may change again', reported });
  } catch (error) {
    markDirty(memory, kind, dirty);
    throw error;
  }
}

/** The same, and those that may have changed a second time within the same second. */
export async function fetchDirtyAndUnsettled(context: SyncContext, collection: Collection): Promise<void> {
  const { kind } = collection;
  markDirty(context.memory, kind, context.memory.kinds[kind].unsettled.keys());
  await fetchDirty(context, collection);
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
  for (const id of certain) memory.kinds[kind].unsettled.delete(id);
  const stored = stampsById(context, collection, certain);
  // The replica may withhold a post, which then has no stamp.
  const deletable = isStoredAsPosts ? certain : certain.filter((id) => stored.has(id));
  if (!isStoredAsPosts && kind !== 'event')
    for (const id of deletable) markDirty(memory, 'event', eventIdsShowing(replica.db, kind, id));
  return deletable;
}
