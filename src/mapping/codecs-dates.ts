// How CMSs write down dates and zones: local text, UTC text, unix seconds, several keys.

import { NO_TIME, type WallTime } from '../records.ts';
import { formatWall, parseWall, wallMs } from '../time/wall.ts';
import { parseZone, utcToWall, utcZone, wallToUtc, type Zone } from '../time/zones.ts';
import { type Codec, Unholdable, type Zones } from './codecs.ts';
import { type DateFormat, readLooseDate } from './date-format.ts';

/** Whose clock a stored date shows. */
export type Clock = 'event' | 'site' | 'utc';

/** The zone to compute with: the event's, or the site's where that is none, or UTC. */
function effectiveZone(zones: Zones): Zone {
  return parseZone(zones.event) ?? siteZone(zones);
}

function siteZone(zones: Zones): Zone {
  return parseZone(zones.site) ?? utcZone;
}

function zoneOf(clock: Clock, zones: Zones): Zone {
  if (clock === 'event') return effectiveZone(zones);
  return clock === 'site' ? siteZone(zones) : utcZone;
}

/** The same instant on another clock. */
function moved(wall: WallTime, from: Zone, to: Zone): WallTime {
  return from === to || sameZone(from, to) ? wall : utcToWall(wallToUtc(wall, from), to);
}

function sameZone(one: Zone, other: Zone): boolean {
  if (one.kind === 'iana') return other.kind === 'iana' && one.name === other.name;
  return other.kind !== 'iana' && one.minutes === other.minutes;
}

/** A date as text on some clock. */
export function dateTextCodec(format: DateFormat, clock: Clock): Codec {
  return {
    read: (stored, zones) => {
      const text = typeof stored === 'number' ? String(stored) : stored;
      if (typeof text !== 'string') return undefined;
      const wall = format.read(text) ?? readLooseDate(text);
      return wall && moved(wall, zoneOf(clock, zones), effectiveZone(zones));
    },
    write: (value, zones) => {
      const wall = String(value);
      if (wall === '') return '';
      const stored = moved(wall, effectiveZone(zones), zoneOf(clock, zones));
      checkHoldable(stored, format);
      return format.write(stored);
    },
    ...(clock === 'event' ? {} : { needsZone: true }),
  };
}

/** A format may lose seconds, and the time of a whole day; nothing else. */
function checkHoldable(wall: WallTime, format: DateFormat): void {
  if (format.hasTime) return;
  const time = wall.slice(11);
  if (time !== '00:00:00' && time !== '23:59:59') throw new Unholdable('only whole days can be stored here');
}

/**
 * Unix seconds. `wallClockAsUtc`: the seconds at which a clock in UTC would show the event's own wall-clock time, as
 * some plugins store it, and no instant (upstream-wordpress 4.5).
 */
export function unixCodec(wallClockAsUtc: boolean, asText: boolean): Codec {
  return {
    read: (stored, zones) => {
      const seconds = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
      if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds === 0) return undefined;
      const utc = formatWall(seconds * 1000);
      return wallClockAsUtc ? utc : utcToWall(utc, effectiveZone(zones));
    },
    write: (value, zones) => {
      const wall = String(value);
      const seconds = wallMs(wallClockAsUtc ? wall : wallToUtc(wall, effectiveZone(zones))) / 1000;
      return asText ? String(seconds) : seconds;
    },
    ...(wallClockAsUtc ? {} : { needsZone: true }),
  };
}

/** The CMS's own dates: `2027-01-10T10:00:00` in site time or UTC, neither converted. */
export const cmsDateCodec: Codec = {
  read: (stored) => {
    if (typeof stored !== 'string') return undefined;
    const wall = stored.replace('T', ' ').slice(0, 19);
    return parseWall(wall) === undefined ? undefined : wall;
  },
  write: (value) => {
    const wall = String(value);
    // No date at all is how WordPress takes "not published yet".
    return wall === '' || wall === NO_TIME ? null : wall.replace(' ', 'T');
  },
};

export interface ZoneForms {
  /** How the CMS says "the site's zone"; the zone's name when absent. */
  site?: string;
  /** The CMS takes names of the tz database and `+02:00` only: other spellings are turned into these. */
  strict?: boolean;
}

/** The text of a time zone. A blank one is the site's. */
export function zoneCodec(forms: ZoneForms): Codec {
  return {
    read: (stored, zones) => {
      if (typeof stored !== 'string' || stored.trim() === '') return undefined;
      return forms.site !== undefined && stored === forms.site ? zones.site : stored.trim();
    },
    write: (value, zones) => {
      const text = String(value);
      if (forms.site !== undefined && (text === zones.site || text === '')) return forms.site;
      return forms.strict ? strictZone(text || zones.site) : text;
    },
  };
}

function strictZone(text: string): string {
  const zone = parseZone(text);
  if (!zone) throw new Unholdable('only a time zone can be stored here');
  if (zone.kind === 'iana') return zone.name;
  const size = Math.abs(zone.minutes);
  const digits = [Math.floor(size / 60), size % 60].map((part) => String(Math.floor(part)).padStart(2, '0'));
  return `${zone.minutes < 0 ? '-' : '+'}${digits.join(':')}`;
}
