// What keeps the gateway and a struggling CMS from harming each other: a bounded queue, a retry budget, a circuit breaker.

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
import { type AwayReason, UpstreamAway } from '../errors.ts';
import type { Observe } from '../observe/events.ts';

export interface Lane {
  /** Runs the task as soon as a place is free. Throws `UpstreamAway` `busy` at once when the queue is full. */
  run<T>(task: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

/**
 * At most `connections` tasks at a time and `queue` more waiting, first come, first served.
 * Own code, since cockatiel's bulkhead keeps a task that was given up in its queue until its turn comes.
 */
export function createLane(limits: { connections: number; queue: number }, observe: Observe): Lane {
  const waiting = new Set<() => void>();
  let running = 0;
  const tell = () => observe({ type: 'queue', waiting: waiting.size, running });

  const wait = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const leave = () => {
        waiting.delete(enter);
        tell();
        reject(signal.reason);
      };
      const enter = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      signal.addEventListener('abort', leave, { once: true });
      waiting.add(enter);
      tell();
    });

  return {
    async run(task, signal) {
      signal.throwIfAborted();
      if (running < limits.connections) {
        running += 1;
        tell();
      } else if (waiting.size < limits.queue) await wait(signal);
      else throw new UpstreamAway('busy', 'Too many requests are waiting for the CMS.', { retryAfterS: 1 });
      try {
        return await task();
      } finally {
        // The place is handed on, not given back, so that nobody who comes later can take it.
        const [next] = waiting;
        if (next) {
          waiting.delete(next);
          next();
        } else running -= 1;
        tell();
      }
    },
  };
}

const BUDGET_WINDOW_MS = 10_000;
const BUDGET_SHARE = 0.2;
const BUDGET_LEAST = 3;

export interface RetryBudget {
  /** Counts a request. */
  spend(): void;
  /** Whether one more retry is within 20 % of the requests (3 in any case) of the present ten seconds; counts it. */
  retry(): boolean;
}

/** Retries must not multiply the load on a CMS that is failing (craft D, retry budget). */
export function createRetryBudget(now: () => number = Date.now): RetryBudget {
  let window = { startMs: now(), requests: 0, retries: 0 };
  const current = () => {
    if (now() - window.startMs >= BUDGET_WINDOW_MS) window = { startMs: now(), requests: 0, retries: 0 };
    return window;
  };
  return {
    spend() {
      current().requests += 1;
    },
    retry() {
      const { requests, retries } = current();
      if (retries >= Math.max(BUDGET_LEAST, BUDGET_SHARE * requests)) return false;
      window.retries += 1;
      return true;
    },
  };
}

export interface Breaker {
  /** Runs the task, or throws `UpstreamAway` `breaker-open` without running it. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

/** What says that the CMS itself is in trouble; an answer that is too large, odd or refused says that it is there. */
const TROUBLE: ReadonlySet<AwayReason> = new Set<AwayReason>(['refused', 'timeout', 'reset', 'status']);

const isTrouble = (error: unknown): boolean =>
  error instanceof UpstreamAway && TROUBLE.has(error.reason) && (error.status ?? 500) >= 500;

/**
 * Opens after 5 failures in a row or half of at least 20 in ten seconds; tries one call after `halfOpenAfterMs`, then after twice
 * as long each time, up to a minute (craft D, outlier detection).
 */
export function createBreaker(observe: Observe, halfOpenAfterMs = 5_000): Breaker {
  let openUntilMs = 0;
  const backoff = (duration: number): IBackoff<unknown> => ({
    duration,
    next: () => opened(Math.min(duration * 2, 60_000)),
  });
  const opened = (duration: number) => {
    openUntilMs = Date.now() + duration;
    return backoff(duration);
  };
  const policy: CircuitBreakerPolicy = circuitBreaker(
    // A probe that its caller gave up has proved nothing: it must not count as a success, as cockatiel would have it.
    handleWhen((error) => isTrouble(error) || (policy.state === CircuitState.HalfOpen && isGivenUp(error))),
    { breaker: eitherOf(), halfOpenAfter: { next: () => opened(halfOpenAfterMs) } },
  );
  const tell = (state: 'closed' | 'open' | 'half-open') => () => observe({ type: 'breaker', state });
  policy.onBreak(tell('open'));
  policy.onHalfOpen(tell('half-open'));
  policy.onReset(tell('closed'));

  const refusal = () =>
    new UpstreamAway('breaker-open', 'The CMS has been failing and is left alone for a moment.', {
      retryAfterS: Math.max(1, Math.ceil((openUntilMs - Date.now()) / 1000)),
    });

  return {
    async run(task) {
      // While the one probe is under way, others are turned away rather than made to wait for it.
      if (policy.state === CircuitState.HalfOpen) throw refusal();
      try {
        return await policy.execute(task);
      } catch (error) {
        throw isBrokenCircuitError(error) ? refusal() : error;
      }
    },
  };
}

function isGivenUp(error: unknown): boolean {
  return !(error instanceof UpstreamAway);
}

function eitherOf(): IBreaker {
  const breakers: IBreaker[] = [
    new ConsecutiveBreaker(5),
    // It asks for more than its threshold; half must be enough.
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
