// Answers as ready bytes: a public record is written as JSON once, and a list is those bytes joined.

import { hash as digest } from 'node:crypto';
import type { CalendarRecord, Kind, RecordOf } from '../records.ts';
import type { ReadyAnswer } from '../replica/store.ts';
import type { Backing } from './backing.ts';
import type { Audience, Json } from './present.ts';

const COMMA = Buffer.from(',');

export const hash = (data: string | Uint8Array): string => digest('sha1', data, 'base64url').slice(0, 16);

/** How one record of a kind is shown to the public under one address. */
export type Show<K extends Kind> = (record: RecordOf[K], audience: Audience) => Json;

/** The public JSON of one record, made now and kept until it or anything it shows changes. `variant` tells single reads from list entries. */
export function ready<K extends Kind>(
  backing: Backing,
  record: RecordOf[K] & CalendarRecord,
  audience: Audience,
  variant: 'single' | 'entry',
  show: Show<K>,
): ReadyAnswer {
  const bytes = Buffer.from(JSON.stringify(show(record, audience)));
  const answer = { bytes, etag: `"${hash(bytes)}"` };
  backing.replica.setAnswer(`${variant} ${audience.base}`, record, answer);
  return answer;
}

/** A kept answer, if there is one that is still right. */
export const kept = (backing: Backing, kind: Kind, id: number, audience: Audience, variant: 'single' | 'entry') =>
  backing.replica.answer(`${variant} ${audience.base}`, kind, id);

/** Public entries of a list, in the order of `ids`. */
export function readyEntries<K extends Kind>(
  backing: Backing,
  kind: K,
  ids: number[],
  audience: Audience,
  show: Show<K>,
): ReadyAnswer[] {
  const found = backing.replica.answers(`entry ${audience.base}`, kind, ids);
  if (found.size < ids.length) {
    const missing = ids.filter((id) => !found.has(id));
    for (const [id, record] of backing.replica.getMany(kind, missing)) {
      found.set(id, ready<K>(backing, record as RecordOf[K] & CalendarRecord, audience, 'entry', show));
    }
  }
  return ids.flatMap((id) => found.get(id) ?? []);
}

/** An answer that is put together when it is sent: its body is the pieces, one after the other. */
export interface Joined {
  parts: Uint8Array[];
  etag: string;
}

/** `{"events":[...],...rest}` out of ready entries; its ETag is made of theirs. */
export function joined(name: string, entries: ReadyAnswer[], rest: Json): Joined {
  const tail = JSON.stringify(rest);
  const parts: Uint8Array[] = [Buffer.from(`{${JSON.stringify(name)}:[`)];
  let etags = '';
  for (const { bytes, etag } of entries) {
    if (parts.length > 1) parts.push(COMMA);
    parts.push(bytes);
    etags += etag;
  }
  parts.push(Buffer.from(`],${tail.slice(1)}`));
  return { parts, etag: `"${hash(etags + tail)}"` };
}
