// `npm run bench:copy -- [--events N] [--json FILE]`: the copy on made sites of 1,000 events and more, alone and over HTTP.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { openReplica } from '../src/replica/store.ts';
import { nodeFlags } from './as-started.ts';
import { buildGateway } from './copy/build.ts';
import type { Inside, Round } from './copy/gateway.ts';
import { type Timed, timeCopy, timeGateway } from './copy/lists.ts';
import { eventFacts, sizeOf } from './copy/site.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '100000' },
    json: { type: 'string' },
    'cms-ms': { type: 'string', default: '0' },
    turns: { type: 'string', default: '200' },
    port: { type: 'string', default: '29470' },
    flags: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

const HELP = `npm run bench:copy -- [options]

A gateway before made sites of a hundredth, a tenth and the whole of the events, each where that is 1,000 or more: its first copy, its lists out
of the copy and over HTTP, a round that brings in edits, and a warm start. About three minutes on two cores: nothing else should run
meanwhile. Each total is counted by hand as well; ends with an error where one differs.

  --events N      events of the largest site (100000)
  --json FILE     the figures as flat JSON
  --cms-ms N      what each answer of the CMS takes beside the work of making it (0)
  --turns N       how often each list is asked for (200)
  --port N        the gateway's port, and the next one for operators (29470)
  --flags FLAGS   flags of Node in place of those that npm start gives, as in --flags=--optimize-for-size
`;
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

const execArgv = values.flags?.split(' ').filter((flag) => flag !== '') ?? nodeFlags();
const gatewayScript = buildGateway();
const port = Number(values.port);
const url = `http://127.0.0.1:${port}`;
const upstreamUser = { CALENDAR_UPSTREAM_USER: 'sync', CALENDAR_UPSTREAM_PASSWORD: 'bench' };

/** Share of the events that are edited at once. */
const EDITED = 0.02;

interface Measured {
  events: number;
  firstCopyMs: number;
  requests: number;
  waitingShare: number;
  loopP99Ms: number;
  loopMaxMs: number;
  fileMb: number;
  warmStartMs: number;
  firstPeakMb: number;
  rssMb: number;
  peakMb: number;
  round: Round;
  copy: Timed[];
  http: Timed[];
}

function start(script: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  const child = fork(script, args, { execArgv, env: { PATH: process.env.PATH, ...env } });
  child.on('exit', (code) => {
    if (code !== 0 && code !== null) throw new Error(`${script} ended with ${code}`);
  });
  return child;
}

/** The value under `key` of the next message that has it. */
async function told<T>(child: ChildProcess, key: string): Promise<T> {
  for (;;) {
    const [message] = (await once(child, 'message')) as [Record<string, T>];
    if (key in message) return message[key] as T;
  }
}

async function ask<T>(child: ChildProcess, question: string): Promise<T> {
  const answer = told<T>(child, question);
  child.send(question);
  return answer;
}

async function stop(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit');
  child.send('stop');
  await ended;
}

/** A gateway before the CMS at `cmsUrl`; every request limit is out of the way. */
function startGateway(folder: string, cmsUrl: string): ChildProcess {
  const file = join(folder, 'bench.json');
  writeFileSync(file, JSON.stringify({ limits: { requestsPerMinute: 1e9 } }));
  return start(gatewayScript, [file], {
    ...upstreamUser,
    CALENDAR_UPSTREAM_URL: cmsUrl,
    CALENDAR_PORT: String(port),
    CALENDAR_ADMIN_PORT: String(port + 1),
    CALENDAR_HOST: '127.0.0.1',
    CALENDAR_DATA_DIR: folder,
  });
}

