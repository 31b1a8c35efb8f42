// `npm run bench -- [--json FILE]`: the gateway in front of a real WordPress, measured beside others that send the same bytes.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { crowds } from './crowds.ts';
import { many } from './many.ts';
import { type Load, startLoad } from './processes.ts';
import { reads } from './reads.ts';
import { type Figure, flat, picture, table } from './report.ts';
import { filledSandbox, startGateway } from './site.ts';
import { upstream } from './upstream.ts';
import { writes } from './writes.ts';

const PARTS = ['reads', 'many', 'upstream', 'writes', 'crowds'];

const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    /** Keeps the site of the last run: a minute saved. */
    dir: { type: 'string' },
    repeats: { type: 'string', default: '36' },
    seconds: { type: 'string', default: '0.4' },
    only: { type: 'string', default: PARTS.join(',') },
    help: { type: 'boolean', short: 'h' },
  },
});

const HELP = `npm run bench -- [options]

The gateway in front of a real WordPress, beside other servers that send the same bytes. About eight minutes on two cores, most of it
reads; one minute of it goes into filling the site. Servers run on the one core and the load generator on the other: nothing else
should run meanwhile. Prints a table; a whole run also writes bench/results/bench.json and bench/results/bench.svg.

  --json FILE     the figures as flat JSON
  --dir DIR       keeps the site there, for the next run to use
  --only PARTS    of ${PARTS.join(',')}
  --repeats N     turns of each row that count (36); --seconds S: how long each lasts (0.4)
`;
if (options.help) {
  console.log(HELP);
  process.exit(0);
}

const ROOT = resolve(import.meta.dirname, '..');
const RESULTS = resolve(import.meta.dirname, 'results');
const say = (text: string): void => void process.stderr.write(`bench: ${text}\n`);
const only = new Set(options.only.split(','));
const settings = { repeats: Number(options.repeats), seconds: Number(options.seconds) };

async function measureAll(dir: string, load: Load, figures: Figure[]): Promise<void> {
  execFileSync(process.execPath, [join(ROOT, 'deploy/build.ts')], { stdio: 'inherit' });
  const sandbox = await filledSandbox(dir, say);
  try {
    const gateway = await startGateway(sandbox, dir, 'gateway');
    try {
      if (only.has('reads')) figures.push(...(await reads(load, gateway, dir, settings)));
      say('reads done');
      if (only.has('many')) figures.push(...(await many(load, gateway, dir)));
      say('lists done');
      if (only.has('upstream')) figures.push(...(await upstream(load, gateway, sandbox, settings)));
    } finally {
      await gateway.stop();
    }
    say('the site itself done');
    if (only.has('writes')) figures.push(...(await writes(sandbox, dir, settings)));
    say('writes done');
    if (only.has('crowds')) figures.push(...(await crowds(load, sandbox, dir)));
  } finally {
    await sandbox.stop();
  }
}

const dir = options.dir === undefined ? mkdtempSync(join(tmpdir(), 'calendar-bench-')) : resolve(options.dir);
mkdirSync(dir, { recursive: true });
const begun = performance.now();
const load = startLoad();
const figures: Figure[] = [];
try {
  await measureAll(dir, load, figures);
  say(`took ${((performance.now() - begun) / 60_000).toFixed(1)} minutes`);
  if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(flat(figures), null, 2)}\n`);
  if (only.size === PARTS.length) {
    mkdirSync(RESULTS, { recursive: true });
    writeFileSync(join(RESULTS, 'bench.svg'), picture(figures));
    writeFileSync(join(RESULTS, 'bench.json'), `${JSON.stringify(flat(figures), null, 2)}\n`);
  }
} finally {
  // Of a run that fails, what there is.
  if (figures.length > 0) console.log(table(figures));
  await load.stop();
  if (options.dir === undefined) rmSync(dir, { recursive: true, force: true });
}
