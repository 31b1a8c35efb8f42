// `npm run test:nginx`: the gateway behind nginx with deploy/nginx.conf; prints the counts.

import { join } from 'node:path';
import { missingBrowser } from '../browser/harness.ts';
import { runChecks } from '../run-checks.ts';
import { nginxLack } from './nginx.ts';

const TIMEOUT_MS = 30_000;

/** Command-line words select tests by their titles. */
async function main(only: string | undefined): Promise<number> {
  const lack = nginxLack() ?? missingBrowser();
  if (lack) throw new Error(lack);
  const files = ['proxy.check.ts', 'pages.check.ts'].map((name) => join(import.meta.dirname, name));
  return runChecks(files, TIMEOUT_MS, only);
}

// Exits even if a failed test left connections open.
process.exit(await main(process.argv.slice(2).join(' ') || undefined));
