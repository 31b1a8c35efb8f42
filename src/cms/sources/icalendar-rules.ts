// The instances of a recurrence rule (RFC 5545, 3.3.10): of `FREQ=WEEKLY;BYDAY=MO,TH` from a Thursday at 18:00 on, that
// Thursday, the Monday after it, the next Thursday, and so on, each at 18:00.
//
// ical.js parses the rule, but its iterator never returns for a rule without instances, such as every seventh day from
// a Monday on, on Tuesdays. So periods (the weeks of a weekly rule) are expanded one at a time, and the caller can stop
// or pause after each. All times here are wall times, as the milliseconds of the same wall time in UTC.

import ICAL from 'ical.js';
import { DAY_MS } from '../../model/records.ts';
import { dayStartMs } from '../../time/wall-time.ts';

/** Hours times minutes times seconds of one day: those of a year are fewer than the events that a source may have. */
const MAX_TIMES_A_DAY = 24;

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** @param line `RRULE:FREQ=WEEKLY;BYDAY=MO`. @throws Error if the rule cannot be read */
export const ruleOf = (line: string): ICAL.Recur =>
  ICAL.Recur.fromString(line.slice(line.indexOf(':') + 1).toUpperCase());

/**
 * The instances of a rule from `startMs` on, sorted, a list for each period. Without a `count`, those of periods that
 * end before `fromMs` are skipped; the last period ends after `toMs`.
 * @throws Error for a rule that is not supported
 */
export function* expandRule(rule: ICAL.Recur, startMs: number, fromMs: number, toMs: number): Generator<number[]> {
  const { freq, interval, parts, count, wkst } = rule;
  const periodOf = PERIODS[freq];
  if (periodOf === undefined) throw new Error(`a rule that repeats ${freq.toLowerCase()}`);
  if (parts.BYWEEKNO) throw new Error('a rule with numbers of weeks');
  const numberOf = (day: Day) => periodOf(day, wkst - 1);
  const start = dayOf(Math.floor(startMs / DAY_MS));
  const isWanted = dayFilter(rule, start);
  const times = timesOfDay(parts, startMs - start.number * DAY_MS);
  const first = count === null && fromMs > startMs ? dayOf(Math.floor(fromMs / DAY_MS)) : start;
  let left = count ?? Number.POSITIVE_INFINITY;
  for (const days of periodsFrom(first, numberOf)) {
    if (left === 0 || days[0]!.number * DAY_MS > toMs) return;
    // `INTERVAL=2` is every other week, counted from that of the start.
    const isRepeated = (numberOf(days[0]!) - numberOf(start)) % interval === 0;
    const wanted = isRepeated ? days.filter(isWanted) : [];
    const all = wanted.flatMap((day) => times.map((time) => day.number * DAY_MS + time));
    const instances = atPositions(all, parts.BYSETPOS)
      .filter((instance) => instance >= startMs)
      .slice(0, left);
    left -= instances.length;
    yield instances;
  }
}

/** The number of the period that a day is in. Weeks begin on `weekStart`, where 0 is Sunday. */
const PERIODS: Readonly<Record<string, (day: Day, weekStart: number) => number>> = {
  DAILY: ({ number }) => number,
  // Day 0, the first of 1970, was a Thursday.
  WEEKLY: ({ number }, weekStart) => Math.floor((number + 4 - weekStart) / 7),
  MONTHLY: ({ year, month }) => year * 12 + month,
  YEARLY: ({ year }) => year,
};

/** The days of the whole period that `day` is in, then of the next one, and so on. */
function* periodsFrom(day: Day, numberOf: (day: Day) => number): Generator<Day[]> {
  let next = day;
  while (numberOf(dayOf(next.number - 1)) === numberOf(next)) next = dayOf(next.number - 1);
  for (;;) {
    const days: Day[] = [];
    const period = numberOf(next);
    for (; numberOf(next) === period; next = dayOf(next.number + 1)) days.push(next);
    yield days;
  }
}

