// The records that a change is about, by name, and what of it a copy does not have yet.

import { isDeepStrictEqual } from 'node:util';
import type { CalendarRecord, Kind } from '../records.ts';
import type { Change } from '../replica/commit.ts';
import type { Replica } from '../replica/store.ts';

/** `event 12`; of images `image 7`. */
export const keyOf = (kind: string, id: number): string => `${kind} ${id}`;

/** Kind and id of a record's key. */
export function ofKey(key: string): { kind: Kind | 'image'; id: number } {
  const [kind, id] = key.split(' ');
  return { kind: kind as Kind | 'image', id: Number(id) };
}

/** The records that a change is about. */
export function keysOf({ put = [], images = [], remove = [] }: Change): string[] {
  const gone = remove.flatMap(({ kind, ids }) => ids.map((id) => keyOf(kind, id)));
  return [...put.map(({ kind, id }) => keyOf(kind, id)), ...images.map(({ id }) => keyOf('image', id)), ...gone];
}

/** What of a change is not in the copy yet. */
export function differing(replica: Replica, { put = [], images = [], remove = [], state = {} }: Change): Change {
  const plain = (value: object): unknown => JSON.parse(JSON.stringify(value));
  const isNew = (record: CalendarRecord) =>
    !isDeepStrictEqual(replica.get(record.kind, record.id), plain(record) as never);
  const isThere = (kind: Kind | 'image', id: number) =>
    (kind === 'image' ? replica.image(id) : replica.get(kind, id)) !== undefined;
  const gone = remove.map(({ kind, ids }) => ({ kind, ids: ids.filter((id) => isThere(kind, id)) }));
  return {
    put: put.filter(isNew),
    images: images.filter((image) => !isDeepStrictEqual(replica.image(image.id), plain(image))),
    remove: gone.filter(({ ids }) => ids.length > 0),
    state: Object.fromEntries(Object.entries(state).filter(([key, value]) => replica.state(key) !== value)),
  };
}
