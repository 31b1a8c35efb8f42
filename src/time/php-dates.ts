// Parses date texts as PHP's `strtotime` does, including the zone that a text may name.

import { DAY_MS, dayStartMs, earliestMs, formatWallTime, latestMs, parseWallTime } from './wall-time.ts';
import { epochToWallMs, parseZone, utcZone, wallMsToEpoch, type Zone } from './zones.ts';

export type PhpDate = {
  /** The instant in milliseconds since 1970, in whole seconds. */
  epochMs: number;
  /** The wall time in `zone`. Days and hours that do not exist have rolled over. */
  wall: string;
  /** The text names a zone or offset, or is `@seconds`. */
  hasZone: boolean;
  /** The zone in the text (UTC for `@seconds`), else the default zone. */
  zone: Zone;
};

const MAX_LENGTH = 200;

/**
 * Parses a date text as PHP 8.2 does: absolute dates in many spellings, relative phrases, `@seconds`, a zone or offset
 * anywhere in the text (`Sun Mar 1 10:00:00 UTC 2026`). Relative phrases refer to the wall time at `nowMs` in
 * `context.zone`, also if the text names another zone. Digits alone are parsed as PHP does; a caller that accepts Unix
 * seconds tries `parseUnixSeconds` first.
 *
 * Returns `undefined` if PHP refuses the text, or the date lies outside the years 0000 to 9999.
 */
export function parsePhpDate(text: string, context: { nowMs: number; zone: Zone }): PhpDate | undefined {
  const trimmed = text.trim();
  const plain = parsePlain(trimmed);
  if (plain !== undefined) return dateAt(wallMsToEpoch(plain, context.zone), context.zone, false);
  if (trimmed === '' || trimmed.length > MAX_LENGTH) return undefined;
  const parsed = parseParts(trimmed);
  if (!parsed) return undefined;
  const wall = wallOf(parsed, epochToWallMs(context.nowMs, context.zone));
  // Zones have no offsets outside these years.
  if (!(wall >= earliestMs - DAY_MS && wall <= latestMs + DAY_MS)) return undefined;
  const zone = parsed.zone ?? context.zone;
  return dateAt(wallMsToEpoch(wall, zone), zone, parsed.zone !== undefined);
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
  return seconds * 1000 >= earliestMs && seconds * 1000 <= latestMs ? seconds : undefined;
}

const PLAIN = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2})?)?$/;

/** Parses the most common forms quickly: `2027-03-12`, `2027-03-12 10:00`, `2027-03-12T10:00:00`. */
function parsePlain(text: string): number | undefined {
  const [, day, minutes = '00:00', seconds = ':00'] = PLAIN.exec(text) ?? [];
  return day === undefined || day < '0001' ? undefined : parseWallTime(`${day} ${minutes}${seconds}`);
}

function dateAt(epochMs: number, zone: Zone, hasZone: boolean): PhpDate | undefined {
  const wall = epochToWallMs(epochMs, zone);
  if (wall < earliestMs || wall > latestMs) return undefined;
  return { epochMs, wall: formatWallTime(wall), hasZone, zone };
}

/** What a text says. Later words change what earlier ones set: `10:00 tomorrow` is midnight. */
class Parsed {
  // As now, if absent. January is 0.
  year?: number;
  month?: number;
  day?: number;
  hour?: number;
  minute?: number;
  second?: number;
  zone?: Zone | undefined;
  // How many the text has.
  dates = 0;
  times = 0;
  zones = 0;
  /** `+1 week 2 hours`. */
  added = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 };
  /** 0 for Sunday, 5 for Friday. PHP makes it negative for `ago`: -7 and -5. Then `daysToWeekday` counts back. */
  weekday?: number;
  /** `this friday` may be today, `next friday` may not, `friday next week` is the Friday of that week. */
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

/** The words with their numbers: the first has `from`, as have its other forms. */
const numbered = (text: string, from = 0): Map<string, number> =>
  new Map(text.split(/,\s+/).flatMap((forms, index) => forms.split(' ').map((word) => [word, index + from] as const)));

const DAYS = numbered(`sunday sundays sun, monday mondays mon, tuesday tuesdays tue, wednesday wednesdays wed,
  thursday thursdays thu, friday fridays fri, saturday saturdays sat`);
