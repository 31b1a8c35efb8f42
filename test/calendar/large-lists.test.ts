// A list of large records is built in several turns of the event loop, and shows one state all the same.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import type { FakeCms } from '../cms/fake-cms.ts';
import type { TestGateway } from '../start-gateway.ts';
import { remove, upsert } from '../store/changes.ts';
import { organizer, venue } from '../store/sample-records.ts';
import { on } from './list-fixture.ts';
import { seededGateway } from './seeded-gateway.ts';

const COUNT = 60;
const description = 'x'.repeat(100_000);

describe('a list of large records', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    const ids = Array.from({ length: COUNT }, (_, n) => n + 1);
    const organizers = ids.map((n) => organizer(1000 + n, { description }));
    gateway = await seededGateway([...ids.map((id) => on(id, { description })), ...organizers], { maxPerPage: 500 });
  });
  afterEach(() => gateway.stop());

  /** The response, and how many turns of the event loop began before it; `change` runs in the third. */
  async function turnsDuring(path: string, change = () => {}, as?: 'admin') {
    let turns = 0;
    let isOver = false;
    const response = gateway.request(path, { ...(as && { as }) }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await nextTurn();
      turns += 1;
      if (turns === 3) change();
    }
    return { turns, body: (await response).body };
  }

  for (const collection of ['events', 'organizers'])
    for (const as of [undefined, 'admin'] as const)
      it(`lets other requests run while it is built: ${collection} for ${as ?? 'the public'}`, async () => {
        const path = `/${collection}?per_page=500`;
        const built = await turnsDuring(path, undefined, as);
        expect(built.body[collection]).to.have.length(COUNT);
        const small = await turnsDuring(`/${collection}?per_page=1`, undefined, as);
        // A turn has about six records of this size.
        expect(built.turns).to.be.above(small.turns + COUNT / 8);
      });

  it('shows one state if the replica changes as soon as the page is found', async () => {
    const { db } = gateway.replica;
    const numbers = db.numbers.bind(db);
    db.numbers = (query) => {
      const found = numbers(query);
      if (found.includes(2)) {
        db.numbers = numbers;
        queueMicrotask(() => remove(gateway.replica, 'event', [2]));
      }
      return found;
    };
    const { body } = await gateway.request('/events?per_page=500');
    expect(body.events).to.have.length(COUNT - 1);
    expect(body.total).to.equal(COUNT - 1);
  });

  for (const as of [undefined, 'admin'] as const)
    it(`shows ${as ?? 'the public'} one state if the replica changes meanwhile`, async () => {
      const change = () => {
        upsert(gateway.replica, [on(1, { description: 'new' }), on(COUNT, { description: 'new' }), on(999)]);
        remove(gateway.replica, 'event', [2]);
      };
      const { body } = await turnsDuring('/events?per_page=500', change, as);
      const descriptions = new Map(body.events.map(({ id, description: text }: never) => [id, text]));
      expect(body.total).to.equal(COUNT);
      expect(body.events).to.have.length(COUNT);
      expect(descriptions.has(2)).to.equal(false);
      expect(descriptions.has(999)).to.equal(true);
      for (const id of [1, COUNT]) expect(descriptions.get(id)).to.equal('new');
    });
});

describe('a list of 120 drafts with an image each', () => {
  it('shows every image to their editor, in calls of at most a hundred', async () => {
    const ids = Array.from({ length: 120 }, (_, n) => n + 1);
    const drafts = ids.map((id) => on(1, { id, status: 'draft', image: 1000 + id }));
    const gateway = await seededGateway(drafts, { maxPerPage: 500 });
    const cms = gateway.cms as FakeCms;
    for (const id of ids) cms.media.set(1000 + id, { ...cms.createMedia(), id: 1000 + id });
    const { body } = await gateway.request('/events?per_page=500&status=draft', { as: 'admin' });
    const shown = body.events.map(({ image }: { image: { id: number } }) => image.id);
    expect(shown.toSorted((a: number, b: number) => a - b)).to.deep.equal(ids.map((id) => 1000 + id));
    const calls = cms.requests.flatMap(({ base, ids: asked }) => (base === 'media' && asked ? [asked.length] : []));
    expect(calls).to.deep.equal([100, 20]);
    await gateway.stop();
  });
});

