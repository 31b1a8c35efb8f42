// Owns the sources: reads each in a loop of its own, keeps what it said last, and brings the replica's records of
// sources in line with that. docs/sources.md says what an operator sees of it.

import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bulkhead } from 'cockatiel';
import type { Remark, Source, SourceEvent, SourceSnapshot, SourceValidators } from '../../cms/sources/source.ts';
import type { Site } from '../../model/records.ts';
import type { Observe } from '../../observability/observations.ts';
import type { ChangeSet } from '../../store/changes.ts';
import { compactTextIndex } from '../../store/full-text-index.ts';
import { getRecord, getRecords } from '../../store/records.ts';
import type { Replica } from '../../store/replica.ts';
import {
  collidingRows,
  countSourceEvents,
  listedEventIdsAt,
  type Merge,
  merges,
  type SourceRow,
  sharedUrls,
  sourceKeys,
  sourceRow,
  sourceRows,
  storedSources,
  unusedSourceRecords,
} from '../../store/source-events.ts';
import { getState } from '../../store/state.ts';
import { formatWallTime, wallNumber } from '../../time/wall-time.ts';
import { batchesOf } from '../ingest.ts';
import { PollLoop } from '../poll-loop.ts';
import { type Comparable, KnownEvents, letters, type Match, matchKeysOf } from './same-event.ts';
import { derivedId, SourceRecords } from './source-records.ts';

export interface NamedSource {
  name: string;
  /** Of the settings: another address is another calendar, whose validators do not count. */
  address: string;
  categories: readonly string[];
  isMerged: boolean;
  source: Source;
}

export interface SourceStatus {
  name: string;
  /** Events that it has, and those of them that are shown as another one. */
  events: number;
  merged: number;
  remarks: Remark[];
  /** When it was last read successfully; undefined: never. */
  readMs: number | undefined;
  /** Why its events may be out of date. */
  problem: string | undefined;
}

export interface SourcesOptions {
  /** The first one wins. */
  sources: readonly NamedSource[];
  replica: Replica;
  site: () => Site;
  /** Resolves when the CMS's records are there. */
  whenComplete: () => Promise<void>;
  intervalMs: number;
  observe: Observe;
  nowMs?: () => number;
}

interface SavedState {
  address: string;
  validators: SourceValidators;
  readMs: number;
  remarks: Remark[];
}

/** What one loop remembers of its source. */
interface Reading {
  loop: PollLoop;
  failures: number;
  problem: string | undefined;
  /** This process has read it, or tried to. */
  isRead: boolean;
  /** It lost more than half of its events in the last answer. */
  isShrunken: boolean;
}

/** Sources that are read at once: the answer of each is in memory until it is stored. */
const MAX_READS = 5;
/** Events of one transaction, which blocks the event loop for a few milliseconds. */
const BATCH_SIZE = 10;
/** Events that are compared without a pause. */
const MATCH_SIZE = 50;
const FIRST_RETRY_MS = 60_000;
/** A site of 20,000 events is read at one page a second. */
const READ_TIMEOUT_MS = 15 * 60_000;
/** Fewer may all be over. */
const FEW_EVENTS = 4;
const MAX_SHOWN_MERGES = 100;

/** Nothing happens before `start`. */
export class Sources {
  readonly #options: SourcesOptions;
  readonly #nowMs: () => number;
  readonly #readings = new Map<string, Reading>();
  readonly #stopping = new AbortController();
  /** Combining runs one at a time, and not beside the storing of a snapshot. */
  #lastWork: Promise<unknown> = Promise.resolve();
  readonly #reads = bulkhead(MAX_READS, Infinity);
  /** The next pass, which waits for its turn: all sources that are stored until then share it. */
  #nextPass: Promise<void> | undefined;
  /** The CMS's version of the replica and the site at the last pass; undefined: a source has said something since. */
  #combinedWith: string | undefined;
  /** Versions of the replica that came from here. */
  #ownVersions = 0;
  /** What the last pass left out because its id is of something else. */
  #collisions: SourceRecords['collisions'] = new Map();