// Roman numbers have capitals: `1 X 2027` is in October.
const MONTHS = numbered(`january jan I, february feb II, march mar III, april apr IV, may V, june jun VI, july jul VII,
  august aug VIII, september sept sep IX, october oct X, november nov XI, december dec XII`);
const AMOUNTS = numbered(
  `last previous, this, first next, second, third, fourth, fifth, sixth, seventh, eighth eight,
  ninth, tenth, eleventh, twelfth`,
  -1,
);
const UNITS = numbered(`second seconds sec secs, minute minutes min mins, hour hours, day days, month months,
  year years, week weeks, fortnight fortnights forthnight forthnights`);
const UNIT_FIELDS: Unit[] = ['second', 'minute', 'hour', 'day', 'month', 'year', 'day', 'day'];
const UNIT_SIZES = [1, 1, 1, 1, 1, 1, 7, 14];

/** What the groups of these names hold. */
const VOCABULARIES: Record<string, Map<string, number>> = {
  monthName: MONTHS,
  dayName: DAYS,
  nth: AMOUNTS,
  unit: new Map([...UNITS, ...DAYS]),
};

const numberOf = (words: Map<string, number> | undefined, word = ''): number | undefined =>
  words?.get(word) ?? words?.get(word.toLowerCase());

const SPACES = '[ \\t\\u00a0\\u202f]';
const GAP = '[ \\t.-]*';

/** The parts of formats. */
const PARTS: Record<string, string> = {
  Y: '(?<year>\\d{1,4})',
  YY: '(?<year>\\d{2})',
  YYYY: '(?<year>\\d{4})',
  M: '(?<month>1[0-2]|0?\\d)',
  MM: '(?<month>1[0-2]|0\\d)',
  Month: '(?<monthName>[A-Za-z]+)',
  D: '(?<day>3[01]|[0-2]?\\d)(?:st|nd|rd|th)?',
  DD: '(?<day>3[01]|[0-2]\\d)',
  h: '(?<hour>1[0-2]|0?[1-9])',
  H: '(?<hour>2[0-4]|[01]?\\d)',
  HH: '(?<hour>2[0-4]|[01]\\d)',
  m: '(?<minute>[0-5]?\\d)',
  mm: '(?<minute>[0-5]\\d)',
  s: '(?<second>60|[0-5]?\\d)',
  ss: '(?<second>60|[0-5]\\d)',
  am: `${SPACES}*(?<meridian>[AaPp])\\.?[Mm]\\.?(?:[ \\t]|$)`,
  offset: '(?<zone>(?:GMT)?[+-](?:2[0-4]|[01]?\\d)(?::?[0-5]?\\d)?)',
  nth: `(?<nth>[A-Za-z]+)${SPACES}+`,
  dayName: '(?<dayName>[A-Za-z]+)',
  unit: '(?<unit>[A-Za-z]+)',
};

type Read = (parsed: Parsed, groups: Groups) => void;

/** In the order of PHP. Beside each line below stand texts that its formats read. */
const formats: { pattern: RegExp; read: Read }[] = [];

const anyCase = (words: string): string => words.replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

/** Adds formats. Braces hold a part (`{t}` is none: a `t` or `T`), or else words in any letter case. */
function add(read: Read, ...sources: string[]): void {
  for (const source of sources) {
    const pattern = source.replace(/\{([A-Za-z ]+)\}/g, (_, name: string) => PARTS[name] ?? anyCase(name));
    formats.push({ pattern: new RegExp(pattern, 'y'), read });
  }
}

