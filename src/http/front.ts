// The short way: a public answer that is stored goes out from here, with its headers ready, before the middleware is entered.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
// The global of that name is looked up each time.
import { performance } from 'node:perf_hooks';
import type { Backing } from '../calendar/backing.ts';
import type { CacheOutcome, Observe } from '../observe/events.ts';
import { type AnswerCache, type Encoded, isKnown, type StoredAnswer, whole } from './answer-cache.ts';
import type { CallerAddress } from './caller-address.ts';
import { beginReady, headerLines } from './head.ts';
import { corsHeaders, staleness } from './headers.ts';
import type { AddressLimit } from './limits.ts';
import { sendPieces } from './pieces.ts';
import type { Reading } from './reading.ts';
import { nextRequestId } from './request-id.ts';
import { foundOut } from './routing.ts';
import { MIN_VERSION, versionHeaders } from './versions.ts';

export interface FrontOptions {
  backing: Backing;
  cache: AnswerCache;
  addresses: AddressLimit;
  /** The caller's address, which a proxy may say in a header. */
  addressOf: CallerAddress;
  /** Makes what is not stored. */
  reading: (request: IncomingMessage, id: string) => Reading | undefined;
  observe: Observe;
  /** Everything else. */
  otherwise: RequestListener;
}

/**
 * Whether its address alone determines a request, so that every caller of that address gets the same answer. Only the answers of these are
 * public: a cache looks at the address, and neither at a body nor at headers that override the method.
 */
export function isByAddressAlone({ method, headers }: IncomingMessage): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    headers.authorization === undefined &&
    headers['x-wp-nonce'] === undefined &&
    headers['x-http-method-override'] === undefined &&
    // A body's parameters count on any method (interface-behaviour 0): the address is then not all there is.
    (headers['content-length'] === undefined || headers['content-length'] === '0') &&
    headers['transfer-encoding'] === undefined
  );
}

/** The same of a request that may be answered from the response cache: it asks for no fresh look. */
export const isPlain = (request: IncomingMessage): boolean =>
  isByAddressAlone(request) && !request.headers['cache-control']?.includes('no-cache');

/**
 * What no client of the interface sends. PHP takes `X_Name` for `X-Name`, so that a header with an underscore could stand in for one that
 * a proxy sets; an absolute address in the request line is for proxies.
 */
export function isOdd({ url, rawHeaders }: IncomingMessage): boolean {
  if (!url?.startsWith('/')) return true;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.includes('_')) return true;
  return false;
}

/** Requests that were counted here, which the middleware must not do once more. */
export const admitted = new WeakSet<IncomingMessage>();

/** A request listener that sends what is stored under the request's very address, makes what is not yet, and hands on all else. */
export function front(options: FrontOptions): RequestListener {
  const { backing, cache, addresses, addressOf, reading, observe, otherwise } = options;

  return (request, response) => {
    if (!isPlain(request) || isOdd(request) || (backing.others && request.headers[MIN_VERSION] !== undefined)) {
      return otherwise(request, response);
    }
    const startedMs = performance.now();
    try {
      addresses.admit({ ip: addressOf(request) }, startedMs);
    } catch {
      // Whoever asks too much is told so where all refusals are worded.
      return otherwise(request, response);
    }
    const id = nextRequestId(request.headers['x-request-id']);
    const stored = cache.get(request.url!, backing.replica.version, backing.nowMs());
    if (stored) return send(request, response, { answer: stored, outcome: 'hit', id, startedMs });
    const making = reading(request, id);
    if (!making) {
      admitted.add(request);
      return otherwise(request, response);
    }
    const { outcome, shared } = making;
    void outcome.then((made) => {
      if ('entry' in made) {
        return later(request, response, { answer: made.entry, outcome: shared ? 'shared' : 'miss', id, startedMs });
      }
      foundOut.set(request, made);
      admitted.add(request);
      otherwise(request, response);
    });
  };

  /**
   * Answers leave one after the other when everything that has arrived is looked at: reading, working and sending by turns push each
   * other out of the processor's caches, which costs up to a third more.
   */
  function later(request: IncomingMessage, response: ServerResponse, found: Found): void {
    const version = backing.others ? versionHeaders(backing.others) : NONE;
    setImmediate(send, request, response, found, version);
  }

  function send(request: IncomingMessage, response: ServerResponse, found: Found, version?: readonly string[]): void {
    const { answer, outcome, id, startedMs } = found;
    const cached = sendStored(request, response, answer, { cache, backing, id, outcome, version });
    const durationMs = performance.now() - startedMs;
    const { method } = request;
    observe({
      type: 'request',
      id,
      method: method!,
      route: answer.route,
      status: response.statusCode,
      cache: cached,
      durationMs,
    });
  }
}

interface Found {
  answer: StoredAnswer;
  outcome: CacheOutcome;
  id: string;
  startedMs: number;
}

const NONE: readonly string[] = [];

export interface Sending {
  cache: AnswerCache;
  backing: Backing;
  id: string;
  outcome: CacheOutcome;
  /** Headers of several gateways that say what the answer shows, as of when it was found; those of now where absent. */
  version?: readonly string[] | undefined;
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
  const more: string[] = [];
  if (headers.origin !== undefined) more.push(...Object.entries(corsHeaders(headers.origin)).flat());
  const { version = backing.others ? versionHeaders(backing.others) : NONE } = sending;
  if (version.length > 0) more.push(...version);
  const { state, lastInStepMs, sinceMs } = backing.sync.standing();
  if (state === 'away' || state === 'lagging') {
    const ageS = Math.max(0, Math.round((backing.nowMs() - (lastInStepMs ?? sinceMs)) / 1000));
    more.push(...Object.entries(staleness(ageS)).flat());
    outcome = 'stale';
  }
  if (isKnown(headers, answer)) {
    beginReady(response, 304, answer.lines + ownLines(id, more));
    response.end();
    return outcome === 'hit' ? 'not-modified' : outcome;
  }
  const accepted = headers['accept-encoding'] as string | undefined;
  const found = cache.encoding(answer, accepted);
  const isFirst = outcome === 'miss';
  const isHead = request.method === 'HEAD';
  if (!found.made) sendBody(response, answer, { ...found, isHead, isFirst, more, id });
  else {
    void found.made.then(() => {
      if (response.destroyed) return;
      sendBody(response, answer, { ...cache.encoding(answer, accepted), isHead, isFirst: false, more, id });
    });
  }
  return outcome;
}

interface Body extends Encoded {
  isHead: boolean;
  isFirst: boolean;
  more: string[];
  id: string;
}

function sendBody(response: ServerResponse, answer: StoredAnswer, body: Body): void {
  const { bytes, encoding, isHead, isFirst, more, id } = body;
  if (bytes && encoding) {
    const { contentType } = answer;
    more.push('Content-Encoding', encoding, 'Content-Type', contentType, 'Content-Length', String(bytes.length));
    beginReady(response, 200, answer.lines + ownLines(id, more));
  } else beginReady(response, 200, answer.lines + answer.plainLines + ownLines(id, more));
  if (isHead) response.end();
  else if (bytes) response.end(bytes);
  else if (isFirst && answer.pieces.length > 1) sendPieces(response, answer);
  else response.end(whole(answer));
}

/** Headers of this one answer. An id needs no check: `nextRequestId` gives none that no header may have. */
const ownLines = (id: string, more: readonly string[]): string => `X-Request-Id: ${id}\r\n${headerLines(more)}`;
