// Bulkheads: each class of calls has its own share of the connections to the CMS, its own bounded queue, and its own
// circuit breaker, which keeps calls from a failing CMS.

import {
  type BulkheadPolicy,
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhen,
  isBrokenCircuitError,
  isBulkheadRejectedError,
  noJitterGenerator,
} from 'cockatiel';
import { CmsUnavailable, type UnavailableReason } from '../errors.ts';
import type { Observe } from '../observability/observations.ts';
import type { BulkheadName } from './port.ts';

interface Share {
  connections: number;
  /** Calls that may wait. */
  queue: number;
}

/**
 *     connections, queue     `anonymous`, `logins`: each     `callers`, `sync`: each
 *     8, 100                 1, 20                           3, 100
 *     2, 100                 1, 20                           1, 100: of four running calls two wait for a connection
 */
export function sharesOf({ connections, queue }: Share): Record<BulkheadName, Share> {
  const small = { connections: Math.max(1, Math.floor(connections / 8)), queue: Math.ceil(queue / 5) };
  const large = { connections: Math.max(1, Math.floor(connections / 2) - small.connections), queue };
  return { anonymous: small, logins: small, callers: large, sync: large };
}

export function createBulkheads(limits: Share, observe: Observe) {
  const shares = Object.entries(sharesOf(limits)).map(([name, share]) => ({
    ...share,
    name,
    policy: bulkhead(share.connections, share.queue),
  }));
  /** The accounts with calls in `callers`, by their header Authorization; `queue` as in `Share`. */
  const accounts = new Map<string, { calls: number; queue: number; policy: BulkheadPolicy }>();

  const observeQueue = () =>
    observe({
      type: 'queue',
      waiting: [...shares, ...accounts.values()].reduce((all, { queue, policy }) => all + queue - policy.queueSlots, 0),
      running: shares.reduce((all, { connections, policy }) => all + connections - policy.executionSlots, 0),
    });

  /**
   * Keeps a connection of `callers` free for other accounts: of three, one account uses two at most (of one, that one).
   * Half a queue of the account's further calls waits here, more are `busy`. `run` then enters the queue of `callers`.
   */
  async function runForAccount<T>(account: string, { connections, queue }: Share, run: () => Promise<T>): Promise<T> {
    const half = Math.ceil(queue / 2);
    const newPolicy = () => bulkhead(Math.max(1, connections - 1), half);
    const own = accounts.get(account) ?? { calls: 0, queue: half, policy: newPolicy() };
    accounts.set(account, own);
    own.calls += 1;
    try {
      return await own.policy.execute(run);
    } finally {
      own.calls -= 1;
      if (own.calls === 0) accounts.delete(account);
    }
  }

  return {
    /**
     * Runs the task as soon as its bulkhead has a connection, in the order of arrival.
     * @throws CmsUnavailable `busy`, immediately, when the bulkhead's queue is full; the signal's reason if it aborts
     */
    async run<T>(name: BulkheadName, task: () => Promise<T>, signal: AbortSignal, credentials?: string): Promise<T> {
      signal.throwIfAborted();
      const share = shares.find((each) => each.name === name)!;
      let isWaiting = true;
      // Cockatiel would tell the caller of an aborted call only when its turn comes, perhaps seconds later.
      const aborted = Promise.withResolvers<never>();
      const rejectIfWaiting = () => isWaiting && aborted.reject(signal.reason);
      signal.addEventListener('abort', rejectIfWaiting);
      try {
        const execute = () =>
          share.policy.execute(() => {
            isWaiting = false;
            observeQueue();
            return task();
          }, signal);
        const call = name === 'callers' && credentials ? runForAccount(credentials, share, execute) : execute();
        observeQueue();
        return await Promise.race([call, aborted.promise]);
      } catch (error) {
        if (!isBulkheadRejectedError(error)) throw error;
        throw new CmsUnavailable('busy', 'Too many requests are waiting for the CMS.', { retryAfterS: 1 });
      } finally {
        isWaiting = false;
        // With a listener, a signal of `AbortSignal.any` lives as long as the sync, and keeps the CMS's answer alive.
        signal.removeEventListener('abort', rejectIfWaiting);
        observeQueue();
      }
    },
  };
}

type CircuitBreakerState = 'closed' | 'open' | 'half-open';

const MAX_OPEN_MS = 60_000;

const CONSECUTIVE_FAILURES = 5;

/** Reasons that show a CMS which itself fails. A response that is malformed or too large shows one that works. */
const FAILURE_REASONS: ReadonlySet<UnavailableReason> = new Set(['refused', 'timeout', 'reset', 'status']);

const isFailure = (error: unknown): boolean =>
  error instanceof CmsUnavailable && FAILURE_REASONS.has(error.reason) && (error.status ?? 500) >= 500;

/** @param halfOpenAfterMs until an open breaker lets one call through; doubles if that call fails, up to a minute */
export function createCircuitBreaker(halfOpenAfterMs: number, onStateChange: (state: CircuitBreakerState) => void) {
  const policy = circuitBreaker(handleWhen(isFailure), {
    breaker: new ConsecutiveBreaker(CONSECUTIVE_FAILURES),
    halfOpenAfter: new ExponentialBackoff({
      initialDelay: halfOpenAfterMs,
      maxDelay: MAX_OPEN_MS,
      generator: noJitterGenerator,
    }),
  });
  policy.onBreak(() => onStateChange('open'));
  policy.onHalfOpen(() => onStateChange('half-open'));
  policy.onReset(() => onStateChange('closed'));

  const openError = () =>
    new CmsUnavailable('breaker-open', 'The CMS has been failing and is left alone for a moment.', {
      retryAfterS: Math.ceil(halfOpenAfterMs / 1000),
    });

  return {
    /** Runs the task, half-open as a probe, or throws `CmsUnavailable` `breaker-open` without running it. */
    async run<T>(task: (isProbe: boolean) => Promise<T>): Promise<T> {
      // Half-open: one call is trying the CMS right now. Cockatiel would make the others wait for it.
      if (policy.state === CircuitState.HalfOpen) throw openError();
      try {
        return await policy.execute(() => task(policy.state === CircuitState.HalfOpen));
      } catch (error) {
        throw isBrokenCircuitError(error) ? openError() : error;
      }
    },
  };
}
