// The composition root: sees everything, decides nothing.

import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { assemble } from './assembly.ts';
import { type Config, publicUrlOf, serviceCredentials } from './config.ts';
import { createAdmin } from './http/admin.ts';
import { ADMIN_PORT, MAIN_PORT, openPort, type Port } from './http/port.ts';
import { fittedId, fittedUpstream } from './mapping/fitting.ts';
import { loadMapping } from './mapping/load.ts';
import { fingerprintOf } from './mapping/mapping.ts';
import { type Observe, observers } from './observe/events.ts';
import { createMetrics } from './observe/metrics.ts';
import { openReplica, type Replica, type ReplicaOptions } from './replica/store.ts';
import { createSync } from './replica/sync.ts';
import { createWordPress } from './upstream/wordpress/wordpress.ts';

/** What several gateways need beyond what one does. */
type Several = Pick<typeof import('./cluster/cluster.ts'), 'createCluster'> &
  Pick<typeof import('./cluster/shared-counts.ts'), 'openSharedCounts'> &
  Pick<typeof import('./cluster/shared-create-keys.ts'), 'openSharedCreateKeys'>;

export interface Gateway {
  /** Opens both ports and begins to copy. Throws `ConfigError` when a port cannot be had; then everything is released again. */
  start(): Promise<{ url: string; adminUrl: string }>;
  /** Says on the admin port that it is not ready, lets the requests in flight end (within the drain time), and closes everything. */
  stop(): Promise<void>;
  /** Resolves, with the error, when the gateway cannot go on and has to be stopped: a damaged replica that cannot be replaced. */
  failed: Promise<unknown>;
}

/** `createGateway` with what several gateways need, which is loaded only where they are several. */
export async function openGateway(config: Config, log: Observe): Promise<Gateway> {
  if (config.redisUrl === undefined) return createGateway(config, log);
  const { createCluster } = await import('./cluster/cluster.ts');
  const { openSharedCounts } = await import('./cluster/shared-counts.ts');
  const { openSharedCreateKeys } = await import('./cluster/shared-create-keys.ts');
  return createGateway(config, log, { createCluster, openSharedCounts, openSharedCreateKeys });
}

/**
 * Puts the gateway together.
 * @param log where observations go beside the metrics
 * @param several what speaks with other gateways through `config.redisUrl`
 * @throws ConfigError for a mapping that cannot be read or a data directory that cannot be used; ReplicaInUse
 */
