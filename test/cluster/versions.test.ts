// What callers see of several gateways: where an answer was made at, and reads that must not be older than another answer.

import { expect } from 'chai';
import { type EngineProcess, inside, useEngine } from './engine-process.ts';
import { leaderOf, roleOf, startGateway, type TestGateway, together, until } from './gateways.ts';
import { holdNext, type WritableCms, writableCms } from './writable-cms.ts';

const EVENT = { title: 'One', start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const LATE_MS = 120;

describe('versions of answers', function () {
  this.timeout(60_000);
  let engine: EngineProcess;
  let cms: WritableCms;
  let gateways: TestGateway[];

  useEngine((started) => {
    engine = started;
  });
  beforeEach(async () => {
    cms = writableCms();
    gateways = await Promise.all(
      // A lease that outlives an engine that answers late.
      ['a', 'b'].map((name) => startGateway({ cms, engineUrl: engine.url, name, intervalMs: 1500 })),
    );
    await together(gateways);
  });
  afterEach(async () => {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
  });
  const lead = () => leaderOf(gateways)!;
  const follower = () => gateways.find((gateway) => gateway !== lead())!;

  const inStream = (version: string): Promise<string> =>
    inside(engine, async (client) => {
      const [key] = await client.keys('*:stream');
      const found = await client.xRange(key!, version, version);
      return found?.[0]?.message.entry ?? '';
    });

  /** Everything between this gateway and the engine takes its time from now on. */
  async function slowDown({ proxy, cluster }: TestGateway): Promise<void> {
    await proxy.set({ kind: 'late', delayMs: LATE_MS });
    await until(() => !cluster.status().engine, 'the open connections are gone');
    await until(() => cluster.status().engine, 'there are new ones');
    await together(gateways);
  }

  it('has the entry of a write in the stream when its answer leaves, through whichever gateway it went', async () => {
    for (const [index, gateway] of gateways.entries()) {
      // An answer that did not wait for the engine would be long here.
      await slowDown(gateway);
      const make = () => gateway.ask('/events', { json: { ...EVENT, title: `Made ${index}` } });
      let made = await make();
      // A machine so busy that the engine was not heard in time: what is written then is promised otherwise.
      for (let more = 0; made.version.endsWith('+') && more < 20; more += 1) {
        await together(gateways);
        made = await make();
      }
      expect(made.version, 'heard in time').to.not.match(/\+$/);
      expect(made.status).to.equal(201);
      expect(await inStream(made.version)).to.include(`"title":"Made ${index}"`);
    }
  });

  it('lets a read wait until its gateway got there', async () => {
    const slow = follower();
    const { id } = (await slow.ask('/events', { json: EVENT })).body;
    await slowDown(slow);
    const quick = gateways.find((gateway) => gateway !== slow)!;
    const changed = await quick.ask(`/events/${id}`, { json: { title: 'Two' } });
    expect(slow.replica.get('event', id)).to.include({ title: 'One' });
    const read = await slow.ask(`/events/${id}`, { atLeast: changed.version });
    expect(read.status).to.equal(200);
    expect(read.body.title).to.equal('Two');
  });

  it('lets nobody wait for ever: who asks for what is not there is told to try again', async () => {
    const atLeast = `${Date.now() + 3_600_000}-0`;
    for (const answer of await Promise.all(gateways.map((gateway) => gateway.ask('/events', { atLeast })))) {
      expect(answer.status).to.equal(503);
      expect(answer.body.code).to.equal('calendar_behind');
      expect(answer.headers.get('retry-after')).to.equal('1');
    }
  });

  it('is not said to be seen by a look in the middle of which another took the lead', async () => {
    const leader = lead();
    await leader.cluster.look();
    const { isHeld, letGo } = holdNext(leader.link, 'before', 'list');
    const looking = leader.cluster.look();
    await until(isHeld, 'the look is under way');
    await leader.proxy.set({ kind: 'down' });
    await until(() => gateways.some((gateway) => gateway !== leader && roleOf(gateway) === 'leading'), 'another leads');
    letGo();
    expect(await looking).to.equal(false);
  });

  it('refuses what is no version', async () => {
    for (const nonsense of ['1', 'x', '1-2-3', '1-1++']) {
      const answer = await lead().ask('/events', { atLeast: nonsense });
      expect(answer.status, nonsense).to.equal(400);
    }
  });

  it('is given with every answer, and kept apart by caches', async () => {
    // The second is stored; so is what the third has already.
    const first = await follower().ask('/events');
    const again = await follower().ask('/events');
    const known = await follower().ask('/events', { ifNoneMatch: first.headers.get('etag') });
    expect([first, again, known].map(({ status }) => status)).to.deep.equal([200, 200, 304]);
    for (const { version, headers } of [first, again, known]) {
      expect(version).to.match(/^\d+-\d+$/);
      expect(headers.get('vary')).to.match(/x-calendar-min-version/i);
      expect(headers.get('access-control-expose-headers')).to.match(/x-calendar-version/i);
    }
  });

  it('belongs to answers that are the same through all: bytes, ETag and date', async () => {
    const made = await lead().ask('/events', { json: EVENT });
    await follower().ask('/events', { atLeast: made.version });
    for (const path of [
      `/events/${made.body.id}`,
      '/events?start_date=2027-01-01',
      `/events/by-slug/${made.body.slug}`,
      '/tags',
    ]) {
      const [one, other] = await Promise.all(gateways.map((gateway) => gateway.ask(path)));
      expect([one!.status, other!.status], path).to.deep.equal([200, 200]);
      expect(other!.body, path).to.deep.equal(one!.body);
      expect(one!.headers.get('etag'), path).to.match(/".+"/);
      for (const name of ['etag', 'last-modified'])
        expect(other!.headers.get(name), `${name} of ${path}`).to.equal(one!.headers.get(name));
    }
  });

  it('undoes no write with an answer of the CMS that is older', async () => {
    const made = await lead().ask('/events', { json: EVENT });
    const { id } = made.body;
    await follower().ask(`/events/${id}`, { atLeast: made.version });
    // The answer to a write through the one is on its way while the other writes the same event.
    const slow = follower();
    const { isHeld, letGo } = holdNext(slow.link, 'after', 'update');
    const first = slow.ask(`/events/${id}`, { json: { title: 'Older' } });
    await until(isHeld, 'the answer is on its way');
    const second = await lead().ask(`/events/${id}`, { json: { title: 'Newer' } });
    await until(() => (slow.replica.get('event', id) as { title: string }).title === 'Newer', 'the newer');
    letGo();
    const { version } = await first;
    for (const gateway of gateways)
      for (const atLeast of [version, second.version]) {
        const read = await gateway.ask(`/events/${id}`, { atLeast });
        expect(read.body.title).to.equal('Newer');
      }
  });

  it('loses no write that the CMS accepted after another whose answer was quicker', async () => {
    const made = await lead().ask('/events', { json: EVENT });
    const { id } = made.body;
    const slow = follower();
    await slow.ask(`/events/${id}`, { atLeast: made.version });
    const { isHeld, letGo } = holdNext(slow.link, 'before', 'update');
    const second = slow.ask(`/events/${id}`, { json: { title: 'Second' } });
    await until(isHeld, 'the request is on its way');
    await lead().ask(`/events/${id}`, { json: { title: 'First' } });
    await until(() => (slow.replica.get('event', id) as { title: string }).title === 'First', 'the first');
    letGo();
    const { version } = await second;
    for (const gateway of gateways) {
      const read = await gateway.ask(`/events/${id}`, { atLeast: version });
      expect(read.body.title).to.equal('Second');
    }
  });
});
