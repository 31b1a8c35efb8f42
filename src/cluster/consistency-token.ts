// Consistency tokens: a client that sends back the token of a response reads nothing older through any
// gateway (read-your-writes).

import { setTimeout as sleep } from 'node:timers/promises';
import type { Peers } from '../sync/peers.ts';
import { compareIds } from './change-log-entry.ts';
import type { ClusterNode } from './node.ts';
import { isFullyPublished } from './unpublished-changes.ts';
import { RPC_TIMEOUT_MS } from './write-through.ts';

/** Suffix of a token whose response contained unpublished changes: only the CMS can confirm them. */
const UNPUBLISHED = '+';
/** Requests cause at most one poll in this time. */
const POLL_INTERVAL_MS = 1000;
const TOKEN = /^(\d{1,15}-\d{1,10})(\+?)$/;

export interface PollClock {
  /** A monotonic clock. */
  nowMs(): number;
  /** Resolves after this many milliseconds. */
  wait(ms: number): Promise<unknown>;
}

const CLOCK: PollClock = { nowMs: () => performance.now(), wait: (ms) => sleep(ms, undefined, { ref: false }) };

/**
 * A token is an offset of the change log, `1700000000000-0`, with `+` while this gateway has unpublished
 * changes.
 */
export function createConsistencyTokens(
  node: ClusterNode,
  clock = CLOCK,
): Pick<Peers, 'consistencyToken' | 'waitFor' | 'poll'> {
  const { changeLog } = node;
  let pollStartedMs = Number.NEGATIVE_INFINITY;
  /** The poll that has not started yet, for all requests that wait for it. */
  let nextPoll: Promise<boolean> | undefined;

  /** Resolves with whether this replica has everything that the CMS had at the call. */
  async function poll(): Promise<boolean> {
    const { sync, rpc } = node;
    if (node.mayPoll() && sync) return sync.poll();
    const offset = await rpc?.call({ type: 'poll' }, RPC_TIMEOUT_MS).catch(() => undefined);
    return offset !== undefined && changeLog.waitFor(offset, RPC_TIMEOUT_MS);
  }

  /** Once a second at most, and not while polls fail: anybody may send a token. */
  async function pollForRequests(): Promise<boolean> {
    if (node.sync && node.sync.state().failures > 0) return false;
    nextPoll ??= clock.wait(Math.max(0, pollStartedMs + POLL_INTERVAL_MS - clock.nowMs())).then(() => {
      nextPoll = undefined;
      pollStartedMs = clock.nowMs();
      return poll();
    });
    return nextPoll;
  }

  return {
    consistencyToken() {
      const isMember = node.role.name === 'follower' || node.role.name === 'leader';
      const isPublished = isMember && isFullyPublished(changeLog.unpublished);
      return `${changeLog.offset}${isPublished ? '' : UNPUBLISHED}`;
    },
    async waitFor(token, withinMs, signal) {
      const match = TOKEN.exec(token);
      if (!match) return undefined;
      const [, offset = '', suffix] = match;
      const isAlone = node.role.name === 'standalone' || node.role.name === 'bootstrapping';
      if (isAlone || suffix === UNPUBLISHED) {
        if (suffix !== UNPUBLISHED && compareIds(changeLog.offset, offset) >= 0) return true;
        const end = sleep(withinMs, false, { ref: false, signal }).catch(() => false);
        const isPolled = await Promise.race([pollForRequests(), end]);
        if (!isPolled || isAlone) return isPolled;
      }
      return changeLog.waitFor(offset, withinMs, signal);
    },
    poll,
  };
}
