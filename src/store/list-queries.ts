// Runs the queries of the lists of venues, organizers, categories and tags. The event list is in
// event-query.ts.

import { FIRST_EMBEDDED_ID, type LinkedKind, type TermKind } from '../model/records.ts';
import { fold, slugKey } from '../text/text.ts';
import { wallNumber } from '../time/wall-time.ts';
import type { Database } from './database.ts';
import type { IdPage, LinkedFilter, TermFilter, TermOrder, Visibility } from './filters.ts';
import { LISTED, PROTECTED, TARGET_KIND, type TargetKind } from './schema.ts';
import {
  and,
  containsWords,
  hasCustomValues,
  inJson,
  inList,
  isVisible,
  limitOffset,
  or,
  raw,
  type Sql,
  sql,
} from './sql.ts';

function listPage(db: Database, from: Sql, where: Sql, order: Sql, page: Sql): IdPage {
  const count = db.get<{ total: number }>(sql`SELECT count(*) AS total FROM ${from} WHERE ${where}`);
  const ids = db.numbers(sql`SELECT r.id FROM ${from} WHERE ${where} ORDER BY ${order} ${page}`);
  return { ids, total: Number(count?.total) };
}

const kindNumber = (kind: TargetKind): Sql => raw(TARGET_KIND[kind]);

/**
 * True for records `r` that are linked to an event which the actor may see. `count` is a further condition on
 * the counts of all authors' events (`event_count`), `link` the same condition on a link of the actor's own
 * event (`event_link l`). Protected events have no counts.
 */
function linkedToVisible(
  kind: LinkedKind,
  { anyAuthor, ownOnly, userId }: Visibility,
  { count, link }: { count: Sql; link: Sql },
): Sql {
  const ofAll = sql`r.id IN (
    SELECT target_id FROM event_count
    WHERE target_kind = ${kindNumber(kind)} AND status IN ${inList([...new Set(anyAuthor)])} AND ${count})`;
  if (ownOnly.length === 0 || userId === 0) return ofAll;
  const ofOwn = sql`EXISTS (
    SELECT 1 FROM event_link l
    WHERE l.target_kind = ${kindNumber(kind)} AND l.target_id = r.id AND l.status IN ${inList([...new Set(ownOnly)])}
      AND l.author = ${userId} AND ${link})`;
  return or([ofAll, ofOwn]);
}

/**
 * True for an embedded record if an event that is listed for the actor names it, and for every other record.
 */
function embeddedInListed(kind: LinkedKind, { eventVisibility }: LinkedFilter): Sql {
  const isNamed = linkedToVisible(kind, eventVisibility, {
    count: sql`latest_start_utc > 0`,
    link: sql`l.hidden = ${LISTED}`,
  });
  return or([sql`r.id < ${FIRST_EMBEDDED_ID}`, isNamed]);
}

/**
 * True if an event that the actor may see names this venue or organizer. Hidden events count,
 * protected events do not.
 */
export function isLinkedToVisibleEvent(
  db: Database,
  kind: LinkedKind,
  id: number,
  eventVisibility: Visibility,
): boolean {
  const isLinked = linkedToVisible(kind, eventVisibility, {
    count: sql`events > 0`,
    link: sql`l.hidden <> ${PROTECTED}`,
  });
  return (
    db.get(sql`SELECT 1 FROM linked_record r WHERE r.kind = ${kind} AND r.id = ${id} AND ${isLinked}`) !== undefined
  );
}

/** Hidden events do not count: a client that lists the upcoming events next would find none. */
function hasUpcomingEvents(kind: LinkedKind, eventVisibility: Visibility, fromUtc: string): Sql {
  const from = wallNumber(fromUtc);
  return linkedToVisible(kind, eventVisibility, {
    count: sql`latest_start_utc >= ${from}`,
    link: sql`l.hidden = ${LISTED} AND l.starts_utc >= ${from}`,
  });
}

/**
 * Published and private events count for every actor, as in The Events Calendar's response to anonymous
 * clients (docs/differences.md). An anonymous client can learn that a private event exists, and nothing else
 * about it. Hidden events count too.
 */
function hasEvents(kind: LinkedKind): Sql {
  return sql`r.id IN (
    SELECT target_id FROM event_count WHERE target_kind = ${kindNumber(kind)} AND status IN ('publish', 'private'))`;
}

/** The field of an event's record that names its links. */
const LINKS_PROPERTY = { category: 'categories', tag: 'tags', venue: 'venues', organizer: 'organizers' } as const;

/**
 * True for records `r` that the event names, if the actor may see the event, and it is neither protected nor
 * in the trash.
 */
function isNamedBy(kind: LinkedKind | TermKind, eventId: number, visibility: Visibility): Sql {
  const path = raw(`'$.${LINKS_PROPERTY[kind]}'`);
  return sql`r.id IN (
    SELECT j.value FROM event e JOIN post p ON p.id = e.id, json_each(p.record, ${path}) j
    WHERE e.id = ${eventId} AND NOT json_extract(p.record, '$.protected') AND e.status <> 'trash'
      AND ${isVisible(visibility, 'e')})`;
}

/** Those of these venues or organizers that the visibility covers. None in the trash. */
export function visibleLinkedIds(
  db: Database,
  kind: LinkedKind,
  ids: readonly number[],
  visibility: Visibility,
): number[] {
  return db.numbers(sql`
    SELECT r.id FROM linked_record r
    WHERE r.kind = ${kind} AND r.id IN ${inJson(ids)} AND r.status <> 'trash' AND ${isVisible(visibility, 'r')}`);
}

