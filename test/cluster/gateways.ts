// Whole gateways in one process, in front of one CMS and one Redis, each behind a proxy that can cut it off
// from Redis.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createApplication } from '../../src/application.ts';
import { type Cluster, createCluster } from '../../src/cluster/cluster.ts';
import { loadConfig } from '../../src/config.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Observation } from '../../src/observability/events.ts';
import { openReplica, type Replica } from '../../src/store/replica.ts';
import { createSync, type Sync } from '../../src/sync/sync.ts';
import { type CmsLink, linkTo } from '../cms/cms-link.ts';
import { type FakeCms, SERVICE } from '../cms/fake-cms.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';
import type { Json } from '../start-gateway.ts';
import { until as wait } from '../until.ts';

export const MOUNT = '/calendar/events/v1';
export const INTERVAL_MS = 450;

export interface TestResponse {
  status: number;
  version: string;
  headers: Headers;
  body: Json;
}

interface RequestOptions {
  json?: unknown;
  method?: string;
  /** A consistency token. */
  atLeast?: string | undefined;
  ifNoneMatch?: string | null;
  withinMs?: number;
}

export interface TestGateway {
  name: string;
  cluster: Cluster;
  sync: Sync;
  replica: Replica;
  cmsLink: CmsLink;
  /** Between the gateway and Redis. */
  proxy: FaultProxy;
  observations: Observation[];
  request(path: string, options?: RequestOptions): Promise<TestResponse>;
  /** A graceful stop. */
  stop(): Promise<void>;
  /** Cuts it off from Redis and the CMS first, so that it cannot release the lock or write anything. */
  kill(): Promise<void>;
}

export interface GatewayOptions {
  cms: FakeCms;
  redisUrl: string;
  name?: string;
  intervalMs?: number;
  file?: string;
  mapping?: string;
  resyncIntervalMs?: number;
}

export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const { cms, redisUrl, name = 'gateway', intervalMs = INTERVAL_MS, resyncIntervalMs = 600_000 } = options;
  const base = loadConfig({
    env: { CALENDAR_UPSTREAM_URL: 'https://cms.example', CALENDAR_PUBLIC_URL: 'https://x.example' },
  });
  const config = {
    ...base,
    limits: { ...base.limits, requestsPerMinute: 1_000_000 },
    pages: { ...base.pages, landing: false, documentation: false },
  };
  const mapping = loadMapping(options.mapping ?? 'wordpress-meta');
  const cmsLink = linkTo(cms);
  const observations: Observation[] = [];
  const observe = (event: Observation) => void observations.push(event);
  const replica = openReplica({ identity: 'test', ...(options.file === undefined ? {} : { file: options.file }) });
  const proxy = await startFaultProxy(new URL(redisUrl.replace('redis:', 'http:')));
  const url = `redis://127.0.0.1:${proxy.url.port}`;
  const parts = { mapping, service: SERVICE, replica, intervalMs, observe };
  const cluster = createCluster({ ...parts, url, siteUrl: 'https://cms.example' });
  const ownSync = createSync({ ...parts, cms: cmsLink.cms, peers: cluster, resyncIntervalMs, pageSize: 5 });
  const sync = { ...ownSync, poll: cluster.poll, fetchChanged: cluster.fetchChanged };
  const { listener } = createApplication({ ...parts, config, cms: cmsLink.cms, sync, peers: cluster });
  const server: Server = createServer(listener);
  try {
    await cluster.start(ownSync);
  } catch (error) {
    await proxy.close();
    replica.close();
    throw error;
  }
  ownSync.start();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let isStopped = false;

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    server.closeAllConnections();
    server.close();
    await cluster.stop();
    await ownSync.stop();
    await proxy.close();
    replica.close();
  }

  return {
    name,
    cluster,
    sync: ownSync,
    replica,
    cmsLink,
    proxy,
    observations,
    async request(path, { json, method, atLeast, ifNoneMatch, withinMs = 30_000 } = {}) {
      const headers = new Headers({ connection: 'close' });
      if (json !== undefined || method !== undefined) headers.set('authorization', SERVICE);
      if (json !== undefined) headers.set('content-type', 'application/json');
      if (atLeast !== undefined) headers.set('x-calendar-min-version', atLeast);
      if (ifNoneMatch != null) headers.set('if-none-match', ifNoneMatch);
      const response = await fetch(`http://127.0.0.1:${port}${MOUNT}${path}`, {
        method: method ?? (json === undefined ? 'GET' : 'POST'),
        signal: AbortSignal.timeout(withinMs),
        headers,
        body: json === undefined ? null : JSON.stringify(json),
      });
      const text = await response.text();
      return {
        status: response.status,
        headers: response.headers,
        version: response.headers.get('x-calendar-version') ?? '',
        body: text ? JSON.parse(text) : undefined,
      };
    },
    stop,
    async kill() {
      cmsLink.isCut = true;
      await proxy.set({ kind: 'down' });
      await stop();
    },
  };
}

/** A restart of Redis and the expiry of a lease take longer than other tests wait. */
export const until: typeof wait = (isSo, what, withinMs = 15_000) => wait(isSo, what, withinMs);

export const roleOf = (gateway: TestGateway): string => gateway.cluster.status().role;
export const leaderOf = (gateways: readonly TestGateway[]): TestGateway | undefined =>
  gateways.find((gateway) => roleOf(gateway) === 'leader');

/** Waits until one gateway is the leader, all others are followers, and all replicas are complete. */
export const allSettled = (gateways: readonly TestGateway[]): Promise<void> =>
  until(
    () =>
      gateways.filter((gateway) => roleOf(gateway) === 'leader').length === 1 &&
      gateways.every((gateway) => ['leader', 'follower'].includes(roleOf(gateway)) && gateway.sync.status().complete),
    () => `settled: ${gateways.map((gateway) => `${gateway.name} ${roleOf(gateway)}`).join(', ')}`,
  );
