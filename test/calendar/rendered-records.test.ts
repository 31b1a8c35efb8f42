// Tests of the cache of rendered records: of what there is one each, and which changes of the replica empty it.

import { expect } from 'chai';
import { findRendered, parseRendered, renderPublic } from '../../src/calendar/rendered-records.ts';
import type { Audience } from '../../src/calendar/serializer.ts';
import { FIRST_EMBEDDED_ID, occurrenceId } from '../../src/model/records.ts';
import { type RenderedRecord, Replica } from '../../src/store/replica.ts';
import { remove, upsert } from '../store/changes.ts';
import { event, image, organizer, term, venue } from '../store/sample-records.ts';

describe('rendered records', () => {
  let replica: Replica;
  const shown = event(1, { venues: [11], organizers: [12], categories: [5], tags: [6], image: 91 });
  const audience = (baseUrl: string, of = replica) => ({ services: { replica: of }, baseUrl }) as unknown as Audience;
  const json = (title: string) => ({ title, venue: [], organizer: [], categories: [], tags: [] });
  const render = (baseUrl: string, title: string) => renderPublic(shown, audience(baseUrl), 'item', json(title));
  const titleOf = (rendered: RenderedRecord | undefined) => rendered && parseRendered(rendered.bytes).title;
  const find = (baseUrl: string) => titleOf(findRendered('event', 1, audience(baseUrl), 'item'));

  beforeEach(() => {
    replica = new Replica({ identity: 'test' });
    const others = [venue(11, { image: 92 }), organizer(12), term('category', 5), term('tag', 6), event(2), event(3)];
    upsert(replica, [shown, ...others], [image(91), image(92)]);
    render('/a', 'one');
    render('/b', 'two');
  });

  afterEach(() => replica.close());

  it('are cached per mount', () => {
    expect(['/a', '/b', '/c'].map(find)).to.deep.equal(['one', 'two', undefined]);
    replica.clearRendered();
    expect(find('/a')).to.equal(undefined);
  });

  const largeIds: [string, number][] = [
    ['an occurrence', occurrenceId(123, '2027-03-12 10:00:00', 0)!],
    ['an embedded record', FIRST_EMBEDDED_ID + 12_345],
  ];
  for (const [what, id] of largeIds) {
    it(`of ${what} are cached per form, mount and id`, () => {
      const forms = [
        ['item', '/a'],
        ['single', '/a'],
        ['item', '/b'],
      ] as const;
      const keys = [id, id + 1].flatMap((each) => forms.map(([form, url]) => ({ id: each, form, url })));
      for (const { id, form, url } of keys) renderPublic(event(id), audience(url), form, json(`${form} ${url} ${id}`));
      for (const { id, form, url } of keys)
        expect(titleOf(findRendered('event', id, audience(url), form))).to.equal(`${form} ${url} ${id}`);
      expect(findRendered('event', id, audience('/b'), 'single')).to.equal(undefined);
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
        render('/a', 'one');
        expect(find('/a')).to.equal('one');
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
      expect(['/a', '/b'].map(find)).to.deep.equal([undefined, undefined]);
    });
  }

  it('are valid again once rendered after a change', () => {
    upsert(replica, [venue(11, { city: 'x' })]);
    render('/a', 'new');
    expect(find('/a')).to.equal('new');
  });

  it('are evicted when memory is full, the least recently used first', () => {
    const small = new Replica({ identity: 'test', renderedBytes: 10_000 });
    const ofSmall = audience('/a', small);
    for (let id = 1; id <= 100; id += 1) renderPublic(event(id), ofSmall, 'item', json('x'.repeat(1000)));
    expect(findRendered('event', 1, ofSmall, 'item')).to.equal(undefined);
    expect(findRendered('event', 100, ofSmall, 'item')).to.not.equal(undefined);
    small.close();
  });
});
