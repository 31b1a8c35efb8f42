// Nobody is given what is not theirs, whatever is stored and in whatever order it is asked for: the whole gateway with its short way, over sockets.

import { expect } from 'chai';
import fc from 'fast-check';
import { type Answered, exchange, type RunningGateway, type Sent, startGateway } from '../faults/gateway.ts';
import { as, basic, markOf, PASSWORD, startWordPress, USERS, type WordPressStandIn } from '../faults/wordpress.ts';
import { ACCOUNTS, type Base, startWorld, type World, wordOf, wordsIn } from './private-world.ts';

const CALLERS = ['anonymous', 'wrong', ...USERS] as const;
type Caller = (typeof CALLERS)[number];

const authorizationOf = (caller: Caller): Record<string, string> =>
  caller === 'anonymous' ? {} : { authorization: caller === 'wrong' ? basic('author', 'no') : as(caller) };

const LISTS = ['', '?status=draft', '?status=private', '?per_page=2&page=2', '?_envelope=1', '?search=hidden'];
const BASES = ['events', 'venues', 'organizers'];
const IDS = Array.from({ length: 42 }, (_, n) => n + 1);
/** Not many, so that most are asked for by several. */
const path = fc.oneof(
  fc.constantFrom('/events', '/events/1', '/events/2', '/venues'),
  fc.constantFrom(...BASES).chain((base) => fc.constantFrom(...LISTS).map((query) => `/${base}${query}`)),
  fc.constantFrom(1, 2, 3, 4, 5, 13, 14, 15, 16, 17).map((id) => `/events/${id}`),
  fc
    .constantFrom(15, 16, 17, 18, 30, 31, 32)
    .chain((id) => fc.constantFrom('venues', 'organizers').map((b) => `/${b}/${id}`)),
);

/** What changes the answer: part of what the right answer is looked up by. */
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
/** What must not change it. */
const dressing = fc.record({
  condition: fc.constantFrom(undefined, undefined, 'last', '*', '"nothing"'),
  cacheControl: fc.constantFrom(undefined, undefined, undefined, undefined, 'no-cache', 'only-if-cached', 'max-age=0'),
  encoding: fc.constantFrom(undefined, 'gzip', 'br, zstd', 'identity'),
  origin: fc.constantFrom(undefined, 'https://one.example', 'https://two.example'),
  forwarded: fc.constantFrom(undefined, '127.0.0.1', '203.0.113.9, 127.0.0.1'),
});
const asked = fc.record({
  caller: fc.oneof(fc.constant('anonymous' as const), fc.constantFrom(...CALLERS)),
  path,
  shape,
  dressing,
});
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;

