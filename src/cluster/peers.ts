// What the gateways of one site tell each other: which records have changed, and which of them polls. Every gateway is
// whole; Redis carries keys and leases, nothing else. Example: gateway A has written event 12, and appends `events:12`
// to the stream (`tell`). Gateway B gets this entry (`#follow`), and reads event 12 from the CMS (`#apply`).

import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PeersPort } from '../calendar/peers-port.ts';
import type { Mapping } from '../mapping/mapping.ts';
import { FIRST_SOURCE_ID } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import { kindOfCollection, specOf } from '../sync/collections.ts';
import type { ChangedRecord } from '../sync/poll.ts';
import type { Sync } from '../sync/sync.ts';
import { type Connection, DEADLINE_MS, openConnection, reasonOf } from './connection.ts';

export interface PeersOptions {
  url: string;
  /** For commands. Entries are read on a connection of their own, because that waits for the next one. */
  connection: Connection;
  /** Begins every key. */
  prefix: string;
  mapping: Mapping;
  observe: Observe;
}

/** `events:12`: the CMS's name of the collection (of images `media`), and the id. In the trash: `events:12:trashed`. */
type RecordKey = string;

/** Sent instead of keys if there were too many while Redis was away. */
const EVERYTHING = '*';
/** Before the first entry. Ids grow with time: `1764208800000-0`. */
const STREAM_START = '0-0';
const KEYS_PER_ENTRY = 200;
const KEY = /^([^\s:]{1,80}):([1-9]\d{0,15})(:trashed)?$/;

type StreamEntry = { id: string; message: Record<string, string> };

/** A gateway that was away for more changes than this polls instead of reading what it missed. */
const STREAM_LENGTH = 10_000;
/** Redis deletes the stream of an earlier mapping after this time. */
const STREAM_TTL_MS = 24 * 3_600_000;
const ENTRIES_PER_READ = 100;
const BLOCK_MS = 1000;
/** Between two tries, of Redis or of the CMS. */
const RETRY_MS = 1000;
/** Keys that are kept while Redis is away. If there are more, the other gateways read everything again. */
const MAX_UNSENT = 1000;
/** A gateway polls at least every sixth interval: another one may have died between its poll and its message. */
const MAX_SKIPPED = 5;
/** How much of an interval a lease to poll lasts. A gateway that is alone finds its lease over at its next poll. */
const LEASE_FRACTION = 0.9;

export class Peers implements PeersPort {
  readonly #options;
  readonly #stream;
  readonly #node = randomUUID();
  readonly #stopping = new AbortController();
  readonly #stopped = once(this.#stopping.signal, 'abort');
  #sync!: Sync;
  // The connections to Redis.
  #reader: Connection | undefined;
  #running: Promise<void> | undefined;
  /** Undefined before the first reply, or failure. */
  #isConnected: boolean | undefined;
  #sinceMs = Date.now();

  // Reading: what the others have told.
  /** The last entry whose records this gateway has read again. The next entries are read after this one. */
  #applied = STREAM_START;
  /**
   * Entries up to this one may be lost: at the start, and after Redis was emptied. This gateway then polls, and reads
   * the entries after this one. Undefined: no entry is lost.
   */
  #lostUntil: string | undefined;
  #waiting = new Set<{ id: string; resolve: (isApplied: true) => void }>();
  /** The records that `#reread` reads now, because an entry names them. `changed` does not tell them again. */
  readonly #rereading = new Set<string>();
  /**
   * True in `read` of `#reread`, and in all that this awaits. A poll at the same time has no such mark: it tells its
   * changes. Several calls share a batch (`inBatches` in sync/poll.ts), which has the mark if its first call has it. If
   * `CmsRecords.#fetchUnknown` makes the first call, this gateway tells the changes of the batch again: no harm.
   */
  readonly #isReread = new AsyncLocalStorage<true>();

