// Polls on demand (`Cache-Control: no-cache`): at most one per second for all clients, and none while polls fail.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../sync/sync.ts';

export interface OnDemandPollOptions {
  sync: Pick<Sync, 'poll' | 'state'>;
  /** A monotonic clock. */
  clockMs?: () => number;
  /** Resolves after this many milliseconds. */
  wait?: (ms: number) => Promise<unknown>;
}

const SECOND_MS = 1000;
/** After this time the gateway responds from the replica as it is. */
const MAX_WAIT_MS = 5000;

/**
 * Returns a function that polls, or joins the poll that another client requested within the last second. It resolves after the poll, after
 * five seconds at the latest, and immediately while polls fail: no client may shorten the delays between retries.
 */
export function createOnDemandPoll(options: OnDemandPollOptions): () => Promise<void> {
  const { sync, clockMs = () => performance.now(), wait = (ms) => sleep(ms, undefined, { ref: false }) } = options;
  let latest: { requestedMs: number; done: Promise<unknown> } | undefined;

  return async () => {
    if (sync.state().failures > 0) return;
    const nowMs = clockMs();
    if (!latest || nowMs - latest.requestedMs >= SECOND_MS) {
      latest = { requestedMs: nowMs, done: Promise.race([sync.poll(), wait(MAX_WAIT_MS)]) };
    }
    await latest.done;
  };
}
