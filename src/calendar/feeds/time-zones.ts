// VTIMEZONE components (RFC 5545, 3.6.5), and which times a calendar app reads from them as they are meant.

import { LRUCache } from 'lru-cache';
import { tzlib_get_ical_block } from 'timezones-ical-library';
import type { WallTime } from '../../model/records.ts';
import { wallTimeMs } from '../../time/wall-time.ts';
import { epochToWallMs, offsetSpans, parseZone } from '../../time/zones.ts';

/** A yearly change to an offset: on the `week`th (from the end if negative) `weekday` of `month`, at a wall time. */
interface Change {
  month: number;
  week: number;
  weekday: number;
  timeMs: number;
  fromMs: number;
  toMs: number;
}

export interface VTimeZone {
  /** As in the component: an alias has the name of its zone (`US/Eastern`: `America/New_York`). */
  tzid: string;
  component: string;
  /** The zone's offset if it has no changes. */
  fixedMs: number;
  changes: Change[];
}

const DAY_MS = 86_400_000;
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];
const OBSERVANCE_BEGIN = /BEGIN:(?:STANDARD|DAYLIGHT)/;
const OFFSET_FROM = /TZOFFSETFROM:([+-])(\d\d)(\d\d)/;
const OFFSET_TO = /TZOFFSETTO:([+-])(\d\d)(\d\d)/;

/** About a kilobyte for each zone. */
const timeZones = new LRUCache<string, VTimeZone | false>({ max: 200 });

/** The component of a zone of the tz database, with its present rules; undefined if the library lacks it. */
function vTimeZoneOf(name: string): VTimeZone | undefined {
  let timeZone = timeZones.get(name);
  if (timeZone === undefined) {
    timeZone = readComponent(name) ?? false;
    timeZones.set(name, timeZone);
  }
  return timeZone || undefined;
}

function readComponent(name: string): VTimeZone | undefined {
  const [component, tzid] = tzlib_get_ical_block(name);
  if (!component || !tzid) return undefined;
  // Each ends before the next begins; after the last there is only the end of the component.
  const observances = component.split(OBSERVANCE_BEGIN).slice(1);
  const fixedMs = offsetOf(observances[0] ?? '', OFFSET_TO);
  return { tzid: tzid.replace('TZID=', ''), component, fixedMs, changes: observances.flatMap(changeOf) };
}

function changeOf(lines: string): Change[] {
  const rule = /RRULE:FREQ=YEARLY;BYMONTH=(\d+);BYDAY=(-?\d)([A-Z]{2})\s/.exec(lines);
  const time = /DTSTART:\d{8}T(\d\d)(\d\d)(\d\d)/.exec(lines);
  if (!rule || !time) return [];
  const [hours, minutes, seconds] = time.slice(1).map(Number) as [number, number, number];
  return [
    {
      month: Number(rule[1]),
      week: Number(rule[2]),
      weekday: WEEKDAYS.indexOf(rule[3]!),
      timeMs: ((hours * 60 + minutes) * 60 + seconds) * 1000,
      fromMs: offsetOf(lines, OFFSET_FROM),
      toMs: offsetOf(lines, OFFSET_TO),
    },
  ];
}

function offsetOf(lines: string, pattern: RegExp): number {
  const [, sign, hours, minutes] = pattern.exec(lines) ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** When the change takes place in a year, in milliseconds since 1970. */
function instantOf({ month, week, weekday, timeMs, fromMs }: Change, year: number): number {
  const monthStartMs = Date.UTC(year, month - 1, 1);
  const first = (weekday - new Date(monthStartMs).getUTCDay() + 7) % 7;
  const days = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const day = week > 0 ? first + (week - 1) * 7 : first + Math.floor((days - 1 - first) / 7) * 7 + (week + 1) * 7;
  return monthStartMs + day * DAY_MS + timeMs - fromMs;
}

/** Whether the rules of the component hold in the year: they are those of today, and zones have changed theirs. */
function holdsIn({ fixedMs, changes }: VTimeZone, name: string, year: number): boolean {
  const spans = offsetSpans(name, year);
  if (changes.length === 0) return spans.length === 1 && spans[0]!.offsetMs === fixedMs;
  const expected = changes
    .map((change) => ({ ms: instantOf(change, year), toMs: change.toMs }))
    .sort((a, b) => a.ms - b.ms);
  const isExpected = expected.every(({ ms, toMs }, i) => spans[i]?.untilMs === ms && spans[i + 1]?.offsetMs === toMs);
  return isExpected && spans.length === expected.length + 1 && spans[0]!.offsetMs === expected.at(-1)!.toMs;
}

/** Whether the clock of the zone shows the wall time at this instant, and at no other. */
function isUnambiguous(wallMs: number, utcMs: number, name: string): boolean {
  const zone = { kind: 'iana', name } as const;
  if (epochToWallMs(utcMs, zone) !== wallMs) return false;
  return [utcMs - DAY_MS, utcMs + DAY_MS].every((nearbyMs) => {
    const otherMs = wallMs - (epochToWallMs(nearbyMs, zone) - nearbyMs);
    return otherMs === utcMs || epochToWallMs(otherMs, zone) !== wallMs;
  });
}

/**
 * The component by which calendar apps read all these wall times as these instants. Undefined for a fixed
 * offset or an abbreviation, for a time that the clock shows twice, and if the zone had other rules in that
 * year: such times must be written in UTC.
 */
export function exactTimeZone(
  zoneText: string,
  times: readonly { wall: WallTime; utc: WallTime }[],
): VTimeZone | undefined {
  const zone = parseZone(zoneText);
  if (zone?.kind !== 'iana') return undefined;
  const timeZone = vTimeZoneOf(zone.name);
  const isExact = (time: { wall: WallTime; utc: WallTime }) => {
    const [wallMs, utcMs] = [wallTimeMs(time.wall), wallTimeMs(time.utc)];
    const year = new Date(utcMs).getUTCFullYear();
    return holdsIn(timeZone!, zone.name, year) && isUnambiguous(wallMs, utcMs, zone.name);
  };
  return timeZone && times.every(isExact) ? timeZone : undefined;
}
