// Which records the replica may lose: what would take away a large part of a collection at once waits until the CMS has confirmed it.

import { UpstreamRefused } from '../errors.ts';
import type { Kind } from '../records.ts';
import type { Asking } from './asking.ts';
import type { Collection } from './collections.ts';

export interface Removals {
  /**
   * Resolves with those of the missing records that may be removed now; the others wait. `named`: records that a webhook named, which the
   * gateway asks for one by one. Throws what the CMS throws.
   */
  admit(collection: Collection, missing: readonly number[], named?: ReadonlySet<number>): Promise<number[]>;
  /** Whether so many missing records would have to wait. */
  isMass(collection: Collection, missing: number): boolean;
  /** These wait from now on. */
  hold(collection: Collection, missing: readonly number[]): void;
  /** These exist after all, or were removed in another way. */
  settled(kind: Kind, ids: Iterable<number>): void;
  waiting(kind: Kind): ReadonlySet<number>;
  /** Asks for a few of the records that wait. Those that may go now; throws what the CMS throws. */
  review(collection: Collection): Promise<number[]>;
  /** Whether a few of these, asked for one by one, are missing too. Throws what the CMS throws. */
  areMissing(where: Pick<Collection, 'base' | 'select' | 'scope'>, ids: readonly number[]): Promise<boolean>;
  /** Why the replica still has records that the lists leave out; undefined when nothing waits. */
  reason(): string | undefined;
}

export interface RemovalsOptions {
  asking: Asking;
  nowMs: () => number;
  /** Records of the kind that the replica holds. */
  count(collection: Collection): number;
  isComplete(): boolean;
}

/** More than this many records, and more than a third of the collection, within a minute, wait. */
const FEW = 10;
const SHARE = 3;
const RECENT_MS = 60_000;
/** What waits is believed after so many reviews over so long a time. */
const REVIEWS = 3;
const BELIEVED_MS = 5 * 60_000;
const REVIEW_EVERY_MS = 100_000;
/** Records that are asked for one by one: at a review, and before they go. */
const SAMPLE = 5;
const LAST_SAMPLE = 100;

/** WordPress's word for an id that is no record of the collection. */
const MISSING = new Set(['rest_post_invalid_id', 'rest_term_invalid']);

/** Whether the CMS itself says that there is no such record: any other 404 may come from a plugin, or from what stands before the CMS. */
export const saysMissing = ({ status, code }: UpstreamRefused): boolean => status === 404 && MISSING.has(code);

interface Waiting {
  base: string;
  ids: Set<number>;
  sinceMs: number;
  reviews: number;
  nextMs: number;
  why: string;
}

/** Kept in memory only: a gateway that starts, or becomes the leader, starts the waiting time again. */
export function createRemovals({ asking, nowMs, count, isComplete }: RemovalsOptions): Removals {
  const groups = new Map<Kind, Waiting>();
  const recent = new Map<Kind, { atMs: number; removed: number }[]>();

  function recently(kind: Kind): number {
    const some = (recent.get(kind) ?? []).filter(({ atMs }) => Math.abs(nowMs() - atMs) < RECENT_MS);
    recent.set(kind, some);
    return some.reduce((sum, { removed }) => sum + removed, 0);
  }

  function isMass(collection: Collection, missing: number): boolean {
    if (!isComplete()) return false;
    const before = recently(collection.kind);
    const gone = before + missing + (groups.get(collection.kind)?.ids.size ?? 0);
    return gone > FEW && gone > (count(collection) + before) / SHARE;
  }

  /** Whether the CMS itself says of this id that there is no such record for this account: a list that leaves it out is no proof. */
  async function isMissing(collection: Pick<Collection, 'base' | 'select' | 'scope'>, id: number): Promise<boolean> {
    const { scope } = collection;
    try {
      await asking.read(
        collection,
        id,
        scope.context === undefined ? {} : { context: scope.context },
        asking.asService(),
      );
      return false;
    } catch (error) {
      if (!(error instanceof UpstreamRefused)) throw error;
      const hidden = asking.asService().credentials === undefined && error.code === 'rest_forbidden';
      return hidden || saysMissing(error);
    }
  }

  /** The first of some ids, evenly spread, that the CMS still has. */
  async function stillThere(
    collection: Pick<Collection, 'base' | 'select' | 'scope'>,
    ids: readonly number[],
    most: number,
  ): Promise<number | undefined> {
    const stride = Math.max(1, ids.length / most);
    const start = Math.random() * stride;
    for (let at = start; at < ids.length; at += stride) {
      const id = ids[Math.floor(at)]!;
      if (!(await isMissing(collection, id))) return id;
    }
    return undefined;
  }

  function hold({ kind, base }: Collection, missing: readonly number[]): void {
    const group = groups.get(kind) ?? { base, ids: new Set(), sinceMs: nowMs(), reviews: 0, nextMs: nowMs(), why: '' };
    const more = missing.filter((id) => !group.ids.has(id));
    if (more.length === 0) return;
    for (const id of more) group.ids.add(id);
    groups.set(
      kind,
      Object.assign(group, { sinceMs: nowMs(), reviews: 0, nextMs: nowMs(), why: 'waiting for confirmation' }),
    );
  }

  function settled(kind: Kind, ids: Iterable<number>): void {
    const group = groups.get(kind);
    if (!group) return;
    for (const id of ids) group.ids.delete(id);
    if (group.ids.size === 0) groups.delete(kind);
  }

  return {
    isMass,
    areMissing: async (where, ids) => (await stillThere(where, ids, SAMPLE)) === undefined,
    hold,
    settled,
    async admit(collection, missing, named) {
      if (missing.length === 0) return [];
      const { kind } = collection;
      const fresh = missing.filter((id) => !groups.get(kind)?.ids.has(id));
      if (fresh.length === missing.length && !isMass(collection, missing.length)) {
        recent.get(kind)?.push({ atMs: nowMs(), removed: missing.length });
        return [...missing];
      }
      const proven: number[] = [];
      for (const id of missing.filter((one) => named?.has(one)).slice(0, LAST_SAMPLE))
        if (await isMissing(collection, id)) proven.push(id);
      settled(kind, proven);
      hold(
        collection,
        fresh.filter((id) => !proven.includes(id)),
      );
      return proven;
    },
    waiting: (kind) => groups.get(kind)?.ids ?? new Set(),
    async review(collection) {
      const { kind } = collection;
      const group = groups.get(kind);
      if (!group || nowMs() < group.nextMs) return [];
      group.nextMs = nowMs() + REVIEW_EVERY_MS;
      const ids = [...group.ids];
      const enough = group.reviews + 1 >= REVIEWS && nowMs() - group.sinceMs >= BELIEVED_MS;
      const there = await stillThere(collection, ids, enough ? LAST_SAMPLE : SAMPLE);
      if (there !== undefined) {
        Object.assign(group, {
          sinceMs: nowMs(),
          reviews: 0,
          why: `record ${there} exists when the gateway asks for it by id`,
        });
        return [];
      }
      group.reviews += 1;
      return enough ? ids : [];
    },
    reason() {
      const told = [...groups.values()].map(({ base, ids, why }) => `${ids.size} records of ${base} (${why})`);
      return told.length === 0 ? undefined : `the CMS's lists leave out ${told.join(', ')}`;
    },
  };
}
