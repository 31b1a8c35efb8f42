// Benchmark of public reads: a fresh gateway, an aged one and the baseline servers send the same responses, in
// turns, on one core.

import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../test/free-port.ts';
import type { RecordedResponse } from './baseline-servers.ts';
import type { Gateway } from './gateway.ts';
import type { LoadTask } from './load-generator.ts';
import { startMicrocache } from './nginx.ts';
import { type Load, type Measurement, measure, median, type Server, startBaseline } from './processes.ts';
import type { Figure } from './report.ts';

const CALENDAR = '/calendar/events/v1';
export const LIST = `${CALENDAR}/events?per_page=50&start_date=2000-01-01`;
const CONNECTIONS = 50;
const MISS_REQUESTS = 4000;
const MISS_SETTLE = 500;
/**
 * Before each measurement the server gets the same load for this time. It evicts what the previous row left in
 * the processor's caches and on the heap.
 */
const SETTLE_MS = 100;
/** The gateways and raw node:http are measured in every turn; the other baselines in every second one. */
const BASELINES_EVERY = 2;
/**
 * The baselines are started so many times: V8 compiles the same server differently from start to start, up to
 * a fifth.
 */
const STARTS = 3;
/** Turns of warm-up before the turns that count. */
const WARM_UP = 4;
/**
 * Uncached lists before the ones that count: until about then V8 keeps compiling their code on the same core.
 */
const MISS_WARM_UP = 30_000;

/** Headers that node:http adds to the gateway's responses and to the baselines' alike. */
const BY_NODE = ['date', 'connection', 'keep-alive'];

