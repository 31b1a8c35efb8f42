// One receiver of outgoing webhooks: what it has got of the change journal, and when it gets what is next; and the
// connection to it, to public hosts only unless the operator allows others, without redirects.

import { createHash } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import {
  checkUrl,
  createCheckedLookup,
  isPublicAddress,
  PublicRequestError,
  resolveHost,
} from '../cms/public-request.ts';
import type { Config } from '../config-schema.ts';
import type { Observe } from '../observability/observations.ts';
import type { JournalEntry, JournalPosition } from '../store/change-journal.ts';
import type { Replica } from '../store/replica.ts';
import { getState, setState } from '../store/state.ts';
import { type Message, type NextMessage, nextBatches, nextBuilds } from './next-message.ts';

export type ReceiverSettings = NonNullable<Config['push']>[number];

/** Of a cluster: which gateway sends, and where the one before it has stopped. */
export interface PushLease {
  takesLease(): Promise<boolean>;
  position(receiver: string): string | undefined;
  keep(receiver: string, position: string): void;
}

export interface ReceiverOptions {
  replica: Replica;
  observe: Observe;
  /** Absent: this gateway sends. */
  lease?: PushLease | undefined;
  nowMs?: () => number;
  random?: () => number;
  timeoutMs?: number;
}

type ReceiverRequest = { method: 'GET' | 'POST'; headers: Record<string, string>; body: string | null };

const TIMEOUT_MS = 10_000;
/** After the first failure; doubles with each, up to an hour. A batch is never given up. */
const FIRST_PAUSE_MS = 2000;
const MAX_PAUSE_MS = 3_600_000;
/** Of an answer, whose text nobody needs: more than a line closes the connection. */
const MAX_ANSWER_BYTES = 4096;

/**
 * Failures and pauses are of this process. The position is kept in the replica, and in a cluster for all gateways too
 * (`lease`). The rest is of the time in which this gateway has the lease.
 */
export class Receiver {
  readonly #settings: ReceiverSettings;
  readonly #options: ReceiverOptions & { nowMs: () => number; random: () => number };
  readonly #label: { receiver: number; host: string };
  readonly #webhook: Webhook | undefined;
  readonly #connection: ReturnType<typeof openReceiver>;
  readonly #stopping = new AbortController();
  /** The key of its position: its address without what that says. */
  readonly #key: string;
  /** The receiver has everything up to here. Undefined until it is looked up. */
  #position: JournalPosition | undefined;
  /** Is sent until it is accepted, unchanged, so that a repetition has the same id. */
  #message: Message | undefined;
  #next: NextMessage;
  #sending: Promise<void> | undefined;
  /** `retryMs`: when the next attempt is due after a failure. */
  #last = { answer: undefined as string | undefined, answeredMs: 0, failures: 0, retryMs: 0 };

  constructor(settings: ReceiverSettings, index: number, options: ReceiverOptions) {
    this.#settings = settings;
    const { timeoutMs = TIMEOUT_MS } = options;
    this.#options = { nowMs: Date.now, random: Math.random, ...options };
    this.#label = { receiver: index, host: new URL(settings.url).host };
    this.#webhook = settings.secret === undefined ? undefined : new Webhook(settings.secret);
    this.#connection = openReceiver(new URL(settings.url), settings.allowPrivate === true, timeoutMs);
    this.#key = `push:${createHash('sha256').update(settings.url).digest('hex').slice(0, 16)}`;
    this.#next = this.#createNext();
  }

  #createNext(): NextMessage {
    const { replica, nowMs } = this.#options;
    const { kinds, quietS } = this.#settings;
    const isWanted = ({ kind }: JournalEntry) => kinds?.includes(kind) ?? true;
    const [position, keep] = [() => this.#keptPosition(), (next: JournalPosition) => this.#keep(next)];
    const progress = { journal: replica.journal, isWanted, position, keep, nowMs };
    return quietS === undefined ? nextBatches(progress) : nextBuilds(quietS, progress);
  }

