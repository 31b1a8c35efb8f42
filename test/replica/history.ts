// Random histories of a CMS and its copy: `node test/replica/history.ts [--runs 1000] [--seed N] [--path P]`. In the quiet state both are the same.

import { parseArgs } from 'node:util';
import fc from 'fast-check';
import type { Kind } from '../../src/records.ts';
import { collectionsOf } from '../../src/replica/collections.ts';
import { away, type FakePost, type FakeWordPress, SERVICE } from './fake-wordpress.ts';
import { asIngested, expectSame, mapping, type TestSite, testSite } from './sync-site.ts';

const BASES = ['events', 'events', 'events', 'venues', 'organizers'];
const KINDS: Record<string, Kind> = { events: 'event', venues: 'venue', organizers: 'organizer' };
const STATUSES = ['publish', 'publish', 'draft', 'private', 'pending'];

/** What happens, as data: numbers choose among what is there when it happens. */
interface Step {
  what: string;
  a: number;
  b: number;
}

type Change = (cms: FakeWordPress, a: number, b: number) => void;

const pick = <T>(items: readonly T[], n: number): T | undefined => items[n % Math.max(1, items.length)];
const somePost = (cms: FakeWordPress, n: number) => pick([...cms.posts.values()], n);
const someEvent = (cms: FakeWordPress, n: number) => {
  const events = [...cms.posts.values()].filter(({ base }) => base === 'events');
  return pick(events, n);
};
const someTerm = (cms: FakeWordPress, n: number) => pick([...cms.terms.values()], n);
const someMedia = (cms: FakeWordPress, n: number) => pick([...cms.media.values()], n);

function fieldsOf(cms: FakeWordPress, a: number, b: number): Partial<FakePost> {
  const terms = [...cms.terms.values()];
  const ids = (base: string) =>
    terms.filter((term) => term.base === base && (term.id + b) % 3 === 0).map(({ id }) => id);
  const venues = [...cms.posts.values()].filter(({ base, id }) => base === 'venues' && (id + a) % 4 === 0);
  return {
    title: `Title ${a} ${b}`,
    slug: `slug-${a}`,
    featured: b % 3 === 0 ? (someMedia(cms, a)?.id ?? 0) : 0,
    meta: {
      start_date: `2026-05-${10 + (a % 10)} 10:00:00`,
      end_date: '2026-05-28 12:00:00',
      venue_ids: venues.map(({ id }) => id),
    },
    terms: { event_categories: ids('event_categories'), tags: ids('tags') },
  };
}

/** Everything that happens behind the gateway's back. */
const CHANGES: Record<string, Change> = {
  create: (cms, a, b) => cms.create(pick(BASES, a)!, { ...fieldsOf(cms, a, b), status: pick(STATUSES, b)! }),
  createMany: (cms, a, b) => {
    for (let n = 0; n < 7; n += 1) cms.create('events', { ...fieldsOf(cms, a + n, b), status: pick(STATUSES, b + n)! });
  },
  createBack: (cms, a, b) => cms.create(pick(BASES, a)!, { ...fieldsOf(cms, a, b), dateS: 1_000_000_000 + b }),
  schedule: (cms, a, b) => {
    const dateS = Math.floor(cms.clockMs / 1000) + (b % 40);
    cms.create('events', { ...fieldsOf(cms, a, b), status: 'future', dateS });
  },
  cron: (cms) => cms.cron(),
  edit: (cms, a, b) => cms.edit(somePost(cms, a)?.id ?? 0, fieldsOf(cms, a, b)),
  editAll: (cms, a, b) => {
    for (const { id, base } of cms.posts.values()) if (base === 'events') cms.edit(id, { title: `All ${a} ${b}` });
  },
  status: (cms, a, b) => cms.edit(somePost(cms, a)?.id ?? 0, { status: pick(STATUSES, b)! }),
  trash: (cms, a) => cms.trash(somePost(cms, a)?.id ?? 0),
  erase: (cms, a) => cms.erase(somePost(cms, a)?.id ?? 0),
  quietly: (cms, a, b) => cms.quietly(someEvent(cms, a)?.id ?? 0, fieldsOf(cms, a, b)),
  createTerm: (cms, a) => cms.createTerm(pick(['event_categories', 'tags'], a)!),
  renameTerm: (cms, a, b) => Object.assign(someTerm(cms, a) ?? {}, { name: `Term ${b}`, slug: `term-${b}` }),
  eraseTerm: (cms, a) => cms.eraseTerm(someTerm(cms, a)?.id ?? 0),
  mergeTerm: (cms, a, b) => {
    const term = someTerm(cms, a);
    const others = [...cms.terms.values()].filter(({ base, id }) => base === term?.base && id !== term.id);
    if (term) cms.eraseTerm(term.id, pick(others, b)?.id);
  },
  createMedia: (cms) => cms.createMedia(),
  replaceMedia: (cms, a) => cms.replaceMedia(someMedia(cms, a)?.id ?? 0),
  cutMedia: (cms, a) => cms.cutMedia(someMedia(cms, a)?.id ?? 0),
  eraseMedia: (cms, a) => cms.eraseMedia(someMedia(cms, a)?.id ?? 0),
};

