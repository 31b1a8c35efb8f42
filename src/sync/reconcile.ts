// Owns reconciling the replica with the CMS's list of ids when a total shows that something was missed;
// fetches only the difference.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CmsRecord } from '../cms/port.ts';
import { type RecordStamp, stamps, stampsById } from '../store/records.ts';
import { type PageRequest, readAll, readPage } from './cms-reader.ts';
import { type Collection, idOf, stampOf } from './collections.ts';
import { countRecords, logDecision, type SyncContext } from './context.ts';
import { endSuspension, isMassDeletion, refreshRecords, suspendDeletions } from './ingest.ts';

/** Up to this many deletions are searched for one by one. For more, the whole list of ids is read. */
const MAX_SEARCHED_DELETIONS = 10;
const IDS_PER_SLICE = 2_000;

/** Brings the replica's records of a collection in line with the CMS's list. Throws what the CMS throws. */
export async function reconcile(context: SyncContext, collection: Collection): Promise<void> {
  if (collection.isStoredAsPosts && !collection.spec.dedupe) {
    const total = await fetchNewest(context, collection);
    if (matchesTotal(context, collection, total) || (await deleteFew(context, collection, total))) return;
  }
  await reconcileAll(context, collection);
}

/** True if the CMS's total means that the replica lacks no record and has none too many. */
export function matchesTotal(context: SyncContext, collection: Collection, total: number): boolean {
  const { excess } = context.memory.kinds[collection.kind];
  const listed = listedCount(context, collection);
  const matches = total - listed === excess;
  if (!matches) logDecision(context, collection.name, 'the total differs', { total, listed, excess });
  return matches;
}

/**
 * Deletes records that a list leaves out, once they are missing by id too; a mass deletion waits for
 * confirmation.
 */
export async function deleteUnlisted(
  context: SyncContext,
  collection: Collection,
  listed: ReadonlySet<number>,
): Promise<void> {
  endSuspension(context.memory, collection.kind, listed);
  const unlisted = (await listedStamps(context, collection)).map(({ id }) => id).filter((id) => !listed.has(id));
  if (isMassDeletion(context, collection, unlisted.length)) suspendDeletions(context, collection.kind, unlisted);
  else await refreshRecords(context, collection, unlisted, { reason: 'in no list' });
}

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

/** Stamps of all records of the collection in the replica, ascending by id. Yields to the event loop. */
async function allStamps({ replica }: SyncContext, { kind }: Collection): Promise<RecordStamp[]> {
  const all: RecordStamp[] = [];
  for (;;) {
    const after = all.at(-1)?.id ?? 0;
    const slice = stamps(replica.db, kind, { after, limit: IDS_PER_SLICE, withoutOccurrences: true });
    all.push(...slice);
    if (slice.length < IDS_PER_SLICE) return all;
    await nextTurn();
  }
}

/** Suspended records are in no list. */
const listedCount = (context: SyncContext, collection: Collection): number =>
  countRecords(context, collection) - context.memory.kinds[collection.kind].suspended.size;

async function listedStamps(context: SyncContext, collection: Collection): Promise<RecordStamp[]> {
  const { suspended } = context.memory.kinds[collection.kind];
  return (await allStamps(context, collection)).filter(({ id }) => !suspended.has(id));
}

/**
 * Records that appear without a new `modified` are mostly the newest by id or by publication date. Resolves
 * with the total.
 */
async function fetchNewest(context: SyncContext, collection: Collection): Promise<number> {
  let total = 0;
  for (const order of ['-id', '-date'] as const) {
    const page = await readPage(context, collection, { order, limit: context.pageSize, detail: 'stamp' });
    total = page.total;
    const differing = findDiffering(context, collection, page.records.map(stampOf));
    await refreshRecords(context, collection, differing, { reason: `the newest by ${order.slice(1)} differ` });
    if (matchesTotal(context, collection, total)) break;
  }
  return total;
}

/** Searches for a few deleted records. Resolves with whether the total matches then. */
async function deleteFew(context: SyncContext, collection: Collection, total: number): Promise<boolean> {
  const { excess } = context.memory.kinds[collection.kind];
  if (excess === undefined) return false;
  const surplus = listedCount(context, collection) - (total - excess);
  if (surplus < 1 || surplus > MAX_SEARCHED_DELETIONS) return false;
  const ids = (await listedStamps(context, collection)).map(({ id }) => id);
  const readFrom = async (offset: number) => {
    const request: PageRequest = { order: 'id', limit: context.pageSize, offset, detail: 'id' };
    return (await readPage(context, collection, request)).records;
  };
  logDecision(context, collection.name, 'search for deleted records', { surplus, total });
  const deleted = await findDeleted(ids, surplus, context.pageSize, readFrom);
  await refreshRecords(context, collection, deleted, { reason: 'the search finds them in no list' });
  return matchesTotal(context, collection, total);
}

/** Reads the whole list of ids, fetches the records that differ, and deletes those that are missing. */
async function reconcileAll(context: SyncContext, collection: Collection): Promise<void> {
  logDecision(context, collection.name, 'compare the whole list of ids', {});
  const listed = new Set<number>();
  const differing = new Set<number>();
  const totals: number[] = [];
  const detail = collection.isStoredAsPosts ? 'stamp' : 'id';
  for await (const page of readAll(context, collection, { detail, concurrency: 3 })) {
    const stamps = page.records.map(stampOf).filter(({ id }) => id !== 0);
    for (const id of findDiffering(context, collection, stamps)) differing.add(id);
    for (const { id } of stamps) listed.add(id);
    totals.push(page.total);
    await nextTurn();
  }
  await refreshRecords(context, collection, [...differing], { reason: 'the list of ids differs' });
  await deleteUnlisted(context, collection, listed);
  // An event that became a draft after its page was read is in `listed`, and another may have been created meanwhile.
  const excess = Math.min(...totals) - listedCount(context, collection);
  const isSteady = excess >= 0 && totals.every((each) => each === totals[0]);
  context.memory.kinds[collection.kind].excess = isSteady ? excess : undefined;
}

/**
 * Finds the ids (ascending) that the CMS's list no longer has, at most `limit`. Both lists are in the order
 * of ids and agree up to the first deleted record, so that halving takes a few requests for each, however
 * long the list is.
 */
export async function findDeleted(
  heldIds: readonly number[],
  limit: number,
  pageSize: number,
  readFrom: (offset: number) => Promise<readonly CmsRecord[]>,
): Promise<number[]> {
  const ids = [...heldIds];
  const deleted: number[] = [];
  let agreed = 0;
  while (deleted.length < limit && agreed < ids.length) {
    agreed = await firstDifference(agreed);
    const [id] = ids.splice(agreed, 1);
    if (id === undefined) break;
    deleted.push(id);
  }
  return deleted;

  /** The first position at which the lists differ; the end of the shorter one if they do not. */
  async function firstDifference(from: number): Promise<number> {
    let [low, high] = [from, ids.length];
    while (low < high) {
      const middle = low + Math.floor((high - low) / 2);
      const records = await readFrom(middle);
      const expected = ids.slice(middle, middle + pageSize);
      const difference = expected.findIndex((id, n) => records[n] === undefined || idOf(records[n]) !== id);
      if (difference < 0) low = middle + pageSize;
      else if (difference > 0) return middle + difference;
      else high = middle;
    }
    return Math.min(low, high);
  }
}
