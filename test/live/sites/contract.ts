// `npm run test:sites`: the shipped mappings, each in front of a real WordPress that is set up as its plugin leaves it.

import { quirks } from './quirks.ts';
import { fill, proveReadOnly } from './read-only.ts';
import { siteUnderTest } from './site-under-test.ts';
import { createTally, type Tally } from './tally.ts';
import { proveWritten } from './written.ts';

const WRITTEN = ['wordpress-meta', 'acf', 'pods', 'gatherpress', 'wp-event-manager', 'tribe-events-native'];
const READ_ONLY = ['events-manager', 'event-organiser', 'modern-events-calendar', 'eventon'];

async function prove(name: string): Promise<Tally> {
  const tally = createTally(name);
  const isReadOnly = READ_ONLY.includes(name);
  const begunMs = Date.now();
  try {
    const site = await siteUnderTest(name, async (empty) => {
      if (isReadOnly) await fill(empty);
    });
    try {
      await quirks[name]?.(site, tally);
      await (isReadOnly ? proveReadOnly : proveWritten)(site, tally);
    } finally {
      await site.close();
    }
  } catch (error) {
    tally.failed += 1;
    process.stderr.write(`FAIL ${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  const seconds = Math.round((Date.now() - begunMs) / 1000);
  console.log(`${name}: ${tally.passed} passed, ${tally.failed} failed (${seconds} s)`);
  return tally;
}

const wanted = process.argv.slice(2);
const tallies: Tally[] = [];
for (const name of [...WRITTEN, ...READ_ONLY])
  if (wanted.length === 0 || wanted.includes(name)) tallies.push(await prove(name));
const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