/** What a date or a total tells of, whatever else happens in the same interval: after these a look or two must be enough. */
const UNTOLD = ['createBack', 'cron', 'quietly', 'cutMedia', 'eraseMedia'];
const told = Object.keys(CHANGES).filter((name) => !UNTOLD.includes(name));

const changeAt = (names: readonly string[], n: number) => CHANGES[pick(names, n)!]!;

/** What the gateway, the network and time do. */
const DEEDS: Record<string, (site: TestSite, a: number, b: number, told: string[]) => void | Promise<void>> = {
  look: (site) => site.look(),
  lookWithin: async (site) => void (await site.sync.look()),
  /** Not waited for: what comes next happens while it looks. */
  lookBeside: (site) => void site.sync.look(),
  turn: () => new Promise((resolve) => setImmediate(resolve)),
  time: (site, a) => site.pass(pick([300, 1_000, 2_500, 20_000], a)!),
  /** The next requests find the CMS down. */
  fault(site, a, b) {
    let left = 1 + (a % 6);
    let until = b % 4;
    site.cms.before = () => {
      if (until-- > 0) return;
      if (left-- > 0) away();
      site.cms.before = undefined;
    };
  },
  /** Something changes between two requests. */
  amid(site, a, b, told) {
    let until = a % 12;
    site.cms.before = () => {
      if (until-- > 0) return;
      site.cms.before = undefined;
      changeAt(told, b)(site.cms, a, b);
    };
  },
  ourEdit(site, a, b) {
    const post = someEvent(site.cms, a);
    if (!post) return;
    site.cms.edit(post.id, { ...fieldsOf(site.cms, a, b), status: pick(STATUSES, b)! });
    keep(site, post);
  },
  ourCreation(site, a, b) {
    keep(site, site.cms.create('events', fieldsOf(site.cms, a, b)));
  },
  ourDeletion(site, a) {
    const post = someEvent(site.cms, a);
    if (!post) return;
    site.cms.erase(post.id);
    site.replica.remove('event', [post.id]);
    site.sync.wrote('event', post.id);
  },
  async notice(site, a, b) {
    const post = somePost(site.cms, a);
    if (!post) return;
    site.cms.edit(post.id, fieldsOf(site.cms, a, b));
    await site.sync.changed([{ collection: post.base, id: post.id }]);
  },
  noticeBeside(site, a) {
    const post = somePost(site.cms, a);
    if (!post) return;
    site.cms.erase(post.id);
    void site.sync.changed([{ collection: post.base, id: post.id }]);
  },
  async noticeOfMedia(site, a) {
    const item = someMedia(site.cms, a);
    if (!item) return;
    site.cms.cutMedia(item.id);
    await site.sync.changed([{ collection: 'media', id: item.id }]);
  },
  /** The next request finds that the service account may not read any more. */
  refused(site, a) {
    let until = a % 8;
    site.cms.before = () => {
      site.cms.serviceIs = until-- > 0 ? 'editor' : 'refused';
      if (until < -1) [site.cms.before, site.cms.serviceIs] = [undefined, 'editor'];
    };
  },
  restart: (site) => site.restart(),
  /** What happens while no gateway runs. */
  async restartLater(site, a, b, told) {
    await site.sync.stop();
    for (let n = 0; n <= a % 3; n += 1) changeAt(told, b + n)(site.cms, a, b);
    if (b % 2 === 0) site.pass(20_000);
    await site.restart();
  },
};

