// Scripts for developers explain themselves: --help, and one line for a mistake in the command line.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '../..');

const runScript = (script: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, script), ...args], { encoding: 'utf8' });
const run = (...args: string[]) => runScript('test/cms/contract-table.ts', ...args);

describe('a script for developers', function () {
  // Each test starts one or two processes that import most of the gateway.
  this.timeout(60_000);

  it('prints what it does, and each option, for --help', () => {
    const { status, stdout, stderr } = run('--help');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.match(/^node test\/cms\/contract-table\.ts \[options\]\n\nChecks what /);
    expect(stdout).to.match(/^ {2}--in-memory {2}only the fake CMS /m);
  });

  it('names an unknown option in one line, which points to --help', () => {
    const { status, stdout, stderr } = run('--nope');
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.equal("command line: Unknown option '--nope'. Try --help.\n");
  });

  for (const [script, option, value, message] of [
    ['test/load/abuse.ts', 'stall-ms', '-1', '--stall-ms takes a number, not "-1". Try --help.\n'],
    ['bench/run.ts', 'only', 'reads,x', '--only takes reads, aging, upstream, writes, not "x". Try --help.\n'],
  ] as const)
    it(`names the value of --${option} that ${script} does not take`, () => {
      const { status, stdout, stderr } = runScript(script, `--${option}=${value}`);
      expect({ status, stdout, stderr }).to.deep.equal({ status: 2, stdout: '', stderr: message });
    });

  it('leaves its command line to scriptOptions', () => {
    const sources = ['bench', 'test'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
        .map((name) => join(folder, name)),
    );
    const own = sources.filter((file) => /import \{[^}]*\bparseArgs\b/.test(readFileSync(join(ROOT, file), 'utf8')));
    expect(sources).to.include('bench/run.ts');
    expect(own).to.deep.equal([]);
  });
});
