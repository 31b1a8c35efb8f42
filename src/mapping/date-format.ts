// Dates in PHP's format letters (`d/m/Y g:i a`): written, and read back by the same format.

import type { WallTime } from '../records.ts';
import { dayStartMs, formatWall } from '../time/wall.ts';

export interface DateFormat {
  text: string;
  /** Whether it holds the time of day, or the date alone. */
  hasTime: boolean;
  /** Why it cannot be read, only written (`H:i:s` beside a key with the whole date). */
  writeOnly?: string;
  write(wall: WallTime): string;
  /** @returns `undefined` when the text is not of this format or names no day that exists. */
  read(text: string): WallTime | undefined;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const SHORT_MONTHS = MONTHS.map((name) => name.slice(0, 3));

type Part = 'year' | 'shortYear' | 'month' | 'monthName' | 'day' | 'hour' | 'hour12' | 'minute' | 'second' | 'half';

interface Letter {
  part: Part;
  pattern: string;
  write(digits: Digits): string;
}

/** Year, month, day, hour, minute, second as numbers. */
type Digits = readonly [number, number, number, number, number, number];

const two = (value: number): string => String(value).padStart(2, '0');
const twelve = (hour: number): number => hour % 12 || 12;

// https://www.php.net/manual/en/datetime.format.php
const LETTERS: Readonly<Record<string, Letter>> = {
  Y: { part: 'year', pattern: '(\\d{4})', write: ([year]) => String(year).padStart(4, '0') },
  y: { part: 'shortYear', pattern: '(\\d{2})', write: ([year]) => two(year % 100) },
  m: { part: 'month', pattern: '(\\d{2})', write: ([, month]) => two(month) },
  n: { part: 'month', pattern: '(\\d{1,2})', write: ([, month]) => String(month) },
  F: { part: 'monthName', pattern: `(${MONTHS.join('|')})`, write: ([, month]) => MONTHS[month - 1] ?? '' },
  M: { part: 'monthName', pattern: `(${SHORT_MONTHS.join('|')})`, write: ([, month]) => SHORT_MONTHS[month - 1] ?? '' },
  d: { part: 'day', pattern: '(\\d{2})', write: ([, , day]) => two(day) },
  j: { part: 'day', pattern: '(\\d{1,2})', write: ([, , day]) => String(day) },
  H: { part: 'hour', pattern: '(\\d{2})', write: ([, , , hour]) => two(hour) },
  G: { part: 'hour', pattern: '(\\d{1,2})', write: ([, , , hour]) => String(hour) },
  h: { part: 'hour12', pattern: '(\\d{2})', write: ([, , , hour]) => two(twelve(hour)) },
  g: { part: 'hour12', pattern: '(\\d{1,2})', write: ([, , , hour]) => String(twelve(hour)) },
  i: { part: 'minute', pattern: '(\\d{2})', write: ([, , , , minute]) => two(minute) },
  s: { part: 'second', pattern: '(\\d{2})', write: ([, , , , , second]) => two(second) },
  A: { part: 'half', pattern: '([AaPp][Mm])', write: ([, , , hour]) => (hour < 12 ? 'AM' : 'PM') },
  a: { part: 'half', pattern: '([AaPp][Mm])', write: ([, , , hour]) => (hour < 12 ? 'am' : 'pm') },
};

type Token = { letter: Letter } | { literal: string };

/**
 * Compiles a format; a backslash makes the next sign a literal one (`Y-m-d\TH:i:s`).
 * @returns the reason as a text when a letter is unknown.
 */
export function parseDateFormat(text: string): DateFormat | string {
  const tokens: Token[] = [];
  for (const match of text.matchAll(/\\(.)|[\s\S]/g)) {
    const sign = match[0];
    if (match[1] !== undefined) tokens.push({ literal: match[1] });
    else if (LETTERS[sign]) tokens.push({ letter: LETTERS[sign] });
    else if (/[A-Za-z]/.test(sign)) return `unknown letter ${sign}: known are ${Object.keys(LETTERS).join(' ')}`;
    else tokens.push({ literal: sign });
  }
  const parts = tokens.flatMap((token) => ('letter' in token ? [token.letter.part] : []));
  const has = (...names: Part[]): boolean => names.some((name) => parts.includes(name));
  const whole = has('year', 'shortYear') && has('month', 'monthName') && has('day');
  const ambiguous = has('hour12') && !has('half');
  const pattern = tokens.map((token) => ('letter' in token ? token.letter.pattern : escapeRegExp(token.literal)));
  const regExp = new RegExp(`^${pattern.join('')}$`, 'i');
  return {
    text,
    hasTime: has('hour', 'hour12'),
    ...(whole ? {} : { writeOnly: 'year, month and day must be in it' }),
    ...(ambiguous ? { writeOnly: 'an hour of twelve (g, h) needs am or pm (a, A)' } : {}),
    write(wall) {
      const digits = (wall.match(/\d+/g) ?? []).map(Number) as unknown as Digits;
      return tokens.map((token) => ('letter' in token ? token.letter.write(digits) : token.literal)).join('');
    },
    read(given) {
      const match = regExp.exec(given.trim());
      return match ? wallFrom(parts, match.slice(1)) : undefined;
    },
  };
}

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?)?(?:\.\d+)?$/;

/** A date as people type it by hand into a field that checks nothing: `2027-05-01T19:30`, `2027-05-01`. */
export function readLooseDate(text: string): WallTime | undefined {
  const match = ISO.exec(text.trim());
  if (!match) return undefined;
  return existing(`${match[1]} ${match[2] ?? '00:00'}${match[3] ?? ':00'}`);
}

function wallFrom(parts: readonly Part[], texts: readonly string[]): WallTime | undefined {
  const found = new Map(parts.map((part, index) => [part, texts[index] ?? '']));
  const number = (part: Part): number => Number(found.get(part) ?? 0);
  const shortYear = number('shortYear');
  const year = found.has('year') ? number('year') : shortYear + (shortYear < 70 ? 2000 : 1900);
  const name = found.get('monthName')?.slice(0, 3).toLowerCase();
  const month = name ? SHORT_MONTHS.findIndex((short) => short.toLowerCase() === name) + 1 : number('month');
  let hour = number('hour');
  if (found.has('hour12')) {
    if (number('hour12') < 1 || number('hour12') > 12) return undefined;
    hour = (number('hour12') % 12) + (found.get('half')?.toLowerCase() === 'pm' ? 12 : 0);
  }
  const time = [hour, number('minute'), number('second')].map(two).join(':');
  return existing(`${String(year).padStart(4, '0')}-${two(month)}-${two(number('day'))} ${time}`);
}

/** The wall time itself, or `undefined` when the calendar has no such day or the clock no such time. */
function existing(wall: string): WallTime | undefined {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = (wall.match(/\d+/g) ?? []).map(Number);
  const ms = dayStartMs(year, month - 1, day) + ((hour * 60 + minute) * 60 + second) * 1000;
  return formatWall(ms) === wall ? wall : undefined;
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}
