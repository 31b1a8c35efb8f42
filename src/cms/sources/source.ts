// What a read-only calendar beside the CMS gives: a snapshot of all its events, or the news that nothing changed.

import type { EventFields, VenueFields, WallTime } from '../../model/records.ts';

export const MAX_SOURCE_BYTES = 10 * 1024 * 1024;
/** Of one source, each instance of a series counted. */
export const MAX_SOURCE_EVENTS = 20_000;
/** Of an event: longer texts of one line are cut, and longer addresses count as not said. */
export const MAX_LINE = 2000;
/** Categories, organizers or pictures of one event. */
export const MAX_LISTED = 100;
/** A site of 20,000 events is read at one page a second. */
export const READ_TIMEOUT_MS = 15 * 60_000;
/** What ended earlier is not read, of any source. */
export const PAST_DAYS = 180;
/** Of the series of an iCalendar file, as for the recurring events of WordPress plugins. Single events may be later. */
export const SERIES_FUTURE_DAYS = 366;

type TextField = 'title' | 'description' | 'url' | 'onlineUrl' | 'eventStatus' | 'attendanceMode';
export type TimeField = 'start' | 'end' | 'startUtc' | 'endUtc' | 'timezone' | 'allDay';
type OptionalField = 'excerpt' | 'cost' | 'website' | 'eventStatusReason';
type SharedFields = Pick<EventFields, TextField | TimeField> & Partial<Pick<EventFields, OptionalField>>;

/**
 * An event, as its source describes it, in the fields of the replica: what is absent or empty, the source does not say.
 * Titles, names and descriptions are HTML: `R&amp;D`. That of descriptions and excerpts is safe (text/safe-html.ts).
 * A whole day is 00:00:00 to 23:59:59. `url` is the event's page at its origin.
 */
export interface SourceEvent extends SharedFields {
  /** Names the event for ever in its source: of a file the UID, of an instance with its start; of a site its id. */
  key: string;
  /** The iCalendar UID, or the `global_id` of an events/v1 site: equal ones of two sources are the same event. */
  uid: string;
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

type Place = Pick<VenueFields, 'address' | 'latitude' | 'longitude'>;
export type SourceVenue = { name: string } & Place & Partial<VenueFields>;

/** Without e-mail addresses: iCalendar's are of people. */
export type SourceOrganizer = { name: string; phone?: string; website: string };

/** Only their reader knows them: a file's ETag and `2027-05-01 Europe/Vienna <hash>`; or ETags of pages, one a line. */
export interface SourceValidators {
  etag?: string;
  hash?: string;
}

/** Events of one source that are not served, or not quite as the source has them, for one reason. */
export interface Remark {
  /** What an operator understands: `private`, `no start`, `the unknown time zone CST`. */
  reason: string;
  count: number;
  /** A UID, or what else names the event in the source. */
  example: string;
}

/** A reason holds texts of the source: a file of a thousand unknown zones must not fill the status. */
const MAX_REMARKS = 50;

export function addRemark(remarks: Remark[], text: string, example: string): void {
  const reason = text.slice(0, 200);
  const known = remarks.find((remark) => remark.reason === reason);
  if (known) known.count += 1;
  else if (remarks.length < MAX_REMARKS) remarks.push({ reason, count: 1, example });
}

export interface SourceSnapshot {
  events: SourceEvent[];
  remarks: Remark[];
  /** The answer broke off, or changed while it was read: what it lacks may exist. Not: it had more than a limit. */
  isPartial?: boolean;
  validators: SourceValidators;
}

export interface SourceOptions {
  allowPrivate: boolean;
  /** Of times in a file that names none. */
  timezone: () => string;
  nowMs?: () => number;
}

export interface Source {
  /**
   * All events now. Undefined: nothing changed since these validators.
   * @throws Error with what an operator understands: `a web page instead of a calendar`
   */
  read(previous: SourceValidators | undefined, signal: AbortSignal): Promise<SourceSnapshot | undefined>;
}
