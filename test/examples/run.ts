// `npm run test:examples [-- WORDS]`: builds the client and each of `examples/` against a gateway; prints the counts.

import { execFileSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { runChecks } from '../run-checks.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Of one example: packages of a framework, and its build. */
const TIMEOUT_MS = 300_000;

execFileSync('npm', ['run', '--silent', 'build:client'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
const files = [join(import.meta.dirname, 'examples.check.ts')];
process.exit(await runChecks(files, TIMEOUT_MS, process.argv.slice(2).join(' ') || undefined));
