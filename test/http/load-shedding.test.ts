// Load shedding: what is rejected while the process is overloaded, and that it recovers.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect } from 'chai';
import Koa from 'koa';
import { ApiError } from '../../src/errors.ts';
import { createOverloadCheck, type LoadSheddingOptions, loadShedding } from '../../src/http/load-shedding.ts';
import type { State } from '../../src/http/state.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { event } from '../store/sample-records.ts';
import { until } from '../until.ts';

/** More requests than a page with its assets sends. */
const CROWD = 40;

describe('load shedding', () => {
  describe('by the time of an event-loop turn', () => {
    let nowMs: number;
    beforeEach(() => {
      nowMs = 0;
    });
    const clockMs = () => nowMs;

    it('rejects while one turn takes too long, and recovers with the next turn', async () => {
      const isOverloaded = createOverloadCheck(100, clockMs);
      for (let turn = 0; turn < 3; turn += 1) {
        for (let n = 0; n < CROWD; n += 1) expect(isOverloaded()).to.equal(false);
        nowMs += 120;
        expect(isOverloaded()).to.equal(true);
        expect(isOverloaded()).to.equal(true);
        await nextTurn();
        expect(isOverloaded()).to.equal(false);
        await nextTurn();
      }
    });

    it('never rejects the few requests of one page load', async () => {
      const isOverloaded = createOverloadCheck(10, clockMs);
      expect(isOverloaded()).to.equal(false);
      nowMs += 50;
      for (let n = 0; n < 12; n += 1) expect(isOverloaded()).to.equal(false);
      await nextTurn();
    });
  });

  describe('by the number of bodies', () => {
    let server: Server | undefined;
    const pending: ServerResponse[] = [];

    async function open(options: Partial<LoadSheddingOptions>) {
      const app = new Koa<State>();
      app.use(async (ctx, next) => {
        try {
          await next();
        } catch (error) {
          if (!(error instanceof ApiError)) throw error;
          ctx.set(error.headers);
          ctx.status = error.status;
          ctx.body = error.code;
        }
      });
      const clientAddress = ({ headers }: IncomingMessage) => String(headers['x-client'] ?? Math.random());
      app.use(loadShedding({ overloadMs: 1e6, bodiesAtOnce: 1e6, ...options }, clientAddress));
      app.use((ctx) => {
        ctx.respond = false;
        ctx.res.statusCode = 200;
        pending.push(ctx.res);
      });
      server = createServer(app.callback()).listen(0, '127.0.0.1');
      await once(server, 'listening');
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
      return (init: RequestInit = {}) => fetch(url, init);
    }
    afterEach(() => {
      for (const response of pending.splice(0)) response.end();
      server?.closeAllConnections();
      server?.close();
    });

    it('closes the connection of a rejected body', async () => {
      const send = await open({ bodiesAtOnce: 0 });
      const response = await send({ method: 'POST', body: 'x' });
      expect(response.status).to.equal(503);
      expect(await response.text()).to.equal('calendar_overloaded');
      expect(Object.fromEntries(response.headers)).to.include({ 'retry-after': '1', connection: 'close' });
    });

    it('accepts a tenth of them from one address', async () => {
      const request = await open({ bodiesAtOnce: 20 });
      const send = (client: string) =>
        request({ method: 'POST', body: 'x', headers: { 'x-client': client } }).then(({ status }) => status);
      const first = [send('2001:db8:0:1::1'), send('2001:db8:0:2::1')];
      await until(() => pending.length >= 2, 'two are accepted');
      expect(await send('2001:db8:0:3::1')).to.equal(503);
      const other = send('192.0.2.1');
      await until(() => pending.length >= 3, 'another address is accepted');
      for (const response of pending.splice(0)) response.end();
      expect(await Promise.all([...first, other])).to.deep.equal([200, 200, 200]);
    });

    it('accepts a number of concurrent bodies, any number of requests without one, and more bodies later', async () => {
      const request = await open({ bodiesAtOnce: 3 });
      const send = () => request({ method: 'POST', body: 'x' }).then(({ status }) => status);
      const first = [send(), send(), send()];
      await until(() => pending.length >= 3, 'three are accepted');
      expect(await Promise.all([send(), send()])).to.deep.equal([503, 503]);
      const reads = [request(), request()];
      await until(() => pending.length >= 5, 'two more are accepted');
      for (const response of pending.splice(0)) response.end();
      expect(await Promise.all(first)).to.deep.equal([200, 200, 200]);
      await Promise.all(reads);
      const abort = new AbortController();
      const aborted = request({ method: 'POST', body: 'x', signal: abort.signal }).catch(() => undefined);
      const more = [send(), send()];
      await until(() => pending.length >= 3, 'three are accepted again');
      abort.abort();
      await aborted;
      await until(() => pending.some((response) => response.destroyed), 'the gateway notices the client abort');
      const last = send();
      await until(() => pending.length >= 4, 'one more is accepted');
      for (const response of pending.splice(0)) response.end();
      expect(await Promise.all([...more, last])).to.deep.equal([200, 200, 200]);
    });
  });

  describe('in the gateway', () => {
    it('serves cache hits, and rejects everything else with an API error', async () => {
      const times = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' };
      const gateway = await startGateway({
        cms: createFakeCms(Date.now),
        service: CREDENTIALS.admin,
        limits: { overloadMs: -1 },
      });
      upsert(gateway.services.replica, [event(1, times)]);
      try {
        expect((await gateway.request('/events/1')).status).to.equal(200);
        const burst = Array.from({ length: CROWD }, (_, n) => gateway.request(`/events/${n % 2 === 0 ? 1 : 2}`));
        const responses = await Promise.all(burst);
        const hits = responses.filter((_, n) => n % 2 === 0);
        expect(hits.every(({ status }) => status === 200)).to.equal(true);
        const rejected = responses.find(({ status }) => status === 503)!;
        expect(rejected.body).to.deep.equal({
          code: 'calendar_overloaded',
          message: 'This calendar is overloaded. Try again shortly.',
          data: { status: 503 },
        });
        expect(rejected.headers).to.include({ 'retry-after': '1' });
        expect(rejected.headers['cache-control']).to.include('no-store');
      } finally {
        await gateway.stop();
      }
    });
  });
});
