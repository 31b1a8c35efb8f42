// Reads a request's parameters: the query and bodies of JSON, form and multipart in PHP's bracket notation.

import type { Context, Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import qs from 'qs';
import { GatewayError } from '../errors.ts';

export interface BodyLimits {
  bodyBytes: number;
  jsonDepth: number;
}

/** PHP's rules: the last of two equal names counts, brackets nest. `__proto__` and its kin never become keys. */
const BRACKETS = {
  duplicates: 'last',
  depth: 6,
  arrayLimit: 1000,
  parameterLimit: 5000,
  ignoreQueryPrefix: true,
} as const;

/** A query or form in PHP's bracket notation, with or without its `?`: texts, lists of them and objects. Parameters after the 5000th are not read. */
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
} as const;

const invalidJson = (cause: unknown, kind: keyof typeof JSON_ERRORS = 'syntax'): GatewayError =>
  new GatewayError(400, 'rest_invalid_json', 'Invalid JSON body passed.', { data: JSON_ERRORS[kind], cause });

/** Whether bytes were replaced when the body was read as text: it is longer then than what was sent. */
function wasMalformed({ request, headers }: Context): boolean {
  const text = String(request.rawBody ?? '');
  const length = Number(headers['content-length']);
  return text.includes('\uFFFD') && !headers['content-encoding'] && Buffer.byteLength(text) > length;
}

/**
 * A middleware that leaves the body's parameters in `ctx.state.body`. Other types than JSON, form and multipart are no parameters; a JSON
 * body that is no object neither (interface-behaviour 5). Throws 400 `rest_invalid_json`, 413.
 */
export function body({ bodyBytes, jsonDepth }: BodyLimits) {
  const options: bodyParser.Options & { queryString: object; onProtoPoisoning: string } = {
    enableTypes: ['json', 'form'],
    extendTypes: { json: ['application/*+json'] },
    jsonLimit: `${bodyBytes}b`,
    formLimit: `${bodyBytes}b`,
    strict: false,
    // Such a key is dropped below, as WordPress would not heed it; by itself the parser refuses the whole body.
    onProtoPoisoning: 'ignore',
    queryString: BRACKETS,
    onerror(error: Error & { status?: number }) {
      if (error.status !== undefined && error.status !== 400) throw error;
      throw invalidJson(error);
    },
  };
  const parse = bodyParser(options);
  return async function readBody(ctx: Context, next: Next): Promise<void> {
    // No body was announced, and its stream has ended (`optimizeEmptyRequests` in `port.ts`): the parser would refuse to read it.
    if (ctx.req.readableEnded) {
      ctx.state.body = {};
      return next();
    }
    if (ctx.request.is('multipart/form-data')) {
      ctx.state.body = await multipart(ctx, bodyBytes);
      return next();
    }
    await parse(ctx, async () => undefined);
    if (wasMalformed(ctx) && ctx.request.is('json', '+json')) throw invalidJson(undefined, 'utf8');
    const parsed: unknown = ctx.request.body;
    const plain = typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
    ctx.state.body = plain ? safe(parsed as Record<string, unknown>, jsonDepth) : {};
    return next();
  };
}

async function multipart(ctx: Context, limit: number): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of ctx.req as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > limit) throw Object.assign(new Error('body too large'), { status: 413 });
    chunks.push(chunk);
  }
  const response = new Response(Buffer.concat(chunks), { headers: { 'content-type': ctx.get('content-type') } });
  const form = await response.formData().catch((error: unknown) => {
    throw Object.assign(new Error('broken multipart body', { cause: error }), { status: 400 });
  });
  const pairs = [...form].flatMap(([name, value]) =>
    typeof value === 'string' ? [`${encodeURIComponent(name)}=${encodeURIComponent(value)}`] : [],
  );
  return parseQuery(pairs.join('&'));
}

const DANGEROUS = new Set(['__proto__', 'constructor', 'prototype']);

/** A copy without keys that could reach a prototype. Throws 400 when it is nested deeper than `depth`. */
function safe<T>(value: T, depth: number): T {
  if (typeof value !== 'object' || value === null) return value;
  if (depth === 0) throw invalidJson(new Error('nested too deeply'), 'depth');
  if (Array.isArray(value)) return value.map((item) => safe(item, depth - 1)) as T;
  const entries = Object.entries(value).filter(([key]) => !DANGEROUS.has(key));
  return Object.fromEntries(entries.map(([key, item]) => [key, safe(item, depth - 1)])) as T;
}
