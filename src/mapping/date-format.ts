// PHP date formats (`d/m/Y g:i a`): compiles a format to a writer and a parser.

import type { WallTime } from '../model/records.ts';
import { dateDetails, validWallTime } from '../time/wall-time.ts';
import { offsetText, parseZone, wallToUtc } from '../time/zones.ts';

export interface DateFormat {
  text: string;
  hasTime: boolean;
  /** The text says its own offset from UTC (`2027-05-01T19:30:00+02:00`): `read` returns the time in UTC. */
  hasOffset: boolean;
  /** Why the format cannot be parsed, only written (`H:i:s`, beside a key with the whole date). Undefined: it can. */
  whyWriteOnly: string | undefined;
  /** `offset`: of the clock that shows `wall`, in minutes. */
  write(wall: WallTime, offset?: number): string;
  /** Returns `undefined` if the text does not have this format, or names a day that does not exist. */
  read(text: string): WallTime | undefined;
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');
const SHORT_MONTHS = MONTHS.map((name) => name.slice(0, 3));

type Part =
  | ('year' | 'shortYear' | 'month' | 'monthName' | 'day')
  | ('hour' | 'hour12' | 'minute' | 'second' | 'fraction' | 'half' | 'offset');

/** A letter of a format, or a literal text, which is no part of a date. */
interface Token {
  part?: Part;
  pattern: string;
  write(details: Details, offset: number): string;
}

/** Padded with zeros: the hour is `09`. */
type Details = ReturnType<typeof dateDetails>;

const padded = (value: number, length = 2): string => String(value).padStart(length, '0');
const unpadded = (digits: string): string => String(Number(digits));
const twelveHour = (hour: string): number => Number(hour) % 12 || 12;
const monthName = ({ month }: Details): string => MONTHS[Number(month) - 1] ?? '';

// https://www.php.net/manual/en/datetime.format.php
const LETTERS: Readonly<Record<string, Token>> = {
  Y: { part: 'year', pattern: '(\\d{4})', write: ({ year }) => year },
  y: { part: 'shortYear', pattern: '(\\d{2})', write: ({ year }) => year.slice(2) },
  m: { part: 'month', pattern: '(\\d{2})', write: ({ month }) => month },
  n: { part: 'month', pattern: '(\\d{1,2})', write: ({ month }) => unpadded(month) },
  F: { part: 'monthName', pattern: `(${MONTHS.join('|')})`, write: monthName },
  M: { part: 'monthName', pattern: `(${SHORT_MONTHS.join('|')})`, write: (details) => monthName(details).slice(0, 3) },
  d: { part: 'day', pattern: '(\\d{2})', write: ({ day }) => day },
  j: { part: 'day', pattern: '(\\d{1,2})', write: ({ day }) => unpadded(day) },
  H: { part: 'hour', pattern: '(\\d{1,2})', write: ({ hour }) => hour },
  G: { part: 'hour', pattern: '(\\d{1,2})', write: ({ hour }) => unpadded(hour) },
  h: { part: 'hour12', pattern: '(0?[1-9]|1[0-2])', write: ({ hour }) => padded(twelveHour(hour)) },
  g: { part: 'hour12', pattern: '(0?[1-9]|1[0-2])', write: ({ hour }) => String(twelveHour(hour)) },
  i: { part: 'minute', pattern: '(\\d{2})', write: ({ minutes }) => minutes },
  s: { part: 'second', pattern: '(\\d{2})', write: ({ seconds }) => seconds },
  v: { part: 'fraction', pattern: '(\\d{3})', write: () => '000' },
  u: { part: 'fraction', pattern: '(\\d{6})', write: () => '000000' },
  P: { part: 'offset', pattern: '([+-]\\d{2}:[0-5]\\d)', write: (_details, offset) => offsetText(offset, ':') },
  O: { part: 'offset', pattern: '([+-]\\d{2}[0-5]\\d)', write: (_details, offset) => offsetText(offset) },
  A: { part: 'half', pattern: '([AaPp][Mm])', write: ({ hour }) => (hour < '12' ? 'AM' : 'PM') },
  a: { part: 'half', pattern: '([AaPp][Mm])', write: ({ hour }) => (hour < '12' ? 'am' : 'pm') },
};

const literal = (text: string): Token => ({ pattern: escapeRegExp(text), write: () => text });

/** Compiles a format: the T of `Y-m-d\TH:i:s` is a literal. If a letter is unknown, returns the reason as a string. */
export function parseDateFormat(text: string): DateFormat | string {
  const tokens: Token[] = [];
  for (const [character, escaped] of text.matchAll(/\\(.)|[\s\S]/g)) {
    const token = escaped === undefined ? LETTERS[character] : literal(escaped);
    if (!token && /[A-Za-z]/.test(character))
      return `unknown letter ${character}: known are ${Object.keys(LETTERS).join(' ')}`;
    tokens.push(token ?? literal(character));
  }
  const parts = tokens.flatMap(({ part }) => part ?? []);
  const regExp = new RegExp(`^${tokens.map(({ pattern }) => pattern).join('')}$`, 'i');
  return {
    text,
    hasTime: parts.includes('hour') || parts.includes('hour12'),
    hasOffset: parts.includes('offset'),
    whyWriteOnly: whyWriteOnly(parts),
    write(wall, offset = 0) {
      const details = dateDetails(wall);
      return tokens.map((token) => token.write(details, offset)).join('');
    },
    read(stored) {
      const match = regExp.exec(stored.trim());
      return match ? wallFrom(parts, match.slice(1)) : undefined;
    },
  };
}

function whyWriteOnly(parts: readonly Part[]): string | undefined {
  const hasAny = (...names: Part[]) => names.some((name) => parts.includes(name));
  if (hasAny('hour12') && !hasAny('half')) return 'an hour of twelve (g, h) needs am or pm (a, A)';
  const hasDate = hasAny('year', 'shortYear') && hasAny('month', 'monthName') && hasAny('day');
  return hasDate ? undefined : 'year, month and day must be in it';
}

const ISO = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(:\d{2})?)?(?:\.\d+)?$/;

