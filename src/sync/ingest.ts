// Owns how the CMS's records of a collection get into the replica: in small batches, never over something newer, with
// their occurrences; and how they leave it. A mass deletion waits until lists have lacked its records for five minutes.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { CMS_STATUS, type CmsRecord, type CollectionSpec } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import { FIRST_EMBEDDED_ID, FIRST_SOURCE_ID, type Kind, seriesIdOf } from '../model/records.ts';
import type { ChangeSet } from '../store/changes.ts';
import { compactTextIndex } from '../store/full-text-index.ts';
import { eventIdsWith, occurrenceIds, stampsById, unlinkedIds } from '../store/records.ts';
import type { Replica } from '../store/replica.ts';
import { charactersOf } from '../text/text.ts';
import { isTooLargeError, readByIds, readRecord } from './cms-reader.ts';
import { idOf, idsPerRequest, isPublished } from './collections.ts';
import { acceptIfCurrent, countRecords, isOutdated, logDecision, markDirty, type SyncContext } from './context.ts';

/** Of the records of one transaction, which blocks the event loop for a few milliseconds. One record may have more. */
const BATCH_CHARACTERS = 50_000;
const BATCH_SIZE = 20;
const DELETE_BATCH_SIZE = 10;

/** Batches of at most `size` items and `BATCH_CHARACTERS`, or of one item. */
export function* batchesOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let from = 0; from < items.length; ) {
    const batch = items.slice(from, from + size);
    let characters = 0;
    const end = batch.findIndex((item) => {
      characters += charactersOf(item);
      return characters > BATCH_CHARACTERS;
    });
    const count = end < 0 ? batch.length : Math.max(1, end);
    yield batch.slice(0, count);
    from += count;
  }
}

/** After a transaction that changed `changed` records: lets other requests be answered, compacts the text index. */
export async function endTurn({ db }: Replica, changed: number): Promise<void> {
  await nextTurn();
  while (changed > 0 && compactTextIndex(db)) await nextTurn();
}

/** Upserts or deletes records, and counts those that differed in `tally`. Resolves with their number. */
async function apply({ replica, memory, tally }: SyncContext, kind: Kind, changes: ChangeSet): Promise<number> {
  const changed = replica.apply(changes);
  // Before the next turn, in which a webhook may build the link tables: they must have a venue that came just now.
  if (changed > 0) memory.kinds[kind].linkRevision += 1;
  tally[changes.deletes ? 'removed' : 'changed'] += changed;
  await endTurn(replica, changed);
  return changed;
}

/**
 * Writes published records into the replica that were requested at `readMark`; of one that comes twice, the last. A
 * failure leaves the batches before it in the replica. Throws what the CMS throws.
 */
export async function ingestRecords(
  context: SyncContext,
  kindMapping: KindMapping,
  records: readonly CmsRecord[],
  readMark: number,
): Promise<void> {
  const { memory } = context;
  const distinct = new Map(records.filter(isPublished).map((record) => [idOf(record), record]));
  distinct.delete(0);
  for (const batch of batchesOf([...distinct.values()], BATCH_SIZE)) {
    const accepted = batch.filter((record) => acceptOrMarkDirty(context, kindMapping, idOf(record), readMark));
    const upserts = accepted.flatMap((record) => [
      kindMapping.read(record, memory.site, memory.linkTables),
      ...Object.values(kindMapping.embedded).flatMap((readEmbedded) => readEmbedded(record) ?? []),
    ]);
    await apply(context, kindMapping.kind, { upserts });
    if (kindMapping.occurrences)
      for (const event of accepted) await ingestOccurrences(context, kindMapping, event, readMark);
  }
}

/** Marks the record dirty, and returns false, if it was written after this request, or stored from a later one. */
function acceptOrMarkDirty(context: SyncContext, kindMapping: KindMapping, id: number, readMark: number): boolean {
  const { memory } = context;
  if (!acceptIfCurrent(memory, kindMapping.kind, id, readMark)) {
    logDecision(context, kindMapping.collection, 'refuse: changed after it was requested', { id, readMark });
    markDirty(memory, kindMapping.kind, [id]);
    return false;
  }
  memory.kinds[kindMapping.kind].trashed.delete(id);
  return true;
}

/** Writes the occurrences of an event whose own record is stored already, and deletes those that it has no more. */
async function ingestOccurrences(context: SyncContext, kindMapping: KindMapping, event: CmsRecord, readMark: number) {
  const { memory, replica } = context;
  const occurrences = kindMapping.occurrences?.(event, memory.site, memory.linkTables) ?? [];
  const ids = new Set(occurrences.map(({ id }) => id));
  const gone = occurrenceIds(replica.db, idOf(event)).filter((id) => !ids.has(id));
  const changes = [...batchesOf(occurrences, BATCH_SIZE)].map((upserts) => ({ upserts }));
  await applyToSeries(context, idOf(event), readMark, [...changes, ...occurrenceDeletes(gone, false)]);
}