/** As the calendar does after a write that the CMS accepted. */
function keep({ cms, replica, sync, service }: TestSite, post: FakePost): void {
  const collection = collectionsOf(mapping, service).find(({ base }) => base === post.base)!;
  replica.put([collection.read(asIngested(cms, post, service), cms.siteFacts)]);
  sync.wrote(KINDS[post.base]!, post.id);
}

const numbers = fc.nat({ max: 200 });

const stepsOf = (changes: string[]) => {
  const names = [...changes, ...changes, ...Object.keys(DEEDS), 'look', 'look', 'time', 'amid', 'amid'];
  return fc.record({ what: fc.constantFrom(...names), a: numbers, b: numbers });
};

class Happens implements fc.AsyncCommand<object, TestSite> {
  readonly step: Step;
  readonly changes: string[];
  constructor(step: Step, changes: string[]) {
    this.step = step;
    this.changes = changes;
  }
  check(): boolean {
    return true;
  }
  async run(_model: object, site: TestSite): Promise<void> {
    const { what, a, b } = this.step;
    if (CHANGES[what]) CHANGES[what](site.cms, a, b);
    else await DEEDS[what]!(site, a, b, this.changes);
  }
  toString(): string {
    return `${this.step.what}(${this.step.a}, ${this.step.b})`;
  }
}

/** One kind of history: with or without a service account, and with all changes or with those alone that a look sees. */
function history(service: boolean, all: boolean) {
  const changes = all ? Object.keys(CHANGES) : told;
  const command = stepsOf(changes).map((step) => new Happens(step, changes));
  return fc.asyncProperty(
    fc.array(stepsOf(Object.keys(CHANGES)), { maxLength: 40, size: 'max' }),
    fc.commands([command], { maxCommands: 60, size: 'max' }),
    // The gateway's clock goes before or after the CMS's.
    fc.constantFrom(0, 3_600_000, -3_600_000),
    async (beforehand, commands, skewMs) => {
      const site = testSite({ service: service ? SERVICE : undefined, skewMs });
      try {
        for (const { what, a, b } of beforehand) CHANGES[what]?.(site.cms, a, b);
        site.sync.start();
        await fc.asyncModelRun(() => ({ model: {}, real: site }), commands);
        [site.cms.before, site.cms.serviceIs] = [undefined, 'editor'];
        if (all) await site.quiet();
        else await site.settle();
        expectSame(site);
      } finally {
        await site.close();
      }
    },
  );
}

/** Runs histories; throws with the seed, the path and the shortest history that ends with a difference. */
export async function runHistories(options: { runs: number; seed?: number; path?: string }): Promise<void> {
  const { runs, seed, path } = options;
  for (const [service, all] of [
    [true, false],
    [false, false],
    [true, true],
    [false, true],
  ] as const) {
    await fc.assert(history(service, all), {
      numRuns: Math.ceil(runs / 4),
      ...(seed === undefined ? {} : { seed }),
      ...(path === undefined ? {} : { path }),
    });
  }
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { runs: { type: 'string', default: '1000' }, seed: { type: 'string' }, path: { type: 'string' } },
  });
  const begun = performance.now();
  await runHistories({
    runs: Number(values.runs),
    ...(values.seed === undefined ? {} : { seed: Number(values.seed) }),
    ...(values.path === undefined ? {} : { path: values.path }),
  }).catch((error: Error) => {
    // With the seed and the path; without the two copies that a comparison carries with it.
    console.error(error.message);
    process.exit(1);
  });
  console.log(`${values.runs} histories, no difference, ${((performance.now() - begun) / 1000).toFixed(1)} s`);
}
