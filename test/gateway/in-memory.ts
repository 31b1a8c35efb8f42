// A gateway in this process for any CMS: an in-memory replica, a sync that polls only on demand, and requests
// without a network. The test may choose clock, poll interval and replica file, and may open ports.

import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { duplexPair } from 'node:stream';
import { createApplication } from '../../src/application.ts';
import type { Services } from '../../src/calendar/services.ts';
import { openCluster } from '../../src/cluster/cluster.ts';
import type { Peers } from '../../src/cluster/peers.ts';
import type { CmsClientLimits } from '../../src/cms/client.ts';
import type { Cms, Credentials } from '../../src/cms/port.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { loadConfig } from '../../src/config.ts';
import type { Config } from '../../src/config-schema.ts';
import { createAdmin } from '../../src/http/admin.ts';
import { createSharedCounters, createSharedIdempotencyKeys } from '../../src/http/shared-state.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { createMetrics } from '../../src/observability/metrics.ts';
import type { Observation, Observe } from '../../src/observability/observations.ts';
import { type IdempotencyStore, openIdempotencyStore } from '../../src/store/idempotency-keys.ts';
import { Replica } from '../../src/store/replica.ts';
import { kindOfCollection } from '../../src/sync/collections.ts';
import { Sync } from '../../src/sync/sync.ts';
import { MOUNT, ORIGINAL_MOUNT, PUBLIC_URL } from './mount.ts';

export interface MemoryOptions {
  transport?: 'memory';
  /** The CMS, or the URL of a WordPress. */
  cms: Cms | { url: string; limits?: Partial<CmsClientLimits> | undefined };
  /** Default: `wordpress-meta`. */
  mapping?: Mapping;
  /** The service account of the settings. */
  service?: Credentials;
  /** Default: the sync reads as a visitor. */
  readAs?: 'visitor' | 'account';
  /** `Authorization` headers by the names that `RequestOptions.as` uses. */
  as?: Record<string, string>;
  nowMs?: () => number;
  /** Replays a recording: the gateway's calls to the CMS must not depend on response times. */
  isRecorded?: boolean;
  /** Default page size: 10, as on a fresh site with The Events Calendar. */
  perPage?: number;
  maxPerPage?: number;
  /** HTML pages; default: none. */
  pages?: Partial<Config['pages']>;
  /** Overrides the default caching. */
  cache?: Partial<Config['cache']>;
  limits?: Partial<Config['limits']>;
  allowedOrigins?: string[];
  /** Default: `read`. */
  mcp?: Config['mcp'];
  /** Default: polls only on demand. */
  intervalMs?: number;
  scanIntervalMs?: number | undefined;
  /** Records per page of the sync. */
  syncPageSize?: number | undefined;
  /** The replica's file. Default: in memory. */
  file?: string | undefined;
  /** The Redis of a cluster. Default: no cluster. */
  redisUrl?: string | undefined;
  /** Default true: waits for the initial sync. */
  waitsForSync?: boolean;
}

export interface RequestOptions {
  /** Sends the credentials of this name in `MemoryOptions.as`. */
  as?: string | undefined;
  method?: string;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent unchanged; `headers` may name its content type. */
  body?: string | Uint8Array;
  /** Sent as a form, in PHP's bracket notation. */
  form?: string;
  headers?: Record<string, string>;
}

// biome-ignore lint/suspicious/noExplicitAny: tests access any property of a response body.
export type Json = any;

export interface TestResponse {
  status: number;
  /** By lower-case name; several of one name as one (RFC 9110, 5.3). */
  headers: Record<string, string>;
  /** The raw body. */
  bytes: Buffer;
  /** The body as text. */
  text: string;
  /** The body as JSON; undefined if it is not JSON. */
  body: Json;
}

