// One request to the CMS through undici's interceptors: a read is repeated and follows redirects within the site. Reads
// the response up to a byte limit.

import { DecoratorHandler, type Dispatcher, interceptors, type RetryHandler } from 'undici';
import type { Config } from '../config-schema.ts';
import { CmsRedirected, CmsUnavailable, type UnavailableReason } from '../errors.ts';

export interface HttpRequest extends Dispatcher.RequestOptions {
  /** Scheme, host and port of the site. */
  origin: string;
  signal: AbortSignal;
  /** No retry after a 5xx: the caller itself asks again, for fewer records (`inSmallerPages`). */
  callerAsksForFewer?: boolean | undefined;
}

export interface HttpResponse {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
  /** Path and query that the response is from, if the request was redirected. */
  redirectedTo?: string;
}

type HttpLimits = Pick<Config['upstream']['limits'], 'headersTimeoutMs' | 'maxBytes' | 'retries' | 'retryDelayMs'>;

/** What has become of a request. A redirect and a retry begin another attempt. */
interface Progress {
  attempts: number;
  /** An attempt took a connection: before that, nothing of the request was sent. */
  isSent: boolean;
  /** Of the last attempt, with its query. */
  path: string;
  /** Of the last attempt, once its response begins. */
  status: number | undefined;
  /** If that is a redirect. Null without a valid address. */
  redirectTarget: URL | null | undefined;
}

const MAX_REDIRECTS = 3;

export const isWrite = (method: string): boolean => method !== 'GET' && method !== 'OPTIONS';

const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

/**
 * Sends a request and reads the whole response, whatever its status. If the signal aborts, throws by `abortError`.
 * @param onResponse called for each response, also for a redirect, and for a 5xx before a retry
 * @throws CmsUnavailable `refused` | `timeout` | `reset` | `too-large`; `outcomeUnknown` if a write may have been sent.
 *   CmsRedirected for a redirect of a write, to another origin, and in a circle
 */
export async function sendRequest(
  dispatcher: Dispatcher,
  request: HttpRequest,
  limits: HttpLimits,
  onResponse: OnResponse,
): Promise<HttpResponse> {
  const { callerAsksForFewer, ...options } = request;
  const { origin, path, method, signal } = options;
  const progress: Progress = { attempts: 0, isSent: false, path, status: undefined, redirectTarget: undefined };
  const interceptorsOfReads = [
    stayWithin(origin),
    interceptors.redirect({ maxRedirections: MAX_REDIRECTS }),
    interceptors.retry({ retry: retryPolicy(request, limits, progress), throwOnError: false }),
  ];
  // From the connection outwards: a redirect and a retry pass `noteAttempts` again.
  const chain = [
    noteAttempts(progress, onResponse),
    ...(isWrite(method) ? [] : interceptorsOfReads),
    interceptors.decompress({ skipErrorResponses: false }),
  ];
  try {
    const timeouts = { headersTimeout: limits.headersTimeoutMs, bodyTimeout: limits.headersTimeoutMs };
    const response = await dispatcher.compose(chain).request({ ...options, ...timeouts });
    const { statusCode: status } = response;
    const bytes = await readAtMost(response.body, limits.maxBytes);
    if (isRedirect(status)) throw new Error('The redirect of a write, or one too many, is not followed.');
    const headers = flattenHeaders(response.headers);
    return { status, headers, bytes, ...(progress.path !== path && { redirectedTo: progress.path }) };
  } catch (error) {
    const outcomeUnknown = progress.isSent && isWrite(method);
    if (signal.aborted) throw abortError(signal.reason, outcomeUnknown);
    if (progress.redirectTarget !== undefined) throw redirectError(request, progress.redirectTarget);
    const code = String((error as NodeJS.ErrnoException).code ?? '');
    // A fault of this program, not of the CMS: an invalid header or path.
    if (code === 'UND_ERR_INVALID_ARG') throw error;
    const [reason, message] = describeFailure(code, progress.isSent, limits.maxBytes);
    throw new CmsUnavailable(reason, code ? `${message} (${code})` : message, { outcomeUnknown, cause: error });
  }
}

