// docs/api.md: sends its requests to a gateway, and compares its tables with the parameters, the fields and
// the error codes. docs/extensions.md: names what is added.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { COMMON_HEADERS } from '../../src/http/headers.ts';
import { BODY_PARAMETERS } from '../../src/interface/fields.ts';
import type { Parameter } from '../../src/interface/parameter.ts';
import { LIST_PARAMETERS } from '../../src/interface/parameters.ts';
import { CHANGES_SCHEMA } from '../../src/interface/response-schemas.ts';
import { ROUTES } from '../../src/interface/routes.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import type { Mapping } from '../../src/mapping/mapping.ts';
import { type Kind, PLURALS } from '../../src/model/records.ts';
import { toldChange } from '../../src/store/change-journal.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { BASE, type RequestOptions, ROOT, startGateway, type TestGateway } from '../start-gateway.ts';

const FILE = join(ROOT, 'docs/api.md');
const document = readFileSync(FILE, 'utf8');
const EXAMPLE = /(```sh\n(curl [\s\S]*?)\n```\n\n```json )(\d{3})\n([\s\S]*?)\n```/g;
const NOW_MS = Date.UTC(2027, 2, 1, 15);

/** What the examples read, in the order of their ids. */
const RECORDS: [path: string, body: object][] = [
  ['/categories', { name: 'Concerts', description: 'Live music' }],
  ['/categories', { name: 'Markets' }],
  ['/tags', { name: 'Free entry' }],
  ['/venues', { venue: 'Old Pier', address: '1 Pier Road', city: 'Gullhaven', country: 'United States', state: 'ME' }],
  ['/venues', { venue: 'Market Square', city: 'Gullhaven' }],
  ['/organizers', { organizer: 'Pier Society', email: 'hello@pier.example', website: 'https://pier.example' }],
  [
    '/events',
    {
      title: 'Saturday Market',
      start_date: '2027-03-06 08:00',
      end_date: '2027-03-06 13:00',
      cost: '0',
      venue: [5],
      categories: [2],
      tags: [3],
    },
  ],
  ['/events', { title: 'Kite day', start_date: '2027-03-07 11:00', end_date: '2027-03-07 16:00' }],
  [
    '/events',
    {
      title: 'Brass on the pier',
      description: '<p>Ten horns and a drum.</p>',
      excerpt: 'Ten horns and a drum.',
      start_date: '2027-03-12 20:00',
      end_date: '2027-03-12 22:30',
      cost: '12 - 18',
      website: 'https://brass.example',
      venue: [4],
      organizer: [6],
      categories: [1],
    },
  ],
];

/** With the custom fields of the examples. */
function exampleMapping(): Mapping {
  const { file: source } = loadMapping('wordpress-meta');
  const custom = (field: string) => ({ custom_fields: { [field]: { at: `meta.${field}`, filter: true } } });
  const event = { ...source.event, ...custom('last_bus') };
  const venue = { ...source.venue, ...custom('seats') };
  return compileMapping(
    { ...source, event, venue, organizer: { ...source.organizer, ...custom('founded') } },
    'example',
  );
}

async function filledGateway(): Promise<TestGateway> {
  const gateway = await startGateway({
    cms: createFakeCms(() => NOW_MS),
    mapping: exampleMapping(),
    service: CREDENTIALS.admin,
    as: CREDENTIALS,
    nowMs: () => NOW_MS,
  });
  for (const [path, body] of RECORDS) {
    const { status, text } = await gateway.request(path, { as: 'editor', json: { status: 'publish', ...body } });
    expect(status, text).to.equal(201);
  }
  const picture = { filename: 'pier.png', mimeType: 'image/png', bytes: new Uint8Array([1]) };
  await gateway.cms.upload(picture, { credentials: CREDENTIALS.editor });
  return gateway;
}

/** The request of a curl command with options in single quotes. */
function parseCurl(command: string): { path: string } & RequestOptions {
  const option = (flag: string): string[] =>
    [...command.matchAll(new RegExp(` ${flag} (?:'([^']*)'|(\\S+))`, 'g'))].map(([, quoted, word]) => quoted ?? word!);
  const url = new RegExp(`'(${BASE.replaceAll('.', '\\.')}[^']*)'`).exec(command)?.[1];
  expect(url, command).to.be.a('string');
  const headers = option('-H').map((line) => line.split(': ') as [string, string]);
  const [body] = option('-d');
  const as = option('-u')[0]?.split(':')[0];
  const method = option('-X')[0] ?? (body === undefined ? 'GET' : 'POST');
  return { path: url!.slice(BASE.length), as, method, headers: Object.fromEntries(headers), ...(body && { body }) };
}

const sectionOf = (heading: string): string =>
  document.slice(document.indexOf(`\n### ${heading}\n`) + 1).split(/\n##/)[0]!;

/** The text between a heading and its table. */
const introduction = (heading: string): string => sectionOf(heading).split('\n|')[0]!;

/** The rows of the table below a heading: parameter or field, example, meaning. */
function rowsBelow(heading: string): [name: string, example: string, meaning: string][] {
  return [...sectionOf(heading).matchAll(/^\| `(\w+)` \| `(.*)` \| (.*) \|$/gm)].map(
    ([, ...row]) => row as [string, string, string],
  );
}

/**
 * Name and meaning of each parameter as its row has them: the meaning of `order` ends with ": `asc`, `desc`". Of
 * `fields`, which has forty words, the OpenAPI document names them.
 */
const described = (parameters: readonly Parameter[]): [name: string, meaning: string][] =>
  parameters.map(({ name, description, type }) => {
    const words = type.schema.enum ?? type.schema.items?.enum;
    return [
      name,
      words && words.length <= 10 ? `${description}: ${words.map((word) => `\`${word}\``).join(', ')}` : description,
    ];
  });

describe('docs/api.md', () => {
  it('shows what a gateway answers (npm run docs updates the file)', async () => {
    const gateway = await filledGateway();
    const examples = [...document.matchAll(EXAMPLE)];
    expect(examples.length).to.be.above(8);
    let updated = document;
    for (const [block, begin = '', command = '', status, shown = ''] of examples) {
      const { path, ...request } = parseCurl(command);
      const response = await gateway.request(path, request);
      expect(String(response.status), `${command}\n${response.text}`).to.equal(status);
      const body = JSON.stringify(response.body, null, 2);
      if (process.env.WRITE_DOCS) updated = updated.replace(block, () => `${begin}${status}\n${body}\n\`\`\``);
      else expect(JSON.parse(shown), command).to.deep.equal(response.body);
    }
    await gateway.stop();
    if (updated !== document) writeFileSync(FILE, updated);
  });

  const LISTS: Record<string, readonly [kind: Kind, other?: Kind]> = {
    Events: ['event'],
    'Venues and organizers': ['venue', 'organizer'],
    'Categories and tags': ['category', 'tag'],
  };
  for (const [heading, kinds] of Object.entries(LISTS)) {
    it(`has every parameter of the lists: ${heading}`, async () => {
      const rows = rowsBelow(heading);
      const declares = (kind: Kind, name: string) => LIST_PARAMETERS[kind].some((each) => each.name === name);
      // The words of the first kind, and the parameters that the other one alone has.
      const [first, other = first] = kinds;
      const ofOther = LIST_PARAMETERS[other].filter(({ name }) => !declares(first, name));
      const parameters = described([...LIST_PARAMETERS[first], ...ofOther]);
      expect(rows.map(([name, , meaning]) => [name, meaning])).to.deep.equal(parameters);
      const ofOne = parameters.filter(([name]) => !(declares(first, name) && declares(other, name)));
      for (const [name] of ofOne)
        expect(introduction(heading), `above the table: which list alone has ${name}?`).to.include(`\`${name}\``);
      const gateway = await filledGateway();
      for (const [name, example] of rows) {
        expect(example.split(/[=[]/, 1)[0]).to.equal(name);
        const list = PLURALS[declares(first, name) ? first : other];
        const { status, text } = await gateway.request(`/${list}?${example}`);
        expect(status, `${example}: ${text}`).to.equal(200);
      }
      await gateway.stop();
    });
  }

  const BODIES = { event: 'an event', venue: 'a venue', organizer: 'an organizer', category: 'a category' } as const;
  for (const [kind, name] of Object.entries(BODIES) as [keyof typeof BODIES, string][]) {
    it(`has every field of ${name}`, async () => {
      const rows = rowsBelow(`Fields of ${name}`);
      expect(rows.map(([field, , meaning]) => [field, meaning])).to.deep.equal(described(BODY_PARAMETERS[kind]));
      const gateway = await filledGateway();
      const json = Object.fromEntries(rows.map(([field, example]) => [field, JSON.parse(example)]));
      const path = { event: '/events', venue: '/venues', organizer: '/organizers', category: '/categories' }[kind];
      const { status, text } = await gateway.request(path, { as: 'editor', json });
      expect(status, text).to.equal(201);
      await gateway.stop();
    });
  }

  it('has the headers that scripts of other sites can send and read', () => {
    for (const [row, header] of Object.entries({
      'requests may have': 'Access-Control-Allow-Headers',
      'scripts can read': 'Access-Control-Expose-Headers',
    })) {
      const [, named = ''] = new RegExp(`^\\| ${row} \\| (.*) \\|$`, 'm').exec(document) ?? [];
      const names = [...named.matchAll(/`([\w-]+)`/g)].map(([, name]) => name);
      expect(names, row).to.have.members(COMMON_HEADERS[header]!.split(', '));
    }
  });

  it('has every path', () => {
    const paths = ROUTES.map(({ path }) => path).filter((path) => path !== '' && !path.includes('{'));
    expect(paths).to.include.members(['/events', '/changes']);
    expect(paths.filter((path) => !new RegExp(`\`${path}[\`?]`).test(document))).to.deep.equal([]);
  });

  it('has every error code', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => readFileSync(join(ROOT, 'src', name), 'utf8'));
    const codes = sources.flatMap((source) =>
      [...source.matchAll(/new ApiError\(\s*[^,]+,\s*(?:'([\w-]+)'|`\$\{kind\}([\w-]+)`)/g)].map(
        ([, code, ending]) => code ?? `event${ending}`,
      ),
    );
    expect(codes).to.include.members(['rest_invalid_param', 'calendar_not_ready', 'event-is-in-trash']);
    const unnamed = [...new Set(codes)].filter((code) => !document.includes(`\`${code}\``));
    expect(unnamed, 'add them to the rows of their statuses in docs/api.md').to.deep.equal([]);
  });
});

