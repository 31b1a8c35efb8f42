// The mapping in docs/mapping.md, as a file.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../../start-gateway.ts';

/** The name of the mapping, and of its site in `sandbox/sites/`. */
export const DOCUMENTED_MAPPING = 'gigs';

/** Writes the mapping of the page to a file and returns its path. */
export function writeDocumentedMapping(): string {
  const page = readFileSync(join(ROOT, 'docs/mapping.md'), 'utf8');
  const block = /^```json mapping\n([\s\S]*?)^```$/m.exec(page)?.[1];
  if (block === undefined) throw new Error('docs/mapping.md has no block "json mapping"');
  const file = join(mkdtempSync(join(tmpdir(), 'calendar-mapping-')), `${DOCUMENTED_MAPPING}.json`);
  writeFileSync(file, block);
  return file;
}
