// `serve` as a process: graceful shutdown, uncaught errors, and a start without a reachable CMS.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { authorization, type FakeWordPress, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { startFaultProxy } from '../faults/fault-proxy.ts';
import type { LimitsOfTest } from '../gateway/process.ts';
import { type GatewayProcess, MOUNT, sendRequest, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';

/** Fewer than the queue limit of one user. */
const WRITES = 40;
const REFUSED_PASSWORD = 'not the password of anybody';
const HEADERS = { authorization: authorization('editor'), 'content-type': 'application/json' };

describe('serve', function () {
  this.timeout(60_000);
  let wordpress: FakeWordPress;
  let serving: GatewayProcess | undefined;
  beforeEach(async () => {
    wordpress = await startFakeWordPress();
  });
  afterEach(async () => {
    serving?.child.kill('SIGKILL');
    await serving?.exited;
    await wordpress.close();
  });

  /** Delays writes at the CMS until the returned function is called. */
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

  /** Starts it and sends SIGTERM while a write waits for the CMS; returns the response to that write. */
  async function endDuringWrite(limits: LimitsOfTest = {}): Promise<{ answer: Promise<unknown> }> {
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      service: { user: 'admin', password: PASSWORD },
      limits,
    });
    const { port, child } = serving;
    await serving.untilReady();
    const { held } = hold();
    const answer = sendRequest(port, `${MOUNT}/events/1`, {
      method: 'POST',
      headers: HEADERS,
      body: '{"title":"x"}',
    }).catch((error: NodeJS.ErrnoException) => error.code);
    await until(() => held() === 1, 'the CMS has received the write');
    child.kill('SIGTERM');
    return { answer };
  }

  it('finishes all requests in flight on SIGTERM', async () => {
    // On a slow machine the writes take long to arrive: no deadline may pass meanwhile.
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      service: { user: 'admin', password: PASSWORD },
      // One address may have a tenth of the bodies.
      config: { upstream: { limits: { deadlineMs: 90_000 } } },
      limits: { limits: { bodiesAtOnce: 10 * WRITES } },
    });
    const { port, child } = serving;
    await serving.untilReady();
    const { held, release } = hold();
    const body = '{"title":"in flight"}';
    const answers = Array.from({ length: WRITES }, () =>
      sendRequest(port, `${MOUNT}/events/1`, { method: 'POST', headers: HEADERS, body }).then(
        ({ status, text }) => (status === 200 ? `200 ${text.includes('in flight')}` : `${status} ${text}`),
        (error: Error) => error.message,
      ),
    );
    // Some wait for the CMS, all others in the gateway's queue.
    const inQueue = async () => {
      const { text } = await sendRequest(serving!.adminPort, '/metrics');
      const counts = [...text.matchAll(/^calendar_cms_calls_(?:queued|running)(?:\{.*\})? (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    };
    await until(async () => held() > 0 && (await inQueue()) >= WRITES, 'every write has arrived', 40_000);
    child.kill('SIGTERM');
    await until(() => serving!.output().includes('finishing requests in flight'), 'it logs the shutdown');
    expect(await serving.ready()).to.equal(503);
    expect(child.exitCode).to.equal(null);
    release();
    expect(new Set(await Promise.all(answers))).to.deep.equal(new Set(['200 true']));
    expect(await serving.exited).to.equal(0);
    expect(wordpress.writes()).to.equal(WRITES);
  });

  it('exits after the drain time if the CMS never responds', async () => {
    const { answer } = await endDuringWrite({ limits: { drainMs: 300 } });
    // The CMS deadline is 15 s: an earlier exit is due to the drain time.
    expect(await serving!.exited).to.equal(0);
    expect(await answer).to.equal('ECONNRESET');
  }).timeout(10_000);

  it('exits immediately on the second SIGTERM', async () => {
    const { answer } = await endDuringWrite();
    await until(() => serving!.output().includes('finishing requests in flight'), 'it logs the shutdown');
    serving!.child.kill('SIGTERM');
    expect(await serving!.exited).to.equal(1);
    expect(await answer).to.equal('ECONNRESET');
  });

  for (const [what, code] of [
    ['an uncaught error', 'throw new Error("uncaught test error")'],
    ['an unhandled rejection', 'Promise.reject(new Error("uncaught test error"))'],
  ] as const)
    it(`exits with 1 and one log line on ${what}, and releases its port and replica`, async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'calendar-uncaught-'));
      const env = { CALENDAR_DATA_DIR: dataDir };
      const flags = ['--import', `data:text/javascript,process.on("SIGUSR2",()=>{${code}})`];
      serving = await startGateway({
        transport: 'process',
        cmsUrl: wordpress.url.href,
        service: { user: 'admin', password: PASSWORD },
        flags,
        env,
      });
      const { port, adminPort, child } = serving;
      await serving.untilReady();
      child.kill('SIGUSR2');
      expect(await serving.exited).to.equal(1);
      const said = serving.output();
      expect(said.split('\n').filter((line) => line.includes('uncaught test error'))).to.have.length(1);
      expect(said).to.not.match(/^\s+at /m);
      serving = await startGateway({
        transport: 'process',
        cmsUrl: wordpress.url.href,
        service: { user: 'admin', password: PASSWORD },
        env,
        ports: { port, adminPort },
      });
      await serving.untilReady();
    });

  it('takes over settings on SIGHUP while a create runs, and goes on as before if it cannot', async () => {
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      service: { user: 'admin', password: PASSWORD },
    });
    const { port, child, configFile, output } = serving;
    await serving.untilReady();
    const shown = async () => JSON.parse((await sendRequest(port, `${MOUNT}/events`)).text).events.length;
    const reload = async (config: object, said: string) => {
      writeFileSync(configFile, JSON.stringify(config));
      child.kill('SIGHUP');
      await until(() => output().includes(said), said);
    };
    const headers = { ...HEADERS, 'Idempotency-Key': 'once' };
    const body = '{"title":"x","start_date":"2027-01-01 10:00","end_date":"2027-01-01 11:00"}';
    const create = () => sendRequest(port, `${MOUNT}/events`, { method: 'POST', headers, body });
    const { held, release } = hold();
    const created = create();
    await until(() => held() === 1, 'the CMS has received the create');
    expect(await shown()).to.be.above(1);
    await reload({ lists: { perPage: 1 } }, 'SIGHUP: goes on with the new lists');
    expect(await shown()).to.equal(1);
    expect((await create()).status).to.equal(409);
    release();
    expect((await created).status).to.equal(201);
    expect(wordpress.writes()).to.equal(1);
    await reload({ lists: { perPage: 0 } }, 'config.json, lists.perPage: ');
    await reload({ sync: { intervalS: 5 } }, 'SIGHUP: goes on as before: sync: changed');
    await reload({ mapping: 'acf' }, 'SIGHUP: goes on as before: mapping: changed');
    expect(await shown()).to.equal(1);
  });

  it('keeps running when the reader of its log closes the pipe', async () => {
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      service: { user: 'admin', password: PASSWORD },
    });
    await serving.untilReady();
    serving.child.stderr?.destroy();
    serving.child.stdout?.destroy();
    for (let i = 0; i < 50; i += 1)
      expect((await sendRequest(serving.port, `${MOUNT}/events?page=${i + 1}`)).status).to.be.oneOf([200, 404]);
    expect(await serving.ready()).to.equal(200);
    serving.child.kill('SIGTERM');
    expect(await serving.exited).to.equal(0);
  });

  it('exits silently when the reader of a command closes the pipe', () => {
    const { stderr, stdout } = spawnSync('sh', ['-c', '"$0" src/main.ts plugin | head -c 10', process.execPath], {
      encoding: 'utf8',
    });
    expect(stdout).to.have.length(10);
    expect(stderr).to.equal('');
  });

  it('starts without the site, keeps trying, and is ready when the site responds', async () => {
    const network = await startFaultProxy(wordpress.url);
    await network.set({ kind: 'down' });
    serving = await startGateway({
      transport: 'process',
      cmsUrl: network.url.href,
      service: { user: 'admin', password: PASSWORD },
      env: { CALENDAR_SYNC_INTERVAL: '0.2' },
      limits: { upstream: { limits: { halfOpenAfterMs: 100 } } },
    });
    await until(async () => (await serving!.ready()) === 503, 'the admin port is open');
    expect((await serving.admin('/live')).status).to.equal(200);
    expect((await sendRequest(serving.port, `${MOUNT}/events`)).status).to.equal(503);
    const reason = /CALENDAR_UPSTREAM_URL\): .*No connection to the CMS.*keeps trying/;
    await until(() => reason.test(serving!.output()), 'it logs the reason');
    await until(async () => JSON.parse((await serving!.admin('/status')).text).state === 'unreachable', 'polls failed');
    try {
      await network.set({ kind: 'none' });
      await serving.untilReady();
      expect((await sendRequest(serving.port, `${MOUNT}/events`)).status).to.equal(200);
    } finally {
      await network.close();
    }
  });

  it('tells its version in the log, the status, the metrics, the API document and on the command line', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    serving = await startGateway({ transport: 'process', cmsUrl: wordpress.url.href });
    await serving.untilReady();
    const line = `calendar-gateway ${version} on Node ${process.versions.node}`;
    await until(() => serving!.output().includes(line), 'it logs the version');
    expect(JSON.parse((await serving.admin('/status')).text).gatewayVersion).to.equal(version);
    expect((await serving.admin('/metrics')).text).to.include(`calendar_build_info{version="${version}"} 1`);
    expect(JSON.parse((await serving.request('/doc')).text).info.version).to.equal(version);
    for (const argument of ['--version', '-v', 'version']) {
      const { stdout, status } = spawnSync(process.execPath, ['src/main.ts', argument], { encoding: 'utf8' });
      expect({ stdout, status }).to.deep.equal({ stdout: `${version}\n`, status: 0 });
    }
  });

  it('tells whether it has a service account', async () => {
    const service = { user: 'admin', password: PASSWORD };
    for (const options of [{}, { service }]) {
      serving = await startGateway({ transport: 'process', cmsUrl: wordpress.url.href, ...options });
      await until(() => serving!.output().includes('serving '), 'it logs its addresses');
      expect(serving.output().includes('no service account')).to.equal(!('service' in options));
      await serving.stop();
    }
  });

  it('tells `health` whether it is ready, with the admin host and port of the configuration', async () => {
    const env = { CALENDAR_UPSTREAM_URL: wordpress.url.href, CALENDAR_ADMIN_HOST: '0.0.0.0' };
    serving = await startGateway({ transport: 'process', cmsUrl: wordpress.url.href, env });
    await serving.untilReady();
    // It asks no site, and needs no address of one.
    const ask = (adminPort: number) =>
      spawnSync(process.execPath, ['src/main.ts', 'health'], {
        env: { PATH: process.env.PATH, CALENDAR_ADMIN_HOST: '0.0.0.0', CALENDAR_ADMIN_PORT: String(adminPort) },
        encoding: 'utf8',
      });
    const ready = ask(serving.adminPort);
    expect(ready.stdout).to.include('"ready":true');
    expect(ready.status).to.equal(0);
    const { port, adminPort } = serving;
    expect(ask(port).status, 'another server').to.equal(1);
    expect(await serving.stop()).to.equal(0);
    const stopped = ask(adminPort);
    expect(stopped.stdout).to.match(
      /http:\/\/0\.0\.0\.0:\d+\/ready does not answer: .*ECONNREFUSED.*\n {2}Start the gateway, or/,
    );
    expect(stopped.status).to.equal(1);
  });

  it('warns about unknown variables and starts', async () => {
    const env = { CALENDAR_PROT: '1', CALENDAR_SERVICE_HOST: '10.96.0.11' };
    serving = await startGateway({ transport: 'process', cmsUrl: wordpress.url.href, env });
    await serving.untilReady();
    expect(serving.output()).to.match(/"level":40.*does not know: CALENDAR_PROT"/);
    expect(serving.output()).to.not.include('CALENDAR_SERVICE_HOST');
  });

  (existsSync('/proc/self/cmdline') ? it : it.skip)('applies its Node flags, however it is started', async () => {
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      flags: ['--heap-growing-percent=40'],
    });
    await serving.untilReady();
    const pid = serving.child.pid;
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    expect(commandLine).to.include.members(['--max-semi-space-size=8', '--heap-growing-percent=40', 'serve']);
    // The last one counts.
    expect(commandLine.indexOf('--heap-growing-percent=40')).to.be.above(
      commandLine.indexOf('--heap-growing-percent=50'),
    );
    expect(readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')).to.include('MALLOC_ARENA_MAX=1');
    expect(serving.output()).to.not.match(/warning/i);
    serving.child.kill('SIGTERM');
    expect(await serving.exited).to.equal(0);
  });

  it('does not start with a password that the site rejects, and does not print it', async () => {
    serving = await startGateway({
      transport: 'process',
      cmsUrl: wordpress.url.href,
      service: { user: 'admin', password: REFUSED_PASSWORD },
    });
    expect(await serving.exited).to.equal(2);
    expect(serving.output()).to.match(
      /CALENDAR_UPSTREAM_USER\): .*\(incorrect_password\)[\s\S]*Make an application password/,
    );
    const encoded = Buffer.from(`admin:${REFUSED_PASSWORD}`).toString('base64');
    for (const secret of [REFUSED_PASSWORD, encoded]) expect(serving.output()).to.not.include(secret);
  });
});
