// Owns the states of the replica and what leads from one to another: pure functions. docs/operations.md explains them.

import { CmsRejected, ReplicaError } from '../errors.ts';
import type { ReplicaState } from '../observability/observations.ts';

export type SyncEvent =
  /** The initial sync starts or continues. */
  | { type: 'syncStarted' }
  /** A complete replica was on disk. `lastCaughtUpMs`: when it was last known to be current. */
  | { type: 'opened'; lastCaughtUpMs?: number | undefined }
  /**
   * The initial sync, or a poll after it, saw everything that changed. `reason`: why the replica may nevertheless
   * differ from the CMS. A mass deletion waits for confirmation, a collection is absent, or the scan fails.
   */
  | { type: 'polled'; reason?: string | undefined }
  /** The CMS sent no usable response, or refuses the account that the settings name for reading. */
  | { type: 'failed'; reason: string }
  /** The CMS responded, but the replica could not be read or written, for example because the disk is full. */
  | { type: 'replicaFailed'; reason: string };

export interface SyncState {
  /** The state of the replica, as `/status`, the log and the metric name it. */
  readonly phase: ReplicaState;
  /** Since when it is in this state. */
  readonly sinceMs: number;
  /** True if lists may be answered from the replica: its initial sync was complete once. */
  readonly complete: boolean;
  /** When the replica was last known to be current. */
  readonly lastCaughtUpMs: number | undefined;
  /** Polls that failed since the last one that succeeded. */
  readonly failures: number;
  /** Why a complete replica is not live, or why the initial sync failed; undefined otherwise. */
  readonly reason: string | undefined;
}

const FIRST_RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;

export function initialSyncState(nowMs: number): SyncState {
  return { phase: 'empty', sinceMs: nowMs, complete: false, lastCaughtUpMs: undefined, failures: 0, reason: undefined };
}

/**
 *     event           before the replica is complete   afterwards
 *     syncStarted     syncing                          the same state
 *     opened          stale                            (`opened` comes first, or never)
 *     polled          live; with a reason stale        live; with a reason stale
 *     failed          unreachable                      stale; from the second failure in a row unreachable
 *     replicaFailed   the same state                   stale
 */
export function transition(current: SyncState, event: SyncEvent, nowMs: number): SyncState {
  const next = { ...current, ...changesBy(current, event, nowMs) };
  return { ...next, sinceMs: next.phase === current.phase ? current.sinceMs : nowMs };
}

function changesBy({ phase, complete, failures }: SyncState, event: SyncEvent, nowMs: number): Partial<SyncState> {
  switch (event.type) {
    case 'syncStarted':
      return complete ? {} : { phase: 'syncing', reason: undefined };
    case 'opened':
      return { phase: 'stale', complete: true, lastCaughtUpMs: event.lastCaughtUpMs, reason: 'opened from disk' };
    case 'polled':
      if (event.reason !== undefined) return { phase: 'stale', complete: true, failures: 0, reason: event.reason };
      return { phase: 'live', complete: true, failures: 0, reason: undefined, lastCaughtUpMs: nowMs };
    case 'failed': {
      const isFirst = complete && failures === 0;
      return { phase: isFirst ? 'stale' : 'unreachable', failures: failures + 1, reason: event.reason };
    }
    case 'replicaFailed':
      return { phase: complete ? 'stale' : phase, failures: failures + 1, reason: event.reason };
  }
}

/** Pause after a failure, before the next try: one second, doubled with every failure, 30 s at most. */
export const pollRetryDelayMs = ({ failures }: Pick<SyncState, 'failures'>): number =>
  Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** (failures - 1));

/** What an operator may do about a site that shows visitors nothing. */
export const READ_AS = 'To show the public what an account sees, set upstream.readAs to "account".';

export function failureEvent(error: unknown, visitor: string | undefined): SyncEvent & { reason: string } {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ReplicaError) return { type: 'replicaFailed', reason: `the replica: ${message}` };
  if (error instanceof CmsRejected && [401, 403].includes(error.status)) {
    if (visitor === undefined) return { type: 'failed', reason: `the site refuses visitors: ${message} ${READ_AS}` };
    return { type: 'failed', reason: `the CMS refuses the account of upstream.user: ${message}` };
  }
  return { type: 'failed', reason: message };
}
