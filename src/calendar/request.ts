// A request of a use case: who makes it, what they may do, and the response. The permissions that the actions on each
// collection need are cached; the CMS decides what it shows and changes.

import { LRUCache } from 'lru-cache';
import type { Account, Action, ActionPermissions, CallOptions, Cms, CollectionSpec, Credentials } from '../cms/port.ts';
import { CmsUnavailable } from '../errors.ts';
import { noSuchKind, readOnly, readOnlyOccurrence } from '../interface/errors.ts';
import { type KindMapping, kindMappingOf, type Mapping } from '../mapping/mapping.ts';
import type { ImageRecord, RecordOf } from '../model/records.ts';
import {
  isOccurrenceId,
  type Kind,
  type KindOrImage,
  type PostKind,
  seriesIdOf,
  UNPUBLISHED_STATUSES,
  type WallTime,
} from '../model/records.ts';
import type { View } from '../store/database.ts';
import { getImages, getRecords } from '../store/records.ts';

/** Who makes a request: an account that the CMS has authenticated, or an anonymous caller. */
export interface Actor {
  credentials: Credentials;
  account: Account | undefined;
  /** The network of an anonymous caller, for fairness between callers. */
  network?: string;
}

export const ANONYMOUS: Actor = { credentials: undefined, account: undefined };

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

/** Whether the CMS probably lets the actor change this published record, for the header `Allow`. Writes ask the CMS. */
export const mayEditPublished = (actor: Actor, author: number, permissions: ActionPermissions | undefined): boolean =>
  can(actor, author === actor.account?.userId ? 'editPublished' : 'editOthers', permissions);

/** Unpublished records of a kind: those of anybody in these statuses, or only the actor's own. */
export interface UnpublishedPart {
  statuses: readonly string[];
  author?: number;
}

export type UnpublishedParts = Readonly<Partial<Record<PostKind, readonly UnpublishedPart[]>>>;

/** The unpublished records that the actor's lists have beside the published ones; none for those who edit nothing. */
function partsOf(actor: Actor, permissions: ActionPermissions | undefined): UnpublishedPart[] {
  if (!actor.account || !isStaff(actor, permissions)) return [];
  const ofAll = UNPUBLISHED_STATUSES.filter((status) =>
    can(actor, status === 'private' ? 'readPrivate' : 'readOthers', permissions),
  );
  const ofOwn = can(actor, 'readOwn', permissions) ? UNPUBLISHED_STATUSES.filter((each) => !ofAll.includes(each)) : [];
  const own = { statuses: ofOwn, author: actor.account.userId };
  return [...(ofAll.length > 0 ? [{ statuses: ofAll }] : []), ...(ofOwn.length > 0 ? [own] : [])];
}

/** The unpublished records of these kinds that the actor may list; no kind for the public. Throws `CmsUnavailable`. */
export async function unpublishedParts(
  services: PermissionServices & { mapping: Mapping },
  kinds: readonly PostKind[],
  { actor }: { actor: Actor },
): Promise<UnpublishedParts> {
  const parts: Partial<Record<PostKind, readonly UnpublishedPart[]>> = {};
  if (!actor.account) return parts;
  for (const kind of kinds) {
    if (services.mapping.kinds[kind]?.storedAs !== 'posts') continue;
    const ofKind = partsOf(actor, await permissionsForWrite(services, kind, actor));
    if (ofKind.length > 0) parts[kind] = ofKind;
  }
  return parts;
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
 * The same for a write or a list of staff, which must not fail as forbidden, or show less, if the CMS is unavailable.
 * Throws `CmsUnavailable`.
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

/** The images that a request names: validation checks them, the write uses them. */
export interface RequestImages {
  /**
   * Whether the value is a usable image. The gateway fetches a foreign URL only for an actor who may upload.
   */
  isUsable(value: string | number): Promise<boolean>;
  /** Whether `idOf` would upload the image, so that no record of the CMS can have it. */
  needsUpload(value: string): boolean;
  /** The image's id in the CMS. Uploads an image that was fetched. 0 for `''`. */
  idOf(value: string): Promise<number>;
  /** Frees the fetched images at the end of the request. */
  release(): void;
}

/** This gateway's claim on the Idempotency-Key of a create. */
export interface CreationKeyClaim {
  kind: Kind;
  /** The hash of the key, which the CMS stores with the record. */
  key: string;
  /**
   * Call it before the create. Throws 409 if another gateway has claimed the key, which is possible after two
   * minutes.
   */
  renew(): Promise<void>;
}

/** A record that a request has created in the CMS. */
export interface CreatedRecord {
  kind: KindOrImage;
  id: number;
}

export interface RequestContext {
  actor: Actor;
  /** The address of the API namespace under which the client called. */
  baseUrl: string;
  requestId?: string | undefined;
  /** Of a create or update. */
  images?: RequestImages;
  /** Of a create or update: what it has created in the CMS so far. */
  created?: CreatedRecord[];
  /** For a create with an Idempotency-Key. */
  creationKey?: CreationKeyClaim;
}

/** A use case's response, before serialization. */
export interface ApiResponse {
  status: number;
  /** A JSON value, rendered bytes, or a `RenderedList`. */
  body: unknown;
  headers?: Record<string, string>;
  /** The records in the response, such as `event-12`, for purging a CDN. */
  cacheTags?: readonly string[];
  /** For public responses: the same request gets the same response until then, unless the replica changes. */
  validUntilMs?: number;
  /** The ETag of rendered bytes. */
  etag?: string;
  /** For single records: when the response was first like this, as far as this process knows. */
  modifiedUtc?: WallTime | undefined;
  /** What was rendered for it, if it shows only a part of that. */
  builtBytes?: number;
  /** As how many requests more than one it counts in the rate limit if it was built for this one. Default 0. */
  extraRequests?: number;
  /** The replica version that the response shows. The default is the version at the end of the request. */
  replicaVersion?: number;
}

export type Caller = Pick<RequestContext, 'actor' | 'requestId'>;

/**
 * Options of CMS calls for a request. The actor's own credentials let the CMS decide about permissions.
 * Accounts and anonymous callers have separate bulkheads.
 */
export function callOptions({ actor, requestId }: Caller): CallOptions {
  const { credentials, account } = actor;
  return { credentials, bulkhead: account ? 'callers' : 'anonymous', requestId };
}

/** What a response shows of other records: the public ones, or also what the caller sees. */
export interface Shown {
  /** The records that exist, by id. */
  getMany<K extends Kind>(kind: K, ids: readonly number[]): Map<number, RecordOf[K]>;
  getImages(ids: readonly number[]): Map<number, ImageRecord>;
}

export const shownIn = (view: View): Shown => ({
  getMany: (kind, ids) => getRecords(view, kind, ids),
  getImages: (ids) => getImages(view, ids),
});
