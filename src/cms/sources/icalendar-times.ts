// When an event of an iCalendar file takes place: its start, its duration, and the starts of a series.

import { formatWallTime, parseWallTime } from '../../time/wall-time.ts';
import { epochToWallMs, utcZone } from '../../time/zones.ts';
import { expandRule, type RuleText } from './icalendar-recurrence.ts';
import {
  type Component,
  type Pace,
  type Property,
  parseLine,
  properties,
  textOf,
  Unreadable,
} from './icalendar-text.ts';
import { type CalendarZones, instantOf, type NamedZone } from './icalendar-zones.ts';
import type { SourceEvent } from './source.ts';

const DAY_MS = 86_400_000;
const UTC: NamedZone = { name: 'UTC', zone: utcZone };

export interface TimeContext {
  zones: CalendarZones;
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
export function startOf(component: Component, context: TimeContext): Moment {
  const [property] = properties(component, 'dtstart');
  if (!property) throw new Unreadable(component.has('dtstart') ? 'a start that is no time' : 'no start');
  const start = momentOf(property.values[0], property, context);
  // Outlook writes whole days as midnight to midnight.
  const isWholeDay = textOf(component, 'x-microsoft-cdo-alldayevent').toUpperCase() === 'TRUE';
  const isMidnight = start.zone !== UTC && start.wallMs % DAY_MS === 0;
  return isWholeDay && isMidnight ? momentAt(start.wallMs, { zone: context.zone, isDate: true }) : start;
}

/** @throws Unreadable */
export function recurrenceIdOf(component: Component, context: TimeContext): Moment | undefined {
  const [property] = properties(component, 'recurrence-id');
  return property && momentOf(property.values[0], property, context);
}

/**
 * @param value as ical.js reads it: `2027-05-01T18:00:00Z`, `2027-05-01`, `2027-05-01T::` for a day whose VALUE=DATE
 * is missing
 */
function momentOf(value: unknown, { params }: Property, { zones, zone: own }: TimeContext): Moment {
  const [, day, time, utc] = /^(\d{4}-\d\d-\d\d)(?:T(?:::|(\d\d:\d\d(?::\d\d)?):?)(Z?))?$/.exec(String(value)) ?? [];
  const wallMs = parseWallTime(`${day} ${(time ?? '').padEnd(8, time ? ':00' : '00:00:00')}`);
  if (wallMs === undefined) throw new Unreadable('a start that is no time');
  if (time === undefined) return momentAt(wallMs, { zone: own, isDate: true });
  if (utc) return { wallMs, epochMs: wallMs, isDate: false, zone: UTC };
  const { tzid } = params;
  const zone = tzid === undefined ? own : zones.find(tzid);
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

/** Milliseconds since 1970, both included. */
export interface Window {
  fromMs: number;
  toMs: number;
}

export const isSeries = (component: Component): boolean => component.has('rrule') || component.has('rdate');

/**
 * The starts of a series around the window, sorted: start, RRULE, RDATE, without EXDATE.
 * @throws Unreadable
 */
export async function startsOf(
  component: Component,
  start: Moment,
  { fromMs, toMs }: Window,
  context: TimeContext,
  pace: Pace,
): Promise<Moment[]> {
  const starts = new Map([[start.epochMs, start]]);
  for (const line of component.get('rrule') ?? []) {
    const rule = ruleOf(line);
    const isBefore = untilOf(rule, start, context);
    for (const walls of expandRule(rule, start.wallMs, fromMs - 2 * DAY_MS, toMs + 2 * DAY_MS)) {
      const moments = walls.map((wallMs) => momentAt(wallMs, start));
      for (const moment of moments) if (isBefore(moment)) starts.set(moment.epochMs, moment);
      if (moments.some((moment) => !isBefore(moment))) break;
      if (pace.isDue()) await pace.rest();
    }
  }
  for (const moment of listedMoments(component, 'rdate', context)) {
    const wallMs = moment.isDate ? moment.wallMs : epochToWallMs(moment.epochMs, start.zone.zone);
    starts.set(moment.epochMs, { ...start, wallMs, epochMs: moment.epochMs });
  }
  const excluded = new Set(listedMoments(component, 'exdate', context).map(stampOf));
  return [...starts.values()]
    .filter((moment) => !excluded.has(stampOf(moment)) && !excluded.has(dayStamp(moment.wallMs)))
    .sort((a, b) => a.epochMs - b.epochMs);
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

/** Of RDATE and EXDATE. A period counts with its start. One that is no time is left out. */
function listedMoments(component: Component, name: string, context: TimeContext): Moment[] {
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
