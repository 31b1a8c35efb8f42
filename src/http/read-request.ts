// Reads requests: rejects malformed ones, finds the mount, the path below it, the effective method, and
// the parameters of query and body (JSON, a form or multipart) in PHP's bracket notation.

import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import bodyParser from 'koa-bodyparser';
import qs from 'qs';
import type { Config } from '../config-schema.ts';
import { invalidJson, noRoute, unreadableRequest } from '../interface/errors.ts';
import { checkLengths } from '../interface/validate.ts';
import {
  MAX_BODY_VALUES,
  MAX_HEADER_CHARACTERS,
  MAX_PARAMETERS,
  MAX_PART_HEADER_BYTES,
  READ_BODY_BYTES,
} from '../interface/value-lengths.ts';
import { INHERITED_NAMES, isObject } from '../model/json.ts';
import type { Context, Middleware, State } from './state.ts';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
export const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const OVERRIDABLE = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Header lines that are read of a request; with as many it is rejected, because Node drops the others. */
export const MAX_HEADERS = 200;

export const hasTooManyHeaders = ({ rawHeaders }: IncomingMessage): boolean => rawHeaders.length >= 2 * MAX_HEADERS;

/** An error that the client gets as 413. `what` is for its message only. */
const tooLarge = (what: string): Error => Object.assign(new Error(what), { status: 413 });

/** Throws 414 and 431. */
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

/**
 * Finds the mount of a path or of a `rest_route`; doubled and trailing slashes and letter case do not matter,
 * as in WordPress.
 */
export function createMountFinder({ mounts, publicUrl }: MountOptions) {
  const candidates = mounts.map((mount) => ({
    mount,
    baseUrl: publicUrl + mount,
    pathPrefix: mount.toLowerCase(),
    // WordPress serves `/wp-json/x/v1` as `/?rest_route=/x/v1` too.
    routePrefix: mount.replace(/^\/wp-json/, '').toLowerCase(),
  }));

  return function findMount(path: string, isRestRoute: boolean): Pick<State, 'mount' | 'baseUrl' | 'path'> | undefined {
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
  const method = String(override).slice(0, MAX_HEADER_CHARACTERS.methodOverride).toUpperCase();
  if (!METHODS.has(method)) throw noRoute();
  // For the client it is still a GET, whose response must have as many bytes as its Content-Length says.
  ctx.state.omitBody = method === 'HEAD';
  ctx.method = ctx.state.omitBody ? 'GET' : method;
}

/** PHP's rules: the last of two equal names wins, brackets nest. qs drops `__proto__` and other inherited names. */
const BRACKETS = {
  duplicates: 'last',
  depth: 6,
  arrayLimit: 1000,
  parameterLimit: MAX_PARAMETERS,
  ignoreQueryPrefix: true,
} as const;

/**
 * Parses a query or form, with or without its `?`, into strings, lists and objects. Ignores parameters beyond
 * `MAX_PARAMETERS`.
 */
export const parseQuery = (querystring: string): Record<string, unknown> =>
  qs.parse(querystring, BRACKETS) as Record<string, unknown>;

/**
 * Joins the values of repeated names with commas: `tags=a&tags=b` means `tags=a,b`, where PHP takes the last value
 * (docs/differences.md). Only for these names, and only without brackets.
 */
export function combineRepeated(
  query: Record<string, unknown>,
  querystring: string,
  parameters: readonly { name: string }[],
): Record<string, unknown> {
  const params = new URLSearchParams(querystring);
  const joined = { ...query };
  for (const { name } of parameters) {
    const values = params.getAll(name);
    if (values.length > 1 && typeof query[name] === 'string') joined[name] = values.join(',');
  }
  return joined;
}

const MAX_PIECES = 2500;
const JSON_TYPES = ['application/json', 'application/*+json'];
const FORM = 'application/x-www-form-urlencoded';
const PARTS = 'multipart/form-data';
/** Both drop a byte order mark. The first throws for malformed UTF-8. */
const [JSON_TEXT, FORM_TEXT] = [new TextDecoder('utf-8', { fatal: true }), new TextDecoder()];

/**
 * Returns a function that reads the parameters in the body of a request: none if the body is not JSON, form
 * or multipart, or is JSON but not an object. It throws 400 `rest_invalid_json` and 413.
 */
export function createBodyReader({ bodyBytes, jsonDepth }: Pick<Config['limits'], 'bodyBytes' | 'jsonDepth'>) {
  const parserOf = (limit: number) => {
    // Without an encoding the parser leaves the bytes as they are. Its types lack the option.
    const options: bodyParser.Options & { encoding: null } = {
      enableTypes: ['text'],
      extendTypes: { text: [...JSON_TYPES, FORM, PARTS] },
      textLimit: `${limit}b`,
      encoding: null,
      onerror(error: Error & { status?: number }) {
        if (error.status !== undefined && error.status !== 400) throw error;
        throw invalidJson(error);
      },
    };
    return bodyParser(options);
  };
  const readBytes = Math.min(bodyBytes, READ_BODY_BYTES);
  const [parseRead, parseWrite] = [parserOf(readBytes), parserOf(bodyBytes)];
  return async function readBody(ctx: Context): Promise<Record<string, unknown>> {
    const type = ctx.get('content-type');
    // Many clients send a trailing semicolon, which the parser rejects.
    if (type.endsWith(';')) ctx.req.headers['content-type'] = type.slice(0, -1);
    const form = ctx.request.is(FORM, PARTS);
    if (!form && !ctx.request.is(JSON_TYPES)) return {};
    limitPieces(ctx.req);
    try {
      await (READ_METHODS.has(ctx.method) ? parseRead : parseWrite)(ctx, async () => undefined);
    } catch (error) {
      // Of a body that is too large the parser leaves the rest, and the next request of the connection is behind it.
      ctx.req.unpipe().resume();
      throw error;
    }
    const bytes = ctx.request.body as Buffer<ArrayBuffer>;
    if (form === PARTS) return multipart(bytes, ctx.get('content-type'));
    const parsed = form ? parseQuery(FORM_TEXT.decode(plusToSpace(bytes))) : parseJsonBody(jsonText(bytes));
    return isObject(parsed) ? sanitize(parsed, jsonDepth) : {};
  };
}

/**
 * Disconnects a client whose body arrives in too many pieces. The parser keeps 300 bytes for each, however small it is:
 * a body of 1 MB in chunks of one byte would take 300 MB.
 */
function limitPieces(req: IncomingMessage): void {
  let pieces = 0;
  req.on('data', () => {
    pieces += 1;
    if (pieces > MAX_PIECES) req.destroy();
  });
}

const [PLUS, SPACE] = ['+', ' '].map((sign) => sign.charCodeAt(0)) as [number, number];

/** Of a form. In a text of a megabyte, replacing each `+` takes 200 ms. */
function plusToSpace(form: Buffer): Buffer {
  for (let at = 0; at < form.length; at += 1) if (form[at] === PLUS) form[at] = SPACE;
  return form;
}

function jsonText(bytes: Buffer): string {
  try {
    return JSON_TEXT.decode(bytes);
  } catch (error) {
    throw invalidJson(error, 'utf8');
  }
}

function parseJsonBody(text: string): unknown {
  if (text === '') return undefined;
  if (hasTooManyValues(text)) throw tooLarge('too many values in a body');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(error);
  }
}

