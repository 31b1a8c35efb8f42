// What keeps callers, the sync and a struggling CMS from harming each other: lanes with bounded queues, retry budgets, circuit breakers.

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
import type { LaneName } from './port.ts';

/** Where a call waits, and with whose calls it shares a turn. */
export interface Place {
  lane: LaneName;
  /** Calls of one share (a user) take turns with those of others in their lane. Default: the whole lane is one. */
  share?: string | undefined;
}

export interface Lanes {
  /**
   * Runs the task as soon as its lane may use a connection. Throws `UpstreamAway` `busy` at once when the lane's queue is full, or when
   * one share has half of it.
   */
  run<T>(place: Place, task: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

interface LaneLimits {
  /** Connections that no other lane may use. */
  reserved: number;
  /** Connections that it may use when the others need none. */
  most: number;
  queue: number;
}

/**
 * How the connections and the queue are divided. Eight connections: one is kept for each of anonymous look-ups, logins and the sync,
 * three for callers, and two are for the first who comes. Fewer than four cannot be divided: then only the turns are shared.
 */
export function laneLimits({
  connections,
  queue,
}: {
  connections: number;
  queue: number;
}): Record<LaneName, LaneLimits> {
  const eighth = Math.floor(connections / 8);
  const dividable = connections >= 4;
  const few = { reserved: eighth, most: Math.max(1, Math.floor(connections / 4)), queue: Math.ceil(queue / 5) };
  const many = (reserved: number) => ({ reserved: dividable ? Math.max(1, reserved) : 0, most: connections, queue });
  return {
    ...{ anonymous: few, logins: few },
    callers: many(Math.floor((connections * 3) / 8)),
    sync: many(eighth),
  };
}

interface Waiting extends Place {
  enter: () => void;
}

/**
 * Divides so many connections among the lanes. Within a lane the share with the fewest calls under way comes first, then the order of arrival.
 * Own code, since cockatiel's bulkhead has one queue for all and keeps a task that was given up until its turn comes.
 */
export function createLanes(limits: { connections: number; queue: number }, observe: Observe): Lanes {
  const lanes = Object.entries(laneLimits(limits)).map(([name, own]) => ({
    ...{ name: name as LaneName, ...own, running: 0 },
    waiting: new Set<Waiting>(),
    byShare: new Map<string, number>(),
  }));
  type Lane = (typeof lanes)[number];
  const laneOf = ({ lane }: Place): Lane => lanes.find(({ name }) => name === lane)!;
  const sum = (count: (lane: Lane) => number) => lanes.reduce((all, lane) => all + count(lane), 0);
  const tell = () =>
    observe({ type: 'queue', waiting: sum(({ waiting }) => waiting.size), running: sum(({ running }) => running) });

  function mayStart(lane: Lane, { share = '' }: Place): boolean {
    const kept = sum((other) => (other === lane ? 0 : Math.max(0, other.reserved - other.running)));
    if (lane.running >= lane.most || sum(({ running }) => running) + kept >= limits.connections) return false;
    return share === '' || (lane.byShare.get(share) ?? 0) < mostOfShare(lane);
  }

  /** One share leaves a connection of its lane to the others, however slowly the CMS answers it. */
  function mostOfShare(lane: Lane): number {
    const reserved = sum((other) => (other === lane ? 0 : other.reserved));
    return Math.max(1, Math.min(lane.most, limits.connections - reserved) - 1);
  }

  function mayWait(lane: Lane, { share = '' }: Place): boolean {
    if (lane.waiting.size >= lane.queue) return false;
    if (share === '') return true;
    const own = [...lane.waiting].filter((one) => one.share === share).length;
    return own < Math.ceil(lane.queue / 2);
  }

  function count({ byShare }: Lane, { share = '' }: Place, by: 1 | -1): void {
    const now = (byShare.get(share) ?? 0) + by;
    if (now > 0) byShare.set(share, now);
    else byShare.delete(share);
  }

  function start(lane: Lane, place: Place): void {
    lane.running += 1;
    count(lane, place, 1);
    // The lane that was served last is served next only when no other waits.
    lanes.push(...lanes.splice(lanes.indexOf(lane), 1));
  }

  function nextOf(lane: Lane): Waiting | undefined {
    let first: Waiting | undefined;
    const underWay = ({ share = '' }: Waiting) => lane.byShare.get(share) ?? 0;
    for (const one of lane.waiting) if (!first || underWay(one) < underWay(first)) first = one;
    return first && mayStart(lane, first) ? first : undefined;
  }

  /** A free connection goes to a call that waits before anybody who comes later can take it. */
  function handOn(): void {
    for (;;) {
      const lane = lanes.find((one) => nextOf(one));
      const next = lane && nextOf(lane);
      if (!lane || !next) return;
      lane.waiting.delete(next);
      start(lane, next);
      next.enter();
    }
  }

  const wait = (lane: Lane, place: Place, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const waiting: Waiting = { ...place, enter };
      function leave() {
        lane.waiting.delete(waiting);
        tell();
        reject(signal.reason);
      }
      function enter() {
        signal.removeEventListener('abort', leave);
        resolve();
      }
      signal.addEventListener('abort', leave, { once: true });
      lane.waiting.add(waiting);
      tell();
    });

  return {
    async run(place, task, signal) {
      signal.throwIfAborted();
      const lane = laneOf(place);
      if (mayStart(lane, place)) {
        start(lane, place);
        tell();
      } else if (mayWait(lane, place)) await wait(lane, place, signal);
      else throw new UpstreamAway('busy', 'Too many requests are waiting for the CMS.', { retryAfterS: 1 });
      try {
        return await task();
      } finally {
        lane.running -= 1;
        count(lane, place, -1);
        handOn();
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
export function createBreaker(lane: LaneName, observe: Observe, halfOpenAfterMs = 5_000): Breaker {
  let openUntilMs = 0;
  const backoff = (duration: number): IBackoff<unknown> => ({
    duration,
    next: () => opened(Math.min(duration * 2, 60_000)),
  });
  const opened = (duration: number) => {
    openUntilMs = performance.now() + duration;
    return backoff(duration);
  };
  const policy: CircuitBreakerPolicy = circuitBreaker(
    // A probe that its caller gave up has proved nothing: it must not count as a success, as cockatiel would have it.
    handleWhen((error) => isTrouble(error) || (policy.state === CircuitState.HalfOpen && isGivenUp(error))),
    { breaker: eitherOf(), halfOpenAfter: { next: () => opened(halfOpenAfterMs) } },
  );
  const tell = (state: 'closed' | 'open' | 'half-open') => () => observe({ type: 'breaker', lane, state });
  policy.onBreak(tell('open'));
  policy.onHalfOpen(tell('half-open'));
  policy.onReset(tell('closed'));

  const refusal = () =>
    new UpstreamAway('breaker-open', 'The CMS has been failing and is left alone for a moment.', {
      retryAfterS: Math.max(1, Math.ceil((openUntilMs - performance.now()) / 1000)),
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
