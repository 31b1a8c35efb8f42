// The zone that a TZID of an iCalendar file means. A file may call it `Europe/Berlin`, as Windows does (`W. Europe
// Standard Time`), or by a name of its own with the rules of its clocks (VTIMEZONE).

import ICAL from 'ical.js';
import { findIana, WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { DAY_MS } from '../../model/records.ts';
import { formatWallTime, parseWallTime } from '../../time/wall-time.ts';
import * as zones from '../../time/zones.ts';
import { expandRule, ruleOf } from './icalendar-rules.ts';
import { type Component, pause, textOf } from './icalendar-text.ts';

const YEAR_MS = 366 * DAY_MS;
/** Of a calendar. */
const MAX_ZONES = 100;
/** Of the offsets of one zone in two years: eight years of days. */
const MAX_OFFSETS = 3000;

/** The zones of one calendar by TZID. Undefined: nobody knows this zone. Offsets are compared around `nowMs`. */
export async function zonesOf(calendar: Component, nowMs: number): Promise<(tzid: string) => string | undefined> {
  const known = new Map<string, string | undefined>();
  for (const zone of calendar.inner.filter((part) => part.name === 'VTIMEZONE').slice(0, MAX_ZONES)) {
    const id = textOf(zone, 'tzid');
    const name = zoneByName(id) ?? zoneByName(textOf(zone, 'x-lic-location'));
    // A rule that cannot be read costs the events of its zone.
    known.set(id, name ?? (await zoneByOffsets(zone.inner, nowMs).catch(() => undefined)));
  }
  return (tzid) => known.get(tzid.trim()) ?? zoneByName(tzid);
}

/**
 * `/mozilla.org/20050126_1/Europe/Berlin`, `US-Eastern`, `Europe_Berlin`, `W. Europe Standard Time`,
 * `"Europe/Berlin"`.
 */
function zoneByName(text: string): string | undefined {
  const name = text.replaceAll('"', '').trim();
  const parts = name.split('/').filter((part) => part !== '');
  const ends = [3, 2].filter((length) => length <= parts.length).map((length) => parts.slice(-length).join('/'));
  for (const candidate of [name, name.replace(/[-_]/, '/'), ...ends, findIana(name)[0] ?? '']) {
    const zone = zones.parseZone(candidate);
    if (zone?.kind === 'iana') return zone.name;
    // Of abbreviations only those of UTC: `CST` is on three continents.
    if (zone && (/^(utc|gmt|z)$/i.test(candidate) || zone.kind === 'fixed')) return fixedZone(zone.minutes);
  }
  return undefined;
}

/** 330 minutes are `UTC+5:30`. */
const fixedZone = (minutes: number): string =>
  minutes === 0 ? 'UTC' : `UTC${zones.offsetText(minutes, ':').replace(/^(.)0/, '$1').replace(':00', '')}`;

/**
 * The only offset of the parts of a VTIMEZONE (STANDARD, DAYLIGHT), or the first zone that Windows knows whose clocks
 * change as they say in the years around now.
 */
async function zoneByOffsets(parts: readonly Component[], nowMs: number): Promise<string | undefined> {
  const all = new Set<number>();
  const around = new Map<string, number>();
  for (const part of parts) {
    await pause();
    all.add(minutesOf(part, 'tzoffsetto'));
    for (const [utc, minutes] of offsetsAround(part, nowMs)) {
      around.set(utc, minutes);
      if (around.size > MAX_OFFSETS) throw new Error('too many changes of the clocks');
    }
  }
  if (all.size === 1) return fixedZone([...all][0]!);
  for (const { iana } of around.size > 0 ? WINDOWS_TO_IANA_MAP : []) {
    // Node needs a millisecond or two for each zone that it has not used before.
    await pause();
    const name = zoneByName(iana[0] ?? '');
    if (name && [...around].every(([utc, minutes]) => zones.offsetMinutes(utc, zones.siteZone(name)) === minutes))
      return name;
  }
  return undefined;
}

/** `TZOFFSETTO:+0530` in minutes. @throws Error for anything else */
const minutesOf = (part: Component, name: string): number =>
  ICAL.UtcOffset.fromString(textOf(part, name)).toSeconds() / 60;

/**
 * The offsets half a day before and after each change of the clocks in this year and the next, by times in UTC:
 * Exchange writes an hour of its own for the change.
 */
function* offsetsAround(part: Component, nowMs: number): Generator<[utc: string, minutes: number]> {
  const [rule] = (part.lines.get('rrule') ?? []).slice(0, 1).map(ruleOf);
  const startMs = parseWallTime(textOf(part, 'dtstart').replace('T', ' '));
  // A rule that ends is one of the past.
  if (startMs === undefined || rule?.freq !== 'YEARLY' || rule.isFinite()) return;
  const [from, to] = [minutesOf(part, 'tzoffsetfrom'), minutesOf(part, 'tzoffsetto')];
  for (const changes of expandRule(rule, startMs, nowMs, nowMs + YEAR_MS))
    for (const wallMs of changes) {
      const utcMs = wallMs - from * 60_000;
      yield [formatWallTime(utcMs - DAY_MS / 2), from];
      yield [formatWallTime(utcMs + DAY_MS / 2), to];
    }
}
