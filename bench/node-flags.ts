// Node's flags in `npm start`, so that benchmarks run with the same ones.

import { readFileSync } from 'node:fs';

/** Returns Node's flags of the start script, in order. */
export function nodeFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    scripts: { start: string };
  };
  return scripts.start.split(' ').filter((argument) => argument.startsWith('--'));
}
