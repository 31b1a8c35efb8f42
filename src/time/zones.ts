// Time zones as The Events Calendar accepts them: parsing, offsets, abbreviations, conversion of wall times and UTC.

import { LRUCache } from 'lru-cache';
import php from './php-abbreviations.json' with { type: 'json' };
import { DAY_MS, dayStartMs, formatWallTime, parseWallTime, wallTimeMs } from './wall-time.ts';
import abbreviationGroups from './zone-abbreviations.json' with { type: 'json' };

/** A name of the tz database in its letter case, a fixed offset in minutes east of UTC, or an abbreviation of one. */
export type Zone =
  | { kind: 'iana'; name: string }
  | { kind: 'fixed'; minutes: number }
  | { kind: 'abbreviation'; letters: string; minutes: number };

export const utcZone: Zone = { kind: 'fixed', minutes: 0 };

const MINUTE_MS = 60_000;
const UTC_TEXT = /^UTC(?:[ \t]*([+-]?)(\d{1,2})(?::([0-5]\d)|(\.\d{1,4}))?)?$/;
const OFFSET_TEXT = /^(?:GMT)?([+-])(\d{1,2})(?::?([0-5]\d))?$/;

/** `EST -300 EDT -240`. */
const offsetsOf = (text: string): [abbreviation: string, minutes: number][] =>
  [...text.matchAll(/\b([A-Za-z]+) (-?\d+)/g)].map(([, letters = '', minutes]) => [letters, Number(minutes)]);
const namesByLowerCase = new Map<string, string>();
const abbreviationsByName = new Map<string, ReadonlyMap<number, string>>();
for (const [key, names] of Object.entries(abbreviationGroups)) {
  const abbreviations = new Map(offsetsOf(key).map(([letters, minutes]) => [minutes, letters]));
  for (const name of names.split(' ')) {
    namesByLowerCase.set(name.toLowerCase(), name);
    abbreviationsByName.set(name, abbreviations);
  }
}

/** The abbreviations that PHP knows (`est`, `cest`, the military letters), with their minutes east of UTC. */
const minutesByAbbreviation = new Map(offsetsOf(php.abbreviations));

// Clients choose the zones and years, so every cache has a bound.
const formatsByName = new LRUCache<string, Intl.DateTimeFormat>({ max: 200 });
const spansByZoneYear = new LRUCache<string, OffsetSpan[]>({ max: 5000 });

/**
 * Parses the text of a `timezone` field as The Events Calendar does:
 *
 *   UTC, UTC+2, UTC2, UTC -3.5, UTC+5:30    in capitals
 *   UTC+15, UTC-13                          UTC, which stands for all that no zone has
 *   +02:00, +0200, GMT+2                    an offset
 *   EST, utc, Z                             abbreviations, which take precedence over names, as in PHP
 *   Europe/Berlin, us/eastern               names of the tz database, also backward ones, in any letter case
 *   local, utc+2, 2, the empty text         undefined
 */
export function parseZone(text: string): Zone | undefined {
  const utc = UTC_TEXT.exec(text);
  if (utc) {
    const [, sign, hours = '0', minutes = '0', fraction = '0'] = utc;
    const east = withSign(sign, Number(hours) * 60 + Number(minutes) + Math.round(Number(fraction) * 60));
    return { kind: 'fixed', minutes: east < -12 * 60 || east > 14 * 60 ? 0 : east };
  }
  const offset = OFFSET_TEXT.exec(text);
  if (offset) {
    const [, sign, hours = '0', minutes = '0'] = offset;
    return { kind: 'fixed', minutes: withSign(sign, Number(hours) * 60 + Number(minutes)) };
  }
  const minutes = minutesByAbbreviation.get(text.toLowerCase());
  if (minutes !== undefined) return { kind: 'abbreviation', letters: text.toUpperCase(), minutes };
  const name = namesByLowerCase.get(text.toLowerCase());
  return name !== undefined && formatOf(name) ? { kind: 'iana', name } : undefined;
}

/** The zone by name, or UTC if the gateway does not know it. */
export const zoneOrUtc = (name: string): Zone => parseZone(name) ?? utcZone;

const withSign = (sign: string | undefined, size: number): number => (sign === '-' && size !== 0 ? -size : size);

/** Minutes east of UTC at a UTC wall time. @throws RangeError for an invalid wall time */
export const offsetMinutes = (utc: string, zone: Zone): number => offsetMs(wallTimeMs(utc), zone) / MINUTE_MS;

/** The wall time of a zone at an instant, as the milliseconds of the same wall time in UTC. */
export const epochToWallMs = (epochMs: number, zone: Zone): number => epochMs + offsetMs(epochMs, zone);

/**
 * The instant of a wall time in a zone. The wall time is given as the milliseconds of the same wall time in UTC. Of the
 * offsets at this time in UTC, a day before and a day after, the first counts at which the clock shows the wall time,
 * as in PHP. At none it shows a time that it skips: then the offset of the day before counts.
 *
 *   2027-07-10 10:00 in New York    10:00 EDT: the clock shows it once
 *   2027-03-14 02:30 in New York    03:30 EDT: the clock skips it: EST of the day before, as if there were no gap
 *   2027-03-14 03:30 in New York    03:30 EDT of the day after: at 03:30 UTC New York still has EST
 *   2027-11-07 01:30 in New York    01:30 EDT: of two the first, west of Greenwich
 *   2027-10-31 02:30 in Berlin      02:30 CET: of two the second, elsewhere
 */
