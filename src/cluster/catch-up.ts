// Brings the replica of a joining gateway to an offset of the change log: from the entries it missed, or else
// from the leader's snapshot.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { compareIds, LOG_START } from './change-log-entry.ts';
import type { ClusterNode } from './node.ts';
import type { Redis } from './redis.ts';
import { receiveSnapshot } from './snapshot.ts';

/** Between two attempts while no leader can send a snapshot, in leases. */
const RETRY_LEASES = 1 / 16;

/** One attempt; on success the role is no longer `joining`. Throws `RedisUnavailable`. */
export async function catchUp(node: ClusterNode, redis: Redis): Promise<void> {
  const { changeLog, replica, leaseMs, rpc } = node;
  if (await resumeFromLog(node, redis)) return;
  changeLog.markUnpublished('unknown');
  const isCancelled = () => node.role.name !== 'joining' || !node.leaderStatus || node.leaderStatus.bootstrapping;
  if (isCancelled() || !rpc) {
    await sleep(leaseMs * RETRY_LEASES, undefined, { signal: redis.signal }).catch(() => {});
    return;
  }
  const list = `snapshot:${randomUUID()}`;
  // An incomplete replica serves no reads: after a power failure the gateway receives a new snapshot.
  if (!node.sync?.state().complete) replica.beginBulkLoad();
  try {
    const request = () => rpc.notify({ type: 'snapshot', list });
    const { reportInvalid } = node;
    const received = await receiveSnapshot(redis, list, { replica, request, isCancelled, reportInvalid });
    // If the gateway bootstraps by now, its replica has changes that no log has.
    if (!received || node.role.name !== 'joining') return;
    changeLog.replicaReplaced(received.offset, received.unpublished);
  } finally {
    await replica.endBulkLoad();
  }
  node.sync?.reloadState();
  followSnapshot(node);
  // Requests have stored more records meanwhile than the list of unpublished changes holds. The next attempt
  // starts a new list.
  if (changeLog.unpublished === 'unknown') return;
  if (!(await changeLog.applyPending(redis))) return;
  // Entries that came while the snapshot was sent changed nothing here, because the snapshot has their changes.
  // The journal lacks them, and so starts after them.
  replica.journal.startAt(changeLog.offset);
  node.dispatch({ type: 'joined' });
}

/** A received snapshot is complete, even if the leader is lost and cannot publish its state. */
function followSnapshot({ sync, leaderStatus }: ClusterNode): void {
  if (leaderStatus?.syncState.complete) sync?.followLeader(leaderStatus.syncState);
  else sync?.followLeader({ ...sync.state(), state: 'stale', complete: true, reason: 'received from another gateway' });
}

/**
 * Continues in the log at the replica's offset; false if the log no longer has it, or the replica differs
 * from the log in unknown records.
 */
async function resumeFromLog({ sync, changeLog, leaseMs, dispatch }: ClusterNode, redis: Redis): Promise<boolean> {
  const complete = sync?.state().complete ?? false;
  if (!complete || changeLog.unpublished === 'unknown' || changeLog.offset === LOG_START) return false;
  if (!(await changeLog.applyPending(redis))) return false;
  const { tail } = await redis.updateLock('watch', leaseMs, '');
  if (tail === changeLog.offset) {
    dispatch({ type: 'joined' });
    return true;
  }
  // The next attempt reads entries that arrived meanwhile. A later tail without entries after the offset
  // belongs to a newer log.
  return compareIds(tail, changeLog.offset) > 0 && (await redis.readEntries(changeLog.cursor, 1)).length > 0;
}