const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT] = ['"', '\\', ',', '[', '{'].map((sign) => sign.charCodeAt(0));

/**
 * Counts the separators of values outside strings: many small values take far longer to parse than one of the
 * same length.
 */
function hasTooManyValues(json: string): boolean {
  let values = 1;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === QUOTE) isText = !isText;
    else if (isText) {
      if (sign === BACKSLASH) at += 1;
    } else if (sign === COMMA || sign === LIST || sign === OBJECT) values += 1;
  }
  return values > MAX_BODY_VALUES;
}

async function multipart(bytes: Buffer<ArrayBuffer>, type: string): Promise<Record<string, unknown>> {
  rejectManyParts(bytes, type);
  const response = new Response(bytes, { headers: { 'content-type': type } });
  const form = await response.formData().catch((error: unknown) => {
    throw Object.assign(new Error('broken multipart body', { cause: error }), { status: 400 });
  });
  const pairs: string[] = [];
  for (const [name, value] of form)
    if (typeof value === 'string') pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return parseQuery(pairs.join('&'));
}

/** Many parts, or many header lines of a part, take far longer to parse than a text of the same length. */
function rejectManyParts(bytes: Buffer, type: string): void {
  const delimiter = `--${boundaryOf(type)}`;
  let parts = 0;
  let headerBytes = 0;
  for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    const end = bytes.indexOf('\r\n\r\n', at);
    parts += 1;
    headerBytes += (end < 0 ? bytes.length : end) - at;
    if (parts > MAX_PARAMETERS || headerBytes > MAX_PART_HEADER_BYTES) throw tooLarge('too many parts in a body');
  }
}

function boundaryOf(type: string): string {
  try {
    return new MIMEType(type).params.get('boundary') ?? '';
  } catch {
    return '';
  }
}

/**
 * Copies a value without keys of inherited names. Throws 400 if it is nested deeper than `depth`, and for a
 * lone surrogate, as PHP does.
 */
function sanitize<T>(value: T, depth: number): T {
  if (typeof value === 'string') return assertWellFormed(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) throw invalidJson(new Error('nested too deeply'), 'depth');
  if (Array.isArray(value)) return value.map((item) => sanitize(item, depth - 1)) as T;
  const entries = Object.entries(value).filter(([key]) => !INHERITED_NAMES.has(key));
  return Object.fromEntries(entries.map(([key, item]) => [assertWellFormed(key), sanitize(item, depth - 1)])) as T;
}

function assertWellFormed(text: string): string {
  if (!text.isWellFormed()) throw invalidJson(undefined, 'utf16');
  return text;
}
