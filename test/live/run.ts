// `npm run test:live`: starts a real WordPress and the gateway, and runs the live tests and the conformance
// set, if present.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Sandbox } from '../../sandbox/start.ts';
import { playRecordedAnswers, runNode } from '../conformance.ts';
import { scriptOptions } from '../script-options.ts';
import type { GatewayProcess } from '../start-gateway.ts';
import { withSandbox } from '../temporary-site.ts';
import differences from './differences.json' with { type: 'json' };
import { startLiveGateway } from './live-gateway.ts';

interface Counts {
  passed: number;
  failed: number;
}

const log = (text: string): void => void process.stderr.write(`live: ${text}\n`);

/** Runs these live tests; mocha writes its counts to a file. */
async function ownTests(sandbox: Sandbox, gateway: GatewayProcess, tests: string[]): Promise<Counts> {
  const dir = mkdtempSync(join(tmpdir(), 'calendar-mocha-'));
  const report = join(dir, 'report.json');
  const mocha = ['node_modules/mocha/bin/mocha.js', '--no-config', '--timeout', '60000'];
  await runNode([...mocha, '--reporter', 'json', '--reporter-option', `output=${report}`, ...tests], {
    LIVE_GATEWAY: gateway.url,
    LIVE_ADMIN: gateway.adminUrl,
    LIVE_SITE: sandbox.url,
    LIVE_USERS: JSON.stringify(sandbox.credentials),
    LIVE_DIR: sandbox.dataDir,
  });
  const { stats, failures } = JSON.parse(readFileSync(report, 'utf8'));
  rmSync(dir, { recursive: true });
  for (const failure of failures) log(`FAIL ${failure.fullTitle}: ${failure.err.message}`);
  log(`live tests: ${stats.passes} passed, ${stats.failures} failed`);
  return { passed: stats.passes, failed: stats.failures };
}

/** Plays the recorded answers. Intended differences (differences.json) do not count as failed. */
async function conformance(
  title: string,
  sandbox: Sandbox,
  gateway: GatewayProcess,
  more: string[] = [],
): Promise<Counts> {
  log(`recorded answers, ${title}`);
  const users = Object.entries(sandbox.credentials);
  const result = await playRecordedAnswers({
    base: `${gateway.url}/calendar/events/v1`,
    media: `${sandbox.url}/wp-json/wp/v2/media`,
    origin: sandbox.url,
    logins: Object.fromEntries(
      users.map(([role, account]) => [role, `${account.user}:${account.applicationPassword}`]),
    ),
    known: differences.steps,
    more,
  });
  return { passed: result?.passed ?? 0, failed: result?.unexplained.length ?? 0 };
}

const options = scriptOptions(
  `npm run test:live -- [options]

Starts a new WordPress, which the first run downloads, with gateways in front of it, and runs the live tests and then the recorded responses,
if present. Takes about five minutes with an installed PHP.`,
  {
    database: {
      type: 'string',
      value: 'KIND',
      choices: ['sqlite', 'mariadb'],
      default: 'sqlite',
      help: 'sqlite or mariadb (needs mariadb-server and php-mysql)',
    },
    grep: { type: 'string', value: 'TEXT', help: 'only live tests whose title contains it' },
  },
);
const database = options.database === 'mariadb' ? 'mariadb' : 'sqlite';
const results: Counts[] = [];

/** Runs `test` with a gateway of its own. */
async function withGateway(
  sandbox: Sandbox,
  service: boolean,
  test: (gateway: GatewayProcess) => Promise<Counts>,
): Promise<void> {
  const gateway = await startLiveGateway(sandbox, { service });
  try {
    results.push(await test(gateway));
  } finally {
    await gateway.stop();
  }
}

await withSandbox({ database }, async (sandbox) => {
  log(`WordPress (${sandbox.phpRuntime}, ${database}) at ${sandbox.url}`);
  const grep = options.grep === undefined ? [] : ['--grep', options.grep];
  // The live tests' changes to the site itself, such as its time zone, affect only the second gateway.
  await withGateway(sandbox, true, (gateway) => ownTests(sandbox, gateway, [...grep, 'test/live/**/*.test.ts']));
  await withGateway(sandbox, true, async (gateway) => {
    const first = await conformance('with a service account', sandbox, gateway);
    const second = await conformance('a second time on the same site', sandbox, gateway, ['--shuffle', '11']);
    return { passed: first.passed + second.passed, failed: first.failed + second.failed };
  });
  await withGateway(sandbox, false, (gateway) => conformance('without a service account', sandbox, gateway));
});
const passed = results.reduce((sum, counts) => sum + counts.passed, 0);
const failed = results.reduce((sum, counts) => sum + counts.failed, 0);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
