// What a caller's lists have beyond the public ones: unpublished records, read from the CMS with the caller's
// credentials and kept in memory for ten seconds at most.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cms, CmsRecord, ListRequest } from '../cms/port.ts';
import { ApiError, CmsRejected, CmsUnavailable, ReplicaError } from '../errors.ts';
import { kindMappingOf, type Mapping } from '../mapping/mapping.ts';
import { type Kind, PLURALS, type PostKind, type PostRecord } from '../model/records.ts';
import type { Database } from '../store/database.ts';
import { getImage } from '../store/records.ts';
import { MAX_UNPUBLISHED_DATABASES, UnpublishedRecords } from '../store/unpublished-records.ts';
import type { Sync } from '../sync/sync.ts';
import { cmsToApiError } from './cms-errors.ts';
import { type CallContext, callOptions, type UnpublishedPart, type UnpublishedParts } from './request.ts';

const KEPT_MS = 10_000;
const MAX_PAGES = 20;
const SMALL_PAGE = 10;
/** Of all callers. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Records that are written to the database in one turn of the event loop. */
const RECORDS_PER_TURN = 20;

/** The database of one caller. */
interface Entry {
  number: number;
  userId: number;
  records: UnpublishedRecords;
  /** Resolves when the records of the kind are there. A kind that changed since is read into another one. */
  kinds: Map<PostKind, Promise<void>>;
  leases: number;
  /** No further request may use it. */
  isOutdated: boolean;
  usedMs: number;
}

/** A caller's records while one response is built. */
interface InUse {
  records: UnpublishedRecords;
  /**
   * Adds the images that these records show and the public does not see, such as one that was uploaded to a draft.
   * @param imageId of a record that is not in `records`
   */
  addImages(ids: readonly number[], imageId?: number): Promise<void>;
}

interface Dependencies {
  db: Database;
  cms: Pick<Cms, 'list' | 'images' | 'maxPageSize'>;
  mapping: Mapping;
  sync: Pick<Sync, 'site' | 'linkTables'>;
}

export class UnpublishedRecordsCache {
  readonly #dependencies: Dependencies;
  #entries: Entry[] = [];
  /** The numbers of databases that are not open. */
  readonly #free = Array.from({ length: MAX_UNPUBLISHED_DATABASES }, (_, number) => number);

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Forgets what it has of these kinds: a write, a webhook or a peer has named a record of them. */
  forget(kinds: ReadonlySet<Kind>): void {
    for (const entry of this.#entries)
      if ([...entry.kinds.keys()].some((kind) => kinds.has(kind))) this.#outdate(entry);
  }

  /**
   * Runs `work` with the caller's records of these kinds. Throws `CmsUnavailable`, and 400 for more records than
   * `MAX_PAGES` pages of the CMS have.
   */
  async use<T>(caller: CallContext, parts: UnpublishedParts, work: (inUse: InUse) => Promise<T>): Promise<T> {
    const entry = this.#entryOf(caller.actor.account!.userId);
    entry.leases += 1;
    try {
      await this.#fill(entry, parts, caller);
      const { records } = entry;
      const addImages = (ids: readonly number[], imageId = 0) => this.#addImages(records, ids, imageId, caller);
      return await work({ records, addImages });
    } finally {
      entry.leases -= 1;
      entry.usedMs = performance.now();
      if (entry.isOutdated) this.#closeUnused(entry);
    }
  }

  async #fill(entry: Entry, parts: UnpublishedParts, caller: CallContext): Promise<void> {
    try {
      for (const [kind, ofKind] of Object.entries(parts) as [PostKind, readonly UnpublishedPart[]][]) {
        const done = entry.kinds.get(kind) ?? this.#read(entry, kind, ofKind, caller);
        entry.kinds.set(kind, done);
        await done;
      }
    } catch (error) {
      this.#outdate(entry);
      throw error;
    }
  }

