// Tests of the event list: every total and page equals that of a plain filter over all records.

import { DatabaseSync, StatementSync } from 'node:sqlite';
import { expect } from 'chai';
import fc from 'fast-check';
import type { EventRecord } from '../../src/model/records.ts';
import type { EventFilter } from '../../src/store/event-filter.ts';
import { linksTo } from '../../src/store/event-filter.ts';
import { PUBLIC_VISIBILITY } from '../../src/store/filters.ts';
import { openReplica } from '../../src/store/replica.ts';
import { TABLES } from '../../src/store/schema.ts';
import { sql, toStatement } from '../../src/store/sql.ts';
import { bound, build, eventFilter, page, records, runs } from './arbitrary-lists.ts';
import { expectedEvents } from './list-oracle.ts';
import { event, visibility } from './sample-records.ts';

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

  it('counts the events that the day counts leave out once for all pages of a list, until the replica changes', () => {
    const replica = openReplica({ identity: 'test' });
    const long = (id: number) => event(id, { end: '2027-06-01 10:00:00' });
    const draft = (id: number) => event(id, { status: 'draft' });
    replica.upsert([long(1), long(2), long(3), draft(4), draft(5), draft(6)]);
    const get = StatementSync.prototype.get;
    let counts = 0;
    StatementSync.prototype.get = function countingGet(...values) {
      if (this.sourceSQL.includes('AS total')) counts += 1;
      return get.apply(this, values as never);
    };
    const total = (ownOnly: string[], offset: number) =>
      replica.listEvents({
        visibility: { anyAuthor: ['publish'], ownOnly, userId: 1 },
        bounds: [{ field: 'end', op: '>=', wall: '2027-01-01 00:00:00' }].slice(
          ownOnly.length,
        ) as EventFilter['bounds'],
        ...{ order: 'start', limit: 1, offset },
      }).total;
    try {
      for (const [ownOnly, all] of [[[], 3] as const, [['draft'], 6] as const]) {
        counts = 0;
        for (const offset of [0, 1, 2]) expect(total([...ownOnly], offset)).to.equal(all);
        expect(counts).to.equal(1);
      }
      replica.upsert([long(7), draft(8)]);
      expect([total([], 0), total(['draft'], 0)]).to.deep.equal([4, 8]);
    } finally {
      StatementSync.prototype.get = get;
      replica.close();
    }
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
      // A lookup of each event in the links of each target has all columns of their key.
      expect(planOf(ids.slice(0, 3))).to.match(/SEARCH l .* AND id=\?\)/);
      expect(planOf(ids)).to.not.match(/SEARCH l .* AND id=\?\)/);
      db.close();
    });
  });
});
