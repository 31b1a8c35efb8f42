// The replica: the local SQLite copy of the CMS's records, with everything that can be written to it and
// queried.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type {
  CalendarRecord,
  ImageRecord,
  Kind,
  KindOrImage,
  LinkedKind,
  PostKind,
  RecordOf,
  TermKind,
  WallTime,
} from '../model/records.ts';
import { type ChangeJournal, openChangeJournal } from './change-journal.ts';
import type { ChangeSet } from './change-set.ts';
import type { Invalidate } from './counters.ts';
import { openDatabase } from './database.ts';
import type { EventFilter } from './event-filter.ts';
import { type EventStats, readEventStats } from './event-plan.ts';
import { queryEvents } from './event-query.ts';
import type { IdPage, LinkedFilter, TermFilter, Visibility } from './filters.ts';
import { openFullTextIndex } from './full-text-index.ts';
import { type IdempotencyStore, openIdempotencyStore } from './idempotency-keys.ts';
import { isLinkedToVisibleEvent, listLinked, listTerms, termCounts, visibleLinkedIds } from './list-queries.ts';
import { type Circle, locatedVenueIds } from './located-venues.ts';
import { type RecordStamp, recordQueries, type ScheduledRecord, type StampFilter } from './record-queries.ts';
import { createRenderedCache, type RenderedRecord } from './rendered-cache.ts';
import { REPLICA_FORMAT } from './schema.ts';
import { beginBatch } from './upsert.ts';

export { ReplicaInUse } from './database-file.ts';
export type { RenderedRecord } from './rendered-cache.ts';

export interface ReplicaOptions {
  /** Missing directories are created. Absent: a temporary database that ends with the process. */
  file?: string | undefined;
  /**
   * Site, mapping, whether there is a service account, and the id map. A file of another identity, or with
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
  /** Called after a change outside of a bulk load, with the records and images that changed. */
  onChanged?: ((records: readonly { kind: KindOrImage; id: number }[]) => void) | undefined;
  /** The clock that says when a change of a term was noticed. */
  nowMs?: () => number;
}

export interface Replica {
  /** Why the file that was there was quarantined (renamed to `FILE.quarantined`); undefined if it was not. */
  readonly quarantined: string | undefined;
  /** Files and directories that other users had access to, until this replica was opened. */
  readonly restrictedPaths: readonly string[];
  /** Grows with every change, and never decreases while the process lives. Stored in the file. */
  readonly version: number;
  /** Grows with every change that anonymous actors can see, and with no other. Stored in the file. */
  readonly publicVersion: number;

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
  /** Runs `body` in a transaction, all or nothing. Transactions may be nested. `body` must not wait. */
  transaction<T>(body: () => T): T;

  get<K extends Kind>(kind: K, id: number): RecordOf[K] | undefined;
  /** The records that exist, by id. */
  getMany<K extends Kind>(kind: K, ids: readonly number[]): Map<number, RecordOf[K]>;
  /** The stamps of the records that exist, by id: one query to compare a whole page of the CMS's records. */
  stampsById(kind: Kind, ids: readonly number[]): Map<number, RecordStamp>;
  /** All stamps, ascending by id. Terms ignore `statuses`. */
  stamps(kind: Kind, filter?: StampFilter): RecordStamp[];
  /** The scheduled records whose publication date is not after `nowUtc`, ascending by id. */
  dueScheduled(kind: PostKind, nowUtc: WallTime): ScheduledRecord[];
  kindOf(id: number): PostKind | undefined;
  /** The highest id of the kind, without occurrences; 0 without records. */
  maxId(kind: Kind): number;
  /** The ids of the occurrences of a series, ascending. */
  occurrenceIds(seriesId: number): number[];
  /** The number of records of each kind, without occurrences. */
  counts(): Record<Kind, number>;
  /** The ids of all posts of the kind with this slug, in any status, ascending. Ignores case and percent-encoding. */
  idsBySlug(kind: PostKind, slug: string): number[];
  termIdBySlug(kind: TermKind, slug: string): number | undefined;
  /** Ignores case, accents and the difference of `&amp;` and `&`. The lowest id of several. */
  termIdByName(kind: TermKind, name: string): number | undefined;

  getImage(id: number): ImageRecord | undefined;
  getImages(ids: readonly number[]): Map<number, ImageRecord>;
  /** The posts whose own image this is. */
  postsWithImage(id: number): { kind: PostKind; id: number }[];
  /** Ids of images above `after`, ascending. */
  imageIds(after: number, limit: number): number[];
  /** Ids above `after` of images that records refer to and the replica lacks, ascending. */
  missingImageIds(after: number, limit: number): number[];

