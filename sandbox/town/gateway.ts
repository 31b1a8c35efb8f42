// Runs the demo's gateway: the `serve` command as a child process that never outlives the demo.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { PROJECT_ROOT } from '../paths.ts';

export interface DemoGateway {
  /** Settles when the process has exited, for whatever reason. */
  ended: Promise<void>;
  /** Lets the gateway finish, and kills it after eight seconds. */
  stop(): Promise<void>;
}

interface Site {
  url: string;
  /** The service account. */
  service: { user: string; password: string };
  /** Default: wordpress-meta. */
  mapping?: string;
}

interface GatewayAddresses {
  port: number;
  adminPort: number;
  configFile: string;
  /** An absolute path. */
  logFile: string;
}

/** PHP as WebAssembly on a busy machine. */
const READY_TIMEOUT_MS = 600_000;
const STOP_TIMEOUT_MS = 8000;

// Descriptor 3 is a pipe from this process. When it closes, by `stop` or because this process exits, the
// shell sends SIGTERM to the gateway only, which then has time to close its database.
const GUARD = [
  'exec 3<&0',
  '"$@" </dev/null 3<&- & child=$!',
  '(cat <&3 >/dev/null; kill -TERM $child 2>/dev/null) &',
  'wait $child',
].join('\n');

/**
 * Starts the gateway and waits for the end of its initial sync.
 * @param settings more `CALENDAR_*` variables, which override the defaults of the demo
 * @param onProgress called with the percentage of the initial sync when it changes
 * @throws Error with the end of the log if the gateway exits or takes too long
 */
export async function startDemoGateway(
  site: Site,
  { port, adminPort, configFile, logFile }: GatewayAddresses,
  settings: Record<string, string>,
  onProgress: (percent: number) => void,
): Promise<DemoGateway> {
  const own = {
    CALENDAR_UPSTREAM_URL: site.url,
    CALENDAR_UPSTREAM_USER: site.service.user,
    CALENDAR_UPSTREAM_PASSWORD: site.service.password,
    CALENDAR_MAPPING: site.mapping ?? 'wordpress-meta',
    CALENDAR_HOST: '127.0.0.1',
    CALENDAR_PORT: String(port),
    CALENDAR_ADMIN_PORT: String(adminPort),
    CALENDAR_PUBLIC_URL: `http://127.0.0.1:${port}`,
  };
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('CALENDAR_'));
  const log = openSync(logFile, 'w');
  const serve = [process.execPath, 'src/main.ts', 'serve', '--config', configFile];
  const child = spawn('/bin/sh', ['-c', GUARD, 'gateway', ...serve], {
    cwd: PROJECT_ROOT,
    env: { ...Object.fromEntries(inherited), ...own, ...settings },
    detached: true,
    stdio: ['pipe', log, log],
  });
  closeSync(log);
  let hasEnded = false;
  const killGroup = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // the group has exited
    }
  };
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      hasEnded = true;
      child.stdin?.destroy();
      resolve();
    };
    child.once('error', end);
    child.once('exit', end);
  });
  child.stdin?.on('error', () => {}); // the pipe may close first

  const gateway: DemoGateway = {
    ended,
    async stop() {
      child.stdin?.destroy();
      const timer = setTimeout(killGroup, STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
  const untilMs = performance.now() + READY_TIMEOUT_MS;
  let shown: number | undefined;
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${adminPort}/ready`).catch(() => undefined);
    if (response?.ok) return gateway;
    const { percent } = ((await response?.json().catch(() => undefined)) ?? {}) as { percent?: number };
    if (percent !== undefined && percent !== shown) onProgress(percent);
    shown = percent ?? shown;
    if (hasEnded) throw new Error(`the gateway did not start:\n${logTail(logFile)}`);
    if (performance.now() > untilMs) {
      await gateway.stop();
      throw new Error(`the gateway was not ready within ${READY_TIMEOUT_MS / 1000} s:\n${logTail(logFile)}`);
    }
    await pause(100);
  }
}

/** The first free port from `first` on, other than `taken`. */
export async function freePortFrom(first: number, taken?: number): Promise<number> {
  for (let port = first; port < first + 100; port++) {
    const free = await new Promise<boolean>((settle) => {
      const server = createServer();
      server.once('error', () => settle(false));
      server.listen(port, '127.0.0.1', () => server.close(() => settle(true)));
    });
    if (free && port !== taken) return port;
  }
  throw new Error(`no port from ${first} to ${first + 99} is free: name another with --port`);
}

export function logTail(logFile: string): string {
  return existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n').slice(-8).join('\n') : '(no log)';
}
