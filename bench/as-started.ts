// How `npm start` starts Node: what is measured runs with the same flags.

import { readFileSync } from 'node:fs';

/** Node's flags of the start script, in its order. */
export function nodeFlags(): string[] {
  const { scripts } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
    scripts: { start: string };
  };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}
