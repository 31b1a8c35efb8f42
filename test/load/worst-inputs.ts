// Worst-case values of each parameter and field, at the maximum length and beyond: how long the event loop
// stalls.

import { ROUTES } from '../../src/interface/routes.ts';
import { GLOBAL_LIMITS, type Limit, READ_BODY_BYTES } from '../../src/interface/value-lengths.ts';
import { authorization, type FakeWordPress } from '../faults/fake-wordpress.ts';
import { freePort } from '../free-port.ts';
import { sendRequest } from '../start-gateway.ts';
import { type MeasuredGateway, MOUNT, report, startMeasuredGateway } from './measured-gateway.ts';

const REPEATS = 3;
const EVENTS = 3600;
/** Encoded characters of a query value, so that the whole URL stays within its limit. */
const QUERY_CHARACTERS = 7000;

/**
 * Repeated to the required length: worst cases of regular expressions, date parsers, the word index, HTML and
 * Unicode.
 */
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
  request: Sent;
}

const JSON_TYPE = { 'content-type': 'application/json', authorization: authorization('editor') };
const REQUIRED = {
  ...{ title: 'T', start_date: '2030-01-01', end_date: '2030-01-01' },
  ...{ venue: 'V', organizer: 'O', name: 'N' },
};

/** Every parameter of every route with each worst value, at the limit and one character longer. */
function* ofTable(): Generator<Case> {
  for (const { path, endpoints } of ROUTES) {
    for (const { methods, operation, parameters } of endpoints) {
      const method = methods[0]!;
      const required = Object.fromEntries(
        parameters
          .filter((parameter) => parameter.required && !parameter.inPath)
          .map(({ name }) => [name, REQUIRED[name as 'title']]),
      );
      for (const { name, inPath, limit } of parameters) {
        const { characters } = limit as Limit;
        // Lists process their values most; a write only cleans and forwards them.
        const values = operation === 'list' ? Object.entries(WORST) : FEW;
        for (const [what, worst] of values) {
          for (const over of [0, 1]) {
            // One value represents all that are too long.
            if (over && what !== 'letters') continue;
            const isInAddress = inPath || method === 'GET';
            const longest = (limit as Limit).textCharacters ?? characters;
            const length = Math.min(longest + over, isInAddress ? QUERY_CHARACTERS : 1_000_000);
            let value = filled(worst, length);
            const route = `${method} ${path || '/'}`;
            const url = path.replace(/\{(id|slug)\}/, inPath ? '' : '1');
            if (isInAddress) {
              while (encodeURIComponent(value).length > QUERY_CHARACTERS) value = value.slice(0, value.length * 0.9);
              value = encodeURIComponent(value.toWellFormed());
            }
            const headers = { authorization: authorization('editor') };
            const request: Sent = inPath
              ? { method, path: `${MOUNT}${url}${name === 'id' ? '9'.repeat(length) : value}`, headers }
              : method === 'GET'
                ? { method, path: `${MOUNT}${url}?${name}=${value}&start_date=1970-01-01&end_date=2100-01-01` }
                : {
                    method,
                    path: MOUNT + url,
                    headers: JSON_TYPE,
                    body: JSON.stringify({ ...required, [name]: value }),
                  };
            if (name.endsWith('_date') && method === 'GET') request.path = `${MOUNT}${url}?${name}=${value}`;
            yield { parameter: name, route, length, what: over ? 'one over' : what, request: request };
          }
        }
      }
    }
  }
}

const DATES = ['start_date', 'end_date', 'starts_before', 'starts_after', 'ends_before', 'ends_after'];
const EVER = 'start_date=1970-01-01&end_date=2100-01-01';

/**
 * Cases beyond single parameters: all parameters together, long lists, deep and wide bodies, headers, records
 * of the CMS.
 */
