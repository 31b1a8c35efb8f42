// Calls a route of WordPress's REST API, and throws its errors.

import { type CmsRejected, CmsUnavailable } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import type { CmsClient } from '../client.ts';
import { isWrite } from '../http-exchange.ts';
import type { CmsRecord } from '../port.ts';
import { type CmsResponse, errorCode } from '../response.ts';
import { type RestCall, sentBody } from '../rest-call.ts';
import type { Discovery } from './discovery.ts';
import { rejection } from './rejections.ts';

/** Creates the function that calls a site; its first call discovers the API. */
export function createRestCall(client: CmsClient, discovery: Discovery): RestCall {
  return async (method, route, parts = {}, options = {}) => {
    const resolveRoute = await discovery.resolver();
    options.signal?.throwIfAborted();
    const { path, query } = resolveRoute(route);
    try {
      const response = await client.request({
        method,
        path,
        query: { ...query, ...parts.query },
        ...sentBody(parts),
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

/** The code of an error without one, as some plugins send it. */
const FALLBACK_ERROR_CODE = 'rest_upstream_error';

/**
 * Converts the error body `{code, message, data}` of a response with status 400 or more, in the CMS's own
 * words.
 * @param creationId of a create
 */
export function restError(
  { status, json }: CmsResponse,
  method: string,
  route: string,
  creationId?: string,
): CmsRejected {
  const body = isObject(json) ? json : {};
  const code = errorCode(json) || FALLBACK_ERROR_CODE;
  const cmsMessage = typeof body.message === 'string' ? body.message : `The CMS answered with status ${status}.`;
  // WordPress's message does not name the route.
  const message = code === 'rest_no_route' ? `The CMS has no route ${method} ${route}.` : cmsMessage;
  const data = isObject(body.data) ? body.data : {};
  return rejection({ status, code, message, data }, isWrite(method), creationId);
}

/** The body as a record. @throws CmsUnavailable `not-json` for any other body */
export function recordOf({ json, status }: CmsResponse): CmsRecord {
  if (isObject(json)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered with a list instead of a record.', { status });
}

/**
 * The body of a write's response as the written record. @throws CmsUnavailable `not-json`, outcome unknown,
 * for any other body
 */
export function writtenRecordOf({ json, status }: CmsResponse): CmsRecord {
  if (isObject(json) && (isId(json.id) || json.deleted === true)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered a write with something other than the record.', {
    status,
    outcomeUnknown: true,
  });
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

/** The body as a list of records. @throws CmsUnavailable `not-json` for any other body */
export function recordsOf({ json, status }: CmsResponse): CmsRecord[] {
  if (Array.isArray(json) && json.every(isObject)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered with something other than a list of records.', { status });
}

/** Returns an object as it is, and `{}` for any other value: PHP serialises an empty object as `[]`. */
export function objectOrEmpty(value: unknown): CmsRecord {
  return isObject(value) ? value : {};
}
