// Keeps the replica current: runs the polls and the state machine. CONTRIBUTING.md explains it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Cms, CmsRecord, Credentials } from '../cms/port.ts';
import { ReplicaError } from '../errors.ts';
import type { LinkTables } from '../mapping/link-fields.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { isPostKind, type Kind, type Site, seriesIdOf } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import type { Replica } from '../store/replica.ts';
import { setState as saveState } from '../store/state.ts';
import { assertComplete, latestCmsTimeS } from './cms-reader.ts';
import { collectionsOf } from './collections.ts';
import {
  isComplete,
  loadCaughtUpMs,
  loadMemory,
  restartResync,
  STATE_KEYS,
  type SyncContext,
  type SyncMemory,
} from './context.ts';
import { retainReadMarks } from './dirty-records.ts';
import { type ChangedRecord, changedRecords, fetchChanged, inBatches } from './fetch-changed.ts';
import { continueResync, noteResync } from './full-resync.ts';
import { runInitialSync } from './initial-sync.ts';
import { refreshLinkTables } from './link-tables.ts';
import { createPollLoop, poll } from './poll.ts';
import { type SyncStatus, statusOf } from './status.ts';
import { failureEvent, retryDelayMs, type SyncEvent, type SyncState, transition } from './sync-state.ts';

export interface Sync {
  /** Starts the initial sync, or continues it, and then polls. Returns immediately. */
  start(): void;
  stop(): Promise<void>;
  status(): SyncStatus;
  /** The state alone; unlike `status` it costs nothing. */
  state(): SyncState;
  /** Resolves when the initial sync is complete, or a complete replica was on disk. Never rejects. */
  whenComplete(): Promise<void>;
  /**
   * Polls the CMS now. Polls run one at a time: callers during a poll get the next one. Resolves with true if
   * the replica then has everything that the CMS had at the call. During the initial sync it only ends the
   * pause after a failure.
   */
  poll(): Promise<boolean>;
  /**
   * Fetches or deletes records and images that are known to have changed: from a webhook, a write or another
   * gateway. Resolves with true if that succeeded; otherwise the next poll that succeeds does it. Never rejects.
   */
  fetchChanged(changes: readonly ChangedRecord[]): Promise<boolean>;
  /** Starts a full resync with the next poll, because it is not known which records have changed. */
  readEverything(): void;
  /**
   * Fetches records that this gateway has just written, as a visitor gets them. Waits five seconds at most: what could
   * not be fetched is withheld from lists until it is. Never rejects.
   */
  fetchWritten(records: readonly WrittenRecord[]): Promise<void>;
  /** Calls the listener with the kinds of the records that `fetchChanged` and `fetchWritten` get. */
  onReported(listener: (kinds: ReadonlySet<Kind>) => void): void;
  /**
   * Throws `CmsUnavailable` `incomplete` if a CMS record lacks fields that records of its kind have.
   * `isWritten`: it is the response to a write.
   */
  assertComplete(kind: Kind, record: CmsRecord, isWritten?: boolean): void;
  /** The last known facts of the site; kept in the replica for starts without the CMS. */
  site(): Site;
  /**
   * How events refer to venues and organizers without their ids: an argument of the mapping's `read` and
   * `write`.
   */
  linkTables(): LinkTables;
  /**
   * Refreshes these tables, for a venue or organizer that was just created. Throws `CmsUnavailable` and
   * `CmsRejected`.
   */
  refreshLinkTables(): Promise<void>;
}

export interface WrittenRecord {
  kind: Kind;
  id: number;
  /** The write moved it to the trash. */
  isTrashed?: boolean;
}

export interface SyncOptions {
  replica: Replica;
  cms: Cms;
  mapping: Mapping;
  /** As whom the sync reads: undefined for an anonymous visitor, or an account that stands for every visitor. */
  visitor?: Credentials;
  /** An account may read images that the CMS hides because they were uploaded to a draft. Default: the visitor. */
  imageReader?: Credentials;
  /** Time between the starts of two polls. */
  intervalMs: number;
  observe: Observe;
  /** The wall clock, and a monotonic one for durations. */
  nowMs?: () => number;
  clockMs?: () => number;
  /** Several gateways of one site poll in turn. A gateway that is alone polls in every interval. */
  turns?: { takesTurn(): Promise<boolean>; giveTurnBack(): Promise<void> } | undefined;
  /** Time between the starts of two full resyncs. */
  resyncIntervalMs?: number | undefined;
  /** Records per request. */
  pageSize?: number | undefined;
}

