// One call to the REST API of WordPress: found, sent, and its refusals thrown.

import { UpstreamAway } from '../../errors.ts';
import type { Answer } from '../answer.ts';
import type { Client, ClientRequest } from '../client.ts';
import type { CallOptions, Native, Query } from '../port.ts';
import type { Discovery } from './discovery.ts';
import { refusalOf } from './refusals.ts';

export interface CallParts {
  query?: Query;
  /** Sent as JSON. */
  json?: Native;
  /** Sent as it is, with these headers. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
}

/** `route` without a slash before it, such as `wp/v2/posts/7`. Throws `UpstreamRefused` and `UpstreamAway`. */
export type Call = (
  method: ClientRequest['method'],
  route: string,
  parts?: CallParts,
  options?: CallOptions,
) => Promise<Answer>;

/** Calls of a site whose API is found with the first of them. */
export function createCall(client: Client, discovery: Discovery): Call {
  return async (method, route, parts = {}, options = {}) => {
    const locate = await discovery.locate();
    options.signal?.throwIfAborted();
    const { path, query } = locate(route);
    const body = parts.json === undefined ? parts.bytes : JSON.stringify(parts.json);
    const headers = parts.json === undefined ? parts.headers : { 'content-type': 'application/json' };
    try {
      const answer = await client.request({
        method,
        path,
        query: { ...query, ...parts.query },
        ...(headers === undefined ? {} : { headers }),
        ...(body === undefined ? {} : { body }),
        ...options,
        label: `/${route}`,
      });
      if (answer.status >= 400) throw refusalOf(answer, `${method} /${route}`);
      return answer;
    } catch (error) {
      // A page in place of JSON is also what a site answers whose API has moved.
      if (error instanceof UpstreamAway && error.reason === 'not-json') discovery.forget();
      throw error;
    }
  };
}
