// Keeps the copy in step with the CMS: the thin loop that runs the state machine. docs/sync.md tells what it promises.

import { UpstreamRefused } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Observe } from '../observe/events.ts';
import type { Kind, PostKind, Site } from '../records.ts';
import type { Credentials, Upstream } from '../upstream/port.ts';
import { createLooker } from './changes.ts';
import { type Collection, collectionsOf, PAGE_SIZE } from './collections.ts';
import { createComparison, createSlowPass, type SlowPass } from './comparison.ts';
import type { Visibility } from './filters.ts';
import { copyAll, loadProgress } from './first-copy.ts';
import { gatherFor } from './gather.ts';
import { createPictures } from './images.ts';
import { createJoins, type JoinTables } from './joins.ts';
import type { Replica } from './store.ts';
import { initialStanding, pauseMs, type State, type SyncEvent, step } from './sync-state.ts';
import { createTaking } from './taking.ts';

export interface SyncStatus {
  state: State;
  /** Since when it is in this state. */
  sinceMs: number;
  /** Whether lists may be answered from the copy. */
  complete: boolean;
  /** Of the first copy, whole numbers; 100 once it is complete. */
  percent: number;
  /** When the copy was last known to be in step with the CMS. */
  lastInStepMs: number | undefined;
  /** By record kind, and `image`. */
  collections: Record<string, { done: number; total: number }>;
  reason?: string;
}

export interface Sync {
  /** Begins: first copy if the replica holds none (or resumes), then polls. Never throws for a CMS that is away; returns at once. */
  start(): void;
  stop(): Promise<void>;
  /** What the copy is like now. */
  status(): SyncStatus;
  /** Resolves when the first copy is complete (or a copy on disk was opened); rejects never. */
  complete(): Promise<void>;
  /** Looks at the CMS now: one round at a time, and callers during a round get the next one. While the first copy is not complete it is only urged on. */
  look(): Promise<void>;
  /** Change notice: these records are fetched (or removed) at once. Unknown bases are ignored. Never rejects: what fails is done in the next round. */
  changed(changes: readonly { collection: string; id: number }[]): Promise<void>;
  /**
   * Without a service account: brings the non-public records that this caller may see into the replica, so that lists under
   * `visibility` are exact; with one it does nothing. Throws `UpstreamAway` and `UpstreamRefused`.
   */
  gather(
    caller: { credentials: Credentials; visibility: Visibility; requestId?: string },
    kinds: readonly PostKind[],
  ): Promise<void>;
  /** The record was just put into the replica, or taken out, after a write that the CMS accepted: older answers must not undo it. */
  wrote(kind: Kind, id: number): void;
  /** Last known; kept in the replica for starts without the CMS. */
  site(): Site;
  /** How events name venues and organizers, where not by id: for `KindMapping.read` and `write`. */
  joins(): JoinTables;
}

export interface SyncOptions {
  replica: Replica;
  upstream: Upstream;
  mapping: Mapping;
  service: Credentials;
  /** Time between the beginnings of two rounds. */
  intervalMs: number;
  observe: Observe;
  nowMs?: () => number;
  /** Time between the beginnings of two passes that read everything again; ten minutes. */
  passMs?: number;
  /** Rows a request: 100, the most that WordPress gives. */
  pageSize?: number;
}

const PASS_MS = 10 * 60_000;
/** Pages that a round reads again: a pass over a hundred thousand records must not keep the CMS busy. */
const PASS_PAGES_A_ROUND = 5;
const LATE_INTERVALS = 3;
const NO_SITE: Site = { url: '', name: '', timezone: 'UTC' };

