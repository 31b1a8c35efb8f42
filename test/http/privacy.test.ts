// Nobody is given what is not theirs, whatever is stored and in whatever order it is asked for: the whole gateway with its short way, over sockets.

import { expect } from 'chai';
import fc from 'fast-check';
import { type Answered, type RunningGateway, type Sent, startGateway } from '../faults/gateway.ts';
import { as, basic, markOf, PASSWORD, startWordPress, USERS, type WordPressStandIn } from '../faults/wordpress.ts';

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
    expect(got.text).to.equal(wanted.text);
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
