// What an answer says about keeping it, and what becomes of those who have it already: tags, dates, purge names, compressed forms.

import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import { expect } from 'chai';
import { AS, fakeCms } from '../calendar/fake-cms.ts';
import { filledGateway, NOW_MS } from '../calendar/filled-gateway.ts';
import { type Answered, type GatewayUnderTest, gatewayUnderTest, type Request } from '../gateway-under-test.ts';
import { event, image, organizer, term, venue } from '../replica/samples.ts';

const times = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' };
const DRESSED = { ...times, venues: [6], organizers: [7, 8], categories: [3], tags: [4], image: 9 };
const NOW = 'Sat, 21 Nov 2026 02:42:00 GMT';
/** `modifiedUtc` of the records: 2026-01-01 09:00:00. */
const MODIFIED = 'Thu, 01 Jan 2026 09:00:00 GMT';

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

describe('caching', () => {
  let gateway: GatewayUnderTest;
  beforeEach(async () => {
    gateway = await filledGateway(RECORDS, { images: [image(9)] });
  });
  afterEach(() => gateway.close());

  const ask = (path: string, headers: Record<string, string> = {}, request: Request = {}): Promise<Answered> =>
    gateway.ask(path, { ...request, headers });
  const touch = (modifiedUtc: string) =>
    gateway.backing.replica.put([event(1, { ...times, title: 'Another', modifiedUtc })]);

  const EVERYTHING = ['', '/doc', '/events', '/events/1', '/events/by-slug/event-1', '/venues', '/venues/6'];
  EVERYTHING.push('/organizers', '/organizers/by-slug/organizer-7', '/categories', '/categories/3', '/tags', '/tags/4');

  describe('ETag and If-None-Match', () => {
    for (const path of EVERYTHING) {
      it(`304 without a body for who has the answer of ${path || 'the root'}`, async () => {
        const { status, headers } = await ask(path);
        expect(status).to.equal(200);
        expect(headers.etag).to.match(/^W\/"[\w-]{16}"$/);
        const again = await ask(path, { 'if-none-match': headers.etag! });
        expect(again.status).to.equal(304);
        expect(again.text).to.equal('');
        // What a 304 must repeat (RFC 9110, 15.4.5).
        for (const name of ['etag', 'cache-control', 'vary']) expect(again.headers[name]).to.equal(headers[name]);
        expect(again.headers).to.not.have.any.keys('content-length', 'content-type', 'content-encoding');
      });
    }

    it('compares weakly, in a list of tags too, and * is any', async () => {
      const { etag } = (await ask('/events')).headers as { etag: string };
      const bare = etag.slice(2);
      for (const tags of [bare, `"other", ${bare}`, `W/"other",${etag}`, '*'])
        expect((await ask('/events', { 'if-none-match': tags })).status, tags).to.equal(304);
      for (const tags of ['"other"', 'W/"other"', bare.slice(1, -1), ''])
        expect((await ask('/events', { 'if-none-match': tags })).status, tags).to.equal(200);
    });

    it('holds for HEAD', async () => {
      const { etag } = (await ask('/events/1')).headers as { etag: string };
      expect((await ask('/events/1', { 'if-none-match': etag }, { method: 'HEAD' })).status).to.equal(304);
    });

    it('is another one once the record, or what a list shows of it, has changed', async () => {
      for (const path of ['/events/1', '/events']) {
        const before = (await ask(path)).headers.etag!;
        touch(path === '/events' ? '2026-03-01 09:00:00' : '2026-02-01 09:00:00');
        const put = gateway.backing.replica.put([event(1, { ...times, title: `Title at ${path}` })]);
        expect(put).to.equal(1);
        const after = await ask(path, { 'if-none-match': before });
        expect(after.status).to.equal(200);
        expect(after.headers.etag).to.not.equal(before);
      }
    });

    it('is another one once something inside it has changed', async () => {
      const changes = [
        venue(6, { title: 'Moved' }),
        organizer(7, { title: 'Renamed' }),
        organizer(8),
        term('category', 3, { name: 'Renamed' }),
        term('tag', 4, { name: 'Renamed' }),
      ];
      let last = (await ask('/events/2')).headers.etag!;
      for (const changed of changes) {
        gateway.backing.replica.put([changed]);
        const { status, headers } = await ask('/events/2', { 'if-none-match': last });
        expect({ status, changed: changed.kind }).to.deep.equal({ status: 200, changed: changed.kind });
        last = headers.etag!;
      }
      expect((await ask('/events/2', { 'if-none-match': last })).status).to.equal(304);
    });

    it('two questions with one answer share it, and two addresses do not', async () => {
      const [id, slug] = [await ask('/events/1'), await ask('/events/by-slug/event-1')];
      expect(slug.headers.etag).to.equal(id.headers.etag);
      expect((await ask('/events')).headers.etag).to.not.equal((await ask('/events?per_page=2')).headers.etag);
    });
  });

  describe('Last-Modified and If-Modified-Since', () => {
    it("is the record's own date where nothing else is shown", async () => {
      for (const path of ['/events/1', '/venues/6', '/organizers/7'])
        expect((await ask(path)).headers['last-modified'], path).to.equal(MODIFIED);
    });

    it('is the moment of making where something is shown that bears no date or can be taken away', async () => {
      expect((await ask('/events/2')).headers['last-modified']).to.equal(NOW);
    });

    it('does not move with a change of what the answer does not show, and moves with one of what it does', async () => {
      let nowMs = NOW_MS;
      const moving = await gatewayUnderTest({
        ...{ upstream: fakeCms(() => nowMs), service: AS.admin, as: AS, nowMs: () => nowMs },
      });
      const { replica } = moving.backing;
      try {
        replica.put(RECORDS, [image(9)]);
        const date = async () => (await moving.ask('/events/2')).headers['last-modified'];
        expect(await date()).to.equal(NOW);
        nowMs += 60_000;
        replica.put([organizer(8, { status: 'draft', title: 'Renamed unseen' })]);
        expect(await date()).to.equal(NOW);
        replica.put([organizer(7, { title: 'Renamed' })]);
        expect(await date()).to.equal('Sat, 21 Nov 2026 02:43:00 GMT');
      } finally {
        await moving.close();
      }
    });

    it('is not later than the answer itself (RFC 9110, 8.8.2.1)', async () => {
      touch('2031-01-01 00:00:00');
      expect((await ask('/events/1')).headers['last-modified']).to.equal(NOW);
    });

    it('is not said of lists, which records leave without a date, nor of terms', async () => {
      for (const path of ['/events', '/venues', '/categories', '/tags/4'])
        expect((await ask(path)).headers, path).to.not.have.property('last-modified');
    });

    it('304 for that date and later ones, the answer for earlier ones', async () => {
      const answered: Record<string, number> = {
        [MODIFIED]: 304,
        'Thu, 01 Jan 2026 09:00:01 GMT': 304,
        'Thu, 01 Jan 2026 08:59:59 GMT': 200,
        'Thursday, 01-Jan-26 09:00:00 GMT': 304,
      };
      for (const [since, status] of Object.entries(answered)) {
        expect((await ask('/events/1', { 'if-modified-since': since })).status, since).to.equal(status);
        const head = await ask('/events/1', { 'if-modified-since': since }, { method: 'HEAD' });
        expect(head.status, `HEAD ${since}`).to.equal(status);
      }
      touch('2026-01-01 09:00:01');
      expect((await ask('/events/1', { 'if-modified-since': MODIFIED })).status).to.equal(200);
    });

    it('what is no date of HTTP, or sent to an answer without one, is passed over (13.1.3)', async () => {
      for (const since of ['2027-01-01', 'tomorrow', '', '1', `${MODIFIED}, ${MODIFIED}`])
        expect((await ask('/events/1', { 'if-modified-since': since })).status, since).to.equal(200);
      expect((await ask('/events', { 'if-modified-since': NOW })).status).to.equal(200);
    });

    it('a tag that is sent decides alone (13.2.2)', async () => {
      const { etag } = (await ask('/events/1')).headers as { etag: string };
      const OLD = 'Thu, 01 Jan 1998 00:00:00 GMT';
      const both = (tag: string, since: string) => ({ 'if-none-match': tag, 'if-modified-since': since });
      expect((await ask('/events/1', both('"other"', MODIFIED))).status).to.equal(200);
      expect((await ask('/events/1', both(etag, OLD))).status).to.equal(304);
    });

    it('a category that is renamed shows to who knows only the date', async () => {
      let nowMs = NOW_MS;
      const upstream = fakeCms(() => nowMs);
      const later = await gatewayUnderTest({ upstream, service: AS.admin, as: AS, nowMs: () => nowMs });
      try {
        later.backing.replica.put([event(2, { ...times, categories: [3] }), term('category', 3)]);
        const since = { 'if-modified-since': (await later.ask('/events/2')).headers['last-modified']! };
        nowMs += 60_000;
        expect((await later.ask('/events/2', { headers: since })).status).to.equal(304);
        later.backing.replica.put([term('category', 3, { name: 'Renamed' })]);
        expect((await later.ask('/events/2', { headers: since })).body.categories[0].name).to.equal('Renamed');
        expect((await later.ask('/events/2')).headers['last-modified']).to.equal('Sat, 21 Nov 2026 02:43:00 GMT');
      } finally {
        await later.close();
      }
    });
  });

  describe('Cache-Control and Vary', () => {
    it('lets everybody keep a public answer for a short while, and a little longer while it is made anew', async () => {
      for (const path of EVERYTHING)
        expect((await ask(path)).headers['cache-control'], path).to.equal(
          'public, max-age=5, stale-while-revalidate=30',
        );
    });

    it('as the operator wants it', async () => {
      const parts = { upstream: fakeCms(() => NOW_MS), service: AS.admin, nowMs: () => NOW_MS };
      const other = await gatewayUnderTest({ ...parts, cache: { maxAgeS: 60, staleWhileRevalidateS: 600 } });
      try {
        other.backing.replica.put([event(1, times)]);
        for (const path of ['/events', '/events/1'])
          expect((await other.ask(path)).headers['cache-control']).to.equal(
            'public, max-age=60, stale-while-revalidate=600',
          );
      } finally {
        await other.close();
      }
    });

    it('what was told to one caller, a refusal or a write is kept by nobody, and bears no tag', async () => {
      const answers = [
        await ask('/events', {}, { as: 'editor' }),
        await ask('/events?status=draft', {}, { as: 'editor' }),
        await ask('/events/1', {}, { as: 'subscriber' }),
        await ask('/events/5'),
        await ask('/events/999'),
        await ask('/events?page=0'),
        await ask('/events', {}, { json: {} }),
        await ask('/categories', {}, { as: 'admin', json: { name: 'New' } }),
      ];
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 403, 404, 400, 400, 201]);
      for (const { headers } of answers) {
        expect(headers['cache-control']).to.equal('no-cache, must-revalidate, max-age=0, no-store, private');
        expect(headers).to.not.have.any.keys('etag', 'last-modified', 'surrogate-key', 'cache-tag');
      }
    });

    it('names the request headers that an answer depends on, whatever it is', async () => {
      for (const path of [...EVERYTHING, '/events/999', '/nowhere'])
        for (const request of [{}, { as: 'editor' }]) {
          const { vary } = (await ask(path, {}, request)).headers;
          const named = vary!.split(',').map((name) => name.trim().toLowerCase());
          expect(named, path).to.include.members(['origin', 'authorization', 'accept-encoding']);
        }
    });
  });

  describe('Surrogate-Key and Cache-Tag', () => {
    const tagsOf = async (path: string): Promise<string[]> => {
      const { headers } = await ask(path);
      const keys = headers['surrogate-key']!.split(' ');
      expect(headers['cache-tag']!.split(',')).to.deep.equal(keys);
      return keys.toSorted();
    };

    it('name the record, and all that is shown inside it and nothing that is not', async () => {
      expect(await tagsOf('/events/1')).to.deep.equal(['event-1']);
      const all = ['category-3', 'event-2', 'organizer-7', 'tag-4', 'venue-6'];
      expect(await tagsOf('/events/2')).to.deep.equal(all);
      expect(await tagsOf('/events/by-slug/event-2')).to.deep.equal(all);
      for (const [path, tag] of Object.entries({ '/venues/6': 'venue-6', '/tags/4': 'tag-4' }))
        expect(await tagsOf(path)).to.deep.equal([tag]);
    });

    it('name what a list shows, each once, and the kind, for records that come to it', async () => {
      expect(await tagsOf('/events')).to.deep.equal(
        ['category-3', 'event-1', 'event-2', 'events', 'organizer-7', 'tag-4', 'venue-6'].toSorted(),
      );
      expect(await tagsOf('/events?per_page=1&page=2')).to.include.members(['events']);
      expect(await tagsOf('/events?search=nothing')).to.deep.equal(['events']);
      expect(await tagsOf('/venues')).to.deep.equal(['venue-6', 'venues']);
      expect(await tagsOf('/organizers')).to.deep.equal(['organizer-7', 'organizers']);
      expect(await tagsOf('/categories')).to.deep.equal(['categories', 'category-3']);
    });

    it('come with a 304 as well', async () => {
      const { headers } = await ask('/events/2');
      const known = await ask('/events/2', { 'if-none-match': headers.etag! });
      expect(known.headers['cache-tag']).to.equal(headers['cache-tag']);
    });
  });

  describe('compressed forms', () => {
    const UNPACK: Record<string, (bytes: Buffer) => Buffer> = {
      ...{ gzip: gunzipSync, br: brotliDecompressSync, zstd: zstdDecompressSync },
    };
    const LONG = '/events/2';

    beforeEach(() => {
      const description = '<p>Longer than a letter, and quick to say again.</p>'.repeat(60);
      gateway.backing.replica.put([event(2, { ...DRESSED, description })]);
    });

    /** The form that a caller gets once it is there: the first to want one is not kept waiting for it. */
    async function settled(accepted: string, path = LONG): Promise<Answered> {
      for (let tries = 0; tries < 100; tries += 1) {
        const answer = await ask(path, { 'accept-encoding': accepted });
        if (answer.headers['content-encoding'] !== undefined) return answer;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      throw new Error(`no compressed form for ${accepted}`);
    }

    for (const encoding of Object.keys(UNPACK)) {
      it(`${encoding} holds the same bytes`, async () => {
        const plain = await ask(LONG);
        const { headers, bytes } = await settled(encoding);
        expect(headers['content-encoding']).to.equal(encoding);
        expect(Number(headers['content-length'])).to.equal(bytes.length);
        expect(bytes.length).to.be.below(plain.bytes.length / 2);
        expect(UNPACK[encoding]!(bytes).equals(plain.bytes)).to.equal(true);
        expect(headers.etag).to.equal(plain.headers.etag);
        expect((await ask(LONG, { 'accept-encoding': encoding, 'if-none-match': headers.etag! })).status).to.equal(304);
      });
    }

    it('is made once and sent again', async () => {
      const [first, second] = [await settled('br'), await settled('br')];
      expect(second.bytes.equals(first.bytes)).to.equal(true);
    });

    const WANTED: [accepted: string, encoding: string][] = [
      ['gzip, deflate, br, zstd', 'zstd'],
      ['gzip, deflate, br', 'br'],
      ['gzip;q=1.0, br;q=0.5', 'gzip'],
      ['zstd;q=0.1, br;q=0.9, gzip;q=0.8', 'br'],
      ['zstd;q=0, br;q=0.000, gzip', 'gzip'],
      ['GZIP', 'gzip'],
      ['gzip ; q=0.5', 'gzip'],
      ['br;q=0, *', 'zstd'],
      ['*;q=0, gzip', 'gzip'],
      ['gzip;q=0.5, identity;q=0.5', 'gzip'],
    ];
    for (const [accepted, encoding] of WANTED) {
      it(`Accept-Encoding: ${accepted}`, async () =>
        expect((await settled(accepted)).headers['content-encoding']).to.equal(encoding));
    }

    it('none where none is allowed or liked', async () => {
      for (const encoding of Object.keys(UNPACK)) await settled(encoding);
      for (const accepted of ['', 'identity', 'deflate', 'gzip;q=0', 'identity, gzip;q=0.5', 'gzip;q=0, br;q=0']) {
        const { headers, body } = await ask(LONG, { 'accept-encoding': accepted });
        expect(headers, accepted).to.not.have.property('content-encoding');
        expect(body.id).to.equal(2);
      }
      expect((await ask(LONG)).headers).to.not.have.property('content-encoding');
    });

    it('at once for who does not take the plain form, however short it is', async () => {
      for (const [path, accepted] of [
        [LONG, 'br, identity;q=0'],
        [LONG, 'gzip, *;q=0'],
        ['/tags/4', 'zstd, identity;q=0'],
      ] as const) {
        const { headers, bytes } = await ask(path, { 'accept-encoding': accepted });
        const unpack = UNPACK[headers['content-encoding'] ?? 'none']!;
        expect(JSON.parse(unpack(bytes).toString('utf8')).id, accepted).to.be.greaterThan(0);
      }
    });

    it('short answers stay as they are, and HEAD tells the length of what GET sends', async () => {
      const accepted = { 'accept-encoding': 'gzip' };
      for (let tries = 0; tries < 3; tries += 1)
        expect((await ask('/tags/4', accepted)).headers).to.not.have.property('content-encoding');
      const get = await settled('gzip');
      const head = await ask(LONG, accepted, { method: 'HEAD' });
      expect(head.text).to.equal('');
      for (const name of ['content-encoding', 'content-length', 'etag'])
        expect(head.headers[name]).to.equal(get.headers[name]);
    });
  });
});
