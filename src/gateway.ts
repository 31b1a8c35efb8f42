// The composition root: creates the CMS client, the replica, its sync and the application, and opens both HTTP servers.

import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { createApplication } from './application.ts';
import { IdMap } from './cms/payload/id-map.ts';
import { apiKeyLogin, createPayload } from './cms/payload/payload.ts';
import { type Cms, type Credentials, MEDIA } from './cms/port.ts';
import { createWordPress } from './cms/wordpress/wordpress.ts';
import { basicCredentialsOf, publicUrlOf } from './config.ts';
import type { Config } from './config-schema.ts';
import { createAdmin } from './http/admin.ts';
import { createProxyCheck } from './http/client-address.ts';
import { ADMIN_SERVER, type HttpServer, MAIN_SERVER, openServer } from './http/server.ts';
import { createSharedCounters } from './http/shared-counters.ts';
import { createSharedIdempotencyKeys } from './http/shared-idempotency-keys.ts';
import { loadMapping } from './mapping/load.ts';
import { collectionSpec, type Mapping, mappingFingerprint } from './mapping/mapping.ts';
import type { CmsName } from './mapping/mapping-file.ts';
import { createMetrics } from './observability/metrics.ts';
import { combineObservers, type Observe } from './observability/observations.ts';
import { Replica } from './store/replica.ts';
import { changedRecords } from './sync/fetch-changed.ts';
import { Sync } from './sync/sync.ts';
import { VERSION } from './version.ts';

/** The entry point of `cluster/`, which only a gateway with `redisUrl` loads. */
type ClusterModule = Pick<typeof import('./cluster/cluster.ts'), 'openCluster'>;

export interface Gateway {
  /**
   * Opens both ports and starts the sync. Throws `ConfigError` if a port cannot be opened, after releasing
   * everything.
   */
  start(): Promise<{ url: string; adminUrl: string }>;
  /**
   * Graceful shutdown: reports not ready, waits for requests in flight (at most the drain time), and closes
   * everything.
   */
  stop(): Promise<void>;
  /** Resolves with an error after which the gateway must be stopped: a damaged replica could not be replaced. */
  failed: Promise<unknown>;
}

/** Creates a gateway, with the cluster module if the configuration has a `redisUrl`. */
export async function openGateway(config: Config, log: Observe): Promise<Gateway> {
  if (config.redisUrl === undefined) return createGateway(config, log);
  return createGateway(config, log, await import('./cluster/cluster.ts'));
}

/**
 * Opens the CMS that the mapping names. The result has the credentials of the service account (undefined
 * without one), and the id of the id map: a replica that was filled with the numbers of another id map must
 * not be used.
 * @param idMapFile the file of the id map, for a CMS whose ids are texts; absent: the numbers are forgotten when the process ends
 * @throws ConfigError if the file cannot be used
 */
export const openCms: OpenCms = (config, mapping, ...rest) => CMS_OPENERS[mapping.cms](config, mapping, ...rest);

type OpenCms = (
  config: Config,
  mapping: Mapping,
  observe: Observe,
  idMapFile?: string,
) => { cms: Cms; serviceCredentials: Credentials; imageReader?: Credentials; idMapId?: number | undefined };

const openWordPress: OpenCms = (config, _mapping, observe) => {
  const { url, limits } = config.upstream;
  const account = basicCredentialsOf(config);
  // It hides images that were uploaded to a draft, also in published events.
  return { cms: createWordPress({ url, observe, limits }), serviceCredentials: account, imageReader: account };
};

const openPayload: OpenCms = (config, { source, kinds }, observe, idMapFile) => {
  const { url, limits, user, password = '' } = config.upstream;
  // No id map in a cluster: each gateway would give a record another number.
  const idMap = config.redisUrl === undefined ? new IdMap(idMapFile, warnOfLostIds(idMapFile, observe)) : undefined;
  const payload = createPayload({
    url,
    observe,
    limits,
    idMap,
    specs: Object.values(kinds),
    site: source.payload,
  });
  const close = async () => {
    await payload.close();
    idMap?.close();
  };
  const serviceCredentials = user === undefined ? undefined : apiKeyLogin(user, password);
  return { cms: { ...payload, close }, serviceCredentials, idMapId: idMap?.mapId };
};

const CMS_OPENERS: Readonly<Record<CmsName, OpenCms>> = { wordpress: openWordPress, payload: openPayload };

/** Warns if the numbers of records will be forgotten. */
const warnOfLostIds = (file: string | undefined, observe: Observe) => () => {
  const message =
    'The ids of this site are texts. Without a data directory (CALENDAR_DATA_DIR) every record gets another id at the next start.';
  if (file === undefined) observe({ type: 'message', level: 'warn', message });
};

/**
 * Creates the gateway without opening a port.
 * @param log receives every observation, as the metrics do
 * @throws ConfigError for an unreadable mapping or an unusable data directory
 */
