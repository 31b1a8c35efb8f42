// What WordPress's errors mean: one of the gateway's kinds, the invalid fields, and whether something may be written.

import { CmsRejected, type RejectionKind } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import type { CmsRecord } from '../port.ts';
import { type CmsResponse, errorCode } from '../response.ts';
import { isWrite } from '../send-request.ts';

/** `kind` and `fields`: of the rejection. `isBeforeWrite`: WordPress has written nothing. */
interface Meaning {
  kind?: RejectionKind;
  fields?: readonly string[];
  isBeforeWrite?: true;
}

const BEFORE_WRITE = { isBeforeWrite: true } as const;

/**
 * By WordPress's own error codes. Not `BEFORE_WRITE`: an error of storing a post's image, terms or meta, since a create
 * inserts the post before; and a code that plugins use too, such as `rest_forbidden`, which may come after the insert.
 */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  rest_post_invalid_id: { kind: 'not-found' },
  rest_term_invalid: { kind: 'not-found' },
  rest_forbidden: { kind: 'not-visible' },
  rest_no_route: { kind: 'no-collection' },
  rest_not_logged_in: { kind: 'unauthenticated', ...BEFORE_WRITE },
  incorrect_password: { kind: 'unauthenticated', ...BEFORE_WRITE },
  invalid_username: { kind: 'unauthenticated', fields: ['username'], ...BEFORE_WRITE },
  invalid_email: { kind: 'unauthenticated', fields: ['email'], ...BEFORE_WRITE },
  rest_already_trashed: { kind: 'in-trash', ...BEFORE_WRITE },
  rest_trash_not_supported: { kind: 'no-trash', ...BEFORE_WRITE },
  rest_invalid_author: { kind: 'invalid', fields: ['author'], ...BEFORE_WRITE },
  rest_invalid_featured_media: { kind: 'invalid', fields: ['featured_media'] },
  empty_content: { kind: 'invalid', fields: ['title'], ...BEFORE_WRITE },
  empty_term_name: { kind: 'invalid', fields: ['name'], ...BEFORE_WRITE },
  /** Of a term: its name is too long for the database. */
  db_insert_error: { kind: 'failed', fields: ['name'] },
  duplicate_term_slug: { kind: 'conflict', fields: ['slug'], ...BEFORE_WRITE },
  term_exists: { kind: 'conflict', fields: ['name'], ...BEFORE_WRITE },
  missing_parent: BEFORE_WRITE, // Of this and the next ones `kindOf` gives the kind, by their status.
  rest_cannot_assign_term: BEFORE_WRITE,
  rest_cannot_create: BEFORE_WRITE,
  rest_cannot_edit_others: BEFORE_WRITE,
  rest_cannot_publish: BEFORE_WRITE,
  rest_missing_callback_param: BEFORE_WRITE,
  rest_post_exists: BEFORE_WRITE,
  rest_taxonomy_not_hierarchical: BEFORE_WRITE,
};

/** Converts the error body `{code, message, data}` of a response with status 400 or more. */
export function rejection({ status, json }: Pick<CmsResponse, 'status' | 'json'>, method: string, route: string) {
  const body = isObject(json) ? json : {};
  // Some plugins send an error without a code.
  const code = errorCode(json) || 'rest_upstream_error';
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

/**
 * The first line that fits. A plugin may use WordPress's codes for whatever it refuses: 500 rest_forbidden is `failed`.
 *     a code of MEANINGS: `not-found` with 404; `not-visible`, `unauthenticated` with 401, 403     its kind
 *     a code of MEANINGS that has any other kind, with any status                                  its kind
 *     401, 403                                                                                     forbidden
 *     any status with `params`; any other below 500 but 404                                        invalid
 *     404 and 5xx without `params`                                                                 failed
 */
function kindOf(status: number, code: string, data: CmsRecord): RejectionKind {
  const kind = MEANINGS[code]?.kind;
  const isRefused = status === 401 || status === 403;
  const isOfAccess = kind === 'not-visible' || kind === 'unauthenticated';
  const isMisused = (kind === 'not-found' && status !== 404) || (isOfAccess && !isRefused);
  if (kind && !isMisused) return kind;
  if (isRefused) return 'forbidden';
  return data.params !== undefined || (status < 500 && status !== 404) ? 'invalid' : 'failed';
}

const isBeforeWrite = (status: number, code: string, data: CmsRecord): boolean =>
  status === 401 ||
  MEANINGS[code]?.isBeforeWrite === true ||
  /^rest_upload_\w+$/.test(code) ||
  // With `params`, the error comes from the validation of the parameters.
  (code === 'rest_invalid_param' && data.params !== undefined);

/**
 * The parameters that WordPress names as invalid, and the more exact location with which a message may begin:
 *     {meta: 'meta.start is not ...'}                      meta, meta.start
 *     {acf: 'acf[price] is not ...'}                       acf, acf.price
 *     {acf: 'price is a required property of acf.'}        acf, acf.price: was not sent, as `details` says
 *     {acf: 'town is a required property of acf[at].'}     acf, acf.at.town
 *     ['title'] (rest_missing_callback_param)              title
 */
function invalidFields({ params, details }: CmsRecord): string[] {
  if (Array.isArray(params)) return params.map(String);
  return Object.entries(isObject(params) ? params : {}).flatMap(([key, message]) => {
    const words = typeof message === 'string' ? message.split(' ') : [];
    const [first = ''] = words;
    const detail = isObject(details) ? details[key] : undefined;
    const isMissing = isObject(detail) && detail.code === 'rest_property_required';
    // The word `acf[at]`, without a dot after it; or `acf` itself.
    const group = words.find((word) => word.startsWith(`${key}[`))?.replace(/\.$/, '') ?? key;
    const location = (isMissing ? `${group}.${first}` : first).replaceAll('[', '.').replaceAll(']', '');
    return location.startsWith(`${key}.`) ? [key, location] : [key];
  });
}

/** WordPress's message about invalid parameters names them without the reasons. */
const invalidReasons = ({ params }: CmsRecord): string =>
  isObject(params) ? Object.values(params).map(String).join(' ') : '';
