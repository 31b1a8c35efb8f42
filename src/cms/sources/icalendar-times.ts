// When an event of an iCalendar file takes place: its start, its duration, and the starts of a series; and the zone
// that a TZID means.

import ICAL from 'ical.js';
import { findIana, WINDOWS_TO_IANA_MAP } from 'windows-iana';
import { DAY_MS, dayStartMs, formatWallTime, parseWallTime } from '../../time/wall-time.ts';
import * as zones from '../../time/zones.ts';
import { type Component, type Property, pause, properties, textOf } from './icalendar-text.ts';

/** Hours times minutes times seconds of one day: those of a year are fewer than the events that a source may have. */
const MAX_TIMES_A_DAY = 24;
/** Of one series: a hundred years of days are fewer. */
const MAX_STARTS = 100_000;
/** Of a series, which has one (RFC 5545), and of a calendar. */
const [MAX_RULES, MAX_ZONES] = [10, 100];
/** Of RDATE, of EXDATE, and of the clocks of a zone in two years: eight years of days. */
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
 * When an instance ends that starts then. Days count as the calendar does, the rest as the clock: over a night of 23
 * hours too. An end that is missing, no time, or before the start counts as the start.
 */
export function endOf(component: Component, own: Moment, start: Moment, context: TimeContext): number {
  const [end] = properties(component, 'dtend', 1).flatMap((property) => listedMoments(property, context));
  const duration = textOf(component, 'duration');
  const isForward = ICAL.Duration.isValueString(duration) && !duration.startsWith('-');
  const said = isForward ? ICAL.Duration.fromString(duration) : new ICAL.Duration({});
  const days = end ? Math.round((end.wallMs - own.wallMs) / DAY_MS) : said.weeks * 7 + said.days;
  if (own.isDate) return momentAt(start.wallMs + Math.max(1, days) * DAY_MS - 1000, start).epochMs;
  if (end) return start.epochMs + Math.max(0, end.epochMs - own.epochMs);
  const ms = ((said.hours * 60 + said.minutes) * 60 + said.seconds) * 1000;
  return (days === 0 ? start.epochMs : momentAt(start.wallMs + days * DAY_MS, start).epochMs) + ms;
}

/** The times of an event as the calendar has them. */
export function eventTimes(start: Moment, endMs: number, context: TimeContext) {
  const timezone = start.zone || context.zone;
  const zone = zones.zoneOrUtc(timezone);
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
 * The starts of a series around the window: start, RRULE, RDATE, without EXDATE.
 * @throws Error for a rule that is not supported, and for too many instances
 */
export async function startsOf(component: Component, start: Moment, context: TimeContext): Promise<Moment[]> {
  const starts = new Map([[start.epochMs, start]]);
  for (const line of component.lines.get('rrule')?.slice(0, MAX_RULES) ?? []) {
    const rule = ruleOf(line);
    // Of a whole day, RFC 5545 has them ignored.
    if (start.isDate) Object.assign(rule.parts, { BYHOUR: undefined, BYMINUTE: undefined, BYSECOND: undefined });
    // A day as UNTIL includes all of its instances.
    const until = rule.until && parseMoment(rule.until, { params: {} }, { ...context, zone: start.zone });
    const isByDay = until?.isDate || start.isDate;
    const isAfter = ({ wallMs, epochMs }: Moment) =>
      until && (isByDay ? dayName(wallMs) > dayName(until.wallMs) : epochMs > until.epochMs);
    // An instance may last a month, and a wall time is up to a day from UTC.
    for (const walls of expandRule(rule, start.wallMs, context.fromMs - 31 * DAY_MS, context.toMs + 2 * DAY_MS)) {
      const moments = walls.map((wallMs) => momentAt(wallMs, start));
      for (const moment of moments) if (!isAfter(moment)) starts.set(moment.epochMs, moment);
      if (moments.some(isAfter)) break;
      if (starts.size > MAX_STARTS) throw new Error(`a series of more than ${MAX_STARTS} instances`);
      await pause();
    }
  }
  for (const moment of await allMoments(component, 'rdate', context)) {
    const wallMs = moment.isDate ? moment.wallMs : zones.epochToWallMs(moment.epochMs, zones.zoneOrUtc(start.zone));
    starts.set(moment.epochMs, { ...start, wallMs, epochMs: moment.epochMs });
  }
  const excluded = new Set((await allMoments(component, 'exdate', context)).map(instanceName));
  for (const [epochMs, moment] of starts) {
    await pause();
    if (excluded.has(instanceName(moment)) || excluded.has(dayName(moment.wallMs))) starts.delete(epochMs);
  }
  return [...starts.values()];
}

/** @throws Error if the rule cannot be read */
const ruleOf = (line: string): ICAL.Recur => ICAL.Recur.fromString(line.slice(line.indexOf(':') + 1).toUpperCase());

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
      return [parseMoment(Array.isArray(value) ? value[0] : value, property, context)];
    } catch {
      return [];
    }
  });

