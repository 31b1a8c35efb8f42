// The response cache: which requests it may answer, and public responses as bytes, with headers that suit everybody.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import fresh from 'fresh';
import { LRUCache } from 'lru-cache';
import Negotiator from 'negotiator';
import { chunksOf, contentHash } from '../calendar/rendered-records.ts';
import type { ApiResponse } from '../calendar/request.ts';
import type { Services } from '../calendar/services.ts';
import { MAX_HEADER_CHARACTERS } from '../interface/value-lengths.ts';
import { byteLength, joinBytes } from '../text/bytes.ts';
import {
  apiLink,
  COMMON_HEADERS,
  cacheTagHeaders,
  type Freshness,
  namesCaller,
  publicCacheControl,
} from './headers.ts';

type ContentEncoding = 'gzip' | 'br' | 'zstd';

export interface CachedResponse {
  url: string;
  /** All headers that depend neither on the request nor on the encoding: names and values in turn. */
  headers: readonly string[];
  /** What a conditional request is compared with. */
  etag: string;
  contentType: string;
  /** The body: of a list its rendered records, until the list is requested again (`joinChunks`). */
  chunks: readonly Uint8Array[];
  /** Compressed bodies, each made when a client first accepts it. A promise: it is being made. */
  compressed: Partial<Record<ContentEncoding, Uint8Array | Promise<void> | 'failed'>>;
  routeName: string;
  /** The response is valid for this version of the replica, and until this time. */
  replicaVersion: number;
  validUntilMs: number;
}

/** In the order of preference among encodings that a client accepts equally. */
const ENCODINGS: readonly ContentEncoding[] = ['zstd', 'br', 'gzip'];
/** A window of 256 KiB: one of 4 MB would take memory that the process seldom gives back. */
const BROTLI = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 18 };
const COMPRESS: Record<ContentEncoding, (bytes: Uint8Array) => Promise<Uint8Array>> = {
  gzip: promisify(gzip),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: BROTLI }),
  zstd: (bytes) => promisify(zstdCompress)(bytes, { pledgedSrcSize: bytes.byteLength }),
};

/** `@types/negotiator` lacks the options of version 1. */
type Encodings = (available: string[], options: { preferred: readonly string[] }) => string[];

function parseAcceptEncoding(acceptEncoding: string): ContentEncoding | 'identity' {
  const negotiator = new Negotiator({ headers: { 'accept-encoding': acceptEncoding.toLowerCase() } });
  const encodings: Encodings = negotiator.encodings.bind(negotiator);
  const [preferred] = encodings([...ENCODINGS, 'identity'], { preferred: ENCODINGS });
  return ENCODINGS.find((encoding) => encoding === preferred) ?? 'identity';
}

/**
 * True if the URL alone determines the response: no credentials, no body (this API reads parameters from the
 * JSON body of any method) and no method override. Only responses to such requests may be public.
 */
export function dependsOnUrlAlone({ method, headers }: IncomingMessage): boolean {
  return (
    (method === 'GET' || method === 'HEAD') &&
    !namesCaller(headers) &&
    headers['x-http-method-override'] === undefined &&
    (headers['content-length'] === undefined || headers['content-length'] === '0') &&
    headers['transfer-encoding'] === undefined
  );
}

/** True if the response may come from the cache: a client that sends `no-cache` gets a new one. */
export const isCacheable = (req: IncomingMessage): boolean => dependsOnUrlAlone(req) && !isNoCache(req);

export const isNoCache = ({ headers }: IncomingMessage): boolean =>
  headers['cache-control']?.includes('no-cache') ?? false;

/** True if the client already has this response (RFC 9110, 13.2.2). */
export function isFresh(headers: IncomingHttpHeaders, { etag }: CachedResponse): boolean {
  const { 'if-none-match': etags } = headers;
  if (etags === undefined) return false;
  // Nearly all clients send one ETag: to parse it as a list would take as long as the rest of the lookup.
  if (etags === etag) return true;
  return etags.length <= MAX_HEADER_CHARACTERS.ifNoneMatch && fresh({ 'if-none-match': etags }, { etag });
}

