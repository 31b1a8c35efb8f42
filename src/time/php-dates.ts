/** Owns the reading of date texts as PHP's `strtotime` reads them, with the zone a text may name. */

import { strtotimeUtc } from './strtotime.ts';
import { dayStartMs, earliestMs, formatWall, latestMs, parseWall } from './wall.ts';
import { epochToWallMs, parseZone, utcZone, wallMsToEpoch, type Zone } from './zones.ts';

/** A date text that was understood. */
export type PhpDate = {
  /** The moment, milliseconds since 1970, in whole seconds. */
  epochMs: number;
  /** The clock reading `YYYY-MM-DD HH:MM:SS` in `zone`: what was written, rolled over where no such day or hour exists. */
  wall: string;
  /** Whether the text itself names a zone or offset, or is `@seconds`. */
  zoneNamed: boolean;
  /** The zone named in the text (UTC for `@seconds`), otherwise the zone given. */
  zone: Zone;
};

const DAY_MS = 86_400_000;
const LONGEST_TEXT = 200;

/**
 * Reads a date text as PHP 8.2 does (interface-behaviour 3.1, 5.1, 5.4): dates in its many spellings, relative words,
 * `@seconds`, a zone or offset in the text. Relative words go by the clock of the zone named in the text, otherwise of the
 * zone given. A text with a zone in front of the year (`Sun Mar 1 10:00:00 UTC 2026`) is read too. All digits are no special case here; whoever takes Unix seconds asks `unixSeconds` first.
 *
 * @param text the text as sent
 * @param context `nowMs`: what "now" is, milliseconds since 1970; `zone`: the zone a text without one is in
 * @returns `undefined` for what PHP refuses, and for moments outside the years 0000 to 9999
 */
export function parsePhpDate(text: string, context: { nowMs: number; zone: Zone }): PhpDate | undefined {
  const trimmed = text.trim();
  const plain = readPlain(trimmed);
  if (plain !== undefined) return dateAt(wallMsToEpoch(plain, context.zone), context.zone, false);
  if (trimmed === '' || trimmed.length > LONGEST_TEXT) return undefined;
  if (trimmed.startsWith('@')) return readTimestamp(trimmed, context.nowMs);
  const split = splitZone(trimmed);
  if (!split) return undefined;

  const zone = split.zone ?? context.zone;
  const nowMs = Math.floor(context.nowMs / 1000) * 1000;
  const nowWall = epochToWallMs(nowMs, zone);
  const rest = split.rest === '' ? 'now' : split.rest;
  const wall = readWall(rest, nowWall);
  // No zone has offsets for a moment that no calendar has.
  if (wall === undefined || !(wall >= earliestMs - DAY_MS && wall <= latestMs + DAY_MS)) return undefined;
  // Hours, minutes and seconds from now are elapsed time, whatever the clock is set to meanwhile.
  const epochMs = isElapsed(rest) ? nowMs + wall - nowWall : wallMsToEpoch(wall, zone);
  return dateAt(epochMs, zone, split.zone !== undefined);
}

/**
 * Reads a text that is nothing but a number, as PHP's `is_numeric` takes it: `1772359200`, `-5`, `12.7` (fractions are cut
 * off), `1e9`. The caller decides whether numbers count as Unix seconds (interface-behaviour 3.1, 5.1).
 *
 * @returns seconds since 1970, or `undefined` when it is no number or lies outside the years 0000 to 9999
 */
export function unixSeconds(text: string): number | undefined {
  if (!/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text.trim())) return undefined;
  const seconds = Math.trunc(Number(text)) + 0;
  return seconds * 1000 >= earliestMs && seconds * 1000 <= latestMs ? seconds : undefined;
}

const PLAIN = /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2})(:\d{2})?)?$/;

/** The way most clients write dates, without the parser of all the others: `2027-03-12`, `2027-03-12 10:00`, `2027-03-12T10:00:00`. */
function readPlain(text: string): number | undefined {
  const [, day, minutes = '00:00', seconds = ':00'] = PLAIN.exec(text) ?? [];
  return day === undefined || day < '0001' ? undefined : parseWall(`${day} ${minutes}${seconds}`);
}

/** The day of a text that names a day, and no more than a time of day beside it: what `parsePhpDate` would take the long way to. */
export function plainDay(text: string): string | undefined {
  const trimmed = text.trim();
  return readPlain(trimmed) === undefined ? undefined : trimmed.slice(0, 10);
}

function dateAt(epochMs: number, zone: Zone, zoneNamed: boolean): PhpDate | undefined {
  const wall = epochToWallMs(epochMs, zone);
  if (wall < earliestMs || wall > latestMs) return undefined;
  return { epochMs, wall: formatWall(wall), zoneNamed, zone };
}

