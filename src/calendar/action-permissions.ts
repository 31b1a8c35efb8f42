// The permissions that the actions on each collection need, cached; and the visibility of each kind that
// follows from them.

import { LRUCache } from 'lru-cache';
import type { ActionPermissions, Cms, CollectionSpec, Credentials } from '../cms/port.ts';
import { CmsUnavailable } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Kind, PostKind } from '../model/records.ts';
import type { Visibilities, Visibility } from '../store/filters.ts';
import { type Actor, visibilityOf } from './permissions.ts';
import type { RequestContext } from './request-context.ts';

const PERMISSIONS_TTL_MS = 10 * 60_000;
/**
 * A request needs them several times. After a failure it must not wait for an unavailable CMS each time.
 */
const FAILURE_TTL_MS = 5000;
const MAX_FAILURES = 2000;

interface Lookup {
  permissions: ActionPermissions | undefined;
  error?: CmsUnavailable | undefined;
}

export interface PermissionCache {
  /** `permissions` is undefined while they are unknown. `error`: because the CMS is unavailable. */
  lookUp(kind: Kind, actor: Actor): Promise<Lookup>;
}

/** The part of the services that the functions below need. */
interface Permissions {
  permissions: PermissionCache;
}

/** Reads them with the service account's or the actor's own credentials. */
export function createPermissionCache(cms: Cms, mapping: Mapping, serviceCredentials: Credentials): PermissionCache {
  /** By collection. They are the same for all actors. */
  const cached = new Map<string, { permissions: ActionPermissions; untilMs: number }>();
  /** By account if the CMS was unavailable; by account and collection if it responded without them. */
  const failures = new LRUCache<string, { error: CmsUnavailable | undefined }>({
    max: MAX_FAILURES,
    ttl: FAILURE_TTL_MS,
  });
  /** By account and collection: concurrent requests share one look-up (single-flight). */
  const pending = new Map<string, Promise<Lookup>>();

  async function fetchPermissions(spec: CollectionSpec, actor: Actor): Promise<Lookup> {
    // The CMS may show them to the actor if the service account has no rights to this collection.
    for (const credentials of new Set([serviceCredentials, actor.credentials])) {
      if (credentials === undefined) continue;
      try {
        const { permissions } = await cms.collectionInfo(spec, {
          credentials,
          bulkhead: 'callers',
          fairnessKey: String(actor.account?.userId),
        });
        if (!permissions) continue;
        cached.set(spec.collection, { permissions, untilMs: performance.now() + PERMISSIONS_TTL_MS });
        return { permissions };
      } catch (error) {
        if (error instanceof CmsUnavailable) return { permissions: undefined, error };
      }
    }
    return { permissions: undefined };
  }

  return {
    async lookUp(kind, actor) {
      if (!actor.account) return { permissions: undefined };
      // Staff of the calendar are staff of a kind that the site does not have, too: there is nothing to hide.
      const spec = mapping.kinds[kind] ?? mapping.kinds.event;
      const { collection } = spec;
      const entry = cached.get(collection);
      const nowMs = performance.now();
      if (entry && nowMs < entry.untilMs) return { permissions: entry.permissions };
      if (entry) {
        // Expired ones stay in use while the cache fetches them again, so that no request waits.
        entry.untilMs = nowMs + FAILURE_TTL_MS;
        void fetchPermissions(spec, actor);
        return { permissions: entry.permissions };
      }
      const user = String(actor.account.userId);
      const key = `${user} ${collection}`;
      const failure = failures.get(user) ?? failures.get(key);
      if (failure) return { permissions: undefined, error: failure.error };
      let lookup = pending.get(key);
      if (!lookup) {
        lookup = fetchPermissions(spec, actor).finally(() => pending.delete(key));
        pending.set(key, lookup);
      }
      const { permissions, error } = await lookup;
      if (!permissions) failures.set(error ? user : key, { error });
      return { permissions, error };
    },
  };
}

/**
 * The permissions that the actions on the kind need, or `undefined` while they are unknown: the CMS is
 * unavailable, or it shows them to neither account.
 */
export async function permissionsFor(
  { permissions }: Permissions,
  kind: Kind,
  actor: Actor,
): Promise<ActionPermissions | undefined> {
  return (await permissions.lookUp(kind, actor)).permissions;
}

/**
 * The same for a write, which must not fail as forbidden if the CMS is unavailable. Throws `CmsUnavailable`.
 */
export async function permissionsForWrite(
  { permissions }: Permissions,
  kind: Kind,
  actor: Actor,
): Promise<ActionPermissions | undefined> {
  const { permissions: found, error } = await permissions.lookUp(kind, actor);
  if (error) throw error;
  return found;
}

/** The actor's visibility of one kind. */
export async function visibilityFor(services: Permissions, kind: PostKind, actor: Actor): Promise<Visibility> {
  return visibilityOf(actor, await permissionsFor(services, kind, actor));
}

/** The actor's visibility of every kind, by the permissions of its collection. */
export async function visibilitiesFor(
  services: Permissions,
  { actor }: Pick<RequestContext, 'actor'>,
): Promise<Visibilities> {
  // The first look-up alone: if the CMS is unavailable, the other two then do not call it.
  const event = await visibilityFor(services, 'event', actor);
  const [venue, organizer] = await Promise.all([
    visibilityFor(services, 'venue', actor),
    visibilityFor(services, 'organizer', actor),
  ]);
  return { event, venue, organizer };
}
