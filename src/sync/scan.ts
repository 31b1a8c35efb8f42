// Owns reading everything: the initial sync, which fills the replica; and the scan, which lists every record again, a
// few pages at each poll, and so corrects what neither a date nor a total shows.

import type { KindMapping } from '../mapping/mapping.ts';
import { imageIds } from '../store/records.ts';
import { readAll } from './cms-reader.ts';
import { idOf } from './collections.ts';
import { countRecords, logDecision, NOT_STARTED, type Scan, STATE_KEYS, type SyncContext } from './context.ts';
import { ingestRecords } from './ingest.ts';
import { refreshLinkTables, refreshMissingImages, scanImages } from './links-and-images.ts';
import { poll, refreshSite } from './poll.ts';
import { deleteUnlisted } from './reconcile.ts';
import { tryToRead, unreadableError } from './unreadable.ts';

/** Requests at a time of the initial sync. */
const CONCURRENT_PAGES = 3;

/** Pages of each collection that a scan reads in one poll: a hundred thousand records must not keep the CMS busy. */
const PAGES_PER_COLLECTION = 5;

/** Fills the replica, and reads what changed meanwhile. Throws what the CMS throws; the next call continues. */
export async function runInitialSync(context: SyncContext): Promise<string[]> {
  const { replica, memory, clockMs, scanIntervalMs } = context;
  await refreshSite(context);
  const isFirstTry = Object.keys(memory.initialSync).length === 0;
  const isEmpty = context.collections.every((kindMapping) => countRecords(context, kindMapping) === 0);
  // A first try into an empty replica reads every record itself: no scan is due soon. Else a scan is due at once: what
  // another try or process has read may have changed without a new date, as when the site moved to another zone.
  if (isFirstTry && isEmpty) memory.scanDueMs = clockMs() + scanIntervalMs;
  replica.beginInitialSync();
  // Images that another process has left in the replica: `poll`, below, reads them again.
  for (const id of imageIds(replica.db, 0, Number.MAX_SAFE_INTEGER)) memory.media.toRead.add(id);
  for (const kindMapping of context.collections) await copyUnlessAbsent(context, kindMapping);
  await tryToRead(context, 'media', () => refreshMissingImages(context));
  // A deletion may have moved a record from page 2 to page 1 after page 1 was read. `undefined`: the poll compares ids.
  for (const { kind } of context.collections) {
    const pagesRead = (memory.initialSync[kind]?.nextPage ?? 1) - 1;
    if (pagesRead > 1) memory.kinds[kind].extraInTotal = undefined;
  }
  const differences = await poll(context);
  replica.endInitialSync();
  replica.apply({ state: { [STATE_KEYS.complete]: '1' } });
  return differences;
}

/**
 * Copies a collection, or leaves it out if it cannot be read. Throws if some of its pages were read before, because
 * these must not be served as all of it; and if it has the events: without them the calendar would look empty.
 */
async function copyUnlessAbsent(context: SyncContext, kindMapping: KindMapping): Promise<void> {
  const { initialSync } = context.memory;
  const copy = () => copyCollection(context, kindMapping).then(() => true);
  if (await tryToRead(context, kindMapping.collection, copy, kindMapping)) return;
  if (initialSync[kindMapping.kind] !== undefined || kindMapping.kind === 'event')
    throw unreadableError(context, kindMapping);
}

async function copyCollection(context: SyncContext, kindMapping: KindMapping): Promise<void> {
  const { memory, observe } = context;
  const { kind } = kindMapping;
  const { nextPage, isFinished } = memory.initialSync[kind] ?? NOT_STARTED;
  if (isFinished) return;
  if (kind === 'event') await refreshLinkTables(context);
  const options = { detail: 'mapped', start: nextPage, concurrency: CONCURRENT_PAGES } as const;
  for await (const { records, readMark, cmsTimeMs, page, total, isLast } of readAll(context, kindMapping, options)) {
    // The first poll reads what is modified from now on.
    memory.polled[kind] ??= cmsTimeMs;
    memory.polled.image ??= cmsTimeMs;
    await ingestRecords(context, kindMapping, records, readMark);
    const before = memory.initialSync[kind] ?? NOT_STARTED;
    const done = isLast ? total : Math.min(total, before.done + records.length);
    memory.initialSync[kind] = { done, total, nextPage: page + 1, isFinished: isLast };
    // Ten lines of the log for each collection, and not a thousand for 100,000 events.
    if (isLast || Math.floor((10 * done) / total) > Math.floor((10 * before.done) / total))
      observe({ type: 'sync-progress', collection: kindMapping.collection, done, total });
  }
}

