// Changes of a replica, as tests make them, and the check of its file.

import type { CalendarRecord, ImageRecord, KindOrImage } from '../../src/model/records.ts';
import type { Replica } from '../../src/store/replica.ts';
import { sql } from '../../src/store/sql.ts';

/** Both return how many records and images changed. */
export const upsert = (replica: Replica, upserts: readonly CalendarRecord[], images: readonly ImageRecord[] = []) =>
  replica.apply({ upserts, images });

export const remove = (replica: Replica, kind: KindOrImage, ids: readonly number[]) =>
  replica.apply({ deletes: [{ kind, ids }] });

/** What SQLite finds wrong with the file; empty if nothing. Reads the whole file. */
export const integrityErrors = ({ db }: Replica): string[] =>
  db
    .all<{ integrity_check: string }>(sql`PRAGMA integrity_check`)
    .map((row) => row.integrity_check)
    .filter((line) => line !== 'ok');
