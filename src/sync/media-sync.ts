// Keeps the images of records current: those that the replica lacks, those that were replaced, and
// those that were deleted.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { MEDIA } from '../cms/port.ts';
import { CmsUnavailable } from '../errors.ts';
import { getImages, getRecords, imageIds, missingImageIds, postsWithImage, stamps } from '../store/records.ts';
import { formatWallTime } from '../time/wall-time.ts';
import { readImages, readMediaPage } from './cms-reader.ts';
import { PUBLIC_SCOPE, stampOf } from './collections.ts';
import { decided, STATE_KEYS, type SyncContext } from './context.ts';
import { findExisting } from './deletion-guard.ts';
import { MODIFIED_RESOLUTION_MS, markDirty } from './dirty-records.ts';
import { isWatermarkSettled, lookbackUtc, modifiedSince, updateWatermarkAge } from './paginate.ts';

const IDS_PER_SLICE = 200;
/** Before more images than this are deleted, the gateway reads some of them one by one. */
const MANY_IMAGES = 10;
/** Polls in a row that fail because the CMS does not send images by id. */
const MAX_FAILURES = 3;

/**
 * Reads images by id: upserts those that exist, and deletes those that are missing. Throws what the CMS
 * throws.
 */
export async function fetchImages(context: SyncContext, ids: readonly number[]): Promise<void> {
  const { replica, commit, memory, pageSize } = context;
  const missing: number[] = [];
  for (let from = 0; from < ids.length; from += pageSize) {
    const slice = ids.slice(from, from + pageSize);
    const images = await readImages(context, slice);
    memory.tally.changed += await commit(() => ({ images }));
    const existing = new Set(images.map(({ id }) => id));
    missing.push(...slice.filter((id) => !existing.has(id)));
  }
  const stored = [...getImages(replica.db, missing).keys()];
  if (ids.length > 0) decided(context, MEDIA.collection, 'fetch images', { ids, missing });
  const media = { spec: MEDIA, scope: PUBLIC_SCOPE };
  if (stored.length > MANY_IMAGES && (await findExisting(context, media, stored)) !== undefined)
    throw new CmsUnavailable('incomplete', "The CMS's list of media leaves out items that exist.");
  for (let from = 0; from < missing.length; from += pageSize) {
    const deleted = missing.slice(from, from + pageSize);
    // The CMS removes a deleted image from its posts without touching their `modified`.
    for (const { kind, id } of deleted.flatMap((image) => postsWithImage(replica.db, image)))
      markDirty(memory, kind, [id]);
    memory.tally.removed += await commit(() => ({ deletes: [{ kind: 'image', ids: deleted }] }));
  }
}

/** Fetches the images that records refer to and the replica lacks. Throws what the CMS throws. */
export async function fetchMissingImages(
  context: SyncContext,
  onProgress?: (done: number, missing: number) => void,
): Promise<void> {
  const { replica, pageSize } = context;
  const { media } = context.memory;
  if (media.completeAtVersion === replica.version) return;
  let done = 0;
  let after = 0;
  let isAnyFetched = false;
  for (;;) {
    const ids = missingImageIds(replica.db, after, pageSize);
    const missing = ids.filter((id) => !media.notInCms.has(id));
    onProgress?.(done, missing.length);
    if (ids.length === 0) {
      if (!isAnyFetched) break;
      // Records that came meanwhile may refer to images with lower ids.
      [after, isAnyFetched] = [0, false];
      continue;
    }
    after = ids.at(-1) ?? after;
    if (missing.length === 0) continue;
    isAnyFetched = true;
    await fetchImages(context, missing);
    const fetched = getImages(replica.db, missing);
    for (const id of missing) {
      if (!fetched.has(id)) media.notInCms.add(id);
      media.toRead.delete(id);
    }
    done += missing.length;
  }
  media.completeAtVersion = replica.version;
}

