// Gives every request its id and initial state, and observes it for log and metrics when it has ended.

import { randomBytes } from 'node:crypto';
import type { Observe } from '../observability/events.ts';
import { type Middleware, newState } from './state.ts';

export function accessLog(observe: Observe): Middleware {
  return async function accessLogMiddleware(ctx, next) {
    const startedMs = performance.now();
    ctx.state = newState(nextRequestId(ctx.headers['x-request-id']));
    try {
      await next();
    } finally {
      const { requestId: id, route, cache } = ctx.state;
      const durationMs = performance.now() - startedMs;
      observe({ type: 'request', id, method: ctx.method, route, status: ctx.status, cache, durationMs });
    }
  };
}

const VALID_ID = /^[\w.:-]{1,100}$/;
const PROCESS_PREFIX = `${randomBytes(6).toString('base64url')}-`;
let requests = 0;

/** The client's `X-Request-Id` if that is valid, otherwise a new id: for the log, the response and calls to the CMS. */
export function nextRequestId(requestId: string | string[] | undefined): string {
  if (typeof requestId === 'string' && VALID_ID.test(requestId)) return requestId;
  requests += 1;
  return `${PROCESS_PREFIX}${requests.toString(36)}`;
}
