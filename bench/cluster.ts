// `node bench/cluster.ts`: measures one, three and six gateways in front of one fake CMS, which responds immediately.

import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent } from 'undici';
import { allSettled, type ClusterProcess, MOUNT, startProcess } from '../test/cluster/processes.ts';
import { type RedisServer, startRedisServer, withRedisClient } from '../test/cluster/redis-server.ts';
import { authorization, type FakeWordPress, startEmptyWordPress } from '../test/faults/fake-wordpress.ts';
import { scriptOptions } from '../test/script-options.ts';
import { until } from '../test/until.ts';
import { percentile, residentMiB } from './processes.ts';

const options = scriptOptions(
  `node bench/cluster.ts [options]

Measures one gateway alone and one, three and six that share a Redis, in front of a fake CMS of 100, 1,000 and 10,000 events: calls to the CMS
of polls and of scans while nothing changes, writes until all gateways show them, with and without Redis, and memory. Needs an installed
redis-server or valkey-server. Takes about fifteen minutes on two cores. Exits with 1 if a target is missed.`,
  {
    json: { type: 'string', value: 'FILE', help: 'writes the figures as flat JSON' },
    seconds: { type: 'string', value: 'S', default: '30', help: 'how long calls to the CMS are counted' },
    writes: { type: 'string', value: 'N', default: '200', help: 'writes for each number of gateways' },
    events: { type: 'string', value: 'N,N', default: '100,1000,10000', help: 'sizes of the site' },
  },
);
const INTERVAL_S = 1;
const COUNTS = [1, 3, 6];
const START_MS = 300_000;
/** Between two writes, so that they do not overlap. */
const WRITE_PAUSE_MS = 30;
/** Poll calls of three gateways in those of one; and how soon a write is visible elsewhere, without Redis in intervals. */
const TARGETS = { polls: 1.5, seenP99Ms: 1000, seenAloneIntervals: 1 };
/** Writes without Redis: each waits for a poll. */
const WRITES_ALONE = 30;

const rounded = (value: number): number => Number(value.toFixed(1));
const figures: Record<string, number> = {};
const rows: object[] = [];

async function startSite(events: number): Promise<FakeWordPress> {
  const wordpress = await startEmptyWordPress();
  // Long before the first poll: a new record is read again for some seconds.
  const dateS = Date.UTC(2026, 0, 2) / 1000;
  for (let n = 0; n < events; n += 1) {
    const day = String((n % 27) + 1).padStart(2, '0');
    const meta = { start_date: `2027-03-${day} 10:00:00`, end_date: `2027-03-${day} 11:00:00` };
    wordpress.cms.createPost('events', { title: `Event ${n}`, meta, dateS });
  }
  return wordpress;
}

async function start(cms: FakeWordPress, redis: RedisServer | undefined, count: number): Promise<ClusterProcess[]> {
  const settings = { cmsUrl: cms.url.href, intervalS: INTERVAL_S, ...(redis ? { redisUrl: redis.url } : {}) };
  const names = Array.from({ length: count }, (_, n) => `gateway ${n + 1}`);
  const gateways = await Promise.all(names.map((name) => startProcess({ ...settings, name })));
  const areReady = async () => (redis ? allSettled(gateways) : (await gateways[0]!.ready()) === 200);
  await until(areReady, 'the gateways are ready', START_MS);
  return gateways;
}

/** A scan lists posts by id with the mapped fields; a poll reads stamps, terms and the newest images. */
const isScan = ({ url }: { url: string }): boolean => {
  const { pathname, searchParams } = new URL(url, 'http://fake');
  const isPost = /\/(events|venues|organizers)$/.test(pathname);
  return isPost && searchParams.get('orderby') === 'id' && !searchParams.has('include');
};

interface Calls {
  polls: number;
  scans: number;
}

/** Calls a minute without any writes; those of scans for one whole scan of each gateway. */
async function countCalls(
  cms: FakeWordPress,
  redis: RedisServer | undefined,
  gateways: readonly ClusterProcess[],
): Promise<Calls> {
  await pause(5000);
  const from = cms.requests.length;
  await pause(Number(options.seconds) * 1000);
  const polls = cms.requests.slice(from).filter((request) => !isScan(request)).length;
  if (!redis) return { polls: (polls * 60) / Number(options.seconds), scans: 0 };
  const before = cms.requests.length;
  await measureWrites(gateways.slice(0, 1), 1);
  // As a gateway that was cut off for too many changes.
  await withRedisClient(redis, async (client) => {
    const [key = ''] = await client.keys('*:changes');
    await client.xAdd(key, '*', { from: randomUUID(), keys: '*' });
  });
  let scans = 0;
  await until(
    async () => {
      const known = scans;
      await pause(3 * INTERVAL_S * 1000);
      scans = cms.requests.slice(before).filter(isScan).length;
      return scans > 0 && scans === known;
    },
    `the scans of ${gateways.length} gateways`,
    START_MS,
  );
  return { polls: (polls * 60) / Number(options.seconds), scans };
}

