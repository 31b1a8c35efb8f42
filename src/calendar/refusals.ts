// Every refusal of the interface: its code, status and sentence (interface-behaviour, section 10).

import { GatewayError } from '../errors.ts';
import type { Kind, LinkedKind, PostKind } from '../records.ts';

export interface ParamRefusal {
  name: string;
  message?: string;
  /** What `details` says of it, where the original says more than the sentence. */
  detail?: Record<string, unknown>;
}

/** The general refusal of parameters: which ones, in the order given. */
export function invalidParams(
  refused: ParamRefusal[],
  more: { data?: Record<string, unknown>; cause?: unknown } = {},
): GatewayError {
  const params = Object.fromEntries(refused.map(({ name, message }) => [name, message ?? 'Invalid parameter.']));
  const detailed = refused.filter(({ detail }) => detail);
  const details = detailed.length > 0 ? Object.fromEntries(detailed.map(({ name, detail }) => [name, detail])) : [];
  return new GatewayError(
    400,
    'rest_invalid_param',
    `Invalid parameter(s): ${refused.map(({ name }) => name).join(', ')}`,
    {
      data: { params, details, ...more.data },
      cause: more.cause,
    },
  );
}

/** One parameter is refused; without a `message` by the general sentence. */
export const invalidParam = (name: string, message?: string): GatewayError =>
  invalidParams([message === undefined ? { name } : { name, message }]);

/** A JSON value of another type, for `invalidParams`; the type is told by the sentence, its code stands in `details`. */
export function wrongType(name: string, type: string): ParamRefusal {
  const message = `${name} is not of type ${type}.`;
  return { name, message, detail: { code: 'rest_invalid_type', message, data: { param: name } } };
}

/** Required parameters that are absent, all of them: no other check was made yet (0). */
export const missingParams = (names: string[]): GatewayError =>
  new GatewayError(400, 'rest_missing_callback_param', `Missing parameter(s): ${names.join(', ')}`, {
    data: { params: names },
  });

/** The path is none of the interface, or has no such method. */
export const noRoute = (): GatewayError =>
  new GatewayError(404, 'rest_no_route', 'No route was found matching the URL and request method.');

/** 401 for an anonymous caller, 403 for one that is known. */
export const forbidden = (anonymous: boolean, cause?: unknown): GatewayError =>
  new GatewayError(anonymous ? 401 : 403, 'rest_forbidden', 'Sorry, you are not allowed to do that.', { cause });

/** The largest id of the original: an over-long number is named as this one (4). */
const LARGEST_ID = '9223372036854775807';

/** No event has this id; 0 stands for a slug that an update does not find (5.2). */
export const eventNotFound = (id: number): GatewayError =>
  new GatewayError(
    404,
    'rest-event-not-found',
    `Event with ID ${id >= Number.MAX_SAFE_INTEGER ? LARGEST_ID : id} does not exist.`,
  );

/** The id is that of a record of another kind. */
export const notAnEvent = (): GatewayError =>
  new GatewayError(400, 'rest-invalid-event-id', 'The specified ID is not a valid event.');

/** The record is not for this caller to see: 403 for anonymous ones too (4). */
export const notAccessible = (kind: PostKind): GatewayError =>
  new GatewayError(403, `${kind}-not-accessible`, `The requested ${kind} is not accessible`);

/** An event in the trash, which nobody reads (4). */
export const noLongerAvailable = (): GatewayError =>
  new GatewayError(403, 'event-no-longer-available', 'This event is no longer available');

/** The password of an event is missing or wrong, whoever asks (4). */
export const passwordProtected = (): GatewayError =>
  new GatewayError(403, 'event-password-protected', 'The requested event is not accessible without a password');

/** The record is in the trash: it was deleted before (6). */
export const alreadyTrashed = (kind: PostKind): GatewayError =>
  new GatewayError(410, `${kind}-is-in-trash`, `The ${kind} is already trashed`);

/** The page lies behind the last one of a list of posts; term lists are just empty there. */
export const pageNotFound = (kind: PostKind): GatewayError =>
  new GatewayError(404, `${kind}-archive-page-not-found`, `The requested ${kind} archive page does not exist`);

/** The name is blank, or a venue or organizer in an event's body cannot be made of what was sent (5.6, 5.7). */
export const couldNotCreate = (kind: LinkedKind, cause?: unknown): GatewayError =>
  new GatewayError(400, `could-not-create-${kind}`, `The ${kind} could not be created from the provided data`, {
    cause,
  });

/** A `parent` was sent for a tag. */
export const parentOfTag = (): GatewayError =>
  new GatewayError(400, 'rest_taxonomy_not_hierarchical', 'Cannot set parent term, taxonomy is not hierarchical.');

/** Another term has the name; `termId` is that term, named in `data` and once more beside it, as in the original. */
export function termExists(kind: 'category' | 'tag', termId: number): GatewayError {
  const where = kind === 'category' ? 'with this parent' : 'in this taxonomy';
  return new GatewayError(400, 'term_exists', `A term with the name provided already exists ${where}.`, {
    data: { term_id: termId },
    beside: { additional_data: [termId, termId] },
  });
}

/** The root is asked to describe a `namespace` that it is not (8). */
export const unknownNamespace = (): GatewayError =>
  new GatewayError(404, 'rest_invalid_namespace', 'The specified namespace could not be found.');

/** The mapping has no place for this kind, or it may only be read. */
export const readOnly = (kind: Kind): GatewayError =>
  new GatewayError(
    403,
    'rest_forbidden',
    `This site offers its ${kind === 'category' ? 'categories' : `${kind}s`} for reading only.`,
  );

/** The first copy is not complete: a part is never shown as if it were the whole. */
export const notReady = (percent: number): GatewayError =>
  new GatewayError(503, 'calendar_not_ready', `The calendar is being copied: ${percent} % done. Try again shortly.`, {
    data: { percent },
    headers: { 'Retry-After': '5' },
  });
