// What the date parameters mean: the windows and bounds of a list, and the start, end and publication date of a record that is written.

import type { WallTime } from '../records.ts';
import type { DateBound } from '../replica/filters.ts';
import { type PhpDate, parsePhpDate, plainDay, unixSeconds } from '../time/php-dates.ts';
import { addMonths, endOfDay, formatWall, startOfDay } from '../time/wall.ts';
import { epochToWallMs, parseZone, utcZone, wallToUtc, type Zone } from '../time/zones.ts';
import { invalidParam } from './refusals.ts';

/** The site's zone, or UTC where the CMS names one that is unknown here. */
export const siteZone = (name: string): Zone => parseZone(name) ?? utcZone;

/** The clock of `zone` at a moment. */
const wallAt = (epochMs: number, zone: Zone): WallTime => formatWall(epochToWallMs(epochMs, zone));

/** Parameter -> which end of the event it compares, how, and which second of the day counts when whole days are asked for (interface-behaviour 3.1). */
const COMPARES = {
  start_date: { field: 'start', op: '>=', widen: startOfDay },
  end_date: { field: 'end', op: '<=', widen: endOfDay },
  starts_before: { field: 'start', op: '<', widen: endOfDay },
  starts_after: { field: 'start', op: '>', widen: endOfDay },
  ends_before: { field: 'end', op: '<', widen: endOfDay },
  ends_after: { field: 'end', op: '>', widen: endOfDay },
} as const satisfies Record<
  string,
  { field: DateBound['field']; op: DateBound['op']; widen: (wall: WallTime) => WallTime }
>;

export type DateParameter = keyof typeof COMPARES;
const DATE_PARAMETERS = Object.keys(COMPARES) as DateParameter[];

export interface DateWindow {
  bounds: DateBound[];
  /** Effective values, as `rest_url` repeats them. */
  shown: Partial<Record<DateParameter, WallTime>>;
  /** Until when the same question has the same bounds, milliseconds since 1970. */
  validUntilMs: number;
}

/** The start and end that a list without any date has, before they are widened to whole days. */
export function defaultWindow(nowMs: number, zone: Zone): { start: WallTime; end: WallTime } {
  const yesterday = Date.parse(`${new Date(nowMs).toISOString().slice(0, 10)}T00:00:00Z`) - 60_000;
  const utcMinute = formatWall(nowMs - (nowMs % 60_000));
  return { start: wallAt(yesterday, zone), end: addMonths(utcMinute, 24) };
}

const ABSOLUTE = /^\s*\d{4}-\d{1,2}-\d{1,2}/;
const SECOND_MS = 1000;

/**
 * The bounds that a list's date parameters set. Whole days by default: the date as written, of UTC where the text names a zone or
 * is a number; relative words by the site's clock. `strict`: the bound to the second, on the site's clock.
 * @param values parameter -> text that was found readable
 * @throws GatewayError `rest_invalid_param` for a moment that lies outside the years 0000 to 9999 on the site's clock
 */
export function dateWindow(
  values: Partial<Record<DateParameter, string>>,
  options: { strict: boolean; nowMs: number; zone: Zone; withDefaults: boolean },
): DateWindow {
  const { strict, nowMs, zone } = options;
  const asked = { ...values };
  const edges = DATE_PARAMETERS.slice(2).some((name) => asked[name] !== undefined);
  const bounds: DateBound[] = [];
  const shown: DateWindow['shown'] = {};
  let lasting = true;
  let defaults: ReturnType<typeof defaultWindow> | undefined;

  for (const name of DATE_PARAMETERS) {
    const { field, op, widen } = COMPARES[name];
    const text = asked[name];
    let wall: WallTime | undefined;
    if (text !== undefined) {
      wall = strict ? strictBound(name, text, options) : widen(wholeDay(name, text, options));
      lasting &&= ABSOLUTE.test(text);
    } else if (options.withDefaults && !edges && (name === 'start_date' || name === 'end_date')) {
      defaults ??= defaultWindow(nowMs, zone);
      const preset = name === 'start_date' ? defaults.start : defaults.end;
      wall = strict ? preset : widen(preset);
      lasting &&= !strict;
    }
    if (wall === undefined) continue;
    bounds.push({ field, op, wall });
    shown[name] = wall;
  }
  return { bounds, shown, validUntilMs: lasting ? nextUtcMidnight(nowMs) : nowMs + SECOND_MS };
}

