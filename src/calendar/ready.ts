// Answers as ready bytes: a public record is written as JSON once, and a list is those bytes joined.

import { hash as digest } from 'node:crypto';
import type { CalendarRecord, Kind, RecordOf, WallTime } from '../records.ts';
import type { ReadyAnswer } from '../replica/store.ts';
import { formatWall } from '../time/wall.ts';
import type { Answer } from './asked.ts';
import type { Backing } from './backing.ts';
import type { Audience, Json } from './present.ts';

const COMMA = Buffer.from(',');

export const hash = (data: string | Uint8Array): string => digest('sha1', data, 'base64url').slice(0, 16);

/** How one record of a kind is shown to the public under one address. */
export type Show<K extends Kind> = (record: RecordOf[K], audience: Audience) => Json;

/** What an answer tells beside its bytes. */
interface Telling {
  /** The record, and all records that are shown inside it: `event-12`, `venue-6`. */
  tags: readonly string[];
  /** When what it shows was last changed, as far as that is known; '' where it is not. */
  modifiedUtc: WallTime;
}

/** Beside the bytes and not among them: gone when the copy lets the bytes go. */
const tellings = new WeakMap<Uint8Array, Telling>();

/** Where an event shows other records, and of which kind those are. */
const INSIDE = { venue: 'venue', organizer: 'organizer', categories: 'category', tags: 'tag' } as const;

/**
 * Read off the answer itself: what the public may not see is not named. A record that shows nothing else is as old as its own date. One
 * that does was last changed when it was made, at the latest: terms and images bear no date, and what was taken away leaves none.
 */
function telling({ kind, id }: CalendarRecord, answer: Json, nowMs: number): Telling {
  const tags = [`${kind}-${id}`];
  if (kind === 'event') {
    for (const name of Object.keys(INSIDE) as (keyof typeof INSIDE)[])
      for (const shown of [answer[name]].flat() as Json[]) tags.push(`${INSIDE[name]}-${shown.id}`);
  }
  if (tags.length > 1 || answer.image) return { tags, modifiedUtc: formatWall(nowMs) };
  return { tags, modifiedUtc: typeof answer.modified_utc === 'string' ? answer.modified_utc : '' };
}

/** The public JSON of one record, made now and kept until it or anything it shows changes. `variant` tells single reads from list entries. */
export function ready<K extends Kind>(
  backing: Backing,
  record: RecordOf[K] & CalendarRecord,
  audience: Audience,
  variant: 'single' | 'entry',
  show: Show<K>,
): ReadyAnswer {
  const json = show(record, audience);
  const text = JSON.stringify(json);
  // Of their own: a piece of Buffer's pool would hold the whole of it for as long as the answer is kept.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  bytes.write(text);
  const answer = { bytes, etag: `"${hash(bytes)}"` };
  tellings.set(bytes, telling(record, json, backing.nowMs()));
  backing.replica.setAnswer(`${variant} ${audience.base}`, record, answer);
  return answer;
}

/** One record as everybody gets it. */
export function singleAnswer({ bytes, etag }: ReadyAnswer): Answer {
  const { tags = [], modifiedUtc = '' } = tellings.get(bytes) ?? {};
  return {
    ...{ status: 200, body: bytes, etag, tags, validUntilMs: Number.POSITIVE_INFINITY },
    ...(modifiedUtc === '' ? {} : { modifiedUtc }),
  };
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
  /** Of all entries, each once. */
  tags: string[];
}

/** `{"events":[...],...rest}` out of ready entries; its ETag is made of theirs. */
export function joined(name: string, entries: ReadyAnswer[], rest: Json): Joined {
  const tail = JSON.stringify(rest);
  const parts: Uint8Array[] = [Buffer.from(`{${JSON.stringify(name)}:[`)];
  const tags = new Set([name]);
  let etags = '';
  for (const { bytes, etag } of entries) {
    if (parts.length > 1) parts.push(COMMA);
    parts.push(bytes);
    etags += etag;
    for (const tag of tellings.get(bytes)?.tags ?? []) tags.add(tag);
  }
  parts.push(Buffer.from(`],${tail.slice(1)}`));
  return { parts, etag: `"${hash(etags + tail)}"`, tags: [...tags] };
}
