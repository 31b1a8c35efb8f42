// Creates what answers requests: the use cases' services and the HTTP listener, over a replica and a CMS.

import { LRUCache } from 'lru-cache';
import { LookupLimit, PasswordAttempts } from './calendar/anonymous-limits.ts';
import { CmsRecords } from './calendar/cms-records.ts';
import { todayAt } from './calendar/dates.ts';
import { assertPublicEvent } from './calendar/event-reads.ts';
import { createImageFetcher } from './calendar/image-fetcher.ts';
import { Permissions } from './calendar/request.ts';
import type { Services } from './calendar/services.ts';
import { UnpublishedRecordsCache } from './calendar/unpublished-records.ts';
import type { Credentials } from './cms/port.ts';
import { publicUrlOf } from './config.ts';
import type { Config } from './config-schema.ts';
import { createListener } from './http/app.ts';
import { Authenticator } from './http/auth.ts';
import { createClientAddress } from './http/client-address.ts';
import { RateLimit, type SharedCounters } from './http/client-limits.ts';
import { createPublicRead } from './http/endpoints.ts';
import { createCors } from './http/headers.ts';
import { Idempotency } from './http/idempotency.ts';
import { LoginLimit } from './http/login-limit.ts';
import { pages } from './http/pages/pages.ts';
import { ResponseCache } from './http/response-cache.ts';
import { type IdempotencyStore, openIdempotencyStore } from './store/idempotency-keys.ts';

interface ApplicationOptions extends Pick<Services, 'replica' | 'cms' | 'mapping' | 'sync' | 'observe' | 'peers'> {
  config: Config;
  /** On a reload, that of the old application: a second one would attach a database `caller3` again. */
  unpublishedRecords?: UnpublishedRecordsCache | undefined;
  serviceCredentials: Credentials;
  nowMs?: () => number;
  /** Monotonic. `cachesMs`: of cached logins. `attemptsMs`: of lookups of unknown ids and attempts at passwords. */
  clocks?: { cachesMs: () => number; attemptsMs: () => number } | undefined;
  /** Of several gateways: the counters of limits and idempotency keys that all share. */
  sharedCounters?: SharedCounters | undefined;
  idempotencyKeys?: IdempotencyStore | undefined;
}

export type Application = ReturnType<typeof createApplication>;

/** About 2 MB with slugs of ordinary length. */
const MAX_SLUGS = 10_000;

/** Opens no port and starts no sync. */
export function createApplication(options: ApplicationOptions) {
  const { config, mapping, cms, serviceCredentials, replica, sync, observe, peers } = options;
  const { nowMs = Date.now, clocks, sharedCounters } = options;
  const { unpublishedRecords = new UnpublishedRecordsCache({ db: replica.db, cms, mapping, sync }) } = options;
  const { limits, mounts } = config;
  const publicUrl = publicUrlOf(config);
  const clientAddress = createClientAddress(config.listen.trustProxies);
  const site = () => sync.site();
  const services: Services = {
    replica,
    cms,
    cmsRecords: new CmsRecords({ cms, mapping, replica, site, sync, peers }),
    unpublishedRecords,
    mapping,
    sync,
    nowMs,
    observe,
    site,
    peers,
    permissions: new Permissions({ cms, mapping, serviceCredentials }),
    slugs: new LRUCache<string, number>({ max: MAX_SLUGS }),
    lookupLimit: new LookupLimit(() => sync.state().complete, clocks?.attemptsMs),
    passwordAttempts: new PasswordAttempts(clocks?.attemptsMs),
    imageFetcher: createImageFetcher(),
    defaultCurrency: config.cost,
    lists: config.lists,
  };
  const routeOptions = {
    services,
    idempotency: new Idempotency(services, options.idempotencyKeys ?? openIdempotencyStore(replica.db)),
    limits,
  };
  const rateLimit = new RateLimit(limits, sharedCounters);
  const listener = createListener({
    ...routeOptions,
    authenticator: new Authenticator(cms, new LoginLimit(limits, sharedCounters), clocks?.cachesMs),
    pages: pages({
      config: config.pages,
      cost: config.cost,
      mounts,
      publicUrl,
      freshness: config.cache,
      site,
      today: () => todayAt(services),
      replicaVersion: () => replica.version,
      // The first mount is always `/calendar/events/v1` (`loadConfig`).
      read: createPublicRead(routeOptions, { mount: mounts[0]!, baseUrl: publicUrl + mounts[0]! }),
      charge: (req) => rateLimit.charge(clientAddress(req), 1),
      assertPublic: (id) => assertPublicEvent(services, id),
    }),
    config,
    cache: new ResponseCache(config.cache.responseBytes),
    cors: createCors(config.allowedOrigins),
    rateLimit,
    clientAddress,
    publicUrl,
  });
  return { services, listener };
}
