// The lists of venues, organizers, categories and tags in SQL; that of events is in event-query.ts.

import { FIRST_INLINE_ID, type LinkedKind, type TermKind } from '../records.ts';
import type { Database } from './database.ts';
import type { IdPage, LinkedFilter, TermFilter, TermOrder, Visibility } from './filters.ts';
import { fold, wallNumber } from './fold.ts';
import { LISTED, PROTECTED, ROLE } from './schema.ts';
import { containsWords, every, type Fragment, join, listed, pageOf, piece, visible } from './sql.ts';

function pageWhere(db: Database, from: string, where: Fragment, order: Fragment, page: Fragment): IdPage {
  const count = db.get(`SELECT count(*) AS total FROM ${from} WHERE ${where.sql}`, ...where.values);
  const { sql, values } = join([where, piece('ORDER BY'), order, page], ' ');
  const rows = db.all<{ id: number }>(`SELECT l.id AS id FROM ${from} WHERE ${sql}`, ...values);
  return { ids: rows.map(({ id }) => id), total: Number(count?.total) };
}

/**
 * "Linked to an event that the caller may see". `tally` and `link` are conditions on the counts of others' events (`tally`) and on the
 * caller's own (`event_link m`). Events behind a password are in neither (`intake.ts`).
 */
function linkedToSeen(
  kind: LinkedKind,
  { others, own, userId }: Visibility,
  { tally, link }: { tally: Fragment; link: Fragment },
): Fragment {
  const theirs = listed([...new Set(others)]);
  const ofOthers = piece(
    `l.id IN (SELECT target FROM tally WHERE role = ${ROLE[kind]} AND status IN ${theirs.sql} AND ${tally.sql})`,
    ...[...theirs.values, ...tally.values],
  );
  if (own.length === 0 || userId === 0) return ofOthers;
  const mine = listed([...new Set(own)]);
  return piece(
    `(${ofOthers.sql} OR EXISTS (SELECT 1 FROM event_link m WHERE m.role = ${ROLE[kind]} AND m.target = l.id
      AND m.status IN ${mine.sql} AND m.author = ? AND ${link.sql}))`,
    ...[...ofOthers.values, ...mine.values, userId, ...link.values],
  );
}

/** Of a record that is text inside events: named by an event that is listed for the actor; all other records hold. */
function inlineOfListed(kind: LinkedKind, { events }: LinkedFilter): Fragment {
  const { sql, values } = linkedToSeen(kind, events, {
    tally: piece('latest_utc > 0'),
    link: piece(`m.hidden = ${LISTED}`),
  });
  return piece(`(l.id < ${FIRST_INLINE_ID} OR ${sql})`, ...values);
}

/** Whether an event that the actor may see names this venue or organizer; one left out of lists counts, one behind a password does not. */
export function isNamedBySeen(db: Database, kind: LinkedKind, id: number, events: Visibility): boolean {
  const { sql, values } = linkedToSeen(kind, events, {
    tally: piece('events > 0'),
    link: piece(`m.hidden <> ${PROTECTED}`),
  });
  return db.get(`SELECT 1 FROM linked l WHERE l.kind = ? AND l.id = ? AND ${sql}`, kind, id, ...values) !== undefined;
}

/** Events left out of lists do not count: a client that lists the events next would find none. */
function upcoming(kind: LinkedKind, { events, upcomingFromUtc }: LinkedFilter): Fragment {
  const from = wallNumber(upcomingFromUtc!);
  return linkedToSeen(kind, events, {
    tally: piece('latest_utc >= ?', from),
    link: piece(`m.hidden = ${LISTED} AND m.starts_utc >= ?`, from),
  });
}

/**
 * Published and private events count, for everybody: the original's answers to anonymous callers have it so, and clients rely on them
 * (docs/differences.md). That a private event is there is all that this tells.
 */
function withEvents(kind: LinkedKind): Fragment {
  return piece(`l.id IN (SELECT target FROM tally WHERE role = ${ROLE[kind]} AND status IN ('publish', 'private'))`);
}

/** Where an event's record names what it is linked to. */
const FIELD = { category: 'categories', tag: 'tags', venue: 'venues', organizer: 'organizers' } as const;

/** "Named by this event", of `l` by its kind; nothing of an event that the caller may not see, that needs a password, or in the trash. */
function ofEvent(kind: LinkedKind | TermKind, event: number, visibility: Visibility): Fragment {
  const seen = visible(visibility, 'e');
  return piece(
    `l.id IN (SELECT r.value FROM event e JOIN post p ON p.id = e.id, json_each(p.record, '$.${FIELD[kind]}') r
      WHERE e.id = ? AND NOT json_extract(p.record, '$.protected') AND e.status <> 'trash' AND ${seen.sql})`,
    ...[event, ...seen.values],
  );
}

/**
 * Ids and total of a list of venues or organizers. `hasEvents` counts events left out of lists too: a venue is not unused because its
 * event is not listed (interface-behaviour 3.5).
 */
