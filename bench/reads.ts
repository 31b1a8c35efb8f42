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
/** The gateway and raw node:http, whose ratio is asked for, are measured in every turn; the others in every fourth. */
const RIVALS_EVERY = 4;
/** The turn that is not counted is so many times as long as the others. */
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
  task: (turn: number) => Omit<LoadTask, 'port'>;
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

  const servers: Server[] = [gateway];
  for (const name of ['raw', 'raw-bare', 'koa', 'fastify'])
    servers.push(await startRival(name, await freePort(), file));
  const microcache = await startMicrocache(servers[1]!.port, await freePort(), dir);
  if (microcache) servers.push(microcache);

  const warm =
    (path: string, headers = {}) =>
    (turn: number) => ({ path, headers, connections: CONNECTIONS, forMs: seconds * 1000 * (turn === 0 ? WARM_UP : 1) });
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
      task: (turn) => {
        const requests = turn === 0 ? COLD_WARM_UP : COLD_REQUESTS;
        return { path: '', paths: newLists(requests), connections: CONNECTIONS, requests };
      },
    },
  ];

  const measured = new Map<string, Map<number, Measured>>();
  try {
    // The first turn warms up and is not counted.
    for (let turn = 0; turn <= repeats; turn += 1) {
      for (const row of rows) {
        for (const server of servers) {
          const isPair = server === gateway || server.name === 'raw';
          if (!isPair && (!row.rivals || turn % RIVALS_EVERY !== 0)) continue;
          const one = await measure(load, server, row.task(turn), row.status);
          const key = `${row.key} ${server.name}`;
          if (turn > 0) measured.set(key, (measured.get(key) ?? new Map()).set(turn, one));
        }
      }
    }
  } finally {
    for (const server of servers) if (server !== gateway) await server.stop();
  }
  return rows.flatMap((row) => servers.flatMap((server) => figuresOf(row, server, gateway, measured)));
}

function figuresOf(row: Row, server: Server, gateway: Gateway, measured: Map<string, Map<number, Measured>>): Figure[] {
  const turns = measured.get(`${row.key} ${server.name}`);
  const raw = measured.get(`${row.key} raw`)!;
  if (!turns) return [];
  const own = [...turns.values()];
  const cpuUs = median(own.map((one) => one.cpuUs));
  // Each turn is compared with raw node:http of the same turn, right before or after: the machine is the same one then.
  const ratio = median([...turns].map(([turn, one]) => raw.get(turn)!.cpuUs / one.cpuUs));
  const speed = median([...turns].map(([turn, one]) => one.perSecond / raw.get(turn)!.perSecond));
  const name = server === gateway ? row.key : `${row.key}_${server.name.replaceAll('-', '_')}`;
  return [
    {
      row: row.title,
      server: server === gateway ? 'gateway' : RIVALS[server.name]!,
      cpuUs,
      perSecond: median(own.map((one) => one.perSecond)),
      p99Ms: median(own.map((one) => one.p99Ms)),
      ratio,
      values: {
        [`${name}_cpu_us`]: cpuUs,
        [`${name}_requests_per_s`]: median(own.map((one) => one.perSecond)),
        ...(server.name === 'raw' ? {} : { [`${name}_cpu_ratio`]: ratio, [`${name}_requests_ratio`]: speed }),
      },
    },
  ];
}
