// `npm run test:browser`: the pages in a real browser, in front of a real WordPress; ends with its counts.

import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runChecks } from '../checks.ts';
import { openStage } from './stage.ts';

const TIMEOUT_MS = 60_000;

const say = (text: string): void => void process.stderr.write(`browser: ${text}\n`);

/** Words of the command line choose the tests whose titles have them. */
async function main(only: string | undefined): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-pages-'));
  const files = globSync(join(import.meta.dirname, '*.check.ts')).sort();
  const stage = await openStage(dir, say);
  try {
    return await runChecks(files, TIMEOUT_MS, only);
  } finally {
    await stage.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

// Whatever a failed test left open does not keep this waiting.
process.exit(await main(process.argv.slice(2).join(' ') || undefined));
