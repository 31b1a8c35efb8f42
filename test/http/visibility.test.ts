// No actor gets what another one may see, whatever the caches hold and in whatever order requests come: the whole gateway over sockets.

import { expect } from 'chai';
import fc from 'fast-check';
import {
  authorization,
  basic,
  type FakeWordPress,
  PASSWORD,
  secretOf,
  startFakeWordPress,
  USERS,
} from '../faults/fake-wordpress.ts';
import {
  type GatewayResponse,
  type HttpRequestOptions,
  type SocketGateway,
  sendRequest,
  startGateway,
} from '../start-gateway.ts';
import {
  ACCOUNTS,
  type Base,
  startVisibilityFixture,
  type VisibilityFixture,
  wordOf,
  wordsIn,
} from './visibility-fixture.ts';

const CALLERS = ['anonymous', 'wrong', ...USERS] as const;
type Caller = (typeof CALLERS)[number];

const authorizationOf = (caller: Caller): Record<string, string> =>
  caller === 'anonymous' ? {} : { authorization: caller === 'wrong' ? basic('author', 'no') : authorization(caller) };

const LISTS = ['', '?status=draft', '?status=private', '?per_page=2&page=2', '?_envelope=1', '?search=hidden'];
const BASES = ['events', 'venues', 'organizers'];
const IDS = Array.from({ length: 42 }, (_, n) => n + 1);
/** Few, so that several actors request most of them. */
const path = fc.oneof(
  fc.constantFrom('/events', '/events/1', '/events/2', '/venues'),
  fc.constantFrom(...BASES).chain((base) => fc.constantFrom(...LISTS).map((query) => `/${base}${query}`)),
  fc.constantFrom(1, 2, 3, 4, 5, 13, 14, 15, 16, 17).map((id) => `/events/${id}`),
  fc
    .constantFrom(15, 16, 17, 18, 30, 31, 32)
    .chain((id) => fc.constantFrom('venues', 'organizers').map((b) => `/${b}/${id}`)),
);

/** Request headers that change the response. */
const shape = fc.record({
  method: fc.constantFrom('GET', 'GET', 'GET', 'HEAD'),
  override: fc.constantFrom(undefined, undefined, undefined, 'OPTIONS', 'POST'),
  body: fc.constantFrom(
    undefined,
    undefined,
    undefined,
    '{"status":"draft"}',
    '{"per_page":1}',
    '{"search":"zzz"}',
    '[1',
    '',
  ),
});
/** Request headers that must not change it. */
const dressing = fc.record({
  condition: fc.constantFrom(undefined, undefined, 'last', '*', '"nothing"'),
  cacheControl: fc.constantFrom(undefined, undefined, undefined, undefined, 'no-cache', 'only-if-cached', 'max-age=0'),
  encoding: fc.constantFrom(undefined, 'gzip', 'br, zstd', 'identity'),
  origin: fc.constantFrom(undefined, 'https://one.example', 'https://two.example'),
  forwarded: fc.constantFrom(undefined, '127.0.0.1', '203.0.113.9, 127.0.0.1'),
});
const requested = fc.record({
  caller: fc.oneof(fc.constant('anonymous' as const), fc.constantFrom(...CALLERS)),
  path,
  shape,
  dressing,
});
type RandomRequest = typeof requested extends fc.Arbitrary<infer T> ? T : never;