/** `BYSETPOS=1` is the first instance of each period, `BYSETPOS=-1` the last. */
function atPositions(instances: readonly number[], positions: readonly number[] | undefined): readonly number[] {
  if (!positions) return instances;
  return instances.filter((_, i) => positions.includes(i + 1) || positions.includes(i - instances.length));
}

/** A day by its number since 1970, with months from 1, and weekdays from 0, which is Sunday. */
function dayOf(number: number) {
  const date = new Date(number * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return {
    number,
    year,
    month,
    weekday: date.getUTCDay(),
    // Counted from the start and from the end: May 31 is [31, -1].
    inMonth: [date.getUTCDate(), number - firstOfMonth(year, month + 1)] as const,
    inYear: [number - firstOfMonth(year, 1) + 1, number - firstOfMonth(year + 1, 1)] as const,
  };
}

type Day = ReturnType<typeof dayOf>;

/** The number of the first day of a month; months may be above 12. */
const firstOfMonth = (year: number, month: number): number => dayStartMs(year, month - 1, 1) / DAY_MS;

/**
 * The condition on days. A rule that names no days repeats those of its start: a weekly one its weekday, a monthly one
 * its day of the month (`FREQ=MONTHLY` from May 31 has no instance in June), a yearly one its date.
 */
function dayFilter({ freq, parts }: ICAL.Recur, start: Day): (day: Day) => boolean {
  let [months, monthDays, weekdays] = [parts.BYMONTH, parts.BYMONTHDAY, parts.BYDAY];
  const isOfWholeYear = freq === 'YEARLY' && !months;
  if (!monthDays && !parts.BYYEARDAY && !weekdays) {
    if (freq === 'WEEKLY') weekdays = [DAYS[start.weekday]!];
    else if (freq !== 'DAILY') monthDays = [start.inMonth[0]];
    if (isOfWholeYear) months = [start.month];
  }
  const isOneOf = <T>(wanted: readonly T[] | undefined, values: readonly T[]) =>
    wanted === undefined || values.some((value) => wanted.includes(value));
  return (day) =>
    isOneOf(months, [day.month]) &&
    isOneOf(monthDays, day.inMonth) &&
    isOneOf(parts.BYYEARDAY, day.inYear) &&
    isOneOf(weekdays, weekdayNames(day, freq, isOfWholeYear));
}

/**
 * What BYDAY may call a day: May 10, 2027 is `MO`, and in a monthly rule also the second Monday, `2MO` or `+2MO`, and
 * the fourth from the end, `-4MO`. In a yearly rule without months, Mondays count within the year.
 */
function weekdayNames(day: Day, freq: string, isOfWholeYear: boolean): string[] {
  const name = DAYS[day.weekday]!;
  if (freq === 'WEEKLY' || freq === 'DAILY') return [name];
  const [fromStart, fromEnd] = isOfWholeYear ? day.inYear : day.inMonth;
  const position = Math.ceil(fromStart / 7);
  return [name, `${position}${name}`, `+${position}${name}`, `${-Math.ceil(-fromEnd / 7)}${name}`];
}

/** Milliseconds since midnight, sorted: `BYHOUR=10,18` of a start at 10:30 gives 10:30 and 18:30. */
function timesOfDay(parts: ICAL.Recur['parts'], startTimeMs: number): number[] {
  const startTime = Math.floor(startTimeMs / 1000);
  const hours = parts.BYHOUR ?? [Math.floor(startTime / 3600)];
  const minutes = parts.BYMINUTE ?? [Math.floor(startTime / 60) % 60];
  const seconds = parts.BYSECOND ?? [startTime % 60];
  if (hours.length * minutes.length * seconds.length > MAX_TIMES_A_DAY)
    throw new Error('a rule that repeats too often a day');
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => (hour * 3600 + minute * 60 + second) * 1000)),
  );
  return times.sort((a, b) => a - b);
}
