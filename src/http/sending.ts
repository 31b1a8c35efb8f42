// Puts an answer on the wire that is one caller's alone: JSON that nobody may keep.

import type { Context } from 'koa';
import { corsHeaders, KEY_HEADER, PRIVATE, REPLAYED_HEADER, STANDING } from './headers.ts';
import type { State } from './state.ts';

/** Sends an answer that is one caller's alone. */
export function sendPrivate(ctx: Context, status: number, body: unknown, headers: Record<string, string>): void {
  ctx.set({ ...STANDING, ...PRIVATE, ...headers, 'X-Request-Id': (ctx.state as State).requestId });
  fromElsewhere(ctx);
  ctx.status = status;
  ctx.body = asBytes(body);
}

/** Whether a body is bytes, in one piece or several. */
export const isReady = (body: unknown): body is Uint8Array | readonly Uint8Array[] =>
  body instanceof Uint8Array || (Array.isArray(body) && body[0] instanceof Uint8Array);

/** A body as the pieces that are sent one after the other: those it is made of already, or its JSON. */
export function piecesOf(body: unknown): readonly Uint8Array[] {
  if (!isReady(body)) return [Buffer.from(JSON.stringify(body))];
  return body instanceof Uint8Array ? [body] : body;
}

/** All of a body in one piece, without copying it where it is one. */
export function asBytes(body: unknown): Buffer {
  const pieces = piecesOf(body);
  const [first] = pieces;
  if (pieces.length > 1 || !first) return Buffer.concat(pieces);
  return Buffer.isBuffer(first) ? first : Buffer.from(first.buffer, first.byteOffset, first.byteLength);
}

/** A browser on another origin may read the answer; which one is repeated, as the original does. */
function fromElsewhere(ctx: Context): void {
  const { origin } = ctx.headers;
  if (origin === undefined) return;
  ctx.set(corsHeaders(origin));
  if (ctx.method === 'GET' || ctx.method === 'HEAD') return;
  ctx.append('Access-Control-Allow-Headers', KEY_HEADER);
  ctx.append('Access-Control-Expose-Headers', REPLAYED_HEADER);
}
