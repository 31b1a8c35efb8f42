// Owns what a webhook starts: fetching the records that it names, and those that the CMS changed along with
// them.

import { MEDIA } from '../cms/port.ts';
import type { SyncContext } from './context.ts';
import { markDirty, markWritten } from './dirty-records.ts';
import { fetchDirty, fetchImages } from './ingest.ts';
import { fetchMissingImages } from './media-sync.ts';
import { refreshLinks } from './poll.ts';

export interface ChangedRecord {
  /** The collection's name in the CMS. */
  collection: string;
  id: number;
}

/**
 * Fetches or deletes the records. Unknown collections are ignored. Throws what the CMS throws: then the next
 * poll fetches them.
 */
export async function fetchChanged(context: SyncContext, changes: readonly ChangedRecord[]): Promise<void> {
  const { replica, memory, collections, nowMs } = context;
  const idsOf = (name: string) => new Set(changes.filter(({ collection }) => collection === name).map(({ id }) => id));
  for (const { kind, base } of collections) {
    const ids = idsOf(base);
    // Responses to the requests in progress are outdated, as after a write of the gateway.
    for (const id of ids) markWritten(memory, kind, id, nowMs());
    markDirty(memory, kind, ids);
  }
  for (const collection of collections) {
    if (collection.kind === 'event') await refreshLinks(context);
    await fetchDirty(context, collection, idsOf(collection.base));
  }
  await fetchImages(context, [...replica.getImages([...idsOf(MEDIA.collection)]).keys()]);
  await fetchMissingImages(context);
  // The CMS removes a deleted term or image from its posts.
  for (const collection of collections) await fetchDirty(context, collection);
}
