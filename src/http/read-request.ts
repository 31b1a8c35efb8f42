// Reads a request before its body: rejects malformed ones, finds the mount, the path below it and the effective method,
// and parses the query in PHP's bracket notation.

import type { IncomingMessage } from 'node:http';
import qs from 'qs';
import { noRoute, unreadableRequest } from '../interface/errors.ts';
import { checkLengths } from '../interface/validate.ts';
import { MAX_PARAMETERS } from '../interface/value-lengths.ts';
import type { Context, Middleware, State } from './state.ts';

type Query = Record<string, unknown>;

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
export const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const OVERRIDABLE = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Node drops the header lines beyond these. A request with as many may have had more, and is rejected. */
export const MAX_HEADERS = 200;

export const hasTooManyHeaders = ({ rawHeaders }: IncomingMessage): boolean => rawHeaders.length >= 2 * MAX_HEADERS;

export function rejectMalformed({ urlBytes }: { urlBytes: number }): Middleware {
  return function rejectMalformedMiddleware(ctx, next) {
    if (ctx.url.length > urlBytes) throw unreadableRequest(414);
    if (hasTooManyHeaders(ctx.req)) throw unreadableRequest(431);
    return next();
  };
}

export interface MountOptions {
  mounts: readonly string[];
  publicUrl: string;
}

/** Finds the mount of a path or of a `rest_route`. As in WordPress, further slashes and letter case do not matter. */
export function createMountFinder({ mounts, publicUrl }: MountOptions) {
  const candidates = mounts.map((mount) => ({
    mount,
    baseUrl: publicUrl + mount,
    pathPrefix: mount.toLowerCase(),
    // WordPress serves `/wp-json/x/v1` as `/?rest_route=/x/v1` too.
    routePrefix: mount.replace(/^\/wp-json/, '').toLowerCase(),
  }));

  return function findMount(path: string, isRestRoute = false): Pick<State, 'mount' | 'baseUrl' | 'path'> | undefined {
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
    // Before the route is known, only the limits of every route apply.
    checkLengths([state.query]);
    const restRoute = ctx.path === '/' ? state.query.rest_route : undefined;
    const mounted = findMount(typeof restRoute === 'string' ? restRoute : ctx.path, restRoute !== undefined);
    if (!mounted) throw noRoute();
    Object.assign(state, mounted);
    overrideMethod(ctx);
    return next();
  };
}

/** Applies `_method` of the query or `X-HTTP-Method-Override` to all but HEAD and OPTIONS. */
function overrideMethod(ctx: Context): void {
  const override = ctx.state.query._method ?? (ctx.get('x-http-method-override') || undefined);
  if (override === undefined || !OVERRIDABLE.has(ctx.method)) return;
  const method = String(override).toUpperCase();
  if (!METHODS.has(method)) throw noRoute();
  // The client has sent a GET, and would wait for the bytes that the Content-Length of a HEAD promises. So the API sees
  // a GET, and `respond` sends no body.
  ctx.state.omitBody = method === 'HEAD';
  ctx.method = ctx.state.omitBody ? 'GET' : method;
}

/** PHP's rules: the last of two equal names wins, brackets nest. qs drops `__proto__` and other inherited names. */
const BRACKETS = {
  duplicates: 'last',
  depth: 6,
  arrayLimit: 1000,
  parameterLimit: MAX_PARAMETERS,
} as const;

/** Parses a query without its `?`, or a form. Ignores parameters beyond `MAX_PARAMETERS`. */
export const parseQuery = (querystring: string): Query => qs.parse(querystring, BRACKETS) as Query;

/**
 * Joins the values of repeated names with commas: `tags=a&tags=b` means `tags=a,b`, where PHP takes the last value
 * (docs/differences.md). Only for these names, and only without brackets.
 */
export function combineRepeated(query: Query, querystring: string, parameters: readonly { name: string }[]): Query {
  const params = new URLSearchParams(querystring);
  const joined = { ...query };
  for (const { name } of parameters) {
    const values = params.getAll(name);
    if (values.length > 1 && typeof query[name] === 'string') joined[name] = values.join(',');
  }
  return joined;
}
