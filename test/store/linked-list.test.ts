// Tests of the lists of venues, organizers and terms: every total and page equals that of a plain filter over
// all records.

import { expect } from 'chai';
import fc from 'fast-check';
import { type EventRecord, FIRST_EMBEDDED_ID, isTermRecord, type LinkedRecord } from '../../src/model/records.ts';
import { CallerDatabase } from '../../src/store/caller-database.ts';
import { listEvents } from '../../src/store/list-events.ts';
import { isLinkedToEvent, listLinked, listTerms, type TermFilter, termCount } from '../../src/store/lists.ts';
import { categoriesWithDescendants } from '../../src/store/records.ts';
import { Replica } from '../../src/store/replica.ts';
import { build, eventsOf, linkedFilter, records, runs, termFilter, untestedConditions } from './arbitrary-lists.ts';
import { remove, upsert } from './changes.ts';
import { expectedLinked, expectedTerms, withoutProtected } from './list-oracle.ts';
import { event, organizer, term, venue } from './sample-records.ts';

describe('lists of venues, organizers and terms', () => {
  it('return what a filter over all records returns', () => {
    fc.assert(
      fc.property(records, fc.array(linkedFilter, { minLength: 20, maxLength: 20 }), (world, filters) => {
        const { replica, everybody, caller } = build(world);
        try {
          for (const kind of ['venue', 'organizer'] as const)
            for (const filter of filters)
              for (const { visible, events, linked } of [everybody, caller])
                expect(listLinked(visible, kind, filter), JSON.stringify(filter)).to.deep.equal(
                  expectedLinked(
                    linked.filter((record) => record.kind === kind),
                    events,
                    filter,
                  ),
                );
        } finally {
          replica.close();
        }
      }),
      runs(40),
    );
  });

  it('return what a filter over all records returns, with counts', () => {
    fc.assert(
      fc.property(records, fc.array(termFilter, { minLength: 20, maxLength: 20 }), (world, filters) => {
        const { replica, everybody, caller, terms } = build(world);
        try {
          for (const filter of filters)
            for (const { visible, events } of [everybody, caller])
              expect(listTerms(visible, filter), JSON.stringify(filter)).to.deep.equal(
                expectedTerms(terms, events, filter),
              );
          const open = everybody.events.map(withoutProtected).filter((record) => record.status === 'publish');
          const count = open.filter((record) => record.categories.includes(3)).length;
          expect(termCount(replica.db, 'category', 3)).to.equal(count);
        } finally {
          replica.close();
        }
      }),
      runs(40),
    );
  });

  it('are asked for with conditions that some sample records meet, and some not (values: `anyLinked`, `anyTerm`)', () => {
    for (const kind of ['venue', 'organizer'] as const) {
      const untested = untestedConditions(linkedFilter, { limit: 0, offset: 0 }, (all, filter) => {
        const linked = all.filter((record) => record.kind === kind) as LinkedRecord[];
        return expectedLinked(linked, eventsOf(all), filter).total;
      });
      expect(untested, kind).to.deep.equal([]);
    }
    const plain: TermFilter = {
      ...{ limit: 0, offset: 0, kind: 'category', orderBy: 'id' },
      ...{ descending: false, hideEmpty: false },
    };
    const untested = untestedConditions(termFilter, plain, (all, filter) => {
      return expectedTerms(all.filter(isTermRecord), eventsOf(all), filter).total;
    });
    expect(untested).to.deep.equal([]);
  });

  it('count hidden events as events of their venue, and do not list them', () => {
    const replica = new Replica({ identity: 'test' });
    upsert(replica, [event(1, { hidden: true, venues: [5], categories: [8] }), venue(5), term('category', 8)]);
    const seen = { limit: 9, offset: 0 };
    expect(listEvents(replica.db, { ...seen, include: [1], order: 'published' }).total).to.equal(0);
    expect(listLinked(replica.db, 'venue', { ...seen, hasEvents: false }).ids).to.deep.equal([]);
    expect(listLinked(replica.db, 'venue', { ...seen, upcomingFromUtc: '2026-01-01 00:00:00' }).ids).to.deep.equal([]);
    expect(termCount(replica.db, 'category', 8)).to.equal(1);
    replica.close();
  });

  it('show an embedded venue with one of its events', () => {
    const replica = new Replica({ identity: 'test' });
    const inside = FIRST_EMBEDDED_ID + 7;
    const page = { limit: 9, offset: 0 };
    upsert(replica, [venue(inside)]);
    for (const [fields, isListed, isLinked] of [
      [{ hidden: true }, false, true],
      [{ protected: true }, false, false],
      [{ venues: [] }, false, false],
      [{}, true, true],
    ] as const) {
      upsert(replica, [event(1, { venues: [inside], ...(fields as Partial<EventRecord>) })]);
      expect(
        [listLinked(replica.db, 'venue', page).total === 1, isLinkedToEvent(replica.db, 'venue', inside)],
        JSON.stringify(fields),
      ).to.deep.equal([isListed, isLinked]);
    }
    remove(replica, 'event', [1]);
    const own = new CallerDatabase(replica.db, 0);
    own.add([event(2, { status: 'draft', venues: [inside] })]);
    expect([listLinked(replica.db, 'venue', page).total, listLinked(own, 'venue', page).total]).to.deep.equal([0, 1]);
    replica.close();
  });

  it("do not count the caller's own hidden event as upcoming", () => {
    const replica = new Replica({ identity: 'test' });
    const filter = { upcomingFromUtc: '2025-12-30 00:00:00', limit: 9, offset: 0 };
    const mine = { status: 'pending', organizers: [16] };
    upsert(replica, [organizer(16)]);
    const own = new CallerDatabase(replica.db, 0);
    own.add([event(104, { ...mine, hidden: true })]);
    expect(listLinked(own, 'organizer', filter)).to.deep.equal({ ids: [], total: 0 });
    own.add([event(104, mine)]);
    expect(listLinked(own, 'organizer', filter)).to.deep.equal({ ids: [16], total: 1 });
    own.add([event(104, { ...mine, status: 'trash' })]);
    expect(listLinked(own, 'organizer', filter)).to.deep.equal({ ids: [], total: 0 });
    replica.close();
  });

  it('include all descendants of categories, also in a cycle of ancestors', () => {
    const replica = new Replica({ identity: 'test' });
    const parents: [number, number][] = [
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 0],
      [5, 6],
      [6, 5],
    ];
    upsert(
      replica,
      parents.map(([id, parent]) => term('category', id, { parent })),
    );
    expect(categoriesWithDescendants(replica.db, [1]).sort()).to.deep.equal([1, 2, 3]);
    expect(categoriesWithDescendants(replica.db, [2, 4, 2]).sort()).to.deep.equal([2, 3, 4]);
    expect(categoriesWithDescendants(replica.db, [5]).sort()).to.deep.equal([5, 6]);
    expect(categoriesWithDescendants(replica.db, [99])).to.deep.equal([99]);
    replica.close();
  });

  // Of each with each, these would exceed the test's timeout.
  it('accept very many terms, each the parent of the next', () => {
    const replica = new Replica({ identity: 'test' });
    const ids = Array.from({ length: 15_000 }, (_, n) => n + 1);
    for (let from = 0; from < ids.length; from += 1000)
      upsert(
        replica,
        ids.slice(from, from + 1000).map((id) => term('category', id, { parent: id - 1 })),
      );
    upsert(replica, [event(99_999, { categories: [ids.length] })]);
    expect(categoriesWithDescendants(replica.db, [1])).to.have.length(ids.length);
    expect(categoriesWithDescendants(replica.db, ids)).to.have.length(ids.length);
    const list = { kind: 'category', descending: false, limit: 3, offset: 0 } as const;
    expect(listTerms(replica.db, { ...list, orderBy: 'name', hideEmpty: true }).total).to.equal(ids.length);
    const include = [7, 5, 7, ...ids.toReversed()];
    expect(listTerms(replica.db, { ...list, orderBy: 'include', include, hideEmpty: false })).to.deep.equal({
      ...{ ids: [7, 5, ids.length], total: ids.length },
    });
    replica.close();
  });
});
