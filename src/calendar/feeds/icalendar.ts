// Writes serialized events as an iCalendar file (RFC 5545, with the properties of RFC 7986 that apps read) and its time
// zones.

import ical, {
  escape as escapeText,
  foldLines,
  ICalCalendarMethod,
  type ICalDayJsStub,
  type ICalEventData,
  ICalEventStatus,
} from 'ical-generator';
import { LRUCache } from 'lru-cache';
import { tzlib_get_ical_block } from 'timezones-ical-library';
import { type ShownState, withState } from '../../model/event-state.ts';
import type { WallTime } from '../../model/records.ts';
import { joinBytes, utf8 } from '../../text/bytes.ts';
import { textLine, textLines } from '../../text/html.ts';
import { type PostalAddress, postalAddress, webAddress } from '../../text/text.ts';
import { parseWallTime, wallTimeMs, wholeDays } from '../../time/wall-time.ts';
import { epochToWallMs, offsetSpans, parseZone } from '../../time/zones.ts';

/** What a feed uses of a serialized event. Texts are HTML of the CMS. */
export type FeedEvent = ShownState & {
  id: number;
  status: string;
  title: string;
  description: string;
  excerpt: string;
  url: string;
  modified_utc: WallTime;
  date_utc: WallTime;
  /** Null if a password protects the event. */
  all_day: boolean | null;
  start_date: WallTime;
  end_date: WallTime;
  utc_start_date: WallTime;
  utc_end_date: WallTime;
  timezone: string;
  venue: FeedVenue | FeedVenue[];
  categories: { name: string }[];
};

interface FeedVenue extends PostalAddress {
  /** A list if a password protects the venue. */
  venue: string | [];
}

export interface CalendarInfo {
  name: string;
  /** The address of the file. */
  url: string;
}

/** How often a calendar app should ask again. */
const REFRESH_S = 3600;
const MAX_URL = 2000;
const MAX_DESCRIPTION = 2000;
const DAY_MS = 86_400_000;
/** Years have four digits in iCalendar. */
const LAST_DAY_MS = Date.UTC(9999, 11, 31);
/** SEQUENCE has 31 bits (RFC 5545, 3.3.8): seconds since 1970 would overflow in 2038. */
const SEQUENCE_START_MS = Date.UTC(2000, 0, 1);

/** A VEVENT with folded lines, and the zone that its times name, if they name one. */
export interface CalendarEvent {
  bytes: Buffer;
  timeZone: VTimeZone | undefined;
}

/** `site` is the result of `siteName`. Undefined for an event without dates: a VEVENT must have a start. */
export function calendarEvent(event: FeedEvent, site: string): CalendarEvent | undefined {
  if (parseWallTime(event.start_date) === undefined) return undefined;
  const { timeZone, ...times } = timesOf(event);
  const text = ical()
    .createEvent({ ...eventData(event, site), ...times })
    .toString();
  return { bytes: utf8(foldLines(text)), timeZone };
}

const END = 'END:VCALENDAR';

/** One VCALENDAR with the events and the time zones that they name. */
export function calendarFile(events: readonly CalendarEvent[], { name, url }: CalendarInfo): Buffer {
  const calendar = ical({
    prodId: { company: 'calendar-gateway', product: 'events' },
    // The library does not escape the name.
    name: escapeText(textLine(name), false),
    method: ICalCalendarMethod.PUBLISH,
    source: url,
    ttl: REFRESH_S,
  });
  const head = calendar.toString().slice(0, -END.length);
  const timeZones = new Set(events.flatMap(({ timeZone }) => timeZone?.component ?? []));
  const components = [...timeZones].map((component) => `${component}\r\n`);
  const bytes = events.map((event) => event.bytes);
  return joinBytes([utf8(head + components.join('')), ...bytes, utf8(`${END}\r\n`)]);
}

/**
 * None for an event of which the CMS says nothing. A postponed event is tentative: CONFIRMED would promise its old date,
 * and with CANCELLED apps remove it.
 */
function statusOf({ status, event_status: state }: FeedEvent): ICalEventStatus | null {
  if (status === 'trash' || state === 'cancelled') return ICalEventStatus.CANCELLED;
  if (status !== 'publish' || state === 'postponed') return ICalEventStatus.TENTATIVE;
  return state === undefined ? null : ICalEventStatus.CONFIRMED;
}

