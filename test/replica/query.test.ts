// Shows that lists from the copy are those that a plain filter over all records gives.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  type CalendarRecord,
  type EventRecord,
  FIRST_INLINE_ID,
  type LinkedRecord,
  type PostRecord,
  type TermRecord,
} from '../../src/records.ts';
import {
  type EventFilter,
  type LinkedFilter,
  PUBLIC,
  type SearchWord,
  type TermFilter,
  type Visibility,
} from '../../src/replica/filters.ts';
import { fold, foldForOrder } from '../../src/replica/fold.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';
import {
  anyEvent,
  anyLinked,
  anyTerm,
  CATEGORIES,
  event,
  organizer,
  PARENTS,
  STATUSES,
  TARGETS,
  term,
  venue,
  visibility,
  WORDS,
  wall,
} from './samples.ts';

// The judge: every list again, as a filter over all records, in the words of filters.ts.

const sees = ({ others, own, userId }: Visibility, { status, author }: PostRecord) =>
  others.includes(status) || (userId !== 0 && author === userId && own.includes(status));

const hasWords = (words: SearchWord[] | undefined, text: string) =>
  (words ?? []).every((word) => fold(text).includes(fold(word.text)) !== word.not);

const anyOf = (wanted: number[] | undefined, got: number[]) =>
  wanted === undefined || wanted.some((id) => got.includes(id));

/** An event as filters see it: what a password hides finds nothing. */
const told = (one: EventRecord): EventRecord =>
  one.protected ? { ...one, featured: false, parent: 0, categories: [], tags: [], venues: [], organizers: [] } : one;

const OPERATORS = {
  '>=': (a: string, b: string) => a >= b,
  '>': (a: string, b: string) => a > b,
  '<=': (a: string, b: string) => a <= b,
  '<': (a: string, b: string) => a < b,
};

const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
/** As SQLite compares text: by code points. */
const compareText = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

const cut = (ids: number[], { limit, offset }: { limit: number; offset: number }) => ({
  ids: ids.slice(offset, offset + limit),
  total: ids.length,
});

function judgeEvents(events: EventRecord[], filter: EventFilter) {
  const found = events
    .map(told)
    .filter(
      (one) =>
        !one.hidden &&
        sees(filter.visibility, one) &&
        (filter.bounds ?? []).every(({ field, op, wall: bound }) => OPERATORS[op](one[field], bound)) &&
        hasWords(filter.words, one.searchText) &&
        anyOf(filter.categories, one.categories) &&
        anyOf(filter.tags, one.tags) &&
        anyOf(filter.venues, one.venues) &&
        anyOf(filter.organizers, one.organizers) &&
        (filter.featured === undefined || one.featured === filter.featured) &&
        (filter.include === undefined || filter.include.includes(one.id)) &&
        (filter.parent === undefined || one.parent === filter.parent),
    );
  found.sort(
    (a, b) =>
      (filter.order === 'start' ? compare(a.start, b.start) : 0) || compare(a.date, b.date) || compare(a.id, b.id),
  );
  return cut(
    found.map(({ id }) => id),
    filter,
  );
}

function judgeLinked(records: LinkedRecord[], events: EventRecord[], filter: LinkedFilter) {
  const seen = events.map(told).filter((other) => sees(filter.events, other));
  const linkedTo = (one: LinkedRecord) => seen.filter((other) => other[`${one.kind}s`].includes(one.id));
  const found = records.filter(
    (one) =>
      sees(filter.visibility, one) &&
      hasWords(filter.words, one.searchText) &&
      (filter.event === undefined ||
        linkedTo(one).some(({ id, status }) => id === filter.event && status !== 'trash')) &&
      (filter.hasEvents === undefined ||
        filter.hasEvents ===
          events
            .map(told)
            .some(
              (other) =>
                (other.status === 'publish' || other.status === 'private') && other[`${one.kind}s`].includes(one.id),
            )) &&
      (filter.upcomingFromUtc === undefined ||
        linkedTo(one).some((other) => !other.hidden && other.startUtc >= filter.upcomingFromUtc!)),
  );
  found.sort((a, b) => compare(b.date, a.date) || compare(a.id, b.id));
  return cut(
    found.map(({ id }) => id),
    filter,
  );
}

