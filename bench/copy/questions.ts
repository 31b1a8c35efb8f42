// What is asked of the copy: each list filter as parameters of the interface, as a question to the replica, and as a count by hand.

import { type EventFilter, PUBLIC } from '../../src/replica/filters.ts';
import { COMMON_WORD, type EventFacts, FIRST, NOW_MS, RARE_WORD, type Size } from './site.ts';

const DAY_MS = 86_400_000;
const PER_PAGE = 50;

/** One list as a caller asks for it. Moments in milliseconds since 1970; ids are those of the site. */
export interface Asks {
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

export interface Question {
  name: string;
  group: 'filter' | 'search';
  /** Differs with every turn, so that no total is remembered. */
  asks(turn: number, size: Size): Asks;
}

const month = (turn: number): Asks => {
  const fromMs = NOW_MS + (turn % 300) * DAY_MS + turn * 1000;
  return { fromMs, toMs: fromMs + 30 * DAY_MS };
};
const years = (turn: number): Asks => ({ fromMs: NOW_MS - DAY_MS + turn * 1000, toMs: NOW_MS + 729 * DAY_MS });
const everything = (turn: number): Asks => ({
  fromMs: NOW_MS - 5000 * DAY_MS + turn * 1000,
  toMs: NOW_MS + 5000 * DAY_MS,
});

/** A category of the lowest level, which has nothing below it. */
const leaf = (turn: number) => FIRST.category + 50 + (turn % 200);
const tag = (turn: number) => FIRST.tag + 1 + (turn % 200);

const filter = (name: string, asks: Question['asks']): Question => ({ name, group: 'filter', asks });
const search = (name: string, asks: Question['asks']): Question => ({ name, group: 'search', asks });

export const QUESTIONS: readonly Question[] = [
  filter('30 days', month),
  filter('24 months', years),
  filter('everything', everything),
  filter('24 months, a twentieth in', (n, size) => ({ ...years(n), page: Math.ceil(size.events / 1000) })),
  filter('ends after now', (n) => ({ endsAfterMs: NOW_MS + n * 1000 })),
  filter('ended before now', (n) => ({ endsBeforeMs: NOW_MS + n * 1000 })),
  filter('30 days, category', (n) => ({ ...month(n), category: leaf(n) })),
  filter('24 months, category', (n) => ({ ...years(n), category: leaf(n) })),
  filter('24 months, largest category and below', (n) => ({ ...years(n), category: FIRST.category })),
  filter('24 months, category and below', (n) => ({ ...years(n), category: FIRST.category + 1 + (n % 49) })),
  filter('24 months, tag', (n) => ({ ...years(n), tags: [tag(n)] })),
  filter('24 months, three tags', (n) => ({ ...years(n), tags: [tag(n), FIRST.tag + 210, FIRST.tag + 220] })),
  filter('24 months, largest category and tag', (n) => ({
    ...{ ...years(n), category: FIRST.category, tags: [FIRST.tag] },
  })),
  filter('24 months, venue', (n, size) => ({ ...years(n), venue: FIRST.venue + (n % size.venues) })),
  filter('24 months, organizer', (n, size) => ({ ...years(n), organizer: FIRST.organizer + (n % size.organizers) })),
  filter('24 months, featured', (n) => ({ ...years(n), featured: true })),
  filter('24 months, not featured', (n) => ({ ...years(n), featured: false })),
  filter('50 by id', (n, size) => ({
    include: Array.from({ length: PER_PAGE }, (_, i) => FIRST.event + ((7 * i + n) % size.events)),
  })),
  search('word in 89 %', (n) => ({ ...everything(n), search: COMMON_WORD })),
  search('word in 89 %, 24 months', (n) => ({ ...years(n), search: COMMON_WORD })),
  search('word in 89 %, 30 days', (n) => ({ ...month(n), search: COMMON_WORD })),
  search('rare word', (n) => ({ ...everything(n), search: RARE_WORD })),
  search('without the word in 89 %', (n) => ({ ...everything(n), search: `-${COMMON_WORD}` })),
];

const wall = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** Categories have one level below them: `n`, `n + 50`, `n + 100` ... of the first fifty. */
function withBelow(category: number, { categories }: Size): number[] {
  const top = category - FIRST.category;
  if (top >= 50) return [category];
  return [
    category,
    ...Array.from({ length: categories }, (_, n) => n)
      .filter((n) => n >= 50 && n % 50 === top)
      .map((n) => FIRST.category + n),
  ];
}

/** The query of a request; dates to the second. */
export function queryOf(asks: Asks): string {
  const query = new URLSearchParams({ per_page: String(PER_PAGE), strict_dates: '1' });
  const dates = {
    start_date: asks.fromMs,
    end_date: asks.toMs,
    ends_after: asks.endsAfterMs,
    ends_before: asks.endsBeforeMs,
  };
  for (const [name, ms] of Object.entries(dates)) if (ms !== undefined) query.set(name, wall(ms));
  const { category, tags, venue, organizer, featured, search: words, include, page } = asks;
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

/** The question to the replica that the interface makes of it. */
export function filterOf(asks: Asks, size: Size): EventFilter {
  const bounds: NonNullable<EventFilter['bounds']> = [];
  if (asks.fromMs !== undefined) bounds.push({ field: 'start', op: '>=', wall: wall(asks.fromMs) });
  if (asks.toMs !== undefined) bounds.push({ field: 'end', op: '<=', wall: wall(asks.toMs) });
  if (asks.endsAfterMs !== undefined) bounds.push({ field: 'end', op: '>', wall: wall(asks.endsAfterMs) });
  if (asks.endsBeforeMs !== undefined) bounds.push({ field: 'end', op: '<', wall: wall(asks.endsBeforeMs) });
  const { category, tags, venue, organizer, featured, search: words, include, page = 1 } = asks;
  const not = words?.startsWith('-') ?? false;
  return {
    ...{
      visibility: PUBLIC,
      order: include ? 'date' : 'start',
      limit: PER_PAGE,
      offset: (page - 1) * PER_PAGE,
      bounds,
    },
    ...(category === undefined ? {} : { categories: withBelow(category, size) }),
    ...(tags === undefined ? {} : { tags }),
    ...(venue === undefined ? {} : { venues: [venue] }),
    ...(organizer === undefined ? {} : { organizers: [organizer] }),
    ...(featured === undefined ? {} : { featured }),
    ...(include === undefined ? {} : { include }),
    ...(words === undefined ? {} : { words: [{ text: words.replace(/^-/, ''), not }] }),
  };
}

/** How many events it is, counted one by one. */
export function countByHand(asks: Asks, events: readonly EventFacts[], size: Size): number {
  const categories = asks.category === undefined ? undefined : new Set(withBelow(asks.category, size));
  const included = asks.include === undefined ? undefined : new Set(asks.include);
  const { fromMs, toMs, endsAfterMs, endsBeforeMs, tags, venue, organizer, featured, search: words } = asks;
  let count = 0;
  for (const event of events) {
    if (event.status !== 'publish' || event.hidden) continue;
    if (included && !included.has(event.id)) continue;
    if (fromMs !== undefined && event.startMs < fromMs) continue;
    if (toMs !== undefined && event.endMs > toMs) continue;
    if (endsAfterMs !== undefined && event.endMs <= endsAfterMs) continue;
    if (endsBeforeMs !== undefined && event.endMs >= endsBeforeMs) continue;
    if (categories && !event.categories.some((id) => categories.has(id))) continue;
    if (tags && !event.tags.some((id) => tags.includes(id))) continue;
    if (venue !== undefined && event.venue !== venue) continue;
    if (organizer !== undefined && event.organizer !== organizer) continue;
    if (featured !== undefined && event.featured !== featured) continue;
    if (words === COMMON_WORD && !event.common) continue;
    if (words === `-${COMMON_WORD}` && event.common) continue;
    if (words === RARE_WORD && !event.rare) continue;
    count += 1;
  }
  return count;
}
