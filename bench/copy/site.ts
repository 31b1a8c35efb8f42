// A made site of any size: each record is worked out from its number alone, so that nothing is kept and every process makes the same.

export interface Size {
  events: number;
  venues: number;
  organizers: number;
  categories: number;
  tags: number;
  images: number;
}

/** 100,000 events have 5,000 venues, 2,000 organizers and 5,000 images; terms are five hundred on a site of any size. */
export function sizeOf(events: number): Size {
  const share = (part: number) => Math.max(10, Math.round(events / part));
  return { events, venues: share(20), organizers: share(50), categories: 250, tags: 250, images: share(20) };
}

/** Posts share one space of ids in WordPress, and so do terms. */
export const FIRST = { category: 1, tag: 251, image: 1001, venue: 100_001, organizer: 200_001, event: 1_000_001 };

/** The middle of the calendar: a quarter of the events lies before it. */
export const NOW_MS = Date.UTC(2026, 10, 21);
export const YEARS = 3;
export const COMMON_WORD = 'workshop';
export const RARE_WORD = 'zebracorn';

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const SYLLABLES = 'ka lo mi tur ben sa ré né fo gri pan del ost ü wi zo han ler mut ist com per tra ing'.split(' ');

/** Numbers that look thrown, the same for the same seed (mulberry32). */
function dice(seed: number): (below: number) => number {
  let state = Math.imul(seed, 0x9e3779b1) | 0;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4_294_967_296) * below);
  };
}

type Throw = ReturnType<typeof dice>;

const word = (next: Throw) => Array.from({ length: 2 + next(3) }, () => SYLLABLES[next(SYLLABLES.length)]).join('');
const sentence = (next: Throw, words: number) => Array.from({ length: words }, () => word(next)).join(' ');

/** What lists ask of an event. Moments in milliseconds since 1970, site and event in UTC. */
export interface EventFacts {
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
  common: boolean;
  rare: boolean;
}

function factsWith(n: number, size: Size, next: Throw): EventFacts {
  const startMs = NOW_MS - 0.25 * YEARS * 365 * DAY_MS + next(YEARS * 365 * 24) * HOUR_MS;
  const endMs = startMs + (next(1000) === 0 ? 100 * DAY_MS : (1 + next(8)) * HOUR_MS);
  const any = (kind: 'category' | 'tag', of: number) => FIRST[kind] + next(of);
  // One category with a third of the events, one tag with a fifth: real sites have such ones.
  const categories = [
    next(3) === 0 ? FIRST.category : any('category', size.categories),
    any('category', size.categories),
  ];
  return {
    ...{ id: FIRST.event + n, status: next(100) < 95 ? 'publish' : 'draft', startMs, endMs },
    categories: [...new Set(categories)].sort((a, b) => a - b),
    tags: [next(5) === 0 ? FIRST.tag : any('tag', size.tags)],
    venue: FIRST.venue + next(size.venues),
    organizer: FIRST.organizer + next(size.organizers),
    ...{ featured: next(50) === 0, hidden: next(100) === 0, common: next(100) < 89, rare: next(10_000) === 0 },
  };
}

/** The facts of event number `n`. */
export function eventFacts(n: number, size: Size): EventFacts {
  return factsWith(n, size, dice(n + 1));
}

export interface Texts {
  title: string;
  text: string;
  image: number;
  author: number;
}

/** The facts of event number `n`, and what it says. */
export function eventOf(n: number, size: Size): EventFacts & Texts {
  const next = dice(n + 1);
  const facts = factsWith(n, size, next);
  const found = `${facts.common ? `${COMMON_WORD} ` : ''}${facts.rare ? `${RARE_WORD} ` : ''}`;
  const image = next(3) === 0 ? FIRST.image + next(size.images) : 0;
  return { ...facts, title: sentence(next, 5), text: `${found}${sentence(next, 55)}`, image, author: 1 + next(20) };
}

/** Venue or organizer number `n`. */
export function linkedOf(kind: 'venue' | 'organizer', n: number, size: Size): Texts & { status: string } {
  const next = dice(FIRST[kind] + n);
  const image = next(4) === 0 ? FIRST.image + next(size.images) : 0;
  const status = next(100) < 98 ? 'publish' : 'draft';
  return { status, title: sentence(next, 3), text: sentence(next, 20), image, author: 1 + next(20) };
}

/** Name and parent (an id, 0 for none) of term number `n`: two hundred categories lie below the first fifty. */
export function termOf(kind: 'category' | 'tag', n: number): { name: string; parent: number } {
  const name = `${word(dice(5000 + FIRST[kind] + n))} ${n}`;
  return { name, parent: kind === 'category' && n >= 50 ? FIRST.category + (n % 50) : 0 };
}
