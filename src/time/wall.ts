/** Owns wall-clock texts `YYYY-MM-DD HH:MM:SS` and plain arithmetic on them, without any zone. */

const SECOND_MS = 1000;
const WALL = /^(\d{4})-(\d{2})-(\d{2}) (\d{2}):(\d{2}):(\d{2})$/;

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

/** Reads a wall text as if it were UTC, in milliseconds; `undefined` when it is no such text or no such day exists. */
export function parseWall(text: string): number | undefined {
  const parts = WALL.exec(text);
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const dayMs = dayStartMs(year, month - 1, day);
  const date = new Date(dayMs);
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined;
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
  return new Date(0).setUTCFullYear(year, month, day);
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
