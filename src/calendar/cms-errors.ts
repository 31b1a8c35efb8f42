// Maps the CMS's errors to API errors.

import { ApiError, CmsRejected, CmsUnavailable } from '../errors.ts';
import {
  alreadyTrashed,
  eventNotFound,
  forbidden,
  invalidParam,
  invalidParams,
  termNameTaken,
} from '../interface/errors.ts';
import { isPostKind, isTermKind, type Kind } from '../model/records.ts';

export interface ErrorContext {
  kind: Kind;
  id?: number | undefined;
  anonymous: boolean;
  /** Path in the CMS record (`meta.day`) -> the parameters that are stored there, of those that were sent. */
  parametersAt?: ((path: string) => string[]) | undefined;
}

/** No record has this id. Only events have an error code of their own for it. */
export const unknownId = (kind: Kind, id: number): ApiError =>
  kind === 'event' ? eventNotFound(id) : invalidParam('id');

/** Maps a `CmsRejected` to an `ApiError`. Returns any other error as it is. */
export const cmsToApiError = (error: unknown, context: ErrorContext): unknown =>
  error instanceof CmsRejected ? rejectionToApiError(error, context) : error;

/** For a failure of the CMS that no use case has mapped: without the parameters of the request. */
export const unmappedToApiError = (error: unknown): unknown =>
  error instanceof CmsUnavailable ? unavailableError(error) : cmsToApiError(error, { kind: 'event', anonymous: false });

function rejectionToApiError(error: CmsRejected, context: ErrorContext): ApiError {
  const { kind, id, anonymous } = context;
  switch (error.kind) {
    case 'not-found':
      return unknownId(kind, id ?? 0);
    case 'no-collection':
      return missingCollection(error);
    case 'in-trash':
      return isPostKind(kind) ? alreadyTrashed(kind) : genericError(error);
    case 'not-visible':
    case 'forbidden':
      return forbidden(anonymous ? 'anonymous' : 'account', error);
    case 'unknown-scheme':
    case 'unauthenticated':
      return anonymous ? forbidden('anonymous', error) : invalidCredentials(error);
    case 'conflict':
      return conflictError(error, kind);
    case 'invalid':
      return invalidFields(error, context);
    // WordPress says only that its database refused the term: it holds 200 characters, and on old sites no 🎉.
    case 'failed':
    case 'no-trash':
      return isTermKind(kind) ? invalidFields(error, context, UNSTORABLE) : genericError(error);
  }
}

const UNSTORABLE = "The site's database refused it: too long, or with characters such as emoji that it cannot hold.";

export async function withApiErrors<T>(context: ErrorContext, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw cmsToApiError(error, context);
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

const upstreamAway = (message: string, data: Record<string, unknown>, retryAfterS: number, cause: Error): ApiError =>
  new ApiError(503, 'calendar_upstream_away', message, {
    data,
    headers: { 'Retry-After': String(retryAfterS) },
    cause,
  });

function missingCollection(error: CmsRejected): ApiError {
  const message = `The site behind this calendar lacks what this needs: ${error.message} Is its plugin active?`;
  return upstreamAway(message, { reason: 'no-route', upstream_code: error.code }, 5, error);
}

function conflictError(error: CmsRejected, kind: Kind): ApiError {
  if (error.existingId !== undefined && isTermKind(kind)) return termNameTaken(kind, error.existingId);
  if (error.fields.includes('slug')) return invalidParam('slug', 'The slug is already in use by another term.');
  return genericError(error);
}

/**
 * Names the API parameters of the fields that the CMS names: `start_date` for `meta.day`, `venue` for the `title` of a
 * venue. The error is generic if there are none.
 */
function invalidFields(error: CmsRejected, { kind, parametersAt }: ErrorContext, message?: string): ApiError {
  const title = kind === 'event' ? 'title' : isTermKind(kind) ? 'name' : kind;
  const titleNames: Record<string, string> = { title, name: title };
  const names = new Set(
    error.fields.flatMap((field) => {
      const parameters = parametersAt?.(field) ?? [];
      return parameters.length > 0 ? parameters : (titleNames[field] ?? []);
    }),
  );
  if (names.size === 0) return genericError(error);
  const errors = [...names].map((name) => ({ name, message }));
  return invalidParams(errors, { data: { upstream_code: error.code }, cause: error });
}

/** By the part of the credentials that is wrong. */
const WRONG_PARTS: Readonly<Record<string, readonly [code: string, message: string]>> = {
  username: ['invalid_username', '<strong>Error:</strong> Unknown username. Check again or try your email address.'],
  email: ['invalid_email', '<strong>Error:</strong> Unknown email address. Check again or try your username.'],
};
const WRONG_PASSWORD = ['incorrect_password', 'The provided password is an invalid application password.'] as const;

/** Only some sites tell which part is wrong. On others every wrong login is a wrong password. */
export function invalidCredentials(error: CmsRejected): ApiError {
  const [code, message] = WRONG_PARTS[error.fields[0] ?? ''] ?? WRONG_PASSWORD;
  return new ApiError(401, code, message, { cause: error });
}

/** The CMS did not respond: 502 if a write may have happened, otherwise 503. */
export function unavailableError(error: CmsUnavailable): ApiError {
  if (error.outcomeUnknown) {
    return new ApiError(
      502,
      'calendar_outcome_unknown',
      'The site did not answer after the change was sent: it may or may not have been made. Look at the ' +
        'record, with `Cache-Control: no-cache`, before you try again.',
      { data: { reason: error.reason }, cause: error },
    );
  }
  const message = 'The site behind this calendar does not answer at the moment. Try again shortly.';
  return upstreamAway(message, { reason: error.reason }, error.retryAfterS ?? 5, error);
}
