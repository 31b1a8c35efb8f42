// The check of lists that only plugins of WordPress make necessary: hidden past events.

import type { EventRecord } from '../../../model/records.ts';
import { formatWallTime } from '../../../time/wall-time.ts';
import { readOldestEvents } from '../../sample-records.ts';
import { type Check, type Finding, warn } from '../checks.ts';
import { SERIES_CHECK } from '../lists.ts';
import { advise } from './advice.ts';

/** With fewer events it is no surprise that none is over. */
const MIN_EVENTS = 10;

export const LIST_CHECKS: readonly Check[] = [
  {
    area: 'lists',
    name: 'past events',
    run: async ({ mapping, site, connection }) =>
      judgePastEvents(await readOldestEvents(connection, mapping, site), formatWallTime(Date.now())),
  },
  SERIES_CHECK,
];

/** Some plugins hide past events from lists: then none of many events is over. `nowUtc`: `YYYY-MM-DD HH:MM:SS`. */
export function judgePastEvents(events: readonly Pick<EventRecord, 'endUtc'>[], nowUtc: string): Finding[] {
  const ends = events.map(({ endUtc }) => endUtc).filter((end) => end !== '');
  if (ends.length < MIN_EVENTS || ends.some((end) => end <= nowUtc)) return [];
  return [warn(`none among ${ends.length} events: some plugins list only upcoming ones`, advise('past-events'))];
}