const occurrenceDeletes = (ids: readonly number[], isTrashed: boolean): ChangeSet[] =>
  [...batchesOf(ids, DELETE_BATCH_SIZE)].map((batch) => ({
    deletes: [{ kind: 'event', ids: batch, trashed: new Set(isTrashed ? batch : []) }],
  }));

/** Changes an event's occurrences. If one fails, or something newer arrives meanwhile, the series is read again. */
async function applyToSeries(context: SyncContext, eventId: number, readMark: number, changes: readonly ChangeSet[]) {
  const { memory } = context;
  try {
    for (const change of changes) {
      if (isOutdated(memory, 'event', eventId, readMark)) {
        markDirty(memory, 'event', [eventId]);
        return;
      }
      await apply(context, 'event', change);
    }
  } catch (error) {
    markDirty(memory, 'event', [eventId]);
    throw error;
  }
}

/** Deletes the venues and organizers that are text inside events, and that no event has any more. */
export async function deleteUnusedEmbedded(context: SyncContext): Promise<void> {
  for (const kind of ['venue', 'organizer'] as const) {
    // Searched before each batch: meanwhile a webhook may bring an event that has one of them.
    const unused = () => unlinkedIds(context.replica.db, kind, FIRST_EMBEDDED_ID, FIRST_SOURCE_ID, DELETE_BATCH_SIZE);
    for (let ids = unused(); ids.length > 0; ids = unused()) await apply(context, kind, { deletes: [{ kind, ids }] });
  }
}

/**
 * Reads records by id, an occurrence with its series, and ingests those that exist. A record that is missing, and is
 *
 *   in `deletableAtOnce`                is deleted
 *   suspended already                   waits on
 *   in the replica, one of too many     waits from now on (`suspendIfMass`)
 *   in the replica, one of a few        is deleted
 *   not in the replica                  passes to `deleteRecords` too: a poll may have deleted event 12, and a webhook
 *                                       then says that it is in the trash, so that its calendar file says CANCELLED
 *
 * Throws what the CMS throws.
 * @param reason for the log
 * @param deletableAtOnce if they are missing: a webhook or a write named them, or their deletion is confirmed
 */
export async function refreshRecords(
  context: SyncContext,
  kindMapping: KindMapping,
  recordIds: readonly number[],
  { reason, deletableAtOnce = new Set() }: { reason: string; deletableAtOnce?: ReadonlySet<number> },
): Promise<void> {
  const ids = [...new Set(recordIds.map(seriesIdOf))];
  if (ids.length > 0) logDecision(context, kindMapping.collection, 'fetch', { ids, reason });
  const missing: number[] = [];
  let firstReadMark = 0;
  for (const slice of batchesOf(ids, idsPerRequest(kindMapping, context.pageSize))) {
    const { records, readMark } = await readByIds(context, kindMapping, slice);
    await ingestRecords(context, kindMapping, records, readMark);
    const existing = new Set(records.filter(isPublished).map(idOf));
    endSuspension(context, kindMapping.kind, existing);
    missing.push(...slice.filter((id) => !existing.has(id)));
    // The oldest mark, also for ids of later requests: what was written since the first request stays.
    firstReadMark ||= readMark;
  }
  const { suspended } = context.memory.kinds[kindMapping.kind];
  const doubtful = missing.filter((id) => !deletableAtOnce.has(id) && !suspended.has(id));
  // If they are many, this adds those that the replica has to `suspended`.
  suspendIfMass(context, kindMapping, [...stampsById(context.replica.db, kindMapping.kind, doubtful).keys()]);
  const deletable = missing.filter((id) => deletableAtOnce.has(id) || !suspended.has(id));
  await deleteRecords(context, kindMapping, deletable, firstReadMark);
  // Also of records that `deleteRecords` keeps because something newer is known of them.
  endSuspension(context, kindMapping.kind, deletable);
}

/**
 * Re-reads all dirty records, and the `reported` ones, which are deleted at once if they are missing. Reported records
 * are dirty too, unless a poll that runs beside has just taken them out of `dirty`. Throws what the CMS throws.
 */
export async function refreshDirty(context: SyncContext, kindMapping: KindMapping, reported = new Set<number>()) {
  const { dirty } = context.memory.kinds[kindMapping.kind];
  const ids = [...dirty, ...reported];
  dirty.clear();
  try {
    await refreshRecords(context, kindMapping, ids, { reason: 'dirty', deletableAtOnce: reported });
  } catch (error) {
    markDirty(context.memory, kindMapping.kind, ids);
    throw error;
  }
}

/**
 * Deletes records that were missing in responses to the request with `readMark` or to later ones. For each batch:
 *
 *   1. deletes the occurrences of its events, in batches too: an event may have a thousand
 *   2. leaves out the records that were written since the request
 *   3. marks the events of deleted terms dirty: the CMS removes a term from them without touching their `modified`
 *   4. deletes the records
 *   5. forgets that they are in the trash. Not if a webhook said so during step 4 (`isOutdated`): its read needs that
 */
