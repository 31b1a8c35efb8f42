// Reshapes an answer at the caller's wish: `_fields`, `_envelope` and `_jsonp` (interface-behaviour 9).

import type { Context, Middleware, Next } from 'koa';
import type { Answer } from '../calendar/asked.ts';
import { GatewayError } from '../errors.ts';
import { list } from '../interface/values.ts';
import { errorAnswer } from './error-body.ts';
import { asBytes, isReady } from './sending.ts';
import type { State } from './state.ts';

type Json = Record<string, unknown>;

export interface Wishes {
  fields: string[];
  envelope: boolean;
  jsonp: string | undefined;
}

const CALLBACK = /^[\w.]+$/;

/** @throws GatewayError 400 `rest_callback_invalid`, the one error body without `data` */
function wishesOf(query: Json): Wishes {
  // WordPress finds nothing wrong with an empty name, and wraps nothing in it.
  const jsonp = (query._jsonp ?? '') === '' ? undefined : String(query._jsonp);
  if (jsonp !== undefined && !CALLBACK.test(jsonp)) {
    throw new GatewayError(400, 'rest_callback_invalid', 'Invalid JSONP callback function.', { withoutData: true });
  }
  const fields = list(query._fields)
    .map(String)
    .filter((name) => name !== '');
  return { fields, envelope: query._envelope !== undefined, jsonp };
}

/**
 * Applies what the query wishes to the answer that the rest of the chain leaves. With `_envelope` an error is an answer like any other.
 * @param allow what the caller may do at the route, for the headers in an envelope
 */
export function shaping(allow: (state: State) => Promise<string>): Middleware {
  return async function shape(ctx: Context, next: Next): Promise<void> {
    const state = ctx.state as State;
    const wishes = wishesOf(state.query);
    const { fields, envelope, jsonp } = wishes;
    if (fields.length === 0 && !envelope && jsonp === undefined) return next();
    let answer: Answer | undefined;
    try {
      await next();
      answer = state.answer;
    } catch (error) {
      const { status, body, headers, unexpected } = errorAnswer(error);
      if (!envelope || unexpected) throw error;
      answer = { status, body, headers };
    }
    if (answer) state.answer = shaped(answer, wishes, envelope ? await allow(state) : '');
  };
}

function shaped(answer: Answer, { fields, envelope, jsonp }: Wishes, allow: string): Answer {
  const { body: given, etag: _, ...rest } = answer;
  const body = isReady(given) ? JSON.parse(asBytes(given).toString('utf8')) : given;
  const part = answer.status < 400 ? selectFields(body, fields) : body;
  const whole = envelope
    ? { body: part, status: answer.status, headers: plainHeaders({ Allow: allow, ...answer.headers }) }
    : part;
  const status = envelope ? 200 : answer.status;
  if (jsonp === undefined) return { ...rest, status, body: whole };
  // The comment in front keeps the text from being read as anything but a script.
  const headers = { ...answer.headers, 'Content-Type': 'application/javascript; charset=UTF-8' };
  return { ...rest, status, headers, body: Buffer.from(`/**/${jsonp}(${JSON.stringify(whole)})`) };
}

const plainHeaders = (headers: Record<string, string>): Json =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, /^\d+$/.test(value) ? Number(value) : value]),
  );

/** The parts of `body` that the dotted paths name; a list needs an index, and nothing found is `[]`. */
function selectFields(body: unknown, paths: string[]): unknown {
  if (paths.length === 0 || typeof body !== 'object' || body === null) return body;
  const tree = new Map<string, string[]>();
  for (const path of paths) {
    const [head, ...rest] = path.split('.');
    const below = tree.get(head!);
    if (rest.length === 0) tree.set(head!, []);
    else if (!below) tree.set(head!, [rest.join('.')]);
    else if (below.length > 0) below.push(rest.join('.'));
  }
  const chosen = [...tree].flatMap(([key, below]) => {
    if (!Object.hasOwn(body, key)) return [];
    const value = (body as Json)[key];
    return [[key, below.length > 0 ? selectFields(value, below) : value] as const];
  });
  if (Array.isArray(body)) return chosen.map(([, value]) => value);
  return chosen.length > 0 ? Object.fromEntries(chosen) : [];
}
