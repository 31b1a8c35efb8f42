// Caches rendered records: a record's public JSON as bytes, valid until any record changes.

import { LRUCache } from 'lru-cache';
import type { CalendarRecord, Kind } from '../model/records.ts';

export interface RenderedRecord {
  /** UTF-8 JSON. */
  bytes: Uint8Array;
  etag: string;
  /** Of the record itself, such as `event-12`, and of the records in it. */
  cacheTags: readonly [string, ...string[]];
}

/** The memory of an entry besides its bytes. */
const ENTRY_BYTES = 1600;

const entryKey = (formKey: string, kind: Kind, id: number) => `${kind} ${id} ${formKey}`;

/**
 * Evicts the least recently used entries. `Replica` clears it with each change: of which records an event shows the
 * names, images and counts, nobody has to know. `formKey` is a form (`single`, or `item` of a list) and the base URL.
 */
export class RenderedCache {
  readonly #entries: LRUCache<string, RenderedRecord>;

  constructor(maxBytes: number) {
    this.#entries = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ bytes }) => bytes.byteLength + ENTRY_BYTES,
    });
  }

  get(formKey: string, kind: Kind, id: number): RenderedRecord | undefined {
    return this.#entries.get(entryKey(formKey, kind, id));
  }

  /** `record`: what was rendered, read at the current version. `runInTurns` ends a list once the version changes. */
  set(formKey: string, { kind, id }: CalendarRecord, rendered: RenderedRecord): void {
    this.#entries.set(entryKey(formKey, kind, id), rendered);
  }

  clear(): void {
    this.#entries.clear();
  }
}
