// Calls a route of Payload's REST API, reads its responses, and translates its errors into the gateway's rejections.

import { CmsRejected, CmsUnavailable, type RejectionKind } from '../../errors.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { CmsClient, RestCall } from '../client.ts';
import type { CmsRecord } from '../port.ts';
import { type CmsResponse, objectOf, writtenRecordOf } from '../response.ts';
import { isWrite } from '../send-request.ts';

/** The sync's page size. Payload itself has no greatest one. */
export const MAX_PAGE_SIZE = 100;

/** @param apiPath the path of the REST API, such as `/api` */
export function createRestCall(client: CmsClient, apiPath: string): RestCall {
  return async (method, route, parts = {}, options = {}) => {
    const request = { method, path: `${apiPath}/${route}`, ...parts, label: `/${route}`, ...options };
    const response = await client.request(request);
    if (response.status >= 400) throw rejection(response, isWrite(method));
    return response;
  };
}

/** The record of a response to a write: `{message, doc}`. */
export const writtenOf = ({ json, status }: CmsResponse): CmsRecord =>
  writtenRecordOf({ json: isObject(json) ? json.doc : undefined, status });

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

/** The fixed text by which Payload answers a path without an endpoint. It is never translated. */
const NO_ROUTE = 'Route not found';

/** Converts a response with status 400 or more: `{errors: [{name, message, data}]}`, or `{message}` without a route. */
export function rejection({ status, json }: CmsResponse, isWriteCall: boolean): CmsRejected {
  const body = isObject(json) ? json : {};
  const error = Array.isArray(body.errors) && isObject(body.errors[0]) ? body.errors[0] : undefined;
  const name = typeof error?.name === 'string' ? error.name : '';
  const message = [error?.message, body.message].find((text) => typeof text === 'string');
  const kind = kindOf(status, error, String(message ?? ''));
  return new CmsRejected(kind, String(message ?? `The CMS answered with status ${status}.`), {
    status,
    code: name === '' ? kind : name,
    fields: name === 'ValidationError' ? invalidPaths(error) : [],
    written: isWriteCall && !isBeforeWrite(status, name) ? 'unknown' : 'no',
  });
}

/** A 404 is the CMS's own word only in Payload's form. */
function kindOf(status: number, error: JsonObject | undefined, message: string): RejectionKind {
  if (status === 404 && error) return 'not-found';
  if (status === 404) return message.startsWith(NO_ROUTE) ? 'no-collection' : 'failed';
  if (status === 401 || status === 403) return 'forbidden';
  return status < 500 ? 'invalid' : 'failed';
}

/** Payload checks access, existence and (unique) values before it stores. A hook of the site may throw afterwards. */
const isBeforeWrite = (status: number, name: string): boolean =>
  [401, 403, 404].includes(status) || name === 'ValidationError' || name === 'QueryError';

function invalidPaths(error: JsonObject | undefined): string[] {
  const errors = isObject(error?.data) ? error.data.errors : undefined;
  return (Array.isArray(errors) ? errors : []).flatMap((each: unknown) =>
    isObject(each) && typeof each.path === 'string' ? [each.path] : [],
  );
}
