// One receiver of outgoing webhooks: what it has got of the change journal, and when it gets what is next; and the
// connection to it, to public hosts only unless the operator allows others, without redirects.

import { createHash } from 'node:crypto';
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
import type { JournalPosition } from '../store/change-journal.ts';
import type { Replica } from '../store/replica.ts';
import { getState, setState } from '../store/state.ts';
import { type BuildTimes, buildTimes, type Message, messageOf, signedHeaders } from './next-message.ts';

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

interface Due {
  /** Undefined of a build hook. */
  message?: Message;
  /** The receiver's position once it has accepted. */
  position: JournalPosition;
}

/** What Cloudflare's API purges in one request; Fastly's takes 256. */
const BATCH = 100;
const TIMEOUT_MS = 10_000;
/** After the first failure; doubles with each, up to an hour. A batch is never given up. */
const FIRST_PAUSE_MS = 2000;
const MAX_PAUSE_MS = 3_600_000;
/** Of the body of an answer, which nobody reads: a longer one closes the connection. */
const MAX_ANSWER_BYTES = 4096;

/** Only the position outlives the process: it is kept in the replica, and in a cluster for all gateways (`lease`). */
export class Receiver {
  readonly #settings: ReceiverSettings;
  readonly #options: ReceiverOptions & { nowMs: () => number; random: () => number; timeoutMs: number };
  readonly #label: { receiver: number; host: string };
  /** Connections of its own: a slow receiver keeps none from another. */
  readonly #agent: Agent;
  readonly #stopping = new AbortController();
  /** The key of its position: a hash, because its address may hold a secret. */
  readonly #key: string;
  /** The receiver has everything up to here. Undefined until it is looked up. */
  #acceptedUpTo: JournalPosition | undefined;
  /** The journal is read up to here: of a build hook further than `#acceptedUpTo`. */
  #readUpTo: JournalPosition | undefined;
  /** Is sent until it is accepted, unchanged, so that a repetition has the same id. */
  #due: Due | undefined;
  /** Of a build hook. Undefined: nothing has changed since the last build. */
  #build: BuildTimes | undefined;
  #sending: Promise<void> | undefined;
  /** `retryMs`: when the next attempt is due after a failure. */
  #last = { answer: undefined as string | undefined, answeredMs: 0, failures: 0, retryMs: 0 };

  constructor(settings: ReceiverSettings, index: number, options: ReceiverOptions) {
    this.#settings = settings;
    this.#options = { nowMs: Date.now, random: Math.random, timeoutMs: TIMEOUT_MS, ...options };
    this.#label = { receiver: index, host: new URL(settings.url).host };
    // `checkUrl` checks an address in the URL, and `lookup` those of a name. With `allowPrivate` there is no `lookup`:
    // only the system's own may know the names of a private network.
    const connect = settings.allowPrivate ? {} : { lookup: createCheckedLookup(resolveHost, isPublicAddress) };
    this.#agent = new Agent({ connections: 1, allowH2: false, connect });
    this.#key = `push:${createHash('sha256').update(settings.url).digest('hex').slice(0, 16)}`;
  }

  status() {
    return { host: this.#label.host, position: this.#acceptedUpTo?.number, ...this.#last };
  }

  /** Sends what is due, in order, until a failure, while it has the lease. Does nothing more while it is sending. */
  run(hasLease: () => boolean): Promise<void> {
    if (this.#options.nowMs() < this.#last.retryMs) return Promise.resolve();
    this.#sending ??= this.#sendAll(hasLease).finally(() => {
      this.#sending = undefined;
    });
    return this.#sending;
  }

  /** Another gateway sends from now on. At worst it repeats the request that is under way here. */
  leave(): void {
    this.#acceptedUpTo = this.#readUpTo = this.#due = this.#build = undefined;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#sending?.catch(() => undefined);
    await this.#agent.destroy();
  }

  async #sendAll(hasLease: () => boolean): Promise<void> {
    const { quietS } = this.#settings;
    while (hasLease() && !this.#stopping.signal.aborted) {
      this.#due ??= quietS === undefined ? this.#nextMessage() : this.#nextBuild(quietS);
      if (!this.#due || !(await this.#deliver(this.#due))) return;
    }
  }

