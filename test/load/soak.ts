// `node test/load/soak.ts`: a long mixed load; reports memory, descriptors and event-loop delay.

import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../../bench/processes.ts';
import { authorization, basic } from '../faults/fake-wordpress.ts';
import { scriptOptions } from '../script-options.ts';
import { sendRequest } from '../start-gateway.ts';
import { exitWithResult, MOUNT, report, startMeasuredGateway } from './measured-gateway.ts';

const options = scriptOptions(
  `node test/load/soak.ts [options]

Sends 20,000 small lists and then a long mixed load to a gateway in front of a fake WordPress, and fails if memory, descriptors or the delay of the event loop grow. Needs
Linux (/proc). Takes as long as --minutes says.`,
  {
    minutes: { type: 'string', value: 'N', default: '20', help: 'how long' },
    'per-second': { type: 'string', value: 'N', default: '50', help: 'requests per second' },
  },
);
const FOR_MS = Number(options.minutes) * 60_000;
const SAMPLE_MS = Math.max(1000, FOR_MS / 120);
const HEAP = 'nodejs_heap_size_used_bytes';
/** Of the time since the last scrape. */
const DELAY = 'nodejs_eventloop_lag_p99_seconds';
const CALLERS = 3;
const LISTS = 20_000;
const PAUSE_MS = (CALLERS * 1000) / Number(options['per-second']);

interface Sample {
  minutes: number;
  heapMb: number;
  rssMb: number;
  descriptors: number;
  delayP99Ms: number;
}

const gateway = await startMeasuredGateway({ sync: { intervalS: 1 } });
const statuses = new Map<number, number>();
let requestCount = 0;
const JSON_TYPE = { 'content-type': 'application/json' };

const ENCODINGS = ['identity', 'gzip, deflate, br, zstd', 'gzip, deflate, br', 'gzip'];

/**
 * A mix of requests: mostly cached lists, some uncached, small and large, some that need the CMS, writes, wrong
 * passwords, malformed ones, client aborts.
 */
async function once(): Promise<void> {
  const n = requestCount++;
  const kind = n % 20;
  // Each list is asked for four times in turn, by clients that accept different encodings.
  const list = Math.floor(n / 80);
  const headers: Record<string, string> = { 'accept-encoding': ENCODINGS[Math.floor(n / 20) % ENCODINGS.length]! };
  if (kind > 12) headers.authorization = authorization('editor');
  const signal = kind === 3 ? AbortSignal.timeout(1 + (n % 7)) : undefined;
  const path =
    kind < 8
      ? `/events?page=${1 + (n % 2)}`
      : kind < 12
        ? `/events?per_page=${kind < 10 ? 1 : 50}&new=${list}-${kind}`
        : kind < 16
          ? '/events/2'
          : `/events/${n}`;
  if (kind === 18) Object.assign(headers, { authorization: basic(`user${n}`, 'wrong') });
  const options =
    kind === 19 || kind === 17
      ? { method: 'POST', body: kind === 17 ? '{"broken"' : `{"title":"t${n}"}`, headers: { ...headers, ...JSON_TYPE } }
      : { headers };
  const target = kind === 19 || kind === 17 ? '/events/1' : path;
  const response = await sendRequest(gateway.port, MOUNT + target, { ...options, ...(signal ? { signal } : {}) }).catch(
    () => undefined,
  );
  statuses.set(response?.status ?? 0, (statuses.get(response?.status ?? 0) ?? 0) + 1);
}

/** Growth in megabytes per hour, by least squares. */
function slope(samples: Sample[], of: (sample: Sample) => number): number {
  const [meanX, meanY] = [(sample: Sample) => sample.minutes, of].map(
    (each) => samples.reduce((sum, sample) => sum + each(sample), 0) / samples.length,
  ) as [number, number];
  const above = samples.reduce((sum, sample) => sum + (sample.minutes - meanX) * (of(sample) - meanY), 0);
  return (above / samples.reduce((sum, sample) => sum + (sample.minutes - meanX) ** 2, 0)) * 60;
}

