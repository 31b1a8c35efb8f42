// Limits that two gateways share through Redis; each gateway counts in memory while Redis is unavailable.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Connection, openConnection } from '../../src/cluster/connection.ts';
import { RateLimit, type SharedCounters } from '../../src/http/client-limits.ts';
import { LoginLimit } from '../../src/http/login-limit.ts';
import { createSharedCounters } from '../../src/http/shared-state.ts';
import { until } from './gateways.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';

const LOGINS = { failedLoginsPerAddress: 10, failedLoginsPerUser: 3, failedLoginWindowS: 60 };

describe('shared rate limits', function () {
  this.timeout(300_000);
  let redisServer: RedisServer;
  let connections: Connection[];
  let shared: SharedCounters[];
  beforeEach(async () => {
    redisServer = await startRedisServer();
    connections = [0, 1].map(() => openConnection(redisServer.url));
    await until(() => connections.every(({ client }) => client.isReady), 'both are connected');
    shared = connections.map((connection) =>
      createSharedCounters({ connection, prefix: 'calendar:{test}:', secret: 's' }),
    );
  });
  afterEach(async () => {
    for (const connection of connections) connection.close();
    await redisServer.close();
  });

  it('counts failed logins, and trusts addresses after a login, across gateways', async () => {
    const [a, b] = shared.map((counters) => new LoginLimit(LOGINS, counters)) as [LoginLimit, LoginLimit];
    const attempt = async (limit: LoginLimit, address: string, outcome: 'accepted' | 'failed' | 'unknown') => {
      const started = await limit.start(address, 'anna');
      if ('end' in started) await started.end(outcome);
      return 'end' in started;
    };
    expect(await attempt(a, '198.51.100.7', 'accepted')).to.equal(true);
    for (const limit of [a, b, a]) expect(await attempt(limit, '203.0.113.1', 'failed')).to.equal(true);
    for (const limit of [a, b]) {
      expect(await attempt(limit, '203.0.113.2', 'failed')).to.equal(false);
      // The address of a successful login through one gateway is trusted by both.
      expect(await attempt(limit, '198.51.100.7', 'unknown')).to.equal(true);
    }
  });

  it('counts the requests of an address across gateways', async () => {
    const limits = shared.map((counters) => new RateLimit({ requestsPerMinute: 100 }, counters));
    for (const limit of limits) for (let n = 0; n < 60; n += 1) limit.consume('203.0.113.1');
    await until(async () => {
      // Seldom enough that these requests alone do not reach the limit.
      await sleep(300);
      try {
        limits[1]!.consume('203.0.113.1');
        return false;
      } catch (error) {
        expect(error).to.include({ status: 429 });
        return true;
      }
    }, 'a request is rejected');
  });

  it('counts in memory while Redis is unavailable', async () => {
    const limit = new LoginLimit(LOGINS, shared[0]);
    await redisServer.kill();
    for (let n = 0; n < 3; n += 1) expect(await limit.start('203.0.113.1', 'bert')).to.have.property('end');
    expect(await limit.start('203.0.113.1', 'bert')).to.have.property('retryAfterS');
  });

  it('stores no user name in Redis', async () => {
    const limit = new LoginLimit(LOGINS, shared[0]);
    await limit.start('203.0.113.1', 'secretname');
    const { createClient } = await import('@redis/client');
    const client = createClient({ url: redisServer.url });
    await client.connect();
    const keys = await client.keys('*');
    client.destroy();
    expect(keys.some((key) => key.includes('logins-user'))).to.equal(true);
    expect(keys.join('\n')).to.not.include('secretname');
  });
});
