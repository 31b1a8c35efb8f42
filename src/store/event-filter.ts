// The filter of an event list, and the SQL of its conditions on columns, links and dates.

import type { EventStatus } from '../model/event-state.ts';
import type { WallTime } from '../model/records.ts';
import { secondsBefore, wallNumber } from '../time/wall-time.ts';
import type { Database } from './database.ts';
import type { DateBound, PageWindow, SearchWord, Visibility } from './filters.ts';
import { LISTED, linkBit, linkToken, TARGET_KIND, type TargetKind } from './schema.ts';
import { hasCustomValues, inJson, inList, or, raw, type Sql, sql } from './sql.ts';

/**
 * Conditions on the scanned row `e`, which is of `event` or of `event_link`. A new filter on a column that both
 * tables have is one property here and its parameter in src/interface/parameters.ts, with the same name, such
 * as `max_cost`: the property defines the field of `EventFilter` and its SQL. A condition without a parameter of
 * its name is also in `SET_BY_USE_CASE`.
 */
const ROW_CONDITIONS = {
  featured: (featured: boolean) => sql`e.featured = ${raw(featured ? 1 : 0)}`,
  /** Changed after this UTC time. */
  modifiedAfter: (utc: WallTime) => sql`e.modified > ${wallNumber(utc)}`,
  parent: (id: number) => sql`e.id IN (SELECT id FROM event WHERE parent = ${id} AND parent <> 0)`,
  event_status: (words: readonly EventStatus[]) =>
    sql`e.id IN (SELECT id FROM event WHERE event_status IN ${inJson(words)} AND event_status <> '')`,
  customFields: (values: Readonly<Record<string, string>>) => hasCustomValues('event', values, 'e'),
  /** Events that link to none of these venues. */
  notVenues: (ids: number[]) => sql`e.id NOT IN (
    SELECT l.id FROM event_link l
    WHERE l.target_kind = ${raw(TARGET_KIND.venue)} AND l.target_id IN ${inJson(ids)} AND l.hidden = ${raw(LISTED)})`,
} satisfies Record<string, (value: never) => Sql>;

type RowConditions = typeof ROW_CONDITIONS;
type RowFilter = { [Name in keyof RowConditions]?: Parameters<RowConditions[Name]>[0] | undefined };

/**
 * All conditions must hold. A list of ids means any of them; an absent condition holds for every event.
 * Hidden events never match. A protected event matches no condition on a value that its password hides: its
 * links, `featured: true`, its parent, its status, its text but the title.
 */
export interface EventFilter extends PageWindow, RowFilter {
  visibility: Visibility;
  bounds?: DateBound[] | undefined;
  words?: SearchWord[] | undefined;
  /** Including their descendants. */
  categories?: number[] | undefined;
  tags?: number[] | undefined;
  venues?: number[] | undefined;
  organizers?: number[] | undefined;
  include?: number[] | undefined;
  order: EventOrder;
  /** Reverses the order; ties too. */
  descending?: boolean | undefined;
}

/** The columns of `event` that each order compares, ascending. */
export const EVENT_ORDER_COLUMNS = {
  start: ['starts', 'published', 'id'],
  date: ['published', 'id'],
  modified: ['modified', 'id'],
  title: ['title', 'id'],
} as const;

export type EventOrder = keyof typeof EVENT_ORDER_COLUMNS;

/** The fields of `EventFilter` that restrict the list. */
export type EventCondition = Exclude<keyof EventFilter, keyof PageWindow | 'order' | 'descending'>;

/** event-plan.ts builds the SQL of these conditions, because it depends on the index that is scanned. */
const PLANNED = undefined;

/** How each condition becomes SQL. A condition without a property here is a compile error. */
const CONDITIONS: { [Name in EventCondition]: typeof PLANNED | ((value: NonNullable<EventFilter[Name]>) => Sql) } = {
  ...ROW_CONDITIONS,
  visibility: PLANNED,
  bounds: PLANNED,
  words: PLANNED,
  categories: PLANNED,
  tags: PLANNED,
  venues: PLANNED,
  organizers: PLANNED,
  include: PLANNED,
};

const ROW_CONDITION_NAMES = Object.keys(ROW_CONDITIONS) as (keyof RowFilter)[];
const CONDITION_NAMES = Object.keys(CONDITIONS) as EventCondition[];

