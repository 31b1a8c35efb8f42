// Owns what `/status` reports of the sync.

import type { SyncContext } from './context.ts';
import type { ReplicaState } from './sync-state.ts';

const MAX_REPORTED = 100;

export interface SyncStatus {
  state: ReplicaState;
  /** Since when it is in this state. */
  sinceMs: number;
  /** True if lists may be answered from the replica. */
  complete: boolean;
  /** Of the initial sync, a whole number; 100 once it is complete. */
  percent: number;
  /** When the replica was last known to be current. */
  lastCaughtUpMs: number | undefined;
  /** By record kind, and `image`. */
  collections: Record<string, { done: number; total: number }>;
  /** Collections of the mapping that the site does not have. */
  absent: string[];
  /** Ids of the records that are left out because they are too large, by collection; up to a hundred of each. */
  tooLarge: Record<string, number[]>;
  /** Whom the public sees as: the site's visitors, or the account of the settings. */
  readAs: 'visitor' | 'account';
  reason?: string;
}

export function statusOf({ memory, collections, visitor }: SyncContext): SyncStatus {
  const progress: SyncStatus['collections'] = { image: { ...memory.media.progress } };
  for (const { kind } of collections) {
    const { done = 0, total = 0 } = memory.initialSync[kind] ?? {};
    progress[kind] = { done, total };
  }
  const sum = (key: 'done' | 'total') => Object.values(progress).reduce((all, counts) => all + counts[key], 0);
  const { state, sinceMs, complete, lastCaughtUpMs, reason } = memory.state;
  return {
    state,
    sinceMs,
    complete,
    percent: complete ? 100 : Math.min(99, Math.floor((100 * sum('done')) / Math.max(1, sum('total')))),
    lastCaughtUpMs,
    collections: progress,
    absent: collections.filter(({ kind }) => memory.absent.has(kind)).map(({ name }) => name),
    tooLarge: Object.fromEntries(
      collections.flatMap(({ kind, name }) => {
        const ids = [...memory.kinds[kind].tooLarge.keys()];
        return ids.length > 0 ? [[name, ids.slice(0, MAX_REPORTED)]] : [];
      }),
    ),
    readAs: visitor === undefined ? 'visitor' : 'account',
    ...(reason !== undefined && { reason }),
  };
}
