// What answers requests, put together over a copy and a CMS: the same in the process and in its tests.

import type { RequestListener } from 'node:http';
import { LRUCache } from 'lru-cache';
import { type Backing, type Keeping, keepingAlone, keepingDespite, type Others } from './calendar/backing.ts';
import { createEvents } from './calendar/events.ts';
import { createLinked } from './calendar/linked.ts';
import { createPasswordTries } from './calendar/password-tries.ts';
import { readNewest } from './calendar/posts.ts';
import { createPresent } from './calendar/present.ts';
import { createReferences } from './calendar/references.ts';
import { createSlugs } from './calendar/slugs.ts';
import { createTerms } from './calendar/terms.ts';
import { createUnknown } from './calendar/unknown.ts';
import { type Config, publicUrlOf } from './config.ts';
import { createAdmission } from './http/admission.ts';
import { createAnswerCache } from './http/answer-cache.ts';
import { createApp } from './http/app.ts';
import { callerAddress } from './http/caller-address.ts';
import { front } from './http/front.ts';
import { createIdempotency } from './http/idempotency.ts';
import { createIdentity } from './http/identity.ts';
import { createAddressLimit, createLoginLimit, type SharedCounts } from './http/limits.ts';
import { type PublicStatus, pages } from './http/pages/pages.ts';
import { createReading } from './http/reading.ts';
import type { Operations } from './http/routing.ts';
import { organizerFields, venueFields } from './interface/parameters.ts';
import { readData } from './interface/validate.ts';
import type { Mapping } from './mapping/mapping.ts';
import type { Observe } from './observe/events.ts';
import type { TermKind } from './records.ts';
import type { Change } from './replica/commit.ts';
import type { CreateKeys } from './replica/create-keys.ts';
import { PUBLIC } from './replica/filters.ts';
import type { Replica } from './replica/store.ts';
import type { Sync } from './replica/sync.ts';
import { createImageFetches } from './upstream/image-fetches.ts';
import type { Credentials, Upstream } from './upstream/port.ts';

export interface AssemblyParts {
  config: Config;
  mapping: Mapping;
  upstream: Upstream;
  /** The service account; without one only public records are copied. */
  service: Credentials;
  replica: Replica;
  sync: Sync;
  observe: Observe;
  nowMs?: () => number;
  /** A monotonic clock in milliseconds, for how long logins are cached and how often anonymous callers may cause calls to the CMS. */
  clocks?: { loginsMs: () => number; unknownMs: () => number };
  /** Of several gateways: how this one speaks with the others. */
  others?: Keeping & Others;
  /** Of several gateways: the counts of the limits. */
  counts?: SharedCounts;
  /** The keys of creates that several gateways share. */
  createKeys?: CreateKeys;
}

export interface Assembly {
  backing: Backing;
  operations: Operations;
  /** Answers every request of the main port. */
  listener: RequestListener;
  /** What anybody may know: shown on the landing page. */
  publicStatus(): PublicStatus;
}

/** Creates of the last minutes, at any rate that one CMS bears. */
const ACKNOWLEDGED = 20_000;

