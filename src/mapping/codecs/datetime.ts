// Codecs of dates and zones: `local-datetime`, `site-datetime` and `utc-datetime` in a PHP date format, on one of three
// clocks; `unix`; those of the dates that the CMS itself keeps; `zone`; and the conversion from one clock to another.

import { isDeepStrictEqual } from 'node:util';
import { NO_TIME, type WallTime } from '../../model/records.ts';
import { EARLIEST_MS, formatWallTime, isoToWall, LATEST_MS, validWallTime, wallTimeMs } from '../../time/wall-time.ts';
import {
  offsetMinutes,
  offsetText,
  parseZone,
  utcToWall,
  utcZone,
  wallToUtc,
  type Zone,
  zoneOrUtc,
} from '../../time/zones.ts';
import { type DateFormat, parseDateFormat, parseIsoDate } from '../date-format.ts';
import type { Codec, CodecDefinition, Zones } from '../field-accessor.ts';
import { MappingFieldError, UnrepresentableValue } from '../paths.ts';

/** Whose clock a stored date shows. */
type Clock = 'event' | 'site' | 'utc';

const DEFAULT_FORMAT = 'Y-m-d H:i:s';
const DATE_LENGTH = '2027-05-01'.length;
const MINUTES_LENGTH = '2027-05-01 19:30'.length;

/**
 * 19:00 of an event in Berlin, on May 1, 2027, in front of a site in London, is stored in the format `H:i` as 19:00 on
 * the clock `event`, 18:00 on `site`, and 17:00 on `utc`.
 */
export function dateTimeCodec(format: DateFormat, clock: Clock): Codec {
  // `format.read` returns the time in UTC if the text has an offset: 19:30+02:00 reads as 17:30.
  const zoneOfText = (zones: Zones): Zone => (format.hasOffset ? utcZone : zoneOfClock(clock, zones));
  return {
    read: (stored, zones) => {
      const text = typeof stored === 'number' ? String(stored) : stored;
      if (typeof text !== 'string') return undefined;
      const wall = format.read(text);
      if (wall !== undefined) return convertWallTime(wall, zoneOfText(zones), eventZone(zones));
      // Whatever the format, people also type 2027-05-01T19:30, which has no offset.
      const typed = parseIsoDate(text);
      return typed && convertWallTime(typed, zoneOfClock(clock, zones), eventZone(zones));
    },
    write: (value, zones) => {
      const wall = String(value);
      if (wall === '') return '';
      const zone = eventZone(zones);
      const storedZone = zoneOfClock(clock, zones);
      const stored = convertWallTime(wall, zone, storedZone);
      const utc = wallToUtc(stored, storedZone);
      // When the site's clocks are set back from 3:00 to 2:00, two instants are stored as 2:30.
      if (utc !== wallToUtc(wall, zone))
        throw new UnrepresentableValue('the clock of the site shows this hour twice, and only one can be stored here');
      const text = format.write(stored, offsetMinutes(utc, storedZone));
      const readBack = convertWallTime(stored, storedZone, zoneOfText(zones));
      checkRepresentable(readBack, text, format);
      return text;
    },
    needsZone: clock !== 'event' || format.hasOffset,
  };
}

/**
 * What a format may drop:
 *
 *   2027-05-01 19:30:15   Y-m-d H:i   the seconds
 *   2027-05-01 23:59:59   Y-m-d       the time at which a whole day starts or ends
 *   2027-05-01 19:30:00   Y-m-d       refused: the time
 *   1950-05-01 00:00:00   d.m.y       refused: 50 reads as 2050
 */
function checkRepresentable(wall: WallTime, text: string, format: DateFormat): void {
  // A format that is only written is for a second key: another key has the whole date, and is read.
  if (format.whyWriteOnly !== undefined) return;
  const isDayLimit = /(?:00:00:00|23:59:59)$/.test(wall);
  if (!format.hasTime && !isDayLimit) throw new UnrepresentableValue('only whole days can be stored here');
  const kept = wall.slice(0, isDayLimit ? DATE_LENGTH : MINUTES_LENGTH);
  if (format.read(text)?.startsWith(kept)) return;
  const shown = text.replaceAll('\n', ' ');
  throw new UnrepresentableValue(`the CMS can store this as "${shown}" only, which is another time`);
}

function inFormat(clock: Clock): CodecDefinition<string> {
  return {
    fits: ['wall-time'],
    create: (pattern = DEFAULT_FORMAT, { pointer, writeOnly }) => {
      const format = parseDateFormat(pattern);
      if (typeof format === 'string') throw new MappingFieldError(pointer, format);
      if (format.whyWriteOnly !== undefined && !writeOnly) throw new MappingFieldError(pointer, format.whyWriteOnly);
      return dateTimeCodec(format, clock);
    },
  };
}

