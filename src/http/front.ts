// The short way: a public answer that is stored goes out from here, with its headers ready, before the middleware is entered.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Backing } from '../calendar/backing.ts';
import type { CacheOutcome, Observe } from '../observe/events.ts';
import { type AnswerCache, matches, type StoredAnswer } from './answer-cache.ts';
import { corsHeaders, staleness } from './headers.ts';
import { basicUser } from './identity.ts';
import type { AddressLimit } from './limits.ts';
import { nextRequestId } from './request-id.ts';

export interface FrontOptions {
  backing: Backing;
  cache: AnswerCache;
  addresses: AddressLimit;
  /** Behind a proxy the caller's address is in a header, which the middleware reads: nothing is answered here then. */
  trustProxies: boolean;
  observe: Observe;
  /** Everything that is not stored. */
  otherwise: RequestListener;
}

/** Whether a request is one that everybody would get the same answer to for its address alone, and that asks for no fresh look. */
export function isPlain({ method, headers }: IncomingMessage): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    (headers.authorization === undefined || basicUser(headers.authorization) === undefined) &&
    headers['x-wp-nonce'] === undefined &&
    headers['x-http-method-override'] === undefined &&
    // A body's parameters count on any method (interface-behaviour 0): the address is then not all there is.
    (headers['content-length'] === undefined || headers['content-length'] === '0') &&
    headers['transfer-encoding'] === undefined &&
    !headers['cache-control']?.includes('no-cache')
  );
}

/** A request listener that sends what is stored under the request's very address, and hands on all else. */
export function front({ backing, cache, addresses, trustProxies, observe, otherwise }: FrontOptions): RequestListener {
  return (request, response) => {
    if (trustProxies || !isPlain(request)) return otherwise(request, response);
    const stored = cache.get(request.url!, backing.replica.version, backing.nowMs());
    if (!stored) return otherwise(request, response);
    const startedMs = performance.now();
    addresses.admit({ ip: request.socket.remoteAddress ?? '' }).then(
      () => {
        const id = nextRequestId(request.headers['x-request-id']);
        const outcome = sendStored(request, response, stored, { cache, backing, id, outcome: 'hit' });
        const durationMs = performance.now() - startedMs;
        const { statusCode: status } = response;
        observe({
          type: 'request',
          id,
          method: request.method!,
          route: stored.route,
          status,
          cache: outcome,
          durationMs,
        });
      },
      // Whoever asks too much is told so where all refusals are worded.
      () => otherwise(request, response),
    );
  };
}

export interface Sending {
  cache: AnswerCache;
  backing: Backing;
  id: string;
  outcome: CacheOutcome;
}

/** Sends a public answer, or 304 when the caller has it; says so when the copy has lost touch with the CMS. */
export function sendStored(
  request: IncomingMessage,
  response: ServerResponse,
  answer: StoredAnswer,
  sending: Sending,
): CacheOutcome {
  const { cache, backing, id } = sending;
  const { headers } = request;
  let { outcome } = sending;
  const sent = [...answer.headers, 'X-Request-Id', id];
  if (headers.origin !== undefined) sent.push(...Object.entries(corsHeaders(headers.origin)).flat());
  const { state, lastInStepMs, sinceMs } = backing.sync.status();
  if (state === 'away' || state === 'lagging') {
    const ageS = Math.max(0, Math.round((backing.nowMs() - (lastInStepMs ?? sinceMs)) / 1000));
    sent.push(...Object.entries(staleness(ageS)).flat());
    outcome = 'stale';
  }
  if (matches(headers['if-none-match'], answer.etag)) {
    response.writeHead(304, sent).end();
    return outcome === 'hit' ? 'not-modified' : outcome;
  }
  const { bytes, encoding } = cache.encoding(answer, headers['accept-encoding'] as string | undefined);
  if (encoding) sent.push('Content-Encoding', encoding);
  sent.push('Content-Type', answer.contentType, 'Content-Length', String(bytes.length));
  response.writeHead(200, sent);
  response.end(request.method === 'HEAD' ? undefined : bytes);
  return outcome;
}
