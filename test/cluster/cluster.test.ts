// Several gateways before one CMS, with a real engine: who asks the CMS, what the others show, and what happens when one of them is lost.

import { expect } from 'chai';
import { type EngineProcess, startEngine } from './engine-process.ts';
import { leaderOf, startGateway, type TestGateway, together, until } from './gateways.ts';
import { type WritableCms, writableCms } from './writable-cms.ts';

const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };

describe('several gateways', function () {
  this.timeout(60_000);
  let engine: EngineProcess;
  let cms: WritableCms;
  let gateways: TestGateway[];

  before(async () => {
    engine = await startEngine();
  });
  after(() => engine.close());
  beforeEach(async () => {
    await engine.restart();
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

  it('shows through one what was written through another', async () => {
    const [a, b] = (await start(2)) as [TestGateway, TestGateway];
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      const made = await one.ask('/events', { json: EVENT });
      expect(made.status, JSON.stringify(made.body)).to.equal(201);
      expect(made.version).to.match(/^\d+-\d+$/);
      const read = await other.ask(`/events/${made.body.id}`, { atLeast: made.version });
      expect(read.status).to.equal(200);
      expect(read.body.title).to.equal('One');
      const changed = await other.ask(`/events/${made.body.id}`, { json: { title: 'Two' } });
      const again = await one.ask(`/events/${made.body.id}`, { atLeast: changed.version });
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
});
