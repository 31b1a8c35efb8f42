// Everything that can be observed in the gateway, as one union; log and metrics are two readers of it.

import type { AwayReason } from '../errors.ts';

/** How a public read was answered; `shared`: with the answer that was being made for another request. */
export type CacheOutcome = 'hit' | 'miss' | 'shared' | 'not-modified' | 'stale' | 'none';

export type Observation =
  | {
      type: 'request';
      id: string;
      method: string;
      route: string;
      status: number;
      cache: CacheOutcome;
      durationMs: number;
    }
  | { type: 'request-failed'; id: string; error: unknown }
  | { type: 'upstream-call'; method: string; path: string; status: number; durationMs: number; attempt: number }
  | { type: 'upstream-failed'; method: string; path: string; reason: AwayReason; durationMs: number; message: string }
  | { type: 'breaker'; lane: string; state: 'closed' | 'open' | 'half-open' }
  | { type: 'queue'; waiting: number; running: number }
  | { type: 'sync-state'; from: string; to: string; why: string }
  | { type: 'sync-progress'; collection: string; done: number; total: number }
  | { type: 'sync-round'; requests: number; changed: number; removed: number; durationMs: number }
  /** The replica's file could not be used: it was renamed to `file`, and a new one begun. */
  | { type: 'replica-quarantined'; file: string; reason: string }
  /** An uncaught error: the process ends. */
  | { type: 'fatal'; error: unknown }
  /** Of several gateways: what this one does. */
  | { type: 'cluster-role'; from: string; to: string; why: string }
  /** Of several gateways: something in Redis that no gateway wrote. */
  | { type: 'cluster-ignored' }
  | { type: 'notice'; level: 'info' | 'warn'; message: string };

/** Hands an observation to whoever listens. Must not throw and must not hold credentials. */
export type Observe = (observation: Observation) => void;

/** Two readers as one. */
export function observers(first: Observe, second: Observe): Observe {
  return (observation) => {
    first(observation);
    second(observation);
  };
}
