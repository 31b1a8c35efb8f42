// Benchmark of public reads: the gateway and the baseline servers send the same responses, in turns, on the
// same core.

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
/** The gateway and raw node:http are measured in every turn; the other baselines in every second one. */
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
  /** Whether all baselines are measured beside the gateway, or raw node:http alone. */
  allBaselines: boolean;
}

export interface ReadSettings {
  repeats: number;
  seconds: number;
  /** The gateway is an aged process: keys begin with `aged_`, and raw node:http is the only baseline. */
  aged?: boolean;
}

const BASELINES: Record<string, string> = {
  raw: 'raw node:http',
  'raw-bare': 'raw node:http, two headers only',
  koa: 'Koa',
  fastify: 'Fastify',
  nginx: 'nginx, microcache of 1 s',
};

/** Starts the baselines, which send the recorded responses in `file`. */
async function startBaselines(dir: string, file: string, aged: boolean): Promise<Server[]> {
  const raw = await startBaseline('raw', await freePort(), file);
  if (aged) return [raw];
  const servers = [raw];
  for (const name of ['raw-bare', 'koa', 'fastify']) servers.push(await startBaseline(name, await freePort(), file));
  const microcache = await startMicrocache(raw.port, await freePort(), dir);
  return microcache ? [...servers, microcache] : servers;
}

export async function benchReads(load: Load, gateway: Gateway, dir: string, settings: ReadSettings): Promise<Figure[]> {
  const { repeats, seconds, aged = false } = settings;
  const prefix = aged ? 'aged_' : '';
  const suffix = aged ? ', aged process' : '';
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

  const hits =
    (path: string, headers = {}) =>
    (isWarmUp: boolean) => ({
      path,
      headers,
      connections: CONNECTIONS,
      forMs: seconds * 1000 * (isWarmUp ? WARM_UP : 1),
    });
  const sizeOf = ({ body }: RecordedResponse) => `${(Buffer.byteLength(body, 'base64') / 1024).toFixed(1)} KiB`;
  const row = (key: string, title: string, status: number, allBaselines: boolean, task: Row['task']): Row => ({
    key: prefix + key,
    title: title + suffix,
    status,
    allBaselines,
    task,
  });
  const rows: Row[] = [
    row('list50_hit', `list of 50, hit (${sizeOf(list)})`, 200, true, hits(LIST)),
    row('event_hit', `one event, hit (${sizeOf(event)})`, 200, true, hits(eventPath)),
    row('event_304', 'one event, 304 by If-None-Match', 304, true, hits(eventPath, { 'If-None-Match': event.etag })),
    row('event_by_slug_hit', 'one event by slug, hit', 200, false, hits(slugPath)),
    row('list50_miss', 'list of 50, miss', 200, false, (isWarmUp) => {
      const requests = isWarmUp ? MISS_WARM_UP : MISS_REQUESTS;
      return { path: '', paths: uncachedLists(requests), connections: CONNECTIONS, requests };
    }),
  ];

  const measures = (server: Server, { allBaselines }: Row) =>
    allBaselines || server === gateway || server.name === 'raw';
  const measured = new Map<string, Map<number, Measurement>>();
  for (let start = 0; start < Math.min(STARTS, repeats); start += 1) {
    const baselines = await startBaselines(dir, file, aged);
    const servers = [gateway, ...baselines];
    try {
      // The gateway may shed load here: it has not compiled its code yet.
      for (const server of start === 0 ? servers : baselines)
        for (const each of rows) if (measures(server, each)) await load.run({ ...each.task(true), port: server.port });
      for (let turn = start; turn < repeats; turn += STARTS) {
        const inTurn = Math.floor(turn / STARTS) % BASELINES_EVERY === 0 ? servers : servers.slice(0, 2);
        for (const each of rows) {
          for (const server of inTurn) {
            if (!measures(server, each)) continue;
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
  const names = [gateway.name, ...Object.keys(BASELINES)];
  return rows.flatMap((each) => names.flatMap((name) => figuresOf(each, name, measured)));
}

function figuresOf({ key, title }: Row, server: string, measured: Map<string, Map<number, Measurement>>): Figure[] {
  const turns = measured.get(`${key} ${server}`);
  const raw = measured.get(`${key} raw`)!;
  if (!turns) return [];
  const own = [...turns.values()];
  const cpuUs = median(own.map((each) => each.cpuUs));
  const perSecond = median(own.map((each) => each.perSecond));
  // Each turn is compared with raw node:http of the same turn, two seconds apart at most: the machine is
  // equally busy then.
  const ratio = median([...turns].map(([turn, each]) => raw.get(turn)!.cpuUs / each.cpuUs));
  const speed = median([...turns].map(([turn, each]) => each.perSecond / raw.get(turn)!.perSecond));
  const name = server in BASELINES ? `${key}_${server.replaceAll('-', '_')}` : key;
  return [
    {
      row: title,
      server: BASELINES[server] ?? 'gateway',
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