interface Clock {
  nowMs: number;
  zone: Zone;
}

/** Reads a date text again, since a text that is valid in UTC may lie outside the years 0000 to 9999 in another zone. */
function readDate(name: string, text: string, clock: Clock): PhpDate {
  const date = parsePhpDate(text, clock);
  if (!date) throw invalidParam(name);
  return date;
}

function wholeDay(name: string, text: string, { nowMs, zone }: Clock): WallTime {
  const day = plainDay(text);
  if (day !== undefined) return `${day} 00:00:00`;
  const seconds = unixSeconds(text);
  if (seconds === 0) return wallAt(nowMs, zone);
  if (seconds !== undefined) return formatWall(seconds * SECOND_MS);
  const date = readDate(name, text, { nowMs, zone });
  return date.zoneNamed ? formatWall(date.epochMs) : date.wall;
}

function strictBound(name: string, text: string, { nowMs, zone }: Clock): WallTime {
  const seconds = unixSeconds(text);
  return wallAt(seconds !== undefined ? seconds * SECOND_MS : readDate(name, text, { nowMs, zone }).epochMs, zone);
}

function nextUtcMidnight(nowMs: number): number {
  const dayMs = 86_400_000;
  return (Math.floor(nowMs / dayMs) + 1) * dayMs;
}

/** The moments of an event as they are stored. */
export interface EventTimes {
  start: WallTime;
  end: WallTime;
  timezone: string;
  allDay: boolean;
}

/**
 * What a create or update makes of an event's dates (interface-behaviour 5.4 and the departures on dates): texts are wall-clock time
 * in the event's zone; an offset in the text and Unix seconds name an instant, shown in that zone; all-day events cover whole days.
 * @param sent what was sent, as text; absent means "as before"
 * @param before the stored event; absent on create
 * @throws GatewayError `rest_invalid_param` naming `end_date` (or `start_date`, when only that was sent) when the end is before the start
 */
export function eventTimes(
  sent: { start?: string; end?: string; timezone?: string; allDay?: boolean },
  before: EventTimes | undefined,
  site: { zone: Zone; zoneName: string; nowMs: number },
): EventTimes {
  const timezone = sent.timezone === '' ? site.zoneName : (sent.timezone ?? before?.timezone ?? site.zoneName);
  const zone = parseZone(timezone) ?? site.zone;
  const allDay = sent.allDay ?? before?.allDay ?? false;
  const read = (name: string, text: string | undefined, stored: WallTime | undefined) =>
    text === undefined ? (stored ?? '') : writtenWall(name, text, { nowMs: site.nowMs, zone });
  let start = read('start_date', sent.start, before?.start);
  let end = read('end_date', sent.end, before?.end);
  if (allDay) {
    start = startOfDay(start);
    end = endOfDay(end);
  }
  if (end < start && (sent.start !== undefined || sent.end !== undefined)) {
    throw invalidParam(sent.end === undefined ? 'start_date' : 'end_date', 'The end lies before the start.');
  }
  return { start, end, timezone, allDay };
}

/**
 * A date text of a write, on the clock of `zone`: Unix seconds and texts that name a zone are instants.
 * @throws GatewayError `rest_invalid_param` that names the parameter
 */
export const writtenWall = strictBound;

/** UTC of a wall-clock time in a zone given by name; the site's zone where the name is unknown. */
export const utcOf = (wall: WallTime, timezone: string, site: Zone): WallTime =>
  wallToUtc(wall, parseZone(timezone) ?? site);
