// Public reads: served from the response cache before Koa, or computed once for all concurrent requests.
// A read with `Cache-Control: no-cache` polls the CMS first.

import type { IncomingMessage, RequestListener } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Services } from '../calendar/services.ts';
import type { Observe } from '../observability/observations.ts';
import type { ClientAddress } from './client-address.ts';
import type { PollForRequest } from './consistency-token.ts';
import { MIN_VERSION_HEADER } from './consistency-token.ts';
import type { Cors, Freshness } from './headers.ts';
import type { RateLimit } from './rate-limit.ts';
import { hasTooManyHeaders } from './request-target.ts';
import { perRequestHeaders, writePublic } from './respond.ts';
import { createCacheableResponses, isFresh, type ResponseCache } from './response-cache.ts';
import { type Context, type Middleware, nextRequestId, type State } from './state.ts';

/**
 * True if the URL alone determines the response: no credentials, no body (this API reads parameters from the
 * body of any method) and no method override. Only responses to such requests may be public.
 */
function dependsOnUrlAlone({ method, headers }: IncomingMessage): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    headers.authorization === undefined &&
    headers['x-wp-nonce'] === undefined &&
    headers['x-http-method-override'] === undefined &&
    (headers['content-length'] === undefined || headers['content-length'] === '0') &&
    headers['transfer-encoding'] === undefined
  );
}

/**
 * True if the response may come from the cache: the URL determines it, and the client does not ask for
 * revalidation.
 */
const isCacheable = (req: IncomingMessage): boolean => dependsOnUrlAlone(req) && !isNoCache(req);

const isNoCache = ({ headers }: IncomingMessage): boolean => headers['cache-control']?.includes('no-cache') ?? false;

export interface FastPathOptions {
  services: Services;
  cache: ResponseCache;
  cors: Cors;
  rateLimit: RateLimit;
  clientAddress: ClientAddress;
  observe: Observe;
}

/**
 * Returns a request listener that answers GET and HEAD from the response cache and passes everything else to
 * `next`. It serves hits under overload too, because they cost no more than a 503.
 */
export function fastPath(options: FastPathOptions, next: RequestListener): RequestListener {
  const { services, cache, cors, rateLimit, clientAddress, observe } = options;

  return (req, res) => {
    const startedMs = performance.now();
    if (!isCacheable(req) || req.headers[MIN_VERSION_HEADER] !== undefined) return next(req, res);
    if (hasTooManyHeaders(req)) return next(req, res);
    const cached = cache.get(req.url!, services.replica.version, services.nowMs());
    if (!cached) return next(req, res);
    const isNotModified = isFresh(req.headers, cached);
    const body = isNotModified ? undefined : cache.find(cached, req.headers['accept-encoding'] as string);
    // The middleware compresses it.
    if (!isNotModified && !body) return next(req, res);
    // The middleware sends the 429.
    if (!rateLimit.tryConsume(clientAddress(req), startedMs)) return next(req, res);

    const id = nextRequestId(req.headers['x-request-id']);
    const { headers, isStale } = perRequestHeaders(req, id, services, cors);
    writePublic(req, res, cached, body, headers);
    const durationMs = performance.now() - startedMs;
    const outcome = isNotModified ? 'not-modified' : 'hit';
    const { method = '' } = req;
    const { route } = cached;
    observe({
      type: 'request',
      id,
      method,
      route,
      status: res.statusCode,
      cache: isStale ? 'stale' : outcome,
      durationMs,
    });
  };
}

/** A computation in progress. */
interface Flight {
  /** The replica's version when it started: a request after a change must not get the response of before. */
  replicaVersion: number;
  /** The state of the request that computes; its response is there when `done` resolves. */
  state: State;
  done: Promise<void>;
}

/** After this time the gateway responds from the replica as it is. */
const MAX_POLL_MS = 5000;

/** `Cache-Control: no-cache` of the client causes a poll before the read. */
export function responseCache(
  services: Services,
  cache: ResponseCache,
  freshness: Freshness,
  poll: PollForRequest,
): Middleware {
  const { replica } = services;
  const toCached = createCacheableResponses(services, freshness);
  const flights = new Map<string, Flight>();

  /** Runs the rest of the middleware; its response becomes a public one if it is the same for every client. */
  async function compute({ req, state, originalUrl }: Context, next: () => Promise<void>): Promise<void> {
    await next();
    const { apiResponse } = state;
    // Requests with credentials never pass `dependsOnUrlAlone`, so only anonymous responses become public.
    if (!apiResponse || !dependsOnUrlAlone(req)) return;
    state.cached = toCached(apiResponse, originalUrl, state.route);
    if (!state.cached) return;
    state.cache = 'miss';
    if (isCacheable(req)) cache.set(state.cached);
  }

  async function join(flight: Flight, state: State): Promise<void> {
    try {
      await flight.done;
    } finally {
      state.route = flight.state.route;
    }
    state.cached = flight.state.cached;
    state.apiResponse = flight.state.apiResponse;
    if (state.cached) state.cache = 'shared';
  }

  return async function responseCacheMiddleware(ctx, next) {
    const { state, originalUrl: url } = ctx;
    // `HEAD ?_method=DELETE` is a HEAD, but what it reads must not answer a GET of this URL, which is a DELETE.
    const isOverridden = state.query._method !== undefined || state.omitBody;
    if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || isOverridden) return next();
    if (isNoCache(ctx.req)) await poll({ maxMs: MAX_POLL_MS, mayJoin: true });
    if (!isCacheable(ctx.req)) return compute(ctx, next);

    state.cached = cache.get(url, replica.version, services.nowMs());
    if (state.cached) {
      state.cache = 'hit';
      state.route = state.cached.route;
      return;
    }
    const running = flights.get(url);
    if (running?.replicaVersion === replica.version) return join(running, state);
    const flight = { replicaVersion: replica.version, state, done: compute(ctx, next) };
    flights.set(url, flight);
    try {
      await flight.done;
    } finally {
      if (flights.get(url) === flight) flights.delete(url);
    }
  };
}
