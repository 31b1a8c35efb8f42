// The five kinds of records: a mapping reads them from the CMS, the replica stores them, and API responses
// are made of them; and the ranges of their ids, with those that the gateway computes for the occurrences of a series.
// Which parameter and which property of a response each field has: src/interface/fields.ts.

import type { AttendanceMode, EventStatus } from './event-state.ts';

export type PostKind = 'event' | 'venue' | 'organizer';
export type TermKind = 'category' | 'tag';
export type Kind = PostKind | TermKind;
/** What the replica stores by id, and what a request can create in the CMS. */
export type KindOrImage = Kind | 'image';
export type LinkedKind = Exclude<PostKind, 'event'>;

export const POST_KINDS: readonly PostKind[] = ['event', 'venue', 'organizer'];
export const TERM_KINDS: readonly TermKind[] = ['category', 'tag'];
export const KINDS: readonly Kind[] = [...POST_KINDS, ...TERM_KINDS];

// Ids of posts by their ranges, each of which ends where the next begins. Below the first are ids as the CMS has them.

/** The term 7 as a venue is 1,000,000,000,007; so is Payload's venue 7. Payload's organizer 7 is 2,000,000,000,007. */
export const TERM_ID_OFFSET = 1_000_000_000_000;
/** Records of a CMS whose ids are texts: the gateway allocates these numbers. */
export const FIRST_ALLOCATED_ID = 4_000_000_000_000;
/** Occurrences of series: `occurrenceId` computes them, so that they stay the same for ever. */
export const FIRST_OCCURRENCE_ID = 2_000_000_000_000_000;
/** Embedded records. An actor sees one if they see an event that contains it. */
export const FIRST_EMBEDDED_ID = 2 ** 52;
/** Records of sources, of all kinds: from the source's name and the record's key there. Below 2 ** 53, so exact. */
export const FIRST_SOURCE_ID = FIRST_EMBEDDED_ID + 2 ** 51;

/**
 * An id of the CMS that is a text: a UUID, an ObjectId of MongoDB, or one of the site's own. Commas separate ids in a
 * query. The id map would store every half of a surrogate pair as the same character, and take two ids for one.
 */
export const TEXT_ID = /^[^,\p{Cc}\p{Cs}]{1,200}$/u;

const DAY_MS = 86_400_000;

/** `YYYY-MM-DD HH:MM:SS` without a zone. The field's description names the zone. */
export type WallTime = string;
/** WordPress stores and sends this if there is no time. */
export const NO_TIME: WallTime = '0000-00-00 00:00:00';
/** A mapping stores this in the place of a website that was removed (`clearWith`). No address looks like this. */
export const NO_WEBSITE = '-';

/** The statuses of WordPress's posts, which the API has too. */
export const STATUSES: readonly string[] = ['publish', 'draft', 'pending', 'private', 'future', 'trash'];
/** WordPress's statuses of posts that no editor's list shows. */
export const INTERNAL_STATUSES: readonly string[] = ['auto-draft', 'inherit'];
export const UNPUBLISHED_STATUSES = STATUSES.filter((status) => status !== 'publish');
/** What `status=any` means in WordPress: every status but the trash. */
export const ANY_STATUS = STATUSES.filter((status) => status !== 'trash');

/** WordPress's database column for slugs. A stored slug is percent-encoded ASCII. */
export const MAX_SLUG_BYTES = 200;
/** Lists cannot be filtered by a custom field with a longer text. */
export const MAX_FILTERED_CHARACTERS = 200;

/** The fields that events, venues and organizers share. `0` means no author or no image. */
export interface PostFields {
  status: string;
  slug: string;
  author: number;
  /** Publication and last change, in the site's zone and in UTC. */
  date: WallTime;
  dateUtc: WallTime;
  modified: WallTime;
  modifiedUtc: WallTime;
  /** The permalink that the CMS gives. */
  url: string;
  /** Rendered HTML. The name of a venue or organizer is its title. */
  title: string;
  description: string;
  excerpt: string;
  /** The CMS requires a password for the content. */
  protected: boolean;
  image: number;
  /** By the names that the mapping gives them. Absent without any; empty texts are left out. */
  customFields?: Readonly<Record<string, string | boolean>>;
}

export interface EventFields extends PostFields {
  /** Only on a site whose plugin shows all events in the site's zone (`timezoneMode: 'site'`). Lists go by these. */
  listedTimes?: { start: WallTime; end: WallTime };
  allDay: boolean;
  /** The event's own wall time in `timezone`. */
  start: WallTime;
  end: WallTime;
  startUtc: WallTime;
  endUtc: WallTime;
  /** As the CMS has it; the site's zone if it has none. */
  timezone: string;
  /** Encoded by text/cost.ts. */
  cost: string;
  /** `''`: the event never had one, and responses show its permalink. `NO_WEBSITE`: its website was removed. */
  website: string;
  showMap: boolean;
  showMapLink: boolean;
  /** No list shows the event. */
  hidden: boolean;
  sticky: boolean;
  featured: boolean;
  parent: number;
  /** `''`: the CMS does not say. The same for the attendance mode. */
  eventStatus: EventStatus | '';
  eventStatusReason: string;
  attendanceMode: AttendanceMode | '';
  onlineUrl: string;
  categories: number[];
  tags: number[];
  venues: number[];
  organizers: number[];
}

export interface VenueFields extends PostFields {
  address: string;
  city: string;
  country: string;
  province: string;
  state: string;
  stateprovince: string;
  zip: string;
  phone: string;
  website: string;
  /** Degrees (WGS 84). Both are null if the CMS stores no coordinates. */
  latitude: number | null;
  longitude: number | null;
  showMap: boolean;
  showMapLink: boolean;
}

