// The number of events of each day (`event_day`) in memory: lists that only dates restrict take their totals from it.

import type { Database } from './database.ts';
import { sql } from './sql.ts';

/** A day is a wall number without the time: 20270312. */
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
export function dayCounts(db: Database): DayCounts {
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
