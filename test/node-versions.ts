// `npm run test:node [-- VERSION...]`: runs the tests with the other Node versions that the gateway supports.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
/** `npm ci` deletes it with the rest of `node_modules`. */
const CACHE = join(ROOT, 'node_modules/.cache/node-versions');
/** `npm test` and CI run with Node 24. */
const DEFAULT_VERSIONS = ['22', '26'];
const CONFIGS = ['.mocharc.json', 'test/faults/.mocharc.json', 'test/process/.mocharc.json'];

interface MochaReport {
  stats: { passes: number; failures: number; duration: number };
  failures: { fullTitle: string; err: { message?: string } }[];
}

/** Installs the npm package `node@VERSION` unless it is cached; returns the path of its binary. */
function installNode(version: string): string {
  const folder = join(CACHE, version);
  const binary = join(folder, 'node_modules/node/bin/node');
  if (existsSync(binary)) return binary;
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--silent', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, `node@${version}`];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0 || !existsSync(binary)) throw new Error(`node@${version} cannot be installed from npm`);
  return binary;
}

/** Returns undefined if mocha ended before it wrote its report. */
function runMocha(binary: string, config: string, reportFile: string): MochaReport | undefined {
  const options = ['--config', config, '--exit', '--reporter', 'json', '--reporter-option', `output=${reportFile}`];
  const { stderr } = spawnSync(binary, ['node_modules/mocha/bin/mocha.js', ...options], {
    cwd: ROOT,
    env: { ...process.env, PATH: `${dirname(binary)}${delimiter}${process.env.PATH}` },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (existsSync(reportFile)) return JSON.parse(readFileSync(reportFile, 'utf8')) as MochaReport;
  console.error(stderr);
  return undefined;
}

/** Prints the counts of each mocha configuration; returns whether all tests passed. */
function testVersion(version: string): boolean {
  const binary = installNode(version);
  const name = spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout.trim();
  const folder = mkdtempSync(join(tmpdir(), 'calendar-node-'));
  let allPassed = true;
  try {
    for (const [n, config] of CONFIGS.entries()) {
      const report = runMocha(binary, config, join(folder, `${n}.json`));
      const { passes = 0, failures = 0, duration = 0 } = report?.stats ?? {};
      allPassed &&= failures === 0 && passes > 0;
      const seconds = Math.round(duration / 1000);
      console.log(`Node ${name}, ${config}: ${passes} passed, ${failures} failed, ${seconds} s`);
      for (const { fullTitle, err } of report?.failures ?? []) console.log(`  ${fullTitle}\n    ${err.message ?? ''}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
  return allPassed;
}

const versions = process.argv.length > 2 ? process.argv.slice(2) : DEFAULT_VERSIONS;
const results = versions.map(testVersion);
process.exitCode = results.every(Boolean) ? 0 : 1;
