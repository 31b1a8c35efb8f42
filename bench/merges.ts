// `node bench/merges.ts DIR`: reads the public calendars of a region as the sources of a gateway. Lists for a human to
// judge what it takes for the same event, and what looks like the same event and is not merged.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { readICalendar } from '../src/cms/sources/icalendar.ts';
import type { SourceEvent } from '../src/cms/sources/source.ts';
import { Replica } from '../src/store/replica.ts';
import { type SourceRow, sourceRows } from '../src/store/source-events.ts';
import { type NamedSource, Sources } from '../src/sync/sources/sources.ts';
import { decodeEntities } from '../src/text/html.ts';
import { fold } from '../src/text/text.ts';
import { scriptWords } from '../test/script-options.ts';

interface Region {
  name: string;
  repository: string;
  commit: string;
  folder: string;
  timezone: string;
  /** When its files were written: series are expanded around it. */
  at: string;
  /** Of file names: unions of other files, older copies of a file, very large ones, calendars of private groups. */
  except: string;
}

const REGIONS = JSON.parse(readFileSync(new URL('merges.json', import.meta.url), 'utf8')) as Region[];

const clones = [...new Map(REGIONS.map(({ repository, commit }) => [repository, commit]))].map(
  ([name, commit]) => `  git clone https://github.com/${name} DIR/${name} && git -C DIR/${name} checkout ${commit}`,
);

const [dir] = scriptWords(`node bench/merges.ts DIR

Lists each merged pair of events by its reason, and pairs with one start and similar titles that were not merged. An
entry stands for all pairs of two calendars with these titles. Entries are in random order, always the same one: of more
than a hundred, the first hundred are a sample. Calendars with attendees or addresses of people are left out.

The calendars are those that public repositories keep (bench/merges.json). Get them once:

${clones.join('\n')}`);
if (dir === undefined) throw new Error('which directory? See --help');

/** An address at a provider of personal mail is one of a person. */
const PERSONAL = /^ATTENDEE|@(gmail|yahoo|hotmail|aol|icloud|outlook|comcast|me)\./im;

function filesOf({ repository, folder, except }: Region): string[] {
  const path = join(dir!, repository, folder);
  if (!existsSync(path)) throw new Error(`${path} is missing: see --help`);
  const names = readdirSync(path).filter((name) => name.endsWith('.ics') && !new RegExp(except).test(name));
  const isKept = (file: string) => !PERSONAL.test(readFileSync(file, 'utf8'));
  return names
    .sort()
    .map((name) => join(path, name))
    .filter(isKept);
}

/** Everything that the sources said, and as which event each of it is shown. */
async function rowsOf(region: Region, files: readonly string[]): Promise<SourceRow[]> {
  const options = { timezone: region.timezone, nowMs: Date.parse(region.at) };
  const sources = files.map((file): NamedSource => {
    const read = async () => ({ ...(await readICalendar(readFileSync(file), options)), validators: {} });
    return { name: basename(file, '.ics'), icalendar: file, reader: { read } };
  });
  const replica = new Replica({ identity: 'bench' });
  const allRead = Promise.withResolvers<void>();
  let left = sources.length;
  const gateway = new Sources({
    ...{ sources, replica, site: () => ({ url: 'https://town.example', name: 'Town', timezone: region.timezone }) },
    ...{ whenComplete: async () => undefined, intervalMs: 2 ** 29, nowMs: () => options.nowMs },
    observe: (observation) => {
      if (observation.type !== 'source-read') return;
      if (observation.problem !== undefined) console.error(observation.source, observation.problem);
      left -= 1;
      if (left === 0) allRead.resolve();
    },
  });
  gateway.start();
  await allRead.promise;
  const rows = sources.flatMap(({ name }) => sourceRows(replica.db, name, '', 20_000));
  await gateway.stop();
  replica.close();
  return rows;
}

const eventOf = ({ eventJson }: SourceRow): SourceEvent => JSON.parse(eventJson) as SourceEvent;
const wordsOf = (title: string): Set<string> => new Set(fold(decodeEntities(title)).match(/[\p{L}\p{N}]+/gu) ?? []);

/** Half of all words of both titles are in both, or all words of one are in the other. */
function areSimilar(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const shared = [...a].filter((word) => b.has(word)).length;
  return shared > 0 && (shared >= (a.size + b.size - shared) / 2 || shared === Math.min(a.size, b.size));
}

/** Each pair of shown events of one start whose calendars name them alike. */
function* candidatesOf(rows: readonly SourceRow[]): Generator<[SourceRow, SourceRow]> {
  const shown = rows.filter(({ mergedBecause }) => mergedBecause === '').map((row) => ({ row, event: eventOf(row) }));
  for (const group of Map.groupBy(shown, ({ event }) => event.startUtc).values()) {
    const worded = group.map(({ row, event }) => ({ row, words: wordsOf(event.title) }));
    for (const [index, a] of worded.entries())
      for (const b of worded.slice(index + 1))
        if (a.row.source !== b.row.source && areSimilar(a.words, b.words)) yield [a.row, b.row];
  }
}

const NOT_MERGED = 'not merged';
const pairs = new Map<string, { reason: string; text: string; count: number }>();

function notePair(region: Region, reason: string, rows: readonly SourceRow[]): void {
  const lines = rows.map((row) => {
    const { title, venue, url } = eventOf(row);
    return `  ${[row.source, decodeEntities(title), decodeEntities(venue?.name ?? ''), url, row.uid].join(' | ')}`;
  });
  const named = rows.map((row) => [row.source, eventOf(row).title]);
  const key = createHash('sha256')
    .update(JSON.stringify([region.name, reason, named]))
    .digest('hex');
  const text = [`${region.name}, ${eventOf(rows[0]!).start}`, ...lines].join('\n');
  const pair = pairs.get(key) ?? { reason, text, count: 0 };
  pair.count += 1;
  pairs.set(key, pair);
}

for (const region of REGIONS) {
  const rows = await rowsOf(region, filesOf(region));
  const bySource = Map.groupBy(rows, ({ source }) => source);
  console.log(`${region.name}: ${rows.length} events of ${bySource.size} calendars`);
  for (const [source, own] of bySource)
    console.log(
      `  ${source}: ${own.length} events, ${own.filter(({ mergedBecause }) => mergedBecause !== '').length} merged`,
    );
  const byId = new Map(rows.map((row) => [row.ownId, row]));
  for (const row of rows)
    if (row.mergedBecause !== '') notePair(region, row.mergedBecause, [byId.get(row.eventId)!, row]);
  for (const pair of candidatesOf(rows)) notePair(region, NOT_MERGED, pair);
}
const sorted = [...pairs].sort(([a], [b]) => (a < b ? -1 : 1));
for (const [reason, entries] of Map.groupBy(sorted, ([, pair]) => pair.reason)) {
  console.log(
    `\n${reason}: ${entries.reduce((sum, [, { count }]) => sum + count, 0)} pairs in ${entries.length} entries`,
  );
  for (const [key, { text, count }] of entries) console.log(`${key.slice(0, 8)} ${count} times, ${text}`);
}