/** Conditions without a parameter of the same name: the use case sets them. */
const SET_BY_USE_CASE: readonly (keyof RowFilter)[] = ['parent', 'notVenues', 'modifiedAfter', 'customFields'];

const PARAMETER_CONDITIONS = ROW_CONDITION_NAMES.filter((name) => !SET_BY_USE_CASE.includes(name));

/**
 * The conditions that have the names of parameters, with the values of a request. The API has checked the types of
 * the values.
 */
export const conditionsOfParameters = (values: Readonly<Record<string, unknown>>): RowFilter =>
  Object.fromEntries(PARAMETER_CONDITIONS.map((name) => [name, values[name]]));

/** The SQL of the filter's row conditions that are set. */
export function rowConditions(filter: EventFilter): Sql[] {
  return CONDITION_NAMES.flatMap((name) => {
    const [toSql, value] = [CONDITIONS[name], filter[name]];
    // The condition's parameter and the filter's field have the same type, which the compiler cannot know of a
    // union of names.
    return toSql === PLANNED || value === undefined ? [] : [toSql(value as never)];
  });
}

/** True if the filter restricts nothing but these fields. */
export const restrictsOnly = (filter: EventFilter, names: readonly EventCondition[]): boolean =>
  CONDITION_NAMES.every((name) => names.includes(name) || filter[name] === undefined);

/** The events that are linked to one of these records. */
export interface LinkCondition {
  targetKind: TargetKind;
  targetIds: number[];
}

/** The most scans of single targets. For more, one scan reads all targets, and SQLite sorts the rows. */
export const MAX_SCANS = 48;

/**
 * True for rows of `event` that link to one of the targets. One lookup by the primary key of `event_link` for
 * each target; of many targets, such as all venues in an area, the links are collected once for all rows.
 * The `+` keeps SQLite from turning EXISTS into a join. In SQLite 3.51, which Node 22 has, the OFFSET of such
 * a join counts an event once for each of its targets.
 */
export function linksTo({ targetKind, targetIds }: LinkCondition): Sql {
  if (targetIds.length > MAX_SCANS)
    return sql`e.id IN (
      SELECT l.id FROM event_link l
      WHERE l.target_kind = ${raw(TARGET_KIND[targetKind])} AND l.target_id IN ${inList(targetIds)}
        AND l.hidden = ${raw(LISTED)})`;
  return sql`+EXISTS (
    SELECT 1 FROM event_link l
    WHERE l.target_kind = ${raw(TARGET_KIND[targetKind])} AND l.target_id IN ${inList(targetIds)} AND l.hidden = e.hidden
      AND l.status = e.status AND l.starts = e.starts AND l.published = e.published AND l.id = e.id)`;
}

/**
 * True for rows of `event_link` whose event links to one of the targets, too: the row holds all links of its
 * event.
 */
export function rowLinksTo({ targetKind, targetIds }: LinkCondition): Sql {
  return or(
    targetIds.map((id) => {
      const [bit, token] = [linkBit(TARGET_KIND[targetKind], id), linkToken(TARGET_KIND[targetKind], id)];
      return sql`e.link_bits & ${bit} AND instr(e.link_tokens, ${token}) > 0`;
    }),
  );
}

const TARGET_IDS = {
  category: ({ categories }) => categories,
  tag: ({ tags }) => tags,
  venue: ({ venues }) => venues,
  organizer: ({ organizers }) => organizers,
} satisfies Record<TargetKind, (filter: EventFilter) => number[] | undefined>;

/** The link conditions of a filter, each target once. */
export function linkConditions(filter: EventFilter): LinkCondition[] {
  return (Object.keys(TARGET_IDS) as TargetKind[]).flatMap((targetKind) => {
    const ids = TARGET_IDS[targetKind](filter);
    return ids ? [{ targetKind, targetIds: [...new Set(ids)] }] : [];
  });
}

export interface SizedLinkCondition extends LinkCondition {
  /** Number of events of each target, and of all targets. */
  sizes: ReadonlyMap<number, number>;
  events: number;
}

/**
 * The most selective condition first, which is the one to scan; the targets of each by size, the largest
 * first.
 */