export function createGateway(config: Config, log: Observe, clusterModule?: ClusterModule): Gateway {
  const metrics = createMetrics();
  /** The bulkheads whose circuit breaker is open, or half open until a call succeeds. */
  const openBreakers = new Set<string>();
  const observe = combineObservers(log, metrics.observe, (observation) => {
    if (observation.type !== 'breaker') return;
    if (observation.state === 'closed') openBreakers.delete(observation.bulkhead);
    else openBreakers.add(observation.bulkhead);
  });
  const { upstream, limits, listen } = config;
  const mapping = loadMapping(config.mapping);
  const file = config.dataDir === undefined ? undefined : join(config.dataDir, 'calendar.sqlite');
  const {
    cms,
    serviceCredentials,
    imageReader,
    idMapId = '',
  } = openCms(config, mapping, observe, file && `${file}.ids`);
  const intervalMs = config.sync.intervalS * 1000;
  const cluster =
    config.redisUrl === undefined
      ? undefined
      : clusterModule?.openCluster({ url: config.redisUrl, siteUrl: upstream.url, mapping, intervalMs, observe });
  /** All gateways of the site have it. */
  const secret = upstream.password ?? config.webhook.secret ?? '';
  const sharedCounters = cluster && createSharedCounters({ ...cluster, secret });
  const idempotencyKeys = cluster && createSharedIdempotencyKeys(cluster);
  const failure = Promise.withResolvers<unknown>();

  /** Opens the replica and everything built on it; a damaged replica is replaced together with all of that. */
  function openReplicaStack(quarantine?: string) {
    const peers = cluster?.createPeers();
    const replica = new Replica({
      file,
      quarantine,
      identity: `${upstream.url} ${mapping.name} ${mappingFingerprint(mapping)} ${upstream.readAs}${idMapId}`,
      renderedBytes: config.cache.recordBytes,
      onDamage: (reason) => setImmediate(() => replaceReplica(reason)),
      onChanged: peers && ((records) => peers.changed(changedRecords(mapping, records))),
    });
    try {
      if (replica.quarantined !== undefined && file !== undefined)
        observe({ type: 'replica-quarantined', file: `${file}.quarantined`, reason: replica.quarantined });
      const sync = new Sync({
        replica,
        cms,
        mapping,
        visitor: upstream.readAs === 'account' ? serviceCredentials : undefined,
        imageReader,
        intervalMs,
        observe,
        turns: peers,
      });
      const { listener, status } = createApplication({
        config,
        mapping,
        cms,
        serviceCredentials,
        replica,
        sync,
        observe,
        peers,
        sharedCounters,
        idempotencyKeys,
      });
      return { replica, peers, sync, listener, status };
    } catch (error) {
      replica.close();
      throw error;
    }
  }

  async function closeReplicaStack({ peers, sync, replica }: ReturnType<typeof openReplicaStack>): Promise<void> {
    await peers?.stop();
    await sync.stop();
    replica.close();
  }

  function startSync(): void {
    current.sync.start();
    current.peers?.start(current.sync, current.replica);
  }

  let current = openReplicaStack();
  let replacing: Promise<void> | undefined;
  let stopping: Promise<void> | undefined;

  /** Requests get 503 meanwhile. */
  function replaceReplica(reason: string): void {
    if (stopping || replacing) return;
    replacing = closeReplicaStack(current)
      .then(() => {
        current = openReplicaStack(`it is damaged: ${reason}`);
        if (file === undefined) observe({ type: 'replica-quarantined', file: 'the temporary file', reason });
        startSync();
      })
      .catch(failure.resolve)
      .finally(() => {
        replacing = undefined;
      });
  }

  const admin = createAdmin({
    metrics,
    webhookSecret: config.webhook.secret,
    status: () => ({
      ...current.sync.status(),
      ...current.status(),
      openBreakers: [...openBreakers],
      gatewayVersion: VERSION,
      mapping: mapping.name,
      version: current.replica.version,
      ...(current.peers ? { cluster: current.peers.status() } : {}),
    }),
    isComplete: () => !replacing && current.sync.status().complete,
    isLive: () => current.sync.status().state === 'live',
    onWebhook: (changes) => {
      const records = changes
        .map(({ collection: name, id, trashed: isTrashed }) => {
          // The images of a Payload site may have another name.
          const collection = name === mapping.source.payload?.media ? MEDIA.collection : name;
          return { collection, id: cms.gatewayId(collectionSpec(mapping, collection), id), isTrashed };
        })
        .filter(({ id }) => id !== 0);
      return current.peers ? current.peers.reported(records) : current.sync.fetchChanged(records);
    },
  });
  /** In the order of closing: the admin port answers `/ready` until the last request has ended. */
  const servers: HttpServer[] = [];

  const listener: RequestListener = (req, res) => current.listener(req, res);

  async function close(): Promise<void> {
    admin.startDraining();
    await replacing;
    for (const server of servers) await server.close();
    await closeReplicaStack(current);
    cluster?.connection.close();
    await cms.close();
  }

  function stop(): Promise<void> {
    stopping ??= close();
    return stopping;
  }

  return {
    async start() {
      const { host, port, adminHost, adminPort } = listen;
      try {
        // Both ports before the sync: a gateway that cannot serve must not call the CMS.
        const adminServer = await openServer(admin.listener, {
          ...limits,
          ...ADMIN_SERVER,
          host: adminHost,
          port: adminPort,
        });
        servers.push(adminServer);
        const isProxy = createProxyCheck(listen.trustProxies);
        servers.unshift(await openServer(listener, { ...limits, ...MAIN_SERVER, host, port, isProxy }));
        startSync();
        return { url: publicUrlOf(config), adminUrl: `http://${adminHost}:${adminServer.port}` };
      } catch (error) {
        await stop();
        throw error;
      }
    },
    stop,
    failed: failure.promise,
  };
}
