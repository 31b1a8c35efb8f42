// Idempotency keys in Redis: a retry through another gateway creates no second record.

import { createClient } from '@redis/client';
import { expect } from 'chai';
import { type Connection, openConnection } from '../../src/cluster/connection.ts';
import { createSharedIdempotencyKeys } from '../../src/http/shared-state.ts';
import type { IdempotencyEntry, IdempotencyStore } from '../../src/store/idempotency-keys.ts';
import { createFakeCms } from '../cms/fake-cms.ts';
import { allSettled, startGateway, until } from './gateways.ts';
import { type RedisServer, startRedisServer, withRedisClient } from './redis-server.ts';

const entry = (startedMs: number, more: Partial<IdempotencyEntry> = {}): IdempotencyEntry => ({
  fingerprint: 'f',
  state: 'running',
  startedMs,
  holder: 'a',
  ...more,
});

describe('shared idempotency keys', function () {
  this.timeout(300_000);
  let redisServer: RedisServer;
  let connections: Connection[];
  let gateways: IdempotencyStore[];
  beforeEach(async () => {
    redisServer = await startRedisServer();
    connections = [0, 1].map(() => openConnection(redisServer.url));
    await until(() => connections.every(({ client }) => client.isReady), 'both are connected');
    gateways = connections.map((connection) => createSharedIdempotencyKeys({ connection, prefix: 'calendar:{test}:' }));
  });
  afterEach(async () => {
    for (const connection of connections) connection.close();
    await redisServer.close();
  });

  it('one gateway claims a key, and the others read its outcome', async () => {
    const [a, b] = gateways as [IdempotencyStore, IdempotencyStore];
    const claims = await Promise.all([a.claim('user', 'key', entry(1)), b.claim('user', 'key', entry(2))]);
    const existing = claims.find((entry) => entry !== undefined)!;
    expect(claims.filter((entry) => entry === undefined)).to.have.length(1);
    const done = { ...existing, state: 'done' as const, response: { status: 201, body: { id: 7 } } };
    await a.set('key', done);
    expect(await b.claim('user', 'key', entry(3))).to.deep.equal(done);
  });

  it('only one of two gateways replaces an entry', async () => {
    const [a, b] = gateways as [IdempotencyStore, IdempotencyStore];
    await a.claim('user', 'key', entry(1));
    const results = await Promise.all(
      gateways.map((gateway, n) => gateway.compareAndSet('key', entry(1), entry(5 + n))),
    );
    expect(results.filter(Boolean)).to.have.length(1);
    await b.delete('key');
    expect(await a.claim('user', 'key', entry(9))).to.equal(undefined);
  });

  it('deletes the oldest keys of a user beyond a thousand, and no others', async () => {
    const [a] = gateways as [IdempotencyStore, IdempotencyStore];
    await a.claim('other', 'theirs', entry(0));
    for (let at = 1; at <= 1001; at += 1) await a.claim('user', `key ${at}`, entry(at));
    expect(await a.claim('other', 'theirs', entry(0))).to.deep.equal(entry(0));
    expect(await a.claim('user', 'key 2', entry(2))).to.deep.equal(entry(2));
    expect(await a.claim('user', 'key 1', entry(2000))).to.equal(undefined);
  });

  it('creates no second record after Redis was emptied: the companion plugin knows the key', async () => {
    const cms = createFakeCms(Date.now);
    cms.hasCompanion = true;
    const both = await Promise.all(
      ['a', 'b'].map((name) => startGateway({ cms, redisUrl: redisServer.url, name, intervalMs: 3_600_000 })),
    );
    try {
      await allSettled(both);
      const json = { title: 'Once', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
      const first = await both[0]!.request('/events', { json, idempotencyKey: 'key' });
      await withRedisClient(redisServer, (client) => client.flushAll());
      const second = await both[1]!.request('/events', { json, idempotencyKey: 'key' });
      expect(second.body.id).to.equal(first.body.id);
      expect(second.headers.get('idempotent-replayed')).to.equal('true');
      expect([...cms.posts.values()].filter(({ base }) => base === 'events')).to.have.length(1);
    } finally {
      await Promise.all(both.map((gateway) => gateway.stop()));
    }
  });

  it('rejects with 503 for an entry that no gateway wrote', async () => {
    const client = createClient({ url: redisServer.url });
    await client.connect();
    try {
      await client.set('calendar:{test}:create:key', 'no JSON');
      const error = await gateways[0]!.claim('user', 'key', entry(1)).catch((failure: unknown) => failure);
      expect(error).to.include({ status: 503, code: 'calendar_keys_unavailable' });
    } finally {
      client.destroy();
    }
  });

  it('rejects with 503 while Redis is unavailable', async () => {
    await redisServer.close();
    const error = await gateways[0]!.claim('user', 'key', entry(1)).catch((failure: unknown) => failure);
    expect(error).to.include({ status: 503, code: 'calendar_keys_unavailable' });
  });
});
