// What a caller's lists have beyond the public ones: unpublished records, read from the CMS with the caller's
// credentials and kept in memory for ten seconds at most.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Cms, CmsRecord, ListRequest } from '../cms/port.ts';
import { ApiError, CmsRejected, CmsUnavailable, ReplicaError } from '../errors.ts';
import { kindMappingOf, type Mapping } from '../mapping/mapping.ts';
import { type Kind, PLURALS, type PostKind, type PostRecord } from '../model/records.ts';
import type { Database } from '../store/database.ts';
import { MAX_OWN_DATABASES, OwnRecords } from '../store/own-records.ts';
import { getImage } from '../store/records.ts';
import type { Sync } from '../sync/sync.ts';
import { cmsToApiError } from './cms-errors.ts';
import { type Caller, callOptions, type UnpublishedPart, type UnpublishedParts } from './request.ts';

const KEPT_MS = 10_000;
const MAX_PAGES = 20;
const SMALL_PAGE = 10;
/** Of all callers. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Records that are written to the database in one turn of the event loop. */
const RECORDS_PER_TURN = 20;

interface Slot {
  number: number;
  userId: number;
  records: OwnRecords;
  /** Resolves when the records of the kind are there. A kind that changed since is read into another slot. */
  kinds: Map<PostKind, Promise<void>>;
  leases: number;
  /** No further request may use it. */
  isOutdated: boolean;
  usedMs: number;
}

/** A caller's records while one response is built. */
interface InUse {
  records: OwnRecords;
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

export class OwnRecordsCache {
  readonly #dependencies: Dependencies;
  #slots: Slot[] = [];
  /** The numbers of databases that are not open. */
  readonly #free = Array.from({ length: MAX_OWN_DATABASES }, (_, number) => number);

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
  }

  /** Forgets what it has of these kinds: a write, a webhook or a peer has named a record of them. */
  forget(kinds: ReadonlySet<Kind>): void {
    for (const slot of this.#slots) if ([...slot.kinds.keys()].some((kind) => kinds.has(kind))) this.#outdate(slot);
  }

  /**
   * Runs `work` with the caller's records of these kinds. Throws `CmsUnavailable`, and 400 for more records than
   * `MAX_PAGES` pages of the CMS have.
   */
  async use<T>(caller: Caller, parts: UnpublishedParts, work: (inUse: InUse) => Promise<T>): Promise<T> {
    const slot = this.#slotOf(caller.actor.account!.userId);
    slot.leases += 1;
    try {
      await this.#fill(slot, parts, caller);
      const { records } = slot;
      const addImages = (ids: readonly number[], imageId = 0) => this.#addImages(records, ids, imageId, caller);
      return await work({ records, addImages });
    } finally {
      slot.leases -= 1;
      slot.usedMs = performance.now();
      if (slot.isOutdated) this.#closeUnused(slot);
    }
  }

  async #fill(slot: Slot, parts: UnpublishedParts, caller: Caller): Promise<void> {
    try {
      for (const [kind, ofKind] of Object.entries(parts) as [PostKind, readonly UnpublishedPart[]][]) {
        const done = slot.kinds.get(kind) ?? this.#read(slot, kind, ofKind, caller);
        slot.kinds.set(kind, done);
        await done;
      }
    } catch (error) {
      this.#outdate(slot);
      throw error;
    }
  }

  async #addImages(records: OwnRecords, ids: readonly number[], imageId: number, caller: Caller): Promise<void> {
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

  #slotOf(userId: number): Slot {
    const own = this.#slots.find((slot) => slot.userId === userId && !slot.isOutdated);
    if (own) return own;
    if (this.#free.length === 0) this.#closeOldest();
    const number = this.#free.pop()!;
    const records = new OwnRecords(this.#dependencies.db, number);
    const now = performance.now();
    const slot: Slot = { number, userId, records, kinds: new Map(), leases: 0, isOutdated: false, usedMs: now };
    this.#slots.push(slot);
    setTimeout(() => this.#outdate(slot), KEPT_MS).unref();
    return slot;
  }

  #closeOldest(): void {
    const [oldest] = this.#slots.filter(({ leases }) => leases === 0).sort((a, b) => a.usedMs - b.usedMs);
    if (!oldest) throw new CmsUnavailable('busy', 'Too many accounts list unpublished records at once.');
    this.#outdate(oldest);
  }

  #outdate(slot: Slot): void {
    slot.isOutdated = true;
    this.#closeUnused(slot);
  }

  #closeUnused(slot: Slot): void {
    if (slot.leases > 0 || !this.#slots.includes(slot)) return;
    this.#slots = this.#slots.filter((other) => other !== slot);
    this.#free.push(slot.number);
    try {
      slot.records.close();
    } catch (error) {
      // The replica was closed meanwhile, and the caller's database with it.
      if (!(error instanceof ReplicaError)) throw error;
    }
  }

  /** A hundred drafts of 60 KB are too large for one response: then ten are read at a time. */
  async #read(slot: Slot, kind: PostKind, parts: readonly UnpublishedPart[], caller: Caller): Promise<void> {
    const { maxPageSize } = this.#dependencies.cms;
    for (const part of parts) {
      let limit = maxPageSize;
      for (let read = 0; ; ) {
        if (read >= MAX_PAGES * maxPageSize) throw tooManyRecords(kind, MAX_PAGES * maxPageSize);
        const page = await this.#readPage(kind, { ...part, limit, page: read / limit + 1 }, caller);
        if (page) await this.#add(slot, kind, page.records);
        if (page?.isLast) break;
        if (page) read += limit;
        else limit = limit === SMALL_PAGE ? 1 : SMALL_PAGE;
      }
    }
  }

  /** Undefined for several records that are too large for one response. */
  async #readPage(kind: PostKind, part: UnpublishedPart & { limit: number; page: number }, caller: Caller) {
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

  async #add(slot: Slot, kind: PostKind, cmsRecords: readonly CmsRecord[]): Promise<void> {
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
      slot.records.add(records);
      if (this.#slots.reduce((sum, each) => sum + each.records.bytes, 0) > MAX_BYTES) this.#makeRoom(slot);
      await nextTurn();
    }
  }

  #makeRoom(keep: Slot): void {
    for (const slot of [...this.#slots]) if (slot !== keep && slot.leases === 0) this.#outdate(slot);
    const bytes = this.#slots.reduce((sum, { records }) => sum + records.bytes, 0);
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
