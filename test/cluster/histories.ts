// Random histories of three gateways, one CMS and one Redis: `node test/cluster/histories.ts`. In the end all replicas equal
// the CMS, and until then no promise to a client was broken.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { loadMapping } from '../../src/mapping/load.ts';
import type { CalendarRecord } from '../../src/model/records.ts';
import type { SyncState } from '../../src/sync/sync-state.ts';
import type { FakeCms, FakePost } from '../cms/fake-cms.ts';
import { authorization, type FakeWordPress, startEmptyWordPress } from '../faults/fake-wordpress.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';
import { MOUNT } from '../gateway/mount.ts';
import { randomFrom } from '../random.ts';
import { scriptOptions } from '../script-options.ts';
import { expectedRecords } from '../sync/test-site.ts';
import { until } from '../until.ts';
import type { HistoryGatewayOptions, HistoryQuestion } from './history-gateway.ts';
import { type RedisServer, startRedisServer, withRedisClient } from './redis-server.ts';

const INTERVAL_MS = 500;
const SCAN_INTERVAL_MS = 3000;
const STEP_COUNT = 70;
const MAX_HISTORY_MS = 900_000;
/** Longer than a gateway waits for entries, and then for a poll. */
const REQUEST_MS = 10_000;
const NAMES = ['a', 'b', 'c'];
const DATES = { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };
const MAPPING = loadMapping('wordpress-meta');
const SERVICE = authorization('admin');
/** Until a gateway that failed is live again: the sync retries after up to half a minute. */
const SETTLE_MS = 300_000;
/** From then on until the replicas equal the CMS. */
const MAX_INTERVALS = 6;

interface Gateway {
  name: string;
  url: string;
  child: ChildProcess;
  redis: FaultProxy;
  cms: FaultProxy;
  file: string;
  /** No fault has touched it: its requests must not fail. */
  isHealthy: boolean;
  /** How often it was cut off, suspended or killed. */
  faults: number;
  ask<T>(question: HistoryQuestion, more?: object): Promise<T>;
}

type GatewayStatus = { connected: boolean; unsent: number; applied: string; sync: SyncState };

/** Knows the latest write of each event that was acknowledged, with its token. */
interface Written {
  number: number;
  token: string;
}

/** Follows `/changes` through changing gateways, and so keeps a copy of all public events. */
interface Follower {
  token: string | undefined;
  titles: Map<number, string>;
  reloads: number;
}

export interface HistoryCounts {
  writes: number;
  reads: number;
  /** Requests with response 503. */
  retryLater: number;
  keyed: number;
  reloads: number;
  faults: number;
  /** Until all replicas equalled the CMS, but for what only a scan finds: the longest, in intervals. */
  intervals: number;
}

interface Scene {
  seed: number;
  wordpress: FakeWordPress;
  cms: FakeCms;
  redisServer: RedisServer;
  folder: string;
  gateways: Gateway[];
  written: Map<number, Written>;
  follower: Follower;
  redisCommands: Promise<unknown>[];
  /** By idempotency key, the id that was acknowledged. */
  created: Map<string, number | undefined>;
  /** Ids of events that changed without a date, and whose webhook may be lost: only a scan finds these changes. */
  silent: Map<number, symbol>;
  /** Ids of events that changed without a date, and whose webhook has arrived. */
  reported: Set<number>;
  counts: HistoryCounts;
  random: () => number;
  log: string[];
}

