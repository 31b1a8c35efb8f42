// How answers of the CMS come into the copy: never over something newer, in slices, with what has to be looked at again remembered.

import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CalendarRecord, ImageRecord, Kind, PostRecord, Site } from '../records.ts';
import type { CallOptions, Credentials, Native, Query, Upstream } from '../upstream/port.ts';
import { type Collection, idOf, type Row } from './collections.ts';
import type { JoinTables } from './joins.ts';
import type { Replica } from './store.ts';
import type { AskedPage } from './walk.ts';

export interface TakingOptions {
  replica: Replica;
  upstream: Upstream;
  collections: readonly Collection[];
  service: Credentials;
  site: () => Site;
  /** How events name linked records; asked at every slice. */
  joins: () => JoinTables;
  nowMs: () => number;
  pageSize: number;
  signal: AbortSignal;
}

export interface Counts {
  requests: number;
  changed: number;
  removed: number;
}

export interface Taking {
  readonly counts: Counts;
  /** Rows a request. */
  readonly pageSize: number;
  /** The CMS's clock in its latest answer, milliseconds; 0 before the first. */
  readonly serverTimeMs: number;
  /** One page of a collection, with the scope of the copy or a caller's own. */
  ask(collection: Collection, query: Query, as?: { scope: Query; options: CallOptions }): Promise<AskedPage>;
  asService(): CallOptions;
  /** Grows with every change of the kind's records in the copy. */
  revision(kind: Kind): number;
  /** One page of the CMS's media. */
  askMedia(query: Query): Promise<AskedPage>;
  /** Puts what was asked for at `askedAt` into the copy; returns how many records changed. */
  take(collection: Collection, natives: readonly Native[], askedAt: number, refetched?: boolean): Promise<number>;
  /** Removes what was known to be gone at `askedAt`. */
  drop(collection: Collection, ids: readonly number[], askedAt: number): number;
  /** Reads these records by id: what is there is put in, what is not goes. */
  fetch(collection: Collection, ids: readonly number[]): Promise<void>;
  fetchImages(ids: readonly number[]): Promise<void>;
  /** The record was written into the copy just now: an answer that was asked for before is older than it. */
  wrote(kind: Kind, id: number): void;
  /** Whether a record of the kind was written after that moment. */
  wroteSince(kind: Kind, askedAt: number): boolean;
  writtenSince(kind: Kind, id: number, askedAt: number): boolean;
  /** To be read by id in the next round. */
  later(kind: Kind, ids: readonly number[]): void;
  /** Reads what is to be read again: what was put off, and what may have changed once more within the same second. */
  fetchPending(collection: Collection): Promise<void>;
  /** Images of records that were read again; emptied by the call. */
  imagesToRead(): number[];
  copied(collection: Collection, id: number): Row | undefined;
  /** Records of the kind that the copy holds within the collection's statuses. */
  count(collection: Collection): number;
  /** Modification times from here on have not been walked past yet. */
  watermark: Map<Kind, string>;
  /** Keeps the marks of own writes until `release` is called. */
  hold(): () => void;
}

type LinkedKind = 'venue' | 'organizer';

/** Ids from here on are made by the mapping (mapping/inline.ts). */
const FIRST_INLINE_ID = 2 ** 52;

const SLICE = 50;

/** `modified` is to the second: a record is settled once it was read two seconds after that `modified` was first seen. */
const SETTLED_MS = 2_000;

