// The admin port: its endpoints, readiness, and which signed webhooks it accepts.

import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { expect } from 'chai';
import { type AdminOptions, createAdmin, type ReportedChange } from '../../src/http/admin.ts';
import type { Observation } from '../../src/observability/observations.ts';

const SECRET = 'between-site-and-gateway';
const NOW_MS = Date.UTC(2026, 10, 21, 12);
const NOW_S = NOW_MS / 1000;

describe('admin port', () => {
  let server: Server;
  let address: string;
  let received: ReportedChange[][];
  const sync = { complete: true, live: true, draining: false };

  async function open(options: Partial<AdminOptions> = {}): Promise<void> {
    received = [];
    Object.assign(sync, { complete: true, live: true, draining: false });
    const admin = createAdmin({
      registry: { contentType: 'text/plain; version=0.0.4', metrics: async () => 'calendar_requests 1\n' },
      status: () => ({ state: 'live', percent: 100 }),
      isComplete: () => sync.complete,
      isLive: () => sync.live,
      isDraining: () => sync.draining,
      onWebhook: async (changes) => void received.push(changes),
      webhookSecret: SECRET,
      nowMs: () => NOW_MS,
      ...options,
    });
    // As in `openServer`.
    server = createServer({ optimizeEmptyRequests: true, requireHostHeader: false }, admin).listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }
  async function close(): Promise<void> {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  }
  beforeEach(() => open());
  afterEach(close);

  const get = async (path: string) => {
    const response = await fetch(address + path);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const sign = (body: string, time = NOW_S, secret = SECRET) =>
    `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
  async function post(body: string, signature: string | undefined = sign(body), path = '/-/changes') {
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (signature !== '') headers['x-calendar-signature'] = signature;
    const response = await fetch(address + path, { method: 'POST', headers, body });
    await response.text();
    return response.status;
  }
  const CHANGE = JSON.stringify({ kind: 'changes', changes: [{ collection: 'events', id: 12 }] });

  for (const prefix of ['', '/-']) {
    it(`serves its endpoints below ${prefix || '/'}`, async () => {
      expect(await get(`${prefix}/live`)).to.include({ status: 200 });
      const status = await get(`${prefix}/status`);
      expect(JSON.parse(status.text)).to.deep.equal({ state: 'live', percent: 100, draining: false });
      expect(status.headers.get('cache-control')).to.equal('no-store');
      const metrics = await get(`${prefix}/metrics`);
      expect(metrics.text).to.equal('calendar_requests 1\n');
      expect(metrics.headers.get('content-type')).to.equal('text/plain; version=0.0.4');
      expect(await get(`${prefix}/ready`)).to.include({ status: 200 });
    });
  }

  it('is ready after the initial sync, and with strict=1 only while the replica is live', async () => {
    sync.live = false;
    expect(await get('/ready')).to.include({ status: 200 });
    const strict = await get('/ready?strict=1');
    expect(strict.status).to.equal(503);
    expect(JSON.parse(strict.text)).to.include({ ready: false, state: 'live' });
    sync.complete = false;
    expect(await get('/ready')).to.include({ status: 503 });
    expect(await get('/live')).to.include({ status: 200 });
  });

  it('is live but not ready while it drains', async () => {
    sync.draining = true;
    const { status, text } = await get('/-/ready');
    expect(status).to.equal(503);
    expect(JSON.parse(text)).to.include({ ready: false, draining: true });
    expect(await get('/live')).to.include({ status: 200 });
  });

  it('rejects other paths and methods', async () => {
    for (const path of ['/', '/-/', '/constructor', '/-/__proto__', '/status/x']) {
      expect(await get(path), path).to.include({ status: 404 });
    }
    expect((await fetch(`${address}/status`, { method: 'DELETE' })).status).to.equal(404);
    const wrong = await fetch(`${address}/-/changes`);
    expect(wrong.status).to.equal(404);
    expect(await wrong.text()).to.include('POST /-/changes');
    expect((await fetch(`${address}/live`, { method: 'HEAD' })).status).to.equal(200);
  });

  for (const [what, first, status] of [
    ['a malformed URL', 'GET http://[', 400],
    ['a webhook without a body', 'POST /-/changes', 401],
  ] as const)
    it(`responds to ${what}`, async () => {
      const socket = connect(Number(new URL(address).port), '127.0.0.1');
      socket.end(`${first} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      let reply = '';
      for await (const chunk of socket) reply += chunk;
      expect(reply).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
    });

  it('accepts a signed webhook', async () => {
    expect(await post(CHANGE)).to.equal(202);
    expect(received).to.deep.equal([[{ collection: 'events', id: 12 }]]);
    expect(await post('{"changes":[]}')).to.equal(202);
    expect(await post('{"changes":[{"collection":"events","id":13}]}', undefined, '/changes')).to.equal(202);
    for (const id of ['018f4f3e-0000-7000-8000-00000000000a', 'summer party/2027', 'ü'.repeat(200)]) {
      expect(await post(JSON.stringify({ changes: [{ collection: 'events', id }] }))).to.equal(202);
      expect(received.at(-1)).to.deep.equal([{ collection: 'events', id }]);
    }
  });

  it('verifies the signature of the raw bytes', async () => {
    const body = JSON.stringify({ changes: [{ collection: 'événements', id: 1 }] });
    expect(await post(body)).to.equal(202);
    expect(received).to.deep.equal([[{ collection: 'événements', id: 1 }]]);
  });

  it('responds before the sync, whether or not that succeeds', async () => {
    await close();
    await open({ onWebhook: () => new Promise(() => undefined) });
    expect(await post(CHANGE)).to.equal(202);
    await close();
    await open({ onWebhook: () => Promise.reject(new Error('the site is away')) });
    expect(await post(CHANGE)).to.equal(202);
  });

  for (const [what, signature] of Object.entries({
    'no signature': '',
    'one of another secret': sign(CHANGE, NOW_S, 'something else'),
    'one of another body': sign(`${CHANGE} `),
    'one that is six minutes old': sign(CHANGE, NOW_S - 360),
    'one of six minutes ahead': sign(CHANGE, NOW_S + 360),
    'another time than was signed': sign(CHANGE, NOW_S - 360).replace(/t=\d+/, `t=${NOW_S}`),
    'half a signature': sign(CHANGE).slice(0, -2),
    'a signature and more': `${sign(CHANGE)},v1=00`,
    'letters that are no digits': `t=${NOW_S},v1=${'z'.repeat(64)}`,
    'no time': sign(CHANGE).replace(/^t=\d+,/, ''),
  })) {
    it(`rejects ${what}`, async () => {
      expect(await post(CHANGE, signature)).to.equal(401);
      expect(received).to.deep.equal([]);
    });
  }

  it('refuses webhooks for reasons and with statuses that docs/operations.md explains', () => {
    const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    const code = read('src/http/admin.ts');
    const [guide = ''] = /^## Webhooks$[\s\S]*?^## /m.exec(read('docs/operations.md')) ?? [];
    const [signature = ''] = /^function signatureProblem[\s\S]*?^}/m.exec(code) ?? [];
    const refused = [...code.matchAll(/\brefuse\(\s*'([\w-]+)', (\d+)/g)];
    const reasons = [...refused, ...signature.matchAll(/(?:return|\?) '([\w-]+)'/g)].map(([, reason]) => reason!);
    expect(reasons).to.include.members(['too-large', 'wrong-time']);
    const missing = [
      ...reasons.filter((reason) => !guide.includes(`\`${reason}\``)),
      ...refused
        .map(([, , status]) => status!)
        .filter((status) => !new RegExp(`^\\| [\\d, ]*${status}`, 'm').test(guide)),
    ];
    expect(missing, 'name these below "Webhooks" in docs/operations.md').to.deep.equal([]);
  });

  it('counts webhooks by result, and says once a minute why it refuses them', async () => {
    await close();
    const observed: Observation[] = [];
    let nowMs = NOW_MS;
    await open({ observe: (observation) => observed.push(observation), nowMs: () => nowMs });
    await post(CHANGE);
    await post(CHANGE, sign(CHANGE, NOW_S, 'something else'));
    await post(CHANGE, sign(CHANGE, NOW_S - 360));
    await post(CHANGE, '');
    nowMs += 60_000;
    await post('{}', sign('{}', NOW_S));
    const results = observed.flatMap((each) => (each.type === 'webhook' ? [each.result] : []));
    expect(results).to.deep.equal(['accepted', 'wrong-secret', 'wrong-time', 'unsigned', 'malformed']);
    const messages = observed.flatMap((each) => (each.type === 'message' ? [each.message] : []));
    expect(messages).to.deep.equal([
      'refused a webhook: wrong-secret: X-Calendar-Signature is missing or invalid, or its time differs by ' +
        'more than five minutes',
      'refused a webhook: malformed: not a webhook: {"changes": [{"collection": "events", "id": 12}]}',
    ]);
  });

  it('accepts a signature whose time differs by up to five minutes', async () => {
    expect(await post(CHANGE, sign(CHANGE, NOW_S - 299))).to.equal(202);
    expect(await post(CHANGE, sign(CHANGE, NOW_S + 299))).to.equal(202);
  });

  for (const body of [
    '',
    'null',
    '[]',
    '{}',
    '{"changes":{}}',
    '{"changes":[null]}',
    '{"changes":[{"collection":"events"}]}',
    '{"changes":[{"collection":"events","id":"12"}]}',
    '{"changes":[{"collection":"events","id":-1}]}',
    '{"changes":[{"collection":"","id":1}]}',
    '{"changes":[{"collection":"events","id":1.5}]}',
  ]) {
    it(`rejects the webhook ${body}`, async () => {
      expect(await post(body)).to.equal(400);
      expect(received).to.deep.equal([]);
    });
  }

  it('rejects a body that is too large without reading all of it', async () => {
    const body = `{"changes":[${' '.repeat(256 * 1024)}]}`;
    expect(await post(body)).to.equal(413);
    expect(await post(`{"changes":[${' '.repeat(250 * 1024)}]}`)).to.equal(202);
    const socket = connect(Number(new URL(address).port), '127.0.0.1');
    socket.write('POST /-/changes HTTP/1.1\r\nHost: x\r\nContent-Length: 100000000\r\n\r\n');
    socket.write(Buffer.alloc(300 * 1024, 32));
    const [answer] = (await once(socket, 'data')) as [Buffer];
    expect(answer.toString()).to.match(/^HTTP\/1\.1 413 /);
    socket.destroy();
  });

  it('does not call a body too large whose connection broke', async () => {
    await close();
    const observed: Observation[] = [];
    await open({ observe: (observation) => observed.push(observation) });
    const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {});
    const arrived = once(server, 'request');
    socket.write('POST /-/changes HTTP/1.1\r\nHost: x\r\nContent-Length: 300\r\n\r\n{');
    const [, response] = await arrived;
    const closed = once(response, 'close');
    socket.resetAndDestroy();
    await closed;
    expect(await post(CHANGE)).to.equal(202);
    expect(observed).to.deep.equal([{ type: 'webhook', result: 'accepted' }]);
  });

  it('accepts no webhooks without a secret', async () => {
    await close();
    await open({ webhookSecret: undefined });
    expect(await post(CHANGE)).to.equal(404);
    expect(await post(CHANGE, sign(CHANGE, NOW_S, 'undefined'))).to.equal(404);
  });
});
