// The gateway as `serve` runs it, in a process of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { exchange } from '../faults/gateway.ts';
import { refuseSecrets } from '../faults/spoken.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface Serving {
  child: ChildProcess;
  port: number;
  adminPort: number;
  /** What it wrote on both streams. */
  said(): string;
  /** With the exit code, or the signal that ended it. */
  ended: Promise<number | string | null>;
}

export interface ServeOptions {
  /** Of the service account `admin`; without it only public records are copied. */
  password?: string;
  /** Node's own. */
  flags?: string[];
  /** More of the configuration, as a file has it. */
  config?: object;
  /** More of the environment; it may take another port than a free one. */
  env?: Record<string, string>;
  /** The user that the process runs as, where the tests run as root. */
  uid?: number;
}

/** Starts it; does not wait until it answers. */
export async function serve(
  url: string,
  { password, flags = [], config = {}, env = {}, uid }: ServeOptions = {},
): Promise<Serving> {
  const [port, adminPort] = [await freePort(), await freePort()];
  const service =
    password === undefined ? {} : { CALENDAR_UPSTREAM_USER: 'admin', CALENDAR_UPSTREAM_PASSWORD: password };
  const folder = mkdtempSync(join(tmpdir(), 'calendar-serve-'));
  // Another user has to read the file as well.
  chmodSync(folder, 0o755);
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  const child = spawn(process.execPath, [...flags, 'src/main.ts', 'serve', '--config', file], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      ...service,
      ...{ CALENDAR_UPSTREAM_URL: url, CALENDAR_HOST: '127.0.0.1' },
      ...{ CALENDAR_PORT: String(port), CALENDAR_ADMIN_PORT: String(adminPort) },
      ...env,
    },
    ...(uid === undefined ? {} : { uid }),
  });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => chunks.push(String(chunk)));
  const ended = once(child, 'close').then(([code, signal]) => {
    refuseSecrets('what a gateway said', chunks.join(''));
    return (code ?? signal) as number | string | null;
  });
  return { child, port, adminPort, ended, said: () => chunks.join('') };
}

/** What /ready says; 0: nothing listens. */
export const ready = ({ adminPort }: Serving) =>
  exchange(adminPort, '/ready').then(
    ({ status }) => status,
    () => 0,
  );

/** Starting it takes a machine that is busy with other things long. */
const START_MS = 45_000;

/** Waits until its copy is complete. */
export const untilReady = (serving: Serving): Promise<void> =>
  until(
    async () => (await ready(serving)) === 200,
    () => `ready; it said ${serving.said()}`,
    START_MS,
  );
