// `npm run record`: runs the scenarios against a new WordPress, and the contract of a CMS against a new
// Payload (`contract-payload`), and writes their responses to test/fixtures.

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Role } from '../../sandbox/site.ts';
import type { Sandbox } from '../../sandbox/start.ts';
import { companionPlugin } from '../../src/cli/plugin/companion-plugin.ts';
import { createWordPress } from '../../src/cms/wordpress/wordpress.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { checkContract } from '../cms/contract.ts';
import { livePayload } from '../cms/implementations.ts';
import { PROMISES } from '../cms/promises.ts';
import { basicAuth } from '../live/json-client.ts';
import { scriptWords } from '../script-options.ts';
import { withPayload, withSandbox } from '../temporary-site.ts';
import { createRecorder, type RecordedExchange } from './recorder.ts';
import type { RecordingContext, Scenario } from './scenario.ts';

const SCENARIOS = join(import.meta.dirname, 'scenarios');
const FIXTURES = join(import.meta.dirname, '../fixtures');
const PAYLOAD_CONTRACT = 'contract-payload';

/** Each scenario is in a file of its name. */
const SCENARIO_NAMES = readdirSync(SCENARIOS)
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();

const loadScenarios = (names: readonly string[]): Promise<Scenario[]> =>
  Promise.all(names.map(async (name) => (await import(join(SCENARIOS, `${name}.ts`))).scenario));

async function recordScenario(scenario: Scenario, sandbox: Sandbox): Promise<void> {
  const recorder = createRecorder(sandbox.url);
  const { dispatcher } = recorder;
  const users = Object.entries(sandbox.credentials);
  const as = Object.fromEntries(users.map(([role, account]) => [role, basicAuth(account)])) as Record<Role, string>;
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

  const secrets = users.flatMap(([, { password, applicationPassword }]) => [password, applicationPassword]);
  const headers = Object.values(as).map((header) => header.slice('Basic '.length));
  writeFixture(scenario.name, recorder.recorded, [...secrets, ...headers]);
}

/** Throws if the recording holds a secret. */
function writeFixture(name: string, recorded: readonly RecordedExchange[], secrets: readonly string[]): void {
  const text = `${JSON.stringify(recorded, null, 1)}\n`;
  if (secrets.some((secret) => text.includes(secret))) throw new Error(`the recording of ${name} holds a secret`);
  writeFileSync(join(FIXTURES, `${name}.json`), text);
  process.stderr.write(`record: ${name}: ${recorded.length} exchanges\n`);
}

/** Records the contract of a CMS (test/cms/contract.ts) with a new Payload. Throws if a promise is broken. */
const recordPayload = (): Promise<void> =>
  withPayload(async ({ url, credentials }) => {
    const recorder = createRecorder(url);
    const keys = { admin: credentials.admin.apiKey, subscriber: credentials.subscriber.apiKey };
    const results = await checkContract(livePayload(url, keys, recorder.dispatcher));
    await recorder.close();
    for (const [n, error] of results.entries()) if (error) throw new Error(`${PROMISES[n]!.name}: ${error.message}`);
    const secrets = Object.values(credentials).flatMap(({ apiKey, password }) => [apiKey, password]);
    writeFixture(PAYLOAD_CONTRACT, recorder.recorded, secrets);
  });

async function main(): Promise<void> {
  const known = [...SCENARIO_NAMES, PAYLOAD_CONTRACT];
  const named = scriptWords(
    `npm run record [-- SCENARIO...]

Runs the scenarios of test/record/scenarios (or those that are named) against a new WordPress, and ${PAYLOAD_CONTRACT} against a new
Payload, and writes their responses to test/fixtures. The first run downloads both (64 and 350 MB).`,
    known,
  );
  const names = named.length === 0 ? known : named;
  if (names.includes(PAYLOAD_CONTRACT)) await recordPayload();
  const ofWordPress = SCENARIO_NAMES.filter((name) => names.includes(name));
  if (ofWordPress.length > 0) await recordWordPress(await loadScenarios(ofWordPress));
}

async function recordWordPress(scenarios: readonly Scenario[]): Promise<void> {
  const plugin = companionPlugin(loadMapping('wordpress-meta'));
  const muPlugins = { 'calendar-gateway-companion.php': plugin };
  await withSandbox({ mapping: false, muPlugins }, async (sandbox) => {
    for (const scenario of scenarios) await recordScenario(scenario, sandbox);
  });
}

await main();
