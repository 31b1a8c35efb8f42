// Parses date texts as PHP's `strtotime` does, including the zone that a text may name.

import { DAY_MS, dayStartMs, dayStartOf, EARLIEST_MS, formatWallTime, LATEST_MS } from './wall-time.ts';
import { epochToWallMs, parseZone, utcZone, wallMsToEpoch, type Zone } from './zones.ts';

export type PhpDate = {
  /** The instant in milliseconds since 1970, in whole seconds. */
  epochMs: number;
  /** The wall time in the zone of the text, else in the default zone. Days and hours that do not exist roll over. */
  wall: string;
  /** The text names a zone or offset, or is `@seconds`. */
  hasZone: boolean;
};

const MAX_LENGTH = 200;

/**
 * Parses a date text as PHP 8.2 does: absolute dates in many spellings, relative phrases, `@seconds`, a zone or offset
 * anywhere in the text (`Sun Mar 1 10:00:00 UTC 2026`). Relative phrases refer to the wall time at `nowMs` in
 * `context.zone`, also if the text names another zone. `1930` is a time: a caller that accepts Unix seconds tries
 * `parseUnixSeconds` first. Undefined if PHP refuses the text, or for a date outside the years 0000 to 9999.
 */
export function parsePhpDate(text: string, context: { nowMs: number; zone: Zone }): PhpDate | undefined {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > MAX_LENGTH) return undefined;
  const parsed = parseParts(trimmed);
  if (!parsed) return undefined;
  const wallMs = wallOf(parsed, epochToWallMs(context.nowMs, context.zone));
  // Zones have no offsets outside these years.
  if (!(wallMs >= EARLIEST_MS - DAY_MS && wallMs <= LATEST_MS + DAY_MS)) return undefined;
  const zone = parsed.zone ?? context.zone;
  const epochMs = wallMsToEpoch(wallMs, zone);
  // What the clock shows at this instant: not `wallMs`, if the clock skips that.
  const shownMs = epochToWallMs(epochMs, zone);
  if (shownMs < EARLIEST_MS || shownMs > LATEST_MS) return undefined;
  return { epochMs, wall: formatWallTime(shownMs), hasZone: parsed.zone !== undefined };
}

/** A text that is a number: `12`, but also `1e3`. */
export const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/**
 * Parses a number in every form that PHP's `is_numeric` accepts: `1772359200`, `-5`, `1e9`, `12.7` (drops the
 * fraction). Returns seconds since 1970, or `undefined` for another text or a date outside the years 0000 to 9999.
 */
export function parseUnixSeconds(text: string): number | undefined {
  if (!NUMBER.test(text.trim())) return undefined;
  const seconds = Math.trunc(Number(text)) + 0;
  return seconds * 1000 >= EARLIEST_MS && seconds * 1000 <= LATEST_MS ? seconds : undefined;
}

/**
 * What a text says. Later words change what earlier ones set: `10:00 tomorrow` is midnight. Three texts, word by word:
 *
 *   words              hour    weekday    weekdayRule    added.days
 *   friday             0       5          from today     0
 *     next week        0       5          of the week    7
 *     10:00            10      5          of the week    7
 *   2 fridays                  5          from today     7, because one of the two is the next Friday
 *     ago                      -5         from today     -7
 *   last friday of     0       5          from today     -7, and `weekdayOfMonth` is `last`
 */
class Parsed {
  // As now, if absent. January is 0.
  year?: number;
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  zone?: Zone | undefined;
  // How many of each the text has.
  dates = 0;
  times = 0;
  zones = 0;
  /** `+1 week 2 hours`: 7 days and 7200 seconds. */
  added = { years: 0, months: 0, days: 0, seconds: 0 };
  /** 0 for Sunday, 1 for Monday. PHP makes it negative for `ago`: -7 and -1. */
  weekday?: number;
  /** Which day of this name: the rows of `daysToWeekday`. */
  weekdayRule?: 'from today' | 'after today' | 'of the week';
  /** `first friday of`, `last friday of`. */
  weekdayOfMonth?: 'first' | 'last';
  /** `first day of`. */
  dayOfMonth?: 'first' | 'last';

