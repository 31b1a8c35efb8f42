// Caches rendered records: a record's public JSON as bytes, valid until the record or anything it shows changes.

import { LRUCache } from 'lru-cache';
import { type CalendarRecord, isTermRecord, type Kind, type KindOrImage } from '../model/records.ts';
import type { Database } from './database.ts';
import { linksOf } from './post-rows.ts';

export interface RenderedRecord {
  /** UTF-8 JSON. */
  bytes: Uint8Array;
  etag: string;
  /** Of the record itself, such as `event-12`, and of the records in it. */
  cacheTags: readonly [string, ...string[]];
}

type Dependency = readonly [kind: KindOrImage, id: number];

interface Entry extends RenderedRecord {
  /** Everything the record shows. */
  dependencies: Dependency[];
  /** The latest version that the entry is known to be valid at. */
  validAtVersion: number;
}

/** More invalidations than this clear the cache: the initial sync must not pile up a hundred thousand. */
const MAX_INVALIDATIONS = 20_000;

/** The memory of an entry besides its bytes, and of each thing that it shows. */
const ENTRY_BYTES = 1600;
const DEPENDENCY_BYTES = 100;

/** An event does not depend on the image of its venue: if that changes, changes.ts notes the venue, and no event. */
function dependenciesOf(record: CalendarRecord): Dependency[] {
  const itself: Dependency = [record.kind, record.id];
  if (isTermRecord(record)) return [itself];
  const image: Dependency[] = record.image ? [['image', record.image]] : [];
  return [itself, ...image, ...(record.kind === 'event' ? linksOf(record) : [])];
}

const entryKey = (formKey: string, kind: Kind, id: number) => `${kind} ${id} ${formKey}`;

/**
 * Evicts the least recently used entries. A change evicts nothing: it is noted in O(1), and `get` compares the noted
 * changes with the entry's dependencies. So an event added to a category of fifty thousand events, all of which show
 * the category's count, costs one note. `formKey` is a form (`single`, or `item` of a list) and the base URL.
 */
export class RenderedCache {
  readonly #db: Database;
  readonly #entries: LRUCache<string, Entry>;
  /** The version at which each record or image changed. */
  readonly #invalidatedAt = new Map<string, number>();

  constructor(db: Database, maxBytes: number) {
    this.#db = db;
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes, dependencies }) =>
        bytes.byteLength + ENTRY_BYTES + dependencies.length * DEPENDENCY_BYTES,
    });
  }

  /** A rendered record that is valid now. */
  get(formKey: string, kind: Kind, id: number): RenderedRecord | undefined {
    const { version } = this.#db;
    const entry = this.#entries.get(entryKey(formKey, kind, id));
    if (entry === undefined || entry.validAtVersion === version) return entry;
    // An outdated entry stays until it is replaced.
    const changedAt = (shown: Dependency) => this.#invalidatedAt.get(shown.join(' ')) ?? 0;
    if (entry.dependencies.some((shown) => changedAt(shown) > entry.validAtVersion)) return undefined;
    entry.validAtVersion = version;
    return entry;
  }

  /** `record`: what was rendered, read at the current version. `runInTurns` ends a list once the version changes. */
  set(formKey: string, record: CalendarRecord, rendered: RenderedRecord): void {
    const entry = { ...rendered, dependencies: dependenciesOf(record), validAtVersion: this.#db.version };
    this.#entries.set(entryKey(formKey, record.kind, record.id), entry);
  }

  /** Called in a change's transaction, before `Database.changed` makes 8 of version 7: entries of 7 are outdated. */
  invalidate(kind: KindOrImage, id: number): void {
    // After `clear` no entry is left that this change could outdate: it needs no note.
    if (this.#invalidatedAt.size >= MAX_INVALIDATIONS) this.clear();
    else this.#invalidatedAt.set(`${kind} ${id}`, this.#db.version + 1);
  }

  clear(): void {
    this.#entries.clear();
    this.#invalidatedAt.clear();
  }
}