const numberIn = (title: unknown): number => Number(/t(\d+)/.exec(String(title))?.[1] ?? 0);
const pick = <T>({ random }: Scene, items: readonly T[]): T => items[Math.floor(random() * items.length)]!;
const eventIds = ({ cms }: Scene) =>
  [...cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
const someId = (scene: Scene): number => pick(scene, eventIds(scene)) ?? 0;

class BrokenPromise extends Error {}

interface Answer {
  status: number;
  version: string;
  // biome-ignore lint/suspicious/noExplicitAny: any property of a response body.
  body: any;
}

/** Undefined if the gateway does not answer, which only a gateway with a fault may do. */
async function request(
  scene: Scene,
  gateway: Gateway,
  path: string,
  { json, method, token, key }: { json?: object; method?: string; token?: string | undefined; key?: string } = {},
): Promise<Answer | undefined> {
  const wasHealthy = gateway.isHealthy;
  const headers = new Headers({ connection: 'close', 'content-type': 'application/json' });
  if (json || method) headers.set('authorization', SERVICE);
  if (token !== undefined) headers.set('x-calendar-min-version', token);
  if (key !== undefined) headers.set('idempotency-key', key);
  const isSuspended = gateway.child.signalCode !== null || !wasHealthy;
  const signal = AbortSignal.timeout(isSuspended ? 1500 : REQUEST_MS);
  const body = json ? JSON.stringify(json) : null;
  const options = { method: method ?? (json ? 'POST' : 'GET'), headers, body, signal };
  const answer = await fetch(`${gateway.url}${MOUNT}${path}`, options)
    .then(async (response) => ({
      status: response.status,
      version: response.headers.get('x-calendar-version') ?? '',
      body: await response.json().catch(() => undefined),
    }))
    .catch((error: unknown) => void scene.log.push(`  ${gateway.name}${path}: ${error}`));
  if (answer?.status === 503) scene.counts.retryLater += 1;
  const isExcused = !wasHealthy || !gateway.isHealthy || key !== undefined || token !== undefined;
  if (!isExcused && (answer === undefined || answer.status >= 500))
    throw new BrokenPromise(`${path} through ${gateway.name}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
  return answer;
}

async function write(scene: Scene): Promise<void> {
  const gateway = pick(scene, scene.gateways);
  const id = scene.random() < 0.2 ? undefined : someId(scene);
  scene.counts.writes += 1;
  const json = { title: 'x', ...(id === undefined && DATES) };
  const answer = await request(scene, gateway, id === undefined ? '/events' : `/events/${id}`, { json });
  if (!answer || answer.status >= 300) return;
  const number = numberIn(answer.body.title);
  const writtenId = Number(answer.body.id);
  if (number > (scene.written.get(writtenId)?.number ?? 0))
    scene.written.set(writtenId, { number, token: answer.version });
  scene.silent.delete(writtenId);
  scene.log.push(`  wrote ${writtenId} t${number} through ${gateway.name}: ${answer.version}`);
}

/** A read with the token of a write shows the write, or a later one. */
async function read(scene: Scene): Promise<void> {
  if (scene.written.size === 0) return;
  const [id, { number, token }] = pick(scene, [...scene.written]);
  const gateway = pick(scene, scene.gateways);
  scene.counts.reads += 1;
  const answer = await request(scene, gateway, `/events/${id}`, { token });
  if (answer?.status !== 200) return;
  scene.log.push(`  read ${id} ${answer.body.title} through ${gateway.name} with ${token}`);
  if (numberIn(answer.body.title) < number)
    throw new BrokenPromise(
      `event ${id} shows ${answer.body.title} through ${gateway.name}, not t${number} of ${token}`,
    );
}

async function plainRead(scene: Scene): Promise<void> {
  await request(
    scene,
    pick(scene, scene.gateways),
    pick(scene, ['/events?per_page=50', `/events/${someId(scene)}`, '/tags']),
  );
}

/** A create that is tried again with its key, each time through another gateway. */
async function keyedCreate(scene: Scene): Promise<void> {
  const key = `key-${scene.seed}-${scene.created.size}`;
  scene.created.set(key, undefined);
  scene.counts.keyed += 1;
  for (let n = 0; n < 3; n += 1) await retry(scene, key);
}

async function retry(scene: Scene, key: string): Promise<void> {
  const gateway = pick(scene, scene.gateways);
  const json = { title: 'x', description: key, ...DATES };
  const answer = await request(scene, gateway, '/events', { json, key });
  scene.log.push(`  ${key} through ${gateway.name}: ${answer?.status} ${answer?.body?.id ?? answer?.body?.code}`);
  if (!answer || answer.status >= 300) return;
  const known = scene.created.get(key);
  // Once Redis was emptied and the record erased in the CMS, nothing knows the key: a new record is right then.
  const isKnown = known !== undefined && scene.cms.posts.has(known);
  if (isKnown && known !== answer.body.id) throw new BrokenPromise(`${key} created ${known} and ${answer.body.id}`);
  scene.created.set(key, answer.body.id);
}

/** Reads what changed through some gateway, or everything if the gateway does not know that. */
async function follow(scene: Scene, gateway = pick(scene, scene.gateways)): Promise<boolean> {
  const { follower } = scene;
  if (follower.token === undefined) {
    const start = await request(scene, gateway, '/changes');
    if (start?.status !== 200) return false;
    const titles = new Map<number, string>();
    for (let page = 1, isLast = false; !isLast; page += 1) {
      const list = await request(scene, gateway, `/events?per_page=50&start_date=2000-01-01&page=${page}`);
      if (list?.status !== 200) return false;
      for (const { id, title } of list.body.events) titles.set(id, title);
      isLast = page >= list.body.total_pages;
    }
    Object.assign(follower, { token: start.body.next_token, titles });
    return true;
  }
  const page = await request(scene, gateway, `/changes?limit=3&since=${follower.token}`);
  if (page?.status === 410) {
    follower.token = undefined;
    follower.reloads += 1;
    scene.counts.reloads += 1;
    return false;
  }
  if (page?.status !== 200) return false;
  for (const { kind, id } of page.body.changes) {
    if (kind !== 'event') continue;
    const event = await request(scene, gateway, `/events/${id}`);
    if (event === undefined || event.status >= 500) return false;
    if (event.status === 200) follower.titles.set(id, event.body.title);
    else follower.titles.delete(id);
  }
  follower.token = page.body.next_token;
  return !page.body.has_more;
}

function markFaulty(gateway: Gateway): void {
  gateway.isHealthy = false;
  gateway.faults += 1;
}

const STEP_TYPES: Record<string, (scene: Scene) => unknown> = {
  write,
  writeMore: (scene) => Promise.all([write(scene), write(scene), write(scene)]),
  read,
  readMore: (scene) => Promise.all([read(scene), read(scene), read(scene), plainRead(scene)]),
  plainRead,
  keyedCreate,
  retry: (scene) => (scene.created.size > 0 ? retry(scene, pick(scene, [...scene.created.keys()])) : undefined),
  follow: (scene) => follow(scene),
  trash: (scene) => request(scene, pick(scene, scene.gateways), `/events/${someId(scene)}`, { method: 'DELETE' }),
  term: (scene) => request(scene, pick(scene, scene.gateways), '/tags', { json: { name: `Tag ${scene.random()}` } }),
  editInCms: (scene) => {
    const id = someId(scene);
    scene.silent.delete(id);
    scene.cms.edit(id, { title: nextTitle(scene) });
  },
  /** A change without a new modification date: only a scan finds it, and no token covers it. */
  editInCmsSilently: (scene) => {
    const id = someId(scene);
    scene.silent.set(id, Symbol());
    scene.cms.editSilently(id, { meta: { ...DATES, cost: String(scene.random()) } });
  },
  createInCms: (scene) => void scene.cms.createPost('events', { title: nextTitle(scene), meta: DATES }),
  deleteInCms: (scene) => {
    const id = someId(scene);
    scene.log.push(`  erased ${id}`);
    return scene.cms.erase(id);
  },
  createTermInCms: ({ cms }) => void cms.createTerm('event_categories'),
  deleteTermInCms: (scene) => {
    if (scene.cms.terms.size > 0) scene.cms.deleteTerm(pick(scene, [...scene.cms.terms.keys()]));
  },
  webhook: (scene) => {
    const id = someId(scene);
    const change = Symbol();
    scene.silent.set(id, change);
    scene.cms.editSilently(id, { title: nextTitle(scene) });
    const arrived = pick(scene, scene.gateways).ask<boolean>('report', { id });
    void arrived.then(
      (isRead) => {
        if (!isRead || scene.silent.get(id) !== change) return;
        scene.silent.delete(id);
        scene.reported.add(id);
      },
      () => {},
    );
  },
  wait: ({ random }) => sleep(random() * 300),
  waitLong: () => sleep(INTERVAL_MS * 3),
  heal,
  cutRedis: (scene) =>
    fault(scene, pick(scene, scene.gateways).redis.set({ kind: pick(scene, ['down', 'silent'] as const) })),
  cutCms: (scene) => {
    const gateway = pick(scene, scene.gateways);
    markFaulty(gateway);
    return fault(scene, gateway.cms.set({ kind: 'down' }));
  },
  suspend: (scene) => {
    const gateway = pick(scene, scene.gateways);
    markFaulty(gateway);
    gateway.child.kill('SIGSTOP');
    return fault(scene);
  },
  kill: async (scene) => {
    const gateway = pick(scene, scene.gateways);
    markFaulty(gateway);
    gateway.child.kill('SIGKILL');
    await once(gateway.child, 'exit');
    // It may not have told the others of a webhook.
    for (const id of scene.reported) scene.silent.set(id, Symbol());
    await fault(scene);
    await startChild(gateway);
  },
  redisSuspend: (scene) => fault(scene, void scene.redisServer.child.kill('SIGSTOP')),
  redisRestart: (scene) => fault(scene, scene.redisServer.restart()),
  redisEmpty: (scene) => onRedis(scene, (client) => client.flushAll()),
  redisFull: (scene) => onRedis(scene, (client) => client.configSet('maxmemory', '1mb')),
  redisNonsense: (scene) =>
    onRedis(scene, async (client) => {
      const [key] = await client.keys('*:changes');
      if (key) await client.xAdd(key, '*', { from: 'nobody', keys: 'events:1' });
    }),
};
const FREQUENT = [
  ...['write', 'write', 'writeMore', 'writeMore', 'writeMore', 'read', 'readMore', 'readMore', 'readMore'],
  ...['follow', 'follow', 'wait', 'heal', 'heal', 'heal'],
];
const WEIGHTED_STEPS = [...FREQUENT, ...Object.keys(STEP_TYPES)];

let titles = 0;
const nextTitle = ({ log }: Pick<Scene, 'log'>): string => {
  titles += 1;
  log.push(`  t${titles}`);
  return `t${titles}`;
};

async function fault(scene: Scene, done?: Promise<void> | undefined): Promise<void> {
  scene.counts.faults += 1;
  await done;
}

/** A Redis that is suspended executes it once it resumes. */
async function onRedis(scene: Scene, work: Parameters<typeof withRedisClient>[1]): Promise<void> {
  scene.counts.faults += 1;
  const command = withRedisClient(scene.redisServer, work).catch(() => {});
  scene.redisCommands.push(command);
  await Promise.race([command, sleep(300)]);
}

/** Ends all faults. A gateway counts as healthy once it is live. */
async function heal(scene: Scene): Promise<void> {
  scene.redisServer.child.kill('SIGCONT');
  // One that made Redis full while it was suspended would come after the next line.
  await Promise.all(scene.redisCommands);
  await onRedis(scene, (client) => client.configSet('maxmemory', '512mb'));
  for (const gateway of scene.gateways) {
    gateway.child.kill('SIGCONT');
    await gateway.redis.set({ kind: 'none' });
    if (gateway.isHealthy) continue;
    await gateway.cms.set({ kind: 'none' });
    const { faults } = gateway;
    void until(async () => (await gateway.ask<GatewayStatus>('status')).sync.phase === 'live', 'live', REQUEST_MS)
      .then(() => sleep(INTERVAL_MS))
      .then(() => request(scene, gateway, `/events/${eventIds(scene)[0]}`, { json: { title: 'x' } }))
      .then((answer) => {
        // Another fault may have come since.
        if (answer !== undefined && answer.status < 500 && gateway.faults === faults) gateway.isHealthy = true;
      })
      .catch(() => {});
  }
}

async function startChild(gateway: Gateway): Promise<void> {
  const options: HistoryGatewayOptions = {
    cmsUrl: gateway.cms.url.href.replace(/\/$/, ''),
    redisUrl: gateway.redis.url.href.replace('http:', 'redis:').replace(/\/$/, ''),
    file: gateway.file,
    intervalMs: INTERVAL_MS,
    scanIntervalMs: SCAN_INTERVAL_MS,
  };
  const child = fork(join(import.meta.dirname, 'history-gateway.ts'), [JSON.stringify(options)]);
  const asked = new Map<number, (answer: unknown) => void>();
  let number = 0;
  child.on('message', ({ number, answer }: { number: number; answer: unknown }) => asked.get(number)?.(answer));
  child.setMaxListeners(0);
  gateway.child = child;
  gateway.ask = <T>(question: HistoryQuestion, more: object = {}) =>
    new Promise<T>((resolve, reject) => {
      number += 1;
      asked.set(number, resolve as (answer: unknown) => void);
      child.once('exit', () => reject(new Error('the gateway was killed')));
      if (child.connected) child.send({ number, question, ...more }, () => {});
    });
  const [{ url }] = (await once(child, 'message')) as [{ url: string }];
  gateway.url = url;
  await until(async () => (await gateway.ask<GatewayStatus>('status')).sync.complete, 'complete', SETTLE_MS);
}

async function createScene(redisServer: RedisServer, seed: number): Promise<Scene> {
  await redisServer.restart();
  const wordpress = await startEmptyWordPress();
  const { cms } = wordpress;
  const log: string[] = [];
  cms.hasCompanion = true;
  cms.onWrite = (_write, isInserted, body) => {
    if (!isInserted && 'title' in body) body.title = nextTitle({ log });
  };
  for (let n = 0; n < 12; n += 1) cms.createPost('events', { title: nextTitle({ log }), meta: DATES });
  const folder = mkdtempSync(join(tmpdir(), 'calendar-history-'));
  const gateways = await Promise.all(
    NAMES.map(async (name): Promise<Gateway> => {
      const redis = await startFaultProxy(new URL(redisServer.url.replace('redis:', 'http:')));
      const gateway = { name, redis, cms: await startFaultProxy(wordpress.url), file: join(folder, `${name}.sqlite`) };
      const started = { ...gateway, isHealthy: true, faults: 0 } as Gateway;
      await startChild(started);
      return started;
    }),
  );
  const counts = { writes: 0, reads: 0, retryLater: 0, keyed: 0, reloads: 0, faults: 0, intervals: 0 };
  return {
    ...{ seed, wordpress, cms, redisServer, folder, gateways, counts, log, random: randomFrom(seed) },
    ...{ written: new Map(), created: new Map(), silent: new Map<number, symbol>(), reported: new Set<number>() },
    redisCommands: [],
    follower: { token: undefined, titles: new Map(), reloads: 0 },
  };
}

async function stopScene({ gateways, redisServer, wordpress, folder }: Scene): Promise<void> {
  redisServer.child.kill('SIGCONT');
  for (const { child, redis, cms } of gateways) {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await Promise.all([redis.close(), cms.close()]);
  }
  await wordpress.close();
  rmSync(folder, { recursive: true, force: true });
}

const isLive = async ({ ask }: Gateway): Promise<boolean> => {
  const { connected, unsent, sync } = await ask<GatewayStatus>('status');
  return connected && unsent === 0 && sync.phase === 'live';
};

/** Why a replica differs from the CMS; undefined if it does not. `ignored`: ids of records that only a scan finds. */
async function differenceOf({ cms }: Scene, { name, ask }: Gateway, ignored: ReadonlySet<number>): Promise<unknown> {
  const held = await ask<Record<string, CalendarRecord>>('dump');
  // As a message between processes: a property that is `undefined` is left out.
  const { records } = expectedRecords({ cms, visitor: undefined, mapping: MAPPING });
  const expected = JSON.parse(JSON.stringify(records)) as typeof records;
  for (const id of ignored) {
    delete held[`event ${id}`];
    delete expected[`event ${id}`];
  }
  try {
    expect(held, `the replica of ${name}`).to.deep.equal(expected);
    return undefined;
  } catch (error) {
    return error;
  }
}

/** Compares the replicas until they equal the CMS; resolves with the intervals that it took. */
async function compare(scene: Scene, ignored: ReadonlySet<number>, maxIntervals: number): Promise<number> {
  const startedMs = performance.now();
  const intervals = () => (performance.now() - startedMs) / INTERVAL_MS;
  for (;;) {
    const beganAt = intervals();
    const differences = await Promise.all(scene.gateways.map((gateway) => differenceOf(scene, gateway, ignored)));
    const difference = differences.find((each) => each !== undefined);
    if (difference === undefined) return beganAt;
    if (beganAt > maxIntervals)
      throw new BrokenPromise(`after ${maxIntervals} intervals: ${(difference as Error).message}`, {
        cause: difference,
      });
    await sleep(50);
  }
}

async function play(scene: Scene): Promise<void> {
  const { cms, gateways, follower, created, counts, log } = scene;
  for (let n = 0; n < STEP_COUNT; n += 1) {
    const step = pick(scene, WEIGHTED_STEPS);
    log.push(step);
    await STEP_TYPES[step]!(scene);
  }
  log.push('end');
  await heal(scene);
  await until(async () => (await Promise.all(gateways.map(isLive))).every(Boolean), 'all live', SETTLE_MS);
  log.push('all live');
  counts.intervals = await compare(scene, new Set(scene.silent.keys()), MAX_INTERVALS);
  for (const key of created.keys()) await retry(scene, key);
  await compare(scene, new Set(), (2 * SCAN_INTERVAL_MS) / INTERVAL_MS + MAX_INTERVALS);
  log.push('all equal');
  const keyOf = ({ content }: FakePost) => [...created.keys()].find((key) => content?.includes(key));
  const keys = [...cms.posts.values()].map(keyOf).filter((key) => key !== undefined);
  if (new Set(keys).size < keys.length) throw new BrokenPromise(`created twice: ${keys.sort().join(' ')}`);
  for (const id of scene.written.keys()) if (cms.posts.get(id)?.status === 'publish') await read(scene);
  for (const gateway of gateways) await until(() => follow(scene, gateway), 'all changes are followed', SETTLE_MS);
  const published = [...cms.posts.values()].filter(({ base, status }) => base === 'events' && status === 'publish');
  const titles = (entries: Iterable<[number, string]>) => [...entries].sort(([a], [b]) => a - b).join('; ');
  const expected = titles(published.map(({ id, title }) => [id, title]));
  if (titles(follower.titles) !== expected)
    throw new BrokenPromise(`/changes missed something: ${titles(follower.titles)} instead of ${expected}`);
}

/** Throws with the seed if a promise was broken, or a replica differs in the end. */
async function runHistory(redisServer: RedisServer, seed: number): Promise<HistoryCounts> {
  const scene = await createScene(redisServer, seed);
  const late = new AbortController();
  try {
    const tooLong = sleep(MAX_HISTORY_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error(`not over after ${MAX_HISTORY_MS} ms: ${scene.log.at(-1)}`);
    });
    await Promise.race([play(scene), tooLong]);
    return scene.counts;
  } catch (error) {
    if (process.env.CALENDAR_HISTORY_LOG) {
      console.log(scene.log.join('\n'));
      for (const { name, ask } of scene.gateways) {
        console.log(name, await ask('status'));
        for (const line of await ask<object[]>('log')) console.log('  ', JSON.stringify(line));
      }
    }
    throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    late.abort();
    await stopScene(scene);
  }
}

/** Rejects at the end with all histories that failed. */
async function runHistories(runs: number, seed: number, parallel: number): Promise<HistoryCounts> {
  const all: HistoryCounts = { writes: 0, reads: 0, retryLater: 0, keyed: 0, reloads: 0, faults: 0, intervals: 0 };
  let next = seed;
  const failed: unknown[] = [];
  const worker = async (): Promise<void> => {
    const redisServer = await startRedisServer();
    try {
      while (next < seed + runs) {
        const counts = await runHistory(redisServer, next++).catch((error: Error) => {
          console.error(error.message);
          failed.push(error);
        });
        if (!counts) continue;
        const intervals = Math.max(all.intervals, counts.intervals);
        for (const name of Object.keys(all) as (keyof HistoryCounts)[]) all[name] += counts[name];
        all.intervals = intervals;
      }
    } finally {
      await redisServer.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallel, runs) }, worker));
  if (failed.length > 0) throw new AggregateError(failed, `${failed.length} of ${runs} histories failed`);
  return all;
}

/** Runs histories from a seed, random by default, and prints what they did. */
export async function printHistories(runs: number, seed = Date.now() % 1_000_000, parallel = 2): Promise<void> {
  console.log(`${runs} histories over three gateways, seeds ${seed} to ${seed + runs - 1}`);
  const counts = await runHistories(runs, seed, parallel);
  const { writes, reads, retryLater, keyed, reloads, faults, intervals } = counts;
  console.log(
    `all replicas equal the CMS, at most ${intervals.toFixed(1)} intervals after the last fault: ${writes} writes, ` +
      `${reads} reads with a token, ${keyed} creates with a key, ${retryLater} responses 503, ` +
      `${reloads} tokens of /changes answered 410, ${faults} faults`,
  );
}

if (import.meta.main) {
  const { runs, seed, parallel } = scriptOptions(
    `node test/cluster/histories.ts [options]

Plays random histories over three gateways (processes), a fake CMS and a Redis: writes, edits in the CMS, webhooks, kills, suspensions, cuts,
a Redis that is suspended, full, emptied or restarted. Compares all replicas with the CMS in the end. Needs an installed redis-server or
valkey-server. Takes about a minute for two histories. With CALENDAR_HISTORY_LOG=1 a failed one prints its steps.`,
    {
      runs: { type: 'string', value: 'N', default: '20', help: 'histories' },
      parallel: { type: 'string', value: 'N', default: '2', help: 'how many run at a time: they mostly wait' },
      seed: { type: 'string', value: 'N', help: 'of the first history; a failure prints its seed (default: random)' },
    },
  );
  await printHistories(Number(runs), seed === undefined ? undefined : Number(seed), Number(parallel));
}
