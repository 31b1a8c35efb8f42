// The HTTP client before the CMS: every call bounded in time, bytes and number; only harmless calls are ever repeated.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Dispatcher } from 'undici';
import { UpstreamAway } from '../errors.ts';
import type { Observe } from '../observe/events.ts';
import { type Answer, judge, redirected } from './answer.ts';
import { exchange, type Outgoing } from './exchange.ts';
import type { Credentials, LaneName, Query } from './port.ts';
import { createBreaker, createLanes, createRetryBudget } from './protection.ts';

/** By itself: what `undici` brings along as a whole (a `fetch`, caches, mocks) would stay in every gateway's memory. */
const Pool: typeof import('undici').Pool = createRequire(import.meta.url)('undici/lib/dispatcher/pool.js');

export interface ClientLimits {
  /** Calls under way at a time. */
  connections: number;
  /** Calls that may wait for one of them. */
  queue: number;
  connectTimeoutMs: number;
  /** From the request being sent to the answer's headers. */
  headersTimeoutMs: number;
  /** The whole call: waiting, retries, body. */
  deadlineMs: number;
  /** Of an answer's body, as sent and as unpacked. */
  maxBytes: number;
  /** Repetitions of one GET or HEAD, as far as the budget allows. */
  retries: number;
  /** First pause before a repetition; doubles. */
  retryDelayMs: number;
  /** Until an open breaker lets a call through to try. */
  halfOpenAfterMs: number;
}

/** Craft D: what is promised. */
const CLIENT_LIMITS: Readonly<ClientLimits> = {
  connections: 8,
  queue: 100,
  connectTimeoutMs: 2_000,
  headersTimeoutMs: 10_000,
  deadlineMs: 15_000,
  maxBytes: 5 * 1024 * 1024,
  retries: 2,
  retryDelayMs: 100,
  halfOpenAfterMs: 5_000,
};

export interface ClientOptions {
  /** Scheme, host and port; the rest of the URL is not looked at. */
  origin: URL;
  observe: Observe;
  limits?: Partial<ClientLimits>;
  /** In place of the client's own pool, which it would close; for tools that watch or replace the traffic. */
  dispatcher?: Dispatcher;
}

export interface ClientRequest {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, without a query. */
  path: string;
  query?: Query;
  /** Only `accept`, `content-type` and `content-disposition` go up. */
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  credentials?: Credentials;
  /** Default `sync`. */
  lane?: LaneName;
  share?: string;
  signal?: AbortSignal;
  requestId?: string;
  /** Goes to the CMS as `X-Calendar-Key`. */
  createKey?: string;
  /** Goes to the CMS as `X-Calendar-Create`. */
  createId?: string;
  /** Default `json`: an answer that is not JSON is an error. */
  expect?: 'json' | 'any';
  /** What observations call it, where the path does not tell. Must not hold secrets. */
  label?: string;
}

export interface Client {
  /**
   * One call to the CMS, with an answer of any status below 500 (and the 5xx with which WordPress refuses a write).
   * @throws UpstreamAway when there is no usable answer; the signal's own reason when the caller gives up
   */
  request(request: ClientRequest): Promise<Answer>;
  close(): Promise<void>;
}

const REPEATABLE = new Set(['GET', 'HEAD']);
const PASSED_HEADERS = ['accept', 'content-type', 'content-disposition'];
const MAX_REDIRECTS = 3;

