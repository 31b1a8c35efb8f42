// Codec `cms-date`: WordPress's own dates, `2027-01-10T10:00:00` in site time or UTC. Internal: mappings
// cannot name it.

import { NO_TIME } from '../../model/records.ts';
import { parseWallTime } from '../../time/wall-time.ts';
import type { CodecDefinition } from './codec.ts';

export const cmsDate: CodecDefinition<never> = {
  name: 'cms-date',
  fits: ['site-time', 'utc-time'],
  defaultFor: ['site-time', 'utc-time'],
  internal: true,
  metaType: () => ({ type: 'string' }),
  create: () => ({
    read: (stored) => {
      if (typeof stored !== 'string') return undefined;
      const wall = stored.replace('T', ' ').slice(0, 19);
      return parseWallTime(wall) === undefined ? undefined : wall;
    },
    write: (value) => {
      const wall = String(value);
      // WordPress takes null as "not published yet".
      return wall === '' || wall === NO_TIME ? null : wall.replace(' ', 'T');
    },
  }),
};
