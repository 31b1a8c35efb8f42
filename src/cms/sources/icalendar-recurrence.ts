// Expands a recurrence rule (RFC 5545, 3.3.10) as wall times, one period at a time, so that the caller can pause: the
// iterator of ical.js never returns for a rule without instances, such as every seventh day from a Monday on Tuesdays.

import type ICAL from 'ical.js';
import { dayStartMs } from '../../time/wall-time.ts';

const DAY_MS = 86_400_000;
/** Hours times minutes times seconds of one day. */
const MAX_TIMES_A_DAY = 100;
/** With a number of instances everything since the start is counted: 54 years of days. */
const MAX_PERIODS = 20_000;
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/**
 * The instances of a rule from `startMs` on, sorted, a list for each period (a month of a monthly rule). Without a
 * `count`, those of periods that end before `fromMs` are skipped; the last period begins after `toMs`.
 * @param startMs as the milliseconds of the same wall time in UTC, like all times here
 * @throws Error for a rule that is not supported
 */
export function* expandRule(rule: ICAL.Recur, startMs: number, fromMs: number, toMs: number): Generator<number[]> {
  const { freq, interval, parts } = rule;
  if (!['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'].includes(freq))
    throw new Error(`a rule that repeats ${freq.toLowerCase()}`);
  if (parts.BYWEEKNO) throw new Error('a rule with numbers of weeks');
  const startDay = Math.floor(startMs / DAY_MS);
  const isWanted = dayFilter(rule, dayOf(startDay));
  const times = timesOf(parts, startMs - startDay * DAY_MS);
  const positions = new Set(parts.BYSETPOS);
  let left = rule.count ?? Number.POSITIVE_INFINITY;
  let index = rule.count === null ? firstIndex(freq, interval, startDay, fromMs) : 0;
  for (let periods = 0; left > 0; periods += 1, index += 1) {
    const [first, end] = periodOf(freq, startDay, index * interval, rule.wkst - 1);
    // An interval of millions of years has no date.
    if (!(first * DAY_MS <= toMs)) return;
    if (periods > MAX_PERIODS)
      throw new Error('a rule that counts through more than 20,000 days, weeks, months or years');
    let instances: number[] = [];
    for (let number = first; number < end; number += 1) {
      if (isWanted(dayOf(number))) instances.push(...times.map((time) => number * DAY_MS + time));
    }
    if (positions.size > 0)
      instances = instances.filter((_, i) => positions.has(i + 1) || positions.has(i - instances.length));
    instances = instances.filter((instance) => instance >= startMs).slice(0, Math.min(left, instances.length));
    left -= instances.length;
    yield instances;
  }
}

/** Its first day and the day after it, since 1970. */
function periodOf(freq: string, startDay: number, steps: number, weekStart: number): [first: number, end: number] {
  if (freq === 'DAILY') return [startDay + steps, startDay + steps + 1];
  const { year, month, weekday } = dayOf(startDay);
  if (freq === 'WEEKLY') {
    const first = startDay - ((weekday - weekStart + 7) % 7) + steps * 7;
    return [first, first + 7];
  }
  if (freq === 'MONTHLY') return [dayNumber(year, month + steps), dayNumber(year, month + steps + 1)];
  return [dayNumber(year + steps, 1), dayNumber(year + steps + 1, 1)];
}

const LONGEST_DAYS: Readonly<Record<string, number>> = { DAILY: 1, WEEKLY: 7, MONTHLY: 31, YEARLY: 366 };

/** A period before `fromMs`: none of those before it matters. */
function firstIndex(freq: string, interval: number, startDay: number, fromMs: number): number {
  const days = fromMs / DAY_MS - startDay;
  return Math.max(0, Math.floor(days / (LONGEST_DAYS[freq]! * interval)) - 1);
}

/** The first day of a month; months may be above 12. */
const dayNumber = (year: number, month: number): number => dayStartMs(year, month - 1, 1) / DAY_MS;

/** Months from 1, weekdays from 0, which is Sunday. */
function dayOf(number: number) {
  const date = new Date(number * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return {
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
  const months = new Set(parts.BYMONTH);
  const monthDays = new Set(parts.BYMONTHDAY);
  const yearDays = new Set(parts.BYYEARDAY);
  const weekdays = new Set(parts.BYDAY?.map((day) => day.replace('+', '')));
  if (monthDays.size + yearDays.size + weekdays.size === 0) {
    if (freq === 'WEEKLY') weekdays.add(DAYS[start.weekday]!);
    else if (freq !== 'DAILY') monthDays.add(start.inMonth[0]);
    if (freq === 'YEARLY' && months.size === 0) months.add(start.month);
  }
  const isInYear = freq === 'YEARLY' && months.size === 0;
  const hasPosition = freq === 'MONTHLY' || freq === 'YEARLY';
  return (day) => {
    const name = DAYS[day.weekday]!;
    const [position, negative] = isInYear ? day.inYear : day.inMonth;
    // `MO` is every Monday, `2MO` the second of the month or year, `-1MO` the last.
    const names = [name, `${Math.ceil(position / 7)}${name}`, `-${Math.ceil(-negative / 7)}${name}`];
    return (
      (months.size === 0 || months.has(day.month)) &&
      (monthDays.size === 0 || day.inMonth.some((each) => monthDays.has(each))) &&
      (yearDays.size === 0 || day.inYear.some((each) => yearDays.has(each))) &&
      (weekdays.size === 0 || names.slice(0, hasPosition ? 3 : 1).some((each) => weekdays.has(each)))
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
