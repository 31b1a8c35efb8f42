// `npm run bench:cluster`: measures one, two and four gateways in front of one fake CMS, which responds immediately.

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import { allSettled, type ClusterProcess, findLeader, MOUNT, startProcess } from '../test/cluster/processes.ts';
import { type RedisServer, startRedisServer } from '../test/cluster/redis-server.ts';
import { authorization, type FakeWordPress, startFakeWordPress } from '../test/faults/fake-wordpress.ts';
import { type FaultProxy, startFaultProxy } from '../test/faults/fault-proxy.ts';
import { scriptOptions } from '../test/script-options.ts';
import { until } from '../test/until.ts';
import { type Load, measure, median, percentile, residentMiB, startLoad } from './processes.ts';

const options = scriptOptions(
  `npm run bench:cluster -- [options]

Measures one gateway alone and one, two and four that share a Redis, in front of a fake CMS: requests to the CMS, writes until all gateways
show them, reads, memory, and how soon another gateway leads after the leader is lost. Needs an installed redis-server or valkey-server.
Takes about five minutes on two cores, which should be idle. Exits with 1 if a target is missed.`,
  {
    json: { type: 'string', value: 'FILE', help: 'writes the figures as flat JSON' },
    seconds: {
      type: 'string',
      value: 'S',
      default: '20',
      help: 'how long requests to the CMS are counted without writes',
    },
    writes: { type: 'string', value: 'N', default: '300', help: 'writes for each number of gateways' },
    takeovers: {
      type: 'string',
      value: 'N',
      default: '5',
      help: 'losses of the leader of each kind: killed, stopped, cut off',
    },
  },
);
const INTERVAL_S = 1;
const COUNTS = [1, 2, 4];
const START_MS = 120_000;
/** Between two writes, so that they do not overlap. */
const WRITE_PAUSE_MS = 30;
const LIST = `${MOUNT}/events?per_page=50&start_date=2000-01-01`;
const READ_RUNS = 5;
const READ_MS = 1000;
/** Targets. The growth allows for the difference between two measurements. */
const TARGETS = { growth: 1.05, seenP99Ms: 100, takeoverIntervals: 2 };

async function start(cms: FakeWordPress, redis: RedisServer | undefined, count: number): Promise<ClusterProcess[]> {
  const settings = { cmsUrl: cms.url.href, intervalS: INTERVAL_S, ...(redis ? { redisUrl: redis.url } : {}) };
  const names = Array.from({ length: count }, (_, n) => `gateway ${n + 1}`);
  const gateways = await Promise.all(names.map((name) => startProcess({ ...settings, name })));
  const areReady = async () => (redis ? allSettled(gateways) : (await gateways[0]!.ready()) === 200);
  await until(areReady, 'the gateways are ready', START_MS);
  return gateways;
}

/** Requests per minute to the CMS without any writes. */
async function requestsPerMinute(cms: FakeWordPress): Promise<number> {
  await pause(3000);
  const before = cms.requests.length;
  await pause(Number(options.seconds) * 1000);
  return ((cms.requests.length - before) * 60) / Number(options.seconds);
}

interface Writes {
  /** Duration of each write, and from its response until all other gateways serve it. */
  tookMs: number[];
  seenMs: number[];
  wrong: number;
}

