// Random histories of a CMS and a replica, which must be equal in the end. Responses arrive late, while writes,
// webhooks and polls go on.

import fc from 'fast-check';
import type { Credentials } from '../../src/cms/port.ts';
import { type FakeCms, type FakePost, SERVICE, unavailable } from '../cms/fake-cms.ts';
import { HistoryChecks } from './history-checks.ts';
import { expectInSync, type TestSite, testSite } from './test-site.ts';

const BASES = ['events', 'events', 'events', 'venues', 'organizers'];
const STATUSES = ['publish', 'publish', 'draft', 'private', 'pending'];

/** The CMS refuses nobody. */
function open(cms: FakeCms): void {
  cms.beforeRequest = undefined;
  cms.serviceRole = 'editor';
  cms.closedToPublic.clear();
}

type Change = (cms: FakeCms, a: number, b: number) => void;

const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(1, items.length)];
const somePost = (cms: FakeCms, n: number) => pick([...cms.posts.values()], n);
const someEvent = (cms: FakeCms, n: number) => {
  const events = [...cms.posts.values()].filter(({ base }) => base === 'events');
  return pick(events, n);
};
const someTerm = (cms: FakeCms, n: number) => pick([...cms.terms.values()], n);
const someMedia = (cms: FakeCms, n: number) => pick([...cms.media.values()], n);

function fieldsOf(cms: FakeCms, a: number, b: number): Partial<FakePost> {
  const terms = [...cms.terms.values()];
  const ids = (base: string) =>
    terms.filter((term) => term.base === base && (term.id + b) % 3 === 0).map(({ id }) => id);
  const venues = [...cms.posts.values()].filter(({ base, id }) => base === 'venues' && (id + a) % 4 === 0);
  return {
    title: `Title ${a} ${b}`,
    slug: `slug-${a}`,
    // In no list, and public by its address.
    password: b % 7 === 6 ? 'secret' : undefined,
    featured: b % 3 === 0 ? (someMedia(cms, a)?.id ?? 0) : 0,
    meta: {
      start_date: `2026-05-${10 + (a % 10)} 10:00:00`,
      end_date: '2026-05-28 12:00:00',
      venue_ids: venues.map(({ id }) => id),
    },
    terms: { event_categories: ids('event_categories'), tags: ids('tags') },
  };
}

/** Changes in the CMS. */
const CHANGES: Record<string, Change> = {
  create: (cms, a, b) => cms.createPost(pick(BASES, a)!, { ...fieldsOf(cms, a, b), status: pick(STATUSES, b)! }),
  createMany: (cms, a, b) => {
    for (let n = 0; n < 7; n += 1)
      cms.createPost('events', { ...fieldsOf(cms, a + n, b), status: pick(STATUSES, b + n)! });
  },
  createBack: (cms, a, b) => cms.createPost(pick(BASES, a)!, { ...fieldsOf(cms, a, b), dateS: 1_000_000_000 + b }),
  schedule: (cms, a, b) => {
    const dateS = Math.floor(cms.nowMs() / 1000) + (b % 40);
    cms.createPost('events', { ...fieldsOf(cms, a, b), status: 'future', dateS });
  },
  cron: (cms) => cms.runCron(),
  edit: (cms, a, b) => cms.edit(somePost(cms, a)?.id ?? 0, fieldsOf(cms, a, b)),
  editAll: (cms, a, b) => {
    for (const { id, base } of cms.posts.values()) if (base === 'events') cms.edit(id, { title: `All ${a} ${b}` });
  },
  status: (cms, a, b) => cms.edit(somePost(cms, a)?.id ?? 0, { status: pick(STATUSES, b)! }),
  trash: (cms, a) => cms.trashPost(somePost(cms, a)?.id ?? 0),
  erase: (cms, a) => cms.erase(somePost(cms, a)?.id ?? 0),
  editSilently: (cms, a, b) => cms.editSilently(someEvent(cms, a)?.id ?? 0, fieldsOf(cms, a, b)),
  createTerm: (cms, a) => cms.createTerm(pick(['event_categories', 'tags'], a)!),
  renameTerm: (cms, a, b) => Object.assign(someTerm(cms, a) ?? {}, { name: `Term ${b}`, slug: `term-${b}` }),
  deleteTerm: (cms, a) => cms.deleteTerm(someTerm(cms, a)?.id ?? 0),
  mergeTerm: (cms, a, b) => {
    const term = someTerm(cms, a);
    const others = [...cms.terms.values()].filter(({ base, id }) => base === term?.base && id !== term.id);
    if (term) cms.deleteTerm(term.id, pick(others, b)?.id);
  },
  createMedia: (cms) => cms.createMedia(),
  replaceMedia: (cms, a) => cms.replaceMedia(someMedia(cms, a)?.id ?? 0),
  cropMedia: (cms, a) => cms.cropMedia(someMedia(cms, a)?.id ?? 0),
  deleteMedia: (cms, a) => cms.deleteMedia(someMedia(cms, a)?.id ?? 0),
};

/**
 * Changes that neither a date nor a total shows, at least together with others: only a scan must see
 * them.
 */
