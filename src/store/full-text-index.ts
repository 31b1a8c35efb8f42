// The full-text index of events: their folded texts, and the trigram index that FTS5 builds of them.

import type { Database } from './database.ts';
import { sql } from './sql.ts';

export interface FullTextIndex {
  /** False while a bulk load leaves new texts out of the index: searches must then read the texts. */
  isComplete(): boolean;
  /** Stores an event's text, or deletes it (undefined). */
  set(id: number, folded: string | undefined): void;
  /** Leaves new texts out of the index until `indexDeferred`, unless the index already has texts. */
  defer(): void;
  /** Indexes up to `limit` of the deferred texts. Returns how many. */
  indexDeferred(limit: number): number;
  /** Must be called after a rollback: the state of the index may have been rolled back. */
  reload(): void;
  /** Merges a few segments of the index. Returns true if there are more. */
  merge(): boolean;
}

/** In `meta`: texts of events with a higher id are not in the index. Absent if all are. */
const INDEXED_TO = 'fts_indexed_to';

/** Pages of the index that one call of `merge` writes: about five milliseconds. */
const MERGE_PAGES = 24;

export function openFullTextIndex(db: Database): FullTextIndex {
  /** The value of `INDEXED_TO`; undefined until it is read. */
  let known: number | undefined;

  function indexedTo(): number {
    if (known === undefined) {
      const row = db.get<{ value: string }>(sql`SELECT value FROM meta WHERE key = ${INDEXED_TO}`);
      known = row === undefined ? Number.POSITIVE_INFINITY : Number(row.value);
    }
    return known;
  }

  function setIndexedTo(id: number): void {
    if (id === Number.POSITIVE_INFINITY) db.run(sql`DELETE FROM meta WHERE key = ${INDEXED_TO}`);
    else db.replace('meta', { key: INDEXED_TO, value: String(id) });
    known = id;
  }

  const insert = (id: number, folded: string) =>
    db.run(sql`INSERT INTO event_fts (rowid, folded) VALUES (${id}, ${folded})`);

  return {
    isComplete: () => indexedTo() === Number.POSITIVE_INFINITY,
    /**
     * Writes the index itself: a trigger, like `OR REPLACE`, opens a savepoint, at which FTS5 writes out
     * every single text.
     */
    set(id, folded) {
      const isIndexed = id <= indexedTo();
      const old = db.get<{ folded: string }>(sql`SELECT folded FROM event_text WHERE id = ${id}`)?.folded;
      if (old === folded) return;
      if (old !== undefined) {
        if (isIndexed) db.run(sql`INSERT INTO event_fts (event_fts, rowid, folded) VALUES ('delete', ${id}, ${old})`);
        db.run(sql`DELETE FROM event_text WHERE id = ${id}`);
      }
      if (folded === undefined) return;
      db.insert('event_text', { id, folded });
      if (isIndexed) insert(id, folded);
    },
    defer() {
      if (!db.get(sql`SELECT 1 FROM event_text LIMIT 1`)) setIndexedTo(0);
    },
    indexDeferred(limit) {
      if (indexedTo() === Number.POSITIVE_INFINITY) return 0;
      const texts = db.all<{ id: number; folded: string }>(
        sql`SELECT id, folded FROM event_text WHERE id > ${indexedTo()} ORDER BY id LIMIT ${limit}`,
      );
      for (const { id, folded } of texts) insert(id, folded);
      setIndexedTo(texts.length < limit ? Number.POSITIVE_INFINITY : texts.at(-1)!.id);
      return texts.length;
    },
    reload() {
      known = undefined;
    },
    merge() {
      const totalChanges = () => db.numbers(sql`SELECT total_changes()`)[0]!;
      const before = totalChanges();
      db.run(sql`INSERT INTO event_fts (event_fts, rank) VALUES ('merge', ${MERGE_PAGES})`);
      // If there was something to merge, FTS5 changes two rows or more (sqlite.org/fts5.html, "The merge
      // command").
      return totalChanges() - before >= 2;
    },
  };
}
