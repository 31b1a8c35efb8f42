// Owns the full resync: lists every record again, a few pages at each poll, and so corrects what neither a
// date nor a total shows.

import { isAbsent, readPage, unlessRefused } from './cms-reader.ts';
import { type Collection, idOf, recordsPerPage } from './collections.ts';
import { decided, type ResyncProgress, resyncState, type SyncContext, type SyncMemory } from './context.ts';
import { ingestRecords } from './ingest.ts';
import { forgetMissingImages, resyncImages } from './media-sync.ts';
import { paginate } from './paginate.ts';
import { refreshSite } from './poll.ts';
import { deleteUnlisted } from './reconcile.ts';

/** Pages of each collection in one poll: a full resync of a hundred thousand records must not keep the CMS busy. */
const PAGES_PER_COLLECTION = 5;

/** Saves of the progress, by default one a minute: a site without changes costs hardly any disk writes. */
const SAVES_PER_INTERVAL = 10;

/**
 * Reads the next pages if a full resync is in progress, or starts one if it is due. The next process
 * continues it from the last saved progress. Throws what the CMS throws.
 */
export async function continueResync(context: SyncContext): Promise<void> {
  const { memory, commit, nowMs, resyncIntervalMs } = context;
  await readNextPages(context);
  if (Math.abs(nowMs() - memory.resync.savedMs) < resyncIntervalMs / SAVES_PER_INTERVAL) return;
  await commit(() => ({ state: resyncState(memory) }));
  memory.resync.savedMs = nowMs();
}

async function readNextPages(context: SyncContext): Promise<void> {
  const { memory } = context;
  memory.resync.progress ??= await startIfDue(context);
  const { progress } = memory.resync;
  if (!progress) return;
  for (let [collection] = progress.remaining; collection; [collection] = progress.remaining) {
    const { name } = collection;
    // The poll has just seen which collections are absent, or refused to visitors.
    const isSkipped = isAbsent(context, collection) || memory.refused.has(name);
    const isFinished =
      isSkipped || (await unlessRefused(context, name, () => resyncPages(context, collection, progress))) !== false;
    if (!isFinished || memory.resync.progress !== progress) return;
    progress.remaining.shift();
    progress.cursor = undefined;
    progress.seen = new Set();
  }
  const { lastImageId: last } = progress;
  const lastImageId = await unlessRefused(context, 'media', () => resyncImages(context, last, PAGES_PER_COLLECTION));
  if (memory.resync.progress !== progress) return;
  if (lastImageId !== undefined) progress.lastImageId = lastImageId;
  else endResync(memory, progress);
}

function endResync({ resync }: SyncMemory, { beganS }: ResyncProgress): void {
  resync.progress = undefined;
  resync.endedS = beganS;
}

/**
 * Tells the change journal of a full resync that ended before this poll, which has read what the resync found out of
 * date. A deletion that is suspended is not in the journal yet.
 */
export function noteResync({ memory: { resync, kinds, refused }, replica }: SyncContext): void {
  const isSuspended = Object.values(kinds).some(({ suspended }) => suspended !== undefined);
  if (resync.endedS === undefined || isSuspended || refused.size > 0) return;
  replica.journal.scanned(resync.endedS);
  resync.endedS = undefined;
}

async function startIfDue(context: SyncContext): Promise<ResyncProgress | undefined> {
  const { memory, collections, resyncIntervalMs, nowMs } = context;
  const remainingMs = (memory.resync.dueMs ?? 0) - nowMs();
  // More than a whole interval: the clock was set back.
  if (remainingMs > 0 && remainingMs <= resyncIntervalMs) return undefined;
  await unlessRefused(context, 'site', () => refreshSite(context));
  memory.resync.dueMs = nowMs() + resyncIntervalMs;
  memory.resync.savedMs = Number.NEGATIVE_INFINITY;
  forgetMissingImages(context);
  memory.links.builtFrom.clear();
  const beganS = Math.floor(memory.reads.cmsTimeMs / 1000);
  return { remaining: [...collections], cursor: undefined, seen: new Set(), lastImageId: 0, beganS };
}

/** Resolves with true at the end of the collection. */
async function resyncPages(context: SyncContext, collection: Collection, progress: ResyncProgress): Promise<boolean> {
  const pageSize = recordsPerPage(collection, context.pageSize);
  const pages = paginate((page) => readPage(context, collection, { order: 'id', detail: 'mapped', ...page }), {
    by: collection.isStoredAsPosts ? 'offset' : 'page',
    start: progress.cursor,
    concurrency: 1,
    pageSize,
  });
  let pagesRead = 0;
  for await (const { records, readMark, cursor, isLast } of pages) {
    decided(context, collection.name, 'full resync: read a page', { records: records.length, cursor, isLast });
    await ingestRecords(context, collection, records, readMark);
    for (const record of records) progress.seen?.add(idOf(record));
    progress.cursor = cursor;
    pagesRead += 1;
    if (!isLast && pagesRead >= PAGES_PER_COLLECTION) return false;
  }
  if (progress.seen) await deleteUnlisted(context, collection, progress.seen);
  return true;
}
