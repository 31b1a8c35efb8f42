// The zone that a TZID of an iCalendar file means: by its name, or by the offsets in its VTIMEZONE.

import ICAL from 'ical.js';
import { findIana, WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { DAY_MS } from '../../model/records.ts';
import { formatWallTime, parseWallTime } from '../../time/wall-time.ts';
import * as zones from '../../time/zones.ts';
import { expandRule, ruleOf } from './icalendar-rules.ts';
import { type Component, pause, textOf } from './icalendar-text.ts';

/** Of a calendar. */
const MAX_ZONES = 100;
/** Of a zone in two years. */
const MAX_CLOCK_CHANGES = 3000;

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
 *   text                                                result
 *   Europe/Berlin, "Europe/Berlin", Europe_Berlin       Europe/Berlin
 *   /mozilla.org/20050126_1/Europe/Berlin               Europe/Berlin
 *   W. Europe Standard Time                             Europe/Berlin
 *   GMT, +0000                                          UTC
 *   GMT+0530                                            UTC+5:30
 *   CST                                                 undefined: it is on three continents
 */
function zoneByName(text: string): string | undefined {
  const name = text.replaceAll('"', '').trim();
  const parts = name.split('/').filter((part) => part !== '');
  const ends = [3, 2].filter((length) => length <= parts.length).map((length) => parts.slice(-length).join('/'));
  for (const candidate of [name, name.replace(/[-_]/, '/'), ...ends, findIana(name)[0] ?? '']) {
    const zone = zones.parseZone(candidate);
    if (zone?.kind === 'iana') return zone.name;
    if (zone && (/^(utc|gmt|z)$/i.test(candidate) || zone.kind === 'fixed')) return fixedZone(zone.minutes);
  }
  return undefined;
}

/** 330 is `UTC+5:30`, 120 is `UTC+2`. */
const fixedZone = (minutes: number): string =>
  minutes === 0 ? 'UTC' : `UTC${zones.offsetText(minutes, ':').replace(/^(.)0/, '$1').replace(':00', '')}`;

/** `+0530` in minutes. @throws Error for anything else */
const minutesOf = (part: Component, name: string): number =>
  ICAL.UtcOffset.fromString(textOf(part, name)).toSeconds() / 60;

/** The only offset, or the first zone that Windows knows whose clocks change around now as the file says. */
async function zoneByOffsets(parts: readonly Component[], nowMs: number): Promise<string | undefined> {
  const offsets = new Set<number>();
  /** The offsets half a day before and after each change of the clocks in this year and the next, by time in UTC. */
  const offsetByUtc = new Map<string, number>();
  for (const part of parts) {
    await pause();
    offsets.add(minutesOf(part, 'tzoffsetto'));
    const [rule] = (part.lines.get('rrule') ?? []).slice(0, 1).map(ruleOf);
    const startWallMs = parseWallTime(textOf(part, 'dtstart').replace('T', ' '));
    // A rule that ends is one of the past.
    if (startWallMs === undefined || rule?.freq !== 'YEARLY' || rule.isFinite()) continue;
    const [from, to] = [minutesOf(part, 'tzoffsetfrom'), minutesOf(part, 'tzoffsetto')];
    // Whole years: the hours between UTC and the wall time make no difference.
    for (const wallMs of [...expandRule(rule, startWallMs, nowMs, nowMs + 366 * DAY_MS)].flat()) {
      const utcMs = wallMs - from * 60_000;
      // Not at the change itself, for which Exchange writes an hour of its own.
      offsetByUtc.set(formatWallTime(utcMs - DAY_MS / 2), from).set(formatWallTime(utcMs + DAY_MS / 2), to);
      if (offsetByUtc.size > MAX_CLOCK_CHANGES) throw new Error('too many changes of the clocks');
    }
  }
  if (offsets.size === 1) return fixedZone([...offsets][0]!);
  for (const { iana } of offsetByUtc.size > 0 ? WINDOWS_TO_IANA_MAP : []) {
    // Node needs a millisecond or two for each zone that it has not used before.
    await pause();
    const name = zoneByName(iana[0] ?? '');
    const zone = zones.siteZone(name ?? '');
    if (name && [...offsetByUtc].every(([utc, minutes]) => zones.offsetMinutes(utc, zone) === minutes)) return name;
  }
  return undefined;
}
