// What an operator hears of a site that is closed, moved or guarded; and that a closed one works with its service account.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type FakeSite, fakePost, fakeSite } from '../cli/fake-site.ts';
import { answerJson, answerText, type StandIn, startStandIn } from '../faults/cms.ts';
import { exchange, MOUNT } from '../faults/gateway.ts';
import { as, basic, PASSWORD, startWordPress } from '../faults/wordpress.ts';
import { type Serving, serve, untilReady } from './serving.ts';

const CLOSED = { code: 'rest_not_logged_in', message: 'You are not currently logged in.', data: { status: 401 } };

describe('a site that is closed, moved or guarded', function () {
  this.timeout(60_000);
  let cms: StandIn;
  let other: StandIn;
  let folder: string;
  const servings: Serving[] = [];
  beforeEach(async () => {
    [cms, other] = [await startStandIn(), await startStandIn()];
    folder = mkdtempSync(join(tmpdir(), 'calendar-access-'));
  });
  afterEach(async () => {
    for (const { child, ended } of servings.splice(0)) {
      child.kill('SIGKILL');
      await ended;
    }
    await Promise.all([cms.close(), other.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  /** One of the commands against a site; what it printed, and its exit code. */
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

  it('that answers signed-in users alone serves with its service account, and credentials go nowhere before', async () => {
    const wordpress = await startWordPress();
    try {
      const early: unknown[] = [];
      wordpress.before = ({ headers, url }, response) => {
        if (headers.authorization !== undefined) return false;
        early.push(url);
        answerJson(response, 401, CLOSED);
        return true;
      };
      const serving = await serve(wordpress.url.href, { password: PASSWORD });
      servings.push(serving);
      await untilReady(serving);
      const list = JSON.parse((await exchange(serving.port, `${MOUNT}/events`)).text);
      expect(list.total).to.be.greaterThan(0);
      const headers = { authorization: as('editor'), 'content-type': 'application/json' };
      const written = { method: 'POST', headers, body: '{"title":"on a closed site"}' };
      expect((await exchange(serving.port, `${MOUNT}/events/1`, written)).status).to.equal(200);
      expect(early).to.not.deep.equal([]);
    } finally {
      await wordpress.close();
    }
  });

  it('that answers signed-in users alone is looked at and checked with its service account', async () => {
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
    const site: FakeSite = await fakeSite({ types: [type], logins: ['ada:abcd efgh'], closed: true });
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

  it('that answers signed-in users alone is named as such without an account', async () => {
    cms.answer = ({ method }, response) =>
      method === 'HEAD' ? answerText(response, 200, '') : answerJson(response, 401, CLOSED);
    for (const command of COMMANDS) {
      const { code, said } = await run(command, cms.url.href);
      expect(said).to.match(/answers only signed-in users \(status 401, rest_not_logged_in\)\n.*service account/);
      expect(code).to.equal(2);
    }
  });

  it('that redirects is named with the address that it redirects to, which is asked for nothing', async () => {
    cms.answer = ({ url = '' }, response) => answerText(response, 301, '', { location: new URL(url, other.url).href });
    for (const command of COMMANDS) {
      const { code, said } = await run(command, cms.url.href, `ada:${PASSWORD}`);
      expect(said)
        .to.include(`redirects to ${other.url.href}`)
        .and.to.match(/give this address/);
      expect(code).to.equal(2);
    }
    expect(other.seen).to.deep.equal([]);
    const secret = basic('ada', PASSWORD);
    expect(cms.seen.filter(({ headers }) => headers.authorization === secret)).to.deep.equal([]);
  });

  for (const [status, type] of [
    [403, 'a page'],
    [404, 'a page'],
    [401, 'a page'],
    [404, 'JSON'],
  ] as const)
    it(`that answers ${status} with ${type} is named with that status`, async () => {
      cms.answer = (_request, response) =>
        type === 'JSON'
          ? answerJson(response, status, { code: 'nothing_here', message: 'Nothing.' })
          : answerText(response, status, '<html>No.');
      const { code, said } = await run('serve', cms.url.href, `ada:${PASSWORD}`);
      expect(said).to.match(/There is no REST API of WordPress at .*\/wp-json\/: .*status \d{3}/);
      expect(said).to.include(`status ${status}`);
      expect(code).to.equal(2);
      expect(cms.seen.some(({ headers }) => headers.authorization !== undefined)).to.equal(false);
    });
});