const INVISIBLE = ['createBack', 'cron', 'editSilently', 'cropMedia', 'deleteMedia'];
/** Changes that two polls must see. */
const VISIBLE = Object.keys(CHANGES).filter((name) => !INVISIBLE.includes(name));

const changeAt = (names: readonly string[], n: number) => CHANGES[pick(names, n)!]!;

interface Scene extends TestSite {
  checks: HistoryChecks;
  /** The first of them runs when the CMS has built the next response with a post, which arrives some turns later. */
  meanwhile: { write: (post: FakePost) => Promise<void>; turns: number }[];
  /** Notes an action that may end later. Resolves then, also if it fails. */
  go(action: void | Promise<void>): Promise<void>;
  /** Resolves when all actions have ended; rejects with the first failure. */
  ended(): Promise<void>;
}

type Write = (site: Scene, post: FakePost, a: number, b: number) => Promise<void>;

/** Changes of a post by this gateway, or of which a webhook or another gateway tells. */
const WRITES: Record<string, Write> = {
  gatewayEdits({ cms, checks }, post, a, b) {
    cms.edit(post.id, { ...fieldsOf(cms, a, b), status: pick(STATUSES, b)! });
    return checks.read('fetchWritten', post);
  },
  gatewayDeletes({ cms, checks }, post) {
    cms.erase(post.id);
    return checks.read('fetchWritten', post);
  },
  gatewayTrashes({ cms, checks }, post) {
    cms.trashPost(post.id);
    return checks.read('fetchWritten', post, true);
  },
  webhook({ cms, checks }, post, a, b) {
    cms.edit(post.id, fieldsOf(cms, a, b));
    return checks.read(b % 2 ? 'fetchPeerChanges' : 'fetchChanged', post, post.status === 'trash');
  },
  webhookOfDeleted({ cms, checks }, post, _a, b) {
    cms.erase(post.id);
    return checks.read(b % 2 ? 'fetchPeerChanges' : 'fetchChanged', post);
  },
  webhookOfTrashed({ cms, checks }, post) {
    cms.trashPost(post.id);
    return checks.read('fetchChanged', post, true);
  },
  async pollOfEdited(site, post, a, b) {
    site.cms.edit(post.id, { ...fieldsOf(site.cms, a, b), status: pick(STATUSES, b)! });
    await site.poll();
  },
};

/** Actions of the gateway, the network and time; `changes` are the changes that the history may contain. */
const ACTIONS: Record<string, (site: Scene, a: number, b: number, changes: string[]) => void | Promise<void>> = {
  poll: (site) => site.poll(),
  pollImmediately: async (site) => void (await site.sync.poll()),
  advance: (site, a) => site.advance(pick([300, 1_000, 2_500, 20_000], a)!),
  /** The CMS is unavailable for the next requests. */
  fail(site, a, b) {
    let left = 1 + (a % 6);
    let until = b % 4;
    site.cms.beforeRequest = () => {
      if (until-- > 0) return;
      if (left-- > 0) unavailable();
      site.cms.beforeRequest = undefined;
    };
  },
  /** A change between two requests. */
  changeBetween(site, a, b, changes) {
    let until = a % 12;
    site.cms.beforeRequest = () => {
      if (until-- > 0) return;
      site.cms.beforeRequest = undefined;
      changeAt(changes, b)(site.cms, a, b);
    };
  },
  /** The response that is under way has the post as it was before. */
  writeMeanwhile(site, a, b) {
    const write = (post: FakePost) => pick(Object.values(WRITES), b)!(site, post, a, b);
    site.meanwhile.push({ write, turns: a });
  },
  async gatewayCreates(site, a, b) {
    await site.checks.read('fetchWritten', site.cms.createPost('events', fieldsOf(site.cms, a, b)));
  },
  async webhookOfMedia(site, a) {
    const item = someMedia(site.cms, a);
    if (!item) return;
    site.cms.cropMedia(item.id);
    await site.sync.fetchChanged([{ kind: 'image', id: item.id }]);
  },
  /** The CMS refuses the readers of the sync for the next requests. */
  refuse(site, a) {
    let until = a % 8;
    site.cms.beforeRequest = () => {
      until -= 1;
      if (until >= 0) return;
      site.cms.serviceRole = 'refused';
      for (const base of BASES) site.cms.closedToPublic.add(base);
      if (until < -2) open(site.cms);
    };
  },
  restart: (site) => site.restart(),
  /** Changes while no gateway runs. */
  async changeWhileStopped(site, a, b, changes) {
    await site.sync.stop();
    for (let n = 0; n <= a % 3; n += 1) changeAt(changes, b + n)(site.cms, a, b);
    if (b % 2 === 0) site.advance(20_000);
    await site.restart();
  },
};

for (const [name, write] of Object.entries(WRITES))
  ACTIONS[name] = async (site, a, b) => {
    const post = somePost(site.cms, a);
    if (post) await write(site, post, a, b);
  };

/** A process is stopped when its requests have ended. */
const STOPS = ['restart', 'changeWhileStopped'];

