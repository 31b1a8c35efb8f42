// Keeps the replica current: runs the polls and the scans, and tells how current it is. CONTRIBUTING.md explains it.

import { setTimeout as sleep } from 'node:timers/promises';
import type { CmsRecord } from '../cms/port.ts';
import { ReplicaError } from '../errors.ts';
import type { LinkTables } from '../mapping/references.ts';
import { isPostKind, type Kind, type KindOrImage, type Site, seriesIdOf } from '../model/records.ts';
import { assertHasFields } from './cms-reader.ts';
import { collectionsOf } from './collections.ts';
import {
  isComplete,
  loadCaughtUpMs,
  loadMemory,
  newTally,
  restartScan,
  STATE_KEYS,
  type SyncContext,
} from './context.ts';
import { refreshLinkTables } from './links-and-images.ts';
import { type ChangedRecord, fetchBatch, inBatches, poll } from './poll.ts';
import { PollLoop } from './poll-loop.ts';
import { continueScan, journalEndedScan, runInitialSync } from './scan.ts';
import { failureEvent, pollRetryDelayMs, type SyncEvent, type SyncState, transition } from './sync-state.ts';

interface SyncOptions
  extends Pick<SyncContext, 'replica' | 'cms' | 'mapping' | 'observe' | 'nowMs'>,
    Partial<Pick<SyncContext, 'visitorCredentials' | 'imageReader' | 'pageSize' | 'scanIntervalMs' | 'clockMs'>> {
  /** Within this time a change shows: polls start every `PERIOD_FRACTION` of it. */
  intervalMs: number;
  /** Takes the turn to poll for an interval of this length. False: another gateway has it. By default always true. */
  takesTurn?: ((intervalMs: number) => Promise<boolean>) | undefined;
}

const SCAN_INTERVAL_MS = 10 * 60_000;
/**
 * Of an interval, from the start of one poll to that of the next: of 10 s, 9.5 s. A change that one poll just missed
 * then shows within 10 s if the next poll takes 0.5 s at most. A gateway that is alone takes a turn at each poll: its
 * lease of 9 s (`LEASE_FRACTION` in peers.ts) is over by then.
 */
const PERIOD_FRACTION = 0.95;
/** The longest that a write waits until its record is fetched. */
const FETCH_WRITTEN_MS = 5000;
/** The time of the last successful poll is saved this often: a site without changes costs hardly any disk writes. */
const SAVE_CAUGHT_UP_MS = 60_000;
/** By how much the CMS's clock may be ahead of the gateway's, before its first response. */
const MAX_SKEW_S = 3600;

export class Sync {
  readonly #options: SyncOptions;
  readonly #context: SyncContext;
  readonly #loop: PollLoop;
  readonly #stopping = new AbortController();
  readonly #completed = Promise.withResolvers<void>();
  /** The caches of unpublished records, which forget those of a kind of which a record changed. */
  readonly #listeners = new Set<(kinds: ReadonlySet<KindOrImage>) => void>();

