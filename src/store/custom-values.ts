// The values of custom fields, by which lists filter.

import { MAX_FILTERED_CHARACTERS, type PostKind, type PostRecord } from '../model/records.ts';
import type { Database } from './database.ts';
import { and, raw, type Sql, sql } from './sql.ts';

/** Replaces what the table has of the record. */
export function storeCustomValues(db: Database, { kind, id, customFields, protected: isProtected }: PostRecord): void {
  deleteCustomValues(db, id);
  // No filter finds what a password hides.
  if (isProtected || !customFields) return;
  for (const [name, value] of Object.entries(customFields).map(([name, value]) => [name, String(value)] as const))
    if (value.length <= MAX_FILTERED_CHARACTERS) db.insert('custom_value', { kind, name, value, id });
}

export const deleteCustomValues = (db: Database, id: number): void =>
  db.run(sql`DELETE FROM custom_value WHERE id = ${id}`);

/** True for rows of `alias` (a table with the column `id`) whose custom fields have these values. */
export const hasCustomValues = (kind: PostKind, values: Readonly<Record<string, string>>, alias: 'e' | 'r'): Sql =>
  and(
    Object.entries(values).map(
      ([name, value]) => sql`${raw(alias)}.id IN (
        SELECT v.id FROM custom_value v WHERE v.kind = ${kind} AND v.name = ${name} AND v.value = ${value})`,
    ),
  );