  /** `friday` means midnight, unless a time follows. */
  resetTime(): void {
    Object.assign(this, { hour: 0, minute: 0, second: 0, times: 0 });
  }
}

type Unit = keyof Parsed['added'];
type Groups = Record<string, string | undefined>;

/** Of `sunday sun, monday mon`: 0 for `sunday` and `sun`, 1 for `monday` and `mon`. */
const numbered = (text: string, first = 0): Map<string, number> =>
  new Map(text.split(/,\s+/).flatMap((forms, index) => forms.split(' ').map((word) => [word, index + first] as const)));

const DAYS = numbered(`sunday sundays sun, monday mondays mon, tuesday tuesdays tue, wednesday wednesdays wed,
  thursday thursdays thu, friday fridays fri, saturday saturdays sat`);
const MONTHS = numbered(`january jan, february feb, march mar, april apr, may, june jun, july jul, august aug,
  september sept sep, october oct, november nov, december dec`);
const ROMAN_MONTHS = numbered('I, II, III, IV, V, VI, VII, VIII, IX, X, XI, XII');
/** `last` is -1, `this` 0, `next` 1, `third` 3. */
const AMOUNTS = numbered(
  `last previous, this, first next, second, third, fourth, fifth, sixth, seventh, eighth eight,
  ninth, tenth, eleventh, twelfth`,
  -1,
);
const UNITS = new Map(
  Object.entries<[unit: Unit, size: number]>({
    'second seconds sec secs': ['seconds', 1],
    'minute minutes min mins': ['seconds', 60],
    'hour hours': ['seconds', 3600],
    'day days': ['days', 1],
    'week weeks': ['days', 7],
    'fortnight fortnights forthnight forthnights': ['days', 14],
    'month months': ['months', 1],
    'year years': ['years', 1],
  }).flatMap(([words, [unit, size]]) => words.split(' ').map((word) => [word, { unit, size }] as const)),
);

/** For formats in which letter case counts elsewhere. */
const anyCase = (word: string): string => word.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** `2 march` is no amount, because `march` is no unit; nor is `2 weekdays` one of weeks. */
const oneOf = (words: Iterable<string>): string => `(?:${[...words].map(anyCase).join('|')})(?![A-Za-z])`;

const SPACES = '[ \\t\\u00a0\\u202f]';
const GAP = '[ \\t.-]*';
// With the letters of 1st, 2nd, 3rd and 4th: so PHP refuses `may 5 noon`.
const AFTER_DAY = '[,.stndrh\\t ]+';

// Parts of the formats below: `YYYY` has four digits, `Y` one to four.
const Y = '(?<year>\\d{1,4})';
const YYYY = '(?<year>\\d{4})';
const M = '(?<month>1[0-2]|0?\\d)';
const MM = '(?<month>1[0-2]|0\\d)';
const MONTH_NAME = `(?<monthName>${oneOf(MONTHS.keys())})`;
const D = '(?<day>3[01]|[0-2]?\\d)(?:st|nd|rd|th)?';
const DD = '(?<day>3[01]|[0-2]\\d)';
const h = '(?<hour>1[0-2]|0?[1-9])';
const H = '(?<hour>2[0-4]|[01]?\\d)';
const HH = '(?<hour>2[0-4]|[01]\\d)';
const m = '(?<minute>[0-5]?\\d)';
const mm = '(?<minute>[0-5]\\d)';
const s = '(?<second>60|[0-5]?\\d)';
const ss = '(?<second>60|[0-5]\\d)';
const AM = `${SPACES}*(?<meridian>[AaPp])\\.?[Mm]\\.?(?:[ \\t]|$)`;
const OFFSET = '(?<zone>(?:GMT)?[+-](?:2[0-4]|[01]?\\d)(?::?[0-5]?\\d)?)';
const NTH = `(?<nth>${oneOf(AMOUNTS.keys())})${SPACES}+`;
const DAY_NAME = `(?<dayName>${oneOf(DAYS.keys())})`;
const UNIT = `(?<unit>${oneOf([...UNITS.keys(), ...DAYS.keys()])})`;

