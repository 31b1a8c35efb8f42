// Idempotency keys in Redis: a retry through another gateway creates no second record.

import { createClient } from '@redis/client';
import { expect } from 'chai';
import { keyPrefix } from '../../src/cluster/compatibility.ts';
import { openRedisIdempotencyStore, type RedisIdempotencyStore } from '../../src/cluster/redis-idempotency-keys.ts';
import type { IdempotencyEntry } from '../../src/store/idempotency-keys.ts';
import { holdNext } from '../cms/cms-link.ts';
import { createFakeCms } from '../cms/fake-cms.ts';
import { allSettled, startGateway, until } from './gateways.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';

const entry = (startedMs: number, more: Partial<IdempotencyEntry> = {}): IdempotencyEntry => ({
  fingerprint: 'f',
  state: 'running',
  startedMs,
  holder: 'a',
  ...more,
});

describe('shared idempotency keys', function () {
  this.timeout(20_000);
  let redisServer: RedisServer;
  let gateways: RedisIdempotencyStore[];
  beforeEach(async () => {
    redisServer = await startRedisServer();
    gateways = [0, 1].map(() => openRedisIdempotencyStore({ url: redisServer.url, siteUrl: 'https://cms.example' }));
    for (const gateway of gateways) {
      await until(
        () =>
          gateway.delete('none').then(
            () => true,
            () => false,
          ),
        'it is connected',
      );
    }
  });
  afterEach(async () => {
    for (const gateway of gateways) gateway.close();
    await redisServer.close();
  });

  it('one gateway claims a key, and the others read its outcome', async () => {
    const [a, b] = gateways as [RedisIdempotencyStore, RedisIdempotencyStore];
    const claims = await Promise.all([a.claim('user', 'key', entry(1)), b.claim('user', 'key', entry(2))]);
    const existing = claims.find((entry) => entry !== undefined)!;
    expect(claims.filter((entry) => entry === undefined)).to.have.length(1);
    const done = { ...existing, state: 'done' as const, response: { status: 201, body: { id: 7 } } };
    await a.set('key', done);
    expect(await b.claim('user', 'key', entry(3))).to.deep.equal(done);
  });

  it('only one of two gateways replaces an entry', async () => {
    const [a, b] = gateways as [RedisIdempotencyStore, RedisIdempotencyStore];
    await a.claim('user', 'key', entry(1));
    const results = await Promise.all(
      gateways.map((gateway, n) => gateway.compareAndSet('key', entry(1), entry(5 + n))),
    );
    expect(results.filter(Boolean)).to.have.length(1);
    await b.delete('key');
    expect(await a.claim('user', 'key', entry(9))).to.equal(undefined);
  });

  it('deletes the oldest keys of a user beyond a thousand, and no others', async () => {
    const [a] = gateways as [RedisIdempotencyStore, RedisIdempotencyStore];
    await a.claim('other', 'theirs', entry(0));
    for (let at = 1; at <= 1001; at += 1) await a.claim('user', `key ${at}`, entry(at));
    expect(await a.claim('other', 'theirs', entry(0))).to.deep.equal(entry(0));
    expect(await a.claim('user', 'key 2', entry(2))).to.deep.equal(entry(2));
    expect(await a.claim('user', 'key 1', entry(2000))).to.equal(undefined);
  });

  it('creates no second record through a gateway whose clock is ahead, while the first create is in progress', async () => {
    const cms = createFakeCms(Date.now);
    cms.hasCompanion = true;
    const clocks = { a: Date.now, b: () => Date.now() + 3_600_000 };
    const [a, b] = await Promise.all(
      (['a', 'b'] as const).map((name) => startGateway({ cms, redisUrl: redisServer.url, name, nowMs: clocks[name] })),
    );
    try {
      await allSettled([a!, b!]);
      const { isHeld, release } = holdNext(a!.cmsLink, 'before', 'create');
      const json = { title: 'Once', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
      const first = a!.request('/events', { json, idempotencyKey: 'key' });
      await until(isHeld, 'the create is in progress');
      const second = await b!.request('/events', { json, idempotencyKey: 'key' });
      release();
      expect([(await first).status, second.status]).to.deep.equal([201, 409]);
    } finally {
      await Promise.all([a!.stop(), b!.stop()]);
    }
  });

  it('rejects with 503, and creates nothing, if Redis refuses to tell the time', async () => {
    const cms = createFakeCms(Date.now);
    const gateway = await startGateway({ cms, redisUrl: redisServer.url, name: 'a' });
    const client = createClient({ url: redisServer.url });
    await client.connect();
    try {
      await allSettled([gateway]);
      await client.sendCommand(['ACL', 'SETUSER', 'default', '-time']);
      const dates = { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
      const json = { title: 'Once', status: 'publish', ...dates };
      const { status, body } = await gateway.request('/events', { json, idempotencyKey: 'timeless' });
      expect(status).to.equal(503);
      expect(body).to.include({ code: 'calendar_keys_unavailable' });
      expect((await gateway.request('/events')).body).to.deep.include({ events: [] });
    } finally {
      await client.sendCommand(['ACL', 'SETUSER', 'default', '+time']);
      client.destroy();
      await gateway.stop();
    }
  });

  it('rejects with 503 for an entry that no gateway wrote', async () => {
    const client = createClient({ url: redisServer.url });
    await client.connect();
    try {
      for (const text of [
        'null',
        '7',
        'no JSON',
        '{"state":"running"}',
        '{"fingerprint":"f","state":"ended","atMs":1,"by":"a"}',
      ]) {
        await client.set(`${keyPrefix('https://cms.example')}create:key`, text);
        const error = await gateways[0]!.claim('user', 'key', entry(1)).catch((failure: unknown) => failure);
        expect(error, text).to.include({ status: 503, code: 'calendar_keys_unavailable' });
      }
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
