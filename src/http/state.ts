// The state that one request carries through the middleware, `ctx.state`. The first middleware creates it with the
// request's id, and reports it to the log (as the access log) and the metrics when the request has ended.

import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type Koa from 'koa';
import { type Actor, ANONYMOUS, type ApiResponse } from '../calendar/request.ts';
import type { Route } from '../interface/routes.ts';
import type { CacheOutcome, Observe } from '../observability/observations.ts';
import type { CachedResponse } from './response-cache.ts';

export interface State {
  requestId: string;
  /** In log and metrics: `list /events`. */
  routeName: string;
  matchedRoute?: Route | undefined;
  cacheOutcome: CacheOutcome;
  /** The prefix under which the client called the API, and its absolute URL. */
  mount: string;
  baseUrl: string;
  /** The path below the mount. */
  path: string;
  query: Record<string, unknown>;
  actor: Actor;
  /** The method override replaced GET by HEAD: the response has no body. */
  omitBody: boolean;
  /** `respond` sends the first of these three that is set. A page sets none: it has set `ctx.body`. */
  error?: ApiResponse | undefined;
  /** Made of `apiResponse`, which stays: the rate limit and the header `Allow` read it. */
  cached?: CachedResponse | undefined;
  apiResponse?: ApiResponse | undefined;
}

/**
 * Sockets whose requests are checked and write nothing. `mcp/server.ts` makes a socket in memory for each call of a
 * tool, and adds those of calls with `dry_run`. A header could not say this, because any client could send it.
 */
export const dryRunSockets = new WeakSet<Duplex>();

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;

/** The state of a request of which only its id is known. */
export const newState = (requestId: string): State => ({
  requestId,
  routeName: 'none',
  cacheOutcome: 'none',
  mount: '',
  baseUrl: '',
  path: '',
  query: {},
  actor: ANONYMOUS,
  omitBody: false,
});

export function accessLog(observe: Observe): Middleware {
  return async function accessLogMiddleware(ctx, next) {
    const startedMs = performance.now();
    ctx.state = newState(nextRequestId(ctx.headers['x-request-id']));
    try {
      await next();
    } finally {
      const { requestId: id, routeName: route, cacheOutcome: cache } = ctx.state;
      const durationMs = performance.now() - startedMs;
      observe({ type: 'request', id, method: ctx.method, route, status: ctx.status, cache, durationMs });
    }
  };
}

const VALID_ID = /^[\w.:-]{1,100}$/;
const PROCESS_PREFIX = `${randomBytes(6).toString('base64url')}-`;
let requests = 0;

/** The client's `X-Request-Id` if that is valid, otherwise a new id: for the log, the response and calls to the CMS. */
export function nextRequestId(requestId: string | string[] | undefined): string {
  if (typeof requestId === 'string' && VALID_ID.test(requestId)) return requestId;
  requests += 1;
  return `${PROCESS_PREFIX}${requests.toString(36)}`;
}
