// Writes serialized events and their zones as an iCalendar file (RFC 5545, with properties of RFC 7986 that apps read).

import ical, {
  escape as escapeText,
  foldLines,
  ICalCalendarMethod,
  type ICalDayJsStub,
  type ICalEventData,
  ICalEventStatus,
} from 'ical-generator';
import { EVENT_STATES, type ShownState, withState } from '../../model/event-state.ts';
import type { WallTime } from '../../model/records.ts';
import { joinBytes, utf8 } from '../../text/bytes.ts';
import { textLine, textLines } from '../../text/html.ts';
import { type PostalAddress, postalAddress, webAddress } from '../../text/text.ts';
import { DAY_MS, formatWallTime, parseWallTime, wallTimeMs, wholeDays } from '../../time/wall-time.ts';
import { instantsOf, offsetSpans, offsetText, parseZone } from '../../time/zones.ts';

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

export interface FeedVenue extends PostalAddress {
  /** A list if a password protects the venue. */
  venue: string | [];
}

export interface CalendarInfo {
  name: string;
  url: string;
}

const REFRESH_S = 3600;
const MAX_DESCRIPTION = 2000;
/** Years have four digits in iCalendar. */
const LAST_DAY_MS = Date.UTC(9999, 11, 31);
/** SEQUENCE has 31 bits (RFC 5545, 3.3.8): seconds since 1970 would overflow in 2038. */
const SEQUENCE_START_MS = Date.UTC(2000, 0, 1);

/** A VEVENT with folded lines. */
interface CalendarEvent {
  bytes: Buffer;
  /** The zone that its times name. Undefined if they are days, or in UTC. */
  zoneYears: ZoneYears | undefined;
}

/** A zone, and the years of an event's start and end: an event from 1970 to 9998 needs two of them. */
interface ZoneYears {
  name: string;
  years: readonly number[];
}

/** `site` is the result of `siteName`. Undefined for an event without dates: a VEVENT must have a start. */
export function calendarEvent(event: FeedEvent, site: string): CalendarEvent | undefined {
  if (parseWallTime(event.start_date) === undefined) return undefined;
  const zoneYears = event.all_day ? undefined : namedZone(event);
  const times = event.all_day ? daysOf(event) : timesOf(event, zoneYears?.name);
  const component = ical().createEvent({ ...eventData(event, site), ...times });
  return { bytes: utf8(foldLines(component.toString())), zoneYears };
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
  // The library writes no line end after the last line.
  const head = calendar.toString().slice(0, -END.length);
  const usedZones = events.flatMap(({ zoneYears }) => zoneYears ?? []);
  const zones = Map.groupBy(usedZones, ({ name: zone }) => zone);
  const components = [...zones].map(([zone, uses]) =>
    timeZoneComponent(zone, new Set(uses.flatMap(({ years }) => years))),
  );
  const bytes = events.map((event) => event.bytes);
  return joinBytes([utf8(head + components.join('')), ...bytes, utf8(`${END}\r\n`)]);
}

/** A draft is tentative, unless it is cancelled. None for a published event of whose state the CMS says nothing. */
function statusOf({ status, event_status: state }: FeedEvent): ICalEventStatus | null {
  if (status === 'trash') return ICalEventStatus.CANCELLED;
  if (status !== 'publish' && state !== 'cancelled') return ICalEventStatus.TENTATIVE;
  return state === undefined ? null : ICalEventStatus[EVENT_STATES[state].calendar];
}

/** The title after the state, `Cancelled: Fair`: few calendar apps show a STATUS. */
export const titleOf = (event: FeedEvent): string => withState(event, textLine(event.title));

/** `2027-03-12`, `2027-03-12 to 2027-03-14` or `2027-03-12 19:00 to 21:00 (Europe/Berlin)`; empty without a date. */
export function whenOf({ start_date: start, end_date: end, all_day, timezone }: FeedEvent): string {
  if (start === '') return '';
  const [firstDay, lastDay] = all_day ? wholeDays(start, end) : [start.slice(0, 10), end.slice(0, 10)];
  if (all_day) return firstDay === lastDay ? firstDay : `${firstDay} to ${lastDay}`;
  const until = firstDay === lastDay ? end.slice(11, 16) : end.slice(0, 16);
  const zone = textLine(timezone);
  return `${start.slice(0, 16)}${end > start ? ` to ${until}` : ''} (${zone})`;
}

/** The text, cut; before it `Cancelled: Illness`, if the CMS gives a reason of the state. */
export function linesOf(event: FeedEvent, html: string, maxCharacters: number): string[] {
  const reason = textLine(event.event_status_reason ?? '');
  const lines = textLines(html, maxCharacters);
  return reason === '' ? lines : [withState(event, reason), ...lines];
}

