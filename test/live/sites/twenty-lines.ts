// The mapping of twenty lines that docs/mapping.md shows, as a file.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../gateway-process.ts';

/** Its name, and that of its site in `sandbox/sites/`. */
export const TWENTY_LINES = 'gigs';

/** The path of a file that holds the very block of the page. Throws when there is none. */
export function twentyLines(): string {
  const page = readFileSync(join(ROOT, 'docs/mapping.md'), 'utf8');
  const block = /^```json mapping\n([\s\S]*?)^```$/m.exec(page)?.[1];
  if (block === undefined) throw new Error('docs/mapping.md shows no mapping');
  const file = join(mkdtempSync(join(tmpdir(), 'calendar-mapping-')), `${TWENTY_LINES}.json`);
  writeFileSync(file, block);
  return file;
}
