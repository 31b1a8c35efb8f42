// The link conditions of an event list: events of these categories, tags, venues and organizers.

import type { Database } from './database.ts';
import type { EventFilter } from './event-filter.ts';
import { LISTED, linkBit, linkToken, TARGET_KIND, type TargetKind } from './schema.ts';
import { inJson, inList, or, raw, type Sql, sql } from './sql.ts';

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
