// Codec `unix`: a date as seconds or milliseconds since 1970.

import { earliestMs, formatWallTime, latestMs, wallTimeMs } from '../../time/wall-time.ts';
import { utcToWall, wallToUtc } from '../../time/zones.ts';
import { type CodecDefinition, optionsOf } from './codec.ts';
import { eventZone } from './datetime.ts';

interface UnixOptions {
  /** Some plugins store the event's own wall time, counted as if it were UTC, instead of the instant. */
  wallClockAsUtc?: boolean;
  asText?: boolean;
  milliseconds?: boolean;
}

const FLAG = { type: 'boolean' };

export const unix: CodecDefinition<UnixOptions> = {
  name: 'unix',
  fits: ['wall-time'],
  optionsSchema: optionsOf({ wallClockAsUtc: FLAG, asText: FLAG, milliseconds: FLAG }),
  metaType: ({ asText } = {}) => ({ type: asText ? 'string' : 'integer' }),
  create: ({ wallClockAsUtc = false, asText = false, milliseconds = false } = {}) => ({
    read: (stored, zones) => {
      const count = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
      if (typeof count !== 'number' || count === 0) return undefined;
      const ms = milliseconds ? count : count * 1000;
      // A time beyond the year 9999 is not one in seconds: some plugins count milliseconds.
      if (!(ms >= earliestMs && ms <= latestMs)) return undefined;
      const utc = formatWallTime(ms);
      return wallClockAsUtc ? utc : utcToWall(utc, eventZone(zones));
    },
    write: (value, zones) => {
      const wall = String(value);
      const ms = wallTimeMs(wallClockAsUtc ? wall : wallToUtc(wall, eventZone(zones)));
      const count = milliseconds ? ms : ms / 1000;
      return asText ? String(count) : count;
    },
    needsZone: !wallClockAsUtc,
  }),
};
