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
  /** The route's name in log and metrics: `list /events`. */
  route: string;
  /** The route that the request has reached. */
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
  /** The response, one of these three: `respond.ts` sends the first that is set. */
  error?: ApiResponse | undefined;
  cached?: CachedResponse | undefined;
  apiResponse?: ApiResponse | undefined;
}

/**
 * Connections whose writes are checked and not made: each carries one call of a tool with `dry_run`. No header says so,
 * because any client could send it.
 */
export const dryRunSockets = new WeakSet<Duplex>();

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;

/** The state of a request of which only its id is known. */
export const newState = (requestId: string): State => ({
  requestId,
  route: 'none',
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
      const { requestId: id, route, cacheOutcome: cache } = ctx.state;
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
