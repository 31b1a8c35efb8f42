// Parses date texts as PHP's `strtotime` does, including the zone that a text may name.

import { dayStartMs, earliestMs, formatWallTime, latestMs, parseWallTime, strtotimeUtc } from './wall-time.ts';
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

const DAY_MS = 86_400_000;
const MAX_LENGTH = 200;

/**
 * Parses a date text as PHP 8.2 does: absolute dates in many spellings, relative phrases, `@seconds`, a zone
 * or offset anywhere in the text (`Sun Mar 1 10:00:00 UTC 2026`). Relative phrases refer to the wall time at
 * `nowMs` in the zone of the text, or else in `context.zone`. Digits alone are parsed as PHP does; a caller
 * that accepts Unix seconds tries `parseUnixSeconds` first.
 *
 * Returns `undefined` if PHP refuses the text, or the date lies outside the years 0000 to 9999.
 */
export function parsePhpDate(text: string, context: { nowMs: number; zone: Zone }): PhpDate | undefined {
  const trimmed = text.trim();
  const plain = parsePlain(trimmed);
  if (plain !== undefined) return dateAt(wallMsToEpoch(plain, context.zone), context.zone, false);
  if (trimmed === '' || trimmed.length > MAX_LENGTH) return undefined;
  if (trimmed.startsWith('@')) return parseTimestamp(trimmed, context.nowMs);
  const split = splitZone(trimmed);
  if (!split) return undefined;

  const zone = split.zone ?? context.zone;
  const nowMs = Math.floor(context.nowMs / 1000) * 1000;
  const nowWall = epochToWallMs(nowMs, zone);
  const rest = split.rest === '' ? 'now' : split.rest;
  const wall = parseWithoutZone(rest, nowWall);
  // Zones have no offsets outside these years.
  if (wall === undefined || !(wall >= earliestMs - DAY_MS && wall <= latestMs + DAY_MS)) return undefined;
  // Hours, minutes and seconds from now are elapsed time, across changes of the zone's offset.
  const epochMs = isElapsed(rest) ? nowMs + wall - nowWall : wallMsToEpoch(wall, zone);
  return dateAt(epochMs, zone, split.zone !== undefined);
}

/**
 * Parses a number in every form that PHP's `is_numeric` accepts: `1772359200`, `-5`, `12.7` (drops the
 * fraction), `1e9`. Returns seconds since 1970, or `undefined` for another text or a date outside the years
 * 0000 to 9999.
 */
export function parseUnixSeconds(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim())) return undefined;
  const seconds = Math.trunc(Number(text)) + 0;
  return seconds * 1000 >= earliestMs && seconds * 1000 <= latestMs ? seconds : undefined;
}

const PLAIN = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2})?)?$/;

/** Parses the most common forms quickly: `2027-03-12`, `2027-03-12 10:00`, `2027-03-12T10:00:00`. */
function parsePlain(text: string): number | undefined {
  const [, day, minutes = '00:00', seconds = ':00'] = PLAIN.exec(text) ?? [];
  return day === undefined || day < '0001' ? undefined : parseWallTime(`${day} ${minutes}${seconds}`);
}

/** The date in one of the most common forms, without the full parser. */
export function plainDate(text: string): string | undefined {
  const trimmed = text.trim();
  return parsePlain(trimmed) === undefined ? undefined : trimmed.slice(0, 10);
}

function dateAt(epochMs: number, zone: Zone, hasZone: boolean): PhpDate | undefined {
  const wall = epochToWallMs(epochMs, zone);
  if (wall < earliestMs || wall > latestMs) return undefined;
  return { epochMs, wall: formatWallTime(wall), hasZone, zone };
}

function parseTimestamp(text: string, nowMs: number): PhpDate | undefined {
  const parts = /^@(-?\d{1,15})(?:\.\d+)?(?=\s|$)(.*)$/s.exec(text);
  if (!parts) return undefined;
  const [, seconds = '0', rest = ''] = parts;
  const epochMs = rest.trim() === '' ? Number(seconds) * 1000 : strtotimeUtc(`@${seconds}${rest}`, nowMs);
  return epochMs === undefined ? undefined : dateAt(epochMs, utcZone, true);
}

// An offset follows a time, a blank or nothing, and no unit follows the offset: `10:00+02:00`, `5pm -0300`,
// but not `+1 week`.
const OFFSET = /(?:GMT|UTC)?[+-]\d{1,2}(?::?\d{2})?(?=$|[)\s])/gi;
const BEFORE_OFFSET = /(?::\d{1,2}(?:\.\d{1,9})?|t\d{2,6}(?:\.\d{1,9})?|\d ?[ap]\.?m\.?|\s|\()$/i;
const AFTER_OFFSET = /^(?:$|\)|\s+\d)/;
/** More characters than `BEFORE_OFFSET` can match. */
const MAX_BEFORE_OFFSET = 20;
const WORD = /(?<![A-Za-z/])[A-Za-z]{1,6}(?![A-Za-z/])/g;

interface Part {
  text: string;
  index: number;
}

