// Limits that two gateways share through the engine, and that each keeps by itself while the engine is away.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { openSharedCounts, type SharedCounts } from '../../src/cluster/shared-counts.ts';
import { createAddressLimit, createLoginLimit } from '../../src/http/limits.ts';
import { type EngineProcess, startEngine } from './engine-process.ts';
import { until } from './gateways.ts';

const LOGINS = { failedLoginsPerAddress: 10, failedLoginsPerUser: 3, failedLoginWindowS: 60 };

describe('limits of several gateways', function () {
  this.timeout(20_000);
  let engine: EngineProcess;
  let counts: SharedCounts[];
  beforeEach(async () => {
    engine = await startEngine();
    const options = { url: engine.url, siteUrl: 'https://cms.example', secret: 'of both' };
    counts = [openSharedCounts(options), openSharedCounts(options)];
    const ready = async (one: SharedCounts, name: string) => {
      await one.count('ready', 1, 60).penalty(name, 1);
      return (await counts[0]!.count('ready', 1, 60).get(name)) !== null;
    };
    await until(() => ready(counts[1]!, 'b'), 'both are connected');
  });
  afterEach(async () => {
    for (const one of counts) one.close();
    await engine.close();
  });

  it('count failed logins together, and know together who logged in', async () => {
    const [a, b] = counts.map((one) => createLoginLimit(LOGINS, one)) as [
      ReturnType<typeof createLoginLimit>,
      ReturnType<typeof createLoginLimit>,
    ];
    await a.allowed('198.51.100.7', 'anna');
    await a.succeeded('198.51.100.7', 'anna');
    for (const limit of [a, b, a]) {
      expect(await limit.allowed('203.0.113.1', 'anna')).to.include({ ok: true });
      await limit.failed('203.0.113.1', 'anna');
    }
    for (const limit of [a, b]) {
      expect((await limit.allowed('203.0.113.2', 'anna')).ok).to.equal(false);
      // From where she logged in through the one, she does so through the other as well.
      expect(await limit.allowed('198.51.100.7', 'anna')).to.include({ ok: true });
      await limit.unanswered('198.51.100.7', 'anna');
    }
  });

  it('count the requests of an address together', async () => {
    const limits = counts.map((one) => createAddressLimit({ requestsPerMinute: 100 }, one));
    for (const limit of limits) for (let n = 0; n < 60; n += 1) limit.admit({ ip: '203.0.113.1' });
    await until(async () => {
      await sleep(300);
      try {
        limits[1]!.admit({ ip: '203.0.113.1' });
        return false;
      } catch (error) {
        expect(error).to.include({ status: 429 });
        return true;
      }
    }, 'refused');
  });

  it('go on by themselves while the engine is away', async () => {
    const limit = createLoginLimit(LOGINS, counts[0]);
    await engine.kill();
    for (let n = 0; n < 3; n += 1) {
      expect(await limit.allowed('203.0.113.1', 'bert')).to.include({ ok: true });
      await limit.failed('203.0.113.1', 'bert');
    }
    expect((await limit.allowed('203.0.113.1', 'bert')).ok).to.equal(false);
  });

  it('keeps no user name in the engine', async () => {
    const limit = createLoginLimit(LOGINS, counts[0]);
    await limit.allowed('203.0.113.1', 'secretname');
    await limit.failed('203.0.113.1', 'secretname');
    const { createClient } = await import('@redis/client');
    const client = createClient({ url: engine.url });
    await client.connect();
    const keys = await client.keys('*');
    client.destroy();
    expect(keys.some((key) => key.includes('logins-user'))).to.equal(true);
    expect(keys.join('\n')).to.not.include('secretname');
  });
});
