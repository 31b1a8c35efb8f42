// A body may describe up to a thousand records: the gateway serves other requests meanwhile, and does not flood other servers.

import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { createImages } from '../../src/calendar/images.ts';
import type { ImageFetches } from '../../src/upstream/image-fetches.ts';
import { type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { AS, type FakeCms, fakeCms } from './fake-cms.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
const ITEMS = 300;

describe('a body with very many items', () => {
  let cms: FakeCms;
  let gateway: GatewayUnderTest;
  beforeEach(async () => {
    cms = fakeCms(() => Date.UTC(2027, 0, 1));
    gateway = await gatewayUnderTest({ upstream: cms, service: AS.admin, as: AS });
    await gateway.ask('/venues', { as: 'admin', json: { venue: 'Same', status: 'publish' } });
    await gateway.ask('/tags', { as: 'admin', json: { name: 'same' } });
  });
  afterEach(() => gateway.close());

  /** How often others had their turn while an event with these fields was created. */
  async function turnsDuring(fields: object): Promise<number> {
    let turns = 0;
    const asked = gateway.ask('/events', { as: 'admin', json: { title: 'T', ...times, ...fields } });
    let isOver = false;
    void asked.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await turn();
      turns += 1;
    }
    expect((await asked).status).to.equal(201);
    return turns;
  }

  it('leaves others a turn between two venues, also where none of them is new', async () => {
    const venue = Array.from({ length: ITEMS }, () => ({ venue: 'Same' }));
    expect(await turnsDuring({ venue })).to.be.above(ITEMS);
    expect(cms.steps.filter(({ base }) => base === 'venues')).to.have.length(1);
  });

  it('leaves others a turn between two terms, also where none of them is new', async () => {
    const tags = Array.from({ length: ITEMS }, () => 'same');
    expect(await turnsDuring({ tags })).to.be.above(ITEMS);
  });

  it('makes the gateway fetch twenty different images by URL at most', async () => {
    const fetched: string[] = [];
    const fetches: ImageFetches = {
      async fetch(url) {
        fetched.push(url);
        return undefined;
      },
    };
    const account = { userId: 1, roles: [], capabilities: new Set(['upload_files']) };
    const images = createImages(gateway.backing, { caller: { credentials: AS.admin, account } }, fetches);
    for (let n = 0; n < 50; n += 1) expect(await images.usable(`https://images.example/${n}.png`)).to.equal(false);
    expect(fetched).to.have.length(20);
  });
});
