// Shows what the client of the CMS makes of every failure: its reason, whether a write may have happened, and what is repeated, queued or refused.

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { UpstreamAway } from '../../src/errors.ts';
import type { Observation } from '../../src/observe/events.ts';
import { type Client, type ClientLimits, createClient } from '../../src/upstream/client.ts';
import type { LaneName } from '../../src/upstream/port.ts';
import { until } from '../until.ts';
import { answerJson, answerText, type StandIn, startStandIn } from './cms.ts';
import { askPatiently, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { endless } from './misbehaviour.ts';

const SECRET = 'Basic c2VjcmV0LXVzZXI6c2VjcmV0LXBhc3M=';

describe('an upstream that fails', () => {
  let cms: StandIn;
  let proxy: FaultProxy;
  let client: Client;
  let observed: Observation[];

  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);

  const fresh = async (limits?: Partial<ClientLimits>) => {
    await client.close();
    client = createClient({
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
      expect(error).to.be.instanceOf(UpstreamAway);
      return error as UpstreamAway;
    }
    return expect.fail('the call should have failed');
  };

  before(() => {
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
  });
  beforeEach(async () => {
    observed = [];
    cms = await startStandIn();
    proxy = await startFaultProxy(cms.url);
    client = createClient({ origin: proxy.url, observe: () => {} });
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

  describe('on the wire', () => {
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
      it(`${name}: ${reason} in time, and a write is sent once`, async () => {
        cms.answer = (_request, response) => answerJson(response, 200, { text: 'x'.repeat(5_000) });
        await proxy.set(fault);
        const patient = reason === 'timeout' ? askPatiently(proxy.url) : undefined;
        const read = await failure();
        expect(read).to.include({ reason, outcomeUnknown: false });
        const connectionsBefore = proxy.connections;
        const write = await failure('POST');
        expect(write).to.include({ reason, outcomeUnknown: unknown });
        expect(proxy.connections - connectionsBefore).to.be.at.most(1);
        expect(cms.seen.filter(({ method }) => method === 'POST')).to.have.lengthOf.at.most(1);
        if (patient) expect(patient.isAnswered(), 'answered by the CMS as well').to.equal(false);
        patient?.giveUp();
        for (const error of [read, write]) {
          expect(`${error.message} ${error.stack} ${String(error.cause)}`).to.not.contain('c2VjcmV0');
        }
      });
    }

    it('has a time until an answer begins, however far off the deadline is', async () => {
      await fresh({ headersTimeoutMs: 200, deadlineMs: 120_000 });
      await proxy.set({ kind: 'silent' });
      expect((await failure()).reason).to.equal('timeout');
    });

    it('serves again when the CMS is back', async () => {
      await proxy.set({ kind: 'down' });
      await failure();
      await proxy.set({ kind: 'none' });
      expect((await client.request({ method: 'GET', path: '/x' })).json).to.deep.equal({ ok: true });
    });
  });

  describe('in what it says', () => {
    const answers: [string, () => void, Partial<UpstreamAway>][] = [
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
      ['100 MB', () => says((response) => endless(response, 100e6)), { reason: 'too-large' }],
      [
        'a gzip bomb',
        () => text(200, gzipSync(Buffer.alloc(30 * 1024 * 1024)), { 'content-encoding': 'gzip' }),
        { reason: 'too-large' },
      ],
      ['gzip that is none', () => text(200, 'no gzip', { 'content-encoding': 'gzip' }), { reason: 'reset' }],
    ];
    const says = (answer: (response: ServerResponse) => void) => {
      cms.answer = (_request, response) => answer(response);
    };
    const text = (status: number, body: string | Buffer, headers?: Record<string, string>) =>
      says((response) => answerText(response, status, body, headers));

    for (const [name, prepare, expected] of answers) {
      it(name, async () => {
        prepare();
        // A hundred megabytes take a busy machine their time: none of these is to end by the clock.
        await fresh({ deadlineMs: 30_000, headersTimeoutMs: 30_000 });
        expect(await failure()).to.include({ ...expected, outcomeUnknown: false });
      }).timeout(40_000);
    }

    it('gives the answer behind a PHP notice', async () => {
      text(200, '<br />\n<b>Warning</b>: Undefined key [a] {b} in <b>/x.php</b> on line <b>3</b><br />\n{"id":7}');
      expect((await client.request({ method: 'GET', path: '/x' })).json).to.deep.equal({ id: 7 });
    });

    it('unpacks gzip', async () => {
      text(200, gzipSync('{"id":7}'), { 'content-encoding': 'gzip' });
      expect((await client.request({ method: 'GET', path: '/x' })).json).to.deep.equal({ id: 7 });
    });

    it('knows what became of a write', async () => {
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

    it('takes the 500 with which WordPress refuses a write as its answer', async () => {
      const body = { code: 'rest_upload_sideload_error', message: 'Not allowed', data: { status: 500 } };
      cms.answer = (_request, response) => answerJson(response, 500, body);
      const answer = await client.request({ method: 'POST', path: '/x', body: '' });
      expect(answer).to.deep.include({ status: 500, json: body });
      expect(await failure()).to.include({ reason: 'status', status: 500 });
    });
  });

  describe('redirects', () => {
    it('follows within the origin, three times at most', async () => {
      cms.answer = ({ url = '' }, response) => {
        const left = Number(/\d+/.exec(url)?.[0] ?? 0);
        if (left === 0) answerJson(response, 200, { ok: true });
        else answerText(response, 301, '', { location: `/hop${left - 1}` });
      };
      expect((await client.request({ method: 'GET', path: '/hop3' })).json).to.deep.equal({ ok: true });
      const error = await client.request({ method: 'GET', path: '/hop4' }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ reason: 'status' });
    });

    it('asks nothing of another origin, and does not repeat a write elsewhere', async () => {
      const other = await startStandIn();
      try {
        cms.answer = (_request, response) =>
          answerText(response, 302, '', { location: `${other.url}x?search=private-words` });
        expect((await failure()).message)
          .to.contain(other.url.origin)
          .and.not.contain('private-words');
        expect(cms.seen).to.have.length(1);
        cms.answer = (_request, response) => answerText(response, 307, '', { location: '/y' });
        expect(await failure('POST')).to.include({ reason: 'status', outcomeUnknown: false });
        expect(other.seen).to.deep.equal([]);
        expect(cms.seen.map(({ url }) => url)).to.not.include('/y');
      } finally {
        await other.close();
      }
    });
  });

  describe('repeats', () => {
    it('a read that failed by accident, until it works', async () => {
      await fresh({ retries: 2 });
      let calls = 0;
      cms.answer = (_request, response) => {
        calls += 1;
        if (calls < 3) response.destroy();
        else answerJson(response, 200, { ok: true });
      };
      expect((await client.request({ method: 'GET', path: '/x' })).status).to.equal(200);
      expect(calls).to.equal(3);
    });

    it('neither a write nor a read that the CMS put off', async () => {
      await fresh({ retries: 2 });
      cms.answer = (_request, response) => answerText(response, 503, '', { 'retry-after': '1' });
      await failure();
      cms.answer = (_request, response) => void response.destroy();
      await failure('POST');
      expect(cms.seen).to.have.length(2);
    });

    it('no more than a fifth of the requests, or three', async () => {
      await fresh({ retries: 2, connections: 1 });
      // Failures and answers by turns keep the breaker closed; every other answer fails.
      cms.answer = ({ url = '' }, response) => {
        if (url.startsWith('/good')) answerJson(response, 200, { ok: true });
        else answerText(response, 500, '<html>');
      };
      for (let round = 0; round < 9; round += 1) {
        await client.request({ method: 'GET', path: '/good' });
        await client.request({ method: 'GET', path: '/good' });
        await failure();
      }
      const sent = cms.seen.filter(({ url }) => url.startsWith('/x')).length;
      // 18 good + 9 bad calls; the budget allows max(3, 20 %).
      expect(sent)
        .to.be.at.least(9 + 3)
        .and.at.most(9 + Math.ceil(0.2 * 36));
    });
  });

  describe('the breaker', () => {
    const states = () => observed.flatMap((one) => (one.type === 'breaker' ? [one.state] : []));

    it('opens after five failures, lets one call try, closes when it succeeds', async () => {
      await fresh({ halfOpenAfterMs: 100 });
      await proxy.set({ kind: 'reset', afterBytes: 0 });
      for (let call = 0; call < 5; call += 1) expect((await failure()).reason).to.equal('reset');
      const connections = proxy.connections;
      const turnedAway = await failure('POST');
      expect(turnedAway).to.include({ reason: 'breaker-open', outcomeUnknown: false });
      expect(turnedAway.retryAfterS).to.equal(1);
      expect(proxy.connections).to.equal(connections);

      await new Promise((done) => setTimeout(done, 120));
      const tries = await Promise.all([failure(), failure(), failure()]);
      expect(tries.map(({ reason }) => reason).sort()).to.deep.equal(['breaker-open', 'breaker-open', 'reset']);
      expect(proxy.connections).to.equal(connections + 1);

      await proxy.set({ kind: 'none' });
      await new Promise((done) => setTimeout(done, 120));
      expect((await failure()).reason).to.equal('breaker-open'); // it doubled
      await new Promise((done) => setTimeout(done, 120));
      expect((await client.request({ method: 'GET', path: '/x' })).status).to.equal(200);
      expect(states()).to.deep.equal(['open', 'half-open', 'open', 'half-open', 'closed']);
    });

    it('is not moved by refusals, odd answers or callers who give up', async () => {
      cms.answer = (_request, response) => answerText(response, 403, '<html>');
      for (let call = 0; call < 10; call += 1) await failure();
      cms.answer = () => {};
      for (let call = 0; call < 10; call += 1) {
        const giveUp = new AbortController();
        const gone = client
          .request({ method: 'GET', path: '/x', signal: giveUp.signal })
          .catch((error: unknown) => error);
        giveUp.abort(new Error('gone'));
        expect(await gone).to.have.property('message', 'gone');
      }
      expect(states()).to.deep.equal([]);
    });

    it('stops no other lane when what one lane asks for keeps failing', async () => {
      await fresh({});
      cms.answer = ({ url = '' }, response) => {
        if (url.startsWith('/bad')) answerText(response, 500, '<html>');
        else answerJson(response, 200, { ok: true });
      };
      const get = (path: string, lane: LaneName) =>
        client.request({ method: 'GET', path, lane }).then(
          ({ status }) => status,
          ({ reason }: UpstreamAway) => reason,
        );
      for (let call = 0; call < 5; call += 1) expect(await get('/bad', 'anonymous')).to.equal('status');
      expect(await get('/good', 'anonymous')).to.equal('breaker-open');
      for (const lane of ['logins', 'callers', 'sync'] as const) expect(await get('/good', lane)).to.equal(200);
    });

    it('does not take a probe that was given up for a success', async () => {
      await fresh({ halfOpenAfterMs: 50 });
      await proxy.set({ kind: 'down' });
      for (let call = 0; call < 5; call += 1) await failure();
      await proxy.set({ kind: 'silent' });
      await new Promise((done) => setTimeout(done, 60));
      const giveUp = new AbortController();
      const probe = client
        .request({ method: 'GET', path: '/x', signal: giveUp.signal })
        .catch((error: unknown) => error);
      let probing = true;
      probe.then(() => {
        probing = false;
      });
      expect((await failure()).reason).to.equal('breaker-open');
      expect(probing).to.equal(true); // nobody waits for the probe
      giveUp.abort(new Error('gone'));
      await probe;
      expect(states()).to.deep.equal(['open', 'half-open', 'open']);
    });
  });

  describe('the queue', () => {
    it('holds so many and turns the rest away at once', async () => {
      await fresh({ connections: 2, queue: 3, deadlineMs: 5_000, headersTimeoutMs: 5_000 });
      const held: (() => void)[] = [];
      cms.answer = (_request, response) => void held.push(() => answerJson(response, 200, { ok: true }));
      const calls = Array.from({ length: 8 }, () =>
        client.request({ method: 'GET', path: '/x' }).catch((error: unknown) => error),
      );
      const away = await Promise.all(calls.slice(5));
      for (const error of away) expect(error).to.include({ reason: 'busy', outcomeUnknown: false });
      await until(() => held.length >= 2, 'two calls at the CMS');
      cms.answer = (_request, response) => answerJson(response, 200, { ok: true });
      for (const release of held) release();
      for (const answer of await Promise.all(calls.slice(0, 5))) expect(answer).to.include({ status: 200 });
      const most = observed.flatMap((one) => (one.type === 'queue' ? [one] : []));
      expect(Math.max(...most.map(({ running }) => running))).to.equal(2);
      expect(Math.max(...most.map(({ waiting }) => waiting))).to.equal(3);
      expect(most.at(-1)).to.include({ running: 0, waiting: 0 });
    });

    it('ends a wait with the deadline or the caller', async () => {
      await fresh({ connections: 1, queue: 3 });
      cms.answer = () => {};
      const holder = failure();
      const giveUp = new AbortController();
      const waiter = client
        .request({ method: 'POST', path: '/x', signal: giveUp.signal })
        .catch((error: unknown) => error);
      const late = failure('POST');
      giveUp.abort(new Error('gone'));
      expect(await waiter).to.have.property('message', 'gone');
      expect((await holder).reason).to.equal('timeout');
      await late;
    });
  });

  it('sends only the headers that are meant for the CMS', async () => {
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
    const { host, connection, 'content-length': length, ...rest } = cms.seen[0]?.headers ?? {};
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
    expect(cms.seen[1]?.headers).to.not.have.any.keys('x-request-id', 'authorization', 'x');
  });
});
