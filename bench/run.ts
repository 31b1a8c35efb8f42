// `npm run bench`: benchmarks the gateway in front of a real WordPress against servers that
// send the same bytes.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Sandbox } from '../sandbox/start.ts';
import { scriptOptions } from '../test/script-options.ts';
import { startAgedGateway } from './aging.ts';
import { compareWithCms } from './cms-comparison.ts';
import { filledSandbox, startGateway } from './gateway.ts';
import { type Load, startLoad } from './processes.ts';
import { benchReads } from './reads.ts';
import { type Figure, flattenFigures, printFigures } from './report.ts';
import { benchWrites } from './writes.ts';

const PARTS = ['reads', 'aging', 'upstream', 'writes'];

const options = scriptOptions(
  `npm run bench -- [options]

The gateway in front of a real WordPress, beside other servers that send the same bytes. About twelve minutes on two cores, most of it
reads; one minute of it goes into filling the site. Servers run on the one core and the load generator on the other: nothing else
should run meanwhile. Prints a table; a whole run also writes bench/results/bench.json.`,
  {
    json: { type: 'string', value: 'FILE', help: 'writes the figures as flat JSON' },
    dir: { type: 'string', value: 'DIR', help: 'keeps the site there, for the next run to use, which saves a minute' },
    only: {
      type: 'string',
      value: 'PARTS',
      choices: PARTS,
      isList: true,
      default: PARTS.join(','),
      help: 'some of the parts; `aging` adds a process that has served a million requests to the turns of `reads`',
    },
    repeats: { type: 'string', value: 'N', default: '36', help: 'turns of each row that count' },
    seconds: { type: 'string', value: 'S', default: '0.4', help: 'how long each turn lasts' },
  },
);

const ROOT = resolve(import.meta.dirname, '..');
const RESULTS = resolve(import.meta.dirname, 'results');
const log = (text: string): void => void process.stderr.write(`bench: ${text}\n`);
const only = new Set(options.only.split(','));
const settings = { repeats: Number(options.repeats), seconds: Number(options.seconds) };

async function measureAll(dir: string, load: Load, figures: Figure[]): Promise<void> {
  execFileSync(process.execPath, [join(ROOT, 'deploy/build.ts')], { stdio: 'inherit' });
  const sandbox = await filledSandbox(dir, log);
  try {
    if (only.has('reads') || only.has('aging') || only.has('upstream')) await measureReads(sandbox, dir, load, figures);
    if (only.has('writes')) figures.push(...(await benchWrites(sandbox, dir, settings)));
  } finally {
    await sandbox.stop();
  }
}

async function measureReads(sandbox: Sandbox, dir: string, load: Load, figures: Figure[]): Promise<void> {
  const aged = only.has('aging') ? await startAgedGateway(load, sandbox, dir, log) : undefined;
  try {
    const gateway = await startGateway(sandbox, dir, 'gateway');
    try {
      if (only.has('reads') || aged) {
        figures.push(...(await benchReads(load, gateway, aged, dir, settings)));
        log('reads done');
      }
      if (only.has('upstream')) {
        figures.push(...(await compareWithCms(load, gateway, sandbox, settings)));
        log('comparison with the CMS done');
      }
    } finally {
      await gateway.stop();
    }
  } finally {
    await aged?.stop();
  }
}

const dir = options.dir === undefined ? mkdtempSync(join(tmpdir(), 'calendar-bench-')) : resolve(options.dir);
mkdirSync(dir, { recursive: true });
const startMs = performance.now();
const load = startLoad();
const figures: Figure[] = [];
try {
  await measureAll(dir, load, figures);
  log(`took ${((performance.now() - startMs) / 60_000).toFixed(1)} minutes`);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(flattenFigures(figures), null, 2)}\n`);
  if (only.size === PARTS.length) {
    mkdirSync(RESULTS, { recursive: true });
    writeFileSync(join(RESULTS, 'bench.json'), `${JSON.stringify(flattenFigures(figures), null, 2)}\n`);
  }
} finally {
  // After a failed run, the partial results.
  if (figures.length > 0) printFigures(figures);
  await load.stop();
  if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
}
