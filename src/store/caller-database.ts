// Owns one caller's unpublished records, in an attached database in memory: lists read them with the public ones.

import type { ImageRecord, PostRecord } from '../model/records.ts';
import type { Database, VisibleRecords } from './database.ts';
import { deletePost, insertPost } from './post-rows.ts';
import { recordTables, TARGET_KIND } from './schema.ts';
import { inJson, readingAsCaller, type Sql, sql } from './sql.ts';

export class CallerDatabase implements VisibleRecords {
  readonly callerSchema: string;
  readonly #db: Database;
  #version = 0;
  /** What the added records took as JSON, also those that later ones replaced. */
  bytes = 0;

  /** @param number of which `db` has no other open caller's database */
  constructor(db: Database, number: number) {
    this.#db = db;
    this.callerSchema = `caller${number}`;
    db.execute(`ATTACH ':memory:' AS ${this.callerSchema}; ${recordTables(this.callerSchema)}`);
  }

  get version(): number {
    return this.#db.version + this.#version;
  }

  /** Adds or replaces records. Those of one response are a few milliseconds' work. */
  add(records: readonly PostRecord[]): void {
    this.#version += 1;
    this.#db.transaction(() => {
      for (const record of records) {
        deletePost(this.#db, this.callerSchema, record.id);
        insertPost(this.#db, this.callerSchema, record);
        this.bytes += JSON.stringify(record).length;
      }
    });
  }

  addImages(images: readonly ImageRecord[]): void {
    this.#version += 1;
    for (const image of images)
      this.#db.replace(`${this.callerSchema}.image`, { id: image.id, record: JSON.stringify(image) });
  }

  /** Images of these records, and of the venues and organizers of these events, that neither database has. */
  missingImageIds(ids: readonly number[]): number[] {
    // `this.numbers` makes `event_link`, `post` and `image` mean the public rows and the caller's (`readingAsCaller`).
    const linked = sql`SELECT l.target_id FROM event_link l
      WHERE l.id IN ${inJson(ids)} AND l.kind IN (${TARGET_KIND.venue}, ${TARGET_KIND.organizer})`;
    return this.numbers(sql`SELECT DISTINCT p.image_id FROM post p
      WHERE p.image_id <> 0 AND (p.id IN ${inJson(ids)} OR p.id IN (${linked}))
        AND p.image_id NOT IN (SELECT id FROM image)`);
  }

  all<T>(query: Sql): T[] {
    return this.#db.all(readingAsCaller(this.callerSchema, query));
  }

  numbers(query: Sql): number[] {
    return this.#db.numbers(readingAsCaller(this.callerSchema, query));
  }

  /** Not remembered: a list of one caller is asked for seldom, and changes with every load. */
  cachedCount(query: Sql): number {
    return this.numbers(query)[0]!;
  }

  parse<T>(json: string): T {
    return this.#db.parse(json);
  }

  close(): void {
    this.#db.execute(`DETACH ${this.callerSchema}`);
  }
}
