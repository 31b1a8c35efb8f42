// Shows how often anonymous callers make the gateway ask the CMS for records that the replica lacks, and which answers they get.

import { expect } from 'chai';
import { createUnknown, type Unknown } from '../../src/calendar/unknown.ts';
import { ANONYMOUS, type Caller } from '../../src/calendar/visibility.ts';
import { UpstreamAway } from '../../src/errors.ts';
import type { Kind } from '../../src/records.ts';
import type { Native, Upstream } from '../../src/upstream/port.ts';
import { type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';
import { AS, fakeCms } from './fake-cms.ts';

const EDITOR: Caller = {
  credentials: 'Basic x',
  account: { userId: 4, roles: ['editor'], capabilities: new Set(['edit_posts']) },
};
const none = async () => 'none';

describe('what the replica lacks', () => {
  let nowMs: number;
  let complete: boolean;
  let away: boolean;
  let newest: Kind[];
  let reading: Promise<void>;
  let unknown: Unknown;
  beforeEach(() => {
    [nowMs, complete, away, newest, reading] = [0, true, false, [], Promise.resolve()];
    unknown = createUnknown({
      isComplete: () => complete,
      isAway: () => away,
      readNewest(kind) {
        newest.push(kind);
        return reading;
      },
      clockMs: () => nowMs,
    });
  });

  /** How many of so many questions at one moment reach the CMS. */
  async function flood(times: number, kind: Kind = 'event'): Promise<number> {
    let asked = 0;
    const question = async () => {
      asked += 1;
    };
    await Promise.all(Array.from({ length: times }, () => unknown.ask(ANONYMOUS, kind, question)));
    return asked;
  }

  it('is asked for by id or slug while few callers ask', async () => {
    for (let n = 0; n < 30; n += 1) {
      expect(await unknown.ask(ANONYMOUS, 'event', none)).to.deep.equal({ answer: 'none' });
      nowMs += 1000;
    }
    expect(newest).to.deep.equal([]);
  });

  it('costs the CMS one call a second for all anonymous callers together, after a burst of ten', async () => {
    let calls = await flood(1000);
    for (let second = 0; second < 20; second += 1) {
      nowMs += 1000;
      calls += await flood(90);
    }
    expect(calls + newest.length).to.be.at.most(10 + 20);
    expect(newest.length).to.be.at.least(18);
  });

  it('is not left to the callers of one kind alone: the newest of each kind are read in turn', async () => {
    await flood(20, 'tag');
    for (let second = 0; second < 6; second += 1) {
      nowMs += 1000;
      await Promise.all([flood(90, 'tag'), flood(1, 'event'), flood(1, 'venue')]);
    }
    expect(new Set(newest.slice(-3))).to.deep.equal(new Set(['tag', 'event', 'venue']));
  });

  it('is answered when the newest records are there, by one look for all who wait', async () => {
    await flood(20);
    newest = [];
    nowMs += 1000;
    const look = Promise.withResolvers<void>();
    reading = look.promise;
    let answered = 0;
    const asks = [1, 2, 3].map(() => unknown.ask(ANONYMOUS, 'event', none).then(() => (answered += 1)));
    await new Promise(setImmediate);
    expect([newest.length, answered]).to.deep.equal([1, 0]);
    look.resolve();
    await Promise.all(asks);
    expect(newest).to.deep.equal(['event']);
  });

  it('is never asked for less of authenticated callers', async () => {
    await flood(100);
    for (let n = 0; n < 100; n += 1) expect(await unknown.ask(EDITOR, 'event', none)).to.deep.equal({ answer: 'none' });
  });

  it('is asked of the CMS by everybody until the replica is complete', async () => {
    complete = false;
    expect(await flood(100)).to.equal(100);
  });

  it('is not said to be missing because the CMS is unreachable', async () => {
    await flood(100);
    away = true;
    const told = await unknown.ask(ANONYMOUS, 'event', none).catch((error: unknown) => error);
    expect(told).to.be.instanceOf(UpstreamAway);
  });

  it('is answered from the replica when the lane of anonymous callers is full, and only then', async () => {
    const fails = (reason: 'busy' | 'timeout') =>
      unknown
        .ask(ANONYMOUS, 'event', async () => {
          throw new UpstreamAway(reason, 'No.');
        })
        .catch((error: unknown) => error);
    expect(await fails('busy')).to.equal(undefined);
    expect(await fails('timeout')).to.be.instanceOf(UpstreamAway);
  });

  it('is remembered as missing for five seconds, in a bounded memory', () => {
    for (let id = 0; id < 100_000; id += 1) unknown.missing(`event ${id}`);
    expect(unknown.isMissing('event 0')).to.equal(false);
    expect(unknown.isMissing('event 99999')).to.equal(true);
  });
});

describe('a flood of requests for unknown records', () => {
  const { now } = performance;
  let gateway: GatewayUnderTest;
  let calls: string[];
  let stored: Map<number, Native & { base: string }>;
  beforeEach(async () => {
    const cms = fakeCms(() => Date.now());
    stored = cms.stored;
    calls = [];
    const counted = (name: string, call: (...all: never[]) => Promise<unknown>) =>
      function counting(...all: unknown[]) {
        calls.push(`${name} ${String(all[0])}`);
        return (call as (...all: unknown[]) => Promise<unknown>)(...all);
      };
    const upstream = Object.fromEntries(
      Object.entries(cms).map(([name, value]) => [name, typeof value === 'function' ? counted(name, value) : value]),
    ) as unknown as Upstream;
    gateway = await gatewayUnderTest({ upstream, service: AS.admin, as: AS });
    calls.length = 0;
    // No time passes in the flood.
    const stands = now.call(performance);
    performance.now = () => stands;
  });
  afterEach(async () => {
    performance.now = now;
    await gateway.close();
  });

  const body = (id: number) => ({ json: { venue: id, title: 'x', start_date: '2030-01-01', end_date: '2030-01-02' } });
  const asks: Record<string, (n: number) => ReturnType<GatewayUnderTest['ask']>> = {
    'events by id': (n) => gateway.ask(`/events/${9_000_000 + n}`),
    'venues by id': (n) => gateway.ask(`/venues/${9_000_000 + n}`),
    'organizers by id': (n) => gateway.ask(`/organizers/${9_000_000 + n}`),
    'categories by id': (n) => gateway.ask(`/categories/${9_000_000 + n}`),
    'tags by id': (n) => gateway.ask(`/tags/${9_000_000 + n}`),
    'events by slug': (n) => gateway.ask(`/events/by-slug/none-${n}`),
    'venues by slug': (n) => gateway.ask(`/venues/by-slug/none-${n}`),
    'events of venues': (n) => gateway.ask(`/events?venue=${9_000_000 + n}`),
    'events of organizers': (n) => gateway.ask(`/events?organizer=${9_000_000 + n}`),
    'events below events': (n) => gateway.ask(`/events?post_parent=${9_000_000 + n}`),
    'events of categories': (n) => gateway.ask(`/events?categories=${9_000_000 + n}`),
    'events of tags': (n) => gateway.ask(`/events?tags=${9_000_000 + n}`),
    'venues of events': (n) => gateway.ask(`/venues?event=${9_000_000 + n}`),
    'terms of posts': (n) => gateway.ask(`/tags?post=${9_000_000 + n}`),
    'categories by their parent': (n) => gateway.ask(`/categories?parent=${9_000_000 + n}`),
    'events that are to be made': (n) => gateway.ask('/events', body(9_000_000 + n)),
    'images of events that are to be made': (n) => gateway.ask('/events', { json: { image: String(9_000_000 + n) } }),
    'events that are to be deleted': (n) => gateway.ask(`/events/${9_000_000 + n}`, { method: 'DELETE' }),
  };
  for (const [what, ask] of Object.entries(asks)) {
    it(`costs the CMS ten calls and one a second: ${what}`, async () => {
      for (let n = 0; n < 60; n += 1) expect((await ask(n)).status).to.be.oneOf([400, 401, 404]);
      expect(calls.length).to.be.at.most(11);
    });
  }

  it('does not hide a record that was made in the CMS a moment ago', async () => {
    const as = AS.admin;
    const made = await gateway.ask('/events', { as: 'admin', ...body(0), json: { ...body(0).json, venue: [] } });
    expect([as, made.status]).to.deep.equal([as, 201]);
    const native = stored.get(made.body.id)!;
    const secondMs = performance.now() + 1000;
    for (let n = 0; n < 60; n += 1) await gateway.ask(`/events/${9_000_000 + n}`);
    performance.now = () => secondMs;
    stored.set(8_000_000, { ...native, id: 8_000_000, slug: 'just-made' });
    expect((await gateway.ask('/events/8000000')).status).to.equal(200);
  });

  it('does not keep authenticated callers from asking the CMS', async () => {
    for (let n = 0; n < 60; n += 1) await gateway.ask(`/events/${9_000_000 + n}`);
    calls.length = 0;
    expect((await gateway.ask('/events/7000000', { as: 'editor' })).status).to.equal(404);
    expect(calls).to.include('read events');
    calls.length = 0;
    expect((await gateway.ask('/events/7000000', { as: 'editor' })).status).to.equal(404);
    expect(calls).not.to.include('read events');
  });
});

describe('an unknown record while the CMS is away', () => {
  it('gets 503 if the caller may ask the CMS, and is not remembered as missing', async () => {
    let away = true;
    const cms = fakeCms(() => Date.now());
    const { read, list } = cms;
    cms.read = async (base, id, query, options) => {
      if (away && base !== 'users') throw new UpstreamAway('timeout', 'No.');
      return read(base, id, query, options);
    };
    const gateway = await gatewayUnderTest({ upstream: cms, service: AS.admin, as: AS });
    try {
      cms.list = async (base, query, options) => {
        if (away) throw new UpstreamAway('timeout', 'No.');
        return list(base, query, options);
      };
      const paths = ['/events/12', '/venues/12', '/events?venue=12', '/events?tags=12', '/venues/by-slug/none'];
      for (const path of paths) expect((await gateway.ask(path, { as: 'editor' })).status, path).to.equal(503);
      away = false;
      for (const path of paths)
        expect((await gateway.ask(path, { as: 'editor' })).status, path).to.be.oneOf([400, 404]);
    } finally {
      await gateway.close();
    }
  });
});
