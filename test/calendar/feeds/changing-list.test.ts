// A feed of many events is written in several turns of the event loop, and shows one state all the same.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { TestGateway } from '../../start-gateway.ts';
import { remove, upsert } from '../../store/changes.ts';
import { event } from '../../store/sample-records.ts';
import { on } from '../list-fixture.ts';
import { seededGateway } from '../seeded-gateway.ts';

const COUNT = 150;
const LAST = COUNT - 1;
/** All on one day, so that the list has them in the order of their ids. */
const sameDay = (id: number, more: Parameters<typeof event>[1]) => event(id, { ...on(1), id, ...more });

describe('a feed of many events', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await seededGateway(Array.from({ length: COUNT }, (_, n) => sameDay(n + 1, { title: `Event ${n + 1}` })));
  });
  afterEach(() => gateway.stop());

  /** The response; `change` runs after the first turn, in which the feed is found and begun. */
  async function readDuring(path: string, change: () => void, as?: string) {
    const { db } = gateway.services.replica;
    const count = db.cachedCount.bind(db);
    let isChanged = false;
    db.cachedCount = (query) => {
      if (!isChanged) void nextTurn().then(change);
      isChanged = true;
      return count(query);
    };
    return gateway.request(path, { as });
  }

  for (const path of ['/events.ics', '/events.atom?per_page=200']) {
    const hidden: [what: string, change: Parameters<typeof event>[1]][] = [
      ['private', { status: 'private' }],
      ['a draft', { status: 'draft' }],
      ['protected', { protected: true }],
      ['hidden from lists', { hidden: true }],
    ];
    for (const [what, change] of hidden)
      it(`does not show an event that becomes ${what} meanwhile: ${path}`, async () => {
        const { status, text } = await readDuring(path, () => {
          upsert(gateway.replica, [sameDay(LAST, { description: 'Secret', ...change })]);
        });
        expect(status).to.equal(200);
        expect(text).to.include('Event 1');
        expect(text).not.to.include('Secret');
      });

    it(`has an event that appears meanwhile, and a deleted one nowhere: ${path}`, async () => {
      const { text } = await readDuring(path, () => {
        upsert(gateway.replica, [sameDay(999, { title: 'New' })]);
        remove(gateway.replica, 'event', [1]);
      });
      expect(text).to.include('New');
      expect(text).not.to.match(/Event 1\b/);
    });
  }

  it('does not show staff an event that becomes the private event of another author', async () => {
    const { status, text } = await readDuring(
      '/events.ics',
      () => {
        upsert(gateway.replica, [sameDay(LAST, { description: 'Secret', status: 'private', author: 999 })]);
      },
      'author',
    );
    expect(status).to.equal(200);
    expect(text).to.include('Event 1');
    expect(text).not.to.include('Secret');
  });
});
