// Filters of the replica's lists of venues, organizers and terms. The filter of event lists is in list-events.ts.

import type { TermKind, WallTime } from '../model/records.ts';

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
 * Venues or organizers, by publication date (latest first), then by id. Conditions on events ignore protected events,
 * and those in the trash.
 */
export interface LinkedFilter extends PageWindow {
  /** For a caller with unpublished records: only these statuses. */
  statuses?: readonly string[] | undefined;
  words?: SearchWord[] | undefined;
  /** Custom fields with these values. */
  customFields?: Readonly<Record<string, string>> | undefined;
  /** Linked to this event. */
  event?: number | undefined;
  /** true: linked to an event; false: linked to none. */
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
  /** Terms of this event, unless it is protected or in the trash. */
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
