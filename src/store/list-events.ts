// Owns the event list: one statement says which events belong to it; its page and its exact total are two uses of it.

import type { EventStatus } from '../model/event-state.ts';
import type { WallTime } from '../model/records.ts';
import { fold, type SearchWord } from '../text/text.ts';
import type { VisibleRecords } from './database.ts';
import type { IdPage, PageWindow } from './lists.ts';
import { LISTED, TARGET_KIND, type TargetKind } from './schema.ts';
import { and, containsWords, hasCustomValues, inJson, raw, type Sql, sql, wallNumber } from './sql.ts';

/** A bound on the event's start or end, in the event's own wall time. */
export interface DateBound {
  field: 'start' | 'end';
  op: '>=' | '>' | '<=' | '<';
  wall: WallTime;
}

/**
 * All conditions must hold. A list of ids means any of them; an absent condition holds for every event.
 * Hidden events never match. A protected event matches no condition on a value that its password hides: its links,
 * `featured: true`, its parent, `eventStatuses`, its text, its custom fields. `insertPost` (post-rows.ts) stores no
 * such value of it. `eventFilter` (src/calendar/event-reads.ts) makes conditions of the parameters.
 */
interface EventConditions {
  /** For a caller with unpublished records: only these statuses, such as `draft`. */
  statuses?: readonly string[] | undefined;
  bounds?: readonly DateBound[] | undefined;
  words?: readonly SearchWord[] | undefined;
  /** Including their descendants. */
  categories?: readonly number[] | undefined;
  tags?: readonly number[] | undefined;
  venues?: readonly number[] | undefined;
  organizers?: readonly number[] | undefined;
  /** Events that link to none of these venues. */
  notVenues?: readonly number[] | undefined;
  featured?: boolean | undefined;
  include?: readonly number[] | undefined;
  /** Changed after this UTC time. */
  modifiedAfter?: WallTime | undefined;
  parent?: number | undefined;
  /** Such as `cancelled`. */
  eventStatuses?: readonly EventStatus[] | undefined;
  /** Events that any of these sources has, also merged into those of another one. */
  sources?: readonly string[] | undefined;
  customFields?: Readonly<Record<string, string>> | undefined;
}

type EventCondition = keyof EventConditions;

export interface EventFilter extends PageWindow, EventConditions {
  order: EventOrder;
  /** Reverses the order; ties too. */
  descending?: boolean | undefined;
}

/** The columns of `event` that each order compares, ascending. */
export const EVENT_ORDER_COLUMNS = {
  start: ['starts', 'published', 'id'],
  published: ['published', 'id'],
  modified: ['modified', 'id'],
  title: ['title', 'id'],
} as const;

export type EventOrder = keyof typeof EVENT_ORDER_COLUMNS;

/** Columns of `event_link` that an order may compare. A list in another order, such as `title`, reads `event`. */
const ORDER_COLUMNS_OF_LINKS: ReadonlySet<string> = new Set(['id', 'starts', 'ends', 'published', 'modified']);

/** True for the rows `e` in the window: a link has the times of its event. */
const isWithin = (bounds: readonly DateBound[] = []): Sql =>
  and(bounds.map(({ field, op, wall }) => sql`e.${raw(`${field}s`)} ${raw(op)} ${wallNumber(wall)}`));

/**
 * Every condition as SQL on `e`, a row of `event` or of `event_link`, in both of which `e.id` is the event's. A
 * condition without a row here does not compile. `schema`: see `VisibleRecords.callerSchema`.
 */
const CONDITIONS: {
  [Name in EventCondition]-?: (value: NonNullable<EventConditions[Name]>, filter: EventFilter, schema?: string) => Sql;
} = {
  statuses: (statuses) => sql`e.status IN ${inJson(statuses)}`,
  bounds: isWithin,
  // A blank search has no words, and finds events without a text too.
  words: (words, _filter, schema) => (words.length === 0 ? sql`TRUE` : sql`e.id IN (${idsWithWords(words, schema)})`),
  categories: (ids, filter) => hasLinkTo('category', ids, filter),
  tags: (ids, filter) => hasLinkTo('tag', ids, filter),
  venues: (ids, filter) => hasLinkTo('venue', ids, filter),
  organizers: (ids, filter) => hasLinkTo('organizer', ids, filter),
  notVenues: (ids, filter) => sql`NOT (${hasLinkTo('venue', ids, filter)})`,
  featured: (featured) => sql`e.featured = ${featured ? 1 : 0}`,
  include: (ids) => sql`e.id IN ${inJson(ids)}`,
  modifiedAfter: (utc) => sql`e.modified > ${wallNumber(utc)}`,
  parent: (id) => sql`e.id IN (SELECT id FROM event WHERE parent = ${id} AND parent <> 0)`,
  eventStatuses: (words) =>
    sql`e.id IN (SELECT id FROM event WHERE event_status IN ${inJson(words)} AND event_status <> '')`,
  sources: (names) => sql`e.id IN (SELECT event_id FROM source_event WHERE source IN ${inJson(names)})`,
  customFields: (values) => hasCustomValues('event', values, 'e'),
};