/** Parses a date as people type it into an unchecked text field: `2027-05-01T19:30`, `2027-05-01`. */
export function parseIsoDate(text: string): WallTime | undefined {
  const [, day, time = '00:00', seconds = ':00'] = ISO.exec(text.trim()) ?? [];
  return day === undefined ? undefined : validWallTime(`${day} ${time}${seconds}`);
}

function wallFrom(parts: readonly Part[], texts: readonly string[]): WallTime | undefined {
  const textOf = new Map(parts.map((part, index) => [part, texts[index] ?? '']));
  const numberOf = (part: Part): number => Number(textOf.get(part) ?? 0);
  // As in PHP, 69 is 2069, and 70 is 1970.
  const year = textOf.has('year') ? numberOf('year') : ((numberOf('shortYear') + 30) % 100) + 1970;
  const name = textOf.get('monthName')?.slice(0, 3).toLowerCase();
  const month = name ? SHORT_MONTHS.findIndex((short) => short.toLowerCase() === name) + 1 : numberOf('month');
  const isPm = textOf.get('half')?.toLowerCase() === 'pm';
  const hour = textOf.has('hour12') ? (numberOf('hour12') % 12) + (isPm ? 12 : 0) : numberOf('hour');
  const time = [hour, numberOf('minute'), numberOf('second')].map((value) => padded(value)).join(':');
  const wall = validWallTime(`${padded(year, 4)}-${padded(month)}-${padded(numberOf('day'))} ${time}`);
  const zone = parseZone(textOf.get('offset') ?? '');
  return wall && zone ? validWallTime(wallToUtc(wall, zone)) : wall;
}

const escapeRegExp = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
