// The replica: the local SQLite copy of what the CMS shows to everybody.

import { LRUCache } from 'lru-cache';
import type { CalendarRecord, ImageRecord, Kind, KindOrImage, TermKind } from '../model/records.ts';
import { type ChangeJournal, openChangeJournal } from './change-journal.ts';
import type { ChangeSet } from './change-set.ts';
import { Database } from './database.ts';
import { mergeIndex } from './full-text-index.ts';
import { type IdempotencyStore, openIdempotencyStore } from './idempotency-keys.ts';
import { listEvents } from './list-events.ts';
import { isLinkedToEvent, linkedIds, listLinked, listTerms, termCount } from './list-queries.ts';
import { locatedVenueIds } from './located-venues.ts';
import { OwnRecords, type RecordView } from './own-records.ts';
import { type RecordQueries, recordQueries } from './record-queries.ts';
import { createRenderedCache, type RenderedRecord } from './rendered-cache.ts';
import { REPLICA_FORMAT } from './schema.ts';
import { ChangeBatch } from './upsert.ts';

export { ReplicaInUse } from './database-file.ts';
export type { RenderedRecord } from './rendered-cache.ts';

export interface ReplicaOptions {
  /** Missing directories are created. Absent: a temporary database that ends with the process. */
  file?: string | undefined;
  /**
   * Site, mapping, as whom the sync reads, and the id map. A file of another identity, or with
   * records of other fields, is quarantined.
   */
  identity: string;
  /** Memory for rendered records, 32 MiB by default. */
  renderedBytes?: number;
  /**
   * The version starts here at least: the last version of a replica that this one replaces in the same
   * process.
   */
  minVersion?: number;
  /** Why the existing file must not be used: it is quarantined unopened. */
  quarantine?: string | undefined;
  /**
   * Called once, when a call notices that the file is damaged. The replica must then be closed and replaced;
   * until then calls may fail.
   */
  onDamage?: (reason: string) => void;
  /** Called after a change outside of the initial sync, with the records and images that changed. */
  onChanged?: ((records: readonly { kind: KindOrImage; id: number }[]) => void) | undefined;
  /** The clock that says when a change of a term was noticed. */
  nowMs?: () => number;
}

export interface Replica extends RecordView, RecordQueries {
  /** Why the file that was there was quarantined (renamed to `FILE.quarantined`); undefined if it was not. */
  readonly quarantined: string | undefined;
  /** Files and directories that other users had access to, until this replica was opened. */
  readonly restrictedPaths: readonly string[];
  /** Grows with every change, and never decreases while the process lives. Stored in the file. */
  readonly version: number;

  /**
   * Applies a change set in one transaction. Returns how many records and images changed: those equal to the
   * stored ones change nothing, and leave the version alone.
   */
  apply(changes: ChangeSet): number;
  /** Inserts or replaces records and images. If a stored post of another kind has the id, it is replaced. */
  upsert(records: readonly CalendarRecord[], images?: readonly ImageRecord[]): number;
  /**
   * Returns how many were there. The occurrences of a deleted series are deleted with it. Records that link
   * to a deleted one keep the link until they are read again.
   */
  delete(kind: KindOrImage, ids: readonly number[]): number;
  /** Runs `body` in a transaction, all or nothing. `body` must not wait. */
  transaction<T>(body: () => T): T;

  /** The number of published events with the term. Hidden events count, protected events do not. */
  termCount(kind: TermKind, id: number): number;
  /** Opens a database for one caller's unpublished records: `number` is below `MAX_OWN_DATABASES`. */
  openOwn(number: number): OwnRecords;

  /**
   * A rendered record that is valid now. Rendered records are cached in memory. `rendering` names the form
   * (`single`, or `item` of a list) and the base URL.
   */
  getRendered(rendering: string, kind: Kind, id: number): RenderedRecord | undefined;
  /**
   * Caches a rendered record. `record` must be what it was rendered from, read at the current version
   * (without `await` in between): the cache invalidates the entry when `record` or a record that it links to
   * changes. For any other change call `clearRendered`.
   */
  setRendered(rendering: string, record: CalendarRecord, rendered: RenderedRecord): void;
  /** The rendered record that was cached last, even if it is outdated; undefined if it was evicted. */
  peekRendered(rendering: string, kind: Kind, id: number): RenderedRecord | undefined;
  clearRendered(): void;

  readonly idempotency: IdempotencyStore;
  /** What changed in the public lists. The initial sync makes its positions unknown. */
  readonly journal: ChangeJournal;
  /** As `mergeIndex`: call it after every batch of changes, until it returns false. */
  mergeFts(): boolean;
  /** Until `endInitialSync`, changes have no entries in the journal. */
  beginInitialSync(): void;
  endInitialSync(): void;
  /** What SQLite finds wrong with the file; empty if nothing. Reads the whole file. */
  integrityCheck(): string[];
  close(): void;
}

