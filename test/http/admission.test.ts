// The door: what is refused while the process cannot keep up, and that it opens again by itself.

import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { expect } from 'chai';
import { type AdmissionOptions, createAdmission } from '../../src/http/admission.ts';
import type { Observation } from '../../src/observe/events.ts';
import { until } from '../until.ts';

const work = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
};
/** More requests than a page with its parts makes. */
const CROWD = 40;
/** When a turn's answers have been sent as well. */
const ended = async () => {
  await turn();
  await sleep(5);
};

describe('the door', () => {
  let server: Server | undefined;
  let observed: Observation[];
  const held: ServerResponse[] = [];

  async function open(
    options: Partial<AdmissionOptions>,
    listener: (request: IncomingMessage, response: ServerResponse) => void,
  ) {
    observed = [];
    const observe = (seen: Observation) => void observed.push(seen);
    const { guard } = createAdmission({ overloadMs: 1e6, bodiesAtOnce: 1e6, observe, ...options });
    server = createServer(guard(listener)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    return (init: RequestInit = {}) => fetch(url, init);
  }
  afterEach(() => {
    for (const response of held.splice(0)) response.end();
    server?.closeAllConnections();
    server?.close();
  });

  it('is shut for so long as one turn of work takes too long, and for no longer', async () => {
    const { isOverloaded } = createAdmission({ overloadMs: 100, bodiesAtOnce: 1, observe: () => {} });
    for (let round = 0; round < 3; round += 1) {
      for (let n = 0; n < CROWD; n += 1) expect(isOverloaded()).to.equal(false);
      work(120);
      expect(isOverloaded()).to.equal(true);
      expect(isOverloaded()).to.equal(true);
      await ended();
      expect(isOverloaded()).to.equal(false);
      await ended();
    }
  });

  it('is open for the few that a page with its parts makes, however long the process waits for its core meanwhile', async () => {
    const { isOverloaded } = createAdmission({ overloadMs: 10, bodiesAtOnce: 1, observe: () => {} });
    expect(isOverloaded()).to.equal(false);
    work(50);
    for (let n = 0; n < 12; n += 1) expect(isOverloaded()).to.equal(false);
    await ended();
  });

  it('counts what is sent when all requests of a turn have been looked at', async function () {
    // A machine that stands still for half a second in the middle is work as well.
    this.retries(3);
    const { isOverloaded } = createAdmission({ overloadMs: 500, bodiesAtOnce: 1, observe: () => {} });
    const look = (ms: number) => {
      for (let n = 0; n < CROWD; n += 1) isOverloaded();
      work(ms);
      return isOverloaded();
    };
    expect(look(50)).to.equal(false);
    setImmediate(work, 450);
    await ended();
    // A tenth of the turn was looking: so may a tenth of the bound be.
    expect(look(120)).to.equal(true);
    await ended();
    // That turn was nothing but looking.
    expect(look(120)).to.equal(false);
    await ended();
  });

  it('refuses in the words of the interface, and the refusal is observed', async () => {
    const ask = await open({ bodiesAtOnce: 0 }, () => expect.fail('was let in'));
    const answer = await ask({
      method: 'POST',
      body: 'x',
      headers: { origin: 'https://a.example', 'x-request-id': 'mine' },
    });
    expect(answer.status).to.equal(503);
    expect(await answer.json()).to.deep.equal({
      code: 'calendar_overloaded',
      message: 'This calendar is asked more than it can answer. Try again shortly.',
      data: { status: 503 },
    });
    const headers = Object.fromEntries(answer.headers);
    expect(headers).to.include({ 'retry-after': '1', 'x-request-id': 'mine', connection: 'close' });
    expect(headers).to.include({ 'access-control-allow-origin': 'https://a.example' });
    expect(headers['cache-control']).to.include('no-store');
    expect(observed).to.deep.include({ ...observed[0]!, type: 'request', id: 'mine', method: 'POST', status: 503 });
  });

  it('lets so many bodies in at once, any number of requests without one, and others when those are done', async () => {
    const ask = await open({ bodiesAtOnce: 3 }, (_, response) => void held.push(response));
    const send = () => ask({ method: 'POST', body: 'x' }).then(({ status }) => status);
    const first = [send(), send(), send()];
    await until(() => held.length >= 3, 'three are let in');
    expect(await Promise.all([send(), send()])).to.deep.equal([503, 503]);
    const reads = [ask(), ask()];
    await until(() => held.length >= 5, 'two more are let in');
    for (const response of held.splice(0)) response.end();
    expect(await Promise.all(first)).to.deep.equal([200, 200, 200]);
    await Promise.all(reads);
    const giveUp = new AbortController();
    const gone = ask({ method: 'POST', body: 'x', signal: giveUp.signal }).catch(() => undefined);
    const more = [send(), send()];
    await until(() => held.length >= 3, 'three are let in again');
    giveUp.abort();
    await gone;
    await until(() => held.some((response) => response.destroyed), 'it is heard that one has gone');
    const last = send();
    await until(() => held.length >= 4, 'one more is let in');
    for (const response of held.splice(0)) response.end();
    expect(await Promise.all([...more, last])).to.deep.equal([200, 200, 200]);
  });
});
