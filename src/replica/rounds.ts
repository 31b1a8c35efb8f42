// What one round does: the site's facts, the first copy or a look at every collection, and a piece of the pass that reads all again.

import type { JoinTables } from '../mapping/joins.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Observe } from '../observe/events.ts';
import type { Kind, Site } from '../records.ts';
import type { Credentials, Upstream } from '../upstream/port.ts';
import { createAsking } from './asking.ts';
import { createLooker } from './changes.ts';
import { type Collection, collectionsOf } from './collections.ts';
import type { Commit } from './commit.ts';
import { createComparison, createPass, type Pass } from './comparison.ts';
import { copyAll, loadProgress, type ProgressOf } from './first-copy.ts';
import { createPictures } from './images.ts';
import { createJoins } from './joins.ts';
import type { Replica } from './store.ts';
import { createTaking, type Taking } from './taking.ts';
import { createWholeRows, type WholeRows } from './whole-rows.ts';

export interface RoundsOptions {
  replica: Replica;
  commit: Commit;
  upstream: Upstream;
  mapping: Mapping;
  service: Credentials;
  observe: Observe;
  nowMs: () => number;
  /** Time between the beginnings of two passes. */
  passMs: number;
  pageSize: number;
  signal: AbortSignal;
}

export interface Rounds {
  collections: readonly Collection[];
  taking: Taking;
  progress: ProgressOf;
  site(): Site;
  joins(): JoinTables;
  /** Makes the join tables anew where they may have changed. Throws what the CMS throws. */
  refreshJoins(): Promise<void>;
  lackOf: WholeRows['lackOf'];
  /** Whether the copy on disk was the whole CMS once. */
  isComplete(): boolean;
  /** Brings everything in, going on where it was left; `tell` is told after every page. Throws what the CMS throws. */
  copyFirst(tell: (collection: string, done: number, total: number) => void): Promise<void>;
  /** Brings in what changed. Resolves with why the replica still has what the CMS's lists leave out. */
  look(): Promise<string | undefined>;
  /** Reads a few pages of everything again, when it is time for that. */
  readAgain(): Promise<void>;
  fetchMissingImages(): Promise<void>;
  /** Goes by what is kept in the copy of the site's facts and the join tables: another gateway found them out. */
  reload(): void;
}

/** Pages that a round reads again: a pass over a hundred thousand records must not keep the CMS busy. */
const PASS_PAGES_A_ROUND = 5;
const NO_SITE: Site = { url: '', name: '', timezone: 'UTC' };
const STATE = { site: 'sync.site', marks: 'sync.watermarks', complete: 'sync.complete', scope: 'sync.scope' };

/**
 * Goes on from what the copy keeps of earlier processes: the site's facts, the watermarks, the progress of the first copy. What it returns
 * throws what the CMS throws, and `signal` ends it; what was taken in until then stays.
 */
