// Answers reads of anonymous callers from the response cache, whose responses are built once for all concurrent
// requests. What depends on the URL alone may be public.

import type { IncomingMessage } from 'node:http';
import type { Services } from '../calendar/services.ts';
import type { PollForRequest } from './consistency-token.ts';
import type { Freshness } from './headers.ts';
import { createCacheableResponses, type ResponseCache } from './response-cache.ts';
import type { Context, Middleware, State } from './state.ts';

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
export const isCacheable = (req: IncomingMessage): boolean => dependsOnUrlAlone(req) && !isNoCache(req);

const isNoCache = ({ headers }: IncomingMessage): boolean => headers['cache-control']?.includes('no-cache') ?? false;

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
export function cachedReads(
  services: Services,
  cache: ResponseCache,
  freshness: Freshness,
  poll: PollForRequest,
): Middleware {
  const { replica } = services;
  const toCached = createCacheableResponses(services, freshness);
  const flights = new Map<string, Flight>();

  /**
   * Runs the rest of the middleware; its response becomes a public one if it is the same for every client. `respond`
   * sends `state.cached`, else `state.apiResponse`, which is absent after an error and for pages.
   */
  async function compute({ req, state, originalUrl }: Context, next: () => Promise<void>): Promise<void> {
    await next();
    const { apiResponse } = state;
    // Requests with credentials never pass `dependsOnUrlAlone`, so only anonymous responses become public.
    if (!apiResponse || !dependsOnUrlAlone(req)) return;
    state.cached = toCached(apiResponse, originalUrl, state.route);
    if (!state.cached) return;
    state.cacheOutcome = 'miss';
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
    if (state.cached) state.cacheOutcome = 'shared';
  }

  return async function cachedReadsMiddleware(ctx, next) {
    const { state, originalUrl: url } = ctx;
    // `HEAD ?_method=DELETE` is a HEAD, but what it reads must not answer a GET of this URL, which is a DELETE. A GET
    // that a header made a HEAD has no body, and must not be in the cache. A plain HEAD is cached as its GET is.
    const isOverridden = state.query._method !== undefined || state.omitBody;
    if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || isOverridden) return next();
    if (isNoCache(ctx.req)) await poll({ maxMs: MAX_POLL_MS, mayBeRecent: true });
    if (!isCacheable(ctx.req)) return compute(ctx, next);

    state.cached = cache.get(url, replica.version, services.nowMs());
    if (state.cached) {
      state.cacheOutcome = 'hit';
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
