// One HTTP exchange with the CMS: sends a request once, buffers the response up to a byte limit, and parses it: JSON,
// JSON after a PHP notice, the CMS's own errors, or nothing usable.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { CmsRedirected, CmsUnavailable, type UnavailableReason } from '../errors.ts';

export interface HttpRequest {
  origin: string;
  method: string;
  /** Includes the query. */
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
}

export interface ExchangeLimits {
  /** Until the headers, and then between two parts of the body. */
  headersTimeoutMs: number;
  maxBytes: number;
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const decompress = promisify(gunzip);

/** True if a request with this method may change something in the CMS. */
export function isWrite(method: string): boolean {
  return !SAFE_METHODS.has(method);
}

/**
 * Sends one request and reads the whole response, whatever its status. When `signal` aborts, its reason is
 * thrown; a deadline's reason then also says if a write may have been carried out.
 * @throws CmsUnavailable `refused` | `timeout` | `reset` | `too-large`; `outcomeUnknown` for a write once a
 * byte may have been sent
 */
export async function sendRequest(
  dispatcher: Dispatcher,
  request: HttpRequest,
  limits: ExchangeLimits,
  signal: AbortSignal,
): Promise<HttpResponse> {
  let sent = false;
  let size = 0;
  let tooLarge = false;
  const response: HttpResponse = { status: 0, headers: {}, bytes: Buffer.alloc(0) };
  const chunks: Buffer[] = [];
  const outcomeUnknown = () => sent && isWrite(request.method);
  const tooLargeError = () =>
    new CmsUnavailable('too-large', `The CMS answered with more than ${limits.maxBytes} bytes.`, {
      outcomeUnknown: outcomeUnknown(),
      status: response.status,
    });

  try {
    await new Promise<void>((resolve, reject) => {
      let stop = (reason: Error): void => reject(reason);
      const onAbort = () => stop(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
      const settle = (end: () => void) => {
        signal.removeEventListener('abort', onAbort);
        end();
      };
      signal.throwIfAborted();
      signal.addEventListener('abort', onAbort, { once: true });
      dispatcher.dispatch(
        {
          origin: request.origin,
          method: request.method,
          path: request.path,
          headers: request.headers,
          body: request.body ?? null,
          headersTimeout: limits.headersTimeoutMs,
          bodyTimeout: limits.headersTimeoutMs,
        },
        {
          onRequestStart(controller) {
            if (signal.aborted) return controller.abort(new Error('aborted before it was sent'));
            sent = true;
            stop = (reason) => {
              // Not every stage of a connection reports an abort, so this rejects first.
              reject(reason);
              controller.abort(reason);
            };
          },
          onResponseStart(_controller, status, headers) {
            if (status < 200) return;
            response.status = status;
            response.headers = flattenHeaders(headers);
          },
          onResponseData(controller, chunk) {
            size += chunk.length;
            if (size <= limits.maxBytes) chunks.push(Buffer.from(chunk));
            else {
              tooLarge = true;
              chunks.length = 0;
              controller.abort(new Error('the response exceeds its byte limit'));
            }
          },
          onResponseEnd: () => settle(resolve),
          onResponseError: (_controller, error) => settle(() => reject(error)),
        },
      );
    });
    response.bytes = Buffer.concat(chunks);
    if (response.headers['content-encoding'] === 'gzip' && size > 0) {
      response.bytes = await decompress(response.bytes, { maxOutputLength: limits.maxBytes });
    }
    return response;
  } catch (error) {
    if (tooLarge || failureCodeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLargeError();
    // A fault of this program, not of the CMS: an invalid header or path.
    if (failureCodeOf(error) === 'UND_ERR_INVALID_ARG') throw error;
    if (signal.aborted) throw abortError(signal.reason, outcomeUnknown());
    throw unavailableError(error, sent, outcomeUnknown());
  }
}

/** A client abort keeps its reason. A deadline's reason is extended by the unknown outcome of a write. */
function abortError(reason: unknown, outcomeUnknown: boolean): unknown {
  if (!(reason instanceof CmsUnavailable) || !outcomeUnknown) return reason;
  const { message, retryAfterS } = reason;
  return new CmsUnavailable(reason.reason, message, { retryAfterS, outcomeUnknown });
}

function unavailableError(error: unknown, sent: boolean, outcomeUnknown: boolean): CmsUnavailable {
  const code = failureCodeOf(error);
  const [reason, message] = describeFailure(code.endsWith('_TIMEOUT'), sent);
  return new CmsUnavailable(reason, code ? `${message} (${code})` : message, { outcomeUnknown, cause: error });
}

function describeFailure(isTimeout: boolean, sent: boolean): [UnavailableReason, string] {
  if (isTimeout) return ['timeout', sent ? 'The CMS did not answer in time.' : 'No connection to the CMS in time.'];
  return sent ? ['reset', 'The CMS broke off the connection.'] : ['refused', 'No connection to the CMS.'];
}

function failureCodeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function flattenHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

export interface CmsResponse extends HttpResponse {
  /** The parsed body. Undefined without one (HEAD, 204) and with `expect: 'any'`. */
  json: unknown;
  /** Path and query that the response is from, if the client followed redirects. */
  redirectedTo?: string;
}

/** Statuses sent by proxies in front of WordPress; their body says nothing about the request's outcome. */
const PROXY_STATUSES = new Set([502, 503, 504]);
const MAX_RETRY_AFTER_S = 3600;

/**
 * Returns any response below 500, and a 5xx by which WordPress itself rejects a write
 * (`rest_upload_sideload_error`, a database error).
 * @throws CmsUnavailable `status` for redirects, 429 and any other 5xx; `not-json` for a page or a truncated
 * response
 */
export function parseResponse(method: string, httpResponse: HttpResponse, expect: 'json' | 'any'): CmsResponse {
  const isWriteCall = isWrite(method);
  const json = expect === 'json' && method !== 'HEAD' ? parseJson(httpResponse.bytes) : undefined;
  const response = { ...httpResponse, status: effectiveStatus(httpResponse.status, json) };
  const { status, headers } = response;
  if (status >= 500 || status === 429) {
    if (isWriteCall && !PROXY_STATUSES.has(status) && status !== 429 && isRejection(json)) return { ...response, json };
    throw new CmsUnavailable('status', `The CMS answered with status ${status}.`, {
      status,
      // A rate limiter, and WordPress in maintenance mode, respond before the write starts.
      outcomeUnknown: isWriteCall && status !== 429 && !(status === 503 && errorCode(json) !== undefined),
      retryAfterS: parseRetryAfter(headers['retry-after']),
    });
  }
  if (status >= 300 && status < 400 && status !== 304) throw redirectError(headers.location);
  if (expect === 'json' && method !== 'HEAD' && status !== 204 && json === undefined) {
    const body = describeBody(response);
    throw new CmsUnavailable('not-json', `The CMS answered with ${body} instead of JSON (status ${status}).`, {
      status,
      outcomeUnknown: isWriteCall && status < 300,
    });
  }
  return { ...response, json };
}

/**
 * The error for a redirect. The gateway does not follow redirects of writes, which would lose them, or to
 * another origin, which would leak credentials.
 * @param location absolute. The message names it only if it is an address of the web, and without its query, which
 * may hold what a caller sent
 */
export function redirectError(location: string | undefined, isLoop = false): CmsRedirected {
  const url = location === undefined || !URL.canParse(location) ? undefined : new URL(location);
  const target = url && /^https?:$/.test(url.protocol) ? url : undefined;
  const destination = target ? ` to ${target.origin}${target.pathname}` : '';
  return new CmsRedirected(`The CMS redirects${destination}${isLoop ? ', in a circle' : ''}.`, target, isLoop);
}

/**
 * Parses a body leniently: skips a byte order mark, and what a site prints before or after the JSON, such as a PHP notice
 * or `<!-- cached -->`, with the brackets in it. JSON begins a line or ends the body, and is the longest such value. Rejects
 * truncated JSON, of which a nested value may be whole.
 * @returns undefined if it is not JSON
 */
export function parseJson(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes).trim();
  const parsed = tryParse(text);
  // A page has JSON in its attributes and scripts.
  if (parsed !== undefined || /^<(!doctype|html)/i.test(text)) return parsed;
  let longest = '';
  // JSON does not begin with other brackets, such as the one in `Unknown modifier '['`.
  const openings = /<!--|<script\b|\{\s*["}]|\[\s*(?:[\]{["\d-]|true|false|null)/g;
  for (let opening = openings.exec(text); opening; opening = openings.exec(text)) {
    const { 0: mark, index: start } = opening;
    const markupEnd = mark === '<!--' ? '-->' : mark === '<script' ? '</script>' : undefined;
    const end = markupEnd === undefined ? endOfBrackets(text, start) : endOfMarkup(text, start, markupEnd);
    if (end === undefined) return undefined;
    const mayBeJson = markupEnd === undefined && (start === 0 || text[start - 1] === '\n' || end === text.length);
    if (mayBeJson && end - start > longest.length) longest = text.slice(start, end);
    openings.lastIndex = end;
  }
  return tryParse(longest);
}

function endOfMarkup(text: string, start: number, closing: string): number {
  const end = text.indexOf(closing, start);
  return end < 0 ? text.length : end + closing.length;
}

/** The index after the bracket that closes the one at `start`. Undefined if none does. */
function endOfBrackets(text: string, start: number): number | undefined {
  let depth = 0;
  let isInText = false;
  for (let index = start; index < text.length; index += 1) {
    const character = text[index];
    if (character === '"') isInText = !isInText;
    else if (isInText && character === '\\') index += 1;
    else if (isInText) continue;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth === 0) return index + 1;
  }
  return undefined;
}

/**
 * The `code` of an error body `{code, message, data}`, `''` if a plugin omits it. Undefined for any other
 * body.
 */
export function errorCode(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('message' in json) || typeof json.message !== 'string')
    return undefined;
  return 'code' in json && typeof json.code === 'string' ? json.code : '';
}