// Rules (RFC 5545, 3.3.10) are expanded one period at a time, so that the caller can pause: the iterator of ical.js
// never returns for a rule without instances, such as every seventh day from a Monday on Tuesdays.

const DAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA'];

/** The number of the period that a day is in. Weeks begin on `weekStart`, where 0 is Sunday. */
const PERIODS: Readonly<Record<string, (day: Day, weekStart: number) => number>> = {
  DAILY: ({ number }) => number,
  // Day 0, the first of 1970, was a Thursday.
  WEEKLY: ({ number }, weekStart) => Math.floor((number + 4 - weekStart) / 7),
  MONTHLY: ({ year, month }) => year * 12 + month,
  YEARLY: ({ year }) => year,
};

/**
 * The instances of a rule from `startMs` on, sorted, a list for each period (a month of a monthly rule). Without a
 * `count`, those of periods that end before `fromMs` are skipped; the last period ends after `toMs`.
 * @param startMs as the milliseconds of the same wall time in UTC, like all times here
 * @throws Error for a rule that is not supported
 */
function* expandRule(rule: ICAL.Recur, startMs: number, fromMs: number, toMs: number): Generator<number[]> {
  const { freq, interval, parts, count, wkst } = rule;
  const periodOf = PERIODS[freq];
  if (periodOf === undefined) throw new Error(`a rule that repeats ${freq.toLowerCase()}`);
  if (parts.BYWEEKNO) throw new Error('a rule with numbers of weeks');
  const start = dayOf(Math.floor(startMs / DAY_MS));
  const isWanted = dayFilter(rule, start);
  const times = timesOfDay(parts, new Date(startMs));
  const positions = new Set(parts.BYSETPOS);
  // ical.js counts weekdays from 1, Sunday.
  const numberOf = (day: Day) => periodOf(day, wkst - 1);
  let day = count === null && fromMs > startMs ? dayOf(Math.floor(fromMs / DAY_MS)) : start;
  // Positions count from the first day of the period.
  while (numberOf(dayOf(day.number - 1)) === numberOf(day)) day = dayOf(day.number - 1);
  for (let left = count ?? Number.POSITIVE_INFINITY; left > 0 && day.number * DAY_MS <= toMs; ) {
    const period = numberOf(day);
    const isRepeated = (period - numberOf(start)) % interval === 0;
    let instances: number[] = [];
    for (; numberOf(day) === period; day = dayOf(day.number + 1)) {
      if (isRepeated && isWanted(day)) instances.push(...times.map((time) => day.number * DAY_MS + time));
    }
    if (positions.size > 0)
      instances = instances.filter((_, i) => positions.has(i + 1) || positions.has(i - instances.length));
    instances = instances.filter((instance) => instance >= startMs).slice(0, left);
    left -= instances.length;
    yield instances;
  }
}

/** The first day of a month; months may be above 12. */
const dayNumber = (year: number, month: number): number => dayStartMs(year, month - 1, 1) / DAY_MS;

/** Months from 1, weekdays from 0, which is Sunday. */
function dayOf(number: number) {
  const date = new Date(number * DAY_MS);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth() + 1];
  return {
    number,
    year,
    month,
    weekday: date.getUTCDay(),
    // Counted from the start and from the end: May 31 is [31, -1].
    inMonth: [date.getUTCDate(), number - dayNumber(year, month + 1)] as const,
    inYear: [number - dayNumber(year, 1) + 1, number - dayNumber(year + 1, 1)] as const,
  };
}

type Day = ReturnType<typeof dayOf>;

/** The condition on days. Without a part that names days, the start's weekday or date applies. */
function dayFilter({ freq, parts }: ICAL.Recur, start: Day): (day: Day) => boolean {
  let [months, monthDays, weekdays] = [parts.BYMONTH, parts.BYMONTHDAY, parts.BYDAY];
  const isInYear = freq === 'YEARLY' && !months;
  if (!monthDays && !parts.BYYEARDAY && !weekdays) {
    if (freq === 'WEEKLY') weekdays = [DAYS[start.weekday]!];
    else if (freq !== 'DAILY') monthDays = [start.inMonth[0]];
    if (isInYear) months = [start.month];
  }
  const isWanted = <T>(wanted: readonly T[] | undefined, values: readonly T[]) =>
    wanted === undefined || values.some((value) => wanted.includes(value));
  return (day) => {
    const name = DAYS[day.weekday]!;
    const [position, negative] = isInYear ? day.inYear : day.inMonth;
    const positions = [Math.ceil(position / 7), -Math.ceil(-negative / 7)].map((each) => `${each}${name}`);
    // `MO` is every Monday, `2MO` (or `+2MO`) the second of the month or year, `-1MO` the last.
    const names = freq === 'WEEKLY' || freq === 'DAILY' ? [name] : [name, ...positions, `+${positions[0]}`];
    return (
      isWanted(months, [day.month]) &&
      isWanted(monthDays, day.inMonth) &&
      isWanted(parts.BYYEARDAY, day.inYear) &&
      isWanted(weekdays, names)
    );
  };
}

