// Which zone a TZID of an iCalendar file means: by its name, or else by the clocks of its VTIMEZONE.

import ICAL from 'ical.js';
import { WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { pause } from '../../pause.ts';
import { DAY_MS, formatWallTime, parseWallTime } from '../../time/wall-time.ts';
import { fixedZone, zoneByName } from '../../time/zone-names.ts';
import { offsetMinutes, zoneOrUtc } from '../../time/zones.ts';
import { expandRule, ruleOf } from './icalendar-rules.ts';
import { type Component, textOf } from './icalendar-text.ts';

/** Of a calendar. */
const MAX_ZONES = 100;
/** Of a zone. Real ones have about four: two for each change of the clocks in a year. */
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

/** `+0530` in minutes. @throws Error for anything else */
const minutesOf = (part: Component, name: string): number =>
  ICAL.UtcOffset.fromString(textOf(part, name)).toSeconds() / 60;

/** A fixed zone if the file has one offset; else the first zone of Windows with the file's offsets around now. */
async function zoneByOffsets(parts: readonly Component[], nowMs: number): Promise<string | undefined> {
  const allOffsets = new Set<number>();
  const offsetAroundNow = new Map<string, number>();
  for (const part of parts) {
    await pause();
    allOffsets.add(minutesOf(part, 'tzoffsetto'));
    for (const [utc, minutes] of offsetsAroundChanges(part, nowMs)) offsetAroundNow.set(utc, minutes);
    if (offsetAroundNow.size > MAX_OFFSETS) throw new Error('too many changes of the clocks');
  }
  if (allOffsets.size === 1) return fixedZone([...allOffsets][0]!);
  if (offsetAroundNow.size === 0) return undefined;
  for (const { iana } of WINDOWS_TO_IANA_MAP) {
    await pause();
    const name = zoneByName(iana[0] ?? '');
    const zone = zoneOrUtc(name ?? '');
    if (name && [...offsetAroundNow].every(([utc, minutes]) => offsetMinutes(utc, zone) === minutes)) return name;
  }
  return undefined;
}

/**
 * The offsets half a day before and after each change of the clocks until a year from now. Not closer: Exchange may
 * name another hour of the night than Berlin. Of Berlin, which changes at `2027-03-28 01:00:00` in UTC:
 * [`2027-03-27 13:00:00`, 60] by TZOFFSETFROM, and [`2027-03-28 13:00:00`, 120] by TZOFFSETTO.
 */
function* offsetsAroundChanges(part: Component, nowMs: number): Generator<[utc: string, minutes: number]> {
  const [rule] = (part.lines.get('rrule') ?? []).slice(0, 1).map(ruleOf);
  const startWallMs = parseWallTime(textOf(part, 'dtstart').replace('T', ' '));
  // A rule that ends is one of the past.
  if (startWallMs === undefined || rule?.freq !== 'YEARLY' || rule.isFinite()) return;
  const [from, to] = [minutesOf(part, 'tzoffsetfrom'), minutesOf(part, 'tzoffsetto')];
  // Lists of instances, one for each year. Of whole years: the hours between UTC and the wall time do not matter.
  for (const wallMs of [...expandRule(rule, startWallMs, nowMs, nowMs + 366 * DAY_MS)].flat()) {
    const utcMs = wallMs - from * 60_000;
    yield [formatWallTime(utcMs - DAY_MS / 2), from];
    yield [formatWallTime(utcMs + DAY_MS / 2), to];
  }
}
