// Gateways as operators run them: each its own process, in front of one fake WordPress and one Redis.

import { NODE_FLAGS } from '../../src/node-flags.ts';
import { PASSWORD } from '../faults/fake-wordpress.ts';
import { type GatewayProcess, startGateway } from '../start-gateway.ts';

export { MOUNT } from '../start-gateway.ts';

export interface ClusterProcess extends GatewayProcess {
  name: string;
  /** Its cluster role; undefined if it does not respond. */
  role(): Promise<string | undefined>;
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
    async role() {
      const status = JSON.parse((await admin('/status')) || '{}') as { cluster?: { role: string } };
      return status.cluster?.role;
    },
    metrics: () => admin('/metrics'),
  };
}

/** Undefined while there is no leader. */
export async function findLeader(gateways: readonly ClusterProcess[]): Promise<ClusterProcess | undefined> {
  const roles = await Promise.all(gateways.map((gateway) => gateway.role()));
  return gateways[roles.indexOf('leader')];
}

/** Whether all gateways are ready, one as leader and the others as followers. */
export async function allSettled(gateways: readonly ClusterProcess[]): Promise<boolean> {
  const statuses = await Promise.all(gateways.map((gateway) => gateway.ready()));
  if (statuses.some((status) => status !== 200)) return false;
  const roles = await Promise.all(gateways.map((gateway) => gateway.role()));
  return (
    roles.filter((role) => role === 'leader').length === 1 &&
    roles.every((role) => role === 'leader' || role === 'follower')
  );
}
