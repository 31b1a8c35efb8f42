// The consistency token of several gateways: a client that sends back the token of an earlier response reads at least
// what that one showed.

import type { Peers } from '../calendar/cms-records.ts';
import { behind, invalidVersion } from '../interface/errors.ts';
import type { PollForRequest } from './request-polls.ts';
import type { Middleware } from './state.ts';

export const MIN_VERSION_HEADER = 'x-calendar-min-version';

/** The longest wait for the entries of other gateways, and then for a poll. */
const MAX_WAIT_MS = 2000;
/** The id of an entry; `+`: and changes that other gateways have not been told yet. Only a poll shows them those. */
const TOKEN = /^(\d{1,15}-\d{1,10})(\+?)$/;

/**
 * Names and values in turn, to be sent beside headers of the same names. `Vary` keeps reads with and without
 * a token apart in caches.
 */
export function consistencyHeaders(peers: Peers): string[] {
  const { id, isTold } = peers.consistencyToken();
  return [
    ...['X-Calendar-Version', isTold ? id : `${id}+`],
    ...['Vary', 'X-Calendar-Min-Version'],
    ...['Access-Control-Expose-Headers', 'X-Calendar-Version'],
    ...['Access-Control-Allow-Headers', 'X-Calendar-Min-Version'],
  ];
}

/**
 * Waits until the gateway shows the state that the request's token names, at most two seconds; then it polls
 * once. Throws `ApiError`: 400 for an invalid token, 503 if that failed too, or if the client disconnects.
 */
export function waitForToken(peers: Peers, poll: PollForRequest): Middleware {
  const showsState = async (id: string, isTold: boolean, signal: AbortSignal): Promise<boolean> =>
    ((await peers.reaches(id, MAX_WAIT_MS, signal)) && isTold) || poll({ maxMs: MAX_WAIT_MS, signal });

  return async function waitForTokenMiddleware(ctx, next) {
    const token = ctx.get(MIN_VERSION_HEADER);
    if (token === '') return next();
    const [, id, suffix] = TOKEN.exec(token) ?? [];
    if (id === undefined) throw invalidVersion();
    const closed = new AbortController();
    ctx.res.once('close', () => closed.abort());
    if (ctx.res.closed) closed.abort();
    if (!(await showsState(id, suffix === '', closed.signal))) throw behind();
    return next();
  };
}
