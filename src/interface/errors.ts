// The API's error catalogue: the status, code and message of every error, as The Events Calendar answers them.

import { ApiError, type CmsRejected, type CmsUnavailable, type ReplicaError } from '../errors.ts';
import type { JsonObject } from '../model/json.ts';
import { type Kind, type LinkedKind, PLURALS, type PostKind } from '../model/records.ts';

export interface ParamError {
  name: string;
  message?: string | undefined;
  /** The request sent nothing for it, or a blank; and the site refuses what the record has there. */
  isMissing?: boolean;
  /** The parameter's entry in the response's `details`, if there is more to say than the message. */
  detail?: Record<string, unknown>;
  /** What to write instead. The original has no such text: it is in `hints`, beside `params` and `details`. */
  hint?: string | undefined;
}

export function invalidParams(
  errors: ParamError[],
  more: { data?: Record<string, unknown>; cause?: unknown } = {},
): ApiError {
  const params = Object.fromEntries(errors.map(({ name, message }) => [name, message ?? 'Invalid parameter.']));
  const detailed = errors.filter(({ detail }) => detail);
  // PHP writes an empty object as `[]`.
  const details = detailed.length > 0 ? Object.fromEntries(detailed.map(({ name, detail }) => [name, detail])) : [];
  const hints = errors.flatMap(({ name, hint }) => (hint === undefined ? [] : [[name, hint] as const]));
  return new ApiError(400, 'rest_invalid_param', `Invalid parameter(s): ${errors.map(({ name }) => name).join(', ')}`, {
    data: { params, details, ...(hints.length > 0 ? { hints: Object.fromEntries(hints) } : {}), ...more.data },
    cause: more.cause,
  });
}

export const invalidParam = (name: string, message?: string): ApiError => invalidParams([{ name, message }]);

/** A JSON value of the wrong type: the message names the expected type, `details` has the code. */
export function wrongType(name: string, type: string): ParamError {
  const message = `${name} is not of type ${type}.`;
  return { name, message, detail: { code: 'rest_invalid_type', message, data: { param: name } } };
}

/** Names all missing required parameters. Validation reports them before any other error. */
export const missingParams = (names: string[]): ApiError =>
  new ApiError(400, 'rest_missing_callback_param', `Missing parameter(s): ${names.join(', ')}`, {
    data: { params: names },
  });

const UNREADABLE: Readonly<Record<number, [code: string, message: string]>> = {
  413: ['rest_body_too_large', 'The body is larger than this gateway accepts.'],
  414: ['rest_uri_too_long', 'The address of this request is too long.'],
  431: ['rest_headers_too_large', 'The headers are larger than this gateway accepts.'],
};

/** The request is too large, too slow or malformed: no route has seen it. */
export function unreadableRequest(status: number): ApiError {
  const [code, message] = UNREADABLE[status] ?? ['rest_bad_request', 'The request could not be read.'];
  return new ApiError(status, code, message);
}

export const noRoute = (): ApiError =>
  new ApiError(404, 'rest_no_route', 'No route was found matching the URL and request method.');

/** 401 for an anonymous caller, 403 for an account. */
export const forbidden = (caller: 'anonymous' | 'account', cause?: unknown): ApiError =>
  new ApiError(caller === 'anonymous' ? 401 : 403, 'rest_forbidden', 'Sorry, you are not allowed to do that.', {
    cause,
  });

/** PHP's largest integer: The Events Calendar reports every larger number as this one. */
const LARGEST_ID = '9223372036854775807';

/** No event has this id. 0 stands for the unknown slug of an update. */
export function eventNotFound(id: number): ApiError {
  const shownId = id >= Number.MAX_SAFE_INTEGER ? LARGEST_ID : id;
  return new ApiError(404, 'rest-event-not-found', `Event with ID ${shownId} does not exist.`);
}

export const notAnEvent = (): ApiError =>
  new ApiError(400, 'rest-invalid-event-id', 'The specified ID is not a valid event.');

/** The actor may not see the record: 403 for an anonymous actor too. */
export const notAccessible = (kind: PostKind): ApiError =>
  new ApiError(403, `${kind}-not-accessible`, `The requested ${kind} is not accessible`);

/** The event is in the trash, where no actor can read it. */
export const noLongerAvailable = (): ApiError =>
  new ApiError(403, 'event-no-longer-available', 'This event is no longer available');

export const eventWithoutDate = (): ApiError =>
  new ApiError(404, 'event-without-date', 'The requested event has no date');

export const passwordProtected = (): ApiError =>
  new ApiError(403, 'event-password-protected', 'The requested event is not accessible without a password');

export const alreadyTrashed = (kind: PostKind): ApiError =>
  new ApiError(410, `${kind}-is-in-trash`, `The ${kind} is already trashed`);

export const changesGone = (): ApiError => {
  const message = 'The changes since this token are not known any more. Get a new token, and read the lists again.';
  return new ApiError(410, 'calendar_changes_gone', message);
};

