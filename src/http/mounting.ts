// Where a request was addressed: which mount, which path below it, and with which method in the end.

import type { Context, Middleware, Next } from 'koa';
import { noRoute } from '../calendar/refusals.ts';
import { HEADER_CHARACTERS, type Limits, refuseTooLong } from '../interface/limits.ts';
import { parseQuery } from './body.ts';
import type { State } from './state.ts';

/** Before its route is known a query is held to what is true of every route. */
const NO_PARAMETERS: Limits = new Map();
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OVERRIDABLE = new Set(['GET', 'POST', 'PUT']);

/** `/wp-json/x/v1` is also reached as `/?rest_route=/x/v1`. */
const restRoute = (mount: string): string => mount.replace(/^\/wp-json/, '');

export interface Place {
  mount: string;
  /** The mount's full address. */
  base: string;
  /** Path below the mount. */
  path: string;
}

/** Finds the mount of a path, or of the `rest_route` that stands for one; undefined outside of all mounts. */
export function places({ mounts, publicUrl }: { mounts: string[]; publicUrl: string }) {
  const known = mounts.map((mount) => ({
    ...{ mount, base: publicUrl + mount },
    prefix: mount.toLowerCase(),
    asRoute: restRoute(mount).toLowerCase(),
  }));

  return function placeOf(path: string, isRoute: boolean): Place | undefined {
    const clean = path.replace(/\/{2,}/g, '/').replace(/\/$/, '');
    const lower = clean.toLowerCase();
    for (const { mount, base, prefix, asRoute } of known) {
      const begin = isRoute ? asRoute : prefix;
      if (lower === begin || lower.startsWith(`${begin}/`)) return { mount, base, path: clean.slice(begin.length) };
    }
    return undefined;
  };
}

/**
 * Finds the mount; doubled and final slashes and letter case do not matter (interface-behaviour 9). Throws 404 `rest_no_route` for
 * everything outside the mounts.
 */
export function mounting(options: { mounts: string[]; publicUrl: string }): Middleware {
  const placeOf = places(options);

  return async function mount(ctx: Context, next: Next) {
    const state = ctx.state as State;
    state.query = ctx.querystring === '' ? {} : parseQuery(ctx.querystring);
    refuseTooLong([state.query], NO_PARAMETERS);
    const route = ctx.path === '/' ? state.query.rest_route : undefined;
    const isRoute = typeof route === 'string';
    const place = placeOf(isRoute ? route : ctx.path, route !== undefined);
    if (!place) throw noRoute();
    Object.assign(state, place);
    ctx.path = state.path || '/';
    override(ctx, state);
    await next();
  };
}

/** `_method` in the query or `X-HTTP-Method-Override` on GET, POST and PUT. */
function override(ctx: Context, state: State): void {
  const wanted = state.query._method ?? (ctx.get('x-http-method-override') || undefined);
  if (wanted === undefined || !OVERRIDABLE.has(ctx.method)) return;
  const method = String(wanted).slice(0, HEADER_CHARACTERS.methodOverride).toUpperCase();
  if (!METHODS.has(method)) throw noRoute();
  // On the wire it stays what it was: a GET whose answer has a length has that many bytes.
  state.withoutBody = method === 'HEAD';
  ctx.method = state.withoutBody ? 'GET' : method;
}
