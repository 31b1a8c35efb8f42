// An older answer to a caller's read does not replace a newer record of the replica.

import { expect } from 'chai';
import { UpstreamRefused } from '../../src/errors.ts';
import type { Native } from '../../src/upstream/port.ts';
import { type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { AS, type FakeCms, fakeCms } from './fake-cms.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

describe('an answer to a read that is older than the replica', () => {
  let nowMs: number;
  let cms: FakeCms;
  let gateway: GatewayUnderTest;
  let readAgain: { collection: string; id: number }[];
  let old: Native;
  let id: number;

  beforeEach(async () => {
    nowMs = Date.UTC(2027, 0, 1);
    cms = fakeCms(() => nowMs);
    gateway = await gatewayUnderTest({ upstream: cms, service: AS.admin, as: AS, nowMs: () => nowMs });
    const json = { title: 'Old', slug: 'old', status: 'draft', ...times };
    ({ id } = (await gateway.ask('/events', { method: 'POST', as: 'admin', json })).body);
    old = { ...cms.stored.get(id)! };
    nowMs += 60_000;
    const edit = { method: 'PUT', as: 'admin', json: { title: 'New', slug: 'new' } };
    expect((await gateway.ask(`/events/${id}`, edit)).status).to.equal(200);
    readAgain = [];
    gateway.backing.sync.changed = async (changes) => readAgain.push(...changes) > 0;
  });
  afterEach(() => gateway.close());

  const held = () => gateway.backing.replica.get('event', id)!;

  it('of a single record does not replace it, and the sync reads the record again', async () => {
    cms.read = async () => old;
    expect((await gateway.ask(`/events/${id}`, { as: 'editor' })).body.title).to.equal('Old');
    expect(held().title).to.equal('New');
    expect(readAgain).to.deep.equal([{ collection: 'events', id }]);
  });

  it('of a slug does not replace it', async () => {
    cms.list = async () => ({ items: [old], total: 1, totalPages: 1, serverTimeMs: nowMs });
    await gateway.ask('/events/by-slug/old', { as: 'editor' });
    expect(held().title).to.equal('New');
    expect(readAgain).to.deep.include({ collection: 'events', id });
  });

  it('of 404 takes the record out of the replica only in the own words of WordPress', async () => {
    for (const [code, isHeld] of [
      ['rest_disabled', true],
      ['rest_upstream_error', true],
      ['rest_post_invalid_id', false],
    ] as const) {
      cms.read = async () => {
        throw new UpstreamRefused(404, code, 'No.');
      };
      await gateway.ask(`/events/${id}`, { as: 'editor' });
      expect(gateway.backing.replica.get('event', id) !== undefined, code).to.equal(isHeld);
    }
  });

  it('is taken when it is of the same second or newer', async () => {
    cms.edit(id, { title: 'Newest' });
    await gateway.ask(`/events/${id}`, { as: 'editor' });
    expect(held().title).to.equal('Newest');
    expect(readAgain).to.deep.equal([]);
  });
});

describe('a look-up whose route the CMS lacks', () => {
  const away = async (path: string, request: object) => {
    const cms = fakeCms(() => Date.UTC(2027, 0, 1));
    const gateway = await gatewayUnderTest({ upstream: cms, service: AS.admin, as: AS });
    try {
      const missing = async (): Promise<never> => {
        throw new UpstreamRefused(404, 'rest_no_route', 'The CMS has no route GET /wp/v2/venues.');
      };
      Object.assign(cms, { read: missing, list: missing });
      return await gateway.ask(path, request);
    } finally {
      await gateway.close();
    }
  };

  it('is 503 for a venue that an event names by its id', async () => {
    const json = { title: 'Party', ...times, venue: 12 };
    expect(await away('/events', { method: 'POST', as: 'admin', json })).to.include({ status: 503 });
  });

  it('is 503 for a slug', async () => {
    expect(await away('/venues/by-slug/hall', {})).to.include({ status: 503 });
  });
});
