// A token bucket: allows a burst of calls, and then some for each second.

const SECOND_MS = 1000;

export interface TokenBucket {
  /** Takes `tokens` if there are as many; otherwise takes none and returns false. */
  take(tokens: number): boolean;
}

/**
 * @param burst tokens at first, and at most
 * @param perSecond tokens that come back each second
 * @param clockMs a monotonic clock in milliseconds
 */
export function createTokenBucket(burst: number, perSecond: number, clockMs: () => number): TokenBucket {
  let available = burst;
  let refilledMs = clockMs();
  return {
    take(tokens) {
      const nowMs = clockMs();
      available = Math.min(burst, available + ((nowMs - refilledMs) / SECOND_MS) * perSecond);
      refilledMs = nowMs;
      if (available < tokens) return false;
      available -= tokens;
      return true;
    },
  };
}
