// Turns everything that the middleware throws into an API error. No client gets its cause.

import { unmappedToApiError } from '../calendar/cms-errors.ts';
import { ApiError, ReplicaError } from '../errors.ts';
import { internalError, replicaUnavailable, unreadableRequest } from '../interface/errors.ts';
import type { Observe } from '../observability/observations.ts';
import type { Middleware } from './state.ts';

export function errorHandler(observe: Observe): Middleware {
  return async function errorMiddleware(ctx, next) {
    try {
      await next();
    } catch (error) {
      const { isUnexpected, ...response } = errorResponse(error);
      const { requestId: id } = ctx.state;
      if (isUnexpected && !isClientAbort(error)) observe({ type: 'request-failed', id, error });
      // If the CMS refused a call, no other line of the log says why. Of a 503 there is `cms-failed`.
      if (response.status === 502)
        observe({ type: 'message', level: 'warn', message: `request ${id}: ${reasonOf(error)}` });
      // A page may have failed after it set some headers.
      for (const name of ctx.res.getHeaderNames()) ctx.remove(name);
      ctx.state.error = response;
      ctx.state.cached = undefined;
    }
  };
}

/** What the CMS did, which the cause says. The message of an API error says what the client may do. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}

const CLIENT_ABORTS =
  /^(ECONN(RESET|ABORTED)|EPIPE|HPE_\w+|ERR_(STREAM_\w+|HTTP_REQUEST_TIMEOUT)|stream\.not\.readable|request\.aborted)$/;

/** The client disconnected or was too slow: no failure of the gateway. Calls to the CMS throw other errors. */
export function isClientAbort(error: unknown): boolean {
  const { code, type } = error as { code?: unknown; type?: unknown };
  return error instanceof Error && CLIENT_ABORTS.test(String(code ?? type));
}

interface ErrorResponse {
  status: number;
  body: Record<string, unknown>;
  headers: Record<string, string>;
}

/** The API error for anything thrown. `isUnexpected`: it is a bug or an unknown failure, and belongs in the log. */
export function errorResponse(thrown: unknown): ErrorResponse & { isUnexpected: boolean } {
  const error = unmappedToApiError(thrown);
  // The replica logs its failure once, not with every request.
  if (error instanceof ReplicaError) return { ...errorResponse(replicaUnavailable(error)), isUnexpected: false };
  if (error instanceof ApiError) {
    const { code, message, data, extra, status, headers, omitData } = error;
    return {
      status,
      body: { code, message, ...(omitData ? {} : { data: { status, ...data } }), ...extra },
      headers,
      // 500: most often `internalError`, for whatever nobody foresaw. 502 and 503 are failures of the CMS.
      isUnexpected: status === 500,
    };
  }
  const status = clientErrorStatus(error);
  return errorResponse(status ? unreadableRequest(status) : internalError('answer'));
}

/** Koa and its parsers throw errors with a status of their own: a body that is too large, a malformed encoding. */
function clientErrorStatus(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('status' in error) || typeof error.status !== 'number') return undefined;
  return error.status >= 400 && error.status <= 499 ? error.status : undefined;
}
