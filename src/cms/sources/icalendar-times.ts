// When an event of an iCalendar file takes place: its start, its end, and the starts of a series.

import ICAL from 'ical.js';
import { pause } from '../../pause.ts';
import { DAY_MS, dayStartOf, formatWallTime, LATEST_MS, parseWallTime } from '../../time/wall-time.ts';
import * as zones from '../../time/zones.ts';
import { expandRule, ruleOf } from './icalendar-rules.ts';
import { type Component, properties, textOf } from './icalendar-text.ts';

/** Of one series: a hundred years of days are fewer. */
const MAX_STARTS = 100_000;
/** Of a series, which has one (RFC 5545). */
const MAX_RULES = 10;
/** Of RDATE, and of EXDATE: eight years of days. */
const MAX_DATES = 3000;
/** Stands for later ends, as of PT2400000000H, which `Date` cannot tell: in every zone it is 9999-12-31 23:59:59. */
const LATEST_END_MS = LATEST_MS + DAY_MS;

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
  const zone = zones.zoneOrUtc(name);
  const epochMs = zones.instantsOf(formatWallTime(wallMs), zone)[0] ?? zones.wallMsToEpoch(wallMs, zone);
  return { wallMs, epochMs, isDate, zone: name };
}

/** `20270501`, or in UTC `20270501T180000Z`: names an instance of a series. */
export const instanceName = ({ wallMs, epochMs, isDate }: Moment): string =>
  isDate ? dayName(wallMs) : `${formatWallTime(epochMs).replace(/[-:]/g, '').replace(' ', 'T')}Z`;

export const dayName = (wallMs: number): string => formatWallTime(wallMs).slice(0, 10).replaceAll('-', '');

/** @throws Error with the reason why there is none */
export function momentOf(component: Component, name: 'dtstart' | 'recurrence-id', context: TimeContext): Moment {
  if (!component.lines.has(name)) throw new Error('no start');
  const [property] = properties(component, name);
  const tzid = property?.params.tzid;
  const start = parseMoment(property?.values[0], tzid, context);
  const hasZone = tzid === undefined || context.zoneOf(tzid) !== undefined;
  if (!start) throw new Error(hasZone ? 'a start that is no time' : `the unknown time zone ${tzid}`);
  // Outlook writes whole days as midnight to midnight on the clock of a zone: midnight in UTC (`''`) is none of these.
  const isWholeDay = textOf(component, 'x-microsoft-cdo-alldayevent').toUpperCase() === 'TRUE';
  const isMidnight = start.zone !== '' && start.wallMs % DAY_MS === 0;
  return isWholeDay && isMidnight ? momentAt(start.wallMs, { zone: context.zone, isDate: true }) : start;
}

const MOMENT = /^(?<day>\d{4}-\d\d-\d\d)(?:T(?:::|(?<time>\d\d:\d\d(?::\d\d)?):?)(?<utc>Z?))?$/;

/**
 * What ical.js reads, of a period its start. Undefined for anything else, and for an unknown zone.
 *
 *   2027-05-01, 2027-05-01T::                   a day; the second of DTSTART:20270501, without VALUE=DATE
 *   2027-05-01T18:00:00Z                        in UTC
 *   2027-05-01T18:00:00, 2027-05-01T18:00:      in the zone of TZID, or of the calendar; the second of T1800
 */
function parseMoment(value: unknown, tzid: string | undefined, context: TimeContext): Moment | undefined {
  const [text = ''] = [value].flat().map(String);
  const { day, time, utc } = MOMENT.exec(text)?.groups ?? {};
  const wallMs = parseWallTime(`${day} ${(time ?? '00:00').padEnd(8, ':00')}`);
  if (wallMs === undefined) return undefined;
  if (time === undefined) return momentAt(wallMs, { zone: context.zone, isDate: true });
  if (utc) return momentAt(wallMs, { zone: '', isDate: false });
  const zone = tzid === undefined ? context.zone : context.zoneOf(tzid);
  return zone === undefined ? undefined : momentAt(wallMs, { zone, isDate: false });
}

/**
 * When an instance ends that starts at `start`. Days count as the calendar does, the rest as the clock: over a night of
 * 23 hours too. Of an event whose DTSTART, `first`, is
 *
 *   20270501           without an end, with DTEND 20270502, or P1D     at the end of its day
 *                      with DTEND 20270504, or P3D                     at the end of the second day after
 *   20270501T180000    with DTEND 20270501T200000                      two hours later
 *                      with P1DT1H                                     on the next day, an hour later
 *                      with an end before it, no time, or none         at its start
 */
export function endOf(component: Component, first: Moment, start: Moment, context: TimeContext): number {
  const [dtend] = properties(component, 'dtend', 1);
  const end = parseMoment(dtend?.values[0], dtend?.params.tzid, context);
  const text = textOf(component, 'duration');
  const isForward = ICAL.Duration.isValueString(text) && !text.startsWith('-');
  const duration = isForward ? ICAL.Duration.fromString(text) : new ICAL.Duration({});
  const days = end ? Math.round((end.wallMs - first.wallMs) / DAY_MS) : duration.weeks * 7 + duration.days;
  if (first.isDate) return momentAt(start.wallMs + Math.max(1, days) * DAY_MS - 1000, start).epochMs;
  if (end) return start.epochMs + Math.max(0, end.epochMs - first.epochMs);
  // DURATION, or neither of them.
  const lastDay = days === 0 ? start : momentAt(start.wallMs + days * DAY_MS, start);
  return lastDay.epochMs + ((duration.hours * 60 + duration.minutes) * 60 + duration.seconds) * 1000;
}