  // Writing: what this gateway tells.
  /** The latest entry of this gateway. */
  #published = STREAM_START;
  #unsent = new Set<RecordKey>();
  #sending: Promise<void> | undefined;

  // Taking turns at polling.
  /** Intervals in a row in which another gateway had the lease. */
  #skipped = 0;
  readonly #polls = { taken: 0, skipped: 0 };

  constructor(options: PeersOptions) {
    this.#options = options;
    this.#stream = `${options.prefix}changes`;
  }

  /** Follows the other gateways in the background, until `stop`. */
  start(sync: Sync): void {
    this.#sync = sync;
    this.#reader = openConnection(this.#options.url);
    this.#running = this.#run(this.#reader);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#reader?.close();
    await this.#running;
  }

  status() {
    return {
      connected: this.#isConnected === true,
      sinceMs: this.#sinceMs,
      applied: this.#applied,
      unsent: this.#unsent.size,
      polls: { ...this.#polls },
    };
  }

  /** Tells the peers what changed in the replica. Not during the initial sync: then each gateway reads everything. */
  changed(records: readonly ChangedRecord[]): void {
    if (!this.#sync.state().complete) return;
    // Each gateway reads the sources itself. Of a venue that is text inside an event, peers read the event.
    const ofCms = records.filter(({ kind, id }) => id < FIRST_SOURCE_ID && specOf(this.#options.mapping, kind));
    const isReread = this.#isReread.getStore();
    // For example, the peers know of a deleted term from a webhook's key: `news` has only the events that lost it.
    const news = ofCms.filter((record) => !isReread || !this.#rereading.has(nameOf(record)));
    if (news.length > 0) void this.#publish(news);
  }

  // `PeersPort` describes `tell`, `consistencyToken` and `reaches`.
  async tell<T>(records: readonly ChangedRecord[], read: () => Promise<T>): Promise<T> {
    const published = this.#publish(records);
    return this.#reread(records, read).finally(() => published);
  }

  async #publish(records: readonly ChangedRecord[]): Promise<void> {
    for (const record of records) this.#unsent.add(this.#keyOf(record));
    if (this.#unsent.size > MAX_UNSENT) this.#unsent = new Set([EVERYTHING]);
    await this.#send();
  }

  /** Takes the lease to poll in this interval, of `intervalMs`, if it is free. While Redis is away, always true. */
  async takesLease(intervalMs: number): Promise<boolean> {
    const { prefix, observe } = this.#options;
    const expiration = { type: 'PX', value: Math.ceil(intervalMs * LEASE_FRACTION) } as const;
    const isForced = this.#skipped >= MAX_SKIPPED;
    const set = isForced ? { expiration } : ({ expiration, condition: 'NX' } as const);
    const reply = await this.#command((client) => client.set(`${prefix}poll`, this.#node, set));
    // Null: another gateway has the lease. Undefined: Redis is away.
    const isTaken = reply !== null;
    this.#skipped = isTaken ? 0 : this.#skipped + 1;
    this.#polls[isTaken ? 'taken' : 'skipped'] += 1;
    observe({ type: 'cluster-lease', isTaken });
    return isTaken;
  }

  consistencyToken(): { id: string; isTold: boolean } {
    const latest = compareIds(this.#published, this.#applied) > 0 ? this.#published : this.#applied;
    return { id: latest, isTold: this.#unsent.size === 0 && !this.#sending };
  }

  async reaches(id: string, withinMs: number): Promise<boolean> {
    if (compareIds(this.#applied, id) >= 0) return true;
    if (this.#isConnected !== true) return false;
    const reached = Promise.withResolvers<true>();
    const waiter = { id, resolve: reached.resolve };
    this.#waiting.add(waiter);
    const end = sleep(withinMs, false, { ref: false });
    return Promise.race([reached.promise, end]).finally(() => this.#waiting.delete(waiter));
  }

  /** Undefined while Redis is away. */
  async #command<T>(command: (client: Connection['client']) => Promise<T>): Promise<T | undefined> {
    if (this.#isConnected !== true) return undefined;
    return this.#options.connection.run(command).catch((error: unknown) => {
      this.#setConnected(false, error);
      return undefined;
    });
  }

  #send(): Promise<void> {
    this.#sending ??= this.#sendAll();
    return this.#sending;
  }

  async #sendAll(): Promise<void> {
    const trim = { TRIM: { strategy: 'MAXLEN', strategyModifier: '~', threshold: STREAM_LENGTH } } as const;
    // All records that one turn of the event loop changes become one entry.
    await new Promise(setImmediate);
    try {
      while (this.#isConnected === true && this.#unsent.size > 0) {
        const keys = [...this.#unsent].slice(0, KEYS_PER_ENTRY);
        for (const key of keys) this.#unsent.delete(key);
        const entry = { from: this.#node, keys: keys.join(' ') };
        // Sent together: what changes meanwhile waits for one answer of Redis, and not for two.
        const [id] = await Promise.all([
          this.#command((client) => client.xAdd(this.#stream, '*', entry, trim)),
          this.#command((client) => client.pExpire(this.#stream, STREAM_TTL_MS)),
        ]);
        if (id === undefined) for (const key of keys) this.#unsent.add(key);
        else this.#published = id;
      }
    } finally {
      // Without an `await` after the last look at `#unsent`: a key that is added now starts the next `#sendAll`.
      this.#sending = undefined;
    }
  }

  async #run(reader: Connection): Promise<void> {
    const { signal } = this.#stopping;
    await Promise.all([this.#options.connection.opened, reader.opened]);
    const pause = () => sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    while (!signal.aborted) {
      try {
        if (!(await this.#follow(reader))) await pause();
      } catch (error) {
        this.#setConnected(false, error);
        await pause();
      }
    }
  }

  /**
   * Reads the next entries and applies them. After a reconnection it first finds out whether entries are lost, and
   * polls instead of reading those. Resolves with false while the CMS cannot be read. Throws what Redis throws.
   */
  async #follow(reader: Connection): Promise<boolean> {
    if (this.#isConnected !== true) await this.#findLostEntries(reader);
    if (this.#lostUntil !== undefined) {
      await Promise.race([this.#sync.whenComplete(), this.#stopped]);
      if (!(await this.#sync.pollForLostEntries())) return false;
      this.#markApplied(this.#lostUntil, 0);
      this.#lostUntil = undefined;
    }
    const options = { BLOCK: BLOCK_MS, COUNT: ENTRIES_PER_READ };
    const from = { key: this.#stream, id: this.#applied };
    const reply = await reader.run((client) => client.xRead(from, options), BLOCK_MS + DEADLINE_MS);
    const entries = (reply as { messages: StreamEntry[] }[] | null)?.[0]?.messages ?? [];
    // Redis was away when these keys changed.
    if (this.#unsent.size > 0) void this.#send();
    return entries.length === 0 || this.#apply(reader, entries);
  }

  /** Reads the records again that the entries name. Polls too if some may be missing. Resolves as `#follow` does. */
  async #apply(reader: Connection, entries: readonly StreamEntry[]): Promise<boolean> {
    const first = (await reader.run((client) => client.xRange(this.#stream, '-', '+', { COUNT: 1 })))?.[0];
    // 4 is applied, and the stream begins with 7: 5 and 6 may have been cut. After 0-0 any entry is the next.
    const hasGap = this.#applied !== STREAM_START && first !== undefined && compareIds(first.id, this.#applied) > 0;
    const keys = this.#keysOf(entries);
    const isEverything = keys.has(EVERYTHING);
    const records = this.#recordsOf(keys);
    const read = () => this.#sync.fetchPeerChanges(records);
    // A CMS that fails is left to the polls, which come after ever longer pauses.
    if (this.#sync.state().failures > 0) return false;
    if (!(await this.#reread(records, read))) return false;
    if ((hasGap || isEverything) && !(await this.#sync.pollForLostEntries(isEverything))) return false;
    this.#markApplied(entries.at(-1)!.id, entries.length);
    return true;
  }

  /**
   * Called after connecting. Which entries may be lost, by the last that is applied and the last of the stream:
   *   4-0, and 2-0 or none   all until the last of the stream: Redis was emptied
   *   0-0, and any or none   all until the last of the stream: this gateway has applied none
   *   4-0, and 4-0 or 7-0    none; `#apply` sees whether the stream was cut
   */
  async #findLostEntries(reader: Connection): Promise<void> {
    const { connection, prefix } = this.#options;
    // A Redis without memory, or a replica of another one, answers reads and refuses writes.
    await connection.run((client) => client.set(`${prefix}probe`, '', { expiration: { type: 'PX', value: RETRY_MS } }));
    const newest = await reader.run((client) => client.xRevRange(this.#stream, '+', '-', { COUNT: 1 }));
    const end = newest?.[0]?.id ?? STREAM_START;
    this.#setConnected(true);
    const isLost = compareIds(end, this.#applied) < 0 || this.#applied === STREAM_START;
    const hasStillToPoll = this.#lostUntil !== undefined;
    if (isLost || hasStillToPoll) this.#lostUntil = end;
  }

  /** Runs `read`, which fetches these records. `changed` tells no other gateway what `read` changes of them. */
  async #reread<T>(records: readonly ChangedRecord[], read: () => Promise<T>): Promise<T> {
    const names = records.map(nameOf);
    for (const name of names) this.#rereading.add(name);
    try {
      return await this.#isReread.run(true, read);
    } finally {
      for (const name of names) this.#rereading.delete(name);
    }
  }

  #keyOf({ kind, id, isTrashed }: ChangedRecord): RecordKey {
    return `${specOf(this.#options.mapping, kind)!.collection}:${id}${isTrashed ? ':trashed' : ''}`;
  }

  /** The keys that the other gateways have written. */
  #keysOf(entries: readonly StreamEntry[]): Set<RecordKey> {
    const ofOthers = entries.filter(({ message }) => message.from !== this.#node);
    return new Set(ofOthers.flatMap(({ message }) => message.keys?.split(' ') ?? []));
  }

  /** The records of these keys. Ignores a key that no gateway writes, such as one of a source's record. */
  #recordsOf(keys: ReadonlySet<RecordKey>): ChangedRecord[] {
    return [...keys].flatMap((key) => {
      const [, collection = '', id, trashed] = KEY.exec(key) ?? [];
      const kind = kindOfCollection(this.#options.mapping, collection);
      return kind && Number(id) < FIRST_SOURCE_ID ? { kind, id: Number(id), isTrashed: trashed !== undefined } : [];
    });
  }

  #markApplied(id: string, entries: number): void {
    this.#applied = id;
    if (entries > 0) this.#options.observe({ type: 'cluster-applied', entries, id });
    for (const waiter of this.#waiting) if (compareIds(waiter.id, id) <= 0) waiter.resolve(true);
  }

  #setConnected(isConnected: boolean, error?: unknown): void {
    if (this.#isConnected === isConnected) return;
    this.#isConnected = isConnected;
    this.#sinceMs = Date.now();
    const reason = isConnected ? '' : reasonOf(error);
    if (!this.#stopping.signal.aborted) this.#options.observe({ type: 'cluster-connection', isConnected, reason });
  }
}

/** Without `isTrashed`: the records that `changed` gets have none. */
const nameOf = ({ kind, id }: ChangedRecord): string => `${kind} ${id}`;

/** Negative if `a` is before `b`. */
function compareIds(a: string, b: string): number {
  const [aMs = 0, aSequence = 0] = a.split('-').map(Number);
  const [bMs = 0, bSequence = 0] = b.split('-').map(Number);
  return aMs - bMs || aSequence - bSequence;
}
