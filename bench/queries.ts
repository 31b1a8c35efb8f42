// `npm run bench:queries -- [--events N,N] [--file]`: queries of the replica alone, including lists of staff,
// of venues and of terms.

import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CalendarRecord, EventRecord } from '../src/model/records.ts';
import type { EventFilter } from '../src/store/event-filter.ts';
import { PUBLIC_VISIBILITY, type Visibility } from '../src/store/filters.ts';
import { openReplica, type Replica } from '../src/store/replica.ts';
import { integersFrom } from '../test/random.ts';
import { percentile } from './replica/lists.ts';

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '1000,10000,100000' },
    file: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h' },
  },
});

const HELP = `npm run bench:queries -- [options]

Measures queries of the replica in this process, without HTTP. Includes lists that bench:replica leaves out: lists of staff, of venues and of
terms, and searches for two letters. Takes less than a minute. Prints a table for each size.

  --events N,N    numbers of events (1000,10000,100000)
  --file          stores the replica in a file instead of in memory
`;
if (values.help) {
  console.log(HELP);
  process.exit(0);
}

/** The same in every run. */
const random = integersFrom(20_270_312);

const SYLLABLES = 'ka lo mi tur ben sa ré né fo gri pan del ost ü wi zo han ler mut ist com per tra ing'.split(' ');
const word = () => Array.from({ length: 2 + random(3) }, () => SYLLABLES[random(SYLLABLES.length)]).join('');
const sentence = (words: number) => Array.from({ length: words }, word).join(' ');
const wall = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

const NOW = Date.UTC(2026, 10, 21);
const DAY = 86_400_000;
const VENUES = 5000;
const ORGANIZERS = 2000;
const TERMS = 250;

function post(id: number, title: string, text: string) {
  const ms = NOW - random(900 * 86_400) * 1000;
  return {
    id,
    status: random(100) < 95 ? 'publish' : 'draft',
    slug: `post-${id}`,
    author: 1 + random(20),
    date: wall(ms),
    dateUtc: wall(ms),
    modified: wall(ms),
    modifiedUtc: wall(ms),
    url: `https://cms.example/?p=${id}`,
    title,
    description: `<p>${text}</p>`,
    excerpt: '',
    protected: false,
    image: 0,
    searchText: `${title}\n${text}`,
  };
}

function event(id: number, years: number): EventRecord {
  const start = NOW - 0.25 * years * 365 * DAY + random(years * 365 * 24) * 3_600_000;
  const end = start + (random(1000) === 0 ? 100 * DAY : (1 + random(8)) * 3_600_000);
  // As on real sites, one category has a third of the events, and one tag a fifth.
  const categories = [random(3) === 0 ? 1 : 1 + random(TERMS), 1 + random(TERMS)];
  const common = random(100) < 89 ? 'workshop ' : '';
  const rare = random(10_000) === 0 ? 'zebracorn ' : '';
  const fields = post(1_000_000 + id, sentence(5), `${common}${rare}${sentence(55)}`);
  return {
    kind: 'event',
    ...fields,
    allDay: false,
    start: wall(start),
    end: wall(end),
    startUtc: wall(start),
    endUtc: wall(end),
    timezone: 'UTC',
    cost: '',
    website: '',
    showMap: true,
    showMapLink: true,
    hidden: random(100) === 0,
    sticky: false,
    featured: random(50) === 0,
    parent: 0,
    categories: [...new Set(categories)],
    tags: [1001 + random(random(5) === 0 ? 1 : TERMS)],
    venues: [1 + random(VENUES)],
    organizers: [10_001 + random(ORGANIZERS)],
  };
}

function otherRecords(): CalendarRecord[] {
  const records: CalendarRecord[] = [];
  const terms = (kind: 'category' | 'tag', base: number) => {
    for (let n = 1; n <= TERMS; n += 1) {
      const parent = kind === 'category' && n > 50 ? 1 + (n % 50) : 0;
      records.push({ kind, id: base + n, name: word(), slug: `${kind}-${n}`, description: '', parent, url: '' });
    }
  };
  terms('category', 0);
  terms('tag', 1000);
  const contact = { phone: '', website: '' };
  const address = { address: '', city: '', country: '', province: '', state: '', stateprovince: '', zip: '' };
  for (let n = 1; n <= VENUES; n += 1) {
    const fields = post(n, sentence(3), sentence(20));
    // In a country of 1,000 km, nine of ten with coordinates.
    const position = n % 10 === 0 ? {} : { latitude: 45 + random(9000) / 1000, longitude: 5 + random(12_000) / 1000 };
    const map = { latitude: null, longitude: null, ...position, showMap: true, showMapLink: true };
    records.push({ kind: 'venue', ...fields, ...contact, ...address, ...map });
  }
  for (let n = 1; n <= ORGANIZERS; n += 1) {
    records.push({ kind: 'organizer', ...post(10_000 + n, sentence(3), sentence(20)), ...contact, email: '' });
  }
  return records;
}

