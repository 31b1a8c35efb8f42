// Puts an answer on the wire: stored public bytes with their ETag, and private JSON that nobody may keep.

import type { Context } from 'koa';
import type { Backing } from '../calendar/backing.ts';
import { type AnswerCache, matches, type StoredAnswer } from './answer-cache.ts';
import { corsHeaders, PRIVATE, STANDING, staleness } from './headers.ts';
import type { State } from './state.ts';

/** Sends a public answer, or 304 when the caller has it. Says so when the copy has lost touch with the CMS. */
export function sendStored(ctx: Context, answer: StoredAnswer, cache: AnswerCache, backing: Backing): void {
  const state = ctx.state as State;
  const { state: copy, lastInStepMs, sinceMs } = backing.sync.status();
  ctx.set(answer.headers as Record<string, string>);
  ctx.set('ETag', answer.etag);
  fromElsewhere(ctx);
  if (copy === 'away' || copy === 'lagging') {
    ctx.set(staleness(Math.max(0, Math.round((backing.nowMs() - (lastInStepMs ?? sinceMs)) / 1000))));
    state.cache = 'stale';
  }
  if (matches(ctx.headers['if-none-match'], answer.etag)) {
    ctx.status = 304;
    ctx.remove('Content-Type');
    if (state.cache === 'hit') state.cache = 'not-modified';
    return;
  }
  const { bytes, encoding } = cache.encoding(answer, ctx.headers['accept-encoding'] as string | undefined);
  if (encoding) ctx.set('Content-Encoding', encoding);
  ctx.status = 200;
  ctx.body = bytes;
}

/** Sends an answer that is one caller's alone. */
export function sendPrivate(ctx: Context, status: number, body: unknown, headers: Record<string, string>): void {
  ctx.set({ ...STANDING, ...PRIVATE, ...headers });
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
