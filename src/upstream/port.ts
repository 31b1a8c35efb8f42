// What any CMS must be able to do for the gateway, in its own posts and terms; what they mean is the mapping's business.

import type { ImageRecord, Site } from '../records.ts';

/** A post or term as the CMS answers it. */
export type Native = Record<string, unknown>;

/** The caller's own credentials: the `Authorization` header as it came, or nothing for an anonymous caller. Never logged, never a cache key. */
export type Credentials = string | undefined;

/** Who the CMS says a caller is. */
export interface Account {
  userId: number;
  roles: string[];
  /** Names of the capabilities that are granted. */
  capabilities: ReadonlySet<string>;
}

export interface NativePage {
  items: Native[];
  total: number;
  totalPages: number;
  /** The CMS's clock when it answered (its `Date` header), milliseconds since 1970. */
  serverTimeMs: number;
}

export type Query = Record<string, string | number | boolean>;

/**
 * Whose work a call is. Each lane has its own connections, queue, retry budget and circuit breaker, so that none can starve the others:
 * look-ups of anonymous callers; credentials that are new from an address within a day; reads and writes of known callers; and the gateway's
 * own sync.
 */
export type LaneName = 'anonymous' | 'logins' | 'callers' | 'sync';

export interface CallOptions {
  credentials?: Credentials;
  /** Default `sync`: the gateway's own work. */
  lane?: LaneName;
  /** Calls of one share, such as those of one user, take turns with those of others in their lane. */
  share?: string;
  signal?: AbortSignal;
  /** Sent on to the CMS as `X-Request-Id`. */
  requestId?: string;
  /** Of a create: a hash by which the CMS can tell later what the create made, `createdWith`. 64 hexadecimal digits. */
  createKey?: string;
  /** On a create: a random id of this call. The companion plugin repeats it when it says what a refused create inserted. */
  createId?: string;
}

/** What the collection itself says: which statuses may be asked, which capabilities its actions need. Empty where it does not tell. */
export interface CollectionFacts {
  statuses: string[];
  /** `edit_posts`, `publish_posts`, `edit_others_posts`, `read_private_posts`, `edit_terms` ... -> the capability's name on this site. */
  capabilities: Record<string, string>;
  /**
   * What a write may carry: top-level fields (`title`) and the keys of those that hold several (`meta.start`, `acf.start`); undefined
   * when the CMS does not show its schema. Fields that plugins add without a schema are missing.
   */
  writable: string[] | undefined;
  /** What its records have, as `writable` names it; undefined when the CMS does not show its schema. */
  fields?: string[] | undefined;
}

/**
 * One CMS. `base` is a collection's own name there (`rest_base`), for posts and terms alike.
 * Every call throws `UpstreamRefused` when the CMS answers with an error and `UpstreamAway` when it gives no usable answer.
 */
export interface Upstream {
  site(options?: CallOptions): Promise<Site>;
  /** Who the credentials belong to. Throws `UpstreamRefused` (401) for bad ones. */
  account(options: CallOptions): Promise<Account>;
  /**
   * The user name of the account with this e-mail address, where accounts can sign in with either; undefined where there is none, or where
   * the credentials may not list accounts.
   */
  userNameOf?(email: string, options: CallOptions): Promise<string | undefined>;
  facts(base: string, options?: CallOptions): Promise<CollectionFacts>;
  list(base: string, query: Query, options?: CallOptions): Promise<NativePage>;
  read(base: string, id: number, query: Query, options?: CallOptions): Promise<Native>;
  create(base: string, body: Native, options: CallOptions): Promise<Native>;
  update(base: string, id: number, body: Native, options: CallOptions): Promise<Native>;
  /** Posts go to the trash unless `force`; terms and media have no trash and are always deleted for good. */
  remove(base: string, id: number, how: { force: boolean }, options: CallOptions): Promise<Native>;
  images(ids: number[], options?: CallOptions): Promise<ImageRecord[]>;
  upload(image: { bytes: Uint8Array; mimeType: string; filename: string }, options: CallOptions): Promise<ImageRecord>;
  /**
   * Whether the CMS shows that no post has this term, in whatever status outside the trash, and that no other term is below it. False
   * when it does not show that to this caller.
   */
  isUnusedTerm(base: string, id: number, options: CallOptions): Promise<boolean>;
  /** The records that were created with this key; undefined when the CMS cannot tell. */
  createdWith(key: string, options: CallOptions): Promise<{ collection: string; id: number }[] | undefined>;
  /** Whether a public post of any type has this id: tells "another type" from "nothing". */
  exists(id: number, options?: CallOptions): Promise<boolean>;
  close(): Promise<void>;
}
