// The `check` command: says of a configuration, its mapping and its site what works and what to do about the rest.

import { loadConfig, serviceCredentials } from '../config.ts';
import { ConfigError, UpstreamAway, UpstreamRefused } from '../errors.ts';
import { loadMapping } from '../mapping/load.ts';
import { fieldRows } from './check-fields.ts';
import { listRows, pastRows, readerRows } from './check-lists.ts';
import { listenForNotices } from './check-notices.ts';
import type { CheckOptions } from './check-options.ts';
import { accountRows, type Checked, gatewayRows, siteRows } from './check-site.ts';
import { writeRows } from './check-writes.ts';
import { accessRefused, isAccessRefused, openSite, siteFacts } from './open-site.ts';
import { oldestEvents, readRecords } from './preview.ts';
import { type Row, tableText } from './table.ts';

const EVENTS_READ = 20;
const WIDTH = 120;

/** Whether output is coloured: a terminal, and nobody asked for none. */
const coloured = (): boolean => process.stdout.isTTY === true && !process.env.NO_COLOR;

/** @returns the exit code. Throws `ConfigError` for what stands in the way of checking. */
export async function check(
  { config: file, write = false, json = false }: CheckOptions,
  print: (text: string) => void = (text) => void process.stdout.write(text),
): Promise<number> {
  const rows = await checked(file, write);
  const count = (state: Row['state']): number => rows.filter((row) => row.state === state).length;
  const counts = { ok: count('ok'), warn: count('warn'), fail: count('fail') };
  if (json) print(`${JSON.stringify({ ok: counts.fail === 0, counts, rows }, null, 2)}\n`);
  else print(tableText(rows, { colour: coloured(), width: process.stdout.columns ?? WIDTH }));
  return counts.fail > 0 ? 1 : 0;
}

async function checked(file: string | undefined, write: boolean): Promise<Row[]> {
  const config = loadConfig({ ...(file === undefined ? {} : { file }), env: process.env });
  const mapping = loadMapping(config.mapping);
  const open = openSite(config.upstream.url, serviceCredentials(config), config.upstream.limits);
  try {
    const about: Checked = { config, mapping, open, site: await siteFacts(open) };
    const rows = [...(await siteRows(about))];
    const account = await accountRows(about);
    rows.push(...account);
    // With an account that the site refuses all the rest would be refused as well.
    if (account.some(({ what, state }) => what === 'service' && state === 'fail')) return rows;
    rows.push(...(await listRows(about)), ...(await readerRows(about)));
    const records = await readRecords(open, mapping, about.site, { count: EVENTS_READ });
    const oldest = await oldestEvents(open, mapping, about.site);
    rows.push(...pastRows(oldest, new Date().toISOString().slice(0, 19).replace('T', ' ')));
    rows.push(...(await fieldRows(about, records)));
    const notices = write ? await listenForNotices(config) : undefined;
    if (write) rows.push(...(await writeRows(about, records)));
    rows.push(...(await gatewayRows(about)), ...((await notices?.rows()) ?? []));
    return rows;
  } catch (error) {
    if (isAccessRefused(error)) throw accessRefused(error, open.credentials !== undefined, 'CALENDAR_UPSTREAM_USER');
    if (!(error instanceof UpstreamAway || error instanceof UpstreamRefused)) throw error;
    throw new ConfigError(
      config.upstream.url,
      `could not be checked: ${error.message}`,
      'Check the address in a browser (its REST API is usually at /wp-json/) and that this machine may reach it.',
    );
  } finally {
    await open.close();
  }
}
