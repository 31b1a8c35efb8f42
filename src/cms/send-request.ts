// One request to the CMS through undici's interceptors: a read is repeated and follows redirects within the site. Reads
// the response up to a byte limit.

import { setTimeout as sleep } from 'node:timers/promises';
import { DecoratorHandler, type Dispatcher, interceptors, type RetryHandler } from 'undici';
import type { Config } from '../config-schema.ts';
import { CmsRedirected, CmsUnavailable, type UnavailableReason } from '../errors.ts';

interface HttpRequest extends Dispatcher.RequestOptions {
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

/** What has become of a request. A redirect and a retry begin another exchange. */
interface Progress {
  /** 1, and one more for each retry. */
  attempt: number;
  /** An exchange took a connection: before that, nothing of the request was sent. */
  isSent: boolean;
  /** Of the last exchange, with its query. */
  path: string;
  /** Of the last exchange, once its response begins. */
  status: number | undefined;
  /** If that is a redirect. Null without a valid address. */
  redirectTarget: URL | null | undefined;
}

const MAX_REDIRECTS = 3;

export const isWrite = (method: string): boolean => method !== 'GET' && method !== 'OPTIONS';

const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

/**
 * Sends a request and reads the whole response, whatever its status. If the signal aborts, throws by `abortError`.
 * @param onResponse called when a response begins, also a redirect, and a 5xx before a retry
 * @throws CmsUnavailable `refused` | `timeout` | `reset` | `not-json` | `too-large`; `outcomeUnknown` if a write may
 *   have been sent. CmsRedirected for a redirect of a write, to another origin, and in a circle
 */
export async function sendRequest(
  dispatcher: Dispatcher,
  request: HttpRequest,
  limits: HttpLimits,
  onResponse: OnResponse,
): Promise<HttpResponse> {
  const { callerAsksForFewer, ...options } = request;
  const { path, method, signal } = options;
  const progress: Progress = { attempt: 1, isSent: false, path, status: undefined, redirectTarget: undefined };
  const interceptorsOfReads = [
    stayWithin(request),
    interceptors.redirect({ maxRedirections: MAX_REDIRECTS }),
    interceptors.retry({ retry: retryPolicy(request, limits, progress), throwOnError: false }),
  ];
  // From the connection outwards: `noteExchanges` sees each redirect and each retry, which begins with the first path.
  const chain = [
    noteExchanges(progress, onResponse),
    ...(isWrite(method) ? [] : interceptorsOfReads),
    interceptors.decompress({ skipErrorResponses: false, maxSize: limits.maxBytes }),
  ];
  try {
    const timeouts = { headersTimeout: limits.headersTimeoutMs, bodyTimeout: limits.headersTimeoutMs };
    const response = await dispatcher.compose(chain).request({ ...options, ...timeouts });
    const { statusCode: status } = response;
    const bytes = Buffer.from(await response.body.bytes());
    if (isRedirect(status)) throw redirectError(request, progress.redirectTarget!);
    const headers = flattenHeaders(response.headers);
    return { status, headers, bytes, ...(progress.path !== path && { redirectedTo: progress.path }) };
  } catch (error) {
    if (error instanceof CmsRedirected) throw error;
    const outcomeUnknown = progress.isSent && isWrite(method);
    if (signal.aborted) throw abortError(signal.reason, outcomeUnknown);
    const code = String((error as NodeJS.ErrnoException).code ?? '');
    if (code === 'UND_ERR_INVALID_ARG' || code === 'ERR_INVALID_URL') {
      // undici follows a redirect neither to an address that it has just been to nor to one that is none.
      if (progress.redirectTarget !== undefined) throw redirectError(request, progress.redirectTarget);
      // A fault of this program, not of the CMS: an invalid header or path.
      throw error;
    }
    const [reason, message] = describeFailure(code, progress.isSent, limits.maxBytes);
    throw new CmsUnavailable(reason, code ? `${message} (${code})` : message, { outcomeUnknown, cause: error });
  }
}

type Interceptor = Dispatcher.DispatcherComposeInterceptor;
type OnResponse = (status: number, untilHeadersMs: number, attempt: number) => void;

function noteExchanges(progress: Progress, onResponse: OnResponse): Interceptor {
  return (dispatch) => (options, handler) => {
    const startMs = performance.now();
    Object.assign(progress, { path: options.path, status: undefined, redirectTarget: undefined });
    const noting: Dispatcher.DispatchHandler = new DecoratorHandler(handler);
    noting.onRequestStart = (...args) => {
      progress.isSent = true;
      handler.onRequestStart?.(...args);
    };
    noting.onResponseStart = (controller, status, headers, ...rest) => {
      // Not for 103 (Early Hints), which comes before the response.
      if (status >= 200) {
        progress.status = status;
        if (isRedirect(status)) progress.redirectTarget = targetOf(headers.location, options);
        onResponse(status, performance.now() - startMs, progress.attempt);
      }
      handler.onResponseStart?.(controller, status, headers, ...rest);
    };
    return dispatch(options, noting);
  };
}

const targetOf = (location: string | string[] | undefined, { origin, path }: Dispatcher.DispatchOptions): URL | null =>
  typeof location === 'string' ? URL.parse(location, `${origin}${path}`) : null;

/** Credentials belong to the origin of the request: the interceptor for redirects would follow one to any other. */
function stayWithin(request: HttpRequest): Interceptor {
  return (dispatch) => (options, handler) => {
    if (options.origin !== request.origin) throw redirectError(request, URL.parse(`${options.origin}${options.path}`));
    return dispatch(options, handler);
  };
}

/** Decides, after a failure or any status from 300 on, whether undici sends the request again. */
function retryPolicy(request: HttpRequest, limits: HttpLimits, progress: Progress): RetryHandler.RetryCallback {
  const { signal, callerAsksForFewer } = request;
  return (error, _, decide) => {
    if (progress.attempt > limits.retries || signal.aborted || !isTransient(error, progress, callerAsksForFewer))
      return decide(error);
    const delayMs = limits.retryDelayMs * 2 ** (progress.attempt - 1) * (0.5 + Math.random() / 2);
    progress.attempt += 1;
    void sleep(delayMs, undefined, { signal }).then(
      () => decide(null),
      () => decide(error),
    );
  };
}

/** With `statusCode` a response with a status from 300 on, otherwise a failure. */
type RetryError = Error & { code?: string; statusCode?: number; headers?: Record<string, unknown> };

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
function isTransient({ code, statusCode, headers = {} }: RetryError, { status }: Progress, callerAsksForFewer = false) {
  if (statusCode === undefined) return status === undefined && code !== 'UND_ERR_INVALID_ARG';
  return statusCode >= 500 && headers['retry-after'] === undefined && !callerAsksForFewer;
}

/** A client abort keeps its reason. A deadline's reason is extended by the unknown outcome of a write. */
function abortError(reason: unknown, outcomeUnknown: boolean): unknown {
  if (!(reason instanceof CmsUnavailable) || !outcomeUnknown) return reason;
  const { message, retryAfterS } = reason;
  return new CmsUnavailable(reason.reason, message, { retryAfterS, outcomeUnknown });
}

/** Of a path in a message. */
const MAX_SHOWN = 200;

/** The message names an address of the web, without its query: that may hold what a caller sent. */
function redirectError({ origin, method }: HttpRequest, url: URL | null): CmsRedirected {
  const target = url && /^https?:$/.test(url.protocol) ? url : undefined;
  const isLoop = target?.origin === origin && !isWrite(method);
  const destination = target ? ` to ${target.origin}${target.pathname.slice(0, MAX_SHOWN)}` : '';
  return new CmsRedirected(`The CMS redirects${destination}${isLoop ? ', in a circle' : ''}.`, target, isLoop);
}

function describeFailure(code: string, sent: boolean, maxBytes: number): [UnavailableReason, string] {
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE')
    return ['too-large', `The CMS answered with more than ${maxBytes} bytes.`];
  if (code.startsWith('Z_')) return ['not-json', 'The CMS answered with gzip that cannot be unpacked.'];
  if (code.endsWith('_TIMEOUT'))
    return ['timeout', sent ? 'The CMS did not answer in time.' : 'No connection to the CMS in time.'];
  return sent ? ['reset', 'The CMS broke off the connection.'] : ['refused', 'No connection to the CMS.'];
}

/** A header that came twice is one text: `a, b`. */
const flattenHeaders = (headers: Dispatcher.ResponseData['headers']): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat().join(', ')]));
