// The entries of the stream: which records a gateway has changed, as text that others can write to as well.

import type { ChangedRecord } from '../sync/fetch-changed.ts';

/** `events:12`, `venues:3`: the collection's name in the CMS, and the id. */
export type RecordKey = string;

/** In place of keys: there were too many while Redis was away. */
export const EVERYTHING = '*';
/** Before the first entry. Ids grow with time: `1764208800000-0`. */
export const STREAM_START = '0-0';
export const KEYS_PER_ENTRY = 200;
const MAX_KEYS_LENGTH = 20_000;
const NODE = /^[0-9a-f-]{36}$/;
const KEY = /^([^\s:]{1,80}):([1-9]\d{0,15})$/;

export const keyOf = ({ collection, id }: ChangedRecord): RecordKey => `${collection}:${id}`;

/**
 * The gateway that wrote these fields, and the records that it names; `undefined` for everything. Throws if no gateway
 * wrote them; the error quotes nothing.
 */
export function parseEntry({ from = '', keys = '' }: Record<string, string>): {
  from: string;
  records: ChangedRecord[] | undefined;
} {
  if (from.length > 36 || !NODE.test(from)) throw new Error('an entry has no id of a gateway');
  if (keys === EVERYTHING) return { from, records: undefined };
  if (keys.length > MAX_KEYS_LENGTH) throw new Error(`an entry has keys of more than ${MAX_KEYS_LENGTH} characters`);
  const records = keys.split(' ').map((key) => {
    const [, collection, id] = KEY.exec(key) ?? [];
    if (collection === undefined) throw new Error('a key is not a collection and an id, such as events:12');
    return { collection, id: Number(id) };
  });
  return { from, records };
}

/** Negative if `a` is before `b`. */
export function compareIds(a: string, b: string): number {
  const [aMs = 0, aSequence = 0] = a.split('-').map(Number);
  const [bMs = 0, bSequence = 0] = b.split('-').map(Number);
  return aMs - bMs || aSequence - bSequence;
}
