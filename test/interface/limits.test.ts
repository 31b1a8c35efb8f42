// How long each value may be, on every route: the table, what a longer value is answered with, and what never becomes a 500.

import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import {
  GLOBAL_LIMITS,
  HEADER_CHARACTERS,
  isTooLong,
  LIMITS,
  type Limit,
  MAX_BODY_VALUES,
  MAX_NAME_CHARACTERS,
  MAX_NAMES,
  MAX_PARAMETERS,
  MAX_PART_HEADER_BYTES,
  READ_BODY_BYTES,
  UNDECLARED,
} from '../../src/interface/limits.ts';
import type { Parameter } from '../../src/interface/parameters.ts';
import { organizerFields, venueFields } from '../../src/interface/parameters.ts';
import { type Endpoint, ROUTES, type Route } from '../../src/interface/routes.ts';
import { AS, fakeCms } from '../calendar/fake-cms.ts';
import { type Answered, type GatewayUnderTest, gatewayUnderTest } from '../gateway-under-test.ts';

const pathOf = ({ path }: Route, key: string): string => path.replace(/\{(id|slug)\}/, key);
const over = ({ characters }: Limit): string => 'x'.repeat(characters + 1);

interface Row {
  route: Route;
  endpoint: Endpoint;
  one: Parameter;
}

const ROWS: Row[] = ROUTES.flatMap((route) =>
  route.endpoints.flatMap((endpoint) => endpoint.parameters.map((one) => ({ route, endpoint, one }))),
);

