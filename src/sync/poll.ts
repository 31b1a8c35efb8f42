// Owns the poll: what a poll reads in each collection and in the media library.

import { readAll, readPage, unlessUnreadable, unreadableReasons, visitorOptions } from './cms-reader.ts';
import type { Collection } from './collections.ts';
import { restartScan, STATE_KEYS, type SyncContext, UNKNOWN_SITE } from './context.ts';
import { confirmedDeletions, suspensionReasons } from './deletion-guard.ts';
import { deleteUnusedEmbedded, fetchDirty, fetchRecords, ingestRecords } from './ingest.ts';
import { refreshLinkTables } from './link-tables.ts';
import { fetchMissingImages, pollMedia } from './media-sync.ts';
import { listModified, type PageRequest } from './paginate.ts';
import { findDiffering, matchesTotal, reconcile } from './reconcile.ts';

/** A poll reads so many pages of a list of terms; the scan reads those after them too. */
const TERM_PAGES_PER_POLL = 5;

/**
 * Brings the replica up to date, and resolves with undefined. It resolves with a reason if the replica still has
 * records that the CMS's lists leave out: until their deletion is confirmed, the replica keeps them. Throws what the
 * CMS throws.
 */
export async function poll(context: SyncContext): Promise<string | undefined> {
  const { memory, collections } = context;
  if (!memory.isSiteRead || memory.unreadable.has('site'))
    await unlessUnreadable(context, 'site', () => refreshSite(context));
  for (const collection of collections)
    await unlessUnreadable(context, collection.name, () => pollCollection(context, collection), collection.spec);
  const present = collections.filter(({ name }) => !memory.unreadable.has(name));
  await unlessUnreadable(context, 'media', () => pollMedia(context));
  // A deleted term or image marks the records that refer to it dirty: they are read again now.
  for (const collection of present) await fetchDirty(context, collection);
  if (!memory.unreadable.has('media')) await fetchMissingImages(context);
  for (const collection of present) {
    const ids = await confirmedDeletions(context, collection);
    await fetchRecords(context, collection, ids, { reason: 'their deletion is confirmed', reported: new Set(ids) });
  }
  await deleteUnusedEmbedded(context);
  const reasons = [...unreadableReasons(context), ...suspensionReasons(context)];
  return reasons.length > 0 ? reasons.join('; ') : undefined;
}

async function pollCollection(context: SyncContext, collection: Collection): Promise<void> {
  if (collection.kind === 'event') await refreshLinkTables(context);
  await fetchDirty(context, collection);
  const total = await (collection.isStoredAsPosts ? pollPosts : pollTerms)(context, collection);
  if (!matchesTotal(context, collection, total)) await reconcile(context, collection);
}

/** Reads the site's facts. If they changed, every record must be read again. Throws what the CMS throws. */
export async function refreshSite(context: SyncContext): Promise<void> {
  const { cms, replica, memory } = context;
  const site = await cms.site(visitorOptions(context));
  memory.isSiteRead = true;
  if (JSON.stringify(site) === JSON.stringify(memory.site)) return;
  // Times and addresses of every record depend on them.
  if (memory.site !== UNKNOWN_SITE) restartScan(memory);
  replica.apply({ state: { [STATE_KEYS.site]: JSON.stringify(site) } });
  memory.site = site;
  replica.clearRendered();
}

/** Fetches what was modified since the last poll. Resolves with the total. */
async function pollPosts(context: SyncContext, collection: Collection): Promise<number> {
  const { pageSize, memory } = context;
  const { kind } = collection;
  const read = (request: PageRequest) => readPage(context, collection, request);
  const options = { polledMs: memory.polled[kind], detail: 'stamp', pageSize } as const;
  const { stamps, recentIds, total, cmsTimeMs } = await listModified(read, options);
  const differing = findDiffering(context, collection, stamps);
  for (const id of differing) recentIds.delete(id);
  await fetchRecords(context, collection, differing, { reason: 'the list of changes differs' });
  await fetchRecords(context, collection, [...recentIds], { reason: 'modified since the last poll began' });
  memory.polled[kind] = cmsTimeMs;
  return total;
}

/** Terms have no modification time. Resolves with the total. */
async function pollTerms(context: SyncContext, collection: Collection): Promise<number> {
  let total = 0;
  for await (const { records, readMark, page, ...list } of readAll(context, collection, { detail: 'mapped' })) {
    total = list.total;
    await ingestRecords(context, collection, records, readMark);
    if (page === TERM_PAGES_PER_POLL) break;
  }
  return total;
}
