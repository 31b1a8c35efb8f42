// Responses of the CMS, parsed: JSON, JSON after a PHP notice, the CMS's own errors, or nothing usable.

import { CmsUnavailable } from '../errors.ts';
import { isId, isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '../model/json.ts';
import { type HttpResponse, isWrite } from './send-request.ts';

export interface CmsResponse extends HttpResponse {
  /** The parsed body. Undefined without one (204) and with `expect: 'any'`. */
  json: unknown;
}

/** The body as an object. @throws CmsUnavailable `not-json` for any other body */
export function objectOf({ json, status }: Pick<CmsResponse, 'json' | 'status'>): JsonObject {
  if (isObject(json)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered with something other than an object.', { status });
}

/** The written record in a write's response. @throws CmsUnavailable `not-json`, outcome unknown, for any other body */
export function writtenRecordOf({ json, status }: Pick<CmsResponse, 'json' | 'status'>): JsonObject {
  if (isObject(json) && (isId(json.id) || json.deleted === true)) return json;
  const message = 'The CMS answered a write with something other than the record.';
  throw new CmsUnavailable('not-json', message, { status, outcomeUnknown: true });
}

/** Statuses sent by proxies in front of WordPress; their body says nothing about the request's outcome. */
const PROXY_STATUSES = new Set([502, 503, 504]);
const MAX_RETRY_AFTER_S = 3600;

/**
 * Returns the response, or throws `CmsUnavailable` with this reason:
 *
 *     500 {"code": "db_insert_error", ...} to a write      the response: WordPress itself rejects it
 *     the same to a read                                   `status`
 *     500 with a page, 500 of a fatal PHP error, 502, 504  `status`: a write may have happened
 *     any other above 500, such as 501                     as 500
 *     429, 503 {"code": ...} in maintenance                `status`: nothing was written
 *     a page, or half of the JSON                          `not-json`
 *     anything else below 500                              the response
 */
export function parseResponse(method: string, httpResponse: HttpResponse, expect: 'json' | 'any'): CmsResponse {
  const isWriteCall = isWrite(method);
  const json = expect === 'json' ? parseJson(httpResponse.bytes) : undefined;
  const response = { ...httpResponse, status: effectiveStatus(httpResponse.status, json) };
  const { status, headers } = response;
  if (status >= 500 || status === 429) {
    const isRejected = status !== 429 && !PROXY_STATUSES.has(status) && isRejection(json);
    if (isWriteCall && isRejected) return { ...response, json };
    // A rate limiter, and WordPress in maintenance mode, respond before the write starts.
    const isEarly = status === 429 || (status === 503 && errorCode(json) !== undefined);
    throw new CmsUnavailable('status', `The CMS answered with status ${status}.`, {
      status,
      outcomeUnknown: isWriteCall && !isEarly,
      retryAfterS: parseRetryAfter(headers['retry-after']),
    });
  }
  if (expect === 'json' && status !== 204 && json === undefined) {
    const body = describeBody(response.bytes);
    throw new CmsUnavailable('not-json', `The CMS answered with ${body} instead of JSON (status ${status}).`, {
      status,
      outcomeUnknown: isWriteCall && status < 300,
    });
  }
  return { ...response, json };
}

/** False with Retry-After: by that header, as in maintenance, the CMS says when to come back. */
export const is5xxWithoutRetryAfter = ({ reason, status = 0, retryAfterS }: CmsUnavailable): boolean =>
  reason === 'status' && status >= 500 && retryAfterS === undefined;

/**
 * Parses a body leniently: skips a byte order mark, the lines that a site prints before the JSON, such as a PHP notice,
 * and what it prints after it, such as `<!-- cached -->`. JSON begins a line.
 * @returns undefined if it is not JSON
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes).trim();
  // A page has JSON in its attributes and scripts.
  const start = /^<(!doctype|html)/i.test(text) ? -1 : text.search(/^[[{]/m);
  return start < 0 ? undefined : parseBeginning(text.slice(start));
}

function parseBeginning(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    // V8 says where the JSON ends if more text follows. Of JSON that is cut off it says something else.
    const end = /after JSON at position (\d+)/.exec(String(error))?.[1];
    return end === undefined ? undefined : JSON.parse(text.slice(0, Number(end)));
  }
}

/** The `code` of an error body `{code, message, data}`, `''` if a plugin omits it. Undefined for any other body. */
export function errorCode(json: unknown): string | undefined {
  if (!isObject(json) || typeof json.message !== 'string') return undefined;
  return textOrEmpty(json.code);
}

/** Seconds of a `Retry-After` header (a number or a date, RFC 9110, 10.2.3), at most an hour, if it is valid. */
export function parseRetryAfter(value: string | undefined, nowMs = Date.now()): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_S);
}

/** The status that an error's body names: PHP sends 200 with the first byte of a notice, before WordPress sets 404. */
export function effectiveStatus(status: number, json: unknown): number {
  if (status < 200 || status > 299 || !errorCode(json)) return status;
  const { status: inBody } = objectOrEmpty(objectOrEmpty(json).data);
  return Number.isInteger(inBody) && Number(inBody) >= 400 && Number(inBody) < 600 ? Number(inBody) : status;
}

/** WordPress has rejected the request. A fatal PHP error has the same form, but the write may be half done. */
function isRejection(json: unknown): boolean {
  const code = errorCode(json);
  return code !== undefined && code !== 'internal_server_error' && code !== 'wp_die';
}

export function describeBody(bytes: Buffer): string {
  const start = bytes.subarray(0, 500).toString('latin1').trimStart();
  if (start === '') return 'nothing';
  if (start.startsWith('<')) return 'a web page';
  return start.startsWith('{') || start.startsWith('[') ? 'broken JSON' : 'something else';
}
