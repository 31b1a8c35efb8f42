// `init` with the address of a calendar instead of a site: shows what the gateway would serve of it, and adds it to the
// sources of a configuration that an earlier `init` wrote, or begins one without a CMS.

import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceEvent } from '../../cms/sources/source.ts';
import { readJsonFile, sourceAddress } from '../../config.ts';
import type { SourceSettings } from '../../config-schema.ts';
import { ConfigError } from '../../errors.ts';
import { isObject } from '../../model/json.ts';
import { textLine } from '../../text/html.ts';
import { formatWallTime } from '../../time/wall-time.ts';
import { programName } from '../advice.ts';
import { readSource, remarkText, SOURCE_ADVICE } from '../read-source.ts';
import { pluralized } from '../table.ts';
import type { InitOptions } from './options.ts';

const SHOWN_EVENTS = 5;

/** Resolves with the exit code: 0 written, 1 nothing written. Throws `ConfigError` if the calendar is unreadable. */
export async function initSource(
  source: Omit<SourceSettings, 'name'>,
  { out, yes, privateSources = false }: InitOptions,
  print: (line: string) => void,
): Promise<number> {
  const file = join(out, 'config.json');
  const config = existsSync(file) ? readJsonFile(file, file) : {};
  const sources = Array.isArray(config.sources) ? (config.sources as SourceSettings[]) : [];
  const known = sources.find((each) => sourceAddress(each) === sourceAddress(source));
  const name = known?.name ?? freeName(new URL(sourceAddress(source)).hostname, sources);
  const entry = { name, ...source } as SourceSettings;
  const isPrivateAllowed = privateSources || (isObject(config.sync) && config.sync.privateSources === true);
  // Nobody asked for the site's zone: a time without a zone is shown as one of UTC, and served as one of the site's.
  const snapshot = await readSource(entry, isPrivateAllowed, 'UTC');
  if (typeof snapshot === 'string') throw new ConfigError('the calendar', snapshot, SOURCE_ADVICE);
  const { events, remarks } = snapshot;
  print(`Calendar    ${pluralized(events.length, 'event')}; the next ones:`);
  for (const event of nextEvents(events)) print(`  ${eventLine(event)}`);
  for (const each of remarks) print(`Remark      ${remarkText(each)}`);
  if (known) {
    print(`${file} has it already, as ${known.name}.`);
    return 1;
  }
  print(`Source      ${JSON.stringify(entry)}`);
  if (!isObject(config.upstream)) print(`CMS         none in ${file}: the calendar shows its sources alone`);
  if (!yes) {
    print(`Nothing is written. Add --yes to add this to "sources" in ${file}.`);
    return 1;
  }
  mkdirSync(out, { recursive: true });
  writeFileSync(file, `${JSON.stringify({ ...config, sources: [...sources, entry] }, null, 2)}\n`);
  print(`wrote ${file}`);
  print(`Next: ${programName()} check --config ${file}`);
  return 0;
}

/** Events get their ids from the name: `www.library.example` is `library-example`. */
function freeName(hostname: string, sources: readonly SourceSettings[]): string {
  const name = hostname
    .replace(/^www\./, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, 36);
  const names = [name, ...sources.map((_, index) => `${name}-${index + 2}`)];
  return names.find((each) => sources.every((source) => source.name !== each))!;
}

/** The next events; of a calendar that is over, the first ones. */
function nextEvents(events: readonly SourceEvent[]): SourceEvent[] {
  const now = formatWallTime(Date.now());
  const sorted = events.toSorted((a, b) => (a.startUtc < b.startUtc ? -1 : 1));
  const coming = sorted.filter(({ endUtc }) => endUtc >= now);
  return (coming.length > 0 ? coming : sorted).slice(0, SHOWN_EVENTS);
}

function eventLine({ title, start, timezone, allDay, venue }: SourceEvent): string {
  const time = allDay ? start.slice(0, 10) : `${start.slice(0, 16)} ${timezone}`;
  const place = [venue?.name, venue?.city].filter(Boolean).map((text) => textLine(text!));
  return [time, textLine(title), place.join(', ')].filter((text) => text !== '').join(' · ');
}