function findOffset(text: string): Part | undefined {
  for (const { 0: offset, index } of text.matchAll(OFFSET)) {
    const isAfterTime = index === 0 || BEFORE_OFFSET.test(text.slice(Math.max(0, index - MAX_BEFORE_OFFSET), index));
    if (isAfterTime && AFTER_OFFSET.test(text.slice(index + offset.length))) return { text: offset, index };
  }
  return undefined;
}

/**
 * Finds a name such as `Europe/Paris` after a blank, a bracket or a digit (`10:00Europe/Paris`), and before a
 * blank, a bracket or the end.
 */
function findZoneName(text: string): Part | undefined {
  for (const { 0: token, index } of text.matchAll(/[^\s()]+/g)) {
    if (text[index + token.length] === '(') continue;
    const segments = token.split('/');
    let start = index;
    for (const [i, segment] of segments.entries()) {
      const first = trailingRun(segment, /[A-Za-z_]/);
      const before = segment[segment.length - first.length - 1];
      const begins = /^[A-Za-z]/.test(first) && (before === undefined ? i === 0 : /\d/.test(before));
      const rest = segments.slice(i + 1);
      if (begins && rest.length > 0 && rest.every((part) => /^[A-Za-z][\w+-]*$/.test(part))) {
        const from = start + segment.length - first.length;
        return { text: text.slice(from, index + token.length), index: from };
      }
      start += segment.length + 1;
    }
  }
  return undefined;
}

/** The longest suffix in which each character matches. */
function trailingRun(text: string, character: RegExp): string {
  let from = text.length;
  while (from > 0 && character.test(text[from - 1]!)) from -= 1;
  return text.slice(from);
}

/** Separates the zone from a text. Returns `undefined` if there are two zones, which PHP refuses. */
function splitZone(text: string): { rest: string; zone: Zone | undefined } | undefined {
  let rest = text;
  const zones: Zone[] = [];
  for (const find of [findOffset, findZoneName]) {
    for (let part = find(rest); part; part = find(rest)) {
      const zone = parseZone(part.text.replace(/^(?:gmt|utc)/i, ''));
      if (!zone) break;
      if (zones.push(zone) > 1) return undefined;
      rest = cut(rest, part.index, part.text.length);
    }
  }
  for (const match of [...rest.matchAll(WORD)].reverse()) {
    const zone = isZoneWord(rest, match[0], match.index) ? parseZone(match[0]) : undefined;
    if (!zone) continue;
    if (zones.push(zone) > 1) return undefined;
    rest = cut(rest, match.index, match[0].length);
  }
  return { rest: rest.trim(), zone: zones[0] };
}

/** Removes a part of a text, together with the brackets around it. */
function cut(text: string, index: number, length: number): string {
  const before = text.slice(0, index);
  const after = text.slice(index + length);
  const bracketed = before.endsWith('(') && after.startsWith(')');
  return `${bracketed ? before.slice(0, -1) : before} ${bracketed ? after.slice(1) : after}`;
}

