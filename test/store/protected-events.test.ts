// Lists reveal nothing about a protected event that its password hides.

import { expect } from 'chai';
import type { LinkedFilter } from '../../src/store/filters.ts';
import type { EventFilter } from '../../src/store/list-events.ts';
import { openReplica } from '../../src/store/replica.ts';
import { event, organizer, term, venue } from './sample-records.ts';

describe('a protected event', () => {
  it('is matched by nothing that its password hides, and no record by a link of it', () => {
    const replica = openReplica({ identity: 'test' });
    const links = { categories: [8], tags: [9], venues: [5], organizers: [6] };
    const closed = { ...links, protected: true, featured: true, parent: 2, startUtc: '2026-06-01 08:00:00' };
    replica.upsert([event(1, closed), venue(5), organizer(6), term('category', 8), term('tag', 9)]);
    const page = { limit: 9, offset: 0 };
    const own = replica.openOwn(0);
    own.add([event(3, { ...closed, status: 'draft', categories: [] })]);
    for (const view of [replica, own]) {
      const shown = view === own ? [1, 3] : [1];
      const idsOf = (filter: Partial<EventFilter>) => view.listEvents({ order: 'start', ...page, ...filter }).ids;
      expect(idsOf({})).to.deep.equal(shown);
      expect(idsOf({ featured: false })).to.deep.equal(shown);
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
      const venues = (filter: Partial<LinkedFilter>) => view.listLinked('venue', { ...page, ...filter }).ids;
      expect(venues({ event: 1 })).to.deep.equal([]);
      expect(venues({ hasEvents: true })).to.deep.equal([]);
      expect(venues({ hasEvents: false })).to.deep.equal([5]);
      expect(venues({ upcomingFromUtc: '2026-01-01 00:00:00' })).to.deep.equal([]);
      const terms = {
        kind: 'category',
        orderBy: 'name',
        descending: false,
        ...page,
      } as const;
      expect(view.listTerms({ ...terms, hideEmpty: false, event: 1 }).ids).to.deep.equal([]);
      expect(view.listTerms({ ...terms, hideEmpty: true }).ids).to.deep.equal([]);
      expect(replica.termCount('category', 8)).to.equal(0);
    }
    replica.upsert([event(1, { ...closed, protected: false })]);
    expect(replica.listEvents({ order: 'start', ...page, venues: [5], featured: true }).ids).to.deep.equal([1]);
    expect(replica.termCount('category', 8)).to.equal(1);
    replica.upsert([event(1, closed)]);
    expect(replica.termCount('category', 8)).to.equal(0);
    replica.close();
  });
});
