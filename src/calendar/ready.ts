// Answers as ready bytes: a public record is written as JSON once, and a list is those bytes joined.

import { hash as digest } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CalendarRecord, Kind, RecordOf, WallTime } from '../records.ts';
import type { ReadyAnswer } from '../replica/store.ts';
import { formatWall } from '../time/wall.ts';
import type { Answer } from './asked.ts';
import type { Backing } from './backing.ts';
import type { Audience, Json } from './present.ts';

/** For ETags, not for secrets: 16 letters, digits, `-` and `_`. */
export const hash = (data: string | Uint8Array): string => digest('sha1', data, 'base64url').slice(0, 16);

/** How one record of a kind is shown to the public under one address. */
export type Show<K extends Kind> = (record: RecordOf[K], audience: Audience) => Json;

/** What an answer tells beside its bytes. */
interface Telling {
  /** The record: `event-12`. */
  own: string;
  /** All records that are shown inside it. */
  inside: readonly Name[];
  /** Of its bytes, as two whole numbers: the ETag of a list is made of these. */
  prints: readonly [number, number];
  /** When what it shows was last changed, as far as that is known; '' where it is not. */
  modifiedUtc: WallTime;
  /** The bytes and a comma behind them, as they stand in a list. */
  listed: Uint8Array;
}

/** A record that others show: `venue-6`. One object for each, so that a list sees by its number whether it has named it already. */
interface Name {
  text: string;
  list: number;
}

/** Two objects of one name would be named twice, which harms nobody. */
const names = new LRUCache<string, Name>({ max: 20_000 });
let lists = 0;

function nameOf(text: string): Name {
  const known = names.get(text) ?? { text, list: 0 };
  names.set(text, known);
  return known;
}

/** Beside the bytes and not among them: gone when the copy lets the bytes go. */
const tellings = new WeakMap<Uint8Array, Telling>();

/** Where an event shows other records, and of which kind those are. */
const INSIDE = { venue: 'venue', organizer: 'organizer', categories: 'category', tags: 'tag' } as const;

/**
 * Read off the answer itself: what the public may not see is not named. A record that shows nothing else is as old as its own date. One
 * that does was last changed when it was made, at the latest: terms and images bear no date, and what was taken away leaves none.
 */
function telling({ kind, id }: CalendarRecord, answer: Json, nowMs: number): Omit<Telling, 'listed' | 'prints'> {
  const inside: Name[] = [];
  if (kind === 'event') {
    for (const name of Object.keys(INSIDE) as (keyof typeof INSIDE)[])
      for (const shown of [answer[name]].flat() as Json[]) inside.push(nameOf(`${INSIDE[name]}-${shown.id}`));
  }
  const alone = inside.length === 0 && !answer.image;
  const own = typeof answer.modified_utc === 'string' ? answer.modified_utc : '';
  return { own: `${kind}-${id}`, inside, modifiedUtc: alone ? own : formatWall(nowMs) };
}

/** The public JSON of one record, made now and kept until it or anything it shows changes. `variant` tells single reads from list entries. */
export function ready<K extends Kind>(
  backing: Backing,
  record: RecordOf[K] & CalendarRecord,
  audience: Audience,
  variant: Variant,
  show: Show<K>,
): ReadyAnswer {
  const json = show(record, audience);
  const text = `${JSON.stringify(json)},`;
  // Of their own: a piece of Buffer's pool would hold the whole of it for as long as the answer is kept.
  const listed = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  listed.write(text);
  const bytes = listed.subarray(0, -1);
  const print = hash(bytes);
  const answer = { bytes, etag: `"${print}"` };
  const mount = mountOf(audience, variant);
  const before = backing.replica.lastAnswer(mount, record.kind, record.id);
  // What reads as before keeps its date: what changed is something that the public does not see.
  if (before?.etag === answer.etag) {
    backing.replica.setAnswer(mount, record, before);
    return before;
  }
  const twelve = Buffer.from(print, 'base64url');
  const prints = [twelve.readInt32LE(0), twelve.readInt32LE(4)] as const;
  tellings.set(bytes, { ...telling(record, json, backing.nowMs()), listed, prints });
  backing.replica.setAnswer(mount, record, answer);
  return answer;
}

/** One record as everybody gets it. */
export function singleAnswer({ bytes, etag }: ReadyAnswer): Answer {
  const { own, inside, modifiedUtc } = tellings.get(bytes)!;
  return {
    ...{
      status: 200,
      body: bytes,
      etag,
      tags: [own, ...inside.map(({ text }) => text)],
      validUntilMs: Number.POSITIVE_INFINITY,
    },
    ...(modifiedUtc === '' ? {} : { modifiedUtc }),
  };
}

type Variant = 'single' | 'entry';
const mounts = new Map<string, Record<Variant, string>>();

/** What the copy keeps an answer under: the same text each time and not only an equal one, since equal ones are compared letter by letter. */
function mountOf({ base }: Audience, variant: Variant): string {
  let names = mounts.get(base);
  if (!names) {
    names = { single: `single ${base}`, entry: `entry ${base}` };
    mounts.set(base, names);
  }
  return names[variant];
}

/** A kept answer, if there is one that is still right. */
export const kept = (backing: Backing, kind: Kind, id: number, audience: Audience, variant: Variant) =>
  backing.replica.answer(mountOf(audience, variant), kind, id);

/** Public entries of a list, in the order of `ids`. */
export function readyEntries<K extends Kind>(
  backing: Backing,
  kind: K,
  ids: number[],
  audience: Audience,
  show: Show<K>,
): ReadyAnswer[] {
  const { replica } = backing;
  const mount = mountOf(audience, 'entry');
  const found = ids.map((id) => replica.answer(mount, kind, id));
  if (found.includes(undefined)) {
    const made = new Map<number, ReadyAnswer>();
    const missing = ids.filter((_, i) => found[i] === undefined);
    for (const [id, record] of replica.getMany(kind, missing))
      made.set(id, ready<K>(backing, record as RecordOf[K] & CalendarRecord, audience, 'entry', show));
    ids.forEach((id, i) => {
      found[i] ??= made.get(id);
    });
  }
  return found.filter((answer) => answer !== undefined);
}

/** An answer that is put together when it is sent: its body is the pieces, one after the other. */
export interface Joined {
  parts: Uint8Array[];
  etag: string;
  /** Of all entries, each once. */
  tags: string[];
}

/** `{"events":[...],...rest}` out of ready entries; its ETag is made of what they are, in their order. */
export function joined(name: string, entries: ReadyAnswer[], rest: Json): Joined {
  const tail = JSON.stringify(rest);
  const parts: Uint8Array[] = [Buffer.from(`{${JSON.stringify(name)}:[`)];
  const tags = [name];
  const inside: string[] = [];
  lists += 1;
  let [first, second] = [0, 0];
  entries.forEach(({ bytes }, i) => {
    const told = tellings.get(bytes)!;
    parts.push(i < entries.length - 1 ? told.listed : bytes);
    first = (Math.imul(first, 31) + told.prints[0]) | 0;
    second = (Math.imul(second, 37) + told.prints[1]) | 0;
    tags.push(told.own);
    for (const one of told.inside) {
      if (one.list !== lists) inside.push(one.text);
      one.list = lists;
    }
  });
  parts.push(Buffer.from(`],${tail.slice(1)}`));
  return { parts, etag: `"${hash(`${first} ${second} ${tail}`)}"`, tags: tags.concat(inside) };
}
