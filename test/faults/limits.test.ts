// The limits of one client on the whole gateway, one by one, and the calls that reach the CMS.

import { once } from 'node:events';
import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import {
  type GatewayResponse,
  MOUNT,
  type Settings,
  type SocketGateway,
  sendRequest,
  startGateway,
} from '../start-gateway.ts';
import { until } from '../until.ts';
import { authorization, basic, type FakeWordPress, PASSWORD, startFakeWordPress } from './fake-wordpress.ts';
import { startStubCms } from './stub-cms.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

describe('limits of a gateway', () => {
  let wordpress: FakeWordPress;
  let gateway: SocketGateway;
  let running: SocketGateway[];

  async function start(settings: Settings = {}): Promise<SocketGateway> {
    const quiet = { sync: { intervalS: 3600 }, ...settings };
    const started = await startGateway({
      transport: 'socket',
      cmsUrl: wordpress.url.href,
      config: quiet,
      service: { user: 'admin', password: PASSWORD },
    });
    running.push(started);
    return started;
  }
  before(async () => {
    running = [];
    wordpress = await startFakeWordPress();
    gateway = await start({ limits: { bodyBytes: 10_000, jsonDepth: 5, idsPerParameter: 20 } });
  });
  after(async () => {
    for (const gateway of running) await gateway.stop();
    await wordpress.close();
  });

  const post = (body: string | Buffer, headers: Record<string, string> = JSON_TYPE, path = '/events/1') =>
    gateway.request(path, {
      method: 'POST',
      headers: { authorization: authorization('editor'), ...headers },
      body: body as string,
    });
  const errorOf = ({ status, text }: GatewayResponse) => [status, JSON.parse(text).code];

  describe('on bodies', () => {
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
      it(`rejects ${name}`, async () => {
        const before = wordpress.writes();
        expect(errorOf(await post(body, headers))).to.deep.equal([413, 'rest_body_too_large']);
        expect(wordpress.writes()).to.equal(before);
      });
    }

    it('rejects a long body of a GET in chunks, and not of one that a method override makes a write', async () => {
      const body = JSON.stringify({ title: 'x'.repeat(9000) });
      const get = async (path: string, override = {}) => {
        const headers = { ...JSON_TYPE, ...override, 'transfer-encoding': 'chunked' };
        return errorOf(await gateway.request(path, { method: 'GET', headers, body }));
      };
      expect(await get('/events')).to.deep.equal([413, 'rest_body_too_large']);
      for (const [path, override] of [
        ['/events?_method=POST', {}],
        ['/events', { 'x-http-method-override': 'post' }],
      ] as const)
        expect(await get(path, override), path).to.deep.equal([400, 'rest_missing_callback_param']);
      // A POST of this length is within the limit.
      expect((await post(body)).status).to.equal(200);
    });

    it('rejects bodies nested too deeply, and accepts the maximum depth', async () => {
      const nested = (depth: number) => `{"title":${'['.repeat(depth - 1)}1${']'.repeat(depth - 1)}}`;
      expect(errorOf(await post(nested(6)))).to.deep.equal([400, 'rest_invalid_json']);
      expect(errorOf(await post(nested(5)))).to.deep.equal([400, 'rest_invalid_param']);
      const deepest = await post(`{"title":${'['.repeat(4900)}${']'.repeat(4900)}}`);
      expect(errorOf(deepest)).to.deep.equal([400, 'rest_invalid_json']);
    });

    for (const body of [
      '{"title":"safe","__proto__":{"polluted":1,"status":"draft"},"constructor":{"prototype":{"polluted":1}}}',
      '{"title":"safe","venue":{"__proto__":{"polluted":1}}}',
      'title=safe&__proto__[polluted]=1&constructor[prototype][polluted]=1&venue[__proto__][polluted]=1',
    ]) {
      it(`drops keys that would pollute a prototype: ${body.slice(0, 60)}`, async () => {
        const before = wordpress.requests.length;
        await post(body, body.startsWith('{') ? JSON_TYPE : form);
        await gateway.request('/events?__proto__[polluted]=1&constructor[prototype][polluted]=1&__proto__.polluted=1');
        const received = wordpress.requests.slice(before).map((request) => request.body + request.url);
        expect(({} as Record<string, unknown>).polluted).to.equal(undefined);
        expect(received.join()).to.not.match(/polluted|__proto__|constructor/);
        expect(wordpress.posts.get(1)!.status).to.equal('publish');
      });
    }
  });

  describe('on lists', () => {
    const numbers = Array.from({ length: 21 }, (_, n) => n + 1);

    it('rejects too many values in one parameter', async () => {
      // Caches the editor's account and the collection's capabilities.
      await post('{"title":"x"}');
      const before = wordpress.requests.length;
      for (const query of [`venue=${numbers}`, numbers.map((n) => `organizer[]=${n}`).join('&'), `tags=${numbers}`]) {
        expect(errorOf(await gateway.request(`/events?${query}`)), query).to.deep.equal([400, 'rest_invalid_param']);
      }
      expect(errorOf(await post(JSON.stringify({ categories: numbers })))).to.deep.equal([400, 'rest_invalid_param']);
      expect(wordpress.requests.length).to.be.at.most(before + 1);
    });

    it('caps the page size', async () => {
      const { headers, text } = await gateway.request('/events?per_page=1000000&status=publish');
      const small = await (await start({ lists: { maxPerPage: 3, perPage: 2 } })).request('/events?per_page=1000000');
      expect(JSON.parse(text).events).to.have.length(4);
      expect(JSON.parse(small.text).events).to.have.length(3);
      expect(headers['x-tec-total']).to.equal('4');
    });
  });

  describe('on requests per address', () => {
    const FROM = { 'x-forwarded-for': '203.0.113.7, 198.51.100.1' };

    it('respond with 429 and Retry-After, for cached responses too, and serve other addresses', async () => {
      const limited = await start({ limits: { requestsPerMinute: 10 }, listen: { trustProxies: true } });
      for (let n = 0; n < 10; n += 1) {
        expect((await limited.request(n % 2 ? '/events' : `/venues?n=${n}`, { headers: FROM })).status).to.equal(200);
      }
      for (const path of ['/events', '/venues?new', '/nowhere', '/events/2']) {
        const { status, headers, text } = await limited.request(path, { headers: FROM });
        expect([status, JSON.parse(text).code], path).to.deep.equal([429, 'rest_too_many_requests']);
        expect(Number(headers['retry-after'])).to.be.within(1, 60);
        expect(headers).to.include({ 'ratelimit-policy': '"minute";q=10;w=60' });
        expect(headers['cache-control']).to.include('no-store');
      }
      // Only the address that the proxy added counts, not one from the client.
      const claimed = { 'x-forwarded-for': '203.0.113.8, 198.51.100.1' };
      expect((await limited.request('/events', { headers: claimed })).status).to.equal(429);
      const other = { 'x-forwarded-for': '198.51.100.1, 203.0.113.7' };
      expect((await limited.request('/events', { headers: other })).status).to.equal(200);
    });

    it('ignore forwarding headers without a trusted proxy', async () => {
      const limited = await start({ limits: { requestsPerMinute: 3 } });
      const statuses: number[] = [];
      for (let n = 0; n < 5; n += 1) {
        const headers = { 'x-forwarded-for': `203.0.113.${n}`, forwarded: `for=203.0.113.${n}` };
        statuses.push((await limited.request('/events', { headers })).status);
      }
      expect(statuses).to.deep.equal([200, 200, 200, 429, 429]);
    });
  });

  describe('on logins', () => {
    const attempts = () => wordpress.requests.filter(({ url }) => url.includes('users/me')).length;

    it('reject wrong credentials on public reads, cached or not', async () => {
      const path = '/events?stored';
      expect((await gateway.request(path)).status).to.equal(200);
      expect((await gateway.request(path)).status).to.equal(200);
      const response = await gateway.request(path, { headers: { authorization: basic('author', 'no') } });
      expect(errorOf(response)).to.deep.equal([401, 'incorrect_password']);
      expect(response.headers['cache-control']).to.include('no-store');
    });

    it('slow down guesses at one user from any address, and no other user', async () => {
      const guarded = await start({
        limits: { failedLoginsPerUser: 5, failedLoginsPerAddress: 1000 },
        listen: { trustProxies: true },
      });
      const guess = (n: number, user = 'author', password = `guess ${n}`) =>
        guarded.request('/events', {
          headers: { authorization: basic(user, password), 'x-forwarded-for': `203.0.113.${n}` },
        });
      expect((await guess(200, 'author', PASSWORD)).status).to.equal(200);
      const before = attempts();
      const statuses: number[] = [];
      for (let n = 0; n < 20; n += 1) statuses.push((await guess(n)).status);
      expect(statuses).to.deep.equal([...Array(5).fill(401), ...Array(15).fill(429)]);
      expect(attempts() - before).to.equal(5);
      // Further guesses do not even reveal the right password.
      const rejected = await guess(21, 'author', PASSWORD.replaceAll(' ', ''));
      expect(errorOf(rejected)).to.deep.equal([429, 'rest_too_many_logins']);
      expect(Number(rejected.headers['retry-after'])).to.be.within(1, 300);
      expect((await guess(22, 'editor', PASSWORD)).status).to.equal(200);
      expect((await guess(200, 'author', PASSWORD)).status).to.equal(200);
      expect((await guarded.request('/events')).status).to.equal(200);
    });

    it('slow down guesses from one address at any user, also concurrent ones', async () => {
      const guarded = await start({ limits: { failedLoginsPerUser: 1000, failedLoginsPerAddress: 5 } });
      const before = attempts();
      const responses = await Promise.all(
        Array.from({ length: 40 }, (_, n) =>
          guarded.request('/events/2', { headers: { authorization: basic(`user${n}`, 'guess') } }),
        ),
      );
      expect(responses.filter(({ status }) => status === 401)).to.have.length(5);
      expect(responses.filter(({ status }) => status === 429)).to.have.length(35);
      expect(attempts() - before).to.equal(5);
      expect((await guarded.request('/events')).status).to.equal(200);
    });
  });

  it('on the size of headers, in total and of one', async () => {
    const small = await start({ limits: { headerBytes: 4000 } });
    const line = (name: string, bytes: number) => ({ [name]: 'x'.repeat(bytes) });
    const ask = (headers: Record<string, string>) => sendRequest(small.port, `${MOUNT}/events`, { headers });
    expect((await ask(line('x-one', 3000))).status).to.equal(200);
    expect((await ask(line('x-one', 5000))).status).to.equal(431);
    expect((await ask({ ...line('x-one', 3000), ...line('x-two', 3000) })).status).to.equal(431);
  });

  it('on the number of headers, also for a cached response', async () => {
    const gateway = await start({});
    const ask = (count: number) =>
      sendRequest(gateway.port, `${MOUNT}/events`, {
        headers: Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, '1'])),
      });
    expect((await ask(100)).status).to.equal(200);
    expect((await ask(300)).status).to.equal(431);
  });

  it('on the time to send headers: 408, then the connection is closed', async () => {
    const hasty = await start({ limits: { headersTimeoutMs: 300, requestTimeoutMs: 120_000 } });
    const socket = connect(hasty.port, '127.0.0.1').on('error', () => {});
    socket.write(`GET ${MOUNT}/events HTTP/1.1\r\nHost: x\r\nX-Slow: `);
    let output = '';
    for await (const chunk of socket) output += chunk;
    expect(output).to.match(/^HTTP\/1\.1 408 /);
  });

  it('on connections of one address: further ones are closed on arrival', async () => {
    const small = await start({ limits: { sockets: 50 } });
    const sockets = Array.from({ length: 8 }, () => connect(small.port, '127.0.0.1').on('error', () => {}));
    const closed: unknown[] = [];
    for (const socket of sockets) socket.on('close', () => closed.push(socket)).resume();
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    await until(
      () => closed.length >= 3,
      () => `three are closed, not ${closed.length}`,
    );
    const open = sockets.find((socket) => !socket.destroyed)!;
    open.write(`GET ${MOUNT}/events HTTP/1.1\r\nHost: x\r\n\r\n`);
    open.removeAllListeners('data');
    const [bytes] = (await once(open, 'data')) as [Buffer];
    expect(String(bytes)).to.match(/^HTTP\/1\.1 200/);
    expect(closed).to.have.length(3);
    for (const socket of sockets) socket.destroy();
  });

  it('on image URLs: no private address is called, in any spelling', async () => {
    const inside = await startStubCms();
    const { port } = inside.url;
    const hosts = ['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::1]', '[::ffff:127.0.0.1]', '0', '127.1'];
    try {
      for (const host of hosts) {
        const response = await post(JSON.stringify({ image: `http://${host}:${port}/a.png` }));
        expect(errorOf(response), host).to.deep.equal([400, 'rest_invalid_param']);
      }
      expect(errorOf(await post('{"image":"file:///etc/passwd"}'))).to.deep.equal([400, 'rest_invalid_param']);
      expect(inside.requests).to.deep.equal([]);
    } finally {
      await inside.close();
    }
  });

  it('on request ids: a valid one is kept, in the response and for the CMS', async () => {
    const ask = (id: string) =>
      sendRequest(gateway.port, `${MOUNT}/events/2`, {
        headers: { authorization: authorization('editor'), 'x-request-id': id },
      });
    const idAtCms = () =>
      wordpress.requests.findLast(({ url }) => /events\/2\b/.test(String(url)))!.headers['x-request-id'];
    expect((await ask('caller:1.a')).headers['x-request-id']).to.equal('caller:1.a');
    expect(idAtCms()).to.equal('caller:1.a');
    for (const id of ['', 'a b', '"quoted"', 'x'.repeat(101), '<script>']) {
      const { headers } = await ask(id);
      expect(headers['x-request-id']).to.match(/^[\w-]{8}-\w+$/);
      expect(idAtCms()).to.equal(headers['x-request-id']);
    }
  });
});
