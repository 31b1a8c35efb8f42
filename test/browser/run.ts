// `npm run test:browser`: tests the pages in a real browser in front of a real WordPress; prints the counts.

import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from '../run-checks.ts';
import { openHarness } from './harness.ts';

const TIMEOUT_MS = 60_000;

const log = (text: string): void => void process.stderr.write(`browser: ${text}\n`);

/** Command-line words select tests by their titles. */
async function main(only: string | undefined): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-pages-'));
  const files = globSync(join(import.meta.dirname, '*.check.ts')).sort();
  const stage = await openHarness(dir, log);
  try {
    return await runChecks(files, TIMEOUT_MS, only);
  } finally {
    await stage.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

// Exits even if a failed test left connections open.
process.exit(await main(process.argv.slice(2).join(' ') || undefined));