/** Fetches what was modified in the CMS's media library since the last poll. Throws what the CMS throws. */
export async function pollMedia(context: SyncContext): Promise<void> {
  const { memory, clockMs, commit } = context;
  const { media } = memory;
  const startedMs = clockMs();
  const total = await listModified(context, startedMs);
  media.watermarkAge = updateWatermarkAge(media.watermarkAge, media.watermarkUtc, startedMs);
  const requested = [...media.toRead];
  media.toRead.clear();
  for (const id of requested) media.notInCms.delete(id);
  const changed = [...media.recent].filter(([, { isSettled }]) => !isSettled).map(([id]) => id);
  // The library became smaller: nothing says which images were deleted.
  const isSmaller = media.total !== undefined && total < media.total;
  try {
    await fetchImages(context, [
      ...new Set([...requested, ...changed, ...(isSmaller ? await referencedImageIds(context) : [])]),
    ]);
    [media.total, media.failures] = [total, 0];
  } catch (error) {
    // An image that the CMS cannot send must not fail every poll: then the next polls go on without these images.
    const isLeftOut = error instanceof CmsUnavailable && error.reason === 'incomplete';
    media.failures = isLeftOut ? MAX_FAILURES : media.failures + 1;
    if (media.failures < MAX_FAILURES) for (const id of requested) media.toRead.add(id);
    else [media.total, media.failures] = [total, 0];
    throw error;
  }
  for (const image of media.recent.values())
    if (startedMs >= image.seenMs + MODIFIED_RESOLUTION_MS) image.isSettled = true;
  for (const [id, { isSettled, modifiedUtc }] of media.recent)
    if (isSettled && modifiedUtc < lookbackUtc(media.watermarkUtc)) media.recent.delete(id);
  await fetchMissingImages(context);
  // The next process sees what changes while no gateway runs.
  const saved = JSON.stringify({ watermarkUtc: media.watermarkUtc, total: media.total });
  await commit(() => ({ state: { [STATE_KEYS.media]: saved } }));
}

/**
 * Notes the recently modified images that the replica holds, and moves the watermark. Resolves with the
 * number of media items.
 */
async function listModified(context: SyncContext, startedMs: number): Promise<number> {
  const { replica, pageSize } = context;
  const { media } = context.memory;
  const { watermarkUtc } = media;
  const isFirstPoll = watermarkUtc === '';
  let newestUtc = watermarkUtc;
  let total: number | undefined;
  const pages = modifiedSince((request) => readMediaPage(context, request), {
    watermarkUtc,
    isSettled: isWatermarkSettled(media.watermarkAge, watermarkUtc),
    detail: 'time',
    pageSize,
    site: context.memory.site,
  });
  for await (const page of pages) {
    total ??= page.total;
    const nowUtc = formatWallTime(page.cmsTimeMs);
    const stamps = page.records.map(stampOf);
    for (const { modifiedUtc } of stamps) if (modifiedUtc <= nowUtc && modifiedUtc > newestUtc) newestUtc = modifiedUtc;
    // The initial sync has just read every image.
    if (isFirstPoll) break;
    const recent = stamps.filter(({ modifiedUtc }) => modifiedUtc >= lookbackUtc(watermarkUtc));
    const stored = getImages(
      replica.db,
      recent.map(({ id }) => id),
    );
    for (const { id, modifiedUtc } of recent) {
      if (stored.has(id) && media.recent.get(id)?.modifiedUtc !== modifiedUtc)
        media.recent.set(id, { modifiedUtc, seenMs: startedMs, isSettled: false });
    }
  }
  media.watermarkUtc = newestUtc;
  return total ?? 0;
}

/** Ids of all images that the replica holds, through the records that refer to them. */
async function referencedImageIds({ replica, collections }: SyncContext): Promise<number[]> {
  const ids = new Set<number>();
  for (const { kind, isStoredAsPosts } of collections) {
    if (!isStoredAsPosts) continue;
    for (let after = 0; ; ) {
      const slice = stamps(replica.db, kind, { after, limit: IDS_PER_SLICE }).map(({ id }) => id);
      for (const record of getRecords(replica.db, kind, slice).values())
        if ('image' in record && record.image !== 0) ids.add(record.image);
      if (slice.length < IDS_PER_SLICE) break;
      after = slice.at(-1) ?? after;
      await nextTurn();
    }
  }
  return [...getImages(replica.db, [...ids]).keys()];
}

/** Images that the CMS did not have are requested again: they may exist by now. */
export function forgetMissingImages({ memory: { media } }: SyncContext): void {
  media.notInCms.clear();
  media.completeAtVersion = undefined;
}

/**
 * Re-reads the next pages of images after `lastId`. Resolves with the last id, or undefined at the end. The
 * image editor of a CMS may change files without touching `modified`. Throws what the CMS throws.
 */
export async function resyncImages(context: SyncContext, lastId: number, pages: number): Promise<number | undefined> {
  const limit = pages * context.pageSize;
  const ids = imageIds(context.replica.db, lastId, limit);
  await fetchImages(context, ids);
  return ids.length < limit ? undefined : ids.at(-1);
}
