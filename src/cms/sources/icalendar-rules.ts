// The rules by which the series of an iCalendar file, and the clocks of its zones, repeat (RFC 5545, 3.3.10).
// Rules are expanded one period at a time, so that the caller can pause: the iterator of ical.js never returns for a
// rule without instances, such as every seventh day from a Monday on Tuesdays.

import ICAL from 'ical.js';
import { DAY_MS, dayStartMs } from '../../time/wall-time.ts';

/** Hours times minutes times seconds of one day: those of a year are fewer than the events that a source may have. */
const MAX_TIMES_A_DAY = 24;

/** Of `RRULE:FREQ=WEEKLY;COUNT=3`. @throws Error if the rule cannot be read */
export const ruleOf = (line: string): ICAL.Recur =>
  ICAL.Recur.fromString(line.slice(line.indexOf(':') + 1).toUpperCase());

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
 * The instances of a rule from its start on, a sorted list for each period: of FREQ=MONTHLY;BYDAY=FR from May 14, 2027,
 * on, [May 14, May 21, May 28], [June 4, June 11, …]. Without a COUNT, periods that end before `fromWallMs` are left
 * out. The last period ends after `toWallMs`.
 * @param startWallMs as the milliseconds of the same wall time in UTC, like all times here
 * @throws Error for a rule that is not supported
 */
export function* expandRule(rule: ICAL.Recur, startWallMs: number, fromWallMs: number, toWallMs: number) {
  const { freq, interval, parts, count, wkst } = rule;
  const periodOf = PERIODS[freq];
  if (periodOf === undefined) throw new Error(`a rule that repeats ${freq.toLowerCase()}`);
  if (parts.BYWEEKNO) throw new Error('a rule with numbers of weeks');
  const start = dayOf(Math.floor(startWallMs / DAY_MS));
  const isWanted = dayFilter(rule, start);
  const times = timesOfDay(parts, new Date(startWallMs));
  const positions = new Set(parts.BYSETPOS);
  // ical.js counts weekdays from 1, Sunday.
  const numberOf = (day: Day) => periodOf(day, wkst - 1);
  let day = count === null && fromWallMs > startWallMs ? dayOf(Math.floor(fromWallMs / DAY_MS)) : start;
  // Back to the first day of its period: positions count from there, also what is before the start.
  while (numberOf(dayOf(day.number - 1)) === numberOf(day)) day = dayOf(day.number - 1);
  let left = count ?? Number.POSITIVE_INFINITY;
  while (left > 0 && day.number * DAY_MS <= toWallMs) {
    const period = numberOf(day);
    const isRepeated = (period - numberOf(start)) % interval === 0;
    const found: number[] = [];
    for (; numberOf(day) === period; day = dayOf(day.number + 1))
      if (isRepeated && isWanted(day)) found.push(...times.map((time) => day.number * DAY_MS + time));
    // BYSETPOS=1,-1: the first and the last.
    const isChosen = (index: number) =>
      positions.size === 0 || positions.has(index + 1) || positions.has(index - found.length);
    const instances = found.filter((wallMs, index) => isChosen(index) && wallMs >= startWallMs).slice(0, left);
    left -= instances.length;
    yield instances;
  }
}

/** The first day of a month; months may be above 12. */
const dayNumber = (year: number, month: number): number => dayStartMs(year, month - 1, 1) / DAY_MS;

function dayOf(number: number) {
  const date = new Date(number * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return {
    number,
    year,
    month,
    weekday: DAYS[date.getUTCDay()]!,
    // Counted from the start and from the end: May 31 is [31, -1].
    inMonth: [date.getUTCDate(), number - dayNumber(year, month + 1)] as const,
    inYear: [number - dayNumber(year, 1) + 1, number - dayNumber(year + 1, 1)] as const,
  };
}

type Day = ReturnType<typeof dayOf>;

/** The condition on days. A part that is missing wants every day. */
function dayFilter(rule: ICAL.Recur, start: Day): (day: Day) => boolean {
  const { BYMONTH, BYMONTHDAY, BYYEARDAY, BYDAY } = withDays(rule, start);
  const isOneOf = <T>(values: readonly T[], wanted?: readonly T[]) => !wanted || values.some((v) => wanted.includes(v));
  return (day) =>
    isOneOf([day.month], BYMONTH) &&
    isOneOf(day.inMonth, BYMONTHDAY) &&
    isOneOf(day.inYear, BYYEARDAY) &&
    isOneOf(weekdayNames(rule, day), BYDAY);
}

/**
 * The rule's parts. If none of them names days, the start does: with a start on Friday, May 14, FREQ=WEEKLY has
 * BYDAY=FR, FREQ=MONTHLY has BYMONTHDAY=14, and FREQ=YEARLY has BYMONTHDAY=14 and, unless it names months, BYMONTH=5.
 */
function withDays({ freq, parts }: ICAL.Recur, start: Day): ICAL.Recur['parts'] {
  if (freq === 'DAILY' || parts.BYDAY || parts.BYMONTHDAY || parts.BYYEARDAY) return parts;
  if (freq === 'WEEKLY') return { ...parts, BYDAY: [start.weekday] };
  const BYMONTH = freq === 'YEARLY' ? [start.month] : undefined;
  return { BYMONTH, ...parts, BYMONTHDAY: [start.inMonth[0]] };
}

/** Monday, May 10, 2027: `MO`, in its month also `2MO`, `+2MO` and, of five Mondays, `-4MO`; in the year `19MO`. */
function weekdayNames({ freq, parts }: ICAL.Recur, { weekday: name, inMonth, inYear }: Day): string[] {
  if (freq === 'WEEKLY' || freq === 'DAILY') return [name];
  const [fromStart, fromEnd] = freq === 'YEARLY' && !parts.BYMONTH ? inYear : inMonth;
  const [nth, nthLast] = [Math.ceil(fromStart / 7), Math.ceil(-fromEnd / 7)];
  return [name, `${nth}${name}`, `+${nth}${name}`, `-${nthLast}${name}`];
}

/** Milliseconds since midnight, sorted: by default the time of day of `start`. */
function timesOfDay(parts: ICAL.Recur['parts'], start: Date): number[] {
  const hours = parts.BYHOUR ?? [start.getUTCHours()];
  const minutes = parts.BYMINUTE ?? [start.getUTCMinutes()];
  const seconds = parts.BYSECOND ?? [start.getUTCSeconds()];
  if (hours.length * minutes.length * seconds.length > MAX_TIMES_A_DAY)
    throw new Error('a rule that repeats too often a day');
  const times = hours.flatMap((h) => minutes.flatMap((m) => seconds.map((s) => ((h * 60 + m) * 60 + s) * 1000)));
  return times.sort((a, b) => a - b);
}
