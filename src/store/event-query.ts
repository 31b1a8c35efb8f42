// Runs the query of an event list: the exact total, and the ids of one page.

import type { LRUCache } from 'lru-cache';
import { secondsBefore, WALL_DAY } from '../time/wall-time.ts';
import type { Database } from './database.ts';
import {
  EVENT_ORDER_COLUMNS,
  type EventFilter,
  isInRange,
  type LinkCondition,
  linkConditions,
  MAX_ROW_TESTS,
  MAX_WALL,
  narrowStarts,
  restrictsOnly,
  rowConditions,
  rowLinksTo,
  type TimeRange,
  timeRange,
} from './event-filter.ts';
import {
  type EventStats,
  fullTextScan,
  indexScans,
  irregularScan,
  isInScope,
  orderedScans,
  type Scan,
  type ScanPlan,
  select,
} from './event-plan.ts';
import type { IdPage } from './filters.ts';
import { and, joinSql, limitOffset, raw, type Sql, sql, statusScopes } from './sql.ts';

/** Up to this many candidates, reading their texts is faster than the full-text index. */
const MAX_TEXTS_READ = 3000;

/** The sum of several counts, each a statement of its own, of one state of the replica. */
function sumOf(db: Database, counts: readonly Sql[]): number {
  const summands = joinSql(
    counts.map((count) => sql`(${count})`),
    ' + ',
  );
  return Number(db.get<{ total: number }>(sql`SELECT ${summands} AS total`)?.total);
}

/** The events of a scan of links that link to none of these targets. */
const excluding = ({ from, where }: Scan, targets: LinkCondition): Scan => ({
  from,
  where: and([where, sql`NOT ${rowLinksTo(targets)}`]),
});

/**
 * Counts the events of several targets, each once: all events of the largest target, those of the next that
 * do not link to the largest, and so on. With many targets, the union of all but the largest is counted: on
 * most sites the largest has most of the events.
 */
function distinctCounts(scans: readonly Scan[], { targetKind, targetIds }: LinkCondition): Sql[] {
  const count = select('count(*)');
  if (scans.every(({ targetId }) => targetId === undefined)) {
    const [all, ...irregular] = scans;
    return [select('count(DISTINCT e.id)')(all!), ...irregular.map(count)];
  }
  const isFew = targetIds.length <= MAX_ROW_TESTS;
  const disjoint: Scan[] = [];
  const overlapping: Scan[] = [];
  for (const scan of scans) {
    const index = scan.targetId === undefined ? 0 : targetIds.indexOf(scan.targetId);
    if (index === 0) disjoint.push(scan);
    else {
      const larger = targetIds.slice(0, isFew ? index : 1);
      (isFew ? disjoint : overlapping).push(excluding(scan, { targetKind, targetIds: larger }));
    }
  }
  const counts = disjoint.map(count);
  if (isFew) return counts;
  return [...counts, sql`SELECT count(*) FROM (${joinSql(overlapping.map(select('e.id')), ' UNION ')})`];
}

const countsOf = ({ scans, duplicatesBy }: ScanPlan): Sql[] =>
  duplicatesBy ? distinctCounts(scans, duplicatesBy) : scans.map(select('count(*)'));

/** A total: the sum of a known number and of counts. */
interface Total {
  known: number;
  counts: Sql[];
}

/**
 * The total from the number of events of each day; undefined if the filter does not allow it. Scans only what
 * is the actor's own.
 */
function totalByDay(db: Database, stats: EventStats, filter: EventFilter): Total | undefined {
  const { anyAuthor, ownOnly, userId } = filter.visibility;
  const ofAnyAuthor = dayTotal(stats, { ...filter, visibility: { anyAuthor, ownOnly: [], userId } });
  if (ofAnyAuthor === undefined || ownOnly.length === 0) return ofAnyAuthor;
  const rest = { anyAuthor: [], ownOnly: ownOnly.filter((status) => !anyAuthor.includes(status)), userId };
  const { scans } = orderedScans(db, stats, { ...filter, visibility: rest }, []);
  return { known: ofAnyAuthor.known, counts: [...ofAnyAuthor.counts, ...scans.map(select('count(*)'))] };
}

/** What was counted for lists, by the conditions of their filters. */
export type Totals = Pick<LRUCache<string, number>, 'get' | 'set'>;