add(() => {}, '{now}', '[ \\t\\n.,\\u00a0\\u202f]+'); // now, and blanks between other parts
add(readDay, '{today}', '{midnight}', '(?<tomorrow>{tomorrow})', '(?<yesterday>{yesterday})', '(?<noon>{noon})');
add(readTimestamp, '@(?<seconds>-?\\d+(?:\\.\\d{0,6})?)'); // @1772359200
add(readDayOfMonth, '(?<first>{first}|{last}) {day of}'); // first day of
add(readWeekdayOf, `{nth}{dayName}${SPACES}+{of}`); // second friday of
// `7pm`, `7:30 p.m.`, `7.30.15 pm`, `7:30:15:250pm`.
add(readFields, '{h}{am}', '{h}[:.]{mm}{am}', '{h}[:.]{m}[:.]{ss}{am}', '{h}:{mm}:{ss}[:.]\\d+{am}');
add(readFields, '{t}{H}', '{t}?{H}[:.]{m}', '{t}?{H}[:.]{m}[:.]{s}(?:\\.\\d+)?'); // t19, 19:30, t19.30, 19:30:15.25
add(readFourDigits, '{t}?{HH}{mm}'); // 1930, t1930
add(readFields, '{t}?{HH}{mm}{ss}'); // 193015, t193015
// `3/12`, `3/12/2027`, `+2027-03-12`, `2027/03/12/`, `2027/3/12`.
add(readFields, '{M}/{D}', '{M}/{D}/{Y}', '\\+?{YYYY}-{MM}-{DD}', '{YYYY}/{MM}/{DD}/?', '{YYYY}/{M}/{D}');
// `2027-3`, `27-3-12`, `12.3.2027` (also `12-3-2027`), `12.3.27`.
add(readFields, '{YYYY}-{M}', '{Y}-{M}-{D}', '{D}[.\\t-]{M}[.-]{YYYY}', '{D}[.\\t]{M}\\.{YY}');
// `12 March 2027`, `12-mar-27`, `March 2027`, `2027 March`.
add(readFields, `{D}${GAP}{Month}${GAP}{Y}`, `{Month}${GAP}{YYYY}`, `{YYYY}${GAP}{Month}`);
// `March 12th, 2027`, `March 12`.
for (const rest of ['[,.stndrh\\t ]+{Y}', '(?:[,.stndrh\\t ]+|$)']) add(readFields, `{Month}${GAP}{D}${rest}`);
add(readFields, `{D}${GAP}{Month}`); // 12 March
// `20270312`, `20270312T19:30:15`, `20270312t193015`.
add(readFields, '{YYYY}{MM}{DD}', '{YYYY}{MM}{DD}T{H}:{mm}:{ss}', '{YYYY}{MM}{DD}{t}{H}{mm}{ss}');
// `2027-03-12T19:30:15.25+01:00`, `2027-3-12T19:30:15`.
add(readFields, '{YYYY}-{MM}-{DD}T{HH}:{mm}:{ss}\\.\\d+{offset}?', '{YYYY}-{M}-{D}T{H}:{m}:{s}');
add(readFields, '{YYYY}:{MM}:{DD} {HH}:{mm}:{ss}'); // 2027:03:12 19:30:15, as cameras write it
add(readIsoWeek, '{YYYY}-?W(?<week>0[1-9]|[1-4]\\d|5[0-3])(?:-?(?<weekday>[0-7]))?'); // 2027-W10-5
// `Mar-12-2027`, `2027-Mar-12`, `12/Mar/2027:19:30:15 +0100` of a web server's log.
add(readFields, '{Month}-{DD}-{Y}', '{Y}-{Month}-{DD}', `{D}/{Month}/{YYYY}:{HH}:{mm}:{ss}${SPACES}+{offset}`);
add(readFourDigits, '{YYYY}'); // 2027
add(readAgo, '{ago}'); // `2 days ago`: the last word
add(readDayName, '{dayName}'); // friday
add(readWeek, `(?<nth>{next}|{last}|{previous}|{this})${SPACES}+{week}`); // next week
// PHP knows `next week` and `third weeks`, but not `third week`.
add(readRelative, '{nth}(?!{week}\\b){unit}'); // next month, third friday
add(readFields, '(?![IVX]+\\b){Month}'); // March, but not `X` alone
// `+01:00`, `GMT-5`; `CET`, `(CET)`; `Europe/Berlin`.
add(readFields, '{offset}', '\\(?(?<zone>[A-Za-z]{1,6})\\)?', '(?<zone>[A-Z][a-z]+(?:[_/-][A-Za-z]+)+)');
// `March 12, 7:30 pm`, `March 12 19:30`.
for (const rest of ['{h}[:.]{mm}{am}', '{h}[:.]{m}[:.]{ss}{am}', '{t}?{H}[:.]{m}', '{t}?{H}[:.]{m}[:.]{s}'])
  add(readFields, `{Month}${GAP}{D}[,.stndrh\\t ]+${rest}`);
add(readRelative, `(?<sign>[+-]*)[ \\t]*(?<amount>\\d{1,13})${SPACES}*{unit}`); // +2 weeks, -3 fridays

