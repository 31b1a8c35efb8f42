// Owns what is read between two scans: the poll, which looks for changes in each collection and in the media library;
// and records that are known to have changed, from a webhook, a write or another gateway. In the sync `readX` only asks
// the CMS (`readPage` also learns which fields records have), `refreshX` also brings the replica in line, and `fetchX`
// does so with records that somebody named.

import type { KindMapping } from '../mapping/mapping.ts';
import { type Kind, type KindOrImage, seriesIdOf, UNKNOWN_SITE } from '../model/records.ts';
import { getImages } from '../store/records.ts';
import { type PageRequest, readAll, readPage, visitorOptions } from './cms-reader.ts';
import { logDecision, markDirty, outdateResponses, restartScan, STATE_KEYS, type SyncContext } from './context.ts';
import {
  deleteUnusedEmbedded,
  ingestRecords,
  refreshDirty,
  refreshRecords,
  reviewDeletions,
  suspensionReasons,
} from './ingest.ts';
import { pollMedia, refreshImages, refreshLinkTables, refreshMissingImages, retryImages } from './links-and-images.ts';
import { listModified } from './list-modified.ts';
import { findDiffering, matchesTotal, reconcile } from './reconcile.ts';
import { tryToRead, unreadableReasons } from './unreadable.ts';

/** A poll reads so many pages of a list of terms; the scan reads those after them too. */
const TERM_PAGES_PER_POLL = 5;

/**
 * Brings the replica up to date:
 *   1. reads the site's facts, unless this process has, and what changed in each collection and the media library
 *   2. re-reads the posts of which 1 found a term or image deleted: the CMS changes them without a new date
 *   3. reads the images that records refer to and the replica lacks
 *   4. deletes the records whose deletion is confirmed by now, and then the embedded records that no event has
 *
 * Resolves with why the replica may still differ from the CMS, if it may: deletions wait for their confirmation, or a
 * collection cannot be read. Throws what the CMS throws.
 */
export async function poll(context: SyncContext): Promise<string[]> {
  const { memory, collections } = context;
  if (!memory.isSiteRead || memory.unreadable.has('site')) await tryToRead(context, 'site', () => refreshSite(context));
  for (const kindMapping of collections)
    await tryToRead(context, kindMapping.collection, () => pollCollection(context, kindMapping), kindMapping);
  const present = collections.filter(({ collection: name }) => !memory.unreadable.has(name));
  await tryToRead(context, 'media', () => pollMedia(context));
  for (const kindMapping of present) await refreshDirty(context, kindMapping);
  if (!memory.unreadable.has('media')) await tryToRead(context, 'media', () => refreshMissingImages(context));
  for (const kindMapping of present) {
    const deletableAtOnce = new Set(await reviewDeletions(context, kindMapping));
    const options = { reason: 'their deletion is confirmed', deletableAtOnce };
    await refreshRecords(context, kindMapping, [...deletableAtOnce], options);
  }
  await deleteUnusedEmbedded(context);
  return [...unreadableReasons(context), ...suspensionReasons(context)];
}

async function pollCollection(context: SyncContext, kindMapping: KindMapping): Promise<void> {
  if (kindMapping.kind === 'event') await refreshLinkTables(context);
  await refreshDirty(context, kindMapping);
  const total = await (kindMapping.storedAs === 'posts' ? refreshModified : refreshTerms)(context, kindMapping);
  if (!matchesTotal(context, kindMapping, total)) await reconcile(context, kindMapping);
}

/** Reads the site's facts. If they changed, every record must be read again. Throws what the CMS throws. */
export async function refreshSite(context: SyncContext): Promise<void> {
  const { cms, replica, memory } = context;
  const site = await cms.site(visitorOptions(context));
  memory.isSiteRead = true;
  if (JSON.stringify(site) === JSON.stringify(memory.site)) return;
  // The times and addresses of every record depend on the site's facts.
  if (memory.site !== UNKNOWN_SITE) restartScan(memory);
  replica.apply({ state: { [STATE_KEYS.site]: JSON.stringify(site) } });
  memory.site = site;
  replica.clearRendered();
}

