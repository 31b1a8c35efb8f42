// A gateway in this process as `serve` builds it, with both ports; captures its log and scans it for secrets.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../src/config.ts';
import { Gateway } from '../../src/gateway.ts';
import { createLog } from '../../src/observability/log.ts';
import { assertNoSecrets } from '../faults/secret-scan.ts';
import { freePorts } from '../free-port.ts';
import { until } from '../until.ts';
import { type GatewayResponse, type HttpRequestOptions, sendRequest } from './http-request.ts';
import { MOUNT } from './mount.ts';

/** Keys of the configuration file, and fixed limits (src/fixed-limits.ts) in `limits`, `cache` and `upstream.limits`. */
export type Settings = Record<string, Record<string, unknown> | string>;

export interface SocketOptions {
  transport: 'socket';
  cmsUrl: string;
  config?: Settings;
  /** The service account; without one the gateway syncs public records only. */
  service?: { user: string; password: string } | undefined;
}

export interface SocketGateway {
  port: number;
  adminPort: number;
  /** The whole log, at level debug. */
  log(): string;
  /** Sends a request to a path below the mount. */
  request(path: string, options?: HttpRequestOptions): Promise<GatewayResponse>;
  admin(path: string): Promise<GatewayResponse>;
  stop(): Promise<void>;
}

/** Disables limits that interfere with tests that send many or wrong requests. */
const GENEROUS = { requestsPerMinute: 1_000_000, failedLoginsPerAddress: 1_000_000, failedLoginsPerUser: 1_000_000 };

/** A busy machine syncs slowly. */
const START_MS = 45_000;

/** Starts a gateway and waits for its initial sync. */
export async function startOnSockets({ cmsUrl, config = {}, service }: SocketOptions): Promise<SocketGateway> {
  const [port, adminPort] = await freePorts();
  const file = join(mkdtempSync(join(tmpdir(), 'calendar-gateway-')), 'config.json');
  const {
    limits,
    cache,
    upstream: { limits: calls, ...upstream } = {},
    listen,
    ...others
  } = config as Record<string, Record<string, unknown>>;
  const settings = {
    publicUrl: 'https://calendar.example',
    ...others,
    upstream: { url: cmsUrl, ...service, ...upstream },
    listen: { host: '127.0.0.1', port, adminPort, ...listen },
  };
  writeFileSync(file, JSON.stringify(settings));
  const lines: string[] = [];
  const log = createLog({
    level: 'debug',
    stream: { write: (text) => lines.push(text) },
  });
  const loaded = loadConfig({ file, env: {} });
  const replaced = {
    ...loaded,
    upstream: { ...loaded.upstream, limits: { ...loaded.upstream.limits, ...(calls as object) } },
    cache: { ...loaded.cache, ...cache },
    limits: { ...loaded.limits, ...GENEROUS, ...limits },
  };
  const gateway = new Gateway(replaced, log);
  await gateway.start();
  const admin = (path: string) => sendRequest(adminPort, path);
  await until(async () => (await admin('/ready')).status === 200, 'initial sync', START_MS);
  return {
    port,
    adminPort,
    admin,
    log: () => lines.join(''),
    request: (path, options) => sendRequest(port, MOUNT + path, options),
    async stop() {
      const { text: metrics } = await admin('/metrics');
      const { text: status } = await admin('/status');
      await gateway.stop();
      assertNoSecrets('the log, the metrics or the status of a gateway', `${lines.join('')}\n${metrics}\n${status}`);
    },
  };
}
