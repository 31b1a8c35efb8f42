// Reads single public records, or a few by id, slug or name, and what the sync compares.

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
} from '../model/records.ts';
import { foldName } from '../text/html.ts';
import { slugKey } from '../text/text.ts';
import type { Database } from './database.ts';
import { RECORD_PROPERTIES, TARGET_KIND } from './schema.ts';
import { inJson, raw, sql } from './sql.ts';

/** What shows that a record changed. Terms have no time of modification. */
export interface RecordStamp {
  id: number;
  modifiedUtc: string;
}

export interface StampFilter {
  /** Only ids above this one. */
  after?: number | undefined;
  /** Occurrences of series are no records of the CMS. */
  withoutOccurrences?: boolean | undefined;
  limit?: number | undefined;
}

const tableOf = (kind: Kind) => raw(isTermKind(kind) ? 'term' : 'main.post');
const stampOf = (kind: Kind) => raw(isTermKind(kind) ? "id, '' AS modifiedUtc" : 'id, modified_utc AS modifiedUtc');

export type RecordQueries = ReturnType<typeof recordQueries>;

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
    /** The records that exist, by id. */
    getMany<K extends Kind>(kind: K, ids: readonly number[]): Map<number, RecordOf[K]> {
      return parseRows(
        db.all(sql`SELECT id, record FROM ${tableOf(kind)} WHERE kind = ${kind} AND id IN ${inJson(ids)}`),
        kind,
      );
    },
    /** The stamps of the records that exist, by id: one query to compare a whole page of the CMS's records. */
    stampsById(kind: Kind, ids: readonly number[]): Map<number, RecordStamp> {
      const stamps = db.all<RecordStamp>(
        sql`SELECT ${stampOf(kind)} FROM ${tableOf(kind)} WHERE kind = ${kind} AND id IN ${inJson(ids)}`,
      );
      return new Map(stamps.map((stamp) => [stamp.id, stamp]));
    },
    /** All stamps, ascending by id. */
    stamps(kind: Kind, { after = 0, limit = -1, withoutOccurrences = false }: StampFilter = {}): RecordStamp[] {
      const isNoOccurrence = withoutOccurrences ? sql`id < ${FIRST_OCCURRENCE_ID} AND` : sql``;
      return db.all(sql`
        SELECT ${stampOf(kind)} FROM ${tableOf(kind)}
        WHERE kind = ${kind} AND ${isNoOccurrence} id > ${after} ORDER BY id LIMIT ${limit}`);
    },
    kindOf: (id: number) => db.get<{ kind: PostKind }>(sql`SELECT kind FROM main.post WHERE id = ${id}`)?.kind,
    /** The highest id of the kind, without occurrences; 0 without records. */
    maxId: (kind: Kind) =>
      db.numbers(sql`
        SELECT ifnull(max(id), 0) FROM ${tableOf(kind)}
        WHERE kind = ${kind} AND (kind <> 'event' OR id < ${FIRST_OCCURRENCE_ID})`)[0] ?? 0,
    /** The ids of the occurrences of a series, ascending. */
    occurrenceIds(seriesId: number): number[] {
      const { from, to } = occurrenceIdRange(seriesId);
      return db.numbers(sql`SELECT id FROM main.post WHERE id >= ${from} AND id < ${to} ORDER BY id`);
    },
    /** The ids of all posts of the kind with this slug, ascending. Ignores case and percent-encoding. */
    idsBySlug: (kind: PostKind, slug: string) =>
      db.numbers(sql`SELECT id FROM main.post WHERE slug = ${slugKey(slug)} AND kind = ${kind} ORDER BY id`),
    termIdBySlug: (kind: TermKind, slug: string): number | undefined =>
      db.numbers(sql`SELECT id FROM term WHERE kind = ${kind} AND slug_key = ${slugKey(slug)} ORDER BY id LIMIT 1`)[0],
    /** Ignores case, accents and the difference of `&amp;` and `&`. The lowest id of several. */
    termIdByName: (kind: TermKind, name: string): number | undefined =>
      db.numbers(sql`SELECT id FROM term WHERE kind = ${kind} AND name_key = ${foldName(name)} ORDER BY id LIMIT 1`)[0],
    getImage: (id: number): ImageRecord | undefined =>
      parse(db.get(sql`SELECT record FROM main.image WHERE id = ${id}`)),
    getImages: (ids: readonly number[]): Map<number, ImageRecord> =>
      parseRows(db.all(sql`SELECT id, record FROM main.image WHERE id IN ${inJson(ids)}`)),
    /** The posts whose own image this is. */
    postsWithImage: (id: number) =>
      db.all<{ kind: PostKind; id: number }>(
        sql`SELECT kind, id FROM main.post WHERE image_id = ${id} AND image_id <> 0`,
      ),
    /** Ids of images above `after`, ascending. */
    imageIds: (after: number, limit: number) =>
      db.numbers(sql`SELECT id FROM main.image WHERE id > ${after} ORDER BY id LIMIT ${limit}`),
    /** Ids above `after` of images that records refer to and the replica lacks, ascending. */
    missingImageIds: (after: number, limit: number) =>
      db.numbers(sql`
        SELECT DISTINCT image_id FROM main.post p WHERE image_id <> 0 AND image_id > ${after}
          AND NOT EXISTS (SELECT 1 FROM main.image i WHERE i.id = p.image_id)
        ORDER BY image_id LIMIT ${limit}`),
    /** The events that show this record or image. An event also shows the images of its venues and organizers. */
    eventIdsShowing(kind: Exclude<Kind, 'event'> | 'image', id: number): number[] {
      if (kind !== 'image') {
        return db.numbers(sql`
          SELECT id FROM main.event_link WHERE kind = ${TARGET_KIND[kind]} AND target_id = ${id} ORDER BY id`);
      }
      return db.numbers(sql`
        SELECT id FROM main.post WHERE image_id = ${id} AND image_id <> 0 AND kind = 'event'
        UNION
        SELECT l.id FROM main.post p CROSS JOIN main.event_link l
          ON l.kind = CASE p.kind WHEN 'venue' THEN ${TARGET_KIND.venue} ELSE ${TARGET_KIND.organizer} END
            AND l.target_id = p.id
        WHERE p.image_id = ${id} AND p.image_id <> 0 AND p.kind IN ('venue', 'organizer')
        ORDER BY 1`);
    },
    /** The categories and all their descendants, each once. Without CROSS, SQLite reads all categories for each of these. */
    withDescendants: (categoryIds: readonly number[]): number[] =>
      db.numbers(sql`
        WITH RECURSIVE down (id) AS (
          SELECT value FROM json_each(${JSON.stringify(categoryIds)})
          UNION
          SELECT t.id FROM down CROSS JOIN term t INDEXED BY term_parent ON t.kind = 'category' AND t.parent = down.id
        )
        SELECT id FROM down`),
    /** The number of records of each kind, without occurrences. */
    counts(): Record<Kind, number> {
      const counts: Record<Kind, number> = { event: 0, venue: 0, organizer: 0, category: 0, tag: 0 };
      for (const kind of POST_KINDS)
        counts[kind] = db.numbers(sql`SELECT count(*) FROM main.post WHERE kind = ${kind}`)[0] ?? 0;
      const occurrences = sql`kind = 'event' AND id >= ${FIRST_OCCURRENCE_ID}`;
      counts.event -= db.numbers(sql`SELECT count(*) FROM main.post WHERE ${occurrences}`)[0] ?? 0;
      const terms = db.all<{ kind: TermKind; n: number }>(sql`SELECT kind, count(*) AS n FROM term GROUP BY kind`);
      for (const { kind, n } of terms) counts[kind] = n;
      return counts;
    },
    /** What the sync stores beside the records. */
    state,
    /** Writes nothing if the value is the stored one. */
    setState(key: string, value: string): void {
      // SQLite would write the page.
      if (value !== state(key)) db.replace('state', { key, value });
    },
  };
}
