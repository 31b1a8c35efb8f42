// Plans the scans of an event list: which indexes to read, the conditions on the rows, and the facts about
// all events that this takes.

import { fold } from '../text/text.ts';
import type { Database } from './database.ts';
import {
  bySelectivity,
  type EventFilter,
  isInRange,
  type LinkCondition,
  linkConditions,
  linksTo,
  MAX_SCANS,
  narrowStarts,
  rowConditions,
  rowLinksToAny,
  type TimeRange,
  timeRange,
} from './event-filter.ts';
import type { SearchWord } from './filters.ts';
import { LISTED, TARGET_KIND } from './schema.ts';
import { and, containsWords, inList, isVisible, raw, type Sql, type StatusScope, sql, statusScopes } from './sql.ts';

/**
 * One scan of a table or index. `from` gives the name `e` to the scanned row of `event` or `event_link`, and
 * `where` uses it; `select` may ask for every column that both tables have.
 */
export interface Scan {
  from: Sql;
  where: Sql;
  /** The link target whose events are scanned; undefined unless the scan reads the events of one target. */
  targetId?: number;
}

/** Selects columns of the rows of a scan. */
export const select =
  (columns: string) =>
  ({ from, where }: Scan): Sql =>
    sql`SELECT ${raw(columns)} FROM ${from} WHERE ${where}`;

/** Scans whose union is the list. */
export interface ScanPlan {
  scans: Scan[];
  /**
   * Set if an event can occur in several scans, or several times in one: the link condition that the scans
   * follow.
   */
  duplicatesBy?: LinkCondition;
}

/**
 * The number of events of each day (`event_day`) in memory: lists that only dates restrict take their totals
 * from it. A day is a wall number without the time: 20270312.
 */
export interface DayCounts {
  /** The listed events in this status, featured or not, that start on one of these days. */
  eventsOn(status: string, featured: 0 | 1, fromDay: number, toDay: number): number;
}

interface Days {
  /** Ascending; only days with events. */
  days: number[];
  /** The number of events before each of these days, and at the end the number of all. */
  before: number[];
}

/** As two lists in one row: reading thousands of rows would take three times as long. */
function readDays(db: Database, status: string, featured: number): Days {
  const row = db.get<{ days: string; events: string }>(sql`
    SELECT json_group_array(day) AS days, json_group_array(events) AS events
    FROM (SELECT day, events FROM event_day WHERE status = ${status} AND featured = ${featured} ORDER BY day)`)!;
  let sum = 0;
  const before = [sum];
  for (const events of db.parse<number[]>(row.events)) {
    sum += events;
    before.push(sum);
  }
  return { days: db.parse<number[]>(row.days), before };
}

function eventsBefore({ days, before }: Days, day: number): number {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (days[middle]! < day) low = middle + 1;
    else high = middle;
  }
  return before[low]!;
}

/** Reads the days of a status when they are first asked for. Valid until the replica changes. */
function dayCounts(db: Database): DayCounts {
  const known = new Map<string, Days>();
  return {
    eventsOn(status, featured, fromDay, toDay) {
      const key = `${status} ${featured}`;
      let days = known.get(key);
      if (!days) {
        days = readDays(db, status, featured);
        known.set(key, days);
      }
      return eventsBefore(days, toDay + 1) - eventsBefore(days, fromDay);
    },
  };
}

/** Facts about all events that every plan needs. They hold until the replica changes. */
export interface EventStats {
  /** The longest duration of an event that is not irregular. */
  maxDurationSeconds: number;
  /** The first and last start of the irregular events; undefined if there are none. */
  irregularStarts: [number, number] | undefined;
  /** The latest start or end of the irregular events; 0 if there are none. */
  latestIrregular: number;
  /** The latest start of the events that end before they start; 0 if there are none. */
  latestBackwardStart: number;
  /** False while the full-text index lacks texts: searches must read the texts. */
  hasFullText: boolean;
  days: DayCounts;
}

