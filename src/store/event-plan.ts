// Plans the scans of an event list: which indexes to read, and the conditions on the rows.

import type { Database } from './database.ts';
import { columnConditions, type EventFilter } from './event-filter.ts';
import type { SearchWord } from './filters.ts';
import { LISTED, linkBit, linkToken, TARGET_KIND, type TargetKind } from './schema.ts';
import {
  and,
  containsWords,
  inJson,
  inList,
  isVisible,
  or,
  raw,
  type Sql,
  type StatusScope,
  sql,
  statusScopes,
} from './sql.ts';
import { fold } from './text-folding.ts';
import { isInRange, narrowStarts, type TimeRange, timeRange } from './time-range.ts';

/** One scan of a table or index: rows `e` with the columns id, starts and published. */
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

/** The events that are linked to one of these records. */
export interface LinkCondition {
  targetKind: TargetKind;
  targetIds: number[];
}

/** Facts about all events that every plan needs. They hold until the replica changes. */
export interface EventStats {
  /** The longest duration of an event that is not irregular. */
  maxDurationSeconds: number;
  /** The first and last start of the irregular events; undefined if there are none. */
  irregularStarts: [number, number] | undefined;
  /** The latest start of the events that end before they start; 0 if there are none. */
  latestBackwardStart: number;
  /** False while the full-text index lacks texts: searches must read the texts. */
  hasFullText: boolean;
}

export function readEventStats(db: Database): EventStats {
  const row = db.get<{
    value: string;
    first: number | null;
    last: number | null;
    latestBackward: number;
    isDeferred: number;
  }>(sql`
    SELECT value, first, last, latestBackward, EXISTS (SELECT 1 FROM meta WHERE key = 'fts_indexed_to') AS isDeferred
    FROM meta, (
      SELECT min(starts) AS first, max(starts) AS last, ifnull(max(starts) FILTER (WHERE ends < starts), 0) AS latestBackward
      FROM event INDEXED BY event_irregular WHERE irregular = 1
    )
    WHERE key = 'max_duration_s'`);
  return {
    maxDurationSeconds: Number(row?.value),
    irregularStarts: row?.first == null || row.last === null ? undefined : [row.first, row.last],
    latestBackwardStart: row?.latestBackward ?? 0,
    hasFullText: row?.isDeferred === 0,
  };
}

/**
 * True if irregular events can be in the range although they start outside the span that `narrowStarts`
 * leaves.
 */
function canHoldIrregular(
  { irregularStarts, latestBackwardStart }: EventStats,
  range: TimeRange,
  span: TimeRange,
): boolean {
  if (!irregularStarts) return false;
  const [first, last] = irregularStarts;
  const before = range.startsFrom < span.startsFrom && first < span.startsFrom && last >= range.startsFrom;
  // An event that starts after the latest requested end is in the range only if it ends before it starts.
  const after = range.startsTo > span.startsTo && latestBackwardStart > span.startsTo && first <= range.startsTo;
  return before || after;
}

/** The most scans of single targets. For more, one scan reads all targets, and SQLite sorts the rows. */
const MAX_SCANS = 48;

/**
 * True for rows of `event` that link to one of the targets. One lookup by the primary key of `event_link` for
 * each target; of many targets, such as all venues in an area, the links are collected once for all rows.
 */
export function linksTo({ targetKind, targetIds }: LinkCondition): Sql {
  if (targetIds.length > MAX_SCANS)
    return sql`e.id IN (
      SELECT l.id FROM event_link l
      WHERE l.target_kind = ${raw(TARGET_KIND[targetKind])} AND l.target_id IN ${inList(targetIds)}
        AND l.hidden = ${raw(LISTED)})`;
  return sql`EXISTS (
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

interface SizedLinkCondition extends LinkCondition {
  /** Number of events of each target, and of all targets. */
  sizes: ReadonlyMap<number, number>;
  events: number;
}

/**
 * The most selective condition first, which is the one to scan; the targets of each by size, the largest
 * first.
 */
function bySelectivity(db: Database, conditions: LinkCondition[]): SizedLinkCondition[] {
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
function rowLinksToAny({ targetKind, targetIds, sizes }: SizedLinkCondition, scanned: number): Sql {
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

const joinText = (from: Sql, words: readonly SearchWord[]): Sql =>
  words.length === 0 ? from : sql`${from} CROSS JOIN event_text x ON x.id = e.id`;

/** All conditions of a filter but the words, on rows `e` of `event`. */
function allConditions(filter: EventFilter, range: TimeRange): Sql[] {
  return [
    sql`e.hidden = 0`,
    isVisible(filter.visibility, 'e'),
    ...isInRange(range),
    ...columnConditions(filter),
    ...linkConditions(filter).map(linksTo),
  ];
}

/** Scans the irregular events that start outside all these spans, which other scans cover. */
export function irregularScan(
  filter: EventFilter,
  spans: readonly { startsFrom: number; startsTo: number }[],
  words: readonly SearchWord[] = [],
): Scan {
  const outside = spans.map(({ startsFrom, startsTo }) => sql`e.starts NOT BETWEEN ${startsFrom} AND ${startsTo}`);
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
  sql`e.hidden = 0 AND e.status = ${status}`,
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

  const span = narrowStarts(range, stats.maxDurationSeconds);
  const [scanned, ...others] = bySelectivity(db, linkConditions(filter));
  const conditions = [
    ...isInRange(span),
    ...columnConditions(filter),
    ...others.map((other) => rowLinksToAny(other, scanned?.events ?? 0)),
    ...texts,
  ];
  const scans =
    scanned === undefined ? eventScans(filter, words, conditions) : linkScans(scanned, filter, words, conditions);
  if (canHoldIrregular(stats, range, span)) scans.push(irregularScan(filter, [span], words));
  return scanned && scanned.targetIds.length > 1 ? { scans, duplicatesBy: scanned } : { scans };
}

/** One scan of the events for each status. */
function eventScans(
  { visibility, featured, modifiedAfter }: EventFilter,
  words: readonly SearchWord[],
  conditions: readonly Sql[],
): Scan[] {
  // Few events changed lately.
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
    const isOfTargets = sql`e.target_id IN ${inList(targetIds)} AND e.hidden = 0`;
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
 * One scan of the full-text index, which tests all other conditions on its matches; of all texts if the index
 * can search for no word.
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
  const from = joinText(sql`event_fts f CROSS JOIN event e ON e.id = f.rowid`, inTexts);
  return {
    scans: [
      { from, where: and([sql`event_fts MATCH ${match}`, ...conditions, ...containsWords(inTexts, 'x.folded')]) },
    ],
  };
}