/** The conditions on links, the most selective kind first: a venue has fewer events than a category. */
const LINK_CONDITIONS = { organizers: 'organizer', venues: 'venue', tags: 'tag', categories: 'category' } as const;
type LinkCondition = keyof typeof LINK_CONDITIONS;

/** True for the links `e` to one of these records that lists show. */
function isLinkTo(kind: TargetKind, ids: readonly number[]): Sql {
  const target = ids.length === 1 ? sql`e.target_id = ${ids[0]!}` : sql`e.target_id IN ${inJson(ids)}`;
  return sql`e.kind = ${raw(TARGET_KIND[kind])} AND ${target} AND e.listing = ${raw(LISTED)}`;
}

/** The links in the window are read once for all events: looking up those of each event takes half as long again. */
const hasLinkTo = (kind: TargetKind, ids: readonly number[], { bounds }: EventFilter): Sql =>
  sql`e.id IN (SELECT e.id FROM event_link e WHERE ${isLinkTo(kind, ids)} AND ${isWithin(bounds)})`;

/** A trigram has three letters, and the time of a phrase of trigrams grows with the square of its length. */
const INDEXED_LETTERS = { min: 3, max: 24 };

const lettersOf = ({ text }: SearchWord): string[] => [...fold(text)];

/** True for a word that the index cannot answer, so that all texts are read: the last row of `idsWithWords`. */
export function isSoughtInTexts(word: SearchWord): boolean {
  const { length } = lettersOf(word);
  return length < INDEXED_LETTERS.min || (word.not && length > INDEXED_LETTERS.max);
}

/** The index's query for the words, all of them, or for the excluded ones, any of them. Empty for no words. */
function matchOf(words: readonly SearchWord[], not: boolean): string {
  const indexed = words.filter((word) => word.not === not && !isSoughtInTexts(word));
  const phrases = indexed.map((word) => lettersOf(word).slice(0, INDEXED_LETTERS.max).join('').replaceAll('"', '""'));
  return phrases.map((phrase) => `"${phrase}"`).join(not ? ' OR ' : ' AND ');
}

/**
 * The ids of the texts with the words. The index knows of a long word, one of over 24 letters, the beginning alone.
 *
 *     jazz                  MATCH '"jazz"'
 *     a long word           MATCH its first 24 letters, and instr(x.folded, the word) > 0 in what that finds
 *     -rock                 NOT IN (... MATCH '"rock"')
 *     dj, -dj, -long word   instr(x.folded, the word) > 0, or of an excluded one = 0
 */
function idsWithWords(words: readonly SearchWord[], callerSchema?: string): Sql {
  const found = matchOf(words, false);
  const excluded = matchOf(words, true);
  const inText = words.filter((word) => isSoughtInTexts(word) || lettersOf(word).length > INDEXED_LETTERS.max);
  const conditions = containsWords(inText, 'x.folded');
  if (excluded) conditions.unshift(sql`x.rowid NOT IN (SELECT rowid FROM event_fts WHERE event_fts MATCH ${excluded})`);
  if (found) conditions.unshift(sql`x.event_fts MATCH ${found}`);
  const texts = raw(found ? 'event_fts' : 'main.event_text');
  const ofPublic = sql`SELECT x.rowid AS id FROM ${texts} x WHERE ${and(conditions)}`;
  if (callerSchema === undefined) return ofPublic;
  const caller = raw(callerSchema);
  // The few texts of a caller's events have no index.
  const ofCaller = sql`SELECT x.id FROM ${caller}.event_text x WHERE ${and(containsWords(words, 'x.folded'))}`;
  return sql`${ofPublic} AND x.rowid NOT IN (SELECT id FROM ${caller}.post) UNION ALL ${ofCaller}`;
}

interface EventRows {
  from: Sql;
  where: Sql;
  /** An event in two of the categories is there twice. */
  repeats: boolean;
  /** Even for one page, SQLite has to read all texts, or all links to a record. Examples are in `eventsOf`. */
  readsAll: boolean;
}

