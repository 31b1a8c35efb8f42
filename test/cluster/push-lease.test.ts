// Which gateway of a cluster sends the outgoing webhooks.

import { expect } from 'chai';
import { openCluster } from '../../src/cluster/cluster.ts';
import type { PushLease } from '../../src/cluster/push-lease.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { Push } from '../../src/push/push.ts';
import { Replica } from '../../src/store/replica.ts';
import { type ReceiverServer, SECRET, startReceiver } from '../push/receiver-server.ts';
import { event } from '../store/sample-records.ts';
import { until } from '../until.ts';
import { type RedisServer, useRedisServer, withRedisClient } from './redis-server.ts';

describe('outgoing webhooks of several gateways', function () {
  this.timeout(60_000);
  let redisServer: RedisServer;
  let receiver: ReceiverServer;
  let gateways: { replica: Replica; push: Push; lease: PushLease; close(): Promise<void> }[];
  useRedisServer((started) => {
    redisServer = started;
  });
  beforeEach(async () => {
    receiver = await startReceiver();
    const mapping = loadMapping('wordpress-meta');
    const open = async () => {
      const observe = () => {};
      const site = { siteUrl: 'https://cms.example', mapping, observe };
      const cluster = openCluster({ url: redisServer.url, ...site });
      await cluster.connection.opened;
      const replica = new Replica({ identity: 'test' });
      // After an initial sync and a first scan, in the same second.
      replica.journal.setClock(() => 1000);
      replica.beginInitialSync();
      replica.endInitialSync();
      replica.journal.noteScan(1000);
      const lease = cluster.createPushLease();
      const receivers = [{ url: receiver.url, secret: SECRET, allowPrivate: true }];
      const push = new Push({ receivers, replica, isReady: () => true, observe, lease });
      const close = async () => {
        await push.stop();
        cluster.connection.close();
        replica.close();
      };
      return { replica, push, lease, close };
    };
    gateways = [await open(), await open()];
  });
  afterEach(async () => {
    for (const gateway of gateways) await gateway.close();
    await receiver.close();
  });

  /** All replicas get the same change, as from a peer. */
  const change = (id: number) => {
    for (const { replica } of gateways) replica.apply({ upserts: [event(id)] });
  };
  const tick = async () => {
    for (const { push } of gateways) await push.tick();
  };
  const endLease = () =>
    withRedisClient(redisServer, async (client) => {
      const leases = (await client.keys('*:push')).filter((key) => !key.endsWith('positions'));
      expect(leases).to.have.length(1);
      await client.del(leases);
    });

  it('come from one', async () => {
    await tick();
    change(1);
    await tick();
    expect(receiver.changes()).to.deep.equal(['reset', 'event 1 created']);
    expect(gateways.map(({ push }) => push.status().sends)).to.deep.equal([true, false]);
  });

  it('go on from another one, which knows what the receiver has, and miss nothing', async () => {
    await tick();
    change(1);
    await tick();
    change(2);
    const [first, second] = gateways;
    await endLease();
    await second!.push.tick();
    // All that the second gateway noticed since the scan of the first one: one repetition, and nothing lost.
    expect(receiver.changes()).to.deep.equal(['reset', 'event 1 created', 'event 1 created', 'event 2 created']);
    await first!.push.tick();
    change(3);
    await tick();
    expect(receiver.changes().slice(4)).to.deep.equal(['event 3 created']);
  });

  it('come from each while Redis is away, and from one again after it', async () => {
    await tick();
    await redisServer.kill();
    change(1);
    await tick();
    expect(gateways.map(({ push }) => push.status().sends)).to.deep.equal([true, true]);
    expect(receiver.changes().filter((text) => text === 'event 1 created')).to.have.length.at.least(1);
    await redisServer.restart();
    await until(async () => {
      await tick();
      return gateways.filter(({ push }) => push.status().sends).length === 1;
    }, 'one sends');
    change(2);
    await tick();
    expect(receiver.changes().filter((text) => text === 'event 2 created')).to.have.length(1);
  });
});
