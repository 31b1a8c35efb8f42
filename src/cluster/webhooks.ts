// Fetches the records that webhooks report to this gateway, through the leader, and remembers those that no gateway
// fetched: Redis loses messages that are sent while a connection is down.

import { MEDIA } from '../cms/port.ts';
import type { ChangedRecord } from '../sync/fetch-changed.ts';
import type { ClusterNode } from './node.ts';
import { RPC_TIMEOUT_MS } from './write-through.ts';

export interface Webhooks {
  /** Resolves with whether the records are fetched; a follower waits 5 s for that. Never rejects. */
  fetchChanged(changes: readonly ChangedRecord[]): Promise<boolean>;
  /** Sends what was not fetched once more. Call it at every interval and whenever the role changes. Never rejects. */
  resend(): Promise<void>;
}

/** Of each record: two intervals later another gateway leads, or this one is standalone. */
const MAX_SENDS = 3;
/** More records wait for the full resync. */
const MAX_RECORDS = 1000;

export function createWebhooks(node: ClusterNode): Webhooks {
  const collections = new Set([MEDIA.collection, ...Object.values(node.mapping.kinds).map((kind) => kind?.collection)]);
  /** By collection and id, and how often they were sent. */
  const missed = new Map<string, { change: ChangedRecord; sends: number }>();

  function remember(change: ChangedRecord, sends: number): void {
    const key = `${change.collection} ${change.id}`;
    const hasRoom = missed.has(key) || missed.size < MAX_RECORDS;
    if (hasRoom && sends < MAX_SENDS && collections.has(change.collection)) missed.set(key, { change, sends });
  }

  /** True if the records need not be remembered. While this gateway polls, its next poll fetches them. */
  const isDone = (isFetched: boolean) => isFetched || node.mayPoll();

  async function send(changes: readonly ChangedRecord[]): Promise<boolean> {
    if (node.mayPoll() && node.sync) return node.sync.fetchChanged(changes);
    const offset = await node.rpc?.call({ type: 'fetchChanged', changes }, RPC_TIMEOUT_MS).catch(() => undefined);
    return offset !== undefined;
  }

  return {
    async fetchChanged(changes) {
      const isFetched = await send(changes);
      if (!isDone(isFetched)) for (const change of changes) remember(change, 1);
      return isFetched;
    },
    async resend() {
      if (missed.size === 0 || !(node.mayPoll() || node.rpc)) return;
      const records = [...missed.values()];
      missed.clear();
      const isFetched = await send(records.map(({ change }) => change));
      if (!isDone(isFetched)) for (const { change, sends } of records) remember(change, sends + 1);
    },
  };
}
