// How the CMS client protects the CMS and its callers: retries, circuit breaker, queue.

import { expect } from 'chai';
import type { BulkheadName } from '../../src/cms/port.ts';
import { createRestCall } from '../../src/cms/wordpress/rest-api.ts';
import type { CmsUnavailable } from '../../src/errors.ts';
import { until } from '../until.ts';
import { clientFixture } from './client-fixture.ts';
import { sendJson, sendText } from './stub-cms.ts';

describe('CMS client under load and failures', () => {
  const fixture = clientFixture();
  const { failure, fresh } = fixture;

  describe('retries', () => {
    it('a read after a transient failure', async () => {
      await fresh({ retries: 2 });
      let calls = 0;
      fixture.cms.respond = (_request, response) => {
        calls += 1;
        if (calls < 3) response.destroy();
        else sendJson(response, 200, { ok: true });
      };
      expect((await fixture.client.request({ method: 'GET', path: '/x' })).status).to.equal(200);
      expect(calls).to.equal(3);
    });

    it('neither a write nor a read with Retry-After', async () => {
      await fresh({ retries: 2 });
      fixture.cms.respond = (_request, response) => sendText(response, 503, '', { 'retry-after': '1' });
      await failure();
      fixture.cms.respond = (_request, response) => void response.destroy();
      await failure('POST');
      expect(fixture.cms.requests).to.have.length(2);
    });

    it('nothing that could not be sent', async () => {
      await fresh({ retries: 2, retryDelayMs: 60_000, deadlineMs: 60_000 });
      const call = fixture.client.request({ method: 'GET', path: '/x', headers: { bad: 'a\nb' } });
      expect(await call.catch((error: unknown) => error)).to.have.property('code', 'UND_ERR_INVALID_ARG');
      expect(fixture.cms.requests).to.deep.equal([]);
    });

    it('no response that ends within its body: undici would ask for its rest', async () => {
      await fresh({ retries: 2 });
      fixture.cms.respond = (_request, response) => {
        response.writeHead(200, { 'content-length': '1000' });
        response.write('{"id":7,', () => response.destroy());
      };
      expect(await failure()).to.include({ reason: 'reset' });
      expect(fixture.cms.requests).to.have.length(1);
    });
  });

  it('ends a call at its deadline, also in the pause before a retry, as one failure', async () => {
    await fresh({ retries: 2, retryDelayMs: 60_000, deadlineMs: 100 });
    fixture.cms.respond = (_request, response) => sendText(response, 500, '');
    expect(await failure()).to.include({ reason: 'timeout' });
    const failed = fixture.observed.flatMap((each) => (each.type === 'cms-failed' ? [each.reason] : []));
    expect(failed).to.deep.equal(['timeout']);
  });

  describe('the circuit breaker', () => {
    const states = () =>
      fixture.observed.flatMap((observation) => (observation.type === 'breaker' ? [observation.state] : []));

    it('opens after five failures: the client then does not call the CMS', async () => {
      await fixture.proxy.set({ kind: 'reset', afterBytes: 0 });
      for (let call = 0; call < 5; call += 1) expect((await failure()).reason).to.equal('reset');
      const { connections } = fixture.proxy;
      expect(await failure('POST')).to.include({ reason: 'breaker-open', outcomeUnknown: false, retryAfterS: 5 });
      expect(fixture.proxy.connections).to.equal(connections);
      expect(states()).to.deep.equal(['open']);
    });

    it('lets one request through when it is half open, and that is not repeated', async () => {
      await fresh({ retries: 2, halfOpenAfterMs: 1 });
      fixture.cms.respond = (_request, response) => sendText(response, 500, '');
      for (let call = 0; call < 5; call += 1) expect((await failure()).reason).to.equal('status');
      await until(() => states().includes('open'), 'the breaker is open');
      const requestsBefore = fixture.cms.requests.length;
      await until(async () => (await failure()).reason === 'status', 'a call reaches the CMS again');
      expect(fixture.cms.requests.length - requestsBefore).to.equal(1);
    });

    it('ignores errors of the CMS, malformed responses and client aborts', async () => {
      fixture.cms.respond = (_request, response) => sendText(response, 403, '<html>');
      for (let call = 0; call < 10; call += 1) await failure();
      fixture.cms.respond = () => {};
      for (let call = 0; call < 10; call += 1) {
        const clientAbort = new AbortController();
        const aborted = fixture.client
          .request({ method: 'GET', path: '/x', signal: clientAbort.signal })
          .catch((error: unknown) => error);
        clientAbort.abort(new Error('gone'));
        expect(await aborted).to.have.property('message', 'gone');
      }
      expect(states()).to.deep.equal([]);
    });

    it('stays closed after one list that fails: only its first ten records are asked for three times', async () => {
      await fresh({ retries: 2 });
      fixture.cms.respond = ({ url = '' }, response) => {
        if (url.startsWith('/wp-json/?')) sendJson(response, 200, { namespaces: ['wp/v2'] });
        else sendText(response, 502, '<html>');
      };
      const call = createRestCall(fixture.client, fixture.proxy.url);
      const list = call('GET', 'wp/v2/events', { query: { per_page: 100 } });
      expect(await list.catch((thrown: unknown) => thrown)).to.include({ reason: 'status', status: 502 });
      const sizes = fixture.cms.requests.map(({ url }) => new URL(url, fixture.cms.url).searchParams.get('per_page'));
      expect(sizes, 'and one that looks for the API').to.deep.equal([null, '100', '10', '10', '10']);
      expect(states()).to.deep.equal([]);
    });

    it('stops no other bulkhead', async () => {
      await fresh({});
      fixture.cms.respond = ({ url = '' }, response) => {
        if (url.startsWith('/bad')) sendText(response, 500, '<html>');
        else sendJson(response, 200, { ok: true });
      };
      const get = (path: string, bulkhead: BulkheadName) =>
        fixture.client.request({ method: 'GET', path, bulkhead }).then(
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
      await fresh({ connections: 6, queue: 3, deadlineMs: 5_000, headersTimeoutMs: 5_000 });
      const held: (() => void)[] = [];
      fixture.cms.respond = (_request, response) => void held.push(() => sendJson(response, 200, { ok: true }));
      const calls = Array.from({ length: 8 }, () =>
        fixture.client.request({ method: 'GET', path: '/x' }).catch((error: unknown) => error),
      );
      const away = await Promise.all(calls.slice(5));
      for (const error of away) expect(error).to.include({ reason: 'busy', outcomeUnknown: false });
      await until(() => held.length >= 2, 'two calls at the CMS');
      fixture.cms.respond = (_request, response) => sendJson(response, 200, { ok: true });
      for (const release of held) release();
      for (const response of await Promise.all(calls.slice(0, 5))) expect(response).to.include({ status: 200 });
      const queueSizes = fixture.observed.flatMap((observation) => (observation.type === 'queue' ? [observation] : []));
      expect(Math.max(...queueSizes.map(({ running }) => running))).to.equal(2);
      expect(Math.max(...queueSizes.map(({ waiting }) => waiting))).to.equal(3);
      expect(queueSizes.at(-1)).to.include({ running: 0, waiting: 0 });
    });

    it('is left at the deadline and by a client abort', async () => {
      await fresh({ connections: 1, queue: 3 });
      fixture.cms.respond = () => {};
      const holder = failure();
      const clientAbort = new AbortController();
      const waiter = fixture.client
        .request({ method: 'POST', path: '/x', signal: clientAbort.signal })
        .catch((error: unknown) => error);
      const late = failure('POST');
      clientAbort.abort(new Error('gone'));
      expect(await waiter).to.have.property('message', 'gone');
      expect((await holder).reason).to.equal('timeout');
      await late;
    });

    it('observes a call whose deadline passes in it', async () => {
      await fresh({ connections: 1, queue: 3, headersTimeoutMs: 5_000 });
      const held: (() => void)[] = [];
      fixture.cms.respond = (_request, response) => void held.push(() => sendJson(response, 200, { ok: true }));
      const call = (path: string, credentials: string) =>
        fixture.client
          .request({ method: 'GET', path, bulkhead: 'callers', credentials })
          .catch((error: unknown) => error);
      const first = call('/first', 'a');
      const waiting = call('/waiting', 'a');
      await until(() => held.length === 1, 'the first call at the CMS');
      // The call of another account is the next, and holds the connection for longer than the one that waits may wait.
      const holder = call('/holder', 'b');
      held[0]!();
      expect(await first).to.include({ status: 200 });
      expect(await waiting).to.include({ reason: 'timeout' });
      await holder;
      const failed = fixture.observed.flatMap((each) => (each.type === 'cms-failed' ? [each.path] : []));
      expect(failed).to.deep.equal(['/waiting', '/holder']);
    });
  });
});
