// One HTTP exchange with the CMS: sent once, buffered under a byte cap, ended by its signal.

import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { Dispatcher } from 'undici';
import { type AwayReason, UpstreamAway } from '../errors.ts';

export interface Outgoing {
  origin: string;
  method: string;
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

export interface Incoming {
  status: number;
  headers: Record<string, string>;
  bytes: Buffer;
}

export interface ExchangeLimits {
  headersTimeoutMs: number;
  bodyTimeoutMs: number;
  maxBytes: number;
}

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);
const decompress = promisify(gunzip);

/** Whether a request with this method changes something in the CMS. */
export function isWrite(method: string): boolean {
  return !SAFE.has(method);
}

/**
 * Sends one request and takes in the whole answer, whatever its status.
 * `signal` must be the deadline: its reason is thrown when it fires, unless that reason is to be told with an unknown outcome.
 * @throws UpstreamAway `refused` | `timeout` | `reset` | `too-large`; `outcomeUnknown` for a write of which a byte may have left
 */
export async function exchange(
  dispatcher: Dispatcher,
  request: Outgoing,
  limits: ExchangeLimits,
  signal: AbortSignal,
): Promise<Incoming> {
  let sent = false;
  let size = 0;
  let tooLarge = false;
  const answer: Incoming = { status: 0, headers: {}, bytes: Buffer.alloc(0) };
  const chunks: Buffer[] = [];
  const outcomeUnknown = () => sent && isWrite(request.method);
  const overCap = () =>
    new UpstreamAway('too-large', `The CMS answered with more than ${limits.maxBytes} bytes.`, {
      outcomeUnknown: outcomeUnknown(),
      status: answer.status,
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
              // Not every stage of a connection reports an abort back, so the caller is let go here.
              reject(reason);
              controller.abort(reason);
            };
          },
          onResponseStart(_controller, status, headers) {
            if (status < 200) return;
            answer.status = status;
            answer.headers = flatHeaders(headers);
          },
          onResponseData(controller, chunk) {
            size += chunk.length;
            if (size <= limits.maxBytes) chunks.push(Buffer.from(chunk));
            else {
              tooLarge = true;
              chunks.length = 0;
              controller.abort(new Error('the answer is over its byte cap'));
            }
          },
          onResponseEnd: () => settle(resolve),
          onResponseError: (_controller, error) => settle(() => reject(error)),
        },
      );
    });
    answer.bytes = Buffer.concat(chunks);
    if (answer.headers['content-encoding'] === 'gzip' && size > 0) {
      answer.bytes = await decompress(answer.bytes, { maxOutputLength: limits.maxBytes });
    }
    return answer;
  } catch (error) {
    if (tooLarge || codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw overCap();
    // Not the CMS's doing: a header or path that this program should not have made.
    if (codeOf(error) === 'UND_ERR_INVALID_ARG') throw error;
    if (signal.aborted) throw afterAbort(signal.reason, outcomeUnknown());
    throw away(error, sent, outcomeUnknown());
  }
}

/** The caller's own abort stays as it is; a deadline says whether a write may have been carried out. */
function afterAbort(reason: unknown, outcomeUnknown: boolean): unknown {
  if (!(reason instanceof UpstreamAway) || !outcomeUnknown) return reason;
  const { message, retryAfterS } = reason;
  return new UpstreamAway(reason.reason, message, { retryAfterS, outcomeUnknown });
}

function away(error: unknown, sent: boolean, outcomeUnknown: boolean): UpstreamAway {
  const code = codeOf(error);
  const [reason, message]: [AwayReason, string] = code.endsWith('_TIMEOUT')
    ? ['timeout', sent ? 'The CMS did not answer in time.' : 'No connection to the CMS in time.']
    : sent
      ? ['reset', 'The CMS broke off the connection.']
      : ['refused', 'No connection to the CMS.'];
  return new UpstreamAway(reason, code ? `${message} (${code})` : message, { outcomeUnknown, cause: error });
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

function flatHeaders(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}
