// Answers reads of anonymous callers from the response cache, whose responses are built once for all concurrent
// requests. What depends on the URL alone may be public.

import type { Services } from '../calendar/services.ts';
import type { PollForRequest } from './consistency-token.ts';
import type { Freshness } from './headers.ts';
import { createToCached, dependsOnUrlAlone, isCacheable, isNoCache, type ResponseCache } from './response-cache.ts';
import type { Context, Middleware, State } from './state.ts';

interface Flight {
  /** The state of the request that computes: the middleware leaves the response in it. */
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
  const toCached = createToCached(services, freshness);
  /** By version of the replica and URL: a request after a change must not get the response of before. */
  const flights = new Map<string, Flight>();

  /** Runs the rest of the middleware; its response becomes a public one if it is the same for every client. */
  async function compute({ req, state, originalUrl }: Context, next: () => Promise<void>): Promise<void> {
    await next();
    const { apiResponse } = state;
    // Requests with credentials never pass `dependsOnUrlAlone`, so only anonymous responses become public.
    if (!apiResponse || !dependsOnUrlAlone(req)) return;
    state.cached = toCached(apiResponse, originalUrl, state.routeName);
    if (!state.cached) return;
    state.cacheOutcome = 'miss';
    // Also the response to `no-cache`: none is newer.
    cache.set(state.cached);
  }

  async function shareResponse(flight: Flight, state: State): Promise<void> {
    // Known already: `auth` sets it before the first `await` of the request that the flight is of.
    state.routeName = flight.state.routeName;
    await flight.done;
    state.cached = flight.state.cached;
    state.apiResponse = flight.state.apiResponse;
    if (state.cached) state.cacheOutcome = 'shared';
  }

  return async function cachedReadsMiddleware(ctx, next) {
    const { state, originalUrl: url } = ctx;
    // HEAD and GET of a URL share one entry. With `?_method=DELETE` that GET is a DELETE, so the HEAD uses no entry.
    if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || state.query._method !== undefined) return next();
    if (isNoCache(ctx.req)) await poll({ maxMs: MAX_POLL_MS, mayBeRecent: true });
    if (!isCacheable(ctx.req)) return compute(ctx, next);

    state.cached = cache.get(url, replica.version, services.nowMs());
    if (state.cached) {
      state.cacheOutcome = 'hit';
      state.routeName = state.cached.routeName;
      return;
    }
    const key = `${replica.version} ${url}`;
    const running = flights.get(key);
    if (running) return shareResponse(running, state);
    const done = compute(ctx, next);
    flights.set(key, { state, done });
    await done.finally(() => flights.delete(key));
  };
}
