// Finds the zone that a TZID of an iCalendar file means: a name of the tz database, one of Windows, a program's own
// name around it, or the offsets that the file gives.

import { findIana, WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { parseWallTime } from '../../time/wall-time.ts';
import { epochToWallMs, offsetText, parseZone, wallMsToEpoch, type Zone } from '../../time/zones.ts';
import { expandRule, type RuleText } from './icalendar-recurrence.ts';
import { type Component, properties, textOf } from './icalendar-text.ts';

/** A zone, and its name for the API. */
export interface NamedZone {
  name: string;
  zone: Zone;
}

const MAX_NAME = 200;
const DAY_MS = 86_400_000;
const YEAR_MS = 366 * DAY_MS;
/** Of one calendar. */
const MAX_ZONES = 100;
/** Of one zone. */
const MAX_RULES = 4;

/** The zones of one calendar. */
export class CalendarZones {
  readonly #known = new Map<string, NamedZone | undefined>();

  /** @param nowMs offsets are compared around it */
  constructor(calendar: Component, nowMs: number) {
    for (const zone of calendar.partsNamed('VTIMEZONE').slice(0, MAX_ZONES)) {
      const id = textOf(zone, 'tzid');
      const named = zoneByName(id) ?? zoneByName(textOf(zone, 'x-lic-location'));
      this.#known.set(id, named ?? zoneByOffsets(zone.parts, nowMs));
    }
  }

  /** Undefined: nobody knows this zone. */
  find(text: string): NamedZone | undefined {
    const id = text.trim();
    if (!this.#known.has(id)) this.#known.set(id, zoneByName(id));
    return this.#known.get(id);
  }
}

/**
 * `/mozilla.org/20050126_1/Europe/Berlin`, `US-Eastern`, `Europe_Berlin`, `W. Europe Standard Time`,
 * `"Europe/Berlin"`.
 */
function zoneByName(text: string): NamedZone | undefined {
  const name = text.slice(0, MAX_NAME).replaceAll('"', '').trim();
  const [windows] = findIana(name);
  const parts = name.split('/').filter((part) => part !== '');
  const ends = [3, 2].filter((length) => length <= parts.length).map((length) => parts.slice(-length).join('/'));
  for (const candidate of [name, name.replace(/[-_]/, '/'), ...ends, ...(windows ? [windows] : [])]) {
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
 * The only offset, or the first zone that Windows knows whose clocks change as the file says in the years around
 * now.
 */
function zoneByOffsets(parts: readonly Component[], nowMs: number): NamedZone | undefined {
  const [minutes, ...others] = new Set(parts.map((part) => minutesOf(part, 'tzoffsetto')));
  if (minutes === undefined || Number.isNaN(minutes)) return undefined;
  if (others.length === 0) return fixedZone(minutes);
  const current = parts.filter((part) => part.has('rrule') && !part.get('rrule')!.join().includes('UNTIL'));
  const changes = current.slice(0, MAX_RULES).flatMap((part) => changesOf(part, nowMs));
  if (changes.length === 0) return undefined;
  const names = WINDOWS_TO_IANA_MAP.map(({ iana }) => zoneByName(iana[0] ?? ''));
  return names.find((each) => each && changes.every((change) => isChange(each.zone, change)));
}

interface Change {
  atMs: number;
  from: number;
  to: number;
}

function changesOf(part: Component, nowMs: number): Change[] {
  const [from, to] = [minutesOf(part, 'tzoffsetfrom'), minutesOf(part, 'tzoffsetto')];
  const startMs = parseWallTime(textOf(part, 'dtstart').replace('T', ' '));
  const rule = properties(part, 'rrule')[0]?.values[0] as RuleText | undefined;
  if (startMs === undefined || rule?.freq !== 'YEARLY') return [];
  const walls = [...expandRule(rule, startMs, nowMs - YEAR_MS, nowMs + YEAR_MS)].flat();
  const recent = walls.filter((wallMs) => Math.abs(wallMs - nowMs) < YEAR_MS);
  return recent.map((wallMs) => ({ atMs: wallMs - from * 60_000, from, to }));
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
