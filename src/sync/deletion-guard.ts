// Owns which missing records may be deleted from the replica: a mass deletion waits until the CMS has
// confirmed it.

import { CMS_STATUS } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import { KINDS, type Kind } from '../model/records.ts';
import { isTooLargeError, readRecord } from './cms-reader.ts';
import { type Collection, type CollectionPart, isPublished } from './collections.ts';
import {
  collectionOf,
  decided,
  isComplete,
  type SuspendedDeletions,
  type SyncContext,
  type SyncMemory,
} from './context.ts';
import { countRecords } from './replica-records.ts';

/**
 * A mass deletion: within `RECENT_MS`, more than `FEW_DELETIONS` records and more than `MAX_FRACTION` of the
 * collection.
 */
const FEW_DELETIONS = 10;
const MAX_FRACTION = 1 / 3;
const RECENT_MS = 60_000;
/** Reviews, and the time from the suspension, that confirm a mass deletion. */
const MIN_REVIEWS = 3;
const MIN_WAIT_MS = 5 * 60_000;
const REVIEW_INTERVAL_MS = 100_000;
/** Records that a review reads one by one: more of those whose deletion it may confirm. */
const SAMPLE = 5;
const FINAL_SAMPLE = 100;
const WAITING = 'waiting for confirmation';

/**
 * Resolves with the missing records that may be deleted now; the others wait. If some must wait, up to a hundred that a
 * webhook reported are read one by one at once. Throws what the CMS throws.
 */
export async function approveDeletions(
  context: SyncContext,
  collection: Collection,
  missing: readonly number[],
  reported: ReadonlySet<number> = new Set(),
): Promise<number[]> {
  const { memory, clockMs } = context;
  const { kind } = collection;
  if (missing.length === 0) return [];
  const suspended = suspendedIds(memory, kind);
  const unsuspended = missing.filter((id) => !suspended.has(id));
  if (unsuspended.length === missing.length && !isMassDeletion(context, collection, missing.length)) {
    memory.kinds[kind].recentDeletions.push({ atMs: clockMs(), count: missing.length });
    return [...missing];
  }
  const confirmed: number[] = [];
  for (const id of missing.filter((id) => reported.has(id)).slice(0, FINAL_SAMPLE))
    if (await isMissing(context, collection, id)) confirmed.push(id);
  endSuspension(memory, kind, confirmed);
  suspendDeletions(
    context,
    kind,
    unsuspended.filter((id) => !confirmed.includes(id)),
  );
  return confirmed;
}

/** True if the deletion of this many missing records must be confirmed. During the initial sync none must. */
export function isMassDeletion(context: SyncContext, collection: Collection, missing: number): boolean {
  if (!isComplete(context.replica)) return false;
  const recent = countRecentDeletions(context, collection.kind);
  const deletions = recent + missing + suspendedIds(context.memory, collection.kind).size;
  return deletions > FEW_DELETIONS && deletions > (countRecords(context, collection) + recent) * MAX_FRACTION;
}

function countRecentDeletions({ memory, clockMs }: SyncContext, kind: Kind): number {
  const kindMemory = memory.kinds[kind];
  kindMemory.recentDeletions = kindMemory.recentDeletions.filter(({ atMs }) => clockMs() - atMs < RECENT_MS);
  return kindMemory.recentDeletions.reduce((sum, { count }) => sum + count, 0);
}

/** Suspends the deletion of these records. Those that are suspended already do not wait longer for it. */
export function suspendDeletions(context: SyncContext, kind: Kind, missing: readonly number[]): void {
  if (missing.length === 0) return;
  const { memory, clockMs } = context;
  decided(context, collectionOf(context, kind)!.name, 'the deletion waits for confirmation', { ids: missing });
  const kindMemory = memory.kinds[kind];
  kindMemory.suspended ??= { records: new Map(), nextReviewMs: clockMs(), reason: WAITING };
  const { records } = kindMemory.suspended;
  for (const id of missing) if (!records.has(id)) records.set(id, { sinceMs: clockMs(), reviews: 0 });
}