  status() {
    return { host: this.#label.host, position: this.#position?.number, ...this.#last };
  }

  /** Sends what is due, in order, until a failure, while it has the lease. Does nothing more while it is sending. */
  run(hasLease: () => boolean): Promise<void> {
    if (this.#options.nowMs() < this.#last.retryMs) return Promise.resolve();
    this.#sending ??= this.#sendAll(hasLease).finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /**
   * Another gateway sends: it knows the position from now on. A request that is under way still counts if it is
   * accepted. At worst the other gateway repeats it.
   */
  leave(): void {
    this.#position = this.#message = undefined;
    this.#next = this.#createNext();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sending?.catch(() => undefined);
    await this.#connection.close();
  }

  async #sendAll(hasLease: () => boolean): Promise<void> {
    while (hasLease() && !this.#stopping.signal.aborted) {
      this.#message ??= this.#next();
      if (!this.#message || !(await this.#deliver(this.#message))) return;
    }
  }

  #keptPosition(): JournalPosition | undefined {
    const { replica, lease } = this.#options;
    const text = this.#position ? undefined : (lease?.position(this.#key) ?? getState(replica.db, this.#key));
    this.#position ??= text === undefined ? undefined : JSON.parse(text);
    return this.#position;
  }

  #keep(position: JournalPosition): void {
    const text = JSON.stringify(position);
    this.#position = position;
    this.#options.lease?.keep(this.#key, text);
    setState(this.#options.replica.db, this.#key, text);
  }

  /** Resolves with whether the receiver has accepted it. */
  async #deliver(message: Message): Promise<boolean> {
    const { nowMs, observe } = this.#options;
    const startedMs = nowMs();
    const answer = await this.#connection.send(this.#requestOf(message, startedMs), this.#stopping.signal);
    if (this.#stopping.signal.aborted) return false;
    const isAccepted = /^2\d\d$/.test(answer);
    const answeredMs = nowMs();
    const failures = isAccepted ? 0 : this.#last.failures + 1;
    this.#last = { answer, answeredMs, failures, retryMs: isAccepted ? 0 : answeredMs + this.#pauseMs(failures) };
    if (isAccepted) {
      this.#message = undefined;
      this.#keep(message.next);
    }
    const position = this.#position?.number ?? 0;
    observe({ type: 'push', ...this.#label, answer, failures, position, durationMs: answeredMs - startedMs });
    return isAccepted;
  }

  #pauseMs(failures: number): number {
    return Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS) * (0.5 + this.#options.random() / 2);
  }

  #requestOf({ signed }: Message, nowMs: number): ReceiverRequest {
    const userAgent = { 'user-agent': 'calendar-gateway' };
    if (!signed || !this.#webhook) return { method: this.#settings.method ?? 'POST', headers: userAgent, body: null };
    const { id, body } = signed;
    const headers = {
      ...userAgent,
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(nowMs / 1000)),
      'webhook-signature': this.#webhook.sign(id, new Date(nowMs), body),
    };
    return { method: 'POST', headers, body };
  }
}

/**
 * Connections to one receiver: a slow one keeps none from another.
 * @param timeoutMs for everything: DNS, connecting, the answer
 */
function openReceiver(url: URL, allowPrivate: boolean, timeoutMs: number) {
  // `checkUrl` checks an address in the URL itself, and `lookup` those of a name. A private network may have names that
  // only the system's own lookup knows.
  const [isAllowed, connect] = allowPrivate
    ? [() => true, {}]
    : [isPublicAddress, { lookup: createCheckedLookup(resolveHost, isPublicAddress) }];
  const agent = new Agent({ connections: 1, allowH2: false, connect });

  /** The status, or a short reason for none. Never part of the address, whose path may be a secret. */
  async function send(sent: ReceiverRequest, stopping: AbortSignal): Promise<string> {
    const timeout = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stopping, timeout]);
    try {
      checkUrl(url, true, isAllowed);
      const { statusCode, body } = await request(url, { ...sent, dispatcher: agent, signal });
      await body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
      return String(statusCode);
    } catch (error) {
      if (timeout.aborted) return 'timeout';
      if (error instanceof PublicRequestError) return 'no public address';
      return (error as NodeJS.ErrnoException).code ?? 'failed';
    }
  }

  return { send, close: () => agent.destroy() };
}
