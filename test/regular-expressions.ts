// `npm run test:regex`: every regular expression of the sources takes time in proportion to a text's length, whatever the text.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';

// The pure checker: the others are programs of their own, for some platforms alone.
process.env.RECHECK_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const SOURCES = join(import.meta.dirname, '../src');
/** The checker is allowed this long for one expression. */
const TIMEOUT_MS = 60_000;

interface Expression {
  source: string;
  flags: string;
  place: string;
}

/** Expressions as they are written, and the places that make one when the program runs. */
function inSources(): { written: Expression[]; made: string[] } {
  const written: Expression[] = [];
  const made: string[] = [];
  for (const file of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).sort()) {
    if (file.endsWith('.json')) {
      // The patterns of JSON Schemas, which ajv makes expressions of.
      const text = readFileSync(join(SOURCES, file), 'utf8');
      for (const [, pattern = '""'] of text.matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g))
        written.push({ source: JSON.parse(pattern) as string, flags: 'u', place: file });
    }
    if (!/\.(ts|mjs)$/.test(file)) continue;
    const tree = parse(readFileSync(join(SOURCES, file), 'utf8'), {
      sourceType: 'module',
      plugins: file.endsWith('.ts') ? ['typescript'] : [],
    });
    visit(tree, (node) => {
      const place = `${file}:${node.loc?.start.line}`;
      if (node.type === 'RegExpLiteral') written.push({ source: node.pattern!, flags: node.flags!, place });
      else if (/^(New|Call)Expression$/.test(node.type) && node.callee?.name === 'RegExp') made.push(place);
    });
  }
  return { written, made };
}

interface Node {
  type: string;
  loc?: { start: { line: number } };
  pattern?: string;
  flags?: string;
  callee?: { name?: string };
}

function visit(value: unknown, see: (node: Node) => void): void {
  if (typeof value !== 'object' || value === null) return;
  if (typeof (value as Node).type === 'string') see(value as Node);
  for (const [key, child] of Object.entries(value)) if (key !== 'loc' && key !== 'tokens') visit(child, see);
}

/** What `new RegExp` made while `run` ran, by the place in the sources that asked for it. */
async function whileRunning(run: () => Promise<void>): Promise<Expression[]> {
  const found: Expression[] = [];
  const { RegExp: original } = globalThis;
  const note = (target: typeof RegExp, args: [string | RegExp, string?]): RegExp => {
    const expression = new target(...args);
    const line = new Error().stack?.split('\n').find((one) => one.includes('/src/') && !one.includes('/node_modules/'));
    const [, url = '', at = ''] = /(file:[^)]*?):(\d+):\d+\)?$/.exec(line ?? '') ?? [];
    if (url !== '') {
      const place = `${relative(SOURCES, fileURLToPath(url))}:${at}`;
      found.push({ source: expression.source, flags: expression.flags, place });
    }
    return expression;
  };
  globalThis.RegExp = new Proxy(original, {
    construct: (target, args) => note(target, args as [string]),
    apply: (target, _, args) => note(target, args as [string]),
  });
  try {
    await run();
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}

/** Loads what makes expressions when it is loaded, and calls what makes them of its input, with what the most of it can be. */
async function samples(): Promise<void> {
  await import('../src/http/routing.ts');
  await import('../src/cli/words.ts');
  const { isEntryId } = await import('../src/cluster/messages.ts');
  isEntryId('1-0');
  const { parseDateFormat } = await import('../src/mapping/date-format.ts');
  for (const format of [
    'Y-m-d H:i:s',
    'd/m/Y g:i a',
    'F j, Y h:i:s A',
    'M j y G:i',
    'Ymd\\THis',
    'jnYGis',
    'd.m.y (H.i)*+?',
  ]) {
    const read = parseDateFormat(format);
    if (typeof read === 'string') throw new Error(`${format}: ${read}`);
  }
}

const { written, made } = inSources();
const run = await whileRunning(samples);
const unseen = made.filter((place) => !run.some((one) => one.place === place));
for (const place of unseen) console.error(`not checked  ${place}: makes an expression that no sample above leads to`);

const unique = new Map([...written, ...run].map((one) => [`/${one.source}/${one.flags}`, one]));
let bad = unseen.length;
for (const [text, { source, flags, place }] of unique) {
  const found = checkSync(source, flags, { timeout: TIMEOUT_MS });
  if (found.status === 'safe') continue;
  bad += 1;
  const why =
    found.status === 'vulnerable'
      ? `${found.complexity.summary}, for example ${found.attack.pattern}`
      : found.error.kind;
  console.error(`${found.status.padEnd(11)}  ${place}: ${text}: ${why}`);
}
console.log(`${unique.size} expressions, ${written.length + made.length} places, ${bad} not shown to be safe`);
process.exitCode = bad === 0 ? 0 : 1;
