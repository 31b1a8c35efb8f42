// Everything that reads one record of the replica, or a few by what they are called.

import type { ImageRecord, Kind, PostKind, RecordOf, TermKind } from '../records.ts';
import { POST_KINDS } from '../records.ts';
import type { Database } from './database.ts';
import { foldName } from './fold.ts';
import { ROLE } from './schema.ts';

/** A record as id lists are compared by: terms carry no date and are all public. */
export interface IdRow {
  id: number;
  modifiedUtc: string;
  status: string;
}

const isTerm = (kind: Kind): kind is TermKind => kind === 'category' || kind === 'tag';

/** The reading half of the replica without the lists; what each does is said at `Replica`. */
export function lookups(db: Database) {
  const IN_IDS = 'IN (SELECT value FROM json_each(?))';
  const parse = <T>(row: { record: string } | undefined): T | undefined =>
    row === undefined ? undefined : db.parse<T>(row.record);
  const parseRows = <T>(rows: { id: number; record: string }[]): Map<number, T> =>
    new Map(rows.map(({ id, record }) => [id, db.parse<T>(record)]));
  return {
    get<K extends Kind>(kind: K, id: number) {
      const table = isTerm(kind) ? 'term' : 'post';
      return parse<RecordOf[K]>(db.get(`SELECT record FROM ${table} WHERE kind = ? AND id = ?`, kind, id));
    },
    getMany<K extends Kind>(kind: K, ids: readonly number[]) {
      const table = isTerm(kind) ? 'term' : 'post';
      const sql = `SELECT id, record FROM ${table} WHERE kind = ? AND id ${IN_IDS}`;
      return parseRows<RecordOf[K]>(db.all(sql, kind, JSON.stringify(ids)));
    },
    kindOf: (id: number) => db.get<{ kind: PostKind }>('SELECT kind FROM post WHERE id = ?', id)?.kind,
    highestId: (kind: Kind) =>
      db.get<{ id: number | null }>(`SELECT max(id) AS id FROM ${isTerm(kind) ? 'term' : 'post'} WHERE kind = ?`, kind)
        ?.id ?? 0,
    bySlug: (kind: PostKind, slug: string) =>
      db
        .all<{ id: number }>('SELECT id FROM post WHERE slug = ? AND kind = ? ORDER BY id', slug.toLowerCase(), kind)
        .map(({ id }) => id),
    termBySlug: (kind: TermKind, slug: string) =>
      db.get<{ id: number }>(
        'SELECT id FROM term WHERE kind = ? AND slug = ? ORDER BY id LIMIT 1',
        kind,
        slug.toLowerCase(),
      )?.id,
    termByName: (kind: TermKind, name: string) =>
      db.get<{ id: number }>(
        'SELECT id FROM term WHERE kind = ? AND name_plain = ? ORDER BY id LIMIT 1',
        kind,
        foldName(name),
      )?.id,
    image: (id: number) => parse<ImageRecord>(db.get('SELECT record FROM image WHERE id = ?', id)),
    images: (ids: readonly number[]) =>
      parseRows<ImageRecord>(db.all(`SELECT id, record FROM image WHERE id ${IN_IDS}`, JSON.stringify(ids))),
    postsWithImage: (id: number) =>
      db.all<{ kind: PostKind; id: number }>('SELECT kind, id FROM post WHERE image = ? AND image <> 0', id),
    imageIds: (after: number, limit: number) =>
      db.all<{ id: number }>('SELECT id FROM image WHERE id > ? ORDER BY id LIMIT ?', after, limit).map(({ id }) => id),
    missingImages: (limit: number) =>
      db
        .all<{ id: number }>(
          `SELECT DISTINCT image AS id FROM post p WHERE image <> 0
           AND NOT EXISTS (SELECT 1 FROM image i WHERE i.id = p.image) ORDER BY image LIMIT ?`,
          limit,
        )
        .map(({ id }) => id),
    ids(
      kind: Kind,
      { statuses, after = 0, limit = -1 }: { statuses?: readonly string[]; after?: number; limit?: number } = {},
    ) {
      // Looked for at every look: the few among very many have an index of their own.
      if (!isTerm(kind) && statuses && !statuses.includes('publish')) {
        const few = `SELECT id, modified_utc AS modifiedUtc, status FROM post INDEXED BY post_unpublished
          WHERE kind = ? AND status ${IN_IDS} AND status <> 'publish' AND id > ? ORDER BY id LIMIT ?`;
        return db.all<IdRow>(few, kind, JSON.stringify(statuses), after, limit);
      }
      const wanted = statuses ? JSON.stringify(statuses) : 'any';
      const sql = isTerm(kind)
        ? "SELECT id, '' AS modifiedUtc, 'publish' AS status FROM term WHERE kind = ?1 AND id > ?2 AND ?3 <> '' ORDER BY id LIMIT ?4"
        : `SELECT id, modified_utc AS modifiedUtc, status FROM post WHERE kind = ?1 AND id > ?2
           AND (?3 = 'any' OR status IN (SELECT value FROM json_each(?3))) ORDER BY id LIMIT ?4`;
      return db.all<IdRow>(sql, kind, after, wanted, limit);
    },
    eventsWith(kind: Exclude<Kind, 'event'> | 'image', id: number): number[] {
      const sql =
        kind === 'image'
          ? `SELECT id FROM post WHERE image = ?1 AND image <> 0 AND kind = 'event'
             UNION SELECT l.id FROM post p CROSS JOIN event_link l
               ON l.target = p.id AND l.role = CASE p.kind WHEN 'venue' THEN ${ROLE.venue} ELSE ${ROLE.organizer} END
             WHERE p.image = ?1 AND p.image <> 0 AND p.kind IN ('venue', 'organizer')
             ORDER BY 1`
          : `SELECT id FROM event_link WHERE role = ${ROLE[kind]} AND target = ?1 ORDER BY id`;
      return db.all<{ id: number }>(sql, id).map((row) => row.id);
    },
    counts(): Record<Kind, number> {
      const counts: Record<Kind, number> = { event: 0, venue: 0, organizer: 0, category: 0, tag: 0 };
      for (const kind of POST_KINDS)
        counts[kind] = Number(db.get('SELECT count(*) AS n FROM post WHERE kind = ?', kind)?.n);
      for (const { kind, n } of db.all<{ kind: TermKind; n: number }>(
        'SELECT kind, count(*) AS n FROM term GROUP BY kind',
      )) {
        counts[kind] = n;
      }
      return counts;
    },
    state: (key: string) => db.get<{ value: string }>('SELECT value FROM state WHERE key = ?', key)?.value,
    setState(key: string, value: string | undefined) {
      if (value === undefined) db.run('DELETE FROM state WHERE key = ?', key);
      else db.run('INSERT OR REPLACE INTO state (key, value) VALUES (?, ?)', key, value);
    },
  };
}
