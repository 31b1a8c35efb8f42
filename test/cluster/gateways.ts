// Whole gateways in one process before one CMS and one engine, each behind a proxy of its own that can cut it off.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assemble } from '../../src/assembly.ts';
import { type Cluster, createCluster } from '../../src/cluster/cluster.ts';
import { loadConfig } from '../../src/config.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Observation } from '../../src/observe/events.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';
import { createSync, type Sync } from '../../src/replica/sync.ts';
import { type FaultProxy, startFaultProxy } from '../faults/fault-proxy.ts';
import { until as wait } from '../until.ts';
import { type Link, SERVICE, type WritableCms } from './writable-cms.ts';

export const MOUNT = '/calendar/events/v1';
export const INTERVAL_MS = 450;

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into by tests, which say what they expect there.
type Json = any;

export interface Answered {
  status: number;
  version: string;
  headers: Headers;
  body: Json;
}

export interface TestGateway {
  name: string;
  cluster: Cluster;
  sync: Sync;
  replica: Replica;
  link: Link;
  /** Between it and the engine. */
  proxy: FaultProxy;
  seen: Observation[];
  ask(
    path: string,
    request?: { json?: unknown; method?: string; atLeast?: string; ifNoneMatch?: string | null; withinMs?: number },
  ): Promise<Answered>;
  /** Ends it in order. */
  stop(): Promise<void>;
  /** Ends it as far as the others can tell: nothing is let go, nothing is written any more. */
  kill(): Promise<void>;
}

export interface GatewayOptions {
  cms: WritableCms;
  engineUrl: string;
  name?: string;
  intervalMs?: number;
  file?: string;
  mapping?: string;
  passMs?: number;
}

export async function startGateway(options: GatewayOptions): Promise<TestGateway> {
  const { cms, engineUrl, name = 'gateway', intervalMs = INTERVAL_MS, passMs = 600_000 } = options;
  const base = loadConfig({
    env: { CALENDAR_UPSTREAM_URL: 'https://cms.example', CALENDAR_PUBLIC_URL: 'https://x.example' },
  });
  const config = {
    ...base,
    limits: { ...base.limits, requestsPerMinute: 1_000_000 },
    pages: { landing: false, documentation: false },
  };
  const mapping = loadMapping(options.mapping ?? 'wordpress-meta');
  const link = cms.link();
  const { upstream } = link;
  const seen: Observation[] = [];
  const observe = (one: Observation) => void seen.push(one);
  const replica = openReplica({ identity: 'test', ...(options.file === undefined ? {} : { file: options.file }) });
  const proxy = await startFaultProxy(new URL(engineUrl.replace('redis:', 'http:')));
  const url = `redis://127.0.0.1:${proxy.url.port}`;
  const parts = { mapping, service: SERVICE, replica, intervalMs, observe };
  const cluster = createCluster({ ...parts, url, siteUrl: 'https://cms.example' });
  const keeper = createSync({ ...parts, upstream, company: cluster.company, passMs, pageSize: 5 });
  const sync = { ...keeper, look: cluster.look, changed: cluster.changed };
  const { listener } = assemble({ ...parts, config, upstream, sync, others: cluster });
  const server: Server = createServer(listener);
  try {
    await cluster.start(keeper);
  } catch (error) {
    await proxy.close();
    replica.close();
    throw error;
  }
  keeper.start();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  let ended = false;

  async function end(): Promise<void> {
    if (ended) return;
    ended = true;
    server.closeAllConnections();
    server.close();
    await cluster.stop();
    await keeper.stop();
    await proxy.close();
    replica.close();
  }

  return {
    ...{ name, cluster, sync: keeper, replica, link, proxy, seen },
    async ask(path, { json, method, atLeast, ifNoneMatch, withinMs = 30_000 } = {}) {
      const response = await fetch(`http://127.0.0.1:${port}${MOUNT}${path}`, {
        method: method ?? (json === undefined ? 'GET' : 'POST'),
        signal: AbortSignal.timeout(withinMs),
        headers: {
          connection: 'close',
          ...(json === undefined && method === undefined ? {} : { authorization: SERVICE }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(atLeast === undefined ? {} : { 'x-calendar-min-version': atLeast }),
          ...(ifNoneMatch == null ? {} : { 'if-none-match': ifNoneMatch }),
        },
        ...(json === undefined ? {} : { body: JSON.stringify(json) }),
      });
      const text = await response.text();
      const { status, headers } = response;
      return {
        status,
        headers,
        version: headers.get('x-calendar-version') ?? '',
        body: text ? JSON.parse(text) : undefined,
      };
    },
    stop: end,
    async kill() {
      link.isCut = true;
      await proxy.set({ kind: 'down' });
      await end();
    },
  };
}

/** Engines that begin again and leases that run out take longer than what other tests wait for. */
export const until: typeof wait = (isSo, what, withinMs = 15_000) => wait(isSo, what, withinMs);

export const roleOf = (gateway: TestGateway): string => gateway.cluster.status().role;
export const leaderOf = (gateways: readonly TestGateway[]): TestGateway | undefined =>
  gateways.find((gateway) => roleOf(gateway) === 'leading');

/** One leads, all others follow, and all have a whole copy. */
export const together = (gateways: readonly TestGateway[]): Promise<void> =>
  until(
    () =>
      gateways.filter((gateway) => roleOf(gateway) === 'leading').length === 1 &&
      gateways.every((gateway) => ['leading', 'following'].includes(roleOf(gateway)) && gateway.sync.status().complete),
    () => `together: ${gateways.map((gateway) => `${gateway.name} ${roleOf(gateway)}`).join(', ')}`,
  );
