// What a collection of Payload has: drafts and a trash, and which fields.

import { CmsRejected } from '../../errors.ts';
import type { RestCall } from '../client.ts';
import type { CallOptions, CollectionSpec, Query } from '../port.ts';

/** What the site has switched on for a collection. */
export interface Features {
  drafts: boolean;
  trash: boolean;
}

export const NO_FEATURES: Features = { drafts: false, trash: false };

/**
 * Reads them once per collection and process, because a site restarts to switch them. Payload refuses
 * (`QueryError`) to filter by the field of a feature that it lacks.
 */
export function createFeatures(call: RestCall, collectionNameOf: (spec: CollectionSpec) => string) {
  const known = new Map<string, Features>();
  return async (spec: CollectionSpec, options: CallOptions): Promise<Features> => {
    const found = known.get(spec.collection);
    if (found) return found;
    const has = (condition: Query): Promise<boolean> => canBeQueried(call, collectionNameOf(spec), condition, options);
    const [drafts, trash] = await Promise.all([
      has({ 'where[_status][equals]': 'draft' }),
      has({ 'where[deletedAt][exists]': true, trash: true }),
    ]);
    const features = { drafts, trash };
    known.set(spec.collection, features);
    return features;
  };
}

/**
 * Whether Payload accepts the condition. It refuses (`QueryError`) paths that the collection does not have or
 * does not show to the caller; a virtual field, and the field of another collection behind a relation, are
 * accepted (observed on 3.90.2).
 */
export async function canBeQueried(
  call: RestCall,
  slug: string,
  condition: Query,
  options: CallOptions,
): Promise<boolean> {
  try {
    await call('GET', slug, { query: { ...condition, limit: 1, depth: 0, 'select[id]': true } }, options);
    return true;
  } catch (error) {
    if (error instanceof CmsRejected && error.code === 'QueryError') return false;
    throw error;
  }
}
