// HTTP client of the CMS: limits the time, bytes and concurrency of every call, and leaves a failing CMS alone.

import { type Dispatcher, Pool } from 'undici';
import { type Config, DEFAULTS } from '../config-schema.ts';
import { CmsUnavailable } from '../errors.ts';
import type { Observe } from '../observability/observations.ts';
import { createBulkheads, createCircuitBreaker } from './bulkhead.ts';
import type { BulkheadName, CallOptions, CmsRecord, Query } from './port.ts';
import { type CmsResponse, parseResponse } from './response.ts';
import { sendRequest } from './send-request.ts';

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

/**
 * Creates a client for one origin. The first call opens the first connection. `request` waits for a connection, `send`
 * calls the CMS unless the circuit breaker is open.
 * One long function: both share the pool, the limits and the circuit breakers. Callers get `request` alone.
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
      maxResponseSize: limits.maxBytes,
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

  async function send(request: CmsRequest, signal: AbortSignal, retries: number): Promise<CmsResponse> {
    const { method, path, label = path, json, bytes = null, expect = 'json' } = request;
    const httpRequest = {
      ...{ origin, method, signal, path: pathWithQuery(request) },
      headers: { 'user-agent': userAgent, ...requestHeaders(request) },
      body: json === undefined ? bytes : JSON.stringify(json),
      callerAsksForFewer: request.callerAsksForFewer,
    };
    const httpResponse = await sendRequest(pool, httpRequest, { ...limits, retries }, (status, durationMs, attempt) =>
      observe({ type: 'cms-call', method, path: label, status, durationMs, attempt }),
    );
    return parseResponse(method, httpResponse, expect);
  }

  return {
    /**
     * Calls the CMS, and follows redirects within the site. Returns any response below 500 except 429, and a 5xx by
     * which WordPress itself rejects a write.
     * @throws CmsUnavailable for 429, any other 5xx, and no usable response; the reason of the caller's signal
     */
    async request(request: CmsRequest): Promise<CmsResponse> {
      const { method, path, label = path, bulkhead = 'sync', credentials } = request;
      const deadline = new AbortController();
      const message = `The CMS gave no answer within ${limits.deadlineMs / 1000} s.`;
      const timer = setTimeout(() => deadline.abort(new CmsUnavailable('timeout', message)), limits.deadlineMs);
      const signal = request.signal ? AbortSignal.any([deadline.signal, request.signal]) : deadline.signal;
      const startMs = performance.now();
      const task = () => breakers[bulkhead].run((isProbe) => send(request, signal, isProbe ? 0 : limits.retries));
      try {
        return await bulkheads.run(bulkhead, task, signal, credentials);
      } catch (error) {
        if (error instanceof CmsUnavailable) {
          const { reason, message: says } = error;
          const durationMs = performance.now() - startMs;
          observe({ type: 'cms-failed', method, path: label, reason, durationMs, message: says });
        }
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
