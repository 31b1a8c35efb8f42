// This gateway as a node of the cluster: its role, its connection, and, following from both, where a change
// may be written.

import { randomUUID } from 'node:crypto';
import { NotLeaderError } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Kind } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import type { Replica } from '../store/replica.ts';
import type { Sync } from '../sync/sync.ts';
import type { SyncState } from '../sync/sync-state.ts';
import { type ChangeLog, type ChangeSource, createChangeLog, type WriteMode } from './change-log.ts';
import type { LogEntry } from './change-log-entry.ts';
import { keysOf, parseKey } from './record-keys.ts';
import type { Redis } from './redis.ts';
import { initialRole, mayPoll, nextRole, type RoleEvent, type RoleState } from './role-state.ts';
import type { Rpc } from './rpc.ts';

/** What the leader publishes about itself. */
export interface HolderStatus {
  bootstrapping: boolean;
  syncState: SyncState;
}

export interface ClusterNode {
  /** A new id at every start. */
  readonly nodeId: string;
  readonly leaseMs: number;
  readonly mapping: Mapping;
  readonly replica: Replica;
  readonly observe: Observe;
  readonly changeLog: ChangeLog;
  readonly role: RoleState;
  readonly roleSinceMs: number;
  /** Undefined before the start. */
  sync: Sync | undefined;
  /** Undefined while disconnected. */
  redis: Redis | undefined;
  rpc: Rpc | undefined;
  /** What the leader last published. */
  leaderStatus: HolderStatus | undefined;
  /** Whether a change log exists in Redis. */
  hasLog: boolean;
  /** Counts data in Redis that no gateway wrote, and logs a warning once a minute. */
  reportInvalid(error: unknown): void;
  /** Changes the role, and does what follows from it. */
  dispatch(event: RoleEvent): void;
  /** Whether this gateway polls the CMS now. */
  mayPoll(): boolean;
  /**
   * Starts a poll, whose changes count only under the lock that is held now; false if another gateway polls.
   */
  startPoll(): boolean;
  /** The fencing token under which the current poll started. */
  pollToken(): number | undefined;
}

export interface NodeOptions {
  leaseMs: number;
  mapping: Mapping;
  replica: Replica;
  observe: Observe;
}

/**
 * A new leader reads records again that were written within this time: the previous leader may not have
 * confirmed them.
 */
const UNCONFIRMED_MS = 60_000;

const WARN_INTERVAL_MS = 60_000;

const nowMs = (): number => performance.now();

/** Starts as `standalone`, at the offset of the replica on disk. */
export function createNode({ leaseMs, mapping, replica, observe }: NodeOptions): ClusterNode {
  const nodeId = randomUUID();
  let role = initialRole(nowMs());
  let roleSinceMs = Date.now();
  /** Undefined outside of a poll. */
  let poll: { token: number | undefined } | undefined;
  /** The latest writes of all gateways. */
  let recentWrites: { kind: Kind; id: number; atMs: number }[] = [];

  function dispatch(event: RoleEvent): void {
    const before = role;
    role = nextRole(role, event, nowMs(), { leaseMs });
    if (before.name === role.name) return;
    roleSinceMs = Date.now();
    observe({ type: 'cluster-role', from: before.name, to: role.name, why: event.type });
    if (role.name === 'bootstrapping') node.changeLog.markUnpublished('unknown');
    if (role.name === 'leader' && before.name !== 'bootstrapping') node.sync?.takeOverPolling(recentWrites);
    else if (node.mayPoll() && role.name !== 'leader') node.sync?.takeOverPolling([]);
    else node.sync?.recheckLeadership();
  }

  let warnedMs = Number.NEGATIVE_INFINITY;
  function reportInvalid(error: unknown): void {
    observe({ type: 'cluster-message-ignored' });
    if (nowMs() - warnedMs < WARN_INTERVAL_MS) return;
    warnedMs = nowMs();
    const reason = error instanceof Error ? error.message : String(error);
    observe({ type: 'message', level: 'warn', message: `Redis: ignored data that no gateway wrote: ${reason}` });
  }

  function writeMode(source: ChangeSource): WriteMode {
    if (source === 'poll' && poll && (poll.token !== role.token || !node.mayPoll())) throw new NotLeaderError();
    const { redis } = node;
    // A leader that cannot publish a change must not store it either: its next poll would not find the change
    // again.
    if (!redis && source === 'poll' && role.name === 'leader') throw new NotLeaderError();
    const isBaseline = source === 'poll' && (role.name === 'standalone' || role.name === 'bootstrapping');
    const isMember = role.name === 'follower' || role.name === 'leader';
    if (!redis || !isMember) return { type: 'local', isBaseline };
    return { type: 'log', redis, token: source === 'poll' && poll ? role.token : undefined };
  }

  function onApplied({ from, type, change }: LogEntry): void {
    const { sync } = node;
    if (!sync) return;
    const records = keysOf(change)
      .map(parseKey)
      .filter((key): key is { kind: Kind; id: number } => key.kind !== 'image');
    if (from !== nodeId) {
      if (change.state) sync.reloadState();
      sync.peerChanged(records);
    }
    if (type !== 'write') return;
    if (role.name !== 'joining' && role.name !== 'follower')
      for (const { kind, id } of records) sync.recordWrite(kind, id);
    const atMs = nowMs();
    recentWrites = recentWrites.filter((write) => write.atMs >= atMs - UNCONFIRMED_MS);
    recentWrites.push(...records.map((record) => ({ ...record, atMs })));
  }

  const node: ClusterNode = {
    nodeId,
    leaseMs,
    mapping,
    replica,
    observe,
    changeLog: createChangeLog({ replica, nodeId, writeMode, onApplied, reportInvalid }),
    get role() {
      return role;
    },
    get roleSinceMs() {
      return roleSinceMs;
    },
    sync: undefined,
    redis: undefined,
    rpc: undefined,
    leaderStatus: undefined,
    hasLog: false,
    reportInvalid,
    dispatch,
    mayPoll: () => mayPoll(role, nowMs()),
    startPoll() {
      const polls = node.mayPoll();
      poll = polls ? { token: role.token } : undefined;
      return polls;
    },
    pollToken: () => poll?.token,
  };
  return node;
}