/** The page is after the last one of a list of posts. A term list is empty there instead. */
export const pageNotFound = (kind: PostKind): ApiError =>
  new ApiError(404, `${kind}-archive-page-not-found`, `The requested ${kind} archive page does not exist`);

/** The name of a new venue or organizer is blank, or an event's body describes one with invalid data. */
export const couldNotCreate = (kind: LinkedKind, cause?: ApiError): ApiError =>
  new ApiError(400, `could-not-create-${kind}`, `The ${kind} could not be created from the provided data`, {
    data: { ...cause?.data },
    cause,
  });

export const tagHasNoParent = (): ApiError =>
  new ApiError(400, 'rest_taxonomy_not_hierarchical', 'Cannot set parent term, taxonomy is not hierarchical.');

/** Another term, `termId`, has the name. As The Events Calendar answers, `additional_data` repeats the id. */
export function termNameTaken(kind: 'category' | 'tag', termId: number): ApiError {
  const where = kind === 'category' ? 'with this parent' : 'in this taxonomy';
  return new ApiError(400, 'term_exists', `A term with the name provided already exists ${where}.`, {
    data: { term_id: termId },
    extra: { additional_data: [termId, termId] },
  });
}

export const unknownNamespace = (): ApiError =>
  new ApiError(404, 'rest_invalid_namespace', 'The specified namespace could not be found.');

const notOffered = (message: string): ApiError => new ApiError(403, 'rest_forbidden', message);

/** A page whose host name was made to lead here calls a tool. */
export const foreignOrigin = (): ApiError =>
  notOffered('Scripts of this origin may not call the tools (allowedOrigins).');

/** The mapping maps this kind read-only, or as text inside the events. */
export const readOnly = (kind: Kind): ApiError => notOffered(`This site offers its ${PLURALS[kind]} for reading only.`);

export const readOnlySource = (kind: Kind): ApiError =>
  new ApiError(403, 'calendar_source_read_only', `This ${kind} comes from a source, which is for reading only.`);

export const readOnlyCalendar = (): ApiError =>
  new ApiError(403, 'calendar_source_read_only', 'This calendar has no CMS, and its sources are for reading only.');

/** The CMS keeps the occurrence in the record of its series. */
export const readOnlyOccurrence = (seriesId: number): ApiError =>
  notOffered(`An occurrence of a series is for reading only. The series is event ${seriesId}.`);

export const noSuchKind = (kind: Kind): ApiError => notOffered(`This site has no ${PLURALS[kind]}.`);

export const notReady = (percent: number): ApiError =>
  new ApiError(503, 'calendar_not_ready', `The calendar is syncing: ${percent} % done. Try again shortly.`, {
    data: { percent },
    headers: { 'Retry-After': '5' },
  });

/** A nonce belongs to the cookies of the CMS, which the gateway does not know. */
export const invalidNonce = (): ApiError => new ApiError(403, 'rest_cookie_invalid_nonce', 'Cookie check failed');

export const tooManyLogins = (retryAfterS: number): ApiError =>
  new ApiError(429, 'rest_too_many_logins', 'Too many failed logins. Try again later.', {
    headers: { 'Retry-After': String(retryAfterS) },
  });

export const tooManyPasswords = (): ApiError =>
  new ApiError(429, 'rest_too_many_passwords', 'Too many passwords are being tried. Try again shortly.', {
    headers: { 'Retry-After': '1' },
  });

/** Only this error has RateLimit headers: what one client has left must not get into a shared cache. */
export const tooManyRequests = (seconds: number, requestsPerMinute: number): ApiError =>
  new ApiError(429, 'rest_too_many_requests', 'Too many requests from this address. Try again later.', {
    headers: {
      'Retry-After': String(seconds),
      RateLimit: `"minute";r=0;t=${seconds}`,
      'RateLimit-Policy': `"minute";q=${requestsPerMinute};w=60`,
    },
  });

/** The process has too much to do. It reads no body of the request, and closes the connection instead. */
export const overloaded = (hasBody: boolean): ApiError =>
  new ApiError(503, 'calendar_overloaded', 'This calendar is overloaded. Try again shortly.', {
    headers: { 'Retry-After': '1', ...(hasBody && { Connection: 'close' }) },
  });

export const tooManyImages = (): ApiError =>
  new ApiError(503, 'calendar_overloaded', 'Too many images are being fetched at once. Try again shortly.', {
    headers: { 'Retry-After': '5' },
  });

/** The records of the page have long texts, or many venues and organizers with long texts. */
export const listTooLarge = (): ApiError =>
  new ApiError(400, 'calendar_list_too_large', 'These records have more than 8 MB. Ask for fewer with per_page.', {
    data: { params: { per_page: 'Too many records of this size.' } },
  });

export function tooManyUnpublished(kind: PostKind, limit: number): ApiError {
  const message = `This account may see more than ${limit} unpublished ${PLURALS[kind]}: lists for it show no more. `;
  const data = { limit, kind };
  return new ApiError(400, 'calendar_too_many_unpublished', `${message}Log out to list what is published.`, { data });
}

