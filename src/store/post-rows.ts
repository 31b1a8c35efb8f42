// Owns the rows of an event, venue or organizer: writes and deletes them in `main`, or in the database of one caller.

import { type EventRecord, type LinkedRecord, MAX_FILTERED_CHARACTERS, type PostRecord } from '../model/records.ts';
import { foldTitle } from '../text/html.ts';
import { fold, slugKey } from '../text/text.ts';
import type { Database } from './database.ts';
import { searchedText, setText } from './full-text-index.ts';
import { HIDDEN, LISTED, PROTECTED, TARGET_KIND, type TargetKind } from './schema.ts';
import { raw, sql, wallNumber } from './sql.ts';

/** The database with public records; those of one caller are in one such as `caller1`. */
export const PUBLIC = 'main';

const LINKS = { category: 'categories', tag: 'tags', venue: 'venues', organizer: 'organizers' } as const;

/** What an event links to, each once. */
const linksOf = (event: EventRecord): [kind: TargetKind, id: number][] =>
  (Object.keys(LINKS) as TargetKind[]).flatMap((kind) =>
    [...new Set(event[LINKS[kind]])].map((id): [TargetKind, number] => [kind, id]),
  );

/** Writes a record that the database does not have. */
export function insertPost(db: Database, schema: string, record: PostRecord): void {
  const { id, kind, slug, modifiedUtc, image } = record;
  const json = JSON.stringify(record);
  const post = { id, kind, slug: slugKey(slug), modified_utc: modifiedUtc, image_id: image, record: json };
  db.insert(`${schema}.post`, post);
  if (record.kind === 'event') insertEvent(db, schema, record);
  else insertLinked(db, schema, record);
  insertCustomValues(db, schema, record);
}

export function deletePost(db: Database, schema: string, id: number): void {
  if (schema === PUBLIC) setText(db, id, undefined);
  for (const table of ['post', 'event', 'event_link', 'event_text', 'linked_record', 'custom_value'])
    db.run(sql`DELETE FROM ${raw(`${schema}.${table}`)} WHERE id = ${id}`);
}

function insertEvent(db: Database, schema: string, event: EventRecord): void {
  // The clock of each time: see `recordTables`.
  const { start, end } = event.listedTimes ?? event;
  const { id, status, protected: isProtected } = event;
  const shared = {
    id,
    status,
    starts: wallNumber(start),
    ends: wallNumber(end),
    published: wallNumber(event.date),
    modified: wallNumber(event.modifiedUtc),
    // No filter finds what a password hides.
    featured: event.featured && !isProtected ? 1 : 0,
  };
  db.insert(`${schema}.event`, {
    ...shared,
    listing: event.hidden ? HIDDEN : LISTED,
    title: foldTitle(event.title),
    parent: isProtected ? 0 : event.parent,
    event_status: isProtected ? '' : event.eventStatus,
  });
  // A list shows a protected event, blanked. It is not found by its links.
  const listing = isProtected ? PROTECTED : event.hidden ? HIDDEN : LISTED;
  const link = { ...shared, listing, starts_utc: wallNumber(event.startUtc) };
  for (const [kind, target_id] of linksOf(event))
    db.insert(`${schema}.event_link`, { ...link, kind: TARGET_KIND[kind], target_id });
  // No search finds an event without a row, such as a protected one: `-rock` would find an empty text.
  const folded = searchedText(fold(event.searchText)) || undefined;
  if (schema === PUBLIC) setText(db, id, folded);
  else if (folded !== undefined) db.insert(`${schema}.event_text`, { id, folded });
}

function insertLinked(db: Database, schema: string, record: LinkedRecord): void {
  const { kind, id, status, date, searchText } = record;
  const isLocated = record.kind === 'venue' && !record.protected;
  db.insert(`${schema}.linked_record`, {
    kind,
    id,
    status,
    published: wallNumber(date),
    modified: wallNumber(record.modifiedUtc),
    folded: fold(searchText),
    latitude: isLocated ? record.latitude : null,
    longitude: isLocated ? record.longitude : null,
  });
}

function insertCustomValues(db: Database, schema: string, record: PostRecord): void {
  const { kind, id, customFields = {}, protected: isProtected } = record;
  if (isProtected) return;
  for (const [name, field] of Object.entries(customFields)) {
    const value = String(field);
    if (value.length <= MAX_FILTERED_CHARACTERS) db.insert(`${schema}.custom_value`, { kind, name, value, id });
  }
}
