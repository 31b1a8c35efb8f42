// Interprets date parameters: the bounds of an event list, and the start, end and publication date in a write.

import { invalidParam } from '../interface/errors.ts';
import type { EventRecord, Site, WallTime } from '../model/records.ts';
import type { DateBound } from '../store/list-events.ts';
import { type PhpDate, parsePhpDate, parseUnixSeconds } from '../time/php-dates.ts';
import { addMonths, DAY_MS, dayEndOn, dayStartOn, formatWallTime } from '../time/wall-time.ts';
import { epochToWallMs, parseZone, utcZone, type Zone, zoneOrUtc } from '../time/zones.ts';

/** The site's zone, for dates without one. */
export const zoneOf = ({ site }: { site(): Site }): Zone => zoneOrUtc(site().timezone);

const wallAt = (epochMs: number, zone: Zone): WallTime => formatWallTime(epochToWallMs(epochMs, zone));

export const todayAt = (services: { site(): Site; nowMs(): number }): string =>
  wallAt(services.nowMs(), zoneOf(services)).slice(0, 10);

/** `widen`: without `strict_dates`, `starts_before=2027-05-01` is before 23:59:59 of that day, as in the original. */
const COMPARISONS = {
  start_date: { field: 'start', op: '>=', widen: dayStartOn },
  end_date: { field: 'end', op: '<=', widen: dayEndOn },
  starts_before: { field: 'start', op: '<', widen: dayEndOn },
  starts_after: { field: 'start', op: '>', widen: dayEndOn },
  ends_before: { field: 'end', op: '<', widen: dayEndOn },
  ends_after: { field: 'end', op: '>', widen: dayEndOn },
} as const;

export type DateParameter = keyof typeof COMPARISONS;
const DATE_PARAMETERS = Object.keys(COMPARISONS) as DateParameter[];
/** A request with one of these has no default `start_date` and `end_date`. */
const SWITCH_DEFAULTS_OFF = ['starts_before', 'starts_after', 'ends_before', 'ends_after'] as const;

interface DateWindow {
  bounds: DateBound[];
  /** The dates as the URLs of the list's pages repeat them, defaults included. */
  urlDates: Partial<Record<DateParameter, WallTime>>;
  /** The same parameters have the same bounds until then, in milliseconds since 1970. */
  validUntilMs: number;
}

/**
 * The default `start_date` and `end_date` of a list, before widening to whole days. As in the original, the list
 * begins on the day that the site's clock shows at 23:59 UTC of yesterday: today in Berlin, yesterday in New York. It
 * ends 24 months from now on UTC's clock.
 */
export function defaultWindow(nowMs: number, zone: Zone): Record<'start_date' | 'end_date', WallTime> {
  const yesterday = Date.parse(`${new Date(nowMs).toISOString().slice(0, 10)}T00:00:00Z`) - 60_000;
  const utcMinute = formatWallTime(nowMs - (nowMs % 60_000));
  return { start_date: wallAt(yesterday, zone), end_date: addMonths(utcMinute, 24) };
}

const ABSOLUTE = /^\s*\d{4}-\d{1,2}-\d{1,2}/;
const SECOND_MS = 1000;

/** Now, and the zone of a text that names none. */
interface Now {
  nowMs: number;
  zone: Zone;
}

interface WindowOptions extends Now {
  /** Bounds are exact to the second, on the site's clock. Otherwise they cover whole days. */
  strict: boolean;
  /** `05:00`; midnight by default. */
  dayStarts?: string | undefined;
  withDefaults: boolean;
}

/** The bounds that a list's date parameters set. `values` has their validated texts, among other parameters. */
export function dateWindow(values: Partial<Record<DateParameter, string>>, options: WindowOptions): DateWindow {
  const hasDefaults = options.withDefaults && SWITCH_DEFAULTS_OFF.every((name) => values[name] === undefined);
  const defaults: DateWindow['urlDates'] = hasDefaults ? defaultWindow(options.nowMs, options.zone) : {};
  const bounds: DateBound[] = [];
  const urlDates: DateWindow['urlDates'] = {};
  // The days of the default window move at midnight UTC. A list with fixed bounds is valid until then too.
  let movesEveryMs = DAY_MS;
  for (const name of DATE_PARAMETERS) {
    const text = values[name];
    const byDefault = defaults[name];
    if (text === undefined && byDefault === undefined) continue;
    const { field, op, widen } = COMPARISONS[name];
    const read = options.strict ? parseWallTimeIn : timeOnDay;
    const exact = text === undefined ? byDefault! : read(name, text, options);
    // Where days start at 05:00, `end_date=2027-05-01 04:59:59` ends at `2027-05-02 04:59:59`, as each time of May 1.
    // `dayEndOn` leaves a last second of a day as it is: so `dayStartOn` makes `2027-05-01 00:00:00` of it first.
    const wall = options.strict ? exact : widen(dayStartOn(exact), options.dayStarts);
    urlDates[name] = wall;
    bounds.push({ field, op, wall });
    // The default end, to the second, is a minute later each minute.
    const isFixed = text === undefined ? !options.strict : isAbsolute(text);
    if (!isFixed) movesEveryMs = SECOND_MS;
  }
  return { bounds, urlDates, validUntilMs: (Math.floor(options.nowMs / movesEveryMs) + 1) * movesEveryMs };
}