export function createTaking(options: TakingOptions): Taking {
  const { replica, upstream, collections, service, nowMs, pageSize, signal } = options;
  const counts: Counts = { requests: 0, changed: 0, removed: 0 };
  let moment = 0;
  let serverTimeMs = 0;
  let holders = 0;
  const written = new Map<string, number>();
  const latest = new Map<Kind, number>();
  const pending = new Map<Kind, Set<number>>();
  const unsettled = new Map<Kind, Map<number, { modifiedUtc: string; seenMs: number }>>();
  const images = new Set<number>();
  const watermark = new Map<Kind, string>();
  const revisions = new Map<Kind, number>();
  const askedMs = new Map<number, number>();
  let counted: { version: number; kinds: Map<Kind, number> } = { version: -1, kinds: new Map() };

  const key = (kind: Kind, id: number) => `${kind}/${id}`;
  const isNewer = (kind: Kind, id: number, askedAt: number) => (written.get(key(kind, id)) ?? 0) > askedAt;
  const mine = (): CallOptions => ({ credentials: service, signal });

  function unsettledOf(kind: Kind) {
    let found = unsettled.get(kind);
    if (!found) {
      found = new Map();
      unsettled.set(kind, found);
    }
    return found;
  }

  async function list(base: string, query: Query, call: CallOptions): Promise<AskedPage> {
    moment += 1;
    const askedAt = moment;
    const asked = nowMs();
    counts.requests += 1;
    const page = await upstream.list(base, query, { signal, ...call });
    serverTimeMs = page.serverTimeMs;
    askedMs.set(askedAt, asked);
    return { ...page, askedAt };
  }

  function later(kind: Kind, ids: readonly number[]): void {
    const set = pending.get(kind) ?? new Set();
    for (const id of ids) set.add(id);
    pending.set(kind, set);
  }

  function copied({ kind, posts }: Collection, id: number): Row | undefined {
    const row = replica.ids(kind, { after: id - 1, limit: 1 })[0];
    if (row?.id !== id) return undefined;
    return posts ? row : { ...row, modifiedUtc: '' };
  }

  function revise(kind: Kind): void {
    revisions.set(kind, (revisions.get(kind) ?? 0) + 1);
  }

  /** Linked records inside the events that are about to be replaced or removed. */
  function inlineOf({ kind, inline }: Collection, records: readonly { id: number }[]): [LinkedKind, number][] {
    if (kind !== 'event' || inline.length === 0) return [];
    const before = replica.getMany(
      kind,
      records.map(({ id }) => id),
    );
    return [...before.values()].flatMap(({ venues, organizers }) => [
      ...venues.map((id): [LinkedKind, number] => ['venue', id]),
      ...organizers.map((id): [LinkedKind, number] => ['organizer', id]),
    ]);
  }

  /** A record that lay inside events is gone with the last of them. */
  function dropOrphans(linked: readonly [LinkedKind, number][]): void {
    for (const [kind, id] of linked) {
      if (id >= FIRST_INLINE_ID && replica.eventsWith(kind, id).length === 0) replica.remove(kind, [id]);
    }
  }

  /** A new `modified` may stand for two changes, of which this is the first; one seen long enough stands for itself. */
  function settle(kind: Kind, record: PostRecord, before: Row | undefined, askedAt: number): void {
    const open = unsettledOf(kind);
    const known = open.get(record.id);
    const seenMs = askedMs.get(askedAt) ?? nowMs();
    if (known && (known.modifiedUtc === '' || known.modifiedUtc === record.modifiedUtc)) {
      if (seenMs >= known.seenMs + SETTLED_MS) open.delete(record.id);
    } else if (before?.modifiedUtc !== record.modifiedUtc && record.modifiedUtc >= (watermark.get(kind) ?? '')) {
      open.set(record.id, { modifiedUtc: record.modifiedUtc, seenMs });
    }
  }

  async function take(
    collection: Collection,
    natives: readonly Native[],
    askedAt: number,
    refetched = false,
  ): Promise<number> {
    const { kind } = collection;
    const seen = new Set<number>();
    const rows = natives.filter((native) => {
      const id = idOf(native);
      if (id === 0 || seen.has(id)) return false;
      seen.add(id);
      return true;
    });
    let changed = 0;
    for (let from = 0; from < rows.length; from += SLICE) {
      if (from > 0) await nextTurn();
      const slice: CalendarRecord[] = [];
      const inline: CalendarRecord[] = [];
      for (const native of rows.slice(from, from + SLICE)) {
        const id = idOf(native);
        if (isNewer(kind, id, askedAt)) {
          later(kind, [id]);
          continue;
        }
        const record = collection.read(native, options.site(), options.joins());
        if (collection.posts) {
          const post = record as PostRecord;
          const before = copied(collection, id);
          // Older than the copy: put in by a write that this answer does not know of. Read alone, it is believed.
          if (!refetched && before && before.modifiedUtc > post.modifiedUtc) {
            later(kind, [id]);
            continue;
          }
          settle(kind, post, before, askedAt);
        }
        if (refetched) written.set(key(kind, id), Math.max(written.get(key(kind, id)) ?? 0, askedAt));
        if ('image' in record && record.image !== 0 && (refetched || replica.image(record.image) === undefined)) {
          images.add(record.image);
        }
        slice.push(record);
        for (const read of collection.inline) inline.push(...(read(native, options.site()) ?? []));
      }
      const orphans = inlineOf(collection, slice);
      const put = replica.put([...inline, ...slice]);
      dropOrphans(orphans);
      if (put > 0) revise(kind);
      changed += put;
    }
    counts.changed += changed;
    return changed;
  }

  /** A term that went takes itself out of its events, without touching their `modified`. */
  function drop(collection: Collection, ids: readonly number[], askedAt: number): number {
    const { kind, statuses, posts } = collection;
    const gone = ids.filter((id) => {
      if (isNewer(kind, id, askedAt)) {
        later(kind, [id]);
        return false;
      }
      const row = copied(collection, id);
      return row !== undefined && (!posts || statuses.includes(row.status));
    });
    if (!posts && kind !== 'event') for (const id of gone) later('event', replica.eventsWith(kind, id));
    for (const id of ids) unsettledOf(kind).delete(id);
    const orphans = inlineOf(
      collection,
      gone.map((id) => ({ id })),
    );
    const removed = replica.remove(kind, gone);
    dropOrphans(orphans);
    if (removed > 0) revise(kind);
    counts.removed += removed;
    return removed;
  }

  /** All rows of these ids; rows may repeat, so that there can be more than a page. */
  async function byIds(
    collection: Collection,
    ids: readonly number[],
  ): Promise<{ natives: Native[]; askedAt: number }> {
    const natives: Native[] = [];
    let askedAt = 0;
    for (let page = 1; ; page += 1) {
      const query = { include: ids.join(','), per_page: pageSize, page, _fields: collection.select };
      const answer = await ask(collection, query);
      askedAt ||= answer.askedAt;
      natives.push(...answer.items);
      if (page * pageSize >= answer.total || answer.items.length === 0) return { natives, askedAt };
    }
  }

  async function ask(collection: Collection, query: Query, as?: { scope: Query; options: CallOptions }) {
    return list(collection.base, { ...(as?.scope ?? collection.scope), ...query }, as?.options ?? mine());
  }

  async function fetch(collection: Collection, ids: readonly number[]): Promise<void> {
    const size = collection.dedupe ? Math.ceil(pageSize / 5) : pageSize;
    for (let from = 0; from < ids.length; from += size) {
      const some = ids.slice(from, from + size);
      const { natives, askedAt } = await byIds(collection, some);
      await take(collection, natives, askedAt, true);
      const there = new Set(natives.map(idOf));
      drop(
        collection,
        some.filter((id) => !there.has(id)),
        askedAt,
      );
    }
  }

  async function fetchImages(ids: readonly number[]): Promise<void> {
    for (let from = 0; from < ids.length; from += pageSize) {
      const some = ids.slice(from, from + pageSize);
      counts.requests += 1;
      const found: ImageRecord[] = await upstream.images([...some], mine());
      counts.changed += replica.put([], found);
      const there = new Set(found.map(({ id }) => id));
      const gone = some.filter((id) => !there.has(id));
      // The CMS takes an image that it deletes out of its posts, without touching their `modified`.
      for (const id of gone) if (replica.image(id)) later('event', replica.eventsWith('image', id));
      counts.removed += replica.remove('image', gone);
    }
  }

  function count(collection: Collection): number {
    const { kind, posts, hidden } = collection;
    if (counted.version !== replica.version) {
      counted = { version: replica.version, kinds: new Map(Object.entries(replica.counts()) as [Kind, number][]) };
    }
    const all = counted.kinds.get(kind) ?? 0;
    if (!posts || service !== undefined) return all;
    return all - replica.ids(kind, { statuses: hidden }).length;
  }

  return {
    counts,
    pageSize,
    get serverTimeMs() {
      return serverTimeMs;
    },
    ask,
    asService: mine,
    revision: (kind) => revisions.get(kind) ?? 0,
    askMedia: (query) => list('media', query, mine()),
    take,
    drop,
    fetch,
    fetchImages,
    wrote(kind, id) {
      moment += 1;
      latest.set(kind, moment);
      written.set(key(kind, id), moment);
      revise(kind);
      const posts = collections.find((collection) => collection.kind === kind)?.posts;
      if (posts) unsettledOf(kind).set(id, { modifiedUtc: '', seenMs: nowMs() });
    },
    wroteSince: (kind, askedAt) => (latest.get(kind) ?? 0) > askedAt,
    writtenSince: isNewer,
    later,
    async fetchPending(collection) {
      const put = pending.get(collection.kind) ?? new Set();
      const ids = new Set([...put, ...unsettledOf(collection.kind).keys()]);
      if (ids.size === 0) return;
      pending.set(collection.kind, new Set());
      try {
        await fetch(collection, [...ids]);
      } catch (error) {
        later(collection.kind, [...put]);
        throw error;
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
    hold() {
      holders += 1;
      return () => {
        holders -= 1;
        if (holders > 0) return;
        written.clear();
        askedMs.clear();
      };
    },
  };
}
