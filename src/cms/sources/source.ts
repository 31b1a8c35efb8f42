// What a read-only calendar beside the CMS gives: a snapshot of all its events, or the news that nothing changed.

import type { AttendanceMode, EventStatus } from '../../model/event-state.ts';
import type { WallTime } from '../../model/records.ts';

/** Of one answer of a source. */
export const MAX_SOURCE_BYTES = 10 * 1024 * 1024;
/** Of one source, each instance of a series counted. */
export const MAX_SOURCE_EVENTS = 20_000;
/** Of an iCalendar file, as for the recurring events of WordPress plugins. Single events may be later. */
export const SERIES_WINDOW = { pastDays: 180, futureDays: 366 };
/** Of a series: those nearest to today. */
export const MAX_INSTANCES = 1000;

/**
 * An event, as its source describes it: what is absent or empty, the source does not say. Titles, names and
 * descriptions are HTML as in the replica: `R&amp;D`. Those of descriptions and excerpts are safe (text/safe-html.ts).
 */
export interface SourceEvent {
  /**
   * Names the event for ever within its source: the UID, and for an instance of a series also its start
   * (`uid/20270501T180000Z`).
   */
  key: string;
  /** The iCalendar UID, or the `global_id` of an events/v1 site: equal ones of two sources are the same event. */
  uid: string;
  title: string;
  description: string;
  excerpt?: string;
  /** In `timezone`. A whole day is 00:00:00 to 23:59:59. */
  start: WallTime;
  end: WallTime;
  startUtc: WallTime;
  endUtc: WallTime;
  timezone: string;
  allDay: boolean;
  cost?: string;
  website?: string;
  /** The page of the event at its origin. */
  url: string;
  eventStatus: EventStatus | '';
  eventStatusReason?: string;
  attendanceMode: AttendanceMode | '';
  onlineUrl: string;
  createdUtc?: WallTime | undefined;
  modifiedUtc?: WallTime | undefined;
  /** Names, in the order of the source. */
  categories: string[];
  tags?: string[];
  venue?: SourceVenue | undefined;
  organizers: SourceOrganizer[];
  /** By its address: never downloaded. `0`: the source does not say how large it is. */
  image?: { url: string; width: number; height: number } | undefined;
}

/** Texts as in a venue of the replica. */
export interface SourceVenue {
  name: string;
  address: string;
  city?: string;
  country?: string;
  province?: string;
  state?: string;
  zip?: string;
  phone?: string;
  website?: string;
  latitude: number | null;
  longitude: number | null;
}

/**
 * Coordinates of a venue. Both are null if one is missing (`NaN`) or beyond 90 or 180 degrees, and if both are 0: some
 * programs write 0 and 0 for an empty form. With one 0 it is a real place: Greenwich has the longitude 0.
 */
export function placeAt(latitude: number, longitude: number): Pick<SourceVenue, 'latitude' | 'longitude'> {
  const isOnEarth = Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
  return isOnEarth && (latitude !== 0 || longitude !== 0)
    ? { latitude, longitude }
    : { latitude: null, longitude: null };
}

/** Without e-mail addresses: iCalendar's are of people. */
export interface SourceOrganizer {
  name: string;
  phone?: string;
  website: string;
}

/** What the next request sends, or compares its answer with. */
export interface SourceValidators {
  etag?: string;
  /** Of the whole answer, as the source computes it. */
  hash?: string;
}

/** Events of one source that are not served, or not quite as the source has them, for one reason. */
export interface Remark {
  /** What an operator understands: `private`, `no start`, `no UID: named by start and title`. */
  reason: string;
  count: number;
  /** A UID, or what else names the event in the source. */
  example: string;
}

/** A reason holds texts of the source: a file of a thousand unknown zones must not fill the status. */
const MAX_REMARKS = 50;

export function addRemark(remarks: Remark[], reason: string, example: string, count = 1): void {
  const known = remarks.find((remark) => remark.reason === reason);
  if (known) known.count += count;
  else if (remarks.length < MAX_REMARKS) remarks.push({ reason, count, example });
}

export interface SourceSnapshot {
  events: SourceEvent[];
  remarks: Remark[];
  /** The answer broke off: of what it lacks, nothing is known. */
  isTruncated?: boolean;
  validators: SourceValidators;
}

export interface Source {
  /**
   * All events now. Undefined: nothing changed since these validators.
   * @throws SourceError
   */
  read(previous: SourceValidators | undefined, signal: AbortSignal): Promise<SourceSnapshot | undefined>;
}

/** The whole source cannot be read. The message says to an operator why: `a web page instead of a calendar`. */
export class SourceError extends Error {
  override name = 'SourceError';
}
