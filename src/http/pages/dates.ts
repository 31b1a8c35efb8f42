// The days of events, and dates and times as the pages write them.

import { dayStartMs, formatWallTime, parseWallTime, wholeDays } from '../../time/wall-time.ts';

/** The times of an event in a response of the API: wall times. `all_day` is null if a password protects the event. */
export type ShownTimes = {
  start_date: string;
  end_date: string;
  all_day: boolean | null;
  timezone_abbr: string;
};

export interface DaySpan {
  /** The first and the last day, `YYYY-MM-DD`. */
  first: string;
  last: string;
  /** Several days: the event has a range of days, and no time of day. */
  isLong: boolean;
}

const DAY_MS = 86_400_000;
/** An event that ends before this hour of the next day is an evening, not two days. */
const NIGHT_ENDS = '06:00:00';

/** Milliseconds of a day or a wall time in UTC; 0 for a text that is neither. */
const msOf = (text: string): number => parseWallTime(text.length === 10 ? `${text} 00:00:00` : text) ?? 0;

/** The day so many days later, clamped to the years 0000 to 9999. */
export const addDays = (day: string, days: number): string => formatWallTime(msOf(day) + days * DAY_MS).slice(0, 10);

/** The month so many months later: `2026-12`. */
export function shiftMonth(month: string, months: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return formatWallTime(dayStartMs(year, number - 1 + months, 1)).slice(0, 7);
}

/** 0 is Sunday. */
export const weekdayOf = (day: string): number => new Date(msOf(day)).getUTCDay();

export function spanOf({ start_date: start, end_date: end, all_day }: ShownTimes): DaySpan {
  const first = start.slice(0, 10);
  const isNight = end.slice(0, 10) <= addDays(first, 1) && end.slice(11) < NIGHT_ENDS;
  // An end at midnight belongs to the day before.
  const last = all_day ? wholeDays(start, end)[1] : formatWallTime(msOf(end) - 1000).slice(0, 10);
  const isLong = !isNight && last > first;
  return { first, last: isLong ? last : first, isLong };
}

export type Dates = ReturnType<typeof createDates>;

/** @param locale a BCP 47 tag: decides on the order of day and month, and on the clock */
export function createDates(locale: string) {
  const formatter = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
  const date = { day: 'numeric', month: 'long' } as const;
  const clock = { hour: 'numeric', minute: '2-digit' } as const;
  const formats = {
    day: formatter({ weekday: 'long', ...date }),
    dayAndYear: formatter({ weekday: 'long', ...date, year: 'numeric' }),
    moment: formatter({ weekday: 'long', ...date, year: 'numeric', ...clock }),
    shortDay: formatter({ day: 'numeric', month: 'short' }),
    shortDayAndYear: formatter({ day: 'numeric', month: 'short', year: 'numeric' }),
    month: formatter({ month: 'long', year: 'numeric' }),
    shortMonth: formatter({ month: 'short' }),
    weekday: formatter({ weekday: 'short' }),
    clock: formatter(clock),
    hour: formatter({ hour: 'numeric' }),
  };
  const hasHalfDays = formats.hour.resolvedOptions().hour12 === true;
  /** Of times on the hour without minutes, where that is usual: `7 PM`. */
  const clockOf = (...walls: string[]) =>
    hasHalfDays && walls.every((wall) => wall.slice(14, 16) === '00') ? formats.hour : formats.clock;

  const month = (text: string) => formats.month.format(msOf(`${text}-01`));
  const shortMonth = (text: string) => formats.shortMonth.format(msOf(`${text}-01`));
  const weekday = (day: string) => formats.weekday.format(msOf(day));
  const dayAndYear = (day: string) => formats.dayAndYear.format(msOf(day));

  /** Without the year if it is the current one. */
  const day = (text: string, today: string) =>
    text.slice(0, 4) === today.slice(0, 4) ? formats.day.format(msOf(text)) : dayAndYear(text);

  /** Today, Tomorrow, or the day. */
  function relativeDay(text: string, today: string): string {
    if (text === today) return 'Today';
    return text === addDays(today, 1) ? 'Tomorrow' : day(text, today);
  }

  /** `Nov 20 – Jan 15`, with years unless both are in the current one. */
  function days({ first, last }: DaySpan, today: string): string {
    const isThisYear = first.slice(0, 4) === today.slice(0, 4) && last.slice(0, 4) === today.slice(0, 4);
    return (isThisYear ? formats.shortDay : formats.shortDayAndYear).formatRange(msOf(first), msOf(last));
  }

  /**
   * A range of times that stays on one line, `7:30 – 9:00 PM`: its spaces do not break, and a word joiner
   * follows the dash.
   */
  const unbroken = (range: string) => range.replace(/[\u2009 ]/g, '\u202f').replaceAll('–', '–\u2060');

  const startTime = ({ start_date: start }: ShownTimes) => clockOf(start).format(msOf(start));

  /** The time of an event of one day: `7:30 – 9:00 PM`. */
  function times(event: ShownTimes): string {
    if (event.all_day) return 'All day';
    const { start_date: start, end_date: end } = event;
    if (end <= start) return startTime(event);
    const clock = clockOf(start, end);
    // Across midnight a range would repeat the dates.
    return start.slice(0, 10) === end.slice(0, 10)
      ? unbroken(clock.formatRange(msOf(start), msOf(end)))
      : `${clock.format(msOf(start))} – ${clock.format(msOf(end))}`;
  }

  /** Date and time in full, with the zone; blank for an event without a date. */
  function when(event: ShownTimes): string {
    if (event.start_date === '') return '';
    const { start_date, end_date } = event;
    const [start, end] = (event.all_day ? wholeDays(start_date, end_date) : [start_date, end_date]).map(msOf) as [
      number,
      number,
    ];
    const format = event.all_day ? formats.dayAndYear : formats.moment;
    const range = end > start ? unbroken(format.formatRange(start, end)) : format.format(start);
    return event.all_day ? range : `${range} ${event.timezone_abbr}`;
  }

  return { month, shortMonth, weekday, dayAndYear, day, relativeDay, days, startTime, times, when };
}

interface WeekInfo {
  firstDay: number;
}

/** The first day of the week in a locale, 0 for Sunday. */
export function firstWeekday(locale: string): number {
  // Node 22 has the property of an older draft; neither is in TypeScript's library.
  const intl = new Intl.Locale(locale) as Intl.Locale & { getWeekInfo?(): WeekInfo; weekInfo?: WeekInfo };
  return ((intl.getWeekInfo?.() ?? intl.weekInfo)?.firstDay ?? 7) % 7;
}
