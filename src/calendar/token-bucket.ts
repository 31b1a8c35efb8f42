// A token bucket: allows a burst of calls, and one more for each second.

const SECOND_MS = 1000;

export interface TokenBucket {
  /** Takes `tokens` if at least `reserve` (default 0) then remain; otherwise takes none and returns false. */
  take(tokens: number, options?: { reserve: number }): boolean;
}

/**
 * @param burst tokens at first, and at most
 * @param clockMs a monotonic clock in milliseconds
 */
export function createTokenBucket(burst: number, clockMs: () => number): TokenBucket {
  let available = burst;
  let refilledMs = clockMs();
  return {
    take(tokens, { reserve } = { reserve: 0 }) {
      const nowMs = clockMs();
      available = Math.min(burst, available + (nowMs - refilledMs) / SECOND_MS);
      refilledMs = nowMs;
      if (available - tokens < reserve) return false;
      available -= tokens;
      return true;
    },
  };
}
