// `npm run test:differential`: random content, settings, requests and writes on a real site of The Events Calendar, whose own API judges
// the gateway.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import fc from 'fast-check';
import { seriesIdOf } from '../../src/model/records.ts';
import type { Json } from '../live/json-client.ts';
import { type Difference, differenceText, judgeAnswers, KNOWN } from '../plugins/known-differences.ts';
import { type StartedSite, startPluginSite } from '../plugins/plugin-site.ts';
import { plugin, repeatWeekly } from '../plugins/the-events-calendar.ts';
import { scriptOptions } from '../script-options.ts';
import { ROOT } from '../start-gateway.ts';
import { CONTENT_PHP, type Content, type Question, questionsFor } from './queries.ts';
import { playBoth, writesFor } from './writes.ts';

const SLUG = 'the-events-calendar';
const EVENTS = 60;
/** Requests at the same time: PHP's server has four processes. */
const PARALLEL = 3;
/** It reads a site's settings anew when it starts. */
const POLL_S = 2;

/** Options of WordPress (`timezone_string`) and of the plugin (in `tribe_events_calendar_options`) for one round. */
interface Round {
  wordpress: Json;
  plugin: Json;
}

const roundArbitrary: fc.Arbitrary<Round> = fc.record({
  wordpress: fc.record({
    zone: fc.constantFrom('America/New_York', 'Europe/Berlin', 'Asia/Kathmandu', '5.5', '-3'),
    posts_per_page: fc.constantFrom(4, 10, 12),
  }),
  plugin: fc.record({
    defaultCurrencySymbol: fc.constantFrom('$', '€', 'kr', 'CHF'),
    defaultCurrencyCode: fc.constantFrom('USD', 'EUR', 'SEK', 'CHF'),
    reverseCurrencyPosition: fc.boolean(),
    tribe_events_timezone_mode: fc.constantFrom('event', 'site'),
  }),
});
/**
 * When the days of a site start, from its first event on: when the plugin's setting changes, its events of whole days
 * keep their UTC times, and some get an end of no day.
 */
const DAY_STARTS = ['00:00', '05:00', '02:00'];
/** The first round has no settings of its own: what differs there is not about settings. */
const DEFAULTS: Round = { wordpress: {}, plugin: {} };

const options = scriptOptions(
  `npm run test:differential -- --sources DIR [options]

Fills a real site of The Events Calendar with odd but legal content, asks its own API and the gateway the same random questions, and writes
the same random records through both. Compares answers, pages, and the rows in the database. Needs PHP and MariaDB, and the plugin's source.`,
  {
    sources: { type: 'string', value: 'DIR', help: 'the plugin is in DIR/the-events-calendar' },
    seed: { type: 'string', value: 'N', default: '1', help: 'of content, settings, requests and writes' },
    queries: { type: 'string', value: 'N', default: '1000', help: 'requests that read' },
    writes: { type: 'string', value: 'N', default: '60', help: 'records that are created and updated' },
    rounds: { type: 'string', value: 'N', default: '4', help: 'settings of each site' },
    only: {
      type: 'string',
      value: 'SITE',
      choices: ['classic', 'block'],
      help: 'one of the two sites: classic, block',
    },
    examples: { type: 'string', value: 'N', default: '2', help: 'to print for each difference' },
  },
);
const seed = Number(options.seed);

const tally = { queries: 0, equal: 0, writes: 0, answers: 0 };
const byReason = new Map<string, number>();
const unlisted = new Map<string, string[]>();

type Answer = { status: number; body: unknown };

function judge(question: Question, where: string, original: Answer, here: Answer): void {
  const { reasons, unexplained } = judgeAnswers(question, original, here);
  for (const reason of reasons) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  for (const difference of unexplained) note(question.query, `${where}, ${question.as}`, difference);
  if (reasons.size === 0 && unexplained.length === 0) tally.equal += 1;
}

function note(request: string, where: string, difference: Difference): void {
  const kind = request.startsWith('P') ? request.replace(/: [{].*/s, '') : request.replace(/[/?].*/s, '');
  const key = `${kind} ${difference.path}`;
  unlisted.set(key, [...(unlisted.get(key) ?? []), `${where}: ${request}\n      ${differenceText(difference)}`]);
}

/** Calls `run` for each, some at a time. */
async function inParallel<T>(items: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const worker = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await run(item);
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
}

async function apply(site: StartedSite, { wordpress: { zone, ...others }, plugin: own }: Round): Promise<void> {
  const isOffset = /^-?\d/.test(String(zone));
  const values = {
    ...others,
    ...(zone === undefined ? {} : { timezone_string: isOffset ? '' : zone, gmt_offset: isOffset ? zone : '' }),
  };
  await site.php(`foreach ( json_decode( '${JSON.stringify(values)}', true ) as $name => $value ) update_option( $name, $value );
    foreach ( json_decode( '${JSON.stringify(own)}', true ) as $name => $value ) tribe_update_option( $name, $value );
    return true;`);
  // The original lists as many records as the site's pages: the gateway is told to.
  await site.restartGateway(POLL_S, { CALENDAR_LISTS_PER_PAGE: String(others.posts_per_page ?? 10) });
  await site.nextPoll();
}

async function runRound(site: StartedSite, round: Round, where: string, share: number, salt: number): Promise<void> {
  await apply(site, round);
  const content = await site.php<Content>(CONTENT_PHP);
  const { queries, writes } = { queries: Number(options.queries) * share, writes: Number(options.writes) * share };
  const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number) =>
    fc.sample(arbitrary, { seed: seed * 1000 + salt, numRuns: Math.ceil(count) });
  await inParallel(sample(questionsFor(content), queries), async (question) => {
    const { as, query } = question;
    const [original, here] = await Promise.all([
      site.wordpress(`tribe/events/v1/${query}`, { as }),
      site.request(query, { as, mount: '/wp-json/tribe/events/v1' }),
    ]);
    tally.queries += 1;
    judge(question, where, original, here);
  });
  for (const record of sample(writesFor(content), writes)) {
    const [original, here] = await playBoth(site, record);
    tally.writes += 1;
    for (const [index, step] of here.entries()) {
      tally.answers += 1;
      const sent = JSON.stringify(step.what.startsWith('PUT') ? record.updated : record.created);
      const expected = original[index] ?? { what: step.what, answer: { status: 0, body: {} } };
      judge({ as: 'admin', query: `${step.what}: ${sent}` }, where, expected.answer, step.answer);
    }
  }
}