function measure(repeats: number, body: (turn: number) => unknown): { p50: number; p99: number } {
  const times: number[] = [];
  body(-1);
  for (let turn = 0; turn < repeats; turn += 1) {
    const startedMs = performance.now();
    body(turn);
    times.push(performance.now() - startedMs);
  }
  return { p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
}

const STAFF: Visibility = { others: ['publish', 'draft', 'pending', 'private', 'future'], own: [], userId: 1 };
const CONTRIBUTOR: Visibility = { others: ['publish'], own: ['draft', 'pending', 'private', 'future'], userId: 7 };

/** A date range that moves by a second in every turn, so that no total is cached. */
function bounds(turn: number, fromDay: number, days: number): NonNullable<EventFilter['bounds']> {
  const from = NOW + fromDay * DAY + turn * 1000;
  return [
    { field: 'start', op: '>=', wall: wall(from) },
    { field: 'end', op: '<=', wall: wall(from + days * DAY) },
  ];
}

function queries(replica: Replica): [string, (turn: number) => unknown][] {
  const list = (filter: Partial<EventFilter>) =>
    replica.listEvents({ visibility: PUBLIC_VISIBILITY, order: 'start', limit: 50, offset: 0, ...filter });
  const withChildren = (turn: number) => replica.withDescendants([1 + (Math.abs(turn) % 50)]);
  const located = () => replica.locatedVenueIds(PUBLIC_VISIBILITY);
  const near = (turn: number, distanceKm: number) =>
    replica.locatedVenueIds(PUBLIC_VISIBILITY, {
      center: { latitude: 49 + (turn % 100) / 100, longitude: 11 },
      distanceKm,
    });
  const search = (text: string) => ({ words: [{ text, not: false }] });
  const linked = { visibility: PUBLIC_VISIBILITY, eventVisibility: PUBLIC_VISIBILITY, limit: 50, offset: 0 };
  return [
    ['window 30 days', (n) => list({ bounds: bounds(n, n % 300, 30) })],
    ['window default (24 months)', (n) => list({ bounds: bounds(n, -1, 730) })],
    ['no bounds', (n) => list({ bounds: bounds(n, -5000, 10_000) })],
    ['window 24 months, page 100', (n) => list({ bounds: bounds(n, -1, 730), offset: 4950 })],
    ['ends after now', (n) => list({ bounds: [{ field: 'end', op: '>', wall: wall(NOW + n * 1000) }] })],
    ['ends before now', (n) => list({ bounds: [{ field: 'end', op: '<', wall: wall(NOW + n * 1000) }] })],
    ['30 days + category', (n) => list({ bounds: bounds(n, n % 300, 30), categories: [2 + (n % 40)] })],
    ['24 months + category', (n) => list({ bounds: bounds(n, -1, 730), categories: [2 + (Math.abs(n) % 40)] })],
    ['24 months + largest category', (n) => list({ bounds: bounds(n, -1, 730), categories: [1] })],
    ['24 months + category and below', (n) => list({ bounds: bounds(n, -1, 730), categories: withChildren(n) })],
    ['24 months + largest and below', (n) => list({ bounds: bounds(n, -1, 730), categories: withChildren(0) })],
    ['24 months + 3 tags', (n) => list({ bounds: bounds(n, -1, 730), tags: [1002 + (Math.abs(n) % 200), 1004, 1005] })],
    ['24 months + venue', (n) => list({ bounds: bounds(n, -1, 730), venues: [1 + Math.abs(n)] })],
    ['24 months + within 25 km', (n) => list({ bounds: bounds(n, -1, 730), venues: near(n, 25) })],
    ['24 months + within 250 km', (n) => list({ bounds: bounds(n, -1, 730), venues: near(n, 250) })],
    ['24 months + with coordinates', (n) => list({ bounds: bounds(n, -1, 730), venues: located() })],
    ['24 months + without coordinates', (n) => list({ bounds: bounds(n, -1, 730), notVenues: located() })],
    ['24 months + organizer', (n) => list({ bounds: bounds(n, -1, 730), organizers: [10_001 + Math.abs(n)] })],
    ['24 months + category + tag', (n) => list({ bounds: bounds(n, -1, 730), categories: [1], tags: [1001] })],
    ['24 months + featured', (n) => list({ bounds: bounds(n, -1, 730), featured: true })],
    ['24 months + not featured', (n) => list({ bounds: bounds(n, -1, 730), featured: false })],
    [
      'include 50',
      (n) => list({ include: Array.from({ length: 50 }, (_, i) => 1_000_000 + 7 * i + Math.abs(n)), order: 'date' }),
    ],
    ['24 months, staff', (n) => list({ bounds: bounds(n, -1, 730), visibility: STAFF })],
    ['24 months, contributor', (n) => list({ bounds: bounds(n, -1, 730), visibility: CONTRIBUTOR })],
    [
      '24 months + category, staff',
      (n) => list({ bounds: bounds(n, -1, 730), visibility: STAFF, categories: [2 + (Math.abs(n) % 40)] }),
    ],
    ['venues', (n) => replica.listLinked('venue', { ...linked, offset: Math.abs(n) })],
    ['venues with events', (n) => replica.listLinked('venue', { ...linked, hasEvents: n % 2 === 0 })],
    ['venues with upcoming', (n) => replica.listLinked('venue', { ...linked, upcomingFromUtc: wall(NOW + n * 1000) })],
    ['venues, word', () => replica.listLinked('venue', { ...linked, ...search('kalo') })],
    [
      'terms',
      () =>
        replica.listTerms({
          kind: 'category',
          eventVisibility: PUBLIC_VISIBILITY,
          orderBy: 'count',
          descending: true,
          hideEmpty: true,
          limit: 50,
          offset: 0,
        }),
    ],
    ['search: word in 89 %', (n) => list({ bounds: bounds(n, -5000, 10_000), ...search('workshop') })],
    ['search: word in 89 %, 24 months', (n) => list({ bounds: bounds(n, -1, 730), ...search('workshop') })],
    [
      'search: word in 89 %, page 500',
      (n) => list({ bounds: bounds(n, -5000, 10_000), ...search('workshop'), offset: Math.min(24_950, 12 * TERMS) }),
    ],
    ['search: rare word', (n) => list({ bounds: bounds(n, -5000, 10_000), ...search('zebracorn') })],
    ['search: frequent syllables', (n) => list({ bounds: bounds(n, -5000, 10_000), ...search('kalomi') })],
    [
      'search: two words',
      (n) =>
        list({
          bounds: bounds(n, -5000, 10_000),
          words: [
            { text: 'workshop', not: false },
            { text: 'kalomi', not: false },
          ],
        }),
    ],
    ['search: word in 30 days', (n) => list({ bounds: bounds(n, n % 300, 30), ...search('workshop') })],
    ['search: two letters', (n) => list({ bounds: bounds(n, -5000, 10_000), ...search('mi') })],
    [
      'search: without a word',
      (n) => list({ bounds: bounds(n, -5000, 10_000), words: [{ text: 'workshop', not: true }] }),
    ],
  ];
}

const mib = (bytes: number) => Math.round(bytes / 1048576);

for (const size of values.events.split(',').map(Number)) {
  const folder = mkdtempSync(join(tmpdir(), 'replica-'));
  const file = join(folder, 'replica.sqlite');
  const options = { identity: 'bench', ...(values.file ? { file } : {}) };
  let replica = openReplica(options);
  const startedMs = performance.now();
  replica.upsert(otherRecords());
  const batches: number[] = [];
  for (let id = 0; id < size; id += 25) {
    const batch = Array.from({ length: Math.min(25, size - id) }, (_, n) => event(id + n, 3));
    const batchMs = performance.now();
    replica.upsert(batch);
    batches.push(performance.now() - batchMs);
  }
  console.log(
    `\n${size} events: stored in ${((performance.now() - startedMs) / 1000).toFixed(1)} s; 25 records p50 ${percentile(batches, 0.5).toFixed(1)}, p99 ${percentile(batches, 0.99).toFixed(1)}, longest ${Math.max(...batches).toFixed(1)} ms`,
  );
  if (values.file) {
    replica.close();
    const openMs = performance.now();
    replica = openReplica(options);
    console.log(`file ${mib(statSync(file).size)} MiB, opened in ${(performance.now() - openMs).toFixed(0)} ms`);
  }
  const rows = queries(replica).map(([query, body]) => {
    const { p50, p99 } = measure(query.startsWith('search') ? 30 : 200, body);
    const page = body(0) as { total: number };
    return { query, total: page.total, p50_ms: +p50.toFixed(2), p99_ms: +p99.toFixed(2) };
  });
  console.table(rows);
  const usage = process.memoryUsage();
  console.log(`rss ${mib(usage.rss)} MiB, heap ${mib(usage.heapUsed)} MiB`);
  replica.close();
  rmSync(folder, { recursive: true });
}
