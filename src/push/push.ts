// Outgoing webhooks: tells the receivers in the settings which records have changed. docs/webhooks.md says what they
// get. Each second it looks into the change journal, which costs less than to be called for each change.

import { Receiver, type ReceiverOptions, type ReceiverSettings } from './receiver.ts';

export interface PushOptions extends ReceiverOptions {
  receivers: readonly ReceiverSettings[];
  /** After the initial sync: until then the journal has no changes. */
  isReady: () => boolean;
}

const INTERVAL_MS = 1000;

export class Push {
  readonly #options: PushOptions;
  readonly #receivers: Receiver[];
  #timer: NodeJS.Timeout | undefined;
  #hasLease = false;

  constructor(options: PushOptions) {
    this.#options = options;
    this.#receivers = options.receivers.map((each, i) => new Receiver(each, i, options));
  }

  start(): void {
    const warn = (reason: unknown) =>
      this.#options.observe({ type: 'message', level: 'warn', message: `outgoing webhooks: ${reason}` });
    this.#timer = setInterval(() => void this.tick().catch(warn), INTERVAL_MS);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await Promise.all(this.#receivers.map((receiver) => receiver.stop()));
  }

  /**
   * Sends what is due, unless another gateway of the cluster has the lease. Resolves once every receiver has answered,
   * or has failed. The next tick may come while a receiver still sends. If that tick loses the lease, the receiver ends
   * after its request, because it asks `#hasLease` before each request.
   */
  async tick(): Promise<void> {
    const { lease, isReady } = this.#options;
    if (!isReady()) return;
    this.#hasLease = lease === undefined || (await lease.takesLease());
    if (this.#hasLease) await Promise.all(this.#receivers.map((receiver) => receiver.run(() => this.#hasLease)));
    else for (const receiver of this.#receivers) receiver.leave();
  }

  status() {
    return { sends: this.#hasLease, receivers: this.#receivers.map((receiver) => receiver.status()) };
  }
}