  listEvents(filter: EventFilter): IdPage;
  listLinked(kind: LinkedKind, filter: LinkedFilter): IdPage;
  listTerms(filter: TermFilter): IdPage;
  /** Those of these venues or organizers that are visible. None in the trash. */
  visibleLinkedIds(kind: LinkedKind, ids: readonly number[], visibility: Visibility): number[];
  /** The visible venues with coordinates, or those of them in the circle, without protected ones. */
  locatedVenueIds(visibility: Visibility, circle?: Circle): number[];
  /** True if the venue or organizer is linked to an event that is visible and not protected. */
  isLinkedToVisibleEvent(kind: LinkedKind, id: number, eventVisibility: Visibility): boolean;
  /**
   * The number of published events with the term. Hidden events count, protected events do not.
   */
  termCount(kind: TermKind, id: number): number;
  termCounts(kind: TermKind, ids: readonly number[]): Map<number, number>;
  /** The categories and all their descendants, each once. */
  withDescendants(categoryIds: readonly number[]): number[];
  /**
   * The events in any status that show this record or image. An event also shows the images of its venues and
   * organizers.
   */
  eventIdsShowing(kind: Exclude<Kind, 'event'> | 'image', id: number): number[];

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

  /** What the sync stores beside the records. */
  state(key: string): string | undefined;
  /** Writes nothing if the value is the stored one. */
  setState(key: string, value: string | undefined): void;
  readonly idempotency: IdempotencyStore;
  /** What changed in the public lists. A bulk load makes its positions unknown. */
  readonly journal: ChangeJournal;

  /**
   * Merges a few segments of the full-text index. Returns true if there are more. Call it after every batch
   * of changes, in its own turn of the event loop: unmerged segments slow down searches, and too many of them
   * the next change. Does nothing in a bulk load.
   */
  mergeFts(): boolean;
  /**
   * Starts a bulk load, such as the initial sync: changes are committed in groups and do not wait for the
   * disk, and an empty replica leaves new texts out of the full-text index. A failed change rolls back the
   * changes of the last moment (the next change fails too), a killed process loses them, and after a crash of
   * the machine the file is quarantined.
   */
  beginBulkLoad(): void;
  /** Indexes the texts that were left out, in small steps, and makes everything durable. */
  endBulkLoad(): Promise<void>;
  /** What SQLite finds wrong with the file; empty if nothing. Reads the whole file. */
  integrityCheck(): string[];
  /**
   * Throws `ReplicaError` if a change could not be written now, for example because the disk is full. Writes
   * a few pages to find out.
   */
  assertWritable(): void;
  close(): void;
}

const DEFAULT_RENDERED_BYTES = 32 * 1024 * 1024;
/**
 * The totals of lists are cached up to this many characters of their filters: one filter may name thousands
 * of venues.
 */
const MAX_TOTALS_CHARACTERS = 2_000_000;
const NO_JOURNAL = { add() {}, prune() {} };
/** Texts that a bulk load indexes in one step: about five milliseconds. */
const TEXTS_PER_STEP = 40;
/**
 * Texts of one segment of the full-text index: FTS5 collects about as many in 4 MiB of memory. Larger
 * segments need fewer merges.
 */
const TEXTS_PER_SEGMENT = 4000;

/**
 * Opens the replica, or creates it. Calls throw `ReplicaError`: `unwritable` if the disk is full (the change
 * is rolled back, and the replica can be used further), or `damaged`.
 * @throws ConfigError if the file cannot be opened or written; ReplicaInUse if another process has it open
 */
