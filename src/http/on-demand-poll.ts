// The polls that `Cache-Control: no-cache` asks for: one a second for all callers together, and none while the CMS is left alone.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../replica/sync.ts';

export interface OnDemandPollOptions {
  sync: Pick<Sync, 'look' | 'standing'>;
  /** Milliseconds of a clock that never goes back. */
  clockMs?: () => number;
  /** Resolves after so many milliseconds. */
  wait?: (ms: number) => Promise<unknown>;
}

const SECOND_MS = 1000;
/** The longest that a caller waits, in milliseconds; the gateway then answers from the replica as it is. */
const LONGEST_WAIT_MS = 5000;

/**
 * Resolves when the latest poll is over that was asked for within the last second, which is asked for now if there is none; after five
 * seconds in any case. Resolves at once while polls fail: they are repeated with growing pauses that no caller may shorten.
 */
export function createOnDemandPoll(options: OnDemandPollOptions): () => Promise<void> {
  const { sync, clockMs = () => performance.now(), wait = (ms) => sleep(ms, undefined, { ref: false }) } = options;
  let latest: { askedMs: number; over: Promise<unknown> } | undefined;

  return async () => {
    if (sync.standing().failures > 0) return;
    const nowMs = clockMs();
    if (!latest || nowMs - latest.askedMs >= SECOND_MS) {
      latest = { askedMs: nowMs, over: Promise.race([sync.look(), wait(LONGEST_WAIT_MS)]) };
    }
    await latest.over;
  };
}
