// Reads single records of the replica, or a few by id, slug or name.

import {
  FIRST_OCCURRENCE_ID,
  type ImageRecord,
  isTermKind,
  type Kind,
  occurrenceIdRange,
  POST_KINDS,
  type PostKind,
  type RecordOf,
  type TermKind,
  type WallTime,
} from '../model/records.ts';
import { foldName } from '../text/html.ts';
import { slugKey } from '../text/text.ts';
import type { Database } from './database.ts';
import { RECORD_PROPERTIES, TARGET_KIND } from './schema.ts';
import { inJson, raw, sql } from './sql.ts';

/** What shows that a record changed. Terms have no time of modification, and all of them are public. */
export interface RecordStamp {
  id: number;
  modifiedUtc: string;
  status: string;
}

export interface ScheduledRecord {
  id: number;
  dateUtc: WallTime;
}

export interface StampFilter {
  /** Any status if absent. */
  statuses?: readonly string[] | undefined;
  /** Only ids above this one. */
  after?: number | undefined;
  /** Occurrences of series are no records of the CMS. */
  withoutOccurrences?: boolean | undefined;
  limit?: number | undefined;
}

const tableOf = (kind: Kind) => raw(isTermKind(kind) ? 'term' : 'post');

const POST_STAMP = sql`id, modified_utc AS modifiedUtc, status`;
const TERM_STAMP = sql`id, '' AS modifiedUtc, 'publish' AS status`;

