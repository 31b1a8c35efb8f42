// What one caller may ask of the whole gateway, limit by limit, and what the CMS gets to see of it.

import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { until } from '../until.ts';
import { startStandIn } from './cms.ts';
import { type Answered, exchange, MOUNT, type RunningGateway, type Settings, startGateway } from './gateway.ts';
import { as, basic, PASSWORD, startWordPress, type WordPressStandIn } from './wordpress.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('the limits of a gateway', () => {
  let wordpress: WordPressStandIn;
  let gateway: RunningGateway;
  let running: RunningGateway[];

  async function start(settings: Settings = {}): Promise<RunningGateway> {
    const quiet = { sync: { intervalS: 3600 }, ...settings };
    const started = await startGateway(wordpress.url.href, quiet, { user: 'admin', password: PASSWORD });
    running.push(started);
    return started;
  }
  before(async () => {
    running = [];
    wordpress = await startWordPress();
    gateway = await start({ limits: { bodyBytes: 10_000, jsonDepth: 5, idsPerParameter: 20 } });
  });
  after(async () => {
    for (const one of running) await one.stop();
    await wordpress.close();
  });

  const post = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE, path = '/events/1') =>
    gateway.ask(path, { method: 'POST', headers: { authorization: as('editor'), ...headers }, body: body as string });
  const told = ({ status, text }: Answered) => [status, JSON.parse(text).code];

  describe('of a body', () => {
    const large = JSON.stringify({ title: 'x'.repeat(20_000) });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const parts = `--b\r\nContent-Disposition: form-data; name="title"\r\n\r\n${'x'.repeat(20_000)}\r\n--b--\r\n`;

    for (const [name, body, headers] of [
      ['JSON', large, JSON_TYPE],
      ['JSON in chunks', large, { ...JSON_TYPE, 'transfer-encoding': 'chunked' }],
      ['a form', `title=${'x'.repeat(20_000)}`, form],
      ['a form in chunks', `title=${'x'.repeat(20_000)}`, { ...form, 'transfer-encoding': 'chunked' }],
      ['parts', parts, { 'content-type': 'multipart/form-data; boundary=b' }],
      [
        '20 MB packed into 20 kB',
        gzipSync(`{"title":"${' '.repeat(20e6)}"}`),
        { ...JSON_TYPE, 'content-encoding': 'gzip' },
      ],
      [
        '1 MB packed into 1 kB',
        gzipSync(`{"title":"${' '.repeat(1e6)}"}`),
        { ...JSON_TYPE, 'content-encoding': 'gzip' },
      ],
    ] as const) {
      it(`refuses ${name}`, async () => {
        const before = wordpress.writes();
        expect(told(await post(body, headers))).to.deep.equal([413, 'rest_body_too_large']);
        expect(wordpress.writes()).to.equal(before);
      });
    }

    it('refuses what is nested too deeply, and takes what is just deep enough', async () => {
      const nested = (depth: number) => `{"title":${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}}`;
      expect(told(await post(nested(6)))).to.deep.equal([400, 'rest_invalid_json']);
      expect(told(await post(nested(5)))).to.deep.equal([400, 'rest_invalid_param']);
      const deepest = await post(`{"title":${'['.repeat(4900)}${']'.repeat(4900)}}`);
      expect(told(deepest)).to.deep.equal([400, 'rest_invalid_json']);
    });

    for (const body of [
      '{"title":"safe","__proto__":{"polluted":1,"status":"draft"},"constructor":{"prototype":{"polluted":1}}}',
      '{"title":"safe","venue":{"__proto__":{"polluted":1}}}',
      'title=safe&__proto__[polluted]=1&constructor[prototype][polluted]=1&venue[__proto__][polluted]=1',
    ]) {
      it(`drops what would reach a prototype: ${body.slice(0, 60)}`, async () => {
        const before = wordpress.seen.length;
        await post(body, body.startsWith('{') ? JSON_TYPE : form);
        await gateway.ask('/events?__proto__[polluted]=1&constructor[prototype][polluted]=1&__proto__.polluted=1');
        const sent = wordpress.seen.slice(before).map((seen) => seen.body + seen.url);
        expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
        expect(sent.join()).to.not.match(/polluted|__proto__|constructor/);
        expect(wordpress.posts.get(1)!.status).to.equal('publish');
      });
    }
  });

  describe('of lists', () => {
    const numbers = Array.from({ length: 21 }, (_, n) => n + 1);

    it('refuses more values in one parameter than it takes', async () => {
      // Who the editor is, and what the collection is like, is asked once.
      await post('{"title":"x"}');
      const before = wordpress.seen.length;
      for (const query of [`venue=${numbers}`, numbers.map((n) => `organizer[]=${n}`).join('&'), `tags=${numbers}`]) {
        expect(told(await gateway.ask(`/events?${query}`)), query).to.deep.equal([400, 'rest_invalid_param']);
      }
      expect(told(await post(JSON.stringify({ categories: numbers })))).to.deep.equal([400, 'rest_invalid_param']);
      expect(wordpress.seen.length).to.be.at.most(before + 1);
    });

    it('gives pages of its own size to whoever asks for larger ones', async () => {
      const { headers, text } = await gateway.ask('/events?per_page=1000000&status=publish');
      const few = await (await start({ lists: { maxPerPage: 3, perPage: 2 } })).ask('/events?per_page=1000000');
      expect(JSON.parse(text).events).to.have.length(4);
      expect(JSON.parse(few.text).events).to.have.length(3);
      expect(headers['x-tec-total']).to.equal('4');
    });
  });

  describe('of requests from one address', () => {
    const FROM = { 'x-forwarded-for': '203.0.113.7, 198.51.100.1' };

    it('answers 429 to what is stored and what is not, says when to come back, and serves others', async () => {
      const limited = await start({ limits: { requestsPerMinute: 10 }, listen: { trustProxies: true } });
      for (let n = 0; n < 10; n += 1) {
        expect((await limited.ask(n % 2 ? '/events' : `/venues?n=${n}`, { headers: FROM })).status).to.equal(200);
      }
      for (const path of ['/events', '/venues?new', '/nowhere', '/events/2']) {
        const { status, headers, text } = await limited.ask(path, { headers: FROM });
        expect([status, JSON.parse(text).code], path).to.deep.equal([429, 'rest_too_many_requests']);
        expect(Number(headers['retry-after'])).to.be.within(1, 60);
        expect(headers).to.include({ 'ratelimit-policy': '"minute";q=10;w=60', 'ratelimit-limit': '10' });
        expect(headers['cache-control']).to.include('no-store');
      }
      // The caller's own word counts for nothing: only what the proxy saw.
      const claimed = { 'x-forwarded-for': '203.0.113.8, 198.51.100.1' };
      expect((await limited.ask('/events', { headers: claimed })).status).to.equal(429);
      const other = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' };
      expect((await limited.ask('/events', { headers: other })).status).to.equal(200);
    });

    it('believes no header where no proxy is trusted', async () => {
      const limited = await start({ limits: { requestsPerMinute: 3 } });
      const statuses: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        const headers = { 'x-forwarded-for': `203.0.113.${n}`, forwarded: `for=203.0.113.${n}` };
        statuses.push((await limited.ask('/events', { headers })).status);
      }
      expect(statuses).to.deep.equal([200, 200, 200, 429, 429]);
    });
  });

  describe('of logins', () => {
    const attempts = () => wordpress.seen.filter(({ url }) => url.includes('users/me')).length;

    it('tells wrong credentials even where everybody may read, whatever is stored', async () => {
      const place = '/events?stored';
      expect((await gateway.ask(place)).status).to.equal(200);
      expect((await gateway.ask(place)).status).to.equal(200);
      const answer = await gateway.ask(place, { headers: { authorization: basic('author', 'no') } });
      expect(told(answer)).to.deep.equal([401, 'incorrect_password']);
      expect(answer.headers['cache-control']).to.include('no-store');
    });

    it('slows guesses at one user, wherever they come from, and nobody else', async () => {
      const guarded = await start({
        limits: { failedLoginsPerUser: 5, failedLoginsPerAddress: 1000 },
        listen: { trustProxies: true },
      });
      const guess = (n: number, user = 'author', password = `guess ${n}`) =>
        guarded.ask('/events', {
          headers: { authorization: basic(user, password), 'x-forwarded-for': `203.0.113.${n}` },
        });
      expect((await guess(200, 'author', PASSWORD)).status).to.equal(200);
      const before = attempts();
      const statuses: number[] = [];
      for (let n = 0; n < 20; n += 1) statuses.push((await guess(n)).status);
      expect(statuses).to.deep.equal([...Array(5).fill(401), ...Array(15).fill(429)]);
      expect(attempts() - before).to.equal(5);
      // Not even the right one is found out by guessing on.
      const refused = await guess(21, 'author', PASSWORD.replaceAll(' ', ''));
      expect(told(refused)).to.deep.equal([429, 'rest_too_many_logins']);
      expect(Number(refused.headers['retry-after'])).to.be.within(1, 300);
      expect((await guess(22, 'editor', PASSWORD)).status).to.equal(200);
      expect((await guess(200, 'author', PASSWORD)).status).to.equal(200);
      expect((await guarded.ask('/events')).status).to.equal(200);
    });

    it('slows guesses from one address, at whomever, also many at once', async () => {
      const guarded = await start({ limits: { failedLoginsPerUser: 1000, failedLoginsPerAddress: 5 } });
      const before = attempts();
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          guarded.ask('/events/2', { headers: { authorization: basic(`user${n}`, 'guess') } }),
        ),
      );
      expect(answers.filter(({ status }) => status === 401)).to.have.length(5);
      expect(answers.filter(({ status }) => status === 429)).to.have.length(35);
      expect(attempts() - before).to.equal(5);
      expect((await guarded.ask('/events')).status).to.equal(200);
    });
  });

  it('of headers: more are refused, in all as in one', async () => {
    const small = await start({ limits: { headerBytes: 4000 } });
    const line = (name: string, bytes: number) => ({ [name]: 'x'.repeat(bytes) });
    const ask = (headers: Record<string, string>) => exchange(small.port, `${MOUNT}/events`, { headers });
    expect((await ask(line('x-one', 3000))).status).to.equal(200);
    expect((await ask(line('x-one', 5000))).status).to.equal(431);
    expect((await ask({ ...line('x-one', 3000), ...line('x-two', 3000) })).status).to.equal(431);
  });

  it('of time for headers: who has not sent them by then is told so and cut off', async () => {
    const hasty = await start({ limits: { headersTimeoutMs: 300, requestTimeoutMs: 120_000 } });
    const socket = connect(hasty.port, '127.0.0.1').on('error', () => {});
    socket.write(`GET ${MOUNT}/events HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    let said = '';
    for await (const chunk of socket) said += chunk;
    expect(said).to.match(/^HTTP\/1\.1 408 /);
  });

  it('of connections: more are closed as they come', async () => {
    const small = await start({ limits: { sockets: 5 } });
    const sockets = Array.from({ length: 8 }, () => connect(small.port, '127.0.0.1').on('error', () => {}));
    const closed: unknown[] = [];
    for (const socket of sockets) socket.on('close', () => closed.push(socket)).resume();
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    await until(
      () => closed.length >= 3,
      () => `three are closed, not ${closed.length}`,
    );
    const left = sockets.find((socket) => !socket.destroyed)!;
    left.write(`GET ${MOUNT}/events HTTP/1.1\r\nHost: x\r\n\r\n`);
    left.removeAllListeners('data');
    const [bytes] = (await once(left, 'data')) as [Buffer];
    expect(String(bytes)).to.match(/^HTTP\/1\.1 200/);
    expect(closed).to.have.length(3);
    for (const socket of sockets) socket.destroy();
  });

  it('of what an image may be: nothing in a network of its own is called, whatever it is called by', async () => {
    const inside = await startStandIn();
    const { port } = inside.url;
    const hosts = ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0', '127.1'];
    try {
      for (const host of hosts) {
        const answer = await post(JSON.stringify({ image: `http://${host}:${port}/a.png` }));
        expect(told(answer), host).to.deep.equal([400, 'rest_invalid_param']);
      }
      expect(told(await post('{"image":"file:///etc/passwd"}'))).to.deep.equal([400, 'rest_invalid_param']);
      expect(inside.seen).to.deep.equal([]);
    } finally {
      await inside.close();
    }
  });

  it('of ids: a request is known by its own where that is fit for one, here and at the CMS', async () => {
    const ask = (id: string) =>
      exchange(gateway.port, `${MOUNT}/events/2`, { headers: { authorization: as('editor'), 'x-request-id': id } });
    expect((await ask('caller:1.a')).headers['x-request-id']).to.equal('caller:1.a');
    expect(wordpress.seen.at(-1)!.headers['x-request-id']).to.equal('caller:1.a');
    for (const id of ['', 'a b', '"quoted"', 'x'.repeat(101), '<script>']) {
      const { headers } = await ask(id);
      expect(headers['x-request-id']).to.match(/^[\w-]{8}-\w+$/);
      expect(wordpress.seen.at(-1)!.headers['x-request-id']).to.equal(headers['x-request-id']);
    }
  });
});