async function deleteRecords(context: SyncContext, kindMapping: KindMapping, ids: readonly number[], readMark: number) {
  const { kind } = kindMapping;
  const { memory, replica } = context;
  const { trashed } = memory.kinds[kind];
  for (const batch of batchesOf(ids, DELETE_BATCH_SIZE)) {
    if (kindMapping.occurrences)
      for (const id of batch) {
        const changes = occurrenceDeletes(occurrenceIds(replica.db, id), trashed.has(id));
        await applyToSeries(context, id, readMark, changes);
      }
    const deletable = batch.filter((id) => acceptIfCurrent(memory, kind, id, readMark));
    // No mapping has events that are terms: `kind` only tells the compiler.
    if (kindMapping.storedAs === 'terms' && kind !== 'event')
      for (const id of deletable) markDirty(memory, 'event', eventIdsWith(replica.db, kind, id));
    const removed = await apply(context, kind, { deletes: [{ kind, ids: deletable, trashed }] });
    for (const id of deletable) if (!isOutdated(memory, kind, id, readMark)) trashed.delete(id);
    if (deletable.length > 0) logDecision(context, kindMapping.collection, 'delete', { ids: deletable, removed });
  }
}

/** A mass deletion: more than ten records and more than a third of the collection, counting those that wait already. */
const FEW_DELETIONS = 10;
const MAX_FRACTION = 1 / 3;
const WAIT_MS = 5 * 60_000;
/** Records that are read one by one before a mass deletion. */
const SAMPLE = 5;

/**
 * If these missing records, none of which is suspended already, are a mass deletion, suspends it and returns true.
 * During the initial sync no deletion is one.
 */
export function suspendIfMass(context: SyncContext, kindMapping: KindMapping, ids: readonly number[]): boolean {
  const { memory, clockMs } = context;
  const { suspended } = memory.kinds[kindMapping.kind];
  const deletions = ids.length + suspended.size;
  const isMass = deletions > FEW_DELETIONS && deletions > countRecords(context, kindMapping) * MAX_FRACTION;
  if (ids.length === 0 || !memory.state.complete || !isMass) return false;
  logDecision(context, kindMapping.collection, 'the deletion waits for confirmation', { ids });
  if (suspended.size === 0) memory.kinds[kindMapping.kind].existingId = undefined;
  for (const id of ids) suspended.set(id, clockMs());
  return true;
}

/** Ends the suspension of these records: they exist, or they were deleted. */
export function endSuspension({ memory: { kinds } }: SyncContext, kind: Kind, ids: Iterable<number>): void {
  for (const id of ids) kinds[kind].suspended.delete(id);
}

/**
 * Resolves with the records to delete now: lists have left them out for five minutes, and a few of them are missing by
 * id too. If one exists, a broken plugin shortens the lists, and all wait again. Throws what the CMS throws.
 */
export async function reviewDeletions(context: SyncContext, kindMapping: KindMapping): Promise<number[]> {
  const { memory, clockMs } = context;
  const { suspended } = memory.kinds[kindMapping.kind];
  const due = [...suspended].filter(([, sinceMs]) => clockMs() - sinceMs >= WAIT_MS).map(([id]) => id);
  if (due.length === 0) return [];
  const existing = await findExisting(context, kindMapping, due);
  logDecision(context, kindMapping.collection, 'review of deletions that wait', { due, existing });
  if (existing === undefined) return due;
  for (const id of suspended.keys()) suspended.set(id, clockMs());
  memory.kinds[kindMapping.kind].existingId = existing;
  return [];
}

/** Why the replica still has records that the CMS's lists leave out. */
export function suspensionReasons(context: SyncContext): string[] {
  const reasons = context.collections.flatMap(({ kind, collection: name }) => {
    const { suspended, existingId } = context.memory.kinds[kind];
    if (suspended.size === 0) return [];
    const why = existingId === undefined ? 'waiting for confirmation' : `record ${existingId} exists when read by id`;
    return `${suspended.size} records of ${name} (${why})`;
  });
  return reasons.length === 0 ? [] : [`the CMS's lists leave out ${reasons.join(', ')}`];
}

/** Reads a few of these by id. Resolves with the id of one that exists, if one does. Throws what the CMS throws. */
export async function findExisting(context: SyncContext, spec: CollectionSpec, ids: readonly number[]) {
  const stride = Math.max(1, ids.length / SAMPLE);
  for (let at = Math.random() * stride; at < ids.length; at += stride) {
    const id = ids[Math.floor(at)]!;
    if (!(await isRightlyMissing(context, spec, id))) return id;
  }
  return undefined;
}

/**
 * True if a list is right to lack this record: because of its status, such as `draft` or a plugin's `expired`; because
 * the gateway leaves out what is too large; or because the CMS itself says that visitors get no such record.
 */
async function isRightlyMissing(context: SyncContext, spec: CollectionSpec, id: number): Promise<boolean> {
  try {
    const record = await readRecord(context, spec, id);
    return !isPublished(record) || record[CMS_STATUS] !== undefined;
  } catch (error) {
    if (isTooLargeError(error)) return true;
    if (!(error instanceof CmsRejected)) throw error;
    return error.kind === 'not-visible' || error.kind === 'not-found';
  }
}
