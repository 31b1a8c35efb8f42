// The whole gateway in this process: with a clock, a pace and a file of the test's choice, and both of its ports.

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { assemble } from '../../src/assembly.ts';
import { loadConfig } from '../../src/config.ts';
import { createAdmin } from '../../src/http/admin.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { type Observation, observers } from '../../src/observe/events.ts';
import { createMetrics } from '../../src/observe/metrics.ts';
import { openReplica, type Replica } from '../../src/replica/store.ts';
import { createSync, type Sync } from '../../src/replica/sync.ts';
import type { ClientLimits } from '../../src/upstream/client.ts';
import type { Credentials, Upstream } from '../../src/upstream/port.ts';
import { createWordPress } from '../../src/upstream/wordpress/wordpress.ts';

export interface HereOptions {
  /** The CMS. */
  url: string;
  service: Credentials;
  intervalMs: number;
  passMs?: number;
  pageSize?: number;
  file?: string;
  nowMs?: () => number;
  limits?: Partial<ClientLimits>;
}

export interface GatewayHere {
  /** Without a slash at the end. */
  url: string;
  adminUrl: string;
  replica: Replica;
  sync: Sync;
  upstream: Upstream;
  mapping: Mapping;
  service: Credentials;
  seen: Observation[];
  stop(): Promise<void>;
}

async function open(server: Server): Promise<string> {
  await new Promise<void>((opened) => server.listen(0, '127.0.0.1', opened));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}

/** Opens both ports and begins to copy; does not wait for it. */
export async function startGatewayHere(options: HereOptions): Promise<GatewayHere> {
  const { url: siteUrl, service, intervalMs, passMs, pageSize, file, nowMs = Date.now, limits = {} } = options;
  const config = loadConfig({ env: { CALENDAR_UPSTREAM_URL: siteUrl } });
  const mapping = loadMapping(config.mapping);
  const metrics = createMetrics(nowMs);
  const seen: Observation[] = [];
  const observe = observers(metrics.observe, (observation) => void seen.push(observation));
  const upstream = createWordPress({ url: siteUrl, observe, limits });
  const replica = openReplica({ identity: 'here', ...(file === undefined ? {} : { file }) });
  const pace = { intervalMs, ...(passMs === undefined ? {} : { passMs }), ...(pageSize ? { pageSize } : {}) };
  const sync = createSync({ replica, upstream, mapping, service, observe, nowMs, ...pace });
  const parts = { config, mapping, upstream, service, replica, sync, observe, nowMs };
  const { listener, publicStatus } = assemble({
    ...parts,
    config: { ...config, limits: { ...config.limits, requestsPerMinute: 1_000_000 } },
  });
  const admin = createAdmin({
    metrics,
    noticeSecret: undefined,
    status: () => ({ ...sync.status(), ...publicStatus() }),
    complete: () => sync.status().complete,
    inStep: () => sync.status().state === 'live',
    changed: sync.changed,
    nowMs,
  });
  const servers = [createServer(listener), createServer(admin.listener)] as const;
  const [url, adminUrl] = [await open(servers[0]), await open(servers[1])];
  sync.start();
  return {
    ...{ url, adminUrl, replica, sync, upstream, mapping, service, seen },
    async stop() {
      for (const server of servers) await close(server);
      await sync.stop();
      await upstream.close();
      replica.close();
    },
  };
}