export function readEventStats(db: Database): EventStats {
  const row = db.get<{
    value: string;
    first: number | null;
    last: number | null;
    latest: number;
    latestBackward: number;
    isDeferred: number;
  }>(sql`
    SELECT value, first, last, latest, latestBackward,
      EXISTS (SELECT 1 FROM meta WHERE key = 'fts_indexed_to') AS isDeferred
    FROM meta, (
      SELECT min(starts) AS first, max(starts) AS last, ifnull(max(max(starts, ends)), 0) AS latest,
        ifnull(max(starts) FILTER (WHERE ends < starts), 0) AS latestBackward
      FROM event INDEXED BY event_irregular WHERE irregular = 1
    )
    WHERE key = 'max_duration_s'`);
  return {
    maxDurationSeconds: Number(row?.value),
    irregularStarts: row?.first == null || row.last === null ? undefined : [row.first, row.last],
    latestIrregular: row?.latest ?? 0,
    latestBackwardStart: row?.latestBackward ?? 0,
    hasFullText: row?.isDeferred === 0,
    days: dayCounts(db),
  };
}

/** True if irregular events can be in `range` although they start outside `narrowed`, its narrowed starts. */
function canHoldIrregular(
  { irregularStarts, latestBackwardStart }: EventStats,
  range: TimeRange,
  narrowed: TimeRange,
): boolean {
  if (!irregularStarts) return false;
  const [first, last] = irregularStarts;
  const before = range.startsFrom < narrowed.startsFrom && first < narrowed.startsFrom && last >= range.startsFrom;
  // An event that starts after the latest requested end is in the range only if it ends before it starts.
  const after =
    range.startsTo > narrowed.startsTo && latestBackwardStart > narrowed.startsTo && first <= range.startsTo;
  return before || after;
}

const joinText = (from: Sql, words: readonly SearchWord[]): Sql =>
  words.length === 0 ? from : sql`${from} CROSS JOIN event_text x ON x.id = e.id`;

const IS_LISTED = sql`e.hidden = ${raw(LISTED)}`;

/** All conditions of a filter but the words, on rows `e` of `event`. */
function allConditions(filter: EventFilter, range: TimeRange): Sql[] {
  return [
    IS_LISTED,
    isVisible(filter.visibility, 'e'),
    ...isInRange(range),
    ...rowConditions(filter),
    ...linkConditions(filter).map(linksTo),
  ];
}

/** Scans the irregular events that start outside the ranges that other scans cover. */
export function irregularScan(
  filter: EventFilter,
  covered: readonly { startsFrom: number; startsTo: number }[],
  words: readonly SearchWord[] = [],
): Scan {
  const outside = covered.map(({ startsFrom, startsTo }) => sql`e.starts NOT BETWEEN ${startsFrom} AND ${startsTo}`);
  return {
    from: joinText(sql`event e INDEXED BY event_irregular`, words),
    where: and([
      sql`e.irregular = 1`,
      ...allConditions(filter, timeRange(filter.bounds)),
      ...outside,
      ...containsWords(words, 'x.folded'),
    ]),
  };
}

export const isInScope = ({ status, author }: StatusScope): Sql[] => [
  sql`${IS_LISTED} AND e.status = ${status}`,
  ...(author === undefined ? [] : [sql`e.author = ${author}`]),
];

/** Scans in list order: of the events by start, or of the links of the most selective link condition. */
export function orderedScans(
  db: Database,
  stats: EventStats,
  filter: EventFilter,
  words: readonly SearchWord[],
): ScanPlan {
  const range = timeRange(filter.bounds);
  const texts = containsWords(words, 'x.folded');
  if (filter.include || filter.parent !== undefined) {
    const ids = filter.include && JSON.stringify([...new Set(filter.include)]);
    const from = ids === undefined ? sql`event e` : sql`json_each(${ids}) j CROSS JOIN event e ON e.id = j.value`;
    return { scans: [{ from: joinText(from, words), where: and([...allConditions(filter, range), ...texts]) }] };
  }

  const narrowed = narrowStarts(range, stats.maxDurationSeconds);
  const [scanned, ...others] = bySelectivity(db, linkConditions(filter));
  const conditions = [
    ...isInRange(narrowed),
    ...rowConditions(filter),
    ...others.map((other) => rowLinksToAny(other, scanned?.events ?? 0)),
    ...texts,
  ];
  const scans =
    scanned === undefined ? eventScans(filter, words, conditions) : linkScans(scanned, filter, words, conditions);
  if (canHoldIrregular(stats, range, narrowed)) scans.push(irregularScan(filter, [narrowed], words));
  return scanned && scanned.targetIds.length > 1 ? { scans, duplicatesBy: scanned } : { scans };
}

