// No actor gets what another one may see, whatever the caches hold and in whatever order requests come: the
// whole gateway over sockets.

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
import { type GatewayResponse, type HttpRequestOptions, type SocketGateway, startGateway } from '../start-gateway.ts';

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
    // Beyond the lookups that all anonymous callers have together, a draft is unknown (404 or 400) instead of 403 or 401.
    const isDenied = [got, expected].every(({ status }) => [400, 401, 403, 404].includes(status));
    const isSame = !(isDenied && item.caller === 'anonymous');
    if (isSame) expect(got.status).to.equal(expected.status);
    // Descriptions contain the default date window, which moves with the clock.
    const still = ({ text }: GatewayResponse) => (item.shape.override ? text.replace(/\d\d:\d\d:\d\d/g, '') : text);
    if (isSame) expect(still(got)).to.equal(still(expected));
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
