// Owns reconciling: if a total shows that something was missed, compares ids with the CMS, and fetches the difference.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CmsRecord } from '../cms/port.ts';
import type { KindMapping } from '../mapping/mapping.ts';
import { ownIds, type RecordStamp, stampsById } from '../store/records.ts';
import { type PageRequest, readAll, readPage } from './cms-reader.ts';
import { idOf, stampOf } from './collections.ts';
import { countRecords, isOutdated, logDecision, type SyncContext } from './context.ts';
import { endSuspension, refreshRecords, suspendIfMass } from './ingest.ts';

/** Up to this many deletions are searched for one by one. For more, the whole list of ids is read. */
const MAX_SEARCHED_DELETIONS = 10;

/** Brings the replica's records of a collection in line with the CMS's list. Throws what the CMS throws. */
export async function reconcile(context: SyncContext, kindMapping: KindMapping): Promise<void> {
  if (kindMapping.storedAs === 'posts' && !kindMapping.dedupe) {
    const total = await refreshNewest(context, kindMapping);
    if (matchesTotal(context, kindMapping, total) || (await deleteFew(context, kindMapping, total))) return;
  }
  await reconcileAll(context, kindMapping);
}

/** True if, by the CMS's total, no record is missing or too many. False while `extraInTotal` is undefined. */
export function matchesTotal(context: SyncContext, kindMapping: KindMapping, total: number): boolean {
  const { extraInTotal } = context.memory.kinds[kindMapping.kind];
  const held = heldCount(context, kindMapping);
  const matches = total - held === extraInTotal;
  if (!matches) logDecision(context, kindMapping.collection, 'the total differs', { total, held, extraInTotal });
  return matches;
}

/** Deletes records that a list leaves out, once they are missing by id too; a mass deletion waits for confirmation. */
export async function deleteUnlisted(context: SyncContext, kindMapping: KindMapping, listed: ReadonlySet<number>) {
  endSuspension(context, kindMapping.kind, listed);
  const unlisted = heldIds(context, kindMapping).filter((id) => !listed.has(id));
  if (!suspendIfMass(context, kindMapping, unlisted))
    await refreshRecords(context, kindMapping, unlisted, { reason: 'in no list' });
}

/** The ids of listed records that differ: the replica and `tooLarge` lack the record, or have it with another time. */
export function findDiffering(
  { replica, memory }: SyncContext,
  { kind, storedAs }: KindMapping,
  listed: readonly RecordStamp[],
): number[] {
  const ids = listed.map(({ id }) => id);
  const stored = stampsById(replica.db, kind, ids);
  return listed.flatMap(({ id, modifiedUtc }) => {
    const stamp = stored.get(id) ?? memory.kinds[kind].tooLarge.get(id);
    const isSame = stamp && (storedAs === 'terms' || stamp.modifiedUtc === modifiedUtc);
    return id === 0 || isSame ? [] : id;
  });
}

/** The replica's records that a list of the CMS should have. Suspended records are in no list. */
const heldCount = (context: SyncContext, kindMapping: KindMapping): number =>
  countRecords(context, kindMapping) - context.memory.kinds[kindMapping.kind].suspended.size;

/** The ids of the records that `heldCount` counts, ascending. */
const heldIds = ({ replica, memory }: SyncContext, { kind }: KindMapping): number[] =>
  ownIds(replica.db, kind).filter((id) => !memory.kinds[kind].suspended.has(id));

/** Fetches the newest by id and by date: mostly one of these came without a new `modified`. Resolves with the total. */
async function refreshNewest(context: SyncContext, kindMapping: KindMapping): Promise<number> {
  let total = 0;
  for (const order of ['-id', '-date'] as const) {
    const page = await readPage(context, kindMapping, { order, limit: context.pageSize, detail: 'stamp' });
    total = page.total;
    const differing = findDiffering(context, kindMapping, page.records.map(stampOf));
    await refreshRecords(context, kindMapping, differing, { reason: `the newest by ${order.slice(1)} differ` });
    if (matchesTotal(context, kindMapping, total)) break;
  }
  return total;
}

/** Searches for a few deleted records. Resolves with whether the total matches then. */
async function deleteFew(context: SyncContext, kindMapping: KindMapping, total: number): Promise<boolean> {
  const { extraInTotal } = context.memory.kinds[kindMapping.kind];
  if (extraInTotal === undefined) return false;
  // Of 41 that are held and 40 that should be, one was deleted.
  const surplus = heldCount(context, kindMapping) - (total - extraInTotal);
  if (surplus < 1 || surplus > MAX_SEARCHED_DELETIONS) return false;
  const readFrom = async (offset: number) => {
    const request: PageRequest = { order: 'id', limit: context.pageSize, offset, detail: 'id' };
    return (await readPage(context, kindMapping, request)).records;
  };
  logDecision(context, kindMapping.collection, 'search for deleted records', { surplus, total });
  const deleted = await findDeleted(heldIds(context, kindMapping), surplus, context.pageSize, readFrom);
  await refreshRecords(context, kindMapping, deleted, { reason: 'the search finds them in no list' });
  return matchesTotal(context, kindMapping, total);
}

/** Reads the whole list of ids, fetches the records that differ, and deletes those that are missing. */
async function reconcileAll(context: SyncContext, kindMapping: KindMapping): Promise<void> {
  logDecision(context, kindMapping.collection, 'compare the whole list of ids', {});
  const listed = new Set<number>();
  const differing = new Set<number>();
  const totals: number[] = [];
  const { lastReadMark } = context.memory;
  const detail = kindMapping.storedAs === 'posts' ? 'stamp' : 'id';
  for await (const page of readAll(context, kindMapping, { detail, concurrency: 3 })) {
    const stamps = page.records.map(stampOf).filter(({ id }) => id !== 0);
    for (const id of findDiffering(context, kindMapping, stamps)) differing.add(id);
    for (const { id } of stamps) listed.add(id);
    totals.push(page.total);
    await nextTurn();
  }
  await refreshRecords(context, kindMapping, [...differing], { reason: 'the list of ids differs' });
  await deleteUnlisted(context, kindMapping, listed);
  // The list may have changed while it was read. Each of these three shows it:
  const haveTotalsChanged = totals.some((total) => total !== totals[0]);
  // Totals of 40, and 41 held: a webhook brought a new event, and one that a page had listed became a draft.
  const extraInTotal = totals[0]! - heldCount(context, kindMapping);
  const areTooManyHeld = extraInTotal < 0;
  // A write deleted an event after a page had listed it: the totals still count that event.
  const outdated = [...listed].filter((id) => isOutdated(context.memory, kindMapping.kind, id, lastReadMark));
  const isOneDeleted = stampsById(context.replica.db, kindMapping.kind, outdated).size < outdated.length;
  const hasListChanged = haveTotalsChanged || areTooManyHeld || isOneDeleted;
  // Undefined: the next poll compares all ids again.
  context.memory.kinds[kindMapping.kind].extraInTotal = hasListChanged ? undefined : extraInTotal;
}

/**
 * Finds the ids (ascending) that the CMS's list no longer has, at most `limit`. Of `1 2 4 5` it has `1 2 5`: all after
 * 4 have moved. So if a page agrees, all before it do, and halving takes a few requests for each deleted record.
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

  /** The first index at which the lists differ; the end of the shorter one if they do not. */
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
