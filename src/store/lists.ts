// The lists of venues, organizers, categories and tags, and what lists ask of single records. Events: list-events.ts.

import type { TermOrder } from '../interface/parameters.ts';
import { FIRST_EMBEDDED_ID, type LinkedKind, type TermKind, type WallTime } from '../model/records.ts';
import { fold, type SearchWord, slugKey } from '../text/text.ts';
import type { VisibleRecords } from './database.ts';
import { LISTED, PROTECTED, TARGET_KIND, type TargetKind } from './schema.ts';
import { and, containsWords, hasCustomValues, inJson, raw, type Sql, sql, wallNumber } from './sql.ts';

export interface PageWindow {
  limit: number;
  offset: number;
}

/** The ids of a page in list order, and the total of the list, of one state of the replica. */
export interface IdPage {
  ids: number[];
  total: number;
}

/** Venues or organizers, latest published first, then by id. Conditions on events ignore protected and trashed ones. */
export interface LinkedFilter extends PageWindow {
  /** For a caller with unpublished records: only these statuses. */
  statuses?: readonly string[] | undefined;
  words?: SearchWord[] | undefined;
  customFields?: Readonly<Record<string, string>> | undefined;
  /** Linked to this event. */
  event?: number | undefined;
  /** true: linked to an event; false: linked to none. */
  hasEvents?: boolean | undefined;
  /** Changed after this UTC time. */
  modifiedAfter?: WallTime | undefined;
  /** Linked to an event that lists show and that starts at or after this UTC time. */
  upcomingFromUtc?: WallTime | undefined;
}

export interface TermFilter extends PageWindow {
  kind: TermKind;
  /** Substring of the name or slug, ignoring case. */
  search?: string | undefined;
  include?: number[] | undefined;
  exclude?: number[] | undefined;
  orderBy: TermOrder;
  descending: boolean;
  /** Only terms with published events, and their ancestors; without the ancestors if `include` names terms. */
  hideEmpty: boolean;
  parent?: number | undefined;
  /** Terms of this event, unless it is protected or in the trash. */
  event?: number | undefined;
  slug?: string | undefined;
  /** Noticed in this second (UTC) or later: a term may have changed after a client's last request of this second. */
  noticedFrom?: WallTime | undefined;
}

/**
 * Linked: true for records `r` with a link of an event that is neither protected nor in the trash. Hidden events count,
 * and the caller's drafts. `link`: a further condition on the link `l`. Without the `+`, SQLite makes a join of EXISTS,
 * and counts the OFFSET of a page wrongly (3.51, of Node 22.23).
 */
const isLinked = (kind: TargetKind, link: Sql = raw('1')): Sql => sql`+EXISTS (
  SELECT 1 FROM event_link l
  WHERE l.kind = ${raw(TARGET_KIND[kind])} AND l.target_id = r.id AND l.listing <> ${raw(PROTECTED)}
    AND l.status <> 'trash' AND ${link})`;

const isListed = sql`l.listing = ${raw(LISTED)}`;

/** True if an event that is neither protected nor in the trash names this venue or organizer. */
export const isLinkedToEvent = (visible: VisibleRecords, kind: LinkedKind, id: number): boolean =>
  visible.numbers(sql`SELECT 1 FROM linked_record r WHERE r.kind = ${kind} AND r.id = ${id} AND ${isLinked(kind)}`)
    .length > 0;

/** Which of these ids are venues or organizers that the caller sees, and not in the trash. */
export const visibleLinkedIds = (visible: VisibleRecords, kind: LinkedKind, ids: readonly number[]): number[] =>
  visible.numbers(sql`
    SELECT r.id FROM linked_record r WHERE r.kind = ${kind} AND r.id IN ${inJson(ids)} AND r.status <> 'trash'`);

/** The page and the total of the rows `r` of a list. */
function pageOf(visible: VisibleRecords, rows: Sql, orderBy: Sql, { limit, offset }: PageWindow): IdPage {
  const total = visible.cachedCount(sql`SELECT count(*) FROM ${rows}`);
  const ids = visible.numbers(sql`SELECT r.id FROM ${rows} ORDER BY ${orderBy} LIMIT ${limit} OFFSET ${offset}`);
  return { ids, total };
}

