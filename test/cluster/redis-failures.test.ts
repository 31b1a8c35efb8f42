// Gateways while Redis is away, suspended, full or emptied, and when somebody else writes to it.

import { expect } from 'chai';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { FIRST_SOURCE_ID } from '../../src/model/records.ts';
import { getRecord } from '../../src/store/records.ts';
import { createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { mappingWith } from '../mapping/samples.ts';
import { allSettled, isConnected, reportEvent, startGateway, type TestGateway, until } from './gateways.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const HOUR_MS = 3_600_000;
const NODE = '00000000-0000-4000-8000-000000000000';

describe('gateways whose Redis fails', function () {
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

  const open = async (options: { mapping?: Mapping } = {}): Promise<TestGateway> => {
    const gateway = await startGateway({ cms, redisUrl: redisServer.url, intervalMs: HOUR_MS, ...options });
    gateways.push(gateway);
    return gateway;
  };
  async function two(): Promise<[TestGateway, TestGateway]> {
    const both = await Promise.all([open(), open()]);
    await allSettled(both);
    return both;
  }
  const titleAt = ({ replica }: TestGateway, id: number) => getRecord(replica.db, 'event', id)?.title;
  /** An editor saved event 1 an hour ago: only a read of the event itself, or a scan, finds a silent edit. */
  const savedAnHourAgo = () => {
    let nowMs = Date.now() - HOUR_MS;
    cms = createFakeCms(() => nowMs);
    cms.createPost('events', { title: 'First', meta: { start_date: '2027-05-01 10:00:00' } });
    nowMs += HOUR_MS;
  };
  const changesKey = async (client: { keys(pattern: string): Promise<string[]> }) =>
    (await client.keys('*:changes'))[0] ?? '';

  it('starts without Redis, says so, and tells its changes once Redis is there', async () => {
    await redisServer.kill();
    const a = await open();
    await until(() => a.sync.state().phase === 'live', 'it is live');
    await until(() => a.observations.some(({ type }) => type === 'cluster-connection'), 'it says so');
    expect(a.peers.status()).to.include({ connected: false, applied: '0-0' });
    const created = await a.request('/events', { json: EVENT });
    expect([created.status, created.version]).to.deep.equal([201, '0-0+']);
    expect((await a.request(`/events/${created.body.id}`, { atLeast: created.version })).status).to.equal(200);
    await redisServer.restart();
    const b = await open();
    await allSettled(gateways);
    await until(() => b.peers.status().applied !== '0-0', 'the kept key arrives');
    expect(a.peers.status()).to.include({ connected: true, unsent: 0 });
  });

  it('serves a write with its token through another gateway while Redis is away', async () => {
    const [a, b] = await two();
    await redisServer.kill();
    const changed = await a.request('/events/1', { json: { title: 'Two' } });
    expect([changed.status, changed.version.at(-1)]).to.deep.equal([200, '+']);
    const read = await b.request('/events/1', { atLeast: changed.version });
    expect([read.status, read.body.title]).to.deep.equal([200, 'Two']);
    await redisServer.restart();
    await allSettled(gateways);
  });

  it('reads a record again that changed without a date while one gateway was cut off', async () => {
    const [a, b] = await two();
    await b.proxy.set({ kind: 'down' });
    await until(() => !isConnected(b), 'it notices');
    cms.editSilently(1, { title: 'Silent' });
    await reportEvent(a, 1);
    await b.proxy.set({ kind: 'none' });
    await until(() => titleAt(b, 1) === 'Silent', 'the change');
  });

  it('polls when entries were cut before it read them, and when Redis was emptied', async () => {
    const [a, b] = await two();
    // A gateway that has read no entry yet polls after every reconnection.
    const first = await a.request('/events', { json: EVENT });
    await until(() => b.peers.status().applied === first.version, 'an entry before');
    for (const [title, lose] of [
      [
        'Cut',
        async () => void (await withRedisClient(redisServer, async (c) => c.xTrim(await changesKey(c), 'MAXLEN', 1))),
      ],
      ['Emptied', () => redisServer.restart()],
    ] as const) {
      await b.proxy.set({ kind: 'down' });
      await until(() => !isConnected(b), 'it notices');
      const { version } = await a.request('/events/1', { json: { title } });
      const last = await a.request('/events', { json: EVENT });
      await lose();
      await b.proxy.set({ kind: 'none' });
      await until(() => titleAt(b, 1) === title || b.peers.status().applied === last.version, title);
      expect(titleAt(b, 1)).to.equal(title);
      await until(() => isConnected(a) && isConnected(b), 'both are connected');
      expect((await b.request('/events/1', { atLeast: version })).body.title).to.equal(title);
    }
  });

  it('reads everything again when a peer lost count of its changes', async () => {
    savedAnHourAgo();
    const [a, b] = await two();
    cms.editSilently(1, { title: 'Silent' });
    await a.proxy.set({ kind: 'down' });
    await until(() => !isConnected(a), 'it notices');
    const many = Array.from({ length: 1001 }, (_, n) => ({ kind: 'event' as const, id: 1000 + n }));
    await a.peers.tell(many, async () => undefined);
    expect(a.peers.status().unsent).to.equal(1);
    await a.proxy.set({ kind: 'none' });
    const isTold = async () => (await a.request('/events/1')).version === b.peers.status().applied;
    await until(isTold, 'the entry');
    await b.sync.poll();
    expect(titleAt(b, 1)).to.equal('Silent');
  });

  it('works without a Redis that is suspended, and counts it as away', async () => {
    const [a, b] = await two();
    redisServer.child.kill('SIGSTOP');
    try {
      const changed = await a.request('/events/1', { json: { title: 'Two' } });
      expect([changed.status, changed.version.at(-1)]).to.deep.equal([200, '+']);
      expect((await b.request('/events/1')).status).to.equal(200);
      expect((await b.request('/events/1', { atLeast: changed.version })).body.title).to.equal('Two');
      await until(() => !isConnected(a) && !isConnected(b), 'both notice');
    } finally {
      redisServer.child.kill('SIGCONT');
    }
    await allSettled(gateways);
  });

  it('works without a Redis that has no memory left, and says why', async () => {
    const [a] = await two();
    const refusedWrites = () =>
      withRedisClient(redisServer, async (client) => {
        const stats = await client.info('commandstats');
        return Number(/^cmdstat_set:.*rejected_calls=(\d+)/m.exec(stats)?.[1] ?? 0);
      });
    await withRedisClient(redisServer, (client) => client.configSet('maxmemory', '1mb'));
    const changed = await a.request('/events/1', { json: { title: 'Two' } });
    expect([changed.status, changed.version.at(-1)]).to.deep.equal([200, '+']);
    const keyed = await a.request('/events', { json: EVENT, idempotencyKey: 'key' });
    expect([keyed.status, keyed.body.code]).to.deep.equal([503, 'calendar_keys_unavailable']);
    const connections = () =>
      a.observations.flatMap((each) => (each.type === 'cluster-connection' ? [each.isConnected] : []));
    // Every second the gateway tries to connect, with a write.
    const before = await refusedWrites();
    await until(async () => connections().length > 2 || (await refusedWrites()) > before + 1, 'two tries');
    expect(connections()).to.deep.equal([true, false]);
    const [lost] = a.observations.flatMap((each) => (each.type === 'cluster-connection' ? each.reason : [])).slice(-1);
    expect(lost).to.match(/OOM command not allowed/);
    await withRedisClient(redisServer, (client) => client.configSet('maxmemory', '512mb'));
    await allSettled(gateways);
  });

  it('ignores what is no key in entries that no gateway wrote', async () => {
    savedAnHourAgo();
    const [a, b] = await two();
    cms.editSilently(1, { title: 'Silent' });
    const ofSource = FIRST_SOURCE_ID + 1;
    for (const { replica } of [a, b])
      replica.apply({ upserts: [{ ...getRecord(replica.db, 'event', 1)!, id: ofSource, slug: 'of-a-source' }] });
    const nonsense = [
      { from: NODE, keys: `events:${ofSource}` },
      { x: '1' },
      { from: NODE, keys: 'events' },
      { from: NODE, keys: 'events:0' },
      { from: NODE, keys: `events:${'1'.repeat(30)}` },
      { from: NODE, keys: `${'x'.repeat(200)}:1` },
    ];
    await a.request('/events', { json: EVENT });
    await withRedisClient(redisServer, async (client) => {
      const key = await changesKey(client);
      for (const entry of nonsense) await client.xAdd(key, '*', entry as Record<string, string>);
    });
    const changed = await a.request('/events', { json: EVENT });
    for (const gateway of [a, b]) {
      await until(() => gateway.peers.status().applied === changed.version, 'the entry after them');
      expect(titleAt(gateway, 1), 'event 1 is not read again').to.equal('First');
      expect(titleAt(gateway, ofSource), 'no CMS has the event of a source').to.equal('First');
    }
  });

  it('keeps gateways with another mapping apart', async () => {
    savedAnHourAgo();
    const [a] = await two();
    const other = await open({ mapping: mappingWith({}) });
    await allSettled([other]);
    cms.editSilently(1, { title: 'Silent' });
    expect(await reportEvent(a, 1)).to.equal(true);
    // An entry after that one, if all three had the same entries.
    const { version } = await other.request('/events', { json: EVENT });
    await until(() => other.peers.status().applied === version, 'its own entry');
    expect([titleAt(a, 1), titleAt(other, 1)]).to.deep.equal(['Silent', 'First']);
  });
});
