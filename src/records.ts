// The five record kinds as the gateway holds them: what a mapping reads out of the CMS, the replica keeps and an answer is made of.

export type PostKind = 'event' | 'venue' | 'organizer';
export type TermKind = 'category' | 'tag';
export type Kind = PostKind | TermKind;
/** What an event is linked to: where it takes place, and who organizes it. */
export type LinkedKind = Exclude<PostKind, 'event'>;

export const POST_KINDS: readonly PostKind[] = ['event', 'venue', 'organizer'];
export const TERM_KINDS: readonly TermKind[] = ['category', 'tag'];
export const KINDS: readonly Kind[] = [...POST_KINDS, ...TERM_KINDS];

/**
 * Ids from here on belong to venues and organizers that are text inside an event (`mapping/inline.ts`): above every id that a CMS gives,
 * and exact as a number. Such a record is seen by those who see an event that names it.
 */
export const FIRST_INLINE_ID = 2 ** 52;

/** `YYYY-MM-DD HH:MM:SS`, without a zone: the clock on the wall of whoever the field belongs to. */
export type WallTime = string;
/** What WordPress stores and answers where there is no time. */
export const NO_TIME: WallTime = '0000-00-00 00:00:00';
/** What the CMS keeps for an event without a website where it can tell that from one that never had any: no address reads like that. */
export const NO_WEBSITE = '-';

/**
 * The status in the replica of a record that is published in the CMS and that the CMS does not show to an anonymous reader: a plugin hides
 * it. Only staff who may edit it see it, as `publish`.
 */
export const WITHHELD = 'withheld';

/** What events, venues and organizers have in common. `0` is "no author" and "no image". */
export interface PostFields {
  status: string;
  slug: string;
  author: number;
  /** Publication and last change: site time, and UTC. */
  date: WallTime;
  dateUtc: WallTime;
  modified: WallTime;
  modifiedUtc: WallTime;
  /** The permalink that the CMS gives. */
  url: string;
  /** Rendered HTML: the name of a venue or organizer is its title. `''` when empty. */
  title: string;
  description: string;
  excerpt: string;
  /** Whether the CMS asks for a password before it shows the content. */
  protected: boolean;
  /** Id of the featured image. */
  image: number;
}

export interface EventFields extends PostFields {
  allDay: boolean;
  /** The event's own wall-clock time in `timezone`. */
  start: WallTime;
  end: WallTime;
  startUtc: WallTime;
  endUtc: WallTime;
  /** As it was sent; the site's zone when none was. */
  timezone: string;
  /** As stored, see calendar/cost.ts. */
  cost: string;
  /** `''`: never given one, it shows its own address; `NO_WEBSITE`: its own was taken away. */
  website: string;
  showMap: boolean;
  showMapLink: boolean;
  /** Left out of every list. */
  hidden: boolean;
  sticky: boolean;
  featured: boolean;
  /** Id of the parent event. */
  parent: number;
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
  showMap: boolean;
  showMapLink: boolean;
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

/** Text that a search looks into: the sources where the CMS shows them, else the rendered text. Only the replica's index keeps it. */
export interface Searchable {
  searchText: string;
}

export type EventRecord = { kind: 'event'; id: number } & EventFields & Searchable;
export type VenueRecord = { kind: 'venue'; id: number } & VenueFields & Searchable;
export type OrganizerRecord = { kind: 'organizer'; id: number } & OrganizerFields & Searchable;
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

/** An uploaded image as the interface shows it (interface-behaviour 1.6); `sizes` is empty for an image too small to have any. */
export interface ImageRecord {
  id: number;
  url: string;
  extension: string;
  width: number;
  height: number;
  filesizeBytes: number;
  sizes: Record<string, { width: number; height: number; mimeType: string; filesizeBytes: number; url: string }>;
}

/** Facts about the site that every record depends on. */
export interface Site {
  /** Address of the site without a final slash. */
  url: string;
  name: string;
  /** The site's zone: an IANA name, or a fixed offset such as `+02:00`. */
  timezone: string;
}