type Read = (parsed: Parsed, groups: Groups) => void;

/**
 * In the order of PHP. Letter case counts where the flags are `y` alone: PHP knows `GMT+2`, and not `gmt+2`; and in
 * `March 12 Saturday` the `S` is not that of `1st`.
 */
const FORMATS: [format: string, read: Read, flags?: 'y'][] = [
  ['now|[ \\t\\n.,\\u00a0\\u202f]+', () => {}], // now, and what is between other parts
  ['(?<word>today|midnight|noon|tomorrow|yesterday)', readDay],
  ['@(?<seconds>-?\\d+(?:\\.\\d{0,6})?)', readTimestamp], // @1772359200
  ['(?<first>first|last) day of', readDayOfMonth], // first day of
  [`${NTH}${DAY_NAME}${SPACES}+of`, readWeekdayOf], // second friday of
  [`${h}(?:[:.]${mm}(?:[:.]${ss})?)?${AM}`, readFields], // 7pm, 7:30 p.m., 7.30.15 pm
  [`t${H}`, readFields], // t19
  [`t?${H}[:.]${m}(?:[:.]${s}(?:\\.\\d+)?)?`, readFields], // 19:30, t19.30, 19:30:15.25
  [`t?${HH}${mm}`, readFourDigits], // 1930, t1930
  [`t?${HH}${mm}${ss}`, readFields], // 193015, t193015
  [`${M}/${D}(?:/${Y})?`, readFields], // 3/12, 3/12/2027
  [`${YYYY}/${M}/${D}/?`, readFields], // 2027/3/12, 2027/03/12/
  [`${YYYY}-${M}`, readFields], // 2027-3
  [`${Y}-${M}-${D}`, readFields], // 2027-03-12, 27-3-12
  [`${D}[.\\t-]${M}[.-]${YYYY}`, readFields], // 12.3.2027, 12-3-2027
  [`${D}[.\\t]${M}\\.(?<year>\\d{2})`, readFields], // 25.3.27
  [`${D}${GAP}${MONTH_NAME}(?:${GAP}${Y})?`, readFields], // 12 March, 12 March 2027, 12-mar-27
  [`${D}${GAP}(?<roman>${oneOf(ROMAN_MONTHS.keys())})(?:${GAP}${Y})?`, readFields, 'y'], // 12 III 2027
  [`${MONTH_NAME}${GAP}${YYYY}`, readFields], // March 2027
  [`${YYYY}${GAP}${MONTH_NAME}`, readFields], // 2027 March
  [`${MONTH_NAME}${GAP}${D}${AFTER_DAY}${Y}`, readFields, 'y'], // March 12th, 2027, March 12, 27
  [`${MONTH_NAME}${GAP}${D}(?:${AFTER_DAY}|$)`, readFields, 'y'], // March 12
  [`${MONTH_NAME}${GAP}${D}${AFTER_DAY}${h}[:.]${mm}(?:[:.]${ss})?${AM}`, readFields, 'y'], // March 12, 7:30 pm
  [`${MONTH_NAME}${GAP}${D}${AFTER_DAY}[Tt]?${H}[:.]${m}(?:[:.]${s})?`, readFields, 'y'], // March 12 19:30
  [`${YYYY}${MM}${DD}(?:t${H}${mm}${ss})?`, readFields], // 20270312, 20270312T193015
  [`${YYYY}-?W(?<week>0[1-9]|[1-4]\\d|5[0-3])(?:-?(?<weekday>[0-7]))?`, readIsoWeek], // 2027-W10-5, 2027W10
  [`${MONTH_NAME}-${DD}-${Y}`, readFields], // Mar-12-2027
  [`${Y}-${MONTH_NAME}-${DD}`, readFields], // 2027-Mar-12
  [`${D}/${MONTH_NAME}/${YYYY}:${HH}:${mm}:${ss}${SPACES}+${OFFSET}`, readFields], // 12/Mar/2027:19:30:15 +0100
  [`${YYYY}:${MM}:${DD} ${HH}:${mm}:${ss}`, readFields], // 2027:03:12 19:30:15
  [YYYY, readFourDigits], // 2027
  ['ago', readAgo], // 2 days ago
  [DAY_NAME, readDayName], // friday
  [`(?<nth>next|last|previous|this)${SPACES}+week`, readWeek], // next week
  // PHP knows `next week` and `third weeks`, but not `third week`.
  [`${NTH}(?!week\\b)${UNIT}`, readRelative], // next month, third friday
  [MONTH_NAME, readFields], // March
  [OFFSET, readFields, 'y'], // +01:00, GMT-5
  ['\\(?(?<zone>[a-z]{1,6})\\)?', readFields], // CET, (CET)
  ['(?<zone>[A-Z][a-z]+(?:[_/-][A-Za-z]+)+)', readFields, 'y'], // Europe/Berlin
  [`(?<sign>[+-]*)[ \\t]*(?<amount>\\d{1,13})${SPACES}*${UNIT}`, readRelative], // +2 weeks, -3 fridays
];

