// Finished public answers as bytes with a stored ETag: an answer asked again costs a look-up and the sending.

import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { LRUCache } from 'lru-cache';

export interface StoredAnswer {
  /** The body, in the pieces that it was made of until it is asked for again: most lists are asked for once. */
  pieces: readonly Uint8Array[];
  /** Of all pieces. */
  length: number;
  etag: string;
  /** When what it shows was last changed, whole seconds in milliseconds since 1970, where that is known. */
  modifiedMs?: number;
  /** Names and values by turns, as `writeHead` takes them; without those that depend on the request. */
  headers: readonly string[];
  contentType: string;
  /** The route's name for log and metrics. */
  route: string;
  /** Version of the copy that it was made of, and until when it holds. */
  version: number;
  validUntilMs: number;
  /** Compressed forms, made when they are first wanted. */
  encoded: Map<Encoding, Buffer>;
  pending: Set<Encoding>;
}

export type Encoding = 'gzip' | 'br' | 'zstd';

const BROTLI_QUALITY = 5;
const COMPRESS: Record<Encoding, (bytes: Uint8Array) => Promise<Buffer>> = {
  gzip: promisify(gzip),
  br: (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  zstd: promisify(zstdCompress),
};
/** Below this, compressing costs more than it saves. */
const WORTH_BYTES = 1024;

export interface AnswerCache {
  get(key: string, version: number, nowMs: number): StoredAnswer | undefined;
  set(key: string, answer: StoredAnswer): void;
  /** The compressed form that `accepted` (an `Accept-Encoding`) and the store allow now; others are made in the background for the next request. */
  encoding(
    answer: StoredAnswer,
    accepted: string | undefined,
  ): { bytes: Uint8Array | undefined; encoding: Encoding | undefined };
}

export function createAnswerCache(maxBytes: number): AnswerCache {
  const kept = new LRUCache<string, StoredAnswer>({
    maxSize: maxBytes,
    // Pieces are shared with other answers, and yet counted: once those are gone they are held by this one alone.
    sizeCalculation: (answer) => answer.length * 2 + 600,
  });

  function prepare(answer: StoredAnswer, encoding: Encoding): void {
    if (answer.pending.has(encoding)) return;
    answer.pending.add(encoding);
    // Without the compressed form the plain one is sent: nothing depends on this.
    COMPRESS[encoding](whole(answer)).then(
      (bytes) => answer.encoded.set(encoding, bytes),
      () => undefined,
    );
  }

  return {
    get(key, version, nowMs) {
      const answer = kept.get(key);
      return answer && answer.version === version && nowMs < answer.validUntilMs ? answer : undefined;
    },
    set: (key, answer) => void kept.set(key, answer),
    encoding(answer, accepted) {
      const wanted = accepted === undefined || answer.length < WORTH_BYTES ? undefined : preferred(accepted);
      if (!wanted) return PLAIN;
      const bytes = answer.encoded.get(wanted);
      if (bytes) return { bytes, encoding: wanted };
      prepare(answer, wanted);
      return PLAIN;
    },
  };
}

const PLAIN = { bytes: undefined, encoding: undefined };

/** The body in one piece, which it is from then on. */
export function whole(answer: StoredAnswer): Uint8Array {
  if (answer.pieces.length !== 1) answer.pieces = [Buffer.concat(answer.pieces, answer.length)];
  return answer.pieces[0]!;
}

/** The best form that the header allows; a weight of zero forbids one (RFC 9110, 12.5.3). */
export function preferred(accepted: string): Encoding | undefined {
  const allowed = new Set(
    accepted.split(',').flatMap((part) => {
      const [name, ...parameters] = part.trim().toLowerCase().split(';');
      return parameters.some((parameter) => /^\s*q=0(\.0*)?\s*$/.test(parameter)) ? [] : [name];
    }),
  );
  return (['zstd', 'br', 'gzip'] as const).find((encoding) => allowed.has(encoding));
}

/** Whether the caller has this answer already (RFC 9110, 13.2.2): a tag that is sent decides alone, without one the date does. */
export function isKnown(headers: IncomingHttpHeaders, { etag, modifiedMs }: StoredAnswer): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined) return matches(tags, etag);
  return since !== undefined && modifiedMs !== undefined && modifiedMs <= Date.parse(since);
}

/** Whether `If-None-Match` names this answer: weak comparison (RFC 9110, 13.1.2). */
function matches(header: string, etag: string): boolean {
  if (header === etag) return true;
  const bare = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => bare(tag) === bare(etag));
}
