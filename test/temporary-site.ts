// A new WordPress or Payload for one script, in a temporary folder.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PayloadIds, type PayloadSandbox, startPayload } from '../sandbox/payload-site.ts';
import { type Sandbox, type SandboxOptions, startSandbox } from '../sandbox/start.ts';

async function withSite<S extends { stop(): Promise<unknown> }, T>(
  start: (dir: string) => Promise<S>,
  use: (site: S) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-site-'));
  try {
    const site = await start(dir);
    try {
      return await use(site);
    } finally {
      await site.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Starts a new WordPress for `use`, and removes it afterwards. */
export const withSandbox = <T>(
  options: Omit<SandboxOptions, 'dir' | 'port'>,
  use: (sandbox: Sandbox) => Promise<T>,
): Promise<T> => withSite((dir) => startSandbox({ ...options, dir, port: 0 }), use);

/** Starts a new Payload for `use`, and removes it afterwards. */
export const withPayload = <T>(use: (site: PayloadSandbox) => Promise<T>, ids: PayloadIds = 'number'): Promise<T> =>
  withSite((dir) => startPayload({ dir, port: 0, ids, quiet: true }), use);