/** Ids and total of a list of venues or organizers. */
export function listLinked(db: Database, kind: LinkedKind, filter: LinkedFilter): IdPage {
  const { visibility, eventVisibility, words = [], event, upcomingFromUtc } = filter;
  const conditions = [
    sql`r.kind = ${kind}`,
    isVisible(visibility, 'r'),
    embeddedInListed(kind, filter),
    ...containsWords(words, 'r.folded'),
  ];
  if (filter.modifiedAfter !== undefined) conditions.push(sql`r.modified > ${wallNumber(filter.modifiedAfter)}`);
  if (filter.customFields) conditions.push(hasCustomValues(kind, filter.customFields, 'r'));
  if (event !== undefined) conditions.push(isNamedBy(kind, event, eventVisibility));
  if (filter.hasEvents !== undefined) conditions.push(filter.hasEvents ? hasEvents(kind) : sql`NOT ${hasEvents(kind)}`);
  if (upcomingFromUtc !== undefined) conditions.push(hasUpcomingEvents(kind, eventVisibility, upcomingFromUtc));
  return listPage(db, sql`linked_record r`, and(conditions), sql`r.published DESC, r.id`, limitOffset(filter));
}

/** Columns by which terms can be sorted, with the name as the default. */
const TERM_ORDER_COLUMNS: Partial<Record<TermOrder, string>> = {
  id: 'r.id',
  slug: 'r.slug',
  description: 'r.description_sort',
  parent: 'r.parent',
};

const isByInclude = (orderBy: TermOrder): boolean => orderBy === 'include' || orderBy === 'include_slugs';

/**
 * Ties are in the order of ids. `term_group` is 0 for every term of WordPress, and `none` names no order:
 * both leave the order of ids.
 */
function termOrder({ kind, orderBy, descending, include }: TermFilter): Sql {
  const direction = raw(descending ? 'DESC' : 'ASC');
  if (orderBy === 'none' || orderBy === 'term_group') return sql`r.id`;
  if (orderBy === 'count') {
    const count = sql`SELECT c.events FROM event_count c
      WHERE c.target_kind = ${kindNumber(kind)} AND c.target_id = r.id AND c.status = 'publish'`;
    return sql`ifnull((${count}), 0) ${direction}, r.id`;
  }
  if (isByInclude(orderBy) && include) {
    return sql`j.key ${direction}, r.id`;
  }
  return sql`${raw(TERM_ORDER_COLUMNS[orderBy] ?? 'r.name_sort')} ${direction}, r.id`;
}

/**
 * True for terms with published events, and for their ancestors unless the list names its terms (`include`).
 */
function isNotEmpty({ kind, include }: TermFilter): Sql {
  const used = sql`SELECT target_id FROM event_count WHERE target_kind = ${kindNumber(kind)} AND status = 'publish'`;
  if (include) return sql`r.id IN (${used})`;
  return sql`r.id IN (
    WITH RECURSIVE up (id) AS (
      SELECT t.id FROM term t WHERE t.kind = ${kind} AND t.id IN (${used})
      UNION SELECT t.parent FROM up CROSS JOIN term t ON t.kind = ${kind} AND t.id = up.id WHERE t.parent <> 0
    )
    SELECT id FROM up)`;
}

/** Ids and total of a list of terms. */
export function listTerms(db: Database, filter: TermFilter): IdPage {
  const { kind, search, include, exclude, parent, event, slug, noticedFrom } = filter;
  const conditions = [sql`r.kind = ${kind}`];
  if (search !== undefined) {
    const text = fold(search);
    conditions.push(sql`(instr(r.name_folded, ${text}) > 0 OR instr(r.slug, ${text}) > 0)`);
  }
  if (include) conditions.push(sql`r.id IN ${inJson(include)}`);
  if (exclude) conditions.push(sql`r.id NOT IN ${inJson(exclude)}`);
  if (parent !== undefined) conditions.push(sql`r.parent = ${parent}`);
  if (slug !== undefined) conditions.push(sql`r.slug_key = ${slugKey(slug)}`);
  if (event !== undefined) conditions.push(isNamedBy(kind, event, filter.eventVisibility));
  if (noticedFrom !== undefined) conditions.push(sql`r.noticed >= ${wallNumber(noticedFrom)}`);
  if (filter.hideEmpty) conditions.push(isNotEmpty(filter));
  // Looking up the place of each term in the list would take a thousand times a thousand steps.
  const included = include && isByInclude(filter.orderBy) ? JSON.stringify([...new Set(include)]) : undefined;
  const from = included === undefined ? sql`term r` : sql`json_each(${included}) j CROSS JOIN term r ON r.id = j.value`;
  return listPage(db, from, and(conditions), termOrder(filter), limitOffset(filter));
}

/** The number of published events of each term. Hidden events count, protected events do not. */
export function termCounts(db: Database, kind: TermKind, ids: readonly number[]): Map<number, number> {
  const rows = db.all<{ id: number; events: number }>(sql`
    SELECT target_id AS id, events FROM event_count
    WHERE target_kind = ${kindNumber(kind)} AND status = 'publish' AND target_id IN ${inJson(ids)}`);
  const counts = new Map(rows.map(({ id, events }) => [id, events]));
  return new Map(ids.map((id) => [id, counts.get(id) ?? 0]));
}
