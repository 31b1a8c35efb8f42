// Random histories of three gateways, one CMS and one engine: `node test/cluster/history.ts [--runs 20] [--seed N]`. In the quiet state all copies
// equal the CMS, and nobody who sends a version back ever sees the past.

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadMapping } from '../../src/mapping/load.ts';
import { expectSame, type TestSite } from '../replica/sync-site.ts';
import { type EngineProcess, startEngine } from './engine-process.ts';
import { roleOf, startGateway, type TestGateway, together, until } from './gateways.ts';
import { SERVICE, type WritableCms, writableCms } from './writable-cms.ts';

const INTERVAL_MS = 250;
const PASS_MS = 600;
const STEPS = 60;
/** Nobody here waits as long as a gateway would let them. */
const PATIENCE_MS = 500;
/** Far more than one takes. */
const LONGEST_MS = 120_000;
/** Histories that run beside each other: most of their time is waiting. */
const AT_ONCE = 3;
const NAMES = ['a', 'b', 'c'];

/** Numbers between 0 and 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Somebody who remembers what they saw, and sends the version of the last answer back. */
interface Reader {
  version: string | undefined;
  /** Event -> number of the change that they saw. */
  seen: Map<number, number>;
}

export interface Counts {
  writes: number;
  reads: number;
  /** Reads that were told to try again. */
  behind: number;
  faults: number;
}

interface Scene {
  seed: number;
  cms: WritableCms;
  engine: EngineProcess;
  gateways: TestGateway[];
  readers: Reader[];
  counts: Counts;
  random: () => number;
  background: Promise<unknown>[];
  log: string[];
}

const numberIn = (title: unknown): number => Number(/t(\d+)/.exec(String(title))?.[1] ?? 0);

function saw(scene: Scene, reader: Reader, id: number, title: unknown, where: string): void {
  const number = numberIn(title);
  const before = reader.seen.get(id) ?? 0;
  if (number < before) {
    throw new Error(
      `seed ${scene.seed}: event ${id} shows change ${number} through ${where}, after ${before} was seen`,
    );
  }
  reader.seen.set(id, number);
}

