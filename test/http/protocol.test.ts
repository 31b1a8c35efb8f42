// Behaviour of all routes: methods, paths, headers and response parameters.

import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { Services } from '../../src/calendar/services.ts';
import { apiLink } from '../../src/http/headers.ts';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import { expectError, expectForbidden, expectMissingFields } from '../record/expectations.ts';
import type { RequestOptions, TestGateway, TestResponse } from '../start-gateway.ts';
import { event, term, venue } from '../store/sample-records.ts';

const NO_ROUTE = {
  status: 404,
  code: 'rest_no_route',
  message: 'No route was found matching the URL and request method.',
};
const times = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' };

describe('protocol', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway([
      event(1, { ...times, categories: [3] }),
      event(2, times),
      venue(6),
      term('category', 30),
      term('category', 3, { parent: 30 }),
      term('tag', 4),
    ]);
  });
  after(() => gateway.stop());

  const send: TestGateway['request'] = (path, request) => gateway.request(path, request);
  const comparable = ({ status, headers: { date: _, 'x-request-id': __, ...headers } }: TestResponse) => ({
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
        const [head, get] = [await send(path, { method: 'HEAD' }), await send(path)];
        expect(head.text).to.equal('');
        expect(comparable(head), path).to.deep.equal(comparable(get));
      }
    });

    it('GET takes parameters of a JSON body, and none of a form, as in WordPress', async () => {
      expect((await send('/events', { method: 'GET', json: { page: 0 } })).status).to.equal(400);
      expect((await send('/events', { method: 'GET', form: 'page=0' })).status).to.equal(200);
      expect((await send('/events?_method=GET', { method: 'POST', form: 'page=0' })).status).to.equal(200);
    });

    it('OPTIONS describes the route, also for ids that do not exist', async () => {
      const { body: root } = await send('');
      for (const [path, pattern] of [
        ['/events', '/events'],
        ['/events/999999', '/events/(?P<id>\\d+)'],
        ['/tags/4', '/tags/(?P<id>\\d+)'],
      ] as const) {
        const { status, body } = await send(path, { method: 'OPTIONS' });
        expect(status).to.equal(200);
        expect(body).to.deep.equal(root.routes[`/calendar/events/v1${pattern}`]);
      }
    });

    it('OPTIONS of an unknown route is an empty list', async () => {
      const { status, body } = await send('/nowhere', { method: 'OPTIONS' });
      expect({ status, body }).to.deep.equal({ status: 200, body: [] });
    });

    it('an unsupported method gives rest_no_route', async () => {
      for (const path of ['/events', '/venues', '/tags'])
        for (const method of ['PUT', 'PATCH', 'DELETE']) expectError(await send(path, { method }), NO_ROUTE);
      for (const path of ['', '/doc']) expectError(await send(path, { method: 'POST', json: {} }), NO_ROUTE);
    });

    it('are overridden in the query or a header, in any letter case', async () => {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'GET']) {
        expectForbidden(await send('/events/1?_method=delete', { method }), 401);
        expectForbidden(await send('/events/1', { method, headers: { 'x-http-method-override': 'DELETE' } }), 401);
      }
      for (const method of ['POST', 'PATCH', 'DELETE'])
        expect((await send('/events/1?_method=GET', { method })).body.id).to.equal(1);
      expect((await send('/events?_method=OPTIONS', { json: {} })).body).to.include.keys(
        'namespace',
        'methods',
        'endpoints',
      );
      expectError(await send('/events?_method=FLY', { json: {} }), NO_ROUTE);
    });

    it('overridden in the query get no cached response, whatever was read under this URL before', async () => {
      for (const [name, path] of Object.entries({
        lower: '/events/1?_method=delete',
        encoded: '/events/1?%5Fmethod=DELETE',
      }))
        for (const method of ['HEAD', 'OPTIONS', 'HEAD']) {
          const before = await send(path, { method });
          expect(before.headers['cache-control'], name).to.include('no-store');
          expectForbidden(await send(path), 401);
          expectForbidden(await send(path, { method: 'POST' }), 401);
        }
      expect((await send('/events/1?_method=GET')).headers['cache-control']).to.include('no-store');
    });

    it('are overridden with HEAD: no body, and a Content-Length of 0', async () => {
      const asHead = { headers: { 'x-http-method-override': 'head' } };
      for (const reply of [
        await send('/events?_method=HEAD', { json: {} }),
        await send('/events?_method=HEAD'),
        await send('/events/1', asHead),
        await send('/events/1', asHead),
        await send('/events/1?_envelope', asHead),
      ])
        expect([reply.status, reply.text, reply.headers['content-length']]).to.deep.equal([200, '', '0']);
      const missing = await send('/events/999?_method=HEAD');
      expect([missing.status, missing.text, missing.headers['content-length']]).to.deep.equal([404, '', '0']);
      expect((await send('/events/1')).body.id).to.equal(1);
    });

    it('that read take no parameters from a form, as they do from JSON', async () => {
      for (const [query, method] of [
        ['', 'GET'],
        ['?_method=GET', 'POST'],
      ] as const) {
        const read = async (body: object) => (await send(`/events${query}`, { method, ...body })).body.rest_url;
        expect(await read({ json: { per_page: 7 } })).to.contain('per_page=7');
        expect(await read({ form: 'per_page=7' })).to.not.contain('per_page=7');
      }
    });

    it('are not overridden in a body', async () => {
      expectMissingFields(await send('/events', { json: { _method: 'GET' } }), 'title', 'start_date', 'end_date');
      expectMissingFields(await send('/events', { form: '_method=GET' }), 'title', 'start_date', 'end_date');
    });
  });

  describe('paths', () => {
    it('match with trailing and doubled slashes and in any letter case', async () => {
      for (const path of ['/events/1/', '//events//1', '/Events/1', '/EVENTS/by-slug/EVENT-1'])
        expect((await send(path)).body.id, path).to.equal(1);
      expect((await gateway.requestPath('/calendar/events/v1/')).body.namespace).to.equal('calendar/events/v1');
    });

    it('match as rest_route at the root', async () => {
      expect((await gateway.requestPath('/?rest_route=/calendar/events/v1/events/1')).body.id).to.equal(1);
      expect((await gateway.requestPath('/?rest_route=/tribe/events/v1/events/2/')).body.id).to.equal(2);
      expectError(await gateway.requestPath('/?rest_route=/other/v1'), NO_ROUTE);
    });

    it('outside all mounts give rest_no_route', async () => {
      for (const path of ['/nowhere', '/events/1/more', '/events/by-slug', '/tags/by-slug/x', '/events/%E0%A4%A'])
        expectError(await send(path), NO_ROUTE);
    });

    it('of the root accept only its own namespace', async () => {
      expect((await send('?namespace=calendar/events/v1')).status).to.equal(200);
      expectError(await send('?namespace=foo'), {
        ...{ status: 404, code: 'rest_invalid_namespace', message: 'The specified namespace could not be found.' },
      });
    });
  });

  describe('headers', () => {
    it('link to the site in ASCII', () => {
      const linkOf = (url: string, cms = 'wordpress', isReadOnly?: true) =>
        apiLink({ site: () => ({ url }), mapping: { cms }, cms: { isReadOnly } } as Services).Link;
      for (const [url, sent] of [
        ['https://Example.org:443/a', 'https://example.org/a'],
        ['https://кафе.example/é', 'https://xn--80akn5b.example/%C3%A9'],
      ] as const)
        expect(linkOf(url)).to.equal(`<${sent}/wp-json/>; rel="https://api.w.org/"`);
      // The relation means the REST API of WordPress.
      const url = 'https://cms.example';
      expect([linkOf(url, 'payload'), linkOf(url, 'wordpress', true)]).to.deep.equal([undefined, undefined]);
    });

    it('common to all responses', async () => {
      for (const path of ['/events', '/events/999', '/nowhere']) {
        const { headers } = await send(path);
        expect(headers, path).to.include({
          'content-type': 'application/json; charset=UTF-8',
          'x-robots-tag': 'noindex',
          'x-content-type-options': 'nosniff',
        });
        expect(headers['access-control-allow-headers']).to.match(
          /^Authorization, X-WP-Nonce, Content-Disposition, Content-MD5, Content-Type\b/,
        );
        expect(headers['access-control-expose-headers'])
          .to.contain('X-TEC-Total, X-TEC-TotalPages')
          .and.contain('X-WP-Total, X-WP-TotalPages, Link');
        expect(headers.vary).to.contain('Origin');
        expect(headers.link, path).to.equal('<https://cms.example/wp-json/>; rel="https://api.w.org/"');
        expect(headers).to.not.have.property('access-control-allow-origin');
        expect(headers).to.not.have.property('www-authenticate');
      }
    });

    it('for CORS', async () => {
      for (const path of ['/events', '/events/999']) {
        expect((await send(path, { headers: { origin: 'https://other.example' } })).headers, path).to.include({
          'access-control-allow-origin': 'https://other.example',
          'access-control-allow-methods': 'OPTIONS, GET, POST, PUT, PATCH, DELETE',
          'access-control-allow-credentials': 'true',
        });
      }
      expect((await send('/events', { headers: { origin: '' } })).headers).to.not.have.any.keys(
        ...['access-control-allow-origin', 'access-control-allow-credentials'],
      );
    });

    it('for CORS let scripts send validators and read ETag, and browsers keep the answer to a preflight', async () => {
      const origin = 'https://other.example';
      const preflight = await send('/events', {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'if-none-match' },
      });
      const names = (value: string | undefined) => value?.split(', ') ?? [];
      expect(names(preflight.headers['access-control-allow-headers'])).to.include.members([
        'If-None-Match',
        'Cache-Control',
        'X-Requested-With',
      ]);
      expect(Number(preflight.headers['access-control-max-age'])).to.be.greaterThan(0);
      const list = await send('/events', { headers: { origin } });
      expect(names(list.headers['access-control-expose-headers'])).to.include('ETag');
      expect(list.headers).to.not.have.property('access-control-max-age');
    });

    describe('X-Unknown-Parameters', () => {
      const unknown = async (path: string, request: RequestOptions = {}) =>
        (await send(path, request)).headers['x-unknown-parameters'];

      it('names what has no effect, from the cache too', async () => {
        const path = '/events?strat_date=today&per_page=1&odd%20name[a]=1&_=17';
        expect(await unknown(path)).to.equal('strat_date, odd%20name');
        expect(await unknown(path)).to.equal('strat_date, odd%20name');
        const { etag } = (await send(path)).headers;
        const { status, headers } = await send(path, { headers: { 'if-none-match': etag! } });
        expect([status, headers['x-unknown-parameters']]).to.deep.equal([304, 'strat_date, odd%20name']);
      });

      it('names those of a body', async () =>
        expect(await unknown('/events', { method: 'GET', json: { page: 1, pgae: 2 } })).to.equal('pgae'));

      it('is absent if every parameter has an effect, and for those of WordPress', async () => {
        for (const path of [
          '/events?page=1&custom_fields[a]=1',
          '/events/1?context=view&_embed=1&_fields=id&password=a',
        ])
          expect(await unknown(path), path).to.equal(undefined);
      });

      it('is short, and ASCII', async () => {
        const text = await unknown(`/events?${'%C3%A9'.repeat(200)}=1&b=1`);
        expect(text)
          .to.match(/^(%C3%A9)+$/)
          .and.have.length(300);
      });
    });

    it('forbid caching of responses to authenticated callers', async () => {
      const { headers } = await send('/events', { as: 'editor' });
      expect(headers).to.include({
        expires: 'Wed, 11 Jan 1984 05:00:00 GMT',
        'cache-control': 'no-cache, must-revalidate, max-age=0, no-store, private',
      });
    });

    it('reject an invalid nonce unless there are credentials', async () => {
      const bad = { status: 403, code: 'rest_cookie_invalid_nonce', message: 'Cookie check failed' };
      for (const nonce of ['bad', '']) expectError(await send('/events', { headers: { 'x-wp-nonce': nonce } }), bad);
      expectError(await send('/events?_wpnonce=bad'), bad);
      expect((await send('/events', { as: 'admin', headers: { 'x-wp-nonce': 'bad' } })).status).to.equal(200);
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
    for (const [path, wanted] of FIELDS) it(path, async () => expect((await send(path)).body).to.deep.equal(wanted));
    it('has no effect if it is empty', async () =>
      expect((await send('/events/1?_fields=')).body).to.deep.equal((await send('/events/1')).body));
  });

  describe('_envelope', () => {
    it('wraps body, status and headers, with totals as numbers', async () => {
      const { status, body, headers } = await send('/events?_envelope=1');
      expect(status).to.equal(200);
      // As in WordPress, the totals are in the envelope only.
      expect(headers).to.not.have.any.keys('x-tec-total', 'x-tec-totalpages');
      expect(body.status).to.equal(200);
      expect(body.body.total).to.equal(2);
      expect(body.headers).to.deep.include({ Allow: 'GET', 'X-TEC-Total': 2, 'X-TEC-TotalPages': 1 });
    });

    it('includes the Allow header of the actor', async () =>
      expect((await send('/events?_envelope', { as: 'admin' })).body.headers.Allow).to.equal('GET, POST'));

    it('wraps errors too', async () => {
      const { status, body } = await send('/events/999?_envelope=1');
      expect(status).to.equal(200);
      expect(body.status).to.equal(404);
      expect(body.body.code).to.equal('rest-event-not-found');
      expect(body.headers.Allow).to.equal('GET');
    });
  });

  describe('_jsonp', () => {
    it('wraps the response in a function call', async () => {
      const { text, headers } = await send('/events/1?_jsonp=a.b_1&_fields=id');
      expect(text).to.equal('/**/a.b_1({"id":1})');
      expect(headers['content-type']).to.match(/^application\/javascript/);
    });

    it('wraps errors too, with their status', async () => {
      const { status, text } = await send('/events/999?_jsonp=cb');
      expect(status).to.equal(404);
      expect(text).to.match(/^\/\*\*\/cb\(\{"code":"rest-event-not-found",.*\}\)$/);
    });

    it('rejects invalid callback names, with an error without data', async () => {
      for (const query of ['_jsonp=a(b)', '_jsonp=a-b', '_jsonp=%3Cx%3E', '_jsonp[]=x']) {
        const { status, body } = await send(`/events?${query}`);
        expect({ status, body }, query).to.deep.equal({
          status: 400,
          body: { code: 'rest_callback_invalid', message: 'Invalid JSONP callback function.' },
        });
      }
    });
  });

  it('_embed adds the parent of a category under up', async () => {
    const { body } = await send('/categories/3?_embed');
    expect(body._embedded.up[0].id).to.equal(30);
    expect((await send('/categories/30?_embed')).body).to.not.have.property('_embedded');
  });

  it('_locale, _pretty and unknown parameters have no effect', async () =>
    expect((await send('/events/1?_locale=de&_pretty=1&bogus=1')).body).to.deep.equal((await send('/events/1')).body));

  describe('malformed JSON', () => {
    const broken = (code: number, message: string) => ({
      status: 400,
      body: {
        ...{ code: 'rest_invalid_json', message: 'Invalid JSON body passed.' },
        data: { status: 400, json_error_code: code, json_error_message: message },
      },
    });
    const sendBody = async (method: string, body: string | Uint8Array, path = '/events') => {
      const reply = await send(path, { method, body, headers: { 'content-type': 'application/json' } });
      return { status: reply.status, body: reply.body };
    };

    it('is the first error to be reported, for every method', async () => {
      for (const [method, path] of [
        ['POST', '/events'],
        ['PUT', '/events/1'],
        ['PATCH', '/venues/6'],
        ['DELETE', '/events/1'],
        ['GET', '/events'],
        ['GET', '/events/1'],
      ] as const)
        expect(await sendBody(method, '{"title":', path), `${method} ${path}`).to.deep.equal(broken(4, 'Syntax error'));
    });

    describe('malformed UTF-8 has its own error code', () => {
      const quoted = (...bytes: number[]) =>
        Buffer.from([...Buffer.from('{"title":"'), ...bytes, ...Buffer.from('"}')]);
      const MALFORMED: Record<string, Buffer> = {
        'two bytes of no character': quoted(0xff, 0xfe),
        'three bytes of an emoji': quoted(0xf0, 0x9f, 0x98),
        'half of a surrogate pair': quoted(0xed, 0xa0, 0x80),
        'after a byte order mark': Buffer.from([0xef, 0xbb, 0xbf, ...quoted(0xff)]),
      };
      for (const [what, bytes] of Object.entries(MALFORMED))
        it(what, async () => {
          const expected = broken(5, 'Malformed UTF-8 characters, possibly incorrectly encoded');
          expect(await sendBody('POST', bytes)).to.deep.equal(expected);
          const type = { 'content-type': 'application/json' };
          const compressed = { ...type, 'content-encoding': 'gzip' };
          const unread = await send('/events', { method: 'POST', body: gzipSync(bytes), headers: compressed });
          expect({ status: unread.status, body: unread.body }).to.deep.equal(expected);
        });

      it('and the replacement character itself is accepted', async () =>
        expectMissingFields(await send('/events', { json: { title: '\uFFFD' } }), 'start_date', 'end_date'));
    });
  });
});
