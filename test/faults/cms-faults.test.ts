// Responses of the gateway while the CMS fails: the API's own errors, within the deadline, without leaked
// connections.

import { expect } from 'chai';
import { type GatewayResponse, type HttpRequestOptions, type SocketGateway, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import { type CmsFailure, cmsFailures, type Outcome } from './cms-failures.ts';
import { authorization, basic, type FakeWordPress, PASSWORD, secretOf, startFakeWordPress } from './fake-wordpress.ts';
import { type FaultProxy, startFaultProxy, startRequest } from './fault-proxy.ts';
import { type StubCms, sendJson, startStubCms } from './stub-cms.ts';

const DEADLINE_MS = 800;
const CONNECTIONS = 8;
const LIMITS = {
  ...{ connections: CONNECTIONS, connectTimeoutMs: 400, headersTimeoutMs: 500, deadlineMs: DEADLINE_MS },
  ...{ retryDelayMs: 5, halfOpenAfterMs: 1 },
};
const STATUS: Record<Outcome, number> = { fine: 200, away: 503, unknown: 502 };
const CODE: Record<Outcome, string | undefined> = {
  ...{ fine: undefined, away: 'calendar_upstream_away', unknown: 'calendar_outcome_unknown' },
};

describe('a gateway with a failing CMS', () => {
  let wordpress: FakeWordPress;
  let elsewhere: StubCms;
  let proxy: FaultProxy;
  let gateway: SocketGateway;
  let unheardOf = 0;
  const uncaught: unknown[] = [];
  const note = (error: unknown) => uncaught.push(error);

  before(async () => {
    process.on('uncaughtExceptionMonitor', note);
    process.on('unhandledRejection', note);
    wordpress = await startFakeWordPress();
    elsewhere = await startStubCms();
    proxy = await startFaultProxy(wordpress.url);
    const settings = { sync: { intervalS: 3600 }, upstream: { limits: LIMITS } };
    gateway = await startGateway({
      transport: 'socket',
      cmsUrl: proxy.url.href,
      config: settings,
      service: { user: 'admin', password: PASSWORD },
    });
  });
  after(async () => {
    await gateway.stop();
    await proxy.close();
    for (const server of [wordpress, elsewhere]) await server.close();
    process.off('uncaughtExceptionMonitor', note);
    process.off('unhandledRejection', note);
    expect(uncaught).to.deep.equal([]);
  });

  async function ask(path: string, authorization?: string, body?: string): Promise<GatewayResponse> {
    const headers = { ...(authorization ? { authorization } : {}), 'content-type': 'application/json' };
    const options: HttpRequestOptions = body === undefined ? { headers } : { headers, body, method: 'POST' };
    return gateway.request(path, options);
  }
  /** An update would read the record first: a CMS that fails then has got no write. */
  const NEW_DRAFT =
    '{"title":"written","status":"draft","start_date":"2027-05-01 10:00","end_date":"2027-05-01 11:00"}';
  const write = () => ask('/events', authorization('editor'), NEW_DRAFT);
  const draft = () => ask('/events/2', authorization('editor'));

  /** Ends the failure and waits until the circuit breaker is closed. */
  async function recover(): Promise<void> {
    wordpress.before = undefined;
    await proxy.set({ kind: 'none' });
    const isWell = async () => (await draft()).status === 200 && (await write()).status === 201;
    await until(isWell, 'reads and writes work again');
  }

  /** Requests of an earlier failure may still be on their way. */
  async function untilIdle(): Promise<void> {
    let seen = -1;
    const isIdle = () => {
      const isSame = seen === wordpress.requests.length;
      seen = wordpress.requests.length;
      return isSame;
    };
    await until(isIdle, 'the CMS gets no further requests');
  }

  /** Sends a request and expects its response before the CMS responds to a direct request. */
  async function sooner(send: () => Promise<GatewayResponse>): Promise<GatewayResponse> {
    const pending = startRequest(new URL('wp-json/wp/v2/events/4', proxy.url));
    try {
      const response = await send();
      expect(pending.isAnswered(), 'answered by the CMS as well').to.equal(false);
      return response;
    } finally {
      pending.abort();
    }
  }

  async function begin({ fault }: CmsFailure): Promise<void> {
    if ('wire' in fault) return proxy.set(fault.wire);
    wordpress.before = (_, response, valid) => {
      fault.respond(response, JSON.stringify(valid));
      return true;
    };
  }

  function expectOutcome(response: GatewayResponse, outcome: Outcome, retryAfterS?: number): void {
    // A create is 201.
    expect(response.status === 201 ? 200 : response.status, response.text).to.equal(STATUS[outcome]);
    expect(response.headers['content-type']).to.equal('application/json; charset=UTF-8');
    const { code, message, data } = JSON.parse(response.text);
    expect(code).to.equal(CODE[outcome]);
    if (outcome === 'fine') return;
    expect(data.status).to.equal(response.status);
    if (outcome === 'unknown') expect(message).to.match(/may or may not.*Look at the record/);
    else expect(Number(response.headers['retry-after'])).to.be.greaterThan(0);
    if (retryAfterS !== undefined) expect(response.headers['retry-after']).to.equal(String(retryAfterS));
  }

  for (const misbehaviour of cmsFailures(new URL('http://192.0.2.1:1/'))) {
    const { name, hangs, read, write: written, retryAfterS } = misbehaviour;
    describe(`that ${name}`, () => {
      let stored: string;
      const sendTimed = (send: () => Promise<GatewayResponse>) => (hangs ? sooner(send) : send());
      before(async () => {
        await recover();
        stored = (await ask('/events')).text;
        await untilIdle();
        const current = cmsFailures(elsewhere.url).find((failure) => failure.name === name)!;
        await begin(current);
      });

      it('serves public reads, cached or not', async () => {
        const countRequests = () => [proxy.connections, wordpress.requests.length];
        const before = countRequests();
        const hit = await ask('/events');
        expect({ status: hit.status, text: hit.text }).to.deep.equal({ status: 200, text: stored });
        const fresh = await ask(`/events?per_page=50&never=${unheardOf++}`);
        expect(fresh.status).to.equal(200);
        expect(fresh.text).to.include(secretOf(wordpress.posts.get(4)!));
        expect(countRequests(), 'what the CMS was asked').to.deep.equal(before);
      });

      it(`responds to a write: ${written}, and sends it once`, async () => {
        const before = wordpress.writes();
        expectOutcome(await sendTimed(write), written, retryAfterS);
        expect(wordpress.writes() - before).to.be.at.most(1);
      });

      it(`responds to a read that needs the CMS: ${read}`, async () => {
        expectOutcome(await sendTimed(draft), read, read === 'fine' ? undefined : retryAfterS);
      });

      it('authenticates no client', async () => {
        const response = await sendTimed(() => ask('/events/2', basic('editor', `never ${unheardOf++}`)));
        expect(response.status).to.equal(read === 'fine' ? 401 : 503);
        expect(response.text).to.not.include(secretOf(wordpress.posts.get(2)!));
      });

      it('leaks no connection', async () => {
        const maxOpen = hangs ? 0 : CONNECTIONS;
        // Earlier than hanging and dripping connections would have ended without the gateway.
        await until(
          () => proxy.open <= maxOpen,
          () => `at most ${maxOpen} connections are open, not ${proxy.open}`,
          2000,
        );
        expect(elsewhere.requests).to.deep.equal([]);
      });
    });
  }

  it('does not call the CMS while the circuit breaker is open, and says so', async () => {
    await recover();
    const limits = { ...LIMITS, halfOpenAfterMs: 600_000 };
    const isolated = await startGateway({
      transport: 'socket',
      cmsUrl: proxy.url.href,
      config: { sync: { intervalS: 3600 }, upstream: { limits } },
    });
    try {
      const headers = { authorization: authorization('editor') };
      const state = async () => /^calendar_breaker_state (\d)$/m.exec((await isolated.admin('/metrics')).text)?.[1];
      expect(await state()).to.equal('0');
      await proxy.set({ kind: 'reset', afterBytes: 0 });
      for (let n = 0; n < 5; n += 1) expect((await isolated.request('/events/2', { headers })).status).to.equal(503);
      expect(await state()).to.equal('2');
      const before = proxy.connections;
      const response = await isolated.request('/events/2', { headers });
      expect([response.status, Number(response.headers['retry-after']) > 60]).to.deep.equal([503, true]);
      expect(proxy.connections).to.equal(before);
      expect(isolated.log()).to.match(/circuit breaker of \w+ calls to the CMS: open/);
      expect((await isolated.request('/events')).status).to.equal(200);
      expect((await isolated.admin('/ready')).status).to.equal(200);
    } finally {
      await isolated.stop();
    }
  });

  it('refuses no write because of one malformed answer about capabilities', async () => {
    await recover();
    const config = { sync: { intervalS: 3600 }, upstream: { limits: LIMITS } };
    const cold = await startGateway({ transport: 'socket', cmsUrl: wordpress.url.href, config });
    const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
    // A draft: the list of the other gateway must not change when it polls.
    const create = () => cold.request('/events', { headers, body: NEW_DRAFT, method: 'POST' });
    try {
      wordpress.before = (request, response, valid) => {
        if (!request.url?.includes('users/me')) return false;
        sendJson(response, 200, { ...(valid as object), capabilities: [] });
        return true;
      };
      expectOutcome(await create(), 'away');
      wordpress.before = undefined;
      expect((await create()).status).to.equal(201);
    } finally {
      await cold.stop();
    }
  });

  it('waits once, not with every request, for the capabilities of a CMS that hangs', async () => {
    await recover();
    const cold = await startGateway({
      transport: 'socket',
      cmsUrl: proxy.url.href,
      config: { sync: { intervalS: 3600 }, upstream: { limits: LIMITS } },
    });
    try {
      const headers = { authorization: authorization('editor') };
      expect((await cold.request('/doc', { headers })).status).to.equal(200);
      await proxy.set({ kind: 'silent' });
      expect((await cold.request('/events/2', { headers })).status).to.equal(503);
      const { text } = await cold.admin('/metrics');
      const failures = [...text.matchAll(/^calendar_cms_failures_total\{.*\} (\d+)$/gm)].map(([, n]) => Number(n));
      // The capabilities and the record, each with at most one retry within its deadline.
      expect(failures.reduce((sum, n) => sum + n, 0)).to.be.within(1, 4);
    } finally {
      await cold.stop();
    }
  });
});
