// `npm run test:calendars`: calendar programs of Debian show the calendar files as the API's JSON tells the events; prints the counts.

import { globSync } from 'node:fs';
import { join } from 'node:path';
import { runChecks } from '../run-checks.ts';
import { missingPrograms } from './programs.ts';

const TIMEOUT_MS = 60_000;

/** Command-line words select tests by their titles. */
async function main(only: string | undefined): Promise<number> {
  const lack = await missingPrograms();
  if (lack) throw new Error(lack);
  return runChecks(globSync(join(import.meta.dirname, '*.check.ts')), TIMEOUT_MS, only);
}

// Exits even if a failed test left connections open.
process.exit(await main(process.argv.slice(2).join(' ') || undefined));
