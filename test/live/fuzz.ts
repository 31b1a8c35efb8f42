// `node test/live/fuzz.ts`: hostile values for every route and parameter of the API, as every kind of caller.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { startSandbox } from '../../sandbox/start.ts';
import type { Parameter } from '../../src/interface/parameter.ts';
import { ROUTES } from '../../src/interface/routes.ts';
import { scriptOptions } from '../script-options.ts';
import { basicAuth } from './json-client.ts';
import { startLiveGateway } from './live-gateway.ts';

const options = scriptOptions(
  `node test/live/fuzz.ts [options]

Sends hostile values for every route and parameter of the API, as every kind of caller, to a gateway in front of a new WordPress, which the
first run downloads. Takes a minute. Fails for a 5xx, an error in another form, and a record that a rejected write created or changed.`,
  {
    requests: { type: 'string', value: 'N', default: '10000', help: 'how many are sent' },
    seed: {
      type: 'string',
      value: 'N',
      help: 'generates the same requests again; each run prints its seed (default: random)',
    },
  },
);
const REQUESTS = Number(options.requests);
const SEED = Number(options.seed ?? Date.now() % 2 ** 31);
const AT_ONCE = 8;

/** Values that break parsers, lookups, dates, numbers and SQL, and some valid ones. */
const hostile = fc.oneof(
  fc.constantFrom<unknown>(
    '',
    ' ',
    '0',
    '-1',
    '1.5',
    '1e9',
    '999999999999999999999',
    'NaN',
    'null',
    'true',
    'false',
    '%00',
    '\u0000',
    '%',
    '_',
    "' OR 1=1 --",
  ),
  fc.constantFrom<unknown>(
    '<script>alert(1)</script>',
    '../../etc/passwd',
    '{{7*7}}',
    '\u202e\u0000abc',
    '\ud83d\ude00',
    'a'.repeat(5000),
    'today',
    '2027-02-30',
    '+1 week',
    '@0',
  ),
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e300,
    [],
    {},
    [[]],
    [null],
    [{}],
    { id: 1 },
    { id: {} },
    { venue: 'x' },
    { __proto__: { x: 1 } },
    [1, 'a', null],
  ),
  fc.constantFrom<unknown>(
    'http://127.0.0.1/',
    'http://[::1]:22/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'https://example.org',
    'UTC+99',
    'Europe/Berlin',
    'publish',
    'any',
    'trash',
  ),
  fc.string({ maxLength: 40, unit: 'binary' }),
  fc.integer({ min: -10, max: 60 }),
  fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as unknown),
);

const endpoints = ROUTES.flatMap((route) =>
  route.endpoints.flatMap((endpoint) => endpoint.methods.map((method) => ({ route, endpoint, method }))),
);
const slugs = fc.constantFrom('x', '%2e%2e', '%00', 'a%2fb', '%F0%9F%98%80', 'sample-1', '0', '..;', "'");

const requestArbitrary = fc.constantFrom(...endpoints).chain(({ route, endpoint, method }) =>
  fc.record({
    method: fc.constant(method),
    path: fc
      .oneof(fc.integer({ min: 0, max: 80 }).map(String), fc.constantFrom('00', '99999999', '9'.repeat(30)))
      .chain((id) => slugs.map((slug) => route.path.replace('{id}', id).replace('{slug}', slug))),
    sent: chosen(endpoint.parameters.filter(({ inPath }) => !inPath)),
    as: fc.constantFrom('anonymous', 'subscriber', 'contributor', 'author', 'editor', 'admin', 'wrong'),
    how: fc.constantFrom('query', 'json', 'form', 'broken'),
    extra: fc.constantFrom(
      '',
      '_fields=id,events.0.id',
      '_envelope=1',
      '_method=DELETE',
      '_jsonp=a.b',
      '_jsonp=a(b',
      'context=edit',
      'password=x',
      '__proto__[x]=1',
    ),
  }),
);

