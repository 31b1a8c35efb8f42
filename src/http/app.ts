// The middleware that every request passes, in order.

import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Config } from '../config-schema.ts';
import { type Authenticator, auth } from './auth.ts';
import { cachedReads } from './cached-reads.ts';
import { rateLimiting } from './client-limits.ts';
import { createRequestPolls, waitForToken } from './consistency-token.ts';
import { type RouteOptions, routes } from './endpoints.ts';
import { errorHandler, isClientAbort } from './error-handler.ts';
import { loadShedding } from './load-shedding.ts';
import { mcp } from './mcp/mcp.ts';
import type { McpOptions } from './mcp/server.ts';
import { errorPages } from './pages/error-pages.ts';
import { type Pages, servePages } from './pages/serve.ts';
import { mount, rejectMalformed } from './read-request.ts';
import { type FastPathOptions, fastPath, respond } from './respond.ts';
import { responseParams } from './response-params.ts';
import { accessLog, type State } from './state.ts';

interface AppOptions extends RouteOptions, FastPathOptions, McpOptions {
  config: Config;
  authenticator: Authenticator;
  pages: Pages;
}

/**
 * The outermost first. What each does, leaves in `ctx.state`, and throws:
 *
 *     fastPath         before Koa, without a state: sends most hits of the cache, and counts them in the rate limit
 *     accessLog        creates `ctx.state` with its `requestId`; observes the request when it has ended
 *     respond          sends `error`, `cached` or `apiResponse`, whichever the later ones have left
 *     errorPages       turns `error` into a page, for a browser outside the API
 *     errorHandler     makes `error` of what the later ones throw
 *     rejectMalformed  414, 431
 *     rateLimiting     429; afterwards it charges long responses
 *     loadShedding     503
 *     waitForToken     `X-Calendar-Min-Version`: 400, 503. In a cluster only
 *     mcp              answers `/mcp` in `ctx.body`; a tool's call is a request of its own to `app`: 400, 403, 413
 *     servePages       answers the pages and their assets in `ctx.body`
 *     mount            `mount`, `baseUrl`, `path`, `query`, `omitBody`, and the overridden `ctx.method`: 400, 404
 *     cachedReads      `cached`, `cacheOutcome`: from the cache, or `apiResponse` as `responseParams` has shaped it
 *     responseParams   applies `_fields`, `_envelope` and `_jsonp` to `apiResponse`: 400. The last two wrap the errors
 *                      of `auth` and `routes` too
 *     auth             `actor`, `routeName`: 401, 403, 429, 503
 *     routes           `matchedRoute`, `apiResponse`; reads the body, and runs the use case: all other errors
 */
export function createListener(options: AppOptions): RequestListener {
  const { services, cache, cors, clientAddress, config, publicUrl } = options;
  const { observe } = services;
  const { limits, mounts } = config;
  const poll = createRequestPolls(services.sync);
  const app = new Koa<State>();
  app.on('error', (error: unknown) => {
    if (!isClientAbort(error)) observe({ type: 'request-failed', id: '', error });
  });
  app.use(accessLog(observe));
  app.use(respond(services, cache, cors));
  app.use(errorPages(options.pages, { mounts, publicUrl }));
  app.use(errorHandler(observe));
  app.use(rejectMalformed(limits));
  app.use(rateLimiting(options.rateLimit, clientAddress));
  app.use(loadShedding(limits, clientAddress));
  if (services.peers) app.use(waitForToken(services.peers, poll));
  app.use(mcp(app, options));
  app.use(servePages(options.pages));
  app.use(mount({ mounts, publicUrl }));
  app.use(cachedReads(services, cache, config.cache, poll));
  app.use(responseParams(services));
  app.use(auth(options.authenticator, clientAddress));
  app.use(routes(options));
  return fastPath(options, app.callback());
}