  constructor(options: SourcesOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? Date.now;
    for (const named of options.sources) {
      const loop = new PollLoop({
        poll: () => this.#reads.execute(() => this.#read(named)),
        pauseMs: () => this.#pauseMs(named.name),
        clockMs: () => performance.now(),
        signal: this.#stopping.signal,
      });
      this.#readings.set(named.name, { loop, failures: 0, problem: undefined, isRead: false, isShrunken: false });
    }
  }

  start(): void {
    void this.#options.whenComplete().then(() => {
      for (const { loop } of this.#readings.values()) loop.start();
      if (this.#readings.size === 0) void this.#combine().catch(() => undefined);
    });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([...this.#readings.values()].map(({ loop }) => loop.stop()));
    await this.#lastWork;
  }

  /** True once each has been read, or could not be. */
  isRead(): boolean {
    return [...this.#readings.values()].every(({ isRead }) => isRead);
  }

  /** Reads the source now. Resolves with true if that succeeded. */
  async readNow(name: string): Promise<boolean> {
    return (await this.#readings.get(name)?.loop.pollNow()) ?? false;
  }

  status(): { sources: SourceStatus[]; merged: Merge[] } {
    const { sources, replica } = this.#options;
    const shown = sources.map((named) => {
      const { readMs, remarks: read = [] } = this.#saved(named) ?? {};
      const remarks = [...read, ...(this.#collisions.get(named.name) ?? [])];
      const { problem } = this.#readings.get(named.name)!;
      return { name: named.name, ...countSourceEvents(replica.db, named.name), remarks, readMs, problem };
    });
    return { sources: shown, merged: merges(replica.db, MAX_SHOWN_MERGES) };
  }

  #pauseMs(name: string): number {
    const { intervalMs } = this.#options;
    const { failures } = this.#readings.get(name)!;
    return failures === 0 ? intervalMs : Math.min(intervalMs, FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 10));
  }

  /** One round of a loop. Never rejects. */
  async #read(named: NamedSource): Promise<boolean> {
    const { observe, replica } = this.#options;
    const { name } = named;
    const reading = this.#readings.get(name)!;
    const startedMs = performance.now();
    let problem: string | undefined;
    try {
      this.#stopping.signal.throwIfAborted();
      const previous = reading.isShrunken ? undefined : this.#saved(named)?.validators;
      const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(READ_TIMEOUT_MS)]);
      const snapshot = await named.source.read(previous, signal);
      problem = await this.#oneAtATime(async () => {
        const unsure = snapshot && this.#noteShrinking(reading, name, snapshot);
        if (unsure !== undefined) return unsure;
        if (snapshot) await this.#store(named, snapshot);
        else this.#save(named, this.#saved(named)!);
        return undefined;
      });
      if (problem === undefined) await this.#combine();
      reading.failures = 0;
    } catch (error) {
      if (this.#stopping.signal.aborted) return false;
      reading.failures += 1;
      // The address may be a secret.
      problem = String(error instanceof Error ? error.message : error).replaceAll(named.address, 'its address');
    }
    reading.problem = problem;
    reading.isRead = true;
    const { events } = countSourceEvents(replica.db, name);
    observe({ type: 'source-read', source: name, events, problem, durationMs: performance.now() - startedMs });
    return problem === undefined;
  }

