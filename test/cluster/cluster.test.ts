// Several gateways in front of one CMS, with a real Redis: who polls, what the others serve, and takeovers.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError, ReplicaError } from '../../src/errors.ts';
import { holdNext } from '../cms/cms-link.ts';
import { createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { allSettled, leaderOf, startGateway, type TestGateway, type TestResponse, until } from './gateways.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

const HOUR_MS = 3_600_000;
const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };

describe('cluster', function () {
  this.timeout(60_000);
  let redisServer: RedisServer;
  let cms: FakeCms;
  let gateways: TestGateway[];

  useRedisServer((started) => {
    redisServer = started;
  });
  beforeEach(() => {
    cms = createFakeCms(Date.now);
    gateways = [];
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });

  async function start(count: number): Promise<TestGateway[]> {
    const names = ['a', 'b', 'c', 'd'].slice(0, count);
    gateways = await Promise.all(names.map((name) => startGateway({ cms, redisUrl: redisServer.url, name })));
    await allSettled(gateways);
    return gateways;
  }

  /** On a busy machine a lease may expire: the gateway then responds 503 and never with an older state. */
  async function readAtLeast(gateway: TestGateway, path: string, atLeast: string): Promise<TestResponse> {
    let read = await gateway.request(path, { atLeast });
    for (let more = 0; read.status === 503 && more < 20; more += 1) read = await gateway.request(path, { atLeast });
    return read;
  }

  /**
   * On a busy machine a lease may expire: the token of a write then ends with `+`, because the write is in no
   * change log.
   */
  async function writePublished(gateway: TestGateway, path: string, json: object): Promise<TestResponse> {
    let written = await gateway.request(path, { json });
    for (let more = 0; written.version.endsWith('+') && more < 5; more += 1) {
      await allSettled(gateways);
      written = await gateway.request(path, { json });
    }
    expect(written.version, JSON.stringify(written.body)).to.match(/^\d+-\d+$/);
    return written;
  }

  it('serves through one gateway what was written through another', async () => {
    const [a, b] = (await start(2)) as [TestGateway, TestGateway];
    for (const [writer, reader] of [
      [a, b],
      [b, a],
    ] as const) {
      const created = await writePublished(writer, '/events', EVENT);
      expect(created.status).to.equal(201);
      const read = await readAtLeast(reader, `/events/${created.body.id}`, created.version);
      expect(read.status).to.equal(200);
      expect(read.body.title).to.equal('One');
      const changed = await writePublished(reader, `/events/${created.body.id}`, { title: 'Two' });
      expect(changed.status).to.equal(200);
      const reread = await readAtLeast(writer, `/events/${created.body.id}`, changed.version);
      expect(reread.body.title).to.equal('Two');
    }
  });

  it('notices a changed term by the clock of each gateway', async () => {
    const music = cms.createTerm('event_categories', { name: 'Music' });
    cms.createTerm('event_categories', { name: 'Jazz' });
    // The clock of one gateway is two hours ahead, and an hour passes before the change.
    const aheadMs = { a: 0, b: 2 * HOUR_MS };
    const clockOf = (name: 'a' | 'b') => () => Date.now() + aheadMs[name];
    gateways = await Promise.all(
      (['a', 'b'] as const).map((name) => startGateway({ cms, redisUrl: redisServer.url, name, nowMs: clockOf(name) })),
    );
    await allSettled(gateways);
    const [a, b] = gateways as [TestGateway, TestGateway];
    for (const name of ['a', 'b'] as const) aheadMs[name] += HOUR_MS;
    const since = { a: clockOf('a')(), b: clockOf('b')() };
    const renamed = await a.request(`/categories/${music.id}`, { json: { name: 'Musik' } });
    expect(renamed.status, JSON.stringify(renamed.body)).to.equal(200);
    const changedAfter = async (gateway: TestGateway, ms: number): Promise<string[]> => {
      const path = `/categories?hide_empty=0&modified_after=${new Date(ms).toISOString()}`;
      const { body } = await readAtLeast(gateway, path, renamed.version);
      return body.categories.map(({ name }: { name: string }) => name);
    };
    expect(await changedAfter(a, since.a)).to.deep.equal(['Musik']);
    expect(await changedAfter(a, since.b)).to.deep.equal([]);
    expect(await changedAfter(b, since.b)).to.deep.equal(['Musik']);
    expect(await changedAfter(b, since.a)).to.deep.equal(['Jazz', 'Musik']);
  });

  it('polls once for all gateways, and serves what was changed in the CMS directly', async () => {
    for (let n = 0; n < 30; n += 1) cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
    await start(3);
    const others = gateways.filter((gateway) => gateway !== leaderOf(gateways));
    for (const { cmsLink } of others) expect(cmsLink.requests).to.equal(0);
    cms.edit(3, { title: 'Behind' });
    await until(
      () => gateways.every(({ replica }) => replica.get('event', 3)?.title === 'Behind'),
      'the change in all replicas',
    );
    for (const { cmsLink } of others) expect(cmsLink.requests).to.equal(0);
  });

  describe('takeover', () => {
    /** Changes an event in the CMS directly, and waits until all these gateways have it. */
    async function expectSync(rest: readonly TestGateway[], title: string): Promise<void> {
      cms.edit(1, { title });
      await until(() => rest.every(({ replica }) => replica.get('event', 1)?.title === title), title);
    }

    async function three(): Promise<{ lead: TestGateway; rest: TestGateway[] }> {
      cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      await start(3);
      const lead = leaderOf(gateways)!;
      return { lead, rest: gateways.filter((gateway) => gateway !== lead) };
    }

    it('another gateway leads after the leader was killed', async () => {
      const { lead, rest } = await three();
      await lead.kill();
      await until(() => leaderOf(rest) !== undefined, 'another leads');
      await expectSync(rest, 'After the kill');
    });

    it('another gateway leads immediately after the leader stopped', async () => {
      const { lead, rest } = await three();
      await lead.stop();
      await until(() => leaderOf(rest) !== undefined, 'another leads');
      await expectSync(rest, 'After the end');
    });

    it('a gateway can stop while it reconnects to Redis', async () => {
      const { lead } = await three();
      await lead.proxy.set({ kind: 'late', delayMs: 200 });
      await until(() => !lead.cluster.status().redis && lead.proxy.open > 0, 'it reconnects');
      await lead.cluster.stop();
      expect(lead.cluster.status().redis).to.equal(false);
    });

    for (const kind of ['silent', 'down'] as const) {
      it(`another gateway leads when Redis is ${kind} for the leader, which is standalone and returns as follower`, async () => {
        const { lead, rest } = await three();
        await lead.proxy.set({ kind });
        await until(() => leaderOf(rest) !== undefined, 'another leads');
        await expectSync([...rest, lead], 'Seen on both sides');
        expect(lead.cluster.status()).to.include({ role: 'standalone', redis: false });
        await lead.proxy.set({ kind: 'none' });
        await allSettled(gateways);
        await expectSync(gateways, 'After the return');
        const { requests } = lead.cmsLink;
        await expectSync(gateways, 'Once more');
        expect(lead.cmsLink.requests).to.equal(requests);
      });
    }

    it('another gateway leads when the leader does not reach the CMS, or cannot write its replica', async () => {
      const { lead, rest } = await three();
      const failures: ((gateway: TestGateway) => void)[] = [
        ({ cmsLink }) => void Object.assign(cmsLink, { isCut: true }),
        ({ replica }) =>
          void Object.assign(replica, {
            dueScheduled: () => {
              throw new ReplicaError('unwritable', 'database or disk is full');
            },
          }),
      ];
      for (const [index, fail] of failures.entries()) {
        const leader = index === 0 ? lead : leaderOf(rest)!;
        fail(leader);
        for (let n = 0; n < 3; n += 1) expect(await leader.cluster.poll()).to.equal(false);
        const others = rest.filter((gateway) => gateway !== leader);
        await until(() => leaderOf(others) !== undefined, 'another leads');
        await expectSync([lead, ...others], `Seen by leader ${index}`);
        expect(leader.cluster.status().role).to.equal('follower');
      }
    });

    it('the only gateway leads again, and sees the changes of an outage, after the CMS did not respond', async () => {
      cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      const [a] = (await start(1)) as [TestGateway];
      a.cmsLink.isCut = true;
      for (let n = 0; n < 3; n += 1) await a.cluster.poll();
      await until(() => a.cluster.status().role === 'follower', 'it gives the lock up');
      a.cmsLink.isCut = false;
      await expectSync([a], 'During the outage');
    });

    it('a leader that returns late appends nothing: its response is older than the change of the new leader', async () => {
      const { lead, rest } = await three();
      // The response is in flight while the leader is cut off, and another gateway takes over and reads a
      // newer state.
      cms.edit(1, { title: 'Old' });
      const { isHeld, release } = holdNext(lead.cmsLink, 'after', 'list');
      await until(isHeld, 'a response in flight');
      await lead.proxy.set({ kind: 'down' });
      await until(() => leaderOf(rest) !== undefined, 'another leads');
      cms.editSilently(1, { title: 'New' });
      const webhook = [{ collection: 'events', id: 1 }];
      await rest[0]!.cluster.fetchChanged(webhook);
      await until(() => rest.every(({ replica }) => replica.get('event', 1)?.title === 'New'), 'the newer state');
      await lead.proxy.set({ kind: 'none' });
      release();
      await allSettled(gateways);
      await until(
        () => gateways.every(({ replica }) => replica.get('event', 1)?.title === 'New'),
        'the newer state in all replicas',
      );
      const titles = rest.flatMap(({ replica }) => replica.get('event', 1)?.title);
      expect(titles).to.deep.equal(['New', 'New']);
    });
  });

  it('fetches what a webhook reports to a follower whose connection to Redis is interrupted', async () => {
    const meta = { start_date: '2027-05-01 10:00:00' };
    // A first poll reads the newest event again, and not this one.
    const { id } = cms.createPost('events', { meta, dateS: Math.floor((Date.now() - HOUR_MS) / 1000) });
    cms.createPost('events', { meta });
    await start(2);
    const follower = gateways.find((gateway) => gateway !== leaderOf(gateways))!;
    await follower.proxy.set({ kind: 'down' });
    await until(() => !follower.cluster.status().redis, 'the interruption');
    cms.editSilently(id, { title: 'Reported' });
    void follower.cluster.fetchChanged([{ collection: 'events', id }]);
    await follower.proxy.set({ kind: 'none' });
    await until(
      () => gateways.every(({ replica }) => replica.get('event', id)?.title === 'Reported'),
      'the reported change in all replicas',
    );
  });

  it('fetches what a webhook reports to a leader that does not reach the CMS, and then loses the lock', async () => {
    const meta = { start_date: '2027-05-01 10:00:00' };
    // A first poll reads the newest event again, and not this one.
    const { id } = cms.createPost('events', { meta, dateS: Math.floor((Date.now() - HOUR_MS) / 1000) });
    cms.createPost('events', { meta });
    await start(2);
    const lead = leaderOf(gateways)!;
    const rest = gateways.filter((gateway) => gateway !== lead);
    lead.cmsLink.isCut = true;
    cms.editSilently(id, { title: 'Reported' });
    expect(await lead.cluster.fetchChanged([{ collection: 'events', id }])).to.equal(false);
    await lead.proxy.set({ kind: 'down' });
    await until(() => leaderOf(rest) !== undefined, 'another leads');
    await lead.proxy.set({ kind: 'none' });
    await until(
      () => gateways.every(({ replica }) => replica.get('event', id)?.title === 'Reported'),
      'the reported change in all replicas',
    );
  });

  it('does not bootstrap again when the leader loses the lock and takes it again', async () => {
    const [a] = (await start(1)) as [TestGateway];
    const roles = () => a.observations.flatMap((event) => (event.type === 'cluster-role' ? [event.to] : []));
    for (let n = 0; n < 3; n += 1) {
      a.observations.length = 0;
      await withRedisClient(redisServer, async (client) => {
        for (const key of await client.keys('*:lock')) await client.del(key);
      });
      await until(() => roles().includes('joining'), 'the loss is noticed');
      await allSettled(gateways);
      expect(roles()).to.not.include('bootstrapping');
    }
  });

  describe('joining', () => {
    it('receives a snapshot from the leader, without calls to the CMS, however many gateways join', async () => {
      for (let n = 0; n < 500; n += 1)
        cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' }, dateS: 1_700_000_000 + n });
      for (let n = 0; n < 20; n += 1) cms.createTerm('tags');
      const [a] = (await start(1)) as [TestGateway];
      const before = a.cmsLink.requests;
      const more = ['b', 'c', 'd'].map((name) => startGateway({ cms, redisUrl: redisServer.url, name }));
      gateways.push(...(await Promise.all(more)));
      await allSettled(gateways);
      for (const joined of gateways.slice(1)) {
        expect(joined.cmsLink.requests).to.equal(0);
        expect(joined.replica.counts()).to.deep.equal(a.replica.counts());
        expect(joined.replica.get('event', 77)).to.deep.equal(a.replica.get('event', 77));
      }
      // Only the leader's ordinary polls.
      expect(a.cmsLink.requests - before).to.be.below(100);
    });

    it('resumes from its own file if the change log reaches back, and receives a snapshot otherwise', async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'calendar-cluster-')), 'b.sqlite');
      cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      const [a] = (await start(1)) as [TestGateway];
      const restart = () => startGateway({ cms, redisUrl: redisServer.url, name: 'b', file });
      const startedEmpty = ({ observations }: TestGateway) =>
        observations.some((event) => event.type === 'sync-state' && event.from === 'empty' && event.to === 'syncing');
      let b = await restart();
      await allSettled([a, b]);
      expect(startedEmpty(b)).to.equal(true);
      await b.stop();
      cms.edit(1, { title: 'While it was stopped' });
      await until(() => a.replica.get('event', 1)?.title === 'While it was stopped', 'seen');
      b = await restart();
      await allSettled([a, b]);
      expect(b.cmsLink.requests).to.equal(0);
      expect(b.replica.get('event', 1)?.title).to.equal('While it was stopped');
      await b.stop();
      // The change log no longer reaches back.
      const created = await a.request('/events', { json: { ...EVENT, title: 'Trimmed' } });
      await a.request(`/events/${created.body.id}`, { json: { title: 'Last' } });
      await withRedisClient(redisServer, async (client) => {
        for (const key of await client.keys('*:stream')) await client.xTrim(key, 'MAXLEN', 1);
      });
      b = await restart();
      gateways.push(b);
      await allSettled(gateways);
      expect(b.cmsLink.requests).to.equal(0);
      expect(b.replica.get('event', created.body.id)?.title).to.equal('Last');
      expect(b.replica.counts()).to.deep.equal(a.replica.counts());
    });

    it('rejects a gateway with another mapping, and names the difference, even after Redis lost its data', async () => {
      const [a] = (await start(1)) as [TestGateway];
      const flush = async () => {
        a.observations.length = 0;
        await withRedisClient(redisServer, (client) => client.flushAll());
        await until(() => a.observations.some(({ type }) => type === 'cluster-role'), 'the loss is noticed');
      };
      for (const loseData of [async () => {}, flush]) {
        await loseData();
        await allSettled(gateways);
        const other = startGateway({ cms, redisUrl: redisServer.url, mapping: 'acf' });
        const error = await other.then(
          async (gateway) => gateways.push(gateway),
          (failure: Error) => failure,
        );
        expect(error).to.be.instanceOf(ConfigError);
        expect((error as Error).message).to.match(/CALENDAR_REDIS_URL.*mapping: theirs is wordpress-meta/);
      }
    });

    it('is standalone when gateways with another mapping use the Redis since it lost its data', async () => {
      const [a] = (await start(1)) as [TestGateway];
      await withRedisClient(redisServer, async (client) => {
        const [key = ''] = await client.keys('*:compatibility');
        const theirs = JSON.parse((await client.get(key)) ?? '');
        await client
          .multi()
          .flushAll()
          .set(key, JSON.stringify({ ...theirs, mapping: 'acf' }))
          .exec();
      });
      await until(() => a.cluster.status().role === 'standalone', 'it is standalone');
      const warned = a.observations.some(
        (event) => event.type === 'message' && event.message.includes('mapping: theirs is acf'),
      );
      expect(warned).to.equal(true);
    });

    it('is stale, and not live as the leader, until it has caught up', async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'calendar-cluster-')), 'b.sqlite');
      cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      const [a] = (await start(1)) as [TestGateway];
      const restart = () => startGateway({ cms, redisUrl: redisServer.url, name: 'b', file });
      const stopped = await restart();
      await allSettled([a, stopped]);
      await stopped.stop();
      // The change log no longer reaches back, and garbage precedes every snapshot.
      cms.edit(1, { title: 'While it was stopped' });
      await until(() => a.replica.get('event', 1)?.title === 'While it was stopped', 'seen');
      await withRedisClient(redisServer, async (client) => {
        for (const key of await client.keys('*:stream')) await client.del(key);
        const listener = client.duplicate();
        listener.on('error', () => {});
        await listener.connect();
        await listener.pSubscribe('*:requests', (text, channel) => {
          const { request } = JSON.parse(text) as { request: { list: string } };
          void client.lPush(channel.replace(/requests$/, request.list), 'x');
        });
        const b = await restart();
        gateways.push(b);
        const rejected = () => b.observations.filter(({ type }) => type === 'cluster-message-ignored').length;
        await until(() => rejected() >= 10, 'some snapshots are rejected');
        expect(b.replica.get('event', 1)?.title).to.not.equal('While it was stopped');
        expect(b.sync.state().state).to.equal('stale');
        listener.destroy();
        await allSettled(gateways);
        await until(() => b.sync.state().state === 'live', 'it is live');
        expect(b.replica.get('event', 1)?.title).to.equal('While it was stopped');
        const states = b.observations.flatMap((event) => (event.type === 'sync-state' ? [event.to] : []));
        expect(states).to.deep.equal(['stale', 'live']);
      });
    });
  });

  describe('while Redis is unavailable', () => {
    it('each gateway is standalone; once Redis is back, and empty, all gateways have all changes', async () => {
      cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      const [a, b, c] = (await start(3)) as [TestGateway, TestGateway, TestGateway];
      await redisServer.kill();
      await until(() => gateways.every(({ cluster }) => cluster.status().role === 'standalone'), 'all standalone');
      const created = await b.request('/events', { json: EVENT });
      expect(created.status).to.equal(201);
      // The change is unpublished: a gateway that receives this token polls the CMS first.
      expect(created.version).to.match(/\+$/);
      const read = await c.request(`/events/${created.body.id}`, { atLeast: created.version });
      expect(read.body.title).to.equal('One');
      cms.edit(1, { title: 'Behind' });
      await until(
        () => gateways.every(({ replica }) => replica.get('event', 1)?.title === 'Behind'),
        'the change in each replica',
      );
      await redisServer.restart();
      await allSettled(gateways);
      const written = await a.request(`/events/${created.body.id}`, { json: { title: 'Two' } });
      expect(written.version).to.match(/^\d+-\d+$/);
      for (const gateway of gateways) {
        const { body } = await gateway.request(`/events/${created.body.id}`, { atLeast: written.version });
        expect(body.title).to.equal('Two');
      }
      expect(b.replica.counts()).to.deep.equal(a.replica.counts());
    });

    it('each gateway is standalone when Redis is full', async () => {
      cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      const [a, b] = (await start(2)) as [TestGateway, TestGateway];
      const memory = (bytes: string) => withRedisClient(redisServer, (client) => client.configSet('maxmemory', bytes));
      await memory('1');
      const created = await b.request('/events', { json: EVENT });
      expect(created.status).to.equal(201);
      await until(() => gateways.every(({ cluster }) => cluster.status().role === 'standalone'), 'all standalone');
      expect((await a.request(`/events/${created.body.id}`, { atLeast: created.version })).body.title).to.equal('One');
      await memory('0');
      await allSettled(gateways);
      await until(() => gateways.every(({ cluster }) => cluster.status().unpublished === 0), 'no unpublished changes');
      expect(b.replica.get('event', created.body.id)).to.deep.equal(a.replica.get('event', created.body.id));
    });
  });
});
