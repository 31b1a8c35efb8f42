// `npm run test:cluster`: all cluster tests and random histories, with an installed redis-server.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { scriptOptions } from '../script-options.ts';
import { printHistories } from './histories.ts';
import { findRedisServer } from './redis-server.ts';

const { histories, seed } = scriptOptions(
  `npm run test:cluster -- [options]

Runs all tests of several gateways that share a Redis, and then random histories of writes, kills and cuts over three gateways. Needs an
installed redis-server or valkey-server. Takes four minutes on two idle cores.`,
  {
    histories: { type: 'string', value: 'N', default: '4', help: 'random histories' },
    seed: { type: 'string', value: 'N', help: 'of the first history; a failure prints its seed (default: random)' },
  },
);

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
const options = ['--no-config', '--timeout', '300000', '--parallel', '--jobs', '2'];
const { status } = spawnSync(mocha, [...options, ...tests], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

await printHistories(Number(histories), seed === undefined ? undefined : Number(seed));