/** Asks for different small lists, each in three encodings. */
async function manyLists(): Promise<void> {
  let next = 0;
  const caller = async (): Promise<void> => {
    for (let n = next++; n < LISTS * 3; n = next++)
      await sendRequest(gateway.port, `${MOUNT}/events?per_page=3&list=${Math.floor(n / 3)}`, {
        headers: { 'accept-encoding': ['gzip', 'br', 'zstd'][n % 3]! },
      });
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const rssMb = gateway.rssMb();
  report(`after ${LISTS} small lists in three encodings`, `${rssMb.toFixed(0)} MB`, 'below 200 MB', rssMb < 200);
}

await manyLists();
const startMs = performance.now();
const callers = Array.from({ length: CALLERS }, async () => {
  while (performance.now() - startMs < FOR_MS) {
    const due = performance.now() + PAUSE_MS;
    await once();
    await sleep(Math.max(0, due - performance.now()));
  }
});
const samples: Sample[] = [];
while (performance.now() - startMs < FOR_MS) {
  await sleep(SAMPLE_MS);
  const metrics = await gateway.metrics(HEAP, DELAY);
  samples.push({
    minutes: (performance.now() - startMs) / 60_000,
    heapMb: metrics[HEAP] / 1e6,
    rssMb: gateway.rssMb(),
    descriptors: gateway.descriptors(),
    delayP99Ms: metrics[DELAY] * 1000,
  });
  const last = samples.at(-1)!;
  if (samples.length % 10 === 0) {
    console.log(
      `${last.minutes.toFixed(1)} min: heap ${last.heapMb.toFixed(1)} MB, memory ${last.rssMb.toFixed(0)} MB, ${last.descriptors} descriptors, ${requestCount} requests`,
    );
  }
}
await Promise.all(callers);
const failures = await gateway.metric('calendar_request_failures_total');
const code = await gateway.stop();

// Excludes the first quarter, which fills caches: compiled code, responses, connections.
const settled = samples.slice(Math.floor(samples.length / 4));
const hours = FOR_MS / 3_600_000;
// Uses the lowest of every five samples, which contains the least garbage.
const lowest = settled.filter((sample, n) => {
  const five = settled.slice(n - (n % 5), n - (n % 5) + 5);
  return sample.heapMb === Math.min(...five.map(({ heapMb }) => heapMb));
});
const heap = slope(lowest, ({ heapMb }) => heapMb);
const grownMb = heap * hours;
report(
  'heap',
  `${heap.toFixed(1)} MB an hour, ${grownMb.toFixed(1)} MB in this run`,
  'below 5 MB in the run',
  grownMb < 5,
);
const rss = slope(settled, ({ rssMb }) => rssMb);
report(
  'memory of the process',
  `${rss.toFixed(1)} MB an hour, ${settled.at(-1)!.rssMb.toFixed(0)} MB at the end`,
  'below 20 MB in the run, and 200 MB at the end',
  rss * hours < 20 && settled.at(-1)!.rssMb < 200,
);
const open = settled.map(({ descriptors }) => descriptors).sort((a, b) => a - b);
report('descriptors', `${open[0]} to ${open.at(-1)}`, 'at most 20 between', open.at(-1)! - open[0]! <= 20);
const delays = settled.map(({ delayP99Ms }) => delayP99Ms).sort((a, b) => a - b);
report(
  'delay of the event loop, p99',
  `${percentile(delays, 0.5).toFixed(1)} ms, worst ${delays.at(-1)!.toFixed(1)} ms`,
  'half below 50 ms',
  percentile(delays, 0.5) < 50,
);
report('unexpected errors', `${failures} of ${requestCount} requests`, '0', failures === 0);
report('the end', `exit code ${code}`, '0', code === 0);
console.log(
  `answers by status: ${JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)))} (0: the caller went away)`,
);
exitWithResult();