export function bySelectivity(db: Database, conditions: LinkCondition[]): SizedLinkCondition[] {
  const sized = conditions.map(({ targetKind, targetIds }) => {
    const rows = db.all<{ id: number; events: number }>(sql`
      SELECT target_id AS id, sum(events) AS events FROM event_count
      WHERE target_kind = ${raw(TARGET_KIND[targetKind])} AND target_id IN ${inJson(targetIds)} GROUP BY target_id`);
    const sizes = new Map(rows.map(({ id, events }) => [id, events]));
    const largestFirst = targetIds.toSorted((a, b) => (sizes.get(b) ?? 0) - (sizes.get(a) ?? 0));
    return { targetKind, targetIds: largestFirst, sizes, events: rows.reduce((sum, { events }) => sum + events, 0) };
  });
  return sized.sort((a, b) => a.events - b.events);
}

/**
 * Targets with this many times fewer events than the scan are collected in a set once, which is cheaper than
 * testing each row for each.
 */
const COLLECT_RATIO = 32;

/** The most targets that rows are tested for one by one. */
export const MAX_ROW_TESTS = 16;

/**
 * The same as `rowLinksTo`, for a scan of up to `scanned` rows: collects the many small targets, and tests
 * rows for the few large ones.
 */
export function rowLinksToAny({ targetKind, targetIds, sizes }: SizedLinkCondition, scanned: number): Sql {
  const collected: number[] = [];
  let events = 0;
  for (const id of targetIds.toReversed()) {
    events += sizes.get(id) ?? 0;
    if (events * COLLECT_RATIO > scanned && targetIds.length - collected.length <= MAX_ROW_TESTS) break;
    collected.push(id);
  }
  if (collected.length < 2) return rowLinksTo({ targetKind, targetIds });
  const isCollected = sql`e.id IN (
    SELECT l.id FROM event_link l
    WHERE l.target_kind = ${raw(TARGET_KIND[targetKind])} AND l.target_id IN ${inList(collected)})`;
  const large = targetIds.slice(0, targetIds.length - collected.length);
  // The largest first: they decide most rows.
  return large.length === 0 ? isCollected : or([rowLinksTo({ targetKind, targetIds: large }), isCollected]);
}

/** Inclusive bounds on the start and end of an event, as wall numbers. */
export interface TimeRange {
  startsFrom: number;
  startsTo: number;
  endsFrom: number;
  endsTo: number;
}

/** The highest wall number. */
export const MAX_WALL = 99_991_231_235_959;

/** Combines all bounds into one range: the narrowest bound of each side. */
export function timeRange(bounds: readonly DateBound[] = []): TimeRange {
  const range: TimeRange = { startsFrom: 0, startsTo: MAX_WALL, endsFrom: 0, endsTo: MAX_WALL };
  for (const { field, op, wall } of bounds) {
    // Wall numbers are whole: "after 10:00:00" is "from 10:00:01", "before 10:00:00" is "until 9:99:99",
    // which need not be a time of day.
    const value = wallNumber(wall) + (op === '>' ? 1 : op === '<' ? -1 : 0);
    const name = `${field}s${op.startsWith('>') ? 'From' : 'To'}` as const;
    range[name] = name.endsWith('From') ? Math.max(range[name], value) : Math.min(range[name], value);
  }
  return range;
}

export function isInRange({ startsFrom, startsTo, endsFrom, endsTo }: TimeRange): Sql[] {
  const conditions: Sql[] = [];
  if (startsFrom > 0) conditions.push(sql`e.starts >= ${startsFrom}`);
  if (startsTo < MAX_WALL) conditions.push(sql`e.starts <= ${startsTo}`);
  if (endsFrom > 0) conditions.push(sql`e.ends >= ${endsFrom}`);
  if (endsTo < MAX_WALL) conditions.push(sql`e.ends <= ${endsTo}`);
  return conditions;
}

/**
 * Narrows the starts of the range to those of regular events: one that ends at or after `endsFrom` has started at
 * most `maxDurationSeconds` before it, and one that ends by `endsTo` has started by then.
 */
export function narrowStarts(range: TimeRange, maxDurationSeconds: number): TimeRange {
  const earliest = range.endsFrom > 0 ? secondsBefore(range.endsFrom, maxDurationSeconds) : 0;
  return {
    ...range,
    startsFrom: Math.max(range.startsFrom, earliest),
    startsTo: Math.min(range.startsTo, range.endsTo),
  };
}