function judgeTerms(all: TermRecord[], events: EventRecord[], filter: TermFilter) {
  const terms = all.filter(({ kind }) => kind === filter.kind);
  const field = filter.kind === 'category' ? 'categories' : 'tags';
  const shown = events.map(told);
  const count = (id: number) => shown.filter((one) => one.status === 'publish' && one[field].includes(id)).length;
  const seen = shown.filter((one) => sees(filter.events, one) && one.status !== 'trash');
  const below = (id: number, met = new Set<number>()): number[] =>
    terms
      .filter(({ parent }) => parent === id && id !== 0)
      .flatMap((child) => {
        if (met.has(child.id)) return [];
        met.add(child.id);
        return [child.id, ...below(child.id, met)];
      });
  const filled = (one: TermRecord) =>
    count(one.id) > 0 || (filter.include === undefined && below(one.id).some((id) => count(id) > 0));
  const found = terms.filter(
    (one) =>
      (filter.search === undefined || [one.name, one.slug].some((text) => fold(text).includes(fold(filter.search!)))) &&
      (filter.include === undefined || filter.include.includes(one.id)) &&
      (filter.exclude === undefined || !filter.exclude.includes(one.id)) &&
      (!filter.hideEmpty || filled(one)) &&
      (filter.parent === undefined || one.parent === filter.parent) &&
      (filter.event === undefined || (seen.find(({ id }) => id === filter.event)?.[field].includes(one.id) ?? false)) &&
      (filter.slug === undefined || one.slug.toLowerCase() === filter.slug.toLowerCase()),
  );
  const byName = (a: TermRecord, b: TermRecord) => compareText(foldForOrder(a.name), foldForOrder(b.name));
  const byPlace = (a: TermRecord, b: TermRecord) =>
    filter.include ? filter.include.indexOf(a.id) - filter.include.indexOf(b.id) : byName(a, b);
  const orders: Record<TermFilter['orderBy'], (a: TermRecord, b: TermRecord) => number> = {
    name: byName,
    id: (a, b) => a.id - b.id,
    slug: (a, b) => compareText(a.slug.toLowerCase(), b.slug.toLowerCase()),
    count: (a, b) => count(a.id) - count(b.id),
    description: (a, b) => compareText(foldForOrder(a.description), foldForOrder(b.description)),
    parent: (a, b) => a.parent - b.parent,
    include: byPlace,
    include_slugs: byPlace,
    term_group: () => 0,
    none: () => 0,
  };
  const direction = filter.descending ? -1 : 1;
  found.sort((a, b) => direction * orders[filter.orderBy](a, b) || a.id - b.id);
  return cut(
    found.map(({ id }) => id),
    filter,
  );
}

/**
 * How often a property is tried. A failure is told at once, without the records, which fill pages, and without shrinking, which takes
 * half a minute: the question that was answered wrongly mostly says enough. `QUERY_SEED=n` repeats a seed, shrinks and shows everything.
 * `QUERY_RUNS=n` tries n times as often.
 */
function runs<T>(numRuns: number): fc.Parameters<T> {
  const { QUERY_RUNS, QUERY_SEED } = process.env;
  const often = { numRuns: numRuns * Number(QUERY_RUNS ?? 1) };
  if (QUERY_SEED !== undefined) return { ...often, seed: Number(QUERY_SEED) };
  return {
    ...often,
    endOnFailure: true,
    reporter({ failed, seed, counterexamplePath, errorInstance }) {
      if (!failed) return;
      const error = errorInstance instanceof Error ? errorInstance : new Error(String(errorInstance));
      error.message = `QUERY_SEED=${seed} (path ${counterexamplePath}): ${error.message}`;
      throw error;
    },
  };
}

// Arbitrary records and questions.

