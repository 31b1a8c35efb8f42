// A request of a use case: who makes it (`Actor`), what they may do (`Permissions`, `writableMapping`), what it carries
// (`RequestContext`), and its response (`ApiResponse`). The CMS decides what it shows and changes.

import { LRUCache } from 'lru-cache';
import type { Account, Action, ActionPermissions, CallOptions, Cms, CollectionSpec, Credentials } from '../cms/port.ts';
import { ifRejected } from '../errors.ts';
import { forbidden, noSuchKind, readOnly, readOnlyOccurrence, readOnlySource } from '../interface/errors.ts';
import type { KindMapping, Mapping } from '../mapping/mapping.ts';
import {
  FIRST_SOURCE_ID,
  isOccurrenceId,
  KINDS,
  type Kind,
  type KindOrImage,
  type PostKind,
  seriesIdOf,
  UNPUBLISHED_STATUSES,
} from '../model/records.ts';

/** Who makes a request: an account that the CMS has authenticated, or an anonymous caller. */
export interface Actor {
  credentials: Credentials;
  account: Account | undefined;
  /** The network of an anonymous caller, for fairness between callers. */
  network?: string;
}

export const ANONYMOUS: Actor = { credentials: undefined, account: undefined };

/**
 * Whether the CMS lets the actor do this with the records of a collection; an anonymous actor never. While the
 * permissions are unknown nobody can: permission to edit posts is not permission to edit events.
 */
export function can(actor: Actor, action: Action, permissions: ActionPermissions | undefined): boolean {
  return permissions !== undefined && (actor.account?.permissions.has(permissions[action]) ?? false);
}

/** Whether the CMS probably lets the actor change a published record of this author: for the header `Allow` alone. */
export const mayEditPublished = (actor: Actor, author: number, permissions: ActionPermissions | undefined): boolean =>
  can(actor, author === actor.account?.userId ? 'editPublished' : 'editOthers', permissions);

/** Which unpublished records of a kind: those of anybody in these statuses, or only the author's. */
export interface UnpublishedScope {
  statuses: readonly string[];
  author?: number;
}

export type UnpublishedScopes = Readonly<Partial<Record<PostKind, readonly UnpublishedScope[]>>>;

/**
 * The unpublished records that the actor's lists have beside the published ones; none for those who edit nothing.
 *
 *   readOwn                             [{ statuses: all five, author: 7 }]
 *   readOwn, readOthers                 [{ statuses: all but private }, { statuses: ['private'], author: 7 }]
 *   readOwn, readOthers, readPrivate    [{ statuses: all five }]
 */
function scopesOf(actor: Actor, permissions: ActionPermissions | undefined): UnpublishedScope[] {
  if (!actor.account || !can(actor, 'edit', permissions)) return [];
  const ofAll = UNPUBLISHED_STATUSES.filter((status) =>
    can(actor, status === 'private' ? 'readPrivate' : 'readOthers', permissions),
  );
  const ofOwn = can(actor, 'readOwn', permissions) ? UNPUBLISHED_STATUSES.filter((each) => !ofAll.includes(each)) : [];
  const scopes = [{ statuses: ofAll }, { statuses: ofOwn, author: actor.account.userId }];
  return scopes.filter(({ statuses }) => statuses.length > 0);
}

/** The unpublished records of these kinds that the actor may list; `{}` for the public. Throws `CmsUnavailable`. */
export async function unpublishedScopes(
  services: { permissions: Permissions; mapping: Mapping },
  kinds: readonly PostKind[],
  { actor }: { actor: Actor },
): Promise<UnpublishedScopes> {
  const scopes: Partial<Record<PostKind, readonly UnpublishedScope[]>> = {};
  if (!actor.account) return scopes;
  for (const kind of kinds) {
    if (services.mapping.kinds[kind]?.storedAs !== 'posts') continue;
    const ofKind = scopesOf(actor, await services.permissions.of(kind, actor));
    if (ofKind.length > 0) scopes[kind] = ofKind;
  }
  return scopes;
}

/**
 * The kind's mapping for a write. Throws 403 if nobody may write the record: the mapping does not have the kind or maps
 * it read-only, or `id` is a record of a source, or an occurrence, whose dates the CMS computes from its series.
 */
export function writableMapping<K extends Kind>(services: { mapping: Mapping }, kind: K, id = 0): KindMapping<K> {
  // `parsePathId` makes `MAX_SAFE_INTEGER` of every longer number in a path: no record has this id.
  if (id >= FIRST_SOURCE_ID && id < Number.MAX_SAFE_INTEGER) throw readOnlySource(kind);
  const mapping = services.mapping.kinds[kind] as KindMapping<K> | undefined;
  const isEmbedded = kind in services.mapping.kinds.event.embedded;
  if (!mapping) throw isEmbedded ? readOnly(kind) : noSuchKind(kind);
  if (mapping.readOnly) throw readOnly(kind);
  if (isOccurrenceId(id)) throw readOnlyOccurrence(seriesIdOf(id));
  return mapping;
}

const PERMISSIONS_TTL_MS = 10 * 60_000;
/** A request asks for permissions several times. */
const LOOKUP_TTL_MS = 5000;
const MAX_LOOKUPS = 2000;

