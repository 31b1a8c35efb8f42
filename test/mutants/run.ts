// `node test/mutants/run.ts [PART OF A NAME]`: applies each mutant to a copy of the gateway and checks
// that its test fails.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { applyMutant, ROOT } from './apply.ts';
import type { Mutant } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

const MOCHA = 'node_modules/mocha/bin/mocha.js';
const TIMEOUT_MS = 90_000;
const PARTS = ['src', 'test', 'config', 'mappings', 'docs', 'README.md', 'package.json', 'tsconfig.json'];

const dir = mkdtempSync(join(tmpdir(), 'calendar-mutants-'));
for (const part of PARTS) cpSync(join(ROOT, part), join(dir, part), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));

interface TestRun {
  passed: boolean;
  /** Title of the first test that failed. */
  firstFailure: string;
}

/** Runs tests in the copy. A timeout counts as a failure. */
async function run({ test, title }: Pick<Mutant, 'test' | 'title'>): Promise<TestRun> {
  const grep = title === undefined ? [] : ['--fgrep', title];
  const args = [MOCHA, '--no-config', '--exit', '--bail', '--timeout', '10000', '--reporter', 'tap', ...grep, test];
  const child = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
  const output: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => output.push(String(chunk)));
  const timer = setTimeout(() => child.kill('SIGKILL'), TIMEOUT_MS);
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  const text = output.join('');
  const firstFailure = /^not ok \d+ (.*)$/m.exec(text)?.[1] ?? (code === null ? 'no end' : (text.split('\n')[0] ?? ''));
  return { passed: code === 0 && /^ok /m.test(text), firstFailure };
}

const selected = MUTANTS.filter(({ what }) => what.includes(process.argv[2] ?? ''));
const passing = new Map<string, boolean>();
let surviving = 0;
try {
  for (const mutant of selected) {
    const path = join(dir, mutant.file);
    const before = readFileSync(path, 'utf8');
    const key = `${mutant.test} ${mutant.title ?? ''}`;
    const passes = passing.get(key) ?? (await run(mutant)).passed;
    passing.set(key, passes);
    let verdict = 'FAILS WITHOUT A MUTANT';
    if (passes) {
      writeFileSync(path, applyMutant(mutant, dir));
      const { passed, firstFailure } = await run(mutant);
      writeFileSync(path, before);
      verdict = passed ? 'SURVIVES' : `killed by: ${firstFailure}`;
    }
    if (!verdict.startsWith('killed')) surviving += 1;
    console.log(`${mutant.what} | ${mutant.file} | ${verdict}`);
  }
} finally {
  rmSync(dir, { recursive: true });
}
console.log(`${selected.length - surviving} killed, ${surviving} not`);
process.exitCode = surviving === 0 ? 0 : 1;