const page = { limit: fc.constantFrom(0, 3, 100, 100), offset: fc.constantFrom(0, 0, 0, 0, 1, 4) };
const words = fc.array(
  fc.record({ text: fc.constantFrom(...WORDS, 'ß', 'az', 'ABR', 'jazz ', ' '), not: fc.boolean() }),
  { maxLength: 2 },
);
const someIds = fc.subarray(TARGETS, { maxLength: 4 });
const bound = fc.record({ field: fc.constantFrom('start', 'end'), op: fc.constantFrom('>=', '>', '<=', '<'), wall });

/** A question with at most three conditions: with more of them nothing is ever found. */
function asking<T>(
  always: Record<string, fc.Arbitrary<unknown>>,
  conditions: Record<string, fc.Arbitrary<unknown>>,
): fc.Arbitrary<T> {
  return fc
    .tuple(fc.record(always), fc.record(conditions), fc.subarray(Object.keys(conditions), { maxLength: 3 }))
    .map(([fixed, all, kept]) => ({ ...fixed, ...Object.fromEntries(kept.map((name) => [name, all[name]])) }) as T);
}

const eventFilter = asking<EventFilter>(
  { ...page, visibility, order: fc.constantFrom('start', 'date') },
  {
    bounds: fc.array(bound, { maxLength: 3 }),
    words,
    categories: someIds,
    tags: someIds,
    venues: someIds,
    organizers: someIds.map((ids) => ids.map((id) => id + 10)),
    featured: fc.boolean(),
    include: fc.array(fc.integer({ min: 100, max: 130 }), { maxLength: 20 }),
    parent: fc.constantFrom(101, 102),
  },
);

const linkedFilter = asking<LinkedFilter>(
  { ...page, visibility, events: visibility },
  { words, event: fc.constantFrom(100, 101, 104, 999), hasEvents: fc.boolean(), upcomingFromUtc: wall },
);

const ORDERS = [
  'name',
  'id',
  'slug',
  'count',
  'description',
  'term_group',
  'include',
  'include_slugs',
  'parent',
  'none',
] as const;
const termFilter = asking<TermFilter>(
  {
    ...page,
    kind: fc.constantFrom('category', 'tag'),
    events: visibility,
    orderBy: fc.constantFrom(...ORDERS),
    descending: fc.boolean(),
    hideEmpty: fc.boolean(),
  },
  {
    search: fc.constantFrom('E', 'é', 'food', '%', '_', 'drink', 'only'),
    include: someIds,
    exclude: someIds,
    parent: fc.constantFrom(...PARENTS),
    event: fc.constantFrom(100, 101, 104, 999),
    slug: fc.constantFrom('JAZZ', 'only-3', 'none'),
  },
);

const records = fc
  .tuple(
    fc.tuple(...Array.from({ length: 25 }, (_, n) => anyEvent(100 + n))),
    fc.tuple(...TARGETS.map((id) => anyLinked('venue', id))),
    fc.tuple(...TARGETS.map((id) => anyLinked('organizer', id + 10))),
    fc.tuple(
      ...[...CATEGORIES, ...PARENTS].map((id) => anyTerm('category', id)),
      ...TARGETS.map((id) => anyTerm('tag', id)),
    ),
    fc.array(fc.nat(24), { maxLength: 8 }),
    fc.tuple(...Array.from({ length: 25 }, (_, n) => anyEvent(100 + n))),
  )
  .map(([events, venues, organizers, terms, again, later]) => {
    // Organizers have ids of their own: posts share one id space.
    const moved = (one: EventRecord) => ({ ...one, organizers: one.organizers.map((id) => id + 10) });
    return {
      first: [...events.map(moved), ...venues, ...organizers, ...terms] as CalendarRecord[],
      changed: again.map((n) => moved(later[n]!)),
      gone: again.slice(0, 2).map((n) => 100 + ((n + 7) % 25)),
    };
  });

type World = typeof records extends fc.Arbitrary<infer T> ? T : never;

