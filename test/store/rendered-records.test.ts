// Tests of the cache of rendered records: which changes of the replica invalidate them.

import { expect } from 'chai';
import { FIRST_EMBEDDED_ID, occurrenceId } from '../../src/model/records.ts';
import { openReplica, type RenderedRecord, type Replica } from '../../src/store/replica.ts';
import { event, image, organizer, term, venue } from './sample-records.ts';

const rendered = (text: string): RenderedRecord => ({
  bytes: Buffer.from(text),
  etag: `"${text}"`,
  cacheTags: ['event-1'],
  modifiedUtc: undefined,
});

describe('rendered records', () => {
  let replica: Replica;
  const shown = event(1, { venues: [11], organizers: [12], categories: [5], tags: [6], image: 91 });
  const isCached = () => replica.getRendered('/a', 'event', 1) !== undefined;

  beforeEach(() => {
    replica = openReplica({ identity: 'test' });
    const others = [venue(11, { image: 92 }), organizer(12), term('category', 5), term('tag', 6), event(2), event(3)];
    replica.upsert([shown, ...others], [image(91), image(92)]);
    replica.setRendered('/a', shown, rendered('one'));
    replica.setRendered('/b', shown, rendered('two'));
  });

  afterEach(() => replica.close());

  it('are cached per mount', () => {
    expect(replica.getRendered('/a', 'event', 1)?.etag).to.equal('"one"');
    expect(replica.getRendered('/b', 'event', 1)?.bytes.toString()).to.equal('two');
    expect(replica.getRendered('/c', 'event', 1)).to.equal(undefined);
    replica.clearRendered();
    expect(isCached()).to.equal(false);
  });

  const largeIds: [string, number][] = [
    ['an occurrence', occurrenceId(123, '2027-03-12 10:00:00', 0)!],
    ['an embedded record', FIRST_EMBEDDED_ID + 12_345],
  ];
  for (const [what, id] of largeIds) {
    it(`of ${what} are cached per rendering and id`, () => {
      const renderings = ['entry /a', 'single /a', 'entry /b'];
      const keys = [id, id + 1].flatMap((each) => renderings.map((rendering) => ({ rendering, id: each })));
      for (const { rendering, id } of keys) replica.setRendered(rendering, event(id), rendered(`${rendering} ${id}`));
      for (const { rendering, id } of keys)
        expect(replica.getRendered(rendering, 'event', id)?.etag).to.equal(`"${rendering} ${id}"`);
      expect(replica.getRendered('single /b', 'event', id)).to.equal(undefined);
    });
  }

  const changes: [string, () => unknown][] = [
    ['the record', () => replica.upsert([{ ...shown, title: 'x' }])],
    ['its deletion', () => replica.delete('event', [1])],
    ['its venue', () => replica.upsert([venue(11, { image: 92, city: 'x' })])],
    ['the deletion of its venue', () => replica.delete('venue', [11])],
    ['its organizer', () => replica.upsert([organizer(12, { email: 'x' })])],
    ['one of its categories', () => replica.upsert([term('category', 5, { name: 'x' })])],
    ['the deletion of one of its tags', () => replica.delete('tag', [6])],
    ['another published event in its category', () => replica.upsert([event(4, { categories: [5] })])],
    [
      'another event leaving its tag',
      () => {
        replica.upsert([event(3, { tags: [6] })]);
        replica.setRendered('/a', shown, rendered('one'));
        expect(isCached()).to.equal(true);
        replica.upsert([event(3, { tags: [6], status: 'trash' })]);
      },
    ],
    ['its image', () => replica.upsert([], [image(91, { width: 11 })])],
    ['the image of its venue', () => replica.upsert([], [image(92, { width: 11 })])],
    ['the deletion of its image', () => replica.delete('image', [91])],
  ];
  for (const [what, change] of changes) {
    it(`are invalidated by ${what}`, () => {
      change();
      expect(isCached()).to.equal(false);
      expect(replica.getRendered('/b', 'event', 1)).to.equal(undefined);
    });
  }

  it('stay valid when a record changes that they do not show', () => {
    replica.upsert(
      [event(2, { title: 'x' }), event(9, { status: 'draft', categories: [5] }), venue(13), term('tag', 7)],
      [image(94)],
    );
    replica.delete('event', [3]);
    expect(isCached()).to.equal(true);
  });

  it('are valid again once rendered after a change', () => {
    replica.upsert([venue(11, { city: 'x' })]);
    replica.setRendered('/a', shown, rendered('new'));
    expect(replica.getRendered('/a', 'event', 1)?.etag).to.equal('"new"');
  });

  it('of a transaction that was rolled back are cleared', () => {
    const attempt = () =>
      replica.transaction(() => {
        replica.upsert([{ ...shown, title: 'x' }]);
        replica.setRendered('/a', { ...shown, title: 'x' }, rendered('wrong'));
        throw new Error('no');
      });
    expect(attempt).to.throw('no');
    expect(isCached()).to.equal(false);
  });

  it('are evicted when memory is full, the least recently used first', () => {
    const small = openReplica({ identity: 'test', renderedBytes: 10_000 });
    for (let id = 1; id <= 100; id += 1) small.setRendered('/a', event(id), rendered('x'.repeat(1000)));
    expect(small.getRendered('/a', 'event', 1)).to.equal(undefined);
    expect(small.getRendered('/a', 'event', 100)).to.not.equal(undefined);
    small.close();
  });
});
