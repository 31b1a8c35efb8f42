// Venues and organizers that are text inside events: kept beside the events, as long as one of them has it.

import { type CalendarRecord, FIRST_INLINE_ID, type Kind } from '../records.ts';
import type { Collection } from './collections.ts';
import type { Replica } from './store.ts';

export interface Removal {
  kind: Kind;
  ids: number[];
}

/**
 * What lies inside the records that the copy has under these ids. Call before they are replaced or removed, and the result afterwards: it
 * says what lies in no record any more.
 */
export function orphansOf(replica: Replica, { kind, inline }: Collection, ids: readonly number[]): () => Removal[] {
  if (kind !== 'event' || inline.length === 0) return () => [];
  const before = [...replica.getMany(kind, ids).values()];
  return () => {
    return (['venue', 'organizer'] as const).flatMap((linked) => {
      const named = new Set(before.flatMap((event) => (linked === 'venue' ? event.venues : event.organizers)));
      const orphans = [...named].filter((id) => id >= FIRST_INLINE_ID && replica.eventsWith(linked, id).length === 0);
      return orphans.length > 0 ? [{ kind: linked, ids: orphans }] : [];
    });
  };
}

/** Native records with what lies inside them. */
export function withInline(
  collection: Collection,
  native: Parameters<Collection['read']>[0],
  site: Parameters<Collection['read']>[1],
): CalendarRecord[] {
  return collection.inline.flatMap((read) => read(native, site) ?? []);
}
