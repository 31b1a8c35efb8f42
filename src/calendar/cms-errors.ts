// Maps the CMS's errors to API errors.

import { type ApiError, CmsRejected, CmsUnavailable } from '../errors.ts';
import {
  alreadyTrashed,
  eventNotFound,
  forbidden,
  invalidCredentials,
  invalidParam,
  invalidParams,
  type ParamError,
  refusedByCms,
  termNameTaken,
  unavailableError,
  upstreamAway,
} from '../interface/errors.ts';
import { isPostKind, isTermKind, type Kind } from '../model/records.ts';

interface ErrorContext {
  kind: Kind;
  id?: number | undefined;
  /** Path in the CMS record (`meta.day`) -> the parameters that are stored there: those sent, or if none was, all. */
  parametersAt?: ((path: string) => ParamError[]) | undefined;
}

/** No record has this id. Only events have an error code of their own for it. */
export const unknownId = (kind: Kind, id: number): ApiError =>
  kind === 'event' ? eventNotFound(id) : invalidParam('id');

/** Maps a `CmsRejected` to an `ApiError`. Returns any other error as it is. */
export const cmsToApiError = (error: unknown, context: ErrorContext): unknown =>
  error instanceof CmsRejected ? rejectionToApiError(error, context) : error;

/** For a failure of the CMS that no use case has mapped. Those about a record are mapped there, so any kind will do. */
export const unmappedToApiError = (error: unknown): unknown =>
  error instanceof CmsUnavailable ? unavailableError(error) : cmsToApiError(error, { kind: 'event' });

function rejectionToApiError(error: CmsRejected, context: ErrorContext): ApiError {
  const { kind, id } = context;
  switch (error.kind) {
    case 'not-found':
      return unknownId(kind, id ?? 0);
    case 'no-collection':
      return missingCollection(error);
    case 'in-trash':
      return isPostKind(kind) ? alreadyTrashed(kind) : refusedByCms(error);
    case 'no-trash':
      return refusedByCms(error);
    case 'not-visible':
    case 'forbidden':
      return forbidden('account', error);
    case 'unknown-scheme':
    case 'unauthenticated':
      return invalidCredentials(error);
    case 'conflict':
      return conflictError(error, kind);
    case 'invalid':
      return invalidFields(error, context);
    // WordPress says only that its database refused the term: it holds 200 characters, and on old sites no 🎉.
    case 'failed':
      return isTermKind(kind) ? invalidFields(error, context, UNSTORABLE) : refusedByCms(error);
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

function missingCollection(error: CmsRejected): ApiError {
  const message = `The site behind this calendar lacks what this needs: ${error.message} Is its plugin active?`;
  return upstreamAway(message, { reason: 'no-route', upstream_code: error.code }, 5, error);
}

function conflictError(error: CmsRejected, kind: Kind): ApiError {
  if (error.existingId !== undefined && isTermKind(kind)) return termNameTaken(kind, error.existingId);
  if (error.fields.includes('slug')) return invalidParam('slug', 'The slug is already in use by another term.');
  return refusedByCms(error);
}

const MISSING = 'No value was sent, and the site refuses what the record has there without one.';

/**
 * Names the API parameters of the fields that the CMS names. The error is generic if there are none:
 *
 *   meta.day, of an event        start_date
 *   acf.street, of a venue       address, even if the body lacks it: the site requires it
 *   title, of a new venue        venue
 */
function invalidFields(error: CmsRejected, { parametersAt }: ErrorContext, message?: string): ApiError {
  const errors = new Map<string, ParamError>();
  for (const field of error.fields) {
    for (const one of parametersAt?.(field) ?? [])
      errors.set(one.name, { ...one, message: one.isMissing ? MISSING : message });
  }
  if (errors.size === 0) return refusedByCms(error);
  return invalidParams([...errors.values()], { data: { upstream_code: error.code }, cause: error });
}