/** From left to right, by the format of the longest match, of equals the first. Undefined if PHP refuses the text. */
function parseParts(text: string): Parsed | undefined {
  const parsed = new Parsed();
  for (let index = 0; index < text.length; ) {
    let longest: { length: number; groups: Groups; read: Read } | undefined;
    for (const { pattern, read } of formats) {
      pattern.lastIndex = index;
      const match = pattern.exec(text);
      const groups: Groups = match?.groups ?? {};
      // `2 march` is no amount, because `march` is no unit.
      const isKnown = Object.entries(groups).every(
        ([group, word]) =>
          word === undefined || !(group in VOCABULARIES) || numberOf(VOCABULARIES[group], word) !== undefined,
      );
      if (match && isKnown && match[0].length > (longest?.length ?? 0))
        longest = { length: match[0].length, groups, read };
    }
    if (!longest) return undefined;
    longest.read(parsed, longest.groups);
    index += longest.length;
    // PHP ignores a second zone, even an unknown one.
    const isRefused = parsed.dates > 1 || parsed.times > 1 || parsed.zones > 2 || (parsed.zones > 0 && !parsed.zone);
    if (isRefused) return undefined;
  }
  return parsed;
}

/** Reads a date, a time, a zone, or several of them. */
function readFields(parsed: Parsed, groups: Groups): void {
  const { year, month, monthName, day, hour, minute = 0, second = 0, meridian, zone } = groups;
  if (year ?? month ?? monthName) parsed.dates += 1;
  if (year !== undefined) Object.assign(parsed, { year: fullYear(year), day: 1 });
  if (month ?? monthName) parsed.month = numberOf(MONTHS, monthName) ?? Number(month) - 1;
  if (day !== undefined) parsed.day = Number(day);
  if (hour !== undefined) {
    parsed.times += 1;
    Object.assign(parsed, { hour: hourOf(Number(hour), meridian), minute: Number(minute), second: Number(second) });
  }
  if (zone !== undefined) readZone(parsed, parseZone(zone));
}

function readZone(parsed: Parsed, zone: Zone | undefined): void {
  parsed.zone = parsed.zones === 0 ? zone : parsed.zone;
  parsed.zones += 1;
}

/** `27` is 2027, `70` is 1970. */
function fullYear(text: string): number {
  const year = Number(text);
  if (text.length >= 4 || year >= 100) return year;
  return year + (year < 70 ? 2000 : 1900);
}

function hourOf(hour: number, meridian: string | undefined): number {
  const isPm = meridian?.toLowerCase() === 'p';
  if (meridian === undefined || isPm === (hour === 12)) return hour;
  return isPm ? hour + 12 : hour % 12;
}

function readDay(parsed: Parsed, { tomorrow, yesterday, noon }: Groups): void {
  parsed.resetTime();
  // Also in `+1 week tomorrow`.
  if (tomorrow ?? yesterday) parsed.added.day = tomorrow ? 1 : -1;
  if (noon) readFields(parsed, { hour: '12' });
}

