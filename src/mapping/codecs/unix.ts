// Codec `unix`: a date as seconds since 1970.

import { earliestMs, formatWallTime, latestMs, wallTimeMs } from '../../time/wall-time.ts';
import { utcToWall, wallToUtc } from '../../time/zones.ts';
import type { CodecDefinition } from './codec.ts';
import { eventZone } from './datetime.ts';

interface UnixOptions {
  /** Some plugins store the event's own wall time, counted as if it were UTC, instead of the instant. */
  wallClockAsUtc?: boolean;
  asText?: boolean;
}

export const unix: CodecDefinition<UnixOptions> = {
  name: 'unix',
  fits: ['wall-time'],
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: { wallClockAsUtc: { type: 'boolean' }, asText: { type: 'boolean' } },
  },
  metaType: ({ asText } = {}) => ({ type: asText ? 'string' : 'integer' }),
  create: ({ wallClockAsUtc = false, asText = false } = {}) => ({
    read: (stored, zones) => {
      const seconds = typeof stored === 'string' && stored.trim() !== '' ? Number(stored) : stored;
      if (typeof seconds !== 'number' || seconds === 0) return undefined;
      const ms = seconds * 1000;
      // A time beyond the year 9999 is not one in seconds: some plugins count milliseconds.
      if (!(ms >= earliestMs && ms <= latestMs)) return undefined;
      const utc = formatWallTime(ms);
      return wallClockAsUtc ? utc : utcToWall(utc, eventZone(zones));
    },
    write: (value, zones) => {
      const wall = String(value);
      const seconds = wallTimeMs(wallClockAsUtc ? wall : wallToUtc(wall, eventZone(zones))) / 1000;
      return asText ? String(seconds) : seconds;
    },
    needsZone: !wallClockAsUtc,
  }),
};
