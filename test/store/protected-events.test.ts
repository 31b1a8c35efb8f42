// Lists reveal nothing about a protected event that its password hides.

import { expect } from 'chai';
import { CallerDatabase } from '../../src/store/caller-database.ts';
import { type EventFilter, listEvents } from '../../src/store/list-events.ts';
import { type LinkedFilter, listLinked, listTerms, termCount } from '../../src/store/lists.ts';
import { Replica } from '../../src/store/replica.ts';
import { upsert } from './changes.ts';
import { event, organizer, term, venue } from './sample-records.ts';

describe('a protected event', () => {
  it('is matched by nothing that its password hides, and no record by a link of it', () => {
    const replica = new Replica({ identity: 'test' });
    const links = { categories: [8], tags: [9], venues: [5], organizers: [6] };
    const closed = { ...links, protected: true, featured: true, parent: 2, startUtc: '2026-06-01 08:00:00' };
    upsert(replica, [event(1, closed), venue(5), organizer(6), term('category', 8), term('tag', 9)]);
    const page = { limit: 9, offset: 0 };
    const own = new CallerDatabase(replica.db, 0);
    own.add([event(3, { ...closed, status: 'draft', categories: [] })]);
    for (const visible of [replica.db, own]) {
      const shown = visible === own ? [1, 3] : [1];
      const idsOf = (filter: Partial<EventFilter>) => listEvents(visible, { order: 'start', ...page, ...filter }).ids;
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
      const venues = (filter: Partial<LinkedFilter>) => listLinked(visible, 'venue', { ...page, ...filter }).ids;
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
      expect(listTerms(visible, { ...terms, hideEmpty: false, event: 1 }).ids).to.deep.equal([]);
      expect(listTerms(visible, { ...terms, hideEmpty: true }).ids).to.deep.equal([]);
      expect(termCount(replica.db, 'category', 8)).to.equal(0);
    }
    upsert(replica, [event(1, { ...closed, protected: false })]);
    expect(listEvents(replica.db, { order: 'start', ...page, venues: [5], featured: true }).ids).to.deep.equal([1]);
    expect(termCount(replica.db, 'category', 8)).to.equal(1);
    upsert(replica, [event(1, closed)]);
    expect(termCount(replica.db, 'category', 8)).to.equal(0);
    replica.close();
  });
});
