// Several gateways in front of one CMS, with a real Redis: what each learns from the others, and what happens while
// Redis is away, full, emptied, or written to by somebody else.

import { expect } from 'chai';
import { openConnection } from '../../src/cluster/connection.ts';
import { Peers } from '../../src/cluster/peers.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { getRecord } from '../../src/store/records.ts';
import type { Sync } from '../../src/sync/sync.ts';
import { holdNext } from '../cms/cms-link.ts';
import { createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { allSettled, reportEvent, startGateway, type TestGateway, until } from './gateways.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const HOUR_MS = 3_600_000;

describe('gateways as peers', function () {
  this.timeout(300_000);
  let redisServer: RedisServer;
  let cms: FakeCms;
  let gateways: TestGateway[];

  useRedisServer((started) => {
    redisServer = started;
  });
  beforeEach(() => {
    cms = createFakeCms(Date.now);
    cms.createPost('events', { title: 'First', meta: { start_date: '2027-05-01 10:00:00' } });
    gateways = [];
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });

  /** `intervalMs`: an hour, so that nothing is found by a poll. */
  async function start(count: number, intervalMs = HOUR_MS): Promise<TestGateway[]> {
    const names = ['a', 'b', 'c'].slice(0, count);
    gateways = await Promise.all(
      names.map((name) => startGateway({ cms, redisUrl: redisServer.url, name, intervalMs })),
    );
    await allSettled(gateways);
    return gateways;
  }

  const two = async (intervalMs?: number) => (await start(2, intervalMs)) as [TestGateway, TestGateway];
  const titleAt = ({ replica }: TestGateway, id: number) => getRecord(replica.db, 'event', id)?.title;

  it('serves through one gateway what was written through another', async () => {
    const [a, b] = await two();
    for (const [writer, reader] of [
      [a, b],
      [b, a],
    ] as const) {
      const created = await writer.request('/events', { json: EVENT });
      expect(created.status).to.equal(201);
      const read = await reader.request(`/events/${created.body.id}`, { atLeast: created.version });
      expect([read.status, read.body.title]).to.deep.equal([200, 'One']);
      const changed = await reader.request(`/events/${created.body.id}`, { json: { title: 'Two' } });
      const reread = await writer.request(`/events/${created.body.id}`, { atLeast: changed.version });
      expect(reread.body.title).to.equal('Two');
      const deleted = await writer.request(`/events/${created.body.id}`, { method: 'DELETE' });
      const gone = await reader.request(`/events/${created.body.id}`, { atLeast: deleted.version });
      expect(gone.body.code).to.equal('event-no-longer-available');
    }
  });

  it('shows a draft in the next list of its author through any gateway, and no longer once it is deleted', async () => {
    const [a, b] = await two();
    const drafts = async (gateway: TestGateway, atLeast: string): Promise<string[]> => {
      const list = await gateway.request('/events?status=draft', { method: 'GET', atLeast });
      // An empty list of events is a 404.
      return (list.body.events ?? []).map(({ title }: { title: string }) => title);
    };
    for (const [writer, reader] of [
      [a, b],
      [b, a],
    ] as const) {
      // Both gateways keep what they read of these drafts for ten seconds.
      const before = await writer.request('/events/1');
      for (const gateway of [a, b]) expect(await drafts(gateway, before.version)).to.deep.equal([]);
      const created = await writer.request('/events', { json: { ...EVENT, status: 'draft' } });
      for (const gateway of [reader, writer]) expect(await drafts(gateway, created.version)).to.deep.equal(['One']);
      const changed = await reader.request(`/events/${created.body.id}`, { json: { title: 'Two' } });
      for (const gateway of [writer, reader]) expect(await drafts(gateway, changed.version)).to.deep.equal(['Two']);
      const deleted = await writer.request(`/events/${created.body.id}`, { method: 'DELETE' });
      for (const gateway of [reader, writer]) expect(await drafts(gateway, deleted.version)).to.deep.equal([]);
    }
  });

  it('brings a webhook to one gateway to all of them', async () => {
    await start(3);
    cms.editSilently(1, { title: 'Silent' });
    const [a] = gateways as [TestGateway];
    expect(await reportEvent(a, 1)).to.equal(true);
    await until(() => gateways.every((gateway) => titleAt(gateway, 1) === 'Silent'), 'the change in all replicas');
  });

  it('brings what the poll of one gateway found to all of them, also while this one reads a write of the record', async () => {
    const [a, b] = await two();
    const { isHeld, release } = holdNext(a.cmsLink, 'after', 'list');
    const written = a.request('/events/1', { json: { title: 'Two' } });
    await until(isHeld, 'the gateway reads its write');
    await until(() => titleAt(b, 1) === 'Two', 'the write in the other replica');
    cms.edit(1, { title: 'Three' });
    await a.sync.poll();
    expect(titleAt(a, 1)).to.equal('Three');
    release();
    expect((await written).status).to.equal(200);
    await until(() => titleAt(b, 1) === 'Three', 'the edit in the other replica');
  });

  it('brings what the poll of one gateway found to all of them, and no key back', async () => {
    await start(3);
    cms.edit(1, { title: 'Edited' });
    const [a] = gateways as [TestGateway];
    await a.sync.poll();
    await until(() => gateways.every((gateway) => titleAt(gateway, 1) === 'Edited'), 'the change in all replicas');
    await allSettled(gateways);
    const length = await withRedisClient(redisServer, async (client) => {
      const [key = ''] = await client.keys('*:changes');
      return client.xLen(key);
    });
    expect(length).to.equal(1);
  });

  it('tells what changes while it sets when Redis deletes the stream, before `tell` resolves', async () => {
    const { url } = redisServer;
    const connection = openConnection(url);
    const options = { url, connection, prefix: 'p:', mapping: loadMapping('wordpress-meta'), observe: () => {} };
    const peers = new Peers(options);
    const state = { complete: true, failures: 0 };
    peers.start({
      state: () => state,
      whenComplete: async () => {},
      pollForLostEntries: async () => true,
      fetchPeerChanges: async () => true,
    } as unknown as Sync);
    await until(() => peers.status().connected, 'connected');
    const tell = (id: number) => peers.tell([{ kind: 'event', id }], async () => peers);
    const { client } = connection;
    const pExpire = client.pExpire.bind(client);
    let later: Promise<unknown> | undefined;
    const pExpireAfterTelling: typeof pExpire = (...args) => {
      later ??= tell(2).then(() => expect(peers.status().unsent).to.equal(0));
      return pExpire(...args);
    };
    Object.assign(client, { pExpire: pExpireAfterTelling });
    try {
      await tell(1);
      await later;
      const entries = await withRedisClient(redisServer, (other) => other.xRange('p:changes', '-', '+'));
      expect(entries?.map(({ message }) => message.keys)).to.deep.equal(['events:1', 'events:2']);
      expect(await withRedisClient(redisServer, (other) => other.pTTL('p:changes'))).to.be.above(0);
    } finally {
      await peers.stop();
      connection.close();
    }
  });

  describe('a token', () => {
    it('waits until its gateway has read the written record again', async () => {
      const [a, b] = await two();
      const { isHeld, release } = holdNext(b.cmsLink, 'before', 'list');
      const changed = await a.request('/events/1', { json: { title: 'Two' } });
      await until(isHeld, 'the other gateway reads it');
      const before = await b.request('/events/1');
      expect(before.body.title).to.equal('First');
      expect(before.version).to.not.equal(changed.version);
      const read = b.request('/events/1', { atLeast: changed.version });
      setImmediate(release);
      expect((await read).body.title).to.equal('Two');
    });

    it('is in every response, and caches vary by it', async () => {
      const [a] = await two();
      // The second is a cache hit, the third a 304.
      const first = await a.request('/events');
      const again = await a.request('/events');
      const known = await a.request('/events', { ifNoneMatch: first.headers.get('etag') });
      expect([first, again, known].map(({ status }) => status)).to.deep.equal([200, 200, 304]);
      for (const { version, headers } of [first, again, known]) {
        expect(version).to.match(/^\d+-\d+$/);
        expect(headers.get('vary')).to.match(/x-calendar-min-version/i);
        expect(headers.get('access-control-expose-headers')).to.match(/x-calendar-version/i);
      }
    });

    it('that is invalid is refused', async () => {
      const [a] = await start(1);
      for (const nonsense of ['1', 'x', '1-2-3', '1-1++', `${'1'.repeat(400)}-1`]) {
        const response = await a!.request('/events', { atLeast: nonsense });
        expect(response.status, nonsense).to.equal(400);
      }
    });

    it('that nobody has written costs one poll, and 503 while the CMS is away', async () => {
      const [a] = await start(1);
      const atLeast = `${Date.now() + HOUR_MS}-0`;
      cms.edit(1, { title: 'Edited' });
      const read = await a!.request('/events/1', { atLeast });
      expect([read.status, read.body.title]).to.deep.equal([200, 'Edited']);
      a!.cmsLink.isCut = true;
      const behind = await a!.request('/events/1', { atLeast });
      expect([behind.status, behind.body.code]).to.deep.equal([503, 'calendar_behind']);
      expect(behind.headers.get('retry-after')).to.equal('1');
    });
  });

  it('responds with the same bytes and ETag through all gateways', async () => {
    const [a, b] = await two();
    const created = await a.request('/events', { json: EVENT });
    await b.request('/events', { atLeast: created.version });
    for (const path of [`/events/${created.body.id}`, '/events?start_date=2027-01-01', '/tags']) {
      const [first, second] = await Promise.all([a, b].map((gateway) => gateway.request(path)));
      expect([first!.status, second!.status], path).to.deep.equal([200, 200]);
      expect(second!.body, path).to.deep.equal(first!.body);
      expect(second!.headers.get('etag'), path).to.equal(first!.headers.get('etag'));
    }
  });

  it('an older response of the CMS does not undo a write through another gateway', async () => {
    const [a, b] = await two();
    const { isHeld, release } = holdNext(b.cmsLink, 'after', 'update');
    const first = b.request('/events/1', { json: { title: 'Older' } });
    await until(isHeld, 'the response is in flight');
    const second = await a.request('/events/1', { json: { title: 'Newer' } });
    await until(() => titleAt(b, 1) === 'Newer', 'the newer');
    release();
    const { version } = await first;
    for (const gateway of gateways)
      for (const atLeast of [version, second.version])
        expect((await gateway.request('/events/1', { atLeast })).body.title).to.equal('Newer');
  });

  it('a write is not lost that was sent before another write and answered after it', async () => {
    const [a, b] = await two();
    const { isHeld, release } = holdNext(b.cmsLink, 'before', 'update');
    const second = b.request('/events/1', { json: { title: 'Second' } });
    await until(isHeld, 'the request is in flight');
    await a.request('/events/1', { json: { title: 'First write' } });
    await until(() => titleAt(b, 1) === 'First write', 'the first');
    release();
    const { version } = await second;
    for (const gateway of gateways)
      expect((await gateway.request('/events/1', { atLeast: version })).body.title).to.equal('Second');
  });

  const tokenOf = async (gateway: TestGateway) => (await gateway.request('/changes')).body.next_token as string;

  /** Two gateways, on a clock that `advance` sets; both have scanned the whole site. */
  async function twoScanned(): Promise<{
    a: TestGateway;
    b: TestGateway;
    early: Awaited<ReturnType<TestGateway['request']>>;
  }> {
    let nowMs = Date.now();
    cms = createFakeCms(() => nowMs);
    cms.createPost('events', { title: 'First', meta: { start_date: '2027-05-01 10:00:00' } });
    gateways = await Promise.all(
      ['a', 'b'].map((name) =>
        startGateway({ cms, redisUrl: redisServer.url, name, intervalMs: HOUR_MS, nowMs: () => nowMs }),
      ),
    );
    await allSettled(gateways);
    const [a, b] = gateways as [TestGateway, TestGateway];
    const early = await b.request(`/changes?since=${await tokenOf(a)}`);
    nowMs += 2 * HOUR_MS;
    for (const gateway of gateways)
      await until(async () => {
        await gateway.sync.poll();
        nowMs += 60_000;
        return !(await tokenOf(gateway)).endsWith('.0');
      }, 'a scan');
    return { a, b, early };
  }

  it('continues `/changes` of another gateway after a scan of both, and before that not', async () => {
    const { a, b, early } = await twoScanned();
    expect(early.status).to.equal(410);
    const token = await tokenOf(a);
    const changed = await a.request('/events/1', { json: { title: 'Two' } });
    const later = await b.request(`/changes?since=${token}`, { atLeast: changed.version });
    expect(later.status, JSON.stringify(later.body)).to.equal(200);
    expect(later.body.changes).to.deep.equal([{ kind: 'event', id: 1, change: 'updated' }]);
  });

  it('tells in `/changes` that an event is gone which only another gateway ever had', async () => {
    const { a, b } = await twoScanned();
    const { isHeld, release } = holdNext(b.cmsLink, 'before', 'list');
    const created = await a.request('/events', { json: EVENT });
    await until(isHeld, 'the other gateway reads the event');
    const token = await tokenOf(a);
    await a.request(`/events/${created.body.id}`, { method: 'DELETE' });
    release();
    const later = await b.request(`/changes?since=${token}`, { atLeast: (await a.request('/events')).version });
    expect(later.body.changes).to.deep.equal([{ kind: 'event', id: created.body.id, change: 'deleted' }]);
  });
});
