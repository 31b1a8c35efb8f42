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

/** Events of one day in list order: `starts` and `ends` as wall numbers. */
interface Row {
  id: number;
  starts: number;
  ends: number;
}

interface Day {
  day: number;
  /** Events that are not odd. */
  events: number;
  /** An odd event is among them: no bound on the start says anything about its end. */
  odd: boolean;
  /** Read when somebody has to look at each of them. */
  rows?: Row[];
  /** Their ends, ascending: how many end by a bound needs no look at each. */
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
    const odd = db.all<{ day: number }>(
      `SELECT b.starts / ${DAY} AS day FROM odd_event o CROSS JOIN event b ON b.id = o.id
       WHERE b.hidden = 0 AND b.status = 'publish' LIMIT ${MAX_ODD + 1}`,
    );
    const counted = db.all<{ day: number; events: number }>(
      "SELECT day, events FROM event_day WHERE status = 'publish' ORDER BY day",
    );
    if (odd.length > MAX_ODD || counted.some(({ events }) => events > MAX_A_DAY)) return 'left to SQL';
    const byDay = new Map<number, Day>(counted.map(({ day, events }) => [day, { day, events, odd: false }]));
    for (const { day } of odd) {
      const known = byDay.get(day);
      if (known) known.odd = true;
      else byDay.set(day, { day, events: 0, odd: true });
    }
    return [...byDay.values()].sort((a, b) => a.day - b.day);
  }

  function rowsOf(day: Day): Row[] {
    day.rows ??= db.all<Row & object>(
      `SELECT id, starts, ends FROM event INDEXED BY event_start
       WHERE hidden = 0 AND status = 'publish' AND starts BETWEEN ? AND ? ORDER BY starts, posted, id`,
      ...[day.day * DAY, day.day * DAY + DAY - 1],
    );
    return day.rows;
  }

  /** How many events of a day end by then. */
  function endingBy(day: Day, wall: number): number {
    day.ends ??= Float64Array.from(rowsOf(day), (row) => row.ends).sort();
    const { ends } = day;
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
    // Odd events may fulfil bounds on the end wherever they start.
    const candidates = [
      ...oddOf(indexOf(Math.floor(range.startsFrom / DAY)), from),
      ...all.slice(from, to),
      ...oddOf(Math.max(from, to), indexOf(Math.floor(range.startsTo / DAY) + 1)),
    ];
    function oddOf(first: number, end: number): Day[] {
      return first < end ? all.slice(first, end).filter(({ odd }) => odd) : [];
    }

    const ids: number[] = [];
    let total = 0;
    const { limit, offset } = filter;
    for (const day of candidates) {
      const isWhole = !day.odd && day.day >= whole.fromDay && day.day <= whole.toDay;
      const first = day.day * DAY;
      const anyStart =
        !day.odd && first >= Math.max(range.startsFrom, range.endsFrom) && first + DAY - 1 <= range.startsTo;
      const found = isWhole ? day.events : anyStart ? endingBy(day, range.endsTo) : undefined;
      if (found !== undefined && (total + found <= offset || total >= offset + limit)) {
        total += found;
        continue;
      }
      for (const row of rowsOf(day)) {
        if (!isWhole && !isWithin(row, range)) continue;
        if (total >= offset && total < offset + limit) ids.push(row.id);
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

const isWithin = ({ starts, ends }: Row, { startsFrom, startsTo, endsFrom, endsTo }: Range): boolean =>
  starts >= startsFrom && starts <= startsTo && ends >= endsFrom && ends <= endsTo;
