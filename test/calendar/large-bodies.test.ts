// A body may describe a thousand records: other requests run meanwhile, and the gateway does not flood other
// servers.

import { setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import type { ImageFetcher } from '../../src/calendar/image-fetcher.ts';
import { createRequestImages } from '../../src/calendar/request-images.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { type Json, startGateway, type TestGateway } from '../start-gateway.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };
const ITEMS = 300;

describe('a body with very many items', () => {
  let cms: FakeCms;
  let gateway: TestGateway;
  beforeEach(async () => {
    cms = createFakeCms(() => Date.UTC(2027, 0, 1));
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS });
    await gateway.request('/venues', { as: 'admin', json: { venue: 'Same', status: 'publish' } });
    await gateway.request('/tags', { as: 'admin', json: { name: 'same' } });
  });
  afterEach(() => gateway.stop());

  /** How many turns of the event loop other work got while an event with these fields was created. */
  async function turnsDuring(fields: object): Promise<number> {
    let turns = 0;
    const response = gateway.request('/events', { as: 'admin', json: { title: 'T', ...times, ...fields } });
    let isOver = false;
    void response.finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await turn();
      turns += 1;
    }
    expect((await response).status).to.equal(201);
    return turns;
  }

  it('lets other requests run between two venues, even if none is new', async () => {
    const venue = Array.from({ length: ITEMS }, () => ({ venue: 'Same' }));
    expect(await turnsDuring({ venue })).to.be.above(ITEMS);
    expect(cms.writes.filter(({ base }) => base === 'venues')).to.have.length(1);
  });

  it('lets other requests run between two terms, even if none is new', async () => {
    const tags = Array.from({ length: ITEMS }, () => 'same');
    expect(await turnsDuring({ tags })).to.be.above(ITEMS);
  });

  it('reads the ids of terms that the replica lacks in pages of the CMS', async () => {
    const { id } = cms.createTerm('tags', { name: 'New in the CMS' });
    const unknown = Array.from({ length: ITEMS - 1 }, (_, n) => 900_000 + n);
    const before = cms.requests.length;
    const json = { title: 'T', ...times, tags: [...unknown, id], categories: unknown };
    const { status, body } = await gateway.request('/events', { as: 'editor', json });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body.categories).to.deep.equal([]);
    expect(body.tags.map((tag: Json) => tag.id)).to.deep.equal([id]);
    const read = () => cms.requests.slice(before).filter(({ base }) => base === 'tags' || base === 'event_categories');
    expect(read().map(({ ids }) => ids?.length)).to.deep.equal([100, 100, 99, 100, 100, 100, 1]);
  });

  it('causes at most twenty fetches of images by URL', async () => {
    const fetched: string[] = [];
    const imageFetcher: ImageFetcher = {
      async fetch(url) {
        fetched.push(url);
        return undefined;
      },
      release() {},
    };
    const account = { userId: 1, roles: [], permissions: new Set<string>(), mayUpload: true };
    const services = { ...gateway.services, imageFetcher };
    const images = createRequestImages({ services, actor: { credentials: CREDENTIALS.admin, account } });
    for (let n = 0; n < 50; n += 1)
      expect(await images.fetchIfUsable(`https://images.example/${n}.png`)).to.equal(false);
    expect(fetched).to.have.length(20);
  });
});
