// `npm run test:abuse -- [--only PART] [--stall-ms N] [--aborts N] [--slow-clients N]`: worst-case inputs,
// unknown records, client aborts, slow clients.

import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { parseArgs } from 'node:util';
import { cmsFailures } from '../faults/cms-failures.ts';
import { authorization, PASSWORD, startFakeWordPress } from '../faults/fake-wordpress.ts';
import { startFaultProxy } from '../faults/fault-proxy.ts';
import { SLOW_CLIENTS } from '../faults/slow-clients.ts';
import { sendRequest, startGateway } from '../start-gateway.ts';
import { until } from '../until.ts';
import {
  exitWithResult,
  type MeasuredGateway,
  MOUNT,
  percentile,
  report,
  sleep,
  startMeasuredGateway,
} from './measured-gateway.ts';
import { unknownRecords } from './unknown-records.ts';
import { worstInputs } from './worst-inputs.ts';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string' },
    'stall-ms': { type: 'string', default: '50' },
    aborts: { type: 'string', default: '10000' },
    'slow-clients': { type: 'string', default: '500' },
  },
});
const AT_ONCE = 100;
const HOST = 'Host: x';
const END = '\r\n\r\n';

async function open(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Requests that clients abort; some are incomplete. */
const WANTED = [
  () => `GET ${MOUNT}/events HTTP/1.1\r\n${HOST}${END}`,
  () => `GET ${MOUNT}/events?per_page=50&new=${Math.random()} HTTP/1.1\r\n${HOST}${END}`,
  () => `GET ${MOUNT}/events/2 HTTP/1.1\r\n${HOST}\r\nAuthorization: ${authorization('author')}${END}`,
  () =>
    `POST ${MOUNT}/events/1 HTTP/1.1\r\n${HOST}\r\nAuthorization: ${authorization('editor')}\r\nContent-Length: 900${END}{"title":"`,
  () => `GET ${MOUNT}/eve`,
];

async function abort(port: number, count: number): Promise<void> {
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(
      Array.from({ length: Math.min(AT_ONCE, count - done) }, async (_, n) => {
        const socket = await open(port);
        socket.write(WANTED[n % WANTED.length]!());
        if (n % 3 > 0) await sleep(n % 11);
        if (n % 2) socket.resetAndDestroy();
        else socket.destroy();
      }),
    );
  }
}

async function aborts(gateway: MeasuredGateway, count: number): Promise<void> {
  // Excludes the memory of any process's first requests.
  await abort(gateway.port, Math.ceil(count / 5));
  await sleep(2000);
  const [before, descriptorsBefore] = [gateway.rssMb(), gateway.descriptors()];
  await abort(gateway.port, count);
  await sleep(2000);
  const grownMb = gateway.rssMb() - before;
  report(`memory after ${count} callers who went away`, `${grownMb.toFixed(1)} MB more`, 'below 20 MB', grownMb < 20);
  const failures = await gateway.metric('calendar_request_failures_total');
  const output = gateway.output();
  const isQuiet = failures === 0 && !/uncaught|unhandled/i.test(output) && gateway.child.exitCode === null;
  report('unexpected errors', `${failures}`, '0', isQuiet);
  const leaked = gateway.descriptors() - descriptorsBefore;
  report('leaked descriptors', `${leaked}`, 'at most 10', leaked <= 10);
}

/** Latencies of another client's consecutive requests while `isGoing`. */
async function others(gateway: MeasuredGateway, isGoing: () => boolean): Promise<number[]> {
  const latencies: number[] = [];
  while (isGoing()) {
    const startMs = performance.now();
    const { status } = await sendRequest(gateway.port, `${MOUNT}/events?n=${latencies.length}`);
    latencies.push(status === 200 ? performance.now() - startMs : Number.POSITIVE_INFINITY);
    await sleep(10);
  }
  return latencies.sort((a, b) => a - b);
}

