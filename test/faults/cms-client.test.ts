// The CMS client with every kind of failure: the error's reason, unknown outcomes of writes, retries,
// queueing, circuit breaker.

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type CmsClient, type CmsClientLimits, createCmsClient } from '../../src/cms/client.ts';
import type { BulkheadName } from '../../src/cms/port.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import type { Observation } from '../../src/observability/events.ts';
import { until } from '../until.ts';
import { endless } from './cms-failures.ts';
import { type FaultProxy, startFaultProxy, startRequest } from './fault-proxy.ts';
import { type StubCms, sendJson, sendText, startStubCms } from './stub-cms.ts';

const SECRET = 'Basic c2VjcmV0LXVzZXI6c2VjcmV0LXBhc3M=';

describe('CMS client', () => {
  let cms: StubCms;
  let proxy: FaultProxy;
  let client: CmsClient;
  let observed: Observation[];

  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);

  const fresh = async (limits?: Partial<CmsClientLimits>) => {
    await client.close();
    client = createCmsClient({
      origin: proxy.url,
      observe: (observation) => observed.push(observation),
      limits: { headersTimeoutMs: 300, deadlineMs: 600, retryDelayMs: 1, retries: 0, ...limits },
    });
  };
  const failure = async (method: 'GET' | 'POST' = 'GET', credentials: string | undefined = SECRET) => {
    try {
      await client.request({
        method,
        path: '/x',
        query: { search: 'private-words' },
        credentials,
        ...(method === 'POST' ? { body: '{}' } : {}),
      });
    } catch (error) {
      expect(error).to.be.instanceOf(CmsUnavailable);
      return error as CmsUnavailable;
    }
    return expect.fail('the call should have failed');
  };

  before(() => {
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
  });
  beforeEach(async () => {
    observed = [];
    cms = await startStubCms();
    proxy = await startFaultProxy(cms.url);
    client = createCmsClient({ origin: proxy.url, observe: () => {} });
    await fresh();
  });
  afterEach(async () => {
    await client.close();
    await proxy.close();
    await cms.close();
    expect(JSON.stringify(observed)).to.not.contain('c2VjcmV0').and.not.contain('private-words');
  });
  after(() => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
    expect(uncaught).to.deep.equal([]);
  });

  describe('with network faults', () => {
    const cases = [
      { name: 'refuses connections', fault: { kind: 'down' }, reason: 'refused', unknown: false },
      { name: 'swallows the request', fault: { kind: 'silent' }, reason: 'timeout', unknown: true },
      { name: 'answers late', fault: { kind: 'late', delayMs: 5_000 }, reason: 'timeout', unknown: true },
      { name: 'resets before an answer', fault: { kind: 'reset', afterBytes: 0 }, reason: 'reset', unknown: true },
      { name: 'resets within the headers', fault: { kind: 'reset', afterBytes: 30 }, reason: 'reset', unknown: true },
      { name: 'resets within the body', fault: { kind: 'reset', afterBytes: 1_000 }, reason: 'reset', unknown: true },
      { name: 'ends within the body', fault: { kind: 'cut', afterBytes: 1_000 }, reason: 'reset', unknown: true },
      { name: 'drips', fault: { kind: 'drip', bytes: 20, everyMs: 50 }, reason: 'timeout', unknown: true },
    ] as const;

    for (const { name, fault, reason, unknown } of cases) {
      it(`${name}: ${reason} within the deadline, and sends a write once`, async () => {
        cms.respond = (_request, response) => sendJson(response, 200, { text: 'x'.repeat(5_000) });
        await proxy.set(fault);
        const pending = reason === 'timeout' ? startRequest(proxy.url) : undefined;
        const read = await failure();
        expect(read).to.include({ reason, outcomeUnknown: false });
        const connectionsBefore = proxy.connections;
        const write = await failure('POST');
        expect(write).to.include({ reason, outcomeUnknown: unknown });
        expect(proxy.connections - connectionsBefore).to.be.at.most(1);
        expect(cms.requests.filter(({ method }) => method === 'POST')).to.have.lengthOf.at.most(1);
        if (pending) expect(pending.isAnswered(), 'answered by the CMS as well').to.equal(false);
        pending?.abort();
        for (const error of [read, write]) {
          expect(`${error.message} ${error.stack} ${String(error.cause)}`).to.not.contain('c2VjcmV0');
        }
      });
    }

    it('limits the time until the headers, however late the deadline', async () => {
      await fresh({ headersTimeoutMs: 200, deadlineMs: 120_000 });
      await proxy.set({ kind: 'silent' });
      expect((await failure()).reason).to.equal('timeout');
    });

    it('recovers with the CMS', async () => {
      await proxy.set({ kind: 'down' });
      await failure();
      await proxy.set({ kind: 'none' });
      expect((await client.request({ method: 'GET', path: '/x' })).json).to.deep.equal({ ok: true });
    });
  });

  describe('with bad responses', () => {
    const responses: [string, () => void, Partial<CmsUnavailable>][] = [
      ['a page', () => text(200, '<!DOCTYPE html><html></html>'), { reason: 'not-json', status: 200 }],
      ['a firewall page', () => text(403, '<html>blocked</html>'), { reason: 'not-json', status: 403 }],
      ['half an answer', () => text(200, '{"id":1,"title":{"raw"'), { reason: 'not-json' }],
      ['nothing', () => text(200, ''), { reason: 'not-json' }],
      [
        'a fatal error page',
        () => text(500, '<p>There has been a critical error</p>'),
        { reason: 'status', status: 500 },
      ],
      [
        'maintenance',
        () => text(503, '<h1>Briefly unavailable</h1>', { 'retry-after': '600' }),
        { reason: 'status', status: 503, retryAfterS: 600 },
      ],
      [
        'too many requests',
        () => text(429, '{}', { 'retry-after': '7' }),
        { reason: 'status', status: 429, retryAfterS: 7 },
      ],
      ['100 MB', () => respondWith((response) => endless(response, 100e6)), { reason: 'too-large' }],
      [
        'a gzip bomb',
        () => text(200, gzipSync(Buffer.alloc(30 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
        { reason: 'too-large' },
      ],
      ['gzip that is none', () => text(200, 'no gzip', { 'content-encoding': 'gzip' }), { reason: 'reset' }],
    ];
    const respondWith = (respond: (response: ServerResponse) => void) => {
      cms.respond = (_request, response) => respond(response);
    };
    const text = (status: number, body: string | Buffer, headers?: Record<string, string>) =>
      respondWith((response) => sendText(response, status, body, headers));

    for (const [name, prepare, expected] of responses) {
      it(name, async () => {
        prepare();
        // A hundred megabytes take time on a busy machine: none of these may end by a timeout.
        await fresh({ deadlineMs: 30_000, headersTimeoutMs: 30_000 });
        expect(await failure()).to.include({ ...expected, outcomeUnknown: false });
      }).timeout(40_000);
    }

    it('parses JSON after a PHP notice', async () => {
      text(200, '<br />\n<b>Warning</b>: Undefined key [a] {b} in <b>/x.php</b> on line <b>3</b><br />\n{"id":7}');
      expect((await client.request({ method: 'GET', path: '/x' })).json).to.deep.equal({ id: 7 });
    });

    it('decompresses gzip', async () => {
      text(200, gzipSync('{"id":7}'), { 'content-encoding': 'gzip' });
      expect((await client.request({ method: 'GET', path: '/x' })).json).to.deep.equal({ id: 7 });
    });

    it('knows the outcome of a write', async () => {
      const outcomes: [number, string, boolean][] = [
        [200, '<html>', true],
        [403, '<html>', false],
        [429, '{}', false],
        [500, '<html>', true],
        [500, '{"code":"internal_server_error","message":"<p>critical</p>","data":{"status":500}}', true],
        [502, '{"code":"x","message":"m"}', true],
        [503, '<html>', true],
        [503, '{"code":"wp_die","message":"Briefly unavailable"}', false],
      ];
      for (const [status, body, outcomeUnknown] of outcomes) {
        await fresh();
        text(status, body);
        expect(await failure('POST'), `${status} ${body}`).to.include({ outcomeUnknown });
      }
    });

    it('returns the 500 by which WordPress rejects a write', async () => {
      const body = { code: 'rest_upload_sideload_error', message: 'Not allowed', data: { status: 500 } };
      cms.respond = (_request, response) => sendJson(response, 500, body);
      const rejection = await client.request({ method: 'POST', path: '/x', body: '' });
      expect(rejection).to.deep.include({ status: 500, json: body });
      expect(await failure()).to.include({ reason: 'status', status: 500 });
    });
  });

  describe('redirects', () => {
    it('are followed within the origin, at most three', async () => {
      cms.respond = ({ url = '' }, response) => {
        const redirectsLeft = Number(/\d+/.exec(url)?.[0] ?? 0);
        if (redirectsLeft === 0) sendJson(response, 200, { ok: true });
        else sendText(response, 301, '', { location: `/hop${redirectsLeft - 1}` });
      };
      expect((await client.request({ method: 'GET', path: '/hop3' })).json).to.deep.equal({ ok: true });
      const error = await client.request({ method: 'GET', path: '/hop4' }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ reason: 'status' });
    });

    it('are not followed to another origin, nor for a write', async () => {
      const other = await startStubCms();
      try {
        cms.respond = (_request, response) =>
          sendText(response, 302, '', { location: `${other.url}x?search=private-words` });
        expect((await failure()).message)
          .to.contain(other.url.origin)
          .and.not.contain('private-words');
        expect(cms.requests).to.have.length(1);
        cms.respond = (_request, response) => sendText(response, 307, '', { location: '/y' });
        expect(await failure('POST')).to.include({ reason: 'status', outcomeUnknown: false });
        expect(other.requests).to.deep.equal([]);
        expect(cms.requests.map(({ url }) => url)).to.not.include('/y');
      } finally {
        await other.close();
      }
    });
  });

  describe('retries', () => {
    it('a read after a transient failure', async () => {
      await fresh({ retries: 2 });
      let calls = 0;
      cms.respond = (_request, response) => {
        calls += 1;
        if (calls < 3) response.destroy();
        else sendJson(response, 200, { ok: true });
      };
      expect((await client.request({ method: 'GET', path: '/x' })).status).to.equal(200);
      expect(calls).to.equal(3);
    });

    it('neither a write nor a read with Retry-After', async () => {
      await fresh({ retries: 2 });
      cms.respond = (_request, response) => sendText(response, 503, '', { 'retry-after': '1' });
      await failure();
      cms.respond = (_request, response) => void response.destroy();
      await failure('POST');
      expect(cms.requests).to.have.length(2);
    });

    it('at most a fifth of the requests, or three', async () => {
      await fresh({ retries: 2, connections: 1 });
      // Alternating failures and successes keep the circuit breaker closed.
      cms.respond = ({ url = '' }, response) => {
        if (url.startsWith('/good')) sendJson(response, 200, { ok: true });
        else sendText(response, 500, '<html>');
      };
      for (let n = 0; n < 9; n += 1) {
        await client.request({ method: 'GET', path: '/good' });
        await client.request({ method: 'GET', path: '/good' });
        await failure();
      }
      const received = cms.requests.filter(({ url }) => url.startsWith('/x')).length;
      // 18 good + 9 bad calls; the budget allows max(3, 20 %).
      expect(received)
        .to.be.at.least(9 + 3)
        .and.at.most(9 + Math.ceil(0.2 * 36));
    });
  });

  describe('the circuit breaker', () => {
    const states = () => observed.flatMap((observation) => (observation.type === 'breaker' ? [observation.state] : []));

    it('opens after five failures: the client then does not call the CMS', async () => {
      await proxy.set({ kind: 'reset', afterBytes: 0 });
      for (let call = 0; call < 5; call += 1) expect((await failure()).reason).to.equal('reset');
      const { connections } = proxy;
      expect(await failure('POST')).to.include({ reason: 'breaker-open', outcomeUnknown: false, retryAfterS: 5 });
      expect(proxy.connections).to.equal(connections);
      expect(states()).to.deep.equal(['open']);
    });

    it('ignores errors of the CMS, malformed responses and client aborts', async () => {
      cms.respond = (_request, response) => sendText(response, 403, '<html>');
      for (let call = 0; call < 10; call += 1) await failure();
      cms.respond = () => {};
      for (let call = 0; call < 10; call += 1) {
        const clientAbort = new AbortController();
        const aborted = client
          .request({ method: 'GET', path: '/x', signal: clientAbort.signal })
          .catch((error: unknown) => error);
        clientAbort.abort(new Error('gone'));
        expect(await aborted).to.have.property('message', 'gone');
      }
      expect(states()).to.deep.equal([]);
    });

    it('stops no other bulkhead', async () => {
      await fresh({});
      cms.respond = ({ url = '' }, response) => {
        if (url.startsWith('/bad')) sendText(response, 500, '<html>');
        else sendJson(response, 200, { ok: true });
      };
      const get = (path: string, bulkhead: BulkheadName) =>
        client.request({ method: 'GET', path, bulkhead }).then(
          ({ status }) => status,
          ({ reason }: CmsUnavailable) => reason,
        );
      for (let call = 0; call < 5; call += 1) expect(await get('/bad', 'anonymous')).to.equal('status');
      expect(await get('/good', 'anonymous')).to.equal('breaker-open');
      for (const bulkhead of ['logins', 'callers', 'sync'] as const) expect(await get('/good', bulkhead)).to.equal(200);
    });
  });

  describe('the queue', () => {
    it('is bounded and rejects further calls immediately', async () => {
      await fresh({ connections: 2, queue: 3, deadlineMs: 5_000, headersTimeoutMs: 5_000 });
      const held: (() => void)[] = [];
      cms.respond = (_request, response) => void held.push(() => sendJson(response, 200, { ok: true }));
      const calls = Array.from({ length: 8 }, () =>
        client.request({ method: 'GET', path: '/x' }).catch((error: unknown) => error),
      );
      const away = await Promise.all(calls.slice(5));
      for (const error of away) expect(error).to.include({ reason: 'busy', outcomeUnknown: false });
      await until(() => held.length >= 2, 'two calls at the CMS');
      cms.respond = (_request, response) => sendJson(response, 200, { ok: true });
      for (const release of held) release();
      for (const response of await Promise.all(calls.slice(0, 5))) expect(response).to.include({ status: 200 });
      const queueSizes = observed.flatMap((observation) => (observation.type === 'queue' ? [observation] : []));
      expect(Math.max(...queueSizes.map(({ running }) => running))).to.equal(2);
      expect(Math.max(...queueSizes.map(({ waiting }) => waiting))).to.equal(3);
      expect(queueSizes.at(-1)).to.include({ running: 0, waiting: 0 });
    });

    it('is left at the deadline and by a client abort', async () => {
      await fresh({ connections: 1, queue: 3 });
      cms.respond = () => {};
      const holder = failure();
      const clientAbort = new AbortController();
      const waiter = client
        .request({ method: 'POST', path: '/x', signal: clientAbort.signal })
        .catch((error: unknown) => error);
      const late = failure('POST');
      clientAbort.abort(new Error('gone'));
      expect(await waiter).to.have.property('message', 'gone');
      expect((await holder).reason).to.equal('timeout');
      await late;
    });
  });

  it('forwards only the headers meant for the CMS', async () => {
    await client.request({
      method: 'POST',
      path: '/x',
      headers: {
        'content-type': 'a/b',
        'content-disposition': 'attachment',
        cookie: 'c',
        'x-forwarded-for': '1',
        x_request_id: 'u',
      },
      body: 'body',
      credentials: SECRET,
      requestId: 'r-1',
    });
    const { host, connection, 'content-length': length, ...rest } = cms.requests[0]?.headers ?? {};
    expect(rest).to.deep.equal({
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'calendar-gateway',
      'content-type': 'a/b',
      'content-disposition': 'attachment',
      authorization: SECRET,
      'x-request-id': 'r-1',
    });
    await client.request({ method: 'GET', path: '/x', requestId: 'evil\r\nx: y' });
    expect(cms.requests[1]?.headers).to.not.have.any.keys('x-request-id', 'authorization', 'x');
  });
});
