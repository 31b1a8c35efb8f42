// Remembers for a moment which records were too large to be read: each attempt would cost the CMS and the gateway a large response.

import { LRUCache } from 'lru-cache';
import type { CallOptions, Cms, CmsPage, CmsRecord, CollectionSpec, ListRequest, ReadRequest } from '../cms/port.ts';
import { isTooLargeError } from '../sync/cms-reader.ts';

/** Within that time a record may become smaller. */
const TTL_MS = 30_000;
const MAX_REMEMBERED = 1000;

/** `Cms.read`, and `Cms.list` by slug, which fail at once if the same view of the record was too large just before. */
export interface LargeReads {
  read(spec: CollectionSpec, id: number, how: ReadRequest, options: CallOptions): Promise<CmsRecord>;
  listBySlug(spec: CollectionSpec, request: ListRequest & { slug: string }, options: CallOptions): Promise<CmsPage>;
}

export function createLargeReads(cms: Pick<Cms, 'read' | 'list'>, clockMs = () => performance.now()): LargeReads {
  const failures = new LRUCache<string, Error>({
    max: MAX_REMEMBERED,
    ttl: TTL_MS,
    ttlResolution: 0,
    perf: { now: clockMs },
  });

  async function remembering<T>(key: string, read: () => Promise<T>): Promise<T> {
    const known = failures.get(key);
    if (known) throw known;
    try {
      return await read();
    } catch (error) {
      if (isTooLargeError(error)) failures.set(key, error as Error);
      throw error;
    }
  }

  return {
    read: (spec, id, how, options) =>
      // A password shows the text of a record that is short without it.
      remembering(`${spec.collection} ${id} ${how.view} ${how.password === undefined}`, () =>
        cms.read(spec, id, how, options),
      ),
    listBySlug: (spec, request, options) =>
      remembering(`${spec.collection} slug ${request.view} ${request.slug}`, () => cms.list(spec, request, options)),
  };
}