describe('responses of the cache', () => {
  let wordpress: FakeWordPress;
  let gateway: SocketGateway;
  /** A gateway whose cache is bypassed: every request has `Cache-Control: no-cache`. */
  let forgetful: Pick<SocketGateway, 'request'>;
  let other: SocketGateway;
  const right = new Map<string, GatewayResponse>();
  let sent304 = 0;
  let unlike = 0;

  before(async () => {
    wordpress = await startFakeWordPress();
    const service = { user: 'admin', password: PASSWORD };
    gateway = await startGateway({ transport: 'socket', cmsUrl: wordpress.url.href, service });
    other = await startGateway({ transport: 'socket', cmsUrl: wordpress.url.href, service });
    forgetful = {
      request: (path, options = {}) =>
        other.request(path, { ...options, headers: { ...options.headers, 'cache-control': 'no-cache' } }),
    };
  });
  after(async () => {
    await gateway.stop();
    await other.stop();
    await wordpress.close();
  });

  function request({
    caller,
    shape: { method, override, body },
  }: RandomRequest): HttpRequestOptions & { headers: Record<string, string> } {
    const headers: Record<string, string> = { ...authorizationOf(caller) };
    // A POST would write: only actors who may not write send it.
    if (override === 'OPTIONS' || (override === 'POST' && (caller === 'anonymous' || caller === 'wrong')))
      headers['x-http-method-override'] = override;
    if (body !== undefined) headers['content-type'] = 'application/json';
    return { method, headers, ...(body === undefined ? {} : { body }) };
  }

  async function rightAnswer(item: RandomRequest): Promise<GatewayResponse> {
    const key = JSON.stringify([item.caller, item.path, item.shape]);
    const known = right.get(key) ?? (await forgetful.request(item.path, request(item)));
    right.set(key, known);
    return known;
  }

  const maySee = (caller: Caller, id: number): boolean => {
    const post = wordpress.posts.get(id)!;
    if (post.status === 'publish' || caller === 'editor' || caller === 'admin') return true;
    const writes = caller === 'contributor' || caller === 'author' || caller === 'author2';
    return writes && USERS.indexOf(caller) + 1 === post.author;
  };

  async function check(item: RandomRequest, lastTag: string | undefined): Promise<string | undefined> {
    const options = request(item);
    const { condition, cacheControl, encoding, origin, forwarded } = item.dressing;
    const tag = condition === 'last' ? lastTag : condition;
    if (tag) options.headers['if-none-match'] = tag;
    if (cacheControl) options.headers['cache-control'] = cacheControl;
    if (encoding) options.headers['accept-encoding'] = encoding;
    if (origin) options.headers.origin = origin;
    if (forwarded) options.headers['x-forwarded-for'] = forwarded;
    const expected = await rightAnswer(item);
    const got = await gateway.request(item.path, options);
    expect(got.headers['access-control-allow-origin']).to.equal(origin);
    if (item.caller !== 'anonymous') expect(got.headers['cache-control']).to.match(/no-store, private$/);
    if (got.status === 304) {
      sent304 += 1;
      expect([expected.status, item.caller]).to.deep.equal([200, 'anonymous']);
      if (tag !== '*') expect(tag).to.equal(expected.headers.etag);
      return got.headers.etag;
    }
    expect(got.status).to.equal(expected.status);
    // Descriptions contain the default date window, which moves with the clock.
    const still = ({ text }: GatewayResponse) => (item.shape.override ? text.replace(/\d\d:\d\d:\d\d/g, '') : text);
    expect(still(got)).to.equal(still(expected));
    for (const id of IDS) {
      const mark = secretOf(wordpress.posts.get(id)!);
      if (!maySee(item.caller, id)) expect(JSON.stringify([got.headers, got.text])).to.not.include(mark);
    }
    return got.headers.etag ?? lastTag;
  }

  it('equal those without a cache', async function () {
    this.timeout(120_000);
    const several = fc.array(requested, { minLength: 4, maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(several, async (order) => {
        let tag: string | undefined;
        for (const item of order) tag = await check(item, tag);
      }),
      { numRuns: 40, endOnFailure: true },
    );
    // The property must have covered cache hits, conditional requests, and actors with different responses.
    const metrics = (await gateway.admin('/metrics')).text;
    expect(metrics).to.match(/cache="(hit|stale)"/);
    expect(sent304).to.be.greaterThan(0);
    for (const base of BASES) {
      const received = new Set<string>();
      for (const caller of ['anonymous', 'contributor', 'author', 'author2', 'editor'] as const) {
        received.add((await gateway.request(`/${base}?status=draft`, { headers: authorizationOf(caller) })).text);
      }
      unlike += received.size;
    }
    expect(unlike).to.equal(15);
  });

  it('equal those without a cache for concurrent requests', async () => {
    const place = '/events';
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const caller = CALLERS[n % CALLERS.length]!;
        return { caller, text: (await gateway.request(place, { headers: authorizationOf(caller) })).text };
      }),
    );
    for (const { caller, text } of answers) {
      const expected = await forgetful.request(place, { headers: authorizationOf(caller) });
      expect(text, caller).to.equal(expected.text);
    }
  });

  for (const body of ['{"per_page":1}', '{"status":"draft"}', '{"search":"zzz"}', '{"page":2,"per_page":2}']) {
    for (const length of ['content-length', 'transfer-encoding']) {
      it(`do not depend on the body ${body} with ${length} of another request`, async () => {
        const place = `/venues?first=${encodeURIComponent(body + length)}`;
        const chunked = length === 'transfer-encoding' ? { 'transfer-encoding': 'chunked' } : {};
        const headers = { 'content-type': 'application/json', ...chunked };
        const before = await forgetful.request(place);
        const withBody = await gateway.request(place, { body, headers });
        expect(withBody.status).to.equal((await forgetful.request(place, { body, headers })).status);
        expect(withBody.text).to.not.equal(before.text);
        expect((await gateway.request(place)).text).to.equal(before.text);
        expect((await gateway.request(place, { body, headers })).text).to.equal(withBody.text);
        expect((await gateway.request(place)).text).to.equal(before.text);
      });
    }
  }

  it('are not served after the record is withdrawn', async () => {
    const mark = secretOf(wordpress.posts.get(4)!);
    expect((await gateway.request('/events/4')).text).to.include(mark);
    expect((await gateway.request('/events/4')).text).to.include(mark);
    const body = '{"status":"draft"}';
    const headers = { ...authorizationOf('editor'), 'content-type': 'application/json' };
    expect((await gateway.request('/events/4', { method: 'POST', body, headers })).status).to.equal(200);
    for (const place of ['/events/4', '/events', '/events?per_page=50']) {
      const { text } = await gateway.request(place);
      expect(text, place).to.not.include(mark);
    }
  });
});

