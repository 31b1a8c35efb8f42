// A gateway as its own process, as operators run it: the `serve` command, configured by environment and file.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { LIMITS } from '../../src/fixed-limits.ts';
import { assertNoSecrets } from '../faults/secret-scan.ts';
import { freePorts } from '../free-port.ts';
import { until } from '../until.ts';
import { type GatewayResponse, type HttpRequestOptions, sendRequest } from './http-request.ts';
import { MOUNT } from './mount.ts';

export const ROOT = resolve(import.meta.dirname, '../..');

export interface ProcessOptions {
  transport: 'process';
  cmsUrl: string;
  /** The service account; without one the gateway syncs public records only. */
  service?: { user: string; password: string } | undefined;
  /** Node's flags. */
  flags?: string[];
  /** Keys of the configuration file. */
  config?: object;
  /** Fixed limits (src/fixed-limits.ts) that the test replaces. */
  limits?: LimitsOfTest;
  /** Default: free ports. */
  ports?: { port: number; adminPort: number };
  /** Further environment variables. */
  env?: Record<string, string>;
  /** Runs the process as this user; for tests that run as root. */
  uid?: number;
  /** Default: `src/main.ts`. */
  entry?: string;
  /** Command that runs Node, such as `['taskset', '-c', '0']`. */
  prefix?: readonly string[];
  /** Receives the output instead of `output()`. */
  logFile?: string;
  /** Opens a channel for messages to `child`. */
  hasMessages?: boolean;
}

export interface LimitsOfTest {
  upstream?: { limits: Partial<typeof LIMITS.upstream.limits> };
  limits?: Partial<typeof LIMITS.limits>;
}

export interface GatewayProcess {
  child: ChildProcess;
  port: number;
  adminPort: number;
  url: string;
  adminUrl: string;
  configFile: string;
  /** Standard output and standard error. */
  output(): string;
  /** Resolves with the exit code, or with the signal that ended the process. */
  exited: Promise<number | string | null>;
  /** The status of `/ready`; 0 if nothing listens. */
  ready(): Promise<number>;
  /** Waits for the initial sync. Throws if the process exits before. */
  untilReady(withinMs?: number): Promise<void>;
  /** Sends a request to a path below the mount. */
  request(path: string, options?: HttpRequestOptions): Promise<GatewayResponse>;
  admin(path: string, options?: HttpRequestOptions): Promise<GatewayResponse>;
  /** Sends SIGTERM and waits for the exit. */
  stop(): Promise<number | string | null>;
  /** Sends SIGKILL and waits for the exit. */
  kill(): Promise<number | string | null>;
}

const REPLACE_LIMITS = join(import.meta.dirname, 'replace-limits.ts');
/** A busy machine starts slowly. */
const START_MS = 45_000;

/** Starts the process; does not wait for it to listen. */
export async function startProcess(options: ProcessOptions): Promise<GatewayProcess> {
  const { cmsUrl, service, config = {}, env = {}, uid, entry = 'src/main.ts', prefix = [], limits } = options;
  const flags = [...(options.flags ?? []), ...(limits ? ['--import', REPLACE_LIMITS] : [])];
  const [freePort, freeAdminPort] = await freePorts();
  const port = options.ports?.port ?? Number(env.CALENDAR_PORT ?? freePort);
  const adminPort = options.ports?.adminPort ?? Number(env.CALENDAR_ADMIN_PORT ?? freeAdminPort);
  const folder = mkdtempSync(join(tmpdir(), 'calendar-serve-'));
  // Readable for the user of `uid`.
  chmodSync(folder, 0o755);
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(config));
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CALENDAR_'));
  const account = service && { CALENDAR_UPSTREAM_USER: service.user, CALENDAR_UPSTREAM_PASSWORD: service.password };
  const [command, ...args] = [...prefix, process.execPath, ...flags, entry, 'serve', '--config', file] as const;
  const output = options.logFile === undefined ? 'pipe' : openSync(options.logFile, 'w');
  const child = spawn(command!, args, {
    cwd: ROOT,
    stdio: ['ignore', output, output, ...(options.hasMessages ? ['ipc' as const] : [])],
    env: {
      ...Object.fromEntries(inherited),
      // Halves the start from TypeScript sources.
      ...(entry.endsWith('.ts') && { NODE_COMPILE_CACHE: join(tmpdir(), 'node-compile-cache') }),
      ...account,
      CALENDAR_UPSTREAM_URL: cmsUrl,
      CALENDAR_HOST: '127.0.0.1',
      CALENDAR_PORT: String(port),
      CALENDAR_ADMIN_PORT: String(adminPort),
      ...(limits && { TEST_LIMITS: JSON.stringify(limits) }),
      ...env,
    },
    uid,
  });
  if (typeof output === 'number') closeSync(output);
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => chunks.push(String(chunk)));
  const exited = once(child, 'close').then(([code, signal]): number | string | null => {
    assertNoSecrets('the output of a gateway', chunks.join(''));
    return code ?? signal;
  });
  const whatItWrote = () => (options.logFile === undefined ? chunks.join('') : `in ${options.logFile}`);
  const hasExited = () => child.exitCode !== null || child.signalCode !== null;
  const admin = (path: string, request?: HttpRequestOptions) => sendRequest(adminPort, path, request);
  const ready = () =>
    admin('/ready').then(
      ({ status }) => status,
      () => 0,
    );

  function end(signal: NodeJS.Signals): Promise<number | string | null> {
    if (!hasExited()) {
      // A stopped process handles no other signal.
      child.kill('SIGCONT');
      child.kill(signal);
    }
    return exited;
  }

  return {
    child,
    port,
    adminPort,
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${adminPort}`,
    configFile: file,
    output: () => chunks.join(''),
    exited,
    ready,
    untilReady: (withinMs = START_MS) =>
      until(
        async () => {
          if (hasExited()) throw new Error(`the gateway exited: ${whatItWrote()}`);
          return (await ready()) === 200;
        },
        () => `ready; its output is ${whatItWrote()}`,
        withinMs,
      ),
    request: (path, request) => sendRequest(port, MOUNT + path, request),
    admin,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
