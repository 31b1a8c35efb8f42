// The parameters that change the shape of a response: `_fields`, `_envelope` and `_jsonp`.

import { chunksOf, parseItems, parseRendered, RenderedList } from '../calendar/rendered-records.ts';
import type { ApiResponse } from '../calendar/request.ts';
import type { Services } from '../calendar/services.ts';
import { invalidCallback } from '../interface/errors.ts';
import { parseList } from '../interface/value-types.ts';
import type { JsonObject } from '../model/json.ts';
import { joinBytes, utf8 } from '../text/bytes.ts';
import { allowHeader } from './allow-header.ts';
import { errorResponse } from './error-handler.ts';
import type { Middleware } from './state.ts';

const CALLBACK = /^[\w.]+$/;

function parseResponseParams(query: JsonObject) {
  // WordPress ignores an empty callback name.
  const jsonp = query._jsonp === '' ? undefined : query._jsonp;
  if (jsonp !== undefined && !(typeof jsonp === 'string' && CALLBACK.test(jsonp))) throw invalidCallback();
  const fields = parseList(query._fields).map(String);
  return { fields, envelope: query._envelope !== undefined, jsonp };
}

/** Applies the parameters to the response of the later middleware. `_envelope` and `_jsonp` also wrap API errors. */
export function responseParams(services: Services): Middleware {
  return async function responseParamsMiddleware({ state, method }, next) {
    const params = parseResponseParams(state.query);
    const { fields, envelope, jsonp } = params;
    if (fields.length === 0 && !envelope && jsonp === undefined) return next();
    try {
      await next();
    } catch (error) {
      const { isUnexpected, ...response } = errorResponse(error);
      if ((!envelope && jsonp === undefined) || isUnexpected) throw error;
      state.apiResponse = response;
    }
    // Feeds are not JSON.
    if (!state.apiResponse || state.apiResponse.headers?.['Content-Type'] !== undefined) return;
    const allow = envelope ? await allowHeader({ state, method }, services) : '';
    state.apiResponse = await applyResponseParams(state.apiResponse, params, allow);
  };
}

/** What wraps a body is put around its bytes: a list has megabytes. The result needs another ETag than the body. */
async function applyResponseParams(
  { etag: _, ...response }: ApiResponse,
  { fields, envelope, jsonp }: ReturnType<typeof parseResponseParams>,
  allow: string,
): Promise<ApiResponse> {
  const isSelected = fields.length > 0 && response.status < 400;
  const body = isSelected ? await selectFromBody(response.body, fields) : response.body;
  if (!envelope && jsonp === undefined) return { ...response, body };
  let chunks = chunksOf(body);
  if (envelope) {
    const headers = parseNumbers({ Allow: allow, ...response.headers });
    const rest = JSON.stringify({ status: response.status, headers }).slice(1);
    chunks = [utf8('{"body":'), ...chunks, utf8(`,${rest}`)];
  }
  // The comment keeps browsers from interpreting the text as anything but a script.
  if (jsonp !== undefined) chunks = [utf8(`/**/${jsonp}(`), ...chunks, utf8(')')];
  return {
    ...response,
    status: envelope ? 200 : response.status,
    // The envelope has the headers of the response that it holds.
    headers: {
      ...(envelope ? {} : response.headers),
      ...(jsonp === undefined ? {} : { 'Content-Type': 'application/javascript; charset=UTF-8' }),
    },
    body: joinBytes(chunks),
  };
}

const parseNumbers = (headers: Record<string, string>): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
  );

async function selectFromBody(body: unknown, paths: string[]): Promise<unknown> {
  if (!(body instanceof RenderedList))
    return selectFields(body instanceof Uint8Array ? parseRendered(body) : body, paths);
  const { name, items, rest } = body;
  const isNamed = paths.some((path) => path.split('.')[0] === name);
  return selectFields(isNamed ? { ...rest, [name]: await parseItems(items) } : rest, paths);
}

/** The paths below each key: of `id,venue.city,venue.zip` none below `id`, and `city` and `zip` below `venue`. */
function pathTree(paths: string[]): Map<string, string[]> {
  const tree = new Map<string, string[]>();
  for (const path of paths) {
    const [key, ...rest] = path.split('.');
    const subpaths = tree.get(key!);
    if (rest.length === 0) tree.set(key!, []);
    else if (!subpaths) tree.set(key!, [rest.join('.')]);
    // Not after `venue` alone, which asks for all of the venue.
    else if (subpaths.length > 0) subpaths.push(rest.join('.'));
  }
  return tree;
}

/** The parts of `body` at the dotted paths; a list needs an index, and no match gives `[]`. */
export function selectFields(body: unknown, paths: string[]): unknown {
  if (paths.length === 0 || typeof body !== 'object' || body === null) return body;
  const selected = [...pathTree(paths)].flatMap(([key, subpaths]) => {
    // `length` is an own property of a list too, but no part of its JSON.
    if (!Object.prototype.propertyIsEnumerable.call(body, key)) return [];
    const value = (body as JsonObject)[key];
    return [[key, selectFields(value, subpaths)] as const];
  });
  if (Array.isArray(body)) return selected.map(([, value]) => value);
  return selected.length > 0 ? Object.fromEntries(selected) : [];
}