/**
 * Repeats some events weekly. Without its paid extension the original lists a repeated post once a page: each week must
 * have the same posts on both sides.
 */
async function runSeries(site: StartedSite, where: string): Promise<void> {
  const { posts } = await site.php<Content>(CONTENT_PHP);
  const repeated = posts.filter(({ type, status, start }) => type === 'tribe_events' && status === 'publish' && start);
  await repeatWeekly(site, new Map(repeated.slice(0, 6).map(({ id }, index) => [id, 2 + index])));
  await apply(site, DEFAULTS);
  for (let week = 0; week < 12; week += 1) {
    const day = (days: number) => new Date(Date.UTC(2031, 4, 1 + 7 * week + days)).toISOString().slice(0, 10);
    const query = `events?start_date=${day(0)}&end_date=${day(6)}&per_page=50`;
    const answers = [
      await site.wordpress(`tribe/events/v1/${query}`, { as: 'anonymous' }),
      await site.request(query, { as: 'anonymous' }),
    ].map(({ status, body }) => ({
      status,
      body: { posts: [...new Set((body.events as Json[]).map(({ id }) => seriesIdOf(Number(id))))].sort() },
    }));
    tally.queries += 1;
    judge({ as: 'anonymous', query }, `${where}, with series`, answers[0]!, answers[1]!);
  }
}

/** Each known difference is in a document that tells clients of it. */
const documents = ['differences', 'extensions']
  .map((name) => readFileSync(join(ROOT, `docs/${name}.md`), 'utf8'))
  .join();
const undocumented = KNOWN.filter(({ docs }) => !documents.includes(docs));

const work = mkdtempSync(join(tmpdir(), 'calendar-differential-'));
let site: StartedSite | undefined;
const stop = async () => {
  await site?.close();
  rmSync(work, { recursive: true, force: true });
};
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().finally(() => process.exit(1)));

const allSites = [
  { name: 'classic theme', theme: 'classic', isChecked: false },
  { name: 'block theme in /blog', theme: 'block', folder: '/blog', isChecked: false },
] as const;
const sites = allSites.filter(({ theme }) => options.only === undefined || theme === options.only);
const rounds = Number(options.rounds);
try {
  for (const [index, siteOptions] of sites.entries()) {
    const fill = join(work, 'fill.php');
    const content = JSON.stringify(join(import.meta.dirname, 'odd-site.php'));
    const dayStarts = DAY_STARTS[(seed + index) % DAY_STARTS.length];
    writeFileSync(
      fill,
      `<?php\n$seed = ${seed + index};\n$events = ${EVENTS};\n$day_starts = '${dayStarts}';\nrequire ${content};\n`,
    );
    const source = join(resolve(options.sources ?? '.'), SLUG);
    const started = [join(source, SLUG), source].find((path) => existsSync(join(path, `${SLUG}.php`)));
    if (started === undefined) throw new Error(`there is no ${SLUG} in --sources DIR`);
    site = await startPluginSite(started, SLUG, plugin, siteOptions, fill);
    if (site.init.code !== 0) throw new Error(site.init.text);
    const all = [DEFAULTS, ...fc.sample(roundArbitrary, { seed: seed + index, numRuns: rounds - 1 })];
    for (const [salt, round] of all.entries()) {
      const where = `${siteOptions.name}, days from ${dayStarts}, round ${salt}`;
      console.log(`${where}: ${JSON.stringify({ ...round.wordpress, ...round.plugin })}`);
      const before = { ...tally };
      await runRound(site, round, where, 1 / (sites.length * rounds), 10 * index + salt);
      console.log(`  ${tally.queries - before.queries} queries, ${tally.writes - before.writes} records written`);
    }
    await runSeries(site, siteOptions.name);
    await site.close();
    site = undefined;
  }
} finally {
  await stop();
}

console.log(
  `\nseed ${seed}: ${tally.queries} queries, ${tally.writes} records written twice through both (${tally.answers} answers and rows); ${tally.equal} answers equal in everything; with a known difference:`,
);
for (const [reason, count] of byReason) console.log(`  ${count}: ${reason}`);
for (const { docs } of undocumented) console.log(`IN NO DOCUMENT: ${docs}`);
const total = [...unlisted.values()].reduce((sum, examples) => sum + examples.length, 0);
console.log(`${total} differences that are not listed, of ${unlisted.size} kinds`);
for (const [key, examples] of [...unlisted].sort(([, a], [, b]) => b.length - a.length)) {
  console.log(`  ${examples.length}: ${key}`);
  for (const example of examples.slice(0, Number(options.examples))) console.log(`    ${example}`);
}
process.exitCode = total + undocumented.length > 0 ? 1 : 0;
