// Codec `instant`: the publication and modification dates of a CMS that stores instants, such as
// `2027-01-10T15:00:00.000Z`. Internal: mappings cannot name it.

import { NO_TIME } from '../../model/records.ts';
import { parseWallTime } from '../../time/wall-time.ts';
import { siteZone, utcZone } from '../../time/zones.ts';
import { convertWallTime } from './clock.ts';
import type { CodecDefinition } from './codec.ts';

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
        const utc = stored.replace('T', ' ').slice(0, 19);
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