type Json = Record<string, unknown>;

/** What single reads show one account: lists, searches and counts may show no more. */
interface Seen {
  account: string | undefined;
  headers: Record<string, string>;
  /** Records of successful single reads, by id. */
  shown: Map<number, Json>;
  /** Password-protected events: lists show them without their content. */
  locked: Set<number>;
}

const idsIn = (value: unknown): number[] =>
  [value].flat().flatMap((item) => (item && typeof item === 'object' ? [(item as { id: number }).id] : []));

for (const { title, service, part } of [
  { title: '', service: { user: 'admin', password: PASSWORD }, part: 1 / 2 },
  // Without a service account the gateway fetches private records with each actor's own credentials, which takes longer.
  { title: ' without a service account', service: undefined, part: 1 / 8 },
])
  describe(`visibility in lists, searches, filters, counts and links${title}`, () => {
    let world: VisibilityFixture;
    let gateway: SocketGateway;
    const actors: Seen[] = [];

    before(async function () {
      this.timeout(60_000);
      world = await startVisibilityFixture();
      gateway = await startGateway({ transport: 'socket', cmsUrl: world.wordpress.url.href, service });
      for (const account of [undefined, ...Object.keys(ACCOUNTS)]) actors.push(await look(account));
    });
    after(async () => {
      await gateway?.stop();
      await world?.wordpress.close();
    });

    async function look(account: string | undefined): Promise<Seen> {
      const observed: Seen = {
        account,
        headers: account ? { authorization: authorization(account) } : {},
        shown: new Map(),
        locked: new Set(),
      };
      for (const { id, base } of world.posts) {
        const { status, text } = await gateway.request(`/${base}/${id}`, { headers: observed.headers });
        const body = JSON.parse(text) as Json;
        if (status === 200) observed.shown.set(id, body);
        else if (body.code === 'event-password-protected') observed.locked.add(id);
      }
      return observed;
    }

    const shownOf = ({ shown }: Seen, base: Base): Json[] =>
      world.of(base).flatMap(({ id }) => {
        const record = shown.get(id);
        return record && record.status !== 'trash' ? [record] : [];
      });
    const idOf = (record: Json): number => record.id as number;
    const listed = (observed: Seen): Json[] =>
      shownOf(observed, 'events').filter((item) => item.hide_from_listings !== true);
    const isHidden = (id: number) => world.posts.some((post) => post.id === id && post.hidden);
    const lockedAndListed = ({ locked }: Seen): number[] => [...locked].filter((id) => !isHidden(id));

    /** Words that this account may see: those of its single reads, and title and slug of protected events. */
    function wordsFor(observed: Seen): Set<string> {
      const words = [...observed.shown.values()].flatMap((record) =>
        wordsIn(JSON.stringify(record)).map(({ word }) => word),
      );
      return new Set([...words, ...[...observed.locked].flatMap((id) => [wordOf(id, 'title'), wordOf(id, 'slug')])]);
    }

    /** Ids of all pages of a list. Checks the total, the caching headers, and that the list shows nothing that single reads hide. */
    async function list(observed: Seen, path: string): Promise<number[]> {
      const { account, headers } = observed;
      const ids: number[] = [];
      for (let page = 1; ; page += 1) {
        const reply = await gateway.request(`${path}${path.includes('?') ? '&' : '?'}per_page=50&page=${page}`, {
          headers,
        });
        expect(reply.status, `${account} ${path}`).to.equal(200);
        const allowed = allowedWords.get(observed) ?? wordsFor(observed);
        allowedWords.set(observed, allowed);
        const requested = decodeURIComponent(path);
        for (const { word } of wordsIn(reply.text + JSON.stringify(reply.headers)))
          expect(allowed.has(word) || requested.includes(word), `${account} ${path} tells ${word}`).to.equal(true);
        expect(reply.headers['cache-control'], `${account} ${path}`).to.match(
          account ? /no-store, private$/ : /^public/,
        );
        const body = JSON.parse(reply.text) as Json;
        ids.push(...idsIn(Object.values(body).find(Array.isArray)));
        if (ids.length >= (body.total as number)) {
          expect(ids.length, `${account} ${path}`).to.equal(body.total);
          expect(reply.headers['x-tec-total']).to.equal(String(body.total));
          return ids.sort((a, b) => a - b);
        }
      }
    }
    const allowedWords = new Map<Seen, Set<string>>();

    /** Runs a check for each account. */
    async function all(path: string, expected: (observed: Seen) => number[]): Promise<void> {
      for (const observed of actors) {
        const ids = [...new Set(expected(observed))].sort((a, b) => a - b);
        expect(await list(observed, path), `${observed.account} ${path}`).to.deep.equal(ids);
      }
    }

    const EVER = 'start_date=1990-01-01';
    /** The fixture has each state of an event twice. */
    const eachState = () => world.of('events').slice(0, world.of('events').length * part);
    const some = (base: Base) =>
      world.of(base).filter((_, n, all) => service !== undefined || n % 5 === 0 || n === all.length - 6);

    it('single reads show what the CMS would show, and of linked records what their own reads show', () => {
      for (const { account, shown, locked } of actors) {
        for (const post of world.posts) {
          const { id, base, status, password } = post;
          const record = shown.get(id);
          const may =
            world.maySee(account, post) && !(base === 'events' && (status === 'trash' || password !== undefined));
          expect(record !== undefined, `${account} ${status} ${base} ${id}`).to.equal(may);
          if (locked.has(id)) expect([base, world.maySee(account, post)]).to.deep.equal(['events', true]);
          for (const { word, id: owner, field } of wordsIn(JSON.stringify(record ?? {}))) {
            const from = `${account} ${status} ${base} ${id} tells ${word}`;
            if (owner === id) expect(password === undefined || field === 'slug', from).to.equal(true);
            else expect(JSON.stringify(shown.get(owner) ?? {}), from).to.include(word);
          }
        }
      }
      // The fixture must contain hidden records: a protected and a draft venue of public events.
      const inside = [...actors[0]!.shown.values()].flatMap(({ venue }) => idsIn(venue));
      expect(inside.some((id) => world.posts.find((post) => post.id === id)!.password !== undefined)).to.equal(true);
    });

    it('reads by slug show the same as reads by id', async function () {
      this.timeout(60_000);
      for (const { account, headers, shown, locked } of actors) {
        for (const { id, base, status } of world.posts) {
          const slug = `${wordOf(id, 'slug')}${status === 'trash' ? '__trashed' : ''}`;
          const reply = await gateway.request(`/${base}/by-slug/${slug}`, { headers });
          const body = JSON.parse(reply.text) as Json;
          expect(body.id, `${account} ${base} ${id}`).to.equal(shown.has(id) ? id : undefined);
          if (!shown.has(id)) expect(wordsIn(reply.text)).to.deep.equal([]);
          if (locked.has(id)) expect(body.code).to.equal('event-password-protected');
        }
      }
    });

    it('lists show what single reads do, protected events without content, and no hidden events', async () => {
      await all(`/events?${EVER}`, (observed) => [...listed(observed).map(idOf), ...lockedAndListed(observed)]);
      await all(
        '/events?include=' +
          world
            .of('events')
            .map(({ id }) => id)
            .join(','),
        (observed) => [...listed(observed).map(idOf), ...lockedAndListed(observed)],
      );
      for (const base of ['venues', 'organizers'] as const)
        await all(`/${base}`, (observed) => shownOf(observed, base).map(idOf));
    });

    it('filters of events find only by visible fields', async function () {
      this.timeout(60_000);
      for (const [name, base] of [
        ['venue', 'venues'],
        ['organizer', 'organizers'],
      ] as const) {
        for (const { id } of some(base))
          await all(`/events?${EVER}&${name}=${id}`, (observed) =>
            listed(observed)
              .filter((item) => idsIn(item[name]).includes(id))
              .map(idOf),
          );
      }
      for (const [name, ids] of [
        ['categories', [1, 2, 3, 4, 5]],
        ['tags', [6, 7, 8, 9]],
      ] as const) {
        for (const id of ids)
          await all(`/events?${EVER}&${name}=${id}`, (observed) =>
            listed(observed)
              .filter((item) => idsIn(item[name]).includes(id))
              .map(idOf),
          );
      }
      await all(`/events?${EVER}&featured=true`, (observed) =>
        listed(observed)
          .filter(({ featured }) => featured)
          .map(idOf),
      );
    });

    it('searches find only visible text: the title of a protected event, the slug of a protected venue or organizer', async function () {
      this.timeout(60_000);
      for (const { id } of eachState()) {
        await all(`/events?${EVER}&search=${wordOf(id, 'content')}`, (observed) =>
          listed(observed)
            .map(idOf)
            .filter((item) => item === id),
        );
        await all(`/events?${EVER}&search=${wordOf(id, 'title')}`, (observed) =>
          [...listed(observed).map(idOf), ...lockedAndListed(observed)].filter((item) => item === id),
        );
      }
      for (const [base, fields] of [
        ['venues', ['title', 'content', 'address', 'city', 'phone']],
        ['organizers', ['title', 'content', 'phone', 'email']],
      ] as const) {
        for (const { id, password } of some(base)) {
          for (const field of fields)
            await all(`/${base}?search=${wordOf(id, field)}`, (observed) =>
              shownOf(observed, base)
                .filter((item) => JSON.stringify(item).includes(wordOf(id, field)))
                .map(idOf),
            );
          if (password !== undefined)
            await all(`/${base}?search=${wordOf(id, 'slug')}`, (observed) =>
              shownOf(observed, base)
                .map(idOf)
                .filter((item) => item === id),
            );
        }
      }
    });

    it('venues, organizers, categories and tags of an event are those that its record shows', async function () {
      this.timeout(60_000);
      for (const { id } of eachState()) {
        for (const [path, name] of [
          ['/venues?event=', 'venue'],
          ['/organizers?event=', 'organizer'],
          ['/categories?hide_empty=0&event=', 'categories'],
          ['/tags?hide_empty=0&post=', 'tags'],
        ] as const) {
          await all(path + id, ({ shown }) => idsIn(shown.get(id)?.[name]));
        }
      }
    });

    it('only_with_upcoming counts visible events, has_events published and private ones without a password', async () => {
      for (const [base, name] of [
        ['venues', 'venue'],
        ['organizers', 'organizer'],
      ] as const) {
        const editor = actors.find(({ account }) => account === 'editor')!;
        const used = shownOf(editor, 'events')
          .filter(({ status }) => status === 'publish' || status === 'private')
          .flatMap((item) => idsIn(item[name]));
        const has = (expected: boolean) => (observed: Seen) =>
          shownOf(observed, base)
            .map(idOf)
            .filter((id) => used.includes(id) === expected);
        await all(`/${base}?has_events=true`, has(true));
        await all(`/${base}?has_events=false`, has(false));
        await all(`/${base}?only_with_upcoming=true`, (observed) =>
          listed(observed).flatMap((item) => idsIn(item[name])),
        );
      }
    });

    it('counts of terms count public events', async () => {
      const open = shownOf(actors[0]!, 'events');
      for (const [base, name] of [
        ['categories', 'categories'],
        ['tags', 'tags'],
      ] as const) {
        const counts = new Map<number, number>();
        for (const id of open.flatMap((item) => idsIn(item[name]))) counts.set(id, (counts.get(id) ?? 0) + 1);
        await all(`/${base}`, () => [...counts.keys()]);
        for (const { headers } of actors) {
          const { text } = await gateway.request(`/${base}?hide_empty=0`, { headers });
          for (const { id, count } of (JSON.parse(text) as Record<string, { id: number; count: number }[]>)[base]!)
            expect(count, `${base} ${id}`).to.equal(counts.get(id) ?? 0);
        }
      }
    });

    const landing = (query: string) => sendRequest(gateway.port, `/${query}`);

    it('the landing page shows what the public lists and single reads show, and finds no other event', async () => {
      const open = actors[0]!;
      const allowed = wordsFor(open);
      const month = String(listed(open)[0]!.start_date).slice(0, 7);
      const queries = [
        '',
        `?view=month&month=${month}`,
        `?view=list&month=${month}`,
        ...world.posts.map(({ id }) => `?event=${id}`),
      ];
      const seen = new Set<number>();
      for (const query of queries) {
        const { text } = await landing(query);
        for (const { word } of wordsIn(text)) expect(allowed.has(word), `${query} shows ${word}`).to.equal(true);
        for (const [, id] of text.matchAll(/data-event="(\d+)"/g)) seen.add(Number(id));
      }
      const expected = [...listed(open).map(idOf), ...lockedAndListed(open)];
      expect([...seen].sort((a, b) => a - b)).to.deep.equal(expected.sort((a, b) => a - b));
      for (const { id, base } of world.posts) {
        const isShown = base === 'events' && open.shown.has(id);
        const { status } = await landing(`?event=${id}`);
        expect(status, `${base} ${id}`).to.equal(isShown ? 200 : open.locked.has(id) ? 403 : 404);
      }
    });

    const ownStatus = async () => JSON.parse((await gateway.admin('/status')).text) as Json;

    it('the status on the admin port counts the records of the public lists', async () => {
      const totals: Json = {};
      for (const name of ['events', 'venues', 'organizers', 'categories', 'tags']) {
        const { headers } = await gateway.request(`/${name}${name === 'events' ? `?${EVER}` : ''}`);
        totals[name] = Number(headers['x-tec-total']);
      }
      expect((await ownStatus()).counts).to.deep.equal(totals);
    });

    it('a create never reuses a protected venue, whose content the response would show', async () => {
      const locked = world.of('venues').find(({ status, password }) => status === 'publish' && password !== undefined)!;
      // A search finds it only by the words of its slug, which is visible.
      const body = JSON.stringify({ venue: wordOf(locked.id, 'slug') });
      const editor = { authorization: authorization('editor'), 'content-type': 'application/json' };
      const renamed = await gateway.request(`/venues/${locked.id}`, { method: 'POST', body, headers: editor });
      expect(renamed.status).to.equal(200);
      for (const account of ['contributor', 'author2', 'editor']) {
        const headers = { authorization: authorization(account), 'content-type': 'application/json' };
        const { status, text } = await gateway.request('/venues', { method: 'POST', body, headers });
        expect(status).to.equal(201);
        expect((JSON.parse(text) as Json).id, account).to.not.equal(locked.id);
        expect(text).to.not.include(wordOf(locked.id, 'address'));
      }
    });

    it('a change of a non-public record changes neither version, ETag, date nor body of public responses', async () => {
      const [draft] = world.of('events').filter(({ status }) => status === 'draft');
      const venue = world.of('venues').find(({ status, password }) => status === 'draft' && password === undefined)!;
      const organizer = world.of('organizers').find(({ status }) => status === 'pending')!;
      const event = world.of('events').find(({ meta }) => String(meta.venue_ids) === String(venue.id))!;
      const paths = [`/events/${event.id}`, `/events?${EVER}`, '/venues', '/organizers', '/categories', '/tags'];
      const received = async () => {
        const answers = [];
        for (const path of paths) {
          const { headers, text } = await gateway.request(path);
          answers.push([path, headers.etag, headers['last-modified'], text]);
        }
        const { headers, text } = await landing('');
        return [...answers, headers.etag, text];
      };
      const before = await received();
      for (const { base, id } of [draft!, venue, organizer]) {
        const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
        const body = JSON.stringify({ [base === 'events' ? 'title' : base.slice(0, -1)]: 'Renamed unseen' });
        expect((await gateway.request(`/${base}/${id}`, { method: 'POST', body, headers })).status).to.equal(200);
      }
      expect(await received()).to.deep.equal(before);
    });

    for (const [what, sent] of Object.entries({
      'a body': { body: '{"per_page":1}', headers: { 'content-type': 'application/json' } },
      'a body in chunks': {
        body: '{"per_page":1}',
        headers: { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
      },
      'a body of another type': { body: 'per_page=1', headers: { 'content-type': 'text/plain' } },
      'a form': { body: 'per_page=1', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      'a method in a header': { headers: { 'x-http-method-override': 'GET' } },
      'another method than its own': { method: 'POST', headers: { 'x-http-method-override': 'GET' } },
      'credentials that are not looked at': { headers: { authorization: 'Bearer x' } },
      credentials: { headers: { authorization: authorization('author') } },
    } as Record<string, HttpRequestOptions>)) {
      it(`no cache may store the response to a request with ${what}`, async () => {
        for (const path of ['/events', '/venues', '/categories', '/events/148', '', '/doc'])
          for (const more of [{}, { 'cache-control': 'no-cache' }]) {
            const headers = { ...sent.headers, ...more };
            const reply = await gateway.request(path, { ...sent, headers });
            expect(reply.headers['cache-control'], `${path} ${reply.status}`).to.match(/no-store, private$/);
            expect(reply.headers).to.not.have.any.keys('surrogate-key', 'cache-tag', 'etag');
          }
        expect((await gateway.request('/events')).headers['cache-control']).to.match(/^public/);
      });
    }
  });
