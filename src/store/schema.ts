// The replica's format: its tables, and the properties of the records in them. A file of another format is
// quarantined, never migrated: every replica can be built again from the CMS.

import { hash } from 'node:crypto';
import { FIELDS } from '../interface/fields.ts';
import { KINDS, type Kind } from '../model/records.ts';

/**
 * Must grow if a column or a property gets other values than before, such as other results of `fold`. New columns and
 * properties do not need it: `REPLICA_FORMAT` has them.
 */
const SCHEMA_VERSION = 28;

/** In the header of the file: a foreign SQLite file is never taken for a replica. */
export const APPLICATION_ID = 0x63616c67;

/** The kinds of record that an event can link to, as numbers in `event_link`. */
export const TARGET_KIND = { category: 1, tag: 2, venue: 3, organizer: 4 } as const;
export type TargetKind = keyof typeof TARGET_KIND;

/** `listing` of a public event and of its links; of a protected event itself, which lists show blanked. */
export const LISTED = 0;
/** `listing` of a hidden event, protected or not, which no list shows; of its links, if it is not protected. */
export const HIDDEN = 1;
/** `listing` of each link of a protected event. No list query selects it: a filter by a link would reveal the event. */
export const PROTECTED = 2;

/**
 * The tables of events, venues and organizers: in `main`, where all records are published, and in the database of one
 * caller, where none is. Wall times are wall numbers (20270312100000): half the size of text, in the same order.
 *
 *   starts, ends             as lists show them: the event's own wall time, or the site's (`listedTimes`)
 *   published                the site's wall time
 *   modified, starts_utc     UTC
 */
export const recordTables = (schema: string): string => `
CREATE TABLE ${schema}.post (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, slug TEXT NOT NULL, modified_utc TEXT NOT NULL,
  image_id INTEGER NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE INDEX ${schema}.post_kind ON post (kind, id, modified_utc);
CREATE INDEX ${schema}.post_slug ON post (slug, kind, id);
CREATE INDEX ${schema}.post_image ON post (image_id, kind, id) WHERE image_id <> 0;

CREATE TABLE ${schema}.image (id INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT;

CREATE TABLE ${schema}.event (
  id INTEGER PRIMARY KEY, listing INTEGER NOT NULL, status TEXT NOT NULL, starts INTEGER NOT NULL,
  ends INTEGER NOT NULL, published INTEGER NOT NULL, featured INTEGER NOT NULL, modified INTEGER NOT NULL,
  parent INTEGER NOT NULL, title TEXT NOT NULL, event_status TEXT NOT NULL
) STRICT;
CREATE INDEX ${schema}.event_start ON event (listing, starts, published, id, ends, featured, status);
CREATE INDEX ${schema}.event_end ON event (listing, ends, starts, published, id, featured, status);
CREATE INDEX ${schema}.event_modified ON event (listing, modified, id, starts, ends, published, featured, status);
CREATE INDEX ${schema}.event_title ON event (listing, title, id, starts, ends, published, featured, status);
CREATE INDEX ${schema}.event_parent ON event (parent) WHERE parent <> 0;
CREATE INDEX ${schema}.event_state ON event (event_status) WHERE event_status <> '';

-- A row for each link of an event, with what lists filter and sort by: "events of this category in this month" is one
-- range of the primary key.
CREATE TABLE ${schema}.event_link (
  kind INTEGER NOT NULL, target_id INTEGER NOT NULL, listing INTEGER NOT NULL, starts INTEGER NOT NULL,
  published INTEGER NOT NULL, id INTEGER NOT NULL, ends INTEGER NOT NULL, featured INTEGER NOT NULL,
  modified INTEGER NOT NULL, starts_utc INTEGER NOT NULL, status TEXT NOT NULL,
  PRIMARY KEY (kind, target_id, listing, starts, published, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ${schema}.event_link_event ON event_link (id, kind, target_id, listing);

CREATE TABLE ${schema}.event_text (id INTEGER PRIMARY KEY, folded TEXT NOT NULL) STRICT;

CREATE TABLE ${schema}.linked_record (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, status TEXT NOT NULL, published INTEGER NOT NULL,
  modified INTEGER NOT NULL, folded TEXT NOT NULL, latitude REAL, longitude REAL
) STRICT;
CREATE INDEX ${schema}.linked_record_published ON linked_record (kind, published DESC, id);
CREATE INDEX ${schema}.linked_record_position ON linked_record (latitude, longitude) WHERE latitude IS NOT NULL;

-- The custom fields that lists filter by; nothing that a password hides.
CREATE TABLE ${schema}.custom_value (
  kind TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, id INTEGER NOT NULL,
  PRIMARY KEY (kind, name, value, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ${schema}.custom_value_id ON custom_value (id);
`;

