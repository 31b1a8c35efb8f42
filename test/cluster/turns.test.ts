// Which of several gateways polls: one in each interval, and each at least in the sixth.

import { expect } from 'chai';
import { openCluster } from '../../src/cluster/cluster.ts';
import type { Peers } from '../../src/cluster/peers.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Observation } from '../../src/observability/observations.ts';
import type { Sync } from '../../src/sync/sync.ts';
import { until } from './gateways.ts';
import { type RedisServer, useRedisServer } from './redis-server.ts';

/** So long that no turn is over during a test. */
const INTERVAL_MS = 3_600_000;

describe('the turns of gateways', function () {
  this.timeout(300_000);
  let redisServer: RedisServer;
  let observations: Observation[];
  let peers: [Peers, Peers, Peers];
  let stop: (() => Promise<void>)[];

  useRedisServer((started) => {
    redisServer = started;
  });
  beforeEach(async () => {
    [observations, stop] = [[], []];
    const mapping = loadMapping('wordpress-meta');
    const options = { url: redisServer.url, siteUrl: 'https://cms.example', mapping };
    const live = { complete: true, failures: 0 };
    const sync = {
      state: () => live,
      whenComplete: async () => {},
      pollForLostEntries: async () => true,
    } as unknown as Sync;
    peers = [0, 1, 2].map(() => {
      const cluster = openCluster({ ...options, observe: (observation) => void observations.push(observation) });
      const each = cluster.createPeers();
      each.start(sync);
      stop.push(async () => {
        await each.stop();
        cluster.connection.close();
      });
      return each;
    }) as typeof peers;
    await until(() => peers.every((each) => each.status().connected), 'all are connected');
  });
  afterEach(() => Promise.all(stop.map((each) => each())));

  it('are taken by one gateway, and by each other one at the latest in the sixth interval', async () => {
    const [a, b, c] = peers;
    expect(await a.takesLease(INTERVAL_MS)).to.equal(true);
    for (let n = 0; n < 5; n += 1)
      expect([await b.takesLease(INTERVAL_MS), await c.takesLease(INTERVAL_MS)]).to.deep.equal([false, false]);
    expect([await b.takesLease(INTERVAL_MS), await c.takesLease(INTERVAL_MS)]).to.deep.equal([true, true]);
    expect(await b.takesLease(INTERVAL_MS)).to.equal(false);
    expect(b.status().polls).to.deep.equal({ taken: 1, skipped: 6 });
    const turns = observations.filter((each) => each.type === 'cluster-lease');
    expect(turns.filter(({ isTaken }) => isTaken)).to.have.length(3);
  });

  it('are all taken while Redis is away', async () => {
    await redisServer.kill();
    for (const each of peers) expect(await each.takesLease(INTERVAL_MS)).to.equal(true);
  });
});
