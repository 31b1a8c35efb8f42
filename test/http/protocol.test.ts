// What every route has in common: methods, paths, headers and the shapes that a query can ask for (interface-behaviour 0 and 9).

import { expect } from 'chai';
import { linkTo } from '../../src/http/publishing.ts';
import type { Site } from '../../src/records.ts';
import { filledGateway } from '../calendar/filled-gateway.ts';
import type { Answered, GatewayUnderTest } from '../gateway-under-test.ts';
import { expectForbidden, expectMissing, expectRefused } from '../record/expectations.ts';
import { event, term, venue } from '../replica/samples.ts';

const NO_ROUTE = {
  status: 404,
  code: 'rest_no_route',
  message: 'No route was found matching the URL and request method.',
};
const times = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' };

describe('protocol', () => {
  let gateway: GatewayUnderTest;
  before(async () => {
    gateway = await filledGateway([
      event(1, { ...times, categories: [3] }),
      event(2, times),
      venue(6),
      term('category', 30),
      term('category', 3, { parent: 30 }),
      term('tag', 4),
    ]);
  });
  after(() => gateway.close());

  const ask: GatewayUnderTest['ask'] = (path, request) => gateway.ask(path, request);
  const comparable = ({ status, headers: { date: _, 'x-request-id': __, ...headers } }: Answered) => ({
    status,
    headers,
  });

  describe('methods', () => {
    it('HEAD has the status and headers of GET, and no body', async () => {
      for (const path of [
        '',
        '/doc',
        '/events',
        '/events/1',
        '/events/by-slug/event-1',
        '/venues/6',
        '/categories',
        '/tags/4',
        '/events/999',
        '/events?page=0',
      ]) {
        const [head, get] = [await ask(path, { method: 'HEAD' }), await ask(path)];
        expect(head.text).to.equal('');
        expect(comparable(head), path).to.deep.equal(comparable(get));
      }
    });

    it('OPTIONS describes the route, also for ids that are not there', async () => {
      const { body: root } = await ask('');
      for (const [path, pattern] of [
        ['/events', '/events'],
        ['/events/999999', '/events/(?P<id>\\d+)'],
        ['/tags/4', '/tags/(?P<id>\\d+)'],
      ] as const) {
        const { status, body } = await ask(path, { method: 'OPTIONS' });
        expect(status).to.equal(200);
        expect(body).to.deep.equal(root.routes[`/calendar/events/v1${pattern}`]);
      }
    });

    it('OPTIONS of an unknown route is an empty list', async () => {
      const { status, body } = await ask('/nowhere', { method: 'OPTIONS' });
      expect({ status, body }).to.deep.equal({ status: 200, body: [] });
    });

    it('methods that a route does not have are unknown routes', async () => {
      for (const path of ['/events', '/venues', '/tags'])
        for (const method of ['PUT', 'PATCH', 'DELETE']) expectRefused(await ask(path, { method }), NO_ROUTE);
      for (const path of ['', '/doc']) expectRefused(await ask(path, { method: 'POST', json: {} }), NO_ROUTE);
    });

    it('overridden in the query or a header, on POST, PUT and GET, in any letter case', async () => {
      for (const method of ['POST', 'PUT', 'GET']) {
        expectForbidden(await ask('/events/1?_method=delete', { method }), 401);
        expectForbidden(await ask('/events/1', { method, headers: { 'x-http-method-override': 'DELETE' } }), 401);
      }
      expect((await ask('/events/1?_method=GET', { json: {} })).body.id).to.equal(1);
      expect((await ask('/events?_method=OPTIONS', { json: {} })).body).to.include.keys(
        'namespace',
        'methods',
        'endpoints',
      );
      expectRefused(await ask('/events?_method=FLY', { json: {} }), NO_ROUTE);
    });

    it('overridden with HEAD: a body that is as empty as its length says', async () => {
      const asHead = { headers: { 'x-http-method-override': 'head' } };
      for (const answer of [
        await ask('/events?_method=HEAD', { json: {} }),
        await ask('/events?_method=HEAD'),
        await ask('/events/1', asHead),
        await ask('/events/1', asHead),
        await ask('/events/1?_envelope', asHead),
      ])
        expect([answer.status, answer.text, answer.headers['content-length']]).to.deep.equal([200, '', '0']);
      const missing = await ask('/events/999?_method=HEAD');
      expect([missing.status, missing.text, missing.headers['content-length']]).to.deep.equal([404, '', '0']);
      expect((await ask('/events/1')).body.id).to.equal(1);
    });

    it('not overridden in a body', async () => {
      expectMissing(await ask('/events', { json: { _method: 'GET' } }), 'title', 'start_date', 'end_date');
      expectMissing(await ask('/events', { form: '_method=GET' }), 'title', 'start_date', 'end_date');
    });
  });

  describe('paths', () => {
    it('a final or doubled slash and letter case do not matter', async () => {
      for (const path of ['/events/1/', '//events//1', '/Events/1', '/EVENTS/by-slug/EVENT-1'])
        expect((await ask(path)).body.id, path).to.equal(1);
      expect((await gateway.askAt('/calendar/events/v1/')).body.namespace).to.equal('calendar/events/v1');
    });

    it('rest_route at the root', async () => {
      expect((await gateway.askAt('/?rest_route=/calendar/events/v1/events/1')).body.id).to.equal(1);
      expect((await gateway.askAt('/?rest_route=/tribe/events/v1/events/2/')).body.id).to.equal(2);
      expectRefused(await gateway.askAt('/?rest_route=/other/v1'), NO_ROUTE);
    });

    it('everything else is no route', async () => {
      for (const path of ['/nowhere', '/events/1/more', '/events/by-slug', '/tags/by-slug/x', '/events/%E0%A4%A'])
        expectRefused(await ask(path), NO_ROUTE);
    });

    it('the root knows its namespace, and no other', async () => {
      expect((await ask('?namespace=calendar/events/v1')).status).to.equal(200);
      expectRefused(await ask('?namespace=foo'), {
        ...{ status: 404, code: 'rest_invalid_namespace', message: 'The specified namespace could not be found.' },
      });
    });
  });

  describe('headers', () => {
    it('the site, in letters that a header may have', () => {
      const linkOf = (url: string) => linkTo({ site: () => ({ url }) as Site });
      for (const [url, sent] of [
        ['https://Example.org:443/a', 'https://Example.org:443/a'],
        ['https://кафе.example/é', 'https://xn--80akn5b.example/%C3%A9'],
      ] as const)
        expect(linkOf(url)).to.equal(`<${sent}/wp-json/>; rel="https://api.w.org/"`);
    });

    it('standing ones', async () => {
      for (const path of ['/events', '/events/999', '/nowhere']) {
        const { headers } = await ask(path);
        expect(headers, path).to.include({
          ...{
            'content-type': 'application/json; charset=UTF-8',
            'x-robots-tag': 'noindex',
            'x-content-type-options': 'nosniff',
          },
          'access-control-allow-headers': 'Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type',
        });
        expect(headers['access-control-expose-headers'])
          .to.contain('X-TEC-Total, X-TEC-TotalPages')
          .and.contain('X-WP-Total, X-WP-TotalPages, Link');
        expect(headers.vary).to.contain('Origin');
        expect(headers).to.not.have.property('access-control-allow-origin');
        expect(headers).to.not.have.property('www-authenticate');
      }
      expect((await ask('/events')).headers.link).to.equal('<https://cms.example/wp-json/>; rel="https://api.w.org/"');
    });

    it('for another origin', async () => {
      for (const path of ['/events', '/events/999']) {
        expect((await ask(path, { headers: { origin: 'https://other.example' } })).headers, path).to.include({
          'access-control-allow-origin': 'https://other.example',
          'access-control-allow-methods': 'OPTIONS, GET, POST, PUT, PATCH, DELETE',
          'access-control-allow-credentials': 'true',
        });
      }
    });

    it('nobody keeps what a caller with credentials was told', async () => {
      const { headers } = await ask('/events', { as: 'editor' });
      expect(headers).to.include({
        expires: 'Wed, 11 Jan 1984 05:00:00 GMT',
        'cache-control': 'no-cache, must-revalidate, max-age=0, no-store, private',
      });
    });

    it('a bad nonce is refused, unless there are credentials', async () => {
      const bad = { status: 403, code: 'rest_cookie_invalid_nonce', message: 'Cookie check failed' };
      expectRefused(await ask('/events', { headers: { 'x-wp-nonce': 'bad' } }), bad);
      expectRefused(await ask('/events?_wpnonce=bad'), bad);
      expect((await ask('/events', { as: 'admin', headers: { 'x-wp-nonce': 'bad' } })).status).to.equal(200);
    });
  });

  describe('_fields', () => {
    const FIELDS: [string, unknown][] = [
      ['/events/1?_fields=id,slug', { id: 1, slug: 'event-1' }],
      ['/events/1?_fields=start_date_details.year', { start_date_details: { year: '2027' } }],
      ['/events/1?_fields[]=id&_fields[]=slug', { id: 1, slug: 'event-1' }],
      ['/events/1?%5Ffields=id', { id: 1 }],
      ['/events/1?a=b&%5ffield%73=id', { id: 1 }],
      ['/events/1?_fields=nothing', []],
      ['/events?_fields=total', { total: 2 }],
      ['/events?_fields=events.id', { events: [] }],
      ['/events?_fields=events.0.id', { events: [{ id: 1 }] }],
    ];
    for (const [path, wanted] of FIELDS) it(path, async () => expect((await ask(path)).body).to.deep.equal(wanted));
    it('empty is everything', async () =>
      expect((await ask('/events/1?_fields=')).body).to.deep.equal((await ask('/events/1')).body));
  });

  describe('_envelope', () => {
    it('holds body, status and headers, totals as numbers', async () => {
      const { status, body } = await ask('/events?_envelope=1');
      expect(status).to.equal(200);
      expect(body.status).to.equal(200);
      expect(body.body.total).to.equal(2);
      expect(body.headers).to.deep.include({ Allow: 'GET', 'X-TEC-Total': 2, 'X-TEC-TotalPages': 1 });
    });

    it('says what the caller may do', async () =>
      expect((await ask('/events?_envelope', { as: 'admin' })).body.headers.Allow).to.equal('GET, POST'));

    it('holds refusals too', async () => {
      const { status, body } = await ask('/events/999?_envelope=1');
      expect(status).to.equal(200);
      expect(body.status).to.equal(404);
      expect(body.body.code).to.equal('rest-event-not-found');
      expect(body.headers.Allow).to.equal('GET');
    });
  });

  describe('_jsonp', () => {
    it('wraps the answer in a call', async () => {
      const { text, headers } = await ask('/events/1?_jsonp=a.b_1&_fields=id');
      expect(text).to.equal('/**/a.b_1({"id":1})');
      expect(headers['content-type']).to.match(/^application\/javascript/);
    });

    it('refuses other names, without data', async () => {
      for (const name of ['a(b)', 'a-b', '<x>']) {
        const { status, body } = await ask(`/events?_jsonp=${encodeURIComponent(name)}`);
        expect({ status, body }, name).to.deep.equal({
          status: 400,
          body: { code: 'rest_callback_invalid', message: 'Invalid JSONP callback function.' },
        });
      }
    });
  });

  it('_embed adds the parent of a category under up', async () => {
    const { body } = await ask('/categories/3?_embed');
    expect(body._embedded.up[0].id).to.equal(30);
    expect((await ask('/categories/30?_embed')).body).to.not.have.property('_embedded');
  });

  it('_locale, _pretty and what is unknown have no effect', async () =>
    expect((await ask('/events/1?_locale=de&_pretty=1&bogus=1')).body).to.deep.equal((await ask('/events/1')).body));

  describe('malformed JSON', () => {
    const broken = (code: number, message: string) => ({
      status: 400,
      body: {
        ...{ code: 'rest_invalid_json', message: 'Invalid JSON body passed.' },
        data: { status: 400, json_error_code: code, json_error_message: message },
      },
    });
    const send = async (method: string, body: string | Uint8Array, path = '/events') => {
      const answer = await ask(path, { method, body, headers: { 'content-type': 'application/json' } });
      return { status: answer.status, body: answer.body };
    };

    it('is told before anything else, with every method', async () => {
      for (const [method, path] of [
        ['POST', '/events'],
        ['PUT', '/events/1'],
        ['PATCH', '/venues/6'],
        ['DELETE', '/events/1'],
        ['GET', '/events'],
        ['GET', '/events/1'],
      ] as const)
        expect(await send(method, '{"title":', path), `${method} ${path}`).to.deep.equal(broken(4, 'Syntax error'));
    });

    it('bytes that are no UTF-8 have a number of their own', async () => {
      const bytes = Buffer.concat([Buffer.from('{"title":"'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]);
      expect(await send('POST', bytes)).to.deep.equal(
        broken(5, 'Malformed UTF-8 characters, possibly incorrectly encoded'),
      );
      expectMissing(await ask('/events', { json: { title: '\uFFFD' } }), 'start_date', 'end_date');
    });
  });
});
