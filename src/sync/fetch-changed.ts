// Fetches records that are known to have changed, from a webhook, a write or another gateway, and those that
// the CMS changed along with them, one batch at a time.

import { MEDIA } from '../cms/port.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { type KindOrImage, seriesIdOf } from '../model/records.ts';
import { getImages } from '../store/records.ts';
import { decided, markDirty, noteWrite, type SyncContext } from './context.ts';
import { deleteUnusedEmbedded, fetchDirty } from './ingest.ts';
import { refreshLinkTables } from './link-tables.ts';
import { fetchImages, fetchMissingImages } from './media-sync.ts';

export interface ChangedRecord {
  /** The collection's name in the CMS. */
  collection: string;
  id: number;
  /** It was seen in the trash, where no visitor can see it. */
  isTrashed?: boolean | undefined;
}

/** Records by their kinds, under the names of their collections. A kind that the mapping lacks is left out. */
export const changedRecords = (
  { kinds }: Mapping,
  records: readonly { kind: KindOrImage; id: number; isTrashed?: boolean }[],
): ChangedRecord[] =>
  records.flatMap(({ kind, id, isTrashed }) => {
    const collection = kind === 'image' ? MEDIA.collection : kinds[kind]?.collection;
    return collection === undefined ? [] : { collection, id, ...(isTrashed && { isTrashed }) };
  });

/**
 * Fetches or deletes the records and images, an occurrence with its series. Unknown collections are ignored.
 * Throws what the CMS throws: then the next poll that succeeds fetches them.
 */
export async function fetchChanged(context: SyncContext, changes: readonly ChangedRecord[]): Promise<void> {
  const { replica, memory, collections } = context;
  const idsOf = (name: string) =>
    new Set(changes.filter(({ collection }) => collection === name).map(({ id }) => seriesIdOf(id)));
  for (const { kind, name } of collections) {
    const ids = idsOf(name);
    if (ids.size > 0) decided(context, name, 'reported by a webhook, a write or another gateway', { ids: [...ids] });
    // Responses to the requests in progress are outdated.
    for (const id of ids) noteWrite(memory, kind, id);
    markDirty(memory, kind, ids);
    for (const change of changes)
      if (change.collection === name && change.isTrashed) memory.kinds[kind].trashed.add(seriesIdOf(change.id));
  }
  const images = [...getImages(replica.db, [...idsOf(MEDIA.collection)]).keys()];
  for (const id of images) memory.media.toRead.add(id);
  for (const collection of collections) {
    if (collection.kind === 'event') await refreshLinkTables(context);
    await fetchDirty(context, collection, idsOf(collection.name));
  }
  await fetchImages(context, images);
  for (const id of images) memory.media.toRead.delete(id);
  await fetchMissingImages(context);
  // The CMS removes a deleted term or image from its posts.
  for (const collection of collections) await fetchDirty(context, collection);
  await deleteUnusedEmbedded(context);
}

/**
 * Calls `fetch`, which never rejects, for one batch at a time. Records that are reported meanwhile wait, each
 * once, and are the next batch: a burst of webhooks costs the CMS two batches. Resolves with what `fetch`
 * resolves with for the batch that has the records.
 */
export function inBatches(
  fetch: (changes: readonly ChangedRecord[]) => Promise<boolean>,
): (changes: readonly ChangedRecord[]) => Promise<boolean> {
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
      const key = `${change.collection} ${change.id}`;
      if (!next.records.get(key)?.isTrashed) next.records.set(key, change);
    }
    return next.done;
  };
}