  async #addImages(
    records: UnpublishedRecords,
    ids: readonly number[],
    imageId: number,
    caller: CallContext,
  ): Promise<void> {
    const missing = records.missingImageIds(ids);
    if (imageId !== 0 && !getImage(records, imageId)) missing.push(imageId);
    if (missing.length === 0) return;
    const { cms } = this.#dependencies;
    for (let from = 0; from < missing.length; from += cms.maxPageSize) {
      const ids = missing.slice(from, from + cms.maxPageSize);
      // A record without its image is still a record.
      records.addImages(await cms.images(ids, callOptions(caller)).catch(() => []));
    }
  }

  #entryOf(userId: number): Entry {
    const own = this.#entries.find((entry) => entry.userId === userId && !entry.isOutdated);
    if (own) return own;
    if (this.#free.length === 0) this.#closeOldest();
    const number = this.#free.pop()!;
    const records = new UnpublishedRecords(this.#dependencies.db, number);
    const now = performance.now();
    const entry: Entry = { number, userId, records, kinds: new Map(), leases: 0, isOutdated: false, usedMs: now };
    this.#entries.push(entry);
    setTimeout(() => this.#outdate(entry), KEPT_MS).unref();
    return entry;
  }

  #closeOldest(): void {
    const [oldest] = this.#entries.filter(({ leases }) => leases === 0).sort((a, b) => a.usedMs - b.usedMs);
    if (!oldest) throw new CmsUnavailable('busy', 'Too many accounts list unpublished records at once.');
    this.#outdate(oldest);
  }

  #outdate(entry: Entry): void {
    entry.isOutdated = true;
    this.#closeUnused(entry);
  }

  #closeUnused(entry: Entry): void {
    if (entry.leases > 0 || !this.#entries.includes(entry)) return;
    this.#entries = this.#entries.filter((other) => other !== entry);
    this.#free.push(entry.number);
    try {
      entry.records.close();
    } catch (error) {
      // The replica was closed meanwhile, and the caller's database with it.
      if (!(error instanceof ReplicaError)) throw error;
    }
  }

  /** A hundred drafts of 60 KB are too large for one response: then ten are read at a time. */
  async #read(entry: Entry, kind: PostKind, parts: readonly UnpublishedPart[], caller: CallContext): Promise<void> {
    const { maxPageSize } = this.#dependencies.cms;
    for (const part of parts) {
      let limit = maxPageSize;
      for (let read = 0; ; ) {
        if (read >= MAX_PAGES * maxPageSize) throw tooManyRecords(kind, MAX_PAGES * maxPageSize);
        const page = await this.#readPage(kind, { ...part, limit, page: read / limit + 1 }, caller);
        if (page) await this.#add(entry, kind, page.records);
        if (page?.isLast) break;
        if (page) read += limit;
        else limit = limit === SMALL_PAGE ? 1 : SMALL_PAGE;
      }
    }
  }

  /** Undefined for several records that are too large for one response. */
  async #readPage(kind: PostKind, part: UnpublishedPart & { limit: number; page: number }, caller: CallContext) {
    const { cms, mapping } = this.#dependencies;
    const { limit, page } = part;
    const request: ListRequest = { view: 'reader', order: 'id', detail: 'mapped', ...part };
    try {
      const { records, total } = await cms.list(kindMappingOf(mapping, kind)!, request, callOptions(caller));
      return { records, isLast: page * limit >= total };
    } catch (error) {
      // The site has no such collection at present, and so no unpublished records of it.
      if (error instanceof CmsRejected && error.kind === 'no-collection') return { records: [], isLast: true };
      if (error instanceof CmsUnavailable && error.reason === 'too-large' && limit > 1) return undefined;
      throw cmsToApiError(error, { kind, anonymous: false });
    }
  }

  async #add(entry: Entry, kind: PostKind, cmsRecords: readonly CmsRecord[]): Promise<void> {
    const { mapping, sync } = this.#dependencies;
    const { read, occurrences, embedded } = kindMappingOf(mapping, kind)!;
    for (let from = 0; from < cmsRecords.length; from += RECORDS_PER_TURN) {
      const some = cmsRecords.slice(from, from + RECORDS_PER_TURN);
      // The CMS may have published one of them meanwhile: then visitors' view of it counts.
      const unpublished = some.filter(({ status }) => status !== 'publish');
      const records = unpublished.flatMap((record): PostRecord[] => [
        read(record, sync.site(), sync.linkTables()) as PostRecord,
        ...(occurrences?.(record, sync.site(), sync.linkTables()) ?? []),
        ...Object.values(embedded).flatMap((readEmbedded) => readEmbedded(record) ?? []),
      ]);
      entry.records.add(records);
      if (this.#entries.reduce((sum, each) => sum + each.records.bytes, 0) > MAX_BYTES) this.#makeRoom(entry);
      await nextTurn();
    }
  }

  #makeRoom(keep: Entry): void {
    for (const entry of [...this.#entries]) if (entry !== keep && entry.leases === 0) this.#outdate(entry);
    const bytes = this.#entries.reduce((sum, { records }) => sum + records.bytes, 0);
    if (bytes > MAX_BYTES) throw new CmsUnavailable('busy', 'The unpublished records of all callers are too large.');
  }
}

const tooManyRecords = (kind: PostKind, limit: number): ApiError =>
  new ApiError(
    400,
    'calendar_too_many_unpublished',
    `This account may see more than ${limit} unpublished ${PLURALS[kind]}: lists for it show no more. ` +
      'Log out to list what is published.',
    { data: { limit, kind } },
  );
