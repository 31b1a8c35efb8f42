// HTTP client of the CMS: limits the time, bytes and concurrency of every call, and retries reads only. undici's own
// interceptors do not serve: `redirect` also leads to other origins, `retry` hides each attempt from the circuit
// breaker and the log, and `decompress` prints a warning that it is experimental.

import { ExponentialBackoff, halfJitterGenerator, handleWhen, retry } from 'cockatiel';
import { type Dispatcher, Pool } from 'undici';
import { type Config, DEFAULTS } from '../config-schema.ts';
import { CmsUnavailable } from '../errors.ts';
import type { Observe } from '../observability/observations.ts';
import { createBulkheads, createCircuitBreaker } from './bulkhead.ts';
import {
  type CmsResponse,
  is5xxWithoutRetryAfter,
  isRedirect,
  isWrite,
  parseResponse,
  redirectError,
  sendRequest,
} from './http-exchange.ts';
import type { BulkheadName, CallOptions, CmsRecord, Query } from './port.ts';

export type CmsClientLimits = Config['upstream']['limits'];

export interface CmsClientOptions {
  /** The site's address. Only its scheme, host and port are used. */
  url: string | URL;
  observe: Observe;
  limits?: Partial<CmsClientLimits> | undefined;
  userAgent?: string | undefined;
  /** Replaces the client's connection pool, and is not closed with the client; for tools that watch the traffic. */
  dispatcher?: Dispatcher | undefined;
}

/** What a request sends beside its path, and whether it is repeated. */
export interface RequestParts {
  query?: Query;
  json?: CmsRecord;
  /** Sent unchanged, with `headers`. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  /** No retry after a 5xx: the caller itself asks again, for fewer records (`inSmallerPages`). */
  callerAsksForFewer?: boolean;
}

interface CmsRequest extends CallOptions, RequestParts {
  method: 'GET' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, without a query. */
  path: string;
  /** Default `json`: a response that is not JSON is an error. */
  expect?: 'json' | 'any';
  /** The call's name in logs and metrics, without private values such as a search. Default: the path without query. */
  label?: string;
}

export type CmsClient = ReturnType<typeof createCmsClient>;

/** Calls a route of the CMS's API, such as `wp/v2/posts/7`. Throws `CmsRejected` and `CmsUnavailable`. */
export type RestCall = (
  method: CmsRequest['method'],
  route: string,
  parts?: RequestParts,
  options?: CallOptions,
) => Promise<CmsResponse>;

const MAX_REDIRECTS = 3;

/**
 * Creates a client for one origin. The first call opens the first connection. `request` waits for a connection, `send`
 * follows redirects, `requestWithRetries` repeats a read that failed, `attempt` makes one HTTP exchange.
 * One long function: these four share the pool, the limits and the circuit breakers. Callers get `request` alone.
 */