const RESYNC_INTERVAL_MS = 10 * 60_000;
/** The longest that a write waits until its record is fetched. */
const FETCH_WRITTEN_MS = 5000;
/** The replica is stale after this many intervals without a complete poll. */
const MAX_INTERVALS_BEHIND = 3;
/**
 * The time of the last successful poll is saved this often: a site without changes costs hardly any disk
 * writes.
 */
const SAVE_CAUGHT_UP_MS = 60_000;

/** Nothing happens before `start`. */
export function createSync(options: SyncOptions): Sync {
  const { replica, cms, mapping, visitor, imageReader = visitor, intervalMs, observe, turns } = options;
  const { nowMs = Date.now, clockMs = () => performance.now() } = options;
  const { resyncIntervalMs = RESYNC_INTERVAL_MS, pageSize = options.cms.maxPageSize } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const collections = collectionsOf(mapping, visitor);
  const completed = Promise.withResolvers<void>();
  const context: SyncContext = {
    replica,
    cms,
    mapping,
    visitor,
    imageReader,
    collections,
    pageSize,
    resyncIntervalMs,
    observe,
    nowMs,
    clockMs,
    signal,
    memory: loadMemory({ replica, observe }, nowMs(), collections),
    commit: async (build) => replica.apply(build()),
  };
  replica.journal.setClock(() => latestCmsTimeS(context));
  const loop = createPollLoop({
    async poll(isRequested) {
      // A replica that may be outdated, or is not complete, waits for no turn.
      const isInTurn = turns !== undefined && !isRequested && context.memory.state.state === 'live';
      if (!isInTurn) return runPoll();
      if (!(await turns.takesTurn())) return runPoll({ onlyResync: true });
      const isCurrent = await runPoll();
      if (context.memory.state.failures > 0) await turns.giveTurnBack();
      return isCurrent;
    },
    pauseMs(durationMs) {
      const { state } = context.memory;
      if (state.failures > 0) return retryDelayMs(state);
      return Math.max(0, intervalMs - durationMs);
    },
    clockMs,
    signal,
  });

  /** Saves when the replica was last current, which a later start without the CMS reports. Throws `ReplicaError`. */
  function saveCaughtUp({ lastCaughtUpMs }: SyncState, toleranceMs: number): void {
    const savedMs = loadCaughtUpMs(context) ?? 0;
    if (lastCaughtUpMs !== undefined && Math.abs(lastCaughtUpMs - savedMs) >= toleranceMs)
      saveState(replica.db, STATE_KEYS.caughtUp, String(lastCaughtUpMs));
  }

  function setState(state: SyncState, why: string): void {
    const { memory } = context;
    const before = memory.state;
    if (state.lastCaughtUpMs !== before.lastCaughtUpMs) saveCaughtUp(state, SAVE_CAUGHT_UP_MS);
    memory.state = state;
    if (state.complete) completed.resolve();
    if (before.state !== state.state) observe({ type: 'sync-state', from: before.state, to: state.state, why });
  }

  function dispatch(event: SyncEvent): void {
    const state = transition(context.memory.state, event, nowMs());
    setState(state, state.reason ?? event.type);
  }

  /**
   * Resolves with true if the replica then equals the CMS, and no deletion waits for confirmation. `onlyResync`: another
   * gateway polls, but each makes its own full resyncs. Never rejects.
   */
  async function runPoll({ onlyResync = false } = {}): Promise<boolean> {
    const { memory } = context;
    const { tally } = memory;
    startReading();
    const tallyBefore = { ...tally };
    const startedMs = clockMs();
    const release = retainReadMarks(memory);
    const late = setTimeout(() => dispatch({ type: 'late' }), MAX_INTERVALS_BEHIND * intervalMs);
    late.unref();
    let isCurrent = false;
    let unconfirmed: string | undefined;
    try {
      if (!memory.state.complete) {
        dispatch({ type: 'syncStarted' });
        await runInitialSync(context);
        isCurrent = true;
        dispatch({ type: 'synced' });
      } else if (!onlyResync) {
        unconfirmed = await poll(context);
        noteResync(context);
        isCurrent = unconfirmed === undefined;
        dispatchPolled(unconfirmed, memory);
      }
      clearTimeout(late);
      if (await tryResync()) dispatchPolled(unconfirmed, memory);
    } catch (error) {
      if (!signal.aborted) dispatch(failureEvent(error, visitor));
    } finally {
      clearTimeout(late);
      release();
      const requests = tally.requests - tallyBefore.requests;
      const isIdle = onlyResync && requests === 0;
      if (!isIdle)
        observe({
          type: 'sync-poll',
          requests,
          changed: tally.changed - tallyBefore.changed,
          removed: tally.removed - tallyBefore.removed,
          durationMs: clockMs() - startedMs,
        });
    }
    return isCurrent;
  }

  /** After a poll that saw everything. `unconfirmed`: as `poll` returned it. */
  function dispatchPolled(unconfirmed: string | undefined, { resync }: SyncMemory): void {
    const reasons = [unconfirmed, resync.retry?.reason].filter((each) => each !== undefined);
    dispatch(reasons.length === 0 ? { type: 'caughtUp' } : { type: 'unconfirmed', reason: reasons.join('; ') });
  }

  /**
   * Continues the full resync, which has retry delays of its own: its failure makes no poll fail. Resolves with
   * true if it failed, or succeeded after a failure. Throws when the process ends.
   */
  async function tryResync(): Promise<boolean> {
    const { resync } = context.memory;
    const { retry } = resync;
    if (retry && clockMs() < retry.atMs) return false;
    try {
      await continueResync(context);
      resync.retry = undefined;
      return retry !== undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      const failures = (retry?.failures ?? 0) + 1;
      const reason = `the full resync: ${failureEvent(error, visitor).reason}`;
      resync.retry = { failures, atMs: clockMs() + retryDelayMs({ failures }), reason };
      return true;
    }
  }

  let readings = 0;
  const startedAt = nowMs().toString(36);
  const listeners = new Set<(kinds: ReadonlySet<Kind>) => void>();

  /** Requests from now on are new to every cache in front of the CMS. */
  function startReading(): void {
    readings += 1;
    context.memory.reads.uncached = `${startedAt}-${readings}`;
  }

  /** Runs a step beside the polls. */
  async function withReadMarks<T>(step: (context: SyncContext) => Promise<T>): Promise<T> {
    const release = retainReadMarks(context.memory);
    try {
      return await step(context);
    } finally {
      release();
    }
  }

  const fetchReported = inBatches((changes) =>
    withReadMarks((current) => {
      startReading();
      return fetchChanged(current, changes);
    }).then(
      () => true,
      // A poll fetches the records, and reports the failure if it lasts. Its retries have delays of their own.
      () => {
        if (context.memory.state.failures === 0) loop.pollAgain();
        return false;
      },
    ),
  );

  /** Fetches records that are known to have changed, and tells the listeners of their kinds. */
  function report(changes: readonly ChangedRecord[]): Promise<boolean> {
    const names = new Set(changes.map(({ collection }) => collection));
    const kinds = new Set(collections.filter(({ name }) => names.has(name)).map(({ kind }) => kind));
    for (const listener of listeners) listener(kinds);
    return fetchReported(changes);
  }

  return {
    start() {
      if (isComplete(replica)) dispatch({ type: 'opened', lastCaughtUpMs: loadCaughtUpMs(context) });
      loop.start();
    },
    async stop() {
      stopping.abort();
      await loop.stop();
      try {
        saveCaughtUp(context.memory.state, 0);
      } catch (error) {
        // On a full disk the time that was saved last remains.
        if (!(error instanceof ReplicaError)) throw error;
      }
    },
    status: () => statusOf(context),
    state: () => context.memory.state,
    whenComplete: () => completed.promise,
    async poll() {
      if (context.memory.state.complete) return loop.pollNow();
      loop.wake();
      return false;
    },
    fetchChanged: report,
    async fetchWritten(records) {
      const isFetched = await Promise.race([
        report(changedRecords(mapping, records)),
        sleep(FETCH_WRITTEN_MS, false, { ref: false }),
      ]);
      const { kinds } = context.memory;
      const isKnown = ({ kind, id }: WrittenRecord) => isFetched && !kinds[kind].dirty.has(seriesIdOf(id));
      const withheld = records.flatMap(({ kind, id }) =>
        isPostKind(kind) && !isKnown({ kind, id }) ? [{ kind, id: seriesIdOf(id) }] : [],
      );
      try {
        if (withheld.length > 0) replica.apply({ withheld });
      } catch (error) {
        // On a full disk the lists stay as they are.
        if (!(error instanceof ReplicaError)) throw error;
      }
    },
    onReported: (listener) => void listeners.add(listener),
    assertComplete: (kind, record, isWritten = false) => assertComplete(context, kind, record, isWritten),
    site: () => context.memory.site,
    linkTables: () => context.memory.links.tables,
    refreshLinkTables: () => refreshLinkTables(context),
    readEverything: () => restartResync(context.memory),
  };
}