export function eventTimes(start: Moment, endMs: number, context: TimeContext) {
  const timezone = start.zone || context.zone;
  const zone = zones.zoneOrUtc(timezone);
  const local = (epochMs: number) => formatWallTime(zones.epochToWallMs(Math.min(epochMs, LATEST_END_MS), zone));
  // `end` is not made of `endUtc`: when 9999 ends in UTC, it is still 19:00 in New York.
  const [startUtc, endUtc] = [formatWallTime(start.epochMs), formatWallTime(endMs)];
  return { start: local(start.epochMs), end: local(endMs), startUtc, endUtc, timezone, allDay: start.isDate };
}

export const isSeries = (component: Component): boolean => component.lines.has('rrule') || component.lines.has('rdate');

/** The starts of a series: DTSTART, RRULE, RDATE, without EXDATE. Throws for an unsupported rule and for too many. */
export async function* startsOf(component: Component, first: Moment, context: TimeContext): AsyncGenerator<Moment> {
  const starts = new Map([[first.epochMs, first]]);
  for (const line of component.lines.get('rrule')?.slice(0, MAX_RULES) ?? [])
    await addStartsOfRule(starts, line, first, context);
  for await (const moment of momentsOf(component, 'rdate', context)) {
    const start = startNamedBy(moment, first);
    starts.set(start.epochMs, start);
  }
  const excluded = new Set<string>();
  for await (const moment of momentsOf(component, 'exdate', context))
    excluded.add(instanceName(first.isDate ? startNamedBy(moment, first) : moment));
  for (const start of starts.values()) {
    await pause();
    // In a series of times EXDATE;VALUE=DATE:20270510 excludes all instances of May 10.
    if (!excluded.has(instanceName(start)) && !excluded.has(dayName(start.wallMs))) yield start;
  }
}

async function addStartsOfRule(starts: Map<number, Moment>, line: string, first: Moment, context: TimeContext) {
  const rule = ruleOf(line);
  // RFC 5545 has these ignored in a series of whole days.
  if (first.isDate) Object.assign(rule.parts, { BYHOUR: undefined, BYMINUTE: undefined, BYSECOND: undefined });
  const until = parseMoment(rule.until, undefined, { ...context, zone: first.zone });
  // The last instance of a daily series: of one at 19:00 in New York, and of one of whole days.
  //   UNTIL=20270510            May 10    May 10
  //   UNTIL=20270510T230000Z    May 10    May 10    it is 19:00 in New York
  //   UNTIL=20270510T225959Z    May 9     May 10
  const endsWithItsDay = until?.isDate || first.isDate;
  const last = until && (endsWithItsDay ? momentAt(dayStartOf(until.wallMs) + DAY_MS - 1000, first) : until);
  // Wider than the window: an instance may last a month, and a wall time is up to a day from UTC.
  const [fromWallMs, toWallMs] = [context.fromMs - 31 * DAY_MS, context.toMs + 2 * DAY_MS];
  for (const period of expandRule(rule, first.wallMs, fromWallMs, toWallMs)) {
    for (const wallMs of period) {
      const start = momentAt(wallMs, first);
      if (last && start.epochMs > last.epochMs) return;
      starts.set(start.epochMs, start);
    }
    if (starts.size > MAX_STARTS) throw new Error(`a series of more than ${MAX_STARTS} instances`);
    await pause();
  }
}

/**
 * The start that an RDATE names, or in a series of whole days an EXDATE. In a calendar of Berlin:
 *
 *   value                              of whole days    with DTSTART;TZID=America/New_York:20270501T190000
 *   VALUE=DATE:20270510                May 10           May 10, 19:00 in New York
 *   20270510T220000Z (zone `''`)       May 11           May 10, 18:00
 *   TZID=Asia/Tokyo:20270510T000000    May 10           May 9, 11:00
 */
function startNamedBy(named: Moment, first: Moment): Moment {
  const zone = zones.zoneOrUtc(first.zone);
  if (first.isDate) {
    const wallMs = named.zone === '' ? zones.epochToWallMs(named.epochMs, zone) : named.wallMs;
    return momentAt(dayStartOf(wallMs), first);
  }
  // RFC 5545 does not say of which time such a day is; KOrganizer and DAVx5 take that of DTSTART.
  if (named.isDate) return momentAt(named.wallMs + first.wallMs - dayStartOf(first.wallMs), first);
  return { ...first, epochMs: named.epochMs, wallMs: zones.epochToWallMs(named.epochMs, zone) };
}

/** Of RDATE and EXDATE, without what is no time. @throws Error for too many */
async function* momentsOf(component: Component, name: string, context: TimeContext): AsyncGenerator<Moment> {
  const text = component.lines.get(name)?.join() ?? '';
  if (text.split(',', MAX_DATES + 1).length > MAX_DATES) throw new Error(`more than ${MAX_DATES} dates`);
  for (const { params, values } of properties(component, name)) {
    for (const value of values) {
      await pause();
      const moment = parseMoment(value, params.tzid, context);
      if (moment) yield moment;
    }
  }
}
