// Requests that want more than the replica shows: with `Cache-Control: no-cache`, which cause a poll of the CMS, and
// with the consistency token of an earlier response, which read at least what that one showed.

import { setTimeout as sleep } from 'node:timers/promises';
import type { PeersPort } from '../calendar/peers-port.ts';
import type { Services } from '../calendar/services.ts';
import { behind, invalidVersion } from '../interface/errors.ts';
import type { Middleware } from './state.ts';

/** Requests cause at most one poll in this time: anybody may send a token or `Cache-Control: no-cache`. */
const POLL_INTERVAL_MS = 1000;

const CLOCK = {
  nowMs: () => performance.now(),
  /** Resolves with false after this many milliseconds. */
  wait: (ms: number): Promise<false> => sleep(ms, false as const, { ref: false }),
};

/**
 * Resolves with whether a poll has seen all that the CMS had at the call, or with `mayBeRecent` a second before:
 *
 *   the latest poll began     a token                  `no-cache` (`mayBeRecent`)
 *   half a second ago         one in half a second     the latest
 *   two seconds ago           one at once              one at once
 */
export type PollForRequest = (options: {
  /** The promise resolves with false after this time. */
  maxMs: number;
  mayBeRecent?: boolean;
}) => Promise<boolean>;

/** While polls fail, a request gets false at once: the sync then retries with delays of its own. */
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

  return async function pollForRequest({ maxMs, mayBeRecent = false }) {
    if (sync.state().failures > 0) return false;
    const isRecent = clock.nowMs() - startedMs < POLL_INTERVAL_MS;
    return Promise.race([mayBeRecent && isRecent ? latest : pollNext(), clock.wait(maxMs)]);
  };
}

export const MIN_VERSION_HEADER = 'x-calendar-min-version';

/** The longest wait for the entries of other gateways, and then for a poll. */
const MAX_WAIT_MS = 2000;
/** The id of an entry. `+`: and changes that no entry names yet; only a poll shows these to other gateways. */
const TOKEN = /^(\d{1,15}-\d{1,10})(\+?)$/;

/** With several gateways every response has these headers. */
export function consistencyHeaders(peers: PeersPort | undefined): Record<string, string> {
  if (!peers) return {};
  const { id, isTold } = peers.consistencyToken();
  return { 'X-Calendar-Version': isTold ? id : `${id}+` };
}

/**
 * Waits until the gateway shows the state that the request's token names, at most two seconds; then it polls
 * once. Throws `ApiError`: 400 for an invalid token, 503 if that failed too.
 */
export function waitForToken(peers: PeersPort, poll: PollForRequest): Middleware {
  return async function waitForTokenMiddleware(ctx, next) {
    const token = ctx.get(MIN_VERSION_HEADER);
    if (token === '') return next();
    const [, id, suffix] = TOKEN.exec(token) ?? [];
    if (id === undefined) throw invalidVersion();
    // With `+` a poll follows in any case: no entry names the untold changes.
    const hasAll = (await peers.reaches(id, MAX_WAIT_MS)) && suffix === '';
    if (!hasAll && !(await poll({ maxMs: MAX_WAIT_MS }))) throw behind();
    return next();
  };
}
