// The CMS port: the calls that the gateway makes to any CMS, in the CMS's own posts and terms (`mapping/`
// translates them).

import type { ImageRecord, Site } from '../model/records.ts';

/** A post or term as the CMS sends it. */
export type CmsRecord = Record<string, unknown>;

/**
 * The caller's `Authorization` header, undefined for an anonymous caller. Never logged, never a cache key.
 */
export type Credentials = string | undefined;

/** The CMS account that credentials belong to. */
export interface Account {
  userId: number;
  roles: string[];
  /** Names of the granted permissions, as {@link ActionPermissions} has them. */
  permissions: ReadonlySet<string>;
  mayUpload: boolean;
}

/** What an account can do with the records of a collection. */
export type Action =
  | 'edit'
  | 'editOthers'
  | 'editPrivate'
  | 'editPublished'
  | 'readPrivate'
  | 'publish'
  | 'delete'
  | 'manageTerms'
  | 'deleteTerms';

/** The permission that each action on the records of one collection needs, by the CMS's own name. */
export type ActionPermissions = Readonly<Record<Action, string>>;

export interface CmsPage {
  records: CmsRecord[];
  total: number;
  totalPages: number;
  /** The CMS's clock when it responded (its `Date` header), milliseconds since 1970. */
  cmsTimeMs: number;
}

export type Query = Record<string, string | number | boolean>;

/**
 * Class of callers whose calls share connections, queue, retry budget and circuit breaker, so that no class
 * can starve the others: anonymous callers; credentials not seen from an address within a day; authenticated
 * callers; the gateway's own sync.
 */
export type BulkheadName = 'anonymous' | 'logins' | 'callers' | 'sync';

export interface CallOptions {
  credentials?: Credentials;
  /** Default `sync`. */
  bulkhead?: BulkheadName | undefined;
  /** Calls with one key, such as those of one user, take turns with the other calls of their bulkhead. */
  fairnessKey?: string | undefined;
  signal?: AbortSignal | undefined;
  /** Sent to the CMS as `X-Request-Id`. */
  requestId?: string | undefined;
  /**
   * For a create: a hash of 64 hexadecimal digits by which `findCreated` finds the created records. Sent as
   * `X-Calendar-Key`.
   */
  creationKey?: string | undefined;
  /**
   * For a create: a random id of this call, sent as `X-Calendar-Create`. The companion plugin repeats it with
   * the records that a rejected create inserted.
   */
  creationId?: string | undefined;
}

/** A collection's own description: the statuses it can be filtered by and the permissions its actions need. */
export interface CollectionInfo {
  statuses: string[];
  /** Undefined if the CMS does not show them to this caller. */
  permissions: ActionPermissions | undefined;
  /**
   * Fields that a write may set: top-level fields (`title`), and keys of nested ones (`meta.start`,
   * `acf.start`). Undefined if the CMS does not show its schema. Fields that plugins add without a schema are
   * missing.
   */
  writableFields: string[] | undefined;
  /** Fields of its records, named like `writableFields`. Undefined if the CMS does not show its schema. */
  fields?: string[] | undefined;
}

/**
 * One CMS. `collection` is a collection's name there (WordPress: `rest_base`), for posts and terms alike.
 * Every call throws `CmsRejected` when the CMS responds with an error and `CmsUnavailable` without a usable
 * response.
 */
export interface Cms {
  site(options?: CallOptions): Promise<Site>;
  /** The account of the credentials. Throws `CmsRejected` (401) if they are wrong. */
  account(options: CallOptions): Promise<Account>;
  /**
   * The user name of the account with this e-mail address, for a CMS that accepts either at login. Undefined
   * without such an account and if the credentials may not list accounts.
   */
  findUserName?(email: string, options: CallOptions): Promise<string | undefined>;
  collectionInfo(collection: string, options?: CallOptions): Promise<CollectionInfo>;
  /** False only if the CMS itself says that it has no such collection. */
  hasCollection(collection: string, options?: CallOptions): Promise<boolean>;
  list(collection: string, query: Query, options?: CallOptions): Promise<CmsPage>;
  read(collection: string, id: number, query: Query, options?: CallOptions): Promise<CmsRecord>;
  create(collection: string, body: CmsRecord, options: CallOptions): Promise<CmsRecord>;
  update(collection: string, id: number, body: CmsRecord, options: CallOptions): Promise<CmsRecord>;
  /** Moves posts to the trash unless `force`; terms and media have no trash and are always deleted. */
  remove(collection: string, id: number, mode: { force: boolean }, options: CallOptions): Promise<CmsRecord>;
  images(ids: number[], options?: CallOptions): Promise<ImageRecord[]>;
  upload(image: { bytes: Uint8Array; mimeType: string; filename: string }, options: CallOptions): Promise<ImageRecord>;
  /**
   * True if the CMS shows that no post outside the trash has this term and that it has no child terms. False
   * if the CMS does not show that to this caller.
   */
  isUnusedTerm(collection: string, id: number, options: CallOptions): Promise<boolean>;
  /** The records created with this key. Undefined if the CMS cannot know (no companion plugin). */
  findCreated(creationKey: string, options: CallOptions): Promise<{ collection: string; id: number }[] | undefined>;
  /** True if a public post of any type has this id: distinguishes "another type" from "no record". */
  exists(id: number, options?: CallOptions): Promise<boolean>;
  close(): Promise<void>;
}