/** Reads the next pages if a scan is in progress, or starts one if it is due. Throws what the CMS throws. */
export async function continueScan(context: SyncContext): Promise<void> {
  const { memory } = context;
  memory.scan ??= await startIfDue(context);
  const { scan } = memory;
  if (!scan || !(await scanCollections(context, scan))) return;
  const readImages = () => scanImages(context, scan.lastImageId, PAGES_PER_COLLECTION);
  // Undefined: all images were read, or the site refuses to show them.
  const lastImageId = await tryToRead(context, 'media', readImages);
  // `restartScan` was called meanwhile.
  if (memory.scan !== scan) return;
  if (lastImageId !== undefined) {
    scan.lastImageId = lastImageId;
    return;
  }
  memory.scan = undefined;
  memory.endedScanBeganS = scan.beganS;
}

/**
 * Notes in the journal when an ended scan began (`JournalPosition.scanS`): the journal has all changes until then.
 * Called after a poll, which reads what the scan found dirty. Not while a deletion is suspended: the journal lacks it.
 */
export function journalEndedScan({ memory, replica }: SyncContext): void {
  const isSuspended = Object.values(memory.kinds).some(({ suspended }) => suspended.size > 0);
  // The site may change records of a collection that it refuses to show. A collection that it lacks has no records.
  const isRefused = [...memory.unreadable.values()].some(({ isAbsent }) => !isAbsent);
  if (memory.endedScanBeganS === undefined || isSuspended || isRefused) return;
  replica.journal.noteScan(memory.endedScanBeganS);
  memory.endedScanBeganS = undefined;
}

async function startIfDue(context: SyncContext): Promise<Scan | undefined> {
  const { memory, collections, scanIntervalMs, clockMs } = context;
  if (clockMs() < memory.scanDueMs) return undefined;
  // If the site's facts changed, `refreshSite` calls `restartScan`: that asks for the scan which begins below.
  await tryToRead(context, 'site', () => refreshSite(context));
  // Missing images may exist by now, too large records be smaller, and link tables list other records.
  memory.media.notInCms.clear();
  for (const { kind } of collections) memory.kinds[kind].tooLarge.clear();
  memory.linksBuiltFrom.clear();
  const beganS = Math.floor((memory.cmsClock?.timeMs ?? 0) / 1000);
  memory.scanDueMs = clockMs() + scanIntervalMs;
  return { remaining: [...collections], nextPage: 1, seen: new Set(), lastImageId: 0, beganS };
}

/** True if all collections are read. False: one has more pages, or `restartScan` was called meanwhile. */
async function scanCollections(context: SyncContext, scan: Scan): Promise<boolean> {
  const { memory } = context;
  while (scan.remaining.length > 0) {
    const kindMapping = scan.remaining[0]!;
    // The poll has just seen which collections cannot be read: the scan passes by these.
    if (!memory.unreadable.has(kindMapping.collection)) {
      const end = await tryToRead(context, kindMapping.collection, () => scanPages(context, kindMapping, scan));
      if (end === 'has more' || memory.scan !== scan) return false;
    }
    scan.remaining.shift();
    scan.nextPage = 1;
    scan.seen = new Set();
  }
  return true;
}

async function scanPages(context: SyncContext, kindMapping: KindMapping, scan: Scan): Promise<'has more' | 'is read'> {
  let pagesRead = 0;
  const pages = readAll(context, kindMapping, { detail: 'mapped', start: scan.nextPage });
  for await (const { records, readMark, page, isLast } of pages) {
    logDecision(context, kindMapping.collection, 'scan: read a page', { page, records: records.length, isLast });
    await ingestRecords(context, kindMapping, records, readMark);
    for (const record of records) scan.seen.add(idOf(record));
    scan.nextPage = page + 1;
    pagesRead += 1;
    if (!isLast && pagesRead >= PAGES_PER_COLLECTION) return 'has more';
  }
  await deleteUnlisted(context, kindMapping, scan.seen);
  return 'is read';
}
