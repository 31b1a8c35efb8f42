// The rows of public reads: the gateway and its rivals send the same answers in turns, on the same core.

import { writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { freePort } from '../test/free-port.ts';
import type { LoadTask } from './load.ts';
import { startMicrocache } from './nginx.ts';
import { type Load, type Measured, measure, median, type Server, startRival } from './processes.ts';
import type { Figure } from './report.ts';
import type { Taken } from './rivals.ts';
import type { Gateway } from './site.ts';

const CALENDAR = '/calendar/events/v1';
export const LIST = `${CALENDAR}/events?per_page=50&start_date=2000-01-01`;
const CONNECTIONS = 50;
const COLD_REQUESTS = 4000;
/** The gateway and raw node:http, whose ratio is asked for, are measured in every turn; the others in every second. */
const RIVALS_EVERY = 2;
/** Rivals are started anew so many times: what V8 makes of a server differs by a fifth from start to start. */
const STARTS = 3;
/** Before any turn that counts, so many times as long as one. */
const WARM_UP = 4;
/** Asked before anything is counted: until about then V8 goes on compiling what makes a list, on the same core. */
const COLD_WARM_UP = 30_000;

/** Added by node:http itself, as the rivals' own. */
const BY_NODE = ['date', 'connection', 'keep-alive'];

export async function take(port: number, path: string): Promise<Taken> {
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    get({ port, path, host: '127.0.0.1', agent: false }, resolve).on('error', reject);
  });
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  if (answer.statusCode !== 200) throw new Error(`${path} was answered with ${answer.statusCode}`);
  const headers = answer.rawHeaders.filter((_, i, all) => !BY_NODE.includes(all[i - (i % 2)]!.toLowerCase()));
  return { path, headers, etag: answer.headers.etag!, body: Buffer.concat(chunks).toString('base64') };
}

const DAY_MS = 86_400_000;
const FIRST_DAYS = 250;
let questions = 0;

/** Addresses of lists of 50 that nobody has asked for yet: each with a window of its own. */
export function newLists(count: number): string[] {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  const from = Date.now() - 100 * DAY_MS;
  return Array.from({ length: count }, () => {
    const [start, end] = [questions % FIRST_DAYS, Math.floor(questions / FIRST_DAYS)];
    questions += 1;
    const window = `start_date=${day(from + start * DAY_MS)}&end_date=${day(from + (1000 + end) * DAY_MS)}`;
    return `${CALENDAR}/events?per_page=50&${window}`;
  });
}

interface Row {
  /** Begins the row's keys. */
  key: string;
  title: string;
  status: number;
  task: (isWarmUp: boolean) => Omit<LoadTask, 'port'>;
  /** Who is measured beside the gateway and raw node:http. */
  rivals: boolean;
}

export interface ReadSettings {
  repeats: number;
  seconds: number;
}

const RIVALS: Record<string, string> = {
  raw: 'raw node:http',
  'raw-bare': 'raw node:http, two headers only',
  koa: 'Koa',
  fastify: 'Fastify',
  nginx: 'nginx, microcache of 1 s',
};

