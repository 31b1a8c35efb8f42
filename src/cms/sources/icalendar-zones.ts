// Finds the zone that a TZID of an iCalendar file means: a name of the tz database, one of Windows, a program's own
// name around it, or the offsets that the file gives.

import { findIana, WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { formatWallTime, parseWallTime } from '../../time/wall-time.ts';
import { offsetMinutes, offsetText, parseZone, wallMsToEpoch, type Zone } from '../../time/zones.ts';
import { expandRule, type RuleText } from './icalendar-recurrence.ts';
import { type Calendar, type Component, properties, textOf } from './icalendar-text.ts';

/** A zone, and its name for the API. */
export interface NamedZone {
  name: string;
  zone: Zone;
}

const MAX_NAME = 200;
const DAY_MS = 86_400_000;
/** Expanding the rules of a zone: years before and after now. */
const YEARS_MS = 366 * DAY_MS;

/** The zones of one calendar. `nowMs`: offsets are compared around it. */
export class CalendarZones {
  readonly #definitions = new Map<string, Calendar['zones'][number]>();
  readonly #known = new Map<string, NamedZone | undefined>();
  readonly #nowMs: number;

  constructor(calendar: Calendar, nowMs: number) {
    this.#nowMs = nowMs;
    for (const zone of calendar.zones) this.#definitions.set(textOf(zone.own, 'tzid'), zone);
  }

  /** Undefined: nobody knows this zone. */
  find(id: string): NamedZone | undefined {
    if (!this.#known.has(id)) this.#known.set(id, this.#resolve(id));
    return this.#known.get(id);
  }

  #resolve(id: string): NamedZone | undefined {
    const definition = this.#definitions.get(id);
    const names = [id, ...(definition ? [textOf(definition.own, 'x-lic-location')] : [])];
    for (const name of names) {
      const zone = zoneByName(name);
      if (zone) return zone;
    }
    return definition && zoneByOffsets(definition.parts, this.#nowMs);
  }
}

/** `/mozilla.org/20050126_1/Europe/Berlin`, `W. Europe Standard Time`, `"Europe/Berlin"`. */
export function zoneByName(text: string): NamedZone | undefined {
  const name = text.slice(0, MAX_NAME).replaceAll('"', '').trim();
  const [windows] = findIana(name);
  const parts = name.split('/').filter((part) => part !== '');
  const ends = [3, 2].filter((length) => length <= parts.length).map((length) => parts.slice(-length).join('/'));
  for (const candidate of [name, ...ends, ...(windows ? [windows] : [])]) {
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

/** The first zone, of those that Windows knows, whose offsets are the same in the two years around now. */
function zoneByOffsets(parts: readonly Component[], nowMs: number): NamedZone | undefined {
  const changes = parts.flatMap((part) => changesOf(part, nowMs)).sort((a, b) => a.atMs - b.atMs);
  const offsets = new Set(parts.map((part) => minutesOf(part, 'tzoffsetto')));
  if (offsets.has(Number.NaN) || offsets.size === 0) return undefined;
  if (offsets.size === 1) return fixedZone([...offsets][0]!);
  const recent = changes.filter(({ atMs }) => atMs >= nowMs - YEARS_MS && atMs <= nowMs + YEARS_MS);
  const current = changes.findLast(({ atMs }) => atMs <= nowMs);
  // No clock changes any more.
  if (recent.length === 0) return current && fixedZone(current.to);
  const matches = (zone: Zone) => recent.every(({ atMs, from, to }) => isChange(zone, atMs, from, to));
  for (const { iana } of WINDOWS_TO_IANA_MAP) {
    const [name = ''] = iana;
    const zone = parseZone(name);
    if (zone?.kind === 'iana' && matches(zone)) return { name: zone.name, zone };
  }
  return undefined;
}

interface Change {
  atMs: number;
  from: number;
  to: number;
}

function changesOf(part: Component, nowMs: number): Change[] {
  const [from, to] = [minutesOf(part, 'tzoffsetfrom'), minutesOf(part, 'tzoffsetto')];
  const [start] = properties(part, 'dtstart');
  const startMs = parseWallTime(String(start?.values[0] ?? '').replace('T', ' '));
  if (startMs === undefined || Number.isNaN(from) || Number.isNaN(to)) return [];
  const walls = [startMs];
  for (const { values } of properties(part, 'rdate'))
    walls.push(...values.flatMap((value) => parseWallTime(String(value).replace('T', ' ')) ?? []));
  for (const { values } of properties(part, 'rrule')) {
    const rule = values[0] as RuleText & { until?: string };
    const untilMs = rule.until ? Date.parse(rule.until) : Number.POSITIVE_INFINITY;
    try {
      for (const instances of expandRule(rule, startMs, nowMs - 2 * YEARS_MS, nowMs + YEARS_MS))
        walls.push(...instances.filter((wallMs) => wallMs - from * 60_000 <= untilMs));
    } catch {
      // Of a rule that is not supported, the start counts.
    }
  }
  return walls.map((wallMs) => ({ atMs: wallMs - from * 60_000, from, to }));
}

/** Whether the zone changes there from one offset to the other. */
function isChange(zone: Zone, atMs: number, from: number, to: number): boolean {
  const at = (ms: number) => offsetMinutes(formatWallTime(ms), zone);
  return at(atMs - 60_000) === from && at(atMs + 60_000) === to;
}

/** As RFC 5545 has it: a time that the clock shows twice is the first, a skipped one continues from before the gap. */
export function instantOf(wallMs: number, zone: Zone): number {
  const epochMs = wallMsToEpoch(wallMs, zone);
  if (zone.kind !== 'iana') return epochMs;
  const offset = (ms: number) => offsetMinutes(formatWallTime(ms), zone);
  const earlier = epochMs - (offset(epochMs - DAY_MS) - offset(epochMs)) * 60_000;
  return earlier < epochMs && earlier + offset(earlier) * 60_000 === wallMs ? earlier : epochMs;
}
