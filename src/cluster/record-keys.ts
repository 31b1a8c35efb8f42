// The record keys of a change, and the part of a change that a replica does not have yet.

import { isDeepStrictEqual } from 'node:util';
import { type CalendarRecord, type KindOrImage, recordKey } from '../model/records.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { Replica } from '../store/replica.ts';

/** Reads what `recordKey` made. */
export function parseKey(key: string): { kind: KindOrImage; id: number } {
  const [kind, id] = key.split(' ');
  return { kind: kind as KindOrImage, id: Number(id) };
}

/** The keys of all records that a change writes or deletes. */
export function keysOf({ upserts = [], images = [], deletes = [] }: ChangeSet): string[] {
  return [
    ...upserts.map(({ kind, id }) => recordKey(kind, id)),
    ...images.map(({ id }) => recordKey('image', id)),
    ...deletes.flatMap(({ kind, ids }) => ids.map((id) => recordKey(kind, id))),
  ];
}

/** True if the replica has the record or image. */
export const exists = (replica: Replica, kind: KindOrImage, id: number): boolean =>
  (kind === 'image' ? replica.getImage(id) : replica.get(kind, id)) !== undefined;

/** The part of a change that would change the replica. */
export function changesOf(replica: Replica, change: ChangeSet): ChangeSet {
  const { upserts = [], images = [], deletes = [], state = {} } = change;
  /** As the replica returns it: a property that is `undefined` does not survive JSON. */
  const stored = (value: object): unknown => JSON.parse(JSON.stringify(value));
  const isNew = (record: CalendarRecord) =>
    !isDeepStrictEqual(replica.get(record.kind, record.id), stored(record) as never);
  const existing = deletes.map(({ kind, ids }) => ({ kind, ids: ids.filter((id) => exists(replica, kind, id)) }));
  return {
    upserts: upserts.filter(isNew),
    images: images.filter((image) => !isDeepStrictEqual(replica.getImage(image.id), stored(image))),
    deletes: existing.filter(({ ids }) => ids.length > 0),
    state: Object.fromEntries(Object.entries(state).filter(([key, value]) => replica.state(key) !== value)),
  };
}