interface PermissionsParts {
  cms: Cms;
  mapping: Mapping;
  serviceCredentials: Credentials;
}

export class Permissions {
  readonly #parts: PermissionsParts;
  /** The permissions that the actions on a collection need, by collection: they are the same for all actors. */
  readonly #known = new LRUCache<string, ActionPermissions>({ max: KINDS.length, ttl: PERMISSIONS_TTL_MS });
  /**
   * By account and collection, because the CMS shows permissions only to those who may edit the collection. A failed
   * lookup is kept as long as any: while the CMS hangs, only one request in five seconds waits for it.
   */
  readonly #lookups = new LRUCache<string, Promise<ActionPermissions | undefined>>({
    max: MAX_LOOKUPS,
    ttl: LOOKUP_TTL_MS,
  });

  constructor(parts: PermissionsParts) {
    this.#parts = parts;
  }

  /**
   * The permissions that the actions on the kind need; undefined for an anonymous actor, and if the CMS shows them
   * neither to the service account nor to the actor. Throws `CmsUnavailable`: with undefined, a write would be a 403.
   */
  async of(kind: Kind, actor: Actor): Promise<ActionPermissions | undefined> {
    if (!actor.account) return undefined;
    // Who edits events is staff of organizers too on a site that has none: there is nothing to hide.
    const { kinds } = this.#parts.mapping;
    const kindMapping = kinds[kind] ?? kinds.event;
    const known = this.#known.get(kindMapping.collection);
    if (known) return known;
    const key = `${actor.account.userId} ${kindMapping.collection}`;
    const lookup = this.#lookups.get(key) ?? this.#read(kindMapping, actor);
    this.#lookups.set(key, lookup, { noUpdateTTL: true });
    return lookup;
  }

  /** Whether the CMS lets the actor do this with records of the kind. Throws `CmsUnavailable`. */
  async allow(action: Action, kind: Kind, actor: Actor): Promise<boolean> {
    return can(actor, action, await this.of(kind, actor));
  }

  /** Throws 401 or 403 unless the CMS lets the actor do this with records of the kind; and `CmsUnavailable`. */
  async demand(action: Action, kind: Kind, actor: Actor): Promise<void> {
    if (!actor.account) throw forbidden('anonymous');
    if (!(await this.allow(action, kind, actor))) throw forbidden('account');
  }

  /** Asks the CMS as the service account; and as the actor, if that account may not edit the collection. */
  async #read(kindMapping: CollectionSpec, actor: Actor): Promise<ActionPermissions | undefined> {
    const { cms, serviceCredentials } = this.#parts;
    for (const credentials of new Set([serviceCredentials, actor.credentials])) {
      if (credentials === undefined) continue;
      const reading = cms.collectionInfo(kindMapping, { credentials, bulkhead: 'callers' });
      const info = await reading.catch(ifRejected(() => undefined));
      if (!info?.permissions) continue;
      this.#known.set(kindMapping.collection, info.permissions);
      return info.permissions;
    }
    return undefined;
  }
}

/** The images that a request names: validation fetches them, the write uses them. Throws `CmsUnavailable`. */
export interface RequestImages {
  /**
   * Whether the actor may use the image: by its id if they see it, by a URL (also one of the site) only if they may
   * upload. Downloads the image of a foreign URL, and keeps it until `release`.
   */
  fetchIfUsable(value: string | number): Promise<boolean>;
  /** The id in the CMS; 0 for `''`. Uploads what was downloaded. Throws 400 if the CMS refuses it. */
  idOf(value: string): Promise<number>;
  release(): void;
}

/** A create with an `Idempotency-Key`, which this gateway has claimed: no other may run the same create meanwhile. */
export interface KeyedCreate {
  /** The kind of the record that the key stands for: `event`, also if the body has a new venue. */
  kind: Kind;
  /** The CMS stores it with the record, so that a retry finds the record. */
  creationKey: string;
  /**
   * Call it just before the create. Throws 409 if another gateway has taken over: it may once the claim is two minutes
   * old (`MAX_CREATE_MS`), because it takes this gateway for crashed then.
   */
  renewClaim(): Promise<void>;
}

export interface CreatedRecord {
  kind: KindOrImage;
  id: number;
}

export interface RequestContext {
  actor: Actor;
  /** The address of the API namespace under which the client called. */
  baseUrl: string;
  requestId?: string | undefined;
  /** In a create or update. */
  images?: RequestImages;
  /** In a create or update: each step adds what it created in the CMS, for the error of a later one. */
  created?: CreatedRecord[];
  /** In a write of an event: check all, say what would be written, and write nothing. */
  isDryRun?: boolean;
  keyedCreate?: KeyedCreate;
}

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
  /** Of lists and feeds: bytes rendered for it, for which the rate limit charges. */
  chargedBytes?: number;
  /** The replica version that the response shows. The default is the version at the end of the request. */
  replicaVersion?: number;
}

export type CallContext = Pick<RequestContext, 'actor' | 'requestId'>;

/** With the actor's own credentials: the CMS decides about permissions. */
export function callOptions({ actor, requestId }: CallContext): CallOptions {
  const { credentials, account } = actor;
  return { credentials, bulkhead: account ? 'callers' : 'anonymous', requestId };
}
