// The composition root: creates the CMS client, the replica, its sync and the application, and opens both HTTP servers.

import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Application, createApplication } from './application.ts';
import type { openCluster } from './cluster/cluster.ts';
import type { Peers } from './cluster/peers.ts';
import { IdMap } from './cms/id-map.ts';
import { createNoCms, NO_CMS, siteWithoutCms } from './cms/none/none.ts';
import { apiKeyLogin, createPayload } from './cms/payload/payload.ts';
import type { Cms, Credentials } from './cms/port.ts';
import { createSource } from './cms/sources/create-source.ts';
import { createWordPress } from './cms/wordpress/wordpress.ts';
import { adminUrl, basicCredentialsOf, publicUrlOf, siteUrlOf } from './config.ts';
import type { Config } from './config-schema.ts';
import { ConfigError } from './errors.ts';
import { createAdmin, type ReportedChange } from './http/admin.ts';
import { createProxyCheck } from './http/client-address.ts';
import { openServer } from './http/server.ts';
import { createSharedCounters, createSharedIdempotencyKeys } from './http/shared-state.ts';
import { loadMapping } from './mapping/load.ts';
import { type Mapping, mappingFingerprint } from './mapping/mapping.ts';
import type { Site } from './model/records.ts';
import { createMetrics } from './observability/metrics.ts';
import type { Observe } from './observability/observations.ts';
import { Push } from './push/push.ts';
import { Replica } from './store/replica.ts';
import { kindOfCollection, specOf } from './sync/collections.ts';
import { Sources } from './sync/sources/sources.ts';
import { Sync } from './sync/sync.ts';
import { VERSION } from './version.ts';

/** Creates a gateway. Only one with a `redisUrl` loads the code of clusters. */
export async function openGateway(config: Config, log: Observe): Promise<Gateway> {
  if (config.redisUrl === undefined) return new Gateway(config, log);
  const { openCluster } = await import('./cluster/cluster.ts');
  return new Gateway(config, log, openCluster);
}

const LOST_IDS =
  'The ids of this site are texts: every record gets another id at the next start, without a CALENDAR_DATA_DIR.';

interface OpenedCms {
  cms: Cms;
  /** Undefined without an account, and without a CMS. */
  serviceCredentials: Credentials;
  /** Of WordPress: the sync reads images with this account. Visitors see none that was uploaded to a draft. */
  imageReader?: Credentials;
  /** Of Payload: a replica that was filled with the numbers of another id map must not be used. */
  idMapId?: number | undefined;
  /** Without a CMS, where nobody else says what the site is. */
  ownSite?: Site;
}

/**
 * Opens the CMS that the mapping names; none if the settings name no site.
 * @param idMapFile of the id map, for a CMS whose ids are texts; absent: the numbers end with the process
 * @param wereSourcesTried whether each source was read, or failed: until then a calendar without a CMS is not complete
 * @throws ConfigError if the file cannot be used
 */
export function openCms(
  config: Config,
  mapping: Mapping,
  observe: Observe,
  idMapFile?: string,
  wereSourcesTried = () => true,
): OpenedCms {
  const { url, limits, userAgent, user, password } = config.upstream;
  if (url === undefined) {
    const ownSite = siteWithoutCms(config);
    return { cms: createNoCms(ownSite, wereSourcesTried), serviceCredentials: undefined, ownSite };
  }
  const client = { url, limits, userAgent, observe };
  if (mapping.cms === 'wordpress') {
    const account = basicCredentialsOf(config);
    return { cms: createWordPress(client), serviceCredentials: account, imageReader: account };
  }
  // A CMS with another name needs a branch of its own: without one, this line does not compile.
  mapping.cms satisfies 'payload';
  const warnOfLostIds = () => observe({ type: 'message', level: 'warn', message: LOST_IDS });
  const onFirstId = idMapFile === undefined ? warnOfLostIds : undefined;
  // No id map in a cluster: each gateway would give a record another number.
  const idMap = config.redisUrl === undefined ? new IdMap(idMapFile, onFirstId) : undefined;
  const cms = createPayload({ ...client, idMap, specs: Object.values(mapping.kinds), site: mapping.file.payload });
  const serviceCredentials = user === undefined ? undefined : apiKeyLogin(user, password!);
  return { cms, serviceCredentials, idMapId: idMap?.mapId };
}

