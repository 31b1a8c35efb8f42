// WordPress' way of saying no, and bodies that are not what was asked for.

import { UpstreamAway, UpstreamRefused } from '../../errors.ts';
import { type Answer, errorCode } from '../answer.ts';
import type { Native } from '../port.ts';

/** What a refusal is called whose plugin left the code out. */
const NO_CODE = 'rest_upstream_error';

/**
 * The error body `{code, message, data}` of an answer with a status of 400 or more, in the CMS's own words (upstream-wordpress 6). `asked`:
 * method and route, which name a missing route in the message.
 */
export function refusalOf({ status, json }: Answer, asked: string): UpstreamRefused {
  const body = isNative(json) ? json : {};
  const code = errorCode(json) || NO_CODE;
  const said = typeof body.message === 'string' ? body.message : `The CMS answered with status ${status}.`;
  // WordPress does not say which.
  const message = code === 'rest_no_route' ? `The CMS has no route ${asked}.` : said;
  return new UpstreamRefused(status, code, message, isNative(body.data) ? body.data : {});
}

/** The body as one record. @throws UpstreamAway `not-json` when it is something else */
export function nativeOf({ json, status }: Answer): Native {
  if (isNative(json)) return json;
  throw new UpstreamAway('not-json', 'The CMS answered with a list in place of a record.', { status });
}

/** The answer to a write as the record that was written. @throws UpstreamAway `not-json` with an unknown outcome when it is something else */
export function writtenOf({ json, status }: Answer): Native {
  if (isNative(json) && (isId(json.id) || json.deleted === true)) return json;
  throw new UpstreamAway('not-json', 'The CMS answered a write with something other than the record.', {
    status,
    outcomeUnknown: true,
  });
}

const isId = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 0;

/** The body as a list of records. @throws UpstreamAway `not-json` when it is something else */
export function nativesOf({ json, status }: Answer): Native[] {
  if (Array.isArray(json) && json.every(isNative)) return json;
  throw new UpstreamAway('not-json', 'The CMS answered with something else than a list of records.', { status });
}

/** Whether JSON is an object: neither a list nor null. */
export function isNative(value: unknown): value is Native {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as a record, `{}` for anything else: PHP writes an empty one as `[]`. */
export function recordOr(value: unknown): Native {
  return isNative(value) ? value : {};
}