const patterns = FORMATS.map(([format, read, flags = 'iy']) => ({ pattern: new RegExp(format, flags), read }));

/** From left to right. Undefined if PHP refuses the text. */
function parseParts(text: string): Parsed | undefined {
  const parsed = new Parsed();
  let index = 0;
  while (index < text.length) {
    const match = longestMatch(text, index);
    if (!match) return undefined;
    match.read(parsed, match.groups);
    index += match.length;
    const hasUnknownZone = parsed.zones > 0 && !parsed.zone;
    if (parsed.dates > 1 || parsed.times > 1 || parsed.zones > 2 || hasUnknownZone) return undefined;
  }
  return parsed;
}

/** The longest part of the text that a format reads at `index`. Of formats that read equally much, the first. */
function longestMatch(text: string, index: number) {
  let longest: { length: number; groups: Groups; read: Read } | undefined;
  for (const { pattern, read } of patterns) {
    pattern.lastIndex = index;
    const match = pattern.exec(text);
    if (match && match[0].length > (longest?.length ?? 0))
      longest = { length: match[0].length, groups: match.groups ?? {}, read };
  }
  return longest;
}

const lookUp = <T>(words: Map<string, T>, word = ''): T | undefined => words.get(word.toLowerCase());

/** Reads a date, a time, a zone, or several of them. */
function readFields(parsed: Parsed, groups: Groups): void {
  const { year, month, monthName, roman = '', day, hour, minute = 0, second = 0, meridian, zone } = groups;
  const named = lookUp(MONTHS, monthName) ?? ROMAN_MONTHS.get(roman);
  if ((year ?? month ?? named) !== undefined) parsed.dates += 1;
  if (year !== undefined) Object.assign(parsed, { year: fullYear(year), day: 1 });
  if ((month ?? named) !== undefined) parsed.month = named ?? Number(month) - 1;
  if (day !== undefined) parsed.day = Number(day);
  if (hour !== undefined) {
    parsed.times += 1;
    Object.assign(parsed, { hour: hourOf(Number(hour), meridian), minute: Number(minute), second: Number(second) });
  }
  if (zone !== undefined) readZone(parsed, parseZone(zone));
}

/** Of two zones the first counts. PHP refuses a first one that it does not know (`parseParts`). */
function readZone(parsed: Parsed, zone: Zone | undefined): void {
  if (parsed.zones === 0) parsed.zone = zone;
  parsed.zones += 1;
}

