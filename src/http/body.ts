// Reads a request's parameters: the query and bodies of JSON, form and multipart in PHP's bracket notation.

import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import type { Context, Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import qs from 'qs';
import { GatewayError } from '../errors.ts';
import { MAX_BODY_VALUES, MAX_PARAMETERS, MAX_PART_HEADER_BYTES, READ_BODY_BYTES } from '../interface/limits.ts';

export interface BodyLimits {
  bodyBytes: number;
  jsonDepth: number;
}

/** PHP's rules: the last of two equal names counts, brackets nest. `__proto__` and its kin never become keys. */
const BRACKETS = {
  duplicates: 'last',
  depth: 6,
  arrayLimit: 1000,
  parameterLimit: MAX_PARAMETERS,
  ignoreQueryPrefix: true,
} as const;

/** A query or form in PHP's bracket notation, with or without its `?`: texts, lists of them and objects. What is more than `MAX_PARAMETERS` is not read. */
export const parseQuery = (querystring: string): Record<string, unknown> =>
  qs.parse(querystring, BRACKETS) as Record<string, unknown>;

/** PHP's numbers and sentences for what `json_decode` refuses. */
const JSON_ERRORS = {
  depth: { json_error_code: 1, json_error_message: 'Maximum stack depth exceeded' },
  syntax: { json_error_code: 4, json_error_message: 'Syntax error' },
  utf8: {
    json_error_code: 5,
    json_error_message: 'Malformed UTF-8 characters, possibly incorrectly encoded',
  },
  utf16: { json_error_code: 10, json_error_message: 'Single unpaired high surrogate in Unicode escape' },
} as const;

const invalidJson = (cause: unknown, kind: keyof typeof JSON_ERRORS = 'syntax'): GatewayError =>
  new GatewayError(400, 'rest_invalid_json', 'Invalid JSON body passed.', { data: JSON_ERRORS[kind], cause });

const tooLarge = (what: string): Error => Object.assign(new Error(what), { status: 413 });

/** Whether bytes were replaced when the body was read as text: it is longer then than what was sent. */
function wasMalformed({ request, headers }: Context): boolean {
  const text = String(request.rawBody ?? '');
  const length = Number(headers['content-length']);
  return text.includes('\uFFFD') && !headers['content-encoding'] && Buffer.byteLength(text) > length;
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Refuses the body of a request that only reads when its announced length is over the limit. Throws 413. */
export function refuseLargeRead({ method = '', headers }: IncomingMessage): void {
  if (READS.has(method) && Number(headers['content-length'] ?? 0) > READ_BODY_BYTES) throw tooLarge('body of a read');
}

const JSON_TYPES = ['json', '+json'];
const FORM = 'application/x-www-form-urlencoded';

/**
 * A middleware that leaves the body's parameters in `ctx.state.body`. Other types than JSON, form and multipart are no parameters; a JSON
 * body that is no object neither (interface-behaviour 5). Throws 400 `rest_invalid_json`, 413.
 */
export function body({ bodyBytes, jsonDepth }: BodyLimits) {
  const textOf = (limit: number) =>
    bodyParser({
      enableTypes: ['text'],
      extendTypes: { text: ['application/json', 'application/*+json', FORM] },
      textLimit: `${limit}b`,
      onerror(error: Error & { status?: number }) {
        if (error.status !== undefined && error.status !== 400) throw error;
        throw invalidJson(error);
      },
    });
  const readBytes = Math.min(bodyBytes, READ_BODY_BYTES);
  const [textOfRead, textOfWrite] = [textOf(readBytes), textOf(bodyBytes)];
  return async function readBody(ctx: Context, next: Next): Promise<void> {
    ctx.state.body = {};
    // No body was announced, and its stream has ended (`optimizeEmptyRequests` in `port.ts`): the parser would refuse to read it.
    if (ctx.req.readableEnded) return next();
    const reads = READS.has(ctx.method) || READS.has(ctx.req.method ?? '');
    const type = ctx.get('content-type');
    // A final semicolon is no parameter, but many clients write one.
    if (type.endsWith(';')) ctx.req.headers['content-type'] = type.slice(0, -1);
    if (ctx.request.is('multipart/form-data')) {
      ctx.state.body = await multipart(ctx, reads ? readBytes : bodyBytes);
      return next();
    }
    const isJson = Boolean(ctx.request.is(JSON_TYPES));
    if (!isJson && !ctx.request.is(FORM)) return next();
    await (reads ? textOfRead : textOfWrite)(ctx, async () => undefined);
    const text = String(ctx.request.body ?? '');
    if (isJson && wasMalformed(ctx)) throw invalidJson(undefined, 'utf8');
    const parsed = isJson ? parseJson(text) : parseQuery(spaced(text));
    const plain = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    ctx.state.body = plain ? safe(parsed as Record<string, unknown>, jsonDepth) : {};
    return next();
  };
}

const [PLUS, SPACE] = ['+', ' '].map((sign) => sign.charCodeAt(0)) as [number, number];

/** Each `+` of a form as the blank that it stands for: byte by byte, which takes a tenth of the time of a replacement. */
function spaced(form: string): string {
  if (!form.includes('+')) return form;
  const bytes = Buffer.from(form);
  for (let at = bytes.indexOf(PLUS); at >= 0 && at < bytes.length; at += 1) if (bytes[at] === PLUS) bytes[at] = SPACE;
  return bytes.toString();
}

function parseJson(text: string): unknown {
  if (text === '') return undefined;
  if (hasTooManyValues(text)) throw tooLarge('too many values in a body');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidJson(error);
  }
}

const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT] = ['"', '\\', ',', '[', '{'].map((sign) => sign.charCodeAt(0));