type Interceptor = Dispatcher.DispatcherComposeInterceptor;
/** `attempt`: 1, 2 and so on. */
type OnResponse = (status: number, durationMs: number, attempt: number) => void;

function noteAttempts(progress: Progress, onResponse: OnResponse): Interceptor {
  return (dispatch) => (options, handler) => {
    const attempt = progress.attempts + 1;
    const startMs = performance.now();
    Object.assign(progress, { attempts: attempt, path: options.path, status: undefined, redirectTarget: undefined });
    const noting: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
    noting.onRequestStart = (...args) => {
      progress.isSent = true;
      handler.onRequestStart?.(...args);
    };
    noting.onResponseStart = (controller, status, headers, ...rest) => {
      progress.status = status;
      if (isRedirect(status)) progress.redirectTarget = targetOf(headers.location, `${options.origin}${options.path}`);
      handler.onResponseStart?.(controller, status, headers, ...rest);
    };
    noting.onResponseEnd = (...args) => {
      onResponse(progress.status!, performance.now() - startMs, attempt);
      handler.onResponseEnd?.(...args);
    };
    return dispatch(options, noting);
  };
}

const targetOf = (location: string | string[] | undefined, base: string): URL | null =>
  typeof location === 'string' ? URL.parse(location, base) : null;

/** Credentials belong to this origin: the interceptor for redirects would follow one to any other. */
const stayWithin =
  (origin: string): Interceptor =>
  (dispatch) =>
  (options, handler) => {
    if (options.origin !== origin) throw new Error('A redirect to another origin is not followed.');
    return dispatch(options, handler);
  };

type RetryCallback = RetryHandler.RetryCallback;

/** Decides, after a failure or any status from 300 on, whether undici sends the request again. */
function retryPolicy(request: HttpRequest, limits: HttpLimits, progress: Progress): RetryCallback {
  return (error, { state }, decide) => {
    const isAllowed = state.counter <= limits.retries && !request.signal.aborted;
    if (!isAllowed || !isTransient(error, progress, request.callerAsksForFewer)) return decide(error);
    const delayMs = limits.retryDelayMs * 2 ** (state.counter - 1) * (0.5 + Math.random() / 2);
    // undici ends this timer when the signal aborts.
    return setTimeout(decide, delayMs);
  };
}

/** Of undici's `RequestRetryError`: a response with a status from 300 on. */
type RetryError = Error & { statusCode?: number; headers?: Record<string, unknown> };

/**
 * Whether to repeat a read that failed. With two retries (`limits.retries`) it is sent so often:
 *
 *   refused, reset, timeout before a response 3
 *   5xx with Retry-After                      1: the CMS says when to come back
 *   5xx to a list in `inSmallerPages`         1, and then 3 for its first ten records
 *   any other 5xx                             3
 *   a reset, or a timeout, within the body    1: undici would ask for the rest (`Range`), of a record as it is by then
 *   429, not JSON, too large                  1
 *
 * The circuit breaker opens when five calls in a row have failed, with all their retries (bulkhead.ts).
 */
function isTransient({ statusCode, headers = {} }: RetryError, { status }: Progress, callerAsksForFewer = false) {
  if (statusCode === undefined) return status === undefined;
  return statusCode >= 500 && headers['retry-after'] === undefined && !callerAsksForFewer;
}

/** The code of the error for a body beyond its limit. */
const TOO_LARGE = 'TOO_LARGE';

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

/** The message names an address of the web, without its query: that may hold what a caller sent. */
function redirectError({ origin, method }: HttpRequest, url: URL | null): CmsRedirected {
  const target = url && /^https?:$/.test(url.protocol) ? url : undefined;
  const isLoop = target?.origin === origin && !isWrite(method);
  const destination = target ? ` to ${target.origin}${target.pathname}` : '';
  return new CmsRedirected(`The CMS redirects${destination}${isLoop ? ', in a circle' : ''}.`, target, isLoop);
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