/** Fetches what was modified since the last poll. Resolves with the total. */
async function refreshModified(context: SyncContext, kindMapping: KindMapping): Promise<number> {
  const { pageSize, memory } = context;
  const read = (request: PageRequest) => readPage(context, kindMapping, request);
  const options = { polledMs: memory.polled[kindMapping.kind], detail: 'stamp', pageSize } as const;
  const { stamps, recentIds, total, cmsTimeMs } = await listModified(read, options);
  const differing = findDiffering(context, kindMapping, stamps);
  for (const id of differing) recentIds.delete(id);
  await refreshRecords(context, kindMapping, differing, { reason: 'the list of changes differs' });
  // The last poll may have read these records between two edits of one second (`SAME_SECOND_MS`).
  await refreshRecords(context, kindMapping, [...recentIds], { reason: 'modified since the last poll began' });
  memory.polled[kindMapping.kind] = cmsTimeMs;
  return total;
}

/** Terms have no modification time. Resolves with the total. */
async function refreshTerms(context: SyncContext, kindMapping: KindMapping): Promise<number> {
  let total = 0;
  for await (const { records, readMark, page, ...list } of readAll(context, kindMapping, { detail: 'mapped' })) {
    total = list.total;
    await ingestRecords(context, kindMapping, records, readMark);
    if (page === TERM_PAGES_PER_POLL) break;
  }
  return total;
}

/** A record or image that a webhook, a write through this gateway, or another gateway has named. */
export interface ChangedRecord {
  kind: KindOrImage;
  id: number;
  /** It was seen in the trash, where no visitor can see it. */
  isTrashed?: boolean | undefined;
}

const idsOf = (kind: KindOrImage, changes: readonly ChangedRecord[]) =>
  new Set(changes.filter((change) => change.kind === kind).map(({ id }) => seriesIdOf(id)));

/** Fetches or deletes these records and images. Throws what the CMS throws: then the next poll fetches them. */
export async function fetchBatch(context: SyncContext, changes: readonly ChangedRecord[]): Promise<void> {
  const { replica, memory, collections } = context;
  // Notes all records before it reads the first: if that read fails, the next poll reads all of them.
  for (const { kind, collection } of collections) noteReported(context, kind, collection, changes);
  // Those that the replica has: `refreshMissingImages` reads the others. If this fails, the next poll reads `toRead`.
  const images = [...getImages(replica.db, [...idsOf('image', changes)]).keys()];
  for (const id of images) memory.media.toRead.add(id);
  retryImages(context, idsOf('image', changes));
  for (const kindMapping of collections) {
    if (kindMapping.kind === 'event') await refreshLinkTables(context);
    await refreshDirty(context, kindMapping, idsOf(kindMapping.kind, changes));
  }
  await refreshImages(context, images);
  for (const id of images) memory.media.toRead.delete(id);
  if (!memory.unreadable.has('media')) await tryToRead(context, 'media', () => refreshMissingImages(context));
  // As step 2 of `poll`.
  for (const kindMapping of collections) await refreshDirty(context, kindMapping);
  await deleteUnusedEmbedded(context);
}

function noteReported(context: SyncContext, kind: Kind, collection: string, changes: readonly ChangedRecord[]): void {
  const { memory } = context;
  const ids = idsOf(kind, changes);
  if (ids.size === 0) return;
  logDecision(context, collection, 'named by a webhook, a write or another gateway', { ids: [...ids] });
  for (const id of ids) outdateResponses(memory, kind, id);
  markDirty(memory, kind, ids);
  const trashed = changes.filter(({ isTrashed }) => isTrashed);
  for (const id of idsOf(kind, trashed)) memory.kinds[kind].trashed.add(id);
}

type Fetch = (changes: readonly ChangedRecord[]) => Promise<boolean>;

/**
 * Calls `fetch`, which never rejects, for one batch at a time. Records that are named meanwhile wait, each once, and
 * are the next batch: a burst of webhooks costs two. Resolves with the result of the batch that has the records.
 */
export function inBatches(fetch: Fetch): Fetch {
  let running: Promise<boolean> = Promise.resolve(true);
  let next: { records: Map<string, ChangedRecord>; done: Promise<boolean> } | undefined;
  return (changes) => {
    if (next === undefined) {
      const records = new Map<string, ChangedRecord>();
      const done = running.then(() => {
        next = undefined;
        return fetch([...records.values()]);
      });
      next = { records, done };
      running = done;
    }
    for (const change of changes) {
      const key = `${change.kind} ${change.id}`;
      if (!next.records.get(key)?.isTrashed) next.records.set(key, change);
    }
    return next.done;
  };
}
