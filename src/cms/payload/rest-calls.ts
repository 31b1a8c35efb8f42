// Calls a route of Payload's REST API, throws its errors, and reads its responses.

import { CmsUnavailable } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import type { CmsClient } from '../client.ts';
import { isWrite } from '../http-exchange.ts';
import type { CmsRecord } from '../port.ts';
import type { CmsResponse } from '../response.ts';
import { type RestCall, sentBody } from '../rest-call.ts';
import { rejection } from './rejections.ts';

/** @param apiPath the path of the REST API, such as `/api` */
export function createRestCall(client: CmsClient, apiPath: string): RestCall {
  return async (method, route, parts = {}, options = {}) => {
    const response = await client.request({
      method,
      path: `${apiPath}/${route}`,
      query: parts.query ?? {},
      ...sentBody(parts),
      label: `/${route}`,
      ...options,
    });
    if (response.status >= 400) throw rejection(response, isWrite(method));
    return response;
  };
}

/** The body as an object. @throws CmsUnavailable `not-json` for any other body */
export function objectOf({ json, status }: CmsResponse): CmsRecord {
  if (isObject(json)) return json;
  throw new CmsUnavailable('not-json', 'The CMS answered with something other than an object.', { status });
}

/** The record of a response to a write. @throws CmsUnavailable `not-json`, outcome unknown, without one */
export function writtenOf({ json, status }: CmsResponse): CmsRecord {
  if (isObject(json) && isObject(json.doc)) return json.doc;
  const message = 'The CMS answered a write with something other than the record.';
  throw new CmsUnavailable('not-json', message, { status, outcomeUnknown: true });
}

/** The records and the total of a response with a list. @throws CmsUnavailable without them */
export function listOf(response: CmsResponse): { docs: CmsRecord[]; total: number } {
  const { docs, totalDocs } = objectOf(response);
  if (!Array.isArray(docs) || !docs.every(isObject))
    throw new CmsUnavailable('not-json', 'The CMS answered with something other than a list of records.');
  // The sync could not know if a list without a total is complete.
  if (!Number.isSafeInteger(totalDocs))
    throw new CmsUnavailable('incomplete', "The CMS's list does not say how many there are (totalDocs).");
  return { docs, total: Number(totalDocs) };
}