function readTimestamp(text: string, nowMs: number): PhpDate | undefined {
  const parts = /^@(-?\d{1,15})(?:\.\d+)?(?=\s|$)(.*)$/s.exec(text);
  if (!parts) return undefined;
  const [, seconds = '0', rest = ''] = parts;
  const epochMs = rest.trim() === '' ? Number(seconds) * 1000 : strtotimeUtc(`@${seconds}${rest}`, nowMs);
  return epochMs === undefined ? undefined : dateAt(epochMs, utcZone, true);
}

// An offset follows a time, a blank or nothing, and no unit follows it: `10:00+02:00`, `5pm -0300`, but not `+1 week`.
const OFFSET = /(?:GMT|UTC)?[+-]\d{1,2}(?::?\d{2})?(?=$|[)\s])/gi;
const BEFORE_OFFSET = /(?::\d{1,2}(?:\.\d{1,9})?|t\d{2,6}(?:\.\d{1,9})?|\d ?[ap]\.?m\.?|\s|\()$/i;
const BEHIND_OFFSET = /^(?:$|\)|\s+\d)/;
/** Longer than anything that `BEFORE_OFFSET` matches. */
const NEAR = 20;
const WORD = /(?<![A-Za-z/])[A-Za-z]{1,6}(?![A-Za-z/])/g;

/** A part of a text, and where it begins. */
interface Part {
  text: string;
  at: number;
}

function findOffset(text: string): Part | undefined {
  for (const { 0: offset, index } of text.matchAll(OFFSET)) {
    const isBehind = index === 0 || BEFORE_OFFSET.test(text.slice(Math.max(0, index - NEAR), index));
    if (isBehind && BEHIND_OFFSET.test(text.slice(index + offset.length))) return { text: offset, at: index };
  }
  return undefined;
}

/** A name such as `Europe/Paris`: behind a blank, a bracket or a digit (`10:00Europe/Paris`), and before a blank, a bracket or nothing. */
function findName(text: string): Part | undefined {
  for (const { 0: token, index } of text.matchAll(/[^\s()]+/g)) {
    if (text[index + token.length] === '(') continue;
    const segments = token.split('/');
    let at = index;
    for (const [i, segment] of segments.entries()) {
      const first = trailing(segment, /[A-Za-z_]/);
      const before = segment[segment.length - first.length - 1];
      const begins = /^[A-Za-z]/.test(first) && (before === undefined ? i === 0 : /\d/.test(before));
      const others = segments.slice(i + 1);
      if (begins && others.length > 0 && others.every((one) => /^[A-Za-z][\w+-]*$/.test(one))) {
        const from = at + segment.length - first.length;
        return { text: text.slice(from, index + token.length), at: from };
      }
      at += segment.length + 1;
    }
  }
  return undefined;
}

/** The characters of one sort that a text ends with. */
function trailing(text: string, sort: RegExp): string {
  let from = text.length;
  while (from > 0 && sort.test(text[from - 1]!)) from -= 1;
  return text.slice(from);
}

/** Takes the zone out of a text. `undefined` when it names two, which PHP refuses. */
function splitZone(text: string): { rest: string; zone: Zone | undefined } | undefined {
  let rest = text;
  const found: Zone[] = [];
  for (const find of [findOffset, findName]) {
    for (let part = find(rest); part; part = find(rest)) {
      const zone = parseZone(part.text.replace(/^(?:gmt|utc)/i, ''));
      if (!zone) break;
      if (found.push(zone) > 1) return undefined;
      rest = cut(rest, part.at, part.text.length);
    }
  }
  for (const match of [...rest.matchAll(WORD)].reverse()) {
    const zone = isZoneWord(rest, match[0], match.index) ? parseZone(match[0]) : undefined;
    if (!zone) continue;
    if (found.push(zone) > 1) return undefined;
    rest = cut(rest, match.index, match[0].length);
  }
  return { rest: rest.trim(), zone: found[0] };
}

/** Cuts a part out, together with the brackets around it. */
function cut(text: string, at: number, length: number): string {
  const before = text.slice(0, at);
  const after = text.slice(at + length);
  const bracketed = before.endsWith('(') && after.startsWith(')');
  return `${bracketed ? before.slice(0, -1) : before} ${bracketed ? after.slice(1) : after}`;
}

