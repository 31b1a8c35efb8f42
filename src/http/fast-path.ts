// Serves response-cache hits before Koa. A miss, and every request that the cache may not answer, goes to the
// middleware.

import type { RequestListener } from 'node:http';
import { performance } from 'node:perf_hooks';
import type { Services } from '../calendar/services.ts';
import type { Observe } from '../observability/observations.ts';
import { isFresh } from './cached-response.ts';
import type { ClientAddress } from './client-address.ts';
import { MIN_VERSION_HEADER } from './consistency-token.ts';
import type { Cors } from './headers.ts';
import type { RateLimit } from './rate-limit.ts';
import { hasTooManyHeaders, lacksHost } from './request-target.ts';
import { perRequestHeaders, writePublic } from './respond.ts';
import { isCacheable, type ResponseCache } from './response-cache.ts';
import { nextRequestId } from './state.ts';

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
    if (lacksHost(req) || hasTooManyHeaders(req)) return next(req, res);
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
