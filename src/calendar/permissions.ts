// What an actor may see and change: the permissions that the actions on each collection need, cached, become
// rules about statuses and authors, as the CMS applies them.

import { LRUCache } from 'lru-cache';
import type { Account, Action, ActionPermissions, Cms, CollectionSpec, Credentials } from '../cms/port.ts';
import { CmsUnavailable } from '../errors.ts';
import { noSuchKind, readOnly, readOnlyOccurrence } from '../interface/errors.ts';
import { type KindMapping, kindMappingOf, type Mapping } from '../mapping/mapping.ts';
import {
  INTERNAL_STATUSES,
  isOccurrenceId,
  type Kind,
  type PostKind,
  type PostRecord,
  seriesIdOf,
  UNPUBLISHED_STATUSES,
  WITHHELD,
} from '../model/records.ts';
import { PUBLIC_VISIBILITIES, PUBLIC_VISIBILITY, type Visibilities, type Visibility } from '../store/filters.ts';

/** Who makes a request: an account that the CMS has authenticated, or an anonymous caller. */
export interface Actor {
  credentials: Credentials;
  account: Account | undefined;
  /** The network of an anonymous caller, for fairness between callers. */
  network?: string;
}

export const ANONYMOUS: Actor = { credentials: undefined, account: undefined };

/** Only those who may edit a record see it in these statuses. */
const STAFF_STATUSES = [...UNPUBLISHED_STATUSES, ...INTERNAL_STATUSES, WITHHELD];

/**
 * Whether the CMS lets the actor do this with the records of a collection. An anonymous actor cannot do
 * anything. No actor can while the collection's permissions are unknown (`undefined`): permission to edit
 * posts is not permission to edit events.
 */
export function can(actor: Actor, action: Action, permissions: ActionPermissions | undefined): boolean {
  return permissions !== undefined && (actor.account?.permissions.has(permissions[action]) ?? false);
}

/** Staff see more than the public: at least their own drafts. */
export const isStaff = (actor: Actor, permissions: ActionPermissions | undefined): boolean =>
  can(actor, 'edit', permissions);

/** The rule by which the CMS lets the actor read posts of one collection. */
function visibilityOf(actor: Actor, permissions: ActionPermissions | undefined): Visibility {
  if (!actor.account || !isStaff(actor, permissions)) return PUBLIC_VISIBILITY;
  const readsOthers = can(actor, 'readOthers', permissions);
  const readsPrivate = can(actor, 'readPrivate', permissions);
  const ofAnyAuthor = STAFF_STATUSES.filter((status) => (status === 'private' ? readsPrivate : readsOthers));
  const ownOnly = can(actor, 'readOwn', permissions) ? STAFF_STATUSES : [];
  return { anyAuthor: ['publish', ...ofAnyAuthor], ownOnly, userId: actor.account.userId };
}

/** Whether a visibility shows more than the public sees: only the visibility of staff has a user. */
export const exceedsPublic = ({ userId }: Visibility): boolean => userId !== 0;

/** Whether an actor sees only what the public sees, in every kind. */
export const isPublicOnly = ({ event, venue, organizer }: Visibilities): boolean =>
  ![event, venue, organizer].some(exceedsPublic);

/** The status in the CMS: a withheld record is published there. */
export const cmsStatus = (status: string): string => (status === WITHHELD ? 'publish' : status);

/** Whether a visibility shows a record, by its status and author. */
function isVisible(visibility: Visibility, record: Pick<PostRecord, 'status' | 'author'>): boolean {
  if (visibility.anyAuthor.includes(record.status)) return true;
  return visibility.userId !== 0 && record.author === visibility.userId && visibility.ownOnly.includes(record.status);
}

/** Whether another record may show this one or be found by it. A record in the trash is linked to nothing. */
export const isVisibleLink = (
  visibility: Visibility,
  record: Pick<PostRecord, 'status' | 'author'> | undefined,
): boolean => record !== undefined && record.status !== 'trash' && isVisible(visibility, record);

/** The part of a visibility that these statuses cover. */
export function restrictTo(visibility: Visibility, statuses: readonly string[]): Visibility {
  const isCovered = (status: string) => statuses.includes(cmsStatus(status));
  return {
    anyAuthor: visibility.anyAuthor.filter(isCovered),
    ownOnly: visibility.ownOnly.filter(isCovered),
    userId: visibility.userId,
  };
}