describe('a list for staff', () => {
  for (const [collection, records] of [
    ['events', [on(1, { image: 2001 }), on(2)]],
    ['venues', [venue(1, { image: 2001 }), venue(2)]],
  ] as const)
    it(`belongs to one state if a record goes while the CMS is asked for images: ${collection}`, async () => {
      const gateway = await seededGateway([...records]);
      const cms = gateway.cms as FakeCms;
      cms.images = async () => {
        remove(gateway.replica, records[1].kind, [2]);
        return [];
      };
      const { body } = await gateway.request(`/${collection}`, { as: 'admin' });
      expect([body.total, body[collection].map(({ id }: { id: number }) => id)]).to.deep.equal([1, [1]]);
      await gateway.stop();
    });
});

describe('a list beyond 8 MB', () => {
  const ids = Array.from({ length: 50 }, (_, n) => n + 1);
  const text = 'long '.repeat(19_600);
  let gateway: TestGateway;
  beforeEach(async () => {
    const venues = ids.slice(0, 25).map((n) => venue(1000 + n, { description: text }));
    const shown = { description: text, venues: venues.map(({ id }) => id) };
    gateway = await seededGateway([
      ...ids.map((id) => on((id % 28) + 1, { ...shown, id, title: `Event ${id}.` })),
      ...venues,
    ]);
  });
  afterEach(() => gateway.stop());

  for (const as of [undefined, 'admin'] as const)
    it(`is 400 and names per_page for ${as ?? 'the public'}`, async () => {
      const { status, body } = await gateway.request('/events?per_page=50', { ...(as && { as }) });
      expect([status, body.code]).to.deep.equal([400, 'calendar_list_too_large']);
      expect(body.data.params).to.have.all.keys('per_page');
      const fewer = await gateway.request('/events?per_page=4', { ...(as && { as }) });
      expect(fewer.body.events).to.have.length(4);
    });

  it('leaves out the venues of an event that are beyond a million characters', async () => {
    const { bytes, body } = await gateway.request('/events/1');
    expect(body.venue.map(({ id }: { id: number }) => id)).to.deep.equal(ids.slice(0, 10).map((n) => 1000 + n));
    expect(bytes.length).to.be.below(1_300_000);
  });

  it('is complete as a calendar file, which shows a part of each text', async () => {
    const { status, text: file } = await gateway.request('/events.ics');
    expect([status, file.match(/BEGIN:VEVENT/g)?.length]).to.deep.equal([200, 50]);
  });
});

describe('the form of a large list', () => {
  const { parse } = JSON;
  let gateway: TestGateway;
  /** The characters of each text that was parsed as JSON. */
  let parsed: number[];
  const events = Array.from({ length: 40 }, (_, n) =>
    on(Math.floor(n / 2) + 1, { id: n + 1, title: `Event ${n + 1}.`, description: 'x'.repeat(100_000) }),
  );
  beforeEach(async () => {
    gateway = await seededGateway(events);
    parsed = [];
  });
  afterEach(() => {
    JSON.parse = parse;
    return gateway.stop();
  });

  async function form(query: string) {
    await gateway.request('/events?per_page=40');
    JSON.parse = (json: string, ...more) => {
      parsed.push(json.length);
      return parse(json, ...more);
    };
    const response = await gateway.request(`/events?per_page=40&${query}`);
    JSON.parse = parse;
    // The client of the test parses the response.
    parsed = parsed.filter((length) => length !== response.text.length);
    return response;
  }

  it('_fields=total parses no event', async () => {
    expect((await form('_fields=total')).body).to.deep.equal({ total: 40 });
    expect(parsed).to.deep.equal([]);
  });

  it('_fields selects parts of events by their place', async () => {
    const { body } = await form('_fields=total,events.1.id,events.39.title,events.50.id');
    expect(body).to.deep.equal({ events: [{ id: 2 }, { title: 'Event 40.' }], total: 40 });
    expect((await form('_fields=events')).body.events).to.have.length(40);
  });

  it('_envelope parses no event', async () => {
    expect((await form('_envelope=1')).body.body.events).to.have.length(40);
    expect(parsed).to.deep.equal([]);
  });

  it('counts in the rate limit what was built, not what was sent', async () => {
    await gateway.stop();
    // 4 MB in 8 times half a MiB, and a second request.
    gateway = await seededGateway(events, { limits: { requestsPerMinute: 9 } });
    expect((await gateway.request('/events?per_page=40&_fields=total')).status).to.equal(200);
    expect((await gateway.request('/events?per_page=1')).status).to.equal(200);
    expect((await gateway.request('/events?per_page=2')).status).to.equal(429);
  });
});