describe('the limits of values', () => {
  let gateway: GatewayUnderTest;
  let calls: number;
  before(async () => {
    const upstream = fakeCms(Date.now);
    gateway = await gatewayUnderTest({ upstream, as: AS });
    // The caller's account is asked for once and kept.
    await gateway.ask('/events', { as: 'admin' });
    for (const name of ['list', 'read', 'create', 'update', 'remove', 'upload', 'exists'] as const) {
      const call = upstream[name] as (...args: unknown[]) => Promise<unknown>;
      Object.assign(upstream, {
        [name]: (...args: unknown[]) => {
          calls += 1;
          return call(...args);
        },
      });
    }
  });
  beforeEach(() => {
    calls = 0;
  });
  after(() => gateway.close());

  /** Expects the general refusal of these parameters, and that the CMS was not asked. */
  function refused({ status, body }: Answered, ...names: string[]): void {
    expect([status, body.code]).to.deep.equal([400, 'rest_invalid_param']);
    expect(Object.keys(body.data.params)).to.deep.equal(names);
    expect(calls).to.equal(0);
  }

  for (const { route, endpoint, one } of ROWS.filter(
    ({ one: { limit } }) => limit.characters < READ_BODY_BYTES - 100,
  )) {
    const method = endpoint.methods[0]!;
    it(`${method} ${route.path || '/'} refuses ${one.name} over ${one.limit.characters} characters before anything reads it`, async () => {
      const long = over(one.limit);
      if (one.inPath) {
        const key = route.by === 'id' ? '1'.repeat(one.limit.characters + 1) : long;
        return refused(await gateway.ask(pathOf(route, key), { method, as: 'admin' }), one.name);
      }
      const path = pathOf(route, '1');
      refused(await gateway.ask(path, { method, as: 'admin', json: { [one.name]: long } }), one.name);
      refused(await gateway.ask(path, { method, as: 'admin', json: { [one.name]: [long] } }), one.name);
      refused(await gateway.ask(path, { method, as: 'admin', form: `${one.name}[a][b]=${long}` }), one.name);
      if (long.length < 7000) {
        refused(await gateway.ask(`${path}?${one.name}=${long}`, { method, as: 'admin' }), one.name);
      }
    });
  }

  for (const [name, limit] of Object.entries<Limit>(LIMITS)) {
    it(`the limit of ${name} holds at its very length`, () => {
      expect(isTooLong('x'.repeat(limit.text ?? limit.element ?? limit.characters), limit)).to.equal(false);
      if (limit.text !== undefined) expect(isTooLong('x'.repeat(limit.text + 1), limit)).to.equal(true);
      expect(isTooLong(over(limit), limit)).to.equal(true);
      expect(isTooLong([over(limit)], limit)).to.equal(true);
      expect(isTooLong({ a: { b: over(limit) } }, limit)).to.equal(true);
      if (limit.element !== undefined) {
        expect(isTooLong('x'.repeat(limit.element + 1), limit)).to.equal(true);
        expect(isTooLong(`a,${'x'.repeat(limit.element + 1)}`, limit)).to.equal(true);
        expect(isTooLong(['x'.repeat(limit.element + 1)], limit)).to.equal(true);
      }
      if (limit.bytes !== undefined) expect(isTooLong('é'.repeat(limit.bytes / 2 + 1), limit)).to.equal(true);
    });
  }

  it('every row of the table belongs to a parameter', () => {
    const used = new Set(ROWS.map(({ one }) => one.limit));
    expect(Object.entries(LIMITS).filter(([, limit]) => !used.has(limit as Limit))).to.deep.equal([]);
  });

  for (const [kind, fields] of [
    ['venue', venueFields],
    ['organizer', organizerFields],
  ] as const) {
    for (const one of fields.filter(({ limit }) => limit.characters < 70_000)) {
      it(`an event’s ${kind} is refused with ${one.name} over ${one.limit.characters} characters`, async () => {
        const record = { [kind]: 'Name', [one.name]: over(one.limit) };
        const event = { title: 'T', start_date: '2030-01-01', end_date: '2030-01-01' };
        for (const value of [record, [record], [1, record], { 0: record }]) {
          refused(await gateway.ask('/events', { as: 'admin', json: { ...event, [kind]: value } }), kind);
        }
      });
    }
  }

  for (const [name, limit] of Object.entries(GLOBAL_LIMITS)) {
    it(`a query with ${name} over ${limit.characters} characters is refused`, async () => {
      refused(await gateway.ask(`/events?${name}=${over(limit)}`), name);
      refused(await gateway.ask(`/events?${name}[]=${over(limit)}`), name);
    });
  }

  it('a route in a query is refused before it is looked for', async () => {
    refused(await gateway.askAt(`/?rest_route=/${over(GLOBAL_LIMITS.rest_route!)}`), 'rest_route');
  });

  it('an undeclared parameter that is very long, has a very long name, or is one of very many is refused by name', async () => {
    const write = { as: 'admin', method: 'POST' };
    refused(await gateway.ask('/events', { ...write, json: { extra: 'x'.repeat(70_000) } }), 'extra');
    refused(await gateway.ask('/events', { ...write, json: { ['n'.repeat(201)]: 1 } }), 'n'.repeat(200));
    const many = Object.fromEntries(Array.from({ length: MAX_NAMES + 1 }, (_, i) => [`n${i}`, 1]));
    refused(await gateway.ask('/events', { ...write, json: many }), `n${MAX_NAMES}`);
    refused(await gateway.ask(`/events?${'n'.repeat(201)}=1`), 'n'.repeat(200));
  });

  it('the error names the limit of each value', async () => {
    const messages = async (path: string, json?: object) =>
      (await gateway.ask(path, json ? { as: 'admin', json } : {})).body.data.params;
    expect(await messages(`/events?search=${'x'.repeat(201)}&venue=${'1'.repeat(101)}`)).to.deep.equal({
      search: 'The value is too long: at most 200 characters.',
      venue: 'The value is too long: at most 20000 characters, 100 in one element.',
    });
    const event = { title: 'T', start_date: '2030-01-01', end_date: '2030-01-01' };
    const venue = { venue: 'Name', city: 'x'.repeat(1001) };
    expect(await messages('/events', { ...event, venue })).to.deep.equal({
      venue: 'city: The value is too long: at most 1000 characters.',
    });
    expect(await messages(`/events?${'n'.repeat(201)}=1`)).to.deep.equal({
      ['n'.repeat(200)]: 'The name of this parameter is longer than 200 characters.',
    });
  });

  describe('of a body', () => {
    const search = (length: number) => JSON.stringify({ other: 'x'.repeat(length) });
    const type = { 'content-type': 'application/json' };

    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      it(`refuse more than 8 KiB of ${method}`, async () => {
        const { status } = await gateway.ask('/events', { method, headers: type, body: search(READ_BODY_BYTES) });
        expect(status).to.equal(413);
        const small = await gateway.ask('/events', { method, headers: type, body: search(READ_BODY_BYTES - 100) });
        expect(small.status).to.equal(200);
      });
    }

    it('refuse more than 8 KiB of a request that becomes a read, or that was one', async () => {
      const body = search(READ_BODY_BYTES);
      const becomes = await gateway.ask('/events?_method=GET', { method: 'POST', headers: type, body });
      expect(becomes.status).to.equal(413);
      const was = { ...type, 'x-http-method-override': 'POST' };
      expect((await gateway.ask('/events', { method: 'GET', headers: was, body })).status).to.equal(413);
    });

    it('refuse more values than any record has, before they are parsed, and count none inside of texts', async () => {
      const write = { as: 'admin', method: 'POST', headers: type };
      const many = `{"title":[${'1,'.repeat(20_000)}1]}`;
      const { status, body } = await gateway.ask('/events', { ...write, body: many });
      expect([status, body.code]).to.deep.equal([413, 'rest_body_too_large']);
      const text = JSON.stringify({ description: '"\\,[{'.repeat(10_000) });
      expect((await gateway.ask('/events', { ...write, body: text })).body.code).to.equal(
        'rest_missing_callback_param',
      );
    });

    it('refuse more parts, or more lines before them, than any form has', async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary="b"' };
      const disposition = 'Content-Disposition: form-data; name="x"';
      const part = `--b\r\n${disposition}\r\n\r\nx\r\n`;
      for (const body of [
        `${part.repeat(3000)}--b--\r\n`,
        `--b\r\n${'X-A: b\r\n'.repeat(20_000)}${disposition}\r\n\r\nx\r\n--b--\r\n`,
      ]) {
        const { status } = await gateway.ask('/events', { as: 'admin', method: 'POST', headers, body });
        expect(status).to.equal(413);
      }
    });
  });

  describe('malformed text', () => {
    it('half a surrogate pair in JSON is malformed JSON, as in PHP', async () => {
      for (const body of ['{"search":"\\ud800"}', '{"a\\udc00":1}', '{"venue":[{"x":["\\ud800\\ud800"]}]}']) {
        const headers = { 'content-type': 'application/json' };
        const { status, body: told } = await gateway.ask('/events', { method: 'GET', headers, body });
        expect([status, told.code, told.data.json_error_code]).to.deep.equal([400, 'rest_invalid_json', 10]);
      }
    });

    for (const route of ROUTES) {
      it(`names that stand for what every object has are dropped, whatever parameter of ${route.path || '/'}`, async () => {
        const odd = { toString: 1, valueOf: 1, hasOwnProperty: 1, toJSON: 1, length: 5, constructor: 1 };
        for (const { endpoint, one } of ROWS.filter((row) => row.route === route && !row.one.inPath)) {
          const method = endpoint.methods[0]!;
          const path = pathOf(route, '1');
          for (const value of [odd, [odd]]) {
            const { status } = await gateway.ask(path, { method, as: 'admin', json: { [one.name]: value } });
            expect(status, `${method} ${path} ${one.name}`).to.be.below(500);
          }
        }
      });
    }

    // As JSON: 1e999 is more than any number, and stands for infinity.
    const ODD_VALUES =
      'null 1e308 -1e308 1e999 9007199254740993 -0 1e-7 1.5 true false [] {} [null] [[1]] [{}] {"a":{"b":1}} {"id":1e308} [1e308,null]';
    for (const value of ODD_VALUES.split(' ')) {
      it(`the JSON value ${value} is no failure in any parameter of a list or a new record`, async () => {
        const headers = { 'content-type': 'application/json' };
        for (const { route, endpoint, one } of ROWS.filter((row) => !row.one.inPath)) {
          const method = endpoint.methods[0]!;
          const path = pathOf(route, '1');
          const { status } = await gateway.ask(path, {
            method,
            as: 'admin',
            headers,
            body: `{"${one.name}":${value}}`,
          });
          expect(status, `${method} ${path} ${one.name}`).to.be.below(500);
        }
      });
    }

    it('null is as good as nothing in a parameter of a list, and no link repeats it', async () => {
      const names = ROWS.filter(({ route, endpoint }) => route.path === '/events' && endpoint.operation === 'list');
      const readers = names.map(({ one }) => one).filter(({ kind }) => kind.typed === undefined);
      const json = Object.fromEntries(readers.map(({ name }) => [name, null]));
      const { status, body } = await gateway.ask('/events', { method: 'GET', as: 'admin', json });
      expect([status, body.rest_url]).to.deep.equal([
        200,
        (await gateway.ask('/events', { as: 'admin' })).body.rest_url,
      ]);
    });

    it('a date that is beyond the last year on the clock of its zone alone is refused by name', async () => {
      const zone = 'Pacific/Kiritimati';
      const here = { ...gateway.backing.site(), timezone: zone };
      const { site } = gateway.backing;
      gateway.backing.site = () => here;
      try {
        // A moment of the last day of 9999 in UTC is one of the year 10000 there.
        const hours = Math.floor((Date.UTC(9999, 11, 31, 20) - Date.now()) / 3_600_000);
        const date = `+${hours} hours`;
        for (const more of [{}, { strict_dates: true }])
          refused(await gateway.ask('/events', { method: 'GET', json: { ends_after: date, ...more } }), 'ends_after');
        const times = { title: 'T', start_date: '2030-01-01', end_date: '2030-01-01' };
        for (const name of ['start_date', 'end_date', 'date'])
          refused(await gateway.ask('/events', { as: 'admin', json: { ...times, [name]: date } }), name);
      } finally {
        gateway.backing.site = site;
      }
    });

    const ODD = [
      '%00',
      '%',
      '%zz',
      '%ff%fe',
      '%ED%A0%80',
      '%F4%90%80%80',
      '%u0041',
      '%E2%80%AE',
      '%EF%BF%BE',
      '%0d%0a',
    ];
    for (const text of ODD) {
      it(`${text} is no failure in a path or in any parameter`, async () => {
        for (const path of [`/events/by-slug/${text}`, `/events/1${text}`, `/${text}`, `/venues/by-slug/a${text}b`]) {
          expect((await gateway.ask(path)).status, path).to.be.below(500);
        }
        // The list and the create of each kind read every parameter that the routes of single records read.
        for (const { route, endpoint, one } of ROWS.filter((row) => row.route.by === undefined)) {
          const method = endpoint.methods[0]!;
          const path = pathOf(route, '1');
          const asQuery = await gateway.ask(`${path}?${one.name}=a${text}`, { method, as: 'admin' });
          const asForm = await gateway.ask(path, { method, as: 'admin', form: `${one.name}=a${text}` });
          expect(asQuery.status, `${method} ${path} ${one.name}`).to.be.below(500);
          expect(asForm.status, `${method} ${path} ${one.name}`).to.be.below(500);
        }
      });
    }
  });
});

