// When an event of an iCalendar file takes place: its start, its duration, and the starts of a series; and the zone that
// a TZID means.

import { findIana, WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { formatWallTime, parseWallTime } from '../../time/wall-time.ts';
import { epochToWallMs, offsetText, parseZone, utcZone, wallMsToEpoch, type Zone } from '../../time/zones.ts';
import { expandRule, type RuleText } from './icalendar-recurrence.ts';
import { type Component, type Property, parseLine, pause, properties, textOf, Unreadable } from './icalendar-text.ts';
import type { SourceEvent } from './source.ts';

/** A zone, and its name for the API. */
interface NamedZone {
  name: string;
  zone: Zone;
}

const DAY_MS = 86_400_000;
const MAX_NAME = 200;
const YEAR_MS = 366 * DAY_MS;
/** Of one calendar. */
const MAX_ZONES = 100;
/** Of one zone. */
const MAX_RULES = 4;
/** Of RDATE, and of EXDATE: eight years of days. */
const MAX_DATES = 3000;
const UTC: NamedZone = { name: 'UTC', zone: utcZone };

export interface TimeContext {
  zoneOf: (tzid: string) => NamedZone | undefined;
  /** Of times without a zone, and the one in which times in UTC are shown. */
  zone: NamedZone;
}

/** A point in a zone, or a day. */
export interface Moment {
  /** The wall time, as the milliseconds of the same wall time in UTC. */
  wallMs: number;
  epochMs: number;
  isDate: boolean;
  zone: NamedZone;
}

/** Days count as the calendar does, the rest as the clock: over a night of 23 hours too. */
export interface Duration {
  days: number;
  ms: number;
}

const momentAt = (wallMs: number, { zone, isDate }: Pick<Moment, 'zone' | 'isDate'>): Moment => ({
  wallMs,
  epochMs: instantOf(wallMs, zone.zone),
  isDate,
  zone,
});

/** `20270501`, or in UTC `20270501T180000Z`: names an instance of a series. */
export const stampOf = ({ wallMs, epochMs, isDate }: Moment): string =>
  isDate ? dayStamp(wallMs) : `${formatWallTime(epochMs).replace(/[-:]/g, '').replace(' ', 'T')}Z`;

export const dayStamp = (wallMs: number): string => formatWallTime(wallMs).slice(0, 10).replaceAll('-', '');

/** @throws Unreadable */
export function timeOf(component: Component, name: 'dtstart' | 'recurrence-id', context: TimeContext): Moment {
  const [property] = properties(component, name);
  if (!property) throw new Unreadable(component.has(name) ? 'a start that is no time' : 'no start');
  const start = momentOf(property.values[0], property, context);
  // Outlook writes whole days as midnight to midnight.
  const isWholeDay = textOf(component, 'x-microsoft-cdo-alldayevent').toUpperCase() === 'TRUE';
  const isMidnight = start.zone !== UTC && start.wallMs % DAY_MS === 0;
  return isWholeDay && isMidnight ? momentAt(start.wallMs, { zone: context.zone, isDate: true }) : start;
}

/**
 * @param value as ical.js reads it: `2027-05-01T18:00:00Z`, `2027-05-01`, `2027-05-01T::` for a day whose VALUE=DATE
 * is missing
 */
function momentOf(value: unknown, { params }: Property, { zoneOf, zone: own }: TimeContext): Moment {
  const [, day, time, utc] = /^(\d{4}-\d\d-\d\d)(?:T(?:::|(\d\d:\d\d(?::\d\d)?):?)(Z?))?$/.exec(String(value)) ?? [];
  const wallMs = parseWallTime(`${day} ${(time ?? '').padEnd(8, time ? ':00' : '00:00:00')}`);
  if (wallMs === undefined) throw new Unreadable('a start that is no time');
  if (time === undefined) return momentAt(wallMs, { zone: own, isDate: true });
  if (utc) return { wallMs, epochMs: wallMs, isDate: false, zone: UTC };
  const { tzid } = params;
  const zone = tzid === undefined ? own : zoneOf(tzid);
  if (!zone) throw new Unreadable(`the unknown time zone ${tzid?.slice(0, 100)}`);
  return momentAt(wallMs, { zone, isDate: false });
}

/** Nothing for an end that is missing, no time, or before the start. */
export function durationOf(component: Component, start: Moment, context: TimeContext): Duration {
  const end = listedMoments(component, 'dtend', context)[0];
  const [, weeks, days, hours, minutes, seconds] =
    /^\+?P(?:(\d{1,6})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,8})S)?)?$/.exec(
      textOf(component, 'duration'),
    ) ?? [];
  const number = (text: string | undefined) => Number(text ?? 0);
  let duration = {
    days: number(weeks) * 7 + number(days),
    ms: ((number(hours) * 60 + number(minutes)) * 60 + number(seconds)) * 1000,
  };
  if (end) {
    const { wallMs, epochMs } = end;
    duration = start.isDate
      ? { days: Math.round((wallMs - start.wallMs) / DAY_MS), ms: 0 }
      : { days: 0, ms: Math.max(0, epochMs - start.epochMs) };
  }
  return start.isDate ? { days: Math.max(1, duration.days), ms: 0 } : duration;
}

type EventTimes = Pick<SourceEvent, 'start' | 'end' | 'startUtc' | 'endUtc' | 'timezone' | 'allDay'>;

export function endOf(start: Moment, { days, ms }: Duration): number {
  if (start.isDate) return instantOf(start.wallMs + days * DAY_MS - 1000, start.zone.zone);
  const day = days === 0 ? start.epochMs : instantOf(start.wallMs + days * DAY_MS, start.zone.zone);
  return day + ms;
}

