// Tests of the lists of venues, organizers and terms: every total and page equals that of a plain filter over
// all records.

import { expect } from 'chai';
import fc from 'fast-check';
import { type EventRecord, FIRST_EMBEDDED_ID } from '../../src/model/records.ts';
import { type LinkedFilter, PUBLIC_VISIBILITY, type Visibility } from '../../src/store/filters.ts';
import { openReplica } from '../../src/store/replica.ts';
import { build, linkedFilter, records, runs, termFilter } from './arbitrary-lists.ts';
import { expectedLinked, expectedTerms, withoutProtected } from './list-oracle.ts';
import { event, organizer, STATUSES, term, venue } from './sample-records.ts';

describe('lists of venues, organizers and terms', () => {
  it('return what a filter over all records returns', () => {
    fc.assert(
      fc.property(records, fc.array(linkedFilter, { minLength: 20, maxLength: 20 }), (world, filters) => {
        const { replica, events, linked } = build(world);
        try {
          for (const kind of ['venue', 'organizer'] as const) {
            const ofKind = linked.filter((record) => record.kind === kind);
            for (const filter of filters) {
              expect(replica.listLinked(kind, filter), JSON.stringify(filter)).to.deep.equal(
                expectedLinked(ofKind, events, filter),
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

  it('return what a filter over all records returns, with counts', () => {
    fc.assert(
      fc.property(records, fc.array(termFilter, { minLength: 20, maxLength: 20 }), (world, filters) => {
        const { replica, events, terms } = build(world);
        try {
          for (const filter of filters)
            expect(replica.listTerms(filter), JSON.stringify(filter)).to.deep.equal(
              expectedTerms(terms, events, filter),
            );
          const open = events.map(withoutProtected).filter((record) => record.status === 'publish');
          const count = open.filter((record) => record.categories.includes(3)).length;
          expect(replica.termCount('category', 3)).to.equal(count);
        } finally {
          replica.close();
        }
      }),
      runs(40),
    );
  });

  it('count hidden events as events of their venue, and do not list them', () => {
    const replica = openReplica({ identity: 'test' });
    replica.upsert([event(1, { hidden: true, venues: [5], categories: [8] }), venue(5), term('category', 8)]);
    const seen = { visibility: PUBLIC_VISIBILITY, eventVisibility: PUBLIC_VISIBILITY, limit: 9, offset: 0 };
    expect(replica.listEvents({ ...seen, include: [1], order: 'date' }).total).to.equal(0);
    expect(replica.listLinked('venue', { ...seen, hasEvents: false }).ids).to.deep.equal([]);
    expect(replica.listLinked('venue', { ...seen, upcomingFromUtc: '2026-01-01 00:00:00' }).ids).to.deep.equal([]);
    expect(replica.termCount('category', 8)).to.equal(1);
    replica.close();
  });

  it('show an embedded venue to actors who may see one of its events', () => {
    const replica = openReplica({ identity: 'test' });
    const inside = FIRST_EMBEDDED_ID + 7;
    replica.upsert([venue(inside)]);
    const page = { limit: 9, offset: 0 };
    const author: Visibility = { anyAuthor: ['publish'], ownOnly: ['draft'], userId: 3 };
    const editor: Visibility = { anyAuthor: STATUSES, ownOnly: STATUSES, userId: 9 };
    const shown = (eventVisibility: Visibility) => [
      replica.listLinked('venue', { visibility: PUBLIC_VISIBILITY, eventVisibility, ...page }).total,
      replica.isLinkedToVisibleEvent('venue', inside, eventVisibility) ? 1 : 0,
    ];
    for (const [fields, anonymousCounts, authorCounts, editorCounts] of [
      [{ status: 'draft', author: 3 }, [0, 0], [1, 1], [1, 1]],
      [{ status: 'draft', author: 4 }, [0, 0], [0, 0], [1, 1]],
      [{ hidden: true }, [0, 1], [0, 1], [0, 1]],
      [{ protected: true }, [0, 0], [0, 0], [0, 0]],
      [{ venues: [] }, [0, 0], [0, 0], [0, 0]],
      [{}, [1, 1], [1, 1], [1, 1]],
    ] as const) {
      replica.upsert([event(1, { venues: [inside], ...(fields as Partial<EventRecord>) })]);
      expect([PUBLIC_VISIBILITY, author, editor].map(shown), JSON.stringify(fields)).to.deep.equal([
        anonymousCounts,
        authorCounts,
        editorCounts,
      ]);
    }
    replica.close();
  });

  it("do not count the actor's own hidden event as upcoming", () => {
    const replica = openReplica({ identity: 'test' });
    const mine = { status: 'pending', author: 1, organizers: [16] };
    const mineToo = { anyAuthor: ['future', 'publish'], ownOnly: ['pending'], userId: 1 };
    const filter: LinkedFilter = {
      visibility: mineToo,
      eventVisibility: mineToo,
      upcomingFromUtc: '2025-12-30 00:00:00',
      limit: 9,
      offset: 0,
    };
    replica.upsert([event(104, { ...mine, hidden: true }), organizer(16)]);
    expect(replica.listLinked('organizer', filter)).to.deep.equal({ ids: [], total: 0 });
    replica.upsert([event(104, mine)]);
    expect(replica.listLinked('organizer', filter)).to.deep.equal({ ids: [16], total: 1 });
    replica.upsert([event(104, { ...mine, author: 2 })]);
    expect(replica.listLinked('organizer', filter)).to.deep.equal({ ids: [], total: 0 });
    replica.close();
  });

  it('count published and private events of a venue, hidden or not, whatever their status was before', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...STATUSES),
        fc.boolean(),
        fc.shuffledSubarray([...STATUSES, 'none'], { maxLength: 4 }),
        fc.boolean(),
        (status, hidden, earlier, venueFirst) => {
          const replica = openReplica({ identity: 'test' });
          try {
            if (venueFirst) replica.upsert([venue(5)]);
            for (const [n, other] of earlier.entries()) {
              if (other === 'none') replica.delete('event', [1]);
              else replica.upsert([event(1, { status: other, hidden: n % 2 === 0, venues: [5] })]);
            }
            replica.upsert([event(1, { status, hidden, venues: [5] })]);
            replica.upsert([venue(5)]);
            const total = (eventVisibility: Visibility, hasEvents: boolean) =>
              replica.listLinked('venue', {
                visibility: PUBLIC_VISIBILITY,
                eventVisibility,
                hasEvents,
                limit: 9,
                offset: 0,
              }).total;
            const editor: Visibility = { anyAuthor: STATUSES, ownOnly: STATUSES, userId: 9 };
            for (const events of [PUBLIC_VISIBILITY, editor]) {
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

  it('include all descendants of categories, also in a cycle of ancestors', () => {
    const replica = openReplica({ identity: 'test' });
    const parents: [number, number][] = [
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 0],
      [5, 6],
      [6, 5],
    ];
    replica.upsert(parents.map(([id, parent]) => term('category', id, { parent })));
    expect(replica.withDescendants([1]).sort()).to.deep.equal([1, 2, 3]);
    expect(replica.withDescendants([2, 4, 2]).sort()).to.deep.equal([2, 3, 4]);
    expect(replica.withDescendants([5]).sort()).to.deep.equal([5, 6]);
    expect(replica.withDescendants([99])).to.deep.equal([99]);
    replica.close();
  });

  // Of each with each, these would exceed the test's timeout.
  it('accept very many terms, each the parent of the next', () => {
    const replica = openReplica({ identity: 'test' });
    const ids = Array.from({ length: 15_000 }, (_, n) => n + 1);
    for (let from = 0; from < ids.length; from += 1000)
      replica.upsert(ids.slice(from, from + 1000).map((id) => term('category', id, { parent: id - 1 })));
    replica.upsert([event(99_999, { categories: [ids.length] })]);
    expect(replica.withDescendants([1])).to.have.length(ids.length);
    expect(replica.withDescendants(ids)).to.have.length(ids.length);
    const list = {
      kind: 'category',
      eventVisibility: PUBLIC_VISIBILITY,
      descending: false,
      limit: 3,
      offset: 0,
    } as const;
    expect(replica.listTerms({ ...list, orderBy: 'name', hideEmpty: true }).total).to.equal(ids.length);
    const include = [7, 5, 7, ...ids.toReversed()];
    expect(replica.listTerms({ ...list, orderBy: 'include', include, hideEmpty: false })).to.deep.equal({
      ...{ ids: [7, 5, ids.length], total: ids.length },
    });
    replica.close();
  });
});
