// The worst values of each parameter and field at their very length, and one character over: how long the event loop stands still.

import { GLOBAL_LIMITS, type Limit, READ_BODY_BYTES } from '../../src/interface/limits.ts';
import { ROUTES } from '../../src/interface/routes.ts';
import { exchange } from '../faults/gateway.ts';
import { as, type WordPressStandIn } from '../faults/wordpress.ts';
import { freePort } from '../free-port.ts';
import { type Measured, MOUNT, report, startMeasured } from './measuring.ts';

const REPEATS = 3;
const EVENTS = 3600;
/** Of a query, so that its encoded form and the rest of the address stay below the longest address. */
const QUERY_CHARACTERS = 7000;

/** Each is repeated to the length wanted: what expressions, date parsers, the word index, HTML and Unicode take longest for. */
const WORST: Record<string, [begin: string, repeated: string, end: string]> = {
  letters: ['', 'la', ''],
  'other letters': ['', 'éß日', ''],
  apostrophes: ['x', "'", 'x'],
  'apostrophes and quotes': ['"x', `'"`, 'x'],
  blanks: ['x', ' ', 'x'],
  'rare short words': ['', 'qz -zq ', ''],
  patterns: ['', '*?[a-', ''],
  'open tags': ['', '<', ''],
  scripts: ['', '<script>', ''],
  entities: ['', '&#0', ''],
  marks: ['a', '\u0300\u0327', ''],
  commas: ['1', ',1', ''],
  slashes: ['', 'a/', 'Paris'],
  'amounts of time': ['', '0sec,  ', '1 day'],
  'signed numbers': ['', '+1 ', 'weekdays'],
  weekdays: ['+999999999 weekdays', ' ', ''],
  zones: ['', 'EST a ', ''],
  digits: ['', '9', ''],
};

const FEW = Object.entries(WORST).filter(([what]) =>
  ['letters', 'open tags', 'scripts', 'marks', 'amounts of time'].includes(what),
);

function filled([begin, repeated, end]: readonly [string, string, string], length: number): string {
  const room = Math.max(0, length - begin.length - end.length);
  return `${begin}${repeated.repeat(Math.ceil(room / repeated.length)).slice(0, room)}${end}`.slice(0, length);
}

interface Sent {
  path: string;
  method: string;
  headers?: Record<string, string>;
  body?: string;
}

interface Case {
  parameter: string;
  route: string;
  length: number;
  what: string;
  sent: Sent;
}

const JSON_TYPE = { 'content-type': 'application/json', authorization: as('editor') };
const REQUIRED = {
  ...{ title: 'T', start_date: '2030-01-01', end_date: '2030-01-01' },
  ...{ venue: 'V', organizer: 'O', name: 'N' },
};

/** Every parameter of every route, with each of the worst values at its limit, and one longer. */
function* ofTable(): Generator<Case> {
  for (const { path, endpoints } of ROUTES) {
    for (const { methods, operation, parameters } of endpoints) {
      const method = methods[0]!;
      const required = Object.fromEntries(
        parameters.filter((one) => one.required && !one.inPath).map(({ name }) => [name, REQUIRED[name as 'title']]),
      );
      for (const { name, inPath, limit } of parameters) {
        const { characters } = limit as Limit;
        // Lists read the most of their values; what is written is only cleaned and handed on.
        const values = operation === 'list' ? Object.entries(WORST) : FEW;
        for (const [what, worst] of values) {
          for (const over of [0, 1]) {
            // One value stands for all that are too long.
            if (over && what !== 'letters') continue;
            const isInAddress = inPath || method === 'GET';
            const longest = (limit as Limit).text ?? characters;
            const length = Math.min(longest + over, isInAddress ? QUERY_CHARACTERS : 1_000_000);
            let value = filled(worst, length);
            const route = `${method} ${path || '/'}`;
            const place = path.replace(/\{(id|slug)\}/, inPath ? '' : '1');
            if (isInAddress) {
              while (encodeURIComponent(value).length > QUERY_CHARACTERS) value = value.slice(0, value.length * 0.9);
              value = encodeURIComponent(value.toWellFormed());
            }
            const headers = { authorization: as('editor') };
            const sent: Sent = inPath
              ? { method, path: `${MOUNT}${place}${name === 'id' ? '9'.repeat(length) : value}`, headers }
              : method === 'GET'
                ? { method, path: `${MOUNT}${place}?${name}=${value}&start_date=1970-01-01&end_date=2100-01-01` }
                : {
                    method,
                    path: MOUNT + place,
                    headers: JSON_TYPE,
                    body: JSON.stringify({ ...required, [name]: value }),
                  };
            if (name.endsWith('_date') && method === 'GET') sent.path = `${MOUNT}${place}?${name}=${value}`;
            yield { parameter: name, route, length, what: over ? 'one over' : what, sent };
          }
        }
      }
    }
  }
}

