// Keeps calls from a failing CMS: the circuit breaker stops them and tries again with one at a time.

import {
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  ExponentialBackoff,
  handleWhen,
  isBrokenCircuitError,
  noJitterGenerator,
} from 'cockatiel';
import { CmsUnavailable, type UnavailableReason } from '../errors.ts';

export type CircuitBreakerState = 'closed' | 'open' | 'half-open';

const MAX_OPEN_MS = 60_000;

const CONSECUTIVE_FAILURES = 5;

/**
 * Shows that the CMS itself fails. A response that is rejected, malformed or too large shows that it works.
 */
const FAILURE_REASONS: ReadonlySet<UnavailableReason> = new Set(['refused', 'timeout', 'reset', 'status']);

const isFailure = (error: unknown): boolean =>
  error instanceof CmsUnavailable && FAILURE_REASONS.has(error.reason) && (error.status ?? 500) >= 500;

const STATES: Partial<Readonly<Record<CircuitState, CircuitBreakerState>>> = {
  [CircuitState.Closed]: 'closed',
  [CircuitState.Open]: 'open',
  [CircuitState.HalfOpen]: 'half-open',
};

/**
 * @param halfOpenAfterMs until an open breaker lets one call through. Doubles with every failure of that call, up to a
 * minute
 */
export function createCircuitBreaker(halfOpenAfterMs: number, onStateChange: (state: CircuitBreakerState) => void) {
  const policy = circuitBreaker(handleWhen(isFailure), {
    breaker: new ConsecutiveBreaker(CONSECUTIVE_FAILURES),
    halfOpenAfter: new ExponentialBackoff({
      initialDelay: halfOpenAfterMs,
      maxDelay: MAX_OPEN_MS,
      generator: noJitterGenerator,
    }),
  });
  policy.onStateChange((state) => onStateChange(STATES[state] ?? 'open'));

  const openError = () =>
    new CmsUnavailable('breaker-open', 'The CMS has been failing and is left alone for a moment.', {
      retryAfterS: Math.ceil(halfOpenAfterMs / 1000),
    });

  return {
    /** Runs the task, or throws `CmsUnavailable` `breaker-open` without running it. */
    async run<T>(task: () => Promise<T>): Promise<T> {
      // Cockatiel would make other calls wait for the one that tries the CMS.
      if (policy.state === CircuitState.HalfOpen) throw openError();
      try {
        return await policy.execute(task);
      } catch (error) {
        throw isBrokenCircuitError(error) ? openError() : error;
      }
    },
  };
}
