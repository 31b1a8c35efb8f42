// Limits on the CMS calls that anonymous callers cause by requesting records that the replica lacks.

import { expect } from 'chai';
import { LookupLimit } from '../../src/calendar/anonymous-limits.ts';
import { type Actor, ANONYMOUS } from '../../src/calendar/request.ts';
import type { CollectionSpec } from '../../src/cms/port.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import { interceptCalls } from '../cms/cms-link.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';

const EDITOR: Actor = {
  credentials: 'Basic x',
  account: { userId: 4, roles: ['editor'], permissions: new Set(['edit']), mayUpload: false },
};
const none = async () => 'none';

describe('a record that the replica lacks', () => {
  let nowMs: number;
  let complete: boolean;
  let unknown: LookupLimit;
  beforeEach(() => {
    [nowMs, complete] = [0, true];
    unknown = new LookupLimit(
      () => complete,
      () => nowMs,
    );
  });

  /** How many of these concurrent lookups call the CMS. */
  async function flood(times: number): Promise<number> {
    let calls = 0;
    const fetch = async () => {
      calls += 1;
    };
    await Promise.all(Array.from({ length: times }, () => unknown.lookUp(ANONYMOUS, fetch)));
    return calls;
  }

  it('is looked up by id or slug while few callers request such records', async () => {
    for (let n = 0; n < 300; n += 1) {
      expect(await unknown.lookUp(ANONYMOUS, none)).to.deep.equal('none');
      nowMs += 200;
    }
  });

  it('causes five CMS calls per second for all anonymous callers together, after a burst of a hundred', async () => {
    expect(await flood(1000)).to.equal(100);
    for (let second = 0; second < 20; second += 1) {
      nowMs += 1000;
      expect(await flood(90)).to.equal(5);
    }
  });

  it('is always looked up for accounts', async () => {
    await flood(200);
    for (let n = 0; n < 100; n += 1) expect(await unknown.lookUp(EDITOR, none)).to.deep.equal('none');
  });

  it('is looked up for all callers until the replica is complete', async () => {
    complete = false;
    expect(await flood(200)).to.equal(200);
  });

  it('causes no error if the bulkhead of anonymous callers is full, but one after any other failure', async () => {
    const fails = (reason: 'busy' | 'timeout') =>
      unknown
        .lookUp(ANONYMOUS, async () => {
          throw new CmsUnavailable(reason, 'No.');
        })
        .catch((error: unknown) => error);
    expect(await fails('busy')).to.equal(undefined);
    expect(await fails('timeout')).to.be.instanceOf(CmsUnavailable);
  });
});

