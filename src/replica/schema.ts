// The tables of the replica, versioned: a file with another version is set aside, never migrated, since every copy can be built again.

/** Grows with every change of the tables below or of what is stored in them (`fold` included). */
export const SCHEMA_VERSION = 8;

/** Stands in the file's header, so that a foreign SQLite file is never taken for a copy. */
export const APPLICATION_ID = 0x63616c67;

/** What an event can refer to, as `event_link.role` and `tally.role` write it. */
export const ROLE = { category: 1, tag: 2, venue: 3, organizer: 4 } as const;
export type Role = keyof typeof ROLE;

/**
 * `hidden` of an event and of its links: whether lists show it. The links of an event behind a password are `PROTECTED`, which no list
 * asks for: its record is listed without them, and a filter that found it by them would tell them.
 */
export const LISTED = 0;
export const HIDDEN = 1;
export const PROTECTED = 2;

/** Events longer than this, or ending before they start, are odd (`event.odd`): one of them must not widen every window. */
export const LONG_EVENT_SECONDS = 60 * 86_400;

/*
 * Wall-clock times are numbers (20270312100000): half the size of text, and in the same order.
 *
 * `event_link` repeats everything that a list filters and sorts by, so that "events of this category in that window" is one
 * walk along its primary key; so does the index `event_start` for lists without a relation (70 to 190 times faster than joining). `refs`
 * names everything that the event refers to (`references` in fold.ts): a second relation is a look into the row that is met anyway, five
 * times faster than a look-up of another; `bits` (`referenceBit`) spares most rows the look, which costs more than all the rest of a
 * row. Both stand before what lists seldom need, since SQLite reads a row from its beginning.
 * `tally` counts the events of each target and status (hidden ones included, those behind a password not) and knows the latest start in
 * UTC of those not hidden.
 * `event_odd` holds all that lists ask of the odd events, which are few: they are looked at apart wherever bounds on the end narrow the start.
 * `event_day` counts the events that start on a day, without hidden and odd ones: a window of years is a sum over its days.
 * The trigram index sees text that `fold` has folded: `case_sensitive` leaves all folding to that one function, and
 * `columnsize=0` leaves out lengths that only ranking needs. Its pieces are merged by `tidy`, a little at a time: merged by the writes
 * themselves (automerge, and crisismerge where nobody tidies) they make pauses of twenty milliseconds and more.
 */
export const TABLES = `
CREATE TABLE post (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, status TEXT NOT NULL, slug TEXT NOT NULL, modified_utc TEXT NOT NULL,
  image INTEGER NOT NULL, record TEXT NOT NULL
) STRICT;
CREATE INDEX post_kind ON post (kind, id, modified_utc, status);
CREATE INDEX post_unpublished ON post (kind, status, id, modified_utc) WHERE status <> 'publish';
CREATE INDEX post_slug ON post (slug, kind, id);
CREATE INDEX post_image ON post (image, kind, id) WHERE image <> 0;

CREATE TABLE term (
  kind TEXT NOT NULL, id INTEGER NOT NULL, parent INTEGER NOT NULL, slug TEXT NOT NULL, name TEXT NOT NULL,
  name_order TEXT NOT NULL, name_plain TEXT NOT NULL, description_order TEXT NOT NULL, record TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX term_slug ON term (kind, slug);
CREATE INDEX term_name ON term (kind, name_plain);
CREATE INDEX term_parent ON term (kind, parent);

CREATE TABLE image (id INTEGER PRIMARY KEY, record TEXT NOT NULL) STRICT;

CREATE TABLE create_key (
  name TEXT PRIMARY KEY, owner TEXT NOT NULL, at_ms INTEGER NOT NULL, entry TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX create_key_owner ON create_key (owner, at_ms);
CREATE INDEX create_key_age ON create_key (at_ms);

CREATE TABLE event (
  id INTEGER PRIMARY KEY, hidden INTEGER NOT NULL, status TEXT NOT NULL, starts INTEGER NOT NULL, posted INTEGER NOT NULL,
  ends INTEGER NOT NULL, author INTEGER NOT NULL, featured INTEGER NOT NULL, parent INTEGER NOT NULL,
  odd INTEGER NOT NULL
) STRICT;
CREATE INDEX event_start ON event (hidden, status, starts, posted, id, ends, featured, author);
CREATE INDEX event_featured ON event (hidden, status, starts, posted, id, ends, author) WHERE featured = 1;
CREATE INDEX event_parent ON event (parent) WHERE parent <> 0;
CREATE INDEX event_odd ON event (hidden, status, starts, posted, id, ends, featured, author) WHERE odd = 1;
CREATE TABLE event_day (
  status TEXT NOT NULL, day INTEGER NOT NULL, events INTEGER NOT NULL,
  PRIMARY KEY (status, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_link (
  role INTEGER NOT NULL, target INTEGER NOT NULL, hidden INTEGER NOT NULL, status TEXT NOT NULL, starts INTEGER NOT NULL,
  posted INTEGER NOT NULL, id INTEGER NOT NULL, ends INTEGER NOT NULL, bits INTEGER NOT NULL, refs TEXT NOT NULL,
  starts_utc INTEGER NOT NULL, author INTEGER NOT NULL, featured INTEGER NOT NULL,
  PRIMARY KEY (role, target, hidden, status, starts, posted, id)
) STRICT, WITHOUT ROWID;
CREATE TABLE tally (
  role INTEGER NOT NULL, target INTEGER NOT NULL, status TEXT NOT NULL, events INTEGER NOT NULL, latest_utc INTEGER NOT NULL,
  PRIMARY KEY (role, target, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE event_text (id INTEGER PRIMARY KEY, folded TEXT NOT NULL) STRICT;
CREATE VIRTUAL TABLE event_words USING fts5(
  folded, content='event_text', content_rowid='id', tokenize='trigram case_sensitive 1', columnsize=0
);
INSERT INTO event_words (event_words, rank) VALUES ('automerge', 0), ('usermerge', 8), ('crisismerge', 256);

CREATE TABLE linked (
  kind TEXT NOT NULL, id INTEGER NOT NULL, status TEXT NOT NULL, author INTEGER NOT NULL, posted INTEGER NOT NULL,
  folded TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX linked_posted ON linked (kind, status, posted DESC, id, author);
`;

/** What outlives the records of a copy: identity and version of the file. */
export const META_TABLES = `
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE state (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
`;