describe('docs/extensions.md', () => {
  it('names every parameter that the original lacks', () => {
    const extensions = readFileSync(join(ROOT, 'docs/extensions.md'), 'utf8');
    const parameters = ROUTES.flatMap(({ endpoints }) => endpoints).flatMap((endpoint) => endpoint.parameters);
    const lacking: string[] = [];
    for (const { name, addition } of parameters)
      if (addition && !new RegExp(`\`[^\`]*\\b${name}\\b[^\`]*\``).test(extensions)) lacking.push(name);
    expect([...new Set(lacking)]).to.deep.equal([]);
  });
});

describe('the properties of a change', () => {
  const told = toldChange({ kind: 'event', id: 12, change: 'updated', number: 1, notedS: 1 });

  it('are in the response schema of /changes', () => {
    expect(CHANGES_SCHEMA.properties!.changes!.items!.properties).to.have.all.keys(told);
  });

  for (const file of ['docs/extensions.md', 'docs/webhooks.md'])
    it(`are in the examples of ${file}`, () => {
      const shown = [...readFileSync(join(ROOT, file), 'utf8').matchAll(/\{ ?"kind": ?"[^}]*\}/g)];
      expect(shown.length).to.be.above(1);
      for (const [text] of shown) expect(JSON.parse(text), text).to.have.all.keys(told);
    });
});
