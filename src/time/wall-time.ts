// Wall times, which have no zone: as texts `YYYY-MM-DD HH:MM:SS`, and arithmetic on them.

const SECOND_MS = 1000;
export const DAY_MS = 86_400_000;

/** `0000-01-01 00:00:00`, the earliest wall time. */
export const EARLIEST_MS = -62_167_219_200_000;
/** `9999-12-31 23:59:59`, the latest wall time. */
export const LATEST_MS = 253_402_300_799_000;

/** Of an ISO 8601 text: `2027-01-10T09:00:00.000Z` becomes `2027-01-10 09:00:00`. The text is not checked. */
export const isoToWall = (text: string): string => text.slice(0, 19).replace('T', ' ');

/** Formats milliseconds as a wall time in UTC. Drops fractions of a second, and clamps to the years 0000 to 9999. */
export function formatWallTime(ms: number): string {
  const iso = new Date(Math.min(Math.max(ms, EARLIEST_MS), LATEST_MS)).toISOString();
  return isoToWall(iso);
}

const WALL_TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/;

/** Milliseconds of a wall time in UTC. Returns `undefined` for another text, or a day that does not exist. */
export function parseWallTime(text: string): number | undefined {
  const ms = WALL_TIME.test(text) ? Date.parse(`${text.replace(' ', 'T')}Z`) : Number.NaN;
  // `Date.parse` takes February 30 for March 2.
  return !Number.isNaN(ms) && formatWallTime(ms) === text ? ms : undefined;
}

/** The value if it is a wall time of a day that exists. */
export const validWallTime = (value: unknown): string | undefined =>
  typeof value === 'string' && parseWallTime(value) !== undefined ? value : undefined;

/** As `parseWallTime`, for a text that is known to be valid. @throws RangeError */
export function wallTimeMs(wall: string): number {
  const ms = parseWallTime(wall);
  if (ms === undefined) throw new RangeError(`no wall time: ${wall}`);
  return ms;
}

/** Midnight UTC of a day. `month` counts from 0. Months and days out of range roll over. */
export function dayStartMs(year: number, month: number, day: number): number {
  // Date.UTC maps the years 0 to 99 to 1900 to 1999.
  return year > 99 ? Date.UTC(year, month, day) : new Date(0).setUTCFullYear(year, month, day);
}

/** The midnight before: of 2027-05-01 18:00 2027-05-01 00:00, both as milliseconds of a wall time in UTC. */
export const dayStartOf = (wallMs: number): number => Math.floor(wallMs / DAY_MS) * DAY_MS;

/** Where days start at 05:00, of `2027-06-12 02:00:00` the later `2027-06-12 05:00:00`, as in the original. */
export function dayStartOn(wall: string, dayStarts = '00:00'): string {
  return `${wall.slice(0, 10)} ${dayStarts}:00`;
}

/**
 * The last second of the day. Where days start at 05:00, of `2027-06-12 20:00:00` it is `2027-06-13 04:59:59`; and
 * `2027-06-12 04:59:59`, a last second already, stays.
 */
export function dayEndOn(wall: string, dayStarts?: string): string {
  const end = wallAfter(dayStartOn(wall, dayStarts), DAY_MS - SECOND_MS);
  return wall.slice(10) === end.slice(10) ? wall : end;
}

/** The days of an all-day event: of `2027-06-12 05:00:00` to `2027-06-14 04:59:59`, `2027-06-12` and `2027-06-13`. */
export function wholeDays(start: string, end: string): [first: string, last: string] {
  const sinceMidnight = (parseWallTime(start) ?? 0) - (parseWallTime(dayStartOn(start)) ?? 0);
  return [start.slice(0, 10), wallAfter(end, -sinceMidnight).slice(0, 10)];
}

/**
 * The same day and time `months` later. A day that the month lacks rolls over into the next month, as in PHP
 * (`2028-02-29` plus 12 months is `2029-03-01`).
 */
export function addMonths(wall: string, months: number): string {
  const date = new Date(wallTimeMs(wall));
  return formatWallTime(date.setUTCMonth(date.getUTCMonth() + months));
}

/** The wall time so much later; `wall` itself if it is none. */
export function wallAfter(wall: string, ms: number): string {
  const from = parseWallTime(wall);
  return from === undefined ? wall : formatWallTime(from + ms);
}

/** The parts of a wall time, zero-padded, as in the `*_details` properties of an event. */
export function dateDetails(wall: string) {
  return {
    year: wall.slice(0, 4),
    month: wall.slice(5, 7),
    day: wall.slice(8, 10),
    hour: wall.slice(11, 13),
    minutes: wall.slice(14, 16),
    seconds: wall.slice(17, 19),
  };
}