/** Ends the suspension of these records: they exist, or they were deleted. */
export function endSuspension({ kinds }: SyncMemory, kind: Kind, ids: Iterable<number>): void {
  const { suspended } = kinds[kind];
  if (!suspended) return;
  for (const id of ids) suspended.records.delete(id);
  if (suspended.records.size === 0) kinds[kind].suspended = undefined;
}

const NO_RECORDS: SuspendedDeletions['records'] = new Map();

export const suspendedIds = ({ kinds }: SyncMemory, kind: Kind): Pick<ReadonlySet<number>, 'has' | 'size'> =>
  kinds[kind].suspended?.records ?? NO_RECORDS;

/**
 * Reads some of the suspended records. Resolves with those whose deletion is confirmed. Throws what the CMS
 * throws.
 */
export async function reviewSuspended(context: SyncContext, collection: Collection): Promise<number[]> {
  const { memory, clockMs } = context;
  const { suspended } = memory.kinds[collection.kind];
  if (!suspended || clockMs() < suspended.nextReviewMs) return [];
  suspended.nextReviewMs = clockMs() + REVIEW_INTERVAL_MS;
  const waiting = [...suspended.records];
  const due = waiting
    .filter(([, { sinceMs, reviews }]) => reviews + 1 >= MIN_REVIEWS && clockMs() - sinceMs >= MIN_WAIT_MS)
    .map(([id]) => id);
  const isDue = new Set(due);
  const others = waiting.map(([id]) => id).filter((id) => !isDue.has(id));
  const sample = new Set([...sampleOf(due, FINAL_SAMPLE), ...sampleOf(others, SAMPLE)]);
  const existing = await findExisting(context, collection, sample);
  // A sample speaks for the other records only if all of it is missing.
  const isConfirmed = (id: number) => existing.size === 0 || (sample.has(id) && !existing.has(id));
  for (const [id, wait] of waiting)
    Object.assign(wait, isConfirmed(id) ? { reviews: wait.reviews + 1 } : { sinceMs: clockMs(), reviews: 0 });
  decided(context, collection.name, 'review of deletions that wait', { existing: [...existing], due });
  const [first] = existing;
  suspended.reason = first === undefined ? WAITING : `record ${first} exists when the gateway reads it by id`;
  return due.filter(isConfirmed);
}

/** True if a few of these records, read one by one, are missing. Throws what the CMS throws. */
export async function areAllMissing(
  context: SyncContext,
  part: CollectionPart,
  ids: readonly number[],
): Promise<boolean> {
  return (await findExisting(context, part, sampleOf(ids, SAMPLE))).size === 0;
}

/** Why the replica still has records that the CMS's lists leave out; undefined if no deletion waits. */
export function suspensionReason(context: SyncContext): string | undefined {
  const reasons = KINDS.flatMap((kind) => {
    const { suspended } = context.memory.kinds[kind];
    return suspended
      ? `${suspended.records.size} records of ${collectionOf(context, kind)?.name} (${suspended.reason})`
      : [];
  });
  return reasons.length === 0 ? undefined : `the CMS's lists leave out ${reasons.join(', ')}`;
}

/**
 * True if the CMS itself says that visitors get no such record, or if lists leave it out because of its status, such as
 * `expired` of a plugin. A list that leaves the record out does not prove that.
 */
async function isMissing(context: SyncContext, part: CollectionPart, id: number): Promise<boolean> {
  try {
    const record = await readRecord(context, part, id);
    return !isPublished(record) || record[CMS_STATUS] !== undefined;
  } catch (error) {
    if (isTooLargeError(error)) return false;
    if (!(error instanceof CmsRejected)) throw error;
    return error.kind === 'not-visible' || error.kind === 'not-found';
  }
}

/** Up to `size` of the ids, evenly spread. */
function sampleOf(ids: readonly number[], size: number): number[] {
  const stride = Math.max(1, ids.length / size);
  const sample: number[] = [];
  for (let at = Math.random() * stride; at < ids.length; at += stride) sample.push(ids[Math.floor(at)]!);
  return sample;
}

/** Reads the records one by one. Resolves with those that exist. */
async function findExisting(context: SyncContext, part: CollectionPart, ids: Iterable<number>): Promise<Set<number>> {
  const existing = new Set<number>();
  for (const id of ids) if (!(await isMissing(context, part, id))) existing.add(id);
  return existing;
}