/** The title: few calendar apps show a status. */
export const titleOf = (event: FeedEvent): string => withState(event, textLine(event.title));

/** The text, cut; before it the state with its reason, if the CMS gives one. */
export function linesOf(event: FeedEvent, html: string, maxCharacters: number): string[] {
  const reason = textLine(event.event_status_reason ?? '');
  const state = reason === '' ? '' : withState(event, reason);
  return [state, ...textLines(html, maxCharacters)].filter((line) => line !== '');
}

function eventData(event: FeedEvent, site: string): Omit<ICalEventData, 'start'> {
  const changedMs = lastChangeMs(event);
  const location = placeOf(event);
  const page = shortAddress(event.url);
  return {
    id: `event-${event.id}@${site}`,
    sequence: Math.max(0, Math.floor((changedMs - SEQUENCE_START_MS) / 1000)),
    // Not the time of the response: an unchanged file keeps its ETag.
    stamp: new Date(changedMs),
    lastModified: new Date(changedMs),
    summary: titleOf(event),
    description: linesOf(event, event.description || event.excerpt, MAX_DESCRIPTION).join('\n') || null,
    ...(location === '' ? {} : { location }),
    ...(page === undefined ? {} : { url: page }),
    categories: event.categories.map(({ name }) => ({ name: textLine(name) })),
    status: statusOf(event),
  };
}

const shortAddress = (url = ''): string | undefined => (url.length > MAX_URL ? undefined : webAddress(url));

/** The last change of an event; its publication if the CMS gives no change, 1970 if it gives neither. */
export const lastChangeMs = ({ modified_utc, date_utc }: FeedEvent): number =>
  parseWallTime(modified_utc) ?? parseWallTime(date_utc) ?? 0;

/** All-day events have dates, of which the end is excluded. Others have times in their zone, or in UTC. */
function timesOf(
  event: FeedEvent,
): Pick<ICalEventData, 'start' | 'end' | 'allDay' | 'timezone'> & Pick<CalendarEvent, 'timeZone'> {
  const { start_date: start, end_date: end, utc_start_date: startUtc, utc_end_date: endUtc } = event;
  if (event.all_day) {
    const [first, last] = wholeDays(start, end).map((day) => wallTimeMs(`${day} 00:00:00`)) as [number, number];
    const endMs = Math.min(Math.max(first, last) + DAY_MS, LAST_DAY_MS);
    return {
      allDay: true,
      start: new Date(first),
      timeZone: undefined,
      ...(endMs > first ? { end: new Date(endMs) } : {}),
    };
  }
  const timeZone = exactTimeZone(event.timezone, [
    { wall: start, utc: startUtc },
    { wall: end, utc: endUtc },
  ]);
  const [from, to, timezone] = timeZone ? [start, end, timeZone.tzid] : [startUtc, endUtc, null];
  // DTEND must be later than DTSTART.
  const hasEnd = endUtc > startUtc;
  return { start: wallDate(from), ...(hasEnd ? { end: wallDate(to) } : {}), timezone, timeZone };
}

/**
 * A wall time that ical-generator writes as it is: it converts a JavaScript date to the zone of this process.
 * The library takes any object with these methods of Day.js.
 */
function wallDate(wall: WallTime): ICalDayJsStub {
  const date: ICalDayJsStub = {
    format: (pattern) => (pattern === 'YYYYMMDD' ? wall.slice(0, 10) : wall.slice(11)).replace(/\D/g, ''),
    isValid: () => true,
    toDate: () => new Date(wallTimeMs(wall)),
    toJSON: () => wall,
    tz: () => date,
    utc: () => date,
  };
  return date;
}

/** The names and addresses of the venues whose names no password protects, and where people attend online. */
export function placeOf({ venue, online_url: online }: Pick<FeedEvent, 'venue' | 'online_url'>): string {
  const places = [venue]
    .flat()
    .map(({ venue: name, ...address }) =>
      typeof name === 'string' ? [name, postalAddress(address)].filter(Boolean).join(', ') : '',
    );
  const names = textLine(places.filter((place) => place !== '').join('; '));
  return [names, shortAddress(online) ?? ''].filter((place) => place !== '').join('; ');
}

// Time zones: VTIMEZONE components (RFC 5545, 3.6.5), and which times a calendar app reads from them as they are meant

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
function exactTimeZone(zoneText: string, times: readonly { wall: WallTime; utc: WallTime }[]): VTimeZone | undefined {
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
