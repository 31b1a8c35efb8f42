// A generated site of any size: each record is computed from its number alone, so every process generates the
// same without storing it.

import { integersFrom } from '../../test/random.ts';

export interface Size {
  events: number;
  venues: number;
  organizers: number;
  categories: number;
  tags: number;
  images: number;
}

/**
 * 100,000 events have 5,000 venues, 2,000 organizers and 5,000 images; terms are five hundred on a site of
 * any size.
 */
export function sizeOf(events: number): Size {
  const perEvents = (divisor: number) => Math.max(10, Math.round(events / divisor));
  return {
    events,
    venues: perEvents(20),
    organizers: perEvents(50),
    categories: 250,
    tags: 250,
    images: perEvents(20),
  };
}

/** The first id of each kind. Posts share one id space in WordPress, and so do terms. */
export const FIRST_ID = { category: 1, tag: 251, image: 1001, venue: 100_001, organizer: 200_001, event: 1_000_001 };

/** A quarter of the events lies before this time. */
export const NOW_MS = Date.UTC(2026, 10, 21);
const YEARS = 3;
export const COMMON_WORD = 'workshop';
export const RARE_WORD = 'zebracorn';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const SYLLABLES = 'ka lo mi tur ben sa ré né fo gri pan del ost ü wi zo han ler mut ist com per tra ing'.split(' ');

/** Neighbouring seeds give unlike numbers. */
const seededRandom = (seed: number) => integersFrom(Math.imul(seed, 0x9e3779b1) | 0);

type Random = ReturnType<typeof seededRandom>;

const word = (next: Random) => Array.from({ length: 2 + next(3) }, () => SYLLABLES[next(SYLLABLES.length)]).join('');
const sentence = (next: Random, words: number) => Array.from({ length: words }, () => word(next)).join(' ');

export interface Texts {
  title: string;
  text: string;
  image: number;
  author: number;
}

/** Times in milliseconds since 1970; the site and its events are in UTC. */
export interface GeneratedEvent extends Texts {
  id: number;
  status: string;
  startMs: number;
  endMs: number;
  categories: number[];
  tags: number[];
  venue: number;
  organizer: number;
  featured: boolean;
  hidden: boolean;
}

/** Event number `n`. */
export function eventOf(n: number, size: Size): GeneratedEvent {
  const next = seededRandom(n + 1);
  const startMs = NOW_MS - 0.25 * YEARS * 365 * DAY_MS + next(YEARS * 365 * 24) * HOUR_MS;
  const endMs = startMs + (next(1000) === 0 ? 100 * DAY_MS : (1 + next(8)) * HOUR_MS);
  const anyId = (kind: 'category' | 'tag', count: number) => FIRST_ID[kind] + next(count);
  // As on real sites, one category has a third of the events, and one tag a fifth.
  const categories = [
    next(3) === 0 ? FIRST_ID.category : anyId('category', size.categories),
    anyId('category', size.categories),
  ];
  return {
    id: FIRST_ID.event + n,
    status: next(100) < 95 ? 'publish' : 'draft',
    startMs,
    endMs,
    categories: [...new Set(categories)].sort((a, b) => a - b),
    tags: [next(5) === 0 ? FIRST_ID.tag : anyId('tag', size.tags)],
    venue: FIRST_ID.venue + next(size.venues),
    organizer: FIRST_ID.organizer + next(size.organizers),
    featured: next(50) === 0,
    hidden: next(100) === 0,
    text: `${next(100) < 89 ? `${COMMON_WORD} ` : ''}${next(10_000) === 0 ? `${RARE_WORD} ` : ''}${sentence(next, 55)}`,
    title: sentence(next, 5),
    image: next(3) === 0 ? FIRST_ID.image + next(size.images) : 0,
    author: 1 + next(20),
  };
}

/** Where venue number `n` is, in a country of 1,000 km; nine of ten have coordinates. */
export const positionOf = (n: number): { latitude?: string; longitude?: string } =>
  n % 10 === 0
    ? {}
    : { latitude: String(45 + ((n * 7919) % 9000) / 1000), longitude: String(5 + ((n * 104_729) % 12_000) / 1000) };

/** Venue or organizer number `n`. */
export function linkedOf(kind: 'venue' | 'organizer', n: number, size: Size): Texts & { status: string } {
  const next = seededRandom(FIRST_ID[kind] + n);
  const image = next(4) === 0 ? FIRST_ID.image + next(size.images) : 0;
  const status = next(100) < 98 ? 'publish' : 'draft';
  return { status, title: sentence(next, 3), text: sentence(next, 20), image, author: 1 + next(20) };
}

/**
 * Name and parent id (0 for none) of term number `n`: the first fifty categories are parents of two hundred.
 */
export function termOf(kind: 'category' | 'tag', n: number): { name: string; parent: number } {
  const name = `${word(seededRandom(5000 + FIRST_ID[kind] + n))} ${n}`;
  return { name, parent: kind === 'category' && n >= 50 ? FIRST_ID.category + (n % 50) : 0 };
}