  constructor(options: SyncOptions) {
    const { replica, cms, mapping, visitorCredentials, imageReader = visitorCredentials, observe } = options;
    const { pageSize = cms.maxPageSize, scanIntervalMs = SCAN_INTERVAL_MS } = options;
    const { nowMs, clockMs = () => performance.now() } = options;
    const { signal } = this.#stopping;
    this.#options = options;
    this.#context = {
      ...{ replica, cms, mapping, visitorCredentials, imageReader, observe, nowMs, clockMs, signal },
      ...{ pageSize, scanIntervalMs, collections: collectionsOf(mapping) },
      ...{ memory: loadMemory(replica, nowMs()), tally: newTally() },
    };
    replica.journal.setClock(() => latestCmsTimeS(this.#context));
    this.#loop = new PollLoop({
      poll: (isRequested) => this.#pollAndScan(isRequested),
      pauseMs: (durationMs) => this.#pauseMs(durationMs),
      clockMs,
      signal,
    });
  }

  /** Starts the initial sync, or continues it, and then polls. Returns immediately. */
  start(): void {
    const { replica } = this.#context;
    if (isComplete(replica)) this.#dispatch({ type: 'opened', lastCaughtUpMs: loadCaughtUpMs(replica) });
    this.#loop.start();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
    try {
      this.#saveCaughtUp(this.state(), 1);
    } catch (error) {
      // On a full disk the time that was saved last remains.
      if (!(error instanceof ReplicaError)) throw error;
    }
  }

  status() {
    const { memory, collections, visitorCredentials } = this.#context;
    const progressOf = (kind: Kind) => {
      const { done = 0, total = 0 } = memory.initialSync[kind] ?? {};
      return { done, total };
    };
    const { done, total } = progressOf('event');
    const { failures: _, phase: state, ...facts } = memory.state;
    return {
      ...facts,
      state,
      site: memory.site,
      cms: { reachable: state !== 'unreachable' },
      /** Of the events in the initial sync, a whole number; 100 once it is complete. */
      percent: facts.complete ? 100 : Math.min(99, Math.floor((100 * done) / Math.max(1, total))),
      collections: Object.fromEntries(collections.map(({ kind }) => [kind, progressOf(kind)])),
      /** Collections of the mapping that the site does not have. */
      absent: collections.map(({ collection }) => collection).filter((name) => memory.unreadable.get(name)?.isAbsent),
      /** Whom the public sees as: the site's visitors, or the account of the settings. */
      readAs: visitorCredentials === undefined ? 'visitor' : 'account',
    };
  }

  /** The state alone; unlike `status` it costs nothing. */
  state(): SyncState {
    return this.#context.memory.state;
  }

  /** Resolves when the initial sync is complete, or a complete replica was on disk. Never rejects. */
  whenComplete(): Promise<void> {
    return this.#completed.promise;
  }

  /**
   * Polls the CMS now. Polls run one at a time: callers during a poll get the next one. Resolves with true if the
   * replica then has all that the CMS had at the call. In the initial sync it resolves with false at once, and
   * only ends the pause after a failure.
   */
  async poll(): Promise<boolean> {
    const polled = this.#loop.pollNow();
    return this.state().complete && polled;
  }

  /**
   * Fetches or deletes records and images that are known to have changed: from a webhook, from a write (`fetchWritten`)
   * or from another gateway (`fetchPeerChanges`). Resolves with true if that succeeded; otherwise the next poll that
   * succeeds does it. Never rejects.
   */
  fetchChanged(changes: readonly ChangedRecord[]): Promise<boolean> {
    const kinds = new Set(changes.map(({ kind }) => kind));
    for (const listener of this.#listeners) listener(kinds);
    return this.#fetchInBatches(changes);
  }

  /**
   * Fetches records that this gateway has just written, as a visitor gets them. Waits five seconds at most: what could
   * not be fetched is withheld from lists until it is. Never rejects.
   */
  async fetchWritten(records: readonly ChangedRecord[]): Promise<void> {
    const { memory, replica } = this.#context;
    const isFetched = await Promise.race([this.fetchChanged(records), sleep(FETCH_WRITTEN_MS, false, { ref: false })]);
    if (isFetched) return;
    const withheld = records.flatMap(({ kind, id }) =>
      kind === 'image' || !isPostKind(kind) ? [] : [{ kind, id: seriesIdOf(id) }],
    );
    // A record that was read in time is withheld too, and then read again.
    for (const { kind, id } of withheld) memory.kinds[kind].dirty.add(id);
    try {
      replica.apply({ withheld });
    } catch (error) {
      // On a full disk the lists stay as they are.
      if (!(error instanceof ReplicaError)) throw error;
    }
  }

  /** Calls the listener with the kinds of the records that `fetchChanged` and `fetchWritten` get. */
  onFetchChanged(listener: (kinds: ReadonlySet<KindOrImage>) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * As `fetchChanged`, for what another gateway has told. Also notes in the journal what is gone: an event which a
   * client saw at the other gateway may have been created and deleted between two polls of this one.
   */
  async fetchPeerChanges(changes: readonly ChangedRecord[]): Promise<boolean> {
    const isFetched = changes.length === 0 || (await this.fetchChanged(changes));
    if (isFetched) this.#context.replica.noteGone(changes);
    return isFetched;
  }

  /**
   * Polls, because entries of other gateways were lost. Resolves with true if the replica is current then.
   * @param withScan a scan begins too, which finds what no date shows
   */
  async pollForLostEntries(withScan = false): Promise<boolean> {
    if (withScan) restartScan(this.#context.memory);
    // If it is not live, the sync polls anyway, with pauses after failures.
    if (this.state().phase !== 'live' || !(await this.poll())) return false;
    // The journal may lack what was deleted meanwhile. Example: gateway A created event 12 and deleted it, and Redis
    // was emptied. This gateway B never had it. A client that comes from A to B reads everything again.
    this.#context.replica.journal.noteMissed();
    return true;
  }

  assertHasFields(kind: Kind, record: CmsRecord, isWritten = false): void {
    assertHasFields(this.#context, kind, record, isWritten);
  }

  /** The last known facts of the site; kept in the replica for starts without the CMS. */
  site(): Site {
    return this.#context.memory.site;
  }

  /** How events refer to venues and organizers without their ids: an argument of the mapping's `read` and `write`. */
  linkTables(): LinkTables {
    return this.#context.memory.linkTables;
  }

  /** Refreshes the tables, as for a venue that was just created. Throws `CmsUnavailable` and `CmsRejected`. */
  refreshLinkTables(): Promise<void> {
    return refreshLinkTables(this.#context);
  }

  /** The pause after each poll, and the turn before each, follow from it. */
  readonly #intervalMs = (): number => this.#options.intervalMs;

  #pauseMs(durationMs: number): number {
    if (this.state().failures > 0) return pollRetryDelayMs(this.state());
    return Math.max(0, this.#intervalMs() * PERIOD_FRACTION - durationMs);
  }

  /**
   * One round of the loop: the initial sync or a poll, unless another gateway polls, and the next pages of the scan.
   * Resolves with true if the replica then equals the CMS, and no deletion waits for confirmation. Never rejects.
   */
  async #pollAndScan(isRequested: boolean): Promise<boolean> {
    const { tally, clockMs, signal, visitorCredentials, observe } = this.#context;
    const { takesTurn = async () => true } = this.#options;
    // A replica that may be outdated, or is not complete, is always polled for.
    const isDue = isRequested || this.state().phase !== 'live' || (await takesTurn(this.#intervalMs()));
    const startedMs = clockMs();
    const { requests } = tally;
    let isCurrent = false;
    try {
      if (isDue) isCurrent = await this.#readChanges();
      await this.#tryScan();
    } catch (error) {
      if (!signal.aborted) this.#dispatch(failureEvent(error, visitorCredentials));
      isCurrent = false;
    } finally {
      if (isDue || tally.requests > requests) {
        observe({ type: 'sync-round', isPoll: isDue, ...tally, durationMs: clockMs() - startedMs });
        Object.assign(tally, newTally());
      }
    }
    return isCurrent;
  }

  /** As `#pollAndScan`. Throws what the CMS throws. */
  async #readChanges(): Promise<boolean> {
    const context = this.#context;
    const isInitial = !this.state().complete;
    if (isInitial) this.#dispatch({ type: 'syncStarted' });
    const differences = await (isInitial ? runInitialSync(context) : poll(context));
    journalEndedScan(context);
    // A failed scan makes the replica stale. This poll still counts as complete (the result below): it needs no scan.
    const reasons = [...differences, context.memory.scanProblem].filter((reason) => reason !== undefined);
    this.#dispatch({ type: 'polled', reason: reasons.length === 0 ? undefined : reasons.join('; ') });
    return differences.length === 0;
  }

  /** Continues the scan, whose failure is a reason that the next poll reports. Throws when the process ends. */
  async #tryScan(): Promise<void> {
    const { memory, signal, visitorCredentials } = this.#context;
    try {
      await continueScan(this.#context);
      memory.scanProblem = undefined;
    } catch (error) {
      if (signal.aborted) throw error;
      memory.scanProblem = `the scan: ${failureEvent(error, visitorCredentials).reason}`;
    }
  }

  readonly #fetchInBatches = inBatches(async (changes) => {
    try {
      await fetchBatch(this.#context, changes);
      return true;
    } catch {
      // A poll fetches the records, and reports the failure if it lasts. After a failed poll, the loop itself retries.
      if (this.state().failures === 0) void this.#loop.pollNow();
      return false;
    }
  });

  #dispatch(event: SyncEvent): void {
    const { memory, nowMs, observe } = this.#context;
    const before = memory.state;
    const state = transition(before, event, nowMs());
    if (state.lastCaughtUpMs !== before.lastCaughtUpMs) this.#saveCaughtUp(state, SAVE_CAUGHT_UP_MS);
    memory.state = state;
    if (state.complete) this.#completed.resolve();
    const why = state.reason ?? event.type;
    if (before.phase !== state.phase) observe({ type: 'sync-state', from: before.phase, to: state.phase, why });
  }

  /**
   * Saves when the replica was last current, which a later start without the CMS reports, and from when on its polls
   * read. Throws `ReplicaError`.
   */
  #saveCaughtUp({ lastCaughtUpMs }: SyncState, minDifferenceMs: number): void {
    const { replica, memory } = this.#context;
    const savedMs = loadCaughtUpMs(replica) ?? 0;
    if (lastCaughtUpMs === undefined || Math.abs(lastCaughtUpMs - savedMs) < minDifferenceMs) return;
    const polled = JSON.stringify(memory.polled);
    replica.apply({ state: { [STATE_KEYS.caughtUp]: String(lastCaughtUpMs), [STATE_KEYS.polled]: polled } });
  }
}

/** The CMS's clock or later, for `setClock`: the CMS sends whole seconds, perhaps read when the request was sent. */
function latestCmsTimeS({ memory: { cmsClock }, clockMs, nowMs }: SyncContext): number {
  if (cmsClock === undefined) return Math.ceil(nowMs() / 1000) + MAX_SKEW_S;
  return Math.ceil((cmsClock.timeMs + 1000 + clockMs() - cmsClock.sentMs) / 1000);
}
