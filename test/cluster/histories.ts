// Random histories of three gateways, one CMS and one Redis: `node test/cluster/histories.ts`. In the end all
// replicas equal the CMS, and no read with a consistency token was older than it.

import { setTimeout as sleep } from 'node:timers/promises';
import { loadMapping } from '../../src/mapping/load.ts';
import { createFakeCms, type FakeCms, SERVICE } from '../cms/fake-cms.ts';
import { randomFrom } from '../random.ts';
import { scriptOptions } from '../script-options.ts';
import { expectInSync } from '../sync/test-site.ts';
import {
  allSettled,
  type GatewayOptions,
  leaderOf,
  roleOf,
  startGateway,
  type TestGateway,
  until,
} from './gateways.ts';
import { type RedisServer, startRedisServer } from './redis-server.ts';

const INTERVAL_MS = 250;
const RESYNC_INTERVAL_MS = 600;
const STEP_COUNT = 60;
/** Shorter than the gateway's own limit. */
const READ_TIMEOUT_MS = 500;
/** Far longer than a history takes. */
const MAX_HISTORY_MS = 120_000;
/** Histories that run in parallel; they mostly wait. */
const PARALLEL = 3;
const NAMES = ['a', 'b', 'c'];

/** Remembers what it has read, and sends back the token of the last response. */
interface HistoryClient {
  version: string | undefined;
  /** By event, the number of the latest change that it has read. */
  seen: Map<number, number>;
}

export interface HistoryCounts {
  writes: number;
  reads: number;
  /** Requests with response 503. */
  retryLater: number;
  faults: number;
}

interface Scene {
  seed: number;
  cms: FakeCms;
  /** Numbers the changes of titles, in the order in which the CMS accepts them. */
  nextTitle(): string;
  redisServer: RedisServer;
  gateways: TestGateway[];
  clients: HistoryClient[];
  counts: HistoryCounts;
  random: () => number;
  background: Promise<unknown>[];
  log: string[];
}

const numberIn = (title: unknown): number => Number(/t(\d+)/.exec(String(title))?.[1] ?? 0);

function checkRead(scene: Scene, client: HistoryClient, id: number, title: unknown, where: string): void {
  const number = numberIn(title);
  const before = client.seen.get(id) ?? 0;
  if (number < before) {
    throw new Error(
      `seed ${scene.seed}: event ${id} shows change ${number} through ${where}, after ${before} was seen`,
    );
  }
  client.seen.set(id, number);
}

