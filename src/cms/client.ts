// HTTP client of the CMS: limits the time, bytes and concurrency of every call, and retries reads only.

import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, Pool } from 'undici';
import { type Config, DEFAULTS } from '../config-schema.ts';
import { CmsUnavailable } from '../errors.ts';
import type { Observe } from '../observability/observations.ts';
import { createBulkheads } from './bulkhead.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import {
  type CmsResponse,
  type HttpRequest,
  isWrite,
  parseResponse,
  redirectError,
  sendRequest,
} from './http-exchange.ts';
import type { BulkheadName, CallOptions, CmsRecord, Query } from './port.ts';

/** Limits and timeouts of calls: the settings below `upstream.limits`. */
export type CmsClientLimits = Config['upstream']['limits'];

export interface CmsClientOptions {
  /** Only scheme, host and port are used. */
  origin: URL;
  observe: Observe;
  limits?: Partial<CmsClientLimits> | undefined;
  /**
   * Replaces the client's connection pool, and is not closed with the client; for tools that watch the
   * traffic.
   */
  dispatcher?: Dispatcher | undefined;
}

export interface CmsRequest extends CallOptions {
  method: 'GET' | 'HEAD' | 'OPTIONS' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Absolute, without a query. */
  path: string;
  query?: Query;
  /** Only `accept`, `content-type` and `content-disposition` are forwarded. */
  headers?: Record<string, string> | undefined;
  body?: string | Uint8Array | undefined;
  /** Default `json`: a response that is not JSON is an error. */
  expect?: 'json' | 'any';
  /** The caller itself asks again after a 5xx, for less. */
  triesLess?: boolean | undefined;
  /** Name of the call in observations. Default: its path. Must not contain secrets. */
  label?: string;
}

export interface CmsClient {
  /**
   * Calls the CMS and returns any response below 500 but 429 and redirects, and a 5xx by which
   * WordPress itself rejects a write.
   * @throws CmsUnavailable without a usable response; the signal's reason after the caller's abort
   */
  request(request: CmsRequest): Promise<CmsResponse>;
  close(): Promise<void>;
}

export interface RestCallBody {
  query?: Query;
  /** Sent as JSON. */
  json?: CmsRecord;
  /** Sent unchanged, with `headers`. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
  triesLess?: boolean;
}

/**
 * Calls a route of the CMS's API, named without a leading slash: `wp/v2/posts/7`, `events/7`. Throws `CmsRejected` and
 * `CmsUnavailable`.
 */
export type RestCall = (
  method: CmsRequest['method'],
  route: string,
  parts?: RestCallBody,
  options?: CallOptions,
) => Promise<CmsResponse>;

const RETRYABLE_METHODS = new Set(['GET', 'HEAD']);
const FORWARDED_HEADERS = ['accept', 'content-type', 'content-disposition'];
const MAX_REDIRECTS = 3;

/** Creates a client for one origin. The first call opens the first connection. */
export function createCmsClient({ origin, observe, limits: overrides, dispatcher }: CmsClientOptions): CmsClient {
  const limits = { ...DEFAULTS.upstream.limits, ...overrides };
  const pool =
    dispatcher ??
    new Pool(origin.origin, {
      connections: limits.connections,
      pipelining: 1,
      allowH2: false,
      connect: { timeout: limits.connectTimeoutMs },
    });
  const bulkheads = createBulkheads(limits, observe);
  const createBreaker = (bulkhead: BulkheadName) =>
    createCircuitBreaker(limits.halfOpenAfterMs, (state) => observe({ type: 'breaker', bulkhead, state }));
  /** Failures count per bulkhead: calls that an anonymous caller makes fail stop neither writes nor the sync. */
  const breakers = {
    anonymous: createBreaker('anonymous'),
    logins: createBreaker('logins'),
    callers: createBreaker('callers'),
    sync: createBreaker('sync'),
  };

  async function attempt(
    request: CmsRequest,
    httpRequest: HttpRequest,
    attemptNumber: number,
    signal: AbortSignal,
  ): Promise<CmsResponse> {
    // Without the query, whose values may be private (a search, an e-mail address).
    const { method, label: path = request.path } = request;
    const startMs = performance.now();
    const durationMs = () => performance.now() - startMs;
    try {
      const httpResponse = await sendRequest(pool, httpRequest, limits, signal);
      observe({
        type: 'cms-call',
        method,
        path,
        status: httpResponse.status,
        durationMs: durationMs(),
        attempt: attemptNumber,
      });
      return !isWrite(method) && isRedirect(httpResponse.status)
        ? { ...httpResponse, json: undefined }
        : parseResponse(method, httpResponse, request.expect ?? 'json');
    } catch (error) {
      if (error instanceof CmsUnavailable) {
        const { reason, message } = error;
        observe({ type: 'cms-failed', method, path, reason, durationMs: durationMs(), message });
      }
      throw error;
    }
  }

  async function requestWithRetries(
    request: CmsRequest,
    httpRequest: HttpRequest,
    signal: AbortSignal,
  ): Promise<CmsResponse> {
    const breaker = breakers[request.bulkhead ?? 'sync'];
    for (let attemptNumber = 1; ; attemptNumber += 1) {
      try {
        return await breaker.run(() => attempt(request, httpRequest, attemptNumber, signal));
      } catch (error) {
        const isRetryable =
          RETRYABLE_METHODS.has(request.method) &&
          attemptNumber <= limits.retries &&
          isTransient(error, request.triesLess) &&
          !signal.aborted;
        if (!isRetryable) throw error;
        const delayMs = limits.retryDelayMs * 2 ** (attemptNumber - 1) * (0.5 + Math.random());
        await sleep(delayMs, undefined, { signal }).catch(() => {
          throw error;
        });
      }
    }
  }

  async function send(request: CmsRequest, signal: AbortSignal): Promise<CmsResponse> {
    const httpRequest: HttpRequest = {
      origin: origin.origin,
      method: request.method,
      path: withQuery(request.path, { ...request.query, ...uncachedQuery(request) }),
      headers: requestHeaders(request),
      body: request.body,
    };
    for (let hops = 0; ; hops += 1) {
      const response = await requestWithRetries(request, httpRequest, signal);
      if (!isRedirect(response.status)) return hops === 0 ? response : { ...response, redirectedTo: httpRequest.path };
      const target = resolveLocation(response.headers.location, origin.origin + httpRequest.path);
      // Credentials belong to this origin: the client follows no redirect to another one.
      if (target?.origin !== origin.origin || hops === MAX_REDIRECTS)
        throw redirectError(target?.href, target?.origin === origin.origin);
      httpRequest.path = target.pathname + target.search;
    }
  }

  return {
    async request(request) {
      const deadline = startDeadline(limits.deadlineMs, request.signal);
      try {
        return await bulkheads.run(request.bulkhead ?? 'sync', () => send(request, deadline.signal), deadline.signal);
      } catch (error) {
        // `attempt` observes all other failures; these two happen before it.
        if (error instanceof CmsUnavailable && (error.reason === 'busy' || error.reason === 'breaker-open')) {
          const { reason, message } = error;
          const { method, label: path = request.path } = request;
          observe({ type: 'cms-failed', method, path, reason, durationMs: 0, message });
        }
        throw error;
      } finally {
        deadline.end();
      }
    },
    async close() {
      // `close` would wait for responses that may never come.
      if (!dispatcher) await pool.destroy();
    },
  };
}

/**
 * Returns a signal that aborts at the deadline or with `callerSignal`; `end` clears its timer and listener.
 */
function startDeadline(afterMs: number, callerSignal: AbortSignal | undefined): { signal: AbortSignal; end(): void } {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new CmsUnavailable('timeout', `The CMS gave no answer within ${afterMs / 1000} s.`)),
    afterMs,
  );
  const onCallerAbort = () => controller.abort(callerSignal?.reason);
  if (callerSignal?.aborted) onCallerAbort();
  callerSignal?.addEventListener('abort', onCallerAbort, { once: true });
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', onCallerAbort);
    },
  };
}

