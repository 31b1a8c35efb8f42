// The time range of an event list: its bounds on the start and end, as wall numbers.

import type { DateBound } from './filters.ts';
import { type Sql, sql } from './sql.ts';
import { secondsBefore, wallNumber } from './wall-number.ts';

/** Inclusive bounds on the start and end of an event, as wall numbers. */
export interface TimeRange {
  startsFrom: number;
  startsTo: number;
  endsFrom: number;
  endsTo: number;
}

/** Above every wall number. */
export const MAX_WALL = 99_991_231_235_959;

/** Combines all bounds into one range: the narrowest bound of each side. */
export function timeRange(bounds: readonly DateBound[] = []): TimeRange {
  const range: TimeRange = { startsFrom: 0, startsTo: MAX_WALL, endsFrom: 0, endsTo: MAX_WALL };
  for (const { field, op, wall } of bounds) {
    // Wall numbers are whole: "after 10:00:00" is "from 10:00:01", "before 10:00:00" is "until 9:99:99",
    // which need not be a time of day.
    const value = wallNumber(wall) + (op === '>' ? 1 : op === '<' ? -1 : 0);
    const name = `${field}s${op.startsWith('>') ? 'From' : 'To'}` as keyof TimeRange;
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

/** Adds to the range what its bounds on the end imply for the start of an event that is not irregular. */
export function narrowStarts(range: TimeRange, maxDurationSeconds: number): TimeRange {
  const earliest = range.endsFrom > 0 ? secondsBefore(range.endsFrom, maxDurationSeconds) : 0;
  return {
    ...range,
    startsFrom: Math.max(range.startsFrom, earliest),
    startsTo: Math.min(range.startsTo, range.endsTo),
  };
}
