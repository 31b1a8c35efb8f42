// The dependencies of the use cases: replica, CMS, mapping and what is shared between requests.

import type { LRUCache } from 'lru-cache';
import type { ImageFetcher } from '../cms/image-fetcher.ts';
import type { Cms, Credentials } from '../cms/port.ts';
import type { Config } from '../config-schema.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { KindOrImage, Site } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import type { Replica } from '../store/replica.ts';
import type { Sync } from '../sync/sync.ts';
import type { CmsRecords } from './cms-records.ts';
import type { OwnRecordsCache } from './own-records.ts';
import type { PasswordAttempts } from './password-attempts.ts';
import type { Peers } from './peers.ts';
import type { PermissionCache } from './permissions.ts';
import type { Serializer } from './serializer.ts';
import type { UnknownRecords } from './unknown-records.ts';

export interface Services {
  replica: Replica;
  /** Reads and writes of records in the CMS, which keep the replica current. */
  cmsRecords: CmsRecords;
  /** The unpublished records of the callers who list them. */
  ownRecords: OwnRecordsCache;
  /** The other gateways of the site. */
  peers?: Peers | undefined;
  cms: Cms;
  mapping: Mapping;
  sync: Sync;
  serializer: Serializer;
  /** The currency of costs without one. */
  cost: Config['cost'] | undefined;
  permissions: PermissionCache;
  /** Limits the calls to the CMS for records that the replica lacks. */
  unknownRecords: UnknownRecords;
  /** Limits the attempts of anonymous callers at passwords of protected records. */
  passwordAttempts: PasswordAttempts;
  /** Fetches images by URL, a bounded number at a time. */
  imageFetcher: ImageFetcher;
  /** The service account of the settings, for what neither visitors nor callers may ask the CMS. */
  serviceCredentials: Credentials;
  lists: Config['lists'];
  site(): Site;
  nowMs(): number;
  observe: Observe;
  /** Records that requests in flight refer to. */
  usedRecords: UsedRecords;
  /** Records that requests of this gateway created recently, by `event 12`. */
  recentlyCreated: LRUCache<string, true>;
  /**
   * Polls in progress after failed writes that may have left an orphan in the CMS, by user id. Requests of
   * the same user wait for them.
   */
  pendingPolls: Map<number, Promise<unknown>>;
}

/** One request in flight, compared by identity. */
export type RequestHandle = object;

/**
 * Tracks which records the requests in flight refer to, so that a rollback never removes one that another
 * request uses.
 */
export interface UsedRecords {
  /** The request created this record. Call it before other requests can learn the id from the replica. */
  markCreated(request: RequestHandle, kind: KindOrImage, id: number): void;
  /**
   * The request will refer to this record. Waits while a rollback is removing the record. Resolves with false
   * if the record was removed; the caller then needs another one.
   */
  use(request: RequestHandle, kind: KindOrImage, id: number): Promise<boolean>;
  /**
   * Calls `remove` for a record that the request created, unless another request has referred to it since.
   * Resolves with whether the record was removed; false if `remove` fails.
   */
  removeUnused(request: RequestHandle, kind: KindOrImage, id: number, remove: () => Promise<boolean>): Promise<boolean>;
  /** The request has ended. */
  release(request: RequestHandle): void;
}
