// Malformed values of parameters never cause a 500.

import { expect } from 'chai';
import { ROUTES } from '../../src/interface/routes.ts';
import { CREDENTIALS, createFakeCms } from '../cms/fake-cms.ts';
import { expectInvalid, expectMistyped } from '../record/expectations.ts';
import { startGateway, type TestGateway } from '../start-gateway.ts';
import { pathOf, ROWS } from './endpoint-parameters.ts';

describe('malformed values', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startGateway({ cms: createFakeCms(Date.now), as: CREDENTIALS });
  });
  after(() => gateway.stop());

  it('half a surrogate pair in JSON is invalid JSON, as in PHP', async () => {
    for (const body of ['{"search":"\\ud800"}', '{"a\\udc00":1}', '{"venue":[{"x":["\\ud800\\ud800"]}]}']) {
      const headers = { 'content-type': 'application/json' };
      const { status, body: error } = await gateway.request('/events', { method: 'GET', headers, body });
      expect([status, error.code, error.data.json_error_code]).to.deep.equal([400, 'rest_invalid_json', 10]);
    }
  });

  for (const route of ROUTES) {
    it(`property names of Object.prototype cause no failure in parameters of ${route.path || '/'}`, async () => {
      const hostile = { toString: 1, valueOf: 1, hasOwnProperty: 1, toJSON: 1, length: 5, constructor: 1 };
      for (const {
        endpoint,
        parameter: { name },
      } of ROWS.filter((row) => row.route === route && !row.parameter.inPath)) {
        const method = endpoint.methods[0]!;
        const path = pathOf(route, '1');
        for (const value of [hostile, [hostile]]) {
          const { status } = await gateway.request(path, { method, as: 'admin', json: { [name]: value } });
          expect(status, `${method} ${path} ${name}`).to.be.below(500);
        }
      }
    });
  }

  // The list and create routes have all parameters of the item routes, except the password.
  const DISTINCT_ROWS = ROWS.filter((row) => row.route.by === undefined || row.parameter.name === 'password');

  // JSON.parse reads 1e999 as Infinity.
  const EXTREME_VALUES =
    'null 1e308 -1e308 1e999 9007199254740993 -0 1e-7 1.5 true false [] {} [null] [[1]] [{}] {"a":{"b":1}} {"id":1e308} [1e308,null]';
  for (const value of EXTREME_VALUES.split(' ')) {
    it(`the JSON value ${value} causes no failure in any parameter`, async () => {
      const headers = { 'content-type': 'application/json' };
      for (const {
        route,
        endpoint,
        parameter: { name },
      } of DISTINCT_ROWS) {
        const method = endpoint.methods[0]!;
        const path = pathOf(route, '1');
        const { status } = await gateway.request(path, {
          method,
          as: 'admin',
          headers,
          body: `{"${name}":${value}}`,
        });
        expect(status, `${method} ${path} ${name}`).to.be.below(500);
      }
    });
  }

  it('null has the wrong type for a page, an event, and the order of terms, all of which are named as sent', async () => {
    const list = (path: string, json: object) => gateway.request(path, { method: 'GET', json });
    expectMistyped(await list('/events', { post_parent: null, search: null, page: null }), {
      post_parent: 'integer',
      search: 'string',
      page: 'integer',
    });
    expectMistyped(await list('/venues', { event: null }), { event: 'integer' });
    for (const path of ['/categories', '/tags'])
      expectMistyped(await list(path, { order: null, orderby: null, post: null, event: null }), {
        order: 'string',
        orderby: 'string',
        post: 'integer',
        event: 'integer',
      });
  });

  it('null counts as absent in a list, and links do not repeat it', async () => {
    const rows = ROWS.filter(({ route, endpoint }) => route.path === '/events' && endpoint.operation === 'list');
    const untyped = rows.map(({ parameter }) => parameter).filter(({ type }) => type.jsonType === undefined);
    const json = Object.fromEntries(untyped.map(({ name }) => [name, null]));
    const { status, body } = await gateway.request('/events', { method: 'GET', as: 'admin', json });
    expect([status, body.rest_url]).to.deep.equal([
      200,
      (await gateway.request('/events', { as: 'admin' })).body.rest_url,
    ]);
  });

  it('a date after the year 9999 in the zone of the site is invalid, even if its UTC date is not', async () => {
    const zone = 'Pacific/Kiritimati';
    const inKiribati = { ...gateway.services.site(), timezone: zone };
    const { site } = gateway.services;
    gateway.services.site = () => inKiribati;
    try {
      // On the last day of 9999 in UTC it is the year 10000 there.
      const hours = Math.floor((Date.UTC(9999, 11, 31, 20) - Date.now()) / 3_600_000);
      const date = `+${hours} hours`;
      for (const more of [{}, { strict_dates: true }])
        expectInvalid(
          await gateway.request('/events', { method: 'GET', json: { ends_after: date, ...more } }),
          'ends_after',
        );
      const times = { title: 'T', start_date: '2030-01-01', end_date: '2030-01-01' };
      for (const name of ['start_date', 'end_date', 'date'])
        expectInvalid(await gateway.request('/events', { as: 'admin', json: { ...times, [name]: date } }), name);
    } finally {
      gateway.services.site = site;
    }
  });

  const MALFORMED_TEXTS = [
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
  for (const text of MALFORMED_TEXTS) {
    it(`${text} causes no failure in a path or in any parameter`, async () => {
      for (const path of [`/events/by-slug/${text}`, `/events/1${text}`, `/${text}`, `/venues/by-slug/a${text}b`]) {
        expect((await gateway.request(path)).status, path).to.be.below(500);
      }
      for (const {
        route,
        endpoint,
        parameter: { name },
      } of DISTINCT_ROWS) {
        const method = endpoint.methods[0]!;
        const path = pathOf(route, '1');
        const asQuery = await gateway.request(`${path}?${name}=a${text}`, { method, as: 'admin' });
        const asForm = await gateway.request(path, { method, as: 'admin', form: `${name}=a${text}` });
        expect(asQuery.status, `${method} ${path} ${name}`).to.be.below(500);
        expect(asForm.status, `${method} ${path} ${name}`).to.be.below(500);
      }
    });
  }
});
