// `node test/live/sites/contract.ts [MAPPING ...]`: each bundled mapping in front of a real WordPress with the post types
// and data of its plugin.

import { basename } from 'node:path';
import { mappingNames } from '../../../src/mapping/load.ts';
import { scriptWords } from '../../script-options.ts';
import { DOCUMENTED_MAPPING, writeDocumentedMapping } from './documented-mapping.ts';
import { testPluginCoexistence } from './plugin-coexistence.ts';
import { quirks } from './quirks.ts';
import { testReadOnlySite } from './read-only-site.ts';
import { createResults, type Results } from './results.ts';
import { startTestSite, type TestSite } from './test-site.ts';
import { testWritableSite } from './writable-site.ts';

/** To be stopped if the run is interrupted. */
let current: TestSite | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.resolve(current?.close()).finally(() => process.exit(1)));

interface ContractRun {
  /** A name or a file. */
  mapping: string;
  /** Default: the name of the mapping. */
  plugin?: string;
}

async function runContract({ mapping, plugin }: ContractRun): Promise<Results> {
  const name = basename(mapping, '.json');
  const label = plugin?.includes('+') ? plugin : name;
  const results = createResults(label);
  const startedMs = Date.now();
  try {
    const site = await startTestSite(mapping, plugin);
    current = site;
    try {
      for (const [title, run] of Object.entries(quirks[name] ?? {})) {
        await results.check(title, () => run(site));
        await site.deleteCreated();
      }
      if (site.hasCompanionPlugin) await testPluginCoexistence(site, results);
      await (site.mapping.kinds.event.readOnly ? testReadOnlySite : testWritableSite)(site, results);
    } finally {
      current = undefined;
      await site.close();
    }
  } catch (error) {
    results.failed += 1;
    process.stderr.write(`FAIL ${label}: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  const seconds = Math.round((Date.now() - startedMs) / 1000);
  console.log(`${label}: ${results.passed} passed, ${results.failed} failed (${seconds} s)`);
  return results;
}

const runs: ContractRun[] = [
  ...mappingNames('wordpress').map((mapping) => ({ mapping })),
  { mapping: 'tribe-events-native', plugin: 'classic-theme+tribe-events-native' },
  { mapping: 'test/live/sites/term-venues.json', plugin: 'modern-events-calendar' },
  { mapping: writeDocumentedMapping(), plugin: DOCUMENTED_MAPPING },
];
const names = [...new Set(runs.map(({ mapping }) => basename(mapping, '.json')))];
const selected = scriptWords(
  `node test/live/sites/contract.ts [MAPPING...]

Runs the contract of a site for each bundled mapping (or those that are named), in front of a new WordPress with the post types and data of its
plugin. The first run downloads WordPress (64 MB).

${names.join('\n')}`,
  names,
);
const allResults: Results[] = [];
for (const run of runs)
  if (selected.length === 0 || selected.includes(basename(run.mapping, '.json')))
    allResults.push(await runContract(run));
const passed = allResults.reduce((sum, results) => sum + results.passed, 0);
const failed = allResults.reduce((sum, results) => sum + results.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
