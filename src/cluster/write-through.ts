// Stores CMS responses of requests in the replicas of all gateways: skips responses that another change made
// outdated, and repairs unpublished changes.

import { NotLeaderError } from '../errors.ts';
import { type KindOrImage, recordKey } from '../model/records.ts';
import type { ChangeSet } from '../store/change-set.ts';
import type { WriteThrough } from '../sync/peers.ts';
import { refetchAndPublish } from './leader.ts';
import type { ClusterNode } from './node.ts';
import { RedisUnavailable } from './redis.ts';

/** The longest wait for the leader to handle a request. */
export const RPC_TIMEOUT_MS = 5000;
/** Records per refetch: one entry of the log holds them. */
const REPAIR_BATCH = 10;

export interface ClusterWriteThrough extends WriteThrough {
  /**
   * Has the unpublished records read from the CMS again, for all gateways. Never rejects; the next call tries
   * again what failed.
   */
  repair(): Promise<void>;
}

/** The implementation for one of several gateways; `localWriteThrough` is the one for a single gateway. */
export function createWriteThrough(node: ClusterNode, nowMs = () => performance.now()): ClusterWriteThrough {
  const { changeLog } = node;
  /** `asLeader`: the repair reads from the CMS itself and waits for no other gateway. */
  let running: { asLeader: boolean; done: Promise<void> } | undefined;
  let notBeforeMs = 0;

  /** Without the records that changed since the mark; `onOutdated` gets their keys. */
  const withoutOutdated = (change: ChangeSet, changeMark: number, onOutdated?: (key: string) => void): ChangeSet => ({
    ...change,
    upserts: (change.upserts ?? []).filter(({ kind, id }) => {
      const key = recordKey(kind, id);
      const isOutdated = changeLog.changedSince(key, changeMark);
      if (isOutdated) onOutdated?.(key);
      return !isOutdated;
    }),
  });

  /** Has records read from the CMS again, and waits until this replica has them. */
  async function refetch(keys: readonly string[]): Promise<boolean> {
    if (node.role.name === 'leader') return refetchAndPublish(node, keys);
    const offset = await node.rpc?.call({ type: 'refetch', keys }, RPC_TIMEOUT_MS);
    return offset !== undefined && changeLog.waitFor(offset, RPC_TIMEOUT_MS);
  }

  async function refetchOrMark(keys: ReadonlySet<string>): Promise<void> {
    const isFetched = await refetch([...keys]).catch(() => false);
    if (!isFetched) changeLog.markUnpublished(keys);
  }

  async function runRepair(): Promise<void> {
    const { unpublished } = changeLog;
    if (!node.rpc || unpublished === 'unknown' || nowMs() < notBeforeMs) return;
    const records = [...unpublished];
    try {
      for (let from = 0; from < records.length; from += REPAIR_BATCH) {
        const batch = new Map(records.slice(from, from + REPAIR_BATCH));
        if (!(await refetch([...batch.keys()]))) {
          notBeforeMs = nowMs() + node.leaseMs;
          return;
        }
        changeLog.markPublished(batch);
      }
    } catch (error) {
      if (error instanceof RedisUnavailable || error instanceof NotLeaderError) return;
      // A full disk, for example. The next entries and the next poll try again.
      const reason = error instanceof Error ? error.message : String(error);
      node.observe({ type: 'message', level: 'warn', message: `cluster: cannot publish local changes yet: ${reason}` });
    }
  }

  return {
    changeMark: changeLog.changeMark,
    async storeRead(change, changeMark) {
      const unchanged = (kind: KindOrImage, ids: readonly number[]) =>
        ids.filter((id) => !changeLog.changedSince(recordKey(kind, id), changeMark));
      await changeLog.commit('read', () => ({
        ...withoutOutdated(change, changeMark),
        deletes: (change.deletes ?? []).map(({ kind, ids }) => ({ kind, ids: unchanged(kind, ids) })),
      }));
    },
    async storeWritten(change, changeMark) {
      const outdated = new Set<string>();
      await changeLog.commit('write', () => withoutOutdated(change, changeMark, (key) => outdated.add(key)));
      if (outdated.size > 0) await refetchOrMark(outdated);
    },
    // The replica may be unwritable (a full disk) or closed (the gateway stops).
    reread: (kind, id) => refetchOrMark(new Set([recordKey(kind, id)])).catch(() => {}),
    repair() {
      const asLeader = node.role.name === 'leader';
      if (running && (running.asLeader || !asLeader)) return running.done;
      const repair = { asLeader, done: runRepair() };
      running = repair;
      return repair.done.finally(() => {
        if (running === repair) running = undefined;
      });
    },
  };
}
