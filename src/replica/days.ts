// The public events of each day in list order, read once a version: what is asked most, a window of dates and nothing else, needs no SQL then.

import type { Database } from './database.ts';
import { datesAlone, type Facts, narrowed, type Range, rangeOf, wholeDays } from './event-walks.ts';
import type { EventFilter, IdPage } from './filters.ts';
import { sights } from './sql.ts';

/** So many lists of a version are answered without it: reading the days costs as much as a dozen of them. */
const WORTH = 16;
/** Sites with more odd events, or days with more events than that, are left to SQL. */
const MAX_ODD = 500;
const MAX_A_DAY = 2000;

const DAY = 1_000_000;

/** Events of one day in list order: by place their ids, and when they start and end as wall numbers. */
interface Rows {
  ids: Float64Array;
  starts: Float64Array;
  ends: Float64Array;
}

const NO_ROWS = new Float64Array();

interface OddEvent {
  day: number;
  id: number;
  starts: number;
  ends: number;
}

interface Day {
  day: number;
  /** Events that are not odd. */
  events: number;
  /** Those that are: no bound on their start says anything about their end. */
  odd: OddEvent[];
  /** All of them, read when somebody has to look at each. */
  rows?: Rows;
  /** When those that are not odd end, ascending: how many do by a bound needs no look at each. */
  ends?: Float64Array;
}

export interface Days {
  /** Undefined where the filter is not one of dates alone, or not the public's. */
  find(filter: EventFilter): IdPage | undefined;
  /** Something changed. */
  forget(): void;
}

/** Whether a filter asks for dates alone, in list order, as everybody sees them. */
function isPlain(filter: EventFilter): boolean {
  const seen = sights(filter.visibility);
  return filter.order === 'start' && seen.length === 1 && seen[0]!.status === 'publish' && datesAlone(filter);
}

/** The first index, up to `length`, of which this holds; it holds of all behind it. */
function firstOf(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** The days of this copy, read when they are first worth it. */
export function openDays(db: Database, facts: () => Facts): Days {
  let asked = 0;
  /** Of this version; none where they are left to SQL. */
  let days: Day[] | 'left to SQL' | undefined;

  function read(): Day[] | 'left to SQL' {
    const odd = db.all<OddEvent>(
      `SELECT starts / ${DAY} AS day, id, starts, ends FROM event INDEXED BY event_odd
       WHERE odd = 1 AND hidden = 0 AND status = 'publish' LIMIT ${MAX_ODD + 1}`,
    );
    const counted = db.all<{ day: number; events: number }>(
      "SELECT day, events FROM event_day WHERE status = 'publish' ORDER BY day",
    );
    if (odd.length > MAX_ODD || counted.some(({ events }) => events > MAX_A_DAY)) return 'left to SQL';
    const byDay = new Map<number, Day>(counted.map(({ day, events }) => [day, { day, events, odd: [] }]));
    for (const event of odd) {
      const { day } = event;
      const known = byDay.get(day) ?? { day, events: 0, odd: [] };
      known.odd.push(event);
      byDay.set(day, known);
    }
    return [...byDay.values()].sort((a, b) => a.day - b.day);
  }

  function rowsOf(day: Day): Rows {
    if (day.rows) return day.rows;
    const [ids = NO_ROWS, starts = NO_ROWS, ends = NO_ROWS] = db.columns(
      `SELECT id, starts, ends FROM event INDEXED BY event_start
       WHERE hidden = 0 AND status = 'publish' AND starts BETWEEN ? AND ? ORDER BY starts, posted, id`,
      ...[day.day * DAY, day.day * DAY + DAY - 1],
    );
    day.rows = { ids, starts, ends };
    return day.rows;
  }

  /** How many events of a day that are not odd end by then. */
  function endingBy(day: Day, wall: number): number {
    const ends = day.ends ?? sortedEnds(day, rowsOf(day));
    day.ends = ends;
    return firstOf(ends.length, (at) => ends[at]! > wall);
  }

  function find(all: readonly Day[], filter: EventFilter): IdPage {
    /** The first index of a day that is not before this one. */
    const indexOf = (day: number) => firstOf(all.length, (at) => all[at]!.day >= day);
    const range = rangeOf(filter.bounds);
    const { longestSeconds } = facts();
    const whole = wholeDays(range, longestSeconds);
    const near = narrowed(range, longestSeconds);
    const [from, to] = [indexOf(Math.floor(near.startsFrom / DAY)), indexOf(Math.floor(near.startsTo / DAY) + 1)];
    const last = indexOf(Math.floor(range.startsTo / DAY) + 1);

    const ids: number[] = [];
    let total = 0;
    const { limit, offset } = filter;
    for (let index = indexOf(Math.floor(range.startsFrom / DAY)); index < last; index += 1) {
      const day = all[index]!;
      // Odd events may fulfil bounds on the end wherever they start, the others only here: elsewhere no day is read for them.
      const oddAlone = index < from || index >= to;
      if (oddAlone && day.odd.length === 0) continue;
      const isWhole = day.day >= whole.fromDay && day.day <= whole.toDay;
      const first = day.day * DAY;
      const anyStart = first >= Math.max(range.startsFrom, range.endsFrom) && first + DAY - 1 <= range.startsTo;
      if (oddAlone || isWhole || anyStart) {
        let found = oddAlone ? 0 : isWhole ? day.events : endingBy(day, range.endsTo);
        for (const { starts, ends } of day.odd) if (isWithin(starts, ends, range)) found += 1;
        if (found === 0 || total + found <= offset || total >= offset + limit) {
          total += found;
          continue;
        }
      }
      const rows = rowsOf(day);
      const allFit = isWhole && day.odd.length === 0;
      for (let at = 0; at < rows.ids.length; at += 1) {
        if (!allFit && !isWithin(rows.starts[at]!, rows.ends[at]!, range)) continue;
        if (total >= offset && total < offset + limit) ids.push(rows.ids[at]!);
        total += 1;
      }
    }
    return { ids, total };
  }

  return {
    find(filter) {
      if (!isPlain(filter)) return undefined;
      asked += 1;
      if (asked < WORTH) return undefined;
      days ??= read();
      return days === 'left to SQL' ? undefined : find(days, filter);
    },
    forget() {
      asked = 0;
      days = undefined;
    },
  };
}

function sortedEnds({ odd }: Day, { ids, ends }: Rows): Float64Array {
  const left = new Set(odd.map(({ id }) => id));
  return (left.size === 0 ? ends.slice() : ends.filter((_, at) => !left.has(ids[at]!))).sort();
}

const isWithin = (starts: number, ends: number, { startsFrom, startsTo, endsFrom, endsTo }: Range): boolean =>
  starts >= startsFrom && starts <= startsTo && ends >= endsFrom && ends <= endsTo;
