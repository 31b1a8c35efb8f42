// The response parameters `_fields`, `_envelope` and `_jsonp`, which change the shape of a response.

import type { ApiResponse } from '../calendar/request-context.ts';
import type { Services } from '../calendar/services.ts';
import { ApiError } from '../errors.ts';
import { parseList } from '../interface/param-types.ts';
import type { JsonObject } from '../model/json.ts';
import { isBytes, toBuffer } from './cached-response.ts';
import { errorResponse } from './error-handler.ts';
import { allowHeader } from './respond.ts';
import type { Middleware } from './state.ts';

export interface ResponseParams {
  fields: string[];
  envelope: boolean;
  jsonp: string | undefined;
}

const CALLBACK = /^[\w.]+$/;

/** @throws ApiError 400 `rest_callback_invalid`, the one error body without `data` */
function parseResponseParams(query: JsonObject): ResponseParams {
  // WordPress ignores an empty callback name.
  const jsonp = (query._jsonp ?? '') === '' ? undefined : String(query._jsonp);
  if (jsonp !== undefined && !CALLBACK.test(jsonp)) {
    throw new ApiError(400, 'rest_callback_invalid', 'Invalid JSONP callback function.', { omitData: true });
  }
  const fields = parseList(query._fields)
    .map(String)
    .filter((name) => name !== '');
  return { fields, envelope: query._envelope !== undefined, jsonp };
}

/**
 * Applies the response parameters to the response of the rest of the middleware. `_envelope` and `_jsonp`
 * also wrap API errors.
 */
export function responseParams(services: Services): Middleware {
  return async function responseParamsMiddleware({ state }, next) {
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
    const allow = envelope ? await allowHeader(state, services) : '';
    state.apiResponse = applyResponseParams(state.apiResponse, params, allow);
  };
}

function applyResponseParams(
  response: ApiResponse,
  { fields, envelope, jsonp }: ResponseParams,
  allow: string,
): ApiResponse {
  const { etag: _, ...rest } = response;
  const json = isBytes(response.body) ? JSON.parse(toBuffer(response.body).toString('utf8')) : response.body;
  const selected = response.status < 400 ? selectFields(json, fields) : json;
  const body = envelope
    ? { body: selected, status: response.status, headers: parseNumbers({ Allow: allow, ...response.headers }) }
    : selected;
  const status = envelope ? 200 : response.status;
  // The envelope has the headers of the response that it holds.
  const kept = envelope ? {} : { ...response.headers };
  if (jsonp === undefined) return { ...rest, status, headers: kept, body };
  // The comment keeps browsers from interpreting the text as anything but a script.
  const headers = { ...kept, 'Content-Type': 'application/javascript; charset=UTF-8' };
  return { ...rest, status, headers, body: Buffer.from(`/**/${jsonp}(${JSON.stringify(body)})`) };
}

const parseNumbers = (headers: Record<string, string>): JsonObject =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
  );

/** The parts of `body` at the dotted paths; a list needs an index, and no match gives `[]`. */
function selectFields(body: unknown, paths: string[]): unknown {
  if (paths.length === 0 || typeof body !== 'object' || body === null) return body;
  const tree = new Map<string, string[]>();
  for (const path of paths) {
    const [key, ...rest] = path.split('.');
    const subpaths = tree.get(key!);
    if (rest.length === 0) tree.set(key!, []);
    else if (!subpaths) tree.set(key!, [rest.join('.')]);
    else if (subpaths.length > 0) subpaths.push(rest.join('.'));
  }
  const selected = [...tree].flatMap(([key, subpaths]) => {
    if (!Object.hasOwn(body, key)) return [];
    const value = (body as JsonObject)[key];
    return [[key, subpaths.length > 0 ? selectFields(value, subpaths) : value] as const];
  });
  if (Array.isArray(body)) return selected.map(([, value]) => value);
  return selected.length > 0 ? Object.fromEntries(selected) : [];
}