const DATES = ['start_date', 'end_date', 'starts_before', 'starts_after', 'ends_before', 'ends_after'];
const EVER = 'start_date=1970-01-01&end_date=2100-01-01';

/** What no single parameter shows: all of them at once, long lists, deep and wide bodies, headers, records that the CMS itself holds. */
function* others(): Generator<Case> {
  const one = (parameter: string, what: string, length: number, sent: Partial<Sent> & { path: string }): Case => ({
    ...{ parameter, what, length, route: `${sent.method ?? 'GET'} ${sent.path.split('?')[0]!.slice(0, 30)}` },
    sent: { method: 'GET', ...sent, path: MOUNT + sent.path },
  });
  for (const [what, worst] of Object.entries(WORST)) {
    const value = encodeURIComponent(filled(worst, 200).toWellFormed());
    yield one('all dates', what, 200, {
      path: `/events?${DATES.map((name) => `${name}=${value}`).join('&')}`.slice(0, 8000),
    });
    for (const [name, limit] of Object.entries(GLOBAL_LIMITS)) {
      const text = encodeURIComponent(filled(worst, Math.min(limit.characters, 2000)).toWellFormed()).slice(0, 6900);
      yield one(name, what, text.length, {
        path: `/events?per_page=50&${EVER}&${name}=${text.replace(/%[^%]?$/, '')}`,
      });
    }
  }
  for (const words of [
    'qz',
    'zq xj',
    '-qz',
    'zzzz',
    'lala',
    'a',
    '-lala',
    `${'la'.repeat(99)}x`,
    `-${'la'.repeat(99)}x`,
  ]) {
    yield one('search', words.slice(0, 12), words.length, {
      path: `/events?search=${encodeURIComponent(words)}&${EVER}`,
    });
    yield one('search', words.slice(0, 12), words.length, { path: `/venues?search=${encodeURIComponent(words)}` });
  }
  const nine = Array.from({ length: 9 }, (_, i) => 'lo'.repeat(10) + i).join(' ');
  yield one('search', 'nine words', nine.length, { path: `/events?search=${encodeURIComponent(nine)}&${EVER}` });
  const ids = Array.from({ length: 1000 }, (_, i) => i + 1).join(',');
  for (const name of ['include', 'venue', 'organizer', 'categories', 'tags', 'exclude']) {
    const path = name === 'exclude' ? '/tags' : '/events';
    yield one(name, '1000 ids', ids.length, { path: `${path}?${EVER}&${name}=${ids}` });
  }
  const paths = Array.from({ length: 1000 }, (_, i) => `a.${i}`)
    .join(',')
    .slice(0, 4000);
  yield one('_fields', 'a thousand paths', 4000, { path: `/events?per_page=50&${EVER}&_fields=${paths}` });
  yield one('_fields', 'a deep path', 4000, {
    path: `/events?per_page=50&${EVER}&_fields=events${'.0.id'.repeat(700)}`,
  });
  for (let page = 1; page <= 3; page += 1) {
    const headers = { 'accept-encoding': 'br, identity;q=0' };
    yield one('Accept-Encoding', 'no plain form', 16, { path: `/events?per_page=50&page=${page}&${EVER}`, headers });
  }
  for (const id of LONG_IDS) yield one('long record', 'single read', 0, { path: `/events/${id}` });
  const long = 15_000;
  for (const [name, text] of [
    ['accept-encoding', 'br;q=0.1,'],
    ['accept-language', 'en;q=0.1,'],
    ['if-none-match', 'W/"a", '],
    ['if-modified-since', 'Mon, 01 Jan '],
    ['x-forwarded-for', '10.0.0.1, '],
    ['authorization', 'Basic YTpi'],
    ['cookie', 'a=b; '],
    ['origin', 'http://x'],
    ['x-request-id', 'a-'],
    ['x-wp-nonce', 'a '],
    ['x-http-method-override', 'GET '],
    ['cache-control', 'no-store, '],
  ] as const) {
    // The answer repeats an origin, and the client here takes no longer headers.
    const length = name === 'origin' ? 4000 : long;
    const value = text.repeat(Math.floor(length / text.length));
    yield one(name, 'a header', length, { path: '/events?per_page=50', headers: { [name]: value } });
  }
  const write = { method: 'POST', path: '/events', headers: JSON_TYPE };
  const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: as('editor') };
  const parts = { 'content-type': 'multipart/form-data; boundary=b', authorization: as('editor') };
  const disposition = 'Content-Disposition: form-data; name="a"\r\n\r\n';
  for (const [what, headers, body] of [
    ['empty lists', JSON_TYPE, `{"a":[${'[],'.repeat(340_000)}1]}`],
    ['names', JSON_TYPE, `{${Array.from({ length: 90_000 }, (_, i) => `"${i.toString(36)}":1`).join(',')}}`],
    [
      'as many names as may be',
      JSON_TYPE,
      `{${Array.from({ length: 19_000 }, (_, i) => `"${i.toString(36)}":1`).join(',')}}`,
    ],
    ['lists in lists', JSON_TYPE, '['.repeat(1_000_000)],
    ['escapes', JSON_TYPE, `{"title":"${'\\u0041'.repeat(170_000)}"}`],
    ['form names', form, Array.from({ length: 100_000 }, (_, i) => `${i.toString(36)}=1`).join('&')],
    ['form lists', form, 'a[]=1&'.repeat(160_000)],
    ['form brackets', form, `a${'[b]'.repeat(330_000)}=1`],
    ['form pluses', form, `description=${'+'.repeat(1_000_000)}`],
    ['form percents', form, `description=${'%'.repeat(1_000_000)}`],
    ['parts', parts, `${`--b\r\n${disposition}x\r\n`.repeat(17_000)}--b--\r\n`],
    ['lines before a part', parts, `--b\r\n${'X-A: b\r\n'.repeat(110_000)}${disposition}x\r\n--b--\r\n`],
    ['dashes in a part', parts, `--b\r\n${disposition}${'\r\n-'.repeat(330_000)}\r\n--b--\r\n`],
  ] as const) {
    yield one('body', what, body.length, { ...write, headers, body });
  }
  const venues = Array.from({ length: 900 }, () => ({ venue: `${'<'.repeat(200)}`, city: '\u0300\u0327'.repeat(100) }));
  yield one('venue', '900 records', 0, { ...write, body: JSON.stringify({ title: 'T', venue: venues }) });
  const read = JSON.stringify({ search: `x${"'".repeat(READ_BODY_BYTES - 50)}x` });
  yield one('body', 'a read', read.length, {
    path: '/events',
    headers: { 'content-type': 'application/json' },
    body: read,
  });
}