/**
 * Whether the CMS lets the actor change the record. The permission for `edit` covers their own unpublished
 * records; published records and those of others need further permissions.
 */
export function mayEdit(
  actor: Actor,
  record: Pick<PostRecord, 'status' | 'author'>,
  permissions: ActionPermissions | undefined,
): boolean {
  if (!actor.account || !isStaff(actor, permissions)) return false;
  const isPublished = ['publish', 'future'].includes(cmsStatus(record.status));
  if (record.author !== actor.account.userId) {
    if (!can(actor, 'editOthers', permissions)) return false;
    return record.status !== 'private' || can(actor, 'editPrivate', permissions);
  }
  return !isPublished || can(actor, 'editPublished', permissions);
}

/**
 * The kind's mapping for a write. Throws 403 if nobody may write the record: the mapping does not have the kind or maps
 * it read-only, or `id` is an occurrence, whose dates the CMS computes from its series.
 */
export function writableMapping<K extends Kind>(services: { mapping: Mapping }, kind: K, id = 0): KindMapping<K> {
  const mapping = kindMappingOf(services.mapping, kind);
  const isEmbedded = kind in services.mapping.kinds.event.embedded;
  if (!mapping) throw isEmbedded ? readOnly(kind) : noSuchKind(kind);
  if (mapping.readOnly) throw readOnly(kind);
  if (isOccurrenceId(id)) throw readOnlyOccurrence(seriesIdOf(id));
  return mapping;
}

const PERMISSIONS_TTL_MS = 10 * 60_000;
/** A request looks permissions up several times. After a failure it must not wait for an unavailable CMS each time. */
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
interface PermissionServices {
  permissions: PermissionCache;
}

/** Reads the permissions with the credentials of the service account, or else of the actor. */
export function createPermissionCache(cms: Cms, mapping: Mapping, serviceCredentials: Credentials): PermissionCache {
  /** By collection. They are the same for all actors. */
  const cached = new Map<string, { permissions: ActionPermissions; untilMs: number }>();
  /** By account if the CMS was unavailable; by account and collection if it responded without them. */
  const failures = new LRUCache<string, { error: CmsUnavailable | undefined }>({
    max: MAX_FAILURES,
    ttl: FAILURE_TTL_MS,
  });
  /** By account and collection: concurrent requests share one lookup (single-flight). */
  const pending = new Map<string, Promise<Lookup>>();

  async function fetchPermissions(spec: CollectionSpec, actor: Actor): Promise<Lookup> {
    // The CMS may show them to the actor if the service account may not edit this collection.
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
        // Expired permissions stay in use while the cache fetches them again, so that no request waits.
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
  { permissions }: PermissionServices,
  kind: Kind,
  actor: Actor,
): Promise<ActionPermissions | undefined> {
  return (await permissions.lookUp(kind, actor)).permissions;
}

/**
 * The same for a write, which must not fail as forbidden if the CMS is unavailable. Throws `CmsUnavailable`.
 */
export async function permissionsForWrite(
  { permissions }: PermissionServices,
  kind: Kind,
  actor: Actor,
): Promise<ActionPermissions | undefined> {
  const { permissions: found, error } = await permissions.lookUp(kind, actor);
  if (error) throw error;
  return found;
}

/** The actor's visibility of one kind. */
export async function visibilityFor(services: PermissionServices, kind: PostKind, actor: Actor): Promise<Visibility> {
  return visibilityOf(actor, await permissionsFor(services, kind, actor));
}

/** The actor's visibility of every kind, by the permissions of its collection. */
export async function visibilitiesFor(
  services: PermissionServices,
  { actor }: { actor: Actor },
): Promise<Visibilities> {
  if (!actor.account) return PUBLIC_VISIBILITIES;
  // The first lookup alone: if the CMS is unavailable, the other two then do not call it.
  const event = await visibilityFor(services, 'event', actor);
  const [venue, organizer] = await Promise.all([
    visibilityFor(services, 'venue', actor),
    visibilityFor(services, 'organizer', actor),
  ]);
  return { event, venue, organizer };
}