async function recordResponse(port: number, path: string): Promise<RecordedResponse> {
  const response = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    get({ port, path, host: '127.0.0.1', agent: false }, resolve).on('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  if (response.statusCode !== 200) throw new Error(`${path} was answered with ${response.statusCode}`);
  const headers = response.rawHeaders.filter((_, i, all) => !BY_NODE.includes(all[i - (i % 2)]!.toLowerCase()));
  return { path, headers, etag: response.headers.etag!, body: Buffer.concat(chunks).toString('base64') };
}

const DAY_MS = 86_400_000;
const FIRST_DAYS = 250;
let windows = 0;

/** URLs of lists of 50 that are in no cache: each has its own range of dates. */
export function uncachedLists(count: number): string[] {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const from = Date.now() - 100 * DAY_MS;
  return Array.from({ length: count }, () => {
    const [start, end] = [windows % FIRST_DAYS, Math.floor(windows / FIRST_DAYS)];
    windows += 1;
    const range = `start_date=${day(from + start * DAY_MS)}&end_date=${day(from + (1000 + end) * DAY_MS)}`;
    return `${CALENDAR}/events?per_page=50&${range}`;
  });
}

interface Row {
  /** Begins the row's keys in the JSON. */
  key: string;
  title: string;
  status: number;
  task: (isWarmUp: boolean) => Omit<LoadTask, 'port'>;
  /** The load before each measurement. */
  settle: () => Omit<LoadTask, 'port'>;
  /** Whether all baselines are measured beside the gateway, or raw node:http alone. */
  allBaselines: boolean;
}

export interface ReadSettings {
  repeats: number;
  seconds: number;
}

/** The name of the aged gateway; its keys begin with it. */
export const AGED = 'aged';

const BASELINES: Record<string, string> = {
  raw: 'raw node:http',
  'raw-bare': 'raw node:http, two headers only',
  koa: 'Koa',
  fastify: 'Fastify',
  nginx: 'nginx, microcache of 1 s',
};

/** Starts the baselines, raw node:http first, which send the recorded responses in `file`. */
async function startBaselines(dir: string, file: string): Promise<Server[]> {
  const raw = await startBaseline('raw', await freePort(), file);
  const servers = [raw];
  for (const name of ['raw-bare', 'koa', 'fastify']) servers.push(await startBaseline(name, await freePort(), file));
  const microcache = await startMicrocache(raw.port, await freePort(), dir);
  return microcache ? [...servers, microcache] : servers;
}

/** @param aged the same gateway as an aged process, in front of the same site */
export async function benchReads(
  load: Load,
  gateway: Gateway,
  aged: Gateway | undefined,
  dir: string,
  settings: ReadSettings,
): Promise<Figure[]> {
  const { repeats, seconds } = settings;
  const firstList = JSON.parse(
    Buffer.from((await recordResponse(gateway.port, LIST)).body, 'base64').toString('utf8'),
  ) as { events: { id: number; slug: string; venue: unknown; image: unknown }[] };
  const { id, slug } = firstList.events.find((event) => event.venue && event.image)!;
  const eventPath = `${CALENDAR}/events/${id}`;
  const slugPath = `${CALENDAR}/events/by-slug/${slug}`;
  const event = await recordResponse(gateway.port, eventPath);
  const bySlug = await recordResponse(gateway.port, slugPath);
  const list = await recordResponse(gateway.port, LIST);
  const uncached = { ...(await recordResponse(gateway.port, uncachedLists(1)[0]!)), path: '*' };
  const file = join(dir, 'responses.json');
  writeFileSync(file, JSON.stringify([event, bySlug, list, uncached]));

  const hits = (path: string, headers = {}): Pick<Row, 'task' | 'settle'> => {
    const load = { path, headers, connections: CONNECTIONS };
    return {
      task: (isWarmUp) => ({ ...load, forMs: seconds * 1000 * (isWarmUp ? WARM_UP : 1) }),
      settle: () => ({ ...load, forMs: SETTLE_MS }),
    };
  };
  const misses = (requests: number) => ({
    ...{ path: '', paths: uncachedLists(requests) },
    ...{ connections: CONNECTIONS, requests },
  });
  const sizeOf = ({ body }: RecordedResponse) => `${(Buffer.byteLength(body, 'base64') / 1024).toFixed(1)} KiB`;
  const row = (
    key: string,
    title: string,
    status: number,
    allBaselines: boolean,
    tasks: Pick<Row, 'task' | 'settle'>,
  ): Row => ({ key, title, status, allBaselines, ...tasks });
  const rows: Row[] = [
    row('list50_hit', `list of 50, hit (${sizeOf(list)})`, 200, true, hits(LIST)),
    row('event_hit', `one event, hit (${sizeOf(event)})`, 200, true, hits(eventPath)),
    row('event_304', 'one event, 304 by If-None-Match', 304, true, hits(eventPath, { 'If-None-Match': event.etag })),
    row('event_by_slug_hit', 'one event by slug, hit', 200, false, hits(slugPath)),
    row('list50_miss', 'list of 50, miss', 200, false, {
      task: (isWarmUp) => misses(isWarmUp ? MISS_WARM_UP : MISS_REQUESTS),
      settle: () => misses(MISS_SETTLE),
    }),
  ];

  const gateways: Server[] = aged ? [gateway, aged] : [gateway];
  /** Whether the server is measured in every turn and each row. */
  const isAlways = (server: Server) => server.name === 'raw' || gateways.includes(server);
  const measured = new Map<string, Map<number, Measurement>>();
  for (let start = 0; start < Math.min(STARTS, repeats); start += 1) {
    const baselines = await startBaselines(dir, file);
    const servers = [...gateways, ...baselines];
    try {
      // The gateway may shed load here: it has not compiled its code yet.
      for (const server of start === 0 ? servers : baselines)
        for (const each of rows)
          if (each.allBaselines || isAlways(server)) await load.run({ ...each.task(true), port: server.port });
      for (let turn = start; turn < repeats; turn += STARTS) {
        const isFull = Math.floor(turn / STARTS) % BASELINES_EVERY === 0;
        for (const each of rows) {
          for (const server of servers) {
            if (!isAlways(server) && !(isFull && each.allBaselines)) continue;
            await load.run({ ...each.settle(), port: server.port });
            const measurement = await measure(load, server, each.task(false), each.status);
            const key = `${each.key} ${server.name}`;
            measured.set(key, (measured.get(key) ?? new Map()).set(turn, measurement));
          }
        }
      }
    } finally {
      for (const server of baselines) await server.stop();
    }
  }
  const names = [...gateways.map(({ name }) => name), ...Object.keys(BASELINES)];
  return rows.flatMap((each) => names.flatMap((name) => figuresOf(each, name, measured)));
}

function figuresOf({ key, title }: Row, server: string, measured: Map<string, Map<number, Measurement>>): Figure[] {
  const turns = measured.get(`${key} ${server}`);
  const raw = measured.get(`${key} raw`)!;
  if (!turns) return [];
  const own = [...turns.values()];
  const cpuUs = median(own.map((each) => each.cpuUs));
  const perSecond = median(own.map((each) => each.perSecond));
  // Each turn is compared with raw node:http of the same turn, a few seconds apart at most: the machine is
  // equally busy then.
  const ratio = median([...turns].map(([turn, each]) => raw.get(turn)!.cpuUs / each.cpuUs));
  const speed = median([...turns].map(([turn, each]) => each.perSecond / raw.get(turn)!.perSecond));
  const name = server === AGED ? `${AGED}_${key}` : server in BASELINES ? `${key}_${server.replaceAll('-', '_')}` : key;
  return [
    {
      row: title,
      server: BASELINES[server] ?? (server === AGED ? 'gateway, aged process' : 'gateway'),
      cpuUs,
      perSecond,
      p99Ms: median(own.map((each) => each.p99Ms)),
      ratio,
      values: {
        [`${name}_cpu_us`]: cpuUs,
        [`${name}_requests_per_s`]: perSecond,
        ...(server === 'raw' ? {} : { [`${name}_cpu_ratio`]: ratio, [`${name}_requests_ratio`]: speed }),
      },
    },
  ];
}
