// Checks that the records, terms, users and images that a request refers to exist.

import { LRUCache } from 'lru-cache';
import { permissionsFor } from '../calendar/action-permissions.ts';
import { isStaff } from '../calendar/permissions.ts';
import { mayKnow, postExists } from '../calendar/read-post.ts';
import { callOptions, type RequestContext } from '../calendar/request-context.ts';
import { resolveTermId, termExists } from '../calendar/resolve-references.ts';
import type { SlugResolver } from '../calendar/resolve-slug.ts';
import type { Services } from '../calendar/services.ts';
import type { ReferenceChecks } from '../interface/param-type.ts';
import { isPostKind } from '../model/kinds.ts';
import type { Kind } from '../model/records.ts';

const USERS_TTL_MS = 60_000;
const MAX_USERS = 5000;

/**
 * Returns a function that creates the checks of one request; `kind` is that of its route, undefined on a route without records. They look
 * into the replica first and then call the CMS with the actor's credentials; they throw `CmsUnavailable`.
 */
export function createReferenceChecks(services: Services, slugs: SlugResolver) {
  const users = new LRUCache<number, boolean>({ max: MAX_USERS, ttl: USERS_TTL_MS });

  async function userExists(id: number, request: RequestContext): Promise<boolean> {
    const { account } = request.actor;
    // A later check rejects anonymous writers; only authenticated actors may cause calls to the CMS here.
    if (!account || id === account.userId) return true;
    const known = users.get(id);
    if (known !== undefined) return known;
    const exists = await services.cms.accountExists(id, callOptions(request));
    users.set(id, exists);
    return exists;
  }

  return async function checksFor(request: RequestContext, kind: Kind | undefined): Promise<ReferenceChecks> {
    const permissions = kind === undefined ? undefined : await permissionsFor(services, kind, request.actor);

    return {
      isStaff: isStaff(request.actor, permissions),
      exists: async (of, id) =>
        isPostKind(of) ? postExists(services, of, id, request) : termExists(services, of, id, request),
      async slugExists(of, slug) {
        const id = await slugs.resolve(of, slug, request);
        return id !== undefined && (await mayKnow(services, of, id, request));
      },
      async findTerm(of, text) {
        const id = resolveTermId(services, of, text);
        if (id !== undefined || !/^\d+$/.test(text)) return id;
        return (await termExists(services, of, Number(text), request)) ? Number(text) : undefined;
      },
      userExists: (id) => userExists(id, request),
      isUsableImage: (value) => request.images.isUsable(value),
    };
  };
}
