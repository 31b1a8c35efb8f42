// The middleware chain: what every request meets, in order.

import { setTimeout as sleep } from 'node:timers/promises';
import Koa, { type Context, type Middleware, type Next } from 'koa';
import { noRoute } from '../calendar/refusals.ts';
import { ANONYMOUS } from '../calendar/visibility.ts';
import { GatewayError } from '../errors.ts';
import type { Observe } from '../observe/events.ts';
import { allowed } from './allow.ts';
import type { AnswerCache } from './answer-cache.ts';
import { refuseLargeRead } from './body.ts';
import type { CallerAddress } from './caller-address.ts';
import { errorAnswer } from './error-body.ts';
import { admitted, isByAddressAlone, isOdd, isPlain, sendStored } from './front.ts';
import type { Freshness } from './headers.ts';
import type { Identity } from './identity.ts';
import type { AddressLimit } from './limits.ts';
import { mounting } from './mounting.ts';
import { createOnDemandPoll } from './on-demand-poll.ts';
import { linkTo, publishing } from './publishing.ts';
import { nextRequestId } from './request-id.ts';
import { createRouting, type RoutingOptions, routeAt } from './routing.ts';
import { sendPrivate } from './sending.ts';
import { shaping } from './shape.ts';
import type { State } from './state.ts';
import { MIN_VERSION, versionHeaders, waitForVersion } from './versions.ts';

export interface AppOptions extends RoutingOptions {
  /** Prefixes under which the interface is served. */
  mounts: string[];
  publicUrl: string;
  addressOf: CallerAddress;
  urlBytes: number;
  freshness: Freshness;
  cache: AnswerCache;
  identity: Identity;
  addresses: AddressLimit;
  /** Landing page, documentation page and their parts. */
  pages: Middleware;
  observe: Observe;
}

/**
 * The Koa application, without a port. Outermost come the request's id, the address limit and the answering of errors; then pages, the
 * mount, the public answer, `_fields` and its like, who asks, and the operation. What none of them took is a 404, or an OPTIONS of nothing.
 */
export function createApp(options: AppOptions): Koa {
  const app = new Koa();
  app.on('error', (error: unknown) => {
    if (!isGoodbye(error)) options.observe({ type: 'request-failed', id: '', error });
  });
  app.use(observing(options));
  app.use(options.pages);
  app.use(mounting(options));
  app.use(storing(options));
  app.use(shaping((state) => allowed(routeAt(state.path), state, options.backing)));
  app.use(identifying(options));
  app.use(createRouting(options));
  app.use(async ({ method, state }: Context) => {
    // OPTIONS asks what is there, and of nothing there is nothing to say (interface-behaviour 9).
    if (method !== 'OPTIONS') throw noRoute();
    state.answer = { status: 200, body: [] };
  });
  return app;
}

/** Request id, time, the address limit, and every error as the interface's error body. */
function observing({ observe, addresses, addressOf, urlBytes, backing }: AppOptions): Middleware {
  return async function observed(ctx: Context, next: Next) {
    const state = ctx.state as State;
    const startedMs = performance.now();
    state.requestId = nextRequestId(ctx.headers['x-request-id']);
    state.route = 'none';
    state.cache = 'none';
    state.caller = ANONYMOUS;
    try {
      refuseOdd(ctx, urlBytes);
      if (!admitted.has(ctx.req)) addresses.admit({ ip: addressOf(ctx.req) });
      const wanted = backing.others && ctx.get(MIN_VERSION);
      if (wanted) await waitForVersion(backing.others!, wanted);
      await next();
    } catch (error) {
      const { status, body, headers, unexpected } = errorAnswer(error);
      if (unexpected && !isGoodbye(error)) observe({ type: 'request-failed', id: state.requestId, error });
      const allow = await allowed(routeAt(state.path ?? ''), state, backing).catch(() => 'GET');
      sendPrivate(ctx, status, body, { ...headers, Allow: allow });
    } finally {
      if (state.withoutBody) ctx.body = Buffer.alloc(0);
      if (backing.others && ctx.respond !== false) {
        const added = versionHeaders(backing.others);
        for (let i = 0; i < added.length; i += 2) ctx.append(added[i]!, added[i + 1]!);
      }
      const durationMs = performance.now() - startedMs;
      const { requestId: id, route, cache } = state;
      observe({ type: 'request', id, method: ctx.method, route, status: ctx.status, cache, durationMs });
    }
  };
}

const GOODBYES =
  /^(ECONNRESET|ECONNABORTED|EPIPE|HPE_\w+|ERR_STREAM_\w+|ERR_HTTP_REQUEST_TIMEOUT|stream\.not\.readable|request\.aborted)$/;

/** Whether a caller went away or took too long in the middle of a request or an answer, which is nobody's failure. Calls to the CMS have errors of their own. */
function isGoodbye(error: unknown): boolean {
  const { code, type } = error as { code?: unknown; type?: unknown };
  return error instanceof Error && GOODBYES.test(String(code ?? type));
}

/** What no client of the interface sends. */
function refuseOdd(ctx: Context, urlBytes: number): void {
  refuseLargeRead(ctx.req);
  if (ctx.url.length > urlBytes)
    throw new GatewayError(414, 'rest_uri_too_long', 'The address of this request is too long.');
  if (isOdd(ctx.req)) throw new GatewayError(400, 'rest_bad_request', 'The request could not be read.');
}

/** Makes public answers and stores them, for the short way and for others; `Cache-Control: no-cache` looks at the CMS first. All others are private. */
function storing({ cache, backing, freshness }: AppOptions): Middleware {
  const publish = publishing(backing, freshness);
  const poll = createOnDemandPoll(backing);

  return async function stored(ctx: Context, next: Next) {
    const state = ctx.state as State;
    const reads = ctx.method === 'GET' || ctx.method === 'HEAD';
    const asked = reads && ctx.req.headers['cache-control']?.includes('no-cache');
    if (asked) await poll();
    await next();
    const { answer } = state;
    if (!answer) return;
    const isPublic = isByAddressAlone(ctx.req) && reads && !state.caller.account && !state.withoutBody;
    const entry = isPublic ? publish(answer, state.route) : undefined;
    if (!entry) {
      const allow = await allowed(routeAt(state.path), state, backing);
      const headers = { ...answer.headers, Link: linkTo(backing), Allow: allow };
      return sendPrivate(ctx, answer.status, answer.body, headers);
    }
    if (isPlain(ctx.req)) cache.set(ctx.originalUrl, entry);
    ctx.respond = false;
    state.cache = sendStored(ctx.req, ctx.res, entry, { cache, backing, id: state.requestId, outcome: 'miss' });
  };
}

/** The longest that a read waits for the poll after its caller's failed write. */
const POLL_LIMIT_MS = 5000;

/** Who asks: settled before anything is looked at, so that wrong credentials are told even on public reads (interface-behaviour 0). */
function identifying({ identity, addressOf, backing }: AppOptions): Middleware {
  return async function identified(ctx: Context, next: Next) {
    const state = ctx.state as State;
    const nonce = ctx.get('x-wp-nonce') || (state.query._wpnonce as string | undefined);
    const address = addressOf(ctx.req);
    state.caller = await identity.callerOf({ authorization: ctx.headers.authorization, nonce, address });
    // What this user's failed write left is in the replica when the poll that follows it is over.
    const poll = state.caller.account && backing.unsettled.get(state.caller.account.userId);
    if (poll) await Promise.race([poll, sleep(POLL_LIMIT_MS, undefined, { ref: false })]);
    await next();
  };
}
