// Sites that require a login, redirect, or are blocked by a firewall: error messages, and access with a
// service account.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FakeSite, fakePost, startFakeSite } from '../cli/fake-site.ts';
import { authorization, basic, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { type StubCms, sendJson, sendText, startStubCms } from '../faults/stub-cms.ts';
import { type GatewayProcess, MOUNT, sendRequest, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

const CLOSED = { code: 'rest_not_logged_in', message: 'You are not currently logged in.', data: { status: 401 } };

describe('a site with restricted access', function () {
  this.timeout(60_000);
  let cms: StubCms;
  let other: StubCms;
  let folder: string;
  const servings: GatewayProcess[] = [];
  beforeEach(async () => {
    [cms, other] = [await startStubCms(), await startStubCms()];
    folder = mkdtempSync(join(tmpdir(), 'calendar-access-'));
  });
  afterEach(async () => {
    for (const { child, exited } of servings.splice(0)) {
      child.kill('SIGKILL');
      await exited;
    }
    await Promise.all([cms.close(), other.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** Runs a command against a site; returns its output and exit code. */
  async function run(command: string, url: string, login?: string): Promise<{ code: number; said: string }> {
    const [user, password] = login?.split(':') ?? [];
    const account = login === undefined ? {} : { CALENDAR_UPSTREAM_USER: user, CALENDAR_UPSTREAM_PASSWORD: password };
    const args = { init: ['init', url, '--yes', '--out', join(folder, 'out')], check: ['check'], serve: ['serve'] }[
      command
    ]!;
    const env = { PATH: process.env.PATH, ...account, ...(command === 'init' ? {} : { CALENDAR_UPSTREAM_URL: url }) };
    const child = spawn(process.execPath, ['src/main.ts', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: string[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(String(chunk)));
    const [code] = await once(child, 'close');
    return { code, said: chunks.join('') };
  }

  const COMMANDS = ['serve', 'check', 'init'];

  it('that requires a login works with a service account, and gets credentials only after discovery', async () => {
    const wordpress = await startFakeWordPress();
    try {
      const early: unknown[] = [];
      wordpress.before = ({ headers, url }, response) => {
        if (headers.authorization !== undefined) return false;
        early.push(url);
        sendJson(response, 401, CLOSED);
        return true;
      };
      const serving = await startGateway({
        transport: 'process',
        cmsUrl: wordpress.url.href,
        service: { user: 'admin', password: PASSWORD },
        env: { CALENDAR_UPSTREAM_READ_AS: 'account' },
      });
      servings.push(serving);
      await serving.untilReady();
      const list = JSON.parse((await sendRequest(serving.port, `${MOUNT}/events`)).text);
      expect(list.total).to.be.greaterThan(0);
      const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
      const written = { method: 'POST', headers, body: '{"title":"on a closed site"}' };
      expect((await sendRequest(serving.port, `${MOUNT}/events/1`, written)).status).to.equal(200);
      expect(early).to.not.deep.equal([]);
    } finally {
      await wordpress.close();
    }
  });

  it('that requires a login works with init and check with a service account', async () => {
    const records = [1, 2].map((id) =>
      fakePost(id, {
        title: `Gig ${id}`,
        meta: { start_date: '2031-05-01 19:30:00', end_date: '2031-05-01 21:00:00' },
      }),
    );
    const type = {
      type: 'event',
      base: 'events',
      label: 'Events',
      meta: { start_date: 'string', end_date: 'string' },
      records,
    };
    const site: FakeSite = await startFakeSite({ types: [type], logins: ['ada:abcd efgh'], isPrivate: true });
    try {
      const { code, said } = await run('init', site.url, 'ada:abcd efgh');
      expect(code, said).to.equal(0);
      expect(existsSync(join(folder, 'out/config.json'))).to.equal(true);
      const checked = await run('check', site.url, 'ada:abcd efgh');
      expect(checked.said)
        .to.match(/site +address/)
        .and.to.match(/ada \(editor\)/);
      expect(checked.code).to.be.oneOf([0, 1]);
      const wrong = await run('check', site.url, 'ada:wrong');
      expect(wrong.said).to.match(/does not accept this user with this application password \(incorrect_password\)/);
      expect(wrong.said).to.not.include('wrong\n');
    } finally {
      await site.close();
    }
  });

  it('that requires a login is reported as such without an account', async () => {
    cms.respond = (_request, response) => sendJson(response, 401, CLOSED);
    for (const command of COMMANDS) {
      const { code, said } = await run(command, cms.url.href);
      expect(said).to.match(/answers only signed-in users \(status 401, rest_not_logged_in\)\n.*service account/);
      expect(code).to.equal(2);
    }
  });

  it('that answers with control characters is reported without them', async () => {
    const error = { code: 'closed\u001b[2J', message: 'No\u0007.', data: { status: 401 } };
    cms.respond = (_request, response) => sendJson(response, 401, error);
    for (const command of COMMANDS) {
      const { said } = await run(command, cms.url.href);
      expect(said)
        .to.include('closed[2J')
        .and.to.not.match(/[^\P{Cc}\n]/u);
    }
  });

  it('that redirects is reported with its target, which gets no request', async () => {
    cms.respond = ({ url = '' }, response) => sendText(response, 301, '', { location: new URL(url, other.url).href });
    for (const command of COMMANDS) {
      const { code, said } = await run(command, cms.url.href, `ada:${PASSWORD}`);
      expect(said)
        .to.include(`redirects to another address (to ${other.url.href}`)
        .and.to.include(command === 'init' ? `init ${other.url.origin}` : `CALENDAR_UPSTREAM_URL=${other.url.origin} `);
      expect(code).to.equal(2);
    }
    expect(other.requests).to.deep.equal([]);
    const secret = basic('ada', PASSWORD);
    expect(cms.requests.filter(({ headers }) => headers.authorization === secret)).to.deep.equal([]);
  });

  for (const [status, type] of [
    [403, 'a page'],
    [404, 'a page'],
    [401, 'a page'],
    [404, 'JSON'],
  ] as const)
    it(`that responds ${status} with ${type} is reported with that status`, async () => {
      cms.respond = (_request, response) =>
        type === 'JSON'
          ? sendJson(response, status, { code: 'nothing_here', message: 'Nothing.' })
          : sendText(response, status, '<html>No.');
      const { code, said } = await run('serve', cms.url.href, `ada:${PASSWORD}`);
      expect(said).to.match(/\/wp-json\/ .*: there is no REST API of WordPress/);
      expect(said).to.include(`status ${status}`);
      expect(code).to.equal(2);
      expect(cms.requests.some(({ headers }) => headers.authorization !== undefined)).to.equal(false);
    });

  for (const [what, body] of [
    ['JSON of another program', '{"version":3}'],
    ['a page', '<html>Hello.'],
  ] as const)
    it(`that should be Payload, and answers with ${what}, ends the start with one message`, async () => {
      cms.respond = (_request, response) => sendText(response, 200, body);
      const serving = await startGateway({
        transport: 'process',
        cmsUrl: cms.url.href,
        env: { CALENDAR_MAPPING: 'payload' },
      });
      servings.push(serving);
      await until(() => /CALENDAR_UPSTREAM_URL\)/.test(serving.output()), 'it says what is wrong');
      expect(serving.output())
        .to.match(/does not answer as a Payload site: .*\n.*api\/access\. It must show JSON with "collections"/)
        .and.to.not.include('keeps trying');
      expect(await serving.exited).to.equal(2);
    });
});
