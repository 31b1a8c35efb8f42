// Owns when polls run: one at a time, at intervals, and immediately on request.

export interface PollLoop {
  start(): void;
  /** Resolves when the running poll has ended. */
  stop(): Promise<void>;
  /**
   * Starts a poll, or another one after the running one. Resolves with its result; false if the loop is not
   * running.
   */
  pollNow(): Promise<boolean>;
  /** Ends the present pause. */
  wake(): void;
  /** Starts another poll immediately after the running one. */
  pollAgain(): void;
}

export interface PollLoopOptions {
  /** Never rejects. */
  poll: () => Promise<boolean>;
  /** Pause after a poll that took `durationMs`. */
  pauseMs: (durationMs: number) => number;
  nowMs: () => number;
  signal: AbortSignal;
}

export function createPollLoop({ poll, pauseMs, nowMs, signal }: PollLoopOptions): PollLoop {
  let running: Promise<void> | undefined;
  /** The poll that callers of `pollNow` wait for. */
  let requested: PromiseWithResolvers<boolean> | undefined;
  let isRequestedAgain = false;
  let endPause: (() => void) | undefined;

  async function pause(ms: number): Promise<void> {
    if (requested || isRequestedAgain || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    endPause = resolve;
    await promise;
    clearTimeout(timer);
    endPause = undefined;
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      const answering = requested;
      requested = undefined;
      isRequestedAgain = false;
      const startedMs = nowMs();
      const result = await poll();
      answering?.resolve(result);
      await pause(pauseMs(nowMs() - startedMs));
    }
    requested?.resolve(false);
  }

  return {
    start() {
      running ??= run();
    },
    async stop() {
      endPause?.();
      await running;
    },
    async pollNow() {
      if (!running || signal.aborted) return false;
      requested ??= Promise.withResolvers<boolean>();
      endPause?.();
      return requested.promise;
    },
    wake: () => endPause?.(),
    pollAgain() {
      isRequestedAgain = true;
      endPause?.();
    },
  };
}
