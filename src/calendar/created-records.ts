// Names in the error of a failed write what it created before it failed. The gateway removes nothing in the CMS that
// no caller asked it to remove.

import { ApiError, CmsRejected, CmsUnavailable } from '../errors.ts';
import type { Observe } from '../observability/observations.ts';
import { cmsToApiError, unavailableError } from './cms-errors.ts';
import type { RequestContext } from './request-context.ts';

/**
 * Runs the steps of a write. If they fail, the error's `data.created` has `request.created`: an event that the CMS
 * refused after its venue was created gives `[{ kind: 'venue', id: 12 }]`. A repeated request finds that venue by its
 * name.
 */
export async function namingCreated<T>(
  { created = [] }: RequestContext,
  observe: Observe,
  steps: () => Promise<T>,
): Promise<T> {
  try {
    return await steps();
  } catch (error) {
    if (created.length === 0) throw error;
    const names = created.map(({ kind, id }) => `${kind} ${id}`).join(', ');
    observe({ type: 'message', level: 'warn', message: `a failed write left records in the CMS: ${names}` });
    const apiError = toApiError(error);
    apiError.data.created = created;
    throw apiError;
  }
}

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof CmsUnavailable) return unavailableError(error);
  if (error instanceof CmsRejected) return cmsToApiError(error, { kind: 'event', anonymous: false }) as ApiError;
  const message = 'The gateway could not complete this request.';
  return new ApiError(500, 'internal_server_error', message, { cause: error });
}
