// Gateways as operators run them, each its own process, before one stand-in of a WordPress and one engine.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { nodeFlags } from '../../bench/as-started.ts';
import { PASSWORD } from '../faults/wordpress.ts';
import { freePort } from '../free-port.ts';

const ROOT = resolve(import.meta.dirname, '../..');
export const MOUNT = '/calendar/events/v1';

export interface GatewayProcess {
  name: string;
  url: string;
  adminUrl: string;
  child: ChildProcess;
  /** What it is among the gateways; undefined when it does not answer. */
  role(): Promise<string | undefined>;
  /** What the operator is told. */
  metrics(): Promise<string>;
  ready(): Promise<boolean>;
  /** Ends it as an operator would. */
  stop(): Promise<void>;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
}

export interface ProcessOptions {
  name: string;
  cmsUrl: string;
  /** Without one it stands alone. */
  engineUrl?: string;
  intervalS: number;
  requestsPerMinute?: number;
}

const ADMIN_WAIT_MS = 1000;

/** Starts one; whether it is ready is asked by `ready`. */
export async function startProcess(options: ProcessOptions): Promise<GatewayProcess> {
  const { name, cmsUrl, engineUrl, intervalS, requestsPerMinute = 1_000_000_000 } = options;
  const [port, adminPort] = [await freePort(), await freePort()];
  const file = join(mkdtempSync(join(tmpdir(), 'calendar-cluster-')), 'config.json');
  writeFileSync(file, JSON.stringify({ limits: { requestsPerMinute } }));
  const child = spawn(process.execPath, [...nodeFlags(), 'src/main.ts', 'serve', '--config', file], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', process.env.CALENDAR_TEST_VERBOSE ? 'inherit' : 'ignore'],
    env: {
      PATH: process.env.PATH,
      ...{ CALENDAR_UPSTREAM_URL: cmsUrl, CALENDAR_UPSTREAM_USER: 'admin', CALENDAR_UPSTREAM_PASSWORD: PASSWORD },
      ...{ CALENDAR_HOST: '127.0.0.1', CALENDAR_PORT: String(port), CALENDAR_ADMIN_PORT: String(adminPort) },
      CALENDAR_SYNC_INTERVAL: String(intervalS),
      ...(engineUrl === undefined ? {} : { CALENDAR_REDIS_URL: engineUrl }),
    },
  });
  const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const admin = (path: string) =>
    fetch(`${adminUrl}${path}`, { signal: AbortSignal.timeout(ADMIN_WAIT_MS) }).catch(() => undefined);

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGCONT');
    child.kill(signal);
    await once(child, 'exit');
  }

  return {
    ...{ name, url, adminUrl, child },
    async role() {
      const status = (await (await admin('/status'))?.json()) as { gateways?: { role: string } } | undefined;
      return status?.gateways?.role;
    },
    metrics: async () => (await (await admin('/metrics'))?.text()) ?? '',
    ready: async () => (await admin('/ready'))?.ok ?? false,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** The one that asks the CMS for all; undefined while there is none. */
export async function leading(gateways: readonly GatewayProcess[]): Promise<GatewayProcess | undefined> {
  const roles = await Promise.all(gateways.map((gateway) => gateway.role()));
  return gateways[roles.indexOf('leading')];
}

/** All are ready, one leads and the others follow. */
export async function allTogether(gateways: readonly GatewayProcess[]): Promise<boolean> {
  if (!(await Promise.all(gateways.map((gateway) => gateway.ready()))).every(Boolean)) return false;
  const roles = await Promise.all(gateways.map((gateway) => gateway.role()));
  return (
    roles.filter((role) => role === 'leading').length === 1 &&
    roles.every((role) => role === 'leading' || role === 'following')
  );
}
