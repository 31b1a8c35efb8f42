// `node test/size.ts`: the size of each room of src beside its ceiling, in lines of TypeScript with comments and blank
// lines. Exits with 1 if one is larger.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SRC = join(import.meta.dirname, '../src');

/**
 * Of the rooms without `ADDITIONS`, and of all together. Before you raise one, look for what can go. A further CMS is an
 * addition of its own.
 */
const CEILINGS = {
  'cli/': 3800,
  'calendar/': 4400,
  'http/': 4000,
  'cms/': 3300,
  'store/': 2100,
  'sync/': 2300,
  'mapping/': 2700,
  'cluster/': 500,
  'interface/': 2300,
  '': 28_000,
} as const;

/** What was added, each a folder or a file of its own. Other calendars as sources of events are in several rooms. */
const ADDITIONS = {
  'model/event-state.ts': 40,
  'text/cost.ts': 250,
  'text/currencies.ts': 40,
  'http/pages/calendar-links.ts': 65,
  'http/pages/error-pages.ts': 45,
  'http/pages/further-links.ts': 50,
  'http/pages/json-ld-template.ts': 110,
  'http/pages/language.ts': 110,
  'http/pages/legend.ts': 30,
  'http/pages/search-engines.ts': 30,
  'http/sparse-lists.ts': 30,
  'http/unknown-parameters.ts': 20,
  'http/mcp/': 400,
  'push/': 300,
  'cms/sources/': 1100,
  'cms/none/': 60,
  'sync/sources/': 660,
  'store/source-events.ts': 100,
  'cli/check/sources.ts': 60,
  'cli/init/source.ts': 80,
  'cli/read-source.ts': 30,
} as const;

const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
const added = Object.keys(ADDITIONS);
const core = files.filter((name) => !added.some((each) => name.startsWith(each)));

function report(beginning: string, ceiling: number, names: readonly string[]): void {
  const measured = names.filter((name) => name.startsWith(beginning));
  const lines = measured.reduce((sum, name) => sum + readFileSync(join(SRC, name), 'utf8').split('\n').length - 1, 0);
  if (lines > ceiling) process.exitCode = 1;
  const name = (beginning || 'all rooms').padEnd(30);
  console.log(`${name}${String(lines).padStart(7)} of ${ceiling}${lines > ceiling ? ', too large' : ''}`);
}

console.log('rooms, without the additions');
for (const [room, ceiling] of Object.entries(CEILINGS)) report(room, ceiling, core);
console.log('additions');
for (const [addition, ceiling] of Object.entries(ADDITIONS)) report(addition, ceiling, files);
