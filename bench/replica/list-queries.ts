// The measured lists: each as parameters of a request and as a filter of the replica, or for the replica alone.

import { type DateBound, type EventFilter, listEvents } from '../../src/store/list-events.ts';
import { type LinkedFilter, listLinked, listTerms } from '../../src/store/lists.ts';
import { locatedVenueIds } from '../../src/store/located-venues.ts';
import type { Replica } from '../../src/store/replica.ts';
import { COMMON_WORD, FIRST_ID, linkedOf, NOW_MS, RARE_WORD, type Size } from './site.ts';

const DAY_MS = 86_400_000;
const PER_PAGE = 50;

/** A list as a client requests it. Times in milliseconds since 1970. */
export interface ListQuery {
  fromMs?: number;
  toMs?: number;
  endsAfterMs?: number;
  endsBeforeMs?: number;
  category?: number;
  tags?: number[];
  venue?: number;
  organizer?: number;
  featured?: boolean;
  search?: string;
  include?: number[];
  page?: number;
}

export interface List {
  name: string;
  group: 'filter' | 'search' | 'broad';
  /** Differs in every turn, so that no total is cached. */
  query(turn: number, size: Size): ListQuery;
}

const month = (turn: number): ListQuery => {
  const fromMs = NOW_MS + (turn % 300) * DAY_MS + turn * 1000;
  return { fromMs, toMs: fromMs + 30 * DAY_MS };
};
const years = (turn: number): ListQuery => ({ fromMs: NOW_MS - DAY_MS + turn * 1000, toMs: NOW_MS + 729 * DAY_MS });
const everything = (turn: number): ListQuery => ({
  fromMs: NOW_MS - 5000 * DAY_MS + turn * 1000,
  toMs: NOW_MS + 5000 * DAY_MS,
});

/** A published venue or organizer: over HTTP, an unpublished one matches no event. */
function publishedId(kind: 'venue' | 'organizer', turn: number, size: Size): number {
  const count = kind === 'venue' ? size.venues : size.organizers;
  let n = turn % count;
  while (linkedOf(kind, n, size).status !== 'publish') n = (n + 1) % count;
  return FIRST_ID[kind] + n;
}

/** A category without children. */
const leaf = (turn: number) => FIRST_ID.category + 50 + (turn % 200);
const tag = (turn: number) => FIRST_ID.tag + 1 + (turn % 200);

const filter = (name: string, query: List['query']): List => ({ name, group: 'filter', query });
const search = (name: string, query: List['query']): List => ({ name, group: 'search', query });

export const LISTS: readonly List[] = [
  filter('30 days', month),
  filter('24 months', years),
  filter('everything', everything),
  filter('24 months, a twentieth in', (n, size) => ({ ...years(n), page: Math.ceil(size.events / 1000) })),
  filter('ends after now', (n) => ({ endsAfterMs: NOW_MS + n * 1000 })),
  filter('ended before now', (n) => ({ endsBeforeMs: NOW_MS + n * 1000 })),
  filter('30 days, category', (n) => ({ ...month(n), category: leaf(n) })),
  filter('24 months, category', (n) => ({ ...years(n), category: leaf(n) })),
  filter('24 months, largest category and below', (n) => ({ ...years(n), category: FIRST_ID.category })),
  filter('24 months, category and below', (n) => ({ ...years(n), category: FIRST_ID.category + 1 + (n % 49) })),
  filter('24 months, tag', (n) => ({ ...years(n), tags: [tag(n)] })),
  filter('24 months, three tags', (n) => ({ ...years(n), tags: [tag(n), FIRST_ID.tag + 210, FIRST_ID.tag + 220] })),
  filter('24 months, largest category and tag', (n) => ({
    ...years(n),
    category: FIRST_ID.category,
    tags: [FIRST_ID.tag],
  })),
  filter('24 months, venue', (n, size) => ({ ...years(n), venue: publishedId('venue', n, size) })),
  filter('24 months, organizer', (n, size) => ({ ...years(n), organizer: publishedId('organizer', n, size) })),
  filter('24 months, featured', (n) => ({ ...years(n), featured: true })),
  filter('24 months, not featured', (n) => ({ ...years(n), featured: false })),
  filter('50 by id', (n, size) => ({
    include: Array.from({ length: PER_PAGE }, (_, i) => FIRST_ID.event + ((7 * i + n) % size.events)),
  })),
  search('word in 89 %', (n) => ({ ...everything(n), search: COMMON_WORD })),
  search('word in 89 %, 24 months', (n) => ({ ...years(n), search: COMMON_WORD })),
  search('word in 89 %, 30 days', (n) => ({ ...month(n), search: COMMON_WORD })),
  search('rare word', (n) => ({ ...everything(n), search: RARE_WORD })),
  search('without the word in 89 %', (n) => ({ ...everything(n), search: `-${COMMON_WORD}` })),
];

const wall = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** A category and its children: `n + 50`, `n + 100` ... are children of `n` for the first fifty. */
function withChildren(category: number, { categories }: Size): number[] {
  const top = category - FIRST_ID.category;
  if (top >= 50) return [category];
  return [
    category,
    ...Array.from({ length: categories }, (_, n) => n)
      .filter((n) => n >= 50 && n % 50 === top)
      .map((n) => FIRST_ID.category + n),
  ];
}

