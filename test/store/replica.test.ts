// Tests of the replica: records, stamps, transactions, and what is withheld.

import { expect } from 'chai';
import type { CalendarRecord } from '../../src/model/records.ts';
import type { TermFilter } from '../../src/store/filters.ts';
import { openReplica, type Replica } from '../../src/store/replica.ts';
import { event, image, organizer, term, venue } from './sample-records.ts';

const listed = (replica: Replica) => replica.listEvents({ order: 'start', limit: 100, offset: 0 });

describe('the replica', () => {
  let replica: Replica;
  beforeEach(() => {
    replica = openReplica({ identity: 'test' });
  });
  afterEach(() => replica.close());

  describe('records', () => {
    it('returns stored records of every kind', () => {
      const records: CalendarRecord[] = [
        event(1, { title: 'Łódź “2027”', venues: [2], categories: [4, 1], searchText: 'source' }),
        venue(2),
        organizer(3),
        term('category', 4),
        term('tag', 4),
      ];
      expect(replica.upsert(records, [image(9)])).to.equal(6);
      for (const record of records) expect(replica.get(record.kind, record.id)).to.deep.equal(record);
      expect(replica.getImage(9)).to.deep.equal(image(9));
      expect([...replica.getMany('event', [1, 2, 77]).keys()]).to.deep.equal([1]);
      expect([...replica.getImages([9, 10]).keys()]).to.deep.equal([9]);
      expect(replica.counts()).to.deep.equal({ event: 1, venue: 1, organizer: 1, category: 1, tag: 1 });
      expect(replica.integrityCheck()).to.deep.equal([]);
    });

    it('treats an equal record as no change, whatever the order of its keys', () => {
      replica.upsert([event(1), term('tag', 1)], [image(9)]);
      const { version } = replica;
      const reversed = Object.fromEntries(Object.entries(event(1)).reverse()) as unknown as CalendarRecord;
      expect(replica.upsert([reversed, term('tag', 1)], [image(9)])).to.equal(0);
      expect(replica.version).to.equal(version);
      expect(replica.upsert([event(1, { sticky: true }), term('tag', 1)])).to.equal(1);
      expect(replica.version).to.be.greaterThan(version);
    });

    it('deletes records that are there, and counts them', () => {
      replica.upsert([event(1, { tags: [5] }), venue(2), term('tag', 5)], [image(9)]);
      const { version } = replica;
      expect(replica.delete('event', [77])).to.equal(0);
      expect(replica.delete('venue', [1])).to.equal(0);
      expect(replica.version).to.equal(version);
      expect(replica.delete('event', [1, 77])).to.equal(1);
      expect(replica.delete('image', [9])).to.equal(1);
      expect(replica.get('event', 1)).to.equal(undefined);
      expect(replica.termCount('tag', 5)).to.equal(0);
      expect(listed(replica)).to.deep.equal({ ids: [], total: 0 });
      expect(replica.version).to.be.greaterThan(version);
    });

    it('replaces a post of another kind with the same id', () => {
      replica.upsert([event(1, { tags: [5], searchText: 'jazz' })]);
      replica.upsert([venue(1)]);
      expect(replica.kindOf(1)).to.equal('venue');
      expect(replica.get('event', 1)).to.equal(undefined);
      expect(replica.termCount('tag', 5)).to.equal(0);
      expect(listed(replica).total).to.equal(0);
      replica.upsert([event(1)]);
      expect(replica.kindOf(1)).to.equal('event');
      expect(replica.listLinked('venue', { limit: 9, offset: 0 }).total).to.equal(0);
      expect(replica.counts().venue).to.equal(0);
    });

    it('counts the records of each kind over changes, deletions and rollbacks', () => {
      expect(replica.counts()).to.deep.equal({ event: 0, venue: 0, organizer: 0, category: 0, tag: 0 });
      replica.upsert([event(1), event(2), venue(3), organizer(4), term('category', 1), term('tag', 1)]);
      replica.upsert([event(1, { title: 'x' }), venue(2), term('tag', 1, { name: 'x' }), term('tag', 2)]);
      replica.delete('tag', [1, 77]);
      replica.delete('organizer', [4]);
      const failing = () =>
        replica.transaction(() => {
          replica.upsert([event(9)]);
          throw new Error('no');
        });
      expect(failing).to.throw('no');
      expect(replica.counts()).to.deep.equal({ event: 1, venue: 2, organizer: 0, category: 1, tag: 1 });
    });

    it('stores a category and a tag with the same id', () => {
      replica.upsert([term('category', 1, { name: 'One' }), term('tag', 1, { name: 'Two' }), event(5, { tags: [1] })]);
      expect(replica.get('category', 1)?.name).to.equal('One');
      expect(replica.get('tag', 1)?.name).to.equal('Two');
      expect(replica.termCount('category', 1)).to.equal(0);
      expect([replica.termCount('tag', 1), replica.termCount('tag', 2)]).to.deep.equal([1, 0]);
    });

    it('finds ids by slug and by name', () => {
      replica.upsert([
        event(2, { slug: 'Jazz' }),
        event(1, { slug: 'jazz' }),
        venue(3, { slug: 'jazz' }),
        term('category', 7, { slug: 'food-drink', name: 'Food &amp; Drink' }),
        term('category', 8, { slug: 'ete', name: 'Été' }),
        event(4, { slug: '%e6%97%a5' }),
        event(5, { slug: '日' }),
        term('tag', 9, { slug: '%e6%97%a5' }),
      ]);
      expect(replica.idsBySlug('event', 'JAZZ')).to.deep.equal([1, 2]);
      expect(replica.idsBySlug('venue', 'jazz')).to.deep.equal([3]);
      expect(replica.idsBySlug('organizer', 'jazz')).to.deep.equal([]);
      for (const slug of ['日', '%e6%97%a5', '%E6%97%A5']) {
        expect(replica.idsBySlug('event', slug)).to.deep.equal([4, 5]);
        expect(replica.termIdBySlug('tag', slug)).to.equal(9);
      }
      expect(replica.termIdBySlug('category', 'Food-Drink')).to.equal(7);
      expect(replica.termIdByName('category', 'food & drink')).to.equal(7);
      expect(replica.termIdByName('category', 'ETE')).to.equal(8);
      expect(replica.termIdByName('tag', 'ETE')).to.equal(undefined);
    });

    it('searches and sorts terms by the slug as it is shown, and finds them by it encoded and decoded', () => {
      replica.upsert([
        term('tag', 1, { slug: '日本', name: 'Japan' }),
        term('tag', 2, { slug: 'zoo', name: 'Animals' }),
        term('tag', 3, { slug: '%e9%9f%b3', name: 'Music' }),
      ]);
      const idsOf = (filter: Partial<TermFilter>) =>
        replica.listTerms({
          kind: 'tag',
          orderBy: 'id',
          descending: false,
          hideEmpty: false,
          limit: 9,
          offset: 0,
          ...filter,
        }).ids;
      expect(idsOf({ search: '日' })).to.deep.equal([1]);
      expect(idsOf({ search: 'e9' })).to.deep.equal([3]);
      expect(idsOf({ orderBy: 'slug' })).to.deep.equal([3, 2, 1]);
      for (const slug of ['日本', '%E6%97%A5%e6%9c%ac']) expect(idsOf({ slug })).to.deep.equal([1]);
    });

    it('returns stamps: of ids, and after an id', () => {
      replica.upsert([event(1), event(2, { modifiedUtc: '2026-02-02 02:02:02' }), event(3), term('tag', 4)]);
      expect(replica.stamps('event').map(({ id }) => id)).to.deep.equal([1, 2, 3]);
      expect(replica.stamps('event', { after: 1, limit: 1 }).map(({ id }) => id)).to.deep.equal([2]);
      expect(replica.stamps('tag')).to.deep.equal([{ id: 4, modifiedUtc: '' }]);
      expect([...replica.stampsById('event', [3, 2, 99, 11]).values()]).to.have.deep.members([
        { id: 2, modifiedUtc: '2026-02-02 02:02:02' },
        { id: 3, modifiedUtc: '2026-01-01 09:00:00' },
      ]);
      expect([...replica.stampsById('tag', [4])]).to.deep.equal([[4, { id: 4, modifiedUtc: '' }]]);
    });

    it('finds the events that show a record, and missing images', () => {
      replica.upsert(
        [
          event(1, { venues: [11], image: 91, hidden: true }),
          event(2, { organizers: [12], categories: [5] }),
          event(3, { tags: [5] }),
          venue(11, { image: 92 }),
          organizer(12, { image: 93 }),
        ],
        [image(93)],
      );
      expect(replica.eventIdsShowing('venue', 11)).to.deep.equal([1]);
      expect(replica.eventIdsShowing('category', 5)).to.deep.equal([2]);
      expect(replica.eventIdsShowing('tag', 5)).to.deep.equal([3]);
      expect(replica.eventIdsShowing('image', 91)).to.deep.equal([1]);
      expect(replica.eventIdsShowing('image', 92)).to.deep.equal([1]);
      expect(replica.eventIdsShowing('image', 93)).to.deep.equal([2]);
      expect(replica.missingImageIds(0, 10)).to.deep.equal([91, 92]);
      expect(replica.missingImageIds(0, 1)).to.deep.equal([91]);
      expect(replica.missingImageIds(91, 10)).to.deep.equal([92]);
    });

    it('rolls back a failed transaction, with its state', () => {
      replica.upsert([event(1)]);
      const { version } = replica;
      expect(() =>
        replica.transaction(() => {
          replica.upsert([event(2), event(1, { title: 'x' })]);
          replica.setState('watermark', 'later');
          expect(listed(replica).total).to.equal(2);
          throw new Error('no');
        }),
      ).to.throw('no');
      expect(listed(replica)).to.deep.equal({ ids: [1], total: 1 });
      expect(replica.state('watermark')).to.equal(undefined);
      expect(replica.version).to.be.greaterThan(version);
    });
  });

  describe('a record that is withheld', () => {
    const changes = (since: ReturnType<Replica['journal']['head']>) =>
      replica.journal.since(since, 9)?.entries.map(({ id, change }) => `${id} ${change}`);

    it('is in no list and has no entry in the journal until it is read again', () => {
      replica.upsert([event(1), event(2), venue(3)]);
      const start = replica.journal.head();
      replica.apply({ withheld: [{ kind: 'event', id: 1 }] });
      expect([listed(replica).ids, replica.get('event', 1), changes(start)]).to.deep.equal([[2], undefined, []]);
      replica.upsert([event(1, { title: 'New' })]);
      expect([listed(replica).ids, changes(start)]).to.deep.equal([[1, 2], ['1 updated']]);
    });

    it('is noted as deleted if it is gone then, with the times of an event that was seen in the trash', () => {
      replica.upsert([event(1), event(2)]);
      const start = replica.journal.head();
      for (const id of [1, 2]) replica.apply({ withheld: [{ kind: 'event', id }] });
      replica.apply({ deletes: [{ kind: 'event', ids: [1, 2], trashed: new Set([2]) }] });
      expect(changes(start)).to.deep.equal(['1 deleted', '2 deleted']);
      expect(replica.journal.cancelled(1)).to.equal(undefined);
      expect(replica.journal.cancelled(2)).to.include({ id: 2, start: event(2).start });
    });
  });
});
