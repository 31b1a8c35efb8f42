// `node bench/sources.ts`: the first sync of twenty sources with 10,000 events, half of them iCalendar files and half
// events/v1 APIs of another process; prints how long that takes, the memory, and how long the event loop was blocked.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { createEventsSource } from '../src/cms/sources/events-api.ts';
import { createICalendarSource } from '../src/cms/sources/icalendar.ts';
import { Replica } from '../src/store/replica.ts';
import { Sources } from '../src/sync/sources/sources.ts';
import { formatWallTime, isoToWall } from '../src/time/wall-time.ts';
import { recordedEvents } from '../test/cms/sources/events-site.ts';

const SOURCES = 20;
const EVENTS = 500;
const PER_PAGE = 50;
const HOUR_MS = 3_600_000;
const RESOLUTION_MS = 10;
const DESCRIPTION = '<p>An evening with <em>music</em>, talks and <a href="/food">food</a>.</p>'.repeat(20);

const startMs = (index: number) => Math.floor(Date.now() / HOUR_MS) * HOUR_MS + index * 12 * HOUR_MS;
const wall = (index: number, hours = 0) => formatWallTime(startMs(index) + hours * HOUR_MS);
const stamp = (text: string) => `${text.replaceAll(/[-:]/g, '').replace(' ', 'T')}Z`;

function calendarFile(source: number): string {
  const events = Array.from({ length: EVENTS }, (_, index) => [
    'BEGIN:VEVENT',
    ...[`UID:${index}@calendar-${source}.example`, `DTSTAMP:${stamp(wall(0))}`],
    ...[`DTSTART:${stamp(wall(index))}`, `DTEND:${stamp(wall(index, 2))}`],
    ...[`SUMMARY:Concert ${index} of ${source}`, `DESCRIPTION:${DESCRIPTION.replace(/[,;]/g, '\\$&')}`],
    ...['LOCATION:Market Square', 'CATEGORIES:Music', 'END:VEVENT'],
  ]);
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//bench//', ...events.flat(), 'END:VCALENDAR', ''].join('\r\n');
}

function apiPage(source: number, page: number): string {
  const [like] = recordedEvents();
  const events = Array.from({ length: PER_PAGE }, (_, at) => {
    const index = (page - 1) * PER_PAGE + at;
    const times = { start_date: wall(index), end_date: wall(index, 2), timezone: 'UTC' };
    const title = `Play ${index} of ${source}`;
    return { ...like, id: index + 1, global_id: `${source}?id=${index}`, title, description: DESCRIPTION, ...times };
  });
  const next = page < EVENTS / PER_PAGE && { next_rest_url: `/events?page=${page + 1}` };
  return JSON.stringify({ events, total: EVENTS, ...next });
}

/** The server, in a process of its own: `/3/events?page=2` is a page of an API, `/4.ics` a file. */
async function serve(): Promise<void> {
  const server = createServer((request, response) => {
    const url = new URL(request.url!, 'http://localhost');
    const source = Number.parseInt(url.pathname.slice(1), 10);
    const isFile = url.pathname.endsWith('.ics');
    response.end(isFile ? calendarFile(source) : apiPage(source, Number(url.searchParams.get('page'))));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.send!((server.address() as AddressInfo).port);
}

async function measure(): Promise<void> {
  const server = fork(import.meta.filename, ['serve']);
  const [port] = await once(server, 'message');
  const at = `http://127.0.0.1:${port}`;
  const sources = Array.from({ length: SOURCES }, (_, index) =>
    index % 2 === 0
      ? createICalendarSource(`${at}/${index}.ics`, { timezone: () => 'UTC', allowPrivate: true })
      : createEventsSource(`${at}/${index}`, { allowPrivate: true }),
  );
  const allRead = Promise.withResolvers<void>();
  let left = SOURCES;
  const replica = new Replica({ identity: 'bench' });
  const named = new Sources({
    sources: sources.map((reader, index) => {
      return { name: `source-${index}`, events: `${at}/${index}`, categories: ['Town'], reader };
    }),
    replica,
    site: () => ({ url: at, name: 'Town', timezone: 'UTC' }),
    whenComplete: async () => undefined,
    intervalMs: 2 ** 29,
    observe: (observation) => {
      if (observation.type !== 'source-read') return;
      if (observation.problem !== undefined) console.error(observation);
      left -= 1;
      if (left === 0) allRead.resolve();
    },
  });
  const turns = createHistogram();
  let turnCpu = process.threadCpuUsage();
  let isMeasuring = true;
  const countTurn = () => {
    const { user, system } = process.threadCpuUsage(turnCpu);
    turns.record(user + system + 1);
    turnCpu = process.threadCpuUsage();
    if (isMeasuring) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const loop = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const before = process.memoryUsage.rss();
  const began = performance.now();
  const cpu = process.cpuUsage();
  loop.enable();
  named.start();
  await allRead.promise;
  loop.disable();
  isMeasuring = false;
  const { user, system } = process.cpuUsage(cpu);
  const late = (ns: number) => Math.round(Math.max(0, ns / 1e6 - RESOLUTION_MS));
  const mib = (bytes: number) => Math.round(bytes / 1024 ** 2);
  console.log({
    at: isoToWall(new Date().toISOString()),
    sources: named.status().sources.map(({ events }) => events),
    seconds: Math.round(performance.now() - began) / 1000,
    cpuSeconds: Math.round((user + system) / 1000) / 1000,
    rssMib: {
      before: mib(before),
      after: mib(process.memoryUsage.rss()),
      peak: mib(process.resourceUsage().maxRSS * 1024),
    },
    // Of this thread, in one turn of the loop: on a busy machine the delay is mostly that of other programs.
    turnCpuMs: { p99: turns.percentile(99) / 1000, max: turns.max / 1000 },
    loopMs: { p99: late(loop.percentile(99)), max: late(loop.max) },
  });
  await named.stop();
  replica.close();
  server.kill();
}

await (process.argv[2] === 'serve' ? serve() : measure());
