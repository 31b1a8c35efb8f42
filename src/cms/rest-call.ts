// What the adapters of JSON APIs share: the parts of one call, and how its body is sent.

import type { CmsRequest } from './client.ts';
import type { CallOptions, CmsRecord, Query } from './port.ts';
import type { CmsResponse } from './response.ts';

export interface RestCallBody {
  query?: Query;
  /** Sent as JSON. */
  json?: CmsRecord;
  /** Sent unchanged, with `headers`. */
  bytes?: Uint8Array;
  headers?: Record<string, string>;
}

/**
 * Calls a route of the CMS's API, named without a leading slash: `wp/v2/posts/7`, `events/7`. Throws `CmsRejected` and
 * `CmsUnavailable`.
 */
export type RestCall = (
  method: CmsRequest['method'],
  route: string,
  parts?: RestCallBody,
  options?: CallOptions,
) => Promise<CmsResponse>;

/** The body with the headers that describe it. */
export const sentBody = ({ json, bytes, headers }: RestCallBody): Pick<CmsRequest, 'body' | 'headers'> =>
  json === undefined
    ? { body: bytes, headers }
    : { body: JSON.stringify(json), headers: { 'content-type': 'application/json' } };
