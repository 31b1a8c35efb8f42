// `node test/node-versions.ts [VERSION...]`: runs the tests with the other Node versions that the gateway supports, from npm.

import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { scriptWords } from './script-options.ts';

const ROOT = join(import.meta.dirname, '..');
/** `npm ci` deletes it with the rest of `node_modules`. */
const CACHE = join(ROOT, 'node_modules/.cache/node-versions');
/** `npm test` and CI run with Node 24. */
const DEFAULT_VERSIONS = ['22', '26'];
const CONFIGS = ['.mocharc.json', 'test/faults/.mocharc.json'];

/** Returns the folder of the version's `node`. */
function installNode(version: string): string {
  const folder = join(CACHE, version);
  mkdirSync(folder, { recursive: true });
  const args = ['install', '--silent', '--no-save', '--no-audit', '--no-fund', '--prefix', folder, `node@${version}`];
  const { status } = spawnSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  if (status !== 0) throw new Error(`node@${version} cannot be installed from npm`);
  return join(folder, 'node_modules/node/bin');
}

const versions = scriptWords(`node test/node-versions.ts [VERSION...]

Runs the tests with other versions of Node, which it installs from npm (default: ${DEFAULT_VERSIONS.join(' and ')}). Takes some minutes for each.`);

let failed = 0;
for (const version of versions.length > 0 ? versions : DEFAULT_VERSIONS) {
  const bin = installNode(version);
  const env = { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` };
  for (const config of CONFIGS) {
    console.log(`Node ${version}, ${config}`);
    const mocha = ['node_modules/mocha/bin/mocha.js', '--config', config, '--exit', '--fail-zero', '--reporter', 'dot'];
    const { status } = spawnSync(join(bin, 'node'), mocha, { cwd: ROOT, env, stdio: 'inherit' });
    if (status !== 0) failed += 1;
  }
}
process.exitCode = failed === 0 ? 0 : 1;
