// The composition root: sees everything, decides nothing.

import { join } from 'node:path';
import { assemble } from './assembly.ts';
import { type Config, publicUrlOf, serviceCredentials } from './config.ts';
import { createAdmin } from './http/admin.ts';
import { openPort, type Port } from './http/port.ts';
import { fittedId, fittedUpstream } from './mapping/fitting.ts';
import { loadMapping } from './mapping/load.ts';
import { fingerprintOf } from './mapping/mapping.ts';
import { type Observe, observers } from './observe/events.ts';
import { createMetrics } from './observe/metrics.ts';
import { openReplica } from './replica/store.ts';
import { createSync } from './replica/sync.ts';
import { createWordPress } from './upstream/wordpress/wordpress.ts';

/** What several gateways need beyond what one does. */
type Several = Pick<typeof import('./cluster/cluster.ts'), 'createCluster'> &
  Pick<typeof import('./cluster/shared-counts.ts'), 'openSharedCounts'>;

export interface Gateway {
  /** Opens both ports and begins to copy. Throws when a port is taken. */
  start(): Promise<{ url: string; adminUrl: string }>;
  /** Says on the admin port that it is not ready, lets the requests in flight end (within the drain time), and closes everything. */
  stop(): Promise<void>;
}

/** `createGateway` with what several gateways need, which is loaded only where they are several. */
export async function openGateway(config: Config, log: Observe): Promise<Gateway> {
  if (config.redisUrl === undefined) return createGateway(config, log);
  const { createCluster } = await import('./cluster/cluster.ts');
  const { openSharedCounts } = await import('./cluster/shared-counts.ts');
  return createGateway(config, log, { createCluster, openSharedCounts });
}

/**
 * Puts the gateway together.
 * @param log where observations go beside the metrics
 * @param several what speaks with other gateways through `config.redisUrl`
 * @throws ConfigError for a mapping that cannot be read; ReplicaInUse
 */
export function createGateway(config: Config, log: Observe, several?: Several): Gateway {
  const metrics = createMetrics();
  const observe = observers(log, metrics.observe);
  const { upstream: site, sync: pace, limits, listen } = config;
  const mapping = loadMapping(config.mapping);
  const service = serviceCredentials(config);
  const upstream = fittedUpstream(createWordPress({ url: site.url, observe, limits: site.limits }), mapping);
  const file = config.dataDir === undefined ? {} : { file: join(config.dataDir, 'calendar.sqlite') };
  const replica = openReplica({
    ...file,
    identity: `${site.url} ${mapping.name} ${fingerprintOf(mapping)} ${service ? 'all' : 'public'}`,
    answerBytes: config.cache.recordBytes,
  });
  const intervalMs = pace.intervalS * 1000;
  const shared = config.redisUrl === undefined ? undefined : { url: config.redisUrl, siteUrl: site.url };
  const cluster = shared && several?.createCluster({ ...shared, mapping, service, replica, intervalMs, observe });
  const secret = site.password ?? config.notices.secret ?? '';
  const counts = shared && several?.openSharedCounts({ ...shared, secret });
  const keeper = createSync({
    ...{ replica, upstream, mapping, service, intervalMs, observe },
    ...(cluster ? { company: cluster.company } : {}),
  });
  const sync = cluster ? { ...keeper, look: cluster.look, changed: cluster.changed } : keeper;
  const { listener, publicStatus } = assemble({
    ...{ config, mapping, upstream, service, replica, sync, observe },
    ...(cluster ? { others: cluster } : {}),
    ...(counts ? { counts } : {}),
  });
  const admin = createAdmin({
    metrics,
    noticeSecret: config.notices.secret,
    status: () => ({
      ...{ ...sync.status(), ...publicStatus(), mapping: mapping.name, version: replica.version },
      ...(cluster ? { gateways: cluster.status() } : {}),
    }),
    complete: () => sync.status().complete,
    inStep: () => sync.status().state === 'live',
    changed: (changes) =>
      sync.changed(changes.map((one) => ({ ...one, id: fittedId(mapping, one.collection, one.id) }))),
  });
  /** In the order in which they are closed: who asks whether the gateway is ready is answered until the last request has ended. */
  const ports: Port[] = [];

  return {
    async start() {
      await cluster?.start(keeper);
      sync.start();
      const { host, port, adminHost, adminPort } = listen;
      ports.push(await openPort(listener, { host, port, ...limits }));
      const second = await openPort(admin.listener, { host: adminHost, port: adminPort, ...limits });
      ports.push(second);
      return { url: publicUrlOf(config), adminUrl: `http://${adminHost}:${second.port}` };
    },
    async stop() {
      admin.draining();
      for (const port of ports) await port.close();
      await cluster?.stop();
      counts?.close();
      await sync.stop();
      await upstream.close();
      replica.close();
    },
  };
}
