// Rejects requests that no client of the API sends: malformed, ambiguous to a proxy, or larger than the limits.

import type { IncomingMessage } from 'node:http';
import { ApiError } from '../errors.ts';
import { rejectLargeReadBody } from './request-body.ts';
import type { Middleware } from './state.ts';

/**
 * True for an absolute URL in the request line, which only proxies accept, and for a header with an underscore: PHP reads `X_Name` as
 * `X-Name`, so that it could replace a header that a proxy sets.
 */
export function isMalformed({ url, rawHeaders }: IncomingMessage): boolean {
  if (!url?.startsWith('/')) return true;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]!.includes('_')) return true;
  return false;
}

/** Throws 400, 413 and 414. */
export function rejectMalformed({ urlBytes }: { urlBytes: number }): Middleware {
  return function rejectMalformedMiddleware(ctx, next) {
    rejectLargeReadBody(ctx.req);
    if (ctx.url.length > urlBytes)
      throw new ApiError(414, 'rest_uri_too_long', 'The address of this request is too long.');
    if (isMalformed(ctx.req)) throw new ApiError(400, 'rest_bad_request', 'The request could not be read.');
    return next();
  };
}