export interface TestGateway {
  services: Services;
  cms: Cms;
  mapping: Mapping;
  service: Credentials;
  replica: Replica;
  idempotencyKeys: IdempotencyStore;
  sync: Sync;
  /** Of a gateway with `redisUrl`. */
  peers: Peers | undefined;
  observations: Observation[];
  /** A request to a path below the mount: `/events?page=2`. */
  request(path: string, request?: RequestOptions): Promise<TestResponse>;
  /** A request to any path of the server. */
  requestPath(path: string, request?: RequestOptions): Promise<TestResponse>;
  /** Opens both ports. The URLs have no trailing slash. */
  listen(): Promise<{ url: string; adminUrl: string }>;
  stop(): Promise<void>;
}

/** Longer than any test; three times as long still fits into a timer. */
const NEVER_MS = 2 ** 29;

const SITE_URL = 'https://cms.example';
const NO_PAGES = { landing: false };
const DEFAULT_MAPPING = loadMapping('wordpress-meta');

/** The default configuration with larger pages, no rate limit and no calendar page. */
function configOf({
  perPage = 10,
  maxPerPage = 50,
  cache,
  limits,
  allowedOrigins = [],
  mcp = 'read',
  pages = NO_PAGES,
}: MemoryOptions): Config {
  const config = loadConfig({
    env: {
      CALENDAR_UPSTREAM_URL: SITE_URL,
      CALENDAR_PUBLIC_URL: PUBLIC_URL,
      CALENDAR_MOUNTS: ORIGINAL_MOUNT,
    },
  });
  return {
    ...config,
    allowedOrigins,
    mcp,
    lists: { ...config.lists, perPage, maxPerPage },
    cache: { ...config.cache, ...cache },
    // Without a network, all requests arrive in the event-loop turn by which load shedding measures overload.
    limits: { ...config.limits, requestsPerMinute: 1_000_000, overloadMs: NEVER_MS, ...limits },
    pages: { ...config.pages, ...pages },
  };
}

/** A clock that advances by a minute with every reading. */
function steppingClock(): () => number {
  let ms = 0;
  return () => {
    ms += 60_000;
    return ms;
  };
}

