// Ready answers: the bytes of a record's public JSON, valid until the record or anything it shows changes.

import { LRUCache } from 'lru-cache';
import type { CalendarRecord, Kind, TermRecord } from '../records.ts';

export interface ReadyAnswer {
  /** UTF-8 JSON. */
  bytes: Uint8Array;
  etag: string;
}

/** What an answer can depend on; posts share one id space, terms have one a kind. */
export type Touched = Kind | 'image';

export interface Answers {
  get(mount: number | string, kind: Kind, id: number, version: number): ReadyAnswer | undefined;
  /** The one that was last kept, right or not. */
  last(mount: number | string, kind: Kind, id: number): ReadyAnswer | undefined;
  set(mount: number | string, record: CalendarRecord, answer: ReadyAnswer, version: number): void;
  /** Something changed with `version`: answers made before that and showing it are no longer given out. */
  touch(kind: Touched, id: number, version: number): void;
  clear(): void;
}

interface Entry extends ReadyAnswer {
  /** Kinds (as numbers) and ids of everything that the answer shows, by turns. */
  shows: number[];
  /** Version at which the answer was made, or last found still valid. */
  validAt: number;
}

/** Changes remembered before everything is forgotten instead: a first copy must not pile up a hundred thousand of them. */
const MAX_TOUCHED = 20_000;

/** Kinds and mounts, of which there are few; ids stay whole numbers when multiplied. */
const MAX_SHELVES = 1024;

/** What an answer takes beside its bytes: the objects around them, what it shows, and what is told of it (calendar/ready.ts). */
const ENTRY_BYTES = 1600;

/** Whole numbers in a list take an eighth of what texts would. */
const NUMBER: Record<Touched, number> = { event: 0, venue: 1, organizer: 2, category: 3, tag: 4, image: 5 };

/** Tells terms from posts, also where a mapping keeps venues as terms: it is the kind that counts. */
export function isTermRecord(record: CalendarRecord): record is TermRecord {
  return record.kind === 'category' || record.kind === 'tag';
}

/** Images of venues and organizers are theirs: the store touches those as well. */
function shownBy(record: CalendarRecord): number[] {
  const shows = [NUMBER[record.kind], record.id];
  const add = (kind: Touched, id: number) => void shows.push(NUMBER[kind], id);
  if (isTermRecord(record)) return shows;
  if (record.image) add('image', record.image);
  if (record.kind !== 'event') return shows;
  for (const id of record.categories) add('category', id);
  for (const id of record.tags) add('tag', id);
  for (const id of record.venues) add('venue', id);
  for (const id of record.organizers) add('organizer', id);
  return shows;
}

/**
 * Keeps answers up to `maxBytes`, the least used going first. Nothing is dropped on a change: an answer says what it shows, a change is
 * noted in O(1), and the two are compared when the answer is next asked for. So an event that enters a category of fifty thousand,
 * whose count all of those show, costs one note.
 */
export function createAnswers(maxBytes: number): Answers {
  const entries = new LRUCache<number, Entry>({
    maxSize: maxBytes,
    sizeCalculation: (entry) => entry.bytes.byteLength + ENTRY_BYTES,
  });
  /** For each kind, by id: the version with which it changed. */
  const touched = Object.values(NUMBER).map(() => new Map<number, number>());
  // A list looks up each of its records: a number is found without a text being put together and hashed.
  const shelves = new Map<number | string, Map<Kind, number>>();
  let shelvesMade = 0;
  let last: { mount: number | string; kind: Kind; shelf: number } | undefined;
  function entryKey(mount: number | string, kind: Kind, id: number): number {
    if (last?.mount !== mount || last.kind !== kind) last = { mount, kind, shelf: shelfOf(mount, kind) };
    return id * MAX_SHELVES + last.shelf;
  }
  function shelfOf(mount: number | string, kind: Kind): number {
    let ofMount = shelves.get(mount);
    if (!ofMount) {
      ofMount = new Map();
      shelves.set(mount, ofMount);
    }
    let shelf = ofMount.get(kind);
    if (shelf === undefined) {
      shelf = shelvesMade;
      shelvesMade += 1;
      ofMount.set(kind, shelf);
    }
    return shelf;
  }
  const forget = () => {
    for (const ids of touched) ids.clear();
  };
  const clear = () => {
    entries.clear();
    forget();
  };

  function isOutdated({ shows, validAt }: Entry): boolean {
    for (let at = 0; at < shows.length; at += 2)
      if ((touched[shows[at]!]!.get(shows[at + 1]!) ?? 0) > validAt) return true;
    return false;
  }

  return {
    get(mount, kind, id, version) {
      const name = entryKey(mount, kind, id);
      const entry = entries.get(name);
      if (entry === undefined || entry.validAt === version) return entry;
      // It stays until another takes its place, which may turn out to be the same (`last`).
      if (isOutdated(entry)) return undefined;
      entry.validAt = version;
      return entry;
    },
    last: (mount, kind, id) => entries.peek(entryKey(mount, kind, id)),
    set(mount, record, { bytes, etag }, version) {
      entries.set(entryKey(mount, record.kind, record.id), { bytes, etag, shows: shownBy(record), validAt: version });
    },
    touch(kind, id, version) {
      if (entries.size === 0) return forget();
      if (touched.reduce((sum, ids) => sum + ids.size, 0) >= MAX_TOUCHED) return clear();
      touched[NUMBER[kind]]!.set(id, version);
    },
    clear,
  };
}
