// Filters of the replica's lists, and the visibility of records. The filter of event lists is in
// event-filter.ts.

import type { PostKind, TermKind, WallTime } from '../model/records.ts';

/**
 * The posts that an actor may see: those of any author in the statuses `anyAuthor`, and those of the actor's
 * own, `userId`, in the statuses `ownOnly`. `userId` is 0 for the public. The CMS applies the same rule when it
 * returns a single post.
 */
export interface Visibility {
  anyAuthor: readonly string[];
  ownOnly: readonly string[];
  userId: number;
}

/** The visibility of anonymous actors. */
export const PUBLIC_VISIBILITY: Visibility = { anyAuthor: ['publish'], ownOnly: [], userId: 0 };

/** One visibility for each kind of post: a role may edit venues and no events. */
export type Visibilities = Readonly<Record<PostKind, Visibility>>;

export const PUBLIC_VISIBILITIES: Visibilities = {
  event: PUBLIC_VISIBILITY,
  venue: PUBLIC_VISIBILITY,
  organizer: PUBLIC_VISIBILITY,
};

/**
 * A word or phrase that the text must (or must not) contain, ignoring case and accents. `%` and `_` are
 * ordinary characters.
 */
export interface SearchWord {
  text: string;
  not: boolean;
}

export interface PageWindow {
  limit: number;
  offset: number;
}

/** A bound on the event's start or end, in the event's own wall time. */
export interface DateBound {
  field: 'start' | 'end';
  op: '>=' | '>' | '<=' | '<';
  wall: WallTime;
}

/**
 * Venues or organizers, by publication date (latest first), then by id. Conditions on events, but for `hasEvents`,
 * ignore events that `eventVisibility` hides, and protected events.
 */
export interface LinkedFilter extends PageWindow {
  visibility: Visibility;
  /** The actor's visibility of events. */
  eventVisibility: Visibility;
  words?: SearchWord[] | undefined;
  /** Custom fields with these values. */
  customFields?: Readonly<Record<string, string>> | undefined;
  /** Linked to this event, unless it is in the trash. */
  event?: number | undefined;
  /**
   * true: linked to a published or private event, whether or not the actor may see it; false: linked to none.
   */
  hasEvents?: boolean | undefined;
  /** Changed after this UTC time. */
  modifiedAfter?: WallTime | undefined;
  /** Linked to an event that lists show and that starts at or after this UTC time. */
  upcomingFromUtc?: WallTime | undefined;
}

export type TermOrder =
  | 'name'
  | 'id'
  | 'slug'
  | 'count'
  | 'description'
  | 'term_group'
  | 'include'
  | 'include_slugs'
  | 'parent'
  | 'none';

export interface TermFilter extends PageWindow {
  kind: TermKind;
  /** The actor's visibility of events, for `event`. */
  eventVisibility: Visibility;
  /** Substring of the name or slug, ignoring case. */
  search?: string | undefined;
  include?: number[] | undefined;
  exclude?: number[] | undefined;
  orderBy: TermOrder;
  descending: boolean;
  /**
   * Only terms with published events, and their ancestors (without the ancestors if `include` names terms).
   */
  hideEmpty: boolean;
  parent?: number | undefined;
  /** Terms of this event, unless `eventVisibility` hides it, it is protected, or it is in the trash. */
  event?: number | undefined;
  slug?: string | undefined;
  /**
   * Noticed in this second (UTC) or later: a term that changed in the second of a client's last request is
   * not left out.
   */
  noticedFrom?: WallTime | undefined;
}

/** The ids of a page in list order, and the total of the list, of one state of the replica. */
export interface IdPage {
  ids: number[];
  total: number;
}
