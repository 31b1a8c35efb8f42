// A Payload for one script, in a temporary folder.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type PayloadIds, type PayloadSandbox, startPayload } from '../../sandbox/payload-site.ts';

/** Starts a new Payload for `use`, and removes it afterwards. */
export async function withPayload<T>(
  use: (site: PayloadSandbox) => Promise<T>,
  ids: PayloadIds = 'number',
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-payload-'));
  try {
    const site = await startPayload({ dir, port: 0, ids, quiet: true });
    try {
      return await use(site);
    } finally {
      await site.stop();
    }
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
