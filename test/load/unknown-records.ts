// Latency of writes while one address requests unknown records, at its limit, from a CMS with few workers.

import { authorization, PASSWORD } from '../faults/fake-wordpress.ts';
import { sendRequest } from '../start-gateway.ts';
import { type MeasuredGateway, MOUNT, percentile, report, sleep, startMeasuredGateway } from './measured-gateway.ts';

/** Workers of the CMS and milliseconds per call, as of a small PHP host. */
const CMS = { workers: 6, serviceMs: 100 };
/** Within the default limit per address, 6,000 per minute. */
const PER_SECOND = 90;
const FOR_MS = 18_000;

/** Calls to the CMS that they cause. */
const CAUSED = /unknown-|\/90\d{5}|=90\d{5}|per_page=20&|search\?/;

const PATHS = [
  (n: number) => `/events/${9_000_000 + n}`,
  (n: number) => `/venues/by-slug/unknown-${n}`,
  (n: number) => `/events?venue=${9_000_000 + n}&categories=${9_000_000 + n}`,
];

/** Serves a limited number of calls at a time, as PHP does; the others wait. */
function limitWorkers({ wordpress }: MeasuredGateway): void {
  let working = 0;
  const waiting: (() => void)[] = [];
  wordpress.before = async () => {
    if (working >= CMS.workers) await new Promise<void>((resolve) => void waiting.push(resolve));
    else working += 1;
    await sleep(CMS.serviceMs);
    const next = waiting.shift();
    if (next) next();
    else working -= 1;
    return false;
  };
}

/** Sends consecutive writes for a time; returns the statuses and the latencies in milliseconds. */
async function writes(
  { port }: MeasuredGateway,
  forMs: number,
): Promise<{ statuses: Record<string, number>; ms: number[] }> {
  const endMs = performance.now() + forMs;
  const [statuses, ms]: [Record<string, number>, number[]] = [{}, []];
  while (performance.now() < endMs) {
    const begunMs = performance.now();
    const body = JSON.stringify({ title: `t${begunMs}`, start_date: '2031-01-01 10:00', end_date: '2031-01-01 11:00' });
    const headers = { authorization: authorization('editor'), 'content-type': 'application/json' };
    const { status } = await sendRequest(port, `${MOUNT}/events`, { method: 'POST', headers, body });
    ms.push(performance.now() - begunMs);
    statuses[status] = (statuses[status] ?? 0) + 1;
    await sleep(100);
  }
  return { statuses, ms: ms.sort((a, b) => a - b) };
}

async function flood({ port }: MeasuredGateway, forMs: number): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  const under: Promise<void>[] = [];
  const begunMs = performance.now();
  for (let n = 0; performance.now() - begunMs < forMs; n += 1) {
    const path = MOUNT + PATHS[n % PATHS.length]!(n);
    const count = (what: number | string) => {
      statuses[what] = (statuses[what] ?? 0) + 1;
    };
    under.push(
      sendRequest(port, path).then(
        ({ status }) => count(status),
        () => count('broken off'),
      ),
    );
    await sleep(Math.max(0, begunMs + ((n + 1) * 1000) / PER_SECOND - performance.now()));
  }
  await Promise.all(under);
  return statuses;
}

/**
 * Reports the writes' latency with and without the flood, the rejections, and the calls that reached the CMS.
 */
export async function unknownRecords(): Promise<void> {
  const service = { user: 'admin', password: PASSWORD };
  const gateway = await startMeasuredGateway({ upstream: service });
  limitWorkers(gateway);
  await writes(gateway, 2000);
  const quiet = await writes(gateway, FOR_MS / 2);
  const before = gateway.wordpress.requests.length;
  const [unknown, flooded] = await Promise.all([flood(gateway, FOR_MS), writes(gateway, FOR_MS)]);
  const caused = gateway.wordpress.requests.slice(before).filter(({ url }) => CAUSED.test(url)).length;
  const figure = (ms: number[]) =>
    `half within ${percentile(ms, 0.5).toFixed(0)} ms, 95 % within ${percentile(ms, 0.95).toFixed(0)} ms`;
  console.log(`\n${PER_SECOND} unknown records a second for ${FOR_MS / 1000} s: ${JSON.stringify(unknown)}`);
  report(
    'writes alone',
    `${figure(quiet.ms)}, ${JSON.stringify(quiet.statuses)}`,
    'all 201',
    !wasRejected(quiet.statuses),
  );
  report(
    'writes meanwhile',
    `${figure(flooded.ms)}, ${JSON.stringify(flooded.statuses)}`,
    'all 201',
    !wasRejected(flooded.statuses),
  );
  const ratio = percentile(flooded.ms, 0.95) / percentile(quiet.ms, 0.95);
  report('  95 % within, compared', `${ratio.toFixed(2)} times`, 'at most twice', ratio <= 2);
  const maxCalls = 10 + FOR_MS / 1000 + 2;
  report('  calls that they cost the CMS', `${caused}`, `at most ${maxCalls}`, caused <= maxCalls);
  const state = (await gateway.metrics('calendar_replica_live')).calendar_replica_live;
  report('  replica is live', `${state}`, '1', state === 1);
  await gateway.stop();
}

const wasRejected = (statuses: Record<string, number>): boolean =>
  Object.keys(statuses).some((status) => status !== '201');
