// Which records a replica has: their ids, and how many of the CMS's own.

import { isTermKind, KINDS, type Kind } from '../../src/model/records.ts';
import type { Database } from '../../src/store/database.ts';
import { recordCount } from '../../src/store/records.ts';
import { raw, sql } from '../../src/store/sql.ts';

export const recordCounts = (db: Database): Record<Kind, number> =>
  Object.fromEntries(KINDS.map((kind) => [kind, recordCount(db, kind)])) as Record<Kind, number>;

/** The ids of all records of the kind, ascending: occurrences of series and records of sources too. */
export const recordIds = (db: Database, kind: Kind): number[] =>
  db.numbers(sql`SELECT id FROM ${raw(isTermKind(kind) ? 'term' : 'post')} WHERE kind = ${kind} ORDER BY id`);
