// The days of events, and dates and times as the pages write them.

import type { FeedEvent } from '../../calendar/feeds/icalendar.ts';
import { DAY_MS, dayStartMs, formatWallTime, parseWallTime, wholeDays } from '../../time/wall-time.ts';

/** The times of an event in a response of the API. */
export type ShownTimes = Pick<FeedEvent, 'start_date' | 'end_date' | 'all_day'> & { timezone_abbr: string };

/** Days as `YYYY-MM-DD`; of an event of one day both are the same. */
interface DaySpan {
  first: string;
  last: string;
}

/** An event that ends before this hour of the next day is an evening, not two days. */
const NIGHT_ENDS = '06:00:00';

/** Milliseconds of a wall time in UTC, 0 for other texts; `2027-03` and `2027-03-01` mean their beginning. */
const msOf = (text: string): number => parseWallTime(`${text}${'1970-01-01 00:00:00'.slice(text.length)}`) ?? 0;

/** The day so many days later, clamped to the years 0000 to 9999. */
export const addDays = (day: string, days: number): string => formatWallTime(msOf(day) + days * DAY_MS).slice(0, 10);

/** The month so many months later: `2026-12`. */
export function shiftMonth(month: string, months: number): string {
  const [year, number] = month.split('-').map(Number) as [number, number];
  return formatWallTime(dayStartMs(year, number - 1 + months, 1)).slice(0, 7);
}

/** 0 is Sunday. */
export const weekdayOf = (day: string): number => new Date(msOf(day)).getUTCDay();

/** The days under which the pages show an event: one for 19:00–02:00 and 19:00–00:00, three for Friday to Sunday. */
export function spanOf({ start_date: start, end_date: end, all_day }: ShownTimes): DaySpan {
  const first = start.slice(0, 10);
  const isNight = end.slice(0, 10) <= addDays(first, 1) && end.slice(11) < NIGHT_ENDS;
  // An end at midnight belongs to the day before.
  const last = all_day ? wholeDays(start, end)[1] : formatWallTime(msOf(end) - 1000).slice(0, 10);
  return { first, last: isNight || last < first ? first : last };
}

function formatsOf(locale: string) {
  const formatter = (options: Intl.DateTimeFormatOptions) =>
    new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' });
  const date = { day: 'numeric', month: 'long' } as const;
  return {
    day: formatter({ weekday: 'long', ...date }),
    dayAndYear: formatter({ weekday: 'long', ...date, year: 'numeric' }),
    shortDay: formatter({ day: 'numeric', month: 'short' }),
    shortDayAndYear: formatter({ day: 'numeric', month: 'short', year: 'numeric' }),
    month: formatter({ month: 'long', year: 'numeric' }),
    shortMonth: formatter({ month: 'short' }),
    weekday: formatter({ weekday: 'short' }),
    clock: formatter({ hour: 'numeric', minute: '2-digit' }),
  };
}

/** Keeps `7:30 – 9:00 PM` on one line: its spaces do not break, and a word joiner follows the dash. */
const unbroken = (range: string): string => range.replace(/[\u2009 ]/g, '\u202f').replaceAll('–', '–\u2060');

type DateTexts = Record<'today' | 'tomorrow' | 'allDay', string>;

/** The locale, a BCP 47 tag, decides on the order of day and month, and on the clock. */
export class Dates {
  readonly #formats: ReturnType<typeof formatsOf>;
  readonly #texts: DateTexts;
  /** 0 is Sunday. */
  readonly firstWeekday: number;

  constructor(locale: string, texts: DateTexts) {
    this.#formats = formatsOf(locale);
    this.#texts = texts;
    this.firstWeekday = firstWeekday(locale);
  }

  /** A month, a day or a wall time, in this form alone. */
  format(form: keyof ReturnType<typeof formatsOf>, time: string): string {
    return this.#formats[form].format(msOf(time));
  }

  /** Without the year if it is the current one. */
  day(day: string, today: string): string {
    return this.format(day.slice(0, 4) === today.slice(0, 4) ? 'day' : 'dayAndYear', day);
  }

  relativeDay(day: string, today: string): string {
    if (day === today) return this.#texts.today;
    return day === addDays(today, 1) ? this.#texts.tomorrow : this.day(day, today);
  }

  /** `Nov 20 – Jan 15`, with years unless both are in the current one. */
  days({ first, last }: DaySpan, today: string): string {
    const isThisYear = first.slice(0, 4) === today.slice(0, 4) && last.slice(0, 4) === today.slice(0, 4);
    const format = isThisYear ? this.#formats.shortDay : this.#formats.shortDayAndYear;
    return format.formatRange(msOf(first), msOf(last));
  }

  /** The time of an event of one day: `7:30 – 9:00 PM`. */
  times(event: ShownTimes): string {
    if (event.all_day) return this.#texts.allDay;
    const { start_date: start, end_date: end } = event;
    if (end <= start) return unbroken(this.format('clock', start));
    // Across midnight a range would repeat the dates.
    return unbroken(
      start.slice(0, 10) === end.slice(0, 10)
        ? this.#formats.clock.formatRange(msOf(start), msOf(end))
        : `${this.format('clock', start)} – ${this.format('clock', end)}`,
    );
  }

  /** Date and time in full, with the zone; blank for an event without a date. No line ends within a time. */
  when(event: ShownTimes): string {
    const { start_date: start, end_date: end, timezone_abbr: zone } = event;
    if (start === '') return '';
    if (event.all_day) {
      const [first, last] = wholeDays(start, end);
      return last > first
        ? this.#formats.dayAndYear.formatRange(msOf(first), msOf(last))
        : this.format('dayAndYear', first);
    }
    const isOneDay = end.slice(0, 10) <= start.slice(0, 10);
    if (isOneDay) return `${this.format('dayAndYear', start)}, ${this.times(event)}\u00a0${zone}`;
    const moment = (wall: string) => `${this.format('dayAndYear', wall)}, ${unbroken(this.format('clock', wall))}`;
    return `${moment(start)} – ${moment(end)}\u00a0${zone}`;
  }
}

type WeekInfo = { firstDay: number };

function firstWeekday(locale: string): number {
  // Node 22 has the property of an older draft; neither is in TypeScript's library.
  const intl = new Intl.Locale(locale) as Intl.Locale & { getWeekInfo?(): WeekInfo; weekInfo?: WeekInfo };
  return ((intl.getWeekInfo?.() ?? intl.weekInfo)?.firstDay ?? 7) % 7;
}