/** The queries of `Replica` that are no lists; `Replica` documents them. */
export function recordQueries(db: Database) {
  const parse = <T>(row: { record: string } | undefined, kind?: Kind): T | undefined =>
    row && db.parse<T>(row.record, kind && RECORD_PROPERTIES[kind]);
  const parseRows = <T>(rows: { id: number; record: string }[], kind?: Kind): Map<number, T> =>
    new Map(rows.map(({ id, record }) => [id, db.parse<T>(record, kind && RECORD_PROPERTIES[kind])]));
  const state = (key: string) => db.get<{ value: string }>(sql`SELECT value FROM state WHERE key = ${key}`)?.value;

  return {
    get<K extends Kind>(kind: K, id: number): RecordOf[K] | undefined {
      return parse(db.get(sql`SELECT record FROM ${tableOf(kind)} WHERE kind = ${kind} AND id = ${id}`), kind);
    },
    getMany<K extends Kind>(kind: K, ids: readonly number[]): Map<number, RecordOf[K]> {
      return parseRows(
        db.all(sql`SELECT id, record FROM ${tableOf(kind)} WHERE kind = ${kind} AND id IN ${inJson(ids)}`),
        kind,
      );
    },
    stampsById(kind: Kind, ids: readonly number[]): Map<number, RecordStamp> {
      const columns = isTermKind(kind) ? TERM_STAMP : POST_STAMP;
      const stamps = db.all<RecordStamp>(
        sql`SELECT ${columns} FROM ${tableOf(kind)} WHERE kind = ${kind} AND id IN ${inJson(ids)}`,
      );
      return new Map(stamps.map((stamp) => [stamp.id, stamp]));
    },
    stamps(
      kind: Kind,
      { statuses, after = 0, limit = -1, withoutOccurrences = false }: StampFilter = {},
    ): RecordStamp[] {
      const isNoOccurrence = withoutOccurrences ? sql`id < ${FIRST_OCCURRENCE_ID} AND` : sql``;
      const page = sql`${isNoOccurrence} id > ${after} ORDER BY id LIMIT ${limit}`;
      if (isTermKind(kind)) return db.all(sql`SELECT ${TERM_STAMP} FROM term WHERE kind = ${kind} AND ${page}`);
      if (!statuses) return db.all(sql`SELECT ${POST_STAMP} FROM post WHERE kind = ${kind} AND ${page}`);
      const hasStatus = sql`status IN ${inJson(statuses)}`;
      if (statuses.includes('publish'))
        return db.all(sql`SELECT ${POST_STAMP} FROM post WHERE kind = ${kind} AND ${hasStatus} AND ${page}`);
      // Every poll asks for them: the few unpublished among very many posts have an index of their own.
      return db.all(sql`
        SELECT ${POST_STAMP} FROM post INDEXED BY post_unpublished
        WHERE kind = ${kind} AND ${hasStatus} AND status <> 'publish' AND ${page}`);
    },
    dueScheduled: (kind: PostKind, nowUtc: WallTime) =>
      db.all<ScheduledRecord>(sql`
        SELECT id, record ->> '$.dateUtc' AS dateUtc FROM post INDEXED BY post_scheduled
        WHERE kind = ${kind} AND status = 'future' AND record ->> '$.dateUtc' <= ${nowUtc} AND id < ${FIRST_OCCURRENCE_ID}
        ORDER BY id`),
    kindOf: (id: number) => db.get<{ kind: PostKind }>(sql`SELECT kind FROM post WHERE id = ${id}`)?.kind,
    maxId: (kind: Kind) =>
      db.numbers(sql`
        SELECT ifnull(max(id), 0) FROM ${tableOf(kind)}
        WHERE kind = ${kind} AND (kind <> 'event' OR id < ${FIRST_OCCURRENCE_ID})`)[0] ?? 0,
    occurrenceIds(seriesId: number): number[] {
      const { from, to } = occurrenceIdRange(seriesId);
      return db.numbers(sql`SELECT id FROM post WHERE id >= ${from} AND id < ${to} ORDER BY id`);
    },
    idsBySlug: (kind: PostKind, slug: string) =>
      db.numbers(sql`SELECT id FROM post WHERE slug = ${slugKey(slug)} AND kind = ${kind} ORDER BY id`),
    termIdBySlug: (kind: TermKind, slug: string): number | undefined =>
      db.numbers(sql`SELECT id FROM term WHERE kind = ${kind} AND slug_key = ${slugKey(slug)} ORDER BY id LIMIT 1`)[0],
    termIdByName: (kind: TermKind, name: string): number | undefined =>
      db.numbers(sql`SELECT id FROM term WHERE kind = ${kind} AND name_key = ${foldName(name)} ORDER BY id LIMIT 1`)[0],
    getImage: (id: number): ImageRecord | undefined => parse(db.get(sql`SELECT record FROM image WHERE id = ${id}`)),
    getImages: (ids: readonly number[]): Map<number, ImageRecord> =>
      parseRows(db.all(sql`SELECT id, record FROM image WHERE id IN ${inJson(ids)}`)),
    postsWithImage: (id: number) =>
      db.all<{ kind: PostKind; id: number }>(sql`SELECT kind, id FROM post WHERE image_id = ${id} AND image_id <> 0`),
    imageIds: (after: number, limit: number) =>
      db.numbers(sql`SELECT id FROM image WHERE id > ${after} ORDER BY id LIMIT ${limit}`),
    missingImageIds: (after: number, limit: number) =>
      db.numbers(sql`
        SELECT DISTINCT image_id FROM post p WHERE image_id <> 0 AND image_id > ${after}
          AND NOT EXISTS (SELECT 1 FROM image i WHERE i.id = p.image_id)
        ORDER BY image_id LIMIT ${limit}`),
    eventIdsShowing(kind: Exclude<Kind, 'event'> | 'image', id: number): number[] {
      if (kind !== 'image') {
        return db.numbers(sql`
          SELECT id FROM event_link WHERE target_kind = ${TARGET_KIND[kind]} AND target_id = ${id} ORDER BY id`);
      }
      return db.numbers(sql`
        SELECT id FROM post WHERE image_id = ${id} AND image_id <> 0 AND kind = 'event'
        UNION
        SELECT l.id FROM post p CROSS JOIN event_link l
          ON l.target_kind = CASE p.kind WHEN 'venue' THEN ${TARGET_KIND.venue} ELSE ${TARGET_KIND.organizer} END
            AND l.target_id = p.id
        WHERE p.image_id = ${id} AND p.image_id <> 0 AND p.kind IN ('venue', 'organizer')
        ORDER BY 1`);
    },
    // Without CROSS, SQLite reads all categories for each of these.
    withDescendants: (categoryIds: readonly number[]): number[] =>
      db.numbers(sql`
        WITH RECURSIVE down (id) AS (
          SELECT value FROM json_each(${JSON.stringify(categoryIds)})
          UNION
          SELECT t.id FROM down CROSS JOIN term t INDEXED BY term_parent ON t.kind = 'category' AND t.parent = down.id
        )
        SELECT id FROM down`),
    counts(): Record<Kind, number> {
      const counts: Record<Kind, number> = { event: 0, venue: 0, organizer: 0, category: 0, tag: 0 };
      for (const kind of POST_KINDS)
        counts[kind] = db.numbers(sql`SELECT count(*) FROM post WHERE kind = ${kind}`)[0] ?? 0;
      const occurrences = sql`kind = 'event' AND id >= ${FIRST_OCCURRENCE_ID}`;
      counts.event -= db.numbers(sql`SELECT count(*) FROM post WHERE ${occurrences}`)[0] ?? 0;
      const terms = db.all<{ kind: TermKind; n: number }>(sql`SELECT kind, count(*) AS n FROM term GROUP BY kind`);
      for (const { kind, n } of terms) counts[kind] = n;
      return counts;
    },
    state,
    setState(key: string, value: string | undefined): void {
      // SQLite would write the page.
      if (value === state(key)) return;
      if (value === undefined) db.run(sql`DELETE FROM state WHERE key = ${key}`);
      else db.replace('state', { key, value });
    },
  };
}