/** Compression costs more than it saves below this size. */
const MIN_COMPRESS_BYTES = 1024;
/** A response with its texts and objects, as measured. Its compressed bodies together are half as long as the body. */
const memoryOf = ({ chunks }: CachedResponse): number => Math.ceil(1.5 * byteLength(chunks)) + 4000;

export interface Body {
  chunks: readonly Uint8Array[];
  encoding: ContentEncoding | 'identity';
}

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
    joinChunks(response);
    return response;
  }

  set(response: CachedResponse): void {
    this.#responses.set(response.url, response);
  }

  /** The body for this `Accept-Encoding`, compressed first if nobody has asked for it yet. */
  async negotiate(response: CachedResponse, acceptEncoding: string | undefined): Promise<Body> {
    const encoding = this.#encodingOf(response, acceptEncoding);
    if (encoding !== 'identity') {
      response.compressed[encoding] ??= compress(response, encoding);
      await response.compressed[encoding];
    }
    return this.find(response, acceptEncoding) ?? { chunks: response.chunks, encoding: 'identity' };
  }

  /** The body for this `Accept-Encoding`; undefined if it is not compressed yet. */
  find(response: CachedResponse, acceptEncoding: string | undefined): Body | undefined {
    const encoding = this.#encodingOf(response, acceptEncoding);
    if (encoding === 'identity') return { chunks: response.chunks, encoding };
    const bytes = response.compressed[encoding];
    return bytes instanceof Uint8Array ? { chunks: [bytes], encoding } : undefined;
  }

  #encodingOf({ chunks }: CachedResponse, acceptEncoding: string | undefined): Body['encoding'] {
    if (acceptEncoding === undefined || byteLength(chunks) < MIN_COMPRESS_BYTES) return 'identity';
    if (acceptEncoding.length > MAX_HEADER_CHARACTERS.acceptEncoding) return 'identity';
    return this.#preferences.memo(acceptEncoding);
  }
}

/**
 * Joins the chunks of a response that is requested again: sending a hundred chunks takes twice as long. Most lists are
 * requested once, and then joining them is most of their cost.
 */
function joinChunks(response: CachedResponse): void {
  if (response.chunks.length > 1) response.chunks = [joinBytes(response.chunks)];
}

/** Compresses outside the event loop. If that fails, the response stays uncompressed for the encoding. */
async function compress(response: CachedResponse, encoding: ContentEncoding): Promise<void> {
  joinChunks(response);
  try {
    // A copy of exact length: zlib returns a view of a chunk of 64 KiB, also for a hundred bytes.
    response.compressed[encoding] = new Uint8Array(await COMPRESS[encoding](response.chunks[0]!));
  } catch {
    response.compressed[encoding] = 'failed';
  }
}

const { 'Content-Type': JSON_TYPE, ...otherHeaders } = COMMON_HEADERS;
const HEADERS = Object.entries(otherHeaders).flat();

/** `toCached` returns undefined for an error, and for a response that must not be reused (no `validUntilMs`). */
export function createToCached(services: Services, freshness: Freshness) {
  const cacheControl = publicCacheControl(freshness);

  return function toCached(response: ApiResponse, url: string, routeName: string): CachedResponse | undefined {
    if (response.status !== 200 || response.validUntilMs === undefined) return undefined;
    const chunks = chunksOf(response.body);
    const { 'Content-Type': contentType = JSON_TYPE!, ...headers } = response.headers ?? {};
    const etag = `W/${response.etag ?? `"${contentHash(joinBytes(chunks))}"`}`;
    return {
      url,
      headers: [
        ...HEADERS,
        ...Object.entries({ ...headers, ...apiLink(services) }).flat(),
        ...['Allow', 'GET', 'Cache-Control', cacheControl, 'ETag', etag],
        ...cacheTagHeaders(response.cacheTags ?? []),
      ],
      etag,
      contentType,
      chunks,
      compressed: {},
      routeName,
      replicaVersion: response.replicaVersion ?? services.replica.version,
      validUntilMs: response.validUntilMs,
    };
  };
}
