// Scripts for developers explain themselves: --help, and one line for a mistake in the command line.

import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect } from 'chai';

const ROOT = resolve(import.meta.dirname, '..');

const run = (...args: string[]) =>
  spawnSync(process.execPath, [join(ROOT, 'test/cms/contract-table.ts'), ...args], { encoding: 'utf8' });

describe('a script for developers', () => {
  it('prints what it does, and each option, for --help', () => {
    const { status, stdout, stderr } = run('--help');
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.match(/^npm run test:contract -- \[options\]\n\nChecks what /);
    expect(stdout).to.match(/^ {2}--in-memory {2}only the fake CMS /m);
  });

  it('names an unknown option in one line, which points to --help', () => {
    const { status, stdout, stderr } = run('--nope');
    expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.equal("command line: Unknown option '--nope'. Try --help.\n");
  });

  it('says which names it takes, and names one that it does not', () => {
    const script = join(ROOT, 'test/live/sites/transcripts.ts');
    const ask = (word: string) => spawnSync(process.execPath, [script, word], { encoding: 'utf8' });
    expect(ask('--help').stdout)
      .to.match(/^npm run transcripts \[-- MAPPING\.\.\.\]\n/)
      .and.to.contain('\ngatherpress\n');
    const { status, stderr } = ask('nope');
    expect(stderr).to.match(/^there is no nope\. The names are: acf, /);
    expect(status).to.equal(2);
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
