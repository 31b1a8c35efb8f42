// Owns which missing records may be deleted from the replica: a mass deletion waits until the CMS has left the records
// out for five minutes.

import { CMS_STATUS } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import type { Kind } from '../model/records.ts';
import { isTooLargeError, readRecord } from './cms-reader.ts';
import { type Collection, type CollectionPart, isPublished } from './collections.ts';
import { collectionOf, countRecords, decided, type SyncContext, type SyncMemory } from './context.ts';

/** A mass deletion: more than ten records and more than a third of the collection, with those that wait already. */
const FEW_DELETIONS = 10;
const MAX_FRACTION = 1 / 3;
const WAIT_MS = 5 * 60_000;
/** Records that are read one by one before a mass deletion. */
const SAMPLE = 5;

/**
 * The missing records that may be deleted now; the others wait. `reported`: a webhook or a write said that they
 * changed, or their deletion is confirmed.
 */
export function approveDeletions(
  context: SyncContext,
  collection: Collection,
  missing: readonly number[],
  reported: ReadonlySet<number> = new Set(),
): number[] {
  const { kind } = collection;
  const { suspended } = context.memory.kinds[kind];
  const expected = missing.filter((id) => reported.has(id));
  const others = missing.filter((id) => !reported.has(id) && !suspended.has(id));
  if (isMassDeletion(context, collection, others.length)) {
    suspendDeletions(context, kind, others);
    return expected;
  }
  return [...expected, ...others];
}

/** True if the deletion of this many missing records must be confirmed. During the initial sync none must. */
export function isMassDeletion(context: SyncContext, collection: Collection, missing: number): boolean {
  const { memory } = context;
  if (missing === 0 || !memory.state.complete) return false;
  const deletions = missing + memory.kinds[collection.kind].suspended.size;
  return deletions > FEW_DELETIONS && deletions > countRecords(context, collection) * MAX_FRACTION;
}

/** Suspends the deletion of these records. Those that are suspended already do not wait longer for it. */
export function suspendDeletions(context: SyncContext, kind: Kind, missing: readonly number[]): void {
  const { memory, clockMs } = context;
  decided(context, collectionOf(context, kind)!.name, 'the deletion waits for confirmation', { ids: missing });
  const { suspended } = memory.kinds[kind];
  if (suspended.size === 0) memory.kinds[kind].existingId = undefined;
  for (const id of missing) if (!suspended.has(id)) suspended.set(id, clockMs());
}

/** Ends the suspension of these records: they exist, or they were deleted. */
export function endSuspension({ kinds }: SyncMemory, kind: Kind, ids: Iterable<number>): void {
  for (const id of ids) kinds[kind].suspended.delete(id);
}

/**
 * Resolves with the records that may be deleted now, because the lists have left them out for five minutes and a few
 * of them, read one by one, are missing too. If one exists, a broken plugin shortens the lists, and all wait again.
 * Throws what the CMS throws.
 */
export async function confirmedDeletions(context: SyncContext, collection: Collection): Promise<number[]> {
  const { memory, clockMs } = context;
  const { suspended } = memory.kinds[collection.kind];
  const due = [...suspended].filter(([, sinceMs]) => clockMs() - sinceMs >= WAIT_MS).map(([id]) => id);
  if (due.length === 0) return [];
  const existing = await findExisting(context, collection, due);
  decided(context, collection.name, 'review of deletions that wait', { due, existing });
  if (existing === undefined) return due;
  for (const id of suspended.keys()) suspended.set(id, clockMs());
  memory.kinds[collection.kind].existingId = existing;
  return [];
}

/** Why the replica still has records that the CMS's lists leave out. */
export function suspensionReasons(context: SyncContext): string[] {
  const reasons = context.collections.flatMap(({ kind, name }) => {
    const { suspended, existingId } = context.memory.kinds[kind];
    if (suspended.size === 0) return [];
    const why = existingId === undefined ? 'waiting for confirmation' : `record ${existingId} exists when read by id`;
    return `${suspended.size} records of ${name} (${why})`;
  });
  return reasons.length === 0 ? [] : [`the CMS's lists leave out ${reasons.join(', ')}`];
}

/**
 * Reads a few of these records one by one. Resolves with the id of one that exists; undefined if none does. Throws what
 * the CMS throws.
 */
export async function findExisting(
  context: SyncContext,
  part: CollectionPart,
  ids: readonly number[],
): Promise<number | undefined> {
  const stride = Math.max(1, ids.length / SAMPLE);
  for (let at = Math.random() * stride; at < ids.length; at += stride) {
    const id = ids[Math.floor(at)]!;
    if (!(await isMissing(context, part, id))) return id;
  }
  return undefined;
}

/**
 * True if the CMS itself says that visitors get no such record, or if lists leave it out because of its status, such as
 * `expired` of a plugin, or the gateway because of its size. A list that leaves the record out does not prove that.
 */
async function isMissing(context: SyncContext, part: CollectionPart, id: number): Promise<boolean> {
  try {
    const record = await readRecord(context, part, id);
    return !isPublished(record) || record[CMS_STATUS] !== undefined;
  } catch (error) {
    if (isTooLargeError(error)) return true;
    if (!(error instanceof CmsRejected)) throw error;
    return error.kind === 'not-visible' || error.kind === 'not-found';
  }
}
