// Owns the table of what the sources said last: one row for each event of each source, merged or not.

import { FIRST_SOURCE_ID, type KindOrImage, type WallTime } from '../model/records.ts';
import type { Database, VisibleRecords } from './database.ts';
import { unlinkedIds } from './records.ts';
import { LISTED } from './schema.ts';
import { raw, sql, wallNumber } from './sql.ts';

export interface SourceRow {
  source: string;
  /** Names the event within its source. */
  key: string;
  uid: string;
  /** The page of the event at its origin. */
  url: string;
  /** The event's own id, under which it is shown unless it is merged. */
  ownId: number;
  /** The id of the event that shows this one: `ownId`, or that of another event which is the same. 0: none yet. */
  eventId: number;
  /** Why another event shows this one, such as `same UID and start`. `''`: it is not merged. */
  mergedBecause: string;
  /** When this gateway noticed what the source says now, in UTC. */
  noticed: string;
  /** The `SourceEvent`. */
  eventJson: string;
}

const COLUMNS = raw(`
  source, key, uid, url, own_id AS ownId, event_id AS eventId, merged_because AS mergedBecause, noticed,
  event_json AS eventJson`);

export const sourceRow = (db: Database, source: string, key: string): SourceRow | undefined => {
  const row = db.get<SourceRow>(sql`SELECT ${COLUMNS} FROM source_event WHERE source = ${source} AND key = ${key}`);
  // The rows of node:sqlite have no prototype: `isDeepStrictEqual` would find each of them changed.
  return row && { ...row };
};

/** Rows of the source after this key, in the order of keys. */
export const sourceRows = (db: Database, source: string, after: string, limit: number): SourceRow[] =>
  db.all(sql`
    SELECT ${COLUMNS} FROM source_event WHERE source = ${source} AND key > ${after} ORDER BY key LIMIT ${limit}`);

export const sourceKeys = (db: Database, source: string): string[] =>
  db.all<{ key: string }>(sql`SELECT key FROM source_event WHERE source = ${source}`).map(({ key }) => key);

export const storedSources = (db: Database): string[] =>
  db.all<{ source: string }>(sql`SELECT DISTINCT source FROM source_event`).map(({ source }) => source);

/** Addresses that the source gives to several events, such as its front page: these do not identify an event. */
export function sharedUrls(db: Database, source: string): Set<string> {
  const shared = db.all<{ url: string }>(sql`
    SELECT url FROM source_event WHERE source = ${source} GROUP BY url HAVING count(DISTINCT uid) > 1`);
  return new Set(shared.map(({ url }) => url));
}

export function insertSourceRow(db: Database, { ownId, eventId, mergedBecause, eventJson, ...row }: SourceRow): void {
  const renamed = { own_id: ownId, event_id: eventId, merged_because: mergedBecause, event_json: eventJson };
  db.insert('source_event', { ...row, ...renamed });
}

export function deleteSourceRow(db: Database, { source, key }: Pick<SourceRow, 'source' | 'key'>): void {
  db.run(sql`DELETE FROM source_event WHERE source = ${source} AND key = ${key}`);
}

/** The source of this event (`undefined`: the CMS has it), and the sources and addresses of events merged into it. */
export function sourcesOf(visible: VisibleRecords, eventId: number) {
  const rows = visible.all<{ source: string; ownId: number; url: string }>(sql`
    SELECT source, own_id AS ownId, url FROM source_event WHERE event_id = ${eventId} ORDER BY source`);
  const origin = rows.find(({ ownId }) => ownId === eventId);
  const alsoAt = rows.filter((row) => row !== origin).map(({ source, url }) => ({ source, url }));
  return origin ? { source: origin.source, alsoAt } : { alsoAt };
}

export const countSourceEvents = (db: Database, source: string): { events: number; merged: number } => ({
  events: db.number(sql`SELECT count(*) FROM source_event WHERE source = ${source}`),
  merged: db.number(sql`SELECT count(*) FROM source_event WHERE source = ${source} AND merged_because <> ''`),
});

/** Events of sources that are shown as another one. */
export const merges = (db: Database, limit: number) =>
  db.all<Pick<SourceRow, 'source' | 'key' | 'eventId'> & { why: string }>(sql`
    SELECT source, key, event_id AS eventId, merged_because AS why FROM source_event
    WHERE merged_because <> '' ORDER BY source, key LIMIT ${limit}`);

/** Events that the site lists for everybody with this start. */
export const listedEventIdsAt = (db: Database, start: WallTime): number[] =>
  db.numbers(sql`
    SELECT id FROM event WHERE listing = ${raw(LISTED)} AND starts = ${wallNumber(start)} AND id < ${FIRST_SOURCE_ID}
    ORDER BY id`);

/** What sources brought along and no event shows any more: venues, organizers, categories and tags, and images. */
export function unusedSourceRecords(db: Database): { kind: KindOrImage; ids: number[] }[] {
  const linked = (['venue', 'organizer', 'category', 'tag'] as const).map((kind) => {
    return { kind, ids: unlinkedIds(db, kind, FIRST_SOURCE_ID, Number.MAX_SAFE_INTEGER) };
  });
  const images = db.numbers(sql`
    SELECT id FROM image i WHERE id >= ${FIRST_SOURCE_ID}
      AND NOT EXISTS (SELECT 1 FROM post p WHERE p.image_id = i.id AND p.image_id <> 0)`);
  return [...linked, { kind: 'image', ids: images }];
}
