/** Owns wall-clock texts `YYYY-MM-DD HH:MM:SS` and plain arithmetic on them, without any zone. */

const SECOND_MS = 1000;

/** The earliest moment a wall text can name: `0000-01-01 00:00:00`. */
export const earliestMs = -62_167_219_200_000;
/** The latest moment a wall text can name: `9999-12-31 23:59:59`. */
export const latestMs = 253_402_300_799_000;

/**
 * Writes milliseconds as a wall text, as if they were UTC. Parts of a second are cut off;
 * what lies outside the years 0000 to 9999 becomes the nearest text inside.
 */
export function formatWall(ms: number): string {
  const iso = new Date(Math.min(Math.max(ms, earliestMs), latestMs)).toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)}`;
}

/** The number that a text has in decimal digits from one place to another; NaN where other signs are among them. */
export function digitsOf(text: string, from: number, to: number): number {
  let number = 0;
  for (let at = from; at < to; at += 1) {
    const digit = text.charCodeAt(at) - 48;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

const [DASH, BLANK, COLON] = ['-', ' ', ':'].map((sign) => sign.charCodeAt(0));

/** Whether the signs between the numbers are those of a wall text. */
export function isWallShaped(text: string): boolean {
  const isDate = text.charCodeAt(4) === DASH && text.charCodeAt(7) === DASH && text.charCodeAt(10) === BLANK;
  return text.length === 19 && isDate && text.charCodeAt(13) === COLON && text.charCodeAt(16) === COLON;
}

/** Reads a wall text as if it were UTC, in milliseconds; `undefined` when it is no such text or no such day exists. */
export function parseWall(text: string): number | undefined {
  if (!isWallShaped(text)) return undefined;
  const year = digitsOf(text, 0, 4);
  const month = digitsOf(text, 5, 7);
  const day = digitsOf(text, 8, 10);
  const hour = digitsOf(text, 11, 13);
  const minute = digitsOf(text, 14, 16);
  const second = digitsOf(text, 17, 19);
  if (!(year >= 0 && month >= 1 && month <= 12 && day >= 1)) return undefined;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  const dayMs = dayStartMs(year, month - 1, day);
  if (day > 28 && dayMs >= dayStartMs(year, month, 1)) return undefined;
  return dayMs + (hour * 3600 + minute * 60 + second) * SECOND_MS;
}

/** As `parseWall`, for a text known to be good. Throws `RangeError` when it is not. */
export function wallMs(wall: string): number {
  const ms = parseWall(wall);
  if (ms === undefined) throw new RangeError(`no wall-clock time: ${wall}`);
  return ms;
}

/** Midnight UTC of a day; `month` counts from 0, and months and days beyond their range roll over. */
export function dayStartMs(year: number, month: number, day: number): number {
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  return year > 99 ? Date.UTC(year, month, day) : new Date(0).setUTCFullYear(year, month, day);
}

/** The date part, `YYYY-MM-DD`. */
function dateOf(wall: string): string {
  return wall.slice(0, 10);
}

/** `00:00:00` of the same day. */
export function startOfDay(wall: string): string {
  return `${dateOf(wall)} 00:00:00`;
}

/** `23:59:59` of the same day. */
export function endOfDay(wall: string): string {
  return `${dateOf(wall)} 23:59:59`;
}

/**
 * The same day and time so many months later; a day the month lacks rolls over into the next, as PHP does
 * (`2028-02-29` and 12 months give `2029-03-01`). Throws `RangeError` for a bad text.
 */
export function addMonths(wall: string, months: number): string {
  const date = new Date(wallMs(wall));
  return formatWall(date.setUTCMonth(date.getUTCMonth() + months));
}

/** The six texts of a `*_details` object (interface-behaviour 1.1), zero padded. */
export function wallDetails(wall: string): {
  year: string;
  month: string;
  day: string;
  hour: string;
  minutes: string;
  seconds: string;
} {
  return {
    year: wall.slice(0, 4),
    month: wall.slice(5, 7),
    day: wall.slice(8, 10),
    hour: wall.slice(11, 13),
    minutes: wall.slice(14, 16),
    seconds: wall.slice(17, 19),
  };
}
