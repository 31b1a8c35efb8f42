// The full-text index of public events: their folded texts, and the trigram index that FTS5 builds of them.

import type { Database } from './database.ts';
import { sql } from './sql.ts';

/** Pages of the index that one call of `compactTextIndex` writes: about five milliseconds. */
const MERGE_PAGES = 24;

/** Each different trigram takes time: a picture in a `data:` URL would stop all other requests for seconds. */
const MAX_INDEXED_CHARACTERS = 20_000;

/** The part of an event's folded text that searches look at. */
export const searchedText = (folded: string): string => folded.slice(0, MAX_INDEXED_CHARACTERS);

/**
 * Stores an event's text, or deletes it (undefined). Not by a trigger on `event_text`, nor with INSERT OR REPLACE: both
 * begin a savepoint, at which FTS5 writes out each text at once, so that the index has a segment for every single text.
 */
export function setText(db: Database, id: number, folded: string | undefined): void {
  const old = db.get<{ folded: string }>(sql`SELECT folded FROM event_text WHERE id = ${id}`);
  if (old !== undefined) {
    // FTS5 has to get the very text that it indexed: another one damages the index, and no error tells of it.
    db.run(sql`INSERT INTO event_fts (event_fts, rowid, folded) VALUES ('delete', ${id}, ${old.folded})`);
    db.run(sql`DELETE FROM event_text WHERE id = ${id}`);
  }
  if (folded === undefined) return;
  db.insert('event_text', { id, folded });
  db.run(sql`INSERT INTO event_fts (rowid, folded) VALUES (${id}, ${folded})`);
}

/**
 * Merges a few segments of the index. Returns true if there are more. Call it after every batch of changes, in its own
 * turn of the event loop: unmerged segments slow down searches, and too many of them the next change.
 */
export function compactTextIndex(db: Database): boolean {
  const totalChanges = () => db.number(sql`SELECT total_changes()`);
  const before = totalChanges();
  db.run(sql`INSERT INTO event_fts (event_fts, rank) VALUES ('merge', ${MERGE_PAGES})`);
  // If there was something to merge, FTS5 changes two rows or more (sqlite.org/fts5.html, "The merge command").
  return totalChanges() - before >= 2;
}
