// Tests of the event list: every total and page equals that of a plain filter over all records.

import { DatabaseSync } from 'node:sqlite';
import { expect } from 'chai';
import fc from 'fast-check';
import type { EventRecord } from '../../src/model/records.ts';
import type { EventFilter } from '../../src/store/event-filter.ts';
import { linksTo } from '../../src/store/event-plan.ts';
import { type LinkedFilter, PUBLIC_VISIBILITY, type SearchWord, type Visibility } from '../../src/store/filters.ts';
import { openReplica, type Replica } from '../../src/store/replica.ts';
import { TABLES } from '../../src/store/schema.ts';
import { sql, toStatement } from '../../src/store/sql.ts';
import { anyFilter, bound, build, eventFilter, page, records, runs, someIds } from './arbitrary-lists.ts';
import { expectedEvents } from './list-oracle.ts';
import { CATEGORIES, event, organizer, STATUSES, term, venue, visibility, WORDS } from './sample-records.ts';

describe('the event list', () => {
  it('returns what a filter over all records returns', () => {
    fc.assert(
      fc.property(records, fc.array(eventFilter, { minLength: 30, maxLength: 30 }), (world, filters) => {
        const { replica, events } = build(world);
        try {
          for (const filter of filters)
            expect(replica.listEvents(filter), JSON.stringify(filter)).to.deep.equal(expectedEvents(events, filter));
        } finally {
          replica.close();
        }
      }),
      runs(60),
    );
  });

  it('restricted by dates returns what a filter over all records returns, also after a change', () => {
    const dateFilter = fc.record(
      {
        ...page,
        bounds: fc.array(bound, { maxLength: 4 }),
        visibility: fc.oneof(visibility, fc.constant(PUBLIC_VISIBILITY)),
        featured: fc.boolean(),
        order: fc.constant('start' as const),
      },
      { requiredKeys: ['limit', 'offset', 'visibility', 'order'] },
    ) as fc.Arbitrary<EventFilter>;
    fc.assert(
      fc.property(records, fc.array(dateFilter, { minLength: 80, maxLength: 80 }), (world, filters) => {
        const { replica, events } = build(world);
        const expectAll = (stored: EventRecord[]) => {
          for (const filter of filters)
            expect(replica.listEvents(filter), JSON.stringify(filter)).to.deep.equal(expectedEvents(stored, filter));
        };
        try {
          expectAll(events);
          replica.delete('event', [events[0]!.id]);
          expectAll(events.slice(1));
        } finally {
          replica.close();
        }
      }),
      runs(40),
    );
  });

  describe('of thousands of events, counted by indexes', () => {
    const size = 3600;
    let replica: Replica;
    let events: EventRecord[];

    before(() => {
      const cycle = <T>(values: T[], n: number) => values[n % values.length]!;
      // Events of most of a year, some lasting months, some ending before they start: enough that the
      // full-text index and the day counts are used.
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
          modifiedUtc: at(Date.UTC(2026, 5, 1) + ((n * 31) % 700) * 60_000),
          title: cycle(['Zoo', 'été', '<b>Apple</b>', 'apple &amp; pear', 'ete'], n),
          categories: n % 2 === 0 ? [1] : n % 3 === 0 ? [2, 1] : [2 + (n % 5)],
          tags: [1 + (n % 6)],
          searchText: `Straße ${cycle(WORDS, n)} ${n % 400 === 0 ? 'zebra' : ''} ${n}`,
        });
      });
      replica = openReplica({ identity: 'test' });
      for (let from = 0; from < size; from += 500) replica.upsert(events.slice(from, from + 500));
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
      // Full hours and midnights too: the second before them has another minute, hour or day.
      wall: fc.tuple(at, fc.constantFrom('', ':00:00', ' 00:00:00')).map(
        ([date, sharp]) =>
          date
            .toISOString()
            .slice(0, 19 - sharp.length)
            .replace('T', ' ') + sharp,
      ),
    });
    const manyFilter = anyFilter<EventFilter>(
      {
        limit: fc.constantFrom(5, 50),
        offset: fc.constantFrom(0, 0, 7, 1500),
        order: fc.constantFrom('start', 'start', 'date', 'modified', 'title'),
        descending: fc.constantFrom(undefined, true),
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
        modifiedAfter: fc.constantFrom('2026-05-01 00:00:00', '2026-06-01 05:00:00', '2026-06-01 11:30:00'),
      },
    );

    it('returns what a filter over all records returns', () => {
      fc.assert(
        fc.property(manyFilter, (filter) => {
          expect(replica.listEvents(filter), JSON.stringify(filter)).to.deep.equal(expectedEvents(events, filter));
        }),
        runs(400),
      );
    });

    it('counts any combination of dates by days, also for authors and featured events', () => {
      const featured = fc.constantFrom(undefined, undefined, true, false);
      fc.assert(
        fc.property(fc.array(anyBound, { maxLength: 4 }), visibility, featured, (bounds, visible, isFeatured) => {
          const filter: EventFilter = {
            visibility: visible,
            bounds: bounds as NonNullable<EventFilter['bounds']>,
            featured: isFeatured,
            order: 'start',
            limit: 3,
            offset: 0,
          };
          expect(replica.listEvents(filter), JSON.stringify(filter)).to.deep.equal(expectedEvents(events, filter));
        }),
        runs(300),
      );
    });

    it('accepts more categories than it scans one by one', () => {
      const categories = Array.from({ length: 120 }, (_, n) => n + 1);
      for (const order of ['start', 'date'] as const) {
        const filter: EventFilter = {
          visibility: { others: ['publish', 'draft'], own: [], userId: 0 },
          categories,
          order,
          limit: 40,
          offset: 9,
        };
        expect(replica.listEvents(filter)).to.deep.equal(expectedEvents(events, filter));
        const until = { ...filter, bounds: [{ field: 'end' as const, op: '<' as const, wall: '2026-06-01 00:00:00' }] };
        expect(replica.listEvents(until)).to.deep.equal(expectedEvents(events, until));
        const tagged = { ...filter, tags: Array.from({ length: 1500 }, (_, n) => n + 1) };
        expect(replica.listEvents(tagged)).to.deep.equal(expectedEvents(events, tagged));
      }
    });
  });

  it('finds and excludes words that are longer than the full-text index searches for', () => {
    const replica = openReplica({ identity: 'test' });
    const long = 'abcdefghijklmnopqrstuvwxyz'.repeat(3);
    const texts = [
      `${long}-one`,
      `x ${long}-two y`,
      long,
      'abcdefghijklmnopqrstuvwx',
      'lala'.repeat(60),
      'ééé'.repeat(40),
    ];
    // More candidates than the replica reads texts of: it uses the full-text index.
    replica.upsert(Array.from({ length: 3600 }, (_, n) => event(n + 1, { searchText: texts[n % 60] ?? `other ${n}` })));
    const count = (...words: SearchWord[]) =>
      replica.listEvents({ visibility: PUBLIC_VISIBILITY, words, order: 'start', limit: 5, offset: 0 }).total;
    const word = (text: string, not = false): SearchWord => ({ text, not });
    expect(count(word(`${long}-one`))).to.equal(60);
    expect(count(word(`${long.toUpperCase()}-TWO`))).to.equal(60);
    expect(count(word(long))).to.equal(180);
    expect(count(word(`${long}-one`, true))).to.equal(3540);
    expect(count(word(long), word(`${long}-one`, true))).to.equal(120);
    expect(count(word('other', true), word(long, true))).to.equal(180);
    expect(count(word('lala'.repeat(50)))).to.equal(60);
    expect(count(word('lala'.repeat(61)))).to.equal(0);
    expect(count(word(`${'é'.repeat(100)}`))).to.equal(60);
    replica.close();
  });

  it('ignores case and accents in searches, and takes other characters literally', () => {
    const replica = openReplica({ identity: 'test' });
    replica.upsert([
      event(1, { searchText: 'Le Café d’Été, Straße' }),
      event(2, { searchText: '100% sure_thing' }),
      event(3, { searchText: '<b>zeb</b>ra' }),
    ]);
    const find = (text: string, not = false) =>
      replica.listEvents({
        visibility: { others: ['publish'], own: [], userId: 0 },
        words: [{ text, not }],
        order: 'start',
        limit: 9,
        offset: 0,
      }).ids;
    // The search runs over the HTML source.
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

  it('matches a protected event by nothing that its password hides, and no record by a link of it', () => {
    const replica = openReplica({ identity: 'test' });
    const links = { categories: [8], tags: [9], venues: [5], organizers: [6] };
    const closed = { ...links, protected: true, featured: true, parent: 2, startUtc: '2026-06-01 08:00:00' };
    replica.upsert([event(1, closed), venue(5), organizer(6), term('category', 8), term('tag', 9)]);
    const page = { limit: 9, offset: 0 };
    const all: Visibility = { others: STATUSES, own: STATUSES, userId: 9 };
    for (const visibility of [PUBLIC_VISIBILITY, all]) {
      const idsOf = (filter: Partial<EventFilter>) =>
        replica.listEvents({ visibility, order: 'start', ...page, ...filter }).ids;
      expect(idsOf({})).to.deep.equal([1]);
      expect(idsOf({ featured: false })).to.deep.equal([1]);
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
        expect(idsOf(filter), JSON.stringify(filter)).to.deep.equal([]);
      const venues = (filter: Partial<LinkedFilter>) =>
        replica.listLinked('venue', { visibility, eventVisibility: visibility, ...page, ...filter }).ids;
      expect(venues({ event: 1 })).to.deep.equal([]);
      expect(venues({ hasEvents: true })).to.deep.equal([]);
      expect(venues({ hasEvents: false })).to.deep.equal([5]);
      expect(venues({ upcomingFromUtc: '2026-01-01 00:00:00' })).to.deep.equal([]);
      const terms = {
        kind: 'category',
        eventVisibility: visibility,
        orderBy: 'name',
        descending: false,
        ...page,
      } as const;
      expect(replica.listTerms({ ...terms, hideEmpty: false, event: 1 }).ids).to.deep.equal([]);
      expect(replica.listTerms({ ...terms, hideEmpty: true }).ids).to.deep.equal([]);
      expect(replica.termCount('category', 8)).to.equal(0);
    }
    replica.upsert([event(1, { ...closed, protected: false })]);
    expect(
      replica.listEvents({ visibility: PUBLIC_VISIBILITY, order: 'start', ...page, venues: [5], featured: true }).ids,
    ).to.deep.equal([1]);
    expect(replica.termCount('category', 8)).to.equal(1);
    replica.upsert([event(1, closed)]);
    expect(replica.termCount('category', 8)).to.equal(0);
    replica.close();
  });

  it('excludes an event that ends exactly at the bound, also at the end of an hour, day or month', () => {
    const replica = openReplica({ identity: 'test' });
    // The longest event lasts a second: events that start before the day of the bound are counted by days.
    const walls = ['2026-02-27 23:59:58', '2026-03-01 00:00:00', '2026-03-01 09:59:59', '2026-03-01 10:00:00'];
    replica.upsert(walls.map((start, n) => event(1 + n, { start, end: start.replace(/8$/, '9') })));
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
        const list = replica.listEvents({
          visibility: PUBLIC_VISIBILITY,
          bounds,
          order: 'start',
          limit: 9,
          offset: 0,
        });
        expect(list, `${op} ${wall}`).to.deep.equal({ ids, total: ids.length });
      }
    }
    replica.close();
  });

  describe('of events at one of many venues, as in an area', () => {
    const ids = Array.from({ length: 60 }, (_, n) => 500 + n);

    it('returns what a filter over all records returns, in every order and with words', () => {
      const replica = openReplica({ identity: 'test' });
      const events = Array.from({ length: 240 }, (_, n) =>
        event(1 + n, {
          venues: n % 4 ? [500 + (n % 75)] : [],
          title: `${n % 7} concert`,
          searchText: n % 3 ? 'concert' : 'fair',
          modifiedUtc: `2026-01-${10 + (n % 19)} 10:00:00`,
          protected: n % 11 === 0,
          hidden: n % 13 === 0,
          status: n % 17 ? 'publish' : 'draft',
          featured: n % 5 === 0,
        }),
      );
      replica.upsert(events);
      for (const order of ['start', 'date', 'modified', 'title'] as const)
        for (const words of [undefined, [{ text: 'concert', not: false }], [{ text: 'concert', not: true }]])
          for (const offset of [0, 40]) {
            const filter: EventFilter = { visibility: PUBLIC_VISIBILITY, order, limit: 50, offset, venues: ids, words };
            expect(replica.listEvents(filter), JSON.stringify({ order, words, offset })).to.deep.equal(
              expectedEvents(events, filter),
            );
          }
      replica.close();
    });

    it('collects their links once, not for each event', () => {
      const db = new DatabaseSync(':memory:');
      db.exec(TABLES);
      const planOf = (targetIds: number[]): string => {
        const where = linksTo({ targetKind: 'venue', targetIds });
        const { text, values } = toStatement(sql`EXPLAIN QUERY PLAN SELECT e.id FROM event e WHERE ${where}`);
        return db
          .prepare(text)
          .all(...values)
          .map(({ detail }) => detail)
          .join('\n');
      };
      // A look-up of each event in the links of each target has all columns of their key.
      expect(planOf(ids.slice(0, 3))).to.match(/SEARCH l .* AND id=\?\)/);
      expect(planOf(ids)).to.not.match(/SEARCH l .* AND id=\?\)/);
      db.close();
    });
  });
});
