// Sends every response that the middleware leaves in `ctx.state`, with the methods that the actor may use
// (`Allow`); the fast path takes the headers of its responses from here.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { can, mayEditPublished } from '../calendar/request.ts';
import type { Services } from '../calendar/services.ts';
import { isTermKind } from '../model/records.ts';
import { getRecord, idsBySlug } from '../store/records.ts';
import { consistencyHeaders } from './consistency-token.ts';
import {
  apiLink,
  COMMON_HEADERS,
  type Cors,
  IDEMPOTENCY_KEY_HEADER,
  loginHeaders,
  PREFLIGHT_HEADERS,
  PRIVATE_HEADERS,
  REPLAYED_HEADER,
  staleHeaders,
} from './headers.ts';
import { type Body, type CachedResponse, isFresh, type ResponseCache, toBuffer } from './response-cache.ts';
import type { Context, Middleware, State } from './state.ts';

/** Sends an error, a public response or a private one. A page has set its own body. */
export function respond(services: Services, cache: ResponseCache, cors: Cors): Middleware {
  async function sendPublic(ctx: Context, cached: CachedResponse): Promise<void> {
    const { req, res, state } = ctx;
    const { headers, isStale } = perRequestHeaders(req, state.requestId, services, cors);
    const isNotModified = isFresh(req.headers, cached);
    const acceptEncoding = req.headers['accept-encoding'] as string | undefined;
    if (isStale) state.cache = 'stale';
    else if (isNotModified && state.cache === 'hit') state.cache = 'not-modified';
    const body = isNotModified ? undefined : await cache.negotiate(cached, acceptEncoding);
    ctx.respond = false;
    writePublic(req, res, cached, body, headers);
  }

  async function sendPrivate(ctx: Context, status: number, body: unknown, headers: object): Promise<void> {
    const allow = await allowHeader(ctx.state, services);
    ctx.set({ ...COMMON_HEADERS, ...PRIVATE_HEADERS, ...headers, Allow: allow, 'X-Request-Id': ctx.state.requestId });
    if (status === 401) ctx.set(loginHeaders(ctx.headers, services.mapping.cms));
    setCorsHeaders(ctx, cors);
    ctx.status = status;
    ctx.body = toBuffer(body);
  }

  return async function respondMiddleware(ctx, next) {
    await next();
    const { error, cached, apiResponse, omitBody } = ctx.state;
    if (error) await sendPrivate(ctx, error.status, error.body, error.headers ?? {});
    else if (cached) await sendPublic(ctx, cached);
    else if (apiResponse) {
      const { status, body, headers } = apiResponse;
      await sendPrivate(ctx, status, body, { ...headers, Link: apiLink(services) });
    }
    if (omitBody) ctx.body = Buffer.alloc(0);
    if (services.peers && !cached) appendHeaders(ctx, consistencyHeaders(services.peers));
  };
}

/**
 * Writes a public response, or a 304 if there is no body: for the middleware and for the fast path.
 * @param requestDependent as `perRequestHeaders` returns them
 */
export function writePublic(
  { method }: IncomingMessage,
  res: ServerResponse,
  { headers, contentType }: CachedResponse,
  body: Body | undefined,
  requestDependent: readonly string[],
): void {
  // A CDN stores the headers of a 304 with the body that it has (RFC 9111, 4.3.4).
  if (!body) return void res.writeHead(304, headers.concat(requestDependent)).end();
  const { bytes, encoding } = body;
  const ofBody = ['Content-Type', contentType, 'Content-Length', String(bytes.byteLength)];
  if (encoding !== 'identity') ofBody.push('Content-Encoding', encoding);
  res.writeHead(200, headers.concat(ofBody, requestDependent));
  res.end(method === 'HEAD' ? undefined : bytes);
}

/**
 * The headers of a public response that depend on the request and the moment, names and values in turn.
 * `isStale`: the replica has not caught up with the CMS for a while.
 */
export function perRequestHeaders(
  { headers: { origin } }: IncomingMessage,
  requestId: string,
  { sync, peers, nowMs }: Services,
  cors: Cors,
): { headers: string[]; isStale: boolean } {
  const headers = ['X-Request-Id', requestId, ...Object.entries(cors(origin)).flat()];
  if (peers) headers.push(...consistencyHeaders(peers));
  const { state, lastCaughtUpMs, sinceMs } = sync.state();
  const isStale = state === 'unreachable' || state === 'stale';
  if (isStale) {
    const ageS = Math.max(0, Math.round((nowMs() - (lastCaughtUpMs ?? sinceMs)) / 1000));
    headers.push(...Object.entries(staleHeaders(ageS)).flat());
  }
  return { headers, isStale };
}

function appendHeaders(ctx: Context, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) ctx.append(headers[i]!, headers[i + 1]!);
}

/** Lets browsers of an allowed origin read the response. */
function setCorsHeaders(ctx: Context, cors: Cors): void {
  const headers = cors(ctx.headers.origin);
  if (Object.keys(headers).length === 0) return;
  ctx.set(headers);
  if (ctx.method === 'OPTIONS') ctx.set(PREFLIGHT_HEADERS);
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  ctx.append('Access-Control-Allow-Headers', IDEMPOTENCY_KEY_HEADER);
  ctx.append('Access-Control-Expose-Headers', REPLAYED_HEADER);
}

const ITEM_METHODS = { posts: 'GET, DELETE, POST, PUT, PATCH', terms: 'GET, POST, PUT, PATCH, DELETE' };

/** `GET` for anonymous actors, outside all routes, for posts that the actor does not get, and without the CMS. */
export async function allowHeader(state: State, services: Services): Promise<string> {
  return state.actor.account ? methodsOf(state, services).catch(() => 'GET') : 'GET';
}

async function methodsOf({ actor, path, matched, apiResponse }: State, services: Services): Promise<string> {
  const { kind, by, addition } = matched ?? {};
  if (!kind || addition) return 'GET';
  const permissions = await services.permissions.of(kind, actor);
  if (isTermKind(kind)) {
    if (!can(actor, 'manageTerms', permissions)) return 'GET';
    return by ? ITEM_METHODS.terms : 'GET, POST';
  }
  if (!can(actor, 'edit', permissions)) return 'GET';
  if (!by) return 'GET, POST';
  const key = path.split('/').at(-1) ?? '';
  const id = by === 'id' ? Number(key) : idsBySlug(services.replica.db, kind, key)[0];
  const record = id === undefined ? undefined : getRecord(services.replica.db, kind, id);
  // Staff read as editors what visitors do not see.
  const mayEdit = record ? mayEditPublished(actor, record.author, permissions) : (apiResponse?.status ?? 404) < 300;
  return mayEdit ? ITEM_METHODS.posts : 'GET';
}
