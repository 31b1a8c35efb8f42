// Keeps calls from a failing CMS: the circuit breaker stops them and tries again with one at a time (cockatiel's, with
// a clock of its own), and the retry budget keeps retries a small part of all requests.

import {
  type CircuitBreakerPolicy,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhen,
  type IBackoff,
  type IBreaker,
  isBrokenCircuitError,
  SamplingBreaker,
} from 'cockatiel';
import { CmsUnavailable, type UnavailableReason } from '../errors.ts';

export type CircuitBreakerState = 'closed' | 'open' | 'half-open';

export interface CircuitBreaker {
  /** Runs the task, or throws `CmsUnavailable` `breaker-open` without running it. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

export interface CircuitBreakerOptions {
  /**
   * Time until an open breaker lets one call through. Doubles with every failure of that call, up to a
   * minute.
   */
  halfOpenAfterMs: number;
  onStateChange?: (state: CircuitBreakerState) => void;
  nowMs?: () => number;
}

const MAX_OPEN_MS = 60_000;

/**
 * Shows that the CMS itself fails. A response that is rejected, malformed or too large shows that it works.
 */
const FAILURE_REASONS: ReadonlySet<UnavailableReason> = new Set(['refused', 'timeout', 'reset', 'status']);

const isFailure = (error: unknown): boolean =>
  error instanceof CmsUnavailable && FAILURE_REASONS.has(error.reason) && (error.status ?? 500) >= 500;

const isClientAbort = (error: unknown): boolean => !(error instanceof CmsUnavailable);

/** Opens after 5 consecutive failures, or when half of at least 20 calls in ten seconds fail. */
export function createCircuitBreaker({
  halfOpenAfterMs,
  onStateChange = () => {},
  nowMs = () => performance.now(),
}: CircuitBreakerOptions): CircuitBreaker {
  let openUntilMs = 0;

  /**
   * `duration` is infinite during the pause and 0 after it, so that cockatiel's own clock has no effect.
   */
  const openFor = (openMs: number): IBackoff<unknown> => {
    openUntilMs = nowMs() + openMs;
    return {
      get duration() {
        return nowMs() < openUntilMs ? Number.POSITIVE_INFINITY : 0;
      },
      next: () => openFor(Math.min(openMs * 2, MAX_OPEN_MS)),
    };
  };

  const policy: CircuitBreakerPolicy = circuitBreaker(
    // A half-open breaker learns nothing from a call that its client aborted; cockatiel alone would count it
    // as a success.
    handleWhen((error) => isFailure(error) || (policy.state === CircuitState.HalfOpen && isClientAbort(error))),
    { breaker: consecutiveOrSampling(), halfOpenAfter: { next: () => openFor(halfOpenAfterMs) } },
  );
  policy.onBreak(() => onStateChange('open'));
  policy.onHalfOpen(() => onStateChange('half-open'));
  policy.onReset(() => onStateChange('closed'));

  const openError = () =>
    new CmsUnavailable('breaker-open', 'The CMS has been failing and is left alone for a moment.', {
      retryAfterS: Math.max(1, Math.ceil((openUntilMs - nowMs()) / 1000)),
    });

  return {
    async run(task) {
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

function consecutiveOrSampling(): IBreaker {
  const breakers: IBreaker[] = [
    new ConsecutiveBreaker(5),
    // Cockatiel opens above the threshold; half of the calls must be enough.
    new SamplingBreaker({ threshold: 0.499, duration: 10_000, minimumRps: 2 }),
  ];
  return {
    state: undefined,
    success(state) {
      for (const breaker of breakers) breaker.success(state);
    },
    failure: (state) => breakers.map((breaker) => breaker.failure(state)).includes(true),
  };
}

const WINDOW_MS = 10_000;
const RETRY_RATIO = 0.2;
const MIN_RETRIES = 3;

export interface RetryBudget {
  countRequest(): void;
  /**
   * Counts a retry and returns true if it is within 20 % of the requests (at least 3) of the current ten
   * seconds.
   */
  tryRetry(): boolean;
}

export function createRetryBudget(clockMs = () => performance.now()): RetryBudget {
  let window = { startMs: clockMs(), requests: 0, retries: 0 };
  const current = () => {
    if (clockMs() - window.startMs >= WINDOW_MS) window = { startMs: clockMs(), requests: 0, retries: 0 };
    return window;
  };
  return {
    countRequest() {
      current().requests += 1;
    },
    tryRetry() {
      const { requests, retries } = current();
      if (retries >= Math.max(MIN_RETRIES, RETRY_RATIO * requests)) return false;
      window.retries += 1;
      return true;
    },
  };
}
