// The full-text index of events: their folded texts, and the trigram index that FTS5 builds of them.

import type { Database } from './database.ts';
import { sql } from './sql.ts';

export interface FullTextIndex {
  /** False while a bulk load leaves new texts out of the index: searches must then read the texts. */
  isComplete(): boolean;
  /** Stores an event's text, or deletes it (undefined). The index leaves out a text that would take long to add. */
  set(id: number, folded: string | undefined): void;
  /** Leaves new texts out of the index until `indexDeferred`, unless the index already has texts. */
  defer(): void;
  /** Indexes up to `limit` of the deferred texts, fewer long ones. Returns how many it has dealt with. */
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

/** Characters that one call of `indexDeferred` adds, except for the last text: a few milliseconds. */
const DEFERRED_CHARACTERS = 100_000;

/**
 * Adding a text takes time for each of its characters, and far more for each different trigram: a text of
 * random letters, such as a picture in a `data:` URL, would block the event loop for seconds.
 */
const MAX_INDEXED = { characters: 100_000, trigrams: 12_000 };

/** True if the index takes in the folded text within a few milliseconds. */
export function isIndexed(folded: string): boolean {
  if (folded.length > MAX_INDEXED.characters) return false;
  if (folded.length <= MAX_INDEXED.trigrams) return true;
  const trigrams = new Set<string>();
  for (let end = 3; end <= folded.length && trigrams.size <= MAX_INDEXED.trigrams; end += 1)
    trigrams.add(folded.slice(end - 3, end));
  return trigrams.size <= MAX_INDEXED.trigrams;
}

export function openFullTextIndex(db: Database): FullTextIndex {
  /** The value of `INDEXED_TO`; undefined until it is read. */
  let known: number | undefined;

  function indexedTo(): number {
    if (known === undefined) {
      const stored = db.meta(INDEXED_TO);
      known = stored === undefined ? Number.POSITIVE_INFINITY : Number(stored);
    }
    return known;
  }

  function setIndexedTo(id: number): void {
    db.setMeta(INDEXED_TO, id === Number.POSITIVE_INFINITY ? undefined : String(id));
    known = id;
  }

  const textOf = (id: number) =>
    db.get<{ folded: string; unindexed: number }>(sql`SELECT folded, unindexed FROM event_text WHERE id = ${id}`);
  const insert = (id: number, folded: string) =>
    db.run(sql`INSERT INTO event_fts (rowid, folded) VALUES (${id}, ${folded})`);

  return {
    isComplete: () => indexedTo() === Number.POSITIVE_INFINITY,
    /**
     * Writes the index itself: a trigger, like `OR REPLACE`, opens a savepoint, at which FTS5 writes out
     * every single text.
     */
    set(id, folded) {
      const isDeferred = id > indexedTo();
      const old = textOf(id);
      if (old?.folded === folded) return;
      if (old !== undefined) {
        if (!isDeferred && old.unindexed === 0)
          db.run(sql`INSERT INTO event_fts (event_fts, rowid, folded) VALUES ('delete', ${id}, ${old.folded})`);
        db.run(sql`DELETE FROM event_text WHERE id = ${id}`);
      }
      if (folded === undefined) return;
      const unindexed = isIndexed(folded) ? 0 : 1;
      db.insert('event_text', { id, unindexed, folded });
      if (!isDeferred && unindexed === 0) insert(id, folded);
    },
    defer() {
      if (!db.get(sql`SELECT 1 FROM event_text LIMIT 1`)) setIndexedTo(0);
    },
    indexDeferred(limit) {
      if (indexedTo() === Number.POSITIVE_INFINITY) return 0;
      const ids = db.numbers(sql`SELECT id FROM event_text WHERE id > ${indexedTo()} ORDER BY id LIMIT ${limit}`);
      let taken = 0;
      for (let characters = 0; taken < ids.length && characters < DEFERRED_CHARACTERS; taken += 1) {
        const { folded, unindexed } = textOf(ids[taken]!)!;
        if (unindexed === 1) continue;
        insert(ids[taken]!, folded);
        characters += folded.length;
      }
      setIndexedTo(taken < limit && taken === ids.length ? Number.POSITIVE_INFINITY : ids[taken - 1]!);
      return taken;
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
