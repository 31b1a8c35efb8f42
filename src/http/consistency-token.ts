// The consistency token of a cluster: a client that sends back the token of an earlier response reads at
// least what that one showed.

import type { Services } from '../calendar/services.ts';
import { ApiError } from '../errors.ts';
import type { Middleware } from './state.ts';

export const MIN_VERSION_HEADER = 'x-calendar-min-version';

/** The longest wait for a token to be reached. */
const MAX_WAIT_MS = 2000;

/**
 * Names and values in turn, to be sent beside headers of the same names. `Vary` keeps reads with and without
 * a token apart in caches.
 */
export const consistencyHeaders = (peers: NonNullable<Services['peers']>): string[] => [
  ...['X-Calendar-Version', peers.consistencyToken()],
  ...['Vary', 'X-Calendar-Min-Version'],
  ...['Access-Control-Expose-Headers', 'X-Calendar-Version'],
  ...['Access-Control-Allow-Headers', 'X-Calendar-Min-Version'],
];

/**
 * Waits until the replica has reached the request's token. Throws `ApiError`: 400 for an invalid token, 503
 * after two seconds, or at once while polls fail or if the client disconnects.
 */
export function waitForToken(peers: NonNullable<Services['peers']>): Middleware {
  return async function waitForTokenMiddleware(ctx, next) {
    const token = ctx.get(MIN_VERSION_HEADER);
    if (token === '') return next();
    const closed = new AbortController();
    ctx.res.once('close', () => closed.abort());
    if (ctx.res.closed) closed.abort();
    const isReached = await peers.waitFor(token, MAX_WAIT_MS, closed.signal);
    if (isReached === undefined) {
      throw new ApiError(400, 'rest_invalid_version', 'X-Calendar-Min-Version must be a value of X-Calendar-Version.');
    }
    if (!isReached) {
      const message = 'This gateway has not reached that version yet. Try again soon.';
      throw new ApiError(503, 'calendar_behind', message, { headers: { 'Retry-After': '1' } });
    }
    return next();
  };
}
