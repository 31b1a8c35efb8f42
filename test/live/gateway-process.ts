// The gateway as operators run it, for live tests: its own process, configured by the environment, in front of a sandbox.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Sandbox } from '../../sandbox/start.ts';
import { freePort } from '../free-port.ts';

export const ROOT = resolve(import.meta.dirname, '../..');
const READY_TIMEOUT_MS = 120_000;

export interface GatewayProcess {
  url: string;
  adminUrl: string;
  process: ChildProcess;
  /** Ends it as an operator would and waits. */
  stop(): Promise<void>;
}

export interface GatewayOptions {
  /** With the administrator as service account, so that non-public records are copied too. */
  service: boolean;
  mapping?: string;
  /** Seconds between two looks at the site; 2. */
  intervalS?: number;
  /** Keys of the configuration file. */
  config?: object;
}

/** Starts it and waits until the first copy is complete. Throws when it ends before that. */
export async function startGateway(sandbox: Sandbox, options: GatewayOptions): Promise<GatewayProcess> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const file = join(mkdtempSync(join(tmpdir(), 'calendar-live-')), 'config.json');
  // The site of the recorded answers shows ten posts a page, and asks for more in a minute than one address may.
  writeFileSync(
    file,
    JSON.stringify({ lists: { perPage: 10 }, limits: { requestsPerMinute: 1_000_000 }, ...options.config }),
  );
  const { user, applicationPassword } = sandbox.credentials.admin;
  const child = spawn(process.execPath, ['src/main.ts', 'serve', '--config', file], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      CALENDAR_UPSTREAM_URL: sandbox.url,
      ...(options.service ? { CALENDAR_UPSTREAM_USER: user, CALENDAR_UPSTREAM_PASSWORD: applicationPassword } : {}),
      CALENDAR_MAPPING: options.mapping ?? 'wordpress-meta',
      CALENDAR_HOST: '127.0.0.1',
      CALENDAR_PORT: String(port),
      CALENDAR_ADMIN_PORT: String(adminPort),
      CALENDAR_SYNC_INTERVAL: String(options.intervalS ?? 2),
      CALENDAR_MOUNTS: '/wp-json/tribe/events/v1',
      CALENDAR_NOTICE_SECRET: 'live-suite',
    },
  });
  const [url, adminUrl] = [`http://127.0.0.1:${port}`, `http://127.0.0.1:${adminPort}`];
  const until = Date.now() + READY_TIMEOUT_MS;
  while (
    !(await fetch(`${adminUrl}/ready`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (Date.now() > until || child.exitCode !== null) {
      child.kill();
      throw new Error('the gateway did not become ready');
    }
    await new Promise((done) => setTimeout(done, 200));
  }
  return {
    ...{ url, adminUrl, process: child },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
