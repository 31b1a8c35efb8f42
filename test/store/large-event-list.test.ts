// Lists of thousands of events, which are counted by indexes, equal a plain filter over all records.

import { expect } from 'chai';
import fc from 'fast-check';
import type { EventRecord } from '../../src/model/records.ts';
import { type EventFilter, listEvents } from '../../src/store/list-events.ts';
import { Replica } from '../../src/store/replica.ts';
import { type Arbitraries, anyFilter, EVENT_ORDERS, runs, someIds } from './arbitrary-lists.ts';
import { upsert } from './changes.ts';
import { expectedEvents } from './list-oracle.ts';
import { CATEGORIES, event, WORDS } from './sample-records.ts';

/** Filters by what these events have in common, or lack: event-list.test.ts tries them. */
type Alike =
  | ('statuses' | 'venues' | 'notVenues' | 'organizers' | 'customFields')
  | ('include' | 'parent' | 'eventStatuses' | 'sources');

describe('the event list of thousands of events, counted by indexes', () => {
  const size = 3600;
  let replica: Replica;
  let events: EventRecord[];

  before(() => {
    const cycle = <T>(values: T[], n: number) => values[n % values.length]!;
    // Events of most of a year, some lasting months, some ending before they start: as a large site has them.
    events = Array.from({ length: size }, (_, n) => {
      const startMs = Date.UTC(2026, 0, 1) + ((n * 7919) % 1000) * 8 * 3_600_000;
      const hours = n % 97 === 0 ? 24 * 90 : n % 89 === 0 ? -5 : 1 + (n % 50);
      const at = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
      return event(100 + n, {
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
    replica = new Replica({ identity: 'test' });
    for (let from = 0; from < size; from += 500) upsert(replica, events.slice(from, from + 500));
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
      order: fc.constantFrom('start', ...EVENT_ORDERS),
      descending: fc.constantFrom(undefined, true),
    },
    {
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
    } satisfies Arbitraries<EventFilter, 'order' | 'descending' | Alike>,
  );

  it('returns what a filter over all records returns', () => {
    fc.assert(
      fc.property(manyFilter, (filter) => {
        expect(listEvents(replica.db, filter), JSON.stringify(filter)).to.deep.equal(expectedEvents(events, filter));
      }),
      runs(400),
    );
  }).timeout(60_000);

  it('skips an event of several of the categories once', () => {
    const filter: EventFilter = {
      categories: [1, 2, 6],
      order: 'modified',
      descending: true,
      limit: 5,
      offset: 7,
    };
    expect(listEvents(replica.db, filter)).to.deep.equal(expectedEvents(events, filter));
  });

  it('counts any combination of dates, also of featured events', () => {
    const featured = fc.constantFrom(undefined, undefined, true, false);
    fc.assert(
      fc.property(fc.array(anyBound, { maxLength: 4 }), featured, (bounds, isFeatured) => {
        const filter: EventFilter = {
          bounds: bounds as NonNullable<EventFilter['bounds']>,
          featured: isFeatured,
          order: 'start',
          limit: 3,
          offset: 0,
        };
        expect(listEvents(replica.db, filter), JSON.stringify(filter)).to.deep.equal(expectedEvents(events, filter));
      }),
      runs(300),
    );
  });

  it('accepts very many categories and tags', () => {
    const categories = Array.from({ length: 120 }, (_, n) => n + 1);
    for (const order of ['start', 'published'] as const) {
      const filter: EventFilter = {
        categories,
        order,
        limit: 40,
        offset: 9,
      };
      expect(listEvents(replica.db, filter)).to.deep.equal(expectedEvents(events, filter));
      const until = { ...filter, bounds: [{ field: 'end' as const, op: '<' as const, wall: '2026-06-01 00:00:00' }] };
      expect(listEvents(replica.db, until)).to.deep.equal(expectedEvents(events, until));
      const tagged = { ...filter, tags: Array.from({ length: 1500 }, (_, n) => n + 1) };
      expect(listEvents(replica.db, tagged)).to.deep.equal(expectedEvents(events, tagged));
    }
  });
});
