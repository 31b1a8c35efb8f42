// Keeps the copy in step with the CMS: the thin loop that runs the state machine. docs/sync.md tells what it promises.

import { ReplicaFailure, UpstreamRefused } from '../errors.ts';
import type { JoinTables } from '../mapping/joins.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Observe } from '../observe/events.ts';
import type { Kind, PostKind, Site } from '../records.ts';
import type { CallOptions, Credentials, Native, Upstream } from '../upstream/port.ts';
import { idOf, PAGE_SIZE } from './collections.ts';
import { type Commit, commitTo, Relieved } from './commit.ts';
import type { Visibility } from './filters.ts';
import { gatherFor } from './gather.ts';
import type { RenderedForKinds } from './rendering.ts';
import { createRounds } from './rounds.ts';
import type { Replica } from './store.ts';
import { initialStanding, pauseMs, type Standing, type State, type SyncEvent, step } from './sync-state.ts';

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
  /** For whom the CMS rendered the published records of each kind. */
  renderedFor: RenderedForKinds;
  reason?: string;
}

export interface Sync {
  /** Begins: first copy if the replica holds none (or resumes), then polls. Never throws for a CMS that is away; returns at once. */
  start(): void;
  stop(): Promise<void>;
  /** What the copy is like now. */
  status(): SyncStatus;
  /** Its state alone, which every answer is made under: costs nothing. */
  standing(): Standing;
  /** Resolves when the first copy is complete (or a copy on disk was opened); rejects never. */
  complete(): Promise<void>;
  /**
   * Looks at the CMS now: one round at a time, and callers during a round get the next one. Resolves when that round is over, with whether
   * everything is here that the CMS had when this was called. While the first copy is not complete it is only urged on.
   */
  look(): Promise<boolean>;
  /**
   * Change notice: these records are fetched (or removed) at once. Unknown bases are ignored. Resolves with whether that was done; never
   * rejects: what fails is done in the next round.
   */
  changed(changes: readonly { collection: string; id: number }[]): Promise<boolean>;
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
  /**
   * A record that a caller was answered by a read or a write, as it may enter the replica: if it is published, with what the CMS shows an
   * anonymous reader of it. `as`: how the CMS was called; the credentials do not matter. Undefined: the CMS does not answer now, or a
   * later write of the record came between. Never rejects.
   */
  shown(kind: Kind, native: Native, as: CallOptions): Promise<Native | undefined>;
  /** What a native record lacks that records of its kind have; undefined when it is whole. */
  lackOf(kind: Kind, native: Native): string | undefined;
  /** Last known; kept in the replica for starts without the CMS. */
  site(): Site;
  /** How events name venues and organizers where not by id: goes into `KindMapping.read` and `write`. */
  joins(): JoinTables;
  /** Brings these tables up to date, for a venue or organizer that was made a moment ago. Throws `UpstreamAway` and `UpstreamRefused`. */
  refreshJoins(): Promise<void>;
  /** Of several gateways: this one asks the CMS from now on, as after a restart; `unsettled` is read again. */
  takeOver(unsettled: readonly { kind: Kind; id: number }[]): void;
  /** Whether this one asks the CMS is to be looked at anew. */
  wake(): void;
  /** What the gateway that asks the CMS says of its copy, which this one equals. */
  follow(theirs: Standing): void;
  /** Another gateway changed these records in the copy. */
  overtaken(records: readonly { kind: Kind; id: number }[]): void;
  /** Another gateway changed what is kept beside the records. */
  reload(): void;
}

/** The other gateways before the same CMS. */
export interface Company {
  commit: Commit;
  /** Whether this gateway asks the CMS now; asked before each round. Never rejects. */
  leads(): Promise<boolean>;
  /** A round saw everything. */
  looked(): Promise<void>;
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
  company?: Company;
  /** Time between the beginnings of two passes that read everything again; ten minutes. */
  passMs?: number;
  /** Rows a request: 100, the most that WordPress gives. */
  pageSize?: number;
}

const PASS_MS = 10 * 60_000;
const IN_STEP = 'sync.inStep';
/** Changes may stay unseen for so many intervals before the copy is said to lag. */
const LATE_INTERVALS = 3;