describe('docs/limits.md', () => {
  const doc = readFileSync(new URL('../../docs/limits.md', import.meta.url), 'utf8');
  const number = (value: number) => value.toLocaleString('en-US');
  const table = (head: string[], rows: string[][]) =>
    [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
  const rowsOf = (limits: Readonly<Record<string, Limit>>) =>
    Object.entries(limits).map(([name, { characters, element, bytes }]) => [
      /^[a-z_]+$/.test(name) ? `\`${name}\`` : name,
      number(characters),
      element === undefined ? '' : number(element),
      bytes === undefined ? '' : number(bytes),
    ]);
  const HEAD = ['parameter or field', 'characters', 'of one element', 'bytes of UTF-8'];
  const tables = {
    values: table(HEAD, rowsOf(LIMITS)),
    global: table(HEAD, rowsOf(GLOBAL_LIMITS)),
    others: table(
      ['what', 'limit', 'answer'],
      [
        ['body of GET, HEAD and OPTIONS', `${number(READ_BODY_BYTES)} bytes`, '413'],
        ['values in a JSON body', number(MAX_BODY_VALUES), '413'],
        ['parameters of a query or form', number(MAX_PARAMETERS), 'the others are ignored'],
        ['parts of a multipart body', number(MAX_PARAMETERS), '413'],
        ['header lines of all parts', `${number(MAX_PART_HEADER_BYTES)} bytes`, '413'],
        ['names in a query or body', number(MAX_NAMES), '400'],
        ['one name', `${number(MAX_NAME_CHARACTERS)} characters`, '400'],
        ['a parameter that no route declares', `${number(UNDECLARED.characters)} characters`, '400'],
        ['`Accept-Encoding`', `${number(HEADER_CHARACTERS.acceptEncoding)} characters`, 'ignored'],
        ['`If-None-Match`', `${number(HEADER_CHARACTERS.ifNoneMatch)} characters`, 'ignored'],
        ['`X-Forwarded-For`', `${number(HEADER_CHARACTERS.forwardedFor)} characters`, 'the last ones count'],
        ['`X-HTTP-Method-Override`', `${number(HEADER_CHARACTERS.methodOverride)} characters`, '404'],
      ],
    ),
  };
  for (const [name, expected] of Object.entries(tables)) {
    it(`has the table of ${name} as the code has it`, () => {
      const found = new RegExp(`<!-- ${name} -->\\n\\n?([^]*?)\\n?<!-- /${name} -->`).exec(doc)?.[1];
      expect(found?.trim()).to.equal(expected);
    });
  }
});
