// The full-text index of events: their folded texts, and the trigram index that FTS5 builds of them.

import type { Database } from './database.ts';
import { sql } from './sql.ts';

export interface FullTextIndex {
  /** False while a bulk load leaves new texts out of the index: searches must then read the texts. */
  isComplete(): boolean;
  /** Stores an event's text, or deletes it (undefined). The index holds only the beginning of a text that would take long to add. */
  set(id: number, folded: string | undefined): void;
  /** Leaves new texts out of the index until `indexDeferred`, unless the index already has texts. */
  defer(): void;
  /** Indexes up to `limit` of the deferred texts, fewer long ones. Returns how many. */
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

/** Characters that one call of `indexDeferred` adds: a few milliseconds. */
const DEFERRED_CHARACTERS = 200_000;

/**
 * Adding a text takes time for each of its characters, and far more for each different trigram: a text of random letters, such as a picture
 * in a `data:` URL, would block the event loop for seconds.
 */
const MAX_INDEXED = { characters: 200_000, trigrams: 12_000 };

/** One byte for each hash of a trigram. */
const seen = new Uint8Array(2 ** 18);

/** How much of a folded text the index holds: all of it, unless it is very long or has very many different trigrams. */
export function indexedLength(folded: string): number {
  const end = Math.min(folded.length, MAX_INDEXED.characters);
  if (end <= MAX_INDEXED.trigrams) return end;
  seen.fill(0);
  let trigrams = 0;
  for (let at = 2; at < end; at += 1) {
    const hash =
      (Math.imul(folded.charCodeAt(at - 2), 0x9e3779b1) ^
        Math.imul(folded.charCodeAt(at - 1), 0x85ebca6b) ^
        Math.imul(folded.charCodeAt(at), 0xc2b2ae35)) >>>
      14;
    if (seen[hash] === 1) continue;
    seen[hash] = 1;
    trigrams += 1;
    if (trigrams > MAX_INDEXED.trigrams) return at;
  }
  return end;
}

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

  const indexedPart = (folded: string) => folded.slice(0, indexedLength(folded));
  const insert = (id: number, folded: string) =>
    db.run(sql`INSERT INTO event_fts (rowid, folded) VALUES (${id}, ${indexedPart(folded)})`);
  const remove = (id: number, folded: string) =>
    db.run(sql`INSERT INTO event_fts (event_fts, rowid, folded) VALUES ('delete', ${id}, ${indexedPart(folded)})`);
  const textOf = (id: number) =>
    db.get<{ folded: string }>(sql`SELECT folded FROM event_text WHERE id = ${id}`)?.folded;

  return {
    isComplete: () => indexedTo() === Number.POSITIVE_INFINITY,
    /**
     * Writes the index itself: a trigger, like `OR REPLACE`, opens a savepoint, at which FTS5 writes out
     * every single text.
     */
    set(id, folded) {
      const isIndexed = id <= indexedTo();
      const old = textOf(id);
      if (old === folded) return;
      if (old !== undefined) {
        if (isIndexed) remove(id, old);
        db.run(sql`DELETE FROM event_text WHERE id = ${id}`);
      }
      if (folded === undefined) return;
      db.insert('event_text', { id, partly_indexed: indexedLength(folded) < folded.length ? 1 : 0, folded });
      if (isIndexed) insert(id, folded);
    },
    defer() {
      if (!db.get(sql`SELECT 1 FROM event_text LIMIT 1`)) setIndexedTo(0);
    },
    indexDeferred(limit) {
      if (indexedTo() === Number.POSITIVE_INFINITY) return 0;
      const ids = db.numbers(sql`SELECT id FROM event_text WHERE id > ${indexedTo()} ORDER BY id LIMIT ${limit}`);
      let indexed = 0;
      for (let characters = 0; indexed < ids.length && characters < DEFERRED_CHARACTERS; indexed += 1) {
        const folded = textOf(ids[indexed]!)!;
        insert(ids[indexed]!, folded);
        characters += folded.length;
      }
      setIndexedTo(indexed < limit && indexed === ids.length ? Number.POSITIVE_INFINITY : ids[indexed - 1]!);
      return indexed;
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
