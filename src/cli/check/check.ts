// The `check` command: runs the checks of a configuration, its mapping and its site, and prints their findings.

import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { NO_CMS, siteWithoutCms } from '../../cms/none/none.ts';
import { loadConfig } from '../../config.ts';
import type { Config } from '../../config-schema.ts';
import { loadMapping } from '../../mapping/load.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import type { CmsName } from '../../mapping/mapping-file.ts';
import { KINDS, type Kind } from '../../model/records.ts';
import { programName, siteError } from '../advice.ts';
import { readSamples, readSite, type SiteSamples } from '../open-site.ts';
import { SITE_PLUGINS } from '../plugin/companion-plugin.ts';
import { columns, printable } from '../table.ts';
import { type Check, type CheckContext, type CheckRow, type Finding, type FindingState, ok, warn } from './checks.ts';
import { openPayloadChecks } from './payload.ts';
import { checkAccount, checkFields, checkLists, checkSeries, checkSite } from './reads.ts';
import { checkSources } from './sources.ts';
import { checkWebhooks, listenForWebhooks } from './webhooks.ts';
import { openWordPressChecks } from './wordpress.ts';
import { checkWrites } from './writes.ts';

/** Each opens the site of a configuration, and has the checks and the advice of its CMS alone. */
const OPENERS = { wordpress: openWordPressChecks, payload: openPayloadChecks };

/** In the order in which they run and are shown. */
const CHECKS: readonly (readonly [area: string, run: Check])[] = [
  ['site', checkSite],
  ['account', checkAccount],
  ['lists', checkLists],
  ['lists', checkSeries],
  ['collections', async (context) => (await context.checkCollections?.(context.kindMappings)) ?? []],
  ...KINDS.map((kind) => [`${kind} fields`, (context: CheckContext) => checkFields(context, kind)] as const),
  ['sources', checkSources],
  ['writes', checkWrites],
  ['gateway', checkWebhooks],
];

type Wait = (ms: number) => Promise<unknown>;

/**
 * @param wait pauses between two checks for a webhook
 * @returns the exit code. Throws `ConfigError` when the checks cannot run.
 */
export async function check(
  { config: file, write = false, json = false }: { config?: string; write?: boolean | undefined; json?: boolean },
  print: (text: string) => void = (text) => void process.stdout.write(text),
  wait: Wait = sleep,
): Promise<number> {
  const unknownVariables: Finding[] = [];
  const warnOf = (message: string) => void unknownVariables.push(warn('variables', message, VARIABLES_ADVICE));
  const config = loadConfig({ file, env: process.env, warn: warnOf });
  const checked =
    config.upstream.url === undefined ? await checkSourcesAlone(config) : await checkAll(config, file, write, wait);
  const rows = [...inArea('settings', unknownVariables), ...checked];
  const count = (state: FindingState): number => rows.filter((row) => row.state === state).length;
  const counts = { ok: count('ok'), warn: count('warn'), fail: count('fail') };
  if (json) print(`${JSON.stringify({ ok: counts.fail === 0, counts, rows }, null, 2)}\n`);
  else print(`${tableLines(rows).join('\n')}\n\n${counts.ok} ok, ${counts.warn} warn, ${counts.fail} fail\n`);
  return counts.fail > 0 ? 1 : 0;
}

const VARIABLES_ADVICE = 'Correct their names, or remove them: docs/configuration.md lists every variable.';

const inArea = (area: string, findings: readonly Finding[]): CheckRow[] =>
  findings.map((finding) => ({ area, ...finding }));

const checkSourcesAlone = async (config: Config): Promise<CheckRow[]> => [
  ...inArea('site', [ok('address', NO_CMS)]),
  ...inArea('sources', await checkSources({ config, site: siteWithoutCms(config) })),
];

async function checkAll(config: Config, file: string | undefined, write: boolean, wait: Wait): Promise<CheckRow[]> {
  const mapping = loadMapping(config.mapping);
  const cmsChecks = OPENERS[mapping.cms](config, mapping);
  const { connection } = cmsChecks;
  const pluginAdvice = pluginAdviceFor(mapping.cms, file, config);
  // Before the first write, which makes the site send one.
  const webhooks = write ? await listenForWebhooks(config, pluginAdvice(), wait) : undefined;
  try {
    const site = await readSite(connection);
    let samples: Promise<SiteSamples> | undefined;
    const context: CheckContext = {
      ...cmsChecks,
      config,
      mapping,
      kindMappings: Object.values(mapping.kinds) as KindMapping<Kind>[],
      site,
      samples: () => (samples ??= readSamples(connection, mapping, site)),
      pluginAdvice,
      write,
      webhooks,
    };
    const rows: CheckRow[] = [];
    for (const [area, run] of CHECKS) rows.push(...inArea(area, await run(context)));
    return rows;
  } catch (error) {
    throw siteError(error, connection.url, connection.credentials !== undefined, mapping.cms);
  } finally {
    webhooks?.close();
    await connection.close();
  }
}

/**
 * Returns a function that says how to make the plugin: `... plugin --config FILE --webhook-url URL > plugin.php`
 * @param file of the configuration, from which the command `plugin` takes the mapping and the secret
 */
function pluginAdviceFor(cms: CmsName, file: string | undefined, { mapping, listen, webhook }: Config) {
  const { title, place, fileName } = SITE_PLUGINS[cms];
  const from = file === undefined ? `--mapping ${mapping}` : `--config ${file}`;
  const secret = file === undefined ? ' --webhook-secret SECRET' : '';
  const toWebhooks = ` --webhook-url http://GATEWAY:${listen.adminPort}/-/changes${secret}`;
  // Without the address, a new plugin on a site that sends webhooks would end them.
  return (hasWebhooks = webhook.secret !== undefined): string =>
    `Make the ${title} and put it ${place}:\n` +
    `  ${programName()} plugin ${from}${hasWebhooks ? toWebhooks : ''} > ${fileName}`;
}

const COLOURS = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

/** The rows, and below a row what to do about it: of several with the same advice, below the first. */
function tableLines(rows: readonly CheckRow[]): string[] {
  const cells = rows.map(({ area, name, state, message }, index) => [
    // Plain text for a file or a pipe.
    styleText(COLOURS[state], state.padEnd(4)),
    rows[index - 1]?.area === area ? '' : area,
    name,
    printable(message),
  ]);
  const advised = new Map<string, string>();
  return columns(cells).flatMap((line, index) => {
    const { area, name, advice } = rows[index]!;
    if (advice === undefined) return [line];
    const earlier = advised.get(advice);
    if (earlier === undefined) advised.set(advice, `${area} ${name}`);
    const text = earlier === undefined ? printable(advice) : `As for ${earlier}.`;
    return [line, ...text.split('\n').map((each) => `      ${each}`)];
  });
}
