// Tests of the replica: records, stamps, transactions, and what is withheld.

import { expect } from 'chai';
import type { CalendarRecord } from '../../src/model/records.ts';
import { listEvents } from '../../src/store/list-events.ts';
import { listLinked, listTerms, type TermFilter, termCount } from '../../src/store/lists.ts';
import {
  eventIdsWith,
  getImage,
  getImages,
  getRecord,
  getRecords,
  idsBySlug,
  kindOf,
  missingImageIds,
  stampsById,
  termIdByName,
  termIdBySlug,
} from '../../src/store/records.ts';
import { Replica } from '../../src/store/replica.ts';
import { getState } from '../../src/store/state.ts';
import { integrityErrors, remove, upsert } from './changes.ts';
import { recordCounts, recordIds } from './record-counts.ts';
import { event, image, organizer, term, venue } from './sample-records.ts';

const listed = (replica: Replica) => listEvents(replica.db, { order: 'start', limit: 100, offset: 0 });

describe('the replica', () => {
  let replica: Replica;
  beforeEach(() => {
    replica = new Replica({ identity: 'test' });
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
      expect(upsert(replica, records, [image(9)])).to.equal(6);
      for (const record of records) expect(getRecord(replica.db, record.kind, record.id)).to.deep.equal(record);
      expect(getImage(replica.db, 9)).to.deep.equal(image(9));
      expect([...getRecords(replica.db, 'event', [1, 2, 77]).keys()]).to.deep.equal([1]);
      expect([...getImages(replica.db, [9, 10]).keys()]).to.deep.equal([9]);
      expect(recordCounts(replica.db)).to.deep.equal({ event: 1, venue: 1, organizer: 1, category: 1, tag: 1 });
      expect(integrityErrors(replica)).to.deep.equal([]);
    });

    it('treats an equal record as no change', () => {
      upsert(replica, [event(1), term('tag', 1)], [image(9)]);
      const { version } = replica;
      expect(upsert(replica, [event(1), term('tag', 1)], [image(9)])).to.equal(0);
      expect(replica.version).to.equal(version);
      expect(upsert(replica, [event(1, { sticky: true }), term('tag', 1)])).to.equal(1);
      expect(replica.version).to.be.greaterThan(version);
    });

    it('deletes records that are there, and counts them', () => {
      upsert(replica, [event(1, { tags: [5] }), venue(2), term('tag', 5)], [image(9)]);
      const { version } = replica;
      expect(remove(replica, 'event', [77])).to.equal(0);
      expect(remove(replica, 'venue', [1])).to.equal(0);
      expect(replica.version).to.equal(version);
      expect(remove(replica, 'event', [1, 77])).to.equal(1);
      expect(remove(replica, 'image', [9])).to.equal(1);
      expect(getRecord(replica.db, 'event', 1)).to.equal(undefined);
      expect(termCount(replica.db, 'tag', 5)).to.equal(0);
      expect(listed(replica)).to.deep.equal({ ids: [], total: 0 });
      expect(replica.version).to.be.greaterThan(version);
    });

    it('stores published posts only: another status ends the post that was there', () => {
      expect(upsert(replica, [event(1, { status: 'draft' }), venue(2)])).to.equal(1);
      expect(upsert(replica, [venue(2, { status: 'private' })])).to.equal(1);
      expect(recordCounts(replica.db)).to.include({ event: 0, venue: 0 });
    });

    it('replaces a post of another kind with the same id', () => {
      upsert(replica, [event(1, { tags: [5], searchText: 'jazz' })]);
      upsert(replica, [venue(1)]);
      expect(kindOf(replica.db, 1)).to.equal('venue');
      expect(getRecord(replica.db, 'event', 1)).to.equal(undefined);
      expect(termCount(replica.db, 'tag', 5)).to.equal(0);
      expect(listed(replica).total).to.equal(0);
      upsert(replica, [event(1)]);
      expect(kindOf(replica.db, 1)).to.equal('event');
      expect(listLinked(replica.db, 'venue', { limit: 9, offset: 0 }).total).to.equal(0);
      expect(recordCounts(replica.db).venue).to.equal(0);
    });

    it('counts the records of each kind over changes and deletions', () => {
      expect(recordCounts(replica.db)).to.deep.equal({ event: 0, venue: 0, organizer: 0, category: 0, tag: 0 });
      upsert(replica, [event(1), event(2), venue(3), organizer(4), term('category', 1), term('tag', 1)]);
      upsert(replica, [event(1, { title: 'x' }), venue(2), term('tag', 1, { name: 'x' }), term('tag', 2)]);
      remove(replica, 'tag', [1, 77]);
      remove(replica, 'organizer', [4]);
      expect(recordCounts(replica.db)).to.deep.equal({ event: 1, venue: 2, organizer: 0, category: 1, tag: 1 });
    });

    it('stores a category and a tag with the same id', () => {
      upsert(replica, [term('category', 1, { name: 'One' }), term('tag', 1, { name: 'Two' }), event(5, { tags: [1] })]);
      expect(getRecord(replica.db, 'category', 1)?.name).to.equal('One');
      expect(getRecord(replica.db, 'tag', 1)?.name).to.equal('Two');
      expect(termCount(replica.db, 'category', 1)).to.equal(0);
      expect([termCount(replica.db, 'tag', 1), termCount(replica.db, 'tag', 2)]).to.deep.equal([1, 0]);
    });

    it('finds ids by slug and by name', () => {
      upsert(replica, [
        event(2, { slug: 'Jazz' }),
        event(1, { slug: 'jazz' }),
        venue(3, { slug: 'jazz' }),
        term('category', 7, { slug: 'food-drink', name: 'Food &amp; Drink' }),
        term('category', 8, { slug: 'ete', name: 'Été' }),
        event(4, { slug: '%e6%97%a5' }),
        event(5, { slug: '日' }),
        term('tag', 9, { slug: '%e6%97%a5' }),
      ]);
      expect(idsBySlug(replica.db, 'event', 'JAZZ')).to.deep.equal([1, 2]);
      expect(idsBySlug(replica.db, 'venue', 'jazz')).to.deep.equal([3]);
      expect(idsBySlug(replica.db, 'organizer', 'jazz')).to.deep.equal([]);
      for (const slug of ['日', '%e6%97%a5', '%E6%97%A5']) {
        expect(idsBySlug(replica.db, 'event', slug)).to.deep.equal([4, 5]);
        expect(termIdBySlug(replica.db, 'tag', slug)).to.equal(9);
      }
      expect(termIdBySlug(replica.db, 'category', 'Food-Drink')).to.equal(7);
      expect(termIdByName(replica.db, 'category', 'food & drink')).to.equal(7);
      expect(termIdByName(replica.db, 'category', 'ETE')).to.equal(8);
      expect(termIdByName(replica.db, 'tag', 'ETE')).to.equal(undefined);
    });

    it('searches and sorts terms by the slug as it is shown, and finds them by it encoded and decoded', () => {
      upsert(replica, [
        term('tag', 1, { slug: '日本', name: 'Japan' }),
        term('tag', 2, { slug: 'zoo', name: 'Animals' }),
        term('tag', 3, { slug: '%e9%9f%b3', name: 'Music' }),
      ]);
      const idsOf = (filter: Partial<TermFilter>) =>
        listTerms(replica.db, {
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

    it('returns ids, and stamps of ids', () => {
      upsert(replica, [event(1), event(2, { modifiedUtc: '2026-02-02 02:02:02' }), event(3), term('tag', 4)]);
      expect(recordIds(replica.db, 'event')).to.deep.equal([1, 2, 3]);
      expect([...stampsById(replica.db, 'event', [3, 2, 99, 11]).values()]).to.have.deep.members([
        { id: 2, modifiedUtc: '2026-02-02 02:02:02' },
        { id: 3, modifiedUtc: '2026-01-01 09:00:00' },
      ]);
      expect([...stampsById(replica.db, 'tag', [4])]).to.deep.equal([[4, { id: 4, modifiedUtc: '' }]]);
    });

    it('finds the events with a record, and missing images', () => {
      upsert(
        replica,
        [
          event(1, { venues: [11], image: 91, hidden: true }),
          event(2, { organizers: [12], categories: [5] }),
          event(3, { tags: [5] }),
          venue(11, { image: 92 }),
          organizer(12, { image: 93 }),
        ],
        [image(93)],
      );
      expect(eventIdsWith(replica.db, 'venue', 11)).to.deep.equal([1]);
      expect(eventIdsWith(replica.db, 'category', 5)).to.deep.equal([2]);
      expect(eventIdsWith(replica.db, 'tag', 5)).to.deep.equal([3]);
      expect(missingImageIds(replica.db, 10)).to.deep.equal([91, 92]);
      expect(missingImageIds(replica.db, 1)).to.deep.equal([91]);
    });

    it('rolls back a change that fails, with its state', () => {
      upsert(replica, [event(1)]);
      expect(listed(replica).total).to.equal(1);
      const broken = { ...event(3), title: undefined } as unknown as CalendarRecord;
      const upserts = [event(2), event(1, { title: 'x' }), broken];
      expect(() => replica.apply({ upserts, state: { watermark: 'later' } })).to.throw(TypeError);
      expect(listed(replica)).to.deep.equal({ ids: [1], total: 1 });
      expect(getRecord(replica.db, 'event', 1)).to.deep.equal(event(1));
      expect(getState(replica.db, 'watermark')).to.equal(undefined);
      expect(upsert(replica, [event(2)])).to.equal(1);
      expect(listed(replica).total).to.equal(2);
    });
  });

  describe('a record that is withheld', () => {
    const changes = (since: ReturnType<Replica['journal']['head']>) =>
      replica.journal.since(since, 9)?.entries.map(({ id, change }) => `${id} ${change}`);

    it('is in no list and has no entry in the journal until it is read again', () => {
      upsert(replica, [event(1), event(2), venue(3)]);
      const start = replica.journal.head();
      replica.apply({ withheld: [{ kind: 'event', id: 1 }] });
      expect([listed(replica).ids, getRecord(replica.db, 'event', 1), changes(start)]).to.deep.equal([
        [2],
        undefined,
        [],
      ]);
      upsert(replica, [event(1, { title: 'New' })]);
      expect([listed(replica).ids, changes(start)]).to.deep.equal([[1, 2], ['1 updated']]);
    });

    it('is noted as deleted if it is gone then, with the times of an event that was seen in the trash', () => {
      upsert(replica, [event(1), event(2)]);
      const start = replica.journal.head();
      for (const id of [1, 2]) replica.apply({ withheld: [{ kind: 'event', id }] });
      replica.apply({ deletes: [{ kind: 'event', ids: [1, 2], trashed: new Set([2]) }] });
      expect(changes(start)).to.deep.equal(['1 deleted', '2 deleted']);
      expect(replica.journal.cancelled(1)).to.equal(undefined);
      expect(replica.journal.cancelled(2)).to.include({ id: 2, start: event(2).start });
    });
  });
});
