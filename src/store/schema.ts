// The replica's format: its tables, and the properties of the records in them. A file of another format is
// quarantined, never migrated: every replica can be built again from the CMS.

import { createHash } from 'node:crypto';
import { FIELDS } from '../interface/fields.ts';
import { KINDS, type Kind } from '../model/records.ts';

/**
 * Must grow with every change of the tables, or of what is stored in them (including the results of `fold`).
 * New and removed fields of records do not need it: `REPLICA_FORMAT` has them.
 */
export const SCHEMA_VERSION = 21;

/**
 * Properties that every stored record of the kind has. Reads check them: a damaged disk can change a letter of
 * a name, and the record is still valid JSON.
 */
export const RECORD_PROPERTIES = Object.fromEntries(
  KINDS.map((kind) => [kind, ['kind', 'id', ...Object.values(FIELDS[kind]).map(({ key }) => key)]]),
) as Record<Kind, string[]>;

/** Names the tables and the properties of their records. Their order does not count. */
export function replicaFormat(properties: Readonly<Record<Kind, readonly string[]>>): string {
  const names = KINDS.map((kind) => properties[kind].toSorted());
  return `${SCHEMA_VERSION}-${createHash('sha256').update(JSON.stringify(names)).digest('hex').slice(0, 8)}`;
}

/** Gateways with another format cannot read this one's replica, nor exchange records with it. */
export const REPLICA_FORMAT = replicaFormat(RECORD_PROPERTIES);

/** In the header of the file: a foreign SQLite file is never taken for a replica. */
export const APPLICATION_ID = 0x63616c67;

/** The kinds of record that an event can link to, as numbers in `event_link` and `event_count`. */
export const TARGET_KIND = { category: 1, tag: 2, venue: 3, organizer: 4 } as const;
export type TargetKind = keyof typeof TARGET_KIND;

/**
 * `hidden` of an event and of its links: whether lists show it. Links of a protected event are `PROTECTED`,
 * which no list query selects: its record is listed without them, and a filter that matched it by a link would
 * reveal the link.
 */
export const LISTED = 0;
export const HIDDEN = 1;
export const PROTECTED = 2;

/**
 * Events that last longer, or end before they start, are irregular: one such event must not widen the scan of
 * every date range.
 */
export const MAX_REGULAR_SECONDS = 60 * 86_400;

/** The token of a link in `event_link.link_tokens`. No token is part of another. */
export function linkToken(targetKind: number, targetId: number): string {
  return `/${targetKind}${targetId.toString(36)}/`;
}

/**
 * SQLite stores a number of 47 bits in six bytes. A prime number of bits spreads ids at regular distances.
 */
const LINK_BITS = 47;

/**
 * The bit of a link in `event_link.link_bits`. Several links share a bit: a bit that is not set rules the
 * link out.
 */
export function linkBit(targetKind: number, targetId: number): number {
  return 2 ** (Math.abs(targetKind * 13 + targetId) % LINK_BITS);
}

/*
 * Wall times are wall numbers (20270312100000): half the size of text, in the same order.
 *
 * `event_link` has a row for each link of an event. It repeats the event's columns that lists filter and sort
 * by, but for the parent and the title. So "events of this category in this date range" is one scan of its
 * primary key, and for lists without links one of `event_start`: 70 to 190 times faster than joining.
 * `link_tokens` names all links of the event (`linkToken`): a second link condition is a test of the scanned
 * row, five times faster than a lookup. `link_bits` (`linkBit`) spares most rows that test, which is the
 * slowest of all. Both stand before columns that lists seldom need, since SQLite decodes a row from its
 * beginning.
 *
 * `post_scheduled` finds the scheduled records whose date has come: every poll asks for them.
 *
 * `term.noticed` is when this replica first had the term as it is now, in UTC: not every CMS keeps a time of
 * change for terms.
 *
 * `event_count` counts the events of each target and status. Hidden events count, protected ones do not. Its
 * latest start, in UTC, is that of the events that are not hidden.
 *
 * `event_irregular` covers everything that lists ask of irregular events, which are few: lists scan them
 * separately if bounds on the end restrict the start.
 *
 * `event_day` counts the events that start on a day, without hidden ones: the total of a range of years is a
 * sum over its days.
 *
 * `custom_value` has the custom fields of posts, for equality filters; nothing that a password hides.
 *
 * The trigram index holds text that `fold` has folded: `case_sensitive` leaves folding to `fold` alone, and
 * `columnsize=0` leaves out the text lengths, which only ranking needs. `mergeFts` merges its segments, a
 * little at a time: writes that merge (automerge, and crisismerge without `mergeFts`) block the event loop
 * for 20 ms and more. It leaves out a text that is `unindexed`: searches read that.
 */
