// Reads single records, or a few by id, slug or name, and what the sync compares.

import {
  FIRST_OCCURRENCE_ID,
  FIRST_SOURCE_ID,
  type ImageRecord,
  isTermKind,
  type Kind,
  occurrenceIdRange,
  type PostKind,
  type RecordOf,
  type TermKind,
} from '../model/records.ts';
import { foldName } from '../text/html.ts';
import { slugKey } from '../text/text.ts';
import type { Database, VisibleRecords } from './database.ts';
import { TARGET_KIND, type TargetKind } from './schema.ts';
import { inJson, raw, type Sql, sql } from './sql.ts';

/** What shows that a record changed: `{ id: 12, modifiedUtc: '2027-03-12 19:00:00' }`. Terms have no such time. */
export interface RecordStamp {
  id: number;
  modifiedUtc: string;
}

const tableOf = (kind: Kind) => raw(isTermKind(kind) ? 'term' : 'post');
const stampOf = (kind: Kind) => raw(isTermKind(kind) ? "id, '' AS modifiedUtc" : 'id, modified_utc AS modifiedUtc');

function readById<T>(visible: VisibleRecords, query: Sql): Map<number, T> {
  const rows = visible.all<{ id: number; record: string }>(query);
  return new Map(rows.map(({ id, record }) => [id, visible.parse<T>(record)]));
}

/** As many as a caller reads at once: the largest take a few milliseconds. */
export const RECORDS_PER_READ = 5;

/** The records that exist, by id. */
export function getRecords<K extends Kind>(visible: VisibleRecords, kind: K, ids: readonly number[]) {
  const query = sql`SELECT id, record FROM ${tableOf(kind)} WHERE kind = ${kind} AND id IN ${inJson(ids)}`;
  return readById<RecordOf[K]>(visible, query);
}

export const getRecord = <K extends Kind>(visible: VisibleRecords, kind: K, id: number): RecordOf[K] | undefined =>
  getRecords(visible, kind, [id]).get(id);

export const getImages = (visible: VisibleRecords, ids: readonly number[]): Map<number, ImageRecord> =>
  readById(visible, sql`SELECT id, record FROM image WHERE id IN ${inJson(ids)}`);

export const getImage = (visible: VisibleRecords, id: number): ImageRecord | undefined =>
  getImages(visible, [id]).get(id);

/** The stamps of the records that exist, by id: one query to compare a whole page of the CMS's records. */
export function stampsById(db: Database, kind: Kind, ids: readonly number[]): Map<number, RecordStamp> {
  const query = sql`SELECT ${stampOf(kind)} FROM ${tableOf(kind)} WHERE kind = ${kind} AND id IN ${inJson(ids)}`;
  return new Map(db.all<RecordStamp>(query).map((stamp) => [stamp.id, stamp]));
}

export const kindOf = (db: Database, id: number): PostKind | undefined =>
  db.get<{ kind: PostKind }>(sql`SELECT kind FROM post WHERE id = ${id}`)?.kind;

/** The ids of the occurrences of a series, ascending. */
export function occurrenceIds(db: Database, seriesId: number): number[] {
  const { from, to } = occurrenceIdRange(seriesId);
  return db.numbers(sql`SELECT id FROM post WHERE id >= ${from} AND id < ${to} ORDER BY id`);
}

/** The ids of all posts of the kind with this slug, ascending. Ignores case and percent-encoding. */
export const idsBySlug = (db: Database, kind: PostKind, slug: string): number[] =>
  db.numbers(sql`SELECT id FROM post WHERE slug = ${slugKey(slug)} AND kind = ${kind} ORDER BY id`);

export const termIdBySlug = (db: Database, kind: TermKind, slug: string): number | undefined =>
  db.numbers(sql`SELECT id FROM term WHERE kind = ${kind} AND slug_key = ${slugKey(slug)} ORDER BY id LIMIT 1`)[0];

/** Ignores case, accents and the difference of `&amp;` and `&`. The lowest id of several. */
export const termIdByName = (db: Database, kind: TermKind, name: string): number | undefined =>
  db.numbers(sql`SELECT id FROM term WHERE kind = ${kind} AND name_key = ${foldName(name)} ORDER BY id LIMIT 1`)[0];

/** The posts whose own image this is. */
export const postsWithImage = (db: Database, id: number): { kind: PostKind; id: number }[] =>
  db.all(sql`SELECT kind, id FROM post WHERE image_id = ${id} AND image_id <> 0`);

/** Ids of the CMS's images above `after`, ascending. */
export const imageIds = (db: Database, after: number, limit: number): number[] =>
  db.numbers(sql`
    SELECT id FROM image WHERE id > ${after} AND id < ${FIRST_SOURCE_ID} ORDER BY id LIMIT ${limit}`);

/** Ids of the CMS's images that records refer to and the replica lacks, ascending. */
export const missingImageIds = (db: Database, limit: number): number[] =>
  db.numbers(sql`
    SELECT DISTINCT image_id FROM post p
    WHERE image_id <> 0 AND image_id < ${FIRST_SOURCE_ID}
      AND NOT EXISTS (SELECT 1 FROM image i WHERE i.id = p.image_id)
    ORDER BY image_id LIMIT ${limit}`);

/** Ids from `from` on, below `to`, that no event links to: of records that were text in events, or of sources. */
export const unlinkedIds = (db: Database, kind: TargetKind, from: number, to: number, limit = -1): number[] =>
  db.numbers(sql`
    SELECT id FROM ${tableOf(kind)} t WHERE kind = ${kind} AND id >= ${from} AND id < ${to}
      AND NOT EXISTS (SELECT 1 FROM event_link l WHERE l.kind = ${TARGET_KIND[kind]} AND l.target_id = t.id)
    LIMIT ${limit}`);

export const eventIdsWith = (db: Database, kind: TargetKind, id: number): number[] =>
  db.numbers(sql`SELECT id FROM event_link WHERE kind = ${TARGET_KIND[kind]} AND target_id = ${id} ORDER BY id`);

/** The categories and all below them, each once. Without CROSS, SQLite reads all categories for each that it finds. */
export const categoriesWithDescendants = (db: Database, categoryIds: readonly number[]): number[] =>
  db.numbers(sql`
    WITH RECURSIVE down (id) AS (
      SELECT value FROM json_each(${JSON.stringify(categoryIds)})
      UNION
      SELECT t.id FROM down CROSS JOIN term t INDEXED BY term_parent ON t.kind = 'category' AND t.parent = down.id
    )
    SELECT id FROM down`);

// Ids ascend in this order: the CMS's own, then those of occurrences, of text in events, and of records of sources.

/** The ids of the CMS's own records of this kind, ascending. */
export const ownIds = (db: Database, kind: Kind): number[] =>
  db.numbers(sql`SELECT id FROM ${tableOf(kind)} WHERE kind = ${kind} AND id < ${FIRST_OCCURRENCE_ID} ORDER BY id`);

/** The number of `ownIds`. */
export const recordCount = (db: Database, kind: Kind): number =>
  db.number(sql`SELECT count(*) FROM ${tableOf(kind)} WHERE kind = ${kind} AND id < ${FIRST_OCCURRENCE_ID}`);
