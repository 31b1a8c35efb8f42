// When the town's events take place: rules relative to today, turned into dates on the clock of where the event is.

import { Temporal } from 'temporal-polyfill';

type Weekday = 'monday' | 'tuesday' | 'wednesday' | 'thursday' | 'friday' | 'saturday' | 'sunday';

/** Which days. */
type Days =
  /** Counted from today; with `on`, the first such day of the week from there. */
  | { day: number; on?: Weekday }
  /** A day of the week, in each of these weeks counted from this one. */
  | { every: Weekday; fromWeek: number; toWeek: number }
  /** The nth such weekday of each of these months counted from this one. */
  | { monthly: Weekday; nth: number; fromMonth: number; toMonth: number }
  /** Once a year in the past three and the coming twelve months. */
  | { yearly: DayOfYear }
  /** The coming one, or the last one that was. */
  | { coming: DayOfYear }
  | { last: DayOfYear };

type DayOfYear = { month: number; day: number } | { month: number; weekday: Weekday; nth: number };

/** How long: whole days, or hours from a time such as `19:30`. */
type Length = { days: number } | { at: string; hours: number };

export type When = Days & Length;

/** One date of an event. */
export interface Occasion {
  allDay: boolean;
  /** `YYYY-MM-DD HH:MM:SS`, on the clock of the event's own zone. */
  start: string;
  end: string;
  year: number;
  /** Counted from today; negative is past. */
  daysAway: number;
}

const WEEKDAYS: readonly Weekday[] = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const YEARS_BACK = 3;

/** All dates of an event, the earliest first. */
export function occasionsOf(when: When, today: Temporal.PlainDate): Occasion[] {
  return daysOf(when, today).map((day) => {
    const [start, end] = spanOf(when, day);
    return {
      allDay: 'days' in when,
      start: wallText(start),
      end: wallText(end),
      year: day.year,
      daysAway: today.until(day, { largestUnit: 'days' }).days,
    };
  });
}

function daysOf(when: When, today: Temporal.PlainDate): Temporal.PlainDate[] {
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

/** Three that were, and the one to come. */
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

function spanOf(length: Length, day: Temporal.PlainDate): [Temporal.PlainDateTime, Temporal.PlainDateTime] {
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

/** 0 when the day is one already. */
const daysUntil = (weekday: Weekday, from: Temporal.PlainDate): number =>
  (WEEKDAYS.indexOf(weekday) + 1 - from.dayOfWeek + 7) % 7;

const steps = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, index) => from + index);

const wallText = (moment: Temporal.PlainDateTime): string =>
  moment.toString({ smallestUnit: 'second' }).replace('T', ' ');
