// The lists of venues, organizers, categories and tags in SQL; that of events is in event-query.ts.

import type { LinkedKind, TermKind } from '../records.ts';
import type { Database } from './database.ts';
import type { IdPage, LinkedFilter, TermFilter, TermOrder } from './filters.ts';
import { fold, wallNumber } from './fold.ts';
import { ROLE } from './schema.ts';
import { containsWords, every, type Fragment, join, listed, pageOf, piece, visible } from './sql.ts';

function pageWhere(db: Database, from: string, where: Fragment, order: Fragment, page: Fragment): IdPage {
  const count = db.get(`SELECT count(*) AS total FROM ${from} WHERE ${where.sql}`, ...where.values);
  const { sql, values } = join([where, piece('ORDER BY'), order, page], ' ');
  const rows = db.all<{ id: number }>(`SELECT l.id AS id FROM ${from} WHERE ${sql}`, ...values);
  return { ids: rows.map(({ id }) => id), total: Number(count?.total) };
}

/**
 * "Linked to an event that starts from then on and that the caller may see". Events left out of lists do not count: whoever asks wants
 * to list those events next, and would find nothing.
 */
function upcoming(kind: LinkedKind, { visibility, upcomingFromUtc }: LinkedFilter): Fragment {
  const from = wallNumber(upcomingFromUtc!);
  const others = listed([...new Set(visibility.others)]);
  const ofOthers = piece(
    `l.id IN (SELECT target FROM tally WHERE role = ${ROLE[kind]} AND status IN ${others.sql} AND latest_utc >= ?)`,
    ...[...others.values, from],
  );
  if (visibility.own.length === 0 || visibility.userId === 0) return ofOthers;
  const own = listed([...new Set(visibility.own)]);
  return piece(
    `(${ofOthers.sql} OR EXISTS (SELECT 1 FROM event_link m WHERE m.role = ${ROLE[kind]} AND m.target = l.id AND m.hidden = 0
      AND m.status IN ${own.sql} AND m.author = ? AND m.starts_utc >= ?))`,
    ...[...ofOthers.values, ...own.values, visibility.userId, from],
  );
}

/**
 * Ids and total of a list of venues or organizers. `hasEvents` counts every published or private event, as the original does for
 * everybody, those left out of lists too: a venue is not unused because its event is not listed (interface-behaviour 3.5).
 */
export function findLinked(db: Database, kind: LinkedKind, filter: LinkedFilter): IdPage {
  const conditions = [
    piece('l.kind = ?', kind),
    visible(filter.visibility, 'l'),
    ...containsWords(filter.words ?? [], 'l.folded'),
  ];
  if (filter.event !== undefined) {
    const sql = `l.id IN (SELECT e.value FROM post p, json_each(p.record, '$.${kind}s') e WHERE p.id = ? AND p.kind = 'event')`;
    conditions.push(piece(sql, filter.event));
  }
  if (filter.hasEvents !== undefined) {
    const not = filter.hasEvents ? '' : 'NOT ';
    conditions.push(
      piece(`l.id ${not}IN (SELECT target FROM tally WHERE role = ${ROLE[kind]} AND status IN ('publish', 'private'))`),
    );
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
  if (event !== undefined) {
    const path = kind === 'category' ? '$.categories' : '$.tags';
    const sql = `l.id IN (SELECT e.value FROM post p, json_each(p.record, '${path}') e WHERE p.id = ? AND p.kind = 'event')`;
    conditions.push(piece(sql, event));
  }
  if (filter.hideEmpty) conditions.push(notEmpty(filter));
  return pageWhere(db, 'term l', every(conditions), termOrder(filter), pageOf(filter));
}

/** Published events with a term, those left out of lists included. */
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