/**
 * Seconds of a `Retry-After` header (a number or a date, RFC 9110 10.2.3), at most an hour. Undefined without
 * a valid one.
 */
export function parseRetryAfter(value: string | undefined, nowMs = Date.now()): number | undefined {
  if (value === undefined || value.trim() === '') return undefined;
  const seconds = /^\d+$/.test(value.trim()) ? Number(value) : Math.ceil((Date.parse(value) - nowMs) / 1000);
  return Number.isNaN(seconds) ? undefined : Math.min(Math.max(seconds, 1), MAX_RETRY_AFTER_S);
}

/**
 * The status in an error's body: PHP sends 200 with the first byte of a notice, before WordPress sets the
 * error's status.
 */
export function effectiveStatus(status: number, json: unknown): number {
  if (status < 200 || status > 299 || !errorCode(json)) return status;
  const { data } = json as { data?: { status?: unknown } | null };
  const inBody = data?.status;
  return Number.isInteger(inBody) && Number(inBody) >= 400 && Number(inBody) < 600 ? Number(inBody) : status;
}

/**
 * True for an error by which WordPress rejects a request. A fatal PHP error has the same form, but the write
 * may be half done.
 */
function isRejection(json: unknown): boolean {
  const code = errorCode(json);
  return code !== undefined && code !== 'internal_server_error' && code !== 'wp_die';
}

function tryParse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function describeBody({ bytes }: HttpResponse): string {
  const start = bytes.subarray(0, 500).toString('latin1').trimStart();
  if (start === '') return 'nothing';
  if (start.startsWith('<')) return 'a web page';
  return start.startsWith('{') || start.startsWith('[') ? 'broken JSON' : 'something else';
}
