// Measures several gateways before one CMS: `npm run bench:cluster -- [--json FILE] [--seconds 20] [--writes 300] [--takeovers 5]`. A made CMS that
// answers at once; ends with 1 where a target is missed.

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent } from 'undici';
import { type EngineProcess, startEngine } from '../test/cluster/engine-process.ts';
import { allTogether, type GatewayProcess, leading, MOUNT, startProcess } from '../test/cluster/processes.ts';
import { type FaultProxy, startFaultProxy } from '../test/faults/fault-proxy.ts';
import { as, startWordPress, type WordPressStandIn } from '../test/faults/wordpress.ts';
import { type Load, measure, median, residentMiB, startLoad } from './processes.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'string' },
    seconds: { type: 'string', default: '20' },
    writes: { type: 'string', default: '300' },
    takeovers: { type: 'string', default: '5' },
  },
});
const INTERVAL_S = 1;
const COUNTS = [1, 2, 4];
/** A write every so often, so that each is alone on its way. */
const WRITE_PAUSE_MS = 30;
const LIST = `${MOUNT}/events?per_page=50&start_date=2000-01-01`;
const READ_RUNS = 5;
const READ_MS = 1000;
/** What is asked of them; requests grow by what two counts of the same thing may differ. */
const MOST = { growth: 1.05, seenP99Ms: 100, takeoverIntervals: 2 };

async function until(isSo: () => Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await isSo())) await pause(everyMs);
}

async function start(
  cms: WordPressStandIn,
  engine: EngineProcess | undefined,
  count: number,
): Promise<GatewayProcess[]> {
  const options = { cmsUrl: cms.url.href, intervalS: INTERVAL_S, ...(engine ? { engineUrl: engine.url } : {}) };
  const names = Array.from({ length: count }, (_, n) => `gateway ${n + 1}`);
  const gateways = await Promise.all(names.map((name) => startProcess({ ...options, name })));
  await until(async () => (engine ? allTogether(gateways) : gateways[0]!.ready()));
  return gateways;
}

const at = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;

/** Requests that the CMS gets in a minute when nothing happens. */
async function requestsPerMinute(cms: WordPressStandIn): Promise<number> {
  await pause(3000);
  const before = cms.seen.length;
  await pause(Number(values.seconds) * 1000);
  return ((cms.seen.length - before) * 60) / Number(values.seconds);
}

interface Writes {
  /** How long the writes took, and how long after each answer the last of the others showed it; ascending. */
  tookMs: number[];
  seenMs: number[];
  wrong: number;
}

async function writes(gateways: readonly GatewayProcess[]): Promise<Writes> {
  const agent = new Agent({ connections: 4 });
  const found: Writes = { tookMs: [], seenMs: [], wrong: 0 };
  const ask = (gateway: GatewayProcess, init: object = {}) =>
    agent.request({ origin: gateway.url, path: `${MOUNT}/events/1`, method: 'GET', ...init });
  for (let n = 0; n < Number(values.writes); n += 1) {
    const through = gateways[n % gateways.length]!;
    const title = `write ${n}`;
    const begunMs = performance.now();
    const answer = await ask(through, {
      method: 'POST',
      headers: { authorization: as('editor'), 'content-type': 'application/json' },
      body: JSON.stringify({ title }),
    });
    await answer.body.dump();
    const writtenMs = performance.now();
    found.tookMs.push(writtenMs - begunMs);
    if (answer.statusCode !== 200) found.wrong += 1;
    const shown = gateways
      .filter((gateway) => gateway !== through)
      .map(async (gateway) => {
        for (;;) {
          const read = await ask(gateway);
          const body = (await read.body.json()) as { title: string };
          if (body.title === title) return performance.now() - writtenMs;
        }
      });
    const seen = await Promise.all(shown);
    if (seen.length > 0) found.seenMs.push(Math.max(...seen));
    await pause(WRITE_PAUSE_MS);
  }
  await agent.close();
  for (const list of [found.tookMs, found.seenMs]) list.sort((a, b) => a - b);
  return found;
}

