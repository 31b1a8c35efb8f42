// `npm run bench:replica`: the replica of generated sites of 1,000 events and more, alone and over HTTP.

import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { MEMORY_ENVIRONMENT, NODE_FLAGS } from '../src/node-flags.ts';
import { Replica } from '../src/store/replica.ts';
import { scriptOptions } from '../test/script-options.ts';
import { startGateway } from '../test/start-gateway.ts';
import type { EditPoll, ProcessFigures } from './replica/gateway.ts';
import { type ListTimes, timeGateway, timeReplica } from './replica/lists.ts';
import { sizeOf } from './replica/site.ts';

const options = scriptOptions(
  `npm run bench:replica -- [options]

Measures a gateway in front of generated sites with a hundredth, a tenth and all of the events (each if that is 1,000 or more): the initial
sync, lists from the replica alone and over HTTP, a poll that brings in edits, and a warm start. Takes about three minutes on two cores, which
should be idle. Fails if a total over HTTP differs from that of the replica.`,
  {
    events: { type: 'string', value: 'N', default: '100000', help: 'events of the largest site' },
    json: { type: 'string', value: 'FILE', help: 'writes the figures as flat JSON' },
    'cms-ms': { type: 'string', value: 'N', default: '0', help: 'delay of each response of the CMS' },
    turns: { type: 'string', value: 'N', default: '200', help: 'how often each list is requested' },
    port: { type: 'string', value: 'N', default: '29470', help: "the gateway's port; the next one is the admin port" },
    flags: {
      type: 'string',
      value: 'FLAGS',
      help: "flags of Node instead of the gateway's own, as in --flags=--optimize-for-size",
    },
  },
);

const execArgv = options.flags?.split(' ').filter((flag) => flag !== '') ?? [...NODE_FLAGS];
const ROOT = resolve(import.meta.dirname, '..');
const CACHE = join(ROOT, '.cache');

/**
 * Builds `dist/`, and replica/gateway.ts to run with it, as the gateway is installed: stripping types at run
 * time would add thirty megabytes that no operator has. Returns the path of the script.
 */
function buildGateway(): string {
  execFileSync(process.execPath, [join(ROOT, 'deploy/build.ts')], { stdio: 'inherit' });
  const script = stripTypeScriptTypes(readFileSync(new URL('./replica/gateway.ts', import.meta.url), 'utf8'));
  mkdirSync(CACHE, { recursive: true });
  const file = join(CACHE, 'bench-gateway.mjs');
  writeFileSync(file, script.replace(/'\.\.\/\.\.\/src\/(.*)\.ts'/g, "'../dist/$1.js'"));
  return file;
}

const gatewayScript = buildGateway();
const port = Number(options.port);
const url = `http://127.0.0.1:${port}`;

/** Share of the events that are edited between two polls. */
const EDITED = 0.02;

interface Measured {
  events: number;
  initialSync: ProcessFigures;
  fileMb: number;
  warmStartMs: number;
  /** After the lists were served. */
  serving: ProcessFigures;
  editPoll: EditPoll;
  replica: ListTimes[];
  http: ListTimes[];
}

/** Ends the measurement if the process fails. */
function failing(child: ChildProcess, script: string): ChildProcess {
  return child.on('exit', (code) => {
    if (code !== 0 && code !== null) throw new Error(`${script} ended with ${code}`);
  });
}

/** The value under `key` of the next message that has it. */
async function receive<T>(child: ChildProcess, key: string): Promise<T> {
  for (;;) {
    const [message] = (await once(child, 'message')) as [Record<string, T>];
    if (key in message) return message[key] as T;
  }
}

async function request<T>(child: ChildProcess, key: string): Promise<T> {
  const value = receive<T>(child, key);
  child.send(key);
  return value;
}

async function stop(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.send('stop');
  await exit;
}

/** Starts a gateway in front of the CMS at `cmsUrl`, without a rate limit. */
async function start(folder: string, cmsUrl: string): Promise<ChildProcess> {
  const { child } = await startGateway({
    ...{ transport: 'process', cmsUrl, service: { user: 'sync', password: 'bench' } },
    ...{ entry: gatewayScript, flags: execArgv, hasMessages: true, ports: { port, adminPort: port + 1 } },
    config: { limits: { requestsPerMinute: 1e9 } },
    env: { ...MEMORY_ENVIRONMENT, CALENDAR_DATA_DIR: folder },
  });
  return failing(child, gatewayScript);
}