describe('a flood of requests for unknown records', () => {
  const { now } = performance;
  let gateway: TestGateway;
  let calls: string[];
  let cms: FakeCms;
  beforeEach(async () => {
    cms = createFakeCms(() => Date.now());
    calls = [];
    const counted = interceptCalls(cms, (name, call, [spec]) => {
      calls.push(`${name} ${(spec as CollectionSpec | undefined)?.collection ?? ''}`);
      return call();
    });
    gateway = await startGateway({ cms: counted, service: CREDENTIALS.admin, as: CREDENTIALS });
    calls.length = 0;
    // The clock is stopped.
    // A whole number: seconds are added to it, and a fraction could end up below one token.
    const stands = Math.ceil(now.call(performance));
    performance.now = () => stands;
  });
  afterEach(async () => {
    performance.now = now;
    await gateway.stop();
  });

  const body = (id: number) => ({ json: { venue: id, title: 'x', start_date: '2030-01-01', end_date: '2030-01-02' } });
  const asks: Record<string, (n: number) => ReturnType<TestGateway['request']>> = {
    'events by id': (n) => gateway.request(`/events/${9_000_000 + n}`),
    'venues by id': (n) => gateway.request(`/venues/${9_000_000 + n}`),
    'organizers by id': (n) => gateway.request(`/organizers/${9_000_000 + n}`),
    'categories by id': (n) => gateway.request(`/categories/${9_000_000 + n}`),
    'tags by id': (n) => gateway.request(`/tags/${9_000_000 + n}`),
    'events by slug': (n) => gateway.request(`/events/by-slug/none-${n}`),
    'venues by slug': (n) => gateway.request(`/venues/by-slug/none-${n}`),
    'events of venues': (n) => gateway.request(`/events?venue=${9_000_000 + n}`),
    'events of organizers': (n) => gateway.request(`/events?organizer=${9_000_000 + n}`),
    'events below events': (n) => gateway.request(`/events?post_parent=${9_000_000 + n}`),
    'events of categories': (n) => gateway.request(`/events?categories=${9_000_000 + n}`),
    'events of tags': (n) => gateway.request(`/events?tags=${9_000_000 + n}`),
    'venues of events': (n) => gateway.request(`/venues?event=${9_000_000 + n}`),
    'terms of posts': (n) => gateway.request(`/tags?post=${9_000_000 + n}`),
    'categories by their parent': (n) => gateway.request(`/categories?parent=${9_000_000 + n}`),
    'events that are to be made': (n) => gateway.request('/events', body(9_000_000 + n)),
    'images of events that are to be made': (n) =>
      gateway.request('/events', { json: { image: String(9_000_000 + n) } }),
    'events that are to be deleted': (n) => gateway.request(`/events/${9_000_000 + n}`, { method: 'DELETE' }),
  };
  for (const [what, ask] of Object.entries(asks)) {
    it(`causes at most a hundred CMS calls at once: ${what}`, async () => {
      for (let n = 0; n < 150; n += 1) expect((await ask(n)).status).to.be.oneOf([400, 401, 404]);
      expect(calls.length).to.be.at.most(100);
    });
  }

  it('with more digits than an id can have is 404 for writes too', async () => {
    for (const request of [{ method: 'DELETE' }, { method: 'PUT', json: { title: 'x' } }]) {
      const { status, body } = await gateway.request('/events/99999999999999999999', { as: 'admin', ...request });
      expect([status, body.message]).to.deep.equal([404, 'Event with ID 9223372036854775807 does not exist.']);
    }
  });

  it('does not limit CMS calls of accounts', async () => {
    for (let n = 0; n < 150; n += 1) await gateway.request(`/events/${9_000_000 + n}`);
    calls.length = 0;
    expect((await gateway.request('/events/7000000', { as: 'editor' })).status).to.equal(404);
    expect(calls).to.include('read events');
  });
});

describe('an unknown record while the CMS is unavailable', () => {
  it('is 503 for a caller who may cause a CMS call, and 404 when the CMS answers again', async () => {
    let isUnreachable = true;
    const cms = createFakeCms(() => Date.now());
    const { read, list } = cms;
    cms.read = async (...args) => {
      if (isUnreachable) throw new CmsUnavailable('timeout', 'No.');
      return read(...args);
    };
    const gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS });
    try {
      cms.list = async (...args) => {
        if (isUnreachable) throw new CmsUnavailable('timeout', 'No.');
        return list(...args);
      };
      const paths = ['/events/12', '/venues/12', '/events?venue=12', '/events?tags=12', '/venues/by-slug/none'];
      for (const path of paths) expect((await gateway.request(path, { as: 'editor' })).status, path).to.equal(503);
      isUnreachable = false;
      for (const path of paths)
        expect((await gateway.request(path, { as: 'editor' })).status, path).to.be.oneOf([400, 404]);
    } finally {
      await gateway.stop();
    }
  });
});

describe('a replica that is replaced while the CMS answers about a record', () => {
  for (const path of ['/events/777', '/events/by-slug/late'])
    it(`makes the read 503, and leaves no unhandled rejection: ${path}`, async () => {
      const cms = createFakeCms(() => Date.UTC(2027, 0, 1));
      let afterRead = () => {};
      const link = interceptCalls(cms, async (_name, call) => {
        const answer = await call();
        afterRead();
        return answer;
      });
      const gateway = await startGateway({ cms: link });
      const collection = gateway.mapping.kinds.event.collection;
      cms.createPost(collection, { id: 777, status: 'publish', title: 'Late', slug: 'late', author: 1 });
      afterRead = () => gateway.services.replica.close();
      const unhandled: unknown[] = [];
      const note = (error: unknown) => unhandled.push(error);
      process.on('unhandledRejection', note);
      expect((await gateway.request(path)).status).to.equal(503);
      await new Promise(setImmediate);
      process.off('unhandledRejection', note);
      expect(unhandled).to.deep.equal([]);
      await gateway.stop();
    });
});
