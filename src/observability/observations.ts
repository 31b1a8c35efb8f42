// Everything that can be observed in the gateway, as one union. The log and the metrics are its two readers.

import type { UnavailableReason } from '../errors.ts';

/**
 * How the gateway served a public read. `hit`: from the response cache. `miss`: it built the response. `shared`:
 * another request was already building it (single-flight). `none`: every other request.
 */
export type CacheOutcome = 'hit' | 'miss' | 'shared' | 'none';

/**
 * `empty`: nothing was read yet. `syncing`: the initial sync runs. `live`: the replica equals the CMS. `stale`: one
 * poll failed, or something differs, for the reason that the state names. `unreachable`: the initial sync or two polls
 * in a row got no usable response.
 */
export const REPLICA_STATES = ['empty', 'syncing', 'live', 'stale', 'unreachable'] as const;
export type ReplicaState = (typeof REPLICA_STATES)[number];

export type Observation =
  /** Each request once, also one that `fastPath` answers from the cache. */
  | {
      type: 'request';
      id: string;
      method: string;
      route: string;
      status: number;
      cache: CacheOutcome;
      durationMs: number;
    }
  /** A webhook of the CMS: `accepted`, or why the gateway refused it. */
  | { type: 'webhook'; result: string }
  | { type: 'request-failed'; id: string; error: unknown }
  | { type: 'cms-call'; method: string; path: string; status: number; durationMs: number; attempt: number }
  | { type: 'cms-failed'; method: string; path: string; reason: UnavailableReason; durationMs: number; message: string }
  | { type: 'breaker'; bulkhead: string; state: 'closed' | 'open' | 'half-open' }
  /** The calls to the CMS, of all bulkheads. */
  | { type: 'queue'; waiting: number; running: number }
  | { type: 'sync-state'; from: ReplicaState; to: ReplicaState; why: string }
  | { type: 'sync-progress'; collection: string; done: number; total: number }
  /** Why the sync did something with records, and the values that led to it: for the log at level debug. */
  | { type: 'sync-decision'; collection: string; decision: string; values: object }
  /**
   * A round of the sync's loop; `isPoll` is false if another gateway polled, and this one only scanned. The counts are
   * since the round before: also of what webhooks and writes caused.
   */
  | { type: 'sync-round'; isPoll: boolean; requests: number; changed: number; removed: number; durationMs: number }
  /** A source was read; `problem`: why its events may be out of date. `events`: those that the gateway has of it. */
  | { type: 'source-read'; source: string; events: number; problem: string | undefined; durationMs: number }
  /** The replica's file was unusable: the gateway renamed it to `file` and started a new replica. */
  | { type: 'replica-quarantined'; file: string; reason: string }
  /** An uncaught error: the process ends. */
  | { type: 'fatal'; error: unknown }
  /** Redis responds, or does not any more; `reason`: why not. */
  | { type: 'cluster-connection'; isConnected: boolean; reason: string }
  /** The records that other gateways had named were read again. `id`: of the last entry, whose number is its time. */
  | { type: 'cluster-applied'; entries: number; id: string }
  /** Whether this gateway polls in an interval, or leaves it to another one. */
  | { type: 'cluster-lease'; isTaken: boolean }
  /** An outgoing webhook: `answer` is a status, or why there was none. Nothing of the address but the host. */
  | {
      type: 'push';
      receiver: number;
      host: string;
      answer: string;
      /** Since the last success. */
      failures: number;
      /** The last change that the receiver has. */
      position: number;
      durationMs: number;
    }
  | { type: 'message'; level: 'info' | 'warn'; message: string };

export type ObservationOf<T extends Observation['type']> = Extract<Observation, { type: T }>;

/** Must not throw. An observation contains no credentials: the code that makes it leaves them out. */
export type Observe = (observation: Observation) => void;