/** `27` is 2027, `70` is 1970. */
function fullYear(text: string): number {
  const year = Number(text);
  if (text.length >= 4 || year >= 100) return year;
  return year + (year < 70 ? 2000 : 1900);
}

/** 12 am is 0, 12 pm is 12. */
const hourOf = (hour: number, meridian: string | undefined): number =>
  meridian === undefined ? hour : (hour % 12) + (/p/i.test(meridian) ? 12 : 0);

function readDay(parsed: Parsed, { word = '' }: Groups): void {
  parsed.resetTime();
  // Replaces the days that earlier words added: `+1 week tomorrow` is tomorrow.
  if (/^tomorrow$/i.test(word)) parsed.added.days = 1;
  if (/^yesterday$/i.test(word)) parsed.added.days = -1;
  if (/^noon$/i.test(word)) readFields(parsed, { hour: '12' });
}

function readTimestamp(parsed: Parsed, { seconds }: Groups): void {
  parsed.resetTime();
  Object.assign(parsed, { dates: 0, year: 1970, month: 0, day: 1 });
  parsed.added.seconds += Number(seconds);
  readZone(parsed, utcZone);
}

function readDayOfMonth(parsed: Parsed, { first = '' }: Groups): void {
  parsed.dayOfMonth = /^f/i.test(first) ? 'first' : 'last';
}

/** `2027` alone is 20:27, and after a time the year, as is `2090`. */
function readFourDigits(parsed: Parsed, { year, hour = '', minute = '' }: Groups): void {
  if (year === undefined && parsed.times === 0) readFields(parsed, { hour, minute });
  else parsed.year = Number(year ?? hour + minute);
}

function readIsoWeek(parsed: Parsed, { year, week, weekday = '1' }: Groups): void {
  readFields(parsed, { year, month: '1', day: '1' });
  const newYear = new Date(dayStartMs(Number(year), 0, 1)).getUTCDay();
  // From New Year to the Sunday before week 1, which is that of the year's first Thursday (4): in 2027 two days.
  const daysToSunday = (newYear > 4 ? 7 : 0) - newYear;
  parsed.added.days = daysToSunday + (Number(week) - 1) * 7 + Number(weekday);
}

function readAgo(parsed: Parsed): void {
  for (const unit of Object.keys(parsed.added) as Unit[]) parsed.added[unit] *= -1;
  if (parsed.weekday !== undefined) parsed.weekday = -parsed.weekday || -7;
}

function readDayName(parsed: Parsed, { dayName }: Groups): void {
  parsed.resetTime();
  parsed.weekday = lookUp(DAYS, dayName)!;
  if (parsed.weekdayRule !== 'of the week') parsed.weekdayRule = 'from today';
}

/** `friday next week`, and `next week` alone, which is its Monday. */
function readWeek(parsed: Parsed, { nth }: Groups): void {
  parsed.added.days += lookUp(AMOUNTS, nth)! * 7;
  parsed.weekdayRule = 'of the week';
  parsed.weekday ??= 1;
}

function readRelative(parsed: Parsed, { nth, sign = '', amount: digits, unit: word }: Groups): void {
  const isNegative = sign.replaceAll('+', '').length % 2 === 1;
  const amount = lookUp(AMOUNTS, nth) ?? Number(digits) * (isNegative ? -1 : 1);
  const { unit, size } = lookUp(UNITS, word) ?? {};
  if (unit && size) {
    parsed.added[unit] += amount * size;
    return;
  }
  // A number keeps the time of day.
  if (nth !== undefined) parsed.resetTime();
  parsed.weekday = lookUp(DAYS, word)!;
  parsed.weekdayRule = nth === undefined || amount === 0 ? 'from today' : 'after today';
  // `+1 friday` and `next friday` are the next one, and add no week to it. `last friday` goes back one from it.
  const weeks = amount > 0 ? amount - 1 : amount;
  parsed.added.days += weeks * 7;
}

