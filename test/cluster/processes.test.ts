// Three gateways as processes: one is killed with kill -9, or suspended and resumed, during writes through all of them.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { authorization, type FakeWordPress, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { until } from './gateways.ts';
import { allSettled, type ClusterProcess, MOUNT, startProcess } from './processes.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';

const WRITES = 60;
/** A busy machine starts a process slowly. */
const START_MS = 240_000;

interface Written {
  id: number;
  title: string;
  version: string;
}

describe('gateways as processes', function () {
  this.timeout(600_000);
  let redisServer: RedisServer;
  let wordpress: FakeWordPress;
  let gateways: ClusterProcess[];
  beforeEach(async () => {
    [redisServer, wordpress] = await Promise.all([startRedisServer(), startFakeWordPress()]);
    const options = { cmsUrl: wordpress.url.href, redisUrl: redisServer.url, intervalS: 1 };
    gateways = await Promise.all(['a', 'b', 'c'].map((name) => startProcess({ ...options, name })));
    await until(() => allSettled(gateways), 'together', START_MS);
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await Promise.all([redisServer.close(), wordpress.close()]);
  });

  /** Writes through all gateways in turn while `fault` runs; resolves with the writes that were accepted. */
  async function writeDuring(fault: (gateway: ClusterProcess) => Promise<void>): Promise<Written[]> {
    const accepted: Written[] = [];
    let next = 0;
    async function writer(): Promise<void> {
      while (next < WRITES) {
        const n = next++;
        const gateway = gateways[n % gateways.length]!;
        // Each event has one writer at a time, so the title of its last write is known.
        const id = [...wordpress.posts.values()].filter(
          ({ base, status }) => base === 'events' && status === 'publish',
        )[n % 4]!.id;
        const title = `write ${n}`;
        const response = await fetch(`${gateway.url}${MOUNT}/events/${id}`, {
          method: 'POST',
          headers: { authorization: authorization('editor'), 'content-type': 'application/json' },
          body: JSON.stringify({ title }),
          signal: AbortSignal.timeout(60_000),
        }).catch(() => undefined);
        if (response?.ok) accepted.push({ id, title, version: response.headers.get('x-calendar-version') ?? '' });
        await response?.arrayBuffer().catch(() => {});
        // So that the writes go on before, during and after the fault.
        await sleep(20);
      }
    }
    const writes = Promise.all([writer(), writer(), writer(), writer()]);
    await until(() => next > WRITES / 4, 'some writes are accepted', START_MS);
    await fault(gateways[0]!);
    await writes;
    return accepted;
  }

  /** Each replica equals the CMS in the end, and no read with a consistency token is older than it. */
  async function expectEqual(rest: readonly ClusterProcess[], accepted: readonly Written[]): Promise<void> {
    expect(accepted.length).to.be.at.least(WRITES / 2);
    for (const id of new Set(accepted.map(({ id }) => id))) {
      const title = wordpress.posts.get(id)!.title;
      const last = accepted.findLast((write) => write.id === id && write.title === title);
      for (const gateway of rest) {
        const shown = async (headers: Record<string, string>) => {
          const response = await fetch(`${gateway.url}${MOUNT}/events/${id}`, { headers });
          return ((await response.json()) as { title: string }).title;
        };
        if (last)
          await until(
            async () => (await shown({ 'x-calendar-min-version': last.version })) === title,
            'shown',
            START_MS,
          );
        await until(async () => (await shown({})) === title, `${title} through ${gateway.name}`, START_MS);
      }
    }
  }

  it('loses nothing when one is killed with kill -9', async () => {
    const accepted = await writeDuring(async (gateway) => void (await gateway.kill()));
    const rest = gateways.slice(1);
    await expectEqual(rest, accepted);
    const options = { cmsUrl: wordpress.url.href, redisUrl: redisServer.url, intervalS: 1 };
    gateways = [...rest, await startProcess({ ...options, name: 'a' })];
    await until(() => allSettled(gateways), 'together again', START_MS);
    await expectEqual(gateways, accepted);
  });

  it('loses nothing when one is suspended and resumes', async () => {
    const accepted = await writeDuring(async (gateway) => {
      gateway.child.kill('SIGSTOP');
      const [, other] = gateways as [ClusterProcess, ClusterProcess];
      const { taken } = (await other.cluster())!.polls;
      await until(async () => ((await other.cluster())?.polls.taken ?? 0) > taken, 'another one polls', START_MS);
      gateway.child.kill('SIGCONT');
    });
    await until(() => allSettled(gateways), 'together again', START_MS);
    await expectEqual(gateways, accepted);
  });

  it('report in status and metrics that Redis is away, and that it is back', async () => {
    const all = (isSo: (gateway: ClusterProcess) => Promise<boolean>) => async () =>
      (await Promise.all(gateways.map(isSo))).every(Boolean);
    const is = (connected: boolean) => async (gateway: ClusterProcess) =>
      (await gateway.cluster())?.connected === connected &&
      (await gateway.metrics()).includes(`calendar_cluster_connected ${Number(connected)}`);
    await until(all(is(true)), 'all connected', START_MS);
    await redisServer.kill();
    await until(all(is(false)), 'all alone', START_MS);
    // A gateway that starts without Redis reports it too, and serves requests.
    const options = { cmsUrl: wordpress.url.href, redisUrl: redisServer.url, intervalS: 1 };
    gateways.push(await startProcess({ ...options, name: 'd' }));
    await until(all(is(false)), 'all alone', START_MS);
    await until(
      all(async (gateway) => (await gateway.ready()) === 200),
      'each is ready',
      START_MS,
    );
    await redisServer.restart();
    await until(all(is(true)), 'together again', START_MS);
  });

  it('shares the limits of requests and of failed logins', async () => {
    const options = { cmsUrl: wordpress.url.href, redisUrl: redisServer.url, intervalS: 1, requestsPerMinute: 200 };
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    gateways = await Promise.all(['a', 'b'].map((name) => startProcess({ ...options, name })));
    await until(() => allSettled(gateways), 'together', START_MS);
    const [a, b] = gateways as [ClusterProcess, ClusterProcess];
    const statusOf = async ({ url }: ClusterProcess, headers: Record<string, string> = {}) => {
      const response = await fetch(`${url}${MOUNT}/events/1`, { headers });
      await response.arrayBuffer();
      return response.status;
    };
    let tries = 0;
    const wrong = () => ({ authorization: `Basic ${Buffer.from(`editor:wrong ${++tries}`).toString('base64')}` });
    // Ten for one user. A gateway that waits too long for Redis counts alone for a moment; two that always
    // did would allow twenty.
    const statuses: number[] = [];
    while (statuses.length < 20 && statuses.slice(-2).join() !== '429,429')
      statuses.push(await statusOf(statuses.length % 2 === 0 ? a : b, wrong()));
    expect(statuses.slice(0, 10)).to.deep.equal(Array.from({ length: 10 }, () => 401));
    expect(statuses.slice(-2)).to.deep.equal([429, 429]);
    // Below the limit through each gateway, and above it through both together.
    for (let n = 0; n < 150; n += 1) expect(await statusOf(a)).to.equal(200);
    let requests = 0;
    await until(
      async () => {
        requests += 1;
        // Seldom enough that these requests alone do not reach the limit.
        await sleep(20);
        return (await statusOf(b)) === 429;
      },
      'a request is rejected',
      START_MS,
    );
    expect(requests).to.be.below(150);
  });
});
