// One receiver of outgoing webhooks: what it has got of the change journal, what it gets next, and when; and the
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

interface Message {
  /** Undefined of a build hook. */
  signed: { id: string; body: string } | undefined;
  /** Of a receiver that has accepted it. */
  next: JournalPosition;
}

/** What Cloudflare's API purges in one request; Fastly's takes 256. */
const BATCH = 100;
const TIMEOUT_MS = 10_000;
/** After the first failure; doubles with each, up to an hour. A batch is never given up. */
const FIRST_PAUSE_MS = 2000;
const MAX_PAUSE_MS = 3_600_000;
/** A build waits no longer than this many quiet periods, although changes go on. */
const MAX_QUIET_PERIODS = 10;
/** Of an answer, whose text nobody needs: more than a line closes the connection. */
const MAX_ANSWER_BYTES = 4096;

/** With a secret it gets messages (`#nextBatch`, `#deliver`), with `quietS` it is a build hook (`#nextBuild`). */
export class Receiver {
  readonly #settings: ReceiverSettings;
  readonly #options: ReceiverOptions & { nowMs: () => number; random: () => number };
  readonly #label: { receiver: number; host: string };
  readonly #isWanted = ({ kind }: JournalEntry): boolean => this.#settings.kinds?.includes(kind) ?? true;
  readonly #webhook: Webhook | undefined;
  readonly #connection: ReturnType<typeof openReceiver>;
  readonly #stopping = new AbortController();
  /** The key of its position: its address without what that says. */
  readonly #key: string;
  /** The receiver has everything up to here. Undefined until it is looked up. */
  #position: JournalPosition | undefined;
  /** Is sent until it is accepted, unchanged, so that a repetition has the same id. */
  #message: Message | undefined;
  /** Of a build hook: up to where changes were seen, and when the first and the last were noticed. */
  #seen: JournalPosition | undefined;
  #waiting: { firstMs: number; lastMs: number } | undefined;
  #sending: Promise<void> | undefined;
  #hasLease = false;
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
  }

  status() {
    return { host: this.#label.host, position: this.#position?.number, ...this.#last };
  }

  /** Sends what is due, in order, until a failure. Does nothing more while it is sending. */
  run(): Promise<void> {
    this.#hasLease = true;
    if (this.#options.nowMs() < this.#last.retryMs) return Promise.resolve();
    this.#sending ??= this.#sendAll().finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Another gateway sends: it knows the position from now on. */
  leave(): void {
    this.#hasLease = false;
    this.#position = this.#message = this.#seen = this.#waiting = undefined;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sending?.catch(() => undefined);
    await this.#connection.close();
  }

  async #sendAll(): Promise<void> {
    while (this.#hasLease && !this.#stopping.signal.aborted) {
      this.#message ??=
        this.#settings.quietS === undefined ? this.#nextBatch() : this.#nextBuild(this.#settings.quietS);
      if (!this.#message || !(await this.#deliver(this.#message))) return;
    }
  }

  #nextBatch(): Message | undefined {
    const { journal } = this.#options.replica;
    for (;;) {
      const position = this.#keptPosition();
      const page = position && journal.since(position, BATCH);
      // Nobody knows what has changed since.
      if (!page) {
        const next = journal.head();
        return { signed: this.#describe('calendar.reset', {}, next), next };
      }
      const entries = page.entries.filter(this.#isWanted);
      const changes = entries.map(({ kind, id, change }) => ({ kind, id, change }));
      if (entries.length > 0)
        return { signed: this.#describe('calendar.changed', { changes }, entries), next: page.next };
      if (page.entries.length > 0) this.#keep(page.next);
      if (!page.hasMore) return undefined;
    }
  }

  #nextBuild(quietS: number): Message | undefined {
    const nowMs = this.#options.nowMs();
    const { journal } = this.#options.replica;
    for (let hasMore = true; hasMore; ) {
      const position = this.#seen ?? this.#keptPosition();
      const page = position && journal.since(position, BATCH);
      if (!page || page.entries.some(this.#isWanted))
        this.#waiting = { firstMs: this.#waiting?.firstMs ?? nowMs, lastMs: nowMs };
      this.#seen = page?.next ?? journal.head();
      hasMore = page?.hasMore === true;
    }
    if (!this.#waiting) return undefined;
    const { firstMs, lastMs } = this.#waiting;
    const quietMs = quietS * 1000;
    if (nowMs < Math.min(lastMs + quietMs, firstMs + quietMs * MAX_QUIET_PERIODS)) return undefined;
    this.#waiting = undefined;
    return { signed: undefined, next: this.#seen! };
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

  /**
   * @param facts make the id: it is the same for the same changes, also after a restart, and differs if a record has
   *   changed again, because each change has a number of its own in the journal
   */
  #describe(type: string, data: object, facts: unknown) {
    const timestamp = new Date(this.#options.nowMs()).toISOString();
    const hash = createHash('sha256')
      .update(JSON.stringify([type, facts]))
      .digest('base64url');
    return { id: `msg_${hash.slice(0, 27)}`, body: JSON.stringify({ type, timestamp, data }) };
  }

  /** Resolves with whether the receiver has accepted it. */
  async #deliver(message: Message): Promise<boolean> {
    const { nowMs, random, observe } = this.#options;
    const startedMs = nowMs();
    const answer = await this.#connection.send(this.#requestOf(message, startedMs), this.#stopping.signal);
    if (this.#stopping.signal.aborted) return false;
    const isAccepted = /^2\d\d$/.test(answer);
    const failures = isAccepted ? 0 : this.#last.failures + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS) * (0.5 + random() / 2);
    const answeredMs = nowMs();
    this.#last = { answer, answeredMs, failures, retryMs: isAccepted ? 0 : answeredMs + pauseMs };
    if (isAccepted) {
      this.#message = undefined;
      this.#keep(message.next);
    }
    const position = this.#position?.number ?? 0;
    observe({ type: 'push', ...this.#label, answer, failures, position, durationMs: answeredMs - startedMs });
    return isAccepted;
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
  const isAllowed = (address: string) => allowPrivate || isPublicAddress(address);
  const lookup = createCheckedLookup(resolveHost, isPublicAddress);
  const agent = new Agent({ connections: 1, allowH2: false, connect: allowPrivate ? {} : { lookup } });

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