/** A single letter is a zone (A to Z except J), the T of a time, a Roman month or a part of `a.m.`. */
function isZoneWord(text: string, word: string, index: number): boolean {
  if (word.length > 1) return true;
  const before = text.slice(0, index);
  const after = text.slice(index + 1);
  if (!/^(?:$|[\s)])/.test(after)) return false;
  if (/^z$/i.test(word)) return /(?:^|[\d\s(])$/.test(before);
  return /(?:^|\s|\()$/.test(before) && !/^\s*\d/.test(after);
}

const AMOUNT = /^[+-]?\d+(?:sec|second|min|minute|hour)s?$/;

/** True for `now`, and for amounts of hours, minutes and seconds from now or ago. */
function isElapsed(text: string): boolean {
  const spaced = text
    .toLowerCase()
    .replace(/[\s,]+/g, ' ')
    .trim();
  if (spaced === 'now') return true;
  const amounts = spaced
    .replace(/^now ?/, '')
    .replace(/ ago$/, '')
    // Joins a sign and a unit with their number.
    .replace(/([+-]) /g, '$1')
    .replace(/(\d) (?=[a-z])/g, '$1');
  return amounts.split(' ').every((amount) => AMOUNT.test(amount));
}

const DAY_OF_YEAR = /(?<![\d.:+-])(\d{4})[-.]?(\d{3})(?![\d:.-])/;
const DAY_NAMES = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];
const ORDINALS = 'first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth'.split(' ');
const DAY_OF_MONTH =
  /\b(first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|last)\s{1,9}((?:sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?)\s{1,9}of\b/i;
const LOG_DATE = /^(\d{1,2})\/([a-z]{3})\/(\d{4}):/i;
const HOUR_ALONE = /-\d{1,2}T\d{1,2}$/i;
const CLOCK_TIME = /\d\s*[ap]\.?m\b|\d[:.]\d\d|\bnoon\b/i;

/**
 * Parses a text without a zone to the milliseconds of its wall time in UTC. Adds forms that locutus lacks.
 */
function parseWithoutZone(text: string, now: number): number | undefined {
  const dayOfYear = DAY_OF_YEAR.exec(text);
  if (dayOfYear) {
    const [whole, year = '', day = ''] = dayOfYear;
    if (Number(day) >= 1 && Number(day) <= 366) {
      const date = formatWallTime(dayStartMs(Number(year), 0, Number(day))).slice(0, 10);
      return strtotimeUtc(text.replace(whole, date), now);
    }
  }
  const dayOfMonth = DAY_OF_MONTH.exec(text);
  if (dayOfMonth) return parseDayOfMonth(text, dayOfMonth, now);
  const weekdays = findWeekdays(text);
  if (weekdays) {
    const { amount, isWord, before, after } = weekdays;
    const from = strtotimeUtc(`${before}${after}`.trim() || 'now', now);
    if (from === undefined) return undefined;
    // PHP resets the time of day after a word, unless a time follows, and keeps it after a number.
    return addWeekdays(isWord && !CLOCK_TIME.test(after) ? startOf(from) : from, amount);
  }
  // Server logs have a colon between date and time, which locutus accepts only with an offset. It needs
  // minutes after `2027-03-12T10`.
  return strtotimeUtc(text.replace(LOG_DATE, '$1 $2 $3 ').replace(HOUR_ALONE, '$&:00'), now);
}

/** `first monday of january 2026`, `last friday of next month 10:00`. Midnight unless the text has a time. */
function parseDayOfMonth(text: string, match: RegExpExecArray, now: number): number | undefined {
  const [whole, ordinal = '', dayName = ''] = match;
  const month = text.replace(whole, '').trim();
  const base = strtotimeUtc(`first day of ${month || 'this month'}`, now);
  if (base === undefined) return undefined;
  const timeOfDay = CLOCK_TIME.test(month) ? base - startOf(base) : 0;
  const weekday = DAY_NAMES.indexOf(dayName.slice(0, 3).toLowerCase());
  const first = startOf(base);
  const nth = ORDINALS.indexOf(ordinal.toLowerCase());
  if (nth >= 0) return first + ((weekday - dayOf(first) + 7) % 7) * DAY_MS + nth * 7 * DAY_MS + timeOfDay;
  const last = new Date(first);
  const lastDay = dayStartMs(last.getUTCFullYear(), last.getUTCMonth() + 1, 0);
  return lastDay - ((dayOf(lastDay) - weekday + 7) % 7) * DAY_MS + timeOfDay;
}

function startOf(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

function dayOf(ms: number): number {
  return new Date(ms).getUTCDay();
}

interface Weekdays {
  amount: number;
  /** The amount is a word (`next weekday`) instead of a number. */
  isWord: boolean;
  /** The rest of the text. */
  before: string;
  after: string;
}

const MAX_DIGITS = 9;

/** Finds `+3 weekdays`, `2 weekdays ago`, `next weekday` or `last weekday`. */
function findWeekdays(text: string): Weekdays | undefined {
  for (const match of text.matchAll(/weekdays?\b/gi)) {
    const weekdays = parseWeekdays(text, match);
    if (weekdays) return weekdays;
  }
  return undefined;
}

function parseWeekdays(text: string, match: RegExpExecArray): Weekdays | undefined {
  let before = text.slice(0, match.index).trimEnd();
  let after = text.slice(match.index + match[0].length);
  const ago = /^\s+ago\b/i.exec(after);
  if (ago) after = after.slice(ago[0].length);
  const word = /(?:next|last|previous)$/i.exec(before);
  const digits = trailingRun(before, /\d/);
  if (!word && (digits === '' || digits.length > MAX_DIGITS)) return undefined;
  if (word) {
    const amount = word[0].toLowerCase() === 'next' ? 1 : -1;
    return { amount: ago ? -amount : amount, isWord: true, before: before.slice(0, word.index), after };
  }
  before = before.slice(0, -digits.length);
  const sign = /[+-]$/.exec(before.trimEnd())?.[0];
  if (sign) before = before.trimEnd().slice(0, -1);
  const amount = Number(digits) * (sign === '-' ? -1 : 1);
  return { amount: ago ? -amount : amount, isWord: false, before, after };
}

/** Counts Mondays to Fridays only. Keeps the time of day. */
function addWeekdays(from: number, amount: number): number {
  // `0 weekdays` on a weekend is the next Monday, as in PHP.
  if (amount === 0) return dayOf(from) % 6 === 0 ? addWeekdays(from, 1) : from;
  const direction = Math.sign(amount);
  const day = dayOf(from);
  // Days since the last weekday before `from` in this direction: 0 on a weekday.
  const isWeekend = day % 6 === 0;
  const isFirstWeekendDay = (day === 6) === direction > 0;
  const idleDays = isWeekend ? (isFirstWeekendDay ? 1 : 2) : 0;
  // The position in the week: 1 for a Monday if the direction is forwards, for a Friday if it is backwards.
  const weekday = dayOf(from - idleDays * direction * DAY_MS);
  const position = direction > 0 ? weekday : 6 - weekday;
  const count = Math.abs(amount);
  const rest = count % 5;
  const weekend = position + rest > 5 ? 2 : 0;
  return from + direction * (Math.floor(count / 5) * 7 + rest + weekend - idleDays) * DAY_MS;
}