export function findLinked(db: Database, kind: LinkedKind, filter: LinkedFilter): IdPage {
  const conditions = [
    piece('l.kind = ?', kind),
    visible(filter.visibility, 'l'),
    inlineOfListed(kind, filter),
    ...containsWords(filter.words ?? [], 'l.folded'),
  ];
  if (filter.event !== undefined) conditions.push(ofEvent(kind, filter.event, filter.events));
  if (filter.hasEvents !== undefined) {
    const has = withEvents(kind);
    conditions.push(filter.hasEvents ? has : piece(`NOT ${has.sql}`, ...has.values));
  }
  if (filter.upcomingFromUtc !== undefined) conditions.push(upcoming(kind, filter));
  return pageWhere(db, 'linked l', every(conditions), piece('l.posted DESC, l.id'), pageOf(filter));
}

/** Published events of each term, as a column. */
const EVENTS =
  "ifnull((SELECT t.events FROM tally t WHERE t.role = ? AND t.target = l.id AND t.status = 'publish'), 0)";

const ORDER_COLUMNS: Partial<Record<TermOrder, string>> = {
  id: 'l.id',
  slug: 'l.slug',
  description: 'l.description_order',
  parent: 'l.parent',
};

/** Ties are in the order of ids. The CMS gives all terms the group 0, and `none` asks for no order: both leave the ids. */
function termOrder({ kind, orderBy, descending, include }: TermFilter): Fragment {
  const direction = descending ? 'DESC' : 'ASC';
  if (orderBy === 'none' || orderBy === 'term_group') return piece('l.id');
  if (orderBy === 'count') return piece(`${EVENTS} ${direction}, l.id`, ROLE[kind]);
  if ((orderBy === 'include' || orderBy === 'include_slugs') && include) {
    return piece(
      `(SELECT min(j.key) FROM json_each(?) j WHERE j.value = l.id) ${direction}, l.id`,
      JSON.stringify(include),
    );
  }
  return piece(`${ORDER_COLUMNS[orderBy] ?? 'l.name_order'} ${direction}, l.id`);
}

/** Terms with published events, and, unless asked for by id, those above such a term. */
function notEmpty({ kind, include }: TermFilter): Fragment {
  const filled = `SELECT target FROM tally WHERE role = ${ROLE[kind]} AND status = 'publish'`;
  if (include) return piece(`l.id IN (${filled})`);
  return piece(
    `l.id IN (
      WITH RECURSIVE up (id) AS (
        SELECT t.id FROM term t WHERE t.kind = ? AND t.id IN (${filled})
        UNION SELECT t.parent FROM up JOIN term t ON t.kind = ? AND t.id = up.id WHERE t.parent <> 0
      )
      SELECT id FROM up
    )`,
    ...[kind, kind],
  );
}

/** Ids and total of a list of terms (interface-behaviour 3.6). */
export function findTerms(db: Database, filter: TermFilter): IdPage {
  const { kind, search, include, exclude, parent, event, slug } = filter;
  const conditions = [piece('l.kind = ?', kind)];
  if (search !== undefined) {
    const text = fold(search);
    conditions.push(piece('(instr(l.name, ?) > 0 OR instr(l.slug, ?) > 0)', text, text));
  }
  if (include) conditions.push(piece('l.id IN (SELECT value FROM json_each(?))', JSON.stringify(include)));
  if (exclude) conditions.push(piece('l.id NOT IN (SELECT value FROM json_each(?))', JSON.stringify(exclude)));
  if (parent !== undefined) conditions.push(piece('l.parent = ?', parent));
  if (slug !== undefined) conditions.push(piece('l.slug = ?', slug.toLowerCase()));
  if (event !== undefined) conditions.push(ofEvent(kind, event, filter.events));
  if (filter.hideEmpty) conditions.push(notEmpty(filter));
  return pageWhere(db, 'term l', every(conditions), termOrder(filter), pageOf(filter));
}

/** Published events with a term, those left out of lists included, those behind a password not. */
export function termCounts(db: Database, kind: TermKind, ids: readonly number[]): Map<number, number> {
  const sql = `SELECT target, events FROM tally
    WHERE role = ${ROLE[kind]} AND status = 'publish' AND target IN (SELECT value FROM json_each(?))`;
  const rows = db.all<{ target: number; events: number }>(sql, JSON.stringify(ids));
  const found = new Map(rows.map(({ target, events }) => [target, events]));
  return new Map(ids.map((id) => [id, found.get(id) ?? 0]));
}

/** The categories and everything below them, each once; ids that are no categories stay as they are. */
export function descendants(db: Database, categoryIds: readonly number[]): number[] {
  const sql = `WITH RECURSIVE down (id) AS (
      SELECT value FROM json_each(?)
      UNION SELECT t.id FROM down JOIN term t INDEXED BY term_parent ON t.kind = 'category' AND t.parent = down.id
    )
    SELECT id FROM down`;
  return db.all<{ id: number }>(sql, JSON.stringify(categoryIds)).map(({ id }) => id);
}