/**
 * Coordinates of a venue. Both are null if one is missing (null or `NaN`) or beyond 90 or 180 degrees, and if both are
 * 0: programs write 0 and 0 for an empty form. With one 0 it is a real place: Greenwich has the longitude 0.
 */
export function placeAt(
  latitude: number | null,
  longitude: number | null,
): Pick<VenueFields, 'latitude' | 'longitude'> {
  const isOnEarth = Math.abs(latitude ?? Number.NaN) <= 90 && Math.abs(longitude ?? Number.NaN) <= 180;
  if (!isOnEarth || (latitude === 0 && longitude === 0)) return { latitude: null, longitude: null };
  return { latitude, longitude };
}

export interface OrganizerFields extends PostFields {
  phone: string;
  website: string;
  email: string;
}

export interface TermFields {
  /** HTML as the CMS stores it (`&amp;`), not typographically rendered. */
  name: string;
  slug: string;
  description: string;
  /** Id of the parent term; tags have none. */
  parent: number;
  url: string;
}

// `searchText` is what searches look into: `searchTextOf` in mapping/read-record.ts. No response has it.
export type EventRecord = { kind: 'event'; id: number; searchText: string } & EventFields;
export type VenueRecord = { kind: 'venue'; id: number; searchText: string } & VenueFields;
export type OrganizerRecord = { kind: 'organizer'; id: number; searchText: string } & OrganizerFields;
export type TermRecord = { kind: TermKind; id: number } & TermFields;
export type LinkedRecord = VenueRecord | OrganizerRecord;
export type PostRecord = EventRecord | LinkedRecord;
export type CalendarRecord = PostRecord | TermRecord;

export interface FieldsOf {
  event: EventFields;
  venue: VenueFields;
  organizer: OrganizerFields;
  category: TermFields;
  tag: TermFields;
}

export interface RecordOf {
  event: EventRecord;
  venue: VenueRecord;
  organizer: OrganizerRecord;
  category: TermRecord;
  tag: TermRecord;
}

/** An uploaded image. `sizes` is empty if the image is too small for derived sizes. */
export interface ImageRecord {
  id: number;
  url: string;
  extension: string;
  width: number;
  height: number;
  filesizeBytes: number;
  sizes: Record<string, { width: number; height: number; mimeType: string; filesizeBytes: number; url: string }>;
  /** The uploaded file's name, if the CMS shows a smaller copy: `hall.jpg` of `hall-scaled.jpg`. */
  originalImage?: string;
}

/** Settings of the site that all records depend on. */
export interface Site {
  /** The site's address, without a trailing slash. */
  url: string;
  name: string;
  /** The site's zone: an IANA name, or a fixed offset such as `+02:00`. */
  timezone: string;
  /** Absent if the site says none. */
  settings?: SiteSettings | undefined;
}

export const UNKNOWN_SITE: Site = { url: '', name: '', timezone: 'UTC' };

/** What an event plugin keeps in its options, as far as records depend on it. What was never set is absent. */
export interface SiteSettings {
  /** With the blank between it and the amount, if the plugin shows one: `€ `. */
  currencySymbol?: string;
  /** An ISO code, such as `EUR`. */
  currencyCode?: string;
  currencyPosition?: 'prefix' | 'postfix';
  /** When a day of the calendar begins, such as `05:00`: a concert at 02:00 belongs to the evening before. */
  dayStarts?: string;
  /** `site`: the plugin shows the times of every event in the site's zone. `event`: in the event's own. */
  timezoneMode?: 'site' | 'event';
}

/** The host and folder of the site, `example.org` or `example.org/theatre`: no other site has them in its ids. */
export function siteName({ url }: Site): string {
  const { hostname, pathname } = new URL(url);
  return hostname + pathname.replace(/\/$/, '');
}

export const isTermKind = (kind: Kind): kind is TermKind => kind === 'category' || kind === 'tag';

/** True for categories and tags, and not for venues that a mapping stores as terms: the kind decides. */
export const isTermRecord = (record: CalendarRecord): record is TermRecord => isTermKind(record.kind);

export const isPostKind = (kind: Kind): kind is PostKind => !isTermKind(kind);

/** The plural of each kind: in API paths, responses and messages. */
export const PLURALS = {
  event: 'events',
  venue: 'venues',
  organizer: 'organizers',
  category: 'categories',
  tag: 'tags',
} as const satisfies Record<Kind, string>;

const IDS_PER_DAY = 100;
const MAX_DAYS = 100_000;
const IDS_PER_SERIES = MAX_DAYS * IDS_PER_DAY;
/** How many series have occurrences: those of later ones would get the ids of embedded records. */
const MAX_SERIES = Math.floor((FIRST_EMBEDDED_ID - FIRST_OCCURRENCE_ID) / IDS_PER_SERIES);
/** Series with ids of the CMS have lower numbers. Those of series whose ids the gateway allocates begin here. */
const FIRST_ALLOCATED_SERIES = 200_000_000;

/** The number of the series 12 is 12, that of 4,000,000,000,003 is 200,000,003. Undefined if the id is too high. */
function seriesNumber(id: number): number | undefined {
  if (id < FIRST_ALLOCATED_ID) return id < FIRST_ALLOCATED_SERIES ? id : undefined;
  const number = id - FIRST_ALLOCATED_ID + FIRST_ALLOCATED_SERIES;
  return number < MAX_SERIES ? number : undefined;
}

/**
 * Of series 12 on May 1, 2027 (day 20,939 since 1970-01-01), on the event's own clock, `place` 1, the second of that
 * day: 2,000,000,000,000,000 + 12 × 10,000,000 + 20,939 × 100 + 1. Undefined outside the ids of the series.
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