export const localDateTime: CodecDefinition<string> = { ...inFormat('event'), defaultFor: ['wall-time'] };
export const siteDateTime = inFormat('site');
export const utcDateTime = inFormat('utc');

/** The event's zone; the site's if that text is not a zone; else UTC. */
export const eventZone = ({ event, site }: Zones): Zone => parseZone(event) ?? zoneOrUtc(site);

function zoneOfClock(clock: Clock, zones: Zones): Zone {
  if (clock === 'event') return eventZone(zones);
  return clock === 'site' ? zoneOrUtc(zones.site) : utcZone;
}

/** The wall time that clocks in zone `to` show when those in zone `from` show `wall`. */
export function convertWallTime(wall: WallTime, from: Zone, to: Zone): WallTime {
  return isDeepStrictEqual(from, to) ? wall : utcToWall(wallToUtc(wall, from), to);
}

/** A date that the CMS itself keeps, publication or modification. */
function readCmsDate(stored: unknown): WallTime | undefined {
  return typeof stored === 'string' ? validWallTime(isoToWall(stored)) : undefined;
}

const isNoDate = (value: unknown): boolean => value === '' || value === NO_TIME;

/** The dates of WordPress itself. `mapping.schema.json` does not name the codec: it is the default of its types. */
export const cmsDate: CodecDefinition<never> = {
  fits: ['site-time', 'utc-time'],
  defaultFor: ['site-time', 'utc-time'],
  create: () => ({
    read: readCmsDate,
    // WordPress takes null as "not published yet".
    write: (value) => (isNoDate(value) ? null : String(value).replace(' ', 'T')),
  }),
};

/** The dates of a CMS that stores instants (`2027-05-01T17:30:00.000Z`). Only `CMS_RULES` names this codec. */
export const instant: CodecDefinition<never> = {
  fits: ['site-time', 'utc-time'],
  create: (_options, { field: { type } }) => {
    const clock = type === 'site-time' ? 'site' : 'utc';
    return {
      read: (stored, zones) => {
        const utc = readCmsDate(stored);
        return utc && convertWallTime(utc, utcZone, zoneOfClock(clock, zones));
      },
      write: (value, zones) => {
        // Payload sets its dates itself.
        if (isNoDate(value)) return undefined;
        return `${convertWallTime(String(value), zoneOfClock(clock, zones), utcZone).replace(' ', 'T')}.000Z`;
      },
    };
  },
};

interface UnixOptions {
  /** Some plugins store the event's own wall time, counted as if it were UTC, instead of the instant. */
  wallClockAsUtc?: boolean;
  asText?: boolean;
  milliseconds?: boolean;
}

export const unix: CodecDefinition<UnixOptions> = {
  fits: ['wall-time'],
  metaType: ({ asText } = {}) => ({ type: asText ? 'string' : 'integer' }),
  create: ({ wallClockAsUtc = false, asText = false, milliseconds = false } = {}) => ({
    read: (stored, zones) => {
      const count = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
      if (typeof count !== 'number' || count === 0) return undefined;
      const ms = milliseconds ? count : count * 1000;
      // A time beyond the year 9999 is not one in seconds: some plugins count milliseconds.
      if (!(ms >= EARLIEST_MS && ms <= LATEST_MS)) return undefined;
      const utc = formatWallTime(ms);
      return wallClockAsUtc ? utc : utcToWall(utc, eventZone(zones));
    },
    write: (value, zones) => {
      const wall = String(value);
      const ms = wallTimeMs(wallClockAsUtc ? wall : wallToUtc(wall, eventZone(zones)));
      const count = milliseconds ? ms : ms / 1000;
      if (count === 0) throw new UnrepresentableValue('the CMS would store this as 0, which is no date');
      return asText ? String(count) : count;
    },
    needsZone: !wallClockAsUtc,
  }),
};

interface ZoneOptions {
  /** The CMS's word for "the site's zone". Absent: the CMS stores the zone's name. */
  site?: string;
  /** The CMS accepts only names of the tz database and offsets such as `+02:00`; other spellings are converted. */
  strict?: boolean;
}

export const zone: CodecDefinition<ZoneOptions> = {
  fits: ['zone'],
  defaultFor: ['zone'],
  create: ({ site: siteWord, strict = false } = {}) => ({
    read: (stored, zones) => {
      if (typeof stored !== 'string' || stored.trim() === '') return undefined;
      return siteWord !== undefined && stored === siteWord ? zones.site : stored.trim();
    },
    write: (value, zones) => {
      const text = String(value);
      if (siteWord !== undefined && (text === zones.site || text === '')) return siteWord;
      if (!strict) return text;
      const parsed = parseZone(text || zones.site);
      if (!parsed) throw new UnrepresentableValue('only a time zone can be stored here');
      return parsed.kind === 'iana' ? parsed.name : offsetText(parsed.minutes, ':');
    },
  }),
};