/** Counts what separates values, outside of texts: parsing very many small ones takes far longer than one of the same length. */
function hasTooManyValues(json: string): boolean {
  let values = 1;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const sign = json.charCodeAt(at);
    if (sign === QUOTE) isText = !isText;
    else if (isText) {
      if (sign === BACKSLASH) at += 1;
    } else if (sign === COMMA || sign === LIST || sign === OBJECT) values += 1;
  }
  return values > MAX_BODY_VALUES;
}

async function multipart(ctx: Context, limit: number): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of ctx.req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw tooLarge('body too large');
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  const type = ctx.get('content-type');
  refuseManyParts(bytes, type);
  const response = new Response(bytes, { headers: { 'content-type': type } });
  const form = await response.formData().catch((error: unknown) => {
    throw Object.assign(new Error('broken multipart body', { cause: error }), { status: 400 });
  });
  const values: string[] = [];
  const names: string[] = [];
  for (const [name, value] of form) {
    if (typeof value !== 'string') continue;
    names.push(`${encodeURIComponent(name)}=${values.length}`);
    values.push(value);
  }
  return placed(parseQuery(names.join('&')), values) as Record<string, unknown>;
}

/** Each number as the value of that place: values need not be written as a query and read again, which takes far longer than a form. */
function placed(parsed: unknown, values: readonly string[]): unknown {
  if (typeof parsed === 'string') return values[Number(parsed)];
  if (typeof parsed !== 'object' || parsed === null) return parsed;
  if (Array.isArray(parsed)) return parsed.map((one) => placed(one, values));
  return Object.fromEntries(Object.entries(parsed).map(([name, one]) => [name, placed(one, values)]));
}

/** Many parts, or many lines before one, take the parser far longer than a text of the same length. */
function refuseManyParts(bytes: Buffer, type: string): void {
  const delimiter = `--${boundaryOf(type)}`;
  let parts = 0;
  let headerBytes = 0;
  for (let at = bytes.indexOf(delimiter); at >= 0; at = bytes.indexOf(delimiter, at + delimiter.length)) {
    const end = bytes.indexOf('\r\n\r\n', at);
    parts += 1;
    headerBytes += (end < 0 ? bytes.length : end) - at;
    if (parts > MAX_PARAMETERS || headerBytes > MAX_PART_HEADER_BYTES) throw tooLarge('too many parts in a body');
  }
}

function boundaryOf(type: string): string {
  try {
    return new MIMEType(type).params.get('boundary') ?? '';
  } catch {
    return '';
  }
}

/** Names that every object inherits: a key of that name would shadow them. `prototype` leads to those of classes. */
const DANGEROUS = new Set([...Object.getOwnPropertyNames(Object.prototype), 'prototype']);

/**
 * A copy without keys that could reach or stand for what every object has. Throws 400 when it is nested deeper than `depth`, and for
 * half a surrogate pair, which is no text and which PHP refuses too.
 */
function safe<T>(value: T, depth: number): T {
  if (typeof value === 'string') return wellFormed(value) as T;
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) throw invalidJson(new Error('nested too deeply'), 'depth');
  if (Array.isArray(value)) return value.map((item) => safe(item, depth - 1)) as T;
  const entries = Object.entries(value).filter(([key]) => !DANGEROUS.has(key));
  return Object.fromEntries(entries.map(([key, item]) => [wellFormed(key), safe(item, depth - 1)])) as T;
}

function wellFormed(text: string): string {
  if (!text.isWellFormed()) throw invalidJson(undefined, 'utf16');
  return text;
}
