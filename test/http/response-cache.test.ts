// Caching of responses: validators, Cache-Control and cache tags.

import { expect } from 'chai';
import { on } from '../calendar/list-fixture.ts';
import { NOW_MS, seededGateway } from '../calendar/seeded-gateway.ts';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { type RequestOptions, startGateway, type TestGateway, type TestResponse } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { event, image, organizer, term, venue } from '../store/sample-records.ts';

const times = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' };
const DRESSED = { ...times, venues: [6], organizers: [7, 8], categories: [3], tags: [4], image: 9 };

const RECORDS = [
  event(1, times),
  event(2, DRESSED),
  event(5, { ...times, status: 'draft' }),
  venue(6),
  organizer(7),
  organizer(8, { status: 'draft' }),
  term('category', 3),
  term('tag', 4),
];

describe('concurrent requests of one public URL', () => {
  let gateway: TestGateway;
  let cms: FakeCms;
  beforeEach(async () => {
    cms = createFakeCms(Date.now);
    gateway = await startGateway({ cms });
  });
  afterEach(() => gateway.stop());

  /** The statuses of a thousand requests, each once, and how many responses were computed. */
  async function crowd(path: string): Promise<{ statuses: number[]; computed: number }> {
    const before = gateway.observations.length;
    const responses = await Promise.all(Array.from({ length: 1000 }, () => gateway.request(path)));
    const computed = gateway.observations
      .slice(before)
      .filter((each) => each.type === 'request' && (each.cache === 'miss' || each.cache === 'none'));
    return { statuses: [...new Set(responses.map(({ status }) => status))], computed: computed.length };
  }

  it('share one computation of a list', async () => {
    cms.createPost('events');
    expect(await crowd('/events')).to.deep.equal({ statuses: [200], computed: 1 });
  });

  it('cause as many CMS calls as one request, for a record that the replica lacks', async () => {
    const calls = async (send: () => Promise<unknown>) => {
      const before = cms.requests.length;
      await send();
      return cms.requests.length - before;
    };
    const alone = await calls(() => gateway.request('/events/987654322'));
    expect(await calls(() => crowd('/events/987654321')))
      .to.equal(alone)
      .and.be.above(0);
  });
});