/** CPU time of one read of a list through the last of them, with an answer that is kept; microseconds. */
async function readUs(load: Load, gateways: readonly GatewayProcess[]): Promise<number> {
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

/** How long after the one that asks the CMS was lost another of three asks it, in intervals. */
async function takeovers(loss: Loss): Promise<number[]> {
  const [cms, engine] = [await startWordPress(), await startEngine()];
  const proxies = new Map<GatewayProcess, FaultProxy>();
  async function start1(name: string): Promise<GatewayProcess> {
    const proxy = await startFaultProxy(new URL(engine.url.replace('redis:', 'http:')));
    const engineUrl = `redis://127.0.0.1:${proxy.url.port}`;
    const gateway = await startProcess({ name, cmsUrl: cms.url.href, engineUrl, intervalS: INTERVAL_S });
    proxies.set(gateway, proxy);
    return gateway;
  }
  let gateways = await Promise.all(['a', 'b', 'c'].map(start1));
  const found: number[] = [];
  try {
    for (let n = 0; n < Number(values.takeovers); n += 1) {
      await until(() => allTogether(gateways));
      const lead = (await leading(gateways))!;
      const rest = gateways.filter((gateway) => gateway !== lead);
      // Somewhere between two renewals of the lock.
      await pause(Math.random() * INTERVAL_S * 1000);
      const lostMs = performance.now();
      if (loss === 'killed') await lead.kill();
      else if (loss === 'stopped') lead.child.kill('SIGSTOP');
      else await proxies.get(lead)!.set({ kind: 'silent' });
      await until(async () => (await leading(rest)) !== undefined, 5);
      found.push((performance.now() - lostMs) / (INTERVAL_S * 1000));
      lead.child.kill('SIGCONT');
      await proxies.get(lead)!.set({ kind: 'none' });
      if (loss === 'killed') gateways = [...rest, await start1(lead.name)];
    }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await Promise.all([...proxies.values()].map((proxy) => proxy.close()));
    await Promise.all([engine.close(), cms.close()]);
  }
  return found.sort((a, b) => a - b);
}

const figures: Record<string, number> = {};
const rows: string[][] = [
  [
    'gateways',
    'CMS requests/min',
    'write p50 ms',
    'write p99 ms',
    'seen p50 ms',
    'seen p99 ms',
    'read CPU us',
    'MiB each',
  ],
];
const text = (value: number | undefined, digits: number) =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);

async function measureOne(load: Load, count: number, alone: boolean): Promise<void> {
  const cms = await startWordPress();
  const engine = alone ? undefined : await startEngine();
  const gateways = await start(cms, engine, count);
  try {
    const perMinute = await requestsPerMinute(cms);
    const { tookMs, seenMs, wrong } = await writes(gateways);
    if (wrong > 0) throw new Error(`${wrong} writes were refused`);
    const memory = gateways.map(({ child }) => residentMiB(child.pid!));
    const us = await readUs(load, gateways);
    const name = alone ? 'alone' : `n${count}`;
    const [seen50, seen99] = [at(seenMs, 0.5), at(seenMs, 0.99)];
    Object.assign(figures, {
      [`${name}_cms_requests_per_min`]: perMinute,
      [`${name}_write_p50_ms`]: at(tookMs, 0.5),
      [`${name}_write_p99_ms`]: at(tookMs, 0.99),
      ...(seenMs.length > 0 ? { [`${name}_seen_p50_ms`]: seen50, [`${name}_seen_p99_ms`]: seen99 } : {}),
      [`${name}_read_cpu_us`]: us,
    });
    const mib = memory.reduce((sum, one) => sum + one, 0) / memory.length;
    rows.push([
      ...[alone ? '1, no engine' : String(count), text(perMinute, 0)],
      ...[text(at(tookMs, 0.5), 1), text(at(tookMs, 0.99), 1), text(seen50, 1), text(seen99, 1)],
      ...[text(us, 1), text(mib, 0)],
    ]);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await engine?.close();
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
const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
console.log(`${cpus().length} cores, rounds every ${INTERVAL_S} s, ${values.writes} writes`);
for (const row of rows) console.log(`| ${row.map((cell, column) => cell.padStart(widths[column]!)).join(' | ')} |`);

let longest = 0;
for (const loss of LOSSES) {
  const found = await takeovers(loss);
  longest = Math.max(longest, found.at(-1)!);
  const key = `takeover_${loss.replace(' ', '_')}`;
  Object.assign(figures, {
    [`${key}_intervals_ratio`]: at(found, 0.5),
    [`${key}_longest_intervals_ratio`]: found.at(-1),
  });
  console.log(
    `${loss}: another asks the CMS after ${at(found, 0.5).toFixed(2)} intervals, at most ${found.at(-1)!.toFixed(2)}`,
  );
}
if (values.json) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);

const growth =
  Math.max(...COUNTS.map((count) => figures[`n${count}_cms_requests_per_min`]!)) / figures.alone_cms_requests_per_min!;
const seen = Math.max(figures.n2_seen_p99_ms!, figures.n4_seen_p99_ms!);
const goals: [string, number, number][] = [
  ['requests to the CMS, in those of one gateway', growth, MOST.growth],
  ['seen by the others, p99 ms', seen, MOST.seenP99Ms],
  ['takeover, intervals', longest, MOST.takeoverIntervals],
];
for (const [what, value, most] of goals) {
  const isMet = value <= most;
  if (!isMet) process.exitCode = 1;
  console.log(`${isMet ? 'met   ' : 'MISSED'}  ${what}: ${value.toFixed(2)} (at most ${most})`);
}
