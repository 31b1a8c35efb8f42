// The session with Redis: connects, claims the lock, reads the change log, and reconnects after a failure; in
// between the gateway is standalone.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Credentials } from '../cms/port.ts';
import { catchUp } from './catch-up.ts';
import { ENTRIES_PER_READ } from './change-log.ts';
import { compareIds, LOG_START } from './change-log-entry.ts';
import { assertCompatible, compatibilityOf, keyPrefix } from './compatibility.ts';
import { createRpcHandler } from './leader.ts';
import { parseMessage } from './messages.ts';
import type { ClusterNode, HolderStatus } from './node.ts';
import { openRedis, type Redis, RedisUnavailable } from './redis.ts';
import { isFailing, mayTakeLock } from './role-state.ts';
import { openRpc } from './rpc.ts';

export interface RedisSessionOptions {
  url: string;
  siteUrl: string;
  serviceCredentials: Credentials;
  /** Longest wait for one reply of Redis. */
  deadlineMs: number;
  /** Publishes this replica's unpublished changes. */
  repair(): Promise<void>;
}

export interface RedisSession {
  /** Connects once, and continues in the background. Throws `ConfigError`. */
  start(): Promise<void>;
  /** Releases the lock and disconnects. */
  stop(): Promise<void>;
}

const LOCK_CHECKS_PER_LEASE = 4;
const MAX_RECONNECT_DELAY_MS = 1000;
/**
 * Leases that a gateway stays standalone after Redis refused a command. Its lock expires meanwhile, and another
 * gateway finds out whether Redis refuses its commands too.
 */
const REFUSED_LEASES = 2;
const MAX_READ_MS = 1000;

