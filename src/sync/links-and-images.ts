// Keeps current what records refer to: images, and the tables by which events name venues and organizers without ids.

import { type CmsRecord, type CollectionSpec, type Detail, MEDIA, plainCollection } from '../cms/port.ts';
import { CmsUnavailable, type UnavailableReason } from '../errors.ts';
import type { LinkField, LinkTable } from '../mapping/references.ts';
import { getImages, imageIds, missingImageIds, postsWithImage } from '../store/records.ts';
import { imageOptions, type PageRequest, readAll, readImages, readPage } from './cms-reader.ts';
import {
  acceptIfCurrent,
  linkTablesState,
  logDecision,
  outdateResponses,
  restartScan,
  type SyncContext,
} from './context.ts';
import { batchesOf, findExisting } from './ingest.ts';
import { listModified } from './list-modified.ts';

/** Before more images than this are deleted, the gateway reads some of them one by one. */
const MANY_IMAGES = 10;
const NO_RESPONSE: ReadonlySet<UnavailableReason> = new Set(['refused', 'reset', 'timeout', 'busy', 'breaker-open']);

/**
 * Whether one of the requested images may cause this error, and again at each poll:
 *   one of `NO_RESPONSE`; a status above 500, as of a proxy; or `retryAfterS`   false
 *   any other `CmsUnavailable`, such as 500, `not-json`, `too-large`            true
 */
function mayBeAboutImages(error: unknown): boolean {
  if (!(error instanceof CmsUnavailable) || NO_RESPONSE.has(error.reason)) return false;
  return (error.status === undefined || error.status <= 500) && error.retryAfterS === undefined;
}

/** Reads images by id. Stores those that the CMS has, and deletes the others. Resolves with the ids of the others. */
export async function refreshImages(context: SyncContext, ids: readonly number[]): Promise<readonly number[]> {
  const { replica, memory, tally, pageSize } = context;
  const missing: number[] = [];
  for (const slice of batchesOf(ids, pageSize)) {
    memory.lastReadMark += 1;
    const { lastReadMark } = memory;
    const images = new Map((await readImages(context, slice)).map((image) => [image.id, image]));
    const current = slice.filter((id) => acceptIfCurrent(memory, 'image', id, lastReadMark));
    tally.changed += replica.apply({ images: current.flatMap((id) => images.get(id) ?? []) });
    missing.push(...current.filter((id) => !images.has(id)));
  }
  const stored = [...getImages(replica.db, missing).keys()];
  if (ids.length > 0) logDecision(context, MEDIA.collection, 'fetch images', { ids, missing });
  if (stored.length > MANY_IMAGES && (await findExisting(context, MEDIA, stored)) !== undefined)
    throw new CmsUnavailable('incomplete', "The CMS's list of media leaves out items that exist.");
  for (const deleted of batchesOf(missing, pageSize)) {
    // The CMS removes a deleted image from its posts without touching their `modified`.
    for (const { kind, id } of deleted.flatMap((image) => postsWithImage(replica.db, image)))
      memory.kinds[kind].dirty.add(id);
    tally.removed += replica.apply({ deletes: [{ kind: 'image', ids: deleted }] });
  }
  return missing;
}

/** Fetches the images that records refer to and the replica lacks. Throws what the CMS throws. */
export async function refreshMissingImages(context: SyncContext): Promise<void> {
  const { replica, pageSize } = context;
  const { media } = context.memory;
  for (;;) {
    const ids = missingImageIds(replica.db, pageSize + media.notInCms.size);
    const missing = ids.filter((id) => !media.notInCms.has(id)).slice(0, pageSize);
    if (missing.length === 0) return;
    for (const id of await refreshImages(context, missing)) media.notInCms.add(id);
  }
}

/** Lets images be asked for that the CMS did not have. Example: one was uploaded to a draft, which is published now. */
export function retryImages({ memory }: SyncContext, ids: Iterable<number>): void {
  for (const id of ids) {
    outdateResponses(memory, 'image', id);
    memory.media.notInCms.delete(id);
  }
}