describe('what one caller is told', () => {
  let wordpress: WordPressStandIn;
  let gateway: RunningGateway;
  /** Answers nothing out of a store: a fresh look is asked for with every request. */
  let forgetful: Pick<RunningGateway, 'ask'>;
  let other: RunningGateway;
  const right = new Map<string, Answered>();
  let sent304 = 0;
  let unlike = 0;

  before(async () => {
    wordpress = await startWordPress();
    const service = { user: 'admin', password: PASSWORD };
    gateway = await startGateway(wordpress.url.href, {}, service);
    other = await startGateway(wordpress.url.href, {}, service);
    forgetful = {
      ask: (path, sent = {}) => other.ask(path, { ...sent, headers: { ...sent.headers, 'cache-control': 'no-cache' } }),
    };
  });
  after(async () => {
    await gateway.stop();
    await other.stop();
    await wordpress.close();
  });

  function request({ caller, shape: { method, override, body } }: Asked): Sent & { headers: Record<string, string> } {
    const headers: Record<string, string> = { ...authorizationOf(caller) };
    // A POST would write: those who may not write are told so, the others ask for what is there.
    if (override === 'OPTIONS' || (override === 'POST' && (caller === 'anonymous' || caller === 'wrong')))
      headers['x-http-method-override'] = override;
    if (body !== undefined) headers['content-type'] = 'application/json';
    return { method, headers, ...(body === undefined ? {} : { body }) };
  }

  async function rightAnswer(one: Asked): Promise<Answered> {
    const key = JSON.stringify([one.caller, one.path, one.shape]);
    const known = right.get(key) ?? (await forgetful.ask(one.path, request(one)));
    right.set(key, known);
    return known;
  }

  const maySee = (caller: Caller, id: number): boolean => {
    const post = wordpress.posts.get(id)!;
    if (post.status === 'publish' || caller === 'editor' || caller === 'admin') return true;
    const writes = caller === 'contributor' || caller === 'author' || caller === 'author2';
    return writes && USERS.indexOf(caller) + 1 === post.author;
  };

  async function check(one: Asked, lastTag: string | undefined): Promise<string | undefined> {
    const sent = request(one);
    const { condition, cacheControl, encoding, origin, forwarded } = one.dressing;
    const tag = condition === 'last' ? lastTag : condition;
    if (tag) sent.headers['if-none-match'] = tag;
    if (cacheControl) sent.headers['cache-control'] = cacheControl;
    if (encoding) sent.headers['accept-encoding'] = encoding;
    if (origin) sent.headers.origin = origin;
    if (forwarded) sent.headers['x-forwarded-for'] = forwarded;
    const wanted = await rightAnswer(one);
    const got = await gateway.ask(one.path, sent);
    expect(got.headers['access-control-allow-origin']).to.equal(origin);
    if (one.caller !== 'anonymous') expect(got.headers['cache-control']).to.match(/no-store, private$/);
    if (got.status === 304) {
      sent304 += 1;
      expect([wanted.status, one.caller]).to.deep.equal([200, 'anonymous']);
      if (tag !== '*') expect(tag).to.equal(wanted.headers.etag);
      return got.headers.etag;
    }
    expect(got.status).to.equal(wanted.status);
    // Descriptions name the default window, which moves with the clock.
    const still = ({ text }: Answered) => (one.shape.override ? text.replace(/\d\d:\d\d:\d\d/g, '') : text);
    expect(still(got)).to.equal(still(wanted));
    for (const id of IDS) {
      const mark = markOf(wordpress.posts.get(id)!);
      if (!maySee(one.caller, id)) expect(JSON.stringify([got.headers, got.text])).to.not.include(mark);
    }
    return got.headers.etag ?? lastTag;
  }

  it('is what they would be told if nobody had asked before', async function () {
    this.timeout(120_000);
    const several = fc.array(asked, { minLength: 4, maxLength: 24 });
    await fc.assert(
      fc.asyncProperty(several, async (order) => {
        let tag: string | undefined;
        for (const one of order) tag = await check(one, tag);
      }),
      { numRuns: 40, endOnFailure: true },
    );
    // That the property had something to be about: answers out of the store, conditions met, and callers who are told different things.
    const metrics = (await gateway.admin('/metrics')).text;
    expect(metrics).to.match(/cache="(hit|stale)"/);
    expect(sent304).to.be.greaterThan(0);
    for (const base of BASES) {
      const told = new Set<string>();
      for (const caller of ['anonymous', 'contributor', 'author', 'author2', 'editor'] as const) {
        told.add((await gateway.ask(`/${base}?status=draft`, { headers: authorizationOf(caller) })).text);
      }
      unlike += told.size;
    }
    expect(unlike).to.equal(15);
  });

  it('is the same when all ask at once', async () => {
    const place = '/events';
    const answers = await Promise.all(
      Array.from({ length: 200 }, async (_, n) => {
        const caller = CALLERS[n % CALLERS.length]!;
        return { caller, text: (await gateway.ask(place, { headers: authorizationOf(caller) })).text };
      }),
    );
    for (const { caller, text } of answers) {
      const wanted = await forgetful.ask(place, { headers: authorizationOf(caller) });
      expect(text, caller).to.equal(wanted.text);
    }
  });

  for (const body of ['{"per_page":1}', '{"status":"draft"}', '{"search":"zzz"}', '{"page":2,"per_page":2}']) {
    for (const length of ['content-length', 'transfer-encoding']) {
      it(`is not changed by another's body ${body} with ${length}`, async () => {
        const place = `/venues?first=${encodeURIComponent(body + length)}`;
        const chunked = length === 'transfer-encoding' ? { 'transfer-encoding': 'chunked' } : {};
        const headers = { 'content-type': 'application/json', ...chunked };
        const before = await forgetful.ask(place);
        const withBody = await gateway.ask(place, { body, headers });
        expect(withBody.status).to.equal((await forgetful.ask(place, { body, headers })).status);
        expect(withBody.text).to.not.equal(before.text);
        expect((await gateway.ask(place)).text).to.equal(before.text);
        expect((await gateway.ask(place, { body, headers })).text).to.equal(withBody.text);
        expect((await gateway.ask(place)).text).to.equal(before.text);
      });
    }
  }

  it('is public no longer once the record is withdrawn, whatever was stored', async () => {
    const mark = markOf(wordpress.posts.get(4)!);
    expect((await gateway.ask('/events/4')).text).to.include(mark);
    expect((await gateway.ask('/events/4')).text).to.include(mark);
    const body = '{"status":"draft"}';
    const headers = { ...authorizationOf('editor'), 'content-type': 'application/json' };
    expect((await gateway.ask('/events/4', { method: 'POST', body, headers })).status).to.equal(200);
    for (const place of ['/events/4', '/events', '/events?per_page=50']) {
      const { text } = await gateway.ask(place);
      expect(text, place).to.not.include(mark);
    }
  });
});

