// One HTTP exchange with the CMS: sends a request once, buffers the response up to a byte limit, and parses it: JSON,
// JSON after a PHP notice, the CMS's own errors, or nothing usable.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { DecoratorHandler, type Dispatcher } from 'undici';
import type { Config } from '../config-schema.ts';
import { CmsRedirected, CmsUnavailable, type UnavailableReason } from '../errors.ts';
import { isId, isObject, type JsonObject, objectOrEmpty, textOrEmpty } from '../model/json.ts';

interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
}

const decompress = promisify(gunzip);

export const isWrite = (method: string): boolean => method !== 'GET' && method !== 'OPTIONS';

export const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

/**
 * Sends one request and reads the whole response, whatever its status. If `signal` aborts, throws by `abortError`.
 * @throws CmsUnavailable `refused` | `timeout` | `reset` | `too-large`; `outcomeUnknown` if a write may have been sent
 */
export async function sendRequest(
  dispatcher: Dispatcher,
  request: Dispatcher.RequestOptions,
  { headersTimeoutMs, maxBytes }: Pick<Config['upstream']['limits'], 'headersTimeoutMs' | 'maxBytes'>,
  signal: AbortSignal,
): Promise<HttpResponse> {
  let isSent = false;
  const noting = noteSent(() => {
    isSent = true;
  });
  try {
    const timeouts = { headersTimeout: headersTimeoutMs, bodyTimeout: headersTimeoutMs };
    const options = { ...request, ...timeouts, signal };
    const response = await dispatcher.compose(noting).request(options);
    const headers = flattenHeaders(response.headers);
    const bytes = await readAtMost(response.body, maxBytes);
    const isCompressed = headers['content-encoding'] === 'gzip' && bytes.length > 0;
    return {
      status: response.statusCode,
      headers,
      bytes: isCompressed ? await decompress(bytes, { maxOutputLength: maxBytes }) : bytes,
    };
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code ?? '');
    const outcomeUnknown = isSent && isWrite(request.method);
    // A fault of this program, not of the CMS: an invalid header or path.
    if (code === 'UND_ERR_INVALID_ARG') throw error;
    if (signal.aborted) throw abortError(signal.reason, outcomeUnknown);
    const [reason, message] = describeFailure(code, isSent, maxBytes);
    throw new CmsUnavailable(reason, code ? `${message} (${code})` : message, { outcomeUnknown, cause: error });
  }
}

/** Calls `onSent` when a request takes a connection: nothing of it was sent before. */
const noteSent =
  (onSent: () => void): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) => {
    const noting: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
    noting.onRequestStart = (...args) => {
      onSent();
      handler.onRequestStart?.(...args);
    };
    return dispatch(options, noting);
  };

/** The code of zlib's error for an output beyond its limit. */
const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE';

/** Closes the connection and throws if there are more bytes. */
export async function readAtMost(body: AsyncIterable<Buffer>, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > maxBytes) throw Object.assign(new Error('too large'), { code: TOO_LARGE });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A client abort keeps its reason. A deadline's reason is extended by the unknown outcome of a write. */
function abortError(reason: unknown, outcomeUnknown: boolean): unknown {
  if (!(reason instanceof CmsUnavailable) || !outcomeUnknown) return reason;
  const { message, retryAfterS } = reason;
  return new CmsUnavailable(reason.reason, message, { retryAfterS, outcomeUnknown });
}

function describeFailure(code: string, sent: boolean, maxBytes: number): [UnavailableReason, string] {
  if (code === TOO_LARGE) return ['too-large', `The CMS answered with more than ${maxBytes} bytes.`];
  if (code.endsWith('_TIMEOUT'))
    return ['timeout', sent ? 'The CMS did not answer in time.' : 'No connection to the CMS in time.'];
  return sent ? ['reset', 'The CMS broke off the connection.'] : ['refused', 'No connection to the CMS.'];
}

/** A header that came twice is one text: `a, b`. */
const flattenHeaders = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));

export interface CmsResponse extends HttpResponse {
  /** The parsed body. Undefined without one (204) and with `expect: 'any'`. */
  json: unknown;
  /** Path and query that the response is from, if the client followed redirects. */
  redirectedTo?: string;
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
 *     a redirect                                           `status` (`CmsRedirected`)
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
  if (isRedirect(status)) throw redirectError(URL.parse(headers.location ?? ''));
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

/** The message names an address of the web, without its query: that may hold what a caller sent. */
export function redirectError(url: URL | null, { isLoop = false } = {}): CmsRedirected {
  const target = url && /^https?:$/.test(url.protocol) ? url : undefined;
  const destination = target ? ` to ${target.origin}${target.pathname}` : '';
  return new CmsRedirected(`The CMS redirects${destination}${isLoop ? ', in a circle' : ''}.`, target, isLoop);
}

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