  /** Reads the journal, to its end if the caller goes on. Yields a page with wanted changes, or what needs a reset. */
  *#readPages() {
    const { journal } = this.#options.replica;
    for (let hasMore = true; hasMore; ) {
      const from = this.#readUpTo ?? this.#loadPosition();
      const page = from && journal.since(from, BATCH);
      this.#readUpTo = page?.next ?? journal.head();
      hasMore = page?.hasMore === true;
      // Undefined if there is no position yet, or if the journal has lost changes after it: the message is a reset.
      const wanted = page?.entries.filter(({ kind }) => this.#settings.kinds?.includes(kind) ?? true);
      if (wanted === undefined || wanted.length > 0) yield { wanted, position: this.#readUpTo };
    }
  }

  #nextMessage(): Due | undefined {
    // Ends the reading at the first page: what follows is the next message.
    const [page] = this.#readPages();
    if (page) return { message: messageOf(page.wanted, page.position, this.#options.nowMs()), position: page.position };
    // The receiver wants none of the changes since its position.
    if (this.#readUpTo!.number !== this.#acceptedUpTo?.number) this.#keep(this.#readUpTo!);
    return undefined;
  }

  #nextBuild(quietS: number): Due | undefined {
    const nowMs = this.#options.nowMs();
    for (const _page of this.#readPages()) this.#build = buildTimes(this.#build, quietS, nowMs);
    if (!this.#build || nowMs < this.#build.dueMs) return undefined;
    this.#build = undefined;
    return { position: this.#readUpTo! };
  }

  #loadPosition(): JournalPosition | undefined {
    if (this.#acceptedUpTo) return this.#acceptedUpTo;
    const { replica, lease } = this.#options;
    const text = lease?.position(this.#key) ?? getState(replica.db, this.#key);
    if (text !== undefined) this.#acceptedUpTo = JSON.parse(text);
    return this.#acceptedUpTo;
  }

  #keep(position: JournalPosition): void {
    const text = JSON.stringify(position);
    this.#acceptedUpTo = position;
    this.#options.lease?.keep(this.#key, text);
    setState(this.#options.replica.db, this.#key, text);
  }

  async #deliver(due: Due): Promise<boolean> {
    const { nowMs, random, observe } = this.#options;
    const startedMs = nowMs();
    const answer = await this.#send(due, startedMs);
    if (this.#stopping.signal.aborted) return false;
    const isAccepted = /^2\d\d$/.test(answer);
    const answeredMs = nowMs();
    const failures = isAccepted ? 0 : this.#last.failures + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), MAX_PAUSE_MS) * (0.5 + random() / 2);
    this.#last = { answer, answeredMs, failures, retryMs: isAccepted ? 0 : answeredMs + pauseMs };
    if (isAccepted) {
      this.#due = undefined;
      this.#keep(due.position);
    }
    const position = this.#acceptedUpTo?.number ?? 0;
    observe({ type: 'push', ...this.#label, answer, failures, position, durationMs: answeredMs - startedMs });
    return isAccepted;
  }

  /** The status, or a short reason for none. Never part of the address, whose path may be a secret. */
  async #send({ message }: Due, nowMs: number): Promise<string> {
    const { url, method = 'POST', secret, allowPrivate = false } = this.#settings;
    const headers = { 'user-agent': 'calendar-gateway', ...(message && signedHeaders(message, secret!, nowMs)) };
    // For everything: DNS, connecting, the answer.
    const timeout = AbortSignal.timeout(this.#options.timeoutMs);
    const signal = AbortSignal.any([this.#stopping.signal, timeout]);
    const sent = { method, headers, body: message?.body ?? null, dispatcher: this.#agent, signal };
    try {
      checkUrl(new URL(url), true, (address) => allowPrivate || isPublicAddress(address));
      const { statusCode, body } = await request(url, sent);
      await body.dump({ limit: MAX_ANSWER_BYTES, signal }).catch(() => undefined);
      return String(statusCode);
    } catch (error) {
      if (timeout.aborted) return 'timeout';
      if (error instanceof PublicRequestError) return 'no public address';
      return (error as NodeJS.ErrnoException).code ?? 'failed';
    }
  }
}
