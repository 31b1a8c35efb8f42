// The ids of the occurrences of a series. The CMS has one record for a series; the gateway gives each of its
// occurrences an id that is computed from the series and the day, so that it stays the same for ever.

import { FIRST_EMBEDDED_ID, type WallTime } from './records.ts';

/** Above all ids of posts and terms, below those of embedded records. */
export const FIRST_OCCURRENCE_ID = 2_000_000_000_000_000;

const IDS_PER_DAY = 100;
const MAX_DAYS = 100_000;
const IDS_PER_SERIES = MAX_DAYS * IDS_PER_DAY;
const DAY_MS = 86_400_000;
/** The occurrences of later records would get the ids of embedded records. */
const LAST_SERIES_ID = Math.floor((FIRST_EMBEDDED_ID - FIRST_OCCURRENCE_ID) / IDS_PER_SERIES) - 1;

/**
 * 2,000,000,000,000,000 + series × 10,000,000 + day × 100 + number. `day` counts the days from 1970-01-01 to
 * the date of the start on the event's own clock; `number` is the place among the occurrences of that day,
 * from 0. Undefined if that is outside the ids of the series.
 */
export function occurrenceId(seriesId: number, start: WallTime, number: number): number | undefined {
  const day = Date.parse(`${start.slice(0, 10)}T00:00:00Z`) / DAY_MS;
  const isInRange = day >= 0 && day < MAX_DAYS && number < IDS_PER_DAY && seriesId <= LAST_SERIES_ID;
  return isInRange ? FIRST_OCCURRENCE_ID + seriesId * IDS_PER_SERIES + day * IDS_PER_DAY + number : undefined;
}

export const isOccurrenceId = (id: number): boolean => id >= FIRST_OCCURRENCE_ID && id < FIRST_EMBEDDED_ID;

/** The id of the series that the occurrence belongs to; any other id as it is. */
export const seriesIdOf = (id: number): number =>
  isOccurrenceId(id) ? Math.floor((id - FIRST_OCCURRENCE_ID) / IDS_PER_SERIES) : id;

/** All ids that the occurrences of a series may have, `to` excluded. */
export function occurrenceIdRange(seriesId: number): { from: number; to: number } {
  const from = FIRST_OCCURRENCE_ID + seriesId * IDS_PER_SERIES;
  return { from, to: from + IDS_PER_SERIES };
}
