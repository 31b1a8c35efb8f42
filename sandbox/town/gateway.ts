// The demo's gateway: the `serve` command as a process of its own that never outlives the demo.

import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { PROJECT_ROOT } from '../paths.ts';
import type { Sandbox } from '../start.ts';

export interface DemoGateway {
  /** Settles when it has ended, by itself or by {@link DemoGateway.stop}. */
  ended: Promise<void>;
  /** Ends it the gentle way; after eight seconds the other way. */
  stop(): Promise<void>;
}

/** The site before which it stands; its administrator is the service account. */
type Site = Pick<Sandbox, 'url' | 'credentials'>;

interface Places {
  /** On loopback, as the next. */
  port: number;
  adminPort: number;
  configFile: string;
  /** An absolute path. */
  logFile: string;
}

const READY_TIMEOUT_MS = 180_000;
const STOP_TIMEOUT_MS = 8000;

// Descriptor 3 is our end of a pipe. When it closes, by `stop` or because this process has ended in any way, the gateway
// is told to finish: it gets the time to close its database, which the end of a whole group would not give it.
const GUARD = [
  'exec 3<&0',
  '"$@" </dev/null 3<&- & child=$!',
  '(cat <&3 >/dev/null; kill -TERM $child 2>/dev/null) &',
  'wait $child',
].join('\n');

/**
 * Starts it and waits until its copy of the site is complete.
 * @param settings more variables `CALENDAR_*`, which go before those that follow from the site and the places
 * @param onProgress told how much of the site is copied, from 0 to 100, whenever that changes
 * @throws Error with the end of the log when it ends before that or takes too long
 */
export async function startDemoGateway(
  site: Site,
  { port, adminPort, configFile, logFile }: Places,
  settings: Record<string, string>,
  onProgress: (percent: number) => void,
): Promise<DemoGateway> {
  const { user, applicationPassword } = site.credentials.admin;
  const own = {
    CALENDAR_UPSTREAM_URL: site.url,
    CALENDAR_UPSTREAM_USER: user,
    CALENDAR_UPSTREAM_PASSWORD: applicationPassword,
    CALENDAR_MAPPING: 'wordpress-meta',
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
      // nobody is left in it
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
  child.stdin?.on('error', () => {}); // the pipe may be gone first

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
    const answer = await fetch(`http://127.0.0.1:${adminPort}/ready`).catch(() => undefined);
    if (answer?.ok) return gateway;
    const { percent } = ((await answer?.json().catch(() => undefined)) ?? {}) as { percent?: number };
    if (percent !== undefined && percent !== shown) onProgress(percent);
    shown = percent ?? shown;
    if (hasEnded) throw new Error(`the gateway did not start:\n${endOf(logFile)}`);
    if (performance.now() > untilMs) {
      await gateway.stop();
      throw new Error(`the gateway was not ready within ${READY_TIMEOUT_MS / 1000} s:\n${endOf(logFile)}`);
    }
    await pause(100);
  }
}

/** This port, or the next one above it that nobody listens on. */
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

/** The last lines of a log. */
export function endOf(logFile: string): string {
  return existsSync(logFile) ? readFileSync(logFile, 'utf8').trim().split('\n').slice(-8).join('\n') : '(no log)';
}