const DEFAULT_RENDERED_BYTES = 32 * 1024 * 1024;
/**
 * The totals of lists are cached up to this many characters of their statements: one filter may name thousands
 * of venues.
 */
const MAX_TOTALS_CHARACTERS = 2_000_000;
const NO_JOURNAL = { add() {}, restored() {} };

/**
 * Opens the replica, or creates it. Calls throw `ReplicaError`: `unwritable` if the disk is full (the change
 * is rolled back, and the replica can be used further), or `damaged`.
 * @throws ConfigError if the file cannot be opened or written; ReplicaInUse if another process has it open
 */
export function openReplica(options: ReplicaOptions): Replica {
  const { identity, renderedBytes = DEFAULT_RENDERED_BYTES, minVersion = 0, onChanged, nowMs = Date.now } = options;
  const db = new Database({
    ...options,
    identity: `${REPLICA_FORMAT} ${identity}`,
    onRollback: resetAfterRollback,
  });
  const rendered = createRenderedCache(renderedBytes);
  const queries = recordQueries(db);
  const journal = openChangeJournal(db);
  let version = Math.max(minVersion, Number(db.meta('version')));
  // Changes keep it correct; undefined until it is read, and after a rollback.
  let counts: Record<Kind, number> | undefined;
  /** Valid until the contents change. */
  const totals = new LRUCache<string, number>({
    maxSize: MAX_TOTALS_CHARACTERS,
    sizeCalculation: (_total, statement) => statement.length,
  });
  let isInitialSync = false;

  function setVersion(next: number): void {
    version = next;
    totals.clear();
  }

  /** What is derived from contents that were rolled back is wrong, and their version must not be used again. */
  function resetAfterRollback(): void {
    setVersion(version + 1);
    counts = undefined;
    rendered.clear();
  }

  function apply({ upserts = [], images = [], deletes = [], withheld = [], state = {} }: ChangeSet): number {
    const changed: { kind: KindOrImage; id: number }[] = [];
    db.transaction(() => {
      const next = version + 1;
      const batch = new ChangeBatch(db, {
        invalidate: (kind, id) => rendered.invalidate(kind, id, next),
        journal: isInitialSync ? NO_JOURNAL : journal,
        nowMs,
      });
      for (const image of images) if (batch.upsertImage(image)) changed.push({ kind: 'image', id: image.id });
      for (const record of upserts) if (batch.upsert(record)) changed.push(record);
      for (const { kind, ids, trashed } of deletes)
        for (const id of ids) if (batch.delete(kind, id, trashed?.has(id))) changed.push({ kind, id });
      for (const record of withheld) if (batch.withhold(record.kind, record.id)) changed.push(record);
      for (const [key, value] of Object.entries(state)) queries.setState(key, value);
      if (changed.length === 0) return;
      journal.prune();
      if (counts) for (const [kind, records] of batch.growth) counts[kind] += records;
      setVersion(next);
      db.setMeta('version', String(version));
    });
    if (changed.length > 0 && !isInitialSync) onChanged?.(changed);
    return changed.length;
  }

  const replica: Replica = {
    quarantined: db.quarantined,
    restrictedPaths: db.restrictedPaths,
    get version() {
      return version;
    },
    apply,
    upsert: (upserts, images = []) => apply({ upserts, images }),
    delete: (kind, ids) => apply({ deletes: [{ kind, ids }] }),
    transaction: (body) => db.transaction(body),
    ...queries,
    counts() {
      counts ??= queries.counts();
      return { ...counts };
    },
    listEvents: (filter) => listEvents(db, totals, filter),
    listLinked: (kind, filter) => listLinked(db, totals, kind, filter),
    listTerms: (filter) => listTerms(db, totals, filter),
    linkedIds: (kind, ids) => linkedIds(db, kind, ids),
    locatedVenueIds: (circle) => locatedVenueIds(db, circle),
    isLinkedToEvent: (kind, id) => isLinkedToEvent(db, kind, id),
    termCount: (kind, id) => termCount(db, totals, kind, id),
    openOwn: (number) => new OwnRecords(db, replica, number),
    getRendered: (rendering, kind, id) => rendered.get(rendering, kind, id, version),
    setRendered: (rendering, record, entry) => rendered.set(rendering, record, entry, version),
    peekRendered: (rendering, kind, id) => rendered.peek(rendering, kind, id),
    clearRendered() {
      // Cached responses hold what was rendered.
      setVersion(version + 1);
      rendered.clear();
    },
    idempotency: openIdempotencyStore(db),
    journal,
    mergeFts: () => mergeIndex(db),
    beginInitialSync() {
      isInitialSync = true;
    },
    endInitialSync() {
      if (isInitialSync) db.transaction(() => journal.reset());
      isInitialSync = false;
    },
    integrityCheck: () => db.integrityCheck(),
    close: () => db.close(),
  };
  return replica;
}
