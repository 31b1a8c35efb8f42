// `node bench/additions.ts`: the CPU time of requests that the original API lacks (docs/extensions.md), beside that
// of a plain list.

import { CREDENTIALS, createFakeCms } from '../test/cms/fake-cms.ts';
import { mappingWith } from '../test/mapping/samples.ts';
import { scriptOptions } from '../test/script-options.ts';
import { MOUNT, startGateway } from '../test/start-gateway.ts';
import { upsert } from '../test/store/changes.ts';
import { event, term, venue } from '../test/store/sample-records.ts';
import { measure, median, startLoad } from './processes.ts';

const options = scriptOptions(
  `node bench/additions.ts [options]

Sends uncached lists of 50 to a gateway in this process, each addition in turns with a plain list (of events, or of categories), and prints
the CPU time of this process for each request and its ratio to that of the plain list in the same turn (median). Takes two minutes.`,
  {
    events: { type: 'string', value: 'N', default: '5000', help: 'number of events' },
    turns: { type: 'string', value: 'N', default: '15', help: 'turns of each row' },
  },
);

const EVENTS = Number(options.events);
const VENUES = 500;
const CATEGORIES = 500;
const NOW_MS = Date.UTC(2026, 10, 21);
const HOUR_MS = 3_600_000;
const wall = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');
const PARAGRAPH = '<p>Music from six countries, and soup at noon. Please bring your own cup.</p>\n';

/** In a country of 500 km, nine of ten with coordinates. */
const venues = Array.from({ length: VENUES }, (_, n) =>
  venue(n + 1, n % 10 === 0 ? {} : { latitude: 48 + (n % 45) / 10, longitude: 8 + (n % 71) / 10 }),
);
/** Spread over two years. */
const events = Array.from({ length: EVENTS }, (_, n) => {
  const startMs = NOW_MS + Math.floor((n * 2 * 365 * 24) / EVENTS) * HOUR_MS;
  const [start, end] = [wall(startMs), wall(startMs + 2 * HOUR_MS)];
  const times = { start, end, startUtc: start, endUtc: end, timezone: 'UTC' };
  const modifiedUtc = wall(Date.UTC(2026, 0, 1) + n * HOUR_MS * (3840 / EVENTS));
  return event(10_000 + n, {
    ...times,
    modifiedUtc,
    title: `Event ${(n * 7919) % EVENTS}`,
    venues: [1 + (n % VENUES)],
    customFields: { room: `Room ${n % 20}` },
    description: PARAGRAPH.repeat(20),
  });
});

const categories = Array.from({ length: CATEGORIES }, (_, n) => term('category', n + 1));

const PLAIN = 'per_page=50';
const PLAIN_TERMS = 'per_page=50&hide_empty=0';

/** Parameters beside the dates, and the path if it is not that of the list of events. */
const ADDITIONS: [name: string, parameters: string, path?: string][] = [
  ['within 25 km', 'per_page=50&geoloc_lat=50&geoloc_lng=10'],
  ['within 250 km', 'per_page=50&geoloc_lat=50&geoloc_lng=10&geoloc_distance=250'],
  ['at venues with coordinates', 'per_page=50&geoloc=true'],
  ['at venues without coordinates', 'per_page=50&geoloc=false'],
  ['two venues by a repeated name', 'per_page=50&venue=1&venue=2'],
  ['custom field equal', 'per_page=50&custom_fields[room]=Room+7'],
  ['in descending order', 'per_page=50&order=desc'],
  ['by modification, latest first', 'per_page=50&orderby=modified&order=desc'],
  ['by title', 'per_page=50&orderby=title'],
  ['modified after a time: 1 % of the events', 'per_page=50&modified_after=2026-06-08T09:36:00Z'],
  ['categories modified after a time: 50 of 500', `${PLAIN_TERMS}&modified_after=2026-11-21T01:00:00Z`, '/categories'],
  ['no changes since a token', 'since=TOKEN', '/changes'],
  ['a calendar file of 50 events', 'per_page=50', '/events.ics'],
  ['a calendar file of 1,000 events', '', '/events.ics'],
  ['an Atom feed of 50 events', '', '/events.atom'],
  ['a page of 100', 'per_page=100'],
  ['a page of 200', 'per_page=200'],
  ['a page of 500', 'per_page=500'],
];

const REQUESTS = 100;
let requests = 0;
/** Lists that are in no cache, and whose totals are not: each ends at another second. */
const uncached = (parameters: string, path = '/events'): string[] =>
  Array.from({ length: REQUESTS }, () => {
    requests += 1;
    const end = new Date(NOW_MS + 729 * 24 * HOUR_MS + requests * 1000).toISOString();
    return `${MOUNT}${path}?${parameters.replace('TOKEN', token)}&strict_dates=true&end_date=${end}`;
  });

const mapping = mappingWith({}, {}, { custom_fields: { room: { at: 'meta.room', filter: true } } });
let nowMs = NOW_MS;
const clock = () => nowMs;
const gateway = await startGateway({
  cms: createFakeCms(clock),
  service: CREDENTIALS.admin,
  nowMs: clock,
  maxPerPage: 500,
  mapping,
});
upsert(gateway.replica, [...venues, ...categories]);
for (let from = 0; from < EVENTS; from += 500) upsert(gateway.replica, events.slice(from, from + 500));
nowMs += HOUR_MS;
upsert(
  gateway.replica,
  categories.filter(({ id }) => id % 10 === 0).map((one) => ({ ...one, name: `Renamed ${one.id}` })),
);
const { url } = await gateway.listen();
const server = { name: 'gateway', port: Number(new URL(url).port), pids: [process.pid], stop: gateway.stop };
const load = startLoad();

const { next_token: token } = (await gateway.request('/changes')).body;

async function run(parameters: string, path?: string): Promise<number> {
  const paths = uncached(parameters, path);
  return (await measure(load, server, { path: '', paths, connections: 4, requests: REQUESTS }, 200)).cpuUs;
}

// V8 compiles the code of lists, and the rendered records are cached.
for (let turn = 0; turn < 8; turn += 1) {
  for (const [, ...request] of ADDITIONS) await run(...request);
  await run(PLAIN_TERMS, '/categories');
}
const rows = [];
for (const [name, ...request] of ADDITIONS) {
  const turns = [];
  const plainRequest: [string, string?] = request[1] === '/categories' ? [PLAIN_TERMS, request[1]] : [PLAIN];
  for (let turn = 0; turn < Number(options.turns); turn += 1) {
    const [plain, addition] = [await run(...plainRequest), await run(...request)];
    turns.push({ plain, addition, ratio: addition / plain });
  }
  rows.push({
    list: name,
    found: (await gateway.requestPath(uncached(...request)[0]!)).body?.total ?? '',
    'CPU, us': Math.round(median(turns.map(({ addition }) => addition))),
    'plain list of 50, us': Math.round(median(turns.map(({ plain }) => plain))),
    'ratio to the plain list': median(turns.map(({ ratio }) => ratio)).toFixed(2),
  });
}
console.table(rows);
await load.stop();
await gateway.stop();