/**
 * The condition that decides which rows are read, each of which the other conditions then look at. Undefined: all
 * events that lists show are read. `event_link` repeats an event's times and flags for each of its links; `e.kind = 3`
 * are those to venues.
 *
 *     venue=12&categories=8   FROM event_link e WHERE e.kind = 3 AND e.target_id = 12 AND e.id IN (links of category 8)
 *     venue=12&orderby=title  FROM event e WHERE e.id IN (links of venue 12)
 *     venue=12&include=5,6    FROM event e WHERE e.id IN (5, 6) AND e.id IN (links of venue 12)
 *     venue=12&search=jazz    FROM (texts with jazz) x JOIN event e ON e.id = x.id WHERE e.id IN (links of venue 12)
 *     the same, of staff      FROM event_link e WHERE e.kind = 3 AND e.target_id = 12 AND e.id IN (texts with jazz)
 * @param links that the filter names, the most selective kind first
 */
function drivingOf({ words, include, order }: EventFilter, links: readonly LinkCondition[], schema?: string) {
  // For staff `event` is a union with their database, in which SQLite looks up no id of a join: it would read all.
  if (words?.length && schema === undefined) return 'words';
  const linksHaveOrder = EVENT_ORDER_COLUMNS[order].every((column) => ORDER_COLUMNS_OF_LINKS.has(column));
  return linksHaveOrder && !include ? links[0] : undefined;
}

/** The rows of the list: without order, and of all pages. */
function eventsOf(filter: EventFilter, callerSchema: string | undefined): EventRows {
  const { words, include } = filter;
  const asked = (Object.keys(CONDITIONS) as EventCondition[]).filter((name) => filter[name] !== undefined);
  const links = (Object.keys(LINK_CONDITIONS) as LinkCondition[]).filter((name) => filter[name] !== undefined);
  const driving = drivingOf(filter, links, callerSchema);
  // The words `-rock` and `dj` read all texts. `notVenues=12` reads all links to 12; `venue=12` if it does not drive.
  const readsTexts = words?.some((word) => word.not || isSoughtInTexts(word)) ?? false;
  const readsAll = readsTexts || filter.notVenues !== undefined || links.some((name) => name !== driving);
  const others = asked.filter((name) => name !== driving);
  // The value belongs to the condition, which the compiler cannot know of a union of names.
  const conditions = others.map((name) => CONDITIONS[name](filter[name] as never, filter, callerSchema));
  if (driving !== undefined && driving !== 'words') {
    const ids = filter[driving] ?? [];
    const where = and([isLinkTo(LINK_CONDITIONS[driving], ids), ...conditions]);
    return { from: sql`event_link e`, where, repeats: ids.length > 1, readsAll };
  }
  // The `+` lets SQLite look up the ids of `include` or of links instead of reading all events that lists show.
  const isListed = sql`${raw(include || links.length > 0 ? '+' : '')}e.listing = ${raw(LISTED)}`;
  const where = and([isListed, ...conditions]);
  const texts = driving === 'words' ? idsWithWords(words ?? []) : undefined;
  const from = texts ? sql`(${texts}) x CROSS JOIN event e ON e.id = x.id` : sql`event e`;
  return { from, where, repeats: false, readsAll };
}

/** The ids of a page and the exact total. Nothing is written between these two synchronous statements. */
export function listEvents(visible: VisibleRecords, filter: EventFilter): IdPage {
  const { order, descending, limit, offset } = filter;
  const { from, where, repeats, readsAll } = eventsOf(filter, visible.callerSchema);
  const columns = EVENT_ORDER_COLUMNS[order].map((column) => `e.${column}`);
  const selected = raw(repeats ? `DISTINCT e.id, ${columns.join(', ')}` : 'e.id');
  const ordered = raw(columns.map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`).join(', '));
  const events = sql`SELECT ${selected} FROM ${from} WHERE ${where} ORDER BY ${ordered}`;
  // One statement for all ids: a page and a total would each read those. `count(*) OVER ()` is no faster.
  if (readsAll) {
    const ids = visible.numbers(events);
    return { ids: ids.slice(offset, offset + limit), total: ids.length };
  }
  const counted = raw(repeats ? 'DISTINCT e.id' : '*');
  const total = visible.cachedCount(sql`SELECT count(${counted}) FROM ${from} WHERE ${where}`);
  return { ids: visible.numbers(sql`${events} LIMIT ${limit} OFFSET ${offset}`), total };
}