export function listLinked(visible: VisibleRecords, kind: LinkedKind, filter: LinkedFilter): IdPage {
  const { words = [], event, hasEvents, upcomingFromUtc, statuses, modifiedAfter, customFields } = filter;
  const conditions = [
    sql`r.kind = ${kind}`,
    // A venue that is text inside events, or comes from a source, is listed as soon as one of its events is.
    sql`(r.id < ${raw(FIRST_EMBEDDED_ID)} OR ${isLinked(kind, isListed)})`,
    ...containsWords(words, 'r.folded'),
    // A protected record has no text: a word that folds to nothing must not find it.
    ...(words.length > 0 ? [sql`r.folded <> ''`] : []),
  ];
  if (statuses) conditions.push(sql`r.status IN ${inJson(statuses)}`);
  if (modifiedAfter !== undefined) conditions.push(sql`r.modified > ${wallNumber(modifiedAfter)}`);
  if (customFields) conditions.push(hasCustomValues(kind, customFields, 'r'));
  if (event !== undefined) conditions.push(isLinked(kind, sql`l.id = ${event}`));
  if (hasEvents !== undefined) conditions.push(sql`${raw(hasEvents ? '' : 'NOT')} (${isLinked(kind)})`);
  if (upcomingFromUtc !== undefined)
    conditions.push(isLinked(kind, sql`${isListed} AND l.starts_utc >= ${wallNumber(upcomingFromUtc)}`));
  return pageOf(visible, sql`linked_record r WHERE ${and(conditions)}`, sql`r.published DESC, r.id`, filter);
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
 * Counted: the links of published events to the term with this id. Those of hidden events count, of protected events
 * not. Unlike for `isLinked`, the caller's drafts do not (so `main`): everybody sees the same count.
 */
const fromCountedLinks = (kind: TermKind, id: Sql): Sql => sql`
  main.event_link l
  WHERE l.kind = ${raw(TARGET_KIND[kind])} AND l.target_id = ${id} AND l.listing <> ${raw(PROTECTED)}`;

/** Ties are in the order of ids. All tie by `none`, and by `term_group`: it is 0 for every term of WordPress. */
function termOrder({ kind, orderBy, descending, include }: TermFilter): Sql {
  const direction = raw(descending ? 'DESC' : 'ASC');
  if (orderBy === 'none' || orderBy === 'term_group') return sql`r.id`;
  if (orderBy === 'count') return sql`(SELECT count(*) FROM ${fromCountedLinks(kind, sql`r.id`)}) ${direction}, r.id`;
  if (isByInclude(orderBy) && include) return sql`j.key ${direction}, r.id`;
  return sql`${raw(TERM_ORDER_COLUMNS[orderBy] ?? 'r.name_sort')} ${direction}, r.id`;
}

/** As `TermFilter.hideEmpty`. */
function isNotEmpty({ kind, include }: TermFilter): Sql {
  const isUsed = sql`EXISTS (SELECT 1 FROM ${fromCountedLinks(kind, sql`t.id`)})`;
  const used = sql`SELECT t.id FROM term t WHERE t.kind = ${kind} AND ${isUsed}`;
  if (include) return sql`r.id IN (${used})`;
  return sql`r.id IN (
    WITH RECURSIVE up (id) AS (
      ${used}
      UNION SELECT t.parent FROM up CROSS JOIN term t ON t.kind = ${kind} AND t.id = up.id WHERE t.parent <> 0
    )
    SELECT id FROM up)`;
}

export function listTerms(visible: VisibleRecords, filter: TermFilter): IdPage {
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
  if (event !== undefined) conditions.push(isLinked(kind, sql`l.id = ${event}`));
  if (noticedFrom !== undefined) conditions.push(sql`r.noticed >= ${wallNumber(noticedFrom)}`);
  if (filter.hideEmpty) conditions.push(isNotEmpty(filter));
  // `j.key` is the place of a term in `include`. To look it up for each of 1000 terms would take 1000 × 1000 steps.
  const included = include && isByInclude(filter.orderBy) ? JSON.stringify([...new Set(include)]) : undefined;
  const from = included === undefined ? sql`term r` : sql`json_each(${included}) j CROSS JOIN term r ON r.id = j.value`;
  return pageOf(visible, sql`${from} WHERE ${and(conditions)}`, termOrder(filter), filter);
}

/** The number of published events of this term. */
export const termCount = (visible: VisibleRecords, kind: TermKind, id: number): number =>
  visible.cachedCount(sql`SELECT count(*) FROM ${fromCountedLinks(kind, sql`${id}`)}`);
