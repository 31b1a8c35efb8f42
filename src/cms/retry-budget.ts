// Retry budget: retries stay a small part of all requests, so that they do not multiply the load on a failing
// CMS.

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

export function createRetryBudget(nowMs: () => number = Date.now): RetryBudget {
  let window = { startMs: nowMs(), requests: 0, retries: 0 };
  const current = () => {
    if (nowMs() - window.startMs >= WINDOW_MS) window = { startMs: nowMs(), requests: 0, retries: 0 };
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
