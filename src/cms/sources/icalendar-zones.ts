// Finds the zone that a TZID of an iCalendar file means: a name of the tz database, one of Windows, a program's own
// name around it, or the offsets that the file gives.

import { findIana, WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { parseWallTime } from '../../time/wall-time.ts';
import { epochToWallMs, offsetText, parseZone, wallMsToEpoch, type Zone } from '../../time/zones.ts';
import { expandRule, type RuleText } from './icalendar-recurrence.ts';
import { type Calendar, type Component, type Pace, properties, textOf } from './icalendar-text.ts';

/** A zone, and its name for the API. */
export interface NamedZone {
  name: string;
  zone: Zone;
}

const MAX_NAME = 200;
const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;
/** Of one calendar. */
const MAX_ZONES = 500;

/** The zones of one calendar. */
export class CalendarZones {
  readonly #known = new Map<string, NamedZone | undefined>();

  /** @param nowMs offsets are compared around it */
  static async read(calendar: Calendar, nowMs: number, pace: Pace): Promise<CalendarZones> {
    const zones = new CalendarZones();
    for (const { own, parts } of calendar.zones.slice(0, MAX_ZONES)) {
      const id = textOf(own, 'tzid');
      const named = zoneByName(id) ?? zoneByName(textOf(own, 'x-lic-location'));
      // A zone whose rules cannot be read is one that nobody knows.
      zones.#known.set(id, named ?? (await zoneByOffsets(parts, nowMs, pace).catch(() => undefined)));
    }
    return zones;
  }

  /** Undefined: nobody knows this zone. */
  find(text: string): NamedZone | undefined {
    const id = text.trim();
    if (!this.#known.has(id)) this.#known.set(id, zoneByName(id));
    return this.#known.get(id);
  }
}

/** `/mozilla.org/20050126_1/Europe/Berlin`, `US-Eastern`, `W. Europe Standard Time`, `"Europe/Berlin"`. */
export function zoneByName(text: string): NamedZone | undefined {
  const name = text.slice(0, MAX_NAME).replaceAll('"', '').trim();
  const [windows] = findIana(name);
  const parts = name.split('/').filter((part) => part !== '');
  const ends = [3, 2].filter((length) => length <= parts.length).map((length) => parts.slice(-length).join('/'));
  for (const candidate of [name, name.replace('-', '/'), ...ends, ...(windows ? [windows] : [])]) {
    const zone = parseZone(candidate);
    if (zone?.kind === 'iana') return { name: zone.name, zone };
    // Of abbreviations only those of UTC: `CST` is on three continents.
    if (zone && (/^(utc|gmt|z)$/i.test(candidate) || zone.kind === 'fixed')) return fixedZone(zone.minutes);
  }
  return undefined;
}

const fixedZone = (minutes: number): NamedZone => ({
  name: minutes === 0 ? 'UTC' : `UTC${offsetText(minutes, ':').replace(/^(.)0/, '$1').replace(':00', '')}`,
  zone: { kind: 'fixed', minutes },
});

/** `+0530` in minutes. */
function minutesOf(part: Component, name: string): number {
  const [, sign, hours, minutes] = /^([+-])(\d\d):?(\d\d)/.exec(textOf(part, name)) ?? [];
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -1 : 1);
}

/**
 * The first zone, of those that Windows knows, whose offsets are the same in the two years around now, or around the
 * time of the definition: old files have the rules of their year.
 */
async function zoneByOffsets(parts: readonly Component[], nowMs: number, pace: Pace): Promise<NamedZone | undefined> {
  const offsets = new Set(parts.map((part) => minutesOf(part, 'tzoffsetto')));
  if (offsets.has(Number.NaN) || offsets.size === 0) return undefined;
  if (offsets.size === 1) return fixedZone([...offsets][0]!);
  const definedMs =
    Math.max(...parts.map((part) => wallMsOf(properties(part, 'dtstart')[0]?.values[0]) ?? 0)) + YEAR_MS;
  for (const aroundMs of [nowMs, definedMs]) {
    const changes = parts.flatMap((part) => changesOf(part, aroundMs)).sort((a, b) => a.atMs - b.atMs);
    const recent = changes.filter(({ atMs }) => atMs >= aroundMs - YEAR_MS && atMs <= aroundMs + YEAR_MS);
    const current = changes.findLast(({ atMs }) => atMs <= aroundMs);
    // No clock changes any more.
    if (recent.length === 0 && current) return fixedZone(current.to);
    for (const { iana } of recent.length > 0 ? WINDOWS_TO_IANA_MAP : []) {
      const zone = parseZone(iana[0] ?? '');
      if (zone?.kind === 'iana' && recent.every((change) => isChange(zone, change))) return { name: zone.name, zone };
      if (pace.isDue()) await pace.rest();
    }
  }
  return undefined;
}

interface Change {
  atMs: number;
  from: number;
  to: number;
}

const wallMsOf = (value: unknown): number | undefined => parseWallTime(String(value ?? '').replace('T', ' '));

function changesOf(part: Component, aroundMs: number): Change[] {
  const [from, to] = [minutesOf(part, 'tzoffsetfrom'), minutesOf(part, 'tzoffsetto')];
  const startMs = wallMsOf(properties(part, 'dtstart')[0]?.values[0]);
  if (startMs === undefined || Number.isNaN(from)) return [];
  const walls = part.has('rrule') ? [] : [startMs];
  for (const { values } of properties(part, 'rdate')) walls.push(...values.flatMap((value) => wallMsOf(value) ?? []));
  for (const { values } of properties(part, 'rrule')) {
    const rule = values[0] as RuleText & { until?: string };
    const untilMs = rule.until ? Date.parse(rule.until) : Number.POSITIVE_INFINITY;
    for (const instances of expandRule(rule, startMs, aroundMs - 2 * YEAR_MS, aroundMs + YEAR_MS))
      walls.push(...instances.filter((wallMs) => wallMs - from * 60_000 <= untilMs));
  }
  return walls.map((wallMs) => ({ atMs: wallMs - from * 60_000, from, to }));
}

/** Whether the zone changes on that day: Exchange writes an hour of its own for the change. */
function isChange(zone: Zone, { atMs, from, to }: Change): boolean {
  const at = (ms: number) => (epochToWallMs(ms, zone) - ms) / 60_000;
  return at(atMs - DAY_MS / 2) === from && at(atMs + DAY_MS / 2) === to;
}

/** As RFC 5545 has it: a time that the clock shows twice is the first, a skipped one continues from before the gap. */
export function instantOf(wallMs: number, zone: Zone): number {
  const epochMs = wallMsToEpoch(wallMs, zone);
  const offset = (ms: number) => epochToWallMs(ms, zone) - ms;
  const earlier = epochMs - (offset(epochMs - DAY_MS) - offset(epochMs));
  return earlier < epochMs && earlier + offset(earlier) === wallMs ? earlier : epochMs;
}
