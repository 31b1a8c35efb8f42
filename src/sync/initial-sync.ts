// Owns the initial sync: reads every collection and then the images, continuing where an earlier process
// stopped.

import { CmsUnavailable } from '../errors.ts';
import { setState } from '../store/state.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { noEventsError, readPage, refusedEventsError, unlessAbsent, unlessRefused } from './cms-reader.ts';
import { type Collection, recordsPerPage, stampOf } from './collections.ts';
import { type CollectionProgress, loadInitialSync, resyncState, STATE_KEYS, type SyncContext } from './context.ts';
import { ingestRecords } from './ingest.ts';
import { refreshLinkTables } from './link-tables.ts';
import { fetchMissingImages } from './media-sync.ts';
import { type PageRequest, paginate } from './paginate.ts';
import { poll, refreshSite } from './poll.ts';

const CONCURRENT_PAGES = 3;

/**
 * Reads everything into the replica, and catches up with what changed meanwhile. Throws what the CMS throws;
 * the next call continues.
 */
export async function runInitialSync(context: SyncContext): Promise<void> {
  const { replica, memory, commit, observe, nowMs, resyncIntervalMs } = context;
  await refreshSite(context);
  replica.beginInitialSync();
  // A failure may have rolled back the last changes, with the progress.
  memory.initialSync = loadInitialSync(context);
  await startCollections(context);
  for (const collection of context.collections) await readUnlessAbsent(context, collection);
  const onImages = (done: number, missing: number) => {
    memory.media.progress = { done, total: done + missing };
    observe({ type: 'sync-progress', collection: 'image', ...memory.media.progress });
  };
  await unlessRefused(context, 'media', () => fetchMissingImages(context, onImages));
  // A change of the site's address or time zone has set it to 0: what was read before is outdated.
  memory.resync.dueMs ??= nowMs() + resyncIntervalMs;
  await poll(context);
  replica.endInitialSync();
  await commit(() => ({ state: { [STATE_KEYS.complete]: '1', ...resyncState(memory) } }));
}

/** Reads how long each collection is before its first page is read, so that the percentage is known. */
async function startCollections(context: SyncContext): Promise<void> {
  const { collections, memory, observe } = context;
  for (const collection of collections) {
    const { kind } = collection;
    const progress =
      memory.initialSync[kind] ??
      (await unlessRefused(context, collection.name, () =>
        unlessAbsent(context, collection, () => startCollection(context, collection)),
      ));
    const isRefused = memory.refused.has(collection.name);
    if (!progress && kind === 'event')
      throw isRefused ? refusedEventsError(collection, memory) : noEventsError(collection);
    if (!progress) continue;
    memory.initialSync[kind] = progress;
    memory.kinds[kind].watermarkUtc = progress.watermarkUtc;
  }
  saveProgress(context);
  for (const { kind } of collections) {
    const { done = 0, total = 0 } = memory.initialSync[kind] ?? {};
    observe({ type: 'sync-progress', collection: kind, done, total });
  }
}

/** Reads the newest modification that is not in the future, and the number of records. */
async function startCollection(context: SyncContext, collection: Collection): Promise<CollectionProgress> {
  const request: PageRequest = collection.isStoredAsPosts
    ? { order: '-modified', limit: 1, detail: 'time' }
    : { limit: 1, detail: 'id' };
  const { records, total, cmsTimeMs } = await readPage(context, collection, request);
  const nowUtc = formatWallTime(cmsTimeMs);
  const newestUtc = records[0] ? stampOf(records[0]).modifiedUtc : '';
  const isPast = newestUtc !== '' && newestUtc < nowUtc;
  return { done: 0, total, isFinished: false, watermarkUtc: isPast ? newestUtc : nowUtc };
}

/** A collection that the site removes while it is read must not be served in part. */
async function readUnlessAbsent(context: SyncContext, collection: Collection): Promise<void> {
  const { initialSync } = context.memory;
  const progress = initialSync[collection.kind];
  if (!progress) return;
  const isCopied = await unlessAbsent(context, collection, async () => {
    await copyCollection(context, collection);
    return true;
  });
  if (isCopied) return;
  if (progress.done > 0)
    throw new CmsUnavailable('status', `The site removed the collection "${collection.name}" during the initial sync.`);
  if (collection.kind === 'event') throw noEventsError(collection);
  delete initialSync[collection.kind];
}

async function copyCollection(context: SyncContext, collection: Collection): Promise<void> {
  const { memory, observe } = context;
  const pageSize = recordsPerPage(collection, context.pageSize);
  const { kind, isStoredAsPosts } = collection;
  const progress = memory.initialSync[kind];
  if (!progress || progress.isFinished) return;
  if (kind === 'event') await refreshLinkTables(context);
  const pages = paginate((page) => readPage(context, collection, { order: 'id', detail: 'mapped', ...page }), {
    by: isStoredAsPosts ? 'offset' : 'page',
    start: progress.cursor,
    concurrency: CONCURRENT_PAGES,
    pageSize,
  });
  for await (const { records, readMark, cursor, total, isLast } of pages) {
    await ingestRecords(context, collection, records, readMark);
    const read = isStoredAsPosts ? cursor.position : (cursor.position - 1) * pageSize;
    Object.assign(progress, { cursor, total, isFinished: isLast, done: isLast ? total : Math.min(total, read) });
    saveProgress(context);
    observe({ type: 'sync-progress', collection: kind, done: progress.done, total });
  }
}

function saveProgress({ replica, memory }: SyncContext): void {
  setState(replica.db, STATE_KEYS.initialSync, JSON.stringify(memory.initialSync));
}
