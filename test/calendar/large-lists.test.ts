// A list of large records is built in several turns of the event loop, and shows one state all the same.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { TestGateway } from '../start-gateway.ts';
import { organizer } from '../store/sample-records.ts';
import { on } from './list-fixture.ts';
import { seededGateway } from './seeded-gateway.ts';

const COUNT = 60;
const description = 'x'.repeat(100_000);

describe('a list of large records', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    const ids = Array.from({ length: COUNT }, (_, n) => n + 1);
    const organizers = ids.map((n) => organizer(1000 + n, { description }));
    gateway = await seededGateway([...ids.map((id) => on(id, { description })), ...organizers], { maxPerPage: 500 });
  });
  afterEach(() => gateway.stop());

  /** The response, and how many turns of the event loop began before it; `change` runs in the third. */
  async function turnsDuring(path: string, change = () => {}, as?: 'admin') {
    let turns = 0;
    let isOver = false;
    const response = gateway.request(path, { ...(as && { as }) }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await nextTurn();
      turns += 1;
      if (turns === 3) change();
    }
    return { turns, body: (await response).body };
  }

  for (const collection of ['events', 'organizers'])
    for (const as of [undefined, 'admin'] as const)
      it(`lets other requests run while it is built: ${collection} for ${as ?? 'the public'}`, async () => {
        const path = `/${collection}?per_page=500`;
        const built = await turnsDuring(path, undefined, as);
        expect(built.body[collection]).to.have.length(COUNT);
        const small = await turnsDuring(`/${collection}?per_page=1`, undefined, as);
        // A turn has about six records of this size.
        expect(built.turns).to.be.above(small.turns + COUNT / 8);
      });

  for (const as of [undefined, 'admin'] as const)
    it(`shows ${as ?? 'the public'} one state if the replica changes meanwhile`, async () => {
      const change = () => {
        gateway.replica.upsert([on(1, { description: 'new' }), on(COUNT, { description: 'new' }), on(999)]);
        gateway.replica.delete('event', [2]);
      };
      const { body } = await turnsDuring('/events?per_page=500', change, as);
      const descriptions = new Map(body.events.map(({ id, description: text }: never) => [id, text]));
      expect(body.total).to.equal(COUNT);
      expect(body.events).to.have.length(COUNT);
      expect(descriptions.has(2)).to.equal(false);
      expect(descriptions.has(999)).to.equal(true);
      for (const id of [1, COUNT]) expect(descriptions.get(id)).to.equal('new');
    });
});