export function openReplica(options: ReplicaOptions): Replica {
  const { file, identity, renderedBytes = DEFAULT_RENDERED_BYTES, minVersion = 0, quarantine, onDamage } = options;
  const { nowMs = Date.now, onChanged } = options;
  const db = openDatabase({
    file,
    identity: `${REPLICA_FORMAT} ${identity}`,
    quarantine,
    onDamage,
    onRollback: resetAfterRollback,
  });
  const rendered = createRenderedCache(renderedBytes);
  const fullText = openFullTextIndex(db);
  const queries = recordQueries(db);
  const journal = openChangeJournal(db);
  let version = Math.max(minVersion, Number(db.meta('version')));
  let publicVersion = minVersion + Number(db.meta('public_version'));

  // Changes keep it correct; undefined until it is read, and after a rollback.
  let counts: Record<Kind, number> | undefined;
  // Derived from the contents, and valid until they change.
  const totals = new LRUCache<string, number>({
    maxSize: MAX_TOTALS_CHARACTERS,
    sizeCalculation: (_total, filter) => filter.length,
  });
  let stats: EventStats | undefined;
  let isBulkLoad = false;

  function clearDerived(): void {
    totals.clear();
    stats = undefined;
  }

  function setVersion(next: number, isPublicChange: boolean): void {
    version = next;
    clearDerived();
    db.setMeta('version', String(version));
    if (!isPublicChange) return;
    publicVersion += 1;
    db.setMeta('public_version', String(publicVersion));
  }

  /** What is derived from contents that were rolled back is wrong, and their versions must not be used again. */
  function resetAfterRollback(): void {
    version += 1;
    publicVersion += 1;
    counts = undefined;
    clearDerived();
    rendered.clear();
    fullText.reload();
  }

  function apply({ upserts = [], images = [], deletes = [], state = {} }: ChangeSet): number {
    const changed: { kind: KindOrImage; id: number }[] = [];
    db.transaction(() => {
      const next = version + 1;
      const invalidate: Invalidate = (kind, id) => rendered.invalidate(kind, id, next);
      const batch = beginBatch(db, fullText, invalidate, isBulkLoad ? NO_JOURNAL : journal, nowMs);
      for (const image of images) if (batch.upsertImage(image)) changed.push({ kind: 'image', id: image.id });
      for (const record of upserts) if (batch.upsert(record)) changed.push(record);
      for (const { kind, ids } of deletes) for (const id of ids) if (batch.delete(kind, id)) changed.push({ kind, id });
      for (const [key, value] of Object.entries(state)) queries.setState(key, value);
      if (changed.length === 0) return;
      batch.finish();
      if (counts) for (const [kind, records] of batch.growth) counts[kind] += records;
      setVersion(next, batch.changesPublic());
    });
    if (changed.length > 0 && !isBulkLoad) onChanged?.(changed);
    return changed.length;
  }

  async function indexDeferredTexts(): Promise<void> {
    for (let texts = 0; !fullText.isComplete(); ) {
      texts += db.transaction(() => fullText.indexDeferred(TEXTS_PER_STEP));
      await nextTurn();
      if (texts < TEXTS_PER_SEGMENT && !fullText.isComplete()) continue;
      texts = 0;
      db.flush();
      while (fullText.merge()) await nextTurn();
    }
    clearDerived();
  }

  return {
    quarantined: db.quarantined,
    restrictedPaths: db.restrictedPaths,
    get version() {
      return version;
    },
    get publicVersion() {
      return publicVersion;
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
    listEvents(filter) {
      stats ??= readEventStats(db);
      return queryEvents(db, stats, totals, filter);
    },
    listLinked: (kind, filter) => listLinked(db, kind, filter),
    listTerms: (filter) => listTerms(db, filter),
    visibleLinkedIds: (kind, ids, visibility) => visibleLinkedIds(db, kind, ids, visibility),
    locatedVenueIds: (visibility, circle) => locatedVenueIds(db, visibility, circle),
    isLinkedToVisibleEvent: (kind, id, eventVisibility) => isLinkedToVisibleEvent(db, kind, id, eventVisibility),
    termCount: (kind, id) => termCounts(db, kind, [id]).get(id) ?? 0,
    termCounts: (kind, ids) => termCounts(db, kind, ids),
    getRendered: (rendering, kind, id) => rendered.get(rendering, kind, id, version),
    setRendered: (rendering, record, entry) => rendered.set(rendering, record, entry, version),
    peekRendered: (rendering, kind, id) => rendered.peek(rendering, kind, id),
    clearRendered() {
      // Cached responses hold what was rendered.
      version += 1;
      publicVersion += 1;
      rendered.clear();
    },
    idempotency: openIdempotencyStore(db),
    journal,
    mergeFts: () => !isBulkLoad && fullText.merge(),
    beginBulkLoad() {
      isBulkLoad = true;
      db.setBulkLoad(true);
      fullText.defer();
    },
    async endBulkLoad() {
      await indexDeferredTexts();
      if (isBulkLoad) db.transaction(() => journal.reset());
      db.setBulkLoad(false);
      isBulkLoad = false;
    },
    integrityCheck: () => db.integrityCheck(),
    assertWritable: () => db.assertWritable(),
    close: () => db.close(),
  };
}