type Json = Record<string, unknown>;

/** What one account is shown by single reads: everything that lists, searches and counts may tell it. */
interface Seen {
  account: string | undefined;
  headers: Record<string, string>;
  /** Records that a single read shows, by id. */
  shown: Map<number, Json>;
  /** Events that ask for a password: listed with their contents blanked. */
  locked: Set<number>;
}

const idsIn = (value: unknown): number[] =>
  [value].flat().flatMap((one) => (one && typeof one === 'object' ? [(one as { id: number }).id] : []));

for (const { title, service, part } of [
  { title: '', service: { user: 'admin', password: PASSWORD }, part: 1 / 2 },
  // What the replica lacks is gathered with each account's own credentials, which takes longer.
  { title: ' without a service account', service: undefined, part: 1 / 8 },
])
  describe(`what lists, searches, filters, counts and links tell${title}`, () => {
    let world: World;
    let gateway: RunningGateway;
    const actors: Seen[] = [];

    before(async function () {
      this.timeout(60_000);
      world = await startWorld();
      gateway = await startGateway(world.wordpress.url.href, {}, service);
      for (const account of [undefined, ...Object.keys(ACCOUNTS)]) actors.push(await look(account));
    });
    after(async () => {
      await gateway?.stop();
      await world?.wordpress.close();
    });

    async function look(account: string | undefined): Promise<Seen> {
      const seen: Seen = {
        account,
        headers: account ? { authorization: as(account) } : {},
        shown: new Map(),
        locked: new Set(),
      };
      for (const { id, base } of world.posts) {
        const { status, text } = await gateway.ask(`/${base}/${id}`, { headers: seen.headers });
        const body = JSON.parse(text) as Json;
        if (status === 200) seen.shown.set(id, body);
        else if (body.code === 'event-password-protected') seen.locked.add(id);
      }
      return seen;
    }

    const shownOf = ({ shown }: Seen, base: Base): Json[] =>
      world.of(base).flatMap(({ id }) => {
        const record = shown.get(id);
        return record && record.status !== 'trash' ? [record] : [];
      });
    const idOf = (record: Json): number => record.id as number;
    const listed = (seen: Seen): Json[] => shownOf(seen, 'events').filter((one) => one.hide_from_listings !== true);
    const isHidden = (id: number) => world.posts.some((post) => post.id === id && post.hidden);
    const lockedAndListed = ({ locked }: Seen): number[] => [...locked].filter((id) => !isHidden(id));

    /** Words that this account may be told: those of its single reads, and the title and slug of an event that is listed blanked. */
    function wordsFor(seen: Seen): Set<string> {
      const words = [...seen.shown.values()].flatMap((record) =>
        wordsIn(JSON.stringify(record)).map(({ word }) => word),
      );
      return new Set([...words, ...[...seen.locked].flatMap((id) => [wordOf(id, 'title'), wordOf(id, 'slug')])]);
    }

    /** Ids of all pages of a list; checks the total, the caching headers, and that the list shows nothing that a single read hides. */
    async function list(seen: Seen, path: string): Promise<number[]> {
      const { account, headers } = seen;
      const ids: number[] = [];
      for (let page = 1; ; page += 1) {
        const answer = await gateway.ask(`${path}${path.includes('?') ? '&' : '?'}per_page=50&page=${page}`, {
          headers,
        });
        expect(answer.status, `${account} ${path}`).to.equal(200);
        const allowed = allowedWords.get(seen) ?? wordsFor(seen);
        allowedWords.set(seen, allowed);
        const asked = decodeURIComponent(path);
        for (const { word } of wordsIn(answer.text + JSON.stringify(answer.headers)))
          expect(allowed.has(word) || asked.includes(word), `${account} ${path} tells ${word}`).to.equal(true);
        expect(answer.headers['cache-control'], `${account} ${path}`).to.match(
          account ? /no-store, private$/ : /^public/,
        );
        const body = JSON.parse(answer.text) as Json;
        ids.push(...idsIn(Object.values(body).find(Array.isArray)));
        if (ids.length >= (body.total as number)) {
          expect(ids.length, `${account} ${path}`).to.equal(body.total);
          expect(answer.headers['x-tec-total']).to.equal(String(body.total));
          return ids.sort((a, b) => a - b);
        }
      }
    }
    const allowedWords = new Map<Seen, Set<string>>();

    /** The same for each account. */
    async function all(path: string, wanted: (seen: Seen) => number[]): Promise<void> {
      for (const seen of actors) {
        const ids = [...new Set(wanted(seen))].sort((a, b) => a - b);
        expect(await list(seen, path), `${seen.account} ${path}`).to.deep.equal(ids);
      }
    }

    const EVER = 'start_date=1990-01-01';
    /** The world has each state of an event twice. */
    const eachState = () => world.of('events').slice(0, world.of('events').length * part);
    const some = (base: Base) =>
      world.of(base).filter((_, n, all) => service !== undefined || n % 5 === 0 || n === all.length - 6);

    it('single reads show each account what the CMS would, and of a venue or organizer inside an event what its own read shows', () => {
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
      // That there was something to hide: a protected and a draft venue inside public events.
      const inside = [...actors[0]!.shown.values()].flatMap(({ venue }) => idsIn(venue));
      expect(inside.some((id) => world.posts.find((post) => post.id === id)!.password !== undefined)).to.equal(true);
    });

    it('by slug: the same as by id', async function () {
      this.timeout(60_000);
      for (const { account, headers, shown, locked } of actors) {
        for (const { id, base, status } of world.posts) {
          const slug = `${wordOf(id, 'slug')}${status === 'trash' ? '__trashed' : ''}`;
          const answer = await gateway.ask(`/${base}/by-slug/${slug}`, { headers });
          const body = JSON.parse(answer.text) as Json;
          expect(body.id, `${account} ${base} ${id}`).to.equal(shown.has(id) ? id : undefined);
          if (!shown.has(id)) expect(wordsIn(answer.text)).to.deep.equal([]);
          if (locked.has(id)) expect(body.code).to.equal('event-password-protected');
        }
      }
    });

    it('lists show what single reads do, and events behind a password blanked; hidden events are in none', async () => {
      await all(`/events?${EVER}`, (seen) => [...listed(seen).map(idOf), ...lockedAndListed(seen)]);
      await all(
        '/events?include=' +
          world
            .of('events')
            .map(({ id }) => id)
            .join(','),
        (seen) => [...listed(seen).map(idOf), ...lockedAndListed(seen)],
      );
      for (const base of ['venues', 'organizers'] as const)
        await all(`/${base}`, (seen) => shownOf(seen, base).map(idOf));
    });

    it('filters of events find what the records show, nothing by what is left out of them', async function () {
      this.timeout(60_000);
      for (const [name, base] of [
        ['venue', 'venues'],
        ['organizer', 'organizers'],
      ] as const) {
        for (const { id } of some(base))
          await all(`/events?${EVER}&${name}=${id}`, (seen) =>
            listed(seen)
              .filter((one) => idsIn(one[name]).includes(id))
              .map(idOf),
          );
      }
      for (const [name, ids] of [
        ['categories', [1, 2, 3, 4, 5]],
        ['tags', [6, 7, 8, 9]],
      ] as const) {
        for (const id of ids)
          await all(`/events?${EVER}&${name}=${id}`, (seen) =>
            listed(seen)
              .filter((one) => idsIn(one[name]).includes(id))
              .map(idOf),
          );
      }
      await all(`/events?${EVER}&featured=true`, (seen) =>
        listed(seen)
          .filter(({ featured }) => featured)
          .map(idOf),
      );
    });

    it('searches find what the records show: of a protected event its title, of a protected venue or organizer its slug', async function () {
      this.timeout(60_000);
      for (const { id } of eachState()) {
        await all(`/events?${EVER}&search=${wordOf(id, 'content')}`, (seen) =>
          listed(seen)
            .map(idOf)
            .filter((one) => one === id),
        );
        await all(`/events?${EVER}&search=${wordOf(id, 'title')}`, (seen) =>
          [...listed(seen).map(idOf), ...lockedAndListed(seen)].filter((one) => one === id),
        );
      }
      for (const [base, fields] of [
        ['venues', ['title', 'content', 'address', 'city', 'phone']],
        ['organizers', ['title', 'content', 'phone', 'email']],
      ] as const) {
        for (const { id, password } of some(base)) {
          for (const field of fields)
            await all(`/${base}?search=${wordOf(id, field)}`, (seen) =>
              shownOf(seen, base)
                .filter((one) => JSON.stringify(one).includes(wordOf(id, field)))
                .map(idOf),
            );
          if (password !== undefined)
            await all(`/${base}?search=${wordOf(id, 'slug')}`, (seen) =>
              shownOf(seen, base)
                .map(idOf)
                .filter((one) => one === id),
            );
        }
      }
    });

    it('venues, organizers, categories and tags of an event are those that its record shows, none of an event that is not shown', async function () {
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

    it('only_with_upcoming goes by the events that are shown, has_events by published and private ones that need no password', async () => {
      for (const [base, name] of [
        ['venues', 'venue'],
        ['organizers', 'organizer'],
      ] as const) {
        const editor = actors.find(({ account }) => account === 'editor')!;
        const used = shownOf(editor, 'events')
          .filter(({ status }) => status === 'publish' || status === 'private')
          .flatMap((one) => idsIn(one[name]));
        const has = (wanted: boolean) => (seen: Seen) =>
          shownOf(seen, base)
            .map(idOf)
            .filter((id) => used.includes(id) === wanted);
        await all(`/${base}?has_events=true`, has(true));
        await all(`/${base}?has_events=false`, has(false));
        await all(`/${base}?only_with_upcoming=true`, (seen) => listed(seen).flatMap((one) => idsIn(one[name])));
      }
    });

    it('counts of terms, and which are empty, go by the published events that everybody is shown', async () => {
      const open = shownOf(actors[0]!, 'events');
      for (const [base, name] of [
        ['categories', 'categories'],
        ['tags', 'tags'],
      ] as const) {
        const counts = new Map<number, number>();
        for (const id of open.flatMap((one) => idsIn(one[name]))) counts.set(id, (counts.get(id) ?? 0) + 1);
        await all(`/${base}`, () => [...counts.keys()]);
        for (const { headers } of actors) {
          const { text } = await gateway.ask(`/${base}?hide_empty=0`, { headers });
          for (const { id, count } of (JSON.parse(text) as Record<string, { id: number; count: number }[]>)[base]!)
            expect(count, `${base} ${id}`).to.equal(counts.get(id) ?? 0);
        }
      }
    });

    const ownStatus = async () => JSON.parse((await exchange(gateway.port, '/-/status.json')).text) as Json;

    it('the status page counts what the public lists hold', async () => {
      const totals: Json = {};
      for (const name of ['events', 'venues', 'organizers', 'categories', 'tags']) {
        const { headers } = await gateway.ask(`/${name}${name === 'events' ? `?${EVER}` : ''}`);
        totals[name] = Number(headers['x-tec-total']);
      }
      expect((await ownStatus()).counts).to.deep.equal(totals);
    });

    it('a create never answers with a venue behind a password, whose contents it would tell', async () => {
      const locked = world.of('venues').find(({ status, password }) => status === 'publish' && password !== undefined)!;
      // By its name it can be found only as far as its slug, which is shown, has the same words.
      const body = JSON.stringify({ venue: wordOf(locked.id, 'slug') });
      const editor = { authorization: as('editor'), 'content-type': 'application/json' };
      const renamed = await gateway.ask(`/venues/${locked.id}`, { method: 'POST', body, headers: editor });
      expect(renamed.status).to.equal(200);
      for (const account of ['contributor', 'author2', 'editor']) {
        const headers = { authorization: as(account), 'content-type': 'application/json' };
        const { status, text } = await gateway.ask('/venues', { method: 'POST', body, headers });
        expect(status).to.equal(201);
        expect((JSON.parse(text) as Json).id, account).to.not.equal(locked.id);
        expect(text).to.not.include(wordOf(locked.id, 'address'));
      }
    });

    it('a change of what the public does not see changes neither version, ETag, date nor body of what it does', async () => {
      const [draft] = world.of('events').filter(({ status }) => status === 'draft');
      const venue = world.of('venues').find(({ status, password }) => status === 'draft' && password === undefined)!;
      const organizer = world.of('organizers').find(({ status }) => status === 'pending')!;
      const event = world.of('events').find(({ meta }) => String(meta.venue_ids) === String(venue.id))!;
      const paths = [`/events/${event.id}`, `/events?${EVER}`, '/venues', '/organizers', '/categories', '/tags'];
      const told = async () => {
        const answers = [];
        for (const path of paths) {
          const { headers, text } = await gateway.ask(path);
          answers.push([path, headers.etag, headers['last-modified'], text]);
        }
        return [...answers, await ownStatus()];
      };
      const before = await told();
      for (const { base, id } of [draft!, venue, organizer]) {
        const headers = { authorization: as('editor'), 'content-type': 'application/json' };
        const body = JSON.stringify({ [base === 'events' ? 'title' : base.slice(0, -1)]: 'Renamed unseen' });
        expect((await gateway.ask(`/${base}/${id}`, { method: 'POST', body, headers })).status).to.equal(200);
      }
      expect(await told()).to.deep.equal(before);
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
      credentials: { headers: { authorization: as('author') } },
    } as Record<string, Sent>)) {
      it(`no cache may keep an answer to a request with ${what}, also without the response cache`, async () => {
        for (const path of ['/events', '/venues', '/categories', '/events/148', '', '/doc'])
          for (const more of [{}, { 'cache-control': 'no-cache' }]) {
            const headers = { ...sent.headers, ...more };
            const answer = await gateway.ask(path, { ...sent, headers });
            expect(answer.headers['cache-control'], `${path} ${answer.status}`).to.match(/no-store, private$/);
            expect(answer.headers).to.not.have.any.keys('surrogate-key', 'cache-tag', 'etag');
          }
        expect((await gateway.ask('/events')).headers['cache-control']).to.match(/^public/);
      });
    }
  });
