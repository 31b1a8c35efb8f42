// Fetches the records that webhooks report to this gateway, through the leader, and remembers those that no gateway
// fetched: Redis loses messages that are sent while a connection is down, and a leader may lose the lock while the CMS
// does not respond.

import { MEDIA } from '../cms/port.ts';
import type { ChangedRecord } from '../sync/fetch-changed.ts';
import type { ClusterNode } from './node.ts';
import { RPC_TIMEOUT_MS } from './write-through.ts';

export interface Webhooks {
  /** Resolves with whether the records are fetched; a follower waits 5 s for that. Never rejects. */
  fetchChanged(changes: readonly ChangedRecord[]): Promise<boolean>;
  /**
   * Fetches or sends what was not fetched; sends once a lease at most. Call it at every interval and whenever the
   * role changes. Never rejects.
   */
  resend(): Promise<void>;
}

/** Of each record: two leases later another gateway leads, or this one is standalone. */
const MAX_SENDS = 3;
/** More records wait for the full resync. */
const MAX_RECORDS = 1000;

export function createWebhooks(node: ClusterNode, nowMs = () => performance.now()): Webhooks {
  const collections = new Set([MEDIA.collection, ...Object.values(node.mapping.kinds).map((kind) => kind?.collection)]);
  /** Changes that must be sent again, by collection and id; `sends`: how often each was sent. */
  const missed = new Map<string, { change: ChangedRecord; sends: number }>();
  let sentMs = Number.NEGATIVE_INFINITY;

  function remember(change: ChangedRecord, sends: number): void {
    const key = `${change.collection} ${change.id}`;
    const hasRoom = missed.has(key) || missed.size < MAX_RECORDS;
    if (hasRoom && sends < MAX_SENDS && collections.has(change.collection)) missed.set(key, { change, sends });
  }

  /**
   * `isFetched`: the replicas have the records. `isKept`: they have them, or the next poll of this gateway
   * fetches them. Otherwise the changes must be sent again.
   */
  async function send(changes: readonly ChangedRecord[]): Promise<{ isFetched: boolean; isKept: boolean }> {
    if (node.mayPoll() && node.sync) return { isFetched: await node.sync.fetchChanged(changes), isKept: true };
    if (node.rpc) sentMs = nowMs();
    const offset = await node.rpc?.call({ type: 'fetchChanged', changes }, RPC_TIMEOUT_MS).catch(() => undefined);
    return { isFetched: offset !== undefined, isKept: offset !== undefined };
  }

  return {
    async fetchChanged(changes) {
      const { isFetched, isKept } = await send(changes);
      if (!isKept) for (const change of changes) remember(change, 1);
      return isFetched;
    },
    async resend() {
      // This gateway could not fetch these as the leader or standalone, and another one leads now.
      if (!node.mayPoll()) for (const change of node.sync?.takeDirty() ?? []) remember(change, 0);
      const maySend = node.rpc !== undefined && nowMs() - sentMs >= node.leaseMs;
      if (missed.size === 0 || !(node.mayPoll() || maySend)) return;
      const records = [...missed.values()];
      missed.clear();
      const { isKept } = await send(records.map(({ change }) => change));
      if (!isKept) for (const { change, sends } of records) remember(change, sends + 1);
    },
  };
}
