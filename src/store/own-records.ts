// Owns the attached database with the unpublished records of one caller, in memory: lists of this caller read it together
// with the public records, as one.

import type { ImageRecord, Kind, LinkedKind, PostRecord, RecordOf } from '../model/records.ts';
import { isTermKind } from '../model/records.ts';
import type { Database, Totals } from './database.ts';
import type { IdPage, LinkedFilter, TermFilter } from './filters.ts';
import { type EventFilter, listEvents } from './list-events.ts';
import { isLinkedToEvent, linkedIds, listLinked, listTerms } from './list-queries.ts';
import { type Circle, locatedVenueIds } from './located-venues.ts';
import { deletePost, insertPost } from './post-rows.ts';
import { recordTables, TARGET_KIND } from './schema.ts';
import { inJson, readingOwn, sql } from './sql.ts';

/** What lists and responses read of records: the public ones, or also those of one caller. */
export interface RecordView {
  /** Grows with every change of what it shows. */
  readonly version: number;
  get<K extends Kind>(kind: K, id: number): RecordOf[K] | undefined;
  /** The records that exist, by id. */
  getMany<K extends Kind>(kind: K, ids: readonly number[]): Map<number, RecordOf[K]>;
  getImages(ids: readonly number[]): Map<number, ImageRecord>;
  listEvents(filter: EventFilter): IdPage;
  listLinked(kind: LinkedKind, filter: LinkedFilter): IdPage;
  listTerms(filter: TermFilter): IdPage;
  /** Those of these venues or organizers that there are. None in the trash. */
  linkedIds(kind: LinkedKind, ids: readonly number[]): number[];
  /** The venues with coordinates, or those of them in the circle, without protected ones. */
  locatedVenueIds(circle?: Circle): number[];
  /** True if the venue or organizer is linked to an event that is neither protected nor in the trash. */
  isLinkedToEvent(kind: LinkedKind, id: number): boolean;
}

/** A list of one caller is asked for seldom, and changes with every load. */
const NO_TOTALS: Totals = { get: () => undefined, set() {} };

/** SQLite attaches up to ten databases. */
export const MAX_OWN_DATABASES = 8;

export class OwnRecords implements RecordView {
  readonly #db: Database;
  readonly #publicView: RecordView;
  readonly #schema: string;
  #version = 0;
  #bytes = 0;

  /** @param number below `MAX_OWN_DATABASES`, and of no other database that is open */
  constructor(db: Database, publicView: RecordView, number: number) {
    this.#db = db;
    this.#publicView = publicView;
    this.#schema = `own${number}`;
    db.execute(`ATTACH ':memory:' AS ${this.#schema}; ${recordTables(this.#schema)}`);
  }

  get version(): number {
    return this.#publicView.version + this.#version;
  }

  /** What the records take as JSON. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds or replaces records. Those of one response are a few milliseconds' work. */
  add(records: readonly PostRecord[]): void {
    this.#version += 1;
    this.#db.transaction(() => {
      for (const record of records) {
        deletePost(this.#db, this.#schema, record.id);
        insertPost(this.#db, this.#schema, record);
        this.#bytes += JSON.stringify(record).length;
      }
    });
  }

  addImages(images: readonly ImageRecord[]): void {
    if (images.length === 0) return;
    this.#version += 1;
    for (const image of images)
      this.#db.replace(`${this.#schema}.image`, { id: image.id, record: JSON.stringify(image) });
  }

  /** The images of these records, and of the venues and organizers that these events show, of which none is here. */
  missingImageIds(ids: readonly number[]): number[] {
    const linked = sql`SELECT l.target_id FROM event_link l
      WHERE l.id IN ${inJson(ids)} AND l.kind IN (${TARGET_KIND.venue}, ${TARGET_KIND.organizer})`;
    const missing = sql`SELECT DISTINCT p.image_id FROM post p
      WHERE p.image_id <> 0 AND (p.id IN ${inJson(ids)} OR p.id IN (${linked}))
        AND p.image_id NOT IN (SELECT id FROM image)`;
    return this.#db.numbers(readingOwn(this.#schema, missing));
  }

  close(): void {
    this.#db.execute(`DETACH ${this.#schema}`);
  }

  get<K extends Kind>(kind: K, id: number): RecordOf[K] | undefined {
    return this.getMany(kind, [id]).get(id);
  }

  getMany<K extends Kind>(kind: K, ids: readonly number[]): Map<number, RecordOf[K]> {
    if (isTermKind(kind)) return this.#publicView.getMany(kind, ids);
    return this.#parsed<RecordOf[K]>(sql`SELECT id, record FROM post WHERE kind = ${kind} AND id IN ${inJson(ids)}`);
  }

  getImages(ids: readonly number[]): Map<number, ImageRecord> {
    return this.#parsed<ImageRecord>(sql`SELECT id, record FROM image WHERE id IN ${inJson(ids)}`);
  }

  #parsed<T>(query: ReturnType<typeof sql>): Map<number, T> {
    const rows = this.#db.all<{ id: number; record: string }>(readingOwn(this.#schema, query));
    return new Map(rows.map(({ id, record }) => [id, this.#db.parse<T>(record)]));
  }

  listEvents(filter: EventFilter): IdPage {
    return listEvents(this.#db, NO_TOTALS, filter, this.#schema);
  }

  listLinked(kind: LinkedKind, filter: LinkedFilter): IdPage {
    return listLinked(this.#db, NO_TOTALS, kind, filter, this.#schema);
  }

  listTerms(filter: TermFilter): IdPage {
    return listTerms(this.#db, NO_TOTALS, filter, this.#schema);
  }

  linkedIds(kind: LinkedKind, ids: readonly number[]): number[] {
    return linkedIds(this.#db, kind, ids, this.#schema);
  }

  locatedVenueIds(circle?: Circle): number[] {
    return locatedVenueIds(this.#db, circle, this.#schema);
  }

  isLinkedToEvent(kind: LinkedKind, id: number): boolean {
    return isLinkedToEvent(this.#db, kind, id, this.#schema);
  }
}
