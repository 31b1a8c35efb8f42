// Several gateways in front of one CMS, as the rest of the gateway sees them. docs/internals/cluster.md states
// the guarantees.

import type { Credentials } from '../cms/port.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Observe } from '../observability/observations.ts';
import type { Replica } from '../store/replica.ts';
import type { Peers } from '../sync/peers.ts';
import type { Sync } from '../sync/sync.ts';
import { createConsistencyTokens } from './consistency-token.ts';
import { createNode } from './node.ts';
import { RedisUnavailable } from './redis.ts';
import { createRedisSession } from './redis-session.ts';
import type { RoleName } from './role-state.ts';
import { createWebhooks } from './webhooks.ts';
import { createWriteThrough } from './write-through.ts';

export interface ClusterOptions {
  url: string;
  siteUrl: string;
  mapping: Mapping;
  serviceCredentials: Credentials;
  replica: Replica;
  /** The poll interval. The lock holds as long, and is renewed four times in it. */
  intervalMs: number;
  observe: Observe;
  /** Longest wait for one reply of Redis; default 1 s. */
  deadlineMs?: number;
}

export interface ClusterStatus {
  role: RoleName;
  sinceMs: number;
  /** Whether Redis is connected. */
  redis: boolean;
  /** The replica's offset in the change log. */
  offset: string;
  /** Entries applied since the start. */
  entries: number;
  /** Records of this replica that differ from the change log, until they are repaired. */
  unpublished: number | 'unknown';
}

export interface Cluster extends Peers {
  /**
   * Connects, or continues standalone if Redis is unavailable. Throws `ConfigError` if gateways with another
   * configuration share the Redis for the same site.
   */
  start(sync: Sync): Promise<void>;
  /** Releases the lock and disconnects. */
  stop(): Promise<void>;
  status(): ClusterStatus;
}

const DEADLINE_MS = 1000;

/** Does nothing before `start`. */
export function createCluster(options: ClusterOptions): Cluster {
  const { url, siteUrl, serviceCredentials, intervalMs: leaseMs, deadlineMs = DEADLINE_MS } = options;
  const node = createNode({ ...options, leaseMs });
  const { changeLog } = node;
  const { consistencyToken, waitFor, poll } = createConsistencyTokens(node);
  const writeThrough = createWriteThrough(node);
  const { repair } = writeThrough;
  const webhooks = createWebhooks(node);
  const session = createRedisSession(node, { url, siteUrl, serviceCredentials, deadlineMs, repair });

  return {
    consistencyToken,
    waitFor,
    poll,
    writeThrough,
    commit: (build) => changeLog.commit('poll', build),
    async beginPoll() {
      void webhooks.resend();
      if (!node.startPoll()) return false;
      // Before the poll: the next leader resumes from this poll's watermarks, which are past these changes.
      if (node.role.name === 'leader') await repair();
      return true;
    },
    pollFailed: () => node.dispatch({ type: 'pollFailed' }),
    async polled() {
      node.dispatch({ type: 'polled' });
      const { role, redis } = node;
      if (role.name !== 'bootstrapping' || !redis || role.token === undefined) return;
      if (node.pollToken() !== role.token) return;
      try {
        if (await changeLog.writeBaseline(redis, role.token)) node.dispatch({ type: 'bootstrapped' });
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
      }
    },
    fetchChanged: webhooks.fetchChanged,
    async start(sync) {
      node.sync = sync;
      await session.start();
    },
    stop: session.stop,
    status: () => ({
      role: node.role.name,
      sinceMs: node.roleSinceMs,
      redis: node.redis !== undefined,
      offset: changeLog.offset,
      entries: changeLog.appliedCount,
      unpublished: changeLog.unpublished === 'unknown' ? 'unknown' : changeLog.unpublished.size,
    }),
  };
}