/** Counts, unless another page of the list did. */
function countOnce(db: Database, totals: Totals, filter: EventFilter, counts: readonly Sql[]): number {
  if (counts.length === 0) return 0;
  const { limit: _limit, offset: _offset, ...conditions } = filter;
  const key = JSON.stringify(conditions);
  const total = totals.get(key) ?? sumOf(db, counts);
  totals.set(key, total);
  return total;
}

/** True if the scans return more rows than `MAX_TEXTS_READ`. */
function exceedsTextLimit(db: Database, { scans }: ScanPlan): boolean {
  const rows = joinSql(scans.map(select('1')), ' UNION ALL ');
  const limit = MAX_TEXTS_READ + 1;
  return db.get<{ n: number }>(sql`SELECT count(*) AS n FROM (${rows} LIMIT ${limit})`)?.n === limit;
}

const orderBy = ({ order, descending }: EventFilter): Sql =>
  raw(EVENT_ORDER_COLUMNS[order].map((column) => `${column} ${descending ? 'DESC' : 'ASC'}`).join(', '));

/** Finding and sorting an event takes at least as long as reading this many rows of an index in order. */
const ROWS_PER_SORTED_EVENT = 5;

/**
 * A page in the order of a column that only `event` has. Reads the index of that order, or else sorts the
 * whole list.
 */
function pageByColumn(db: Database, filter: EventFilter, plan: ScanPlan, total: number): number[] {
  const { order, words = [], include, limit, offset } = filter;
  const index = order === 'title' ? 'event_title' : 'event_modified';
  const rowsReadInOrder = ((offset + limit) * countEvents(db)) / total;
  if (words.length === 0 && include === undefined && rowsReadInOrder < ROWS_PER_SORTED_EVENT * total) {
    const rows = indexScans(filter, index).map(select(`e.id AS id, e.${order} AS ${order}`));
    return db.numbers(sql`${joinSql(rows, ' UNION ALL ')} ORDER BY ${orderBy(filter)} ${limitOffset(filter)}`);
  }
  const ids = joinSql(plan.scans.map(select('e.id')), ' UNION ALL ');
  return db.numbers(sql`SELECT id FROM event WHERE id IN (${ids}) ORDER BY ${orderBy(filter)} ${limitOffset(filter)}`);
}

const countEvents = (db: Database): number => Number(db.get<{ n: number }>(sql`SELECT count(*) AS n FROM event`)?.n);

function pageOfScans(db: Database, filter: EventFilter, { scans, duplicatesBy }: ScanPlan): number[] {
  const distinct = duplicatesBy && scans.length === 1 ? 'DISTINCT ' : '';
  // SQLite merges several scans by the columns that they are sorted by.
  const columns =
    scans.length === 1 && !duplicatesBy ? 'e.id AS id' : 'e.id AS id, e.starts AS starts, e.published AS published';
  const rows = joinSql(scans.map(select(`${distinct}${columns}`)), duplicatesBy ? ' UNION ' : ' UNION ALL ');
  return db.numbers(sql`${rows} ORDER BY ${orderBy(filter)} ${limitOffset(filter)}`);
}

interface ListPlans {
  inOrder: ScanPlan;
  /** Set if the filter has words, and too many candidates to read their texts. */
  fullText: ScanPlan | undefined;
}

function plansOf(db: Database, stats: EventStats, filter: EventFilter): ListPlans {
  const { words = [], include, parent } = filter;
  const inOrder = orderedScans(db, stats, filter, words);
  const isSelective = include !== undefined || parent !== undefined;
  const isLarge =
    words.length > 0 && stats.hasFullText && !isSelective && exceedsTextLimit(db, orderedScans(db, stats, filter, []));
  return { inOrder, fullText: isLarge ? fullTextScan(filter, words) : undefined };
}

/**
 * Returns the ids of a page and the exact total. `stats` and `totals` must be those of the current contents.
 *
 * With few candidates, words are tested on the candidates' texts. With many, the full-text index counts; the
 * page then comes from the scan that reaches it first: the one in list order for a frequent word, the
 * full-text index for a rare one.
 */