/** One scan of the events for each status. */
function eventScans(
  { visibility, featured, modifiedAfter }: EventFilter,
  words: readonly SearchWord[],
  conditions: readonly Sql[],
): Scan[] {
  // A client asks with the time of its last request, after which few events have changed.
  const index = modifiedAfter !== undefined ? 'event_modified' : featured === true ? 'event_featured' : 'event_start';
  const from = joinText(sql`event e INDEXED BY ${raw(index)}`, words);
  return statusScopes(visibility).map((scope) => ({ from, where: and([...isInScope(scope), ...conditions]) }));
}

/** One scan of the events in the order of an index for each status, for a filter without words and `include`. */
export function indexScans(filter: EventFilter, index: 'event_modified' | 'event_title'): Scan[] {
  const from = sql`event e INDEXED BY ${raw(index)}`;
  const conditions = allConditions(filter, timeRange(filter.bounds));
  return statusScopes(filter.visibility).map((scope) => ({ from, where: and([...isInScope(scope), ...conditions]) }));
}

/** One scan of the links for each target and status, or one for all if they are too many. */
function linkScans(
  { targetKind, targetIds }: LinkCondition,
  { visibility }: EventFilter,
  words: readonly SearchWord[],
  conditions: readonly Sql[],
): Scan[] {
  const from = joinText(sql`event_link e`, words);
  const isOfKind = sql`e.target_kind = ${raw(TARGET_KIND[targetKind])}`;
  const scopes = statusScopes(visibility);
  if (targetIds.length * scopes.length > MAX_SCANS) {
    const isOfTargets = sql`e.target_id IN ${inList(targetIds)} AND ${IS_LISTED}`;
    return [{ from, where: and([isOfKind, isOfTargets, isVisible(visibility, 'e'), ...conditions]) }];
  }
  return targetIds.flatMap((targetId) =>
    scopes.map((scope) => ({
      from,
      where: and([isOfKind, sql`e.target_id = ${targetId}`, ...isInScope(scope), ...conditions]),
      targetId,
    })),
  );
}

const quotePhrase = (word: string) => `"${word.replaceAll('"', '""')}"`;

/**
 * Letters of a word that the full-text index searches for: the time of a phrase of trigrams grows with the
 * square of its length.
 */
const MAX_INDEXED_LETTERS = 24;

/** The part of a word that the full-text index searches for, and whether it is the whole word. */
function indexedPart({ text }: SearchWord): { part: string; isWhole: boolean } {
  const letters = [...fold(text)];
  return { part: letters.slice(0, MAX_INDEXED_LETTERS).join(''), isWhole: letters.length <= MAX_INDEXED_LETTERS };
}

/** True if the full-text index can search for the word: a trigram has three letters. */
const isIndexable = ({ text }: SearchWord) => [...fold(text)].length >= 3;

/**
 * One scan of the full-text index, which tests all other conditions on its matches, and one of the texts that the index
 * leaves out; one of all texts if the index can search for no word.
 */
export function fullTextScan(filter: EventFilter, words: readonly SearchWord[]): ScanPlan {
  const conditions = allConditions(filter, timeRange(filter.bounds));
  const indexable = words.filter(isIndexable);
  const wanted = indexable.filter(({ not }) => !not).map((word) => quotePhrase(indexedPart(word).part));
  if (wanted.length === 0) {
    const where = and([...containsWords(words, 'x.folded'), ...conditions]);
    return { scans: [{ from: sql`event_text x CROSS JOIN event e ON e.id = x.id`, where }] };
  }
  // A text with the first letters of an excluded word may lack the rest: the index can exclude only words
  // that it knows whole.
  const excluded = indexable
    .filter((word) => word.not && indexedPart(word).isWhole)
    .map((word) => quotePhrase(indexedPart(word).part));
  const match = `(${wanted.join(' AND ')})${excluded.length > 0 ? ` NOT (${excluded.join(' OR ')})` : ''}`;
  const inTexts = words.filter((word) => !isIndexable(word) || !indexedPart(word).isWhole);
  const indexed: Scan = {
    from: joinText(sql`event_fts f CROSS JOIN event e ON e.id = f.rowid`, inTexts),
    where: and([sql`event_fts MATCH ${match}`, ...conditions, ...containsWords(inTexts, 'x.folded')]),
  };
  const unindexed: Scan = {
    from: sql`event_text x INDEXED BY event_text_unindexed CROSS JOIN event e ON e.id = x.id`,
    where: and([sql`x.unindexed = 1`, ...conditions, ...containsWords(words, 'x.folded')]),
  };
  return { scans: [indexed, unindexed] };
}
