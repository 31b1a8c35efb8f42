// `npm run test:plugins`: the gateway in front of real event plugins, judged by the plugins.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createResults } from '../live/sites/results.ts';
import { scriptOptions } from '../script-options.ts';
import { type StartedSite, startPluginSite } from './plugin-site.ts';
import { type Checks, COLUMNS, type Column, type PluginTest, type SiteOptions } from './plugin-test.ts';

interface TableRow {
  site: string;
  cells: Record<Column, string>;
}

const HERE = import.meta.dirname;
const DEFAULT_SITE: SiteOptions = { name: 'block theme', theme: 'block' };
/** Only a webhook can bring a change in time. */
const NO_POLLS_S = 3600;

/** Slugs of the plugins that have a module. */
const slugs = readdirSync(HERE).flatMap((name) => (name.endsWith('.php') ? name.slice(0, -'.php'.length) : []));

/** Other repositories than the mirror's. */
const REPOSITORIES: Readonly<Record<string, string>> = {
  gatherpress: 'GatherPress/gatherpress',
  'modern-events-calendar-lite': 'webnuswp/modern-events-calendar-lite',
};
const repositoryOf = (slug: string): string => REPOSITORIES[slug] ?? `WordPressBugBounty/plugins-${slug}`;

/** To be stopped if the run is interrupted. */
let current: StartedSite | undefined;
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void Promise.resolve(current?.close()).finally(() => process.exit(1)));

/** `the-events-calendar 6.17.2`, with the version in the plugin's header. */
function versionedName(source: string, slug: string): string {
  for (const file of readdirSync(source).filter((name) => name.endsWith('.php'))) {
    const header = readFileSync(join(source, file), 'utf8').slice(0, 8192);
    const version = /^[\s*#@]*Version:\s*(\S+)/im.exec(header)?.[1];
    if (/Plugin Name:/i.test(header) && version !== undefined) return `${slug} ${version}`;
  }
  return slug;
}

/** The checks that hold for every plugin, by column. */
function generalChecks({ mapping }: PluginTest): Partial<Record<Column, Checks>> {
  if (mapping === undefined)
    return {
      recognised: {
        async 'init refuses the site'({ init }) {
          if (init.code !== 1) throw new Error(`init ends with ${init.code}: ${init.text}`);
        },
      },
    };
  return {
    recognised: {
      async 'init recognizes the site'({ init }) {
        if (init.code !== 0 || !new RegExp(`^Mapping +${mapping},`, 'm').test(init.text))
          throw new Error(`init ends with ${init.code}: ${init.text}`);
      },
    },
    read: {
      async 'check finds no failure'({ check }) {
        const rows = check?.code === 2 ? undefined : (JSON.parse(check?.text ?? '{}').rows as { state: string }[]);
        const failed = rows?.filter(({ state }) => state === 'fail');
        if (failed?.length !== 0) throw new Error(`check: ${JSON.stringify(failed ?? check?.text)}`);
      },
    },
  };
}

/** Runs the checks of one site. Resolves with its row of the table. */
async function testSite(
  source: string,
  slug: string,
  plugin: PluginTest,
  options: SiteOptions,
  notes: string[],
): Promise<TableRow> {
  const site = `${versionedName(source, slug)}, ${options.name}`;
  process.stderr.write(`${site} ...\n`);
  const cells = Object.fromEntries(COLUMNS.map((column) => [column, 'not run'])) as Record<Column, string>;
  const started = await startPluginSite(source, slug, plugin, options, join(HERE, `${slug}.php`)).catch((error) => {
    process.stderr.write(`FAIL ${site}: ${error instanceof Error ? error.stack : String(error)}\n`);
    return undefined;
  });
  if (started === undefined) return { site, cells: { ...cells, recognised: 'FAIL' } };
  current = started;
  try {
    const general = generalChecks(plugin);
    // The gateway of the last column does not poll.
    for (const column of [...COLUMNS.filter((each) => each !== 'webhook'), 'webhook'] as const) {
      const own = plugin.columns[column];
      const checks: Checks = { ...general[column], ...(typeof own === 'string' ? {} : own) };
      if (typeof own === 'string') notes.push(`${site}, ${column}: n.a.: ${own}`);
      if (column === 'webhook' && typeof own !== 'string') await started.restartGateway(NO_POLLS_S);
      const results = createResults(`${site}, ${column}`);
      for (const [title, run] of Object.entries(checks)) await results.check(title, () => run(started));
      if (results.failed > 0) cells[column] = `FAIL (${results.failed} of ${results.failed + results.passed})`;
      else if (results.passed > 0) cells[column] = `ok (${results.passed})`;
      else cells[column] = typeof own === 'string' ? 'n.a.' : 'no test';
      passed += results.passed;
      failed += results.failed;
      if (column === 'recognised' && results.failed > 0) break;
    }
  } catch (error) {
    failed += 1;
    process.stderr.write(`FAIL ${site}: ${error instanceof Error ? error.stack : String(error)}\n`);
  } finally {
    current = undefined;
    await started.close();
  }
  return { site, cells };
}

const options = scriptOptions(
  `npm run test:plugins -- --sources DIR [options]

Starts a WordPress for each real event plugin, lets init, check and a gateway work on it, and compares what they do with what the plugin does.
Needs an installed PHP and the sources of the plugins: a run without them lists their repositories. Takes about a minute for each plugin.`,
  {
    sources: { type: 'string', value: 'DIR', help: "the plugins' sources, each in the folder DIR/SLUG" },
    only: {
      type: 'string',
      value: 'SLUGS',
      choices: slugs,
      isList: true,
      help: `some of ${slugs.join(',')} (default: all)`,
    },
  },
);
const only = options.only?.split(',') ?? slugs;
const folderOf = (slug: string): string => join(resolve(options.sources ?? '.'), slug);
/** The mirror's repositories have the plugin in a folder of its name. */
const sourceOf = (slug: string): string => [join(folderOf(slug), slug)].find(existsSync) ?? folderOf(slug);
const missing = only.filter((slug) => options.sources === undefined || !existsSync(sourceOf(slug)));
if (missing.length > 0) {
  console.log(
    'These plugins are not in --sources DIR. Fetch their repositories from GitHub, each into the folder DIR/NAME:',
  );
  for (const slug of missing) console.log(`  ${slug}: ${repositoryOf(slug)}`);
}

let passed = 0;
let failed = 0;
const rows: TableRow[] = [];
const notes: string[] = [];
for (const slug of only.filter((each) => !missing.includes(each))) {
  const { plugin } = (await import(`./${slug}.ts`)) as { plugin: PluginTest };
  for (const options of plugin.sites ?? [DEFAULT_SITE]) {
    const row = await testSite(sourceOf(slug), slug, plugin, options, notes);
    rows.push(row);
    if (Object.values(row.cells).includes('not run')) failed += 1;
  }
}
if (rows.length > 0) console.table(rows.map(({ site, cells }) => ({ plugin: site, ...cells })));
for (const note of notes) console.log(note);
console.log(rows.length === 0 ? '0 tests were run' : `${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 ? 1 : 0;
