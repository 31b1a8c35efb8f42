// The middleware chain: what every request meets, in order.

import { randomUUID } from 'node:crypto';
import Koa, { type Context, type Middleware, type Next } from 'koa';
import { hash } from '../calendar/ready.ts';
import { noRoute } from '../calendar/refusals.ts';
import { ANONYMOUS } from '../calendar/visibility.ts';
import { GatewayError } from '../errors.ts';
import type { Observe } from '../observe/events.ts';
import { allowed } from './allow.ts';
import type { AnswerCache } from './answer-cache.ts';
import { errorAnswer } from './error-body.ts';
import { type Freshness, publicCaching, purgeTags, STANDING } from './headers.ts';
import { basicUser, type Identity } from './identity.ts';
import type { AddressLimit } from './limits.ts';
import { mounting } from './mounting.ts';
import { createRouting, type RoutingOptions, routeAt } from './routing.ts';
import { asBytes, sendPrivate, sendStored } from './sending.ts';
import { shaping } from './shape.ts';
import type { State } from './state.ts';

export interface AppOptions extends RoutingOptions {
  /** Prefixes under which the interface is served. */
  mounts: string[];
  publicUrl: string;
  trustProxies: boolean;
  urlBytes: number;
  freshness: Freshness;
  cache: AnswerCache;
  identity: Identity;
  addresses: AddressLimit;
  /** Landing page, documentation page and their parts. */
  pages: Middleware;
  observe: Observe;
}

export function createApp(options: AppOptions): Koa {
  const app = new Koa({ proxy: options.trustProxies });
  // What reaches here happened while an answer was being sent: the caller is gone.
  app.on('error', (error: unknown) => options.observe({ type: 'request-failed', id: '', error }));
  app.use(observing(options));
  app.use(options.pages);
  app.use(mounting(options));
  app.use(storing(options));
  app.use(shaping);
  app.use(identifying(options));
  app.use(createRouting(options));
  app.use(async () => {
    throw noRoute();
  });
  return app;
}

const REQUEST_ID = /^[\w.:-]{1,100}$/;

/** Request id, time, the address limit, and every error as the interface's error body. */
function observing({ observe, addresses, urlBytes, backing }: AppOptions): Middleware {
  return async function observed(ctx: Context, next: Next) {
    const state = ctx.state as State;
    const startedMs = performance.now();
    const given = ctx.get('x-request-id');
    state.requestId = REQUEST_ID.test(given) ? given : randomUUID();
    state.route = 'none';
    state.cache = 'none';
    state.caller = ANONYMOUS;
    ctx.set('X-Request-Id', state.requestId);
    try {
      if (ctx.url.length > urlBytes)
        throw new GatewayError(414, 'rest_uri_too_long', 'The address of this request is too long.');
      await addresses.admit(ctx);
      await next();
    } catch (error) {
      const { status, body, headers, unexpected } = errorAnswer(error);
      if (unexpected) observe({ type: 'request-failed', id: state.requestId, error });
      const allow = await allowed(routeAt(state.path ?? ''), state, backing).catch(() => 'GET');
      sendPrivate(ctx, status, body, { ...headers, Allow: allow });
    } finally {
      const durationMs = performance.now() - startedMs;
      const { requestId: id, route, cache } = state;
      observe({ type: 'request', id, method: ctx.method, route, status: ctx.status, cache, durationMs });
    }
  };
}

const LOOK_LIMIT_MS = 5000;

/** Public answers out of the store, and new ones into it; `Cache-Control: no-cache` looks at the CMS first. All others are private. */
function storing({ cache, backing, freshness }: AppOptions): Middleware {
  const caching = publicCaching(freshness);

  return async function stored(ctx: Context, next: Next) {
    const state = ctx.state as State;
    const isPublic =
      (ctx.method === 'GET' || ctx.method === 'HEAD') &&
      basicUser(ctx.headers.authorization) === undefined &&
      ctx.headers['x-wp-nonce'] === undefined &&
      state.query._wpnonce === undefined;
    const key = `${state.mount} ${state.path} ${ctx.querystring}`;
    if (isPublic && ctx.headers['cache-control']?.includes('no-cache')) {
      await Promise.race([backing.sync.look(), new Promise((resolve) => setTimeout(resolve, LOOK_LIMIT_MS).unref())]);
    } else if (isPublic) {
      const hit = cache.get(key, backing.replica.version, backing.nowMs());
      if (hit) {
        state.route = hit.route;
        state.cache = 'hit';
        return sendStored(ctx, hit, cache, backing);
      }
    }
    if (isPublic) state.cache = 'miss';
    await next();
    const { answer } = state;
    if (!answer) return;
    const headers = { ...answer.headers, Link: `<${backing.site().url}/wp-json/>; rel="https://api.w.org/"` };
    if (!isPublic || answer.status !== 200 || answer.validUntilMs === undefined) {
      state.cache = 'none';
      const allow = await allowed(routeAt(state.path), state, backing);
      return sendPrivate(ctx, answer.status, answer.body, { ...headers, Allow: allow });
    }
    const bytes = asBytes(answer.body);
    const entry = {
      bytes,
      etag: `W/${answer.etag ?? `"${hash(bytes)}"`}`,
      headers: { ...STANDING, ...headers, ...purgeTags(answer.tags ?? []), Allow: 'GET', 'Cache-Control': caching },
      route: state.route,
      version: backing.replica.version,
      validUntilMs: answer.validUntilMs,
      encoded: new Map(),
      pending: new Set<never>(),
    };
    cache.set(key, entry);
    sendStored(ctx, entry, cache, backing);
  };
}

/** Who asks: settled before anything is looked at, so that wrong credentials are told even on public reads (interface-behaviour 0). */
function identifying({ identity }: AppOptions): Middleware {
  return async function identified(ctx: Context, next: Next) {
    const state = ctx.state as State;
    const nonce = ctx.get('x-wp-nonce') || (state.query._wpnonce as string | undefined);
    state.caller = await identity.callerOf({ authorization: ctx.headers.authorization, nonce, address: ctx.ip });
    await next();
  };
}