/** Milliseconds since midnight, sorted: by default the time of day of `start`. */
function timesOfDay(parts: ICAL.Recur['parts'], start: Date): number[] {
  const hours = parts.BYHOUR ?? [start.getUTCHours()];
  const minutes = parts.BYMINUTE ?? [start.getUTCMinutes()];
  const seconds = parts.BYSECOND ?? [start.getUTCSeconds()];
  if (hours.length * minutes.length * seconds.length > MAX_TIMES_A_DAY)
    throw new Error('a rule that repeats too often a day');
  const times = hours.flatMap((hour) =>
    minutes.flatMap((minute) => seconds.map((second) => ((hour * 60 + minute) * 60 + second) * 1000)),
  );
  return times.sort((a, b) => a - b);
}

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
 * `/mozilla.org/20050126_1/Europe/Berlin`, `US-Eastern`, `Europe_Berlin`, `W. Europe Standard Time`,
 * `"Europe/Berlin"`.
 */
function zoneByName(text: string): string | undefined {
  const name = text.replaceAll('"', '').trim();
  const parts = name.split('/').filter((part) => part !== '');
  const ends = [3, 2].filter((length) => length <= parts.length).map((length) => parts.slice(-length).join('/'));
  for (const candidate of [name, name.replace(/[-_]/, '/'), ...ends, findIana(name)[0] ?? '']) {
    const zone = zones.parseZone(candidate);
    if (zone?.kind === 'iana') return zone.name;
    // Of abbreviations only those of UTC: `CST` is on three continents.
    if (zone && (/^(utc|gmt|z)$/i.test(candidate) || zone.kind === 'fixed')) return fixedZone(zone.minutes);
  }
  return undefined;
}

const fixedZone = (minutes: number): string =>
  minutes === 0 ? 'UTC' : `UTC${zones.offsetText(minutes, ':').replace(/^(.)0/, '$1').replace(':00', '')}`;

/** `+0530` in minutes. @throws Error for anything else */
const minutesOf = (part: Component, name: string): number =>
  ICAL.UtcOffset.fromString(textOf(part, name)).toSeconds() / 60;

/** The only offset, or the first zone that Windows knows whose clocks change around now as the file says. */
async function zoneByOffsets(parts: readonly Component[], nowMs: number): Promise<string | undefined> {
  const all = new Set<number>();
  /** The offsets half a day before and after each change of the clocks in this year and the next, by time in UTC. */
  const around = new Map<string, number>();
  for (const part of parts) {
    await pause();
    all.add(minutesOf(part, 'tzoffsetto'));
    const [rule] = (part.lines.get('rrule') ?? []).slice(0, 1).map(ruleOf);
    const startMs = parseWallTime(textOf(part, 'dtstart').replace('T', ' '));
    // A rule that ends is one of the past.
    if (startMs === undefined || rule?.freq !== 'YEARLY' || rule.isFinite()) continue;
    const [from, to] = [minutesOf(part, 'tzoffsetfrom'), minutesOf(part, 'tzoffsetto')];
    for (const wallMs of [...expandRule(rule, startMs, nowMs, nowMs + 366 * DAY_MS)].flat()) {
      const utcMs = wallMs - from * 60_000;
      // Not at the change itself, for which Exchange writes an hour of its own.
      around.set(formatWallTime(utcMs - DAY_MS / 2), from).set(formatWallTime(utcMs + DAY_MS / 2), to);
      if (around.size > MAX_DATES) throw new Error('too many changes of the clocks');
    }
  }
  if (all.size === 1) return fixedZone([...all][0]!);
  for (const { iana } of around.size > 0 ? WINDOWS_TO_IANA_MAP : []) {
    // Node needs a millisecond or two for each zone that it has not used before.
    await pause();
    const name = zoneByName(iana[0] ?? '');
    if (name && [...around].every(([utc, minutes]) => zones.offsetMinutes(utc, zones.zoneOrUtc(name)) === minutes))
      return name;
  }
  return undefined;
}