function readTimestamp(parsed: Parsed, { seconds }: Groups): void {
  parsed.resetTime();
  Object.assign(parsed, { dates: 0, year: 1970, month: 0, day: 1 });
  parsed.added.second += Number(seconds);
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

/** `2027-W10`, `2027W101`. */
function readIsoWeek(parsed: Parsed, { year, week, weekday = '1' }: Groups): void {
  readFields(parsed, { year, month: '1', day: '1' });
  const newYear = new Date(dayStartMs(Number(year), 0, 1)).getUTCDay();
  parsed.added.day = (newYear > 4 ? 7 : 0) - newYear + (Number(week) - 1) * 7 + Number(weekday);
}

/** `2 days ago`. `monday ago`: `daysToWeekday` makes of -1, on Friday the 12th, 1 - 5 - 7 = -11 days: the 1st. */
function readAgo(parsed: Parsed): void {
  const { added, weekday } = parsed;
  for (const unit of Object.keys(added) as Unit[]) added[unit] *= -1;
  if (weekday !== undefined) parsed.weekday = -weekday || -7;
}

/** `friday`. */
function readDayName(parsed: Parsed, { dayName }: Groups): void {
  parsed.resetTime();
  parsed.weekday = numberOf(DAYS, dayName)!;
  if (parsed.weekdayRule !== 'of the week') parsed.weekdayRule = 'from today';
}

/** `friday next week`, and `next week` alone, which is its Monday. */
function readWeek(parsed: Parsed, { nth }: Groups): void {
  parsed.added.day += numberOf(AMOUNTS, nth)! * 7;
  parsed.weekdayRule = 'of the week';
  parsed.weekday ??= 1;
}

/** `next month`, `third friday`, `+2 weeks`, `-3 fridays`. */
function readRelative(parsed: Parsed, { nth, sign = '', amount: digits, unit }: Groups): void {
  const isNegative = sign.replaceAll('+', '').length % 2 === 1;
  const amount = numberOf(AMOUNTS, nth) ?? Number(digits) * (isNegative ? -1 : 1);
  const index = numberOf(UNITS, unit);
  if (index !== undefined) {
    parsed.added[UNIT_FIELDS[index]!] += amount * UNIT_SIZES[index]!;
    return;
  }
  // A number keeps the time of day.
  if (nth !== undefined) parsed.resetTime();
  parsed.weekday = numberOf(DAYS, unit)!;
  parsed.weekdayRule = nth === undefined || amount === 0 ? 'from today' : 'after today';
  parsed.added.day += (amount > 0 ? amount - 1 : amount) * 7;
}

/** `first friday of`, `last friday of`. */
function readWeekdayOf(parsed: Parsed, { nth, dayName }: Groups): void {
  readRelative(parsed, { nth, unit: dayName });
  parsed.weekdayRule = 'from today';
  parsed.weekdayOfMonth = numberOf(AMOUNTS, nth)! > 0 ? 'first' : 'last';
}

/**
 * The wall time, as its milliseconds in UTC. `nowMs` is that of now. NaN for amounts that no date can have.
 * `last friday of next month` (weekday 5, added.day -7, added.month 1) is in March 2027 first May 1, the day after the
 * next month; then May 7, the Friday from there on; and with added.day April 30.
 */
function wallOf(parsed: Parsed, nowMs: number): number {
  const now = new Date(nowMs);
  const { added, weekdayOfMonth, dayOfMonth } = parsed;
  if (parsed.dates > 0 && parsed.times === 0) parsed.resetTime();
  let { year = now.getUTCFullYear(), month = now.getUTCMonth(), day = now.getUTCDate() } = parsed;
  const { hour = now.getUTCHours(), minute = now.getUTCMinutes(), second = now.getUTCSeconds() } = parsed;
  if (weekdayOfMonth) {
    month += added.month + (weekdayOfMonth === 'last' ? 1 : 0);
    day = 1;
    added.month = 0;
  }
  // The day that the text names, and from there its weekday.
  let wallMs = dayIn(year, month, day, dayOfMonth) + ((hour * 60 + minute) * 60 + second) * 1000;
  wallMs += daysToWeekday(parsed, new Date(wallMs).getUTCDay()) * DAY_MS;
  // What it adds to that. `first day of` counts again, in the month that is reached.
  const date = new Date(wallMs);
  const timeMs = wallMs - Math.floor(wallMs / DAY_MS) * DAY_MS;
  year = date.getUTCFullYear() + added.year;
  month = date.getUTCMonth() + added.month;
  wallMs = dayIn(year, month, date.getUTCDate() + added.day, dayOfMonth) + timeMs;
  return wallMs + Math.floor((added.hour * 60 + added.minute) * 60 + added.second) * 1000;
}

/** The start of a day, or of the first or last day of its month. */
function dayIn(year: number, month: number, day: number, dayOfMonth: Parsed['dayOfMonth']): number {
  if (dayOfMonth === 'last') return dayStartMs(year, month + 1, 0);
  return dayStartMs(year, month, dayOfMonth === 'first' ? 1 : day);
}

/** Days from a day, 0 for a Sunday, to the weekday that the text names. */
function daysToWeekday({ weekday, weekdayRule, added }: Parsed, today: number): number {
  if (weekday === undefined) return 0;
  // A week begins on Monday and ends on Sunday.
  if (weekdayRule === 'of the week') return (weekday || 7) - (today || 7);
  if (weekday < 0) return -weekday - today - 7;
  const days = weekday - today;
  const excludesToday = weekdayRule === 'after today' && added.day >= 0;
  return days < 0 || (days === 0 && excludesToday) ? days + 7 : days;
}
