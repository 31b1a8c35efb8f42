// Translates WordPress's errors into the gateway's kinds of rejections, and says what a rejected write has left.

import { CmsRejected, type RejectionKind, type RejectionOptions } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import { type CmsResponse, errorCode, isWrite } from '../http-exchange.ts';
import type { CmsRecord } from '../port.ts';

type Meaning = Pick<RejectionOptions, 'fields'> & { kind: RejectionKind };

/** By WordPress's own error codes. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  rest_post_invalid_id: { kind: 'not-found' },
  rest_term_invalid: { kind: 'not-found' },
  rest_user_invalid_id: { kind: 'not-found' },
  rest_forbidden: { kind: 'not-visible' },
  rest_no_route: { kind: 'no-collection' },
  rest_not_logged_in: { kind: 'unauthenticated' },
  incorrect_password: { kind: 'unauthenticated' },
  invalid_username: { kind: 'unauthenticated', fields: ['username'] },
  invalid_email: { kind: 'unauthenticated', fields: ['email'] },
  rest_already_trashed: { kind: 'in-trash' },
  rest_trash_not_supported: { kind: 'no-trash' },
  rest_invalid_author: { kind: 'invalid', fields: ['author'] },
  rest_invalid_featured_media: { kind: 'invalid', fields: ['featured_media'] },
  empty_content: { kind: 'invalid', fields: ['title'] },
  empty_term_name: { kind: 'invalid', fields: ['name'] },
  /** Of a term: its name is too long for the database. */
  db_insert_error: { kind: 'failed', fields: ['name'] },
  duplicate_term_slug: { kind: 'conflict', fields: ['slug'] },
  term_exists: { kind: 'conflict', fields: ['name'] },
};

/**
 * WordPress's own error codes from before the write. For a create it inserts a post before it checks its terms and meta
 * fields, and keeps it. Codes that a plugin is likely to use as well, at any time, are not in the list.
 */
const CODES_BEFORE_WRITE = new Set([
  'duplicate_term_slug',
  'empty_content',
  'empty_term_name',
  'incorrect_password',
  'invalid_email',
  'invalid_username',
  'missing_parent',
  'rest_already_trashed',
  'rest_cannot_assign_sticky',
  'rest_cannot_assign_term',
  'rest_cannot_create',
  'rest_cannot_edit_others',
  'rest_cannot_publish',
  'rest_invalid_author',
  'rest_missing_callback_param',
  'rest_not_logged_in',
  'rest_post_exists',
  'rest_taxonomy_not_hierarchical',
  'rest_trash_not_supported',
  'term_exists',
]);

/** The code of an error without one, as some plugins send it. */
const FALLBACK_CODE = 'rest_upstream_error';

/** Converts the error body `{code, message, data}` of a response with status 400 or more. */
export function rejection({ status, json }: Pick<CmsResponse, 'status' | 'json'>, method: string, route: string) {
  const body = isObject(json) ? json : {};
  const code = errorCode(json) || FALLBACK_CODE;
  const data = isObject(body.data) ? body.data : {};
  const cmsMessage = typeof body.message === 'string' ? body.message : `The CMS answered with status ${status}.`;
  // WordPress's message does not name the route.
  const message = code === 'rest_no_route' ? `The CMS has no route ${method} ${route}.` : cmsMessage;
  return new CmsRejected(kindOf(status, code, data), invalidReasons(data) || message, {
    status,
    code,
    fields: MEANINGS[code]?.fields ?? invalidFields(data),
    ...(code === 'term_exists' && { existingId: Number(data.term_id ?? 0) }),
    written: isWrite(method) && !isBeforeWrite(status, code, data) ? 'unknown' : 'no',
  });
}

function kindOf(status: number, code: string, data: CmsRecord): RejectionKind {
  const kind = MEANINGS[code]?.kind;
  const isRefused = status === 401 || status === 403;
  // A plugin may use these codes for whatever it refuses: `rest_forbidden` with 500 does not hide a record.
  const isPlausible: Partial<Record<RejectionKind, boolean>> = {
    'not-found': status === 404,
    'not-visible': isRefused,
  };
  if (kind && isPlausible[kind] !== false) return kind;
  if (isRefused) return 'forbidden';
  return data.params !== undefined || (status >= 400 && status < 500 && status !== 404) ? 'invalid' : 'failed';
}

const isBeforeWrite = (status: number, code: string, data: CmsRecord): boolean =>
  status === 401 ||
  CODES_BEFORE_WRITE.has(code) ||
  /^rest_upload_\w+$/.test(code) ||
  // With `params`, the error comes from the validation of the parameters.
  (code === 'rest_invalid_param' && data.params !== undefined);

/**
 * The parameters that WordPress names as invalid. A message may begin with a more exact location than its
 * key: `meta.start is not ...`, `acf[price] is not ...`, `price is a required property of acf`.
 */
function invalidFields({ params, details }: CmsRecord): string[] {
  return Object.entries(isObject(params) ? params : {}).flatMap(([key, message]) => {
    const first = typeof message === 'string' ? message.split(' ', 1)[0]! : '';
    const detail = isObject(details) ? details[key] : undefined;
    const isMissing = isObject(detail) && detail.code === 'rest_property_required';
    const location = (isMissing ? `${key}.${first}` : first).replaceAll('[', '.').replaceAll(']', '');
    return location.startsWith(`${key}.`) ? [key, location] : [key];
  });
}

/** WordPress's message about invalid parameters names them without the reasons. */
const invalidReasons = ({ params }: CmsRecord): string =>
  isObject(params) ? Object.values(params).map(String).join(' ') : '';