export function wallMsToEpoch(wallMs: number, zone: Zone): number {
  const offsetInUtc = offsetMs(wallMs, zone);
  const offsetBefore = offsetMs(wallMs - DAY_MS, zone);
  const offsetAfter = offsetMs(wallMs + DAY_MS, zone);
  const fits = (offset: number): boolean => offsetMs(wallMs - offset, zone) === offset;
  return wallMs - ([offsetInUtc, offsetBefore, offsetAfter].find(fits) ?? offsetBefore);
}

/** Converts the wall time of a zone to UTC, as `wallMsToEpoch`. @throws RangeError for an invalid wall time */
export const wallToUtc = (wall: string, zone: Zone): string => formatWallTime(wallMsToEpoch(wallTimeMs(wall), zone));

/** The instants of a wall time, in order: none if the clock skips it, two if the clock shows it twice. */
export function instantsOf(text: string, zone: Zone): number[] {
  const wall = parseWallTime(text);
  if (wall === undefined) return [];
  // In the two days around it the clock changes once at most.
  const offsets = new Set([offsetMs(wall - DAY_MS, zone), offsetMs(wall + DAY_MS, zone)]);
  return [...offsets].map((offset) => wall - offset).filter((epochMs) => offsetMs(epochMs, zone) === wall - epochMs);
}

/** Converts UTC to the wall time of a zone. @throws RangeError for an invalid wall time */
export const utcToWall = (utc: string, zone: Zone): string => formatWallTime(epochToWallMs(wallTimeMs(utc), zone));

/**
 * The `timezone_abbr` of an event:
 *
 *   UTC+2, UTC           as it is
 *   +02:00               GMT+0200
 *   est                  EST
 *   Europe/Berlin        CET or CEST, by the date; empty for an event without a date
 *   Asia/Kathmandu       +0545: the tz database has no abbreviation of it
 *   no zone              empty
 */
export function zoneAbbreviation(zoneText: string, wall: string): string {
  if (zoneText.startsWith('UTC')) return zoneText;
  const zone = parseZone(zoneText);
  if (!zone) return '';
  if (zone.kind === 'fixed') return `GMT${offsetText(zone.minutes)}`;
  if (zone.kind === 'abbreviation') return zone.letters;
  const wallMs = parseWallTime(wall);
  if (wallMs === undefined) return '';
  const minutes = offsetMs(wallMsToEpoch(wallMs, zone), zone) / MINUTE_MS;
  return abbreviationsByName.get(zone.name)?.get(minutes) ?? offsetText(minutes).replace(/00$/, '');
}

/** `+0200`, or `+02:00` with the separator `:`. */
export function offsetText(minutes: number, separator = ''): string {
  const size = Math.abs(Math.trunc(minutes));
  const [hours, rest] = [Math.floor(size / 60), size % 60].map((part) => String(part).padStart(2, '0'));
  return `${minutes < 0 ? '-' : '+'}${hours}${separator}${rest}`;
}

/** A period with one offset. It ends before `untilMs`. */
interface OffsetSpan {
  untilMs: number;
  offsetMs: number;
}

/** The periods of a UTC year in a zone of the tz database, in order. */
export function offsetSpans(name: string, year: number): readonly OffsetSpan[] {
  const key = `${name} ${year}`;
  const spans = spansByZoneYear.get(key) ?? spansOfYear(name, year);
  spansByZoneYear.set(key, spans);
  return spans;
}

function offsetMs(epochMs: number, zone: Zone): number {
  if (zone.kind !== 'iana') return zone.minutes * MINUTE_MS;
  const spans = offsetSpans(zone.name, new Date(epochMs).getUTCFullYear());
  return spans.find(({ untilMs }) => epochMs < untilMs)?.offsetMs ?? 0;
}

/** Looks for a change of the offset in each week of the year. Intl is too slow for each conversion. */
function spansOfYear(name: string, year: number): OffsetSpan[] {
  const format = formatOf(name);
  if (!format) return [];
  const endMs = dayStartMs(year + 1, 0, 1);
  const spans: OffsetSpan[] = [];
  let atMs = dayStartMs(year, 0, 1);
  let offset = intlOffsetMs(format, atMs);
  while (atMs < endMs) {
    const nextMs = Math.min(atMs + 7 * DAY_MS, endMs);
    const nextOffset = intlOffsetMs(format, nextMs);
    if (nextOffset !== offset) spans.push({ untilMs: changeBetween(format, atMs, nextMs), offsetMs: offset });
    offset = nextOffset;
    atMs = nextMs;
  }
  spans.push({ untilMs: endMs, offsetMs: offset });
  return spans;
}

/** The second at which the offset changes, by binary search: after `low`, and at `high` at the latest. */
function changeBetween(format: Intl.DateTimeFormat, low: number, high: number): number {
  if (high - low <= 1000) return high;
  const middle = low + Math.floor((high - low) / 2000) * 1000;
  const isBefore = intlOffsetMs(format, middle) === intlOffsetMs(format, low);
  return isBefore ? changeBetween(format, middle, high) : changeBetween(format, low, middle);
}

/** The offset at the end of `3/12/2027, GMT-05:00`, or `GMT-04:56:02` from the time before time zones. */
const INTL_OFFSET = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/;

function intlOffsetMs(format: Intl.DateTimeFormat, epochMs: number): number {
  const [, sign, hours = '0', minutes = '0', seconds = '0'] = INTL_OFFSET.exec(format.format(epochMs)) ?? [];
  return withSign(sign, ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000);
}

function formatOf(name: string): Intl.DateTimeFormat | undefined {
  const known = formatsByName.get(name);
  if (known) return known;
  try {
    const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
    formatsByName.set(name, format);
    return format;
  } catch {
    // The names may be newer than the tz database in Node.
    return undefined;
  }
}
