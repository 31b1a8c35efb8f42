// What no gateway wrote into the engine: it ends no gateway, is passed over, counted, and told once a minute.

import { deflateRawSync } from 'node:zlib';
import { expect } from 'chai';
import { prefixOf } from '../../src/cluster/identity.ts';
import { Malformed, readMessage } from '../../src/cluster/messages.ts';
import { type EngineProcess, inside, useEngine } from './engine-process.ts';
import { leaderOf, startGateway, type TestGateway, together, until } from './gateways.ts';
import { type WritableCms, writableCms } from './writable-cms.ts';

const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const PREFIX = prefixOf('https://cms.example');
const GARBAGE = ['', 'x', 'null', '7', '[]', '{}', '{"nonce":7}', '{"ask":{"type":"read","keys":7}}', '\u0000'];

describe('what no gateway wrote into the engine', function () {
  this.timeout(60_000);
  let engine: EngineProcess;
  let cms: WritableCms;
  let gateways: TestGateway[];
  useEngine((started) => {
    engine = started;
  });
  beforeEach(async () => {
    cms = writableCms();
    gateways = await Promise.all(['a', 'b'].map((name) => startGateway({ cms, engineUrl: engine.url, name })));
    await together(gateways);
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });

  const ignored = (gateway: TestGateway) => gateway.seen.filter(({ type }) => type === 'cluster-ignored').length;
  const warned = (gateway: TestGateway) =>
    gateway.seen.filter((one) => one.type === 'notice' && one.message.includes('ignored')).length;

  /** A write through each is shown by the other. */
  async function work(): Promise<void> {
    const [a, b] = gateways as [TestGateway, TestGateway];
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const made = await one.ask('/events', { json: EVENT });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      await until(async () => (await other.ask(`/events/${made.body.id}`)).status === 200, 'the other shows it');
    }
  }

  it('is ignored on the channels, and every gateway goes on', async () => {
    await inside(engine, async (client) => {
      for (const channel of ['asks', 'told']) for (const text of GARBAGE) await client.publish(PREFIX + channel, text);
    });
    for (const gateway of gateways) await until(() => ignored(gateway) >= 2 * GARBAGE.length, 'all is counted');
    for (const gateway of gateways) expect(warned(gateway)).to.equal(1);
    await work();
    for (const { seen } of gateways)
      expect(seen.some((one) => one.type === 'cluster-role' && one.to === 'away')).to.equal(false);
  });

  it('is passed over in the stream, and not met again', async () => {
    await inside(engine, async (client) => {
      for (const entry of [
        ...GARBAGE,
        JSON.stringify({ from: 'x', type: 'look', change: { put: [{ kind: 'event', id: 1 }] } }),
      ])
        await client.xAdd(`${PREFIX}stream`, '*', { entry, after: '0-0' });
      await client.xAdd(`${PREFIX}stream`, '*', { other: 'x' });
    });
    for (const gateway of gateways) await until(() => ignored(gateway) >= GARBAGE.length, 'it is passed over');
    await work();
    await together(gateways);
    const before = gateways.map(ignored);
    await work();
    expect(gateways.map(ignored)).to.deep.equal(before);
  });

  it('makes the gateways read everything again when it is the last entry of the stream', async () => {
    await inside(engine, async (client) => {
      const id = await client.xAdd(`${PREFIX}stream`, '*', { entry: '{"half":', after: '0-0' });
      await client.set(`${PREFIX}tail`, id);
    });
    for (const gateway of gateways) await until(() => ignored(gateway) >= 1, 'it is passed over');
    await together(gateways);
    await work();
  });

  it('in the words of the leader is ignored', async () => {
    for (const text of GARBAGE) await inside(engine, (client) => client.set(`${PREFIX}word`, text));
    await work();
    expect(leaderOf(gateways)).to.not.equal(undefined);
  });

  it('is unpacked up to a limit where a copy is handed over', async () => {
    const bomb = deflateRawSync(Buffer.alloc(200 * 1024 * 1024, 'x'));
    const third = startGateway({ cms, engineUrl: engine.url, name: 'c' });
    // A gateway that waits for a copy gets this before the right one.
    await inside(engine, async (client) => {
      const listener = client.duplicate();
      await listener.connect();
      await listener.subscribe(`${PREFIX}asks`, (text) => {
        const { ask } = JSON.parse(text) as { ask: { type: string; list: string } };
        if (ask.type === 'copy') void client.lPush(PREFIX + ask.list, bomb).catch(() => {});
      });
      const c = await third;
      gateways.push(c);
      await until(() => ignored(c) > 0, 'it is counted');
      listener.destroy();
    });
    await together(gateways);
    expect(process.memoryUsage().rss).to.be.lessThan(1_500_000_000);
  });
});

describe('a message of the engine', () => {
  it('is read by its schema, and refused without being quoted', () => {
    const told = { nonce: 'n', at: '1-0' };
    expect(readMessage('told', JSON.stringify(told))).to.deep.equal(told);
    for (const text of ['secret', '{"nonce":"secret","at":"secret"}', `"${'x'.repeat(2_000_000)}"`, undefined])
      expect(() => readMessage('told', text))
        .to.throw(Malformed)
        .with.property('message')
        .that.does.not.include('secret');
  });
});