/** Makes the keeper of a copy. Nothing happens before `start`. */
export function createSync(options: SyncOptions): Sync {
  const { replica, upstream, mapping, service, intervalMs, observe, nowMs = Date.now } = options;
  const { passMs = PASS_MS, pageSize = PAGE_SIZE, company } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const commit = company?.commit ?? commitTo(replica);
  let present: object | undefined;
  /** What rounds that were replaced still find has crossed changes that they were not told of. */
  function begin() {
    const own = {};
    present = own;
    const commitOwn: Commit = (make) =>
      commit(() => {
        if (present !== own) throw new Relieved();
        return make();
      });
    return createRounds({
      ...{ replica, commit: commitOwn, upstream, mapping, service, observe, nowMs, passMs, pageSize, signal },
    });
  }
  let rounds = begin();
  const { collections } = rounds;
  const images = { done: 0, total: 0 };
  const completed = Promise.withResolvers<void>();

  let standing = initialStanding(nowMs());
  let next: PromiseWithResolvers<boolean> | undefined;
  let wake: (() => void) | undefined;
  /** Another round follows at once, however the present one ends. */
  let hurried = false;
  let loop: Promise<void> | undefined;

  function happened(event: SyncEvent): void {
    const before = standing.state;
    standing = step(standing, event, nowMs());
    // Kept for a start without the CMS: how old the answers are that are given then.
    if (event.type === 'copied' || event.type === 'inStep') replica.setState(IN_STEP, String(standing.lastInStepMs));
    if (standing.complete) completed.resolve();
    if (before === standing.state) return;
    observe({ type: 'sync-state', from: before, to: standing.state, why: standing.reason ?? event.type });
  }

  function failed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error);
    if (error instanceof ReplicaFailure) happened({ type: 'replicaFailed', reason: `the replica: ${text}` });
    else if (service !== undefined && error instanceof UpstreamRefused && [401, 403].includes(error.status)) {
      happened({ type: 'refused', reason: `the CMS refuses the service account ${accountName(service)}: ${text}` });
    } else happened({ type: 'failed', reason: text });
  }

  async function copyFirst(): Promise<void> {
    happened({ type: 'begin' });
    await rounds.copyFirst((collection, done, total) => {
      if (collection === 'image') Object.assign(images, { done, total });
      observe({ type: 'sync-progress', collection, done, total });
    });
    happened({ type: 'copied' });
  }

  /** Whether it saw everything. */
  async function round(): Promise<boolean> {
    const { taking } = rounds;
    let sawAll = false;
    const before = { ...taking.asking.counts };
    const begunMs = nowMs();
    const release = taking.hold();
    const late = setTimeout(() => happened({ type: 'late' }), LATE_INTERVALS * intervalMs);
    // It only says that a round takes long: no reason for a process to stay.
    late.unref();
    try {
      if (standing.complete) {
        const reason = await rounds.look();
        sawAll = reason === undefined;
        happened(reason === undefined ? { type: 'inStep' } : { type: 'unconfirmed', reason });
        if (sawAll) await company?.looked();
        clearTimeout(late);
        await rounds.readAgain();
      } else {
        await copyFirst();
        sawAll = true;
        await company?.looked();
      }
    } catch (error) {
      if (!signal.aborted && !(error instanceof Relieved)) failed(error);
    } finally {
      clearTimeout(late);
      release();
      const { requests, changed, removed } = taking.asking.counts;
      observe({
        type: 'sync-round',
        requests: requests - before.requests,
        changed: changed - before.changed,
        removed: removed - before.removed,
        durationMs: Math.max(0, nowMs() - begunMs),
      });
    }
    return sawAll;
  }

  async function rest(ms: number): Promise<void> {
    if (next || hurried || signal.aborted) return;
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
    while (!signal.aborted) {
      const waiting = next;
      next = undefined;
      hurried = false;
      const begunMs = nowMs();
      const sawAll = (!company || (await company.leads())) && (await round());
      waiting?.resolve(sawAll);
      await rest(
        standing.failures > 0 ? pauseMs(standing) : Math.min(intervalMs, Math.max(0, intervalMs - (nowMs() - begunMs))),
      );
    }
    next?.resolve(false);
  }

  function status(): SyncStatus {
    const shown: SyncStatus['collections'] = { image: { ...images } };
    for (const { kind } of collections) {
      const { done = 0, total = 0 } = rounds.progress[kind] ?? {};
      shown[kind] = { done, total };
    }
    const sum = (key: 'done' | 'total') => Object.values(shown).reduce((all, one) => all + one[key], 0);
    const { state, sinceMs, complete, lastInStepMs, reason } = standing;
    const percent = complete ? 100 : Math.min(99, Math.floor((100 * sum('done')) / Math.max(1, sum('total'))));
    const why = reason === undefined ? {} : { reason };
    const renderedFor = rounds.taking.rendering.renderedFor();
    return { state, sinceMs, complete, percent, lastInStepMs, collections: shown, renderedFor, ...why };
  }

  async function changed(changes: readonly { collection: string; id: number }[]): Promise<boolean> {
    const { taking } = rounds;
    const release = taking.hold();
    try {
      for (const collection of collections) {
        const ids = new Set(changes.filter((one) => one.collection === collection.base).map(({ id }) => id));
        for (const id of ids) taking.wrote(collection.kind, id);
        taking.marks.later(collection.kind, [...ids]);
      }
      for (const collection of collections) {
        if (collection.kind === 'event') await rounds.refreshJoins();
        const named = changes.filter((one) => one.collection === collection.base).map(({ id }) => id);
        await taking.fetchPending(collection, new Set(named));
      }
      const media = changes.filter(({ collection, id }) => collection === 'media' && replica.image(id));
      await taking.fetchImages(media.map(({ id }) => id));
      await rounds.fetchMissingImages();
      // The CMS takes a term or an image that it deletes out of its posts.
      for (const collection of collections) await taking.fetchPending(collection);
      return true;
    } catch {
      // What could not be read now is read in the next round, which also tells that the CMS is away.
      return false;
    } finally {
      release();
    }
  }

  return {
    start() {
      if (loop) return;
      const inStep = replica.state(IN_STEP);
      const lastInStepMs = inStep === undefined ? undefined : Number(inStep);
      if (rounds.isComplete()) happened({ type: 'opened', lastInStepMs });
      loop = run();
    },
    async stop() {
      stopping.abort();
      wake?.();
      await loop;
    },
    status,
    standing: () => standing,
    complete: () => completed.promise,
    async look() {
      if (!loop || signal.aborted) return false;
      if (!standing.complete) {
        wake?.();
        return false;
      }
      next ??= Promise.withResolvers<boolean>();
      wake?.();
      return next.promise;
    },
    changed,
    async gather(caller, kinds) {
      if (service !== undefined || caller.credentials === undefined) return;
      const { taking } = rounds;
      const release = taking.hold();
      try {
        await gatherFor(caller, kinds, { replica, taking, collections });
      } finally {
        release();
      }
    },
    async shown(kind, native, as) {
      const { taking } = rounds;
      const collection = collections.find((one) => one.kind === kind);
      if (!collection) return undefined;
      const release = taking.hold();
      const at = taking.asking.moment();
      try {
        const record = await taking.rendering.shownTo(collection, native, as);
        return taking.marks.isWrittenAfter(kind, idOf(native), at) ? undefined : record;
      } finally {
        release();
      }
    },
    wrote: (kind, id) => rounds.taking.wrote(kind, id),
    lackOf: (kind, native) => rounds.lackOf(kind, native),
    site: () => rounds.site(),
    joins: () => rounds.joins(),
    refreshJoins: () => rounds.refreshJoins(),
    takeOver(unsettled) {
      rounds = begin();
      for (const { kind, id } of unsettled) rounds.taking.wrote(kind, id);
      hurried = true;
      wake?.();
    },
    wake: () => wake?.(),
    follow(theirs) {
      const before = standing;
      standing = theirs;
      if (theirs.complete) completed.resolve();
      if (theirs.lastInStepMs !== before.lastInStepMs) replica.setState(IN_STEP, String(theirs.lastInStepMs));
      if (before.state === theirs.state) return;
      observe({
        type: 'sync-state',
        from: before.state,
        to: theirs.state,
        why: 'as the gateway that asks the CMS says',
      });
    },
    overtaken(records) {
      for (const { kind, id } of records) rounds.taking.overtaken(kind, id);
    },
    reload: () => rounds.reload(),
  };
}

/** The user name in `Basic` credentials, which is no secret; nothing of any other kind. */
function accountName(credentials: string): string {
  const basic = /^Basic\s+(\S+)$/i.exec(credentials)?.[1];
  if (basic === undefined) return '';
  return `"${Buffer.from(basic, 'base64').toString('utf8').split(':')[0] ?? ''}"`;
}
