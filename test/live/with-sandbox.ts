// A WordPress for one script, in a temporary folder.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../sandbox/start.ts';

/** Starts a new WordPress for `use`, and removes it afterwards. */
export async function withSandbox<T>(
  options: Omit<SandboxOptions, 'dir' | 'port'>,
  use: (sandbox: Sandbox) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-site-'));
  try {
    const sandbox = await startSandbox({ ...options, dir, port: 0 });
    try {
      return await use(sandbox);
    } finally {
      await sandbox.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