/** Does nothing before `start`. */
export function createRedisSession(node: ClusterNode, options: RedisSessionOptions): RedisSession {
  const { nodeId, leaseMs, mapping, replica, changeLog, observe, dispatch, reportInvalid } = node;
  const { url, siteUrl, serviceCredentials, deadlineMs, repair } = options;
  const lockCheckMs = leaseMs / LOCK_CHECKS_PER_LEASE;
  // An integer, as Redis requires; no longer than until the next lock check may change the role.
  const readMs = Math.min(Math.ceil(lockCheckMs), MAX_READ_MS);
  const compatibility = compatibilityOf(siteUrl, mapping, serviceCredentials);
  const stopping = new AbortController();
  const handle = createRpcHandler(node);
  let running: Promise<void> | undefined;
  const pause = (ms: number, signal: AbortSignal) => sleep(ms, undefined, { signal }).catch(() => {});
  const warn = (message: string) => observe({ type: 'message', level: 'warn', message: `cluster: ${message}` });

  /** Asks who holds the lock, and takes or renews it if this gateway may. */
  async function checkLock(redis: Redis): Promise<void> {
    await assertCompatiblePeers(redis);
    // Here, while no reply about the lock is on its way.
    if (isFailing(node.role)) dispatch({ type: 'gaveUp' });
    const { sync, role } = node;
    const sentMs = performance.now();
    const complete = sync?.state().complete ?? false;
    const eligibility = { consistent: changeLog.unpublished !== 'unknown', complete, noLogYet: !node.hasLog };
    // A gateway that must not take the lock releases it. Redis may still name it as the holder; it must join
    // before it leads.
    const mode = mayTakeLock(role, eligibility, sentMs, { leaseMs }) ? 'take' : 'release';
    // An entry may arrive before the reply, and the tail in the reply is then older than the offset.
    const { offset } = changeLog;
    const lock = await redis.updateLock(mode, leaseMs, leaderStatus());
    node.hasLog = lock.tail !== LOG_START;
    const wasSkipped = lock.tail === changeLog.lastSkipped && compareIds(lock.tail, offset) > 0;
    if (wasSkipped) changeLog.markUnpublished('unknown');
    const isConsistent = compareIds(lock.tail, offset) >= 0 && changeLog.unpublished !== 'unknown';
    if (isMember() && !isConsistent) {
      // Redis may have lost its data since the check above: no incompatible gateway may be first to store its own.
      await assertCompatiblePeers(redis);
      dispatch({ type: 'gap' });
    }
    const token = lock.holder === nodeId ? lock.token : undefined;
    dispatch({ type: 'lockChecked', sentMs, token, held: lock.holder !== '' });
    node.leaderStatus = lock.holder === '' || lock.leaderStatus === '' ? undefined : parseStatus(lock.leaderStatus);
    followLeaderStatus();
  }

  const isMember = () => node.role.name === 'follower' || node.role.name === 'leader';

  function leaderStatus(): string {
    const { sync, role } = node;
    if (!sync || (role.name !== 'leader' && role.name !== 'bootstrapping')) return '';
    const status: HolderStatus = { bootstrapping: role.name === 'bootstrapping', syncState: sync.state() };
    return JSON.stringify(status);
  }

  function parseStatus(text: string): HolderStatus | undefined {
    try {
      return parseMessage<HolderStatus>('leaderStatus', text);
    } catch (error) {
      reportInvalid(error);
      return undefined;
    }
  }

  /** The replica of a follower equals the leader's, so the leader's sync state applies to it as well. */
  function followLeaderStatus(): void {
    const { sync, role, leaderStatus } = node;
    if (!sync || !leaderStatus || node.mayPoll()) return;
    const { syncState } = leaderStatus;
    const own = sync.state();
    if (!own.complete)
      sync.followLeader({ ...syncState, state: 'syncing', complete: false, reason: 'received from another gateway' });
    else if (isMember() && syncState.complete) sync.followLeader(syncState);
    else if (own.state === 'live' && role.name === 'joining' && performance.now() - role.sinceMs > leaseMs)
      sync.followLeader({ ...own, state: 'stale', reason: 'catches up with the other gateways' });
  }

  async function checkLockPeriodically(redis: Redis): Promise<void> {
    while (!redis.signal.aborted) {
      await pause(lockCheckMs, redis.signal);
      await checkLock(redis);
    }
  }

  async function readChangeLog(redis: Redis): Promise<void> {
    while (!redis.signal.aborted) {
      if (node.role.name === 'joining') {
        await catchUp(node, redis);
        followLeaderStatus();
        continue;
      }
      const entries = await redis.waitForEntries(changeLog.cursor, ENTRIES_PER_READ, readMs);
      const isBootstrapping = node.role.name === 'bootstrapping';
      if (!(await changeLog.applyEntries(entries, isBootstrapping))) dispatch({ type: 'gap' });
      while (entries.length > 0 && replica.mergeFts()) await new Promise(setImmediate);
      if (isMember()) void repair();
    }
  }

  /**
   * Stores what the peers must have in common if Redis, which may have lost its data, does not have it. Throws
   * `ConfigError` and `RedisUnavailable`.
   */
  async function assertCompatiblePeers(redis: Redis): Promise<void> {
    assertCompatible(compatibility, await redis.setIfAbsent('compatibility', JSON.stringify(compatibility)));
  }

  /** Throws `ConfigError` and `RedisUnavailable`. */
  async function connect(): Promise<Redis> {
    const redis = await openRedis({ url, prefix: keyPrefix(siteUrl), nodeId, deadlineMs });
    try {
      await assertCompatiblePeers(redis);
      node.rpc = await openRpc(redis, { nodeId, handle, currentOffset: () => changeLog.offset, reportInvalid });
      return redis;
    } catch (error) {
      redis.close();
      throw error;
    }
  }

  /** Returns when the connection is lost. Throws `RedisUnavailable`. */
  async function use(redis: Redis): Promise<void> {
    // `stop` ran while this connection was being opened.
    if (stopping.signal.aborted) return redis.close();
    node.redis = redis;
    dispatch({ type: 'connected' });
    let loops: Promise<void>[] = [];
    try {
      await checkLock(redis);
      loops = [checkLockPeriodically(redis), readChangeLog(redis)];
      await Promise.all(loops);
    } finally {
      redis.close();
      node.redis = undefined;
      node.rpc = undefined;
      // A snapshot that is being received ends before the next connection receives another one.
      await Promise.allSettled(loops);
    }
  }

  async function run(first: Redis | undefined): Promise<void> {
    let redis = first;
    let lastWarning = '';
    while (!stopping.signal.aborted) {
      let wasRefused = false;
      try {
        redis ??= await connect();
        await use(redis);
      } catch (error) {
        // A refusal while it connects may be a Redis that is still loading its data.
        wasRefused = redis !== undefined && error instanceof RedisUnavailable && error.isRefused;
        const message = error instanceof Error ? error.message : String(error);
        if (!stopping.signal.aborted && message !== lastWarning) warn(message);
        lastWarning = message;
      }
      redis = undefined;
      if (stopping.signal.aborted) return;
      if (wasRefused) {
        dispatch({ type: 'refused' });
        await pause(leaseMs * REFUSED_LEASES, stopping.signal);
        continue;
      }
      dispatch({ type: 'unavailable' });
      await pause(Math.min(lockCheckMs, MAX_RECONNECT_DELAY_MS), stopping.signal);
      dispatch({ type: 'unavailable' });
    }
  }

  return {
    async start() {
      let first: Redis | undefined;
      try {
        first = await connect();
      } catch (error) {
        if (!(error instanceof RedisUnavailable)) throw error;
        warn(`${error.message}; this gateway continues standalone`);
        observe({ type: 'cluster-role', from: 'starting', to: node.role.name, why: 'unavailable' });
      }
      running = run(first);
    },
    async stop() {
      stopping.abort();
      const { redis } = node;
      await redis?.updateLock('release', leaseMs, '').catch(() => {});
      redis?.close();
      await running;
    },
  };
}