function* others(): Generator<Case> {
  const createCase = (
    parameter: string,
    what: string,
    length: number,
    request: Partial<Sent> & { path: string },
  ): Case => ({
    ...{ parameter, what, length, route: `${request.method ?? 'GET'} ${request.path.split('?')[0]!.slice(0, 30)}` },
    request: { method: 'GET', ...request, path: MOUNT + request.path },
  });
  for (const [what, worst] of Object.entries(WORST)) {
    const value = encodeURIComponent(filled(worst, 200).toWellFormed());
    yield createCase('all dates', what, 200, {
      path: `/events?${DATES.map((name) => `${name}=${value}`).join('&')}`.slice(0, 8000),
    });
    for (const [name, limit] of Object.entries(GLOBAL_LIMITS)) {
      const text = encodeURIComponent(filled(worst, Math.min(limit.characters, 2000)).toWellFormed()).slice(0, 6900);
      yield createCase(name, what, text.length, {
        path: `/events?per_page=50&${EVER}&${name}=${text.replace(/%[^%]?$/, '')}`,
      });
    }
  }
  for (const texts of [
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
    yield createCase('search', texts.slice(0, 12), texts.length, {
      path: `/events?search=${encodeURIComponent(texts)}&${EVER}`,
    });
    yield createCase('search', texts.slice(0, 12), texts.length, {
      path: `/venues?search=${encodeURIComponent(texts)}`,
    });
  }
  const nine = Array.from({ length: 9 }, (_, i) => 'lo'.repeat(10) + i).join(' ');
  yield createCase('search', 'nine words', nine.length, { path: `/events?search=${encodeURIComponent(nine)}&${EVER}` });
  const ids = Array.from({ length: 1000 }, (_, i) => i + 1).join(',');
  for (const name of ['include', 'venue', 'organizer', 'categories', 'tags', 'exclude']) {
    const path = name === 'exclude' ? '/tags' : '/events';
    yield createCase(name, '1000 ids', ids.length, { path: `${path}?${EVER}&${name}=${ids}` });
  }
  const paths = Array.from({ length: 1000 }, (_, i) => `a.${i}`)
    .join(',')
    .slice(0, 4000);
  yield createCase('_fields', 'a thousand paths', 4000, { path: `/events?per_page=50&${EVER}&_fields=${paths}` });
  yield createCase('_fields', 'a deep path', 4000, {
    path: `/events?per_page=50&${EVER}&_fields=events${'.0.id'.repeat(700)}`,
  });
  for (let page = 1; page <= 3; page += 1) {
    const headers = { 'accept-encoding': 'br, identity;q=0' };
    yield createCase('Accept-Encoding', 'no plain form', 16, {
      path: `/events?per_page=50&page=${page}&${EVER}`,
      headers,
    });
  }
  for (const path of ['/events.atom?per_page=200&', '/events.ics?', '/events?per_page=50&'])
    for (let page = 1; page <= 3; page += 1)
      yield createCase('page', 'of many events', page, { path: `${path}page=${page}&${EVER}` });
  for (const id of LONG_IDS) yield createCase('long record', 'single read', 0, { path: `/events/${id}` });
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
    // The response repeats the origin, and this client accepts no longer headers.
    const length = name === 'origin' ? 4000 : long;
    const value = text.repeat(Math.floor(length / text.length));
    yield createCase(name, 'a header', length, { path: '/events?per_page=50', headers: { [name]: value } });
  }
  const write = { method: 'POST', path: '/events', headers: JSON_TYPE };
  const form = { 'content-type': 'application/x-www-form-urlencoded', authorization: authorization('editor') };
  const parts = { 'content-type': 'multipart/form-data; boundary=b', authorization: authorization('editor') };
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
    ['form brackets of a custom field', form, `custom_fields${'[b]'.repeat(325_000)}=1`],
    ['form pluses', form, `description=${'+'.repeat(1_000_000)}`],
    ['form percents', form, `description=${'%'.repeat(1_000_000)}`],
    ['parts', parts, `${`--b\r\n${disposition}x\r\n`.repeat(17_000)}--b--\r\n`],
    ['lines before a part', parts, `--b\r\n${'X-A: b\r\n'.repeat(110_000)}${disposition}x\r\n--b--\r\n`],
    ['dashes in a part', parts, `--b\r\n${disposition}${'\r\n-'.repeat(330_000)}\r\n--b--\r\n`],
  ] as const) {
    yield createCase('body', what, body.length, { ...write, headers, body });
  }
  const venues = Array.from({ length: 900 }, () => ({ venue: `${'<'.repeat(200)}`, city: '\u0300\u0327'.repeat(100) }));
  yield createCase('venue', '900 records', 0, { ...write, body: JSON.stringify({ title: 'T', venue: venues }) });
  const dates = { start_date: '2030-01-01', end_date: '2030-01-01' };
  for (const [what, code] of [
    ['base64', (n: number) => 48 + ((n * 7919 + (n >> 8) * 31) % 75)],
    ['ideographs', (n: number) => 0x4e00 + ((n * 7919) % 20_000)],
  ] as const) {
    const description = Array.from({ length: 99_000 }, (_, n) => String.fromCharCode(code(n))).join('');
    yield createCase('description', `different ${what}`, description.length, {
      ...write,
      body: JSON.stringify({ title: 'T', ...dates, description }),
    });
  }
  for (const [what, worst] of Object.entries(WORST)) {
    const name = filled(worst, 21_000);
    const embedded = { venue: [{ venue: name }, { venue: `b${name}` }], organizer: { organizer: name } };
    yield createCase('venue', `names of ${what}`, name.length, {
      ...write,
      body: JSON.stringify({ title: 'T', ...dates, ...embedded }),
    });
  }
  const read = JSON.stringify({ search: `x${"'".repeat(READ_BODY_BYTES - 50)}x` });
  yield createCase('body', 'a read', read.length, {
    path: '/events',
    headers: { 'content-type': 'application/json' },
    body: read,
  });
}

