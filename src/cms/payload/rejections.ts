// Translates Payload's errors into the gateway's kinds of rejections, and says what a rejected write has left.

import { CmsRejected, type RejectionKind } from '../../errors.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import type { CmsResponse } from '../response.ts';

/** The fixed text by which Payload answers a path without an endpoint. It is never translated. */
const NO_ROUTE = 'Route not found';

/** Converts a response with status 400 or more: `{errors: [{name, message, data}]}`, or `{message}` without a route. */
export function rejection({ status, json }: CmsResponse, isWrite: boolean): CmsRejected {
  const body = isObject(json) ? json : {};
  const error = Array.isArray(body.errors) && isObject(body.errors[0]) ? body.errors[0] : undefined;
  const name = typeof error?.name === 'string' ? error.name : '';
  const message = [error?.message, body.message].find((text) => typeof text === 'string');
  const kind = kindOf(status, error, String(message ?? ''));
  return new CmsRejected(kind, String(message ?? `The CMS answered with status ${status}.`), {
    status,
    code: name === '' ? kind : name,
    fields: name === 'ValidationError' ? invalidPaths(error) : [],
    written: isWrite && !isBeforeWrite(status, name) ? 'unknown' : 'no',
  });
}

/** A 404 is the CMS's own word only in Payload's form. */
function kindOf(status: number, error: JsonObject | undefined, message: string): RejectionKind {
  if (status === 404 && error) return 'not-found';
  if (status === 404) return message.startsWith(NO_ROUTE) ? 'no-collection' : 'failed';
  if (status === 401 || status === 403) return 'forbidden';
  return status < 500 ? 'invalid' : 'failed';
}

/**
 * Payload checks access, existence and values, unique ones included, before it stores anything. A hook of the site may
 * throw any other error afterwards.
 */
const isBeforeWrite = (status: number, name: string): boolean =>
  [401, 403, 404].includes(status) || name === 'ValidationError' || name === 'QueryError';

function invalidPaths(error: JsonObject | undefined): string[] {
  const errors = isObject(error?.data) ? error.data.errors : undefined;
  return (Array.isArray(errors) ? errors : []).flatMap((each: unknown) =>
    isObject(each) && typeof each.path === 'string' ? [each.path] : [],
  );
}
