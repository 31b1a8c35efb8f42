// Expands a recurrence rule (RFC 5545, 3.3.10) as wall times, one period at a time, so that the caller can pause: the
// iterator of ical.js never returns for a rule without instances, such as every seventh day from a Monday on Tuesdays.

import type ICAL from 'ical.js';
import { DAY_MS } from '../../model/records.ts';
import { dayStartMs } from '../../time/wall-time.ts';

/** Hours times minutes times seconds of one day: those of a year are fewer than the events that a source may have. */
const MAX_TIMES_A_DAY = 24;
/** With a number of instances everything since the start is counted. */
const MAX_COUNTED_MS = 100 * 366 * DAY_MS;
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** The number of the period that a day is in. Weeks begin on `weekStart`, where 0 is Sunday. */
const PERIODS: Readonly<Record<string, (day: Day, weekStart: number) => number>> = {
  DAILY: ({ number }) => number,
  // Day 0, the first of 1970, was a Thursday.
  WEEKLY: ({ number }, weekStart) => Math.floor((number + 4 - weekStart) / 7),
  MONTHLY: ({ year, month }) => year * 12 + month,
  YEARLY: ({ year }) => year,
};

/**
 * The instances of a rule from `startMs` on, sorted, a list for each period (a month of a monthly rule). Without a
 * `count`, those of periods that end before `fromMs` are skipped; the last period ends after `toMs`.
 * @param startMs as the milliseconds of the same wall time in UTC, like all times here
 * @throws Error for a rule that is not supported
 */
export function* expandRule(rule: ICAL.Recur, startMs: number, fromMs: number, toMs: number): Generator<number[]> {
  const { freq, interval, parts, count, wkst } = rule;
  const periodOf = PERIODS[freq];
  if (periodOf === undefined) throw new Error(`a rule that repeats ${freq.toLowerCase()}`);
  if (parts.BYWEEKNO) throw new Error('a rule with numbers of weeks');
  if (count !== null && toMs - startMs > MAX_COUNTED_MS)
    throw new Error('a rule that counts through more than a hundred years');
  const start = dayOf(Math.floor(startMs / DAY_MS));
  const isWanted = dayFilter(rule, start);
  const times = timesOf(parts, startMs - start.number * DAY_MS);
  const positions = new Set(parts.BYSETPOS);
  const numberOf = (day: Day) => periodOf(day, wkst - 1);
  const next = ({ number }: Day, days = 1) => dayOf(number + days);
  let day = count === null && fromMs > startMs ? dayOf(Math.floor(fromMs / DAY_MS)) : start;
  // Positions count from the first day of the period.
  while (numberOf(next(day, -1)) === numberOf(day)) day = next(day, -1);
  for (let left = count ?? Number.POSITIVE_INFINITY; left > 0 && day.number * DAY_MS <= toMs; ) {
    const period = numberOf(day);
    const isRepeated = (period - numberOf(start)) % interval === 0;
    let instances: number[] = [];
    for (; numberOf(day) === period; day = next(day)) {
      const dayMs = day.number * DAY_MS;
      if (isRepeated && isWanted(day)) instances.push(...times.map((time) => dayMs + time));
    }
    if (positions.size > 0)
      instances = instances.filter((_, i) => positions.has(i + 1) || positions.has(i - instances.length));
    instances = instances.filter((instance) => instance >= startMs).slice(0, Math.min(left, instances.length));
    left -= instances.length;
    yield instances;
  }
}

/** The first day of a month; months may be above 12. */
const dayNumber = (year: number, month: number): number => dayStartMs(year, month - 1, 1) / DAY_MS;

/** Months from 1, weekdays from 0, which is Sunday. */
function dayOf(number: number) {
  const date = new Date(number * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return {
    number,
    year,
    month,
    weekday: date.getUTCDay(),
    // Counted from the start and from the end: May 31 is [31, -1].
    inMonth: [date.getUTCDate(), number - dayNumber(year, month + 1)] as const,
    inYear: [number - dayNumber(year, 1) + 1, number - dayNumber(year + 1, 1)] as const,
  };
}

type Day = ReturnType<typeof dayOf>;

/** The condition on days. Without a part that names days, the start's weekday or date applies. */
function dayFilter({ freq, parts }: ICAL.Recur, start: Day): (day: Day) => boolean {
  const { BYYEARDAY: yearDays } = parts;
  let [months, monthDays, weekdays] = [parts.BYMONTH, parts.BYMONTHDAY, parts.BYDAY];
  const isInYear = freq === 'YEARLY' && !months;
  const hasPosition = freq === 'MONTHLY' || freq === 'YEARLY';
  if (!monthDays && !yearDays && !weekdays) {
    if (freq === 'WEEKLY') weekdays = [DAYS[start.weekday]!];
    else if (freq !== 'DAILY') monthDays = [start.inMonth[0]];
    if (isInYear) months = [start.month];
  }
  const isWanted = <T>(wanted: readonly T[] | undefined, values: readonly T[]) =>
    wanted === undefined || values.some((value) => wanted.includes(value));
  return (day) => {
    const name = DAYS[day.weekday]!;
    const [position, negative] = isInYear ? day.inYear : day.inMonth;
    const positions = [Math.ceil(position / 7), -Math.ceil(-negative / 7)].map((each) => `${each}${name}`);
    // `MO` is every Monday, `2MO` (or `+2MO`) the second of the month or year, `-1MO` the last.
    const names = hasPosition ? [name, ...positions, `+${positions[0]}`] : [name];
    return (
      isWanted(months, [day.month]) &&
      isWanted(monthDays, day.inMonth) &&
      isWanted(yearDays, day.inYear) &&
      isWanted(weekdays, names)
    );
  };
}

/** Milliseconds since midnight, sorted. */
function timesOf(parts: ICAL.Recur['parts'], startTime: number): number[] {
  const seconds = Math.floor(startTime / 1000);
  const hours = parts.BYHOUR ?? [Math.floor(seconds / 3600)];
  const minutes = parts.BYMINUTE ?? [Math.floor(seconds / 60) % 60];
  const ofMinute = parts.BYSECOND ?? [seconds % 60];
  if (hours.length * minutes.length * ofMinute.length > MAX_TIMES_A_DAY)
    throw new Error('a rule that repeats too often a day');
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => ofMinute.map((second) => (hour * 3600 + minute * 60 + second) * 1000)),
  );
  return times.sort((a, b) => a - b);
}
