// When an event of an iCalendar file takes place: its start and its end, and those of the instances of a series.

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
/** Of RDATE and of EXDATE: eight years of days. */
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

export function momentAt(wallMs: number, { zone, isDate }: Pick<Moment, 'zone' | 'isDate'>): Moment {
  return { wallMs, epochMs: epochOf(wallMs, zone), isDate, zone };
}

/**
 * As RFC 5545 has it: of a time that the clock shows twice, the first; a time that it skips counts from before the gap
 * (02:30 of a night on which 02:00 becomes 03:00 is 03:30).
 */
function epochOf(wallMs: number, zoneName: string): number {
  const zone = zones.siteZone(zoneName);
  return zones.instantsOf(formatWallTime(wallMs), zone)[0] ?? zones.wallMsToEpoch(wallMs, zone);
}

/** `20270501`, or in UTC `20270501T180000Z`: names an instance of a series. */
export const instanceName = ({ wallMs, epochMs, isDate }: Moment): string =>
  isDate ? dayName(wallMs) : `${formatWallTime(epochMs).replace(/[-:]/g, '').replace(' ', 'T')}Z`;

export const dayName = (wallMs: number): string => formatWallTime(wallMs).slice(0, 10).replaceAll('-', '');

/** @throws Error with the reason why there is none */
export function momentOf(component: Component, name: 'dtstart' | 'recurrence-id', context: TimeContext): Moment {
  const [property] = properties(component, name);
  if (!property) throw new Error(component.lines.has(name) ? 'a start that is no time' : 'no start');
  const start = parseMoment(property.values[0], property, context);
  // Outlook writes whole days as midnight to midnight.
  const isWholeDay = textOf(component, 'x-microsoft-cdo-alldayevent').toUpperCase() === 'TRUE';
  const isMidnight = start.zone !== '' && start.wallMs % DAY_MS === 0;
  return isWholeDay && isMidnight ? momentAt(start.wallMs, { zone: context.zone, isDate: true }) : start;
}

/**
 * @param value as ical.js reads it: `2027-05-01T18:00:00Z`, `2027-05-01`, `2027-05-01T::` for a day whose VALUE=DATE
 * is missing
 */
function parseMoment(value: unknown, { params }: Pick<Property, 'params'>, { zoneOf, zone: own }: TimeContext): Moment {
  const [, day, time, utc] = /^(\d{4}-\d\d-\d\d)(?:T(?:::|(\d\d:\d\d(?::\d\d)?):?)(Z?))?$/.exec(String(value)) ?? [];
  const wallMs = parseWallTime(`${day} ${(time ?? '').padEnd(8, time ? ':00' : '00:00:00')}`);
  if (wallMs === undefined) throw new Error('a start that is no time');
  if (time === undefined) return momentAt(wallMs, { zone: own, isDate: true });
  const zone = utc ? '' : params.tzid === undefined ? own : zoneOf(params.tzid);
  if (zone === undefined) throw new Error(`the unknown time zone ${params.tzid}`);
  return momentAt(wallMs, { zone, isDate: false });
}

/**
 * When an instance ends that starts at `start`. Days count as the calendar does, the rest as the clock: `P1D` from
 * 20:00 ends at 20:00 of the next day, over a night of 23 hours too. An end that is missing, no time, or before the
 * start counts as the start.
 * @param own the start of the component itself, from which its DTEND counts
 */
export function endOf(component: Component, own: Moment, start: Moment, context: TimeContext): number {
  const [end] = properties(component, 'dtend', 1).flatMap((property) => listedMoments(property, context));
  const duration = textOf(component, 'duration');
  const isForward = ICAL.Duration.isValueString(duration) && !duration.startsWith('-');
  const said = isForward ? ICAL.Duration.fromString(duration) : new ICAL.Duration({});
  const days = end ? Math.round((end.wallMs - own.wallMs) / DAY_MS) : said.weeks * 7 + said.days;
  if (own.isDate) return epochOf(start.wallMs + Math.max(1, days) * DAY_MS - 1000, start.zone);
  if (end) return start.epochMs + Math.max(0, end.epochMs - own.epochMs);
  const ms = ((said.hours * 60 + said.minutes) * 60 + said.seconds) * 1000;
  return (days === 0 ? start.epochMs : epochOf(start.wallMs + days * DAY_MS, start.zone)) + ms;
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
 * The starts of a series around the window: its own, those of RRULE and of RDATE, without those of EXDATE.
 * @throws Error for a rule that is not supported, and for too many instances
 */
export async function startsOf(component: Component, start: Moment, context: TimeContext): Promise<Moment[]> {
  const starts = new Map([[start.epochMs, start]]);
  for (const line of component.lines.get('rrule')?.slice(0, MAX_RULES) ?? [])
    for (const moments of momentsOfRule(line, start, context)) {
      for (const moment of moments) starts.set(moment.epochMs, moment);
      if (starts.size > MAX_STARTS) throw new Error(`a series of more than ${MAX_STARTS} instances`);
      await pause();
    }
  for (const { isDate, wallMs, epochMs } of await listedDates(component, 'rdate', context)) {
    // One in UTC or in another zone takes place in that of the series.
    const ownWallMs = isDate ? wallMs : zones.epochToWallMs(epochMs, zones.siteZone(start.zone));
    starts.set(epochMs, { ...start, wallMs: ownWallMs, epochMs });
  }
  const excluded = new Set((await listedDates(component, 'exdate', context)).map(instanceName));
  for (const [epochMs, moment] of starts) {
    await pause();
    // `EXDATE;VALUE=DATE:20270501` excludes what begins on that day.
    if (excluded.has(instanceName(moment)) || excluded.has(dayName(moment.wallMs))) starts.delete(epochMs);
  }
  return [...starts.values()];
}

/** The starts by one RRULE, a list for each of its periods. */
function* momentsOfRule(line: string, start: Moment, context: TimeContext): Generator<Moment[]> {
  const rule = ruleOf(line);
  // Of a whole day, RFC 5545 has them ignored.
  if (start.isDate) Object.assign(rule.parts, { BYHOUR: undefined, BYMINUTE: undefined, BYSECOND: undefined });
  const isUntilEnd = untilFilter(rule, start, context);
  // An instance may last a month.
  for (const walls of expandRule(rule, start.wallMs, context.fromMs - 31 * DAY_MS, context.toMs + 2 * DAY_MS)) {
    const moments = walls.map((wallMs) => momentAt(wallMs, start));
    const wanted = moments.filter(isUntilEnd);
    yield wanted;
    if (wanted.length < moments.length) return;
  }
}

/** `UNTIL=20270501` includes all instances of that day, `UNTIL=20270501T180000Z` what starts at that time. */
function untilFilter(rule: ICAL.Recur, start: Moment, context: TimeContext): (moment: Moment) => boolean {
  if (!rule.until) return () => true;
  const until = parseMoment(rule.until, { params: {} }, { ...context, zone: start.zone });
  return until.isDate || start.isDate
    ? ({ wallMs }) => dayName(wallMs) <= dayName(until.wallMs)
    : ({ epochMs }) => epochMs <= until.epochMs;
}

/** Those of RDATE or EXDATE. @throws Error for too many */
async function listedDates(component: Component, name: 'rdate' | 'exdate', context: TimeContext): Promise<Moment[]> {
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
      return [parseMoment(Array.isArray(value) ? value[0] : value, property, context)];
    } catch {
      return [];
    }
  });
