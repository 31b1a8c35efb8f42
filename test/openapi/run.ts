// `npm run test:openapi [-- WORDS]`: installs the OpenAPI tools, builds the client and runs the checks of this folder; prints the counts.

import { execFileSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runChecks } from '../run-checks.ts';

const HERE = import.meta.dirname;
const ROOT = resolve(HERE, '../..');
const TIMEOUT_MS = 120_000;

const run = (command: string, args: string[], cwd: string) =>
  execFileSync(command, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });

run('npm', ['ci', '--loglevel=error', '--no-audit', '--no-fund'], HERE);
run('npm', ['run', '--silent', 'build:client'], ROOT);
run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(HERE, 'client')], ROOT);
const files = globSync(join(HERE, '{,client/}*.check.ts')).sort();
process.exit(await runChecks(files, TIMEOUT_MS, process.argv.slice(2).join(' ') || undefined));
