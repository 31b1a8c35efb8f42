// How answers of the CMS come into the copy: never over something newer, and in slices.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { UpstreamAway } from '../errors.ts';
import type { JoinTables } from '../mapping/joins.ts';
import type { Observe } from '../observe/events.ts';
import { type CalendarRecord, type Kind, type PostRecord, type Site, WITHHELD } from '../records.ts';
import type { CallOptions, Credentials, Native, Query } from '../upstream/port.ts';
import type { Asking } from './asking.ts';
import { type Collection, idOf, type Row, utcText } from './collections.ts';
import type { Commit } from './commit.ts';
import { orphansOf, type Removal, withInline } from './inline-records.ts';
import { createMarks, type Marks } from './marks.ts';
import { createRemovals, type Removals } from './removals.ts';
import { createRendering, type Rendering } from './rendering.ts';
import type { Replica } from './store.ts';

export interface TakingOptions {
  replica: Replica;
  commit: Commit;
  asking: Asking;
  collections: readonly Collection[];
  service: Credentials;
  observe: Observe;
  site: () => Site;
  /** How events name linked records. */
  joins: () => JoinTables;
  nowMs: () => number;
  /** Whether the replica was the whole CMS once. */
  isComplete(): boolean;
}

export interface Taking {
  /** The facts of the site that its records are read with. */
  site(): Site;
  asking: Asking;
  commit: Commit;
  marks: Marks;
  rendering: Rendering;
  /** Puts what was asked for at `askedAt` into the copy. `byId`: it was asked for by id, to be believed. */
  take(collection: Collection, natives: readonly Native[], askedAt: number, byId?: boolean): Promise<void>;
  /** Reads these records by id: what is there is put in, what is not goes. */
  fetch(
    collection: Collection,
    ids: readonly number[],
    how?: { named?: ReadonlySet<number>; confirmed?: boolean },
  ): Promise<void>;
  removals: Removals;
  /** Reads by id what was put off, and what may have changed once more within the same second. */
  fetchPending(collection: Collection, named?: ReadonlySet<number>): Promise<void>;
  fetchImages(ids: readonly number[]): Promise<void>;
  /** Images of records that were read by id since the last call. */
  imagesToRead(): number[];
  copied(collection: Collection, id: number): Row | undefined;
  /** Records of the kind that the copy holds within the collection's statuses. */
  count(collection: Collection): number;
  /** What is modified from here on was not walked past yet. */
  watermark: Map<Kind, string>;
  /** Kinds that this process has looked at: before that, it does not know which of the newest records are settled. */
  looked: Set<Kind>;
  /** Grows with every change of the kind's records in the copy. */
  revision(kind: Kind): number;
  wrote(kind: Kind, id: number): void;
  /** Another gateway changed the record in the copy: what is being asked now is older. */
  overtaken(kind: Kind, id: number): void;
  /** Keeps the marks of writes until the result is called. */
  hold(): () => void;
}

/** An answer that is older than the replica's record is believed when it was given so often over so long a time. */
const OLDER = { answers: 3, ms: 5 * 60_000 };
/** Before more images than this go, some of them are asked for one by one. */
const MANY_IMAGES = 10;
const MEDIA = { base: 'media', select: 'id', scope: {} };

/** A slice is as many records as went into this time, going by the slice before it: nobody waits much longer for an answer. */
const SLICE_MS = 4;
const SLICE = { first: 10, least: 5, most: 50 };

/**
 * One for each copy: it knows which answers are older than what the copy has. `take`, `fetch` and their like commit in slices, so that
 * what was done until an error of the CMS stays; they throw it on.
 */
