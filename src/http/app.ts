// The Koa application: the middleware that every request passes, in order. Cache hits are served before it
// (`public-reads.ts`).

import Koa from 'koa';
import type { Observe } from '../observability/observations.ts';
import { type Authenticator, auth } from './auth.ts';
import type { ClientAddress } from './client-address.ts';
import { createRequestPolls, waitForToken } from './consistency-token.ts';
import { errorHandler, isClientAbort } from './error-handler.ts';
import type { Cors, Freshness } from './headers.ts';
import { type McpOptions, mcp } from './mcp/mcp.ts';
import { responseCache } from './public-reads.ts';
import { type LoadSheddingOptions, loadShedding, type RateLimit, rateLimiting } from './rate-limit.ts';
import { errorPages, mount, type Pages, rejectMalformed, servePages } from './request-target.ts';
import { respond } from './respond.ts';
import type { ResponseCache } from './response-cache.ts';
import { responseParams } from './response-params.ts';
import { type RouteOptions, routes } from './routes.ts';
import { accessLog, type State } from './state.ts';

export interface AppOptions extends RouteOptions, McpOptions {
  limits: RouteOptions['limits'] & LoadSheddingOptions & { urlBytes: number };
  /** The prefixes under which the API is served. */
  mounts: string[];
  publicUrl: string;
  clientAddress: ClientAddress;
  rateLimit: RateLimit;
  freshness: Freshness;
  cache: ResponseCache;
  cors: Cors;
  authenticator: Authenticator;
  /** The landing page, the documentation page and their assets. */
  pages: Pages;
  observe: Observe;
}

/**
 * The response parameters wrap the authentication, because `_envelope` also wraps its errors; the response
 * cache wraps both, because it caches what they make of a response.
 */
export function createApp(options: AppOptions): Koa<State> {
  const { services, cache, cors, limits, clientAddress, observe } = options;
  const poll = createRequestPolls(services.sync);
  const app = new Koa<State>();
  app.on('error', (error: unknown) => {
    if (!isClientAbort(error)) observe({ type: 'request-failed', id: '', error });
  });
  app.use(accessLog(observe));
  app.use(respond(services, cache, cors));
  app.use(errorPages(options.pages, options));
  app.use(errorHandler(observe));
  app.use(rejectMalformed(limits));
  app.use(rateLimiting(options.rateLimit, clientAddress));
  app.use(loadShedding(limits, clientAddress));
  if (services.peers) app.use(waitForToken(services.peers, poll));
  app.use(mcp(app, options));
  app.use(servePages(options.pages));
  app.use(mount(options));
  app.use(responseCache(services, cache, options.freshness, poll));
  app.use(responseParams(services));
  app.use(auth(options.authenticator, clientAddress));
  app.use(routes(options));
  return app;
}