function eventData(event: FeedEvent, site: string): Omit<ICalEventData, 'start'> {
  const changedMs = lastChangeMs(event);
  return {
    id: `event-${event.id}@${site}`,
    sequence: Math.max(0, Math.floor((changedMs - SEQUENCE_START_MS) / 1000)),
    // Not the time of the response: an unchanged file keeps its ETag.
    stamp: new Date(changedMs),
    lastModified: new Date(changedMs),
    summary: titleOf(event),
    description: linesOf(event, event.description || event.excerpt, MAX_DESCRIPTION).join('\n') || null,
    location: placeOf(event) || null,
    url: webAddress(event.url) ?? null,
    categories: event.categories.map(({ name }) => ({ name: textLine(name) })),
    status: statusOf(event),
  };
}

/** The last change of an event; its publication if the CMS gives no change, 1970 if it gives neither. */
export const lastChangeMs = ({ modified_utc, date_utc }: FeedEvent): number =>
  parseWallTime(modified_utc) ?? parseWallTime(date_utc) ?? 0;

type Times = Pick<ICalEventData, 'start' | 'end' | 'allDay' | 'timezone'>;

/** The days of an all-day event. `end` is the day after the last one: apps do not count the day of `end`. */
function daysOf({ start_date: start, end_date: end }: FeedEvent): Times {
  const [first, last] = wholeDays(start, end).map((day) => wallTimeMs(`${day} 00:00:00`)) as [number, number];
  const endMs = Math.min(Math.max(first, last) + DAY_MS, LAST_DAY_MS);
  return { allDay: true, start: new Date(first), end: endMs > first ? new Date(endMs) : null };
}

/** The times in the zone of this name; without one in UTC. */
function timesOf(event: FeedEvent, zone: string | undefined): Times {
  const start = zone === undefined ? event.utc_start_date : event.start_date;
  const end = zone === undefined ? event.utc_end_date : event.end_date;
  // DTEND must be later than DTSTART.
  const hasEnd = event.utc_end_date > event.utc_start_date;
  return { start: wallDate(start), end: hasEnd ? wallDate(end) : null, timezone: zone ?? null };
}

/**
 * A wall time that ical-generator writes as it is: it converts a JavaScript date to the zone of this process.
 * The library takes any object with these methods of Day.js. It asks for `YYYYMMDD` and for `HHmmss`.
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
  const named = [venue].flat().filter(({ venue: name }) => typeof name === 'string');
  const places = named.map(({ venue: name, ...address }) => [name, postalAddress(address)].filter(Boolean).join(', '));
  const names = textLine(places.filter(Boolean).join('; '));
  return [names, webAddress(online)].filter(Boolean).join('; ');
}

/** Zones of earlier years have seconds in their offsets: events before this year are written in UTC. */
const FIRST_ZONE_YEAR = 1970;

/**
 * The zone by which apps read the wall times of the event as their instants. Undefined, so that they are written in
 * UTC, for a fixed offset or an abbreviation, and for a time that the clock shows twice or skips: 02:30 in Berlin.
 */
function namedZone({ timezone, ...event }: FeedEvent): ZoneYears | undefined {
  const zone = parseZone(timezone);
  if (zone?.kind !== 'iana') return undefined;
  const isExact = (wall: WallTime, utc: WallTime) => instantsOf(wall, zone).join() === String(wallTimeMs(utc));
  if (!isExact(event.start_date, event.utc_start_date) || !isExact(event.end_date, event.utc_end_date))
    return undefined;
  const years = [event.utc_start_date, event.utc_end_date].map((utc) => Number(utc.slice(0, 4)));
  return Math.min(...years) < FIRST_ZONE_YEAR ? undefined : { name: zone.name, years };
}

/** A VTIMEZONE (RFC 5545, 3.6.5): the offset as the first year begins, and every later change that these years show. */
function timeZoneComponent(name: string, years: ReadonlySet<number>): string {
  const lines = ['BEGIN:VTIMEZONE', `TZID:${name}`];
  let before: number | undefined;
  for (const year of [...years].sort((a, b) => a - b)) {
    let startMs = Date.UTC(year, 0, 1);
    const spans = offsetSpans(name, year);
    const standardMs = Math.min(...spans.map(({ offsetMs }) => offsetMs));
    for (const { offsetMs, untilMs } of spans) {
      const kind = offsetMs === standardMs ? 'STANDARD' : 'DAYLIGHT';
      if (offsetMs !== before) lines.push(...offsetChange(kind, startMs, before ?? offsetMs, offsetMs));
      before = offsetMs;
      startMs = untilMs;
    }
  }
  return `${[...lines, 'END:VTIMEZONE'].join('\r\n')}\r\n`;
}

/** DTSTART is on the clock before the change: `DTSTART:20270328T020000` in Berlin. */
function offsetChange(kind: 'STANDARD' | 'DAYLIGHT', atMs: number, fromMs: number, toMs: number): string[] {
  const start = formatWallTime(atMs + fromMs)
    .replace(/[-:]/g, '')
    .replace(' ', 'T');
  const [from, to] = [fromMs, toMs].map((ms) => offsetText(ms / 60_000));
  return [`BEGIN:${kind}`, `DTSTART:${start}`, `TZOFFSETFROM:${from}`, `TZOFFSETTO:${to}`, `END:${kind}`];
}