export function createTaking(options: TakingOptions): Taking {
  const { replica, commit, asking, site, joins, nowMs } = options;
  const { counts, pageSize } = asking;
  const marks = createMarks();
  const images = new Set<number>();
  const watermark = new Map<Kind, string>();
  const looked = new Set<Kind>();
  const revisions = new Map<Kind, number>();
  let holders = 0;
  let slice: number = SLICE.first;
  let counted: { version: number; kinds: Record<string, number> } = { version: -1, kinds: {} };

  /** Answers by id that were older than the replica's record. */
  const older = new Map<string, { modifiedUtc: string; sinceMs: number; answers: number }>();
  const removals = createRemovals({ asking, nowMs, isComplete: options.isComplete, count });
  const noOrphans = (): Removal[] => [];
  const removeAll = async (remove: Removal[]): Promise<void> => {
    if (remove.length > 0) await commit(() => ({ remove }));
  };
  const revise = (kind: Kind) => revisions.set(kind, (revisions.get(kind) ?? 0) + 1);

  function copied({ kind, posts }: Collection, id: number): Row | undefined {
    const row = replica.ids(kind, { after: id - 1, limit: 1 })[0];
    if (row?.id !== id) return undefined;
    // What is withheld from the public is published in the CMS.
    const status = row.status === WITHHELD ? 'publish' : row.status;
    return posts ? { ...row, status } : { ...row, modifiedUtc: '' };
  }

  const rendering = createRendering({
    ...{ ...options, marks, copied },
    byIds: async (collection, ids, as) => (await byIds(collection, ids, as)).natives,
  });

  /**
   * Whether an answer by id counts whose `modified` is older than the replica's: what stands before the CMS may answer from a cache or from
   * a lagging database. The same answer over some minutes is the CMS's word, as after a backup was restored. A `modified` to come, or
   * one that is the publication date, is no time of a change.
   */
  function isBelieved({ kind }: Collection, id: number, before: string, modifiedUtc: string): boolean {
    const held = replica.get(kind, id) as PostRecord | undefined;
    if (before > utcText(asking.serverTimeMs) || held?.dateUtc === before) return true;
    const key = `${kind} ${id}`;
    const doubt = older.get(key);
    if (doubt?.modifiedUtc !== modifiedUtc) {
      older.set(key, { modifiedUtc, sinceMs: nowMs(), answers: 1 });
      return false;
    }
    doubt.answers += 1;
    return doubt.answers >= OLDER.answers && nowMs() - doubt.sinceMs >= OLDER.ms;
  }

  /** The record, unless the copy has something newer than this answer: then it is put off. */
  function acceptable(
    collection: Collection,
    native: Native,
    askedAt: number,
    byId: boolean,
  ): CalendarRecord | undefined {
    const { kind } = collection;
    const id = idOf(native);
    if (marks.isWrittenAfter(kind, id, askedAt)) {
      marks.later(kind, [id]);
      return undefined;
    }
    const record = collection.read(native, site(), joins());
    if (collection.posts) {
      const { modifiedUtc } = record as PostRecord;
      const before = copied(collection, id)?.modifiedUtc;
      // Older than the replica: a write put that in of which this answer does not know. Read by id, it is believed after some minutes.
      if (before !== undefined && before > modifiedUtc && !(byId && isBelieved(collection, id, before, modifiedUtc))) {
        marks.later(kind, [id]);
        return undefined;
      }
      older.delete(`${kind} ${id}`);
      const fresh = (before !== modifiedUtc || !looked.has(kind)) && modifiedUtc >= (watermark.get(kind) ?? '');
      marks.settle(kind, id, { readMs: asking.clockAt(askedAt), fresh });
    } else marks.settled(kind, id);
    if (byId) marks.written(kind, id, askedAt);
    if ('image' in record && record.image !== 0 && (byId || !replica.image(record.image))) images.add(record.image);
    return record;
  }

  async function take(
    collection: Collection,
    natives: readonly Native[],
    askedAt: number,
    byId = false,
  ): Promise<void> {
    const distinct = new Map(natives.map((native) => [idOf(native), native]));
    distinct.delete(0);
    const shown = await rendering.shown(collection, [...distinct.values()], { byId });
    const rows = shown.map((native) => [idOf(native), native] as const);
    for (let from = 0; from < rows.length; ) {
      const begun = performance.now();
      const some = rows.slice(from, from + slice);
      from += some.length;
      let orphans = noOrphans;
      const changed = await commit(() => {
        const records: CalendarRecord[] = [];
        for (const [, native] of some) {
          const record = acceptable(collection, native, askedAt, byId);
          if (record) records.push(record, ...withInline(collection, native, site()));
        }
        orphans = orphansOf(
          replica,
          collection,
          records.map(({ id }) => id),
        );
        return { put: records };
      });
      await removeAll(orphans());
      if (changed > 0) revise(collection.kind);
      counts.changed += changed;
      const wanted = Math.round((some.length * SLICE_MS) / Math.max(0.1, performance.now() - begun));
      slice = Math.max(SLICE.least, Math.min(SLICE.most, wanted));
      await nextTurn();
      if (changed > 0 && collection.kind === 'event') while (replica.tidy()) await nextTurn();
    }
  }

  /** Removes what was known to be gone at `askedAt`. A term that went takes itself out of its events, without touching their `modified`. */
  async function drop(collection: Collection, ids: readonly number[], askedAt: number): Promise<void> {
    for (let from = 0; from < ids.length; from += SLICE.first) {
      const some = ids.slice(from, from + SLICE.first);
      let orphans = noOrphans;
      const removed = await commit(() => {
        const gone = goneOf(collection, some, askedAt);
        orphans = orphansOf(replica, collection, gone);
        return { remove: [{ kind: collection.kind, ids: gone }] };
      });
      await removeAll(orphans());
      if (removed > 0) revise(collection.kind);
      counts.removed += removed;
      await nextTurn();
    }
  }

  /** Those that the copy still has, and nobody wrote since; what that means for other records is noted. */
  function goneOf(collection: Collection, ids: readonly number[], askedAt: number): number[] {
    const { kind, statuses, posts } = collection;
    const [written, certain] = [ids.filter((id) => marks.isWrittenAfter(kind, id, askedAt)), new Set(ids)];
    for (const id of written) certain.delete(id);
    marks.later(kind, written);
    const gone = [...certain].filter((id) => {
      const row = copied(collection, id);
      return row !== undefined && (!posts || statuses.includes(row.status));
    });
    if (!posts && kind !== 'event') for (const id of gone) marks.later('event', replica.eventsWith(kind, id));
    for (const id of certain) marks.settled(kind, id);
    return gone;
  }

  function count(collection: Collection): number {
    const { kind, posts, hidden, statuses } = collection;
    if (counted.version !== replica.version) counted = { version: replica.version, kinds: replica.counts() };
    const all = counted.kinds[kind] ?? 0;
    const unasked = hidden.filter((status) => !statuses.includes(status));
    return posts && unasked.length > 0 ? all - replica.ids(kind, { statuses: unasked }).length : all;
  }

  /** Rows may repeat, so that there can be more than a page. */
  async function byIds(
    collection: Collection,
    ids: readonly number[],
    as?: { scope: Query; options: CallOptions },
  ): Promise<{ natives: Native[]; askedAt: number }> {
    const natives: Native[] = [];
    let askedAt = 0;
    for (let page = 1; ; page += 1) {
      const query = { include: ids.join(','), per_page: pageSize, page, _fields: collection.select };
      const answer = await asking.ask(collection, query, as);
      askedAt ||= answer.askedAt;
      natives.push(...answer.items);
      if (page * pageSize >= answer.total || answer.items.length === 0) return { natives, askedAt };
    }
  }

  async function fetch(
    collection: Collection,
    ids: readonly number[],
    { named, confirmed = false }: { named?: ReadonlySet<number>; confirmed?: boolean } = {},
  ): Promise<void> {
    const size = collection.dedupe ? Math.ceil(pageSize / 5) : pageSize;
    const missing: { ids: number[]; askedAt: number }[] = [];
    for (let from = 0; from < ids.length; from += size) {
      const some = ids.slice(from, from + size);
      const { natives, askedAt } = await byIds(collection, some);
      await take(collection, natives, askedAt, true);
      const there = new Set(natives.map(idOf));
      removals.settled(collection.kind, there);
      missing.push({ ids: some.filter((id) => !there.has(id)), askedAt });
    }
    const held = missing.flatMap((one) => one.ids).filter((id) => copied(collection, id) !== undefined);
    const known = new Set(held);
    const admitted = new Set(confirmed ? held : await removals.admit(collection, held, named));
    for (const { ids: some, askedAt } of missing) {
      await drop(
        collection,
        some.filter((id) => admitted.has(id) || !known.has(id)),
        askedAt,
      );
    }
    removals.settled(collection.kind, admitted);
  }

  return {
    site,
    asking,
    commit,
    marks,
    rendering,
    take,
    fetch,
    removals,
    async fetchPending(collection, named) {
      const { ids, again } = marks.takePending(collection.kind);
      try {
        await fetch(collection, ids, named === undefined ? {} : { named });
      } catch (error) {
        again();
        throw error;
      }
    },
    async fetchImages(ids) {
      const missing: number[] = [];
      for (let from = 0; from < ids.length; from += pageSize) {
        const some = ids.slice(from, from + pageSize);
        const found = await asking.images(some);
        counts.changed += await commit(() => ({ images: found }));
        const there = new Set(found.map(({ id }) => id));
        missing.push(...some.filter((id) => !there.has(id)));
      }
      const copies = missing.filter((id) => replica.image(id) !== undefined);
      if (copies.length > MANY_IMAGES && !(await removals.areMissing(MEDIA, copies)))
        throw new UpstreamAway('incomplete', "The CMS's list of media leaves out items that are there.");
      for (let from = 0; from < missing.length; from += pageSize) {
        const gone = missing.slice(from, from + pageSize);
        // The CMS takes an image that it deletes out of its posts, without touching their `modified`.
        for (const { kind, id } of gone.flatMap((image) => replica.postsWithImage(image))) marks.later(kind, [id]);
        counts.removed += await commit(() => ({ remove: [{ kind: 'image', ids: gone }] }));
      }
    },
    imagesToRead() {
      const ids = [...images];
      images.clear();
      return ids;
    },
    copied,
    count,
    watermark,
    looked,
    revision: (kind) => revisions.get(kind) ?? 0,
    wrote(kind, id) {
      marks.ours(kind, id, asking.moment(), nowMs());
      revise(kind);
    },
    overtaken(kind, id) {
      if (holders > 0) marks.written(kind, id, asking.moment());
      revise(kind);
    },
    hold() {
      holders += 1;
      return () => {
        holders -= 1;
        if (holders > 0) return;
        marks.forgetWritten();
        asking.forget();
      };
    },
  };
}
