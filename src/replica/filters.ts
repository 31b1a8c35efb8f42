// What can be asked of the replica: one filter type a kind of list, and who is looking.

import type { PostKind, TermKind, WallTime } from '../records.ts';

/**
 * Which posts somebody may see: those of anybody in the statuses `others`, and those of which `userId` is the author in the
 * statuses `own`. The same rule as the CMS applies to a single read.
 */
export interface Visibility {
  others: readonly string[];
  own: readonly string[];
  userId: number;
}

/** What everybody sees. */
export const PUBLIC: Visibility = { others: ['publish'], own: [], userId: 0 };

/** One rule for each kind of post: a role may have rights to venues and none to events. */
export type Visibilities = Readonly<Record<PostKind, Visibility>>;

/** What everybody sees of every kind. */
export const PUBLIC_ONLY: Visibilities = { event: PUBLIC, venue: PUBLIC, organizer: PUBLIC };

/** A word or phrase that has to occur (or must not): substring, without regard to case and accents; `%` and `_` are ordinary signs. */
export interface SearchWord {
  text: string;
  not: boolean;
}

export interface PageWindow {
  limit: number;
  offset: number;
}

/** One comparison of the event's own wall-clock start or end with a bound. */
export interface DateBound {
  field: 'start' | 'end';
  op: '>=' | '>' | '<=' | '<';
  wall: WallTime;
}

/**
 * All conditions hold together; a list of ids means any of them; an absent condition keeps everything. Hidden events never match. A
 * protected event matches no condition on a value that its password hides: its relations, `featured: true`, its parent, its text but the title.
 */
export interface EventFilter extends PageWindow {
  visibility: Visibility;
  bounds?: DateBound[];
  words?: SearchWord[];
  /** Already widened by the descendants of each. */
  categories?: number[];
  tags?: number[];
  venues?: number[];
  organizers?: number[];
  featured?: boolean;
  include?: number[];
  parent?: number;
  /** `start`: start, publication date, id, all ascending. `date`: publication date, id, ascending. */
  order: 'start' | 'date';
}

/** What narrows an event list. Whatever treats conditions one by one has a row for each, so that a forgotten one does not compile. */
export type EventCondition = Exclude<keyof EventFilter, keyof PageWindow | 'order'>;

/**
 * Venues or organizers: publication date descending, ties by id ascending. Conditions on events count only events that `events` shows and
 * that need no password.
 */
export interface LinkedFilter extends PageWindow {
  visibility: Visibility;
  /** What the actor may see of the kind event. */
  events: Visibility;
  words?: SearchWord[];
  /** Linked to this event, unless it is in the trash. */
  event?: number;
  /** true: linked to at least one published or private event, visible to the actor or not; false: to none. */
  hasEvents?: boolean;
  /** Linked to an event in a list (so not hidden) that starts at or after this moment, compared in UTC. */
  upcomingFromUtc?: WallTime;
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
  /** What the actor may see of the kind event: decides what `event` finds. */
  events: Visibility;
  /** Substring of name or slug, the whole phrase, without regard to case. */
  search?: string;
  include?: number[];
  exclude?: number[];
  orderBy: TermOrder;
  descending: boolean;
  /** Keeps terms with published events, and empty ones that have such a descendant (those not when asked for by `include`). */
  hideEmpty: boolean;
  parent?: number;
  /** Terms of this event, if `events` shows it and it needs no password and is not in the trash. */
  event?: number;
  slug?: string;
}

/** Ids in order, and how many there are in all: both of the same state of the replica. */
export interface IdPage {
  ids: number[];
  total: number;
}
