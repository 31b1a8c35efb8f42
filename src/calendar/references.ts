// Which records requests in flight refer to, so that the rollback of one request never removes what another one uses.

import { LRUCache } from 'lru-cache';
import { UpstreamRefused } from '../errors.ts';
import type { Kind } from '../records.ts';

export type CreatedKind = Kind | 'image';

/** One request in flight; compared by identity. */
export type Holder = object;

export interface References {
  /** `holder` created this record. To be called before any other request can learn its id from the replica. */
  created(holder: Holder, kind: CreatedKind, id: number): void;
  /**
   * `holder` will refer to this record. Waits while a rollback removes the record. Resolves with false when the record was removed: the
   * caller then looks for another one.
   */
  use(holder: Holder, kind: CreatedKind, id: number): Promise<boolean>;
  /**
   * Removes what `holder` created, unless another request has referred to it since. Resolves with whether `remove` did so; a `remove`
   * that fails counts as not done.
   */
  removeUnused(holder: Holder, kind: CreatedKind, id: number, remove: () => Promise<boolean>): Promise<boolean>;
  /** The request is over. */
  release(holder: Holder): void;
}

interface Fresh {
  creator: Holder;
  shared: boolean;
  removal?: Promise<boolean>;
}

/** Removed ids stay known for a while: a request may have checked an id long before it uses it. */
const REMOVED_KEPT_MS = 5 * 60_000;
const REMOVED_KEPT = 10_000;

/** References of one gateway; what it holds is bounded by the requests in flight. */
export function createReferences(): References {
  const fresh = new Map<string, Fresh>();
  const used = new Map<Holder, Set<string>>();
  const removed = new LRUCache<string, true>({ max: REMOVED_KEPT, ttl: REMOVED_KEPT_MS });
  const keyOf = (kind: CreatedKind, id: number) => `${kind} ${id}`;
  const usedByAnother = (holder: Holder, key: string) =>
    [...used].some(([other, keys]) => other !== holder && keys.has(key));

  return {
    created(holder, kind, id) {
      const key = keyOf(kind, id);
      // Another request may have got the id from the CMS first.
      if (fresh.get(key)?.creator !== holder) fresh.set(key, { creator: holder, shared: usedByAnother(holder, key) });
    },
    async use(holder, kind, id) {
      const key = keyOf(kind, id);
      const record = fresh.get(key);
      await record?.removal;
      if (removed.has(key)) return false;
      const keys = used.get(holder) ?? new Set();
      used.set(holder, keys.add(key));
      if (record && record.creator !== holder) record.shared = true;
      return true;
    },
    async removeUnused(holder, kind, id, remove) {
      const key = keyOf(kind, id);
      const record = fresh.get(key);
      if (record?.creator !== holder || record.shared) return false;
      let isSure = true;
      record.removal = remove().catch((error: unknown) => {
        isSure = error instanceof UpstreamRefused;
        return false;
      });
      const isRemoved = await record.removal;
      if (isRemoved || !isSure) removed.set(key, true);
      delete record.removal;
      return isRemoved;
    },
    release(holder) {
      used.delete(holder);
      for (const [key, { creator }] of fresh) if (creator === holder) fresh.delete(key);
    },
  };
}