export function createCmsClient({ url, observe, dispatcher, ...options }: CmsClientOptions) {
  const { origin } = new URL(url);
  const limits = { ...DEFAULTS.upstream.limits, ...options.limits };
  const { userAgent = DEFAULTS.upstream.userAgent } = options;
  const pool =
    dispatcher ??
    new Pool(origin, {
      connections: limits.connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: limits.connectTimeoutMs },
    });
  const bulkheads = createBulkheads(limits, observe);
  const createBreaker = (bulkhead: BulkheadName) =>
    createCircuitBreaker(limits.halfOpenAfterMs, (state) => observe({ type: 'breaker', bulkhead, state }));
  /** Failures count per bulkhead: an anonymous caller whose calls fail stops neither writes nor the sync. */
  const breakers = {
    anonymous: createBreaker('anonymous'),
    logins: createBreaker('logins'),
    callers: createBreaker('callers'),
    sync: createBreaker('sync'),
  };

  function observeFailure({ method, path, label = path }: CmsRequest, error: unknown, startMs: number): void {
    if (!(error instanceof CmsUnavailable)) return;
    const { reason, message } = error;
    observe({ type: 'cms-failed', method, path: label, reason, durationMs: performance.now() - startMs, message });
  }

  async function attempt(
    { method, path, label = path, expect = 'json' }: CmsRequest,
    httpRequest: Dispatcher.RequestOptions,
    attemptNumber: number,
    signal: AbortSignal,
  ): Promise<CmsResponse> {
    const startMs = performance.now();
    const httpResponse = await sendRequest(pool, httpRequest, limits, signal);
    const { status } = httpResponse;
    const durationMs = performance.now() - startMs;
    observe({ type: 'cms-call', method, path: label, status, durationMs, attempt: attemptNumber });
    return !isWrite(method) && isRedirect(status)
      ? { ...httpResponse, json: undefined }
      : parseResponse(method, httpResponse, expect);
  }

  function requestWithRetries(request: CmsRequest, httpRequest: Dispatcher.RequestOptions, signal: AbortSignal) {
    const breaker = breakers[request.bulkhead ?? 'sync'];
    const isWorthARetry = handleWhen((error) => isTransient(error, request.callerAsksForFewer));
    const retries = retry(isWorthARetry, {
      // `OPTIONS` only asks for what an account may do, which the gateway can do without.
      maxAttempts: request.method === 'GET' ? limits.retries : 0,
      backoff: new ExponentialBackoff({ initialDelay: limits.retryDelayMs, generator: halfJitterGenerator }),
    });
    return retries.execute(async (retried) => {
      // The call ended during the pause before a retry.
      if (retried.attempt > 0) signal.throwIfAborted();
      const startMs = performance.now();
      try {
        return await breaker.run(() => attempt(request, httpRequest, retried.attempt + 1, signal));
      } catch (error) {
        observeFailure(request, error, startMs);
        throw error;
      }
    }, signal);
  }

  async function send(request: CmsRequest, signal: AbortSignal): Promise<CmsResponse> {
    const { method, json, bytes = null } = request;
    const httpRequest: Dispatcher.RequestOptions = {
      ...{ origin, method, path: pathWithQuery(request) },
      headers: { 'user-agent': userAgent, ...requestHeaders(request) },
      body: json === undefined ? bytes : JSON.stringify(json),
    };
    for (let hops = 0; ; hops += 1) {
      const response = await requestWithRetries(request, httpRequest, signal);
      if (!isRedirect(response.status)) return hops === 0 ? response : { ...response, redirectedTo: httpRequest.path };
      const { location } = response.headers;
      const target = location === undefined ? null : URL.parse(location, origin + httpRequest.path);
      // Credentials belong to this origin: the client follows no redirect to another one.
      const isOwn = target?.origin === origin;
      if (!isOwn || hops === MAX_REDIRECTS) throw redirectError(target, { isLoop: isOwn });
      httpRequest.path = target.pathname + target.search;
    }
  }

  return {
    /**
     * Calls the CMS, and follows redirects within the site. Returns any response below 500 except 429, and a 5xx by
     * which WordPress itself rejects a write.
     * @throws CmsUnavailable for 429, any other 5xx, and no usable response; the reason of the caller's signal
     */
    async request(request: CmsRequest): Promise<CmsResponse> {
      const { bulkhead = 'sync', credentials } = request;
      const deadline = new AbortController();
      const message = `The CMS gave no answer within ${limits.deadlineMs / 1000} s.`;
      const timer = setTimeout(() => deadline.abort(new CmsUnavailable('timeout', message)), limits.deadlineMs);
      const signal = request.signal ? AbortSignal.any([deadline.signal, request.signal]) : deadline.signal;
      const startMs = performance.now();
      let hasLeftQueue = false;
      const task = () => {
        hasLeftQueue = true;
        return send(request, signal);
      };
      try {
        return await bulkheads.run(bulkhead, task, signal, credentials);
      } catch (error) {
        // `busy`, or the deadline passed in the queue. Other failures are observed for each attempt.
        if (!hasLeftQueue) observeFailure(request, error, startMs);
        throw error;
      } finally {
        clearTimeout(timer);
      }
    },
    async close(): Promise<void> {
      // `close` would wait for responses that may never come.
      if (!dispatcher) await pool.destroy();
    },
  };
}

/**
 * Whether to repeat a GET that failed. With two retries (`limits.retries`) it is sent so often:
 *
 *   refused, reset, timeout                   3
 *   5xx with Retry-After                      1: the CMS says when to come back
 *   5xx to a list in `inSmallerPages`         1, and then 3 for its first ten records
 *   any other 5xx                             3
 *   429, not JSON, too large                  1
 *
 * The circuit breaker opens at five failures in a row (bulkhead.ts). The list of the third line makes only four.
 */
function isTransient(error: unknown, callerAsksForFewer = false): boolean {
  if (!(error instanceof CmsUnavailable)) return false;
  if (error.reason === 'status') return is5xxWithoutRetryAfter(error) && !callerAsksForFewer;
  return error.reason === 'refused' || error.reason === 'reset' || error.reason === 'timeout';
}

function requestHeaders({ headers, json, credentials, requestId, creationKey, uncached }: CmsRequest) {
  const sent: Record<string, string> = { accept: 'application/json', 'accept-encoding': 'gzip', ...headers };
  if (json !== undefined) sent['content-type'] = 'application/json';
  if (uncached !== undefined) sent['cache-control'] = 'no-cache';
  if (credentials !== undefined) sent.authorization = credentials;
  if (creationKey !== undefined) sent['x-calendar-key'] = creationKey;
  if (requestId !== undefined) sent['x-request-id'] = requestId;
  return sent;
}

/** A parameter that no CMS knows. */
export const UNCACHED = 'calendar_gateway_poll';

function pathWithQuery({ path, query = {}, uncached }: CmsRequest): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.append(name, String(value));
  if (uncached !== undefined) search.append(UNCACHED, uncached);
  return search.size > 0 ? `${path}?${search}` : path;
}
