// The names that this site gives to the capabilities of each collection, cached; and the visibility of each
// kind that follows from them.

import { LRUCache } from 'lru-cache';
import type { Cms, Credentials } from '../cms/port.ts';
import type { CapabilityNames } from '../cms/wordpress/capabilities.ts';
import { CmsUnavailable } from '../errors.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Kind, PostKind } from '../model/records.ts';
import type { Visibilities, Visibility } from '../store/filters.ts';
import { type Actor, GENERAL_CAPABILITIES, visibilityOf } from './permissions.ts';
import type { RequestContext } from './request-context.ts';

const NAMES_TTL_MS = 10 * 60_000;
/**
 * A request needs the names several times. After a failure it must not wait for an unavailable CMS each time.
 */
const FAILURE_TTL_MS = 5000;
const MAX_FAILURES = 2000;

interface Lookup {
  names: CapabilityNames | undefined;
  error?: CmsUnavailable | undefined;
}

export interface CapabilityCache {
  /** `names` is undefined while they are unknown. `error`: because the CMS is unavailable. */
  lookUp(kind: Kind, actor: Actor): Promise<Lookup>;
}

/** The part of the services that the functions below need. */
interface Capabilities {
  capabilities: CapabilityCache;
}

/** Reads the names with the service account's or the actor's own credentials. */
export function createCapabilityCache(cms: Cms, mapping: Mapping, service: Credentials): CapabilityCache {
  /** By collection. The names are the same for all actors. */
  const cached = new Map<string, { names: CapabilityNames; untilMs: number }>();
  /** By account if the CMS was unavailable; by account and collection if it responded without the names. */
  const failures = new LRUCache<string, { error: CmsUnavailable | undefined }>({
    max: MAX_FAILURES,
    ttl: FAILURE_TTL_MS,
  });
  /** By account and collection: concurrent requests share one look-up (single-flight). */
  const pending = new Map<string, Promise<Lookup>>();

  async function fetchNames(collection: string, actor: Actor): Promise<Lookup> {
    // The CMS may show the names to the actor if the service account has no rights to this collection.
    for (const credentials of new Set([service, actor.credentials])) {
      if (credentials === undefined) continue;
      try {
        const { capabilities } = await cms.collectionInfo(collection, {
          credentials,
          bulkhead: 'callers',
          fairnessKey: String(actor.account?.userId),
        });
        if (Object.keys(capabilities).length === 0) continue;
        cached.set(collection, { names: capabilities, untilMs: performance.now() + NAMES_TTL_MS });
        return { names: capabilities };
      } catch (error) {
        if (error instanceof CmsUnavailable) return { names: undefined, error };
      }
    }
    return { names: undefined };
  }

  return {
    async lookUp(kind, actor) {
      const collection = mapping.kinds[kind]?.collection;
      if (!actor.account) return { names: undefined };
      // The site has no such collection, so there is nothing to hide.
      if (collection === undefined) return { names: GENERAL_CAPABILITIES };
      const entry = cached.get(collection);
      const nowMs = performance.now();
      if (entry && nowMs < entry.untilMs) return { names: entry.names };
      if (entry) {
        // Expired names stay in use while the cache fetches them again, so that no request waits.
        entry.untilMs = nowMs + FAILURE_TTL_MS;
        void fetchNames(collection, actor);
        return { names: entry.names };
      }
      const user = String(actor.account.userId);
      const key = `${user} ${collection}`;
      const failure = failures.get(user) ?? failures.get(key);
      if (failure) return { names: undefined, error: failure.error };
      let lookup = pending.get(key);
      if (!lookup) {
        lookup = fetchNames(collection, actor).finally(() => pending.delete(key));
        pending.set(key, lookup);
      }
      const { names, error } = await lookup;
      if (!names) failures.set(error ? user : key, { error });
      return { names, error };
    },
  };
}

/**
 * The collection's capability names, or `undefined` while they are unknown: the CMS is unavailable, or it
 * shows them to neither account. With WordPress's general names instead, permission to edit posts would pass
 * for permission to edit events.
 */
export async function capabilityNames(
  { capabilities }: Capabilities,
  kind: Kind,
  actor: Actor,
): Promise<CapabilityNames | undefined> {
  return (await capabilities.lookUp(kind, actor)).names;
}

/**
 * The same for a write, which must not fail as forbidden if the CMS is unavailable. Throws `CmsUnavailable`.
 */
export async function capabilityNamesForWrite(
  { capabilities }: Capabilities,
  kind: Kind,
  actor: Actor,
): Promise<CapabilityNames | undefined> {
  const { names, error } = await capabilities.lookUp(kind, actor);
  if (error) throw error;
  return names;
}

/** The actor's visibility of one kind. */
export async function visibilityFor(services: Capabilities, kind: PostKind, actor: Actor): Promise<Visibility> {
  return visibilityOf(actor, await capabilityNames(services, kind, actor));
}

/** The actor's visibility of every kind, by the capabilities of its collection. */
export async function visibilitiesFor(
  services: Capabilities,
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