/** A date with a year never moves, nor does a Unix time. But 0 may mean today: see `timeOnDay`. */
const isAbsolute = (text: string): boolean => ABSOLUTE.test(text) || (parseUnixSeconds(text) ?? 0) !== 0;

/** Throws 400 for a date that was valid in UTC, and is outside the years 0000 to 9999 in the zone. */
function readDate(name: string, text: string, now: Now): PhpDate {
  const date = parsePhpDate(text, now);
  if (!date) throw invalidParam(name);
  return date;
}

/**
 * A time on the day that a bound means:
 *
 *   0, today                              today, on the site's clock
 *   1809230400, 2027-05-01T23:00-05:00    2027-05-02, in UTC
 *   2027-05-01 23:00                      2027-05-01, as written
 */
function timeOnDay(name: string, text: string, { nowMs, zone }: Now): WallTime {
  const seconds = parseUnixSeconds(text);
  // The original takes 0 for no value, and no value for now.
  if (seconds === 0) return wallAt(nowMs, zone);
  if (seconds !== undefined) return formatWallTime(seconds * SECOND_MS);
  const date = readDate(name, text, { nowMs, zone });
  return date.hasZone ? formatWallTime(date.epochMs) : date.wall;
}

/**
 * Parses a validated text into the wall time in `zone`, to the second. A Unix time and a text that names a zone are
 * instants; any other text is in `zone` already.
 */
export function parseWallTimeIn(name: string, text: string, { nowMs, zone }: Now): WallTime {
  const seconds = parseUnixSeconds(text);
  return wallAt(seconds !== undefined ? seconds * SECOND_MS : readDate(name, text, { nowMs, zone }).epochMs, zone);
}

/** `modified_after` in UTC; a text that names no zone is in UTC, as `modified_utc`. The same until `validUntilMs`. */
export function modifiedAfterBound(text: unknown, nowMs: number) {
  if (text === undefined) return { utc: undefined, validUntilMs: Number.POSITIVE_INFINITY };
  const utc = parseWallTimeIn('modified_after', String(text), { nowMs, zone: utcZone });
  return { utc, validUntilMs: isAbsolute(String(text)) ? Number.POSITIVE_INFINITY : nowMs + SECOND_MS };
}

/** The times as stored; start and end are `''` in an event without dates. */
type EventTimes = Pick<EventRecord, 'start' | 'end' | 'timezone' | 'allDay'>;

/**
 * The times of a created or updated event, which `parseWallTimeIn` reads in its zone. All-day events cover whole days.
 * @param sent an absent value stays as it was
 * @throws ApiError `rest_invalid_param` if the end is before the start: for `end_date`, or `start_date` if sent alone
 */
export function eventTimes(
  sent: { start?: string; end?: string; timezone?: string; allDay?: boolean },
  before: EventTimes | undefined,
  site: Now & { zoneName: string; dayStarts?: string | undefined },
): EventTimes {
  const timezone = sent.timezone === '' ? site.zoneName : (sent.timezone ?? before?.timezone ?? site.zoneName);
  const zone = parseZone(timezone) ?? site.zone;
  const allDay = sent.allDay ?? before?.allDay ?? false;
  const read = (name: string, text: string | undefined, stored: WallTime | undefined) =>
    text === undefined ? (stored ?? '') : parseWallTimeIn(name, text, { nowMs: site.nowMs, zone });
  let start = read('start_date', sent.start, before?.start);
  let end = read('end_date', sent.end, before?.end);
  // An event that the CMS has without an end ends when it starts, also if the start moves to a later time.
  if (before && sent.end === undefined && before.end === before.start && end < start) end = start;
  if (start === '' && sent.end !== undefined) throw invalidParam('start_date', 'The event has no start yet.');
  if (allDay && start !== '') {
    start = dayStartOn(start, site.dayStarts);
    end = dayEndOn(end, site.dayStarts);
  }
  const isSent = sent.start !== undefined || sent.end !== undefined;
  if (isSent && end < start)
    throw invalidParam(sent.end === undefined ? 'start_date' : 'end_date', 'The end lies before the start.');
  return { start, end, timezone, allDay };
}