/** Milliseconds until the gateway has answered a list. */
async function timeFirstList(): Promise<number> {
  const startedMs = performance.now();
  for (;;) {
    const response = await fetch(`${url}/calendar/events/v1/events?per_page=1`).catch(() => undefined);
    if (response?.status === 200) return performance.now() - startedMs;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** The identity that the gateway gave the replica, which stores it after the replica's format. */
function identityOf(file: string): string {
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const row = db.prepare("SELECT value FROM state WHERE key = 'identity'").get();
    return String(row?.value);
  } finally {
    db.close();
  }
}

async function measure(events: number, turns: number): Promise<Measured> {
  const size = sizeOf(events);
  const folder = mkdtempSync(join(tmpdir(), 'bench-replica-'));
  const cmsScript = fileURLToPath(new URL('./replica/cms.ts', import.meta.url));
  const cms = failing(fork(cmsScript, [String(events), options['cms-ms']], { execArgv }), cmsScript);
  const cmsUrl = `http://127.0.0.1:${await receive<number>(cms, 'port')}`;
  try {
    let gateway = await start(folder, cmsUrl);
    const initialSync = await receive<ProcessFigures>(gateway, 'synced');
    await stop(gateway);
    const file = join(folder, 'calendar.sqlite');
    const fileMb = statSync(file).size / 1048576;

    gateway = await start(folder, cmsUrl);
    const warmStartMs = await timeFirstList();
    const http = await timeGateway(url, turns, size);
    const serving = await request<ProcessFigures>(gateway, 'figures');
    cms.send({ edit: Math.round(events * EDITED) });
    const editPoll = await request<EditPoll>(gateway, 'editPoll');
    await stop(gateway);

    const replica = new Replica({ file, identity: identityOf(file) });
    if (replica.quarantined !== undefined) throw new Error(`The replica was quarantined: ${replica.quarantined}`);
    const times = await timeReplica(replica, turns, size);
    replica.close();
    for (const [n, { name, total }] of http.entries())
      if (total !== times[n]!.total)
        throw new Error(`${name}: ${total} events over HTTP, ${times[n]!.total} in the replica`);
    return { events, initialSync, fileMb, warmStartMs, serving, editPoll, replica: times, http };
  } finally {
    cms.disconnect();
    rmSync(folder, { recursive: true });
  }
}

const rounded = (value: number, digits = 2) => Number(value.toFixed(digits));
const worst = (rows: ListTimes[], group: ListTimes['group'], key: 'p99Ms' | 'steadyP99Ms' = 'p99Ms') =>
  Math.max(...rows.filter((row) => row.group === group).map((row) => row[key]));

function print({ events, replica, http }: Measured): void {
  console.log(`\n${events} events: lists, in ms`);
  console.table(
    replica.map(({ name, total, p50Ms, p99Ms, cpuMs, steadyP99Ms }, n) => ({
      list: name,
      total,
      cpu: rounded(cpuMs),
      p50: rounded(p50Ms),
      p99: rounded(p99Ms),
      'p99, least of 3': rounded(steadyP99Ms),
      ...(http[n] && { 'HTTP p50': rounded(http[n].p50Ms), 'HTTP p99': rounded(http[n].p99Ms) }),
    })),
  );
}

function summary({ initialSync, fileMb, warmStartMs, serving, editPoll, replica, http }: Measured) {
  return {
    initial_sync_s: rounded((initialSync.readyMs ?? Number.NaN) / 1000),
    initial_sync_after_events_s: rounded(((initialSync.readyMs ?? Number.NaN) - (initialSync.eventsMs ?? 0)) / 1000),
    initial_sync_cpu_s: rounded(initialSync.cpuMs / 1000),
    requests: initialSync.calls,
    waiting_percent: rounded(100 * initialSync.idleShare, 0),
    loop_delay_p99_ms: rounded(initialSync.loopP99Ms),
    loop_delay_max_ms: rounded(initialSync.loopMaxMs),
    loop_turn_cpu_max_ms: rounded(initialSync.turnCpuMaxMs),
    edits: editPoll.changed,
    edits_poll_s: rounded(editPoll.durationMs / 1000),
    edits_loop_delay_p99_ms: rounded(editPoll.loopP99Ms),
    edits_loop_delay_max_ms: rounded(editPoll.loopMaxMs),
    file_mb: rounded(fileMb, 0),
    warm_start_ms: rounded(warmStartMs, 0),
    rss_initial_sync_peak_mb: rounded(initialSync.peakMb, 0),
    rss_mb: rounded(Math.max(initialSync.peakMb, serving.peakMb), 0),
    rss_serving_mb: rounded(serving.rssMb, 0),
    filters_steady_p99_ms: rounded(worst(replica, 'filter', 'steadyP99Ms')),
    search_steady_p99_ms: rounded(worst(replica, 'search', 'steadyP99Ms')),
    broad_steady_p99_ms: rounded(worst(replica, 'broad', 'steadyP99Ms')),
    filters_p99_ms: rounded(worst(replica, 'filter')),
    search_p99_ms: rounded(worst(replica, 'search')),
    broad_p99_ms: rounded(worst(replica, 'broad')),
    filters_http_p99_ms: rounded(worst(http, 'filter')),
    search_http_p99_ms: rounded(worst(http, 'search')),
  };
}

const label = (events: number) => (events % 1000 === 0 ? `${events / 1000}k` : String(events));

const largest = Number(options.events);
const sizes = [largest / 100, largest / 10, largest].filter((events) => events >= 1000 && Number.isInteger(events));
const flat: Record<string, number | string> = {
  machine: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
  node: process.version,
  load_before: rounded(loadavg()[0] ?? 0),
};
const columns: Record<string, Record<string, number>> = {};
for (const events of sizes.length > 0 ? sizes : [largest]) {
  const measured = await measure(events, Number(options.turns));
  print(measured);
  const figures = summary(measured);
  columns[label(events)] = figures;
  for (const [key, value] of Object.entries(figures)) {
    flat[`${key}_${label(events)}`] = value;
    // The largest site comes last.
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
if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(flat, null, 2)}\n`);
