// `npm run test:browser`: the pages in a real browser, in front of a real WordPress; ends with its counts.

import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Mocha from 'mocha';
import { openStage } from './stage.ts';

const TIMEOUT_MS = 60_000;

const say = (text: string): void => void process.stderr.write(`browser: ${text}\n`);

/** Words of the command line choose the tests whose titles have them. */
async function main(only: string | undefined): Promise<number> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-pages-'));
  const mocha = new Mocha({ timeout: TIMEOUT_MS, reporter: 'spec', ...(only ? { grep: only } : {}) });
  const files = globSync('*.check.ts', { cwd: import.meta.dirname }).sort();
  for (const file of files) mocha.addFile(join(import.meta.dirname, file));
  const stage = await openStage(dir, say);
  try {
    await mocha.loadFilesAsync();
    const { passes = 0, failures = 0 } = await new Promise<Mocha.Stats>((ended) => {
      const runner = mocha.run(() => ended(runner.stats!));
    });
    console.log(`${passes} passed, ${failures} failed`);
    return failures > 0 || passes === 0 ? 1 : 0;
  } finally {
    await stage.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

// Whatever a failed test left open does not keep this waiting.
process.exit(await main(process.argv.slice(2).join(' ') || undefined));
