// Where a request was addressed: which mount, which path below it, and with which method in the end.

import type { Context, Middleware, Next } from 'koa';
import { noRoute } from '../calendar/refusals.ts';
import { parseQuery } from './body.ts';
import type { State } from './state.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OVERRIDABLE = new Set(['GET', 'POST', 'PUT']);

/** `/wp-json/x/v1` is also reached as `/?rest_route=/x/v1`. */
const restRoute = (mount: string): string => mount.replace(/^\/wp-json/, '');

/**
 * Finds the mount; doubled and final slashes and letter case do not matter (interface-behaviour 9). Throws 404 `rest_no_route` for
 * everything outside the mounts.
 */
export function mounting({ mounts, publicUrl }: { mounts: string[]; publicUrl: string }): Middleware {
  const known = mounts.map((mount) => ({
    mount,
    prefix: mount.toLowerCase(),
    asRoute: restRoute(mount).toLowerCase(),
  }));

  return async function mount(ctx: Context, next: Next) {
    const state = ctx.state as State;
    state.query = ctx.querystring === '' ? {} : parseQuery(ctx.querystring);
    const route = ctx.path === '/' ? state.query.rest_route : undefined;
    const path = (typeof route === 'string' ? route : ctx.path).replace(/\/{2,}/g, '/').replace(/\/$/, '');
    const lower = path.toLowerCase();
    const found = known.find((one) => {
      const prefix = route === undefined ? one.prefix : one.asRoute;
      return lower === prefix || lower.startsWith(`${prefix}/`);
    });
    if (!found) throw noRoute();
    state.mount = found.mount;
    state.base = publicUrl + found.mount;
    state.path = path.slice(route === undefined ? found.prefix.length : found.asRoute.length);
    ctx.path = state.path || '/';
    override(ctx, state);
    await next();
  };
}

/** `_method` in the query or `X-HTTP-Method-Override` on GET, POST and PUT. */
function override(ctx: Context, { query }: State): void {
  const wanted = query._method ?? (ctx.get('x-http-method-override') || undefined);
  if (wanted === undefined || !OVERRIDABLE.has(ctx.method)) return;
  const method = String(wanted).toUpperCase();
  if (!METHODS.has(method)) throw noRoute();
  ctx.method = method;
}
