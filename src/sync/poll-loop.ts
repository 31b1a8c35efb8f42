// A loop of polls, one at a time, with a pause after each. Somebody who asks for a poll (`pollNow`) ends the pause.

interface PollLoopOptions {
  /** `isRequested`: somebody asked for this poll. Never rejects. */
  poll: (isRequested: boolean) => Promise<boolean>;
  /** Pause after a poll that took `durationMs`. */
  pauseMs: (durationMs: number) => number;
  clockMs: () => number;
  signal: AbortSignal;
}

export class PollLoop {
  readonly #options: PollLoopOptions;
  #running: Promise<void> | undefined;
  /** The poll that callers of `pollNow` wait for. */
  #requested: PromiseWithResolvers<boolean> | undefined;
  #endPause = () => {};

  constructor(options: PollLoopOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Resolves when the running poll has ended. Abort the signal before. */
  async stop(): Promise<void> {
    this.#endPause();
    await this.#running;
  }

  /** Starts a poll, or another one after the running one. Resolves with its result; false if no loop is running. */
  async pollNow(): Promise<boolean> {
    if (!this.#running || this.#options.signal.aborted) return false;
    this.#requested ??= Promise.withResolvers<boolean>();
    this.#endPause();
    return this.#requested.promise;
  }

  async #run(): Promise<void> {
    const { poll, pauseMs, clockMs, signal } = this.#options;
    while (!signal.aborted) {
      const requested = this.#requested;
      this.#requested = undefined;
      const startedMs = clockMs();
      const result = await poll(requested !== undefined);
      requested?.resolve(result);
      await this.#pause(pauseMs(clockMs() - startedMs));
    }
    this.#requested?.resolve(false);
  }

  async #pause(ms: number): Promise<void> {
    if (this.#requested || this.#options.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#endPause = resolve;
    await promise;
    clearTimeout(timer);
  }
}
