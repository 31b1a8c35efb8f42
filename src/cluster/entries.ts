// The entries of the stream: which records a gateway has changed, as text that others can write to as well.

import type { ChangedRecord } from '../sync/poll.ts';

/** `events:12`, `venues:3`: the collection's name in the CMS, and the id; `events:12:trashed` of one in the trash. */
export type RecordKey = string;

/** Sent instead of keys if there were too many while Redis was away. */
export const EVERYTHING = '*';
/** Before the first entry. Ids grow with time: `1764208800000-0`. */
export const STREAM_START = '0-0';
export const KEYS_PER_ENTRY = 200;
const MAX_LENGTH = 20_000;
const NODE = /^[0-9a-f-]{36}$/;
const KEY = /^[^\s:]{1,80}:[1-9]\d{0,15}(?::trashed)?$/;

export const keyOf = ({ collection, id, isTrashed }: ChangedRecord): RecordKey =>
  `${collection}:${id}${isTrashed ? ':trashed' : ''}`;

export function recordOf(key: RecordKey): ChangedRecord {
  const [collection = '', id, trashed] = key.split(':');
  return { collection, id: Number(id), ...(trashed !== undefined && { isTrashed: true }) };
}

/** Undefined if no gateway wrote these fields. */
export function parseEntry({
  from = '',
  keys = '',
}: Record<string, string>): { from: string; keys: RecordKey[] } | undefined {
  if (from.length + keys.length > MAX_LENGTH || !NODE.test(from)) return undefined;
  const list = keys.split(' ');
  return list.every((key) => key === EVERYTHING || KEY.test(key)) ? { from, keys: list } : undefined;
}

/** Negative if `a` is before `b`. */
export function compareIds(a: string, b: string): number {
  const [aMs = 0, aSequence = 0] = a.split('-').map(Number);
  const [bMs = 0, bSequence = 0] = b.split('-').map(Number);
  return aMs - bMs || aSequence - bSequence;
}