const pick = <T>(scene: Scene, items: readonly T[]): T => items[Math.floor(scene.random() * items.length)]!;
const someId = (scene: Scene): number | undefined => {
  const ids = [...scene.cms.fake.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
  return ids.length > 0 ? pick(scene, ids) : undefined;
};
const DATES = { start_date: '2027-05-01 10:00:00', end_date: '2027-05-01 12:00:00' };

/** Writes carry the version too: what the writer saw before holds for their answers. */
async function write(scene: Scene, reader = pick(scene, scene.readers)): Promise<void> {
  const gateway = pick(scene, scene.gateways);
  const id = scene.random() < 0.25 ? undefined : someId(scene);
  const path = id === undefined ? '/events' : `/events/${id}`;
  const json = { title: 'x', ...(id === undefined ? DATES : {}) };
  const atLeast = reader.version === undefined ? {} : { atLeast: reader.version };
  scene.counts.writes += 1;
  const answer = await gateway.ask(path, { json, ...atLeast }).catch(() => undefined);
  if (answer?.status === 503) scene.counts.behind += 1;
  if (!answer || answer.status >= 300) return;
  const made = Number(answer.body.id);
  scene.log.push(`wrote ${made} ${answer.body.title} through ${gateway.name}: ${reader.version} -> ${answer.version}`);
  saw(scene, reader, made, answer.body.title, `a write through ${gateway.name}`);
  reader.version = answer.version;
}

async function read(scene: Scene): Promise<void> {
  const [gateway, reader] = [pick(scene, scene.gateways), pick(scene, scene.readers)];
  const id = pick(scene, [...reader.seen.keys(), someId(scene) ?? 0]);
  if (!id) return;
  const before = new Map(reader.seen);
  scene.counts.reads += 1;
  const atLeast = reader.version === undefined ? {} : { atLeast: reader.version };
  const role = roleOf(gateway);
  const answer = await gateway.ask(`/events/${id}`, { ...atLeast, withinMs: PATIENCE_MS }).catch(() => undefined);
  if (!answer || answer.status === 503) scene.counts.behind += 1;
  if (answer?.status !== 200) return;
  scene.log.push(
    `read ${id} ${answer.body.title} through ${gateway.name} (${role}): ${reader.version} -> ${answer.version}`,
  );
  saw(scene, { ...reader, seen: before }, id, answer.body.title, `${gateway.name} (${role}, then ${roleOf(gateway)})`);
  reader.version = answer.version;
  reader.seen.set(id, Math.max(numberIn(answer.body.title), reader.seen.get(id) ?? 0));
}

/** One after the other for each reader: who sends a version back has had the answer that gave it. */
const STEPS_OF: Record<string, (scene: Scene) => void | Promise<void>> = {
  write,
  writeMore: async (scene) => {
    await Promise.all(scene.readers.map((reader) => write(scene, reader)));
  },
  read,
  readMore: async (scene) => {
    for (let n = 0; n < 4; n += 1) await read(scene);
  },
  trash: async (scene) => {
    const id = someId(scene);
    if (id !== undefined)
      await pick(scene, scene.gateways)
        .ask(`/events/${id}`, { method: 'DELETE' })
        .catch(() => {});
  },
  term: async (scene) => {
    await pick(scene, scene.gateways)
      .ask('/tags', { json: { name: `Tag ${scene.random()}` } })
      .catch(() => {});
  },
  editBehind: ({ cms, ...scene }) => cms.fake.edit(someId({ cms, ...scene }) ?? 0, { title: cms.nextTitle() }),
  /** What no date tells of: a gateway that looks does not see it, and nobody is promised that. */
  quietBehind: ({ cms, ...scene }) =>
    cms.fake.quietly(someId({ cms, ...scene }) ?? 0, { meta: { ...DATES, cost: String(scene.random()) } }),
  createBehind: ({ cms }) => void cms.fake.create('events', { title: cms.nextTitle(), meta: DATES }),
  eraseBehind: (scene) => scene.cms.fake.erase(someId(scene) ?? 0),
  termBehind: ({ cms }) => void cms.fake.createTerm('event_categories'),
  eraseTerm: (scene) => {
    const terms = [...scene.cms.fake.terms.keys()];
    if (terms.length > 0) scene.cms.fake.eraseTerm(pick(scene, terms));
  },
  notice: async (scene) => {
    const id = someId(scene);
    if (id === undefined) return;
    scene.cms.fake.edit(id, { title: scene.cms.nextTitle() });
    scene.background.push(pick(scene, scene.gateways).cluster.changed([{ collection: 'events', id }]));
  },
  wait: (scene) => sleep(scene.random() * 300),
  waitLong: () => sleep(INTERVAL_MS * 3),
  cutEngine: async (scene) => {
    scene.counts.faults += 1;
    await pick(scene, scene.gateways).proxy.set({ kind: pick(scene, ['down', 'silent'] as const) });
  },
  healEngine: async (scene) => {
    for (const { proxy } of scene.gateways) await proxy.set({ kind: 'none' });
  },
  cutCms: (scene) => {
    scene.counts.faults += 1;
    pick(scene, scene.gateways).link.isCut = true;
  },
  healCms: (scene) => {
    for (const { link } of scene.gateways) link.isCut = false;
  },
  /** Answers of the CMS to one gateway are held on their way, for longer than the lock holds. */
  pause: (scene) => {
    scene.counts.faults += 1;
    const { link } = pick(scene, scene.gateways);
    const over = sleep(INTERVAL_MS * (1 + 2 * scene.random())).then(() => {
      link.after = undefined;
    });
    link.after = () => over;
    scene.background.push(over);
  },
  slow: (scene) => {
    const { link } = pick(scene, scene.gateways);
    link.after = () => sleep(scene.random() * 30);
  },
  kill: async (scene) => {
    scene.counts.faults += 1;
    const index = Math.floor(scene.random() * scene.gateways.length);
    const lost = scene.gateways[index]!;
    const next = startGateway({ ...settings(scene), name: lost.name });
    scene.gateways[index] = await next;
    await lost.kill();
  },
  engineRestart: async (scene) => {
    scene.counts.faults += 1;
    await scene.engine.restart();
  },
  enginePause: async (scene) => {
    scene.counts.faults += 1;
    scene.engine.child.kill('SIGSTOP');
    await sleep(scene.random() * INTERVAL_MS * 5);
    scene.engine.child.kill('SIGCONT');
  },
};
const OFTEN = ['write', 'write', 'writeMore', 'read', 'readMore', 'readMore', 'wait', 'wait', 'healEngine', 'healCms'];
const WAYS = [...OFTEN, ...Object.keys(STEPS_OF)];

const settings = ({ cms, engine }: Pick<Scene, 'cms' | 'engine'>) => ({
  ...{ cms, engineUrl: engine.url, intervalMs: INTERVAL_MS, passMs: PASS_MS },
});

async function ended({ seed, gateways }: Scene): Promise<void> {
  const ends = Promise.all(gateways.map((gateway) => gateway.stop()));
  const inTime = await Promise.race([ends, sleep(LONGEST_MS, false, { ref: false })]);
  if (!inTime) throw new Error(`seed ${seed}: gateways that do not end`);
}

/** One history. Throws with its seed when a copy differs in the end, or somebody saw the past. */
export async function runHistory(engine: EngineProcess, seed: number): Promise<Counts> {
  await engine.restart();
  const cms = writableCms();
  cms.numbered = true;
  for (let n = 0; n < 12; n += 1) cms.fake.create('events', { title: cms.nextTitle(), meta: DATES });
  const gateways = await Promise.all(NAMES.map((name) => startGateway({ ...settings({ cms, engine }), name })));
  const readers = NAMES.map((): Reader => ({ version: undefined, seen: new Map() }));
  const counts: Counts = { writes: 0, reads: 0, behind: 0, faults: 0 };
  const scene: Scene = {
    ...{ seed, cms, engine, gateways, readers, counts },
    random: randomFrom(seed),
    background: [],
    log: [],
  };
  async function course(): Promise<void> {
    await together(gateways);
    for (let n = 0; n < STEPS; n += 1) {
      const what = pick(scene, WAYS);
      scene.log.push(what);
      await STEPS_OF[what]!(scene);
    }
    scene.log.push('the end: waits for what it began');
    await Promise.all(scene.background);
    scene.log.push('heals everything');
    for (const { proxy, link } of scene.gateways) {
      await proxy.set({ kind: 'none' });
      Object.assign(link, { isCut: false, after: undefined, before: undefined });
    }
    scene.log.push('looks');
    // After failures the CMS is tried again later and later, but at once for whoever asks to look.
    await Promise.all(scene.gateways.map(({ cluster }) => cluster.look()));
    scene.log.push('comes together');
    await together(scene.gateways);
    scene.log.push('looks once more');
    await Promise.all(scene.gateways.map(({ cluster }) => cluster.look()));
    const mapped = loadMapping('wordpress-meta');
    scene.log.push('compares');
    let difference: unknown;
    const isSame = ({ replica }: TestGateway): boolean => {
      try {
        expectSame({ cms: cms.fake, replica, service: SERVICE, mapped } as unknown as TestSite);
        return true;
      } catch (error) {
        difference = error;
        return false;
      }
    };
    await until(() => scene.gateways.every(isSame), 'equal copies', 20_000).catch((error) => {
      throw new Error(`seed ${seed}: ${error.message}`, { cause: difference });
    });
  }

  const late = new AbortController();
  try {
    const tooLong = sleep(LONGEST_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error(`not over after ${LONGEST_MS} ms: ${scene.log.at(-1)}`);
    });
    await Promise.race([course(), tooLong]);
    return counts;
  } catch (error) {
    if (process.env.CALENDAR_HISTORY_LOG) {
      console.log(scene.log.join('\n'));
      for (const { name, cluster, sync, seen } of scene.gateways) {
        console.log(name, cluster.status(), sync.standing());
        const told = seen.filter(({ type }) => type !== 'request');
        for (const one of told.slice(-60)) console.log('  ', JSON.stringify(one));
      }
    }
    throw error instanceof Error && !error.message.startsWith('seed')
      ? new Error(`seed ${seed}: ${error.message}`, { cause: error })
      : error;
  } finally {
    late.abort();
    engine.child.kill('SIGCONT');
    await ended(scene);
  }
}

/** So many histories, with what they came to. Those that fail are told at the end. */
export async function runHistories(runs: number, seed: number): Promise<Counts> {
  const all: Counts = { writes: 0, reads: 0, behind: 0, faults: 0 };
  let next = seed;
  const failed: unknown[] = [];
  const worker = async (): Promise<void> => {
    const engine = await startEngine();
    try {
      while (next < seed + runs) {
        const one = await runHistory(engine, next++).catch((error: unknown) => void failed.push(error));
        for (const name of Object.keys(all) as (keyof Counts)[]) all[name] += one?.[name] ?? 0;
      }
    } finally {
      await engine.close();
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, runs) }, worker));
  if (failed.length > 0) throw new AggregateError(failed, `${failed.length} of ${runs} histories failed`);
  return all;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { runs: { type: 'string', default: '20' }, seed: { type: 'string' } } });
  const seed = Number(values.seed ?? Date.now() % 1_000_000);
  const { writes, reads, behind, faults } = await runHistories(Number(values.runs), seed);
  const told = `${writes} writes, ${reads} reads (${behind} told to try again), ${faults} faults`;
  console.log(`${values.runs} histories from seed ${seed}, no difference: ${told}`);
}
