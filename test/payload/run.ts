// `npm run test:payload [-- --only changes|answers]`: a real Payload behind the gateway. Checks the types of the example site and its plugin, then
// changes, outages and crashes, then the recorded answers, if present, with the limits below.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensurePackages } from '../../sandbox/packages.ts';
import { startPayload } from '../../sandbox/payload-site.ts';
import { runChecks } from '../run-checks.ts';
import { ROOT } from '../start-gateway.ts';
import { startBasicAuthProxy } from './basic-auth-proxy.ts';
import differences from './differences.json' with { type: 'json' };
import { startPayloadGateway } from './payload-gateway.ts';

const CONFORMANCE = resolve(ROOT, '../shared/conformance/run.mjs');
const CHECK_TIMEOUT_MS = 180_000;
/** At least this share of the steps. */
const MIN_STATUS_AND_CODE = 0.98;
const MIN_WHOLE = 0.95;

const log = (text: string): void => void process.stderr.write(`payload: ${text}\n`);

async function run(command: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, command, { cwd: ROOT, stdio: 'inherit' });
  const [code] = await once(child, 'exit');
  return Number(code);
}

interface Report {
  pass: number;
  total: number;
  status_and_code: number;
  steps: { step: string; result: string }[];
}

/** Runs the recorded answers with all roles of the site and anonymously. Resolves with what is wrong. */
async function conformance(): Promise<string[]> {
  if (!existsSync(CONFORMANCE)) return [];
  const dir = mkdtempSync(join(tmpdir(), 'calendar-payload-'));
  const site = await startPayload({ dir: join(dir, 'site'), port: 0, quiet: true });
  let target = '';
  const proxy = await startBasicAuthProxy(() => target, site.url);
  const gateway = await startPayloadGateway(site, { publicUrl: proxy.url });
  target = gateway.url;
  try {
    const report = join(dir, 'report.json');
    const logins = Object.entries(site.credentials).map(([role, { apiKey }]) => `${role}=${role}:${apiKey}`);
    const auth = logins.join(',');
    const addresses = [
      '--base',
      `${proxy.url}/calendar/events/v1`,
      '--media',
      `${proxy.url}/media`,
      '--origin',
      site.url,
    ];
    await run([CONFORMANCE, ...addresses, '--auth', auth, '--quiet', '--json', report]);
    return judge(JSON.parse(readFileSync(report, 'utf8')) as Report);
  } finally {
    await gateway.stop();
    proxy.close();
    await site.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** What is below its limit, and what differs without a reason. */
function judge({ pass, total, status_and_code, steps }: Report): string[] {
  const reasons = differences.steps as Record<string, string>;
  const problems = steps
    .filter(({ step, result }) => result === 'fail' && !(step in reasons))
    .map(({ step }) => `${step} differs without a reason in differences.json`);
  for (const [name, passed, least] of [
    ['status and code', status_and_code, MIN_STATUS_AND_CODE],
    ['the whole response', pass, MIN_WHOLE],
  ] as const) {
    log(`${name} as recorded: ${passed} of ${total} steps (${((100 * passed) / total).toFixed(1)} %)`);
    if (passed / total < least) problems.push(`${name}: below ${100 * least} %`);
  }
  return problems;
}

const { only } = parseArgs({ options: { only: { type: 'string' } } }).values;
const results: boolean[] = [];
if (only !== 'answers') {
  await ensurePackages('payload', log);
  results.push((await run(['node_modules/typescript/bin/tsc', '-p', 'sandbox/payload'])) === 0);
  const files = [join(import.meta.dirname, 'sync.check.ts')];
  results.push((await runChecks(files, CHECK_TIMEOUT_MS, undefined)) === 0);
}
if (only !== 'changes') {
  const problems = await conformance();
  for (const problem of problems) log(problem);
  results.push(problems.length === 0);
}
process.exitCode = results.every(Boolean) ? 0 : 1;