const LONG_IDS: number[] = [];

/** Thousands of events with texts as people write them, and some with the worst that a contributor can leave in the CMS. */
function fill({ posts }: WordPressStandIn): void {
  const nextYear = new Date().getUTCFullYear() + 1;
  const words = 'concert evening open stage band free entry doors at eight bring friends jazz rock folk'.split(' ');
  const worst = Object.values(WORST);
  for (let n = 0; n < EVENTS; n += 1) {
    const id = 1000 + n;
    const day = `${nextYear}-${String((n % 12) + 1).padStart(2, '0')}-${String((n % 27) + 1).padStart(2, '0')}`;
    const isLong = n % 100 === 0;
    const content = isLong
      ? filled(worst[(n / 100) % worst.length]!, 60_000)
      : Array.from({ length: 250 }, (_, i) => words[(n * 7 + i * i) % words.length]).join(' ');
    const cost = isLong ? filled(worst[(n / 100) % worst.length]!, 20_000) : '10';
    if (isLong) LONG_IDS.push(id);
    const meta = { start_date: `${day} 10:00:00`, end_date: `${day} 11:00:00`, cost };
    posts.set(id, { id, base: 'events', status: 'publish', author: 1, title: `Event ${n}`, content, meta });
  }
}

interface Row extends Case {
  stallMs: number;
  status: number;
}

