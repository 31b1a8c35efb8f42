// The whole gateway while its CMS is away for an hour, when it starts without one, and while its first copy is being made.

import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { answerJson, answerText } from '../faults/cms.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';
import { as, markOf, type Post, startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { until } from '../until.ts';
import { type GatewayHere, type HereOptions, startGatewayHere } from './gateway-here.ts';

const HOUR_MS = 3_600_000;
const LIMITS = {
  ...{ connectTimeoutMs: 200, headersTimeoutMs: 150, deadlineMs: 300 },
  ...{ retries: 0, retryDelayMs: 1, halfOpenAfterMs: 1 },
};
const SERVICE = as('admin');

describe('a gateway whose CMS', () => {
  let wordpress: WordPressStandIn;
  let proxy: FaultProxy;
  let gateway: GatewayHere;
  let folder: string;
  /** The gateway's clock is ahead of the machine's by so much. */
  let passedMs: number;

  beforeEach(async () => {
    wordpress = await startWordPress();
    proxy = await startFaultProxy(wordpress.url);
    folder = mkdtempSync(join(tmpdir(), 'away-'));
    passedMs = 0;
  });
  afterEach(async () => {
    await gateway.stop();
    await proxy.close();
    await wordpress.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function begin(options: Partial<HereOptions> = {}): Promise<void> {
    const nowMs = () => Date.now() + passedMs;
    const url = proxy.url.href;
    gateway = await startGatewayHere({ url, service: SERVICE, intervalMs: 2 ** 29, nowMs, limits: LIMITS, ...options });
  }

  async function ask(path: string, init: RequestInit = {}) {
    const answer = await fetch(`${gateway.url}/calendar/events/v1${path}`, init);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, body: JSON.parse(text) };
  }
  const write = (user: Parameters<typeof as>[0]) =>
    ask('/events/1', {
      method: 'POST',
      headers: { authorization: as(user), 'content-type': 'application/json' },
      body: '{"title":"written"}',
    });
  const admin = async (path: string) => {
    const answer = await fetch(gateway.adminUrl + path);
    return { status: answer.status, text: await answer.text() };
  };
  const metric = async (name: string) =>
    Number(new RegExp(`^${name} (.*)$`, 'm').exec((await admin('/metrics')).text)?.[1] ?? Number.NaN);

  function publish(): Post {
    const id = Math.max(...wordpress.posts.keys()) + 1;
    const post = { ...wordpress.posts.get(1)!, id, title: `made-meanwhile-${id}` };
    wordpress.posts.set(id, post);
    return post;
  }

  async function backAgain(): Promise<void> {
    const post = publish();
    wordpress.before = undefined;
    await proxy.set({ kind: 'none' });
    await until(async () => {
      if (gateway.sync.status().state === 'live') return true;
      await gateway.sync.look();
      return false;
    }, 'it hears that the CMS is back');
    const answer = await ask('/events?per_page=50');
    expect(answer.text).to.include(post.title);
    expect(answer.headers.get('warning')).to.equal(null);
    expect((await admin('/ready?strict=1')).status).to.equal(200);
    expect(await metric('calendar_copy_in_step')).to.equal(1);
  }

  const says = (status: number, body: string) => async () => {
    wordpress.before = (_, response) => {
      answerText(response, status, body, { 'content-type': 'application/json' });
      return true;
    };
  };
  const isService = ({ headers }: IncomingMessage) => headers.authorization === SERVICE;

  const ways: Record<string, () => Promise<void>> = {
    'was killed': () => proxy.set({ kind: 'down' }),
    hangs: () => proxy.set({ kind: 'silent' }),
    'answers 500': says(500, '{"code":"internal_server_error","message":"","data":{"status":500}}'),
    'answers with a page': says(200, '<!DOCTYPE html><title>Back soon</title>'),
    'answers with half a body': says(200, '[{"id":1,"title":{"rendered":"half'),
    'refuses the service account': async () => {
      wordpress.before = (request, response) => {
        if (isService(request)) answerJson(response, 401, { code: 'incorrect_password', message: 'No.' });
        return isService(request);
      };
    },
  };

  for (const [way, fail] of Object.entries(ways)) {
    it(`${way} for an hour answers from its copy, says so, and catches up by itself`, async () => {
      await begin();
      await gateway.sync.complete();
      const { text } = await ask('/events?per_page=50');
      const { lastInStepMs } = gateway.sync.status();
      await fail();
      for (let step = 1; step <= 6; step += 1) {
        passedMs += HOUR_MS / 6;
        await gateway.sync.look();
        for (const path of ['/events?per_page=50', `/events?per_page=50&step=${step}`]) {
          const { status, headers, text: now } = await ask(path);
          expect([status, headers.get('warning')]).to.deep.equal([200, '110 - "Response is Stale"']);
          expect(Number(headers.get('age'))).to.be.within(step * 600, step * 600 + 60);
          if (step === 1 || path === '/events?per_page=50') expect(now).to.equal(text);
        }
      }
      const single = await ask('/events/1');
      expect([single.status, single.headers.get('warning')]).to.deep.equal([200, '110 - "Response is Stale"']);

      const ready = await admin('/ready');
      expect(ready.status).to.equal(200);
      expect(JSON.parse(ready.text)).to.include({ ready: true, state: 'away', lastInStepMs });
      expect(JSON.parse(ready.text).sinceMs).to.be.within(lastInStepMs! + 1, lastInStepMs! + HOUR_MS);
      expect((await admin('/ready?strict=1')).status).to.equal(503);
      expect(await metric('calendar_copy_in_step')).to.equal(0);
      expect(await metric('calendar_copy_state{state="away"}'.replace(/[{}]/g, '\\$&'))).to.equal(1);
      expect(await metric('calendar_sync_lag_seconds')).to.be.within(3600, 3660);

      const [written, draft] = [
        await write('editor'),
        await ask('/events/2', { headers: { authorization: as('author') } }),
      ];
      if (way === 'refuses the service account') {
        // The CMS is there for everybody else.
        expect([written.status, draft.status]).to.not.include(503);
      } else {
        for (const { status, headers, body } of [written, draft]) {
          expect([status, body.code]).to.deep.equal([503, 'calendar_upstream_away']);
          expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
        }
      }
      await backAgain();
    }).timeout(30_000);
  }

  it('is down when it starts with a copy on disk answers from that, and catches up', async () => {
    const file = join(folder, 'calendar.sqlite');
    await begin({ file });
    await gateway.sync.complete();
    const { text } = await ask('/events?per_page=50');
    const { lastInStepMs } = gateway.sync.status();
    await gateway.stop();
    await proxy.set({ kind: 'down' });
    passedMs += HOUR_MS;
    await begin({ file });
    const answer = await ask('/events?per_page=50');
    expect([answer.status, answer.text]).to.deep.equal([200, text]);
    expect(answer.headers.get('warning')).to.equal('110 - "Response is Stale"');
    expect(Number(answer.headers.get('age'))).to.be.within(3600, 3660);
    expect(JSON.parse((await admin('/ready')).text)).to.include({ ready: true, lastInStepMs });
    await backAgain();
  });

  describe('is being copied for the first time', () => {
    /** Holds the list of events at the CMS until it is called. */
    let release: () => void;
    beforeEach(async () => {
      const held = Promise.withResolvers<void>();
      const came = Promise.withResolvers<void>();
      release = held.resolve;
      wordpress.before = async ({ url = '' }) => {
        if (!/\/events\?.*orderby=id/.test(url)) return false;
        came.resolve();
        await held.promise;
        return false;
      };
      await begin({ limits: { ...LIMITS, headersTimeoutMs: 10_000, deadlineMs: 10_000 } });
      await came.promise;
    });
    afterEach(() => release());

    it('tells how far it is, in lists, on the admin port and for the landing page', async () => {
      const { status, headers, body } = await ask('/events');
      expect([status, body.code]).to.deep.equal([503, 'calendar_not_ready']);
      expect(Number(headers.get('retry-after'))).to.be.greaterThan(0);
      const { percent } = gateway.sync.status();
      expect(percent).to.be.within(1, 99);
      expect(body.data.percent).to.equal(percent);
      expect(body.message).to.include(`${percent} %`);
      for (const path of ['/venues', '/categories']) expect((await ask(path)).status, path).to.equal(503);
      expect(JSON.parse((await admin('/status')).text)).to.include({ state: 'copying', percent, complete: false });
      expect((await admin('/ready')).status).to.equal(503);
      const shown = await (await fetch(`${gateway.url}/-/status.json`)).json();
      expect(shown).to.deep.include({ copy: { state: 'copying', percent } });
      release();
      await gateway.sync.complete();
      expect((await ask('/events')).status).to.equal(200);
      expect(JSON.parse((await admin('/status')).text)).to.include({ percent: 100, complete: true });
    });

    it('passes single reads through, by id and by slug', async () => {
      const post = wordpress.posts.get(1)!;
      expect(gateway.replica.get('event', 1)).to.equal(undefined);
      const byId = await ask('/events/1');
      expect([byId.status, byId.body.title]).to.deep.equal([200, markOf(post)]);
      expect((await ask('/events/2')).status).to.be.oneOf([401, 403]);
      const other = [...wordpress.posts.values()].find(
        ({ base, status, id }) => base === 'events' && status === 'publish' && id > 1,
      )!;
      const bySlug = await ask(`/events/by-slug/${markOf(other)}`);
      expect(bySlug.status).to.equal(200);
    });
  });
});