interface Writes {
  /** Duration of each write, and from its response until all other gateways serve it. */
  tookMs: number[];
  seenMs: number[];
}

async function measureWrites(gateways: readonly ClusterProcess[], writes: number): Promise<Writes> {
  const agent = new Agent({ connections: 4 });
  const result: Writes = { tookMs: [], seenMs: [] };
  const request = (gateway: ClusterProcess, init: object = {}) =>
    agent.request({ origin: gateway.url, path: `${MOUNT}/events/1`, method: 'GET', ...init });
  for (let n = 0; n < writes; n += 1) {
    const writer = gateways[n % gateways.length]!;
    const title = `write ${n} of ${writes}`;
    const startedMs = performance.now();
    const response = await request(writer, {
      method: 'POST',
      headers: { authorization: authorization('editor'), 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
    });
    await response.body.dump();
    if (response.statusCode !== 200) throw new Error(`a write was refused: ${response.statusCode}`);
    const writtenMs = performance.now();
    result.tookMs.push(writtenMs - startedMs);
    const shown = gateways
      .filter((gateway) => gateway !== writer)
      .map(async (gateway) => {
        for (;;) {
          const read = await request(gateway);
          const body = (await read.body.json()) as { title: string };
          if (body.title === title) return performance.now() - writtenMs;
          await pause(1);
        }
      });
    const seen = await Promise.all(shown);
    if (seen.length > 0) result.seenMs.push(Math.max(...seen));
    await pause(WRITE_PAUSE_MS);
  }
  await agent.close();
  return result;
}

async function measureOne(events: number, count: number, isAlone: boolean): Promise<void> {
  const cms = await startSite(events);
  const redis = isAlone ? undefined : await startRedisServer();
  const gateways = await start(cms, redis, count);
  try {
    const { polls, scans } = await countCalls(cms, redis, gateways);
    const memory = gateways.map(({ child }) => residentMiB(child.pid!));
    const { tookMs, seenMs } = await measureWrites(gateways, Number(options.writes));
    const name = `${isAlone ? 'alone' : `n${count}`}_${events}`;
    Object.assign(figures, {
      [`${name}_poll_calls_per_min`]: polls,
      [`${name}_scan_calls`]: scans,
      [`${name}_write_p50_ms`]: percentile(tookMs, 0.5),
      ...(seenMs.length > 0 && { [`${name}_seen_p50_ms`]: percentile(seenMs, 0.5) }),
      ...(seenMs.length > 0 && { [`${name}_seen_p99_ms`]: percentile(seenMs, 0.99) }),
    });
    const row: Record<string, unknown> = {
      ...{ events, gateways: isAlone ? '1, no Redis' : count },
      ...{ 'poll calls/min': Math.round(polls), 'calls of a scan': scans },
      'write p50 ms': rounded(percentile(tookMs, 0.5)),
      ...{ 'seen p50 ms': rounded(percentile(seenMs, 0.5)), 'seen p99 ms': rounded(percentile(seenMs, 0.99)) },
      'MiB each': Math.round(memory.reduce((sum, mib) => sum + mib, 0) / memory.length),
    };
    if (redis && count === 3) {
      await redis.kill();
      const alone = await measureWrites(gateways, WRITES_ALONE);
      figures[`${name}_seen_without_redis_max_intervals`] = Math.max(...alone.seenMs) / (INTERVAL_S * 1000);
      row['seen without Redis, intervals'] = rounded(Math.max(...alone.seenMs) / (INTERVAL_S * 1000));
    }
    rows.push(row);
    console.log(JSON.stringify(row));
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await redis?.close();
    await cms.close();
  }
}

const sizes = options.events.split(',').map(Number);
for (const events of sizes) {
  await measureOne(events, 1, true);
  for (const count of COUNTS) await measureOne(events, count, false);
}
console.log(`${cpus().length} cores, polls every ${INTERVAL_S} s, ${options.writes} writes`);
console.table(rows);
if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);

const worst = (figure: (events: number) => number): number => Math.max(...sizes.map(figure));
const goals: [string, number, number][] = [
  [
    'poll calls of three gateways, in those of one',
    worst((events) => figures[`n3_${events}_poll_calls_per_min`]! / figures[`alone_${events}_poll_calls_per_min`]!),
    TARGETS.polls,
  ],
  ['visible elsewhere, p99 ms', worst((events) => figures[`n3_${events}_seen_p99_ms`]!), TARGETS.seenP99Ms],
  [
    'visible elsewhere without Redis, intervals',
    worst((events) => figures[`n3_${events}_seen_without_redis_max_intervals`]!),
    TARGETS.seenAloneIntervals,
  ],
];
for (const [name, value, target] of goals) {
  const isMet = value <= target;
  if (!isMet) process.exitCode = 1;
  console.log(`${isMet ? 'met   ' : 'MISSED'}  ${name}: ${value.toFixed(2)} (at most ${target})`);
}