/** PHP's codes and messages for errors of `json_decode`. */
const JSON_ERRORS = {
  depth: { json_error_code: 1, json_error_message: 'Maximum stack depth exceeded' },
  syntax: { json_error_code: 4, json_error_message: 'Syntax error' },
  utf8: { json_error_code: 5, json_error_message: 'Malformed UTF-8 characters, possibly incorrectly encoded' },
  utf16: { json_error_code: 10, json_error_message: 'Single unpaired high surrogate in Unicode escape' },
} as const;

export const invalidJson = (cause: unknown, kind: keyof typeof JSON_ERRORS = 'syntax'): ApiError =>
  new ApiError(400, 'rest_invalid_json', 'Invalid JSON body passed.', { data: JSON_ERRORS[kind], cause });

/** The one error body without `data`. */
export const invalidCallback = (): ApiError =>
  new ApiError(400, 'rest_callback_invalid', 'Invalid JSONP callback function.', { omitData: true });

export const invalidVersion = (): ApiError =>
  new ApiError(400, 'rest_invalid_version', 'X-Calendar-Min-Version must be a value of X-Calendar-Version.');

export const behind = (): ApiError =>
  new ApiError(503, 'calendar_behind', 'This gateway has not reached that version yet. Try again soon.', {
    headers: { 'Retry-After': '1' },
  });

export function replicaUnavailable({ reason }: ReplicaError): ApiError {
  const message =
    reason === 'unwritable'
      ? 'This calendar cannot store anything at the moment, so that nothing was changed. Try again shortly.'
      : 'This calendar is rebuilding its data. Try again shortly.';
  const options = { data: { reason }, headers: { 'Retry-After': '5' } };
  return new ApiError(503, 'calendar_replica_unavailable', message, options);
}

export const createInProgress = (): ApiError =>
  new ApiError(409, 'calendar_create_in_progress', 'A request with this Idempotency-Key is in progress.', {
    headers: { 'Retry-After': '2' },
  });

export const keyReused = (): ApiError =>
  new ApiError(422, 'calendar_idempotency_key_reused', 'This Idempotency-Key belongs to a request with another body.');

/** Redis, where several gateways keep their keys, does not respond. */
export const keysUnavailable = (cause: unknown): ApiError => {
  const message = 'The gateway cannot look up this Idempotency-Key now. Nothing was created. Try again shortly.';
  return new ApiError(503, 'calendar_keys_unavailable', message, { headers: { 'Retry-After': '5' }, cause });
};

export const upstreamAway = (message: string, data: JsonObject, retryAfterS: number, cause: Error): ApiError => {
  const headers = { 'Retry-After': String(retryAfterS) };
  return new ApiError(503, 'calendar_upstream_away', message, { data, headers, cause });
};

const WRONG_PARTS: Readonly<Record<string, readonly [code: string, message: string]>> = {
  username: ['invalid_username', '<strong>Error:</strong> Unknown username. Check again or try your email address.'],
  email: ['invalid_email', '<strong>Error:</strong> Unknown email address. Check again or try your username.'],
};
const WRONG_PASSWORD = ['incorrect_password', 'The provided password is an invalid application password.'] as const;

/** Only some sites tell whether the name or the password is wrong. Of other sites the answer says: the password. */
export function invalidCredentials(error: CmsRejected): ApiError {
  const [code, message] = WRONG_PARTS[error.fields[0] ?? ''] ?? WRONG_PASSWORD;
  return new ApiError(401, code, message, { cause: error });
}

const OUTCOME_UNKNOWN =
  'The site did not answer after the change was sent: it may or may not have been made. Look at the record, with ' +
  '`Cache-Control: no-cache`, before you try again.';

/** The CMS did not respond: 502 if a write may have happened, otherwise 503. */
export function unavailableError(error: CmsUnavailable): ApiError {
  const data = { reason: error.reason };
  if (error.outcomeUnknown)
    return new ApiError(502, 'calendar_outcome_unknown', OUTCOME_UNKNOWN, { data, cause: error });
  const message = 'The site behind this calendar does not answer at the moment. Try again shortly.';
  return upstreamAway(message, data, error.retryAfterS ?? 5, error);
}

/** For an error of the CMS that no other function here fits. */
export function refusedByCms(error: CmsRejected): ApiError {
  const data = { upstream_code: error.code };
  if (error.status < 400 || error.status >= 500)
    return new ApiError(502, 'calendar_upstream_refused', 'The site could not carry this out.', { data, cause: error });
  return new ApiError(400, 'rest_invalid_param', 'The site refused the values that were sent.', {
    data: { ...data, params: {}, details: [] },
    cause: error,
  });
}

/** A bug, or a failure that no code expects. */
export const internalError = (step: 'answer' | 'complete', cause?: unknown): ApiError =>
  new ApiError(500, 'internal_server_error', `The gateway could not ${step} this request.`, { cause });
