// What a request addresses: rejects malformed requests, and finds the mount, the path below it, and the effective
// method.

import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';
import { noRoute } from '../interface/errors.ts';
import { type Limits, MAX_HEADER_CHARACTERS } from '../interface/limits.ts';
import { checkLengths } from '../interface/validate.ts';
import { parseQuery, rejectLargeReadBody } from './request-body.ts';
import type { Context, Middleware } from './state.ts';

/** Before the route is known, only the limits of every route apply. */
const NO_PARAMETERS: Limits = new Map();
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
const OVERRIDABLE = new Set(['GET', 'POST', 'PUT']);

/**
 * True for an absolute URL in the request line, which only proxies accept, and for a header with an underscore: PHP reads `X_Name` as
 * `X-Name`, so that it could replace a header that a proxy sets.
 */
export function isMalformed({ url, rawHeaders }: IncomingMessage): boolean {
  if (!url?.startsWith('/')) return true;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.includes('_')) return true;
  return false;
}

/** Throws 400, 413 and 414. */
export function rejectMalformed({ urlBytes }: { urlBytes: number }): Middleware {
  return function rejectMalformedMiddleware(ctx, next) {
    rejectLargeReadBody(ctx.req);
    if (ctx.url.length > urlBytes)
      throw new ApiError(414, 'rest_uri_too_long', 'The address of this request is too long.');
    if (isMalformed(ctx.req)) throw new ApiError(400, 'rest_bad_request', 'The request could not be read.');
    return next();
  };
}

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
