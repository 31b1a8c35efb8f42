// Several gateways before one CMS, with a real engine: who asks the CMS, what the others show, and what happens when one of them is lost.

import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { ConfigError } from '../../src/errors.ts';
import { type EngineProcess, inside, useEngine } from './engine-process.ts';
import { type Answered, leaderOf, startGateway, type TestGateway, together, until } from './gateways.ts';
import { holdNext, type WritableCms, writableCms } from './writable-cms.ts';

const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };

describe('several gateways', function () {
  this.timeout(60_000);
  let engine: EngineProcess;
  let cms: WritableCms;
  let gateways: TestGateway[];

  useEngine((started) => {
    engine = started;
  });
  beforeEach(() => {
    cms = writableCms();
    gateways = [];
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });

  async function start(count: number): Promise<TestGateway[]> {
    const names = ['a', 'b', 'c', 'd'].slice(0, count);
    gateways = await Promise.all(names.map((name) => startGateway({ cms, engineUrl: engine.url, name })));
    await together(gateways);
    return gateways;
  }

  /** A machine so busy that a lease runs out is told to try again, and never shows the past. */
  async function reads(gateway: TestGateway, path: string, atLeast: string): Promise<Answered> {
    let read = await gateway.ask(path, { atLeast });
    for (let more = 0; read.status === 503 && more < 20; more += 1) read = await gateway.ask(path, { atLeast });
    return read;
  }

  it('shows through one what was written through another', async () => {
    const [a, b] = (await start(2)) as [TestGateway, TestGateway];
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const made = await one.ask('/events', { json: EVENT });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      expect(made.version).to.match(/^\d+-\d+$/);
      const read = await reads(other, `/events/${made.body.id}`, made.version);
      expect(read.status).to.equal(200);
      expect(read.body.title).to.equal('One');
      const changed = await other.ask(`/events/${made.body.id}`, { json: { title: 'Two' } });
      const again = await reads(one, `/events/${made.body.id}`, changed.version);
      expect(again.body.title).to.equal('Two');
    }
  });

  it('copies once for all, and shows what was changed behind their backs', async () => {
    for (let n = 0; n < 30; n += 1) cms.fake.create('events', { meta: { start_date: '2027-05-01 10:00:00' } });
    await start(3);
    const others = gateways.filter((gateway) => gateway !== leaderOf(gateways));
    for (const { link } of others) expect(link.requests).to.equal(0);
    cms.fake.edit(3, { title: 'Behind' });
    await until(
      () => gateways.every(({ replica }) => replica.get('event', 3)?.title === 'Behind'),
      'the change everywhere',
    );
    for (const { link } of others) expect(link.requests).to.equal(0);
  });

  describe('when the one that asks the CMS', () => {
    /** Changes something behind their backs, and waits until the others show it. */
    async function goesOn(rest: readonly TestGateway[], title: string): Promise<void> {
      cms.fake.edit(1, { title });
      await until(() => rest.every(({ replica }) => replica.get('event', 1)?.title === title), title);
    }

    async function three(): Promise<{ lead: TestGateway; rest: TestGateway[] }> {
      cms.fake.create('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      await start(3);
      const lead = leaderOf(gateways)!;
      return { lead, rest: gateways.filter((gateway) => gateway !== lead) };
    }

    it('is killed, another does', async () => {
      const { lead, rest } = await three();
      await lead.kill();
      await until(() => leaderOf(rest) !== undefined, 'another leads');
      await goesOn(rest, 'After the kill');
    });

    it('ends in order, another does at once', async () => {
      const { lead, rest } = await three();
      await lead.stop();
      await until(() => leaderOf(rest) !== undefined, 'another leads');
      await goesOn(rest, 'After the end');
    });

    it('ends while it connects to the engine', async () => {
      const { lead } = await three();
      await lead.proxy.set({ kind: 'late', delayMs: 200 });
      await until(() => !lead.cluster.status().engine && lead.proxy.open > 0, 'it connects anew');
      await lead.cluster.stop();
      expect(lead.cluster.status().engine).to.equal(false);
    });

    for (const kind of ['silent', 'down'] as const) {
      it(`hears nothing of the engine (${kind}), another does; the first goes on alone, says so, and comes back`, async () => {
        const { lead, rest } = await three();
        await lead.proxy.set({ kind });
        await until(() => leaderOf(rest) !== undefined, 'another leads');
        await goesOn([...rest, lead], 'Seen by both sides');
        expect(lead.cluster.status()).to.include({ role: 'away', engine: false });
        await lead.proxy.set({ kind: 'none' });
        await together(gateways);
        await goesOn(gateways, 'Together again');
        const { requests } = lead.link;
        await goesOn(gateways, 'And once more');
        expect(lead.link.requests).to.equal(requests);
      });
    }

    it('comes back late, it writes nothing: what it had asked before is older than what another wrote', async () => {
      const { lead, rest } = await three();
      // Its answer is on the way while it is cut off, another takes over and sees a newer state.
      cms.fake.edit(1, { title: 'Old' });
      const { isHeld, letGo } = holdNext(lead.link, 'after', 'list');
      await until(isHeld, 'an answer on the way');
      await lead.proxy.set({ kind: 'down' });
      await until(() => leaderOf(rest) !== undefined, 'another leads');
      cms.fake.quietly(1, { title: 'New' });
      const notice = [{ collection: 'events', id: 1 }];
      await rest[0]!.cluster.changed(notice);
      await until(() => rest.every(({ replica }) => replica.get('event', 1)?.title === 'New'), 'the newer state');
      await lead.proxy.set({ kind: 'none' });
      letGo();
      await together(gateways);
      await until(
        () => gateways.every(({ replica }) => replica.get('event', 1)?.title === 'New'),
        'the newer state for all',
      );
      const titles = rest.flatMap(({ replica }) => replica.get('event', 1)?.title);
      expect(titles).to.deep.equal(['New', 'New']);
    });
  });

  it('found nothing anew when the one that asks lost the lock and has it again', async () => {
    const [a] = (await start(1)) as [TestGateway];
    const roles = () => a.seen.flatMap((one) => (one.type === 'cluster-role' ? [one.to] : []));
    for (let n = 0; n < 3; n += 1) {
      a.seen.length = 0;
      await inside(engine, async (client) => {
        for (const key of await client.keys('*:lock')) await client.del(key);
      });
      await until(() => roles().includes('joining'), 'it is noticed');
      await together(gateways);
      expect(roles()).to.not.include('founding');
    }
  });

  describe('joining and returning', () => {
    it('copies from another gateway, not from the CMS, however many come at once', async () => {
      for (let n = 0; n < 500; n += 1)
        cms.fake.create('events', { meta: { start_date: '2027-05-01 10:00:00' }, dateS: 1_700_000_000 + n });
      for (let n = 0; n < 20; n += 1) cms.fake.createTerm('tags');
      const [a] = (await start(1)) as [TestGateway];
      const before = a.link.requests;
      const more = ['b', 'c', 'd'].map((name) => startGateway({ cms, engineUrl: engine.url, name }));
      gateways.push(...(await Promise.all(more)));
      await together(gateways);
      for (const one of gateways.slice(1)) {
        expect(one.link.requests).to.equal(0);
        expect(one.replica.counts()).to.deep.equal(a.replica.counts());
        expect(one.replica.get('event', 77)).to.deep.equal(a.replica.get('event', 77));
      }
      // Not more than the rounds that it would have made anyway.
      expect(a.link.requests - before).to.be.below(100);
    });

    it('goes on from its own file where the stream reaches back to it, and else is given a copy', async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'calendar-cluster-')), 'b.sqlite');
      cms.fake.create('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      const [a] = (await start(1)) as [TestGateway];
      const again = () => startGateway({ cms, engineUrl: engine.url, name: 'b', file });
      const copied = ({ seen }: TestGateway) =>
        seen.some((one) => one.type === 'sync-state' && one.from === 'empty' && one.to === 'copying');
      let b = await again();
      await together([a, b]);
      expect(copied(b)).to.equal(true);
      await b.stop();
      cms.fake.edit(1, { title: 'While it was gone' });
      await until(() => a.replica.get('event', 1)?.title === 'While it was gone', 'seen');
      b = await again();
      await together([a, b]);
      expect(b.link.requests).to.equal(0);
      expect(b.replica.get('event', 1)?.title).to.equal('While it was gone');
      await b.stop();
      // Much more than the stream keeps.
      const made = await a.ask('/events', { json: { ...EVENT, title: 'Kept by nobody' } });
      await a.ask(`/events/${made.body.id}`, { json: { title: 'Last' } });
      await inside(engine, async (client) => {
        for (const key of await client.keys('*:stream')) await client.xTrim(key, 'MAXLEN', 1);
      });
      b = await again();
      gateways.push(b);
      await together(gateways);
      expect(b.link.requests).to.equal(0);
      expect(b.replica.get('event', made.body.id)?.title).to.equal('Last');
      expect(b.replica.counts()).to.deep.equal(a.replica.counts());
    });

    it('refuses a gateway of another mapping, and says what differs', async () => {
      await start(1);
      const other = startGateway({ cms, engineUrl: engine.url, mapping: 'acf' });
      const error = await other.then(
        () => undefined,
        (refused: Error) => refused,
      );
      expect(error).to.be.instanceOf(ConfigError);
      expect(error?.message).to.match(/CALENDAR_REDIS_URL.*mapping: theirs is wordpress-meta/);
    });
  });

  describe('while the engine is away', () => {
    it('each goes on alone; what was written and changed meanwhile is with all when it is back, empty as it is', async () => {
      cms.fake.create('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      const [a, b, c] = (await start(3)) as [TestGateway, TestGateway, TestGateway];
      await engine.kill();
      await until(() => gateways.every(({ cluster }) => cluster.status().role === 'away'), 'all alone');
      const made = await b.ask('/events', { json: EVENT });
      expect(made.status).to.equal(201);
      // Nobody can be told, and whoever sends this back has the CMS looked at.
      expect(made.version).to.match(/\+$/);
      const read = await c.ask(`/events/${made.body.id}`, { atLeast: made.version });
      expect(read.body.title).to.equal('One');
      cms.fake.edit(1, { title: 'Behind' });
      await until(() => gateways.every(({ replica }) => replica.get('event', 1)?.title === 'Behind'), 'each by itself');
      await engine.restart();
      await together(gateways);
      const written = await a.ask(`/events/${made.body.id}`, { json: { title: 'Two' } });
      expect(written.version).to.match(/^\d+-\d+$/);
      for (const one of gateways) {
        const { body } = await one.ask(`/events/${made.body.id}`, { atLeast: written.version });
        expect(body.title).to.equal('Two');
      }
      expect(b.replica.counts()).to.deep.equal(a.replica.counts());
    });

    it('is no less alone when the engine is there and full', async () => {
      cms.fake.create('events', { meta: { start_date: '2027-05-01 10:00:00' } });
      const [a, b] = (await start(2)) as [TestGateway, TestGateway];
      const memory = (bytes: string) => inside(engine, (client) => client.configSet('maxmemory', bytes));
      await memory('1');
      const made = await b.ask('/events', { json: EVENT });
      expect(made.status).to.equal(201);
      await until(() => gateways.every(({ cluster }) => cluster.status().role === 'away'), 'all alone');
      expect((await a.ask(`/events/${made.body.id}`, { atLeast: made.version })).body.title).to.equal('One');
      await memory('0');
      await together(gateways);
      await until(() => gateways.every(({ cluster }) => cluster.status().beside === 0), 'nothing beside the stream');
      expect(b.replica.get('event', made.body.id)).to.deep.equal(a.replica.get('event', made.body.id));
    });
  });
});
