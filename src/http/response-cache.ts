// The response cache, and the middleware that answers public reads from it or computes them once for all
// concurrent requests (single-flight). A read with `Cache-Control: no-cache` polls the CMS first.

import type { IncomingMessage } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Services } from '../calendar/services.ts';
import { MAX_HEADER_CHARACTERS } from '../interface/limits.ts';
import {
  type CachedResponse,
  type ContentEncoding,
  compress,
  createCacheableResponses,
  joined,
  parseAcceptEncoding,
} from './cached-response.ts';
import type { Freshness } from './headers.ts';
import type { PollForRequest } from './request-polls.ts';
import type { Context, Middleware, State } from './state.ts';

/** What a response and each of its bodies take beside their bytes and texts, as measured. */
const OBJECT_BYTES = { response: 2000, body: 400 };
/** Compression costs more than it saves below this size. */
const MIN_COMPRESS_BYTES = 1024;

/** The memory that a response takes with its key. */
function memoryOf({ url, byteLength, compressed, headers }: CachedResponse): number {
  let memory = OBJECT_BYTES.response + url.length + byteLength;
  for (const text of headers) memory += text.length;
  for (const body of Object.values(compressed))
    if (body instanceof Uint8Array) memory += body.byteLength + OBJECT_BYTES.body;
  return memory;
}

/** A body as it is sent. */
export interface Body {
  chunks: readonly Uint8Array[];
  byteLength: number;
  encoding: ContentEncoding | 'identity';
}

const plainBody = ({ chunks, byteLength }: CachedResponse): Body => ({ chunks, byteLength, encoding: 'identity' });

/** Keeps up to `maxBytes` of memory; the least recently used response leaves first. */
export class ResponseCache {
  readonly #responses: LRUCache<string, CachedResponse>;
  /** Clients send one of a few values. */
  readonly #preferences = new LRUCache<string, Body['encoding']>({ max: 200, memoMethod: parseAcceptEncoding });

  constructor(maxBytes: number) {
    this.#responses = new LRUCache({ maxSize: maxBytes, sizeCalculation: memoryOf });
  }

  get(url: string, replicaVersion: number, nowMs: number): CachedResponse | undefined {
    const response = this.#responses.get(url);
    if (!response || response.replicaVersion !== replicaVersion || nowMs >= response.validUntilMs) return undefined;
    joined(response);
    return response;
  }

  set(response: CachedResponse): void {
    this.#responses.set(response.url, response);
  }

  /** The body for this `Accept-Encoding`, compressed first if nobody has asked for it yet. */
  async negotiate(response: CachedResponse, acceptEncoding: string | undefined): Promise<Body> {
    const encoding = this.#encodingOf(response, acceptEncoding);
    if (encoding !== 'identity') {
      response.compressed[encoding] ??= this.#compress(response, encoding);
      await response.compressed[encoding];
    }
    return this.find(response, acceptEncoding) ?? plainBody(response);
  }

  /** The same; undefined if it is not compressed yet. */
  find(response: CachedResponse, acceptEncoding: string | undefined): Body | undefined {
    const encoding = this.#encodingOf(response, acceptEncoding);
    if (encoding === 'identity') return plainBody(response);
    const body = response.compressed[encoding];
    return body instanceof Uint8Array ? { chunks: [body], byteLength: body.byteLength, encoding } : undefined;
  }

  #encodingOf({ byteLength }: CachedResponse, acceptEncoding: string | undefined): Body['encoding'] {
    if (acceptEncoding === undefined || byteLength < MIN_COMPRESS_BYTES) return 'identity';
    if (acceptEncoding.length > MAX_HEADER_CHARACTERS.acceptEncoding) return 'identity';
    return this.#preferences.memo(acceptEncoding);
  }

  async #compress(response: CachedResponse, encoding: ContentEncoding): Promise<void> {
    await compress(response, encoding);
    if (this.#responses.peek(response.url) !== response) return;
    // The cache measures a value only when it is new.
    this.#responses.delete(response.url);
    this.set(response);
  }
}

/**
 * True if the URL alone determines the response: no credentials, no body (this API reads parameters from the
 * body of any method) and no method override. Only responses to such requests may be public.
 */
function dependsOnUrlAlone({ method, headers }: IncomingMessage): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    headers.authorization === undefined &&
    headers['x-wp-nonce'] === undefined &&
    headers['x-http-method-override'] === undefined &&
    (headers['content-length'] === undefined || headers['content-length'] === '0') &&
    headers['transfer-encoding'] === undefined
  );
}

/**
 * True if the response may come from the cache: the URL determines it, and the client does not ask for
 * revalidation.
 */
export const isCacheable = (req: IncomingMessage): boolean => dependsOnUrlAlone(req) && !isNoCache(req);

const isNoCache = ({ headers }: IncomingMessage): boolean => headers['cache-control']?.includes('no-cache') ?? false;

/** A computation in progress. */
interface Flight {
  /** The replica's version when it started: a request after a change must not get the response of before. */
  replicaVersion: number;
  /** The state of the request that computes; its response is there when `done` resolves. */
  state: State;
  done: Promise<void>;
}

/** After this time the gateway responds from the replica as it is. */
const MAX_POLL_MS = 5000;

/** `Cache-Control: no-cache` of the client causes a poll before the read. */
export function responseCache(
  services: Services,
  cache: ResponseCache,
  freshness: Freshness,
  poll: PollForRequest,
): Middleware {
  const { replica } = services;
  const toCached = createCacheableResponses(services, freshness);
  const flights = new Map<string, Flight>();

  /** Runs the rest of the middleware; its response becomes a public one if it is the same for every client. */
  async function compute({ req, state, originalUrl }: Context, next: () => Promise<void>): Promise<void> {
    await next();
    const { apiResponse } = state;
    // Requests with credentials never pass `dependsOnUrlAlone`, so only anonymous responses become public.
    if (!apiResponse || !dependsOnUrlAlone(req)) return;
    state.cached = toCached(apiResponse, originalUrl, state.route);
    if (!state.cached) return;
    state.cache = 'miss';
    if (isCacheable(req)) cache.set(state.cached);
  }

  async function join(flight: Flight, state: State): Promise<void> {
    try {
      await flight.done;
    } finally {
      state.route = flight.state.route;
    }
    state.cached = flight.state.cached;
    state.apiResponse = flight.state.apiResponse;
    if (state.cached) state.cache = 'shared';
  }

  return async function responseCacheMiddleware(ctx, next) {
    const { state, originalUrl: url } = ctx;
    // `HEAD ?_method=DELETE` is a HEAD, but what it reads must not answer a GET of this URL, which is a DELETE.
    const isOverridden = state.query._method !== undefined || state.omitBody;
    if ((ctx.method !== 'GET' && ctx.method !== 'HEAD') || isOverridden) return next();
    if (isNoCache(ctx.req)) await poll({ maxMs: MAX_POLL_MS, mayJoin: true });
    if (!isCacheable(ctx.req)) return compute(ctx, next);

    state.cached = cache.get(url, replica.version, services.nowMs());
    if (state.cached) {
      state.cache = 'hit';
      state.route = state.cached.route;
      return;
    }
    const running = flights.get(url);
    if (running?.replicaVersion === replica.version) return join(running, state);
    const flight = { replicaVersion: replica.version, state, done: compute(ctx, next) };
    flights.set(url, flight);
    try {
      await flight.done;
    } finally {
      if (flights.get(url) === flight) flights.delete(url);
    }
  };
}