async function slowClients(gateway: MeasuredGateway, count: number, boundMs: number): Promise<void> {
  const until = performance.now() + 3000;
  const alone = await others(gateway, () => performance.now() < until);
  for (const { name, start, repeat, reads } of SLOW_CLIENTS) {
    const sockets = await Promise.all(Array.from({ length: count }, () => open(gateway.port)));
    const startMs = performance.now();
    let pendingAborts = count;
    let lastMs = 0;
    for (const socket of sockets) {
      if (reads) socket.resume();
      socket.once('close', () => {
        pendingAborts -= 1;
        lastMs = performance.now() - startMs;
      });
      socket.write(start);
    }
    const drip = setInterval(() => {
      for (const socket of sockets) if (socket.writable) socket.write(reads ? repeat : 'G');
    }, 100);
    const latencies = await others(gateway, () => pendingAborts > 0 && performance.now() - startMs < boundMs * 3);
    clearInterval(drip);
    for (const socket of sockets) socket.destroy();
    report(
      `${count} that ${name}: closed after`,
      `${(lastMs / 1000).toFixed(1)} s`,
      `${boundMs / 1000} s`,
      pendingAborts === 0 && lastMs < boundMs,
    );
    const p99 = percentile(latencies, 0.99);
    const figure = `p99 ${p99.toFixed(1)} ms of ${latencies.length}, alone ${percentile(alone, 0.99).toFixed(1)} ms`;
    report(
      '  meanwhile the others',
      figure,
      'all answered, p99 below 100 ms',
      p99 < 100 && latencies.every(Number.isFinite),
    );
  }
}

const DEADLINE_MS = 1000;

/** Latency with a failing CMS, each failure twice: a read that needs the CMS, and a write. */
async function faults(): Promise<void> {
  const wordpress = await startFakeWordPress();
  const proxy = await startFaultProxy(wordpress.url);
  const limits = {
    connectTimeoutMs: 500,
    headersTimeoutMs: 600,
    deadlineMs: DEADLINE_MS,
    retryDelayMs: 5,
    halfOpenAfterMs: 1,
  };
  const settings = { sync: { intervalS: 3600 }, upstream: { limits } };
  const gateway = await startGateway({
    transport: 'socket',
    cmsUrl: proxy.url.href,
    config: settings,
    service: { user: 'admin', password: PASSWORD },
  });
  const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
  const kinds = {
    stored: () => gateway.request('/events'),
    new: () => gateway.request(`/events?new=${Math.random()}`),
    read: () => gateway.request('/events/2', { headers }),
    write: () => gateway.request('/events/1', { headers, method: 'POST', body: '{"title":"x"}' }),
  };
  const worst: Record<string, { ms: number; name: string }> = {};
  const all = cmsFailures(new URL('http://192.0.2.1/'));
  for (const { name, fault } of all) {
    wordpress.before = undefined;
    await proxy.set({ kind: 'none' });
    await until(async () => (await kinds.read()).status === 200, 'the CMS answers again');
    if ('wire' in fault) await proxy.set(fault.wire);
    else
      wordpress.before = (_, response, valid) => {
        fault.respond(response, JSON.stringify(valid));
        return true;
      };
    for (const [kind, ask] of Object.entries(kinds)) {
      const startMs = performance.now();
      await ask();
      const ms = performance.now() - startMs;
      if (ms > (worst[kind]?.ms ?? 0)) worst[kind] = { ms, name };
    }
  }
  for (const [kind, { ms, name }] of Object.entries(worst)) {
    const boundMs = kind === 'stored' || kind === 'new' ? 200 : DEADLINE_MS + 200;
    const title = `the slowest ${kind} answer of ${all.length} misbehaviours (deadline ${DEADLINE_MS} ms)`;
    report(title, `${ms.toFixed(0)} ms, when it ${name}`, `below ${boundMs} ms`, ms < boundMs);
  }
  await gateway.stop();
  await proxy.close();
  await wordpress.close();
}

async function callers(): Promise<void> {
  const gateway = await startMeasuredGateway({
    sync: { intervalS: 3600 },
    limits: { headersTimeoutMs: 2000, requestTimeoutMs: 4000, stallTimeoutMs: 4000 },
  });
  await aborts(gateway, Number(options.aborts));
  await slowClients(gateway, Number(options['slow-clients']), 10_000);
  const code = await gateway.stop();
  report('the end of the process on SIGTERM', `exit code ${code}`, '0', code === 0);
}

const PARTS: Record<string, () => Promise<void>> = {
  'worst-inputs': () => worstInputs(Number(options['stall-ms'])),
  'unknown-records': unknownRecords,
  callers,
  faults,
};
const { only } = options;
if (only !== undefined && !Object.hasOwn(PARTS, only)) throw new Error(`--only takes ${Object.keys(PARTS).join(', ')}`);
for (const [name, run] of Object.entries(PARTS)) if (only === undefined || only === name) await run();
exitWithResult();