/** Fetches what was modified in the CMS's media library since the last poll. Throws what the CMS throws. */
export async function pollMedia(context: SyncContext): Promise<void> {
  const { memory, replica, pageSize } = context;
  const { media, polled } = memory;
  const options = { polledMs: polled.image, detail: 'time', pageSize } as const;
  const read = (request: PageRequest) => readPage(context, MEDIA, request, imageOptions(context));
  const { recentIds, total, cmsTimeMs } = await listModified(read, options);
  for (const id of getImages(replica.db, [...recentIds]).keys()) media.toRead.add(id);
  retryImages(context, recentIds);
  // The library became smaller: nothing says which images were deleted.
  if (polled.mediaTotal !== undefined && total < polled.mediaTotal)
    for (const id of imageIds(replica.db, 0, Number.MAX_SAFE_INTEGER)) media.toRead.add(id);
  const requested = [...media.toRead];
  // Cleared before the read: meanwhile a webhook may add some of these images again, which the next poll then reads.
  media.toRead.clear();
  try {
    await refreshImages(context, requested);
    Object.assign(polled, { image: cmsTimeMs, mediaTotal: total });
    media.failures = 0;
  } catch (error) {
    media.failures += 1;
    // An image that the CMS cannot send must not fail every poll. So the polls give up `requested`: the scan reads it.
    const isGivenUp = mayBeAboutImages(error) || media.failures >= 3;
    if (isGivenUp) Object.assign(polled, { image: cmsTimeMs, mediaTotal: total });
    else for (const id of requested) media.toRead.add(id);
    throw error;
  }
}

/**
 * Re-reads the next pages of images after `lastId`. Resolves with the last id, or undefined at the end. The
 * image editor of a CMS may change files without touching `modified`. Throws what the CMS throws.
 */
export async function scanImages(context: SyncContext, lastId: number, pages: number): Promise<number | undefined> {
  const limit = pages * context.pageSize;
  const ids = imageIds(context.replica.db, lastId, limit);
  await refreshImages(context, ids);
  return ids.length < limit ? undefined : ids.at(-1);
}

/**
 * Rebuilds the tables whose lists changed. If events in the replica may now read differently, every record must be
 * read again. Throws what the CMS throws; the tables that were built before stay.
 */
export function refreshLinkTables(context: SyncContext): Promise<void> {
  const { memory, mapping } = context;
  const refreshed = memory.linksRefreshed.then(async () => {
    for (const link of mapping.kinds.event.linkFields) await refreshTable(context, link);
  });
  memory.linksRefreshed = refreshed.catch(() => {});
  return refreshed;
}

async function refreshTable(context: SyncContext, link: LinkField): Promise<void> {
  const { memory, mapping, replica } = context;
  const linked = mapping.kinds[link.kind];
  if (!linked || memory.unreadable.has(linked.collection)) return;
  const terms = link.terms === undefined ? [] : await listAll(context, plainCollection(link.terms, 'terms'), 'slug');
  const fingerprint = JSON.stringify([memory.kinds[link.kind].linkRevision, terms]);
  if (memory.linksBuiltFrom.get(link) === fingerprint) return;
  // `buildTable` finds a record's term by its slug, and without terms the number in one of its mapped fields.
  const records = await listAll(context, linked, link.terms === undefined ? 'mapped' : 'slug');
  const table = link.buildTable(records, terms);
  const before = memory.linkTables[link.field];
  memory.linkTables = { ...memory.linkTables, [link.field]: table };
  if (before && changesEvents(before, table)) restartScan(memory);
  // Event 12 holds 9, which no record has: the next tables keep it in `notFound`. The first table with 9 begins a scan.
  for (const stored of before?.notFound ?? []) if (!table.idOf.has(stored)) table.notFound.add(stored);
  replica.apply({ state: linkTablesState(memory.linkTables) });
  memory.linksBuiltFrom.set(link, fingerprint);
}

async function listAll(context: SyncContext, spec: CollectionSpec, detail: Detail): Promise<CmsRecord[]> {
  const records: CmsRecord[] = [];
  for await (const page of readAll(context, spec, { detail })) records.push(...page.records);
  return records;
}

/** True if a stored value means another record now, or one for the first time. */
function changesEvents(before: LinkTable, after: LinkTable): boolean {
  const hasOtherMeaning = [...before.idOf].some(([stored, id]) => after.idOf.get(stored) !== id);
  return hasOtherMeaning || [...before.notFound].some((stored) => after.idOf.has(stored));
}