const LONG_IDS: number[] = [];

/** Thousands of events with realistic texts, and some with the worst texts that a contributor can store. */
function fill({ cms }: FakeWordPress): void {
  const nextYear = new Date().getUTCFullYear() + 1;
  const vocabulary = 'concert evening open stage band free entry doors at eight bring friends jazz rock folk'.split(
    ' ',
  );
  const worst = Object.values(WORST);
  for (let n = 0; n < EVENTS; n += 1) {
    const id = 1000 + n;
    const day = `${nextYear}-${String((n % 12) + 1).padStart(2, '0')}-${String((n % 27) + 1).padStart(2, '0')}`;
    const isLong = n % 100 === 0;
    const content = isLong
      ? filled(worst[(n / 100) % worst.length]!, 60_000)
      : Array.from({ length: 250 }, (_, i) => vocabulary[(n * 7 + i * i) % vocabulary.length]).join(' ');
    const cost = isLong ? filled(worst[(n / 100) % worst.length]!, 20_000) : '10';
    if (isLong) LONG_IDS.push(id);
    const meta = { start_date: `${day} 10:00:00`, end_date: `${day} 11:00:00`, cost };
    cms.createPost('events', { id, title: `Event ${n}`, content, meta });
  }
}

interface Row extends Case {
  stallMs: number;
  status: number;
}

/** Sends each case and prints the longest stall per parameter and route; one over `boundMs` fails. */
export async function worstInputs(boundMs: number): Promise<void> {
  const port = await freePort();
  const probe = new URL(`./stall-probe.ts?port=${port}`, import.meta.url).href;
  const gateway = await startMeasuredGateway({ sync: { intervalS: 3600 } }, ['--import', probe], fill);
  const stall = async () => Number((await sendRequest(port, '/')).text);
  const worst = new Map<string, Row>();
  const failures: Row[] = [];
  let cases = 0;
  let repeated = 0;
  // Excludes the cost of a process's first requests.
  for (let n = 0; n < 50; n += 1) await sendRequest(gateway.port, `${MOUNT}/events?n=${n}`);
  for (const make of [ofTable, others]) {
    for (const testCase of make()) {
      cases += 1;
      let stallMs = Number.POSITIVE_INFINITY;
      let status = 0;
      for (let tries = 0; tries < REPEATS && stallMs > boundMs; tries += 1) {
        if (tries > 0) repeated += 1;
        if (tries > 0) await stall();
        status = await send(gateway, testCase.request);
        stallMs = Math.min(stallMs, await stall());
      }
      const row = { ...testCase, stallMs, status };
      if (stallMs > boundMs || status >= 500) console.log(`BROKEN  ${format(row)}`);
      const key = `${testCase.route} ${testCase.parameter}`;
      if (stallMs > (worst.get(key)?.stallMs ?? -1)) worst.set(key, row);
      if (status >= 500) failures.push(row);
    }
  }
  console.log('parameter | route | length | value | longest stall, ms | status');
  for (const row of worst.values()) console.log(format(row));
  const longest = [...worst.values()].reduce((a, b) => (a.stallMs > b.stallMs ? a : b));
  console.log('a stall is the longest delay of the event loop, and at most what the main thread computed meanwhile');
  console.log(`${cases} requests; ${repeated} repeats of those over ${boundMs} ms, of which the least counts`);
  const figure = `${longest.stallMs.toFixed(1)} ms, ${longest.parameter} of ${longest.route}, ${longest.what}`;
  report('the longest stall of the event loop', figure, `at most ${boundMs} ms`, longest.stallMs <= boundMs);
  report('answers of 500 and above', String(failures.length), 'none', failures.length === 0);
  await gateway.stop();
}

const format = ({ parameter, route, length, what, stallMs, status }: Row): string =>
  [parameter, route, length, what, stallMs.toFixed(1), status].join(' | ');

async function send(gateway: MeasuredGateway, { path, method, headers, body }: Sent): Promise<number> {
  const { status } = await sendRequest(gateway.port, path, {
    method,
    ...(headers ? { headers } : {}),
    ...(body === undefined ? {} : { body }),
  });
  return status;
}