export async function reads(load: Load, gateway: Gateway, dir: string, settings: ReadSettings): Promise<Figure[]> {
  const { repeats, seconds } = settings;
  const listed = JSON.parse(Buffer.from((await take(gateway.port, LIST)).body, 'base64').toString('utf8'));
  const { id, slug } = listed.events.find((event: { venue: unknown; image: unknown }) => event.venue && event.image);
  const event = `${CALENDAR}/events/${id}`;
  const bySlug = `${CALENDAR}/events/by-slug/${slug}`;
  const taken = [await take(gateway.port, event), await take(gateway.port, bySlug), await take(gateway.port, LIST)];
  taken.push({ ...(await take(gateway.port, newLists(1)[0]!)), path: '*' });
  const file = join(dir, 'taken.json');
  writeFileSync(file, JSON.stringify(taken));
  const [, , list] = taken;

  async function startRivals(): Promise<Server[]> {
    const rivals: Server[] = [];
    for (const name of ['raw', 'raw-bare', 'koa', 'fastify'])
      rivals.push(await startRival(name, await freePort(), file));
    const microcache = await startMicrocache(rivals[0]!.port, await freePort(), dir);
    return microcache ? [...rivals, microcache] : rivals;
  }

  const warm =
    (path: string, headers = {}) =>
    (isWarmUp: boolean) => ({
      path,
      headers,
      connections: CONNECTIONS,
      forMs: seconds * 1000 * (isWarmUp ? WARM_UP : 1),
    });
  const bytesOf = (one: Taken) => `${(Buffer.byteLength(one.body, 'base64') / 1024).toFixed(1)} KiB`;
  const rows: Row[] = [
    { key: 'list50_warm', title: `list of 50, warm (${bytesOf(list!)})`, status: 200, task: warm(LIST), rivals: true },
    {
      key: 'event_warm',
      title: `one event, warm (${bytesOf(taken[0]!)})`,
      status: 200,
      task: warm(event),
      rivals: true,
    },
    {
      ...{ key: 'event_304', title: 'one event, 304 by If-None-Match', status: 304, rivals: true },
      task: warm(event, { 'If-None-Match': taken[0]!.etag }),
    },
    { key: 'event_by_slug_warm', title: 'one event by slug, warm', status: 200, task: warm(bySlug), rivals: false },
    {
      ...{ key: 'list50_cold', title: 'list of 50 never asked before', status: 200, rivals: false },
      task: (isWarmUp) => {
        const requests = isWarmUp ? COLD_WARM_UP : COLD_REQUESTS;
        return { path: '', paths: newLists(requests), connections: CONNECTIONS, requests };
      },
    },
  ];

  const isAsked = (server: Server, row: Row) => row.rivals || server === gateway || server.name === 'raw';
  const measured = new Map<string, Map<number, Measured>>();
  for (let start = 0; start < Math.min(STARTS, repeats); start += 1) {
    const rivals = await startRivals();
    const servers = [gateway, ...rivals];
    try {
      for (const server of start === 0 ? servers : rivals)
        for (const row of rows) if (isAsked(server, row)) await measure(load, server, row.task(true), row.status);
      for (let turn = start; turn < repeats; turn += STARTS) {
        const pair = servers.slice(0, 2);
        for (const row of rows) {
          for (const server of Math.floor(turn / STARTS) % RIVALS_EVERY === 0 ? servers : pair) {
            if (!isAsked(server, row)) continue;
            const one = await measure(load, server, row.task(false), row.status);
            const key = `${row.key} ${server.name}`;
            measured.set(key, (measured.get(key) ?? new Map()).set(turn, one));
          }
        }
      }
    } finally {
      for (const rival of rivals) await rival.stop();
    }
  }
  const names = [gateway.name, ...Object.keys(RIVALS)];
  return rows.flatMap((row) => names.flatMap((name) => figuresOf(row, name, measured)));
}

function figuresOf(row: Row, server: string, measured: Map<string, Map<number, Measured>>): Figure[] {
  const turns = measured.get(`${row.key} ${server}`);
  const raw = measured.get(`${row.key} raw`)!;
  if (!turns) return [];
  const own = [...turns.values()];
  const cpuUs = median(own.map((one) => one.cpuUs));
  // Each turn is compared with raw node:http of the same turn, two seconds away at most: the machine is the same one then.
  const ratio = median([...turns].map(([turn, one]) => raw.get(turn)!.cpuUs / one.cpuUs));
  const speed = median([...turns].map(([turn, one]) => one.perSecond / raw.get(turn)!.perSecond));
  const name = server in RIVALS ? `${row.key}_${server.replaceAll('-', '_')}` : row.key;
  return [
    {
      row: row.title,
      server: RIVALS[server] ?? 'gateway',
      cpuUs,
      perSecond: median(own.map((one) => one.perSecond)),
      p99Ms: median(own.map((one) => one.p99Ms)),
      ratio,
      values: {
        [`${name}_cpu_us`]: cpuUs,
        [`${name}_requests_per_s`]: median(own.map((one) => one.perSecond)),
        ...(server === 'raw' ? {} : { [`${name}_cpu_ratio`]: ratio, [`${name}_requests_ratio`]: speed }),
      },
    },
  ];
}
