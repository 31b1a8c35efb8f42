// Consistency tokens as clients see them: reads that must not be older than an earlier response.

import { expect } from 'chai';
import { holdNext } from '../cms/cms-link.ts';
import { createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { allSettled, leaderOf, roleOf, startGateway, type TestGateway, until } from './gateways.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const LATE_MS = 120;

describe('consistency token', function () {
  this.timeout(60_000);
  let redisServer: RedisServer;
  let cms: FakeCms;
  let gateways: TestGateway[];

  useRedisServer((started) => {
    redisServer = started;
  });
  beforeEach(async () => {
    cms = createFakeCms(Date.now);
    gateways = await Promise.all(
      // The lease must outlast a slow Redis.
      ['a', 'b'].map((name) => startGateway({ cms, redisUrl: redisServer.url, name, intervalMs: 1500 })),
    );
    await allSettled(gateways);
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });
  const lead = () => leaderOf(gateways)!;
  const follower = () => gateways.find((gateway) => gateway !== lead())!;

  const entryAt = (version: string): Promise<string> =>
    withRedisClient(redisServer, async (client) => {
      const [key] = await client.keys('*:stream');
      const entries = await client.xRange(key!, version, version);
      return entries?.[0]?.message.entry ?? '';
    });

  /** Delays everything between this gateway and Redis from now on. */
  async function slowDown({ proxy, cluster }: TestGateway): Promise<void> {
    await proxy.set({ kind: 'late', delayMs: LATE_MS });
    await until(() => !cluster.status().redis, 'the open connections are closed');
    await until(() => cluster.status().redis, 'new connections are open');
    await allSettled(gateways);
  }

  it('a write is in the change log before its response is sent, through every gateway', async () => {
    for (const [index, gateway] of gateways.entries()) {
      // A response that did not wait for Redis would arrive much earlier.
      await slowDown(gateway);
      const create = () => gateway.request('/events', { json: { ...EVENT, title: `Made ${index}` } });
      let created = await create();
      // On a busy machine Redis may not respond in time: the write is then unpublished, and its token ends
      // with `+`.
      for (let more = 0; created.version.endsWith('+') && more < 20; more += 1) {
        await allSettled(gateways);
        created = await create();
      }
      expect(created.version, 'published').to.not.match(/\+$/);
      expect(created.status).to.equal(201);
      expect(await entryAt(created.version)).to.include(`"title":"Made ${index}"`);
    }
  });

  it('a read waits until its gateway reaches the token', async () => {
    const slow = follower();
    const { id } = (await slow.request('/events', { json: EVENT })).body;
    await slowDown(slow);
    const quick = gateways.find((gateway) => gateway !== slow)!;
    const changed = await quick.request(`/events/${id}`, { json: { title: 'Two' } });
    expect(slow.replica.get('event', id)).to.include({ title: 'One' });
    const read = await slow.request(`/events/${id}`, { atLeast: changed.version });
    expect(read.status).to.equal(200);
    expect(read.body.title).to.equal('Two');
  });

  it('a read does not wait forever: 503 for a token that is not reached', async () => {
    const atLeast = `${Date.now() + 3_600_000}-0`;
    for (const response of await Promise.all(gateways.map((gateway) => gateway.request('/events', { atLeast })))) {
      expect(response.status).to.equal(503);
      expect(response.body.code).to.equal('calendar_behind');
      expect(response.headers.get('retry-after')).to.equal('1');
    }
  });

  it('a poll does not count if another gateway became leader during it', async () => {
    const leader = lead();
    await leader.cluster.poll();
    const { isHeld, release } = holdNext(leader.cmsLink, 'before', 'list');
    const poll = leader.cluster.poll();
    await until(isHeld, 'the poll is in flight');
    await leader.proxy.set({ kind: 'down' });
    await until(() => gateways.some((gateway) => gateway !== leader && roleOf(gateway) === 'leader'), 'another leads');
    release();
    expect(await poll).to.equal(false);
  });

  it('an invalid token is rejected', async () => {
    for (const nonsense of ['1', 'x', '1-2-3', '1-1++']) {
      const response = await lead().request('/events', { atLeast: nonsense });
      expect(response.status, nonsense).to.equal(400);
    }
  });

  it('is in every response, and caches vary by it', async () => {
    // The second is a cache hit, the third a 304.
    const first = await follower().request('/events');
    const again = await follower().request('/events');
    const known = await follower().request('/events', { ifNoneMatch: first.headers.get('etag') });
    expect([first, again, known].map(({ status }) => status)).to.deep.equal([200, 200, 304]);
    for (const { version, headers } of [first, again, known]) {
      expect(version).to.match(/^\d+-\d+$/);
      expect(headers.get('vary')).to.match(/x-calendar-min-version/i);
      expect(headers.get('access-control-expose-headers')).to.match(/x-calendar-version/i);
    }
  });

  it('responses are the same through all gateways: bytes and ETag', async () => {
    const created = await lead().request('/events', { json: EVENT });
    await follower().request('/events', { atLeast: created.version });
    for (const path of [
      `/events/${created.body.id}`,
      '/events?start_date=2027-01-01',
      `/events/by-slug/${created.body.slug}`,
      '/tags',
    ]) {
      const [first, second] = await Promise.all(gateways.map((gateway) => gateway.request(path)));
      expect([first!.status, second!.status], path).to.deep.equal([200, 200]);
      expect(second!.body, path).to.deep.equal(first!.body);
      expect(first!.headers.get('etag'), path).to.match(/".+"/);
      expect(second!.headers.get('etag'), path).to.equal(first!.headers.get('etag'));
    }
  });

  it('an older response of the CMS does not undo a write', async () => {
    const created = await lead().request('/events', { json: EVENT });
    const { id } = created.body;
    await follower().request(`/events/${id}`, { atLeast: created.version });
    // The response to a write through one gateway is in flight while the other gateway writes the same event.
    const slow = follower();
    const { isHeld, release } = holdNext(slow.cmsLink, 'after', 'update');
    const first = slow.request(`/events/${id}`, { json: { title: 'Older' } });
    await until(isHeld, 'the response is in flight');
    const second = await lead().request(`/events/${id}`, { json: { title: 'Newer' } });
    await until(() => (slow.replica.get('event', id) as { title: string }).title === 'Newer', 'the newer');
    release();
    const { version } = await first;
    for (const gateway of gateways)
      for (const atLeast of [version, second.version]) {
        const read = await gateway.request(`/events/${id}`, { atLeast });
        expect(read.body.title).to.equal('Newer');
      }
  });

  it('a write is not lost that was sent before another write and answered after it', async () => {
    const created = await lead().request('/events', { json: EVENT });
    const { id } = created.body;
    const slow = follower();
    await slow.request(`/events/${id}`, { atLeast: created.version });
    const { isHeld, release } = holdNext(slow.cmsLink, 'before', 'update');
    const second = slow.request(`/events/${id}`, { json: { title: 'Second' } });
    await until(isHeld, 'the request is in flight');
    await lead().request(`/events/${id}`, { json: { title: 'First' } });
    await until(() => (slow.replica.get('event', id) as { title: string }).title === 'First', 'the first');
    release();
    const { version } = await second;
    for (const gateway of gateways) {
      const read = await gateway.request(`/events/${id}`, { atLeast: version });
      expect(read.body.title).to.equal('Second');
    }
  });
});