/** Puts it together; opens nothing and starts nothing. */
export function assemble(parts: AssemblyParts): Assembly {
  const {
    config,
    mapping,
    upstream,
    service,
    replica,
    sync,
    observe,
    nowMs = Date.now,
    clocks,
    others,
    counts,
  } = parts;
  const { limits, cache: freshness, mounts } = config;
  const publicUrl = publicUrlOf(config);
  const addressOf = callerAddress(config.listen.trustProxies, observe);
  /** The changed records are fetched now, or with the next round that can store them. */
  const readLater = ({ put = [], remove = [] }: Change): void => {
    const keys = [...put, ...remove.flatMap(({ kind, ids }) => ids.map((id) => ({ kind, id })))];
    const named = keys.flatMap(({ kind, id }) => {
      const collection = kind === 'image' ? 'media' : mapping.kinds[kind]?.base;
      return collection === undefined ? [] : [{ collection, id }];
    });
    void sync.changed(named);
  };
  const backing: Backing = {
    ...{ replica, upstream, service, mapping, sync, nowMs, observe },
    keeping: keepingDespite(others ?? keepingAlone(replica, sync, mapping), replica, readLater),
    ...(others ? { others } : {}),
    unknown: createUnknown({
      isComplete: () => sync.standing().complete,
      isAway: () => sync.standing().state === 'away',
      readNewest: (kind) => readNewest(backing, kind),
      ...(clocks ? { clockMs: clocks.unknownMs } : {}),
    }),
    passwordTries: createPasswordTries(clocks?.unknownMs),
    imageFetches: createImageFetches({ options: { notFrom: ownOrigin(publicUrl, config) } }),
    present: createPresent(replica, () => sync.site(), config.cost),
    lists: config.lists,
    readFields: (kind, data) => readData(kind === 'venue' ? venueFields : organizerFields, data),
    site: () => sync.site(),
    references: createReferences(),
    acknowledged: new LRUCache({ max: ACKNOWLEDGED }),
    unsettled: new Map(),
  };
  const linked = { venue: createLinked(backing, 'venue'), organizer: createLinked(backing, 'organizer') };
  const operations: Operations = {
    event: createEvents(backing, linked),
    ...linked,
    category: createTerms(backing, 'category'),
    tag: createTerms(backing, 'tag'),
  };
  const publicStatus = createPublicStatus(backing);
  const cache = createAnswerCache(freshness.answerBytes);
  const addresses = createAddressLimit(limits, counts);
  const reads = {
    ...{ backing, operations, limits, publicUrl, cache, freshness, mounts },
    slugs: createSlugs(backing),
    createOnce: createIdempotency(backing, parts.createKeys ?? replica.createKeys),
    urlBytes: limits.urlBytes,
  };
  const app = createApp({
    ...reads,
    ...{ observe, addresses, addressOf },
    identity: createIdentity({
      ...{ upstream, service },
      logins: createLoginLimit(limits, counts),
      ...(clocks ? { clockMs: clocks.loginsMs } : {}),
    }),
    pages: pages({ mounts, publicUrl, enabled: config.pages, status: publicStatus }),
  });
  const reading = createReading({ ...reads, addressOf });
  const { isOverloaded, guard } = createAdmission({ ...limits, observe });
  const listener = front({
    ...{ backing, cache, addresses, addressOf, observe },
    // What is stored is sent in any case: that is as quick as a refusal.
    reading: (request, id) => (isOverloaded() ? undefined : reading(request, id)),
    otherwise: guard(app.callback()),
  });
  return { backing, operations, listener, publicStatus };
}

/** Where the gateway itself answers, unless the site with its images is there as well. */
function ownOrigin(publicUrl: string, { upstream }: Config): string[] {
  const { origin } = new URL(publicUrl);
  return origin === new URL(upstream.url).origin ? [] : [origin];
}

/** The totals of the public lists, counted once for each public version. */
function publicCounts(replica: Replica): Record<string, number> {
  const window = { limit: 0, offset: 0 };
  const seen = { visibility: PUBLIC, events: PUBLIC };
  const terms = (kind: TermKind) =>
    replica.terms({ kind, events: PUBLIC, orderBy: 'none', descending: false, hideEmpty: true, ...window }).total;
  return {
    events: replica.events({ visibility: PUBLIC, order: 'start', ...window }).total,
    venues: replica.linked('venue', { ...seen, ...window }).total,
    organizers: replica.linked('organizer', { ...seen, ...window }).total,
    categories: terms('category'),
    tags: terms('tag'),
  };
}

function createPublicStatus({ sync, replica, site }: Backing): () => PublicStatus {
  let counted: { version: number; counts: Record<string, number> } | undefined;
  return () => {
    const { state, percent } = sync.status();
    const version = replica.publicVersion;
    if (counted?.version !== version) counted = { version, counts: publicCounts(replica) };
    return {
      site: { name: site().name, url: site().url },
      copy: { state, percent },
      cms: { reachable: state !== 'away' },
      counts: counted.counts,
      version,
    };
  };
}