export function createGateway(config: Config, log: Observe, several?: Several): Gateway {
  const metrics = createMetrics();
  const observe = observers(log, metrics.observe);
  const { upstream: site, sync: pace, limits, listen } = config;
  const mapping = loadMapping(config.mapping);
  const service = serviceCredentials(config);
  const upstream = fittedUpstream(createWordPress({ url: site.url, observe, limits: site.limits }), mapping);
  const file = config.dataDir === undefined ? {} : { file: join(config.dataDir, 'calendar.sqlite') };
  const intervalMs = pace.intervalS * 1000;
  const shared = config.redisUrl === undefined ? undefined : { url: config.redisUrl, siteUrl: site.url };
  const secret = site.password ?? config.notices.secret ?? '';
  const failure = Promise.withResolvers<unknown>();
  let counts: ReturnType<Several['openSharedCounts']> | undefined;
  let createKeys: ReturnType<Several['openSharedCreateKeys']> | undefined;

  /** The replica with all that stands on it: replaced as a whole when its file turns out to be damaged. */
  function openOverReplica(again: Pick<ReplicaOptions, 'discard' | 'leastVersion'> = {}) {
    const replica = openReplica({
      ...file,
      ...again,
      identity: `${site.url} ${mapping.name} ${fingerprintOf(mapping)} ${service ? 'all' : 'public'}`,
      answerBytes: config.cache.recordBytes,
      damaged: (reason) => setImmediate(() => replaceReplica(reason)),
    });
    try {
      tellOf(replica);
      counts ??= shared && several?.openSharedCounts({ ...shared, secret });
      createKeys ??= shared && several?.openSharedCreateKeys(shared);
      const cluster = shared && several?.createCluster({ ...shared, mapping, service, replica, intervalMs, observe });
      const keeper = createSync({
        ...{ replica, upstream, mapping, service, intervalMs, observe },
        ...(cluster ? { company: cluster.company } : {}),
      });
      const sync = cluster ? { ...keeper, look: cluster.look, changed: cluster.changed } : keeper;
      const { listener, publicStatus } = assemble({
        ...{ config, mapping, upstream, service, replica, sync, observe },
        ...(cluster ? { others: cluster } : {}),
        ...(counts ? { counts } : {}),
        ...(createKeys ? { createKeys } : {}),
      });
      return { replica, cluster, keeper, sync, listener, publicStatus };
    } catch (error) {
      replica.close();
      throw error;
    }
  }

  function tellOf({ setAside, tightened }: Replica): void {
    if (setAside !== undefined && file.file !== undefined)
      observe({ type: 'replica-quarantined', file: `${file.file}.aside`, reason: setAside });
    if (tightened.length > 0)
      observe({
        type: 'notice',
        level: 'warn',
        message: `other users could read ${tightened.join(', ')}: now only the owner can`,
      });
  }

  async function closeOverReplica({ cluster, keeper, replica }: ReturnType<typeof openOverReplica>): Promise<void> {
    await cluster?.stop();
    await keeper.stop();
    replica.close();
  }

  let over = openOverReplica();
  /** Requests that wait while the replica is replaced: `undefined` at all other times. */
  let waiting: (() => void)[] | undefined;
  let replacing: Promise<void> | undefined;
  /** Why the new replica is damaged too, found while it was being put in place. */
  let damagedAgain: string | undefined;
  let stopping: Promise<void> | undefined;

  function replaceReplica(reason: string): void {
    if (stopping) return;
    if (replacing) {
      damagedAgain = reason;
      return;
    }
    const held: (() => void)[] = [];
    waiting = held;
    const goOn = () => {
      waiting = undefined;
      replacing = undefined;
      for (const go of held) go();
    };
    const { replica } = over;
    replacing = closeOverReplica(over)
      .then(() => {
        over = openOverReplica({ discard: `it is damaged: ${reason}`, leastVersion: replica.version + 1 });
        if (file.file === undefined) observe({ type: 'replica-quarantined', file: 'the temporary file', reason });
        return over.cluster?.start(over.keeper);
      })
      .then(() => {
        over.keeper.start();
        goOn();
        const again = damagedAgain;
        damagedAgain = undefined;
        if (again !== undefined) replaceReplica(again);
      })
      .catch((error: unknown) => {
        failure.resolve(error);
        // Without a replica these get 503. Otherwise they would wait until the process ends, and be cut off.
        goOn();
      });
  }

  const admin = createAdmin({
    metrics,
    noticeSecret: config.notices.secret,
    status: () => ({
      ...{ ...over.sync.status(), ...over.publicStatus(), mapping: mapping.name, version: over.replica.version },
      ...(over.cluster ? { gateways: over.cluster.status() } : {}),
    }),
    complete: () => !replacing && over.sync.status().complete,
    inStep: () => over.sync.status().state === 'live',
    changed: (changes) =>
      over.sync.changed(changes.map((one) => ({ ...one, id: fittedId(mapping, one.collection, one.id) }))),
  });
  /** In the order in which they are closed: who asks whether the gateway is ready is answered until the last request has ended. */
  const ports: Port[] = [];

  const listener: RequestListener = (request, response) => {
    if (waiting) waiting.push(() => over.listener(request, response));
    else over.listener(request, response);
  };

  async function close(): Promise<void> {
    admin.draining();
    await replacing;
    for (const port of ports) await port.close();
    await closeOverReplica(over);
    counts?.close();
    createKeys?.close();
    await upstream.close();
  }

  function stop(): Promise<void> {
    stopping ??= close();
    return stopping;
  }

  return {
    async start() {
      const { host, port, adminHost, adminPort } = listen;
      try {
        // What can be refused comes first: nothing is asked of the CMS by a gateway that cannot serve.
        const second = await openPort(admin.listener, { host: adminHost, port: adminPort, ...limits, ...ADMIN_PORT });
        ports.push(second);
        await over.cluster?.start(over.keeper);
        ports.unshift(await openPort(listener, { host, port, ...limits, ...MAIN_PORT }));
        over.keeper.start();
        return { url: publicUrlOf(config), adminUrl: `http://${adminHost}:${second.port}` };
      } catch (error) {
        await stop();
        throw error;
      }
    },
    stop,
    failed: failure.promise,
  };
}
