// Puts an answer on the wire that is one caller's alone: JSON that nobody may keep.

import type { Context } from 'koa';
import { corsHeaders, PRIVATE, STANDING } from './headers.ts';
import type { State } from './state.ts';

/** Sends an answer that is one caller's alone. */
export function sendPrivate(ctx: Context, status: number, body: unknown, headers: Record<string, string>): void {
  ctx.set({ ...STANDING, ...PRIVATE, ...headers, 'X-Request-Id': (ctx.state as State).requestId });
  fromElsewhere(ctx);
  ctx.status = status;
  ctx.body = asBytes(body);
}

export const asBytes = (body: unknown): Buffer =>
  Buffer.isBuffer(body)
    ? body
    : body instanceof Uint8Array
      ? Buffer.from(body.buffer, body.byteOffset, body.byteLength)
      : Buffer.from(JSON.stringify(body));

/** A browser on another origin may read the answer; which one is repeated, as the original does. */
function fromElsewhere(ctx: Context): void {
  const { origin } = ctx.headers;
  if (origin !== undefined) ctx.set(corsHeaders(origin));
}
