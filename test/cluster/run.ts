// `npm run test:cluster [-- --histories 12]`: all cluster tests and random histories, with an installed
// redis-server.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { printHistories } from './histories.ts';
import { findRedisServer } from './redis-server.ts';

const { values } = parseArgs({ options: { histories: { type: 'string', default: '12' }, seed: { type: 'string' } } });

if (!findRedisServer()) {
  console.error(
    'Neither redis-server nor valkey-server is installed. On Debian: apt-get install redis-server. Elsewhere',
  );
  console.error('install either, or set CALENDAR_TEST_REDIS_SERVER=/path/to/redis-server.');
  process.exit(1);
}

const tests = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join(import.meta.dirname, name));
const mocha = join(import.meta.dirname, '../../node_modules/.bin/mocha');
// They mostly wait.
const options = ['--no-config', '--timeout', '60000', '--parallel', '--jobs', '2'];
const { status } = spawnSync(mocha, [...options, ...tests], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

await printHistories(Number(values.histories), values.seed === undefined ? undefined : Number(values.seed));
