// `npm run test:cluster [-- --histories 12]`: everything about several gateways, with a redis-server that is installed here.

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findEngine } from './engine-process.ts';
import { runHistories } from './history.ts';

const { values } = parseArgs({ options: { histories: { type: 'string', default: '12' }, seed: { type: 'string' } } });

if (!findEngine()) {
  console.error(
    'There is no redis-server and no valkey-server here. On Debian: apt-get install redis-server. Elsewhere:',
  );
  console.error('install either, or name the program with CALENDAR_TEST_REDIS_SERVER=/path/to/redis-server.');
  process.exit(1);
}

const tests = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.test.ts'))
  .map((name) => join(import.meta.dirname, name));
const mocha = join(import.meta.dirname, '../../node_modules/.bin/mocha');
// Most of their time is waiting.
const how = ['--no-config', '--timeout', '60000', '--parallel', '--jobs', '2'];
const { status } = spawnSync(mocha, [...how, ...tests], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

const seed = Number(values.seed ?? Date.now() % 1_000_000);
const { writes, reads, behind, faults } = await runHistories(Number(values.histories), seed);
const told = `${writes} writes, ${reads} reads (${behind} told to try again), ${faults} faults`;
console.log(`${values.histories} histories over three gateways from seed ${seed}, no difference: ${told}`);
