// What the use cases work with: replica, CMS, mapping and what is shared between requests; and a request with these.

import type { LRUCache } from 'lru-cache';
import type { Cms } from '../cms/port.ts';
import type { Config } from '../config-schema.ts';
import type { Mapping } from '../mapping/mapping.ts';
import type { Site } from '../model/records.ts';
import type { Observe } from '../observability/observations.ts';
import type { Replica } from '../store/replica.ts';
import type { Sync } from '../sync/sync.ts';
import type { LookupLimit, PasswordAttempts } from './anonymous-limits.ts';
import type { CmsRecords } from './cms-records.ts';
import type { ImageFetcher } from './image-fetcher.ts';
import type { PeersPort } from './peers-port.ts';
import type { Permissions, RequestContext } from './request.ts';
import type { UnpublishedRecordsCache } from './unpublished-records.ts';

export interface Services {
  replica: Replica;
  cmsRecords: CmsRecords;
  unpublishedRecords: UnpublishedRecordsCache;
  peers?: PeersPort | undefined;
  cms: Cms;
  mapping: Mapping;
  sync: Sync;
  /** The currency of costs that name none, on a site that names none. */
  defaultCurrency: Config['cost'];
  permissions: Permissions;
  /** Ids by kind and slug: `event folk-night` -> 12. */
  slugs: LRUCache<string, number>;
  lookupLimit: LookupLimit;
  passwordAttempts: PasswordAttempts;
  imageFetcher: ImageFetcher;
  lists: Config['lists'];
  site(): Site;
  nowMs(): number;
  observe: Observe;
}

export interface ApiRequest extends RequestContext {
  services: Services;
}
