// `serve` as its own process: how it begins with a site that is not there, and how it ends.

import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { exchange, MOUNT } from '../faults/gateway.ts';
import { as, PASSWORD, startWordPress, type WordPressStandIn } from '../faults/wordpress.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { ready, type Serving, serve, untilReady } from './serving.ts';

/** Fewer than one user may have waiting. */
const WRITES = 40;
const REFUSED_PASSWORD = 'not the password of anybody';
const HEADERS = { authorization: as('editor'), 'content-type': 'application/json' };

describe('serve', function () {
  this.timeout(60_000);
  let wordpress: WordPressStandIn;
  let serving: Serving | undefined;
  beforeEach(async () => {
    wordpress = await startWordPress();
  });
  afterEach(async () => {
    serving?.child.kill('SIGKILL');
    await serving?.ended;
    await wordpress.close();
  });

  /** Holds writes at the CMS, and lets them go with what it returns. */
  function hold(): { held: () => number; release: () => void } {
    const waiting: (() => void)[] = [];
    wordpress.before = ({ method }) =>
      method === 'POST' ? new Promise((done) => void waiting.push(() => done(false))) : false;
    return {
      held: () => waiting.length,
      release() {
        wordpress.before = undefined;
        for (const go of waiting) go();
      },
    };
  }

  /** Starts it, and sends SIGTERM while the CMS has a write of which it says nothing; the answer is what became of that one. */
  async function endDuringWrite(config: object = {}): Promise<{ answer: Promise<unknown> }> {
    serving = await serve(wordpress.url.href, { password: PASSWORD, config });
    const { port, child } = serving;
    await untilReady(serving);
    const { held } = hold();
    const answer = exchange(port, `${MOUNT}/events/1`, {
      method: 'POST',
      headers: HEADERS,
      body: '{"title":"x"}',
    }).catch((error: NodeJS.ErrnoException) => error.code);
    await until(() => held() === 1, 'the write at the CMS');
    child.kill('SIGTERM');
    return { answer };
  }

  it('ends on SIGTERM with everything finished that had begun', async () => {
    // A slow machine takes its time until every write has arrived: none may meet its deadline meanwhile.
    const limits = { headersTimeoutMs: 60_000, deadlineMs: 60_000 };
    serving = await serve(wordpress.url.href, { password: PASSWORD, config: { upstream: { limits } } });
    const { port, child } = serving;
    await untilReady(serving);
    const { held, release } = hold();
    const body = '{"title":"in flight"}';
    const answers = Array.from({ length: WRITES }, () =>
      exchange(port, `${MOUNT}/events/1`, { method: 'POST', headers: HEADERS, body }).then(
        ({ status, text }) => (status === 200 ? `200 ${text.includes('in flight')}` : `${status} ${text}`),
        (error: Error) => error.message,
      ),
    );
    // Some are with the CMS; all others wait in the gateway.
    const inQueue = async () => {
      const { text } = await exchange(serving!.adminPort, '/metrics');
      const counts = [...text.matchAll(/^calendar_upstream_(?:waiting|running)(?:\{.*\})? (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await until(async () => held() > 0 && (await inQueue()) >= WRITES, 'every write has arrived', 40_000);
    child.kill('SIGTERM');
    await until(() => serving!.said().includes('finishing requests in flight'), 'it says that it ends');
    expect(await ready(serving)).to.equal(503);
    expect(child.exitCode).to.equal(null);
    release();
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['200 true']));
    expect(await serving.ended).to.equal(0);
    expect(wordpress.writes()).to.equal(WRITES);
  });

  it('ends within its time when the CMS never answers', async () => {
    const { answer } = await endDuringWrite({ limits: { drainMs: 300 } });
    // The CMS has 15 s for its answer: sooner than that it is the drain time that ended it.
    expect(await serving!.ended).to.equal(0);
    expect(await answer).to.equal('ECONNRESET');
  }).timeout(10_000);

  it('ends at once on the second SIGTERM', async () => {
    const { answer } = await endDuringWrite();
    await until(() => serving!.said().includes('finishing requests in flight'), 'it says that it ends');
    serving!.child.kill('SIGTERM');
    expect(await serving!.ended).to.equal(1);
    expect(await answer).to.equal('ECONNRESET');
  });

  for (const [what, code] of [
    ['an uncaught error', 'throw new Error("nobody caught this")'],
    ['an unhandled rejection', 'Promise.reject(new Error("nobody caught this"))'],
  ] as const)
    it(`ends with 1 and one line of log on ${what}, and releases its port and its replica`, async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'calendar-uncaught-'));
      const env = { CALENDAR_DATA_DIR: dataDir };
      const flags = ['--import', `data:text/javascript,process.on("SIGUSR2",()=>{${code}})`];
      serving = await serve(wordpress.url.href, { password: PASSWORD, flags, env });
      const { port, adminPort, child } = serving;
      await untilReady(serving);
      child.kill('SIGUSR2');
      expect(await serving.ended).to.equal(1);
      const said = serving.said();
      expect(said.split('\n').filter((line) => line.includes('nobody caught this'))).to.have.length(1);
      expect(said).to.not.match(/^\s+at /m);
      const same = { CALENDAR_PORT: String(port), CALENDAR_ADMIN_PORT: String(adminPort) };
      const again = await serve(wordpress.url.href, { password: PASSWORD, env: { ...env, ...same } });
      serving = { ...again, port, adminPort };
      await untilReady(serving);
    });

  for (const pretty of [false, true])
    it(`goes on when the reader of its log has closed it (${pretty ? 'lines for people' : 'JSON'})`, async () => {
      serving = await serve(wordpress.url.href, { password: PASSWORD, config: { log: { pretty, requests: true } } });
      await untilReady(serving);
      serving.child.stderr?.destroy();
      serving.child.stdout?.destroy();
      for (let i = 0; i < 50; i += 1)
        expect((await exchange(serving.port, `${MOUNT}/events?page=${i + 1}`)).status).to.be.oneOf([200, 404]);
      expect(await ready(serving)).to.equal(200);
      serving.child.kill('SIGTERM');
      expect(await serving.ended).to.equal(0);
    });

  it('is silent when the reader of a command closes the output early', () => {
    const { stderr, stdout } = spawnSync('sh', ['-c', '"$0" src/main.ts snippet | head -c 10', process.execPath], {
      encoding: 'utf8',
    });
    expect(stdout).to.have.length(10);
    expect(stderr).to.equal('');
  });

  it('does not begin with a site that does not answer', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    serving = await serve(url, { password: REFUSED_PASSWORD });
    expect(await serving.ended).to.equal(2);
    expect(serving.said()).to.match(/CALENDAR_UPSTREAM_URL: .*does not answer[\s\S]*Check the address/);
    expect(serving.said()).to.not.include(REFUSED_PASSWORD);
  });

  it('does not begin with a password that the site refuses, and does not print it', async () => {
    serving = await serve(wordpress.url.href, { password: REFUSED_PASSWORD });
    expect(await serving.ended).to.equal(2);
    expect(serving.said()).to.match(
      /CALENDAR_UPSTREAM_USER: .*\(incorrect_password\)[\s\S]*Make an application password/,
    );
    const encoded = Buffer.from(`admin:${REFUSED_PASSWORD}`).toString('base64');
    for (const secret of [REFUSED_PASSWORD, encoded]) expect(serving.said()).to.not.include(secret);
  });
});
