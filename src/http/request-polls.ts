// Polls of the CMS that requests cause: those that ask for the newest state, and those whose consistency token names
// more than the gateway shows.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../calendar/services.ts';

/** Requests cause at most one poll in this time: anybody may send a token or `Cache-Control: no-cache`. */
const POLL_INTERVAL_MS = 1000;

export interface PollClock {
  /** A monotonic clock. */
  nowMs(): number;
  /** Resolves with false after this many milliseconds, or on the signal. */
  wait(ms: number, signal?: AbortSignal): Promise<false>;
}

const CLOCK: PollClock = {
  nowMs: () => performance.now(),
  wait: (ms, signal) =>
    sleep(ms, false as const, { ref: false, ...(signal && { signal }) }).catch(() => false as const),
};

export interface PollOptions {
  /** The function resolves with false after this time, or on the signal. */
  maxMs: number;
  signal?: AbortSignal;
  /** A poll that began less than a second before the call will do: a reload needs no newer state. */
  mayJoin?: boolean;
}

/** Resolves with whether a poll has seen all that the CMS had at the call. */
export type PollForRequest = (options: PollOptions) => Promise<boolean>;

/** While polls fail, its function resolves with false at once: the sync then retries with delays of its own. */
export function createRequestPolls(sync: Pick<Services['sync'], 'poll' | 'state'>, clock = CLOCK): PollForRequest {
  let startedMs = Number.NEGATIVE_INFINITY;
  let latest = Promise.resolve(false);
  /** The poll that has not started yet, for all requests that wait for it. */
  let next: Promise<boolean> | undefined;

  function pollNext(): Promise<boolean> {
    next ??= clock.wait(Math.max(0, startedMs + POLL_INTERVAL_MS - clock.nowMs())).then(() => {
      next = undefined;
      startedMs = clock.nowMs();
      latest = sync.poll();
      return latest;
    });
    return next;
  }

  return async function pollForRequest({ maxMs, signal, mayJoin = false }) {
    if (sync.state().failures > 0) return false;
    const isRecent = clock.nowMs() - startedMs < POLL_INTERVAL_MS;
    return Promise.race([mayJoin && isRecent ? latest : pollNext(), clock.wait(maxMs, signal)]);
  };
}
