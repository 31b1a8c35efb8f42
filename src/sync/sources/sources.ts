// Owns the sources: reads each in a loop of its own, keeps what it said last, and then combines them all (combine.ts).
// A setting that changes what is read belongs to `sourceAddress`; one that changes what is made of it, to `combine`.
// docs/sources.md says what an operator sees of it. The way of an event, such as Jazz of the source `library`:
// - `SourceSettings` (config.json) name an address; with its reader, a `Source`, it is a `NamedSource`.
// - The reader answers with a `SourceSnapshot`, in which Jazz is a `SourceEvent`.
// - `Sources.#store` makes a `SourceRow` of it, and writes this to the replica as a `SourceChange`.
// - `combine` gets the settings of each, and finds that Jazz is the CMS's event 12: the row has 12.
// - Or it is the same as no other event: `SourceRecords` makes its event, venue, organizers, terms and image.

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bulkhead } from 'cockatiel';
import type { Remark, Source, SourceEvent, SourceSnapshot, SourceValidators } from '../../cms/sources/source.ts';
import { READ_TIMEOUT_MS } from '../../cms/sources/source.ts';
import { sourceAddress } from '../../config.ts';
import type { SourceSettings } from '../../config-schema.ts';
import type { Site } from '../../model/records.ts';
import type { Observe } from '../../observability/observations.ts';
import type { ChangeSet } from '../../store/changes.ts';
import type { Replica } from '../../store/replica.ts';
import { countSourceEvents, merges, type SourceRow, sourceKeys, sourceRow } from '../../store/source-events.ts';
import { getState } from '../../store/state.ts';
import { formatWallTime } from '../../time/wall-time.ts';
import { batchesOf, endTurn } from '../ingest.ts';
import { PollLoop } from '../poll-loop.ts';
import { BATCH_SIZE, combine, forgetting, ownIdOf } from './combine.ts';

export type NamedSource = SourceSettings & { reader: Source };

interface SourcesOptions {
  /** Of two events that are the same, that of the earlier source is shown. */
  sources: readonly NamedSource[];
  replica: Replica;
  site: () => Site;
  /** Resolves when the CMS's records are there; at once without a CMS (none.ts waits for the sources). */
  whenComplete: () => Promise<void>;
  intervalMs: number;
  observe: Observe;
  nowMs?: () => number;
}

interface SavedState {
  addressHash: string;
  validators: SourceValidators;
  readMs: number;
  remarks: Remark[];
}

/** A source, the loop that reads it, and what the loop remembers. */
interface SourceState {
  readonly named: NamedSource;
  readonly loop: PollLoop;
  failures: number;
  problem: string | undefined;
  /** This process has read it, or tried to. */
  wasTried: boolean;
  /** The last answer was not believed, because it lost more than half of the events. The next one is. */
  isDoubted: boolean;
}

/** Sources that are read at once: the answer of each is in memory until it is stored. */
const MAX_READS = 5;
const FIRST_RETRY_MS = 60_000;
/** A source with fewer events may lose most of them because they are over. */
const FEW_EVENTS = 4;
const MAX_SHOWN_MERGES = 100;

export class Sources {
  readonly #options: SourcesOptions;
  readonly #nowMs: () => number;
  readonly #states: readonly SourceState[];
  readonly #stopping = new AbortController();
  readonly #reads = bulkhead(MAX_READS, Infinity);
  /** Combining runs one at a time, and not beside the storing of a snapshot. */
  readonly #work = bulkhead(1, Infinity);
  /** The next pass, which waits for its turn: all sources that are stored until then share it. */
  #nextPass: Promise<void> | undefined;