/** Records put, some of them changed and some removed: what a list is made of must not depend on the way there. */
function build({ first, changed, gone }: World): {
  replica: Replica;
  events: EventRecord[];
  linked: LinkedRecord[];
  terms: TermRecord[];
} {
  const replica = openReplica({ identity: 'test' });
  replica.put(first);
  replica.put(changed);
  replica.remove('event', gone);
  const now = new Map<string, CalendarRecord>();
  for (const record of [...first, ...changed]) now.set(`${record.kind}/${record.id}`, record);
  for (const id of gone) now.delete(`event/${id}`);
  const all = [...now.values()];
  return {
    replica,
    events: all.filter((one) => one.kind === 'event'),
    linked: all.filter((one) => one.kind === 'venue' || one.kind === 'organizer'),
    terms: all.filter((one) => one.kind === 'category' || one.kind === 'tag') as TermRecord[],
  };
}

describe('replica/query', () => {
  it('answers event lists as a filter over all records does', () => {
    fc.assert(
      fc.property(records, fc.array(eventFilter, { minLength: 30, maxLength: 30 }), (world, filters) => {
        const { replica, events } = build(world);
        try {
          for (const filter of filters)
            expect(replica.events(filter), JSON.stringify(filter)).to.deep.equal(judgeEvents(events, filter));
        } finally {
          replica.close();
        }
      }),
      runs(60),
    );
  });

  it('answers windows of dates that are asked for again and again likewise, from the days that it keeps, and after a change', () => {
    const window = fc.record({
      ...page,
      bounds: fc.array(bound, { maxLength: 4 }),
      visibility: fc.constant(PUBLIC),
      order: fc.constant('start' as const),
    });
    fc.assert(
      fc.property(records, fc.array(window, { minLength: 80, maxLength: 80 }), (world, filters) => {
        const { replica, events } = build(world);
        const all = (left: EventRecord[]) => {
          for (const filter of filters)
            expect(replica.events(filter), JSON.stringify(filter)).to.deep.equal(judgeEvents(left, filter));
        };
        try {
          all(events);
          const [gone] = events;
          replica.remove('event', [gone!.id]);
          all(events.slice(1));
        } finally {
          replica.close();
        }
      }),
      runs(40),
    );
  });

  it('answers lists of venues and organizers likewise', () => {
    fc.assert(
      fc.property(records, fc.array(linkedFilter, { minLength: 20, maxLength: 20 }), (world, filters) => {
        const { replica, events, linked } = build(world);
        try {
          for (const kind of ['venue', 'organizer'] as const) {
            const ofKind = linked.filter((one) => one.kind === kind);
            for (const filter of filters) {
              expect(replica.linked(kind, filter), JSON.stringify(filter)).to.deep.equal(
                judgeLinked(ofKind, events, filter),
              );
            }
          }
        } finally {
          replica.close();
        }
      }),
      runs(40),
    );
  });

  it('answers lists of terms likewise, and counts them', () => {
    fc.assert(
      fc.property(records, fc.array(termFilter, { minLength: 20, maxLength: 20 }), (world, filters) => {
        const { replica, events, terms } = build(world);
        try {
          for (const filter of filters)
            expect(replica.terms(filter), JSON.stringify(filter)).to.deep.equal(judgeTerms(terms, events, filter));
          const open = events.map(told).filter((one) => one.status === 'publish');
          const count = open.filter((one) => one.categories.includes(3)).length;
          expect(replica.termCount('category', 3)).to.equal(count);
        } finally {
          replica.close();
        }
      }),
      runs(40),
    );
  });

  describe('where an index does the counting', () => {
    const size = 3600;
    let replica: Replica;
    let events: EventRecord[];

    before(() => {
      const cycle = <T>(values: T[], n: number) => values[n % values.length]!;
      // Most of a year of events, some of months, some ending before they start: enough that neither texts nor windows are walked whole.
      events = Array.from({ length: size }, (_, n) => {
        const startMs = Date.UTC(2026, 0, 1) + ((n * 7919) % 1000) * 8 * 3_600_000;
        const hours = n % 97 === 0 ? 24 * 90 : n % 89 === 0 ? -5 : 1 + (n % 50);
        const at = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
        return event(100 + n, {
          status: cycle(['publish', 'publish', 'publish', 'draft'], n),
          author: n % 3,
          start: at(startMs),
          end: at(startMs + hours * 3_600_000),
          date: at(Date.UTC(2025, 0, 1) + (n % 3) * 1000),
          hidden: n % 41 === 0,
          featured: n % 5 === 0,
          categories: n % 2 === 0 ? [1] : n % 3 === 0 ? [2, 1] : [2 + (n % 5)],
          tags: [1 + (n % 6)],
          searchText: `Straße ${cycle(WORDS, n)} ${n % 400 === 0 ? 'zebra' : ''} ${n}`,
        });
      });
      replica = openReplica({ identity: 'test' });
      for (let from = 0; from < size; from += 500) replica.put(events.slice(from, from + 500));
    });
    after(() => replica.close());

    const at = fc.date({
      min: new Date('2025-12-01T00:00:00Z'),
      max: new Date('2027-03-01T00:00:00Z'),
      noInvalidDate: true,
    });
    const anyBound = fc.record({
      field: fc.constantFrom('start', 'end'),
      op: fc.constantFrom('>=', '>', '<=', '<'),
      // Also to the hour: the second before it has another minute and hour, the one before midnight another day.
      wall: fc.tuple(at, fc.constantFrom('', ':00:00', ' 00:00:00')).map(
        ([date, sharp]) =>
          date
            .toISOString()
            .slice(0, 19 - sharp.length)
            .replace('T', ' ') + sharp,
      ),
    });
    const manyFilter = asking<EventFilter>(
      {
        limit: fc.constantFrom(5, 50),
        offset: fc.constantFrom(0, 0, 7, 1500),
        order: fc.constantFrom('start', 'start', 'date'),
        visibility: fc.oneof(visibility, fc.constant({ others: ['publish', 'draft'], own: [], userId: 0 })),
      },
      {
        limit: fc.constantFrom(5, 50),
        bounds: fc.array(anyBound, { maxLength: 3 }),
        words: fc.array(
          fc.record({
            text: fc.constantFrom('strasse', 'zebra', 'STRA', 'e ', '%', 'jazz', '日本語', '99'),
            not: fc.constantFrom(false, false, true),
          }),
          { maxLength: 3 },
        ),
        categories: fc.subarray(CATEGORIES, { minLength: 1 }),
        tags: someIds,
        featured: fc.boolean(),
      },
    );

    it('gives the same totals and pages', () => {
      fc.assert(
        fc.property(manyFilter, (filter) => {
          expect(replica.events(filter), JSON.stringify(filter)).to.deep.equal(judgeEvents(events, filter));
        }),
        runs(400),
      );
    });

    it('counts any combination of dates by days', () => {
      const visible = fc.subarray(STATUSES).map((others) => ({ others, own: [], userId: 0 }));
      fc.assert(
        fc.property(fc.array(anyBound, { maxLength: 4 }), visible, (bounds, seen) => {
          const filter: EventFilter = {
            visibility: seen,
            bounds: bounds as NonNullable<EventFilter['bounds']>,
            order: 'start',
            limit: 3,
            offset: 0,
          };
          expect(replica.events(filter), JSON.stringify(filter)).to.deep.equal(judgeEvents(events, filter));
        }),
        runs(300),
      );
    });

    it('takes more targets than it walks one by one', () => {
      const categories = Array.from({ length: 120 }, (_, n) => n + 1);
      for (const order of ['start', 'date'] as const) {
        const filter: EventFilter = {
          visibility: { others: ['publish', 'draft'], own: [], userId: 0 },
          categories,
          order,
          limit: 40,
          offset: 9,
        };
        expect(replica.events(filter)).to.deep.equal(judgeEvents(events, filter));
        const until = { ...filter, bounds: [{ field: 'end' as const, op: '<' as const, wall: '2026-06-01 00:00:00' }] };
        expect(replica.events(until)).to.deep.equal(judgeEvents(events, until));
        const tagged = { ...filter, tags: Array.from({ length: 1500 }, (_, n) => n + 1) };
        expect(replica.events(tagged)).to.deep.equal(judgeEvents(events, tagged));
      }
    });
  });

  it('finds words longer than the index is asked for exactly, also to exclude them, among many candidates', () => {
    const replica = openReplica({ identity: 'test' });
    const begin = 'abcdefghijklmnopqrstuvwxyz'.repeat(3);
    const texts = [
      `${begin}-one`,
      `x ${begin}-two y`,
      begin,
      'abcdefghijklmnopqrstuvwx',
      'lala'.repeat(60),
      'ééé'.repeat(40),
    ];
    // More candidates than texts are read of, so that the word index is asked.
    replica.put(Array.from({ length: 3600 }, (_, n) => event(n + 1, { searchText: texts[n % 60] ?? `other ${n}` })));
    const count = (...words: SearchWord[]) =>
      replica.events({ visibility: PUBLIC, words, order: 'start', limit: 5, offset: 0 }).total;
    const word = (text: string, not = false): SearchWord => ({ text, not });
    expect(count(word(`${begin}-one`))).to.equal(60);
    expect(count(word(`${begin.toUpperCase()}-TWO`))).to.equal(60);
    expect(count(word(begin))).to.equal(180);
    expect(count(word(`${begin}-one`, true))).to.equal(3540);
    expect(count(word(begin), word(`${begin}-one`, true))).to.equal(120);
    expect(count(word('other', true), word(begin, true))).to.equal(180);
    expect(count(word('lala'.repeat(50)))).to.equal(60);
    expect(count(word('lala'.repeat(61)))).to.equal(0);
    expect(count(word(`${'é'.repeat(100)}`))).to.equal(60);
    replica.close();
  });

  it('finds text without regard to case and accents, and takes signs as they are', () => {
    const replica = openReplica({ identity: 'test' });
    replica.put([
      event(1, { searchText: 'Le Café d’Été, Straße' }),
      event(2, { searchText: '100% sure_thing' }),
      event(3, { searchText: '<b>zeb</b>ra' }),
    ]);
    const find = (text: string, not = false) =>
      replica.events({
        visibility: { others: ['publish'], own: [], userId: 0 },
        words: [{ text, not }],
        order: 'start',
        limit: 9,
        offset: 0,
      }).ids;
    // interface-behaviour 3.2: substring, case and accents folded, `%` and `_` literal, HTML source.
    expect(find('cafe')).to.deep.equal([1]);
    expect(find('ÉTÉ')).to.deep.equal([1]);
    expect(find('strasse')).to.deep.equal([1]);
    expect(find('STRAßE')).to.deep.equal([1]);
    expect(find('0%')).to.deep.equal([2]);
    expect(find('1%')).to.deep.equal([]);
    expect(find('_')).to.deep.equal([2]);
    expect(find('sure thing')).to.deep.equal([]);
    expect(find('zebra')).to.deep.equal([]);
    expect(find('zeb')).to.deep.equal([3]);
    expect(find('<b>')).to.deep.equal([3]);
    expect(find('cafe', true)).to.deep.equal([2, 3]);
    replica.close();
  });

  it('keeps hidden events out of lists, but a venue used by one is not without events', () => {
    const replica = openReplica({ identity: 'test' });
    replica.put([event(1, { hidden: true, venues: [5], categories: [8] }), venue(5), term('category', 8)]);
    const seen = { visibility: PUBLIC, events: PUBLIC, limit: 9, offset: 0 };
    expect(replica.events({ ...seen, include: [1], order: 'date' }).total).to.equal(0);
    expect(replica.linked('venue', { ...seen, hasEvents: false }).ids).to.deep.equal([]);
    expect(replica.linked('venue', { ...seen, upcomingFromUtc: '2026-01-01 00:00:00' }).ids).to.deep.equal([]);
    expect(replica.termCount('category', 8)).to.equal(1);
    replica.close();
  });

  it('finds a protected event by nothing that its password hides, and what it is linked to not by it', () => {
    const replica = openReplica({ identity: 'test' });
    const links = { categories: [8], tags: [9], venues: [5], organizers: [6] };
    const closed = { ...links, protected: true, featured: true, parent: 2, startUtc: '2026-06-01 08:00:00' };
    replica.put([event(1, closed), venue(5), organizer(6), term('category', 8), term('tag', 9)]);
    const page = { limit: 9, offset: 0 };
    const all: Visibility = { others: STATUSES, own: STATUSES, userId: 9 };
    for (const visibility of [PUBLIC, all]) {
      const found = (filter: Partial<EventFilter>) =>
        replica.events({ visibility, order: 'start', ...page, ...filter }).ids;
      expect(found({})).to.deep.equal([1]);
      expect(found({ featured: false })).to.deep.equal([1]);
      for (const filter of [
        ...[
          { categories: [8] },
          { tags: [9] },
          { venues: [5] },
          { organizers: [6] },
          { featured: true },
          { parent: 2 },
        ],
        ...[
          { include: [1], venues: [5] },
          { categories: [8, 7] },
          { words: [{ text: 'event', not: false }], tags: [9] },
        ],
      ])
        expect(found(filter), JSON.stringify(filter)).to.deep.equal([]);
      const venues = (filter: Partial<LinkedFilter>) =>
        replica.linked('venue', { visibility, events: visibility, ...page, ...filter }).ids;
      expect(venues({ event: 1 })).to.deep.equal([]);
      expect(venues({ hasEvents: true })).to.deep.equal([]);
      expect(venues({ hasEvents: false })).to.deep.equal([5]);
      expect(venues({ upcomingFromUtc: '2026-01-01 00:00:00' })).to.deep.equal([]);
      const terms = { kind: 'category', events: visibility, orderBy: 'name', descending: false, ...page } as const;
      expect(replica.terms({ ...terms, hideEmpty: false, event: 1 }).ids).to.deep.equal([]);
      expect(replica.terms({ ...terms, hideEmpty: true }).ids).to.deep.equal([]);
      expect(replica.termCount('category', 8)).to.equal(0);
    }
    replica.put([event(1, { ...closed, protected: false })]);
    expect(
      replica.events({ visibility: PUBLIC, order: 'start', ...page, venues: [5], featured: true }).ids,
    ).to.deep.equal([1]);
    expect(replica.termCount('category', 8)).to.equal(1);
    replica.put([event(1, closed)]);
    expect(replica.termCount('category', 8)).to.equal(0);
    replica.close();
  });

  it('shows a venue that is text inside events to those who see one of them', () => {
    const replica = openReplica({ identity: 'test' });
    const inside = FIRST_INLINE_ID + 7;
    replica.put([venue(inside)]);
    const page = { limit: 9, offset: 0 };
    const author: Visibility = { others: ['publish'], own: ['draft'], userId: 3 };
    const editor: Visibility = { others: STATUSES, own: STATUSES, userId: 9 };
    const shown = (events: Visibility) => [
      replica.linked('venue', { visibility: PUBLIC, events, ...page }).total,
      replica.isNamedBySeen('venue', inside, events) ? 1 : 0,
    ];
    for (const [fields, nobody, own, all] of [
      [{ status: 'draft', author: 3 }, [0, 0], [1, 1], [1, 1]],
      [{ status: 'draft', author: 4 }, [0, 0], [0, 0], [1, 1]],
      [{ hidden: true }, [0, 1], [0, 1], [0, 1]],
      [{ protected: true }, [0, 0], [0, 0], [0, 0]],
      [{ venues: [] }, [0, 0], [0, 0], [0, 0]],
      [{}, [1, 1], [1, 1], [1, 1]],
    ] as const) {
      replica.put([event(1, { venues: [inside], ...(fields as Partial<EventRecord>) })]);
      expect([PUBLIC, author, editor].map(shown), JSON.stringify(fields)).to.deep.equal([nobody, own, all]);
    }
    replica.close();
  });

  it('counts no event that ends only at the bound, whatever minute, hour or day that begins', () => {
    const replica = openReplica({ identity: 'test' });
    // The longest event lasts a second: up to there, all that start on the days before the bound are counted by days.
    const walls = ['2026-02-27 23:59:58', '2026-03-01 00:00:00', '2026-03-01 09:59:59', '2026-03-01 10:00:00'];
    replica.put(walls.map((start, n) => event(1 + n, { start, end: start.replace(/8$/, '9') })));
    for (const [wall, before, upTo] of [
      ['2026-02-27 23:59:59', [], [1]],
      ['2026-02-28 00:00:00', [1], [1]],
      ['2026-03-01 00:00:00', [1], [1, 2]],
      ['2026-03-01 09:59:59', [1, 2], [1, 2, 3]],
      ['2026-03-01 10:00:00', [1, 2, 3], [1, 2, 3, 4]],
      ['2026-03-02 00:00:00', [1, 2, 3, 4], [1, 2, 3, 4]],
    ] as const) {
      for (const [op, ids] of [['<', before] as const, ['<=', upTo] as const]) {
        const bounds = [{ field: 'end' as const, op, wall }];
        const found = replica.events({ visibility: PUBLIC, bounds, order: 'start', limit: 9, offset: 0 });
        expect(found, `${op} ${wall}`).to.deep.equal({ ids, total: ids.length });
      }
    }
    replica.close();
  });

  it('shows no organizer as having upcoming events for a hidden event of the caller', () => {
    const replica = openReplica({ identity: 'test' });
    const mine = { status: 'pending', author: 1, organizers: [16] };
    const mineToo = { others: ['future', 'publish'], own: ['pending'], userId: 1 };
    const filter: LinkedFilter = {
      visibility: mineToo,
      events: mineToo,
      upcomingFromUtc: '2025-12-30 00:00:00',
      limit: 9,
      offset: 0,
    };
    replica.put([event(104, { ...mine, hidden: true }), organizer(16)]);
    expect(replica.linked('organizer', filter)).to.deep.equal({ ids: [], total: 0 });
    replica.put([event(104, mine)]);
    expect(replica.linked('organizer', filter)).to.deep.equal({ ids: [16], total: 1 });
    replica.put([event(104, { ...mine, author: 2 })]);
    expect(replica.linked('organizer', filter)).to.deep.equal({ ids: [], total: 0 });
    replica.close();
  });

  it('takes published and private events, hidden or not, for events of a venue, however they came', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...STATUSES),
        fc.boolean(),
        fc.shuffledSubarray([...STATUSES, 'none'], { maxLength: 4 }),
        fc.boolean(),
        (status, hidden, earlier, venueFirst) => {
          const replica = openReplica({ identity: 'test' });
          try {
            if (venueFirst) replica.put([venue(5)]);
            for (const [n, other] of earlier.entries()) {
              if (other === 'none') replica.remove('event', [1]);
              else replica.put([event(1, { status: other, hidden: n % 2 === 0, venues: [5] })]);
            }
            replica.put([event(1, { status, hidden, venues: [5] })]);
            replica.put([venue(5)]);
            const total = (events: Visibility, hasEvents: boolean) =>
              replica.linked('venue', { visibility: PUBLIC, events, hasEvents, limit: 9, offset: 0 }).total;
            const editor: Visibility = { others: STATUSES, own: STATUSES, userId: 9 };
            for (const events of [PUBLIC, editor]) {
              const has = status === 'publish' || status === 'private';
              expect([total(events, true), total(events, false)]).to.deep.equal(has ? [1, 0] : [0, 1]);
            }
          } finally {
            replica.close();
          }
        },
      ),
      runs(60),
    );
  });

  it('finds everything below categories, also where they are their own ancestors', () => {
    const replica = openReplica({ identity: 'test' });
    const parents: [number, number][] = [
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 0],
      [5, 6],
      [6, 5],
    ];
    replica.put(parents.map(([id, parent]) => term('category', id, { parent })));
    expect(replica.descendants([1]).sort()).to.deep.equal([1, 2, 3]);
    expect(replica.descendants([2, 4, 2]).sort()).to.deep.equal([2, 3, 4]);
    expect(replica.descendants([5]).sort()).to.deep.equal([5, 6]);
    expect(replica.descendants([99])).to.deep.equal([99]);
    replica.close();
  });
});