/** They choose among the records that exist when a step runs; often the same few. */
const numbers = fc.oneof(fc.nat({ max: 2 }), fc.nat({ max: 200 }));

/** Of the event loop, after which the next step begins; undefined: a step is awaited. */
const turns = fc.option(fc.nat({ max: 15 }), { nil: undefined });

const stepsOf = (changes: string[]) => {
  const names = [
    ...changes,
    ...changes,
    ...Object.keys(ACTIONS),
    'poll',
    'poll',
    'advance',
    'changeBetween',
    'changeBetween',
    ...Array<string>(4).fill('writeMeanwhile'),
  ];
  return fc.record({ name: fc.constantFrom(...names), a: numbers, b: numbers, turns });
};

/** Waits for so many turns. */
const wait = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n += 1) await new Promise(setImmediate);
};
/** So many turns late do the responses of the CMS arrive; in a circle. */
const delays = fc.array(fc.constantFrom(0, 0, 1, 2, 5, 15, 40), { maxLength: 30 });

/** Lets responses arrive late. */
function sceneOf(site: TestSite, delays: number[]): Scene {
  const checks = new HistoryChecks(site);
  const running: Promise<void>[] = [];
  const failures: unknown[] = [];
  const added: Omit<Scene, keyof TestSite> = {
    checks,
    meanwhile: [],
    async go(action) {
      const ended = Promise.resolve(action).catch((error) => void failures.push(error));
      running.push(ended);
      await ended;
    },
    async ended() {
      scene.meanwhile = [];
      while (running.length > 0) await Promise.all(running.splice(0));
      if (failures.length > 0) throw failures[0];
    },
  };
  const scene = Object.defineProperties(added as Scene, Object.getOwnPropertyDescriptors(site));
  let responses = 0;
  site.cms.afterRequest = ({ ids = [], detail }) => {
    if (detail === 'mapped') checks.noteStates();
    responses += 1;
    const post = site.cms.posts.get(pick(ids, responses) ?? 0);
    const meanwhile = post && scene.meanwhile.shift();
    if (meanwhile) void scene.go(meanwhile.write(post));
    return wait((meanwhile?.turns ?? 0) + (delays[responses % delays.length] ?? 0));
  };
  return scene;
}

interface Step {
  name: string;
  a: number;
  b: number;
  turns?: number | undefined;
}

async function run(scene: Scene, { name, a, b, turns }: Step, changes: string[]): Promise<void> {
  if (CHANGES[name]) return CHANGES[name](scene.cms, a, b);
  const isStop = STOPS.includes(name);
  if (isStop) await scene.ended();
  const ended = scene.go(ACTIONS[name]!(scene, a, b, changes));
  if (turns === undefined || isStop) await ended;
  if (isStop) scene.checks.restarted();
}

/** By what the sync decided, such as "search for deleted records": how often, and in how many histories. */
export type Decisions = Map<string, { times: number; histories: number }>;

function countDecisions({ observations }: TestSite, decisions: Decisions): void {
  const made = observations.flatMap((each) => (each.type === 'sync-decision' ? each.decision : []));
  for (const decision of new Set(made)) {
    const { times, histories } = decisions.get(decision) ?? { times: 0, histories: 0 };
    const more = made.filter((each) => each === decision).length;
    decisions.set(decision, { times: times + more, histories: histories + 1 });
  }
}

/** As a visitor or with an account; with all changes, or only with those that a poll sees. */
function history(visitor: Credentials, all: boolean, decisions: Decisions) {
  const changes = all ? Object.keys(CHANGES) : VISIBLE;
  return fc.asyncProperty(
    fc.array(stepsOf(Object.keys(CHANGES)), { maxLength: 40, size: 'max' }),
    fc.array(stepsOf(changes), { maxLength: 60, size: 'max' }),
    // The gateway's clock is ahead of the CMS's, or behind.
    fc.constantFrom(0, 3_600_000, -3_600_000),
    delays,
    async (before, steps, skewMs, delays) => {
      const site = testSite({ visitor, skewMs });
      const scene = sceneOf(site, delays);
      try {
        for (const { name, a, b } of before) CHANGES[name]?.(site.cms, a, b);
        site.sync.start();
        for (const step of steps) {
          await run(scene, step, changes);
          await wait(step.turns ?? 0);
          scene.checks.check();
        }
        await scene.ended();
        open(site.cms);
        if (all) await site.scan();
        else await site.settle();
        expectInSync(site);
        scene.checks.check();
        scene.checks.checkCancelled();
        await scene.ended();
      } finally {
        countDecisions(site, decisions);
        await site.close();
      }
    },
  );
}

/** Runs histories; throws with the seed, the path and the shortest history that ends with a difference. */
export async function runHistories(
  runs: number,
  parameters: { seed?: number; path?: string } = {},
): Promise<Decisions> {
  const decisions: Decisions = new Map();
  for (const visitor of [undefined, SERVICE])
    for (const all of [false, true])
      await fc.assert(history(visitor, all, decisions), { ...parameters, numRuns: Math.ceil(runs / 4) });
  return decisions;
}
