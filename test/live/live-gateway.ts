// Starts a gateway for live tests: its own process in front of a sandbox, with the settings that the tests
// expect.

import type { Sandbox } from '../../sandbox/start.ts';
import type { LIMITS } from '../../src/fixed-limits.ts';
import { type GatewayProcess, startGateway } from '../start-gateway.ts';

/** The first sync of a site in WebAssembly is slow. */
const READY_TIMEOUT_MS = 120_000;

export interface LiveOptions {
  /** Gives the gateway the administrator as service account. */
  service: boolean;
  mapping?: string;
  /** Poll interval in seconds. Default 2. */
  intervalS?: number;
  /** Keys of the configuration file. */
  config?: object;
  /** Fixed limits that the suite replaces. */
  limits?: Partial<typeof LIMITS.limits>;
}

/** Starts a gateway and waits for its initial sync. */
export async function startLiveGateway(
  sandbox: Pick<Sandbox, 'url' | 'credentials'>,
  { service, mapping = 'wordpress-meta', intervalS = 2, config = {}, limits = {} }: LiveOptions,
): Promise<GatewayProcess> {
  const { user, applicationPassword } = sandbox.credentials.admin;
  const gateway = await startGateway({
    transport: 'process',
    cmsUrl: sandbox.url,
    service: service ? { user, password: applicationPassword } : undefined,
    // The recorded site shows ten posts per page; the tests exceed the rate limit of one address.
    config: { lists: { perPage: 10 }, limits: { requestsPerMinute: 1_000_000 }, ...config },
    limits: { limits },
    env: {
      CALENDAR_MAPPING: mapping,
      CALENDAR_SYNC_INTERVAL: String(intervalS),
      CALENDAR_MOUNTS: '/wp-json/tribe/events/v1',
      CALENDAR_WEBHOOK_SECRET: 'live-suite',
    },
  });
  await gateway.untilReady(READY_TIMEOUT_MS);
  return gateway;
}