/** Random parameters of the table, each with a hostile value. */
function chosen(parameters: Parameter[]): fc.Arbitrary<Record<string, unknown>> {
  if (parameters.length === 0) return fc.constant({});
  const names = parameters.map(({ name }) => name);
  const required = parameters.filter((parameter) => parameter.required).map(({ name }) => name);
  const valid: Record<string, unknown> = {
    title: 'Fuzz',
    start_date: '2031-01-01 10:00',
    end_date: '2031-01-01 11:00',
    venue: 'Fuzz hall',
    organizer: 'Fuzz club',
    name: 'Fuzz term',
  };
  const base = fc.constantFrom({}, Object.fromEntries(required.map((name) => [name, valid[name]])));
  return fc
    .tuple(base, fc.dictionary(fc.constantFrom(...names), hostile, { maxKeys: 4, noNullPrototype: true }))
    .map(([some, others]) => ({ ...some, ...others }));
}

type Sent = typeof requestArbitrary extends fc.Arbitrary<infer T> ? T : never;

const flat = (values: Record<string, unknown>): string =>
  new URLSearchParams(
    Object.entries(values).map(([name, value]): [string, string] => [
      name,
      typeof value === 'object' ? JSON.stringify(value) : String(value),
    ]),
  ).toString();

const sandboxDir = mkdtempSync(join(tmpdir(), 'calendar-fuzz-'));
const sandbox = await startSandbox({ dir: sandboxDir, port: 0, fresh: true });
const gateway = await startLiveGateway(sandbox, {
  service: true,
  limits: { failedLoginsPerAddress: 1_000_000, failedLoginsPerUser: 1_000_000 },
});
const users: Record<string, string> = Object.fromEntries(
  Object.entries(sandbox.credentials).map(([role, account]) => [role, basicAuth(account)]),
);
users.wrong = basicAuth({ user: 'admin', applicationPassword: 'nonsense' });

function prepared({ method, path, sent: request, as, how, extra }: Sent): [string, RequestInit] {
  const headers: Record<string, string> = users[as] ? { authorization: users[as] } : {};
  const bodied = method !== 'GET' && how !== 'query';
  // The response to a write has to name the created records.
  const wish = method !== 'GET' && /^_(fields|jsonp)/.test(extra) ? '' : extra;
  const query = [bodied ? '' : flat(request), wish].filter((part) => part !== '').join('&');
  const url = `${gateway.url}/calendar/events/v1${path}${query === '' ? '' : `?${query}`}`;
  if (!bodied) return [url, { method, headers }];
  const type = how === 'form' ? 'application/x-www-form-urlencoded' : 'application/json';
  const body =
    how === 'form' ? flat(request) : how === 'broken' ? JSON.stringify(request).slice(0, -1) : JSON.stringify(request);
  return [url, { method, headers: { ...headers, 'content-type': type }, body }];
}

/** Returns why a response is invalid; undefined if it matches the API's schema. */
function faultOf(status: number, text: string, isJson: boolean): string | undefined {
  if (status >= 500) return `status ${status}`;
  if (!isJson) return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return status === 204 || text === '' ? undefined : 'not JSON';
  }
  if (status < 400) return undefined;
  const { code, message } = body as { code?: unknown; message?: unknown };
  return typeof code === 'string' && typeof message === 'string' && message !== ''
    ? undefined
    : 'an error in another form';
}

/**
 * The parts of a record that a write can change, without those that depend on other records (counts, deleted
 * terms).
 */
const FIELDS = 'id,status,author,slug,title,content,excerpt,date,meta,name,description';

/** Every record of the CMS by key (`events/12`). */
async function nativeRecords(): Promise<Map<string, string>> {
  const records = new Map<string, string>();
  for (const base of ['events', 'venues', 'organizers', 'event_categories', 'tags', 'media']) {
    const isPost = ['events', 'venues', 'organizers'].includes(base);
    const status = isPost ? '&status=publish,draft,pending,private,future,trash' : '';
    for (let page = 1, pages = 1; page <= pages; page++) {
      const url = `${sandbox.url}/wp-json/wp/v2/${base}?per_page=100&page=${page}&context=edit&orderby=id&_fields=${FIELDS}${status}`;
      const response = await fetch(url, { headers: { authorization: users.admin! } });
      pages = Number(response.headers.get('x-wp-totalpages'));
      for (const record of (await response.json()) as { id: number }[])
        records.set(`${base}/${record.id}`, JSON.stringify(record));
    }
  }
  return records;
}

const BASES: Record<string, string> = { calendar_events_cat: 'event_categories', post_tag: 'tags' };