export function queryEvents(db: Database, stats: EventStats, totals: Totals, filter: EventFilter): IdPage {
  if (statusScopes(filter.visibility).length === 0) return { ids: [], total: 0 };
  if (linkConditions(filter).some(({ targetIds }) => targetIds.length === 0)) return { ids: [], total: 0 };
  const { inOrder, fullText } = plansOf(db, stats, filter);
  const { known, counts } = totalByDay(db, stats, filter) ?? { known: 0, counts: countsOf(fullText ?? inOrder) };
  const total = known + countOnce(db, totals, filter, counts);
  const { limit, offset, order } = filter;
  if (limit === 0 || offset >= total) return { ids: [], total };
  if (order === 'modified' || order === 'title')
    return { ids: pageByColumn(db, filter, fullText ?? inOrder, total), total };
  if (fullText === undefined || order !== 'start') return { ids: pageOfScans(db, filter, fullText ?? inOrder), total };
  const textsReadInOrder = ((offset + limit) * countEvents(db)) / total;
  return { ids: pageOfScans(db, filter, textsReadInOrder > MAX_TEXTS_READ ? fullText : inOrder), total };
}

/**
 * The days all of whose regular events are in the range; `toDay` is before `fromDay` if there are none. A
 * regular event has ended by `endsTo` if it starts by `endsTo` less the longest duration.
 */
function wholeDays(range: TimeRange, maxDurationSeconds: number): { fromDay: number; toDay: number } {
  // With `<`, `endsTo` is a time of day less one, such as 9:99:99 (see `timeRange`); with `<=` it is a time of day.
  // `endsTo + 1` is that time, or the second after it.
  const startsTo =
    range.endsTo < MAX_WALL
      ? Math.min(range.startsTo, secondsBefore(range.endsTo + 1, maxDurationSeconds + 1))
      : range.startsTo;
  const fromDay = Math.ceil(Math.max(range.startsFrom, range.endsFrom) / WALL_DAY);
  return { fromDay, toDay: Math.floor((startsTo + 1) / WALL_DAY) - 1 };
}

/**
 * The total of a list that is restricted by dates alone: whole days from `event_day`, the rest from the index.
 * Undefined if the filter has other conditions, if it depends on the author, or if its range has no whole day.
 * Counting 100,000 events one by one takes five milliseconds.
 */
function dayTotal(stats: EventStats, filter: EventFilter): Total | undefined {
  if (!restrictsOnly(filter, ['visibility', 'bounds', 'featured'])) return undefined;
  const scopes = statusScopes(filter.visibility);
  if (scopes.some(({ author }) => author !== undefined)) return undefined;
  const range = timeRange(filter.bounds);
  const { fromDay, toDay } = wholeDays(range, stats.maxDurationSeconds);
  if (toDay < fromDay) return undefined;

  /** The events that start on these days, whenever they end. */
  function eventsOn(from: number, to: number): number {
    let events = 0;
    for (const { status } of scopes) {
      if (filter.featured !== true) events += stats.days.eventsOn(status, 0, from, to);
      if (filter.featured !== false) events += stats.days.eventsOn(status, 1, from, to);
    }
    return events;
  }
  const narrowed = narrowStarts(range, stats.maxDurationSeconds);
  const edges = [
    { startsFrom: narrowed.startsFrom, startsTo: fromDay * WALL_DAY - 1 },
    { startsFrom: (toDay + 1) * WALL_DAY, startsTo: narrowed.startsTo },
  ].filter(
    ({ startsFrom, startsTo }) =>
      startsFrom <= startsTo && eventsOn(Math.floor(startsFrom / WALL_DAY), Math.floor(startsTo / WALL_DAY)) > 0,
  );
  const counts = edges.flatMap(({ startsFrom, startsTo }) =>
    scopes.map((scope) => {
      const where = and([
        ...isInScope(scope),
        sql`e.starts BETWEEN ${startsFrom} AND ${startsTo}`,
        ...isInRange(range),
        ...rowConditions(filter),
      ]);
      return select('count(*)')({ from: sql`event e INDEXED BY event_start`, where });
    }),
  );
  const [first, last] = stats.irregularStarts ?? [Number.POSITIVE_INFINITY, 0];
  const isBounded = range.endsFrom > 0 || range.endsTo < stats.latestIrregular;
  // The counts of whole days include irregular events that end outside the range, and no count includes irregular
  // events that start outside `narrowed`: this subtracts the former and adds the latter.
  if (isBounded && first <= range.startsTo && last >= range.startsFrom) {
    const { from, where } = irregularScan({ ...filter, bounds: [] }, edges);
    const isOnWholeDay = sql`e.starts BETWEEN ${fromDay * WALL_DAY} AND ${(toDay + 1) * WALL_DAY - 1}`;
    counts.push(sql`SELECT total((${and(isInRange(range))}) - (${isOnWholeDay})) FROM ${from} WHERE ${where}`);
  }
  return { known: eventsOn(fromDay, toDay), counts };
}