/** From the start of the process until the first list has been answered. */
async function firstList(): Promise<number> {
  const begun = performance.now();
  for (;;) {
    const answer = await fetch(`${url}/calendar/events/v1/events?per_page=1`).catch(() => undefined);
    if (answer?.status === 200) return performance.now() - begun;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** What the gateway calls the copy; the replica puts the version of its tables before that. */
function identityOf(file: string): string {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const row = db.prepare("SELECT value FROM meta WHERE key = 'identity'").get();
    return String(row?.value).replace(/^\d+ /, '');
  } finally {
    db.close();
  }
}

async function measure(events: number, turns: number): Promise<Measured> {
  const size = sizeOf(events);
  const folder = mkdtempSync(join(tmpdir(), 'bench-copy-'));
  const cms = start(fileURLToPath(new URL('./copy/cms.ts', import.meta.url)), [String(events), values['cms-ms']]);
  const cmsUrl = `http://127.0.0.1:${await told<number>(cms, 'port')}`;
  try {
    let gateway = startGateway(folder, cmsUrl);
    const first = await told<Inside>(gateway, 'ready');
    await stop(gateway);
    const file = join(folder, 'calendar.sqlite');
    const fileMb = statSync(file).size / 1048576;

    gateway = startGateway(folder, cmsUrl);
    const warmStartMs = await firstList();
    const facts = Array.from({ length: events }, (_, n) => eventFacts(n, size));
    const http = await timeGateway(url, turns, size, facts);
    const served = await ask<Inside>(gateway, 'inside');
    cms.send({ edit: Math.round(events * EDITED) });
    const round = await ask<Round>(gateway, 'round');
    await stop(gateway);

    const replica = openReplica({ file, identity: identityOf(file) });
    if (replica.setAside !== undefined) throw new Error(`The copy was set aside: ${replica.setAside}`);
    const copy = await timeCopy(replica, turns, size, facts);
    replica.close();
    return {
      ...{ events, firstCopyMs: first.readyMs ?? Number.NaN, requests: first.calls, waitingShare: first.idleShare },
      ...{ loopP99Ms: first.loopP99Ms, loopMaxMs: first.loopMaxMs, fileMb, warmStartMs },
      ...{ firstPeakMb: first.peakMb, rssMb: served.rssMb, peakMb: served.peakMb, round, copy, http },
    };
  } finally {
    cms.disconnect();
    rmSync(folder, { recursive: true });
  }
}

const rounded = (value: number, digits = 2) => Number(value.toFixed(digits));
const worst = (rows: Timed[], group: Timed['group']) =>
  Math.max(...rows.filter((row) => row.group === group).map(({ p99Ms }) => p99Ms));

function print(found: Measured): void {
  const { copy, http } = found;
  console.log(`\n${found.events} events: lists, ms (totals counted by hand as well)`);
  console.table(
    copy.map(({ name, total, p50Ms, p99Ms, cpuMs }, n) => ({
      ...{ list: name, total, cpu: rounded(cpuMs), p50: rounded(p50Ms), p99: rounded(p99Ms) },
      ...{ 'HTTP p50': rounded(http[n]?.p50Ms ?? 0), 'HTTP p99': rounded(http[n]?.p99Ms ?? 0) },
    })),
  );
}

function summary(found: Measured): Record<string, number> {
  return {
    first_copy_s: rounded(found.firstCopyMs / 1000),
    requests: found.requests,
    waiting_percent: rounded(100 * found.waitingShare, 0),
    loop_delay_p99_ms: rounded(found.loopP99Ms),
    loop_delay_max_ms: rounded(found.loopMaxMs),
    edits: found.round.changed,
    edits_round_s: rounded(found.round.durationMs / 1000),
    edits_loop_delay_p99_ms: rounded(found.round.loopP99Ms),
    edits_loop_delay_max_ms: rounded(found.round.loopMaxMs),
    file_mb: rounded(found.fileMb, 0),
    warm_start_ms: rounded(found.warmStartMs, 0),
    rss_first_copy_peak_mb: rounded(found.firstPeakMb, 0),
    rss_mb: rounded(Math.max(found.firstPeakMb, found.peakMb), 0),
    rss_serving_mb: rounded(found.rssMb, 0),
    filters_p99_ms: rounded(worst(found.copy, 'filter')),
    search_p99_ms: rounded(worst(found.copy, 'search')),
    filters_http_p99_ms: rounded(worst(found.http, 'filter')),
    search_http_p99_ms: rounded(worst(found.http, 'search')),
  };
}

const label = (events: number) => (events % 1000 === 0 ? `${events / 1000}k` : String(events));

const largest = Number(values.events);
const sizes = [largest / 100, largest / 10, largest].filter((events) => events >= 1000 && Number.isInteger(events));
const flat: Record<string, number | string> = {
  machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  node: process.version,
  load_before: rounded(loadavg()[0] ?? 0),
};
const columns: Record<string, Record<string, number>> = {};
for (const events of sizes.length > 0 ? sizes : [largest]) {
  const found = await measure(events, Number(values.turns));
  print(found);
  columns[label(events)] = summary(found);
  for (const [key, value] of Object.entries(summary(found))) {
    flat[`${key}_${label(events)}`] = value;
    // Of the largest site, which comes last.
    if (key.startsWith('loop_delay')) flat[key] = value;
  }
}
flat.load_after = rounded(loadavg()[0] ?? 0);
console.log(
  `\nGrowth (${flat.machine}, Node ${flat.node}, load ${flat.load_before} before and ${flat.load_after} after)`,
);
const keys = Object.keys(Object.values(columns)[0] ?? {});
console.table(
  Object.fromEntries(
    keys.map((key) => [key, Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[key]]))]),
  ),
);
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(flat, null, 2)}\n`);
