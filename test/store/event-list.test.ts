// Tests of the event list: every total and page equals that of a plain filter over all records.

import { StatementSync } from 'node:sqlite';
import { expect } from 'chai';
import fc from 'fast-check';
import type { EventRecord } from '../../src/model/records.ts';
import { type EventFilter, listEvents } from '../../src/store/list-events.ts';
import { Replica } from '../../src/store/replica.ts';
import {
  bound,
  build,
  EVENT_ORDERS,
  eventFilter,
  eventsOf,
  page,
  records,
  runs,
  untestedConditions,
} from './arbitrary-lists.ts';
import { remove, upsert } from './changes.ts';
import { expectedEvents } from './list-oracle.ts';
import { event } from './sample-records.ts';

describe('the event list', () => {
  it('returns what a filter over all records returns', () => {
    fc.assert(
      fc.property(records, fc.array(eventFilter, { minLength: 30, maxLength: 30 }), (world, filters) => {
        const { replica, everybody, caller } = build(world);
        try {
          for (const filter of filters)
            for (const { visible, events } of [everybody, caller])
              expect(listEvents(visible, filter), JSON.stringify(filter)).to.deep.equal(expectedEvents(events, filter));
        } finally {
          replica.close();
        }
      }),
      runs(60),
    );
  });

  it('is asked for with conditions that some sample events meet, and some not (values: `anyEvent`)', () => {
    const plain: EventFilter = { limit: 0, offset: 0, order: 'start', descending: false };
    const untested = untestedConditions(eventFilter, plain, (all, filter) => {
      return expectedEvents(eventsOf(all), filter).total;
    });
    // No sample event has a source.
    expect(untested).to.deep.equal(['sources']);
  });

  it('restricted by dates returns what a filter over all records returns, also after a change', () => {
    const dateFilter = fc.record(
      {
        ...page,
        bounds: fc.array(bound, { maxLength: 4 }),
        featured: fc.boolean(),
        order: fc.constant('start' as const),
      },
      { requiredKeys: ['limit', 'offset', 'order'] },
    ) as fc.Arbitrary<EventFilter>;
    fc.assert(
      fc.property(records, fc.array(dateFilter, { minLength: 80, maxLength: 80 }), (world, filters) => {
        const {
          replica,
          everybody: { events },
        } = build(world);
        const expectAll = (stored: EventRecord[]) => {
          for (const filter of filters)
            expect(listEvents(replica.db, filter), JSON.stringify(filter)).to.deep.equal(
              expectedEvents(stored, filter),
            );
        };
        try {
          expectAll(events);
          remove(replica, 'event', [events[0]?.id ?? 0]);
          expectAll(events.slice(1));
        } finally {
          replica.close();
        }
      }),
      runs(40),
    );
  });

  it('counts once for all pages of a list, until the replica changes', () => {
    const replica = new Replica({ identity: 'test' });
    upsert(replica, [event(1), event(2), event(3)]);
    const all = StatementSync.prototype.all;
    let counts = 0;
    StatementSync.prototype.all = function countingAll(...values) {
      if (this.sourceSQL.includes('count(')) counts += 1;
      return all.apply(this, values as never);
    };
    const total = (offset: number) => listEvents(replica.db, { order: 'start', limit: 1, offset }).total;
    try {
      for (const offset of [0, 1, 2]) expect(total(offset)).to.equal(3);
      expect(counts).to.equal(1);
      upsert(replica, [event(4)]);
      expect(total(0)).to.equal(4);
    } finally {
      StatementSync.prototype.all = all;
      replica.close();
    }
  });

  it('excludes an event that ends exactly at the bound, also at the end of an hour, day or month', () => {
    const replica = new Replica({ identity: 'test' });
    const walls = ['2026-02-27 23:59:58', '2026-03-01 00:00:00', '2026-03-01 09:59:59', '2026-03-01 10:00:00'];
    upsert(
      replica,
      walls.map((start, n) => event(1 + n, { start, end: start.replace(/8$/, '9') })),
    );
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
        const list = listEvents(replica.db, { bounds, order: 'start', limit: 9, offset: 0 });
        expect(list, `${op} ${wall}`).to.deep.equal({ ids, total: ids.length });
      }
    }
    replica.close();
  });

  describe('of events at one of many venues, as in an area', () => {
    const ids = Array.from({ length: 60 }, (_, n) => 500 + n);

    it('returns what a filter over all records returns, in every order and with words', () => {
      const replica = new Replica({ identity: 'test' });
      const events = Array.from({ length: 240 }, (_, n) =>
        event(1 + n, {
          venues: n % 4 ? [500 + (n % 75)] : [],
          title: `${n % 7} concert`,
          searchText: n % 3 ? 'concert' : 'fair',
          modifiedUtc: `2026-01-${10 + (n % 19)} 10:00:00`,
          protected: n % 11 === 0,
          hidden: n % 13 === 0,
          featured: n % 5 === 0,
        }),
      );
      upsert(replica, events);
      for (const order of EVENT_ORDERS)
        for (const words of [undefined, [{ text: 'concert', not: false }], [{ text: 'concert', not: true }]])
          for (const offset of [0, 40]) {
            const filter: EventFilter = { order, limit: 50, offset, venues: ids, words };
            expect(listEvents(replica.db, filter), JSON.stringify({ order, words, offset })).to.deep.equal(
              expectedEvents(events, filter),
            );
          }
      replica.close();
    });
  });
});
