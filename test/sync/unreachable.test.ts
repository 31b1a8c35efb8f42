// A whole gateway while its CMS fails for an hour, at a start without the CMS, and during the initial sync.

import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { getRecord } from '../../src/store/records.ts';
import type { FakePost } from '../cms/fake-cms.ts';
import { authorization, type FakeWordPress, secretOf, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';
import { sendJson, sendText } from '../faults/stub-cms.ts';
import { type MemoryOptions, startGateway, type TestGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const HOUR_MS = 3_600_000;
const LIMITS = {
  ...{ connectTimeoutMs: 200, headersTimeoutMs: 150, deadlineMs: 300 },
  ...{ retries: 0, retryDelayMs: 1, halfOpenAfterMs: 1 },
};
const SERVICE = authorization('admin');

/** With dates: without them, the list changes at midnight. */
const LIST = '/events?per_page=50&start_date=2020-01-01&end_date=2040-01-01';

describe('a gateway whose CMS', () => {
  let wordpress: FakeWordPress;
  let proxy: FaultProxy;
  let gateway: TestGateway;
  let url: string;
  let adminUrl: string;
  let folder: string;
  /** The gateway's clock is ahead of the machine's by so much. */
  let skewMs: number;

  beforeEach(async () => {
    wordpress = await startFakeWordPress();
    proxy = await startFaultProxy(wordpress.url);
    folder = mkdtempSync(join(tmpdir(), 'unreachable-'));
    skewMs = 0;
  });
  afterEach(async () => {
    await gateway.stop();
    await proxy.close();
    await wordpress.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function start({
    cmsLimits = LIMITS,
    ...options
  }: Partial<MemoryOptions> & { cmsLimits?: object } = {}): Promise<void> {
    const nowMs = () => Date.now() + skewMs;
    gateway = await startGateway({
      cms: { url: proxy.url.href, limits: cmsLimits },
      service: SERVICE,
      nowMs,
      pages: { landing: true },
      waitsForSync: false,
      ...options,
    });
    ({ url, adminUrl } = await gateway.listen());
  }

  async function request(path: string, init: RequestInit = {}) {
    const response = await fetch(`${url}/calendar/events/v1${path}`, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, body: JSON.parse(text) };
  }
  const write = (user: Parameters<typeof authorization>[0]) =>
    request('/events/1', {
      method: 'POST',
      headers: { authorization: authorization(user), 'content-type': 'application/json' },
      body: '{"title":"written"}',
    });
  const admin = async (path: string) => {
    const response = await fetch(adminUrl + path);
    return { status: response.status, text: await response.text() };
  };
  const metric = async (name: string) =>
    Number(new RegExp(`^${name} (.*)$`, 'm').exec((await admin('/metrics')).text)?.[1] ?? Number.NaN);

  const publish = (): FakePost =>
    wordpress.cms.createPost('events', {
      title: `created-meanwhile-${wordpress.posts.size}`,
      meta: wordpress.posts.get(1)!.meta,
    });

  async function expectRecovery(): Promise<void> {
    const post = publish();
    wordpress.before = undefined;
    await proxy.set({ kind: 'none' });
    await until(async () => {
      if (gateway.sync.status().state === 'live') return true;
      await gateway.sync.poll();
      return false;
    }, 'the sync sees that the CMS responds again');
    const response = await request(LIST);
    expect(response.text).to.include(post.title);
    expect(response.headers.get('warning')).to.equal(null);
    expect((await admin('/ready?strict=1')).status).to.equal(200);
    expect(await metric('calendar_replica_state\\{state="live"\\}')).to.equal(1);
  }

  const respondWith = (status: number, body: string) => async () => {
    wordpress.before = (_, response) => {
      sendText(response, status, body, { 'content-type': 'application/json' });
      return true;
    };
  };
  const isVisitor = ({ headers }: IncomingMessage) => headers.authorization === undefined;

  const failures: Record<string, () => Promise<void>> = {
    'was killed': () => proxy.set({ kind: 'down' }),
    hangs: () => proxy.set({ kind: 'silent' }),
    'answers 500': respondWith(500, '{"code":"internal_server_error","message":"","data":{"status":500}}'),
    'answers with a page': respondWith(200, '<!DOCTYPE html><title>Back soon</title>'),
    'answers with half a body': respondWith(200, '[{"id":1,"title":{"rendered":"half'),
    'refuses visitors': async () => {
      wordpress.before = (request, response) => {
        if (isVisitor(request)) sendJson(response, 401, { code: 'rest_login_required', message: 'No.' });
        return isVisitor(request);
      };
    },
  };

  for (const [way, fail] of Object.entries(failures)) {
    it(`${way} for an hour serves the replica, says so, and catches up`, async () => {
      await start();
      await gateway.sync.whenComplete();
      const { text } = await request(LIST);
      const { lastCaughtUpMs } = gateway.sync.status();
      await fail();
      for (let step = 1; step <= 6; step += 1) {
        skewMs += HOUR_MS / 6;
        await gateway.sync.poll();
        for (const path of [LIST, `${LIST}&step=${step}`]) {
          const { status, headers, text: now } = await request(path);
          expect([status, headers.get('warning')]).to.deep.equal([200, '110 - "Response is Stale"']);
          expect(Number(headers.get('age'))).to.be.within(step * 600, step * 600 + 60);
          if (step === 1 || path === LIST) expect(now).to.equal(text);
        }
      }
      const single = await request('/events/1');
      expect([single.status, single.headers.get('warning')]).to.deep.equal([200, '110 - "Response is Stale"']);

      const ready = await admin('/ready');
      expect(ready.status).to.equal(200);
      const state = way === 'refuses visitors' ? 'stale' : 'unreachable';
      expect(JSON.parse(ready.text)).to.include({ ready: true, state, lastCaughtUpMs });
      expect(JSON.parse(ready.text).sinceMs).to.be.within(lastCaughtUpMs! + 1, lastCaughtUpMs! + HOUR_MS);
      expect((await admin('/ready?strict=1')).status).to.equal(503);
      expect(await metric('calendar_replica_state\\{state="live"\\}')).to.equal(0);
      expect(await metric(`calendar_replica_state{state="${state}"}`.replace(/[{}]/g, '\\$&'))).to.equal(1);
      expect(await metric('calendar_sync_lag_seconds')).to.be.within(3600, 3660);

      const [written, draft] = [
        await write('editor'),
        await request('/events/2', { headers: { authorization: authorization('author') } }),
      ];
      if (way === 'refuses visitors') {
        // The CMS still responds to accounts.
        expect([written.status, draft.status]).to.not.include(503);
      } else {
        for (const { status, headers, body } of [written, draft]) {
          expect([status, body.code]).to.deep.equal([503, 'calendar_upstream_away']);
          expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
        }
      }
      await expectRecovery();
    }).timeout(30_000);
  }

  it('is down at a start with a replica on disk serves that, and catches up', async () => {
    const file = join(folder, 'calendar.sqlite');
    await start({ file });
    await gateway.sync.whenComplete();
    const { text } = await request(LIST);
    const { lastCaughtUpMs } = gateway.sync.status();
    await gateway.stop();
    await proxy.set({ kind: 'down' });
    skewMs += HOUR_MS;
    await start({ file });
    const response = await request(LIST);
    expect([response.status, response.text]).to.deep.equal([200, text]);
    expect(response.headers.get('warning')).to.equal('110 - "Response is Stale"');
    expect(Number(response.headers.get('age'))).to.be.within(3600, 3660);
    expect(JSON.parse((await admin('/ready')).text)).to.include({ ready: true, lastCaughtUpMs });
    await expectRecovery();
  });

  it('has not told the address and zone of its site shows no record and takes no write', async () => {
    wordpress.before = (incoming, response) => {
      const isSite = /timezone_string/.test(incoming.url ?? '');
      if (isSite) sendJson(response, 500, {});
      return isSite;
    };
    await start();
    await until(() => gateway.sync.status().state === 'unreachable', 'the sync sees that the CMS fails');
    const paths = ['/events', '/events/1', '/events/by-slug/open-1-mark', '/events/1.ics', '/events.atom'];
    const venue = [...wordpress.posts.values()].find(({ base }) => base === 'venues')!;
    for (const path of [...paths, `/venues/${venue.id}`, '/categories/1', '/changes?since=now']) {
      const { status, body } = await request(path);
      expect([status, body.code], path).to.deep.equal([503, 'calendar_not_ready']);
    }
    const create = () =>
      request('/events', {
        method: 'POST',
        headers: {
          ...{ authorization: authorization('editor'), 'content-type': 'application/json' },
          'idempotency-key': 'a',
        },
        body: '{"title":"created","start_date":"2027-01-01","end_date":"2027-01-02"}',
      });
    const count = wordpress.posts.size;
    for (const { status, body } of [await create(), await write('editor')])
      expect([status, body.code]).to.deep.equal([503, 'calendar_not_ready']);
    expect(wordpress.posts.size).to.equal(count);
    for (const path of ['', '/doc']) expect((await request(path)).status, path).to.equal(200);
    await expectRecovery();
    expect((await request('/events/1')).status).to.equal(200);
    expect((await create()).status).to.equal(201);
  });

  describe('is read for the initial sync', () => {
    /** Until this is called, the CMS delays the list of events. */
    let release: () => void;
    beforeEach(async () => {
      const held = Promise.withResolvers<void>();
      const arrived = Promise.withResolvers<void>();
      release = held.resolve;
      wordpress.before = async ({ url = '' }) => {
        if (!/\/events\?.*orderby=id/.test(url)) return false;
        arrived.resolve();
        await held.promise;
        return false;
      };
      await start({ cmsLimits: { ...LIMITS, headersTimeoutMs: 10_000, deadlineMs: 10_000 } });
      await arrived.promise;
    });
    afterEach(() => release());

    it('reports the percentage in lists, on the admin port and on the landing page', async () => {
      const { status, headers, body } = await request('/events');
      expect([status, body.code]).to.deep.equal([503, 'calendar_not_ready']);
      expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
      const { percent } = gateway.sync.status();
      // No event has been read yet.
      expect(percent).to.equal(0);
      expect(body.data.percent).to.equal(percent);
      expect(body.message).to.include(`${percent} %`);
      for (const path of ['/venues', '/categories']) expect((await request(path)).status, path).to.equal(503);
      expect(JSON.parse((await admin('/status')).text)).to.include({ state: 'syncing', percent, complete: false });
      expect((await admin('/ready')).status).to.equal(503);
      const shown = await fetch(`${url}/`, { headers: { accept: 'text/html' } });
      expect([shown.status, shown.headers.get('cache-control')]).to.deep.equal([503, 'no-store']);
      expect(await shown.text()).to.include(`${percent} %`);
      release();
      await gateway.sync.whenComplete();
      expect((await request('/events')).status).to.equal(200);
      expect(JSON.parse((await admin('/status')).text)).to.include({ percent: 100, complete: true });
    });

    it('forwards single reads by id and by slug', async () => {
      const post = wordpress.posts.get(1)!;
      expect(getRecord(gateway.replica.db, 'event', 1)).to.equal(undefined);
      const byId = await request('/events/1');
      expect([byId.status, byId.body.title]).to.deep.equal([200, secretOf(post)]);
      expect((await request('/events/2')).status).to.be.oneOf([401, 403]);
      const other = [...wordpress.posts.values()].find(
        ({ base, status, id }) => base === 'events' && status === 'publish' && id > 1,
      )!;
      const bySlug = await request(`/events/by-slug/${secretOf(other)}`);
      expect(bySlug.status).to.equal(200);
    });
  });
});
