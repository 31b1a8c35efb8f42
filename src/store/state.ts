// Owns the facts about the replica itself, by name: of which site it is, and what the sync and the journal remember.

import type { Database } from './database.ts';
import { sql } from './sql.ts';

export const getState = (db: Database, key: string): string | undefined =>
  db.get<{ value: string }>(sql`SELECT value FROM state WHERE key = ${key}`)?.value;

/** Writes nothing if the value is the stored one: SQLite would write the page. */
export function setState(db: Database, key: string, value: string): void {
  if (value !== getState(db, key)) db.replace('state', { key, value });
}
