// Expands a recurrence rule (RFC 5545, 3.3.10) as wall times, one period at a time, so that the caller can pause: the
// iterator of ical.js never returns for a rule without instances, such as every seventh day from a Monday on Tuesdays.

import { dayStartMs } from '../../time/wall-time.ts';
import { Unreadable } from './icalendar-text.ts';

const DAY_MS = 86_400_000;
/** Hours times minutes times seconds of one day. */
const MAX_TIMES_A_DAY = 100;
/** With a number of instances everything since the start is counted: 54 years of days. */
const MAX_PERIODS = 20_000;
const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** As ical.js reads it. A list of one is that one. */
export interface RuleText {
  freq: string;
  interval?: number;
  count?: number;
  /** Sunday is 1. */
  wkst?: number;
  [part: `by${string}`]: unknown;
}

interface Day {
  year: number;
  /** From 1. */
  month: number;
  /** From 0, which is Sunday. */
  weekday: number;
  /** Counted from the start and from the end: May 31 is [31, -1]. */
  inMonth: readonly [number, number];
  inYear: readonly [number, number];
}

/**
 * The instances of a rule from `startMs` on, sorted, a list for each period (a month of a monthly rule). Without a
 * `count`, those of periods that end before `fromMs` are skipped; the last period begins after `toMs`.
 * @param startMs as the milliseconds of the same wall time in UTC, like all times here
 * @throws Unreadable for a rule that is not supported
 */
export function* expandRule(rule: RuleText, startMs: number, fromMs: number, toMs: number): Generator<number[]> {
  const { freq, interval = 1, count = Number.POSITIVE_INFINITY } = rule;
  if (!['DAILY', 'WEEKLY', 'MONTHLY', 'YEARLY'].includes(freq))
    throw new Unreadable(`a rule that repeats ${freq.toLowerCase()}`);
  if (rule.byweekno !== undefined) throw new Unreadable('a rule with numbers of weeks');
  const startDay = Math.floor(startMs / DAY_MS);
  const weekStart = (rule.wkst ?? 2) - 1;
  const periodAt = (index: number) => periodOf(freq, startDay, index * interval, weekStart);
  const isWanted = dayFilter(rule, dayOf(startDay));
  const times = timesOf(rule, startMs - startDay * DAY_MS);
  const positions = new Set(numbers(rule.bysetpos));
  let left = count;
  let index = count === Number.POSITIVE_INFINITY ? firstIndex(freq, interval, startDay, fromMs) : 0;
  for (let periods = 0; left > 0; periods += 1, index += 1) {
    const [first, end] = periodAt(index);
    // An interval of millions of years has no date.
    if (!(first * DAY_MS <= toMs)) return;
    if (periods > MAX_PERIODS)
      throw new Unreadable('a rule that counts through more than 20,000 days, weeks, months or years');
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
  if (freq === 'WEEKLY') {
    const first = startDay - ((dayOf(startDay).weekday - weekStart + 7) % 7) + steps * 7;
    return [first, first + 7];
  }
  const { year, month } = dayOf(startDay);
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

function dayOf(number: number): Day {
  const date = new Date(number * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return {
    year,
    month,
    weekday: date.getUTCDay(),
    inMonth: [date.getUTCDate(), number - dayNumber(year, month + 1)],
    inYear: [number - dayNumber(year, 1) + 1, number - dayNumber(year + 1, 1)],
  };
}

/** The condition on days. Without a part that names days, the start's weekday or date applies. */
function dayFilter(rule: RuleText, start: Day): (day: Day) => boolean {
  const months = new Set(numbers(rule.bymonth));
  const monthDays = new Set(numbers(rule.bymonthday));
  const yearDays = new Set(numbers(rule.byyearday));
  const weekdays = new Set(list(rule.byday).map(String).map(plainDay));
  if (monthDays.size + yearDays.size + weekdays.size === 0) {
    if (rule.freq === 'WEEKLY') weekdays.add(DAYS[start.weekday]!);
    else if (rule.freq !== 'DAILY') monthDays.add(start.inMonth[0]);
    if (rule.freq === 'YEARLY' && months.size === 0) months.add(start.month);
  }
  const isInYear = rule.freq === 'YEARLY' && months.size === 0;
  const hasPosition = rule.freq === 'MONTHLY' || rule.freq === 'YEARLY';
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

/** `+2MO` is `2MO`, and `0MO` is `MO`. */
const plainDay = (text: string): string => text.replace(/^\+?0*(?=[1-9]|-|[A-Z])/, '');

/** Milliseconds since midnight, sorted. */
function timesOf(rule: RuleText, startTime: number): number[] {
  const seconds = Math.floor(startTime / 1000);
  const part = (values: unknown, own: number) => {
    const wanted = [...new Set(numbers(values))];
    return wanted.length > 0 ? wanted : [own];
  };
  const hours = part(rule.byhour, Math.floor(seconds / 3600));
  const minutes = part(rule.byminute, Math.floor(seconds / 60) % 60);
  const ofMinute = part(rule.bysecond, seconds % 60);
  if (hours.length * minutes.length * ofMinute.length > MAX_TIMES_A_DAY)
    throw new Unreadable('a rule that repeats too often a day');
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => ofMinute.map((second) => (hour * 3600 + minute * 60 + second) * 1000)),
  );
  return times.sort((a, b) => a - b);
}

const list = (values: unknown): unknown[] => (values === undefined ? [] : Array.isArray(values) ? values : [values]);
const numbers = (values: unknown): number[] => list(values).map(Number);