export function timesOf(start: Moment, duration: Duration, { zone: own }: TimeContext): EventTimes {
  const { zone, name } = start.zone === UTC ? own : start.zone;
  const endMs = endOf(start, duration);
  return {
    start: formatWallTime(epochToWallMs(start.epochMs, zone)),
    end: formatWallTime(epochToWallMs(endMs, zone)),
    startUtc: formatWallTime(start.epochMs),
    endUtc: formatWallTime(endMs),
    timezone: name,
    allDay: start.isDate,
  };
}

export const isSeries = (component: Component): boolean => component.has('rrule') || component.has('rdate');

/**
 * The starts of a series around the window: start, RRULE, RDATE, without EXDATE.
 * @throws Unreadable
 */
export async function startsOf(
  component: Component,
  start: Moment,
  { fromMs, toMs }: { fromMs: number; toMs: number },
  context: TimeContext,
): Promise<Moment[]> {
  const starts = new Map([[start.epochMs, start]]);
  for (const line of component.get('rrule') ?? []) {
    const rule = ruleOf(line);
    const isBefore = untilOf(rule, start, context);
    for (const walls of expandRule(rule, start.wallMs, fromMs - 2 * DAY_MS, toMs + 2 * DAY_MS)) {
      const moments = walls.map((wallMs) => momentAt(wallMs, start));
      for (const moment of moments) if (isBefore(moment)) starts.set(moment.epochMs, moment);
      if (moments.some((moment) => !isBefore(moment))) break;
      await pause();
    }
  }
  for (const moment of listedMoments(component, 'rdate', context)) {
    const wallMs = moment.isDate ? moment.wallMs : epochToWallMs(moment.epochMs, start.zone.zone);
    starts.set(moment.epochMs, { ...start, wallMs, epochMs: moment.epochMs });
  }
  const excluded = new Set(listedMoments(component, 'exdate', context).map(stampOf));
  const kept: Moment[] = [];
  for (const moment of starts.values()) {
    await pause();
    if (!excluded.has(stampOf(moment)) && !excluded.has(dayStamp(moment.wallMs))) kept.push(moment);
  }
  return kept;
}

/** @throws Unreadable */
function ruleOf(line: string): RuleText & { until?: string } {
  try {
    return parseLine(line.toUpperCase()).values[0] as RuleText & { until?: string };
  } catch (error) {
    throw new Unreadable(`a rule that cannot be read: ${String(error).slice(0, 200)}`);
  }
}

/** A day as UNTIL includes all of its instances. */
function untilOf({ until }: { until?: string }, start: Moment, context: TimeContext): (moment: Moment) => boolean {
  if (until === undefined) return () => true;
  const last = momentOf(until, { params: {}, values: [] }, { ...context, zone: start.zone });
  if (last.isDate) return ({ wallMs }) => wallMs < last.wallMs + DAY_MS;
  return (moment) => (moment.isDate ? moment.wallMs <= last.wallMs : moment.epochMs <= last.epochMs);
}

/**
 * Of RDATE and EXDATE. A period counts with its start. One that is no time is left out.
 * @throws Unreadable
 */
function listedMoments(component: Component, name: string, context: TimeContext): Moment[] {
  const count = component.get(name)?.join().split(',').length ?? 0;
  if (count > MAX_DATES) throw new Unreadable(`more than ${MAX_DATES} dates`);
  return properties(component, name).flatMap((property) =>
    property.values.flatMap((value) => {
      try {
        return [momentOf(Array.isArray(value) ? value[0] : value, property, context)];
      } catch {
        return [];
      }
    }),
  );
}

/** The zones of one calendar by TZID. Undefined: nobody knows this zone. Offsets are compared around `nowMs`. */
export async function zonesOf(calendar: Component, nowMs: number): Promise<(tzid: string) => NamedZone | undefined> {
  const known = new Map<string, NamedZone | undefined>();
  for (const zone of calendar.partsNamed('VTIMEZONE').slice(0, MAX_ZONES)) {
    const id = textOf(zone, 'tzid');
    const named = zoneByName(id) ?? zoneByName(textOf(zone, 'x-lic-location'));
    known.set(id, named ?? (await zoneByOffsets(zone.parts, nowMs)));
  }
  return (tzid) => {
    const id = tzid.trim();
    if (!known.has(id)) known.set(id, zoneByName(id));
    return known.get(id);
  };
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
async function zoneByOffsets(parts: readonly Component[], nowMs: number): Promise<NamedZone | undefined> {
  const [minutes, ...others] = new Set(parts.map((part) => minutesOf(part, 'tzoffsetto')));
  if (minutes === undefined || Number.isNaN(minutes)) return undefined;
  if (others.length === 0) return fixedZone(minutes);
  const current = parts.filter((part) => part.has('rrule') && !/UNTIL|COUNT/i.test(part.get('rrule')!.join()));
  const changes = current.slice(0, MAX_RULES).flatMap((part) => changesOf(part, nowMs));
  if (changes.length === 0) return undefined;
  for (const { iana } of WINDOWS_TO_IANA_MAP) {
    // Node needs a millisecond or two for each zone that it has not used before.
    await pause();
    const named = zoneByName(iana[0] ?? '');
    if (named && changes.every((change) => isChange(named.zone, change))) return named;
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
function instantOf(wallMs: number, zone: Zone): number {
  const epochMs = wallMsToEpoch(wallMs, zone);
  const offset = (ms: number) => epochToWallMs(ms, zone) - ms;
  const earlier = epochMs - (offset(epochMs - DAY_MS) - offset(epochMs));
  return earlier < epochMs && earlier + offset(earlier) === wallMs ? earlier : epochMs;
}
