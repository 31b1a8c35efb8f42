// The CMS client with every kind of failure: the error's reason, and unknown outcomes of writes.

import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { plainCollection } from '../../src/cms/port.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { loadConfig } from '../../src/config.ts';
import type { CmsUnavailable } from '../../src/errors.ts';
import { openCms } from '../../src/gateway.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { clientFixture, SECRET } from './client-fixture.ts';
import { endless } from './cms-failures.ts';
import { startRequest } from './fault-proxy.ts';
import { sendJson, sendText, startStubCms } from './stub-cms.ts';

describe('CMS client', () => {
  const fixture = clientFixture();
  const { failure, fresh } = fixture;

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
        fixture.cms.respond = (_request, response) => sendJson(response, 200, { text: 'x'.repeat(5_000) });
        await fixture.proxy.set(fault);
        const pending = reason === 'timeout' ? startRequest(fixture.proxy.url) : undefined;
        const read = await failure();
        expect(read).to.include({ reason, outcomeUnknown: false });
        const connectionsBefore = fixture.proxy.connections;
        const write = await failure('POST');
        expect(write).to.include({ reason, outcomeUnknown: unknown });
        expect(fixture.proxy.connections - connectionsBefore).to.be.at.most(1);
        expect(fixture.cms.requests.filter(({ method }) => method === 'POST')).to.have.lengthOf.at.most(1);
        if (pending) expect(pending.isAnswered(), 'answered by the CMS as well').to.equal(false);
        pending?.abort();
        for (const error of [read, write]) {
          expect(`${error.message} ${error.stack} ${String(error.cause)}`).to.not.contain('c2VjcmV0');
        }
      });
    }

    it('limits the time until the headers, however late the deadline', async () => {
      await fresh({ headersTimeoutMs: 200, deadlineMs: 120_000 });
      await fixture.proxy.set({ kind: 'silent' });
      expect((await failure()).reason).to.equal('timeout');
    });

    it('recovers with the CMS', async () => {
      await fixture.proxy.set({ kind: 'down' });
      await failure();
      await fixture.proxy.set({ kind: 'none' });
      expect((await fixture.client.request({ method: 'GET', path: '/x' })).json).to.deep.equal({ ok: true });
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
      ['gzip that is none', () => text(200, 'no gzip', { 'content-encoding': 'gzip' }), { reason: 'not-json' }],
      ['gzip of nothing', () => text(404, '', { 'content-encoding': 'gzip' }), { reason: 'not-json' }],
      [
        'a redirect of 100 MB',
        () => respondWith((response) => endless(response, 100e6, 302, { location: '/y' })),
        { reason: 'too-large' },
      ],
      [
        'an error page of 100 MB',
        () => respondWith((response) => endless(response, 100e6, 500)),
        { reason: 'too-large' },
      ],
    ];
    const respondWith = (respond: (response: ServerResponse) => void) => {
      fixture.cms.respond = (_request, response) => respond(response);
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
      expect((await fixture.client.request({ method: 'GET', path: '/x' })).json).to.deep.equal({ id: 7 });
    });

    it('decompresses gzip, also of an error', async () => {
      for (const status of [200, 404]) {
        text(status, gzipSync('{"id":7}'), { 'content-encoding': 'gzip' });
        const response = await fixture.client.request({ method: 'GET', path: '/x' });
        expect(response).to.deep.include({ status, json: { id: 7 } });
      }
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
      fixture.cms.respond = (_request, response) => sendJson(response, 500, body);
      const rejection = await fixture.client.request({ method: 'POST', path: '/x', json: {} });
      expect(rejection).to.deep.include({ status: 500, json: body });
      expect(await failure()).to.include({ reason: 'status', status: 500 });
    });
  });

  for (const most of [40, 10])
    it(`gets all records of a host that fails on pages of more than ${most}, with the usual retries`, async () => {
      const total = 60;
      fixture.cms.respond = ({ url = '' }, response) => {
        const { pathname, searchParams } = new URL(url, fixture.cms.url);
        if (!pathname.endsWith('/wp/v2/events')) return sendJson(response, 200, { namespaces: ['wp/v2'] });
        const [size, page] = [Number(searchParams.get('per_page')), Number(searchParams.get('page') ?? 1)];
        if (size > most) return sendText(response, 500, '<p>There has been a critical error.</p>');
        const ids = Array.from({ length: total }, (_, at) => ({ id: at + 1, slug: `event-${at + 1}` }));
        sendJson(response, 200, ids.slice((page - 1) * size, page * size), { 'x-wp-total': String(total) });
      };
      const cms = createWordPress({ url: fixture.cms.url, observe: () => {}, limits: { retryDelayMs: 1 } });
      try {
        for (let n = 0; n < 2; n += 1) {
          const { records } = await cms.list(plainCollection('events', 'posts'), { view: 'public', limit: 100 });
          expect(records).to.have.length(total);
        }
      } finally {
        await cms.close();
      }
    });

  describe('redirects', () => {
    it('are followed within the origin, at most three', async () => {
      fixture.cms.respond = ({ url = '' }, response) => {
        const redirectsLeft = Number(/\d+/.exec(url)?.[0] ?? 0);
        if (redirectsLeft === 0) sendJson(response, 200, { ok: true });
        else sendText(response, 301, '', { location: `/hop${redirectsLeft - 1}` });
      };
      for (const method of ['GET', 'OPTIONS'] as const)
        expect((await fixture.client.request({ method, path: '/hop3' })).json, method).to.deep.equal({ ok: true });
      const error = await fixture.client.request({ method: 'GET', path: '/hop4' }).catch((thrown: unknown) => thrown);
      expect(error).to.include({ reason: 'status' });
    });

    it('say where they lead in a circle, or that they lead nowhere', async () => {
      const call = () => fixture.client.request({ method: 'GET', path: '/x' }).catch((thrown: unknown) => thrown);
      for (const [location, says] of [
        ['/x', `to ${fixture.proxy.url.origin}/x, in a circle`],
        ['/y', `to ${fixture.proxy.url.origin}/y, in a circle`],
        ['mailto:a@b.example', ''],
        ['http://', ''],
      ] as const) {
        await fresh({ retries: 2 });
        fixture.cms.respond = (_request, response) => sendText(response, 302, '', { location });
        const requestsBefore = fixture.cms.requests.length;
        expect(await call(), location).to.have.property('message', `The CMS redirects${says && ` ${says}`}.`);
        expect(fixture.cms.requests.length - requestsBefore, location).to.equal(location === '/y' ? 2 : 1);
      }
    });

    it('are not followed to another origin, nor for a write', async () => {
      const other = await startStubCms();
      try {
        fixture.cms.respond = (_request, response) =>
          sendText(response, 302, '', { location: `${other.url}x?search=private-words` });
        for (const method of ['GET', 'OPTIONS'] as const)
          expect((await failure(method)).message)
            .to.contain(other.url.origin)
            .and.not.contain('private-words');
        expect(fixture.cms.requests).to.have.length(2);
        fixture.cms.respond = (_request, response) => sendText(response, 307, '', { location: '/y' });
        expect(await failure('POST')).to.include({ reason: 'status', outcomeUnknown: false });
        expect(other.requests).to.deep.equal([]);
        expect(fixture.cms.requests.map(({ url }) => url)).to.not.include('/y');
        fixture.cms.respond = (_request, response) => {
          response.writeHead(302, { location: '/y', 'content-length': '1000' });
          response.write('moved', () => response.destroy());
        };
        expect(await failure('POST')).to.include({ reason: 'reset', outcomeUnknown: true });
      } finally {
        await other.close();
      }
    });
  });

  it('sends its own headers, those of the body, of the caller and of the request', async () => {
    await fixture.client.request({
      method: 'POST',
      path: '/x',
      headers: {
        'content-type': 'a/b',
        'content-disposition': 'attachment',
      },
      bytes: Buffer.from('body'),
      credentials: SECRET,
      requestId: 'r-1',
    });
    const { host, connection, 'content-length': length, ...rest } = fixture.cms.requests[0]?.headers ?? {};
    expect(rest).to.deep.equal({
      accept: 'application/json',
      'accept-encoding': 'gzip',
      'user-agent': 'calendar-gateway',
      'content-type': 'a/b',
      'content-disposition': 'attachment',
      authorization: SECRET,
      'x-request-id': 'r-1',
    });
  });

  it('has the User-Agent of the settings', async () => {
    const env = { CALENDAR_UPSTREAM_URL: fixture.cms.url.href, CALENDAR_UPSTREAM_USER_AGENT: 'A/1 calendar-gateway' };
    for (const mapping of ['wordpress-meta', 'payload']) {
      const { cms } = openCms(loadConfig({ env }), loadMapping(mapping), () => undefined);
      await cms.account({ credentials: SECRET, bulkhead: 'callers' }).catch(() => undefined);
      await cms.close();
      expect(fixture.cms.requests.at(-1)?.headers['user-agent'], mapping).to.equal('A/1 calendar-gateway');
    }
  });
});