/** Adds every record that the response to a write names: only these may be new in the CMS. */
function explain(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  const { id, taxonomy } = value as { id?: unknown; taxonomy?: string };
  if (typeof id === 'number') {
    const bases = taxonomy === undefined ? ['events', 'venues', 'organizers', 'media'] : [BASES[taxonomy] ?? taxonomy];
    for (const base of bases) into.add(`${base}/${id}`);
  }
  for (const below of Object.values(value)) explain(below, into);
}

const LEFT: Record<string, string> = {
  ...{ event: 'events', venue: 'venues', organizer: 'organizers' },
  ...{ category: 'event_categories', tag: 'tags', image: 'media' },
};

/** Adds the records that an error names as remaining. */
function explainLeft(text: string, into: Set<string>): void {
  if (!text.startsWith('{')) return;
  const { data } = JSON.parse(text) as { data?: Record<string, { kind: string; id?: number }[] | undefined> };
  for (const { kind, id } of data?.created ?? []) into.add(`${LEFT[kind]}/${id}`);
}

/** Calendar files and Atom feeds. Their errors are JSON. */
const FILE_TYPES = /^(?:text\/calendar|application\/atom\+xml)/;

const explained = new Set<string>();
const faults: string[] = [];
const statuses = new Map<number, number>();
let created = 0;
let rejectedWrites = 0;
let orphans: string[] = [];
let changed: string[] = [];
try {
  const before = await nativeRecords();
  const queue = fc.sample(requestArbitrary, { numRuns: REQUESTS, seed: SEED });
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let request = queue.pop(); request; request = queue.pop()) {
        const [url, init] = prepared(request);
        const response = await fetch(url, init).catch((error: unknown) => error as Error);
        if (response instanceof Error) {
          faults.push(`${init.method} ${url}: ${response.message}`);
          continue;
        }
        const text = await response.text();
        statuses.set(response.status, (statuses.get(response.status) ?? 0) + 1);
        if (response.status === 201) created++;
        const isFile = response.ok && FILE_TYPES.test(response.headers.get('content-type') ?? '');
        const isJson = !isFile && !text.startsWith('/**/');
        if (response.status < 300 && isJson) explain(JSON.parse(text), explained);
        else if (init.method !== 'GET') rejectedWrites++;
        if (response.status >= 400 && init.method !== 'GET') explainLeft(text, explained);
        const fault = faultOf(response.status, text, isJson);
        if (fault)
          faults.push(
            `${fault}: ${request.as} ${init.method} ${url.slice(0, 300)} ${String(init.body ?? '').slice(0, 300)} -> ${text.slice(0, 200)}`,
          );
        if (queue.length > 0 && queue.length % 1000 === 0)
          process.stderr.write(`fuzz: ${REQUESTS - queue.length} of ${REQUESTS}\n`);
      }
    }),
  );
  const after = await nativeRecords();
  // Records that a rollback moved to the trash are no orphans.
  const isTrash = (record: string) => JSON.parse(after.get(record)!).status === 'trash';
  orphans = [...after.keys()].filter((key) => !before.has(key) && !explained.has(key) && !isTrash(key));
  for (const record of orphans) faults.push(`orphan of a rejected write: ${record}`);
  changed = [...before.keys()].filter((record) => before.get(record) !== after.get(record) && !explained.has(record));
  for (const record of changed)
    faults.push(`changed by a rejected write: ${record}: ${before.get(record)} -> ${after.get(record) ?? 'deleted'}`);
  if (gateway.child.exitCode !== null) faults.push('the gateway has ended');
} finally {
  await gateway.stop();
  await sandbox.stop();
  rmSync(sandboxDir, { recursive: true, force: true });
}

for (const fault of faults.slice(0, 20)) console.error(`fuzz: ${fault}`);
console.error(
  `fuzz: seed ${SEED}; responses by status ${JSON.stringify(Object.fromEntries([...statuses].sort()))}; ${created} creates, ${rejectedWrites} rejected writes, ${orphans.length} orphans, ${changed.length} changed without a write that was accepted`,
);
console.log(`${REQUESTS - faults.length} passed, ${faults.length} failed`);
process.exitCode = faults.length > 0 ? 1 : 0;
