// Resolves a slug in a path to an id, through an LRU cache, then the replica, then the CMS.

import { LRUCache } from 'lru-cache';
import { CmsRejected } from '../errors.ts';
import type { PostKind } from '../model/records.ts';
import { getRecord, idsBySlug } from '../store/records.ts';
import { slugKey } from '../text/text.ts';
import { cmsToApiError } from './cms-errors.ts';
import { isStaff, permissionsFor } from './permissions.ts';
import type { RequestContext } from './request-context.ts';
import type { Services } from './services.ts';

/** WordPress's database column for slugs, in bytes. A stored slug is percent-encoded ASCII. */
const MAX_CMS_SLUG_BYTES = 200;
/**
 * The slugs that the gateway makes for Payload have 150 characters, of up to nine bytes when they are
 * percent-encoded.
 */
const MAX_SLUG_BYTES = 1350;
const MAX_CACHE_BYTES = 16 * 1024 * 1024;
/** Bytes of a cache entry besides its key. */
const ENTRY_BYTES = 250;
const UNKNOWN_TTL_MS = 5000;
const UNKNOWN = 0;

export interface SlugResolver {
  /**
   * The id of the post with this slug, preferably a public one. Undefined if the actor may know of none. Only
   * the CMS's response makes a slug unknown: if the CMS does not respond, this throws `CmsUnavailable` and
   * caches nothing.
   */
  resolve(kind: PostKind, slug: string, request: RequestContext): Promise<number | undefined>;
}

/**
 * A cached id is valid while its record has the slug. The public has entries of its own, and so has each
 * staff member: the CMS may show them different records.
 */
export function createSlugResolver(services: Services, clockMs = () => performance.now()): SlugResolver {
  const ids = new LRUCache<string, number>({
    maxSize: MAX_CACHE_BYTES,
    sizeCalculation: (_, key) => key.length + ENTRY_BYTES,
    perf: { now: clockMs },
  });
  const { replica } = services;

  const findInReplica = (kind: PostKind, slug: string): number | undefined => idsBySlug(replica.db, kind, slug)[0];

  async function findInCms(
    kind: PostKind,
    slug: string,
    request: RequestContext,
    isForStaff: boolean,
  ): Promise<number | undefined> {
    if (!services.mapping.kinds[kind]) return undefined;
    try {
      return (await services.cmsRecords.findBySlug(kind, slug, request, isForStaff))?.id;
    } catch (error) {
      if (!(error instanceof CmsRejected) || error.status >= 500) throw error;
      if (error.kind === 'no-collection') throw cmsToApiError(error, { kind, anonymous: !request.actor.account });
      return undefined;
    }
  }

  async function resolveKey(kind: PostKind, slug: string, request: RequestContext): Promise<number | undefined> {
    if (slug.length > MAX_SLUG_BYTES) return undefined;
    const isForStaff = isStaff(request.actor, await permissionsFor(services, kind, request.actor));
    const key = `${kind} ${isForStaff ? request.actor.account?.userId : 'public'} ${slug}`;
    const cached = ids.get(key);
    if (cached && slugKey(getRecord(replica.db, kind, cached)?.slug ?? '') === slug) return cached;
    const storedId = findInReplica(kind, slug);
    if (storedId !== undefined) {
      ids.set(key, storedId);
      return storedId;
    }
    if (cached === UNKNOWN || slug.length > MAX_CMS_SLUG_BYTES) return undefined;
    const found = await services.unknownRecords.lookUp(request.actor, kind, () =>
      findInCms(kind, slug, request, isForStaff),
    );
    const id = found ? found.result : findInReplica(kind, slug);
    if (id !== undefined) ids.set(key, id);
    else if (found) ids.set(key, UNKNOWN, { ttl: UNKNOWN_TTL_MS });
    return id;
  }

  return {
    async resolve(kind, text, request) {
      const slug = slugKey(text);
      const id = await resolveKey(kind, slug, request);
      if (id !== undefined) return id;
      const titleSlug = slugKey(text.trim().replace(/[\s.+-]+/g, '-'));
      return titleSlug === slug ? undefined : resolveKey(kind, titleSlug, request);
    },
  };
}
