// When an event of an iCalendar file takes place: its start, its end, and the starts of a series.

import ICAL from 'ical.js';
import { DAY_MS } from '../../model/records.ts';
import { formatWallTime, parseWallTime } from '../../time/wall-time.ts';
import * as zones from '../../time/zones.ts';
import { expandRule, ruleOf } from './icalendar-rules.ts';
import { type Component, type Property, pause, properties, textOf } from './icalendar-text.ts';

/** Of one series: a hundred years of days are fewer. */
const MAX_STARTS = 100_000;
/** Of a series, which has one (RFC 5545). */
const MAX_RULES = 10;
/** Of RDATE, and of EXDATE: eight years of days. */
const MAX_DATES = 3000;

export interface TimeContext {
  zoneOf: (tzid: string) => string | undefined;
  /** Of times without a zone, and the one in which times in UTC are shown. */
  zone: string;
  /** Instances of series are served in this time, both included. */
  fromMs: number;
  toMs: number;
}

/** A point in a zone, or a day. */
export interface Moment {
  /** The wall time, as the milliseconds of the same wall time in UTC. */
  wallMs: number;
  epochMs: number;
  isDate: boolean;
  /** As the API names it; `''` for `20270501T180000Z`, which says when something is, and not where. */
  zone: string;
}

/** As RFC 5545 has it: a time that the clock shows twice is the first, a skipped one continues from before the gap. */
export function momentAt(wallMs: number, { zone: name, isDate }: Pick<Moment, 'zone' | 'isDate'>): Moment {
  const zone = zones.siteZone(name);
  const epochMs = zones.instantsOf(formatWallTime(wallMs), zone)[0] ?? zones.wallMsToEpoch(wallMs, zone);
  return { wallMs, epochMs, isDate, zone: name };
}

/** `20270501`, or in UTC `20270501T180000Z`: names an instance of a series. */
export const instanceName = ({ wallMs, epochMs, isDate }: Moment): string =>
  isDate ? dayName(wallMs) : `${formatWallTime(epochMs).replace(/[-:]/g, '').replace(' ', 'T')}Z`;

export const dayName = (wallMs: number): string => formatWallTime(wallMs).slice(0, 10).replaceAll('-', '');

/** @throws Error with the reason why there is none */
export function momentOf(component: Component, name: 'dtstart' | 'recurrence-id', context: TimeContext): Moment {
  const [property] = properties(component, name);
  if (!property) throw new Error(component.lines.has(name) ? 'a start that is no time' : 'no start');
  const start = parseMoment(property.values[0], property.params.tzid, context);
  // Outlook writes whole days as midnight to midnight.
  const isWholeDay = textOf(component, 'x-microsoft-cdo-alldayevent').toUpperCase() === 'TRUE';
  const isMidnight = start.zone !== '' && start.wallMs % DAY_MS === 0;
  return isWholeDay && isMidnight ? momentAt(start.wallMs, { zone: context.zone, isDate: true }) : start;
}

/**
 *   value, as ical.js reads it     tzid              result
 *   2027-05-01T18:00:00Z           any               18:00 in UTC
 *   2027-05-01T18:00:00            Europe/Berlin     18:00 in Berlin
 *   2027-05-01T18:00               none              18:00 in the zone of the calendar
 *   2027-05-01                     any               the day, in the zone of the calendar
 *   2027-05-01T::                  any               the same: VALUE=DATE was missing
 *
 * @throws Error for anything else, and for an unknown zone
 */
function parseMoment(value: unknown, tzid: string | undefined, context: TimeContext): Moment {
  const [, day, time, utc] = /^(\d{4}-\d\d-\d\d)(?:T(?:::|(\d\d:\d\d(?::\d\d)?):?)(Z?))?$/.exec(String(value)) ?? [];
  const wallMs = parseWallTime(`${day} ${(time ?? '00:00').padEnd(8, ':00')}`);
  if (wallMs === undefined) throw new Error('a start that is no time');
  if (time === undefined) return momentAt(wallMs, { zone: context.zone, isDate: true });
  if (utc) return momentAt(wallMs, { zone: '', isDate: false });
  const zone = tzid === undefined ? context.zone : context.zoneOf(tzid);
  if (zone === undefined) throw new Error(`the unknown time zone ${tzid}`);
  return momentAt(wallMs, { zone, isDate: false });
}

/**
 * The instant at which an instance ends that starts at `start`, where the event itself starts at `first`. Days count as
 * the calendar does, the rest as the clock: over a night of 23 hours too.
 *
 *   DTSTART            DTEND              DURATION     an instance ends
 *   20270501           none, 20270502     none, P1D    at the end of its day
 *   20270501           20270504           P3D          at the end of the second day after its own
 *   20270501T180000    20270501T200000    none         two hours later
 *   20270501T180000    20270430T200000    none         at its start: the end is before it
 *   20270501T180000    none               P1DT1H       the next day an hour later
 *   20270501T180000    none, no time      none, -PT1H  at its start
 */
export function endOf(component: Component, first: Moment, start: Moment, context: TimeContext): number {
  const [end] = properties(component, 'dtend', 1).flatMap((property) => listedMoments(property, context));
  const duration = durationOf(component);
  const days = end ? Math.round((end.wallMs - first.wallMs) / DAY_MS) : duration.weeks * 7 + duration.days;
  if (first.isDate) return momentAt(start.wallMs + Math.max(1, days) * DAY_MS - 1000, start).epochMs;
  if (end) return start.epochMs + Math.max(0, end.epochMs - first.epochMs);
  const restMs = ((duration.hours * 60 + duration.minutes) * 60 + duration.seconds) * 1000;
  return (days === 0 ? start : momentAt(start.wallMs + days * DAY_MS, start)).epochMs + restMs;
}

