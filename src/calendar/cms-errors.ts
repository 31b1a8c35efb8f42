// Maps the CMS's errors to API errors.

import { ApiError, CmsRejected, type CmsUnavailable } from '../errors.ts';
import {
  alreadyTrashed,
  eventNotFound,
  forbidden,
  invalidParam,
  invalidParams,
  termExists,
} from '../interface/errors.ts';
import { isPostKind, isTermKind } from '../model/kinds.ts';
import type { Kind } from '../model/records.ts';

export interface ErrorContext {
  kind: Kind;
  id?: number | undefined;
  anonymous: boolean;
  /** Location in the CMS record (`meta.cost`) -> API parameter. */
  parameterAt?: ((location: string) => string | undefined) | undefined;
}

/** The API parameter for a record's title or name. */
const TITLE_PARAMETERS: Record<Kind, string> = {
  event: 'title',
  venue: 'venue',
  organizer: 'organizer',
  category: 'name',
  tag: 'name',
};

/** No record has this id. Only events have an error code of their own for it. */
export const unknownId = (kind: Kind, id: number): ApiError =>
  kind === 'event' ? eventNotFound(id) : invalidParam('id');

/**
 * The CMS does not have the requested route, because a plugin is inactive. It does not mean that the record
 * is missing.
 */
export const NO_ROUTE = 'rest_no_route';

const BY_CODE: Record<string, (error: CmsRejected, context: ErrorContext) => ApiError> = {
  rest_post_invalid_id: (_, { kind, id }) => unknownId(kind, id ?? 0),
  rest_term_invalid: (_, { kind, id }) => unknownId(kind, id ?? 0),
  [NO_ROUTE]: missingRoute,
  rest_already_trashed: (error, { kind }) => (isPostKind(kind) ? alreadyTrashed(kind) : genericError(error)),
  rest_invalid_author: () => invalidParam('author'),
  rest_invalid_featured_media: () => invalidParam('image'),
  empty_content: (_, { kind }) => invalidParam(TITLE_PARAMETERS[kind]),
  empty_term_name: (_, { kind }) => invalidParam(TITLE_PARAMETERS[kind]),
  db_insert_error: (error, { kind }) =>
    isTermKind(kind) ? invalidParam('name', 'The name is too long.') : genericError(error),
  duplicate_term_slug: () => invalidParam('slug', 'The slug is already in use by another term.'),
  term_exists: (error, { kind }) =>
    isTermKind(kind) ? termExists(kind, Number(error.data.term_id ?? 0)) : genericError(error),
  rest_invalid_param: invalidParameters,
  incorrect_password: invalidCredentials,
  invalid_username: invalidCredentials,
  invalid_email: invalidCredentials,
};

/** Maps a `CmsRejected` to an `ApiError`. Returns any other error as it is. */
export function mapCmsError(error: unknown, context: ErrorContext): unknown {
  if (!(error instanceof CmsRejected)) return error;
  const map = BY_CODE[error.code];
  if (map) return map(error, context);
  if (error.status === 401 || error.status === 403) return forbidden(context.anonymous, error);
  return genericError(error);
}

/** Runs CMS calls and maps their errors. */
export async function mappingCmsErrors<T>(context: ErrorContext, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw mapCmsError(error, context);
  }
}

/** For codes without an API error: `upstream_code` has the CMS's code. */
function genericError(error: CmsRejected): ApiError {
  const data = { upstream_code: error.code };
  if (error.status >= 400 && error.status < 500) {
    return new ApiError(400, 'rest_invalid_param', 'The site refused the values that were sent.', {
      data: { ...data, params: {}, details: [] },
      cause: error,
    });
  }
  return new ApiError(502, 'calendar_upstream_refused', 'The site could not carry this out.', { data, cause: error });
}

function missingRoute(error: CmsRejected): ApiError {
  return new ApiError(
    503,
    'calendar_upstream_away',
    `The site behind this calendar lacks what this needs: ${error.message} Is the plugin active that brings it?`,
    { data: { reason: 'no-route', upstream_code: error.code }, headers: { 'Retry-After': '5' }, cause: error },
  );
}

/** Names the API parameters of the invalid CMS parameters. The error is generic if there are none. */
function invalidParameters(error: CmsRejected, { parameterAt }: ErrorContext): ApiError {
  const params = typeof error.data.params === 'object' && error.data.params !== null ? error.data.params : {};
  const locations = Object.entries(params as Record<string, unknown>).flatMap(([key, message]) =>
    // The message, such as "meta.start is not of type string.", has a more exact location than the key.
    typeof message === 'string' ? [key, message.split(' ', 1)[0]!] : [key],
  );
  const names = new Set(locations.flatMap((location) => parameterAt?.(location) ?? []));
  if (names.size === 0) return genericError(error);
  return invalidParams(
    [...names].map((name) => ({ name })),
    { data: { upstream_code: error.code }, cause: error },
  );
}

const CREDENTIAL_MESSAGES: Record<string, string> = {
  incorrect_password: 'The provided password is an invalid application password.',
  invalid_username: '<strong>Error:</strong> Unknown username. Check again or try your email address.',
  invalid_email: '<strong>Error:</strong> Unknown email address. Check again or try your username.',
};

/** Only some sites distinguish the three codes. On others every wrong login is a wrong password. */
export function invalidCredentials(error: CmsRejected): ApiError {
  const code = Object.hasOwn(CREDENTIAL_MESSAGES, error.code) ? error.code : 'incorrect_password';
  return new ApiError(401, code, CREDENTIAL_MESSAGES[code]!, { cause: error });
}

/** The CMS did not respond: 502 if a write may have happened, otherwise 503. */
export function unavailableError(error: CmsUnavailable): ApiError {
  if (error.outcomeUnknown) {
    return new ApiError(
      502,
      'calendar_outcome_unknown',
      'The site did not answer after the change was sent: it may or may not have been made. Look at the record, with `Cache-Control: no-cache`, before you try again.',
      { data: { reason: error.reason }, cause: error },
    );
  }
  return new ApiError(
    503,
    'calendar_upstream_away',
    'The site behind this calendar does not answer at the moment. Try again shortly.',
    {
      data: { reason: error.reason },
      headers: { 'Retry-After': String(error.retryAfterS) },
      cause: error,
    },
  );
}
