// Reads the parameters in the body of a request: JSON, a form or multipart.

import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import bodyParser from 'koa-bodyparser';
import type { Config } from '../config-schema.ts';
import { invalidJson } from '../interface/errors.ts';
import { MAX_BODY_VALUES, MAX_PARAMETERS, MAX_PART_HEADER_BYTES, READ_BODY_BYTES } from '../interface/value-lengths.ts';
import { INHERITED_NAMES, isObject } from '../model/json.ts';
import { parseQuery, READ_METHODS } from './read-request.ts';
import type { Context } from './state.ts';

const JSON_TYPES = ['application/json', 'application/*+json'];
const FORM = 'application/x-www-form-urlencoded';
const PARTS = 'multipart/form-data';
/** Both drop a byte order mark. The first throws for malformed UTF-8. */
const JSON_TEXT = new TextDecoder('utf-8', { fatal: true });
const FORM_TEXT = new TextDecoder();

/** An error that the client gets as 413. `what` is for its message only. */
const tooLarge = (what: string): Error => Object.assign(new Error(what), { status: 413 });

/**
 * Returns a function that reads the parameters in the body of a request: the properties of a JSON object; of a write
 * also the fields of a form (`curl -X GET -d page=2` is a read). It throws 400 `rest_invalid_json` and 413.
 */
export function createBodyReader({ bodyBytes, jsonDepth }: Pick<Config['limits'], 'bodyBytes' | 'jsonDepth'>) {
  const parserOf = (limit: number) => {
    // Only to read bytes up to the limit, decompressed: `encoding: null`, which its types lack, leaves them undecoded.
    const options: bodyParser.Options & { encoding: null } = {
      enableTypes: ['text'],
      extendTypes: { text: [...JSON_TYPES, FORM, PARTS] },
      textLimit: `${limit}b`,
      encoding: null,
      // Broken gzip has no status, a body that ends early has 400: both become `invalidJson`. 413 and 415 pass.
      onerror(error: Error & { status?: number }) {
        if (error.status !== undefined && error.status !== 400) throw error;
        throw invalidJson(error);
      },
    };
    return bodyParser(options);
  };
  const parseRead = parserOf(Math.min(bodyBytes, READ_BODY_BYTES));
  const parseWrite = parserOf(bodyBytes);

  return async function readBody(ctx: Context): Promise<Record<string, unknown>> {
    // The stream of a request without a body has ended (`optimizeEmptyRequests` in `server.ts`): the parser rejects it.
    if (ctx.req.readableEnded) return {};
    const type = ctx.get('content-type');
    // Many clients send a trailing semicolon, which the parser rejects.
    if (type.endsWith(';')) ctx.req.headers['content-type'] = type.slice(0, -1);
    // WordPress reads no form of a GET, also of a POST with `_method=GET`.
    const form = !READ_METHODS.has(ctx.method) && ctx.request.is(FORM, PARTS);
    limitPieces(ctx.req);
    if (!form && !ctx.request.is(JSON_TYPES)) return {};
    try {
      await (READ_METHODS.has(ctx.method) ? parseRead : parseWrite)(ctx, async () => undefined);
    } catch (error) {
      // Reads the rest of a body that is too large, which the parser leaves: the connection's next request is after it.
      ctx.req.unpipe().resume();
      throw error;
    }
    const bytes = ctx.request.body as Buffer<ArrayBuffer>;
    // Forms need no `sanitize`: `parseQuery` limits their depth and names, and text out of UTF-8 is well-formed.
    if (form === PARTS) return multipart(bytes, ctx.get('content-type'));
    if (form) return parseQuery(FORM_TEXT.decode(plusToSpace(bytes)));
    const parsed = parseJsonBody(jsonText(bytes));
    return isObject(parsed) ? sanitize(parsed, jsonDepth) : {};
  };
}

/** The parser keeps 300 bytes for each piece of a body: one of 1 MB in pieces of one byte would take 300 MB. */
const MAX_PIECES = 2500;

/** Disconnects a client whose body arrives in more than `MAX_PIECES`. */
function limitPieces(req: IncomingMessage): void {
  let pieces = 0;
  req.on('data', () => {
    pieces += 1;
    if (pieces > MAX_PIECES) req.destroy();
  });
}

const PLUS = 0x2b;
const SPACE = 0x20;

/** Of the bytes of a form. To replace each `+` in a text of a megabyte would take 200 ms. */
const plusToSpace = (form: Buffer): Buffer => form.map((byte) => (byte === PLUS ? SPACE : byte)) as Buffer;

function jsonText(bytes: Buffer): string {
  try {
    return JSON_TEXT.decode(bytes);
  } catch (error) {
    throw invalidJson(error, 'utf8');
  }
}

function parseJsonBody(text: string): unknown {
  if (text === '') return undefined;
  if (hasTooManyValues(text)) throw tooLarge('too many values in a body');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(error);
  }
}

/** Counts the separators of values outside strings: many small values take far longer to parse than a long one. */
function hasTooManyValues(json: string): boolean {
  let values = 1;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json[at];
    if (sign === '"') isText = !isText;
    else if (isText) {
      if (sign === '\\') at += 1;
    } else if (sign === ',' || sign === '[' || sign === '{') values += 1;
  }
  return values > MAX_BODY_VALUES;
}

async function multipart(bytes: Buffer<ArrayBuffer>, type: string): Promise<Record<string, unknown>> {
  rejectManyParts(bytes, type);
  const response = new Response(bytes, { headers: { 'content-type': type } });
  const form = await response.formData().catch((error: unknown) => {
    throw Object.assign(new Error('broken multipart body', { cause: error }), { status: 400 });
  });
  // As a query, whose parser nests `a[b]` and limits names.
  const pairs: string[] = [];
  for (const [name, value] of form)
    if (typeof value === 'string') pairs.push(`${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return parseQuery(pairs.join('&'));
}

/** Many parts, or many header lines of a part, take far longer to parse than a text of the same length. */
function rejectManyParts(bytes: Buffer, type: string): void {
  const delimiter = `--${new MIMEType(type).params.get('boundary') ?? ''}`;
  let parts = 0;
  let headerBytes = 0;
  for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    const end = bytes.indexOf('\r\n\r\n', at);
    parts += 1;
    headerBytes += (end < 0 ? bytes.length : end) - at;
    if (parts > MAX_PARAMETERS || headerBytes > MAX_PART_HEADER_BYTES) throw tooLarge('too many parts in a body');
  }
}

/** Copies a value without keys of inherited names. Throws 400 beyond `depth`, and as PHP for a lone surrogate. */
function sanitize<T>(value: T, depth: number): T {
  if (typeof value === 'string') return assertWellFormed(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) throw invalidJson(new Error('nested too deeply'), 'depth');
  if (Array.isArray(value)) return value.map((item) => sanitize(item, depth - 1)) as T;
  const entries = Object.entries(value).filter(([key]) => !INHERITED_NAMES.has(key));
  return Object.fromEntries(entries.map(([key, item]) => [assertWellFormed(key), sanitize(item, depth - 1)])) as T;
}

function assertWellFormed(text: string): string {
  if (!text.isWellFormed()) throw invalidJson(undefined, 'utf16');
  return text;
}