/** One that is missing, no duration, or negative is zero. */
function durationOf(component: Component): ICAL.Duration {
  const text = textOf(component, 'duration');
  const isForward = ICAL.Duration.isValueString(text) && !text.startsWith('-');
  return isForward ? ICAL.Duration.fromString(text) : new ICAL.Duration({});
}

/** The times of an event as the calendar has them. */
export function eventTimes(start: Moment, endMs: number, context: TimeContext) {
  const timezone = start.zone || context.zone;
  const zone = zones.siteZone(timezone);
  return {
    start: formatWallTime(zones.epochToWallMs(start.epochMs, zone)),
    end: formatWallTime(zones.epochToWallMs(endMs, zone)),
    startUtc: formatWallTime(start.epochMs),
    endUtc: formatWallTime(endMs),
    timezone,
    allDay: start.isDate,
  };
}

export const isSeries = (component: Component): boolean => component.lines.has('rrule') || component.lines.has('rdate');

/**
 * The starts of a series around the window: DTSTART, RRULE, RDATE, without EXDATE.
 * @throws Error for a rule that is not supported, and for too many instances
 */
export async function startsOf(component: Component, first: Moment, context: TimeContext): Promise<Moment[]> {
  const starts = new Map([[first.epochMs, first]]);
  for (const line of component.lines.get('rrule')?.slice(0, MAX_RULES) ?? [])
    await addStartsOfRule(starts, line, first, context);
  for (const moment of await allMoments(component, 'rdate', context)) {
    const start = startNamedBy(moment, first);
    starts.set(start.epochMs, start);
  }
  const exdates = await allMoments(component, 'exdate', context);
  // In a series of times, a day excludes all instances of that day.
  const excluded = new Set(exdates.map((moment) => instanceName(first.isDate ? startNamedBy(moment, first) : moment)));
  for (const [epochMs, start] of starts) {
    await pause();
    if (excluded.has(instanceName(start)) || excluded.has(dayName(start.wallMs))) starts.delete(epochMs);
  }
  return [...starts.values()];
}

async function addStartsOfRule(starts: Map<number, Moment>, line: string, first: Moment, context: TimeContext) {
  const rule = ruleOf(line);
  // Of a whole day, RFC 5545 has them ignored.
  if (first.isDate) Object.assign(rule.parts, { BYHOUR: undefined, BYMINUTE: undefined, BYSECOND: undefined });
  const until = rule.until && parseMoment(rule.until, undefined, { ...context, zone: first.zone });
  const isAfterUntil = ({ wallMs, epochMs }: Moment) => {
    if (!until) return false;
    // A day as UNTIL includes all of its instances.
    return until.isDate || first.isDate ? dayName(wallMs) > dayName(until.wallMs) : epochMs > until.epochMs;
  };
  // An instance may last a month, and a wall time is up to a day from UTC.
  const [fromWallMs, toWallMs] = [context.fromMs - 31 * DAY_MS, context.toMs + 2 * DAY_MS];
  for (const period of expandRule(rule, first.wallMs, fromWallMs, toWallMs)) {
    for (const wallMs of period) {
      const start = momentAt(wallMs, first);
      if (isAfterUntil(start)) return;
      starts.set(start.epochMs, start);
    }
    if (starts.size > MAX_STARTS) throw new Error(`a series of more than ${MAX_STARTS} instances`);
    await pause();
  }
}

/**
 * The start that an RDATE or EXDATE names, in a calendar of Berlin:
 *
 *   value                              of whole days    with DTSTART;TZID=America/New_York:20270501T190000
 *   VALUE=DATE:20270510                May 10           May 10, 19:00 in New York
 *   20270510T220000Z                   May 11           May 10, 18:00
 *   TZID=Asia/Tokyo:20270510T000000    May 10           May 9, 11:00
 */
function startNamedBy(named: Moment, first: Moment): Moment {
  const zone = zones.siteZone(first.zone);
  if (first.isDate) {
    const wallMs = named.zone === '' ? zones.epochToWallMs(named.epochMs, zone) : named.wallMs;
    return momentAt(dayStartOf(wallMs), first);
  }
  // RFC 5545 does not say of which time such a day is; KOrganizer and DAVx5 take that of DTSTART.
  if (named.isDate) return momentAt(named.wallMs + first.wallMs - dayStartOf(first.wallMs), first);
  return { ...first, epochMs: named.epochMs, wallMs: zones.epochToWallMs(named.epochMs, zone) };
}

const dayStartOf = (wallMs: number): number => Math.floor(wallMs / DAY_MS) * DAY_MS;

/** Of RDATE and EXDATE. @throws Error for too many */
async function allMoments(component: Component, name: string, context: TimeContext): Promise<Moment[]> {
  const text = component.lines.get(name)?.join() ?? '';
  if (text.split(',', MAX_DATES + 1).length > MAX_DATES) throw new Error(`more than ${MAX_DATES} dates`);
  const moments: Moment[] = [];
  for (const property of properties(component, name)) {
    for (const value of property.values) {
      // A thousand take ten milliseconds and more.
      await pause();
      moments.push(...listedMoments({ ...property, values: [value] }, context));
    }
  }
  return moments;
}

/** A period counts with its start. One that is no time is left out. */
const listedMoments = (property: Property, context: TimeContext): Moment[] =>
  property.values.flatMap((value) => {
    try {
      return [parseMoment(Array.isArray(value) ? value[0] : value, property.params.tzid, context)];
    } catch {
      return [];
    }
  });