async function writes(gateways: readonly ClusterProcess[]): Promise<Writes> {
  const agent = new Agent({ connections: 4 });
  const result: Writes = { tookMs: [], seenMs: [], wrong: 0 };
  const request = (gateway: ClusterProcess, init: object = {}) =>
    agent.request({ origin: gateway.url, path: `${MOUNT}/events/1`, method: 'GET', ...init });
  for (let n = 0; n < Number(options.writes); n += 1) {
    const writer = gateways[n % gateways.length]!;
    const title = `write ${n}`;
    const startedMs = performance.now();
    const response = await request(writer, {
      method: 'POST',
      headers: { authorization: authorization('editor'), 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
    });
    await response.body.dump();
    const writtenMs = performance.now();
    result.tookMs.push(writtenMs - startedMs);
    if (response.statusCode !== 200) result.wrong += 1;
    const shown = gateways
      .filter((gateway) => gateway !== writer)
      .map(async (gateway) => {
        for (;;) {
          const read = await request(gateway);
          const body = (await read.body.json()) as { title: string };
          if (body.title === title) return performance.now() - writtenMs;
        }
      });
    const seen = await Promise.all(shown);
    if (seen.length > 0) result.seenMs.push(Math.max(...seen));
    await pause(WRITE_PAUSE_MS);
  }
  await agent.close();
  return result;
}

/** CPU time of a cached list through the last gateway, in microseconds. */
async function readUs(load: Load, gateways: readonly ClusterProcess[]): Promise<number> {
  const { child, name, url } = gateways.at(-1)!;
  const server = { name, port: Number(new URL(url).port), pids: [child.pid!], stop: async () => {} };
  const runs: number[] = [];
  for (let n = 0; n <= READ_RUNS; n += 1) {
    const { cpuUs } = await measure(load, server, { path: LIST, connections: 50, forMs: READ_MS }, 200);
    if (n > 0) runs.push(cpuUs);
  }
  return median(runs);
}

type Loss = 'killed' | 'stopped' | 'cut off';
const LOSSES: readonly Loss[] = ['killed', 'stopped', 'cut off'];

/** Time from the loss of the leader until another of three gateways leads, in poll intervals. */
async function takeovers(loss: Loss): Promise<number[]> {
  const [cms, redis] = [await startFakeWordPress(), await startRedisServer()];
  const proxies = new Map<ClusterProcess, FaultProxy>();
  async function startOne(name: string): Promise<ClusterProcess> {
    const proxy = await startFaultProxy(new URL(redis.url.replace('redis:', 'http:')));
    const redisUrl = `redis://127.0.0.1:${proxy.url.port}`;
    const gateway = await startProcess({ name, cmsUrl: cms.url.href, redisUrl, intervalS: INTERVAL_S });
    proxies.set(gateway, proxy);
    return gateway;
  }
  let gateways = await Promise.all(['a', 'b', 'c'].map(startOne));
  const intervals: number[] = [];
  try {
    for (let n = 0; n < Number(options.takeovers); n += 1) {
      await until(() => allSettled(gateways), 'one leads again', START_MS);
      const lead = (await findLeader(gateways))!;
      const rest = gateways.filter((gateway) => gateway !== lead);
      // At a random time between two renewals of the lock.
      await pause(Math.random() * INTERVAL_S * 1000);
      const lostMs = performance.now();
      if (loss === 'killed') await lead.kill();
      else if (loss === 'stopped') lead.child.kill('SIGSTOP');
      else await proxies.get(lead)!.set({ kind: 'silent' });
      await until(async () => (await findLeader(rest)) !== undefined, 'another gateway leads', START_MS);
      intervals.push((performance.now() - lostMs) / (INTERVAL_S * 1000));
      lead.child.kill('SIGCONT');
      await proxies.get(lead)!.set({ kind: 'none' });
      if (loss === 'killed') gateways = [...rest, await startOne(lead.name)];
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    await Promise.all([redis.close(), cms.close()]);
  }
  return intervals.sort((a, b) => a - b);
}

const rounded = (value: number): number => Number(value.toFixed(1));
const figures: Record<string, number> = {};
const rows: object[] = [];

async function measureOne(load: Load, count: number, alone: boolean): Promise<void> {
  const cms = await startFakeWordPress();
  const redis = alone ? undefined : await startRedisServer();
  const gateways = await start(cms, redis, count);
  try {
    const perMinute = await requestsPerMinute(cms);
    const { tookMs, seenMs, wrong } = await writes(gateways);
    if (wrong > 0) throw new Error(`${wrong} writes were rejected`);
    const memory = gateways.map(({ child }) => residentMiB(child.pid!));
    const us = await readUs(load, gateways);
    const name = alone ? 'alone' : `n${count}`;
    const [seen50, seen99] = [percentile(seenMs, 0.5), percentile(seenMs, 0.99)];
    Object.assign(figures, {
      [`${name}_cms_requests_per_min`]: perMinute,
      [`${name}_write_p50_ms`]: percentile(tookMs, 0.5),
      [`${name}_write_p99_ms`]: percentile(tookMs, 0.99),
      ...(seenMs.length > 0 ? { [`${name}_seen_p50_ms`]: seen50, [`${name}_seen_p99_ms`]: seen99 } : {}),
      [`${name}_read_cpu_us`]: us,
    });
    const mib = memory.reduce((sum, mib) => sum + mib, 0) / memory.length;
    rows.push({
      gateways: alone ? '1, no Redis' : count,
      'CMS requests/min': Math.round(perMinute),
      'write p50 ms': rounded(percentile(tookMs, 0.5)),
      'write p99 ms': rounded(percentile(tookMs, 0.99)),
      'seen p50 ms': rounded(seen50),
      'seen p99 ms': rounded(seen99),
      'read CPU us': rounded(us),
      'MiB each': Math.round(mib),
    });
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await redis?.close();
    await cms.close();
  }
}

const load = startLoad();
try {
  await measureOne(load, 1, true);
  for (const count of COUNTS) await measureOne(load, count, false);
} finally {
  await load.stop();
}
console.log(`${cpus().length} cores, polls every ${INTERVAL_S} s, ${options.writes} writes`);
console.table(rows);

let longest = 0;
for (const loss of LOSSES) {
  const intervals = await takeovers(loss);
  longest = Math.max(longest, intervals.at(-1)!);
  const key = `takeover_${loss.replace(' ', '_')}`;
  Object.assign(figures, {
    [`${key}_intervals_ratio`]: percentile(intervals, 0.5),
    [`${key}_longest_intervals_ratio`]: intervals.at(-1),
  });
  console.log(
    `${loss}: another gateway leads after ${percentile(intervals, 0.5).toFixed(2)} intervals, at most ${intervals.at(-1)!.toFixed(2)}`,
  );
}
if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);

const growth =
  Math.max(...COUNTS.map((count) => figures[`n${count}_cms_requests_per_min`]!)) / figures.alone_cms_requests_per_min!;
const seen = Math.max(figures.n2_seen_p99_ms!, figures.n4_seen_p99_ms!);
const goals: [string, number, number][] = [
  ['requests to the CMS, in those of one gateway', growth, TARGETS.growth],
  ['visible through the others, p99 ms', seen, TARGETS.seenP99Ms],
  ['takeover, intervals', longest, TARGETS.takeoverIntervals],
];
for (const [name, value, target] of goals) {
  const isMet = value <= target;
  if (!isMet) process.exitCode = 1;
  console.log(`${isMet ? 'met   ' : 'MISSED'}  ${name}: ${value.toFixed(2)} (at most ${target})`);
}
