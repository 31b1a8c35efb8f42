// Length limits of request values on every route, and errors for longer values.

import { expect } from 'chai';
import { ApiError } from '../../src/errors.ts';
import { BODY_PARAMETERS } from '../../src/interface/fields.ts';
import { checkLengths, isTooLong } from '../../src/interface/validate.ts';
import { GLOBAL_LIMITS, type Limit, MAX_NAMES, READ_BODY_BYTES, SIZES } from '../../src/interface/value-lengths.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { startGateway, type TestGateway, type TestResponse } from '../start-gateway.ts';
import { pathOf, ROWS } from './endpoint-parameters.ts';

const over = ({ characters }: Limit): string => 'x'.repeat(characters + 1);

describe('length limits of values', () => {
  let gateway: TestGateway;
  let calls: number;
  before(async () => {
    const cms = createFakeCms(Date.now);
    gateway = await startGateway({ cms, as: CREDENTIALS });
    // The gateway caches the account.
    await gateway.request('/events', { as: 'admin' });
    for (const name of ['list', 'read', 'create', 'update', 'trash', 'delete', 'upload', 'isIdTaken'] as const) {
      const call = cms[name] as (...args: unknown[]) => Promise<unknown>;
      Object.assign(cms, {
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
  after(() => gateway.stop());

  /** Expects an error that names these parameters, and no CMS calls. */
  function expectInvalid({ status, body }: TestResponse, ...names: string[]): void {
    expect([status, body.code]).to.deep.equal([400, 'rest_invalid_param']);
    expect(Object.keys(body.data.params)).to.deep.equal(names);
    expect(calls).to.equal(0);
  }

  for (const { route, endpoint, parameter } of ROWS.filter(
    ({ parameter: { limit } }) => limit.characters < READ_BODY_BYTES - 100,
  )) {
    const { name, limit } = parameter;
    const method = endpoint.methods[0]!;
    it(`${method} ${route.path || '/'} refuses ${name} over ${limit.characters} characters before anything reads it`, async () => {
      const long = over(limit);
      if (parameter.inPath) {
        const key = route.by === 'id' ? '1'.repeat(limit.characters + 1) : long;
        return expectInvalid(await gateway.request(pathOf(route, key), { method, as: 'admin' }), name);
      }
      const path = pathOf(route, '1');
      expectInvalid(await gateway.request(path, { method, as: 'admin', json: { [name]: long } }), name);
      expectInvalid(await gateway.request(path, { method, as: 'admin', json: { [name]: [long] } }), name);
      // A read takes nothing from a form.
      if (method !== 'GET')
        expectInvalid(await gateway.request(path, { method, as: 'admin', form: `${name}[a][b]=${long}` }), name);
      if (long.length < 7000) {
        expectInvalid(await gateway.request(`${path}?${name}=${long}`, { method, as: 'admin' }), name);
      }
    });
  }

  for (const [name, limit] of Object.entries<Limit>(SIZES)) {
    it(`the limit ${name} applies to texts, elements, lists and objects`, () => {
      expect(
        isTooLong('x'.repeat(limit.textCharacters ?? limit.elementCharacters ?? limit.characters), limit),
      ).to.equal(false);
      if (limit.textCharacters !== undefined)
        expect(isTooLong('x'.repeat(limit.textCharacters + 1), limit)).to.equal(true);
      expect(isTooLong(over(limit), limit)).to.equal(true);
      expect(isTooLong([over(limit)], limit)).to.equal(true);
      expect(isTooLong({ a: { b: over(limit) } }, limit)).to.equal(true);
      if (limit.elementCharacters !== undefined) {
        expect(isTooLong('x'.repeat(limit.elementCharacters + 1), limit)).to.equal(true);
        expect(isTooLong(`a,${'x'.repeat(limit.elementCharacters + 1)}`, limit)).to.equal(true);
        expect(isTooLong(['x'.repeat(limit.elementCharacters + 1)], limit)).to.equal(true);
      }
    });
  }

  it('each belong to a parameter', () => {
    const used = new Set(ROWS.map(({ parameter }) => parameter.limit));
    expect(Object.entries<Limit>(SIZES).filter(([, limit]) => !used.has(limit))).to.deep.equal([]);
  });

  for (const kind of ['venue', 'organizer'] as const) {
    for (const { name, limit } of BODY_PARAMETERS[kind].filter(({ limit }) => limit.characters < 70_000)) {
      it(`apply to an embedded ${kind}: ${name} over ${limit.characters} characters`, async () => {
        const record = { [kind]: 'Name', [name]: over(limit) };
        const event = { title: 'T', start_date: '2030-01-01', end_date: '2030-01-01' };
        for (const value of [record, [record], [1, record], { 0: record }]) {
          expectInvalid(await gateway.request('/events', { as: 'admin', json: { ...event, [kind]: value } }), kind);
        }
      });
    }
  }

  for (const [name, limit] of Object.entries(GLOBAL_LIMITS)) {
    it(`apply to ${name} in every query`, async () => {
      expectInvalid(await gateway.request(`/events?${name}=${over(limit)}`), name);
      expectInvalid(await gateway.request(`/events?${name}[]=${over(limit)}`), name);
    });
  }

  it('apply to rest_route before routing', async () => {
    expectInvalid(await gateway.requestPath(`/?rest_route=/${over(GLOBAL_LIMITS.rest_route!)}`), 'rest_route');
  });

  it('apply to undeclared parameters and to the number of names', async () => {
    const write = { as: 'admin', method: 'POST' };
    expectInvalid(await gateway.request('/events', { ...write, json: { extra: 'x'.repeat(70_000) } }), 'extra');
    const many = Object.fromEntries(Array.from({ length: MAX_NAMES + 1 }, (_, i) => [`n${i}`, 1]));
    expectInvalid(await gateway.request('/events', { ...write, json: many }), `n${MAX_NAMES}`);
  });

  it('are part of the error message', async () => {
    const messages = async (path: string, json?: object) =>
      (await gateway.request(path, json ? { as: 'admin', json } : {})).body.data.params;
    expect(await messages(`/events?search=${'x'.repeat(201)}&venue=${'1'.repeat(101)}`)).to.deep.equal({
      search: 'The value is too long: at most 200 characters.',
      venue: 'The value is too long: at most 20000 characters, 100 in one element.',
    });
    const event = { title: 'T', start_date: '2030-01-01', end_date: '2030-01-01' };
    const venue = { venue: 'Name', city: 'x'.repeat(1001) };
    expect(await messages('/events', { ...event, venue })).to.deep.equal({
      venue: 'city: The value is too long: at most 1000 characters.',
    });
  });

  it('of a venue in a body apply to its own fields, not to custom fields of the same names', () => {
    const check = (venue: object) => checkLengths([{ venue }], BODY_PARAMETERS.event);
    const city = 'x'.repeat(1001);
    expect(() => check({ venue: 'Name', custom_fields: { city } })).not.to.throw();
    for (const venue of [{ city }, [{ city }], { 0: { city } }]) expect(() => check(venue)).to.throw(ApiError);
  });

  describe('of bodies', () => {
    const search = (length: number) => JSON.stringify({ other: 'x'.repeat(length) });
    const type = { 'content-type': 'application/json' };

    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      it(`allow 8 KiB for ${method}`, async () => {
        const { status } = await gateway.request('/events', { method, headers: type, body: search(READ_BODY_BYTES) });
        expect(status).to.equal(413);
        const small = await gateway.request('/events', { method, headers: type, body: search(READ_BODY_BYTES - 100) });
        expect(small.status).to.equal(200);
      });
    }

    it('allow 8 KiB if a method override makes the request a read', async () => {
      const body = search(READ_BODY_BYTES);
      const toRead = await gateway.request('/events?_method=GET', { method: 'POST', headers: type, body });
      expect(toRead.status).to.equal(413);
    });

    it('bound the number of JSON values before parsing, without counting inside of texts', async () => {
      const write = { as: 'admin', method: 'POST', headers: type };
      const many = `{"title":[${'1,'.repeat(20_000)}1]}`;
      const { status, body } = await gateway.request('/events', { ...write, body: many });
      expect([status, body.code]).to.deep.equal([413, 'rest_body_too_large']);
      const text = JSON.stringify({ description: '"\\,[{'.repeat(10_000) });
      expect((await gateway.request('/events', { ...write, body: text })).body.code).to.equal(
        'rest_missing_callback_param',
      );
    });

    it('bound the number of parts and of their header lines', async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary="b"' };
      const disposition = 'Content-Disposition: form-data; name="x"';
      const part = `--b\r\n${disposition}\r\n\r\nx\r\n`;
      for (const body of [
        `${part.repeat(3000)}--b--\r\n`,
        `--b\r\n${'X-A: b\r\n'.repeat(20_000)}${disposition}\r\n\r\nx\r\n--b--\r\n`,
      ]) {
        const { status } = await gateway.request('/events', { as: 'admin', method: 'POST', headers, body });
        expect(status).to.equal(413);
      }
    });
  });
});
