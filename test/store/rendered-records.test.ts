// Tests of the cache of rendered records: which changes of the replica invalidate them.

import { expect } from 'chai';
import { FIRST_EMBEDDED_ID, occurrenceId } from '../../src/model/records.ts';
import type { RenderedRecord } from '../../src/store/rendered-cache.ts';
import { Replica } from '../../src/store/replica.ts';
import { remove, upsert } from './changes.ts';
import { event, image, organizer, term, venue } from './sample-records.ts';

const rendered = (text: string): RenderedRecord => ({
  bytes: Buffer.from(text),
  etag: `"${text}"`,
  cacheTags: ['event-1'],
});

describe('rendered records', () => {
  let replica: Replica;
  const shown = event(1, { venues: [11], organizers: [12], categories: [5], tags: [6], image: 91 });
  const isCached = () => replica.rendered.get('/a', 'event', 1) !== undefined;

  beforeEach(() => {
    replica = new Replica({ identity: 'test' });
    const others = [venue(11, { image: 92 }), organizer(12), term('category', 5), term('tag', 6), event(2), event(3)];
    upsert(replica, [shown, ...others], [image(91), image(92)]);
    replica.rendered.set('/a', shown, rendered('one'));
    replica.rendered.set('/b', shown, rendered('two'));
  });

  afterEach(() => replica.close());

  it('are cached per mount', () => {
    expect(replica.rendered.get('/a', 'event', 1)?.etag).to.equal('"one"');
    expect(replica.rendered.get('/b', 'event', 1)?.bytes.toString()).to.equal('two');
    expect(replica.rendered.get('/c', 'event', 1)).to.equal(undefined);
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
      for (const { rendering, id } of keys) replica.rendered.set(rendering, event(id), rendered(`${rendering} ${id}`));
      for (const { rendering, id } of keys)
        expect(replica.rendered.get(rendering, 'event', id)?.etag).to.equal(`"${rendering} ${id}"`);
      expect(replica.rendered.get('single /b', 'event', id)).to.equal(undefined);
    });
  }

  const changes: [string, () => unknown][] = [
    ['the record', () => upsert(replica, [{ ...shown, title: 'x' }])],
    ['its deletion', () => remove(replica, 'event', [1])],
    ['its venue', () => upsert(replica, [venue(11, { image: 92, city: 'x' })])],
    ['the deletion of its venue', () => remove(replica, 'venue', [11])],
    ['its organizer', () => upsert(replica, [organizer(12, { email: 'x' })])],
    ['one of its categories', () => upsert(replica, [term('category', 5, { name: 'x' })])],
    ['the deletion of one of its tags', () => remove(replica, 'tag', [6])],
    ['another published event in its category', () => upsert(replica, [event(4, { categories: [5] })])],
    [
      'another event leaving its tag',
      () => {
        upsert(replica, [event(3, { tags: [6] })]);
        replica.rendered.set('/a', shown, rendered('one'));
        expect(isCached()).to.equal(true);
        upsert(replica, [event(3, { tags: [6], status: 'trash' })]);
      },
    ],
    ['its image', () => upsert(replica, [], [image(91, { width: 11 })])],
    ['the image of its venue', () => upsert(replica, [], [image(92, { width: 11 })])],
    ['the deletion of its image', () => remove(replica, 'image', [91])],
  ];
  for (const [what, change] of changes) {
    it(`are invalidated by ${what}`, () => {
      change();
      expect(isCached()).to.equal(false);
      expect(replica.rendered.get('/b', 'event', 1)).to.equal(undefined);
    });
  }

  it('are valid again once rendered after a change', () => {
    upsert(replica, [venue(11, { city: 'x' })]);
    replica.rendered.set('/a', shown, rendered('new'));
    expect(replica.rendered.get('/a', 'event', 1)?.etag).to.equal('"new"');
  });

  it('are evicted when memory is full, the least recently used first', () => {
    const small = new Replica({ identity: 'test', renderedBytes: 10_000 });
    for (let id = 1; id <= 100; id += 1) small.rendered.set('/a', event(id), rendered('x'.repeat(1000)));
    expect(small.rendered.get('/a', 'event', 1)).to.equal(undefined);
    expect(small.rendered.get('/a', 'event', 100)).to.not.equal(undefined);
    small.close();
  });
});