function readWeekdayOf(parsed: Parsed, { nth, dayName }: Groups): void {
  readRelative(parsed, { nth, unit: dayName });
  // Not `after today`, as for `second friday`: if the month begins on a Friday, that is its first one.
  parsed.weekdayRule = 'from today';
  parsed.weekdayOfMonth = lookUp(AMOUNTS, nth)! > 0 ? 'first' : 'last';
}

/**
 * The wall time that the text means at the wall time of now, both as the milliseconds of the same wall time in UTC. NaN
 * for amounts that no date can have. On Friday, March 12, 2027, at 09:00:
 *
 *   text                        1. day and time    2. weekday   3. what it adds
 *   tomorrow 10:00              March 12, 10:00                 March 13, 10:00
 *   monday next week            March 12, 00:00    March 8      March 15, 00:00
 *   first day of next month     March 1, 09:00                  April 1, 09:00
 *   second friday of april      April 1, 00:00     April 2      April 9, 00:00
 *   last friday of next month   May 1, 00:00       May 7        April 30, 00:00
 */
function wallOf(parsed: Parsed, nowWallMs: number): number {
  const now = new Date(nowWallMs);
  const { added, weekdayOfMonth, dayOfMonth } = parsed;
  if (parsed.dates > 0 && parsed.times === 0) parsed.resetTime();
  const { year = now.getUTCFullYear(), month = now.getUTCMonth(), day = now.getUTCDate() } = parsed;
  const { hour = now.getUTCHours(), minute = now.getUTCMinutes(), second = now.getUTCSeconds() } = parsed;
  // 1. A weekday of a month counts from the first day of that month, or back from the first day after it.
  const monthsBefore = weekdayOfMonth ? added.months : 0;
  const fromMonth = month + monthsBefore + (weekdayOfMonth === 'last' ? 1 : 0);
  const dayMs = dayIn(year, fromMonth, weekdayOfMonth ? 1 : day, dayOfMonth);
  const namedMs = dayMs + ((hour * 60 + minute) * 60 + second) * 1000;
  // 2.
  const weekdayMs = namedMs + daysToWeekday(parsed, new Date(namedMs).getUTCDay()) * DAY_MS;
  // 3. `first day of` counts again, in the month that is reached.
  const date = new Date(weekdayMs);
  const toMonth = date.getUTCMonth() + added.months - monthsBefore;
  const toDayMs = dayIn(date.getUTCFullYear() + added.years, toMonth, date.getUTCDate() + added.days, dayOfMonth);
  const timeMs = weekdayMs - dayStartOf(weekdayMs);
  return toDayMs + timeMs + Math.floor(added.seconds) * 1000;
}

/** The start of a day, or of the first or last day of its month. */
function dayIn(year: number, month: number, day: number, dayOfMonth: Parsed['dayOfMonth']): number {
  if (dayOfMonth === 'last') return dayStartMs(year, month + 1, 0);
  return dayStartMs(year, month, dayOfMonth === 'first' ? 1 : day);
}

/**
 * Days from today to the weekday that the text names. On a Friday (`today` is 5):
 *
 *   monday next week   -4    of the week, which begins on Monday and ends on Sunday; `added.days` is 7
 *   monday ago         -11   of the week before
 *   next friday        7     after today
 *   last friday        0     after today, but `added.days` is -7
 *   friday             0     from today
 *   monday             3     from today
 */
function daysToWeekday({ weekday, weekdayRule, added }: Parsed, today: number): number {
  if (weekday === undefined) return 0;
  if (weekdayRule === 'of the week') return (weekday || 7) - (today || 7);
  if (weekday < 0) return -weekday - today - 7;
  if (weekdayRule === 'after today' && weekday === today) return added.days >= 0 ? 7 : 0;
  return (weekday - today + 7) % 7;
}
