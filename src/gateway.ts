// The composition root: sees everything, decides nothing.

import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Backing } from './calendar/backing.ts';
import { createEvents } from './calendar/events.ts';
import { createLinked } from './calendar/linked.ts';
import { createPresent } from './calendar/present.ts';
import { createSlugs } from './calendar/slugs.ts';
import { createTerms } from './calendar/terms.ts';
import { type Config, publicUrlOf, serviceCredentials } from './config.ts';
import { createAdmin } from './http/admin.ts';
import { createAnswerCache } from './http/answer-cache.ts';
import { createApp } from './http/app.ts';
import { front } from './http/front.ts';
import { createIdentity } from './http/identity.ts';
import { createAddressLimit, createLoginLimit } from './http/limits.ts';
import { pages } from './http/pages/pages.ts';
import { openPort, type Port } from './http/port.ts';
import { createReading } from './http/reading.ts';
import { organizerFields, venueFields } from './interface/parameters.ts';
import { readData } from './interface/validate.ts';
import { fittedId, fittedUpstream } from './mapping/fitting.ts';
import { loadMapping } from './mapping/load.ts';
import { type Observe, observers } from './observe/events.ts';
import { createMetrics } from './observe/metrics.ts';
import { openReplica } from './replica/store.ts';
import { createSync } from './replica/sync.ts';
import { createWordPress } from './upstream/wordpress/wordpress.ts';

export interface Gateway {
  /** Opens both ports and begins to copy. Throws when a port is taken. */
  start(): Promise<{ url: string; adminUrl: string }>;
  /** Refuses new requests, lets those in flight end (within the drain time), and closes everything. */
  stop(): Promise<void>;
}

/**
 * Puts the gateway together.
 * @param log where observations go beside the metrics
 * @throws ConfigError for a mapping that cannot be read; ReplicaInUse
 */
export function createGateway(config: Config, log: Observe): Gateway {
  const metrics = createMetrics();
  const observe = observers(log, metrics.observe);
  const { upstream: site, sync: pace, lists, limits, cache: keep } = config;
  const mapping = loadMapping(config.mapping);
  const service = serviceCredentials(config);
  const upstream = fittedUpstream(createWordPress({ url: site.url, observe, limits: site.limits }), mapping);
  const file = config.dataDir === undefined ? {} : { file: join(config.dataDir, 'calendar.sqlite') };
  const replica = openReplica({
    ...file,
    identity: `${site.url} ${mapping.name} ${service ? 'all' : 'public'}`,
    answerBytes: keep.recordBytes,
  });
  const sync = createSync({ replica, upstream, mapping, service, intervalMs: pace.intervalS * 1000, observe });
  const present = createPresent(replica, () => sync.site(), config.cost);

  const backing: Backing = {
    ...{ replica, upstream, mapping, sync, present, service, lists },
    readFields: (kind, data) => readData(kind === 'venue' ? venueFields : organizerFields, data),
    site: () => sync.site(),
    nowMs: () => Date.now(),
  };
  const linked = { venue: createLinked(backing, 'venue'), organizer: createLinked(backing, 'organizer') };
  const operations = {
    event: createEvents(backing, linked),
    ...linked,
    category: createTerms(backing, 'category'),
    tag: createTerms(backing, 'tag'),
  };
  const publicUrl = publicUrlOf(config);
  const cache = createAnswerCache(keep.answerBytes);
  const addresses = createAddressLimit(limits);
  const { trustProxies } = config.listen;
  const reads = {
    ...{ backing, operations, limits, publicUrl, cache },
    mounts: config.mounts,
    slugs: createSlugs(backing),
    urlBytes: limits.urlBytes,
    freshness: keep,
  };
  const app = createApp({
    ...reads,
    ...{ observe, addresses, trustProxies },
    identity: createIdentity({ upstream, logins: createLoginLimit(limits) }),
    pages: pages({ mounts: config.mounts, publicUrl, enabled: config.pages, status: () => publicStatus(backing) }),
  });
  const reading = createReading(reads);
  const listener = front({ backing, cache, addresses, trustProxies, reading, observe, otherwise: app.callback() });
  const admin = createAdmin({
    metrics,
    noticeSecret: config.notices.secret,
    status: () => ({ ...sync.status(), ...publicStatus(backing), mapping: mapping.name, version: replica.version }),
    complete: () => sync.status().complete,
    inStep: () => sync.status().state === 'live',
    changed: (changes) =>
      sync.changed(changes.map((one) => ({ ...one, id: fittedId(mapping, one.collection, one.id) }))),
  });
  const ports: Port[] = [];

  return {
    async start() {
      sync.start();
      const { host, port, adminHost, adminPort } = config.listen;
      const main = await openPort(createServer({ maxHeaderSize: limits.headerBytes }, listener), {
        host,
        port,
        ...limits,
      });
      ports.push(main, await openPort(createServer(admin.listener), { host: adminHost, port: adminPort, ...limits }));
      return { url: publicUrl, adminUrl: `http://${adminHost}:${ports[1]!.port}` };
    },
    async stop() {
      admin.draining();
      await Promise.all(ports.map((port) => port.close()));
      await sync.stop();
      await upstream.close();
      replica.close();
    },
  };
}

/** What anybody may know: shown on the landing page. */
function publicStatus({ sync, replica, site }: Backing) {
  const { state, percent } = sync.status();
  const counts = replica.counts();
  return {
    site: { name: site().name, url: site().url },
    copy: { state, percent },
    cms: { reachable: state !== 'away' },
    counts: {
      events: counts.event,
      venues: counts.venue,
      organizers: counts.organizer,
      categories: counts.category,
      tags: counts.tag,
    },
    version: replica.version,
  };
}
