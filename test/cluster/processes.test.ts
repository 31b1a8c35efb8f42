// Three gateways as processes: the one that asks the CMS is killed with kill -9, or stopped and let go on, amid writes through all.

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { as, startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { type EngineProcess, startEngine } from './engine-process.ts';
import { until } from './gateways.ts';
import { allTogether, type GatewayProcess, leading, MOUNT, startProcess } from './processes.ts';

const WRITES = 60;

interface Written {
  id: number;
  title: string;
  version: string;
}

describe('gateways as processes', function () {
  this.timeout(120_000);
  let engine: EngineProcess;
  let wordpress: WordPressStandIn;
  let gateways: GatewayProcess[];
  beforeEach(async () => {
    [engine, wordpress] = await Promise.all([startEngine(), startWordPress()]);
    const options = { cmsUrl: wordpress.url.href, engineUrl: engine.url, intervalS: 1 };
    gateways = await Promise.all(['a', 'b', 'c'].map((name) => startProcess({ ...options, name })));
    await until(() => allTogether(gateways), 'together', 60_000);
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await Promise.all([engine.close(), wordpress.close()]);
  });

  /** Writes through all of them, one after the other; gives what was answered as written. */
  async function writeAmid(deed: (lead: GatewayProcess) => Promise<void>): Promise<Written[]> {
    const lead = (await leading(gateways))!;
    const done: Written[] = [];
    let next = 0;
    async function writer(): Promise<void> {
      while (next < WRITES) {
        const n = next++;
        const gateway = gateways[n % gateways.length]!;
        // One through which no other writes: what it showed last is known.
        const id = [...wordpress.posts.values()].filter(
          ({ base, status }) => base === 'events' && status === 'publish',
        )[n % 4]!.id;
        const title = `write ${n}`;
        const answer = await fetch(`${gateway.url}${MOUNT}/events/${id}`, {
          method: 'POST',
          headers: { authorization: as('editor'), 'content-type': 'application/json' },
          body: JSON.stringify({ title }),
          signal: AbortSignal.timeout(10_000),
        }).catch(() => undefined);
        if (answer?.ok) done.push({ id, title, version: answer.headers.get('x-calendar-version') ?? '' });
        await answer?.arrayBuffer().catch(() => {});
        await sleep(20);
      }
    }
    const writing = Promise.all([writer(), writer(), writer(), writer()]);
    await until(() => next > WRITES / 4, 'some are written');
    await deed(lead);
    await writing;
    return done;
  }

  /** Each copy ends up as the CMS is, and nobody who sends a version back is shown what was before it. */
  async function expectEqual(rest: readonly GatewayProcess[], done: readonly Written[]): Promise<void> {
    expect(done.length).to.be.at.least(WRITES / 2);
    for (const id of new Set(done.map((one) => one.id))) {
      const title = wordpress.posts.get(id)!.title;
      const last = done.findLast((one) => one.id === id && one.title === title);
      for (const gateway of rest) {
        const shown = async (headers: Record<string, string>) => {
          const answer = await fetch(`${gateway.url}${MOUNT}/events/${id}`, { headers });
          return ((await answer.json()) as { title: string }).title;
        };
        if (last) await until(async () => (await shown({ 'x-calendar-min-version': last.version })) === title, 'shown');
        await until(async () => (await shown({})) === title, `${title} through ${gateway.name}`);
      }
    }
  }

  it('lose nothing when the one that asks the CMS is killed with kill -9', async () => {
    let killed: GatewayProcess | undefined;
    const done = await writeAmid(async (lead) => {
      killed = lead;
      await lead.kill();
    });
    const rest = gateways.filter((gateway) => gateway !== killed);
    await until(async () => (await leading(rest)) !== undefined, 'another leads', 30_000);
    await expectEqual(rest, done);
    const options = { cmsUrl: wordpress.url.href, engineUrl: engine.url, intervalS: 1 };
    gateways = [...rest, await startProcess({ ...options, name: killed!.name })];
    await until(() => allTogether(gateways), 'together again', 60_000);
    await expectEqual(gateways, done);
  });

  it('lose nothing when it is stopped in the middle and goes on after another took over', async () => {
    let stopped: GatewayProcess | undefined;
    const done = await writeAmid(async (lead) => {
      stopped = lead;
      lead.child.kill('SIGSTOP');
      const rest = gateways.filter((gateway) => gateway !== lead);
      await until(async () => (await leading(rest)) !== undefined, 'another leads', 30_000);
      lead.child.kill('SIGCONT');
    });
    await until(() => allTogether(gateways), 'together again', 60_000);
    expect((await leading(gateways))?.name).to.not.equal(stopped?.name);
    await expectEqual(gateways, done);
  });

  it('say to the operator that the engine is away, and that it is back', async () => {
    const role = (name: string) => `calendar_gateway_role{role="${name}"} 1`;
    const all = (isSo: (gateway: GatewayProcess) => Promise<boolean>) => async () =>
      (await Promise.all(gateways.map(isSo))).every(Boolean);
    await until(
      all(async (gateway) => /role="(leading|following)"} 1/.test(await gateway.metrics())),
      'the roles',
    );
    await engine.kill();
    const isAlone = async (gateway: GatewayProcess) =>
      (await gateway.role()) === 'away' && (await gateway.metrics()).includes(role('away'));
    await until(all(isAlone), 'all alone', 30_000);
    // One that never heard of the others says so too, and answers.
    const options = { cmsUrl: wordpress.url.href, engineUrl: engine.url, intervalS: 1 };
    gateways.push(await startProcess({ ...options, name: 'd' }));
    await until(all(isAlone), 'all alone', 30_000);
    await until(
      all(async (gateway) => await gateway.ready()),
      'each is ready',
      30_000,
    );
    await engine.restart();
    await until(() => allTogether(gateways), 'together again', 60_000);
    for (const gateway of gateways) expect(await gateway.metrics()).to.not.include(role('away'));
  });

  it('count requests and failed logins together', async () => {
    const options = { cmsUrl: wordpress.url.href, engineUrl: engine.url, intervalS: 1, requestsPerMinute: 200 };
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    gateways = await Promise.all(['a', 'b'].map((name) => startProcess({ ...options, name })));
    await until(() => allTogether(gateways), 'together', 60_000);
    const [a, b] = gateways as [GatewayProcess, GatewayProcess];
    const ask = async ({ url }: GatewayProcess, headers: Record<string, string> = {}) => {
      const answer = await fetch(`${url}${MOUNT}/events/1`, { headers });
      await answer.arrayBuffer();
      return answer.status;
    };
    let tries = 0;
    const wrong = () => ({ authorization: `Basic ${Buffer.from(`editor:wrong ${++tries}`).toString('base64')}` });
    // Ten of a user, half of them through each.
    for (let n = 0; n < 5; n += 1) for (const gateway of [a, b]) expect(await ask(gateway, wrong())).to.equal(401);
    for (const gateway of [a, b]) expect(await ask(gateway, wrong())).to.equal(429);
    // Not more than the limit through either alone, and more through both.
    for (let n = 0; n < 150; n += 1) expect(await ask(a)).to.equal(200);
    let asked = 0;
    await until(async () => {
      asked += 1;
      await sleep(20);
      return (await ask(b)) === 429;
    }, 'refused');
    expect(asked).to.be.below(150);
  });
});
