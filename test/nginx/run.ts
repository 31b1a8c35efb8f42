// `npm run test:nginx`: the gateway behind nginx as deploy/nginx.conf has it; ends with its counts.

import { join } from 'node:path';
import Mocha from 'mocha';
import { browserLack } from '../browser/stage.ts';
import { nginxLack } from './nginx.ts';

const TIMEOUT_MS = 30_000;

/** Words of the command line choose the tests whose titles have them. */
async function main(only: string | undefined): Promise<number> {
  const lack = nginxLack() ?? browserLack();
  if (lack) throw new Error(lack);
  const mocha = new Mocha({ timeout: TIMEOUT_MS, reporter: 'spec', ...(only ? { grep: only } : {}) });
  mocha.addFile(join(import.meta.dirname, 'proxy.check.ts'));
  mocha.addFile(join(import.meta.dirname, 'pages.check.ts'));
  await mocha.loadFilesAsync();
  const { passes = 0, failures = 0 } = await new Promise<Mocha.Stats>((ended) => {
    const runner = mocha.run(() => ended(runner.stats!));
  });
  console.log(`${passes} passed, ${failures} failed`);
  return failures > 0 || passes === 0 ? 1 : 0;
}

// Whatever a failed test left open does not keep this waiting.
process.exit(await main(process.argv.slice(2).join(' ') || undefined));
