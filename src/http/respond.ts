// Sends every response that the middleware leaves in `ctx.state`; and hits of the response cache before Koa.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { performance } from 'node:perf_hooks';
import { toBuffer } from '../calendar/rendered-records.ts';
import type { Services } from '../calendar/services.ts';
import { byteLength } from '../text/bytes.ts';
import { allowHeader } from './allow-header.ts';
import type { ClientAddress } from './client-address.ts';
import type { RateLimit } from './client-limits.ts';
import { consistencyHeaders, MIN_VERSION_HEADER } from './consistency-token.ts';
import { apiLink, COMMON_HEADERS, type Cors, challengeHeaders, PRIVATE_HEADERS, staleHeaders } from './headers.ts';
import { hasTooManyHeaders } from './read-request.ts';
import { type Body, type CachedResponse, isCacheable, isFresh, type ResponseCache } from './response-cache.ts';
import { type Context, type Middleware, nextRequestId } from './state.ts';

/** Sends an error, a public response or a private one. A page has set its own body. */
export function respond(services: Services, cache: ResponseCache, cors: Cors): Middleware {
  async function sendPublic(ctx: Context, cached: CachedResponse): Promise<void> {
    const { req, res, state } = ctx;
    const headers = perRequestHeaders(req, state.requestId, services, cors);
    const acceptEncoding = req.headers['accept-encoding'] as string | undefined;
    const body = isFresh(req.headers, cached) ? undefined : await cache.negotiate(cached, acceptEncoding);
    ctx.respond = false;
    writePublic(req, res, cached, body, headers);
  }

  async function sendPrivate(ctx: Context, status: number, body: unknown, headers: object): Promise<void> {
    const allow = await allowHeader(ctx, services);
    ctx.set({ ...COMMON_HEADERS, ...PRIVATE_HEADERS, ...apiLink(services), ...headers, Allow: allow });
    ctx.set('X-Request-Id', ctx.state.requestId);
    if (status === 401) ctx.set(challengeHeaders(ctx.headers, services.mapping.cms));
    ctx.set(cors(ctx.headers.origin, ctx.method));
    ctx.status = status;
    ctx.body = toBuffer(body);
  }

  return async function respondMiddleware(ctx, next) {
    await next();
    const { error, cached, apiResponse, omitBody } = ctx.state;
    if (error) await sendPrivate(ctx, error.status, error.body, error.headers ?? {});
    else if (cached) await sendPublic(ctx, cached);
    else if (apiResponse) await sendPrivate(ctx, apiResponse.status, apiResponse.body, apiResponse.headers ?? {});
    // `omitBody` is never together with `cached`: a request with an override does not depend on its URL alone.
    if (omitBody) ctx.body = Buffer.alloc(0);
    // A public response has these headers among its `perRequestHeaders`.
    if (!cached) ctx.set(consistencyHeaders(services.peers));
  };
}

/** Writes a public response, or a 304 if there is no body: for the middleware and for the fast path. */
function writePublic(
  { method }: IncomingMessage,
  res: ServerResponse,
  { headers, contentType }: CachedResponse,
  body: Body | undefined,
  perRequest: readonly string[],
): void {
  // A CDN stores the headers of a 304 with the body that it has (RFC 9111, 4.3.4).
  if (!body) return void res.writeHead(304, headers.concat(perRequest)).end();
  const { chunks, encoding } = body;
  const ofBody = ['Content-Type', contentType, 'Content-Length', String(byteLength(chunks))];
  if (encoding !== 'identity') ofBody.push('Content-Encoding', encoding);
  res.writeHead(200, headers.concat(ofBody, perRequest));
  if (method === 'HEAD') return void res.end();
  res.cork();
  for (const chunk of chunks.slice(0, -1)) res.write(chunk);
  res.end(chunks.at(-1));
}

/** The headers of a public response that depend on the request and the moment, names and values in turn. */
function perRequestHeaders(
  { headers: { origin } }: IncomingMessage,
  requestId: string,
  { sync, peers, nowMs }: Services,
  cors: Cors,
): string[] {
  const { phase, lastCaughtUpMs, sinceMs } = sync.state();
  const isStale = phase === 'unreachable' || phase === 'stale';
  const ageS = Math.max(0, Math.round((nowMs() - (lastCaughtUpMs ?? sinceMs)) / 1000));
  const headers = {
    'X-Request-Id': requestId,
    ...cors(origin),
    ...consistencyHeaders(peers),
    ...(isStale && staleHeaders(ageS)),
  };
  return Object.entries(headers).flat();
}

export interface FastPathOptions {
  services: Services;
  cache: ResponseCache;
  cors: Cors;
  rateLimit: RateLimit;
  clientAddress: ClientAddress;
}

/**
 * Returns a request listener that answers GET and HEAD from the response cache and passes everything else to
 * `next`. It serves hits under overload too, because they cost no more than a 503.
 */
export function fastPath(options: FastPathOptions, next: RequestListener): RequestListener {
  const { services, cache, cors, rateLimit, clientAddress } = options;

  return (req, res) => {
    const startedMs = performance.now();
    const mustWait = req.headers[MIN_VERSION_HEADER] !== undefined;
    if (!isCacheable(req) || mustWait || hasTooManyHeaders(req)) return next(req, res);
    const cached = cache.get(req.url!, services.replica.version, services.nowMs());
    if (!cached) return next(req, res);
    const isNotModified = isFresh(req.headers, cached);
    const body = isNotModified ? undefined : cache.find(cached, req.headers['accept-encoding'] as string);
    // The body is not compressed yet: the middleware does that.
    if (!isNotModified && !body) return next(req, res);
    // The middleware sends the 429.
    if (!rateLimit.tryConsume(clientAddress(req), startedMs)) return next(req, res);

    const id = nextRequestId(req.headers['x-request-id']);
    writePublic(req, res, cached, body, perRequestHeaders(req, id, services, cors));
    const durationMs = performance.now() - startedMs;
    const served = { id, method: req.method!, route: cached.routeName, status: res.statusCode, durationMs };
    services.observe({ type: 'request', ...served, cache: 'hit' });
  };
}
