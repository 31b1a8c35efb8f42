// Calls a route of WordPress's REST API, and throws its errors.

import { CmsUnavailable } from '../../errors.ts';
import type { CmsClient, CmsRequest } from '../client.ts';
import type { CallOptions, CmsRecord, Query } from '../port.ts';
import type { CmsResponse } from '../response.ts';
import type { Discovery } from './discovery.ts';
import { restError } from './rest-responses.ts';

export interface RestCallBody {
  query?: Query;
  /** Sent as JSON. */
  json?: CmsRecord;
  /** Sent unchanged, with `headers`. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
}

/** `route` has no leading slash: `wp/v2/posts/7`. Throws `CmsRejected` and `CmsUnavailable`. */
export type RestCall = (
  method: CmsRequest['method'],
  route: string,
  parts?: RestCallBody,
  options?: CallOptions,
) => Promise<CmsResponse>;

/** Creates the function that calls a site; its first call discovers the API. */
export function createRestCall(client: CmsClient, discovery: Discovery): RestCall {
  return async (method, route, parts = {}, options = {}) => {
    const resolveRoute = await discovery.resolver();
    options.signal?.throwIfAborted();
    const { path, query } = resolveRoute(route);
    const body = parts.json === undefined ? parts.bytes : JSON.stringify(parts.json);
    const headers = parts.json === undefined ? parts.headers : { 'content-type': 'application/json' };
    try {
      const response = await client.request({
        method,
        path,
        query: { ...query, ...parts.query },
        headers,
        body,
        ...options,
        label: `/${route}`,
      });
      if (response.status >= 400) throw restError(response, method, `/${route}`, options.creationId);
      return response;
    } catch (error) {
      // A site whose API has moved responds with a page instead of JSON.
      if (error instanceof CmsUnavailable && error.reason === 'not-json') discovery.invalidate();
      throw error;
    }
  };
}