/** The tables of `main`: those of `recordTables`, and others. `noted_s`, `scan_s`: seconds by the CMS's clock. */
export const TABLES = `
${recordTables('main')}
-- What was public before a write whose outcome could not be read yet.
CREATE TABLE withheld_record (
  kind TEXT NOT NULL, id INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

-- "noticed": when this replica first had the term as it is now, in UTC. Not every CMS keeps such a time for terms.
CREATE TABLE term (
  kind TEXT NOT NULL, id INTEGER NOT NULL, parent INTEGER NOT NULL, noticed INTEGER NOT NULL, slug TEXT NOT NULL,
  slug_key TEXT NOT NULL, name_folded TEXT NOT NULL, name_sort TEXT NOT NULL, name_key TEXT NOT NULL,
  description_sort TEXT NOT NULL, record TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX term_slug ON term (kind, slug_key);
CREATE INDEX term_name ON term (kind, name_key);
CREATE INDEX term_parent ON term (kind, parent);

-- What the sources said last, also of events that are shown as another one: SourceRow in source-events.ts.
CREATE TABLE source_event (
  source TEXT NOT NULL, key TEXT NOT NULL, uid TEXT NOT NULL, url TEXT NOT NULL, own_id INTEGER NOT NULL,
  event_id INTEGER NOT NULL, merged_because TEXT NOT NULL, noticed TEXT NOT NULL, event_json TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX source_event_key ON source_event (source, key);
CREATE INDEX source_event_shown ON source_event (event_id, source, own_id, url);
CREATE INDEX source_event_own ON source_event (own_id);
CREATE INDEX source_event_url ON source_event (source, url, uid);
CREATE INDEX source_event_merged ON source_event (source, key) WHERE merged_because <> '';

-- JournalRow in change-journal.ts.
CREATE TABLE change_journal (
  number INTEGER PRIMARY KEY, kind TEXT NOT NULL, id INTEGER NOT NULL, created INTEGER NOT NULL,
  deleted INTEGER NOT NULL, noted_s INTEGER NOT NULL, scan_s INTEGER NOT NULL, cancelled TEXT
) STRICT;
CREATE UNIQUE INDEX change_journal_record ON change_journal (kind, id);
CREATE INDEX change_journal_noted ON change_journal (noted_s, number);

CREATE TABLE journal_epoch (number INTEGER PRIMARY KEY, epoch TEXT NOT NULL, after INTEGER NOT NULL) STRICT;

CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE idempotency_key (
  key TEXT PRIMARY KEY, owner TEXT NOT NULL, started_ms INTEGER NOT NULL, entry TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_key_owner ON idempotency_key (owner, started_ms);
CREATE INDEX idempotency_key_age ON idempotency_key (started_ms);

-- The texts are folded already: "case_sensitive" leaves them so. "columnsize" has their lengths, which only ranking
-- needs. compactTextIndex merges the segments, a little at a time: writes that merge (automerge, and crisismerge
-- without compactTextIndex) block the event loop for 20 ms and more.
CREATE VIRTUAL TABLE event_fts USING fts5(
  folded, content='event_text', content_rowid='id', tokenize='trigram case_sensitive 1', columnsize=0
);
INSERT INTO event_fts (event_fts, rank) VALUES ('automerge', 0), ('usermerge', 8), ('crisismerge', 256),
  ('hashsize', 4194304);
`;

/** Names the format, in the header of the file: another one if a column or a property of records is new. */
export function formatOf(tables: string, fields: typeof FIELDS): number {
  const propertiesOf = (kind: Kind) => Object.values(fields[kind]).map(({ property }) => property);
  const properties = KINDS.map((kind) => propertiesOf(kind).toSorted());
  return Number.parseInt(hash('sha256', JSON.stringify([SCHEMA_VERSION, tables, properties])).slice(0, 7), 16);
}

export const REPLICA_FORMAT = formatOf(TABLES, FIELDS);
