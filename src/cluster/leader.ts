// What the leader does for the other gateways: it polls, reads records again, and sends snapshots of its
// replica.

import { LRUCache } from 'lru-cache';
import { changedRecords } from '../sync/fetch-changed.ts';
import type { ClusterNode } from './node.ts';
import { exists, parseKey } from './record-keys.ts';
import type { RpcRequest } from './rpc.ts';
import { sendSnapshot } from './snapshot.ts';
import { isFullyPublished } from './unpublished-changes.ts';

/**
 * Reads records from the CMS again and appends them to the change log, changed or not. False if the CMS could
 * not be read. Throws `NotLeaderError`.
 */
export async function refetchAndPublish(
  { mapping, replica, sync, changeLog }: ClusterNode,
  keys: readonly string[],
): Promise<boolean> {
  const records = keys.map(parseKey);
  const isFetched = await sync?.fetchChanged(changedRecords(mapping, records));
  if (!isFetched) return false;
  await changeLog.commit(
    'poll',
    () => ({
      upserts: records.flatMap(({ kind, id }) => (kind === 'image' ? [] : (replica.get(kind, id) ?? []))),
      images: records.flatMap(({ kind, id }) => (kind === 'image' ? (replica.getImage(id) ?? []) : [])),
      deletes: records.flatMap(({ kind, id }) => (exists(replica, kind, id) ? [] : [{ kind, ids: [id] }])),
    }),
    { republish: true },
  );
  return true;
}

/** A gateway that still waits for a snapshot repeats its request more often than this. */
const REQUEST_TTL_MS = 3000;
const MAX_LISTS = 1000;

/**
 * Returns a function that sends a snapshot through a Redis list, which a joining gateway has named and waits
 * at. Sends one at a time, so that many joining gateways load the leader no more than one. Skips gateways
 * that stopped asking.
 */
function createSnapshotSender(node: ClusterNode, nowMs: () => number): (list: string) => Promise<void> {
  const { replica, changeLog } = node;
  /**
   * By list, the time of the latest request. A sent list stays, because a repeated request may cross its
   * first part.
   */
  const requestedMs = new LRUCache<string, number>({ max: MAX_LISTS });
  let queue: Promise<unknown> = Promise.resolve();

  async function send(list: string): Promise<void> {
    const { redis } = node;
    const isWaiting = nowMs() - (requestedMs.get(list) ?? 0) <= REQUEST_TTL_MS;
    let isSent = false;
    try {
      if (!redis || !isWaiting || node.role.name !== 'leader') return;
      await sendSnapshot(redis, list, replica, changeLog);
      isSent = true;
    } finally {
      if (!isSent) requestedMs.delete(list);
    }
  }

  return async (list) => {
    const isQueued = requestedMs.has(list);
    requestedMs.set(list, nowMs());
    if (isQueued) return;
    const sent = queue.then(() => send(list));
    queue = sent.catch(() => {});
    await sent;
  };
}

/** Handles the requests of other gateways: false if it fails, undefined if this gateway is not the leader. */
export function createRpcHandler(
  node: ClusterNode,
  nowMs = () => performance.now(),
): (request: RpcRequest) => Promise<boolean | undefined> {
  const sendSnapshotTo = createSnapshotSender(node, nowMs);

  return async function handle(request) {
    const { sync } = node;
    if (node.role.name !== 'leader' || !sync) return undefined;
    switch (request.type) {
      case 'poll':
        // A poll does not find unpublished changes, because this replica has them; the caller lacks them.
        return (await sync.poll()) && isFullyPublished(node.changeLog.unpublished);
      case 'fetchChanged':
        return sync.fetchChanged(request.changes);
      case 'refetch':
        return refetchAndPublish(node, request.keys);
      case 'snapshot':
        await sendSnapshotTo(request.list);
        return true;
    }
  };
}