/** Sends each case, and prints for each parameter of a route the longest stall; one over `boundMs` is a failure. */
export async function worstInputs(boundMs: number): Promise<void> {
  const port = await freePort();
  const probe = new URL(`./stall-probe.ts?port=${port}`, import.meta.url).href;
  const gateway = await startMeasured({ sync: { intervalS: 3600 } }, ['--import', probe], fill);
  const stall = async () => Number((await exchange(port, '/')).text);
  const worst = new Map<string, Row>();
  const failures: Row[] = [];
  let cases = 0;
  let repeated = 0;
  // What a process takes for its first requests is not what a value costs.
  for (let n = 0; n < 50; n += 1) await exchange(gateway.port, `${MOUNT}/events?n=${n}`);
  for (const make of [ofTable, others]) {
    for (const one of make()) {
      cases += 1;
      let stallMs = Number.POSITIVE_INFINITY;
      let status = 0;
      for (let tries = 0; tries < REPEATS && stallMs > boundMs; tries += 1) {
        if (tries > 0) repeated += 1;
        if (tries > 0) await stall();
        status = await send(gateway, one.sent);
        stallMs = Math.min(stallMs, await stall());
      }
      const row = { ...one, stallMs, status };
      if (stallMs > boundMs || status >= 500) console.log(`BROKEN  ${shown(row)}`);
      const key = `${one.route} ${one.parameter}`;
      if (stallMs > (worst.get(key)?.stallMs ?? -1)) worst.set(key, row);
      if (status >= 500) failures.push(row);
    }
  }
  console.log('parameter | route | length | value | longest stall, ms | status');
  for (const row of worst.values()) console.log(shown(row));
  const longest = [...worst.values()].reduce((a, b) => (a.stallMs > b.stallMs ? a : b));
  console.log('a stall is the longest delay of the event loop, and at most what the main thread computed meanwhile');
  console.log(`${cases} requests; ${repeated} repeats of those over ${boundMs} ms, of which the least counts`);
  const figure = `${longest.stallMs.toFixed(1)} ms, ${longest.parameter} of ${longest.route}, ${longest.what}`;
  report('the longest stall of the event loop', figure, `at most ${boundMs} ms`, longest.stallMs <= boundMs);
  report('answers of 500 and above', String(failures.length), 'none', failures.length === 0);
  await gateway.stop();
}

const shown = ({ parameter, route, length, what, stallMs, status }: Row): string =>
  [parameter, route, length, what, stallMs.toFixed(1), status].join(' | ');

async function send(gateway: Measured, { path, method, headers, body }: Sent): Promise<number> {
  const { status } = await exchange(gateway.port, path, {
    method,
    ...(headers ? { headers } : {}),
    ...(body === undefined ? {} : { body }),
  });
  return status;
}
