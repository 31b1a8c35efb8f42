// `npm run test:sites`: the shipped mappings, each in front of a real WordPress that is set up as its plugin leaves it.

import { basename } from 'node:path';
import { quirks } from './quirks.ts';
import { fill, proveReadOnly } from './read-only.ts';
import { type SiteUnderTest, siteUnderTest } from './site-under-test.ts';
import { createTally, type Tally } from './tally.ts';
import { proveTextVenues, TEXT_VENUES } from './text-venues.ts';
import { TWENTY_LINES, twentyLines } from './twenty-lines.ts';
import { proveUnharmed } from './unharmed.ts';
import { proveWritten } from './written.ts';

const WRITTEN = ['wordpress-meta', 'acf', 'pods', 'gatherpress', 'wp-event-manager', 'tribe-events-native'];
const READ_ONLY = ['events-manager', 'event-organiser', 'modern-events-calendar', 'eventon'];

/** The site under test, to be taken down when the run is broken off. */
let current: SiteUnderTest | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.resolve(current?.close()).finally(() => process.exit(1)));

type Contract = (site: SiteUnderTest, tally: Tally) => Promise<void>;

/** `mapping` is a name or a file; `plugin` the site's, where that is not the mapping's name. */
async function prove({ mapping, plugin }: { mapping: string; plugin?: string }, contract: Contract): Promise<Tally> {
  const name = basename(mapping, '.json');
  const tally = createTally(name);
  const isReadOnly = READ_ONLY.includes(name);
  const begunMs = Date.now();
  try {
    const site = await siteUnderTest(
      mapping,
      async (empty) => {
        if (isReadOnly) await fill(empty);
      },
      plugin,
    );
    current = site;
    try {
      await quirks[name]?.(site, tally);
      if (site.hasCompanion) await proveUnharmed(site, tally);
      await contract(site, tally);
    } finally {
      current = undefined;
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

const proofs: { mapping: string; plugin?: string; contract: Contract }[] = [
  ...WRITTEN.map((mapping) => ({ mapping, contract: proveWritten })),
  ...READ_ONLY.map((mapping) => ({ mapping, contract: proveReadOnly })),
  { mapping: 'test/live/sites/term-venues.json', plugin: 'modern-events-calendar', contract: proveWritten },
  { mapping: twentyLines(), plugin: TWENTY_LINES, contract: proveWritten },
  { mapping: TEXT_VENUES, plugin: 'wp-event-manager', contract: proveTextVenues },
];
/** With arguments: these mappings alone. */
const wanted = process.argv.slice(2);
const tallies: Tally[] = [];
for (const { contract, ...what } of proofs)
  if (wanted.length === 0 || wanted.includes(basename(what.mapping, '.json')))
    tallies.push(await prove(what, contract));
const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
