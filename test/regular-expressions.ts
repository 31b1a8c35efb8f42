// `node test/regular-expressions.ts`: every regular expression of the sources takes linear time for every text.

import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';

// The other backends are native programs for some platforms only.
process.env.RECHECK_BACKEND = 'pure';
const { checkSync } = await import('recheck');

const SOURCES = join(import.meta.dirname, '../src');
/** For one expression. */
const TIMEOUT_MS = 60_000;

interface Expression {
  source: string;
  flags: string;
  location: string;
}

/** The literals, and the locations of expressions that are created at runtime. */
function collectFromSources(): { literals: Expression[]; dynamicLocations: string[] } {
  const literals: Expression[] = [];
  const dynamicLocations: string[] = [];
  for (const file of readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).sort()) {
    if (file.endsWith('.json')) {
      // ajv creates expressions from the patterns of JSON Schemas.
      const text = readFileSync(join(SOURCES, file), 'utf8');
      for (const [, pattern = '""'] of text.matchAll(/"pattern": ("(?:[^"\\]|\\.)*")/g))
        literals.push({ source: JSON.parse(pattern) as string, flags: 'u', location: file });
    }
    if (!/\.(ts|mjs)$/.test(file)) continue;
    const tree = parse(readFileSync(join(SOURCES, file), 'utf8'), {
      sourceType: 'module',
      plugins: file.endsWith('.ts') ? ['typescript'] : [],
    });
    visit(tree, (node) => {
      const location = `${file}:${node.loc?.start.line}`;
      if (node.type === 'RegExpLiteral') literals.push({ source: node.pattern!, flags: node.flags!, location });
      else if (/^(New|Call)Expression$/.test(node.type) && node.callee?.name === 'RegExp')
        dynamicLocations.push(location);
    });
  }
  return { literals, dynamicLocations };
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

/** The expressions that the sources create at runtime while `run` runs. */
async function collectWhile(run: () => Promise<void>): Promise<Expression[]> {
  const created: Expression[] = [];
  const { RegExp: original } = globalThis;
  const record = (target: typeof RegExp, args: [string | RegExp, string?]): RegExp => {
    const expression = new target(...args);
    const line = new Error().stack
      ?.split('\n')
      .find((frame) => frame.includes('/src/') && !frame.includes('/node_modules/'));
    const [, url = '', lineNumber = ''] = /(file:[^)]*?):(\d+):\d+\)?$/.exec(line ?? '') ?? [];
    if (url !== '') {
      const location = `${relative(SOURCES, fileURLToPath(url))}:${lineNumber}`;
      created.push({ source: expression.source, flags: expression.flags, location });
    }
    return expression;
  };
  globalThis.RegExp = new Proxy(original, {
    construct: (target, args) => record(target, args as [string]),
    apply: (target, _, args) => record(target, args as [string]),
  });
  try {
    await run();
  } finally {
    globalThis.RegExp = original;
  }
  return created;
}

/** Runs all code that creates expressions at runtime, with the most complex input. */
async function runSamples(): Promise<void> {
  await import('../src/http/endpoints.ts');
  await import('../src/cluster/cluster.ts');
  await import('../src/text/cost.ts');
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
    const parsed = parseDateFormat(format);
    if (typeof parsed === 'string') throw new Error(`${format}: ${parsed}`);
  }
}

const { literals, dynamicLocations } = collectFromSources();
const created = await collectWhile(runSamples);
const unchecked = dynamicLocations.filter(
  (location) => !created.some((expression) => expression.location === location),
);
for (const location of unchecked) console.error(`not checked  ${location}: no sample creates this expression`);

const unique = new Map(
  [...literals, ...created].map((expression) => [`/${expression.source}/${expression.flags}`, expression]),
);
let failures = unchecked.length;
for (const [text, { source, flags, location }] of unique) {
  const result = checkSync(source, flags, { timeout: TIMEOUT_MS });
  if (result.status === 'safe') continue;
  failures += 1;
  const reason =
    result.status === 'vulnerable'
      ? `${result.complexity.summary}, for example ${result.attack.pattern}`
      : result.error.kind;
  console.error(`${result.status.padEnd(11)}  ${location}: ${text}: ${reason}`);
}
console.log(
  `${unique.size} expressions in ${literals.length + dynamicLocations.length} locations, ${failures} not proven safe`,
);
process.exitCode = failures === 0 ? 0 : 1;
