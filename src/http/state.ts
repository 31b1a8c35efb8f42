// What one request carries through the middleware: `ctx.state`.

import type Koa from 'koa';
import { type Actor, ANONYMOUS } from '../calendar/permissions.ts';
import type { ApiResponse } from '../calendar/request-context.ts';
import type { CacheOutcome } from '../observability/events.ts';
import type { CachedResponse } from './cached-response.ts';

export interface State {
  requestId: string;
  /** The route's name in log and metrics: `list /events`. */
  route: string;
  cache: CacheOutcome;
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

export type Context = Koa.ParameterizedContext<State>;
export type Middleware = Koa.Middleware<State>;

/** The state of a request of which only its id is known. */
export const newState = (requestId: string): State => ({
  requestId,
  route: 'none',
  cache: 'none',
  mount: '',
  baseUrl: '',
  path: '',
  query: {},
  actor: ANONYMOUS,
  omitBody: false,
});
