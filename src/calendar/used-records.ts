// Tracks which records the requests in flight refer to, so that the rollback of one request never removes a
// record that another one uses.

import { LRUCache } from 'lru-cache';
import { CmsRejected } from '../errors.ts';
import type { Kind } from '../model/records.ts';

export type CreatedKind = Kind | 'image';

/** One request in flight, compared by identity. */
export type RequestHandle = object;

export interface UsedRecords {
  /** The request created this record. Call it before other requests can learn the id from the replica. */
  markCreated(request: RequestHandle, kind: CreatedKind, id: number): void;
  /**
   * The request will refer to this record. Waits while a rollback is removing the record. Resolves with false
   * if the record was removed; the caller then needs another one.
   */
  use(request: RequestHandle, kind: CreatedKind, id: number): Promise<boolean>;
  /**
   * Calls `remove` for a record that the request created, unless another request has referred to it since.
   * Resolves with whether the record was removed; false if `remove` fails.
   */
  removeUnused(request: RequestHandle, kind: CreatedKind, id: number, remove: () => Promise<boolean>): Promise<boolean>;
  /** The request has ended. */
  release(request: RequestHandle): void;
}

interface CreatedEntry {
  creator: RequestHandle;
  /** Another request refers to the record. */
  isShared: boolean;
  removal?: Promise<boolean> | undefined;
}

/** A request may have checked an id long before it uses the record. */
const REMOVED_TTL_MS = 5 * 60_000;
const MAX_REMOVED = 10_000;

/** Its size is bounded by the number of requests in flight. */
export function createUsedRecords(): UsedRecords {
  const created = new Map<string, CreatedEntry>();
  const used = new Map<RequestHandle, Set<string>>();
  const removed = new LRUCache<string, true>({ max: MAX_REMOVED, ttl: REMOVED_TTL_MS });
  const keyOf = (kind: CreatedKind, id: number) => `${kind} ${id}`;
  const isUsedByOthers = (request: RequestHandle, key: string) =>
    [...used].some(([other, keys]) => other !== request && keys.has(key));

  return {
    markCreated(request, kind, id) {
      const key = keyOf(kind, id);
      if (created.get(key)?.creator === request) return;
      // Another request may have learned the id from the CMS first.
      created.set(key, { creator: request, isShared: isUsedByOthers(request, key) });
    },
    async use(request, kind, id) {
      const key = keyOf(kind, id);
      const entry = created.get(key);
      await entry?.removal;
      if (removed.has(key)) return false;
      const keys = used.get(request) ?? new Set();
      used.set(request, keys.add(key));
      if (entry && entry.creator !== request) entry.isShared = true;
      return true;
    },
    async removeUnused(request, kind, id, remove) {
      const key = keyOf(kind, id);
      const entry = created.get(key);
      if (entry?.creator !== request || entry.isShared) return false;
      let isCertain = true;
      entry.removal = remove().catch((error: unknown) => {
        isCertain = error instanceof CmsRejected;
        return false;
      });
      const isRemoved = await entry.removal;
      if (isRemoved || !isCertain) removed.set(key, true);
      entry.removal = undefined;
      return isRemoved;
    },
    release(request) {
      used.delete(request);
      for (const [key, { creator }] of created) if (creator === request) created.delete(key);
    },
  };
}
