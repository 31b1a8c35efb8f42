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

type Dependency = readonly [kind: KindOrImage, id: number];

interface Entry extends RenderedRecord {
  /** Everything the record shows. */
  dependencies: Dependency[];
  /** The latest version that the entry is known to be valid at. */
  validAtVersion: number;
}

/**
 * More invalidations than this clear the cache: the initial sync must not pile up a hundred thousand of them.
 */
const MAX_INVALIDATIONS = 20_000;

/** The memory of an entry besides its bytes, and of each thing that it shows. */
const ENTRY_BYTES = 1600;
const DEPENDENCY_BYTES = 100;

/**
 * The images of venues and organizers are no dependencies of an event: upsert.ts invalidates the venue or
 * organizer instead.
 */
function dependenciesOf(record: CalendarRecord): Dependency[] {
  const own: Dependency = [record.kind, record.id];
  if (isTermRecord(record)) return [own];
  const of = (kind: KindOrImage, ids: number[]) => ids.map((id): Dependency => [kind, id]);
  const image = record.image ? of('image', [record.image]) : [];
  if (record.kind !== 'event') return [own, ...image];
  const { categories, tags, venues, organizers } = record;
  const terms = [...of('category', categories), ...of('tag', tags)];
  return [own, ...image, ...terms, ...of('venue', venues), ...of('organizer', organizers)];
}

/**
 * Creates a cache of up to `maxBytes`, which evicts the least recently used entries. A change evicts nothing:
 * it is noted in O(1), and `get` compares the noted changes with the entry's dependencies. So an event added
 * to a category of fifty thousand events, all of which show the category's count, costs one note.
 */
export function createRenderedCache(maxBytes: number): RenderedCache {
  const entries = new LRUCache<string, Entry>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes, dependencies }) =>
      bytes.byteLength + ENTRY_BYTES + dependencies.length * DEPENDENCY_BYTES,
  });
  /** The version at which each record or image changed. */
  const invalidatedAt = new Map<string, number>();
  const entryKey = (rendering: string, kind: Kind, id: number) => `${kind} ${id} ${rendering}`;

  function clear(): void {
    entries.clear();
    invalidatedAt.clear();
  }

  const isOutdated = ({ dependencies, validAtVersion }: Entry): boolean =>
    dependencies.some(([kind, id]) => (invalidatedAt.get(`${kind} ${id}`) ?? 0) > validAtVersion);

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
      if (entries.size === 0) return invalidatedAt.clear();
      if (invalidatedAt.size >= MAX_INVALIDATIONS) return clear();
      invalidatedAt.set(`${kind} ${id}`, version);
    },
    clear,
  };
}