/** Makes the keeper of a copy. Nothing happens before `start`. */
export function createSync(options: SyncOptions): Sync {
  const { replica, upstream, mapping, service, intervalMs, observe, nowMs = Date.now } = options;
  const { passMs = PASS_MS, pageSize = PAGE_SIZE } = options;
  const stopping = new AbortController();
  const collections = collectionsOf(mapping, service);
  let site = JSON.parse(replica.state('sync.site') ?? 'null') as Site | null;
  const taking = createTaking({
    ...{ replica, upstream, collections, service, nowMs, pageSize },
    site: () => site ?? NO_SITE,
    joins: () => joins.tables(),
    signal: stopping.signal,
  });
  const joins = createJoins(mapping.kinds.event.joins ?? [], { replica, taking, collections });
  const looker = createLooker(replica, taking);
  const comparison = createComparison(replica, taking, service !== undefined);
  const pictures = createPictures(replica, taking, collections, nowMs);
  const progress = loadProgress(replica);
  const images = { done: 0, total: 0 };

  let standing = initialStanding(nowMs());
  let siteIsFresh = false;
  let pass: { left: Collection[]; now: SlowPass | undefined; begunMs: number } | undefined;
  let lastPassMs = nowMs();
  let next: PromiseWithResolvers<void> | undefined;
  let wake: (() => void) | undefined;
  let loop: Promise<void> | undefined;
  const completed = Promise.withResolvers<void>();

  function tell(event: SyncEvent): void {
    const before = standing;
    standing = step(standing, event, nowMs());
    if (standing.complete) completed.resolve();
    if (before.state === standing.state) return;
    observe({ type: 'sync-state', from: before.state, to: standing.state, why: standing.reason ?? event.type });
  }

  async function readSite(): Promise<void> {
    const found = await upstream.site({ credentials: service, signal: stopping.signal });
    siteIsFresh = true;
    if (JSON.stringify(found) === JSON.stringify(site)) return;
    const first = site === null;
    site = found;
    replica.setState('sync.site', JSON.stringify(found));
    replica.dropAnswers();
    // Times and addresses of every record were read with the old facts.
    if (!first) lastPassMs = Number.NEGATIVE_INFINITY;
  }

  function saveMarks(): void {
    replica.setState('sync.watermarks', JSON.stringify(Object.fromEntries(taking.watermark)));
  }

  async function lookAtAll(): Promise<void> {
    for (const collection of collections) {
      if (collection.kind === 'event' && (await joins.refresh())) lastPassMs = Number.NEGATIVE_INFINITY;
      const { total, askedAt } = await looker.look(collection);
      if (comparison.agrees(collection, total) || taking.wroteSince(collection.kind, askedAt)) continue;
      await comparison.compare(collection);
    }
    await pictures.look();
    // What the looks above put off: events of a term that went, and of an image.
    for (const collection of collections) await taking.fetchPending(collection);
    await pictures.fetchMissing();
    saveMarks();
  }

  async function goOnWithPass(): Promise<void> {
    if (!pass) {
      if (nowMs() < lastPassMs + passMs) return;
      lastPassMs = nowMs();
      await readSite();
      lastPassMs = nowMs();
      pass = { left: [...collections], now: undefined, begunMs: nowMs() };
      pictures.again();
    }
    const current = pass.left[0];
    if (!current) {
      pass = undefined;
      return;
    }
    pass.now ??= createSlowPass(current, replica, taking);
    if (!(await pass.now.go(PASS_PAGES_A_ROUND))) return;
    pass.left.shift();
    pass.now = undefined;
    await goOnWithPass();
  }

  async function copyFirst(): Promise<void> {
    tell({ type: 'begin' });
    const told = (collection: string, done: number, total: number) => {
      if (collection === 'image') Object.assign(images, { done, total });
      observe({ type: 'sync-progress', collection, done, total });
    };
    await copyAll({ replica, taking, joins, pictures, collections, progress, tell: told });
    await lookAtAll();
    replica.setState('sync.complete', '1');
    lastPassMs = nowMs();
    tell({ type: 'copied' });
  }

  function failed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    if (service !== undefined && error instanceof UpstreamRefused && [401, 403].includes(error.status)) {
      tell({ type: 'refused', reason: `the CMS refuses the service account ${accountName(service)}: ${text}` });
    } else tell({ type: 'failed', reason: text });
  }

  async function round(): Promise<void> {
    const before = { ...taking.counts };
    const begunMs = nowMs();
    const release = taking.hold();
    const late = setTimeout(() => tell({ type: 'late' }), LATE_INTERVALS * intervalMs);
    try {
      if (!siteIsFresh) await readSite();
      if (!standing.complete) await copyFirst();
      else {
        await lookAtAll();
        tell({ type: 'inStep' });
        await goOnWithPass();
      }
    } catch (error) {
      if (!stopping.signal.aborted) failed(error);
    } finally {
      clearTimeout(late);
      release();
      observe({
        type: 'sync-round',
        requests: taking.counts.requests - before.requests,
        changed: taking.counts.changed - before.changed,
        removed: taking.counts.removed - before.removed,
        durationMs: nowMs() - begunMs,
      });
    }
  }

  async function rest(ms: number): Promise<void> {
    if (next || stopping.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    wake = undefined;
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const waiting = next;
      next = undefined;
      const begunMs = nowMs();
      await round();
      waiting?.resolve();
      const restMs = standing.failures > 0 ? pauseMs(standing) : Math.max(0, intervalMs - (nowMs() - begunMs));
      await rest(restMs);
    }
    next?.resolve();
  }

  return {
    start() {
      if (loop) return;
      const marks = JSON.parse(replica.state('sync.watermarks') ?? '{}') as Partial<Record<Kind, string>>;
      for (const [kind, mark] of Object.entries(marks)) taking.watermark.set(kind as Kind, mark);
      if (replica.state('sync.complete') === '1') tell({ type: 'opened' });
      loop = run();
    },
    async stop() {
      stopping.abort();
      wake?.();
      await loop;
    },
    status() {
      const shown: SyncStatus['collections'] = { image: { ...images } };
      for (const { kind } of collections) {
        const { done = 0, total = 0 } = progress[kind] ?? {};
        shown[kind] = { done, total };
      }
      const sum = (key: 'done' | 'total') => Object.values(shown).reduce((all, one) => all + one[key], 0);
      const percent = standing.complete
        ? 100
        : Math.min(99, Math.floor((100 * sum('done')) / Math.max(1, sum('total'))));
      const { state, sinceMs, complete, lastInStepMs, reason } = standing;
      const said = reason === undefined ? {} : { reason };
      return { state, sinceMs, complete, percent, lastInStepMs, collections: shown, ...said };
    },
    complete: () => completed.promise,
    async look() {
      if (!loop || stopping.signal.aborted) return;
      if (!standing.complete) {
        wake?.();
        return;
      }
      next ??= Promise.withResolvers<void>();
      wake?.();
      await next.promise;
    },
    async changed(changes) {
      const release = taking.hold();
      try {
        for (const collection of collections) {
          const ids = new Set(changes.filter((one) => one.collection === collection.base).map(({ id }) => id));
          for (const id of ids) taking.wrote(collection.kind, id);
          taking.later(collection.kind, [...ids]);
          if (ids.size > 0) await taking.fetchPending(collection);
        }
        const media = changes.filter(({ collection, id }) => collection === 'media' && replica.image(id));
        await taking.fetchImages(media.map(({ id }) => id));
        await pictures.fetchMissing();
      } catch {
        // What could not be read now is read in the next round, which also tells that the CMS is away.
      } finally {
        release();
      }
    },
    async gather(caller, kinds) {
      if (service !== undefined || caller.credentials === undefined) return;
      const release = taking.hold();
      try {
        await gatherFor(caller, kinds, { replica, taking, collections });
      } finally {
        release();
      }
    },
    wrote: taking.wrote,
    site: () => site ?? NO_SITE,
    joins: () => joins.tables(),
  };
}

/** The user name in `Basic` credentials, which is no secret; nothing of any other kind. */
function accountName(credentials: string): string {
  const basic = /^Basic\s+(\S+)$/i.exec(credentials)?.[1];
  if (basic === undefined) return '';
  const name = Buffer.from(basic, 'base64').toString('utf8').split(':')[0] ?? '';
  return `"${name}"`;
}
