// Finds the mount that a request addresses, the path below it, and the effective method.

import { noRoute } from '../interface/errors.ts';
import { checkLengths, type Limits, MAX_HEADER_CHARACTERS } from '../interface/limits.ts';
import { parseQuery } from './request-body.ts';
import type { Context, Middleware } from './state.ts';

/** Before the route is known, only the limits of every route apply. */
const NO_PARAMETERS: Limits = new Map();
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OVERRIDABLE = new Set(['GET', 'POST', 'PUT']);

export interface MountOptions {
  mounts: readonly string[];
  publicUrl: string;
}

interface MountedPath {
  mount: string;
  baseUrl: string;
  /** The path below the mount. */
  path: string;
}

/** Finds the mount of a path or of a `rest_route`; doubled and trailing slashes and letter case do not matter, as in WordPress. */
function createMountFinder({ mounts, publicUrl }: MountOptions) {
  const candidates = mounts.map((mount) => ({
    mount,
    baseUrl: publicUrl + mount,
    pathPrefix: mount.toLowerCase(),
    // WordPress serves `/wp-json/x/v1` as `/?rest_route=/x/v1` too.
    routePrefix: mount.replace(/^\/wp-json/, '').toLowerCase(),
  }));

  return function findMount(path: string, isRestRoute: boolean): MountedPath | undefined {
    const clean = path.replace(/\/{2,}/g, '/').replace(/\/$/, '');
    const lower = clean.toLowerCase();
    for (const { mount, baseUrl, pathPrefix, routePrefix } of candidates) {
      const prefix = isRestRoute ? routePrefix : pathPrefix;
      if (lower === prefix || lower.startsWith(`${prefix}/`))
        return { mount, baseUrl, path: clean.slice(prefix.length) };
    }
    return undefined;
  };
}

/** Throws 404 `rest_no_route` outside all mounts. */
export function mount(options: MountOptions): Middleware {
  const findMount = createMountFinder(options);

  return function mountMiddleware(ctx, next) {
    const { state } = ctx;
    state.query = ctx.querystring === '' ? {} : parseQuery(ctx.querystring);
    checkLengths([state.query], NO_PARAMETERS);
    const restRoute = ctx.path === '/' ? state.query.rest_route : undefined;
    const mounted = findMount(typeof restRoute === 'string' ? restRoute : ctx.path, restRoute !== undefined);
    if (!mounted) throw noRoute();
    Object.assign(state, mounted);
    overrideMethod(ctx);
    return next();
  };
}

/** Applies `_method` of the query or `X-HTTP-Method-Override` to GET, POST and PUT. */
function overrideMethod(ctx: Context): void {
  const override = ctx.state.query._method ?? (ctx.get('x-http-method-override') || undefined);
  if (override === undefined || !OVERRIDABLE.has(ctx.method)) return;
  const method = String(override).slice(0, MAX_HEADER_CHARACTERS.methodOverride).toUpperCase();
  if (!METHODS.has(method)) throw noRoute();
  // For the client it is still a GET, whose response must have as many bytes as its Content-Length says.
  ctx.state.omitBody = method === 'HEAD';
  ctx.method = ctx.state.omitBody ? 'GET' : method;
}