/** True for a 5xx, unless the CMS says when to come back, as in maintenance. */
export const isServerError = ({ reason, status = 0, hasRetryAfter }: CmsUnavailable): boolean =>
  reason === 'status' && status >= 500 && !hasRetryAfter;

/** True for failures that a retry may solve. */
function isTransient(error: unknown, triesLess = false): boolean {
  if (!(error instanceof CmsUnavailable)) return false;
  if (error.reason === 'status') return isServerError(error) && !triesLess;
  return error.reason === 'refused' || error.reason === 'reset' || error.reason === 'timeout';
}

function isRedirect(status: number): boolean {
  return status >= 300 && status < 400 && status !== 304;
}

function resolveLocation(location: string | undefined, base: string): URL | undefined {
  return location !== undefined && URL.canParse(location, base) ? new URL(location, base) : undefined;
}

function requestHeaders({
  headers = {},
  credentials,
  requestId,
  creationKey,
  uncached,
}: CmsRequest): Record<string, string> {
  const sent: Record<string, string> = {
    accept: 'application/json',
    'accept-encoding': 'gzip',
    'user-agent': 'calendar-gateway',
  };
  for (const name of FORWARDED_HEADERS) if (headers[name] !== undefined) sent[name] = headers[name];
  if (uncached !== undefined) sent['cache-control'] = 'no-cache';
  if (credentials !== undefined) sent.authorization = credentials;
  if (creationKey !== undefined) sent['x-calendar-key'] = creationKey;
  // Clients choose the id: one that is no valid header value is left out.
  if (requestId !== undefined && /^[\x21-\x7e]{1,200}$/.test(requestId)) sent['x-request-id'] = requestId;
  return sent;
}

/** A parameter that no CMS knows. */
export const UNCACHED = 'calendar_gateway_poll';

const uncachedQuery = ({ uncached }: CallOptions): Query => (uncached === undefined ? {} : { [UNCACHED]: uncached });

function withQuery(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) search.append(name, String(value));
  return search.size > 0 ? `${path}?${search}` : path;
}

/** The body with the headers that describe it. */
export const sentBody = ({ json, bytes, headers }: RestCallBody): Pick<CmsRequest, 'body' | 'headers'> =>
  json === undefined
    ? { body: bytes, headers }
    : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } };
