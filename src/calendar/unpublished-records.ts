// What a caller's lists have beyond the public ones: unpublished records, read from the CMS with the caller's
// credentials and kept in memory for ten seconds at most.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cms, CmsRecord, ListRequest } from '../cms/port.ts';
import { CmsRejected, CmsUnavailable, ReplicaError } from '../errors.ts';
import { tooManyUnpublished } from '../interface/errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { KindOrImage, PostKind, PostRecord } from '../model/records.ts';
import { CallerDatabase } from '../store/caller-database.ts';
import type { Database } from '../store/database.ts';
import type { Sync } from '../sync/sync.ts';
import { type CallContext, callOptions, type UnpublishedScope, type UnpublishedScopes } from './request.ts';

/** SQLite attaches up to ten databases: two stay free. While requests use all eight, another caller gets 503. */
export const MAX_UNPUBLISHED_DATABASES = 8;
const KEPT_MS = 10_000;
const MAX_PAGES = 20;
const SMALL_PAGE = 10;
/** Of the databases of all callers together. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Records that are written to the database in one turn of the event loop. */
const RECORDS_PER_TURN = 20;

/** The database of one caller. */
interface Entry {
  userId: number;
  /** `caller3` is the database with the number 3. */
  number: number;
  database: CallerDatabase;
  /** Resolves when the records of the kind are there. */
  kinds: Map<PostKind, Promise<void>>;
  /** How many requests use the database now. With none, it is closed when another caller needs the room. */
  uses: number;
  /** True after ten seconds, and when a record of its kinds has changed. Then its last request closes the database. */
  isRetired: boolean;
}

/** A caller's records while one response is built. */
interface InUse {
  records: CallerDatabase;
  /**
   * Adds the images that these records show and the public does not see, such as one that was uploaded to a draft.
   * @param imageIds of a record that is not in `records`
   */
  addImagesOf(recordIds: readonly number[], imageIds?: readonly number[]): Promise<void>;
}

interface CacheParts {
  db: Database;
  cms: Pick<Cms, 'list' | 'images' | 'maxPageSize'>;
  mapping: Mapping;
  sync: Pick<Sync, 'site' | 'linkTables' | 'onFetchChanged'>;
}

export class UnpublishedRecordsCache {
  readonly #parts: CacheParts;
  readonly #entries = new Set<Entry>();
  readonly #freeNumbers = Array.from({ length: MAX_UNPUBLISHED_DATABASES }, (_, number) => number);