  #oneAtATime<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#lastWork.then(work);
    this.#lastWork = Promise.allSettled([done]);
    return done;
  }

  /** A feed that lost more than half of its events may be broken: it is believed when it is read again. */
  #noteShrinking(reading: Reading, name: string, { events, isTruncated }: SourceSnapshot): string | undefined {
    const keys = isTruncated ? [] : sourceKeys(this.#options.replica.db, name);
    const now = new Set(events.map(({ key }) => key));
    const gone = keys.filter((key) => !now.has(key)).length;
    reading.isShrunken = !reading.isShrunken && keys.length >= FEW_EVENTS && gone > keys.length / 2;
    if (!reading.isShrunken) return undefined;
    return `${gone} of ${keys.length} events are gone: they stay until the source is read once more`;
  }

  readonly #addressKey = ({ address }: NamedSource) => createHash('sha256').update(address).digest('base64url');

  #saved(named: NamedSource): SavedState | undefined {
    const { db } = this.#options.replica;
    const saved = db.parse<SavedState>(getState(db, `source.${named.name}`) ?? '{}');
    return saved.address === this.#addressKey(named) ? saved : undefined;
  }

  /** Keeps what the source says. The validators come last: what an end of the process left out is read again. */
  async #store(
    named: NamedSource,
    { events, remarks, validators, isTruncated = false }: SourceSnapshot,
  ): Promise<void> {
    const { replica } = this.#options;
    const { name: source } = named;
    const noticed = formatWallTime(this.#nowMs());
    const now = new Set(events.map(({ key }) => key));
    const gone = isTruncated ? [] : sourceKeys(replica.db, source).filter((key) => !now.has(key));
    for (const batch of batchesOf(events, BATCH_SIZE)) {
      const sourceEvents = batch.flatMap((event) => this.#changedRow(source, event, noticed) ?? []);
      if (sourceEvents.length > 0) this.#combinedWith = undefined;
      await this.#apply({ sourceEvents });
    }
    if (gone.length > 0) this.#combinedWith = undefined;
    await this.#forget(source, gone);
    // The rest of a truncated answer is read again, although its ETag may be the same.
    this.#save(named, { validators: isTruncated ? {} : validators, remarks });
  }

  #save(named: NamedSource, { validators, remarks }: Pick<SavedState, 'validators' | 'remarks'>): void {
    const saved: SavedState = { address: this.#addressKey(named), validators, readMs: this.#nowMs(), remarks };
    this.#options.replica.apply({ state: { [`source.${named.name}`]: JSON.stringify(saved) } });
  }

  /** Undefined: the source says the same as before. */
  #changedRow(source: string, said: SourceEvent, noticed: string): SourceRow | undefined {
    const { key, uid, url } = said;
    const before = sourceRow(this.#options.replica.db, source, key);
    const event = JSON.stringify(said);
    if (before?.event === event) return undefined;
    const { eventId, why } = before ?? { eventId: 0, why: '' };
    return { source, key, uid, url, ownId: derivedId('event', source, key), eventId, why, noticed, event };
  }

  /** One transaction, after which requests are answered. */
  async #apply(changes: ChangeSet): Promise<void> {
    const { replica } = this.#options;
    const { version } = replica;
    const changed = replica.apply(changes);
    this.#ownVersions += replica.version - version;
    await nextTurn();
    while (changed > 0 && compactTextIndex(replica.db)) await nextTurn();
    this.#stopping.signal.throwIfAborted();
  }

  /** Resolves after a pass that begins from now on, unless nothing has changed since the last one. */
  #combine(): Promise<void> {
    this.#nextPass ??= this.#oneAtATime(async () => {
      this.#nextPass = undefined;
      const { replica, site } = this.#options;
      const inputs = JSON.stringify([replica.version - this.#ownVersions, site()]);
      if (this.#combinedWith === inputs) return;
      this.#combinedWith = undefined;
      await this.#combineAll();
      this.#combinedWith = inputs;
    });
    return this.#nextPass;
  }

  /** Brings the replica's records in line with what the CMS and all sources say. What is as it was costs no write. */
  async #combineAll(): Promise<void> {
    const { replica, sources, site } = this.#options;
    const names = new Set(sources.map(({ name }) => name));
    for (const source of storedSources(replica.db))
      if (!names.has(source)) await this.#forget(source, sourceKeys(replica.db, source));
    const leftOut = this.#withTakenIds();
    const merged = await this.#merge(leftOut);
    const records = new SourceRecords(replica.db, site());
    for (const { name, categories } of sources)
      for (const rows of this.#batches(name)) {
        for (const row of rows)
          if (leftOut.has(sourceRowKey(row))) records.noteCollision(name, row.key);
          else if (!merged.has(row.ownId))
            records.add({ ...row, categories, id: row.ownId, event: JSON.parse(row.event) });
        const sourceEvents = rows.map((row) => {
          if (leftOut.has(sourceRowKey(row))) return { ...row, eventId: 0, why: '' };
          const { id, why } = merged.get(row.ownId) ?? { id: row.ownId, why: '' };
          return { ...row, eventId: id, why };
        });
        const ids = sourceEvents.flatMap(({ ownId, why }) => (why === '' ? [] : ownId));
        await this.#apply({ ...records.take(), deletes: [{ kind: 'event', ids }], sourceEvents });
      }
    this.#collisions = records.collisions;
    await this.#apply({ deletes: unusedSourceRecords(replica.db) });
  }

  /** Of the events with one id all but that of the first source, and of one source that with the lowest key. */
  #withTakenIds(): Set<string> {
    const order = this.#options.sources.map(({ name }) => name);
    const rows = collidingRows(this.#options.replica.db).sort(
      (a, b) => order.indexOf(a.source) - order.indexOf(b.source),
    );
    const owners = new Set<number>();
    const leftOut = new Set<string>();
    for (const row of rows)
      if (owners.has(row.ownId)) leftOut.add(sourceRowKey(row));
      else owners.add(row.ownId);
    return leftOut;
  }

  *#batches(source: string): Generator<SourceRow[]> {
    for (let after = ''; ; ) {
      const rows = sourceRows(this.#options.replica.db, source, after, BATCH_SIZE);
      if (rows.length === 0) return;
      yield rows;
      after = rows.at(-1)!.key;
    }
  }

  /** The events that are shown as another one, by their own ids. */
  async #merge(leftOut: ReadonlySet<string>): Promise<Map<number, Match>> {
    const { sources, replica } = this.#options;
    const byStart = new Map<string, Comparable[]>();
    for (const { name, isMerged } of sources) {
      const shared = sharedUrls(replica.db, name);
      for (const rows of isMerged ? this.#batches(name) : []) {
        for (const row of rows) {
          if (leftOut.has(sourceRowKey(row))) continue;
          const event = comparableOf(row, shared);
          const others = byStart.get(event.startUtc);
          if (others) others.push(event);
          else byStart.set(event.startUtc, [event]);
        }
        await nextTurn();
      }
    }
    const merged = new Map<number, Match>();
    let compared = 0;
    for (const [startUtc, events] of byStart) {
      const shown = new KnownEvents();
      for (const event of this.#siteEvents(startUtc, events)) shown.add(event);
      for (const event of events) {
        const same = shown.match(event);
        if (same) merged.set(event.id, same);
        else shown.add(event);
        compared += 1;
        if (compared % MATCH_SIZE === 0) await nextTurn();
      }
    }
    return merged;
  }

  async #forget(source: string, keys: readonly string[]): Promise<void> {
    for (const batch of batchesOf(keys, BATCH_SIZE)) {
      const ids = batch.map((key) => derivedId('event', source, key));
      const sourceEvents = batch.map((key) => ({ source, key, event: null }));
      await this.#apply({ deletes: [{ kind: 'event', ids }], sourceEvents });
    }
  }

  /** The site's own events of this start. Lists find them by the wall time. */
  #siteEvents(startUtc: string, events: readonly Comparable[]): Comparable[] {
    const { db } = this.#options.replica;
    const starts = new Set(events.map(({ start }) => start));
    return [...starts].flatMap((start) =>
      listedEventIdsAt(db, wallNumber(start)).flatMap((id) => {
        const record = getRecord(db, 'event', id);
        if (!record || record.protected || record.startUtc !== startUtc) return [];
        const venues = [...getRecords(db, 'venue', record.venues).values()].filter((venue) => !venue.protected);
        const organizers = [...getRecords(db, 'organizer', record.organizers).values()]
          .filter((organizer) => !organizer.protected)
          .map(({ title }) => letters(title));
        const keys = matchKeysOf('', [record.url, record.website], record.title);
        const places = venues.map(({ title: name, ...venue }) => ({ ...venue, name }));
        return [{ id, source: '', start, startUtc, keys, places, organizers }];
      }),
    );
  }
}

const sourceRowKey = ({ source, key }: Pick<SourceRow, 'source' | 'key'>): string => `${source} ${key}`;

function comparableOf({ source, ownId: id, event }: SourceRow, shared: ReadonlySet<string>): Comparable {
  const { uid, url, title, start, startUtc, venue, organizers } = JSON.parse(event) as SourceEvent;
  return {
    ...{ id, source, start, startUtc },
    keys: matchKeysOf(uid, shared.has(url) ? [] : [url], title),
    places: venue ? [{ city: '', ...venue }] : [],
    organizers: organizers.map(({ name }) => letters(name)),
  };
}
