// The middleware that every request passes, in order. Most cache hits are answered before it (`fastPath`).

import type { RequestListener } from 'node:http';
import Koa from 'koa';
import type { Config } from '../config-schema.ts';
import { type Authenticator, auth } from './auth.ts';
import { cachedReads } from './cached-reads.ts';
import { loadShedding, rateLimiting } from './client-limits.ts';
import { createRequestPolls, waitForToken } from './consistency-token.ts';
import { type RouteOptions, routes } from './endpoints.ts';
import { errorHandler, isClientAbort } from './error-handler.ts';
import { mcp } from './mcp/mcp.ts';
import type { McpOptions } from './mcp/server.ts';
import { errorPages, type Pages, servePages } from './pages/serve.ts';
import { mount, rejectMalformed } from './read-request.ts';
import { type FastPathOptions, fastPath, respond } from './respond.ts';
import { responseParams } from './response-params.ts';
import { accessLog, type State } from './state.ts';

export interface AppOptions extends RouteOptions, FastPathOptions, McpOptions {
  config: Config;
  authenticator: Authenticator;
  /** The landing page, the documentation page and their assets. */
  pages: Pages;
}

/**
 * The outermost first: `respond` sends what the later ones leave in `ctx.state`, from an error up to a use case's
 * response. The response parameters wrap the authentication, because `_envelope` also wraps its errors; the response
 * cache wraps both, because it caches what they make of a response.
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
  // Each call of a tool becomes a request of its own through `app`.
  app.use(mcp(app, options));
  app.use(servePages(options.pages));
  app.use(mount({ mounts, publicUrl }));
  app.use(cachedReads(services, cache, config.cache, poll));
  app.use(responseParams(services));
  app.use(auth(options.authenticator, clientAddress));
  app.use(routes(options));
  return fastPath(options, app.callback());
}
