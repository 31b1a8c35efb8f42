// Codecs of the dates that the CMS itself keeps, publication and modification: `cms-date` for WordPress, `instant` for
// a CMS that stores instants. Internal: mappings cannot name them.

import { NO_TIME } from '../../model/records.ts';
import { isoToWall, parseWallTime } from '../../time/wall-time.ts';
import { siteZone, utcZone } from '../../time/zones.ts';
import type { CodecDefinition } from './codec.ts';
import { convertWallTime } from './datetime.ts';

export const cmsDate: CodecDefinition<never> = {
  name: 'cms-date',
  fits: ['site-time', 'utc-time'],
  defaultFor: ['site-time', 'utc-time'],
  internal: true,
  metaType: () => ({ type: 'string' }),
  create: () => ({
    read: (stored) => {
      if (typeof stored !== 'string') return undefined;
      const wall = isoToWall(stored);
      return parseWallTime(wall) === undefined ? undefined : wall;
    },
    write: (value) => {
      const wall = String(value);
      // WordPress takes null as "not published yet".
      return wall === '' || wall === NO_TIME ? null : wall.replace(' ', 'T');
    },
  }),
};

export const instant: CodecDefinition<never> = {
  name: 'instant',
  fits: ['site-time', 'utc-time'],
  internal: true,
  metaType: () => ({ type: 'string' }),
  create: (_options, { type }) => {
    const zoneOf = (site: string) => (type === 'site-time' ? siteZone(site) : utcZone);
    return {
      read: (stored, { site }) => {
        if (typeof stored !== 'string') return undefined;
        const utc = isoToWall(stored);
        return parseWallTime(utc) === undefined ? undefined : convertWallTime(utc, utcZone, zoneOf(site));
      },
      write: (value, { site }) => {
        const wall = String(value);
        if (wall === '' || wall === NO_TIME) return undefined;
        return `${convertWallTime(wall, zoneOf(site), utcZone).replace(' ', 'T')}.000Z`;
      },
    };
  },
};
