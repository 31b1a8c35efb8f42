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

export const invalidParam = (name: string, message?: string): GatewayError =>
  invalidParams([message === undefined ? { name } : { name, message }]);

export function wrongType(name: string, type: string): ParamRefusal {
  const message = `${name} is not of type ${type}.`;
  return { name, message, detail: { code: 'rest_invalid_type', message, data: { param: name } } };
}

export const missingParams = (names: string[]): GatewayError =>
  new GatewayError(400, 'rest_missing_callback_param', `Missing parameter(s): ${names.join(', ')}`, {
    data: { params: names },
  });

export const noRoute = (): GatewayError =>
  new GatewayError(404, 'rest_no_route', 'No route was found matching the URL and request method.');

/** 401 for an anonymous caller, 403 for one that is known. */
export const forbidden = (anonymous: boolean, cause?: unknown): GatewayError =>
  new GatewayError(anonymous ? 401 : 403, 'rest_forbidden', 'Sorry, you are not allowed to do that.', { cause });

/** The largest id of the original: an over-long number is named as this one (4). */
const LARGEST_ID = '9223372036854775807';

export const eventNotFound = (id: number): GatewayError =>
  new GatewayError(
    404,
    'rest-event-not-found',
    `Event with ID ${id >= Number.MAX_SAFE_INTEGER ? LARGEST_ID : id} does not exist.`,
  );

export const notAnEvent = (): GatewayError =>
  new GatewayError(400, 'rest-invalid-event-id', 'The specified ID is not a valid event.');

export const notAccessible = (kind: PostKind): GatewayError =>
  new GatewayError(403, `${kind}-not-accessible`, `The requested ${kind} is not accessible`);

export const noLongerAvailable = (): GatewayError =>
  new GatewayError(403, 'event-no-longer-available', 'This event is no longer available');

export const passwordProtected = (): GatewayError =>
  new GatewayError(403, 'event-password-protected', 'The requested event is not accessible without a password');

export const alreadyTrashed = (kind: PostKind): GatewayError =>
  new GatewayError(410, `${kind}-is-in-trash`, `The ${kind} is already trashed`);

export const pageNotFound = (kind: PostKind): GatewayError =>
  new GatewayError(404, `${kind}-archive-page-not-found`, `The requested ${kind} archive page does not exist`);

export const couldNotCreate = (kind: LinkedKind, cause?: unknown): GatewayError =>
  new GatewayError(400, `could-not-create-${kind}`, `The ${kind} could not be created from the provided data`, {
    cause,
  });

export const parentOfTag = (): GatewayError =>
  new GatewayError(400, 'rest_taxonomy_not_hierarchical', 'Cannot set parent term, taxonomy is not hierarchical.');

export function termExists(kind: 'category' | 'tag', termId: number): GatewayError {
  const where = kind === 'category' ? 'with this parent' : 'in this taxonomy';
  return new GatewayError(400, 'term_exists', `A term with the name provided already exists ${where}.`, {
    data: { term_id: termId },
    beside: { additional_data: [termId, termId] },
  });
}

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
