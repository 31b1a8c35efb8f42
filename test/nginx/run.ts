// `npm run test:nginx`: the gateway behind nginx as deploy/nginx.conf has it; ends with its counts.

import { join } from 'node:path';
import { browserLack } from '../browser/stage.ts';
import { runChecks } from '../checks.ts';
import { nginxLack } from './nginx.ts';

const TIMEOUT_MS = 30_000;

/** Words of the command line choose the tests whose titles have them. */
async function main(only: string | undefined): Promise<number> {
  const lack = nginxLack() ?? browserLack();
  if (lack) throw new Error(lack);
  const files = ['proxy.check.ts', 'pages.check.ts'].map((name) => join(import.meta.dirname, name));
  return runChecks(files, TIMEOUT_MS, only);
}

// Whatever a failed test left open does not keep this waiting.
process.exit(await main(process.argv.slice(2).join(' ') || undefined));