/** The replica and everything built on it: a damaged replica is replaced together with all of that. */
interface ReplicaStack extends Application {
  replica: Replica;
  peers: Peers | undefined;
  sync: Sync;
  sources: Sources;
  push: Push | undefined;
}

/**
 * Settings that a reload may change: only the application reads them, and a reload makes a new one. Not `cost`, which
 * the replica's rendered records contain. The file of the mapping may move, but not change.
 */
export const RELOADABLE: ReadonlySet<string> = new Set<keyof Config>([
  'mapping',
  'publicUrl',
  'mounts',
  'allowedOrigins',
  'lists',
  'cache',
  'limits',
  'pages',
]);

export class Gateway {
  #config: Config;
  readonly #observe: Observe;
  readonly #mapping: Mapping;
  readonly #replicaFile: string | undefined;
  readonly #openedCms: OpenedCms;
  readonly #cluster: ReturnType<typeof openCluster> | undefined;
  readonly #admin: RequestListener;
  /** In the order of closing: the admin port answers `/ready` until the last request has ended. */
  #servers: readonly Awaited<ReturnType<typeof openServer>>[] = [];
  #current: ReplicaStack;
  #replacing: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;

  /**
   * Opens no port.
   * @param log receives every observation, as the metrics do
   * @param clusterOpener with a `redisUrl` only
   * @throws ConfigError for an unreadable mapping or an unusable data directory
   */
  constructor(config: Config, log: Observe, clusterOpener?: typeof openCluster) {
    const metrics = createMetrics();
    this.#config = config;
    this.#observe = (observation) => {
      log(observation);
      metrics.observe(observation);
    };
    this.#mapping = loadMapping(config.mapping);
    this.#replicaFile = config.dataDir === undefined ? undefined : join(config.dataDir, 'calendar.sqlite');
    // Called when the sync reads the site: `#current` is set by then. A complete replica waits for no slow source.
    const wereSourcesTried = () => this.#current.sync.state().complete || this.#current.sources.wereTried();
    const idMapFile = this.#replicaFile && `${this.#replicaFile}.ids`;
    this.#openedCms = openCms(config, this.#mapping, this.#observe, idMapFile, wereSourcesTried);
    this.#cluster = clusterOpener?.({
      url: config.redisUrl!,
      siteUrl: siteUrlOf(config),
      mapping: this.#mapping,
      observe: this.#observe,
    });
    this.#current = this.#openReplicaStack();
    this.#admin = createAdmin({
      registry: metrics.registry,
      webhookSecret: config.webhook.secret,
      status: () => this.#status(),
      isComplete: () => !this.#replacing && this.#current.sync.status().complete,
      isLive: () => this.#current.sync.status().state === 'live',
      isDraining: () => this.#stopping !== undefined,
      onWebhook: (changes) => this.#onWebhook(changes),
      observe: this.#observe,
    });
  }

  /** Opens both ports and starts the sync. @throws ConfigError if a port cannot be opened: then the process must end */
  async start(): Promise<{ url: string; adminUrl: string }> {
    const { limits, listen } = this.#config;
    const { host, port, adminHost, adminPort } = listen;
    // Both ports before the sync: a gateway that cannot serve must not call the CMS.
    const ofAdmin = { ...limits, variables: 'CALENDAR_ADMIN', host: adminHost, port: adminPort };
    const adminServer = await openServer(this.#admin, ofAdmin);
    const isProxy = createProxyCheck(listen.trustProxies);
    const listener: RequestListener = (req, res) => this.#current.listener(req, res);
    const server = await openServer(listener, { ...limits, variables: 'CALENDAR', host, port, isProxy });
    this.#servers = [server, adminServer];
    this.#startSync();
    return { url: publicUrlOf(this.#config), adminUrl: adminUrl({ ...listen, adminPort: adminServer.port }, '') };
  }

  /**
   * Builds a new application over the same replica. The old one finishes the requests that it has begun. Returns the
   * keys of the changed settings.
   * @throws ConfigError, after which nothing has changed, if the gateway cannot take over a change without a restart
   */
  async reload(config: Config): Promise<string[]> {
    await this.#replacing;
    const changed = Object.keys({ ...this.#config, ...config }).filter(
      (key) => !isDeepStrictEqual(config[key as keyof Config], this.#config[key as keyof Config]),
    );
    const needRestart = changed.filter((key) => !RELOADABLE.has(key));
    // Without a CMS the gateway is the site. Its address names the replica, and its name is in calendar files.
    const { ownSite } = this.#openedCms;
    if (ownSite && !isDeepStrictEqual(siteWithoutCms(config), ownSite)) needRestart.push('publicUrl or pages.name');
    const mapping = loadMapping(config.mapping);
    if (mappingFingerprint(mapping) !== mappingFingerprint(this.#mapping)) needRestart.push('mapping');
    if (needRestart.length > 0) throw new ConfigError(needRestart.join(', '), 'changed', 'Restart the gateway.');
    const { unpublishedRecords } = this.#current.services;
    this.#current = { ...this.#current, ...this.#openApplication(config, this.#current, unpublishedRecords) };
    this.#config = config;
    return changed;
  }

  /** Graceful shutdown: reports not ready, waits for requests in flight at most the drain time, and closes all. */
  stop(): Promise<void> {
    this.#stopping ??= this.#close();
    return this.#stopping;
  }

  async #close(): Promise<void> {
    await this.#replacing;
    for (const server of this.#servers) await server.close();
    await this.#closeReplicaStack();
    this.#cluster?.connection.close();
    await this.#openedCms.cms.close();
  }

  /** @param quarantine why the replica's file must not be used */
  #openReplicaStack(quarantine?: string): ReplicaStack {
    const config = this.#config;
    const { readAs } = config.upstream;
    const { cms, serviceCredentials, imageReader, idMapId = '' } = this.#openedCms;
    const mapping = this.#mapping;
    const observe = this.#observe;
    const file = this.#replicaFile;
    const peers = this.#cluster?.createPeers();
    const replica = new Replica({
      file,
      quarantine,
      // Ends with `visitor` or `account`; of Payload with the id map's id too: `visitor81`. It is only compared.
      identity: `${siteUrlOf(config)} ${mapping.name} ${mappingFingerprint(mapping)} ${readAs}${idMapId}`,
      renderedBytes: config.cache.recordBytes,
      // `setImmediate`: the call that noticed the damage fails first.
      onDamage: (reason) => setImmediate(() => this.#replaceReplica(reason)),
      onChanged: peers && ((records) => peers.changed(records)),
    });
    const reason = replica.quarantined ?? quarantine;
    const renamed = file === undefined ? 'the temporary file' : `${file}.quarantined`;
    if (reason !== undefined) observe({ type: 'replica-quarantined', file: renamed, reason });
    const sync = new Sync({
      cms,
      visitorCredentials: readAs === 'account' ? serviceCredentials : undefined,
      imageReader,
      replica,
      mapping,
      observe,
      intervalMs: config.sync.intervalS * 1000,
      nowMs: Date.now,
      takesTurn: peers && ((intervalMs) => peers.takesLease(intervalMs)),
    });
    const application = this.#openApplication(config, { replica, peers, sync });
    const sources = this.#openSources(replica, sync);
    const isReady = () => sync.state().complete;
    const lease = this.#cluster?.createPushLease();
    const push = config.push && new Push({ receivers: config.push, replica, isReady, lease, observe });
    return { ...application, replica, peers, sync, sources, push };
  }

  #openSources(replica: Replica, sync: Sync): Sources {
    const { sources, sync: settings } = this.#config;
    const { ownSite } = this.#openedCms;
    const site = () => ownSite ?? sync.site();
    const options = { allowPrivate: settings.privateSources, timezone: () => site().timezone };
    return new Sources({
      sources: sources.map((each) => ({ ...each, reader: createSource(each, options) })),
      replica,
      site,
      whenComplete: () => (ownSite ? Promise.resolve() : sync.whenComplete()),
      intervalMs: settings.sourcesIntervalS * 1000,
      observe: this.#observe,
    });
  }

  #openApplication(
    config: Config,
    { replica, peers, sync }: Pick<ReplicaStack, 'replica' | 'peers' | 'sync'>,
    unpublishedRecords?: Application['services']['unpublishedRecords'],
  ) {
    const cluster = this.#cluster;
    // Redis holds user names only as hashes with this secret, which all gateways of a site share. Without a password
    // and a webhook secret it is empty: then somebody who reads Redis can guess the names.
    const secret = config.upstream.password ?? config.webhook.secret ?? '';
    const shared = cluster && {
      sharedCounters: createSharedCounters({ ...cluster, secret }),
      idempotencyKeys: createSharedIdempotencyKeys(cluster),
    };
    const { cms, serviceCredentials } = this.#openedCms;
    const parts = { replica, peers, sync, unpublishedRecords, mapping: this.#mapping, observe: this.#observe };
    return createApplication({ config, cms, serviceCredentials, ...parts, ...shared });
  }

  async #closeReplicaStack(): Promise<void> {
    const { peers, sync, sources, replica, push } = this.#current;
    await push?.stop();
    await sources.stop();
    await peers?.stop();
    await sync.stop();
    replica.close();
  }

  #startSync(): void {
    const { peers, sync, sources, push } = this.#current;
    sync.start();
    sources.start();
    peers?.start(sync);
    push?.start();
  }

  /** Opens a new replica, and what is built on it, in the place of a damaged one. Meanwhile requests get 503. */
  #replaceReplica(reason: string): void {
    if (this.#stopping || this.#replacing) return;
    this.#replacing = this.#closeReplicaStack()
      .then(() => {
        this.#current = this.#openReplicaStack(`it is damaged: ${reason}`);
        this.#startSync();
      })
      .catch((error) => {
        // Uncaught, so that the process ends: without a replica it can answer nothing.
        setImmediate(() => {
          throw error;
        });
      })
      .finally(() => {
        this.#replacing = undefined;
      });
  }

  #status(): object {
    const { sync, sources, replica, peers, push } = this.#current;
    return {
      ...sync.status(),
      ...(this.#config.sources.length > 0 && sources.status()),
      gatewayVersion: VERSION,
      mapping: this.#mapping.name,
      version: replica.version,
      cluster: peers?.status(),
      push: push?.status(),
      ...(this.#openedCms.ownSite && { cms: { note: NO_CMS }, mapping: undefined, readAs: undefined }),
    };
  }

  #onWebhook(changes: ReportedChange[]): Promise<unknown> {
    const { peers, sync } = this.#current;
    const { cms } = this.#openedCms;
    const records = changes.flatMap(({ collection, id: cmsId, trashed: isTrashed }) => {
      // Webhooks name images as the CMS does: `pictures`. `kindOfCollection` knows only `media`.
      const isImage = collection === this.#mapping.imageCollection;
      const kind = isImage ? 'image' : kindOfCollection(this.#mapping, collection);
      const id = kind ? cms.gatewayId(specOf(this.#mapping, kind)!, cmsId) : 0;
      return kind && id !== 0 ? { kind, id, isTrashed } : [];
    });
    const read = () => sync.fetchChanged(records);
    return peers ? peers.tell(records, read) : read();
  }
}