export async function startInMemory(options: MemoryOptions): Promise<TestGateway> {
  const { service, nowMs = Date.now, intervalMs = NEVER_MS, waitsForSync = true } = options;
  const config = configOf(options);
  const mapping = options.mapping ?? DEFAULT_MAPPING;
  const metrics = createMetrics(nowMs);
  const observations: Observation[] = [];
  const observe: Observe = (observation) => {
    observations.push(observation);
    metrics.observe(observation);
  };
  const cms = 'url' in options.cms ? createWordPress({ ...options.cms, observe }) : options.cms;
  const { file } = options;
  const { redisUrl } = options;
  const cluster =
    redisUrl === undefined ? undefined : openCluster({ url: redisUrl, siteUrl: SITE_URL, mapping, observe });
  const peers = cluster?.createPeers();
  const replica = new Replica({
    ...{ identity: 'test', nowMs, ...(file !== undefined && { file }) },
    onChanged: peers && ((records) => peers.changed(records)),
  });
  const sync = new Sync({
    ...{ replica, mapping, observe, intervalMs, cms },
    visitorCredentials: options.readAs === 'account' ? service : undefined,
    imageReader: service,
    nowMs,
    clockMs: nowMs,
    ...(options.scanIntervalMs && { scanIntervalMs: options.scanIntervalMs }),
    ...(options.syncPageSize && { pageSize: options.syncPageSize }),
    takesTurn: peers && ((ms) => peers.takesLease(ms)),
  });
  const idempotencyKeys = cluster ? createSharedIdempotencyKeys(cluster) : openIdempotencyStore(replica.db);
  const application = createApplication({
    config,
    mapping,
    cms,
    serviceCredentials: service,
    replica,
    sync,
    observe,
    nowMs,
    peers,
    idempotencyKeys,
    sharedCounters: cluster && createSharedCounters({ ...cluster, secret: '' }),
    ...(options.isRecorded && { clocks: { cachesMs: () => 1, attemptsMs: steppingClock() } }),
  });
  const { services, listener } = application;
  sync.start();
  peers?.start(sync);
  if (waitsForSync) await sync.whenComplete();
  const server = createServer({ maxHeaderSize: config.limits.headerBytes, optimizeEmptyRequests: true }, listener);
  const requestPath = (path: string, request: RequestOptions = {}) => exchange(server, path, request, options.as ?? {});
  const listening: Server[] = [];

  async function open(handle: RequestListener): Promise<string> {
    const opened = createServer(handle);
    await new Promise<void>((resolve) => opened.listen(0, '127.0.0.1', resolve));
    listening.push(opened);
    return `http://127.0.0.1:${(opened.address() as AddressInfo).port}`;
  }

  return {
    services,
    cms,
    mapping,
    service,
    replica,
    idempotencyKeys,
    sync,
    peers,
    observations,
    requestPath,
    request: (path, request) => requestPath(`${MOUNT}${path}`, request),
    async listen() {
      const admin = createAdmin({
        registry: metrics.registry,
        webhookSecret: undefined,
        status: () => ({ ...sync.status(), cluster: peers?.status() }),
        isComplete: () => sync.status().complete,
        isLive: () => sync.status().state === 'live',
        isDraining: () => false,
        onWebhook: (changes) => {
          const records = changes.flatMap(({ collection, id }) => {
            const kind = kindOfCollection(mapping, collection);
            return kind ? { kind, id: Number(id) } : [];
          });
          const read = () => sync.fetchChanged(records);
          return peers ? peers.tell(records, read) : read();
        },
        nowMs,
      });
      return { url: await open(listener), adminUrl: await open(admin) };
    },
    async stop() {
      for (const opened of listening) {
        opened.closeAllConnections();
        await new Promise((resolve) => opened.close(resolve));
      }
      await peers?.stop();
      await sync.stop();
      cluster?.connection.close();
      if ('url' in options.cms) await cms.close();
      replica.close();
    },
  };
}

/** Sends one request to the server through an in-memory connection. */
async function exchange(
  server: Server,
  path: string,
  sent: RequestOptions,
  users: Record<string, string>,
): Promise<TestResponse> {
  const [body, type] =
    sent.json !== undefined
      ? [JSON.stringify(sent.json), 'application/json']
      : sent.form !== undefined
        ? [sent.form, 'application/x-www-form-urlencoded']
        : [sent.body, undefined];
  const method = sent.method ?? (body === undefined ? 'GET' : 'POST');
  const authorization = sent.as === undefined ? undefined : users[sent.as];
  if (sent.as !== undefined && authorization === undefined) throw new Error(`no credentials of the name ${sent.as}`);
  const bytes = Buffer.from(body ?? '');
  const headers = {
    host: 'calendar.example',
    connection: 'close',
    ...(type === undefined ? {} : { 'content-type': type }),
    ...(body === undefined ? {} : { 'content-length': bytes.length }),
    ...(authorization === undefined ? {} : { authorization }),
    ...sent.headers,
  };
  const [here, there] = duplexPair();
  server.emit('connection', Object.assign(there, { remoteAddress: '192.0.2.1' }));
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  here.write(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  if (bytes.length > 0) here.write(bytes);
  const chunks: Buffer[] = [];
  for await (const chunk of here) chunks.push(chunk as Buffer);
  return parseResponse(Buffer.concat(chunks));
}

function parseResponse(wire: Buffer): TestResponse {
  const end = wire.indexOf('\r\n\r\n');
  const [start = '', ...lines] = wire.toString('utf8', 0, end).split('\r\n');
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const name = line.slice(0, line.indexOf(':')).toLowerCase();
    const value = line.slice(line.indexOf(':') + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const bytes = wire.subarray(end + 4);
  const text = bytes.toString('utf8');
  return { status: Number(start.split(' ')[1]), headers, bytes, text, body: parsed(text) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