export function createRounds(options: RoundsOptions): Rounds {
  const { replica, commit, upstream, mapping, service, observe, nowMs, passMs, pageSize, signal } = options;
  const collections = collectionsOf(mapping, service);
  let site = JSON.parse(replica.state(STATE.site) ?? 'null') as Site | null;
  const isComplete = () => replica.state(STATE.complete) === '1';
  const scope = service === undefined ? 'public' : 'all';
  const wholeRows = createWholeRows({
    ...{ replica, commit, collections, scope, isComplete },
    facts: (base) => upstream.facts(base, { credentials: service, signal }),
  });
  const { check } = wholeRows;
  const taking = createTaking({
    ...{ replica, commit, collections, service, observe, nowMs },
    ...{ asking: createAsking({ upstream, service, pageSize, nowMs, signal, check }) },
    site: () => site ?? NO_SITE,
    isComplete,
    joins: () => joins.tables(),
  });
  const joins = createJoins(mapping.kinds.event.joins ?? [], { replica, taking, collections });
  const looker = createLooker(replica, taking);
  const comparison = createComparison(replica, taking);
  const pictures = createPictures(replica, taking, collections, nowMs);
  const progress = loadProgress(replica);

  let siteIsFresh = false;
  let renderingIsFresh = false;
  let passDueMs = nowMs() + passMs;
  let pass: { left: Collection[]; now: Pass | undefined } | undefined;

  const marks = JSON.parse(replica.state(STATE.marks) ?? '{}') as Partial<Record<Kind, string>>;
  for (const [kind, mark] of Object.entries(marks)) taking.watermark.set(kind as Kind, mark);

  /** The present pass is of no use any more: what it has read may have to be read again. */
  function readAllAgain(): void {
    pass = undefined;
    passDueMs = Number.NEGATIVE_INFINITY;
  }

  async function readSite(): Promise<void> {
    const found = await upstream.site({ credentials: service, signal });
    siteIsFresh = true;
    if (JSON.stringify(found) === JSON.stringify(site)) return;
    // Times and addresses of every record were read with the old facts.
    if (site !== null) readAllAgain();
    await commit(() => ({ state: { [STATE.site]: JSON.stringify(found) } }));
    site = found;
    replica.dropAnswers();
  }

  /** A process asks once, and then with each full resync. */
  async function recheckRendering(): Promise<void> {
    const isOpened = await taking.rendering.recheck();
    renderingIsFresh = true;
    if (isOpened) readAllAgain();
  }

  async function refreshJoins(): Promise<void> {
    if (await joins.refresh()) readAllAgain();
  }

  async function look(): Promise<string | undefined> {
    if (!siteIsFresh) await readSite();
    if (!renderingIsFresh) await recheckRendering();
    for (const collection of collections) {
      if (collection.kind === 'event') await refreshJoins();
      const { total, askedAt } = await looker.look(collection);
      if (comparison.agrees(collection, total) || taking.marks.oursAfter(collection.kind, askedAt)) continue;
      await comparison.compare(collection);
    }
    await pictures.look();
    // What the looks put off: events of a term that went, and of an image.
    for (const collection of collections) await taking.fetchPending(collection);
    await pictures.fetchMissing();
    const marks = JSON.stringify(Object.fromEntries(taking.watermark));
    await commit(() => ({ state: { [STATE.marks]: marks } }));
    for (const collection of collections) {
      const ids = await taking.removals.review(collection);
      if (ids.length > 0) await taking.fetch(collection, ids, { confirmed: true });
    }
    return taking.removals.reason();
  }

  async function readAgain(): Promise<void> {
    if (!pass) {
      // Further off than a whole time between passes: the clock was set back.
      const leftMs = passDueMs - nowMs();
      if (leftMs > 0 && leftMs <= passMs) return;
      await readSite();
      await recheckRendering();
      passDueMs = nowMs() + passMs;
      pass = { left: [...collections], now: undefined };
      pictures.again();
      joins.again();
    }
    for (const collection of pass.left.slice(0, 1)) {
      pass.now ??= createPass(collection, replica, taking);
      if (!(await pass.now.go(PASS_PAGES_A_ROUND))) return;
      pass.left.shift();
      pass.now = undefined;
    }
    if (pass.left.length > 0) return readAgain();
    if (!(await pictures.readAgain(PASS_PAGES_A_ROUND))) return;
    pass = undefined;
  }

  return {
    collections,
    taking,
    progress,
    site: () => site ?? NO_SITE,
    joins: () => joins.tables(),
    refreshJoins,
    isComplete,
    lackOf: wholeRows.lackOf,
    async copyFirst(tell) {
      await readSite();
      await recheckRendering();
      replica.setDurable(false);
      await copyAll({ replica, taking, joins, pictures, collections, progress, tell });
      passDueMs = nowMs() + passMs;
      await look();
      await commit(() => ({ state: { [STATE.scope]: scope, [STATE.complete]: '1' } }));
      replica.setDurable(true);
    },
    look,
    async readAgain() {
      // The copy was made with another account, which saw records otherwise.
      if (replica.state(STATE.scope) !== scope) readAllAgain();
      if (replica.state(STATE.scope) !== scope) await commit(() => ({ state: { [STATE.scope]: scope } }));
      await readAgain();
    },
    fetchMissingImages: () => pictures.fetchMissing(),
    reload() {
      const kept = replica.state(STATE.site);
      if (kept !== undefined && kept !== JSON.stringify(site)) {
        site = JSON.parse(kept) as Site;
        replica.dropAnswers();
      }
      joins.reload();
      taking.rendering.reload();
    },
  };
}
