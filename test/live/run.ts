// `npm run test:live`: starts a real WordPress and the gateway, and runs the live tests and the conformance
// set, if present.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Sandbox, startSandbox } from '../../sandbox/start.ts';
import { type GatewayProcess, ROOT } from '../start-gateway.ts';
import differences from './differences.json' with { type: 'json' };
import { startLiveGateway } from './live-gateway.ts';

const FRESHNESS = ['test/live/freshness.test.ts', 'test/live/mass-edits.test.ts'];
const CONFORMANCE = resolve(ROOT, '../shared/conformance/run.mjs');

interface Tally {
  passed: number;
  failed: number;
}

const log = (text: string): void => void process.stderr.write(`live: ${text}\n`);

async function run(command: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = await once(child, 'exit');
  return Number(code);
}

/** Runs the live tests; mocha writes its counts to a file. */
async function ownTests(
  sandbox: Sandbox,
  gateway: GatewayProcess,
  files: string[],
  grep: string | undefined,
): Promise<Tally> {
  const report = join(mkdtempSync(join(tmpdir(), 'calendar-mocha-')), 'report.json');
  const mocha = join(ROOT, 'node_modules/mocha/bin/mocha.js');
  const environment = {
    LIVE_GATEWAY: gateway.url,
    LIVE_ADMIN: gateway.adminUrl,
    LIVE_SITE: sandbox.url,
    LIVE_USERS: JSON.stringify(sandbox.credentials),
    LIVE_DIR: sandbox.dataDir,
  };
  await run(
    [
      mocha,
      '--no-config',
      '--timeout',
      '60000',
      '--reporter',
      'json',
      '--reporter-option',
      `output=${report}`,
      ...(grep === undefined ? [] : ['--grep', grep]),
      ...files,
    ],
    environment,
  );
  const { stats, failures } = JSON.parse(readFileSync(report, 'utf8'));
  for (const failure of failures) log(`FAIL ${failure.fullTitle}: ${failure.err.message}`);
  log(`live tests: ${stats.passes} passed, ${stats.failures} failed`);
  return { passed: stats.passes, failed: stats.failures };
}

/** Runs the conformance set. Intended differences (differences.json) do not count as failed. */
async function conformance(
  title: string,
  sandbox: Sandbox,
  gateway: GatewayProcess,
  more: string[] = [],
): Promise<Tally> {
  if (!existsSync(CONFORMANCE)) return { passed: 0, failed: 0 };
  log(`recorded answers, ${title}`);
  const report = join(mkdtempSync(join(tmpdir(), 'calendar-conformance-')), 'report.json');
  const auth = Object.entries(sandbox.credentials).map(
    ([role, account]) => `${role}=${account.user}:${account.applicationPassword}`,
  );
  const media = ['--media', `${sandbox.url}/wp-json/wp/v2/media`, '--origin', sandbox.url];
  await run(
    [
      CONFORMANCE,
      '--base',
      `${gateway.url}/calendar/events/v1`,
      '--auth',
      auth.join(','),
      ...media,
      '--json',
      report,
      ...more,
    ],
    {},
  );
  const { steps } = JSON.parse(readFileSync(report, 'utf8')) as { steps: { step: string; result: string }[] };
  const known = differences.steps as Record<string, string>;
  const failed = steps.filter(({ step, result }) => result === 'fail' && !(step in known)).length;
  return { passed: steps.filter(({ result }) => result === 'pass').length, failed };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { database: { type: 'string', default: 'sqlite' }, grep: { type: 'string' } },
  });
  const database = values.database === 'mariadb' ? 'mariadb' : 'sqlite';
  if (values.database !== database) throw new Error(`--database is sqlite or mariadb, not "${values.database}"`);
  const dir = mkdtempSync(join(tmpdir(), 'calendar-site-'));
  const tallies: Tally[] = [];
  const sandbox = await startSandbox({ dir, port: 0, fresh: true, database });
  try {
    log(`WordPress (${sandbox.phpRuntime}, ${database}) at ${sandbox.url}`);
    // The live tests' changes to the site itself, such as its time zone, affect only the second gateway.
    const tested = await startLiveGateway(sandbox, { service: true });
    try {
      tallies.push(
        await ownTests(sandbox, tested, database === 'sqlite' ? ['test/live/**/*.test.ts'] : FRESHNESS, values.grep),
      );
    } finally {
      await tested.stop();
    }
    if (database === 'sqlite') {
      const gateway = await startLiveGateway(sandbox, { service: true });
      try {
        tallies.push(await conformance('with a service account', sandbox, gateway));
        tallies.push(await conformance('a second time on the same site', sandbox, gateway, ['--shuffle', '11']));
      } finally {
        await gateway.stop();
      }
      const bare = await startLiveGateway(sandbox, { service: false });
      try {
        tallies.push(await conformance('without a service account', sandbox, bare));
      } finally {
        await bare.stop();
      }
    }
  } finally {
    await sandbox.stop();
    rmSync(dir, { recursive: true, force: true });
  }
  const passed = tallies.reduce((sum, tally) => sum + tally.passed, 0);
  const failed = tallies.reduce((sum, tally) => sum + tally.failed, 0);
  console.log(`${passed} passed, ${failed} failed`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

process.exitCode = await main();
