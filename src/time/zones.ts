/** Owns time zones as the interface takes them: which texts are zones, their offsets, their letters, wall time to UTC and back. */

import { LRUCache } from 'lru-cache';
import { abbreviationMinutes } from './strtotime.ts';
import { dayStartMs, formatWall, wallMs } from './wall.ts';
import letterGroups from './zone-letters.json' with { type: 'json' };

/**
 * A zone that was understood: a name of the tz database in its own spelling, a fixed offset in minutes east of UTC,
 * or an abbreviation, which is a fixed offset with letters.
 */
export type Zone =
  | { kind: 'iana'; name: string }
  | { kind: 'fixed'; minutes: number }
  | { kind: 'abbreviation'; letters: string; minutes: number };

/** UTC itself. */
export const utcZone: Zone = { kind: 'fixed', minutes: 0 };

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const UTC_TEXT = /^UTC(?:([+-])(\d{1,2})(?::([0-5]\d)|(\.\d{1,4}))?)?$/;
const OFFSET_TEXT = /^(?:GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?$/;

type Letters = ReadonlyMap<number, string>;
const namesByLowerCase = new Map<string, string>();
const lettersByName = new Map<string, Letters>();
for (const [key, names] of Object.entries(letterGroups)) {
  const words = key === '' ? [] : key.split(' ');
  const letters = new Map<number, string>();
  for (let i = 0; i < words.length; i += 2) letters.set(Number(words[i + 1]), words[i] ?? '');
  for (const name of names.split(' ')) {
    namesByLowerCase.set(name.toLowerCase(), name);
    lettersByName.set(name, letters);
  }
}

// The texts come from callers, so every cache here has a bound.
const zonesByText = new LRUCache<string, Zone | false>({ max: 2000 });
const formatsByName = new LRUCache<string, Intl.DateTimeFormat>({ max: 200 });
const spansByZoneYear = new LRUCache<string, Span[]>({ max: 5000 });

/**
 * Reads the text of a `timezone` field (interface-behaviour 5.1): names of the tz database in any case, the older ones too
 * (`US/Eastern`); abbreviations (`EST`, `utc`, `Z`), which win over a name spelled alike, as in PHP; `+02:00`, `+0200`,
 * `GMT+2`; `UTC`, `UTC+2`, `UTC-3.5`, `UTC+5:30` with capital letters. `UTC+n` is a fixed offset from UTC-12 to UTC+14;
 * one beyond is still a zone, as in the original, and counts as UTC.
 *
 * @returns `undefined` when the text is no zone (`local`, `utc+2`, numbers, unknown names, the empty text)
 */
export function parseZone(text: string): Zone | undefined {
  const known = zonesByText.get(text);
  if (known !== undefined) return known === false ? undefined : known;
  const zone = readZone(text);
  if (text.length <= 100) zonesByText.set(text, zone ?? false);
  return zone;
}

function readZone(text: string): Zone | undefined {
  const utc = UTC_TEXT.exec(text);
  if (utc) {
    const [, sign, hours = '0', minutes = '0', fraction = '0'] = utc;
    const east = signed(sign, Number(hours) * 60 + Number(minutes) + Math.round(Number(fraction) * 60));
    return { kind: 'fixed', minutes: east < -12 * 60 || east > 14 * 60 ? 0 : east };
  }
  const offset = OFFSET_TEXT.exec(text);
  if (offset) {
    const [, sign, hours = '0', minutes = '0'] = offset;
    return { kind: 'fixed', minutes: signed(sign, Number(hours) * 60 + Number(minutes)) };
  }
  const minutes = abbreviationMinutes(text);
  if (minutes !== undefined) return { kind: 'abbreviation', letters: text.toUpperCase(), minutes };
  const name = namesByLowerCase.get(text.toLowerCase());
  return name !== undefined && formatOf(name) ? { kind: 'iana', name } : undefined;
}

function signed(sign: string | undefined, minutes: number): number {
  return sign === '-' && minutes !== 0 ? -minutes : minutes;
}

/** Minutes east of UTC that a zone has at a moment (milliseconds since 1970). */
function offsetMinutesAt(epochMs: number, zone: Zone): number {
  return offsetMs(epochMs, zone) / MINUTE_MS;
}

/** Minutes east of UTC that a zone has at a moment given as a UTC text. Throws `RangeError` for a bad text. */
export function offsetMinutes(utc: string, zone: Zone): number {
  return offsetMinutesAt(wallMs(utc), zone);
}

/** The clock of a zone at a moment, as milliseconds that read as that wall time in UTC. */
export function epochToWallMs(epochMs: number, zone: Zone): number {
  return epochMs + offsetMs(epochMs, zone);
}

/**
 * The moment a clock of the zone shows a wall time (milliseconds that read as it in UTC). A time the clock skips counts on
 * from before the gap (02:30 becomes 03:30). Of a time it shows twice, the first is meant west of Greenwich (interface-behaviour
 * 5.4), the second elsewhere: PHP tries the offset that the zone would have at that time in UTC.
 */
export function wallMsToEpoch(wall: number, zone: Zone): number {
  if (zone.kind !== 'iana') return wall - zone.minutes * MINUTE_MS;
  const before = offsetMs(wall - DAY_MS, zone);
  const after = offsetMs(wall + DAY_MS, zone);
  if (before === after) {
    // A pair of changes within two days does not occur, so this is the plain case.
    return wall - before;
  }
  for (const offset of [offsetMs(wall, zone), before, after]) {
    if (offsetMs(wall - offset, zone) === offset) return wall - offset;
  }
  return wall - before;
}

/** Turns a wall text of a zone into a UTC text; gaps and double times as in `wallMsToEpoch`. Throws `RangeError` for a bad text. */
export function wallToUtc(wall: string, zone: Zone): string {
  return formatWall(wallMsToEpoch(wallMs(wall), zone));
}

/** Turns a UTC text into the wall text of a zone. Throws `RangeError` for a bad text. */
export function utcToWall(utc: string, zone: Zone): string {
  return formatWall(epochToWallMs(wallMs(utc), zone));
}

/**
 * What `timezone_abbr` shows for a zone text at a local time (interface-behaviour 1.1): a text beginning with capital `UTC` as
 * it is, the letters of the tz database, or the offset where it has none (`-05`, `+0545`); a fixed offset as `GMT+0200`.
 *
 * @returns the empty text when the zone text is no zone
 */
export function zoneAbbreviation(zoneText: string, wall: string): string {
  if (zoneText.startsWith('UTC')) return zoneText;
  const zone = parseZone(zoneText);
  if (!zone) return '';
  if (zone.kind === 'fixed') return `GMT${offsetText(zone.minutes, true)}`;
  if (zone.kind === 'abbreviation') return zone.letters;
  const minutes = offsetMinutesAt(wallMsToEpoch(wallMs(wall), zone), zone);
  return lettersByName.get(zone.name)?.get(minutes) ?? offsetText(minutes, false);
}

function offsetText(minutes: number, full: boolean): string {
  const size = Math.abs(Math.trunc(minutes));
  const rest = size % 60;
  const hours = String(Math.floor(size / 60)).padStart(2, '0');
  return `${minutes < 0 ? '-' : '+'}${hours}${full || rest > 0 ? String(rest).padStart(2, '0') : ''}`;
}

/** A stretch of time with one offset, up to `untilMs`. */
type Span = { untilMs: number; offsetMs: number };

function offsetMs(epochMs: number, zone: Zone): number {
  if (zone.kind !== 'iana') return zone.minutes * MINUTE_MS;
  const year = new Date(epochMs).getUTCFullYear();
  const key = `${zone.name} ${year}`;
  let spans = spansByZoneYear.get(key);
  if (!spans) {
    spans = spansOfYear(zone.name, year);
    spansByZoneYear.set(key, spans);
  }
  let offset = 0;
  for (const span of spans) {
    offset = span.offsetMs;
    if (epochMs < span.untilMs) break;
  }
  return offset;
}

/** Finds the changes of one year: a look each week, then halving to the second. Intl is too slow to be asked each time. */
function spansOfYear(name: string, year: number): Span[] {
  const format = formatOf(name);
  if (!format) return [];
  const endMs = dayStartMs(year + 1, 0, 1);
  const spans: Span[] = [];
  let atMs = dayStartMs(year, 0, 1);
  let offset = intlOffsetMs(format, atMs);
  while (atMs < endMs) {
    const nextMs = Math.min(atMs + 7 * DAY_MS, endMs);
    const nextOffset = intlOffsetMs(format, nextMs);
    if (nextOffset !== offset) {
      let low = atMs;
      let high = nextMs;
      while (high - low > 1000) {
        const middle = low + Math.floor((high - low) / 2000) * 1000;
        if (intlOffsetMs(format, middle) === offset) low = middle;
        else high = middle;
      }
      spans.push({ untilMs: high, offsetMs: offset });
      offset = nextOffset;
    }
    atMs = nextMs;
  }
  spans.push({ untilMs: endMs, offsetMs: offset });
  return spans;
}

function intlOffsetMs(format: Intl.DateTimeFormat, epochMs: number): number {
  const [month = 1, day = 1, year = 1, hour = 0, minute = 0, second = 0] = (
    format.format(epochMs).match(/\d+/g) ?? []
  ).map(Number);
  const wall = dayStartMs(year, month - 1, day) + (hour * 3600 + minute * 60 + second) * 1000;
  const offset = wall - epochMs;
  // Before the year 1 Intl counts years of another era; nothing there needs an offset.
  return Math.abs(offset) <= DAY_MS ? offset : 0;
}

function formatOf(name: string): Intl.DateTimeFormat | undefined {
  const known = formatsByName.get(name);
  if (known) return known;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formatsByName.set(name, format);
    return format;
  } catch {
    // The list of names may be newer than the tz database inside Node.
    return undefined;
  }
}
