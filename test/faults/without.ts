// `node test/faults/without.ts [PART OF A NAME]`: takes each protecting line out of a copy of the gateway, and says whether its test fails then.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { CLUSTER_PROTECTIONS } from '../cluster/protections.ts';
import { PROTECTIONS, type Protection } from './protections.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const MOCHA = 'node_modules/mocha/bin/mocha.js';
const LONGEST_MS = 90_000;
const PARTS = ['src', 'test', 'config', 'mappings', 'docs', 'README.md', 'package.json', 'tsconfig.json'];

const dir = mkdtempSync(join(tmpdir(), 'calendar-without-'));
for (const part of PARTS) cpSync(join(ROOT, part), join(dir, part), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(dir, 'node_modules'));

interface Ran {
  passed: boolean;
  /** Title of the first test that failed. */
  first: string;
}

/** Runs tests of the copy. What neither passes nor fails in good time has failed. */
async function run({ test, title }: Pick<Protection, 'test' | 'title'>): Promise<Ran> {
  const grep = title === undefined ? [] : ['--fgrep', title];
  const args = [MOCHA, '--no-config', '--exit', '--bail', '--timeout', '10000', '--reporter', 'tap', ...grep, test];
  const child = spawn(process.execPath, args, { cwd: dir, stdio: ['ignore', 'pipe', 'pipe'] });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => said.push(String(chunk)));
  const timer = setTimeout(() => child.kill('SIGKILL'), LONGEST_MS);
  const [code] = await once(child, 'close');
  clearTimeout(timer);
  const text = said.join('');
  const first = /^not ok \d+ (.*)$/m.exec(text)?.[1] ?? (code === null ? 'no end' : (text.split('\n')[0] ?? ''));
  return { passed: code === 0 && /^ok /m.test(text), first };
}

const wanted = [...PROTECTIONS, ...CLUSTER_PROTECTIONS].filter(({ what }) => what.includes(process.argv[2] ?? ''));
const whole = new Map<string, boolean>();
let unseen = 0;
try {
  for (const one of wanted) {
    const place = join(dir, one.file);
    const before = readFileSync(place, 'utf8');
    const key = `${one.test} ${one.title ?? ''}`;
    const passes = whole.get(key) ?? (await run(one)).passed;
    whole.set(key, passes);
    const parts = before.split(one.line);
    let verdict = 'NO SUCH LINE';
    if (!passes) verdict = 'FAILS WITH IT';
    else if (parts.length === 2) {
      writeFileSync(place, parts.join(one.without ?? ''));
      const { passed, first } = await run(one);
      writeFileSync(place, before);
      verdict = passed ? 'NOT SEEN' : `seen by: ${first}`;
    }
    if (!verdict.startsWith('seen')) unseen += 1;
    console.log(`${one.what} | ${one.file} | ${verdict}`);
  }
} finally {
  rmSync(dir, { recursive: true });
}
console.log(`${wanted.length - unseen} seen, ${unseen} not`);
process.exitCode = unseen === 0 ? 0 : 1;