export const TABLES = `
CREATE TABLE post (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, status TEXT NOT NULL, slug TEXT NOT NULL, modified_utc TEXT NOT NULL,
  image_id INTEGER NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE INDEX post_kind ON post (kind, id, modified_utc, status);
CREATE INDEX post_unpublished ON post (kind, status, id, modified_utc) WHERE status <> 'publish';
CREATE INDEX post_scheduled ON post (kind, record ->> '$.dateUtc', id) WHERE status = 'future';
CREATE INDEX post_slug ON post (slug, kind, id);
CREATE INDEX post_image ON post (image_id, kind, id, status) WHERE image_id <> 0;

CREATE TABLE term (
  kind TEXT NOT NULL, id INTEGER NOT NULL, parent INTEGER NOT NULL, noticed INTEGER NOT NULL, slug TEXT NOT NULL, slug_key TEXT NOT NULL,
  name_folded TEXT NOT NULL, name_sort TEXT NOT NULL, name_key TEXT NOT NULL, description_sort TEXT NOT NULL,
  record TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX term_slug ON term (kind, slug_key);
CREATE INDEX term_name ON term (kind, name_key);
CREATE INDEX term_parent ON term (kind, parent);

CREATE TABLE image (id INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT;

CREATE TABLE change_journal (
  number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id INTEGER NOT NULL, created INTEGER NOT NULL, deleted INTEGER NOT NULL,
  noted_s INTEGER NOT NULL, scan_s INTEGER NOT NULL, cancelled TEXT
) STRICT;
CREATE UNIQUE INDEX change_journal_record ON change_journal (kind, id);
CREATE INDEX change_journal_noted ON change_journal (noted_s, number);

CREATE TABLE idempotency_key (
  key TEXT PRIMARY KEY, owner TEXT NOT NULL, started_ms INTEGER NOT NULL, entry TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_owner ON idempotency_key (owner, started_ms);
CREATE INDEX idempotency_key_age ON idempotency_key (started_ms);

CREATE TABLE event (
  id INTEGER PRIMARY KEY, hidden INTEGER NOT NULL, status TEXT NOT NULL, starts INTEGER NOT NULL,
  published INTEGER NOT NULL, ends INTEGER NOT NULL, author INTEGER NOT NULL, featured INTEGER NOT NULL,
  parent INTEGER NOT NULL, irregular INTEGER NOT NULL, modified INTEGER NOT NULL, title TEXT NOT NULL,
  event_status TEXT NOT NULL
) STRICT;
CREATE INDEX event_start ON event (hidden, status, starts, published, id, ends, featured, author);
CREATE INDEX event_featured ON event (hidden, status, starts, published, id, ends, author) WHERE featured = 1;
CREATE INDEX event_modified ON event (hidden, status, modified, id, starts, ends, published, featured, author);
CREATE INDEX event_title ON event (hidden, status, title, id, starts, ends, published, featured, author);
CREATE INDEX event_parent ON event (parent) WHERE parent <> 0;
CREATE INDEX event_state ON event (event_status) WHERE event_status <> '';
CREATE INDEX event_irregular ON event (hidden, status, starts, published, id, ends, featured, author)
  WHERE irregular = 1;
CREATE TABLE event_day (
  status TEXT NOT NULL, featured INTEGER NOT NULL, day INTEGER NOT NULL, events INTEGER NOT NULL,
  PRIMARY KEY (status, featured, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_link (
  target_kind INTEGER NOT NULL, target_id INTEGER NOT NULL, hidden INTEGER NOT NULL, status TEXT NOT NULL,
  starts INTEGER NOT NULL, published INTEGER NOT NULL, id INTEGER NOT NULL, ends INTEGER NOT NULL,
  link_bits INTEGER NOT NULL, link_tokens TEXT NOT NULL, starts_utc INTEGER NOT NULL, author INTEGER NOT NULL,
  featured INTEGER NOT NULL, modified INTEGER NOT NULL,
  PRIMARY KEY (target_kind, target_id, hidden, status, starts, published, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE event_count (
  target_kind INTEGER NOT NULL, target_id INTEGER NOT NULL, status TEXT NOT NULL, events INTEGER NOT NULL,
  latest_start_utc INTEGER NOT NULL,
  PRIMARY KEY (target_kind, target_id, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE custom_value (
  kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL,
  PRIMARY KEY (kind, name, value, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX custom_value_id ON custom_value (id);

CREATE TABLE event_text (id INTEGER PRIMARY KEY, unindexed INTEGER NOT NULL, folded TEXT NOT NULL) STRICT;
CREATE INDEX event_text_unindexed ON event_text (id) WHERE unindexed = 1;
CREATE VIRTUAL TABLE event_fts USING fts5(
  folded, content='event_text', content_rowid='id', tokenize='trigram case_sensitive 1', columnsize=0
);
INSERT INTO event_fts (event_fts, rank) VALUES ('automerge', 0), ('usermerge', 8), ('crisismerge', 256),
  ('hashsize', 4194304);

CREATE TABLE linked_record (
  kind TEXT NOT NULL, id INTEGER NOT NULL, status TEXT NOT NULL, author INTEGER NOT NULL, published INTEGER NOT NULL,
  modified INTEGER NOT NULL, folded TEXT NOT NULL, latitude REAL, longitude REAL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX linked_record_published ON linked_record (kind, status, published DESC, id, author);
CREATE INDEX linked_record_position ON linked_record (latitude, longitude, status, author) WHERE latitude IS NOT NULL;
`;

/** The tables about the file itself, and about the sync. */
export const META_TABLES = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;
