// `npm run record [scenario ...]`: runs the scenarios against a new WordPress, and the contract of a CMS against a new
// Payload (`contract-payload`), and writes their responses to test/fixtures.

import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Role } from '../../sandbox/site.ts';
import { type Sandbox, startSandbox } from '../../sandbox/start.ts';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { PAYLOAD_CONTRACT, recordPayload } from './record-payload.ts';
import { createRecorder } from './recorder.ts';
import type { RecordingContext, Scenario } from './scenario.ts';

const SCENARIOS = join(import.meta.dirname, 'scenarios');
const FIXTURES = join(import.meta.dirname, '../fixtures');

async function loadScenarios(names: readonly string[]): Promise<Scenario[]> {
  const files = readdirSync(SCENARIOS)
    .filter((file) => file.endsWith('.ts'))
    .sort();
  const scenarios: Scenario[] = [];
  for (const file of files) {
    const { scenario } = (await import(join(SCENARIOS, file))) as { scenario: Scenario };
    if (names.length === 0 || names.includes(scenario.name)) scenarios.push(scenario);
  }
  const unknown = names.filter((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown.length > 0) throw new Error(`no such scenario: ${unknown.join(', ')}`);
  return scenarios;
}

async function recordScenario(scenario: Scenario, sandbox: Sandbox): Promise<number> {
  const recorder = createRecorder(sandbox.url);
  const { dispatcher } = recorder;
  const users = Object.entries(sandbox.credentials);
  const as = Object.fromEntries(
    users.map(([role, { user, applicationPassword }]) => [
      role,
      `Basic ${Buffer.from(`${user}:${applicationPassword}`).toString('base64')}`,
    ]),
  ) as Record<Role, string>;
  const context: RecordingContext = {
    // PHP as WebAssembly is slow.
    cms: createWordPress({
      url: sandbox.url,
      observe: () => {},
      limits: { deadlineMs: 120_000, headersTimeoutMs: 120_000, retries: 0 },
      dispatcher,
    }),
    dispatcher,
    site: sandbox.url,
    as,
    wp: (args) => sandbox.wp(args),
  };
  await scenario.run(context);
  await recorder.close();

  const text = `${JSON.stringify(recorder.recorded, null, 1)}\n`;
  const secrets = users.flatMap(([, { password, applicationPassword }]) => [password, applicationPassword]);
  for (const secret of [...secrets, ...Object.values(as).map((header) => header.slice('Basic '.length))]) {
    if (text.includes(secret)) throw new Error(`the recording of ${scenario.name} holds a password`);
  }
  writeFileSync(join(FIXTURES, `${scenario.name}.json`), text);
  return recorder.recorded.length;
}

async function main(): Promise<void> {
  const names = process.argv.slice(2);
  if (names.length === 0 || names.includes(PAYLOAD_CONTRACT)) await recordPayload(FIXTURES);
  const ofWordPress = names.filter((name) => name !== PAYLOAD_CONTRACT);
  if (names.length === 0 || ofWordPress.length > 0) await recordWordPress(await loadScenarios(ofWordPress));
}

async function recordWordPress(scenarios: readonly Scenario[]): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-record-'));
  const plugin = companionPlugin(loadMapping('wordpress-meta'));
  const sandbox = await startSandbox({
    dir,
    port: 0,
    mapping: false,
    muPlugins: { 'calendar-gateway-companion.php': plugin },
  });
  try {
    for (const scenario of scenarios) {
      const exchanges = await recordScenario(scenario, sandbox);
      process.stderr.write(`record: ${scenario.name}: ${exchanges} exchanges\n`);
    }
  } finally {
    await sandbox.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

await main();
