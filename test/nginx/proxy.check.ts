// The API behind nginx: URLs in responses, caching, and the client addresses that limits count.

import { once } from 'node:events';
import { createServer, request as plainRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { PRIVATE_HEADERS } from '../../src/http/headers.ts';
import { authorization, type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { freePort, freePorts } from '../free-port.ts';
import { MOUNT, type SocketGateway, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import { type RequestOptions, type RunningNginx, startNginx } from './nginx.ts';

const SERVICE = { user: 'admin', password: PASSWORD };
const TRUSTING = { trustProxies: true };

/** Number of API requests that have reached the gateway. */
const reached = (gateway: SocketGateway): number => gateway.log().split('\n').filter(isRequest).length;
const isRequest = (line: string): boolean => line.includes('"route":') && !line.includes('"route":"none"');

describe('the gateway behind nginx', () => {
  let wordpress: FakeWordPress;
  let gateway: SocketGateway;
  let nginx: RunningNginx;

  before(async () => {
    wordpress = await startFakeWordPress();
    manyLinks(wordpress);
    const port = await freePort();
    const settings = { listen: TRUSTING, publicUrl: `https://127.0.0.1:${port}`, cache: { maxAgeS: 2 } };
    gateway = await startGateway({
      transport: 'socket',
      cmsUrl: wordpress.url.href,
      config: settings,
      service: SERVICE,
    });
    nginx = await startNginx({ gateways: [gateway.port], port });
  });
  after(async () => {
    await nginx?.stop();
    await gateway?.stop();
    await wordpress?.close();
  });

  const ask = (path: string, options?: RequestOptions) => nginx.ask(MOUNT + path, options);

  it('redirects HTTP to HTTPS', async () => {
    const location = await new Promise((settle) =>
      plainRequest({ host: '127.0.0.1', port: nginx.plainPort, path: '/docs?a=b' }, (response) => {
        response.resume();
        settle(`${response.statusCode} ${response.headers.location}`);
      }).end(),
    );
    expect(location).to.equal('308 https://127.0.0.1/docs?a=b');
  });

  it("uses the public URL in every link, whatever the client's headers", async () => {
    const forged = {
      'x-forwarded-host': 'elsewhere.example',
      'x-forwarded-proto': 'http',
      forwarded: 'host=e.example',
    };
    const { status, text, headers } = await ask('/events?per_page=2', { headers: forged });
    expect(status).to.equal(200);
    const list = JSON.parse(text) as { rest_url: string; next_rest_url: string; events: { rest_url: string }[] };
    const links = [list.rest_url, list.next_rest_url, ...list.events.map((event) => event.rest_url)];
    for (const link of links) expect(link.startsWith(`${nginx.url}${MOUNT}/events`), link).to.equal(true);
    expect(text + JSON.stringify(headers)).not.to.include('elsewhere.example');
    const next = await nginx.ask(list.next_rest_url.slice(nginx.url.length));
    expect(next.status).to.equal(200);
  });

  it('serves the second of two identical requests from the cache, with the same headers and its own request id', async () => {
    const [first, before] = [await ask('/events?per_page=3'), reached(gateway)];
    const second = await ask('/events?per_page=3');
    expect([first.headers['x-cache'], second.headers['x-cache']]).to.deep.equal(['MISS', 'HIT']);
    expect(reached(gateway)).to.equal(before);
    expect(second.text).to.equal(first.text);
    for (const name of ['etag', 'cache-control', 'vary', 'x-tec-total', 'cache-tag', 'surrogate-key', 'allow'])
      expect(second.headers[name], name).to.be.a('string').and.equal(first.headers[name]);
    expect(second.headers['x-request-id'])
      .to.match(/^\w{32}$/)
      .and.not.equal(first.headers['x-request-id']);
  });

  it('forwards one of many concurrent identical requests', async () => {
    const before = reached(gateway);
    const responses = await Promise.all(Array.from({ length: 30 }, () => ask('/events?per_page=4&page=1')));
    expect(new Set(responses.map(({ status }) => status))).to.deep.equal(new Set([200]));
    expect(reached(gateway) - before).to.equal(1);
  });

  it('passes 304 on, from the gateway and from the cache', async () => {
    const { etag } = (await ask('/venues?per_page=3')).headers;
    const revalidated = await ask('/venues?per_page=3', { headers: { 'if-none-match': etag! } });
    expect([revalidated.status, revalidated.text, revalidated.headers.etag]).to.deep.equal([304, '', etag]);
    const fresh = await ask('/organizers?per_page=3', { headers: { 'cache-control': 'no-cache' } });
    const known = { 'cache-control': 'no-cache', 'if-none-match': fresh.headers.etag! };
    expect((await ask('/organizers?per_page=3', { headers: known })).status).to.equal(304);
  });

  it('passes compressed responses unchanged, one per encoding, and compresses nothing itself', async () => {
    const path = '/events?per_page=50';
    const plain = await ask(path);
    expect(plain.headers['content-encoding']).to.equal(undefined);
    for (const encoding of ['gzip', 'br', 'zstd']) {
      const headers = { 'accept-encoding': encoding };
      for (const cached of ['MISS', 'HIT']) {
        const response = await ask(path, { headers });
        expect([response.headers['content-encoding'], response.headers['x-cache']]).to.deep.equal([encoding, cached]);
        expect(response.text).to.equal(plain.text);
      }
    }
  });

  it('passes responses whose headers name three hundred records', async () => {
    const { status, headers } = await ask('/events?per_page=50&page=1');
    expect(status).to.equal(200);
    const named = `${headers['surrogate-key']}${headers['cache-tag']}`;
    expect(named.length).to.be.above(4096);
  });

  it('caches one response per origin', async () => {
    for (const origin of ['https://one.example', 'https://two.example', 'https://one.example']) {
      const { headers } = await ask('/venues?per_page=2', { headers: { origin } });
      expect(headers['access-control-allow-origin']).to.equal(origin);
    }
  });

  it('never caches a response to a request with credentials', async () => {
    const path = '/events?status=draft&per_page=9';
    for (const headers of [{ authorization: authorization('editor') }, { authorization: authorization('author') }]) {
      const authenticated = await ask(path, { headers });
      expect(authenticated.status).to.equal(200);
      expect(authenticated.headers['x-cache']).to.equal('BYPASS');
      expect(authenticated.text).to.include('hidden-');
    }
    const others = await ask(path);
    expect(others.text).not.to.include('hidden-');
    const plain = '/events?per_page=7';
    await ask(plain);
    expect((await ask(plain)).headers['x-cache']).to.equal('HIT');
    expect((await ask(plain, { headers: { authorization: authorization('editor') } })).headers['x-cache']).to.equal(
      'BYPASS',
    );
    const stored = nginx.stored();
    expect(stored.length).to.be.above(0);
    expect(stored.filter((text) => /hidden-|Basic /.test(text))).to.deep.equal([]);
  });

  it('bypasses the cache for a request with more than a URL', async () => {
    const path = '/events/1';
    await ask(path);
    expect((await ask(path)).headers['x-cache']).to.equal('HIT');
    for (const headers of [
      { 'x-wp-nonce': 'none' },
      { 'x-http-method-override': 'DELETE' },
      { 'cache-control': 'no-cache' },
      { 'x-calendar-min-version': '1' },
    ] as Record<string, string>[]) {
      const { headers: answered } = await ask(path, { headers });
      expect(answered['x-cache'], JSON.stringify(headers)).to.equal('BYPASS');
    }
    const withBody = await ask(path, { headers: { 'content-type': 'application/json' }, body: '{"a":1}' });
    expect(withBody.headers['x-cache']).to.equal('BYPASS');
    expect((await ask(path)).status).to.equal(200);
  });

  it('never caches the response to a request with a body, also over HTTP/2 without a length', async () => {
    const json = { 'content-type': 'application/json' };
    for (const [n, body] of ['{"search":"poisoned"}', '0'].entries()) {
      for (const ask of ['ask', 'ask2'] as const) {
        const path = `${MOUNT}/venues?per_page=${n + 11}&way=${ask}`;
        const before = nginx.stored().length;
        const poison = await nginx[ask](path, { headers: json, body });
        expect(poison.headers['x-cache'], `${ask} ${body}`).to.equal('BYPASS');
        if (poison.status === 200) expect(poison.headers['cache-control']).to.equal(PRIVATE_HEADERS['Cache-Control']);
        expect(nginx.stored().length, `${ask} ${body}`).to.equal(before);
        const direct = await gateway.request(path.slice(MOUNT.length));
        expect((await nginx[ask](path)).text, `${ask} ${body}`).to.equal(direct.text);
        // Nor does a request with a body get the cached response.
        expect((await nginx[ask](path, { headers: json, body })).headers['x-cache']).to.equal('BYPASS');
        expect((await nginx[ask](path)).headers['x-cache']).to.equal('HIT');
      }
    }
  });

  it("shows a write after the cache's lifetime", async () => {
    const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
    const path = '/events/1';
    await ask(path);
    const written = await ask(path, { method: 'POST', headers, body: '{"title":"Renamed behind nginx"}' });
    expect(written.status).to.equal(200);
    expect(JSON.parse((await gateway.request(path)).text).title).to.equal('Renamed behind nginx');
    // nginx refreshes in the background with the last stale response.
    let status = '';
    for (let tries = 0; status !== 'Renamed behind nginx' && tries < 60; tries++) {
      status = (JSON.parse((await ask(path)).text) as { title: string }).title;
      await new Promise((later) => setTimeout(later, 100));
    }
    expect(status).to.equal('Renamed behind nginx');
  });

  it('lets the gateway reject what is too long or too large', async () => {
    const long = await ask(`/events?search=${'a'.repeat(9000)}`);
    expect([long.status, JSON.parse(long.text).code]).to.deep.equal([414, 'rest_uri_too_long']);
    const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
    const large = await ask('/events', { method: 'POST', headers, body: JSON.stringify({ a: 'b'.repeat(1_200_000) }) });
    expect(large.status).to.equal(413);
    expect(JSON.parse(large.text)).to.have.property('code');
  });
});

describe('the limits behind nginx', () => {
  const LIMIT = 20;
  const open: { stop(): Promise<void> }[] = [];
  let wordpress: FakeWordPress;
  before(async () => {
    wordpress = await startFakeWordPress();
  });
  after(() => wordpress?.close());
  afterEach(async () => {
    for (const server of open.splice(0).reverse()) await server.stop();
  });

  async function limited(trustProxies: boolean) {
    const settings = { listen: { trustProxies }, limits: { requestsPerMinute: LIMIT } };
    const gateway = await startGateway({ transport: 'socket', cmsUrl: wordpress.url.href, config: settings });
    open.push(gateway);
    const nginx = await startNginx({ gateways: [gateway.port], port: await freePort() });
    open.push(nginx);
    let requestCount = 0;
    /** A new URL for every request, so that it reaches the gateway. */
    const statuses = async (count: number, more: RequestOptions) => {
      const counts = new Map<number, number>();
      for (let i = 0; i < count; i++) {
        const { status } = await nginx.ask(`${MOUNT}/events?search=n${++requestCount}`, more);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
      return Object.fromEntries(counts);
    };
    return { gateway, statuses };
  }

  it("count the address that nginx saw, not one in a client's header", async () => {
    const { statuses } = await limited(true);
    expect(await statuses(LIMIT + 5, { from: '127.0.0.2' })).to.deep.equal({ 200: LIMIT, 429: 5 });
    expect(await statuses(5, { from: '127.0.0.3' })).to.deep.equal({ 200: 5 });
    const forged = { 'x-forwarded-for': '198.51.100.7', 'x-real-ip': '198.51.100.7', forwarded: 'for=198.51.100.7' };
    expect(await statuses(5, { from: '127.0.0.2', headers: forged })).to.deep.equal({ 429: 5 });
  });

  it('ignore forwarding headers without a trusted proxy', async () => {
    const { gateway, statuses } = await limited(false);
    expect(await statuses(LIMIT, { from: '127.0.0.2' })).to.deep.equal({ 200: LIMIT });
    // All requests through nginx then have one address, whatever their headers.
    expect(await statuses(3, { from: '127.0.0.3' })).to.deep.equal({ 429: 3 });
    const direct = await gateway.request('/events?search=direct', { headers: { 'x-forwarded-for': '198.51.100.7' } });
    expect(direct.status).to.equal(429);
  });
});

describe('nginx without a gateway', () => {
  it("uses the second of two gateways, then its cache, then responds with the API's error", async () => {
    const wordpress = await startFakeWordPress();
    const [port, closedPort] = await freePorts();
    const settings = { listen: TRUSTING, cache: { maxAgeS: 1, staleWhileRevalidateS: 0 } };
    const gateway = await startGateway({ transport: 'socket', cmsUrl: wordpress.url.href, config: settings });
    const nginx = await startNginx({ gateways: [closedPort, gateway.port], port });
    try {
      for (let i = 0; i < 6; i++) expect((await nginx.ask(`${MOUNT}/events?search=m${i}`)).status).to.equal(200);
      const before = await nginx.ask(`${MOUNT}/events`);
      await gateway.stop();
      // nginx counts whole seconds.
      await new Promise((later) => setTimeout(later, 2100));
      const stale = await nginx.ask(`${MOUNT}/events`);
      expect([stale.status, stale.headers['x-cache'], stale.text]).to.deep.equal([200, 'STALE', before.text]);
      const none = await nginx.ask(`${MOUNT}/venues`);
      expect([none.status, none.headers['retry-after']]).to.deep.equal([503, '5']);
      expect(none.headers['content-type']).to.equal('application/json; charset=UTF-8');
      expect(JSON.parse(none.text)).to.deep.include({ code: 'calendar_unavailable', data: { status: 503 } });
    } finally {
      await nginx.stop();
      await wordpress.close();
    }
  });
});

/** Fifty events, each with three venues and two organizers of its own. */
function manyLinks({ cms }: FakeWordPress): void {
  let id = 100_000;
  const add = (base: string, meta: Record<string, unknown> = {}): number => {
    id += 1;
    return cms.createPost(base, { id, author: 4, title: `${base} ${id}`, meta }).id;
  };
  const some = (base: string, count: number) => Array.from({ length: count }, () => add(base));
  const day = `${new Date().getUTCFullYear() + 1}-05-01`;
  for (let i = 0; i < 50; i++) {
    const links = { venue_ids: some('venues', 3), organizer_ids: some('organizers', 2) };
    add('events', { start_date: `${day} 10:00:00`, end_date: `${day} 11:00:00`, ...links });
  }
}

describe('a write through nginx', () => {
  it('has an unknown outcome if the gateway got it and did not answer, and none if no gateway took it', async () => {
    const failing = createServer((request) => request.socket.destroy()).listen(0, '127.0.0.1');
    await once(failing, 'listening');
    const port = await freePort();
    const nginx = await startNginx({ gateways: [(failing.address() as AddressInfo).port], port });
    const answer = async (method: string, headers = {}, query = '') => {
      const {
        status,
        text,
        headers: sent,
      } = await nginx.ask(`${MOUNT}/events${query}`, {
        method,
        ...(method === 'POST' && { body: '{"title":"x"}' }),
        headers: { 'content-type': 'application/json', ...headers },
      });
      return [status, (JSON.parse(text) as { code: string }).code, sent['retry-after']];
    };
    try {
      expect(await answer('POST')).to.deep.equal([502, 'calendar_outcome_unknown', undefined]);
      // A method in a header or a parameter makes a write of a GET.
      expect(await answer('GET', { 'x-http-method-override': 'DELETE' })).to.deep.equal([
        502,
        'calendar_outcome_unknown',
        undefined,
      ]);
      expect(await answer('GET', {}, '?_method=DELETE')).to.deep.equal([502, 'calendar_outcome_unknown', undefined]);
      expect(await answer('GET')).to.deep.equal([503, 'calendar_unavailable', '5']);
      failing.close();
      // nginx tries the only gateway again although it failed.
      expect(await answer('POST')).to.deep.equal([503, 'calendar_unavailable', '5']);
    } finally {
      await nginx.stop();
    }
  });
});

describe('webhooks through nginx', () => {
  it('reach the admin port, though the site does not wait for the response', async () => {
    const received: string[] = [];
    const admin = createServer((request, response) => {
      received.push(`${request.method} ${request.url} ${request.headers['x-calendar-signature']}`);
      request.resume();
      response.writeHead(202).end();
    }).listen(0, '127.0.0.1');
    await once(admin, 'listening');
    const { port: adminPort } = admin.address() as AddressInfo;
    const port = await freePort();
    const nginx = await startNginx({ gateways: [await freePort()], port, adminPort });
    try {
      const sent = Array.from({ length: 20 }, (_, n) => `POST /-/changes t=${n},v1=0`);
      for (const line of sent) {
        const body = '{"changes":[]}';
        const head = [
          'POST /-/changes HTTP/1.1',
          'Host: 127.0.0.1',
          `X-Calendar-Signature: ${line.split(' ')[2]}`,
          `Content-Length: ${body.length}`,
        ];
        const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
        await once(socket, 'secureConnect');
        socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
        socket.destroySoon();
        await once(socket, 'close');
      }
      await until(() => received.length >= sent.length, 'every webhook has arrived');
      expect(received.toSorted()).to.deep.equal(sent.toSorted());
      expect((await nginx.ask('/-/status')).status).to.not.equal(202);
    } finally {
      await nginx.stop();
      admin.close();
    }
  });
});