/** Single letters are zones (A to Z without J), but also the T of a time, Roman months and parts of `a.m.`. */
function isZoneWord(text: string, word: string, at: number): boolean {
  if (word.length > 1) return true;
  const before = text.slice(0, at);
  const after = text.slice(at + 1);
  if (!/^(?:$|[\s)])/.test(after)) return false;
  if (/^z$/i.test(word)) return /(?:^|[\d\s(])$/.test(before);
  return /(?:^|\s|\()$/.test(before) && !/^\s*\d/.test(after);
}

const AMOUNT = /^[+-]?\d+(?:sec|second|min|minute|hour)s?$/;

/** Whether a text is `now`, or an amount of hours, minutes and seconds from now or ago. */
function isElapsed(text: string): boolean {
  const spaced = text
    .toLowerCase()
    .replace(/[\s,]+/g, ' ')
    .trim();
  if (spaced === 'now') return true;
  const amounts = spaced
    .replace(/^now ?/, '')
    .replace(/ ago$/, '')
    // A sign and a unit belong to their number, with and without a blank.
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
const CLOCK_TIME = /\d\s*[ap]\.?m\b|\d[:.]\d\d|\bnoon\b/i;

/** Reads a text without a zone; all times here are clock readings as if in UTC. Covers what locutus leaves out. */
function readWall(text: string, now: number): number | undefined {
  const dayOfYear = DAY_OF_YEAR.exec(text);
  if (dayOfYear) {
    const [whole, year = '', day = ''] = dayOfYear;
    if (Number(day) >= 1 && Number(day) <= 366) {
      const date = formatWall(dayStartMs(Number(year), 0, Number(day))).slice(0, 10);
      return strtotimeUtc(text.replace(whole, date), now);
    }
  }
  const dayOfMonth = DAY_OF_MONTH.exec(text);
  if (dayOfMonth) return readDayOfMonth(text, dayOfMonth, now);
  const weekdays = findWeekdays(text);
  if (weekdays) {
    const { amount, isWord, before, behind } = weekdays;
    const from = strtotimeUtc(`${before}${behind}`.trim() || 'now', now);
    if (from === undefined) return undefined;
    // PHP sets the clock to midnight for the words, unless a time follows them, and keeps the time of day for a number.
    return addWeekdays(isWord && !CLOCK_TIME.test(behind) ? startOf(from) : from, amount);
  }
  // A web server's log writes a colon between date and time; locutus takes that only together with an offset.
  return strtotimeUtc(text.replace(LOG_DATE, '$1 $2 $3 '), now);
}

/** `first monday of january 2026`, `last friday of next month 10:00`: midnight unless a time is given. */
function readDayOfMonth(text: string, match: RegExpExecArray, now: number): number | undefined {
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
  /** Said by a word (`next weekday`) and not by a number. */
  isWord: boolean;
  /** What else the text says. */
  before: string;
  behind: string;
}

const MOST_DIGITS = 9;

/** `+3 weekdays`, `2 weekdays ago`, `next weekday`, `last weekday`; undefined where a text has none of these. */
function findWeekdays(text: string): Weekdays | undefined {
  for (const found of text.matchAll(/weekdays?\b/gi)) {
    const weekdays = readWeekdays(text, found);
    if (weekdays) return weekdays;
  }
  return undefined;
}

function readWeekdays(text: string, found: RegExpExecArray): Weekdays | undefined {
  let before = text.slice(0, found.index).trimEnd();
  let behind = text.slice(found.index + found[0].length);
  const ago = /^\s+ago\b/i.exec(behind);
  if (ago) behind = behind.slice(ago[0].length);
  const word = /(?:next|last|previous)$/i.exec(before);
  const digits = trailing(before, /\d/);
  if (!word && (digits === '' || digits.length > MOST_DIGITS)) return undefined;
  if (word) {
    const amount = word[0].toLowerCase() === 'next' ? 1 : -1;
    return { amount: ago ? -amount : amount, isWord: true, before: before.slice(0, word.index), behind };
  }
  before = before.slice(0, -digits.length);
  const sign = /[+-]$/.exec(before.trimEnd())?.[0];
  if (sign) before = before.trimEnd().slice(0, -1);
  const amount = Number(digits) * (sign === '-' ? -1 : 1);
  return { amount: ago ? -amount : amount, isWord: false, before, behind };
}

/** Counts Mondays to Fridays only, by whole weeks and a rest; the time of day stays. */
function addWeekdays(from: number, amount: number): number {
  // No weekdays from a weekend is the next Monday, as in PHP.
  if (amount === 0) return dayOf(from) % 6 === 0 ? addWeekdays(from, 1) : from;
  const direction = Math.sign(amount);
  const day = dayOf(from);
  // Steps in the direction since the weekday that was the last one to count: 0 on a weekday itself.
  const idle = day % 6 !== 0 ? 0 : (day === 6) === direction > 0 ? 1 : 2;
  // Mondays are 1 going forwards, Fridays 1 going backwards.
  const weekday = dayOf(from - idle * direction * DAY_MS);
  const place = direction > 0 ? weekday : 6 - weekday;
  const count = Math.abs(amount);
  const rest = count % 5;
  const weekend = place + rest > 5 ? 2 : 0;
  return from + direction * (Math.floor(count / 5) * 7 + rest + weekend - idle) * DAY_MS;
}
