// Helpers for the kinds of records.

import type { Kind, PostKind, TermKind } from './records.ts';

export const isTermKind = (kind: Kind): kind is TermKind => kind === 'category' || kind === 'tag';

export const isPostKind = (kind: Kind): kind is PostKind => !isTermKind(kind);

/** The name of the kind's collection: in API paths, responses and messages. */
export const PLURALS = {
  event: 'events',
  venue: 'venues',
  organizer: 'organizers',
  category: 'categories',
  tag: 'tags',
} as const satisfies Record<Kind, string>;