  constructor(options: SourcesOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
    this.#states = options.sources.map((named) => {
      const loop = new PollLoop({
        // It rejects if the replica is damaged: the gateway then replaces the replica, and stops this loop.
        poll: () => this.#reads.execute(() => this.#read(state)).catch(() => false),
        pauseMs: () => this.#pauseMs(state.failures),
        clockMs: () => performance.now(),
        signal: this.#stopping.signal,
      });
      const state: SourceState = { named, loop, failures: 0, problem: undefined, wasTried: false, isDoubted: false };
      return state;
    });
  }

  start(): void {
    void this.#options.whenComplete().then(() => {
      for (const { loop } of this.#states) loop.start();
      // Deletes what the replica has of sources that the settings no longer name. A loop does so after each read.
      if (this.#states.length === 0) void this.#combine().catch(() => undefined);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#states.map(({ loop }) => loop.stop()));
  }

  /** True once this process has tried to read each source. */
  wereTried(): boolean {
    return this.#states.every(({ wasTried }) => wasTried);
  }

  /**
   * Of each source: how many events it has, and how many of them are shown as another one; when it was last read
   * successfully, if ever; and why its events may be out of date.
   */
  status() {
    const { replica } = this.#options;
    const sources = this.#states.map(({ named, problem }) => {
      const { readMs, remarks = [] } = this.#saved(named) ?? {};
      return { name: named.name, ...countSourceEvents(replica.db, named.name), remarks, readMs, problem };
    });
    return { sources, merged: merges(replica.db, MAX_SHOWN_MERGES) };
  }

  #pauseMs(failures: number): number {
    const { intervalMs } = this.#options;
    return failures === 0 ? intervalMs : Math.min(intervalMs, FIRST_RETRY_MS * 2 ** (failures - 1));
  }

  /** Reads the source, stores what it says, and combines. Resolves with true if that succeeded. */
  async #read(state: SourceState): Promise<boolean> {
    const { observe, replica } = this.#options;
    const { named } = state;
    const startedMs = performance.now();
    let problem: string | undefined;
    try {
      this.#stopping.signal.throwIfAborted();
      // A doubted source is read in full: a 304 would say nothing of the answer that was not believed.
      const previous = state.isDoubted ? undefined : this.#saved(named)?.validators;
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
      const snapshot = await named.reader.read(previous, signal);
      // Nothing changed since the answer that was saved: it is saved again, with the present time.
      if (snapshot === undefined) this.#save(named, this.#saved(named)!);
      else problem = await this.#work.execute(() => this.#storeUnlessDoubted(state, snapshot));
      // Also if nothing changed: the site's own events may have, and with them which are the same.
      if (problem === undefined) await this.#combine();
      // A doubted answer is no failure: the next read is after the interval.
      state.failures = 0;
    } catch (error) {
      if (this.#stopping.signal.aborted) return false;
      state.failures += 1;
      // The address may be a secret.
      problem = String(error instanceof Error ? error.message : error).replaceAll(sourceAddress(named), 'its address');
    }
    state.problem = problem;
    state.wasTried = true;
    const { events } = countSourceEvents(replica.db, named.name);
    observe({ type: 'source-read', source: named.name, events, problem, durationMs: performance.now() - startedMs });
    return problem === undefined;
  }

  /** Resolves with why the answer is not believed, if it is not. */
  async #storeUnlessDoubted(state: SourceState, snapshot: SourceSnapshot): Promise<string | undefined> {
    const { named } = state;
    const known = snapshot.isPartial ? [] : sourceKeys(this.#options.replica.db, named.name);
    const now = new Set(snapshot.events.map(({ key }) => key));
    const gone = known.filter((key) => !now.has(key));
    // A calendar that lost more than half of its events may be broken. Doubted once, believed the second time.
    state.isDoubted = !state.isDoubted && known.length >= FEW_EVENTS && gone.length > known.length / 2;
    if (state.isDoubted)
      return `${gone.length} of ${known.length} events are gone: they stay until the source is read once more`;
    await this.#store(named, snapshot, gone);
    return undefined;
  }

  /** Another address is another calendar, whose validators do not count: a 304 would keep the events of the old one. */
  readonly #hashOfAddress = (named: NamedSource) =>
    createHash('sha256').update(sourceAddress(named)).digest('base64url');

  #saved(named: NamedSource): SavedState | undefined {
    const { db } = this.#options.replica;
    const saved = db.parse<SavedState>(getState(db, `source.${named.name}`) ?? '{}');
    return saved.addressHash === this.#hashOfAddress(named) ? saved : undefined;
  }

  /** Keeps what the source says. Saves the validators last: if the process ends before, the source is read again. */
  async #store(named: NamedSource, snapshot: SourceSnapshot, gone: readonly string[]): Promise<void> {
    const { events, remarks, validators, isPartial = false } = snapshot;
    const { name: source } = named;
    const noticed = formatWallTime(this.#nowMs());
    for (const batch of batchesOf(events, BATCH_SIZE))
      await this.#apply({ sourceRows: batch.flatMap((event) => this.#changedRow(source, event, noticed) ?? []) });
    for (const changes of forgetting(source, gone)) await this.#apply(changes);
    // The rest of a partial answer is read again, although its ETag may be the same.
    this.#save(named, { validators: isPartial ? {} : validators, remarks });
  }

  #save(named: NamedSource, { validators, remarks }: Pick<SavedState, 'validators' | 'remarks'>): void {
    const saved: SavedState = { addressHash: this.#hashOfAddress(named), validators, readMs: this.#nowMs(), remarks };
    this.#options.replica.apply({ state: { [`source.${named.name}`]: JSON.stringify(saved) } });
  }

  /** Undefined: the source says the same as before. */
  #changedRow(source: string, said: SourceEvent, noticed: string): SourceRow | undefined {
    const { key, uid, url } = said;
    const before = sourceRow(this.#options.replica.db, source, key);
    const eventJson = JSON.stringify(said);
    if (before?.eventJson === eventJson) return undefined;
    const { eventId, mergedBecause } = before ?? { eventId: 0, mergedBecause: '' };
    return { source, key, uid, url, ownId: ownIdOf(source, key), eventId, mergedBecause, noticed, eventJson };
  }

  /** One transaction, after which requests are answered. */
  async #apply(changes: ChangeSet): Promise<void> {
    const { replica } = this.#options;
    await endTurn(replica, replica.apply(changes));
    this.#stopping.signal.throwIfAborted();
  }

  /** Resolves after a pass that begins from now on. */
  #combine(): Promise<void> {
    this.#nextPass ??= this.#work.execute(async () => {
      // If the work is free, `execute` runs this at once: the assignment above has to come first.
      await nextTurn();
      this.#nextPass = undefined;
      const { replica, site, sources } = this.#options;
      await combine({ db: replica.db, site: site(), sources, apply: (changes) => this.#apply(changes) });
    });
    return this.#nextPass;
  }
}