  constructor(parts: CacheParts) {
    this.#parts = parts;
    parts.sync.onFetchChanged((kinds) => this.#forget(kinds));
  }

  /** Retires the databases that have one of these kinds: a write, a webhook or a peer has named a record of them. */
  #forget(kinds: ReadonlySet<KindOrImage>): void {
    for (const entry of this.#entries) if ([...entry.kinds.keys()].some((kind) => kinds.has(kind))) this.#retire(entry);
  }

  /** Runs `work` with the caller's records. Throws `CmsUnavailable`, and 400 for more than `MAX_PAGES` pages. */
  async use<T>(caller: CallContext, scopes: UnpublishedScopes, work: (inUse: InUse) => Promise<T>): Promise<T> {
    const entry = this.#entryOf(caller.actor.account!.userId);
    const { database } = entry;
    entry.uses += 1;
    try {
      for (const [kind, ofKind] of Object.entries(scopes) as [PostKind, readonly UnpublishedScope[]][]) {
        // Two requests at the same time read a kind once.
        const reading = entry.kinds.get(kind) ?? this.#read(database, kind, ofKind, caller);
        entry.kinds.set(kind, reading);
        await reading.catch((error: unknown) => {
          // The database lacks some records of the kind: later requests make a new one, and `finally` closes this one.
          this.#retire(entry);
          throw error;
        });
      }
      const addImagesOf: InUse['addImagesOf'] = (recordIds, imageIds = []) =>
        this.#addImages(database, [...database.missingImageIds(recordIds), ...imageIds], caller);
      return await work({ records: database, addImagesOf });
    } finally {
      entry.uses -= 1;
      if (entry.isRetired) this.#retire(entry);
    }
  }

  #entryOf(userId: number): Entry {
    for (const entry of this.#entries) if (entry.userId === userId && !entry.isRetired) return entry;
    if (this.#freeNumbers.length === 0) this.#closeUnused();
    const number = this.#freeNumbers.pop();
    if (number === undefined) throw new CmsUnavailable('busy', 'Too many accounts list unpublished records at once.');
    const database = new CallerDatabase(this.#parts.db, number);
    const entry: Entry = { userId, number, database, kinds: new Map(), uses: 0, isRetired: false };
    this.#entries.add(entry);
    setTimeout(() => this.#retire(entry), KEPT_MS).unref();
    return entry;
  }

  #closeUnused(): void {
    for (const entry of this.#entries) if (entry.uses === 0) this.#retire(entry);
  }

  /** Closes the database if no request uses it. Otherwise the last request closes it (`use`). */
  #retire(entry: Entry): void {
    entry.isRetired = true;
    if (entry.uses > 0 || !this.#entries.delete(entry)) return;
    this.#freeNumbers.push(entry.number);
    try {
      entry.database.close();
    } catch (error) {
      // The replica was closed meanwhile, and the caller's database with it.
      if (!(error instanceof ReplicaError)) throw error;
    }
  }

  async #read(
    target: CallerDatabase,
    kind: PostKind,
    scopes: readonly UnpublishedScope[],
    caller: CallContext,
  ): Promise<void> {
    for (const scope of scopes)
      for await (const page of pagesOf(this.#parts, kind, scope, caller))
        for (let from = 0; from < page.length; from += RECORDS_PER_TURN) {
          target.add(recordsFrom(this.#parts, kind, page.slice(from, from + RECORDS_PER_TURN)));
          if (this.#bytes() > MAX_BYTES) this.#closeUnused();
          if (this.#bytes() > MAX_BYTES)
            throw new CmsUnavailable('busy', 'The unpublished records of all callers are too large.');
          await nextTurn();
        }
  }

  readonly #bytes = (): number => [...this.#entries].reduce((sum, { database }) => sum + database.bytes, 0);

  async #addImages(database: CallerDatabase, imageIds: readonly number[], caller: CallContext): Promise<void> {
    const { cms } = this.#parts;
    for (let from = 0; from < imageIds.length; from += cms.maxPageSize) {
      const page = imageIds.slice(from, from + cms.maxPageSize);
      // A record without its image is still a record.
      database.addImages(await cms.images(page, callOptions(caller)).catch(() => []));
    }
  }
}

/**
 * What the CMS lists to the caller of this scope, page by page. A hundred drafts of 60 KB are too large for one
 * response: then ten are read at a time, and if ten are too large each alone.
 */
async function* pagesOf(
  parts: CacheParts,
  kind: PostKind,
  scope: UnpublishedScope,
  caller: CallContext,
): AsyncGenerator<readonly CmsRecord[]> {
  const { maxPageSize } = parts.cms;
  let limit = maxPageSize;
  let read = 0;
  let isLast = false;
  while (!isLast) {
    if (read >= MAX_PAGES * maxPageSize) throw tooManyUnpublished(kind, MAX_PAGES * maxPageSize);
    // After 230 records, page 24 of ten: `read / limit` is whole, since `maxPageSize` is a multiple of ten.
    const page = await readPage(parts, kind, { ...scope, limit, page: read / limit + 1 }, caller);
    if (page === 'too-large') {
      limit = limit === SMALL_PAGE ? 1 : SMALL_PAGE;
      continue;
    }
    yield page.records;
    read += limit;
    isLast = page.isLast;
  }
}

async function readPage(
  { cms, mapping }: CacheParts,
  kind: PostKind,
  scope: UnpublishedScope & { limit: number; page: number },
  caller: CallContext,
): Promise<{ records: readonly CmsRecord[]; isLast: boolean } | 'too-large'> {
  const request: ListRequest = { view: 'reader', order: 'id', detail: 'mapped', ...scope };
  try {
    const { records, total } = await cms.list(mapping.kinds[kind]!, request, callOptions(caller));
    return { records, isLast: scope.page * scope.limit >= total };
  } catch (error) {
    // The site has no such collection at present, and so no unpublished records of it.
    if (error instanceof CmsRejected && error.kind === 'no-collection') return { records: [], isLast: true };
    if (error instanceof CmsUnavailable && error.reason === 'too-large' && scope.limit > 1) return 'too-large';
    throw error;
  }
}

/** The unpublished records among these, with the occurrences of events, and the venues and organizers in their text. */
function recordsFrom({ mapping, sync }: CacheParts, kind: PostKind, cmsRecords: readonly CmsRecord[]): PostRecord[] {
  const { read, occurrences, embedded } = mapping.kinds[kind]!;
  // The CMS may have published one of them meanwhile: then visitors' view of it counts.
  const unpublished = cmsRecords.filter(({ status }) => status !== 'publish');
  return unpublished.flatMap((record): PostRecord[] => [
    read(record, sync.site(), sync.linkTables()) as PostRecord,
    ...(occurrences?.(record, sync.site(), sync.linkTables()) ?? []),
    ...Object.values(embedded).flatMap((readEmbedded) => readEmbedded(record) ?? []),
  ]);
}
