// Caches rendered records: a record's public JSON as bytes, valid until the record or anything it shows
// changes.

import { LRUCache } from 'lru-cache';
import { type CalendarRecord, isTermRecord, type Kind, type KindOrImage, type WallTime } from '../model/records.ts';

export interface RenderedRecord {
  /** UTF-8 JSON. */
  bytes: Uint8Array;
  etag: string;
  /** Of the record itself, such as `event-12`, and of the records in it. */
  cacheTags: readonly [string, ...string[]];
  /** When the JSON was first like this, as far as this process knows; undefined for a term. */
  modifiedUtc: WallTime | undefined;
}

export interface RenderedCache {
  get(rendering: string, kind: Kind, id: number, version: number): RenderedRecord | undefined;
  /** The entry that was set last, even if it is outdated. */
  peek(rendering: string, kind: Kind, id: number): RenderedRecord | undefined;
  set(rendering: string, record: CalendarRecord, rendered: RenderedRecord, version: number): void;
  /** Invalidates entries that depend on this and are older than `version`. */
  invalidate(kind: KindOrImage, id: number, version: number): void;
  clear(): void;
}

interface Entry extends RenderedRecord {
  /** Everything the record shows: pairs of a kind (see `KIND_NUMBER`) and an id, in one flat list. */
  dependencies: number[];
  /** The latest version that the entry is known to be valid at. */
  validAtVersion: number;
}

/**
 * More invalidations than this clear the cache: the initial sync must not pile up a hundred thousand of them.
 */
const MAX_INVALIDATIONS = 20_000;

/** More than there are pairs of a rendering and a kind. */
const MAX_BUCKETS = 1024;

/** An id up to this times `MAX_BUCKETS` is an exact number. Ids of occurrences and embedded records are larger. */
const MAX_NUMERIC_ID = Math.floor(Number.MAX_SAFE_INTEGER / MAX_BUCKETS);

/** The memory of an entry besides its bytes. */
const ENTRY_BYTES = 1600;

/** Numbers take an eighth of the memory of strings. */
const KIND_NUMBER: Record<KindOrImage, number> = { event: 0, venue: 1, organizer: 2, category: 3, tag: 4, image: 5 };

/**
 * The images of venues and organizers are no dependencies of an event: upsert.ts invalidates the venue or
 * organizer instead.
 */
function dependenciesOf(record: CalendarRecord): number[] {
  const dependencies = [KIND_NUMBER[record.kind], record.id];
  const add = (kind: KindOrImage, id: number) => void dependencies.push(KIND_NUMBER[kind], id);
  if (isTermRecord(record)) return dependencies;
  if (record.image) add('image', record.image);
  if (record.kind !== 'event') return dependencies;
  for (const id of record.categories) add('category', id);
  for (const id of record.tags) add('tag', id);
  for (const id of record.venues) add('venue', id);
  for (const id of record.organizers) add('organizer', id);
  return dependencies;
}

/**
 * Creates a cache of up to `maxBytes`, which evicts the least recently used entries. A change evicts nothing:
 * it is noted in O(1), and `get` compares the noted changes with the entry's dependencies. So an event added
 * to a category of fifty thousand events, all of which show the category's count, costs one note.
 */
export function createRenderedCache(maxBytes: number): RenderedCache {
  const entries = new LRUCache<number | string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: (entry) => entry.bytes.byteLength + ENTRY_BYTES,
  });
  /** By number of the kind: the version at which each id changed. */
  const invalidatedAt = Object.values(KIND_NUMBER).map(() => new Map<number, number>());
  // Keys of the CMS's own records are numbers: a list of fifty records looks up fifty keys, and building and hashing
  // strings would take most of that time.
  const buckets = new Map<string, Map<Kind, number>>();
  let bucketCount = 0;
  let latest: { rendering: string; kind: Kind; bucket: number } | undefined;

  function entryKey(rendering: string, kind: Kind, id: number): number | string {
    if (latest?.rendering !== rendering || latest.kind !== kind)
      latest = { rendering, kind, bucket: bucketOf(rendering, kind) };
    return id <= MAX_NUMERIC_ID ? id * MAX_BUCKETS + latest.bucket : `${id} ${latest.bucket}`;
  }

  function bucketOf(rendering: string, kind: Kind): number {
    const ofRendering = buckets.get(rendering) ?? new Map<Kind, number>();
    buckets.set(rendering, ofRendering);
    let bucket = ofRendering.get(kind);
    if (bucket === undefined) {
      bucket = bucketCount;
      bucketCount += 1;
      ofRendering.set(kind, bucket);
    }
    return bucket;
  }

  function clearInvalidations(): void {
    for (const versions of invalidatedAt) versions.clear();
  }

  function clear(): void {
    entries.clear();
    clearInvalidations();
  }

  function isOutdated({ dependencies, validAtVersion }: Entry): boolean {
    for (let index = 0; index < dependencies.length; index += 2) {
      const changedAt = invalidatedAt[dependencies[index]!]!.get(dependencies[index + 1]!) ?? 0;
      if (changedAt > validAtVersion) return true;
    }
    return false;
  }

  return {
    get(rendering, kind, id, version) {
      const entry = entries.get(entryKey(rendering, kind, id));
      if (entry === undefined || entry.validAtVersion === version) return entry;
      // An outdated entry stays until it is replaced: the new one may turn out to be the same (`peek`).
      if (isOutdated(entry)) return undefined;
      entry.validAtVersion = version;
      return entry;
    },
    peek: (rendering, kind, id) => entries.peek(entryKey(rendering, kind, id)),
    set(rendering, record, rendered, version) {
      const entry = { ...rendered, dependencies: dependenciesOf(record), validAtVersion: version };
      entries.set(entryKey(rendering, record.kind, record.id), entry);
    },
    invalidate(kind, id, version) {
      if (entries.size === 0) return clearInvalidations();
      if (invalidatedAt.reduce((sum, versions) => sum + versions.size, 0) >= MAX_INVALIDATIONS) return clear();
      invalidatedAt[KIND_NUMBER[kind]]!.set(id, version);
    },
    clear,
  };
}
