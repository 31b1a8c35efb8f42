// Whole gateways in one process, in front of one CMS and one Redis, each behind a proxy that can cut it off
// from Redis.

import type { Peers } from '../../src/cluster/peers.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import type { Observation } from '../../src/observability/observations.ts';
import type { Replica } from '../../src/store/replica.ts';
import type { Sync } from '../../src/sync/sync.ts';
import { type CmsLink, linkTo } from '../cms/cms-link.ts';
import { type FakeCms, SERVICE } from '../cms/fake-cms.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';
import { type Json, MOUNT, startGateway as start } from '../start-gateway.ts';
import { until as wait } from '../until.ts';

export { MOUNT } from '../start-gateway.ts';
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
  idempotencyKey?: string;
  withinMs?: number;
}

export interface TestGateway {
  name: string;
  peers: Peers;
  adminUrl: string;
  sync: Sync;
  replica: Replica;
  cmsLink: CmsLink;
  /** Between the gateway and Redis. */
  proxy: FaultProxy;
  observations: Observation[];
  request(path: string, options?: RequestOptions): Promise<TestResponse>;
  /** A graceful stop. */
  stop(): Promise<void>;
  /** Cuts it off from Redis and the CMS first, so that it tells nobody anything. */
  kill(): Promise<void>;
}

export interface GatewayOptions {
  cms: FakeCms;
  redisUrl: string;
  name?: string;
  intervalMs?: number;
  file?: string;
  mapping?: Mapping;
  scanIntervalMs?: number;
  nowMs?: () => number;
}

export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const { cms, redisUrl, name = 'gateway', intervalMs = INTERVAL_MS, scanIntervalMs = 600_000 } = options;
  const cmsLink = linkTo(cms);
  const proxy = await startFaultProxy(new URL(redisUrl.replace('redis:', 'http:')));
  const gateway = await start({
    ...{ cms: cmsLink.cms, service: SERVICE, intervalMs, scanIntervalMs, syncPageSize: 5, waitsForSync: false },
    ...{ mapping: options.mapping ?? loadMapping('wordpress-meta'), file: options.file },
    redisUrl: `redis://127.0.0.1:${proxy.url.port}`,
    ...(options.nowMs && { nowMs: options.nowMs }),
  }).catch(async (error: unknown) => {
    await proxy.close();
    throw error;
  });
  const { sync, replica, observations } = gateway;
  const { url, adminUrl } = await gateway.listen();
  let isStopped = false;

  async function stop(): Promise<void> {
    if (isStopped) return;
    isStopped = true;
    await gateway.stop();
    await proxy.close();
  }

  return {
    name,
    peers: gateway.peers!,
    adminUrl,
    sync,
    replica,
    cmsLink,
    proxy,
    observations,
    async request(path, { json, method, atLeast, ifNoneMatch, idempotencyKey, withinMs = 120_000 } = {}) {
      const headers = new Headers({ connection: 'close' });
      if (json !== undefined || method !== undefined) headers.set('authorization', SERVICE);
      if (json !== undefined) headers.set('content-type', 'application/json');
      if (atLeast !== undefined) headers.set('x-calendar-min-version', atLeast);
      if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey);
      if (ifNoneMatch != null) headers.set('if-none-match', ifNoneMatch);
      const response = await fetch(`${url}${MOUNT}${path}`, {
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

/** What a gateway does with a webhook about an event. */
export function reportEvent({ peers, sync }: Pick<TestGateway, 'peers' | 'sync'>, id: number): Promise<boolean> {
  const records = [{ kind: 'event', id }] as const;
  return peers.tell(records, () => sync.fetchChanged(records));
}

/** On a busy machine everything takes longer. */
export const until: typeof wait = (isSo, what, withinMs = 120_000) => wait(isSo, what, withinMs);

export const isConnected = ({ peers }: TestGateway): boolean => peers.status().connected;

/** Waits until all gateways are complete, live and connected, and have told each other everything. */
export const allSettled = (gateways: readonly TestGateway[]): Promise<void> =>
  until(
    () => {
      const applied = new Set(gateways.map(({ peers }) => peers.status().applied));
      const areDone = gateways.every(
        (gateway) =>
          isConnected(gateway) && gateway.sync.state().phase === 'live' && gateway.peers.status().unsent === 0,
      );
      return areDone && applied.size === 1;
    },
    () => `settled: ${gateways.map(({ name, peers }) => `${name} ${JSON.stringify(peers.status())}`).join(', ')}`,
  );
