// How long writes take while one address asks for unknown records, as many as its limit allows, from a CMS of few workers.

import { exchange } from '../faults/gateway.ts';
import { as, PASSWORD } from '../faults/wordpress.ts';
import { type Measured, MOUNT, part, report, sleep, startMeasured } from './measuring.ts';

/** Workers of the CMS, and milliseconds of one at a call: what a small PHP host does. */
const CMS = { workers: 6, serviceMs: 100 };
/** Within the default limit of an address, 6,000 a minute. */
const PER_SECOND = 90;
const FOR_MS = 18_000;

/** What they make the gateway ask of the CMS. */
const CAUSED = /unknown-|\/90\d{5}|=90\d{5}|per_page=20&|search\?/;

const PATHS = [
  (n: number) => `/events/${9_000_000 + n}`,
  (n: number) => `/venues/by-slug/unknown-${n}`,
  (n: number) => `/events?venue=${9_000_000 + n}&categories=${9_000_000 + n}`,
];

/** As PHP does it: so many calls at a time, the others wait. */
function limitWorkers({ wordpress }: Measured): void {
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

/** One write after the other, for so long: how each was answered, and how soon, in milliseconds. */
async function writes({ port }: Measured, forMs: number): Promise<{ statuses: Record<string, number>; ms: number[] }> {
  const endMs = performance.now() + forMs;
  const [statuses, ms]: [Record<string, number>, number[]] = [{}, []];
  while (performance.now() < endMs) {
    const begunMs = performance.now();
    const body = JSON.stringify({ title: `t${begunMs}`, start_date: '2031-01-01 10:00', end_date: '2031-01-01 11:00' });
    const headers = { authorization: as('editor'), 'content-type': 'application/json' };
    const { status } = await exchange(port, `${MOUNT}/events`, { method: 'POST', headers, body });
    ms.push(performance.now() - begunMs);
    statuses[status] = (statuses[status] ?? 0) + 1;
    await sleep(100);
  }
  return { statuses, ms: ms.sort((a, b) => a - b) };
}

async function flood({ port }: Measured, forMs: number): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {};
  const under: Promise<void>[] = [];
  const begunMs = performance.now();
  for (let n = 0; performance.now() - begunMs < forMs; n += 1) {
    const path = MOUNT + PATHS[n % PATHS.length]!(n);
    const count = (what: number | string) => {
      statuses[what] = (statuses[what] ?? 0) + 1;
    };
    under.push(
      exchange(port, path).then(
        ({ status }) => count(status),
        () => count('broken off'),
      ),
    );
    await sleep(Math.max(0, begunMs + ((n + 1) * 1000) / PER_SECOND - performance.now()));
  }
  await Promise.all(under);
  return statuses;
}

/** Reports the writes' latency with and without the flood, what was refused, and how many calls reached the CMS. */
export async function unknownRecords(): Promise<void> {
  const service = { user: 'admin', password: PASSWORD };
  const gateway = await startMeasured({ upstream: service });
  limitWorkers(gateway);
  await writes(gateway, 2000);
  const quiet = await writes(gateway, FOR_MS / 2);
  const before = gateway.wordpress.seen.length;
  const [asked, flooded] = await Promise.all([flood(gateway, FOR_MS), writes(gateway, FOR_MS)]);
  const caused = gateway.wordpress.seen.slice(before).filter(({ url }) => CAUSED.test(url)).length;
  const figure = (ms: number[]) =>
    `half within ${part(ms, 0.5).toFixed(0)} ms, 95 % within ${part(ms, 0.95).toFixed(0)} ms`;
  console.log(`\n${PER_SECOND} unknown records a second for ${FOR_MS / 1000} s: ${JSON.stringify(asked)}`);
  report('writes alone', `${figure(quiet.ms)}, ${JSON.stringify(quiet.statuses)}`, 'all 201', !refused(quiet.statuses));
  report(
    'writes meanwhile',
    `${figure(flooded.ms)}, ${JSON.stringify(flooded.statuses)}`,
    'all 201',
    !refused(flooded.statuses),
  );
  const ratio = part(flooded.ms, 0.95) / part(quiet.ms, 0.95);
  report('  95 % within, compared', `${ratio.toFixed(2)} times`, 'at most twice', ratio <= 2);
  const most = 10 + FOR_MS / 1000 + 2;
  report('  calls that they cost the CMS', `${caused}`, `at most ${most}`, caused <= most);
  const state = (await gateway.metrics('calendar_copy_in_step')).calendar_copy_in_step;
  report('  in step with the CMS', `${state}`, '1', state === 1);
  await gateway.stop();
}

const refused = (statuses: Record<string, number>): boolean => Object.keys(statuses).some((status) => status !== '201');
