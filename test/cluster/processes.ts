// Gateways as operators run them: each its own process, in front of one fake WordPress and one Redis.

import type { Peers } from '../../src/cluster/peers.ts';
import { NODE_FLAGS } from '../../src/node-flags.ts';
import { PASSWORD } from '../faults/fake-wordpress.ts';
import { type GatewayProcess, startGateway } from '../start-gateway.ts';

export { MOUNT } from '../start-gateway.ts';

export interface ClusterProcess extends GatewayProcess {
  name: string;
  /** What it says of its peers; undefined if it does not respond. */
  cluster(): Promise<ReturnType<Peers['status']> | undefined>;
  metrics(): Promise<string>;
}

export interface ClusterProcessOptions {
  name: string;
  cmsUrl: string;
  /** Default: no cluster. */
  redisUrl?: string;
  intervalS: number;
  requestsPerMinute?: number;
}

const ADMIN_WAIT_MS = 1000;

/** Does not wait until the gateway is ready. */
export async function startProcess(options: ClusterProcessOptions): Promise<ClusterProcess> {
  const { name, cmsUrl, redisUrl, intervalS, requestsPerMinute = 1_000_000_000 } = options;
  const gateway = await startGateway({
    transport: 'process',
    cmsUrl,
    service: { user: 'admin', password: PASSWORD },
    flags: [...NODE_FLAGS],
    config: { limits: { requestsPerMinute } },
    env: { CALENDAR_SYNC_INTERVAL: String(intervalS), ...(redisUrl && { CALENDAR_REDIS_URL: redisUrl }) },
  });
  const admin = async (path: string) => {
    const response = await gateway.admin(path, { signal: AbortSignal.timeout(ADMIN_WAIT_MS) }).catch(() => undefined);
    return response?.text ?? '';
  };
  return {
    ...gateway,
    name,
    async cluster() {
      const status = JSON.parse((await admin('/status')) || '{}') as { cluster?: ReturnType<Peers['status']> };
      return status.cluster;
    },
    metrics: () => admin('/metrics'),
  };
}

/** Whether all gateways are ready and connected, and have told each other everything. */
export async function allSettled(gateways: readonly ClusterProcess[]): Promise<boolean> {
  const ready = await Promise.all(gateways.map((gateway) => gateway.ready()));
  const statuses = await Promise.all(gateways.map((gateway) => gateway.cluster()));
  return (
    ready.every((status) => status === 200) &&
    statuses.every((status) => status?.connected === true && status.unsent === 0) &&
    new Set(statuses.map((status) => status?.applied)).size === 1
  );
}
