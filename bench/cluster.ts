// Measures several gateways before one CMS: `npm run bench:cluster -- [--json FILE] [--seconds 20] [--writes 300]`. A made CMS that answers at once.

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Agent } from 'undici';
import { type EngineProcess, startEngine } from '../test/cluster/engine-process.ts';
import { allTogether, type GatewayProcess, leading, MOUNT, startProcess } from '../test/cluster/processes.ts';
import { as, startWordPress, type WordPressStandIn } from '../test/faults/wordpress.ts';
import { residentMiB } from './processes.ts';

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

/** How long after the one that asks the CMS was killed another asks it, in intervals; the longest of several. */
async function takeover(cms: WordPressStandIn, engine: EngineProcess, gateways: GatewayProcess[]): Promise<number> {
  let longest = 0;
  for (let n = 0; n < Number(values.takeovers); n += 1) {
    const lead = (await leading(gateways))!;
    const killedMs = performance.now();
    await lead.kill();
    gateways.splice(gateways.indexOf(lead), 1);
    await until(async () => (await leading(gateways)) !== undefined, 5);
    longest = Math.max(longest, (performance.now() - killedMs) / (INTERVAL_S * 1000));
    gateways.push(...(await start1(cms, engine)));
    await until(() => allTogether(gateways));
  }
  return longest;
}

async function start1(cms: WordPressStandIn, engine: EngineProcess): Promise<GatewayProcess[]> {
  return [await startProcess({ name: 'next', cmsUrl: cms.url.href, engineUrl: engine.url, intervalS: INTERVAL_S })];
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
    'takeover, intervals',
    'MiB each',
  ],
];
const text = (value: number | undefined, digits: number) =>
  value === undefined || Number.isNaN(value) ? '' : value.toFixed(digits);

async function measureOne(count: number, alone: boolean): Promise<void> {
  const cms = await startWordPress();
  const engine = alone ? undefined : await startEngine();
  const gateways = await start(cms, engine, count);
  try {
    const perMinute = await requestsPerMinute(cms);
    const { tookMs, seenMs, wrong } = await writes(gateways);
    if (wrong > 0) throw new Error(`${wrong} writes were refused`);
    const memory = gateways.map(({ child }) => residentMiB(child.pid!));
    const longest = engine && count > 2 ? await takeover(cms, engine, gateways) : undefined;
    const name = alone ? 'alone' : `n${count}`;
    const [seen50, seen99] = [at(seenMs, 0.5), at(seenMs, 0.99)];
    Object.assign(figures, {
      [`${name}_cms_requests_per_min`]: perMinute,
      [`${name}_write_p50_ms`]: at(tookMs, 0.5),
      [`${name}_write_p99_ms`]: at(tookMs, 0.99),
      ...(seenMs.length > 0 ? { [`${name}_seen_p50_ms`]: seen50, [`${name}_seen_p99_ms`]: seen99 } : {}),
      ...(longest === undefined ? {} : { [`${name}_takeover_longest_intervals_ratio`]: longest }),
    });
    const mib = memory.reduce((sum, one) => sum + one, 0) / memory.length;
    rows.push([
      ...[alone ? '1, no engine' : String(count), text(perMinute, 0)],
      ...[text(at(tookMs, 0.5), 1), text(at(tookMs, 0.99), 1), text(seen50, 1), text(seen99, 1)],
      ...[text(longest, 2), text(mib, 0)],
    ]);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.kill()));
    await engine?.close();
    await cms.close();
  }
}

await measureOne(1, true);
for (const count of COUNTS) await measureOne(count, false);
const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
console.log(`${cpus().length} cores, rounds every ${INTERVAL_S} s, ${values.writes} writes`);
for (const row of rows) console.log(`| ${row.map((cell, column) => cell.padStart(widths[column]!)).join(' | ')} |`);
if (values.json) writeFileSync(values.json, `${JSON.stringify(figures, null, 2)}\n`);
