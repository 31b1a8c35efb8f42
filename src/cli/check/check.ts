// The `check` command: runs the checks of a configuration, its mapping and its site, and prints their findings.

import { setTimeout as sleep } from 'node:timers/promises';
import { styleText } from 'node:util';
import { NO_CMS, siteWithoutCms } from '../../cms/none/none.ts';
import { loadConfig } from '../../config.ts';
import type { Config } from '../../config-schema.ts';
import { loadMapping } from '../../mapping/load.ts';
import type { KindMapping } from '../../mapping/mapping.ts';
import type { Kind } from '../../model/records.ts';
import { printable } from '../../text/text.ts';
import { siteError } from '../advice.ts';
import { readSamples, readSite, type Samples } from '../open-site.ts';
import { columns } from '../table.ts';
import { type Check, type CheckContext, type CheckRow, type CmsChecks, ok, type RowState } from './checks.ts';
import { openPayloadChecks } from './payload.ts';
import { FIELD_CHECKS, LIST_CHECK, SERIES_CHECK, SITE_CHECKS } from './reads.ts';
import { SOURCES_CHECK } from './sources.ts';
import { openWordPressChecks } from './wordpress.ts';
import { listenForWebhooks, WEBHOOK_CHECK, WRITE_CHECK } from './writes.ts';

const OPENERS = { wordpress: openWordPressChecks, payload: openPayloadChecks };

/** In the order in which they run and are shown. */
const checksOf = ({ listChecks = [] }: CmsChecks): Check[] => [
  ...[...SITE_CHECKS, LIST_CHECK, SERIES_CHECK, ...listChecks],
  ...[...FIELD_CHECKS, SOURCES_CHECK, WRITE_CHECK, WEBHOOK_CHECK],
];

/**
 * @param wait pauses between two checks for a webhook
 * @returns the exit code. Throws `ConfigError` when the checks cannot run.
 */
export async function check(
  { config, write = false, json = false }: { config?: string; write?: boolean | undefined; json?: boolean },
  print: (text: string) => void = (text) => void process.stdout.write(text),
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<number> {
  const rows = await runChecks(config, write, wait);
  const count = (state: RowState): number => rows.filter((row) => row.state === state).length;
  const counts = { ok: count('ok'), warn: count('warn'), fail: count('fail') };
  if (json) print(`${JSON.stringify({ ok: counts.fail === 0, counts, rows }, null, 2)}\n`);
  else print(`${tableLines(rows).join('\n')}\n\n${counts.ok} ok, ${counts.warn} warn, ${counts.fail} fail\n`);
  return counts.fail > 0 ? 1 : 0;
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

async function runChecks(
  file: string | undefined,
  write: boolean,
  wait: (ms: number) => Promise<unknown>,
): Promise<CheckRow[]> {
  const rows: CheckRow[] = [];
  const advice = 'Correct their names, or remove them: docs/configuration.md lists every variable.';
  const warn = (message: string) =>
    void rows.push({ area: 'settings', name: 'variables', state: 'warn', message, advice });
  const config = loadConfig({ file, env: process.env, warn });
  if (config.upstream.url === undefined) {
    const findings = await SOURCES_CHECK.run({ config, site: siteWithoutCms(config) });
    const ofSources = findings.map((finding) => ({ area: SOURCES_CHECK.area, name: '', ...finding }));
    return [...rows, { area: 'site', name: 'address', ...ok(NO_CMS) }, ...ofSources];
  }
  const mapping = loadMapping(config.mapping);
  const cms = OPENERS[mapping.cms](config, mapping);
  const { connection } = cms;
  const pluginOptions = pluginOptionsOf(file, config);
  const webhooks = write ? await listenForWebhooks(config, cms.words, pluginOptions, wait) : undefined;
  try {
    const site = await readSite(connection);
    let samples: Promise<Samples> | undefined;
    const context: CheckContext = {
      config,
      mapping,
      pluginOptions,
      kinds: Object.values(mapping.kinds) as KindMapping<Kind>[],
      cms,
      connection,
      site,
      webhooks,
      unlisted: new Set(),
      samples: () => (samples ??= readSamples(connection, mapping, site)),
    };
    for (const { area, name = '', onlyWithWrite, run } of checksOf(cms)) {
      if (onlyWithWrite && !write) continue;
      const findings = [await run(context)].flat();
      rows.push(...findings.map((finding) => ({ area, name, ...finding })));
    }
    return rows;
  } catch (error) {
    throw siteError(error, config.upstream.url, connection.credentials !== undefined, mapping.cms);
  } finally {
    webhooks?.close();
    await connection.close();
  }
}

/** With the address for webhooks if there is a secret: a companion plugin made without it would end them. */
function pluginOptionsOf(file: string | undefined, { mapping, webhook, listen }: Config): string {
  const url = webhook.secret === undefined ? '' : ` --webhook-url http://GATEWAY:${listen.adminPort}/-/changes`;
  if (file !== undefined) return `--config ${file}${url}`;
  return `--mapping ${mapping}${url}${url === '' ? '' : ' --webhook-secret SECRET'}`;
}
