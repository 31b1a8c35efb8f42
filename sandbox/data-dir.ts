// What every site of the sandbox needs before it starts: its data folder for itself, and a port.

import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Creates the data folder and reserves it for this process: two servers with different ports would overwrite
 * its configuration.
 * @param prepare runs when no other process can use the folder, and before it is created
 * @returns the function that releases it
 * @throws Error if another process runs in it
 */
export function lockDataDir(dataDir: string, prepare: () => void): () => void {
  const file = join(dataDir, 'running.pid');
  if (existsSync(file)) {
    const pid = Number(readFileSync(file, 'utf8'));
    if (pid === process.pid || isAlive(pid))
      throw new Error(`another sandbox runs in ${dataDir} (process ${pid}); if not, remove ${file}`);
  }
  prepare();
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(file, String(process.pid));
  const unlock = (): void => rmSync(file, { force: true });
  process.once('exit', unlock);
  return () => {
    process.off('exit', unlock);
    unlock();
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // an exited process keeps its id until its parent reaps it: state Z, after the name in brackets
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return true; // no /proc here
  }
}

/**
 * The requested port (0: any free one), or else the preferred one or another free one.
 * @throws Error if the requested port is in use
 */
export async function choosePort(requested: number | undefined, preferred: number): Promise<number> {
  if (requested !== undefined && requested !== 0) {
    // A site that was stopped a moment ago may still hold it.
    for (let tries = 0; tries < 20; tries += 1) {
      if (await freePort(requested)) return requested;
      await sleep(250);
    }
    throw new Error(`port ${requested} is in use: name another with --port`);
  }
  const free = requested === 0 ? undefined : await freePort(preferred);
  return free ?? anyPort();
}

/** Below the range of outgoing connections, of which one would get the port while the site restarts. */
async function anyPort(): Promise<number> {
  for (;;) {
    const port = await freePort(randomInt(10_000, 32_000));
    if (port !== undefined) return port;
  }
}

/** Resolves with the port if it is free, otherwise with undefined. */
function freePort(port: number): Promise<number | undefined> {
  return new Promise((settle) => {
    const server = createServer();
    server.once('error', () => settle(undefined));
    server.listen(port, '127.0.0.1', () => server.close(() => settle(port)));
  });
}