const pick = <T>(scene: Scene, items: readonly T[]): T => items[Math.floor(scene.random() * items.length)]!;
const someId = (scene: Scene): number | undefined => {
  const ids = [...scene.cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
  return ids.length > 0 ? pick(scene, ids) : undefined;
};
const DATES = { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };

/** A write sends the token too: its response must not be older than what the client has read. */
async function write(scene: Scene, client = pick(scene, scene.clients)): Promise<void> {
  const gateway = pick(scene, scene.gateways);
  const id = scene.random() < 0.25 ? undefined : someId(scene);
  const path = id === undefined ? '/events' : `/events/${id}`;
  const json = { title: 'x', ...(id === undefined ? DATES : {}) };
  scene.counts.writes += 1;
  const response = await gateway.request(path, { json, atLeast: client.version }).catch(() => undefined);
  if (response?.status === 503) scene.counts.retryLater += 1;
  if (!response || response.status >= 300) return;
  const writtenId = Number(response.body.id);
  scene.log.push(
    `wrote ${writtenId} ${response.body.title} through ${gateway.name}: ${client.version} -> ${response.version}`,
  );
  checkRead(scene, client, writtenId, response.body.title, `a write through ${gateway.name}`);
  client.version = response.version;
}

async function read(scene: Scene): Promise<void> {
  const [gateway, client] = [pick(scene, scene.gateways), pick(scene, scene.clients)];
  const id = pick(scene, [...client.seen.keys(), someId(scene) ?? 0]);
  if (!id) return;
  const before = new Map(client.seen);
  scene.counts.reads += 1;
  const role = roleOf(gateway);
  const response = await gateway
    .request(`/events/${id}`, { atLeast: client.version, withinMs: READ_TIMEOUT_MS })
    .catch(() => undefined);
  if (!response || response.status === 503) scene.counts.retryLater += 1;
  if (response?.status !== 200) return;
  scene.log.push(
    `read ${id} ${response.body.title} through ${gateway.name} (${role}): ${client.version} -> ${response.version}`,
  );
  checkRead(
    scene,
    { ...client, seen: before },
    id,
    response.body.title,
    `${gateway.name} (${role}, then ${roleOf(gateway)})`,
  );
  client.version = response.version;
  client.seen.set(id, Math.max(numberIn(response.body.title), client.seen.get(id) ?? 0));
}

/** Sequential for each client, because it sends the token of its last response. */
const STEP_TYPES: Record<string, (scene: Scene) => void | Promise<void>> = {
  write,
  writeMore: async (scene) => {
    await Promise.all(scene.clients.map((client) => write(scene, client)));
  },
  read,
  readMore: async (scene) => {
    for (let n = 0; n < 4; n += 1) await read(scene);
  },
  trash: async (scene) => {
    const id = someId(scene);
    if (id !== undefined)
      await pick(scene, scene.gateways)
        .request(`/events/${id}`, { method: 'DELETE' })
        .catch(() => {});
  },
  term: async (scene) => {
    await pick(scene, scene.gateways)
      .request('/tags', { json: { name: `Tag ${scene.random()}` } })
      .catch(() => {});
  },
  editInCms: (scene) => scene.cms.edit(someId(scene) ?? 0, { title: scene.nextTitle() }),
  /** A change without a new modification date: only a full resync finds it, and no token covers it. */
  editInCmsSilently: ({ cms, ...scene }) =>
    cms.editSilently(someId({ cms, ...scene }) ?? 0, { meta: { ...DATES, cost: String(scene.random()) } }),
  createInCms: ({ cms, nextTitle }) => void cms.createPost('events', { title: nextTitle(), meta: DATES }),
  deleteInCms: (scene) => scene.cms.erase(someId(scene) ?? 0),
  createTermInCms: ({ cms }) => void cms.createTerm('event_categories'),
  deleteTermInCms: (scene) => {
    const terms = [...scene.cms.terms.keys()];
    if (terms.length > 0) scene.cms.deleteTerm(pick(scene, terms));
  },
  webhook: async (scene) => {
    const id = someId(scene);
    if (id === undefined) return;
    scene.cms.edit(id, { title: scene.nextTitle() });
    scene.background.push(pick(scene, scene.gateways).cluster.fetchChanged([{ collection: 'events', id }]));
  },
  wait: (scene) => sleep(scene.random() * 300),
  waitLong: () => sleep(INTERVAL_MS * 3),
  cutRedis: async (scene) => {
    scene.counts.faults += 1;
    await pick(scene, scene.gateways).proxy.set({ kind: pick(scene, ['down', 'silent'] as const) });
  },
  healRedis: async (scene) => {
    for (const { proxy } of scene.gateways) await proxy.set({ kind: 'none' });
  },
  cutCms: (scene) => {
    scene.counts.faults += 1;
    pick(scene, scene.gateways).cmsLink.isCut = true;
  },
  /** The leader gives the lock up after three failed polls; those on request wait for no delay. */
  cutCmsOfLeader: (scene) => {
    const leader = leaderOf(scene.gateways);
    if (!leader) return;
    scene.counts.faults += 1;
    leader.cmsLink.isCut = true;
    const polls = async () => {
      for (let n = 0; n < 3; n += 1) await leader.cluster.poll();
    };
    scene.background.push(polls());
  },
  healCms: (scene) => {
    for (const { cmsLink } of scene.gateways) cmsLink.isCut = false;
  },
  /** Responses of the CMS to one gateway are delayed for longer than the lease. */
  pause: (scene) => {
    scene.counts.faults += 1;
    const { cmsLink } = pick(scene, scene.gateways);
    const over = sleep(INTERVAL_MS * (1 + 2 * scene.random())).then(() => {
      cmsLink.after = undefined;
    });
    cmsLink.after = () => over;
    scene.background.push(over);
  },
  slow: (scene) => {
    const { cmsLink } = pick(scene, scene.gateways);
    cmsLink.after = () => sleep(scene.random() * 30);
  },
  kill: async (scene) => {
    scene.counts.faults += 1;
    const index = Math.floor(scene.random() * scene.gateways.length);
    const lost = scene.gateways[index]!;
    const next = startGateway({ ...settings(scene), name: lost.name });
    scene.gateways[index] = await next;
    await lost.kill();
  },
  redisRestart: async (scene) => {
    scene.counts.faults += 1;
    await scene.redisServer.restart();
  },
  redisPause: async (scene) => {
    scene.counts.faults += 1;
    scene.redisServer.child.kill('SIGSTOP');
    await sleep(scene.random() * INTERVAL_MS * 5);
    scene.redisServer.child.kill('SIGCONT');
  },
};
const FREQUENT = [
  'write',
  'write',
  'writeMore',
  'read',
  'readMore',
  'readMore',
  'wait',
  'wait',
  'healRedis',
  'healCms',
];
const WEIGHTED_STEPS = [...FREQUENT, ...Object.keys(STEP_TYPES)];

const settings = ({ cms, redisServer }: Pick<Scene, 'cms' | 'redisServer'>): GatewayOptions => ({
  cms,
  redisUrl: redisServer.url,
  intervalMs: INTERVAL_MS,
  resyncIntervalMs: RESYNC_INTERVAL_MS,
});

async function stopAll({ seed, gateways }: Scene): Promise<void> {
  const ends = Promise.all(gateways.map((gateway) => gateway.stop()));
  const inTime = await Promise.race([ends, sleep(MAX_HISTORY_MS, false, { ref: false })]);
  if (!inTime) throw new Error(`seed ${seed}: gateways did not stop`);
}

/** Throws with the seed if a replica differs in the end, or if a client read an older state. */
async function runHistory(redisServer: RedisServer, seed: number): Promise<HistoryCounts> {
  await redisServer.restart();
  const cms = createFakeCms(Date.now);
  let titles = 0;
  const nextTitle = () => `t${++titles}`;
  cms.onWrite = (_write, isInserted, body) => {
    if (!isInserted && 'title' in body) body.title = nextTitle();
  };
  for (let n = 0; n < 12; n += 1) cms.createPost('events', { title: nextTitle(), meta: DATES });
  const gateways = await Promise.all(NAMES.map((name) => startGateway({ ...settings({ cms, redisServer }), name })));
  const clients = NAMES.map((): HistoryClient => ({ version: undefined, seen: new Map() }));
  const counts: HistoryCounts = { writes: 0, reads: 0, retryLater: 0, faults: 0 };
  const scene: Scene = {
    ...{ seed, cms, nextTitle, redisServer },
    gateways,
    clients,
    counts,
    random: randomFrom(seed),
    background: [],
    log: [],
  };
  async function play(): Promise<void> {
    await allSettled(gateways);
    for (let n = 0; n < STEP_COUNT; n += 1) {
      const step = pick(scene, WEIGHTED_STEPS);
      scene.log.push(step);
      await STEP_TYPES[step]!(scene);
    }
    scene.log.push('end: wait for background steps');
    await Promise.all(scene.background);
    scene.log.push('heal all faults');
    for (const { proxy, cmsLink } of scene.gateways) {
      await proxy.set({ kind: 'none' });
      Object.assign(cmsLink, { isCut: false, after: undefined, before: undefined });
    }
    scene.log.push('poll');
    // After failures the gateways retry ever later, but immediately for an explicit poll.
    await Promise.all(scene.gateways.map(({ cluster }) => cluster.poll()));
    scene.log.push('settle');
    await allSettled(scene.gateways);
    scene.log.push('poll again');
    await Promise.all(scene.gateways.map(({ cluster }) => cluster.poll()));
    const mapping = loadMapping('wordpress-meta');
    scene.log.push('compare');
    let difference: unknown;
    const isSame = ({ replica }: TestGateway): boolean => {
      try {
        expectInSync({ cms, replica, service: SERVICE, mapping });
        return true;
      } catch (error) {
        difference = error;
        return false;
      }
    };
    await until(() => scene.gateways.every(isSame), 'replicas equal the CMS', 20_000).catch((error) => {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: difference });
    });
  }

  const late = new AbortController();
  try {
    const tooLong = sleep(MAX_HISTORY_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error(`not over after ${MAX_HISTORY_MS} ms: ${scene.log.at(-1)}`);
    });
    await Promise.race([play(), tooLong]);
    return counts;
  } catch (error) {
    if (process.env.CALENDAR_HISTORY_LOG) {
      console.log(scene.log.join('\n'));
      for (const { name, cluster, sync, observations } of scene.gateways) {
        console.log(name, cluster.status(), sync.state());
        const relevant = observations.filter(({ type }) => type !== 'request');
        for (const event of relevant.slice(-60)) console.log('  ', JSON.stringify(event));
      }
    }
    throw error instanceof Error && !error.message.startsWith('seed')
      ? new Error(`seed ${seed}: ${error.message}`, { cause: error })
      : error;
  } finally {
    late.abort();
    redisServer.child.kill('SIGCONT');
    await stopAll(scene);
  }
}

