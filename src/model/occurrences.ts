// The ids of the occurrences of a series. The CMS has one record for a series; the gateway gives each of its
// occurrences an id that is computed from the series and the day, so that it stays the same for ever.

import { FIRST_ALLOCATED_ID, FIRST_EMBEDDED_ID, type WallTime } from './records.ts';

/** Above all ids of posts and terms, below those of embedded records. */
export const FIRST_OCCURRENCE_ID = 2_000_000_000_000_000;

const IDS_PER_DAY = 100;
const MAX_DAYS = 100_000;
const IDS_PER_SERIES = MAX_DAYS * IDS_PER_DAY;
const DAY_MS = 86_400_000;
/** The occurrences of later series would get the ids of embedded records. */
const SERIES = Math.floor((FIRST_EMBEDDED_ID - FIRST_OCCURRENCE_ID) / IDS_PER_SERIES);
/** Series with ids of the CMS have numbers below this one. Series whose ids the gateway allocates have numbers from this one on. */
const FIRST_ALLOCATED_SERIES = 200_000_000;

/** The number of the series in the ids of its occurrences. Undefined if its id is too high. */
function seriesNumber(id: number): number | undefined {
  if (id < FIRST_ALLOCATED_ID) return id < FIRST_ALLOCATED_SERIES ? id : undefined;
  const number = id - FIRST_ALLOCATED_ID + FIRST_ALLOCATED_SERIES;
  return number < SERIES ? number : undefined;
}

/**
 * 2,000,000,000,000,000 + number of the series × 10,000,000 + day × 100 + place. `day` counts the days from 1970-01-01 to
 * the date of the start on the event's own clock; `place` counts the occurrences of that day,
 * from 0. Undefined if that is outside the ids of the series.
 */
export function occurrenceId(seriesId: number, start: WallTime, place: number): number | undefined {
  const day = Date.parse(`${start.slice(0, 10)}T00:00:00Z`) / DAY_MS;
  const series = seriesNumber(seriesId);
  const isInRange = day >= 0 && day < MAX_DAYS && place < IDS_PER_DAY;
  if (series === undefined || !isInRange) return undefined;
  return FIRST_OCCURRENCE_ID + series * IDS_PER_SERIES + day * IDS_PER_DAY + place;
}

export const isOccurrenceId = (id: number): boolean => id >= FIRST_OCCURRENCE_ID && id < FIRST_EMBEDDED_ID;

/** The id of the series that the occurrence belongs to; any other id as it is. */
export function seriesIdOf(id: number): number {
  if (!isOccurrenceId(id)) return id;
  const series = Math.floor((id - FIRST_OCCURRENCE_ID) / IDS_PER_SERIES);
  return series < FIRST_ALLOCATED_SERIES ? series : series - FIRST_ALLOCATED_SERIES + FIRST_ALLOCATED_ID;
}

/** All ids that the occurrences of a series may have, `to` excluded. */
export function occurrenceIdRange(seriesId: number): { from: number; to: number } {
  const series = seriesNumber(seriesId);
  const from = FIRST_OCCURRENCE_ID + (series ?? 0) * IDS_PER_SERIES;
  return { from, to: series === undefined ? from : from + IDS_PER_SERIES };
}