describe('response cache', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await seededGateway(RECORDS, { images: [image(9)] });
  });
  afterEach(() => gateway.stop());

  const send = (
    path: string,
    headers: Record<string, string> = {},
    request: RequestOptions = {},
  ): Promise<TestResponse> => gateway.request(path, { ...request, headers });
  const touch = (modifiedUtc: string) =>
    upsert(gateway.services.replica, [event(1, { ...times, title: 'Another', modifiedUtc })]);

  const EVERYTHING = ['', '/doc', '/events', '/events/1', '/events/by-slug/event-1', '/venues', '/venues/6'];
  EVERYTHING.push('/organizers', '/organizers/by-slug/organizer-7', '/categories', '/categories/3', '/tags', '/tags/4');

  describe('ETag and If-None-Match', () => {
    for (const path of EVERYTHING) {
      it(`304 without a body for a matching tag of ${path || 'the root'}`, async () => {
        const { status, headers } = await send(path);
        expect(status).to.equal(200);
        expect(headers.etag).to.match(/^W\/"[\w-]{16}"$/);
        const again = await send(path, { 'if-none-match': headers.etag! });
        expect(again.status).to.equal(304);
        expect(again.text).to.equal('');
        // A 304 must repeat these (RFC 9110, 15.4.5).
        for (const name of ['etag', 'cache-control', 'vary']) expect(again.headers[name]).to.equal(headers[name]);
        expect(again.headers).to.not.have.any.keys('content-length', 'content-type', 'content-encoding');
      });
    }

    it('compares weakly, accepts lists of tags, and * matches all', async () => {
      const { etag } = (await send('/events')).headers as { etag: string };
      const bare = etag.slice(2);
      for (const tags of [bare, `"other", ${bare}`, `W/"other",${etag}`, '*'])
        expect((await send('/events', { 'if-none-match': tags })).status, tags).to.equal(304);
      for (const tags of ['"other"', 'W/"other"', bare.slice(1, -1), ''])
        expect((await send('/events', { 'if-none-match': tags })).status, tags).to.equal(200);
    });

    it('applies to HEAD', async () => {
      const { etag } = (await send('/events/1')).headers as { etag: string };
      expect((await send('/events/1', { 'if-none-match': etag }, { method: 'HEAD' })).status).to.equal(304);
    });

    it('changes with the record, and with what a list shows of it', async () => {
      for (const path of ['/events/1', '/events']) {
        const before = (await send(path)).headers.etag!;
        touch(path === '/events' ? '2026-03-01 09:00:00' : '2026-02-01 09:00:00');
        const put = upsert(gateway.services.replica, [event(1, { ...times, title: `Title at ${path}` })]);
        expect(put).to.equal(1);
        const after = await send(path, { 'if-none-match': before });
        expect(after.status).to.equal(200);
        expect(after.headers.etag).to.not.equal(before);
      }
    });

    it('changes with the linked records', async () => {
      const changes = [
        venue(6, { title: 'Moved' }),
        organizer(7, { title: 'Renamed' }),
        organizer(8),
        term('category', 3, { name: 'Renamed' }),
        term('tag', 4, { name: 'Renamed' }),
      ];
      let last = (await send('/events/2')).headers.etag!;
      for (const changed of changes) {
        upsert(gateway.services.replica, [changed]);
        const { status, headers } = await send('/events/2', { 'if-none-match': last });
        expect({ status, changed: changed.kind }).to.deep.equal({ status: 200, changed: changed.kind });
        last = headers.etag!;
      }
      expect((await send('/events/2', { 'if-none-match': last })).status).to.equal(304);
    });

    it('is the same for equal bodies, and differs between URLs in the body', async () => {
      const [id, slug] = [await send('/events/1'), await send('/events/by-slug/event-1')];
      expect(slug.headers.etag).to.equal(id.headers.etag);
      expect((await send('/events')).headers.etag).to.not.equal((await send('/events?per_page=2')).headers.etag);
    });
  });

  describe('Cache-Control and Vary', () => {
    it('allow shared caches to store public responses for a short time', async () => {
      for (const path of EVERYTHING)
        expect((await send(path)).headers['cache-control'], path).to.equal(
          'public, max-age=5, stale-while-revalidate=30',
        );
    });

    it('follow the configuration', async () => {
      const parts = { cms: createFakeCms(() => NOW_MS), service: CREDENTIALS.admin, nowMs: () => NOW_MS };
      const other = await startGateway({ ...parts, cache: { maxAgeS: 60, staleWhileRevalidateS: 600 } });
      try {
        upsert(other.services.replica, [event(1, times)]);
        for (const path of ['/events', '/events/1'])
          expect((await other.request(path)).headers['cache-control']).to.equal(
            'public, max-age=60, stale-while-revalidate=600',
          );
      } finally {
        await other.stop();
      }
    });

    it('forbid caching of private responses, errors and writes, which have no tag', async () => {
      const answers = [
        await send('/events', {}, { as: 'editor' }),
        await send('/events?status=draft', {}, { as: 'editor' }),
        await send('/events/1', {}, { as: 'subscriber' }),
        await send('/events/5'),
        await send('/events/999'),
        await send('/events?page=0'),
        await send('/events', {}, { json: {} }),
        await send('/categories', {}, { as: 'admin', json: { name: 'New' } }),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 403, 404, 400, 400, 201]);
      for (const { headers } of answers) {
        expect(headers['cache-control']).to.equal('no-cache, must-revalidate, max-age=0, no-store, private');
        expect(headers).to.not.have.any.keys('etag', 'surrogate-key', 'cache-tag');
      }
    });

    it('name the request headers that a response depends on', async () => {
      for (const path of [...EVERYTHING, '/events/999', '/nowhere'])
        for (const request of [{}, { as: 'editor' }]) {
          const { vary } = (await send(path, {}, request)).headers;
          const named = vary!.split(',').map((name) => name.trim().toLowerCase());
          expect(named, path).to.include.members(['origin', 'authorization', 'accept-encoding']);
        }
    });
  });

  describe('Surrogate-Key and Cache-Tag', () => {
    const tagsOf = async (path: string): Promise<string[]> => {
      const { headers } = await send(path);
      const keys = headers['surrogate-key']!.split(' ');
      expect(headers['cache-tag']!.split(',')).to.deep.equal(keys);
      return keys.toSorted();
    };

    it('name the record and the visible records inside it', async () => {
      expect(await tagsOf('/events/1')).to.deep.equal(['event-1']);
      const all = ['category-3', 'event-2', 'organizer-7', 'tag-4', 'venue-6'];
      expect(await tagsOf('/events/2')).to.deep.equal(all);
      expect(await tagsOf('/events/by-slug/event-2')).to.deep.equal(all);
      for (const [path, tag] of Object.entries({ '/venues/6': 'venue-6', '/tags/4': 'tag-4' }))
        expect(await tagsOf(path)).to.deep.equal([tag]);
    });

    it('name the records of a list, each once, and the collection', async () => {
      expect(await tagsOf('/events')).to.deep.equal(
        ['category-3', 'event-1', 'event-2', 'events', 'organizer-7', 'tag-4', 'venue-6'].toSorted(),
      );
      expect(await tagsOf('/events?per_page=1&page=2')).to.include.members(['events']);
      expect(await tagsOf('/events?search=nothing')).to.deep.equal(['events']);
      expect(await tagsOf('/venues')).to.deep.equal(['venue-6', 'venues']);
      expect(await tagsOf('/organizers')).to.deep.equal(['organizer-7', 'organizers']);
      expect(await tagsOf('/categories')).to.deep.equal(['categories', 'category-3']);
    });

    it('have one tag for each kind of the records beyond 300', async () => {
      const ids = Array.from({ length: 299 }, (_, n) => n + 1);
      const records = [...ids.map((id) => on(id, { venues: [1001], tags: [1002] })), venue(1001), term('tag', 1002)];
      const many = await seededGateway([...records, on(300, { venues: [1001] })], { maxPerPage: 500 });
      try {
        const keys = async (path: string) => (await many.request(path)).headers['surrogate-key']!.split(' ');
        const all = await keys('/events?per_page=500');
        expect(all[0]).to.equal('events');
        expect(all.slice(300)).to.deep.equal(['many-event', 'many-venue', 'many-tag']);
        expect((await keys('/events?per_page=290')).slice(-2)).to.deep.equal(['venue-1001', 'tag-1002']);
      } finally {
        await many.stop();
      }
    });

    it('are part of a 304', async () => {
      const { headers } = await send('/events/2');
      const known = await send('/events/2', { 'if-none-match': headers.etag! });
      expect(known.headers['cache-tag']).to.equal(headers['cache-tag']);
    });
  });
});
