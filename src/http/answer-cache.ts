// Finished public answers as bytes with a stored ETag: an answer asked again costs a look-up and the sending.

import type { IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { HEADER_CHARACTERS } from '../interface/limits.ts';

export interface StoredAnswer {
  /** The body, in the pieces that it was made of until it is asked for again: most lists are asked for once. */
  pieces: readonly Uint8Array[];
  /** Of all pieces. */
  length: number;
  etag: string;
  /** When what it shows was last changed, whole seconds in milliseconds since 1970, where that is known. */
  modifiedMs?: number;
  /** Headers that do not depend on the request, as `headerLines` gives them; those of a body apart. */
  lines: string;
  /** Type and length of the whole body as it is. */
  plainLines: string;
  contentType: string;
  /** The route's name for log and metrics. */
  route: string;
  /** Version of the copy that it was made of, and until when it holds. */
  version: number;
  validUntilMs: number;
  /** Compressed forms, made when they are first wanted. */
  encoded: Map<Encoding, Buffer>;
  pending: Map<Encoding, Promise<void>>;
}

export type Encoding = 'gzip' | 'br' | 'zstd';

const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } };
const COMPRESS: Record<Encoding, (bytes: Uint8Array) => Promise<Buffer>> = {
  gzip: promisify(gzip),
  br: (bytes) => promisify(brotliCompress)(bytes, BROTLI),
  zstd: promisify(zstdCompress),
};
/** Below this, compressing costs more than it saves. */
const WORTH_BYTES = 1024;

export interface Encoded {
  bytes: Uint8Array | undefined;
  encoding: Encoding | undefined;
  made?: Promise<void>;
}

export interface AnswerCache {
  get(key: string, version: number, nowMs: number): StoredAnswer | undefined;
  set(key: string, answer: StoredAnswer): void;
  /**
   * The compressed form that `accepted` (an `Accept-Encoding`) and the store allow now; others are made in the background for the next
   * request. `made`: a caller who does not take the plain form waits for it, and asks again then.
   */
  encoding(answer: StoredAnswer, accepted: string | undefined): Encoded;
}

/** Keeps answers up to `maxBytes`, the least used going first; each counts its body whole and once more for its compressed forms. */
export function createAnswerCache(maxBytes: number): AnswerCache {
  const kept = new LRUCache<string, StoredAnswer>({
    maxSize: maxBytes,
    // Pieces are shared with other answers, and yet counted: once those are gone they are held by this one alone.
    sizeCalculation: (answer, key) => answer.length * 2 + answer.lines.length + key.length + 600,
  });

  /** Once for each form, outside the event loop. If compression fails, the plain form is sent. */
  function prepare(answer: StoredAnswer, encoding: Encoding): Promise<void> {
    let made = answer.pending.get(encoding);
    if (!made) {
      made = COMPRESS[encoding](whole(answer)).then(
        (bytes) => void answer.encoded.set(encoding, bytes),
        () => undefined,
      );
      answer.pending.set(encoding, made);
    }
    return made;
  }

  return {
    get(key, version, nowMs) {
      const answer = kept.get(key);
      return answer && answer.version === version && nowMs < answer.validUntilMs ? answer : undefined;
    },
    set: (key, answer) => void kept.set(key, answer),
    encoding(answer, accepted) {
      if (accepted === undefined || accepted.length > HEADER_CHARACTERS.acceptEncoding) return PLAIN;
      const { encoding: wanted, plain } = preferred(accepted);
      if (!wanted || (plain && answer.length < WORTH_BYTES)) return PLAIN;
      const bytes = answer.encoded.get(wanted);
      if (bytes) return { bytes, encoding: wanted };
      const made = prepare(answer, wanted);
      return plain ? PLAIN : { ...PLAIN, made };
    },
  };
}

const PLAIN = { bytes: undefined, encoding: undefined };

/** The body in one piece, which it is from then on. */
export function whole(answer: StoredAnswer): Uint8Array {
  if (answer.pieces.length !== 1) answer.pieces = [Buffer.concat(answer.pieces, answer.length)];
  return answer.pieces[0]!;
}

/** What an `Accept-Encoding` asks for. */
interface Preference {
  encoding: Encoding | undefined;
  /** Whether the plain form is allowed. */
  plain: boolean;
}

/** Best first among those that a caller likes alike. */
const ENCODINGS = ['zstd', 'br', 'gzip'] as const;
/** Clients send one of a few texts: each is read once. */
const preferences = new LRUCache<string, Preference>({ max: 200 });

/**
 * The form that the header gives the greatest weight; a weight of zero forbids one, `*` stands for those that are not named, and the
 * plain form is allowed unless it is forbidden (RFC 9110, 12.5.3).
 */
function preferred(accepted: string): Preference {
  const known = preferences.get(accepted);
  if (known) return known;
  const weights = new Map<string, number>();
  for (const part of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    weights.set(name === 'x-gzip' ? 'gzip' : name, weight === undefined ? 1 : Number(weight) || 0);
  }
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const [best] = ENCODINGS.toSorted((a, b) => weightOf(b) - weightOf(a));
  const plainWeight = weights.get('identity');
  const wanted = weightOf(best!) > 0 && weightOf(best!) >= (plainWeight ?? 0);
  const found = {
    encoding: wanted ? best : undefined,
    plain: plainWeight === undefined ? weights.get('*') !== 0 : plainWeight > 0,
  };
  preferences.set(accepted, found);
  return found;
}

/** Whether the caller has this answer already (RFC 9110, 13.2.2): a tag that is sent decides alone, without one the date does. */
export function isKnown(headers: IncomingHttpHeaders, { etag, modifiedMs }: StoredAnswer): boolean {
  const { 'if-none-match': tags, 'if-modified-since': since } = headers;
  if (tags !== undefined) return matches(tags, etag);
  if (since === undefined || modifiedMs === undefined) return false;
  // Only what is a date as HTTP writes it: JavaScript reads many others, some of them by the clock of this machine.
  return since.endsWith(' GMT') && modifiedMs <= Date.parse(since);
}

/** Whether `If-None-Match` names this answer: weak comparison (RFC 9110, 13.1.2). */
function matches(header: string, etag: string): boolean {
  if (header === etag) return true;
  if (header.length > HEADER_CHARACTERS.ifNoneMatch) return false;
  const bare = (tag: string) => tag.trim().replace(/^W\//, '');
  return header.trim() === '*' || header.split(',').some((tag) => bare(tag) === bare(etag));
}
