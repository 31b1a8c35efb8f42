// Checks of lists that only plugins of WordPress make necessary: hidden past events, and series.

import type { CmsRecord } from '../../../cms/port.ts';
import { isSeries, MAX_OCCURRENCES, OCCURRENCES_FIELD } from '../../../mapping/occurrences.ts';
import type { EventRecord } from '../../../model/records.ts';
import { formatWallTime } from '../../../time/wall-time.ts';
import { readOldestEvents } from '../../sample-records.ts';
import { type Check, type Finding, ok, pluralized, warn } from '../checks.ts';
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
  {
    area: 'lists',
    name: 'series',
    async run({ config, mapping, records }) {
      const events = (await records()).event ?? [];
      return mapping.kinds.event.occurrences
        ? judgeSeries(
            events.map(({ cmsRecord }) => cmsRecord),
            config.mapping,
          )
        : [];
    },
  },
];

/** @param mapping its name in the configuration */
export function judgeSeries(events: readonly CmsRecord[], mapping: string): Finding[] {
  if (events.length === 0) return [];
  if (events.some((event) => event[OCCURRENCES_FIELD] === undefined))
    return [
      warn(
        'the site does not send the occurrences of series: the gateway lists the first occurrence only',
        advise('companion-plugin', mapping),
      ),
    ];
  const series = events.filter(isSeries);
  const counts = series.map((event) => (event[OCCURRENCES_FIELD] as unknown[]).length);
  if (counts.some((count) => count >= MAX_OCCURRENCES))
    return [
      warn(
        `a series has more than ${MAX_OCCURRENCES} occurrences: the gateway lists those that are nearest to today`,
        advise('series-window'),
      ),
    ];
  const total = counts.reduce((sum, count) => sum + count, 0);
  return [ok(`${series.length} of ${pluralized(events.length, 'event')} are series, with ${total} occurrences`)];
}

/** Some plugins hide past events from lists: then none of many events is over. `nowUtc`: `YYYY-MM-DD HH:MM:SS`. */
export function judgePastEvents(events: readonly Pick<EventRecord, 'endUtc'>[], nowUtc: string): Finding[] {
  const ends = events.map(({ endUtc }) => endUtc).filter((end) => end !== '');
  if (ends.length < MIN_EVENTS || ends.some((end) => end <= nowUtc)) return [];
  return [warn(`none among ${ends.length} events: some plugins list only upcoming ones`, advise('past-events'))];
}
