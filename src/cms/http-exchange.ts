// One HTTP exchange with the CMS: sends a request once and buffers the response up to a byte limit.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { CmsUnavailable, type UnavailableReason } from '../errors.ts';

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
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
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
          bodyTimeout: limits.bodyTimeoutMs,
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
    if (tooLarge || errorCodeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLargeError();
    // A fault of this program, not of the CMS: an invalid header or path.
    if (errorCodeOf(error) === 'UND_ERR_INVALID_ARG') throw error;
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
  const code = errorCodeOf(error);
  const [reason, message] = describeFailure(code.endsWith('_TIMEOUT'), sent);
  return new CmsUnavailable(reason, code ? `${message} (${code})` : message, { outcomeUnknown, cause: error });
}

function describeFailure(isTimeout: boolean, sent: boolean): [UnavailableReason, string] {
  if (isTimeout) return ['timeout', sent ? 'The CMS did not answer in time.' : 'No connection to the CMS in time.'];
  return sent ? ['reset', 'The CMS broke off the connection.'] : ['refused', 'No connection to the CMS.'];
}

function errorCodeOf(error: unknown): string {
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
