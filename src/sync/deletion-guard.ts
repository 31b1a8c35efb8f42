// Owns which missing records may be deleted from the replica: a mass deletion waits until the CMS has
// confirmed it.

import { CMS_STATUS, type CmsRecord } from '../cms/port.ts';
import { CmsRejected } from '../errors.ts';
import { KINDS, type Kind } from '../model/records.ts';
import { isTooLargeError, readRecord, serviceOptions } from './cms-reader.ts';
import type { Collection, CollectionPart } from './collections.ts';
import { collectionOf, isComplete, type SyncContext, type SyncMemory } from './context.ts';
import { countRecords } from './replica-records.ts';

/** A mass deletion: within `RECENT_MS`, more than `FEW_DELETIONS` records and more than `MAX_FRACTION` of the collection. */
const FEW_DELETIONS = 10;
const MAX_FRACTION = 1 / 3;
const RECENT_MS = 60_000;
/** Reviews, and the time from the suspension, that confirm a mass deletion. */
const MIN_REVIEWS = 3;
const MIN_WAIT_MS = 5 * 60_000;
const REVIEW_INTERVAL_MS = 100_000;
/** Records that a review reads one by one; the last review reads more. */
const SAMPLE = 5;
const FINAL_SAMPLE = 100;

/**
 * Resolves with the missing records that may be deleted now; the others wait. Records that a webhook reported
 * are read one by one immediately. Throws what the CMS throws.
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

/** Suspends the deletion of these records; the waiting time starts again for all of the kind. */
export function suspendDeletions({ memory, clockMs }: SyncContext, kind: Kind, missing: readonly number[]): void {
  const ids = memory.kinds[kind].suspended?.ids ?? new Set<number>();
  const before = ids.size;
  for (const id of missing) ids.add(id);
  if (ids.size === before) return;
  const restarted = {
    ids,
    sinceMs: clockMs(),
    reviews: 0,
    nextReviewMs: clockMs(),
    reason: 'waiting for confirmation',
  };
  // A review in progress holds the same object.
  memory.kinds[kind].suspended = Object.assign(memory.kinds[kind].suspended ?? {}, restarted);
}

/** Ends the suspension of these records: they exist, or they were deleted. */
export function endSuspension({ kinds }: SyncMemory, kind: Kind, ids: Iterable<number>): void {
  const { suspended } = kinds[kind];
  if (!suspended) return;
  for (const id of ids) suspended.ids.delete(id);
  if (suspended.ids.size === 0) kinds[kind].suspended = undefined;
}

const NO_IDS: ReadonlySet<number> = new Set();

export const suspendedIds = ({ kinds }: SyncMemory, kind: Kind): ReadonlySet<number> =>
  kinds[kind].suspended?.ids ?? NO_IDS;

/**
 * Reads some of the suspended records. Resolves with all of them once their deletion is confirmed. Throws
 * what the CMS throws.
 */
export async function reviewSuspended(context: SyncContext, collection: Collection): Promise<number[]> {
  const { memory, clockMs } = context;
  const { suspended } = memory.kinds[collection.kind];
  if (!suspended || clockMs() < suspended.nextReviewMs) return [];
  suspended.nextReviewMs = clockMs() + REVIEW_INTERVAL_MS;
  const ids = [...suspended.ids];
  const isFinal = suspended.reviews + 1 >= MIN_REVIEWS && clockMs() - suspended.sinceMs >= MIN_WAIT_MS;
  const existing = await findExisting(context, collection, ids, isFinal ? FINAL_SAMPLE : SAMPLE);
  if (existing !== undefined) {
    suspended.sinceMs = clockMs();
    suspended.reviews = 0;
    suspended.reason = `record ${existing} exists when the gateway reads it by id`;
    return [];
  }
  suspended.reviews += 1;
  return isFinal ? ids : [];
}

/** True if a few of these records, read one by one, are missing. Throws what the CMS throws. */
export async function areAllMissing(
  context: SyncContext,
  part: CollectionPart,
  ids: readonly number[],
): Promise<boolean> {
  return (await findExisting(context, part, ids, SAMPLE)) === undefined;
}

/** Why the replica still has records that the CMS's lists leave out; undefined if no deletion waits. */
export function suspensionReason(context: SyncContext): string | undefined {
  const reasons = KINDS.flatMap((kind) => {
    const { suspended } = context.memory.kinds[kind];
    return suspended
      ? `${suspended.ids.size} records of ${collectionOf(context, kind)?.name} (${suspended.reason})`
      : [];
  });
  return reasons.length === 0 ? undefined : `the CMS's lists leave out ${reasons.join(', ')}`;
}

/** `statuses`: what the sync's lists ask for; absent if they ask for all. */
type GuardedPart = CollectionPart & { statuses?: readonly string[] };

/**
 * True if the CMS itself says that this account has no such record, or that its status is none that the sync's lists
 * ask for, such as `archive` of a plugin. A list that leaves the record out does not prove that.
 */
async function isMissing(context: SyncContext, part: GuardedPart, id: number): Promise<boolean> {
  try {
    const record = await readRecord(context, part.spec, id, part.scope.view, serviceOptions(context));
    return !hasListedStatus(context, part, record);
  } catch (error) {
    if (isTooLargeError(error)) return false;
    if (!(error instanceof CmsRejected)) throw error;
    const isNotVisible = context.serviceCredentials === undefined && error.kind === 'not-visible';
    return isNotVisible || error.kind === 'not-found';
  }
}

function hasListedStatus({ serviceCredentials }: SyncContext, { statuses }: GuardedPart, record: CmsRecord): boolean {
  // Lists show a record with a status of a plugin to the service account only.
  if (serviceCredentials === undefined && record[CMS_STATUS] !== undefined) return false;
  return statuses === undefined || typeof record.status !== 'string' || statuses.includes(record.status);
}

/** Reads up to `sample` of the records, evenly spread. Resolves with the first that exists. */
async function findExisting(
  context: SyncContext,
  part: GuardedPart,
  ids: readonly number[],
  sample: number,
): Promise<number | undefined> {
  const stride = Math.max(1, ids.length / sample);
  for (let at = Math.random() * stride; at < ids.length; at += stride) {
    const id = ids[Math.floor(at)]!;
    if (!(await isMissing(context, part, id))) return id;
  }
  return undefined;
}
