// Data in Redis that no gateway wrote: the gateways skip and count it, and log one warning a minute.

import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { keyPrefix } from '../../src/cluster/compatibility.ts';
import { MalformedMessage, parseMessage } from '../../src/cluster/messages.ts';
import { createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { allSettled, leaderOf, startGateway, type TestGateway, until } from './gateways.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const PREFIX = keyPrefix('https://cms.example');
const GARBAGE = ['', 'x', 'null', '7', '[]', '{}', '{"id":7}', '{"request":{"type":"refetch","keys":7}}', '\u0000'];

describe('malformed data in Redis', function () {
  this.timeout(60_000);
  let redisServer: RedisServer;
  let cms: FakeCms;
  let gateways: TestGateway[];
  useRedisServer((started) => {
    redisServer = started;
  });
  beforeEach(async () => {
    cms = createFakeCms(Date.now);
    gateways = await Promise.all(['a', 'b'].map((name) => startGateway({ cms, redisUrl: redisServer.url, name })));
    await allSettled(gateways);
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });

  const ignored = (gateway: TestGateway) =>
    gateway.observations.filter(({ type }) => type === 'cluster-message-ignored').length;
  const warned = (gateway: TestGateway) =>
    gateway.observations.filter((event) => event.type === 'message' && event.message.includes('ignored')).length;

  /** A write through each gateway becomes visible through the other. */
  async function expectReplication(): Promise<void> {
    const [a, b] = gateways as [TestGateway, TestGateway];
    for (const [writer, reader] of [
      [a, b],
      [b, a],
    ] as const) {
      const created = await writer.request('/events', { json: EVENT });
      expect(created.status, JSON.stringify(created.body)).to.equal(201);
      await until(
        async () => (await reader.request(`/events/${created.body.id}`)).status === 200,
        'the other gateway serves it',
      );
    }
  }

  it('is ignored on the Pub/Sub channels', async () => {
    await withRedisClient(redisServer, async (client) => {
      for (const channel of ['requests', 'responses'])
        for (const text of GARBAGE) await client.publish(PREFIX + channel, text);
    });
    for (const gateway of gateways) await until(() => ignored(gateway) >= 2 * GARBAGE.length, 'all are counted');
    for (const gateway of gateways) expect(warned(gateway)).to.equal(1);
    await expectReplication();
    for (const { observations } of gateways)
      expect(observations.some((event) => event.type === 'cluster-role' && event.to === 'standalone')).to.equal(false);
  });

  it('is skipped once in the change log', async () => {
    await withRedisClient(redisServer, async (client) => {
      for (const entry of [
        ...GARBAGE,
        JSON.stringify({ from: 'x', type: 'poll', change: { upserts: [{ kind: 'event', id: 1 }] } }),
      ])
        await client.xAdd(`${PREFIX}stream`, '*', { entry, previous: '0-0' });
      await client.xAdd(`${PREFIX}stream`, '*', { other: 'x' });
    });
    for (const gateway of gateways) await until(() => ignored(gateway) >= GARBAGE.length, 'it is skipped');
    await expectReplication();
    await allSettled(gateways);
    const before = gateways.map(ignored);
    await expectReplication();
    expect(gateways.map(ignored)).to.deep.equal(before);
  });

  it('makes the gateways join again when it is the last entry of the change log', async () => {
    await withRedisClient(redisServer, async (client) => {
      const id = await client.xAdd(`${PREFIX}stream`, '*', { entry: '{"half":', previous: '0-0' });
      await client.set(`${PREFIX}tail`, id);
    });
    for (const gateway of gateways) await until(() => ignored(gateway) >= 1, 'it is skipped');
    await allSettled(gateways);
    await expectReplication();
  });

  it('without a fencing token gives the leader a new one', async () => {
    const event = cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
    await withRedisClient(redisServer, (client) => client.del(`${PREFIX}fence`));
    cms.edit(event.id, { title: 'After the token' });
    await until(
      () => gateways.every(({ replica }) => replica.get('event', event.id)?.title === 'After the token'),
      'the change in all replicas',
    );
    await allSettled(gateways);
    await expectReplication();
  });

  it('under the key of the change log makes every gateway poll the CMS itself, until the key is deleted', async () => {
    const event = cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
    const areAll = (title: string) => () =>
      gateways.every(({ replica }) => replica.get('event', event.id)?.title === title);
    await withRedisClient(redisServer, async (client) => {
      await client.del(`${PREFIX}stream`);
      await client.set(`${PREFIX}stream`, 'x');
    });
    cms.edit(event.id, { title: 'Without a change log' });
    await until(areAll('Without a change log'), 'the change in all replicas');
    const messages = gateways.flatMap(({ observations }) =>
      observations.flatMap((event) => (event.type === 'message' ? [event.message] : [])),
    );
    expect(messages.filter((message) => /^cluster: Redis refused a command: WRONGTYPE/.test(message))).to.not.be.empty;
    expect(messages.filter((message) => message.includes('does not respond'))).to.deep.equal([]);
    await withRedisClient(redisServer, (client) => client.del(`${PREFIX}stream`));
    await allSettled(gateways);
    cms.edit(event.id, { title: 'With a change log' });
    await until(areAll('With a change log'), 'the next change in all replicas');
    await expectReplication();
  });

  it('as a lock without expiry keeps the gateways from polling for a lease, and no longer', async () => {
    const event = cms.createPost('events', { meta: { start_date: '2027-05-01 10:00:00' } });
    await withRedisClient(redisServer, (client) => client.set(`${PREFIX}lock`, 'x'));
    cms.edit(event.id, { title: 'After the lock' });
    await until(
      () => gateways.every(({ replica }) => replica.get('event', event.id)?.title === 'After the lock'),
      'the change in all replicas',
    );
  });

  it('is ignored in the status of the leader', async () => {
    for (const text of GARBAGE)
      await withRedisClient(redisServer, (client) => client.set(`${PREFIX}leader-status`, text));
    await expectReplication();
    expect(leaderOf(gateways)).to.not.equal(undefined);
  });

  it('is decompressed up to a limit in a snapshot', async () => {
    const bomb = deflateRawSync(Buffer.alloc(200 * 1024 * 1024, 'x'));
    const third = startGateway({ cms, redisUrl: redisServer.url, name: 'c' });
    // A gateway that waits for a snapshot receives this before the right one.
    await withRedisClient(redisServer, async (client) => {
      const listener = client.duplicate();
      await listener.connect();
      await listener.subscribe(`${PREFIX}requests`, (text) => {
        const { request } = JSON.parse(text) as { request: { type: string; list: string } };
        if (request.type === 'snapshot') void client.lPush(PREFIX + request.list, bomb).catch(() => {});
      });
      const c = await third;
      gateways.push(c);
      await until(() => ignored(c) > 0, 'it is counted');
      listener.destroy();
    });
    await allSettled(gateways);
    expect(process.memoryUsage().rss).to.be.lessThan(1_500_000_000);
  });
});

describe('parseMessage', () => {
  it('validates a message by its schema, and quotes nothing in the error', () => {
    const response = { id: 'n', offset: '1-0' };
    expect(parseMessage('response', JSON.stringify(response))).to.deep.equal(response);
    for (const text of ['secret', '{"id":"secret","offset":"secret"}', `"${'x'.repeat(2_000_000)}"`, undefined])
      expect(() => parseMessage('response', text))
        .to.throw(MalformedMessage)
        .with.property('message')
        .that.does.not.include('secret');
  });
});