/** A client for one origin. It opens its first connection with the first call. */
export function createClient({ origin, observe, limits: given, dispatcher }: ClientOptions): Client {
  const limits = { ...CLIENT_LIMITS, ...given };
  const pool =
    dispatcher ??
    new Pool(origin.origin, {
      connections: limits.connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: limits.connectTimeoutMs },
    });
  const lanes = createLanes(limits, observe);
  const newGuards = (lane: LaneName) => ({
    budget: createRetryBudget(),
    breaker: createBreaker(lane, observe, limits.halfOpenAfterMs),
  });
  const guards = new Map<LaneName, ReturnType<typeof newGuards>>();

  /** A lane's failures count for itself: what an anonymous caller can make the CMS fail at stops neither writes nor the sync. */
  function guardsOf({ lane = 'sync' }: ClientRequest) {
    const own = guards.get(lane) ?? newGuards(lane);
    guards.set(lane, own);
    return own;
  }

  async function attempt(
    request: ClientRequest,
    outgoing: Outgoing,
    number: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { method } = request;
    const path = request.label ?? shownPath(outgoing.path);
    const startMs = performance.now();
    const durationMs = () => performance.now() - startMs;
    try {
      const incoming = await exchange(pool, outgoing, { ...limits, bodyTimeoutMs: limits.headersTimeoutMs }, signal);
      observe({
        type: 'upstream-call',
        method,
        path,
        status: incoming.status,
        durationMs: durationMs(),
        attempt: number,
      });
      return REPEATABLE.has(method) && isRedirect(incoming.status)
        ? { ...incoming, json: undefined }
        : judge(method, incoming, request.expect ?? 'json');
    } catch (error) {
      if (error instanceof UpstreamAway) {
        const { reason, message } = error;
        observe({ type: 'upstream-failed', method, path, reason, durationMs: durationMs(), message });
      }
      throw error;
    }
  }

  async function persist(request: ClientRequest, outgoing: Outgoing, signal: AbortSignal): Promise<Answer> {
    const { budget, breaker } = guardsOf(request);
    for (let number = 1; ; number += 1) {
      budget.spend();
      try {
        return await breaker.run(() => attempt(request, outgoing, number, signal));
      } catch (error) {
        const again = REPEATABLE.has(request.method) && number <= limits.retries && isPassing(error) && !signal.aborted;
        if (!again || !budget.retry()) throw error;
        const delayMs = limits.retryDelayMs * 2 ** (number - 1) * (0.5 + Math.random());
        await sleep(delayMs, undefined, { signal }).catch(() => {
          throw error;
        });
      }
    }
  }

  async function follow(request: ClientRequest, signal: AbortSignal): Promise<Answer> {
    const outgoing: Outgoing = {
      origin: origin.origin,
      method: request.method,
      path: withQuery(request.path, request.query),
      headers: headersOf(request),
      body: request.body,
    };
    for (let hops = 0; ; hops += 1) {
      const answer = await persist(request, outgoing, signal);
      if (!isRedirect(answer.status)) return answer;
      const target = locate(answer.headers.location, origin.origin + outgoing.path);
      // Credentials belong to this origin: nothing is asked of another one.
      if (target?.origin !== origin.origin || hops === MAX_REDIRECTS) throw redirected(target?.href);
      outgoing.path = target.pathname + target.search;
    }
  }

  return {
    async request(request) {
      const deadline = startDeadline(limits.deadlineMs, request.signal);
      try {
        const { lane = 'sync', share } = request;
        return await lanes.run({ lane, share }, () => follow(request, deadline.signal), deadline.signal);
      } catch (error) {
        // Turned away before any attempt, which is where failures are observed otherwise.
        if (error instanceof UpstreamAway && (error.reason === 'busy' || error.reason === 'breaker-open')) {
          const { reason, message } = error;
          const { method, label: path = request.path } = request;
          observe({ type: 'upstream-failed', method, path, reason, durationMs: 0, message });
        }
        throw error;
      } finally {
        deadline.end();
      }
    },
    async close() {
      // `close` would wait for an answer that may never come.
      if (!dispatcher) await pool.destroy();
    },
  };
}

/** A signal for the whole call, freed of its timer and its listener when the call ends. */
function startDeadline(afterMs: number, caller: AbortSignal | undefined): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new UpstreamAway('timeout', `The CMS gave no answer within ${afterMs / 1000} s.`)),
    afterMs,
  );
  const giveUp = () => controller.abort(caller?.reason);
  if (caller?.aborted) giveUp();
  caller?.addEventListener('abort', giveUp, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      caller?.removeEventListener('abort', giveUp);
    },
  };
}

/** Worth another try: trouble that may pass by itself, unless the CMS has said when to come back. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof UpstreamAway)) return false;
  if (error.reason === 'status') return (error.status ?? 0) >= 500 && !error.saysWhen;
  return error.reason === 'refused' || error.reason === 'reset' || error.reason === 'timeout';
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

function locate(location: string | undefined, base: string): URL | undefined {
  return location !== undefined && URL.canParse(location, base) ? new URL(location, base) : undefined;
}

function headersOf({
  headers = {},
  credentials,
  requestId,
  createKey,
  createId,
}: ClientRequest): Record<string, string> {
  const sent: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': 'calendar-gateway',
  };
  for (const name of PASSED_HEADERS) if (headers[name] !== undefined) sent[name] = headers[name];
  if (credentials !== undefined) sent.authorization = credentials;
  if (createKey !== undefined) sent['x-calendar-key'] = createKey;
  if (createId !== undefined) sent['x-calendar-create'] = createId;
  // The id comes from outside; one that could not stand in a header is not worth failing for.
  if (requestId !== undefined && /^[\x21-\x7e]{1,200}$/.test(requestId)) sent['x-request-id'] = requestId;
  return sent;
}

function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.append(name, String(value));
  return search.size > 0 ? `${path}?${search}` : path;
}

/** Query values may be private (a search, an e-mail address): only their names are shown. */
function shownPath(path: string): string {
  const [before = '', search] = path.split('?');
  const names = [...new URLSearchParams(search).keys()];
  return names.length > 0 ? `${before}?${names.join('&')}` : before;
}
