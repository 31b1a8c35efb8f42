// Recurrence rules of the demo's events, relative to today, and their dates in local time.

import { Temporal } from 'temporal-polyfill';

type Weekday = 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';

type DayRule =
  /** Days from today; with `on`, the first such weekday from there. */
  | { day: number; on?: Weekday }
  /** A weekday in each of these weeks; this week is 0. */
  | { every: Weekday; fromWeek: number; toWeek: number }
  /** The nth such weekday of each of these months; this month is 0. */
  | { monthly: Weekday; nth: number; fromMonth: number; toMonth: number }
  /** Once a year, in the last three years and the next. */
  | { yearly: DayOfYear }
  /** The next one, or the last one. */
  | { coming: DayOfYear }
  | { last: DayOfYear };

type DayOfYear = { month: number; day: number } | { month: number; weekday: Weekday; nth: number };

/** Whole days, or hours from a time such as `19:30`. */
type Length = { days: number } | { at: string; hours: number };

export type When = DayRule & Length;

export interface Occurrence {
  allDay: boolean;
  /** `YYYY-MM-DD HH:MM:SS` in the event's time zone. */
  start: string;
  end: string;
  year: number;
  /** From today; negative in the past. */
  daysAway: number;
}

const WEEKDAYS: readonly Weekday[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const YEARS_BACK = 3;

/** All dates of an event, the earliest first. */
export function occurrencesOf(when: When, today: Temporal.PlainDate): Occurrence[] {
  return occurrenceDays(when, today).map((day) => {
    const [start, end] = startAndEnd(when, day);
    return {
      allDay: 'days' in when,
      start: localText(start),
      end: localText(end),
      year: day.year,
      daysAway: today.until(day, { largestUnit: 'days' }).days,
    };
  });
}

function occurrenceDays(when: When, today: Temporal.PlainDate): Temporal.PlainDate[] {
  if ('day' in when) {
    const day = today.add({ days: when.day });
    return [when.on === undefined ? day : day.add({ days: daysUntil(when.on, day) })];
  }
  if ('every' in when) {
    const monday = today.subtract({ days: today.dayOfWeek - 1 });
    const first = monday.add({ days: WEEKDAYS.indexOf(when.every) });
    return steps(when.fromWeek, when.toWeek).map((weeks) => first.add({ weeks }));
  }
  if ('monthly' in when) {
    const month = today.toPlainYearMonth();
    return steps(when.fromMonth, when.toMonth).map((months) => nthOf(month.add({ months }), when.monthly, when.nth));
  }
  if ('coming' in when) return yearly(when.coming, today).slice(-1);
  if ('last' in when) return yearly(when.last, today).slice(-2, -1);
  return yearly(when.yearly, today);
}

/** The last three and the next one. */
function yearly(dayOfYear: DayOfYear, today: Temporal.PlainDate): Temporal.PlainDate[] {
  return steps(-YEARS_BACK - 1, 1)
    .map((years) => Temporal.PlainYearMonth.from({ year: today.year + years, month: dayOfYear.month }))
    .map((month) =>
      'day' in dayOfYear ? month.toPlainDate(dayOfYear) : nthOf(month, dayOfYear.weekday, dayOfYear.nth),
    )
    .filter(
      (day) =>
        Temporal.PlainDate.compare(day, today.subtract({ years: YEARS_BACK })) > 0 &&
        Temporal.PlainDate.compare(day, today.add({ years: 1 })) <= 0,
    );
}

function startAndEnd(length: Length, day: Temporal.PlainDate): [Temporal.PlainDateTime, Temporal.PlainDateTime] {
  if ('days' in length) {
    return [day.toPlainDateTime(), day.add({ days: length.days }).toPlainDateTime().subtract({ seconds: 1 })];
  }
  const start = day.toPlainDateTime(length.at);
  return [start, start.add({ minutes: length.hours * 60 })];
}

function nthOf(month: Temporal.PlainYearMonth, weekday: Weekday, nth: number): Temporal.PlainDate {
  const first = month.toPlainDate({ day: 1 });
  return first.add({ days: daysUntil(weekday, first) + 7 * (nth - 1) });
}

/** 0 if the day is that weekday. */
const daysUntil = (weekday: Weekday, from: Temporal.PlainDate): number =>
  (WEEKDAYS.indexOf(weekday) + 1 - from.dayOfWeek + 7) % 7;

const steps = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

const localText = (time: Temporal.PlainDateTime): string => time.toString({ smallestUnit: 'second' }).replace('T', ' ');