/** The query string of the request. */
export function queryString(list: ListQuery): string {
  const query = new URLSearchParams({ per_page: String(PER_PAGE), strict_dates: '1' });
  const dates = {
    start_date: list.fromMs,
    end_date: list.toMs,
    ends_after: list.endsAfterMs,
    ends_before: list.endsBeforeMs,
  };
  for (const [name, ms] of Object.entries(dates)) if (ms !== undefined) query.set(name, wall(ms));
  const { category, tags, venue, organizer, featured, search: words, include, page } = list;
  const plain = {
    categories: category,
    tags: tags?.join(','),
    venue,
    organizer,
    search: words,
    include: include?.join(','),
    page,
  };
  for (const [name, value] of Object.entries(plain)) if (value !== undefined) query.set(name, String(value));
  if (featured !== undefined) query.set('featured', featured ? '1' : '0');
  return query.toString();
}

/** The filter that the gateway makes of the request. */
export function filterOf(list: ListQuery, size: Size): EventFilter {
  const bounds: DateBound[] = [];
  if (list.fromMs !== undefined) bounds.push({ field: 'start', op: '>=', wall: wall(list.fromMs) });
  if (list.toMs !== undefined) bounds.push({ field: 'end', op: '<=', wall: wall(list.toMs) });
  if (list.endsAfterMs !== undefined) bounds.push({ field: 'end', op: '>', wall: wall(list.endsAfterMs) });
  if (list.endsBeforeMs !== undefined) bounds.push({ field: 'end', op: '<', wall: wall(list.endsBeforeMs) });
  const { category, tags, venue, organizer, featured, search: words, include, page = 1 } = list;
  const not = words?.startsWith('-') ?? false;
  return {
    order: include ? 'published' : 'start',
    limit: PER_PAGE,
    offset: (page - 1) * PER_PAGE,
    bounds,
    categories: category === undefined ? undefined : withChildren(category, size),
    tags,
    venues: venue === undefined ? undefined : [venue],
    organizers: organizer === undefined ? undefined : [organizer],
    featured,
    include,
    words: words === undefined ? undefined : [{ text: words.replace(/^-/, ''), not }],
  };
}

export interface ReplicaList {
  name: string;
  group: List['group'];
  /** Runs the query. Returns the total. */
  total(replica: Replica, turn: number, size: Size): number;
}

const LINKED = { limit: PER_PAGE, offset: 0 };
const words = (...texts: string[]) => ({ words: texts.map((text) => ({ text, not: false })) });

const located = (replica: Replica) => locatedVenueIds(replica.db);
const near = (replica: Replica, turn: number, distanceKm: number) =>
  locatedVenueIds(replica.db, {
    center: { latitude: 49 + (turn % 100) / 100, longitude: 11 },
    distanceKm,
  });

/** A list of events, with further conditions. */
const events = (
  name: string,
  query: (turn: number) => ListQuery,
  more: (replica: Replica, turn: number) => Partial<EventFilter>,
  group: List['group'] = 'broad',
): ReplicaList => ({
  name,
  group,
  total: (replica, turn, size) =>
    listEvents(replica.db, { ...filterOf(query(turn), size), ...more(replica, turn) }).total,
});
const venues = (name: string, filter: (turn: number) => Partial<LinkedFilter>): ReplicaList => ({
  name,
  group: 'broad',
  total: (replica, turn) => listLinked(replica.db, 'venue', { ...LINKED, ...filter(turn) }).total,
});

/** Broad lists, by place, of venues and of terms, and further searches. */
export const REPLICA_LISTS: readonly ReplicaList[] = [
  events('24 months, ten tags and the largest category', years, (_, n) => ({
    tags: Array.from({ length: 10 }, (_, i) => tag(n + i)),
    categories: [FIRST_ID.category],
  })),
  events('24 months, a parent of 200 categories', years, () => ({
    categories: Array.from({ length: 200 }, (_, n) => FIRST_ID.category + n),
  })),
  events(
    '24 months, largest category and venue',
    (n) => years(n),
    (_, n) => ({
      categories: [FIRST_ID.category],
      venues: [FIRST_ID.venue + (n % 50)],
    }),
  ),
  events('24 months, within 25 km', years, (replica, n) => ({ venues: near(replica, n, 25) })),
  events('24 months, within 250 km', years, (replica, n) => ({ venues: near(replica, n, 250) })),
  events('24 months, with coordinates', years, (replica) => ({ venues: located(replica) })),
  events('24 months, without coordinates', years, (replica) => ({ notVenues: located(replica) })),
  events('frequent syllables', everything, () => words('kalomi'), 'search'),
  events('two words', everything, () => words(COMMON_WORD, 'kalomi'), 'search'),
  events('two letters', everything, () => words('mi'), 'search'),
  venues('venues', (n) => ({ offset: n })),
  venues('venues with events', (n) => ({ hasEvents: n % 2 === 0 })),
  venues('venues with upcoming events', (n) => ({ upcomingFromUtc: wall(NOW_MS + n * 1000) })),
  venues('venues, word', () => words('kalo')),
  {
    name: 'categories by count',
    group: 'broad',
    total: (replica) =>
      listTerms(replica.db, {
        ...{ kind: 'category', orderBy: 'count', descending: true },
        ...{ hideEmpty: true, limit: PER_PAGE, offset: 0 },
      }).total,
  },
];
