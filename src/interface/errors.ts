// The API's error catalogue: the status, code and message of every error, as The Events Calendar answers
// them.

import { ApiError } from '../errors.ts';
import { type Kind, type LinkedKind, PLURALS, type PostKind } from '../model/records.ts';

export interface ParamError {
  name: string;
  message?: string;
  /** The parameter's entry in the response's `details`, if there is more to say than the message. */
  detail?: Record<string, unknown>;
}

/** Names the invalid parameters, in the given order. */
export function invalidParams(
  errors: ParamError[],
  more: { data?: Record<string, unknown>; cause?: unknown } = {},
): ApiError {
  const params = Object.fromEntries(errors.map(({ name, message }) => [name, message ?? 'Invalid parameter.']));
  const detailed = errors.filter(({ detail }) => detail);
  const details = detailed.length > 0 ? Object.fromEntries(detailed.map(({ name, detail }) => [name, detail])) : [];
  return new ApiError(400, 'rest_invalid_param', `Invalid parameter(s): ${errors.map(({ name }) => name).join(', ')}`, {
    data: { params, details, ...more.data },
    cause: more.cause,
  });
}

/** Names one invalid parameter. The default message is `Invalid parameter.` */
export const invalidParam = (name: string, message?: string): ApiError =>
  invalidParams([message === undefined ? { name } : { name, message }]);

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
  408: ['rest_request_timeout', 'The request did not arrive in time.'],
  413: ['rest_body_too_large', 'The body is larger than this gateway accepts.'],
  414: ['rest_uri_too_long', 'The address of this request is too long.'],
  417: ['rest_expectation_failed', 'This gateway knows no expectation but 100-continue.'],
  431: ['rest_headers_too_large', 'The headers are larger than this gateway accepts.'],
};

/** The request is too large, too slow or malformed: no route has seen it. */
export function unreadableRequest(status: number): ApiError {
  const [code, message] = UNREADABLE[status] ?? ['rest_bad_request', 'The request could not be read.'];
  return new ApiError(status, code, message);
}

/** The API has no such path, or the path does not have this method. */
export const noRoute = (): ApiError =>
  new ApiError(404, 'rest_no_route', 'No route was found matching the URL and request method.');

/** 401 for an anonymous caller, 403 for an account. */
export const forbidden = (anonymous: boolean, cause?: unknown): ApiError =>
  new ApiError(anonymous ? 401 : 403, 'rest_forbidden', 'Sorry, you are not allowed to do that.', { cause });

/** PHP's largest integer: The Events Calendar reports every larger number as this one. */
const LARGEST_ID = '9223372036854775807';

/** No event has this id. 0 stands for the unknown slug of an update. */
export const eventNotFound = (id: number): ApiError =>
  new ApiError(
    404,
    'rest-event-not-found',
    `Event with ID ${id >= Number.MAX_SAFE_INTEGER ? LARGEST_ID : id} does not exist.`,
  );

/** The id belongs to a record of another kind. */
export const notAnEvent = (): ApiError =>
  new ApiError(400, 'rest-invalid-event-id', 'The specified ID is not a valid event.');

/** The actor may not see the record: 403 for an anonymous actor too. */
export const notAccessible = (kind: PostKind): ApiError =>
  new ApiError(403, `${kind}-not-accessible`, `The requested ${kind} is not accessible`);

/** The event is in the trash, where no actor can read it. */
export const noLongerAvailable = (): ApiError =>
  new ApiError(403, 'event-no-longer-available', 'This event is no longer available');

/** An event without a start cannot be in a calendar file. */
export const eventWithoutDate = (): ApiError =>
  new ApiError(404, 'event-without-date', 'The requested event has no date');

/** The event's password is missing or wrong. */
export const passwordProtected = (): ApiError =>
  new ApiError(403, 'event-password-protected', 'The requested event is not accessible without a password');

/** The record to be deleted is in the trash already. */
export const alreadyTrashed = (kind: PostKind): ApiError =>
  new ApiError(410, `${kind}-is-in-trash`, `The ${kind} is already trashed`);

/** The token of `/changes` is older than what the gateway remembers, or of another replica. */
export const changesGone = (): ApiError =>
  new ApiError(
    410,
    'calendar_changes_gone',
    'The changes since this token are not known any more. Get a new token, and read the lists again.',
  );

/** The page is after the last one of a list of posts. A term list is empty there instead. */
export const pageNotFound = (kind: PostKind): ApiError =>
  new ApiError(404, `${kind}-archive-page-not-found`, `The requested ${kind} archive page does not exist`);

/** The name of a new venue or organizer is blank, or an event's body describes one with invalid data. */
export const couldNotCreate = (kind: LinkedKind, cause?: unknown): ApiError =>
  new ApiError(400, `could-not-create-${kind}`, `The ${kind} could not be created from the provided data`, {
    cause,
  });

/** The client sent a `parent` for a tag. */
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

/** The `namespace` parameter of the API root names another namespace. */
export const unknownNamespace = (): ApiError =>
  new ApiError(404, 'rest_invalid_namespace', 'The specified namespace could not be found.');

/** The mapping maps this kind read-only, or as text inside the events. */
export const readOnly = (kind: Kind): ApiError =>
  new ApiError(403, 'rest_forbidden', `This site offers its ${PLURALS[kind]} for reading only.`);

/** The CMS keeps the occurrence in the record of its series. */
export const readOnlyOccurrence = (seriesId: number): ApiError =>
  new ApiError(
    403,
    'rest_forbidden',
    `An occurrence of a series is for reading only. The series is event ${seriesId}.`,
  );

/** The mapping does not have this kind. */
export const noSuchKind = (kind: Kind): ApiError =>
  new ApiError(403, 'rest_forbidden', `This site has no ${PLURALS[kind]}.`);

/** The initial sync is not complete. A list of only some records would look like a complete one. */
export const notReady = (percent: number): ApiError =>
  new ApiError(503, 'calendar_not_ready', `The calendar is syncing: ${percent} % done. Try again shortly.`, {
    data: { percent },
    headers: { 'Retry-After': '5' },
  });
