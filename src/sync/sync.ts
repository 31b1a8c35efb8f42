// Keeps the replica current: runs the polls and the state machine. docs/internals/sync.md lists its invariants.

import type { CallOptions, Cms, CmsRecord, Credentials } from '../cms/port.ts';
import { ReplicaError } from '../errors.ts';
import type { LinkTables } from '../mapping/link-fields.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Kind, PostKind, Site } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import type { Replica } from '../store/replica.ts';
import { assertComplete, latestCmsTimeS } from './cms-reader.ts';
import { collectionsOf, idOf } from './collections.ts';
import {
  collectionOf,
  isComplete,
  loadCaughtUpMs,
  loadMemory,
  restartResync,
  STATE_KEYS,
  type SyncContext,
  type SyncMemory,
} from './context.ts';
import { isOutdated, markWritten, nextReadMark, retainReadMarks } from './dirty-records.ts';
import { type ChangedRecord, fetchChanged, inBatches } from './fetch-changed.ts';
import { fetchStaffRecords, type StaffReader } from './fetch-staff-records.ts';
import { continueResync, noteResync } from './full-resync.ts';
import { runInitialSync } from './initial-sync.ts';
import { refreshLinkTables } from './link-tables.ts';
import { createPollLoop, poll } from './poll.ts';
import { readPublicView } from './read-public-view.ts';
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
   * Without a service account: fetches the kind's non-public records that this caller may see, so that lists with
   * their visibility are exact. With a service account it does nothing. Throws `CmsUnavailable` and
   * `CmsRejected`.
   */
  fetchStaffRecords(reader: StaffReader, kind: PostKind): Promise<void>;
  /**
   * A write has just changed the record in the replica: responses to earlier requests are outdated.
   */
  recordWrite(kind: Kind, id: number): void;
  /**
   * Turns a record that a caller received into the one that may enter the replica: a published record becomes
   * its public view. `call` is how the CMS was called; its credentials are not used. Undefined if the record
   * was written meanwhile or the CMS's view is outdated. Throws `CmsUnavailable` and `CmsRejected`.
   */
  readPublicView(kind: Kind, record: CmsRecord, call: CallOptions): Promise<CmsRecord | undefined>;
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

export interface SyncOptions {
  replica: Replica;
  cms: Cms;
  mapping: Mapping;
  serviceCredentials: Credentials;
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
/** The replica is stale after this many intervals without a complete poll. */
const MAX_INTERVALS_BEHIND = 3;
/**
 * The time of the last successful poll is saved this often: a site without changes costs hardly any disk
 * writes.
 */
const SAVE_CAUGHT_UP_MS = 60_000;

/** Nothing happens before `start`. */
export function createSync(options: SyncOptions): Sync {
  const { replica, cms, mapping, serviceCredentials, intervalMs, observe, turns } = options;
  const { nowMs = Date.now, clockMs = () => performance.now() } = options;
  const { resyncIntervalMs = RESYNC_INTERVAL_MS, pageSize = options.cms.maxPageSize } = options;
  const stopping = new AbortController();
  const { signal } = stopping;
  const collections = collectionsOf(mapping, serviceCredentials);
  const completed = Promise.withResolvers<void>();
  const context: SyncContext = {
    replica,
    cms,
    mapping,
    serviceCredentials,
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
      replica.setState(STATE_KEYS.caughtUp, String(lastCaughtUpMs));
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
      if (!signal.aborted) dispatch(failureEvent(error, serviceCredentials));
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
      const reason = `the full resync: ${failureEvent(error, serviceCredentials).reason}`;
      resync.retry = { failures, atMs: clockMs() + retryDelayMs({ failures }), reason };
      return true;
    }
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
    fetchChanged: inBatches((changes) =>
      withReadMarks((current) => fetchChanged(current, changes)).then(
        () => true,
        // A poll fetches the records, and reports the failure if it lasts. Its retries have delays of their own.
        () => {
          if (context.memory.state.failures === 0) loop.pollAgain();
          return false;
        },
      ),
    ),
    async fetchStaffRecords(reader, kind) {
      if (serviceCredentials !== undefined || reader.credentials === undefined) return;
      await withReadMarks((current) => fetchStaffRecords(current, reader, kind));
    },
    recordWrite: (kind, id) => markWritten(context.memory, kind, id, clockMs()),
    async readPublicView(kind, record, call) {
      const collection = collectionOf(context, kind);
      if (!collection) return undefined;
      return withReadMarks(async (current) => {
        const readMark = nextReadMark(current.memory);
        const view = await readPublicView(current, collection, record, call);
        return isOutdated(current.memory, kind, idOf(record), readMark) ? undefined : view;
      });
    },
    assertComplete: (kind, record, isWritten = false) => assertComplete(context, kind, record, isWritten),
    site: () => context.memory.site,
    linkTables: () => context.memory.links.tables,
    refreshLinkTables: () => refreshLinkTables(context),
    readEverything: () => restartResync(context.memory),
  };
}