/** Rejects at the end with all histories that failed. */
async function runHistories(runs: number, seed: number): Promise<HistoryCounts> {
  const all: HistoryCounts = { writes: 0, reads: 0, retryLater: 0, faults: 0 };
  let next = seed;
  const failed: unknown[] = [];
  const worker = async (): Promise<void> => {
    const redisServer = await startRedisServer();
    try {
      while (next < seed + runs) {
        const counts = await runHistory(redisServer, next++).catch((error: unknown) => void failed.push(error));
        for (const name of Object.keys(all) as (keyof HistoryCounts)[]) all[name] += counts?.[name] ?? 0;
      }
    } finally {
      await redisServer.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(PARALLEL, runs) }, worker));
  if (failed.length > 0) throw new AggregateError(failed, `${failed.length} of ${runs} histories failed`);
  return all;
}

/** Runs histories from a seed, random by default, and prints what they did. */
export async function printHistories(runs: number, seed = Date.now() % 1_000_000): Promise<void> {
  const { writes, reads, retryLater, faults } = await runHistories(runs, seed);
  const counts = `${writes} writes, ${reads} reads (${retryLater} with 503), ${faults} faults`;
  console.log(`${runs} histories over three gateways from seed ${seed}, all replicas equal the CMS: ${counts}`);
}

if (import.meta.main) {
  const { runs, seed } = scriptOptions(
    `node test/cluster/histories.ts [options]

Plays random histories of writes, kills and cuts over three gateways, a fake CMS and a Redis, and compares all replicas with the CMS in the
end. Needs an installed redis-server or valkey-server. Takes about ten seconds for three histories, which run in parallel. With
CALENDAR_HISTORY_LOG=1 a failed one prints its steps.`,
    {
      runs: { type: 'string', value: 'N', default: '20', help: 'histories' },
      seed: { type: 'string', value: 'N', help: 'of the first history; a failure prints its seed (default: random)' },
    },
  );
  await printHistories(Number(runs), seed === undefined ? undefined : Number(seed));
}
