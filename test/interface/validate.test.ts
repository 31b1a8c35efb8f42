// The two stages of validation, and the values that each parameter type accepts.

import { expect } from 'chai';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import { expectInvalid, expectMissingFields, expectMistyped } from '../record/expectations.ts';
import type { Json, TestGateway } from '../start-gateway.ts';
import { event, organizer, term, venue } from '../store/sample-records.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

describe('validation', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway([
      event(1),
      venue(6),
      organizer(8),
      term('category', 3),
      term('category', 5, { slug: '77' }),
      term('category', 6, { slug: '3e0' }),
      term('tag', 4),
    ]);
  });
  after(() => gateway.stop());

  const create = (json: Json, as = 'admin') => gateway.request('/events', { as, json });
  /** The other values are valid. */
  const createWith = (more: Json) => create({ title: 'x', ...times, ...more });

  describe('stages', () => {
    it('the first stage names invalid parameters in declared order', async () => {
      expectInvalid(await gateway.request('/events?end_date=bad&per_page=0&page=0'), 'page', 'per_page', 'end_date');
      expectInvalid(
        await gateway.request('/venues?status=any&event=0&search=&page=x'),
        'page',
        'search',
        'event',
        'status',
      );
      expectInvalid(
        await gateway.request('/categories?slug=&event=0&post=0&parent=0&orderby=&order=&include=&exclude=&search='),
        ...['search', 'exclude', 'include', 'order', 'orderby', 'parent', 'post', 'event', 'slug'],
      );
      expectInvalid(
        await create({
          organizer: 99,
          venue: 99,
          website: 'x',
          image: 'x',
          end_date: 'bad',
          start_date: 'bad',
          timezone: 'bad',
          status: 'x',
          excerpt: '',
          slug: '',
          description: '',
          title: '',
          date_utc: 'bad',
          date: 'bad',
          author: 'x',
        }),
        ...[
          'author',
          'date',
          'date_utc',
          'title',
          'description',
          'slug',
          'excerpt',
          'status',
          'timezone',
          'start_date',
        ],
        ...['end_date', 'image', 'website', 'venue', 'organizer'],
      );
    });

    it('the second stage names wrong types in the order sent, the body before the query', async () => {
      expectMistyped(await createWith({ date: 5, author: 1.5 }), {
        date: 'string',
        author: 'integer',
      });
      expectMistyped(
        await gateway.request('/events?sticky=zz', {
          as: 'admin',
          json: { title: 'x', ...times, featured: 'no', all_day: 'zz' },
        }),
        { featured: 'boolean', all_day: 'boolean', sticky: 'boolean' },
      );
    });

    it('an error of the first stage hides the second', async () => {
      expectInvalid(await createWith({ title: '', all_day: 'zz' }), 'title');
    });

    it('missing parameters come before both stages', async () => {
      expectMissingFields(await create({ title: '', all_day: 'zz' }), 'start_date', 'end_date');
      expectMissingFields(await gateway.request('/venues', { json: { website: 'bad' } }), 'venue');
      expectMissingFields(await gateway.request('/organizers', { json: {} }), 'organizer');
      expectMissingFields(await gateway.request('/tags', { json: { name: null } }), 'name');
    });

    it('null counts as missing on create, and is a wrong type on update', async () => {
      expectMissingFields(await create({ title: null, ...times }), 'title');
      expectMistyped(await gateway.request('/events/1', { as: 'admin', json: { title: null } }), { title: 'string' });
      expectMistyped(await gateway.request('/tags/4', { as: 'admin', json: { name: null } }), { name: 'string' });
    });
  });

  /** Field -> values that are valid, fail the first stage, and fail the second stage with a type. */
  const FIELDS: Record<string, { valid: Json[]; invalid: Json[]; mistyped?: [string, Json[]] }> = {
    title: { valid: ['x', ' 0', 'a<b>c</b>'], invalid: ['', '0', 5, [], ['x']] },
    description: { valid: ['x', ' '], invalid: ['', '0', 5, []], mistyped: ['string', [null]] },
    slug: { valid: ['x'], invalid: ['', 5, []], mistyped: ['string', [null]] },
    author: { valid: [5, '5'], invalid: ['me', 0, -1, ''], mistyped: ['integer', [1.5, null]] },
    date: {
      valid: ['2027-01-01', 'tomorrow', '@5', '1799582400'],
      invalid: ['', 'bad', []],
      mistyped: ['string', [5, 0, null]],
    },
    date_utc: { valid: ['2027-01-01'], invalid: ['', 'bad'], mistyped: ['string', [5, 0, null]] },
    status: {
      valid: ['publish', 'draft', 'pending', 'private', 'future'],
      invalid: ['', 'any', 'bogus', 'Draft', 'inherit', 'auto-draft', 5, []],
      mistyped: ['string', [null]],
    },
    timezone: {
      valid: [
        'Europe/Paris',
        'europe/paris',
        'EST',
        '+02:00',
        'GMT+2',
        'UTC',
        'UTC+2',
        'UTC-3.5',
        'UTC+5:30',
        '',
        '0',
      ].concat([' Europe/Paris', 'UTC +2']),
      invalid: ['Mars/Base', 'local', 'utc+2', 'UTC ', 'Europe/Paris ', '\nEST', '\u00a0EST', 'UTC\n2', 5, true],
      mistyped: ['string', [null, 0, false, [], {}]],
    },
    all_day: {
      valid: [true, false, 1, 0, '1', '0', 'true', 'FALSE', 'True'],
      invalid: [],
      mistyped: ['boolean', ['yes', 'no', 'on', '', '2', 2, null, 'zz']],
    },
    featured: { valid: [true, 'false'], invalid: [], mistyped: ['boolean', ['', null]] },
    image: { valid: [], invalid: ['', '0', 'x', 99, '99', []], mistyped: ['string', [null]] },
    cost: { valid: ['', null, 0, '10', ['10'], { a: '10' }, true], invalid: [] },
    website: {
      valid: [
        ...[
          'http://a',
          'HTTP://a.example',
          'https://a.example:80/x?y#z',
          'ftp://a.example',
          'file:///x',
          'custom://x',
          'http://1.2.3.4',
        ],
        ...['http://[::1]/', 'http://u:p@a.example', 'mailto:a@b.example', 'news:x', '', null, '0', 0, [], false, {}],
        ...[
          'mailto:',
          'http://256.1.1.1',
          '1a://b',
          '+a://b',
          'http://a.example:80x',
          'file:/x',
          'http://a@b.example:',
        ],
      ],
      invalid: [
        ...[
          'example.com',
          '//example.com',
          '/rel',
          'http://',
          'javascript:1',
          'data:x',
          'tel:1',
          'http://a b',
          ' http://a.example',
        ],
        ...[
          'http://ä.example',
          'http://a.example/ä',
          'http://a_b.example',
          'http://-a.example',
          'http://a.example:65536',
          'http:/x',
          'http:///a.example',
          'http://ex%61mple.org',
          'http://a\\b.example',
          'http://a@b@c.example',
          'http://u%zz@a.example',
          'http://a.example:80:80',
          'mailto:1/2',
          'file:80',
          'MAILTO:/x',
          5,
          true,
        ],
      ],
    },
    venue: {
      valid: [6, '6', [6], { id: 6 }, '', 0, null, [], {}, { id: '', venue: 'x' }, { id: null, venue: 'x' }],
      invalid: [99, 'x', ' ', 8, { city: 'x' }, { venue: 'x', website: 'bad' }, [6, 99], -6, 1.5],
    },
    organizer: {
      valid: [8, '8', [8, { id: 8 }], '8,', 0, [0], [''], [null]],
      invalid: [99, 'x', ' ', 6, { phone: '1' }, [8, 'x'], [8, 0], [8, ''], [8, null]],
    },
    categories: { valid: [3, '3', 'x', [3, 'y'], '', null, []], invalid: [[{ id: 3 }]] },
  };
  for (const [name, { valid, invalid, mistyped }] of Object.entries(FIELDS)) {
    describe(name, () => {
      for (const value of valid) {
        it(`accepts ${JSON.stringify(value)}`, async () => {
          // Without credentials a valid request gets a 401, and nothing is written.
          const response = await gateway.request('/events', { json: { title: 'x', ...times, [name]: value } });
          expect(response.status, response.text).to.equal(401);
        });
      }
      for (const value of invalid)
        it(`rejects ${JSON.stringify(value)}`, async () => expectInvalid(await createWith({ [name]: value }), name));
      for (const value of mistyped?.[1] ?? [])
        it(`${JSON.stringify(value)} is not of type ${mistyped?.[0]}`, async () =>
          expectMistyped(await createWith({ [name]: value }), { [name]: mistyped![0] }));
    });
  }

  for (const name of ['start_date', 'end_date']) {
    describe(name, () => {
      for (const value of ['2027-01-10', 'tomorrow', '1799582400', '1.7995824e9', '2027-02-30', '10 January 2027 5pm'])
        it(`accepts ${value}`, async () =>
          expect((await gateway.request('/events', { json: { title: 'x', ...times, [name]: value } })).status).to.equal(
            401,
          ));
      for (const value of ['', 'bad', '0', '0000-00-00 00:00:00', '25:00', ['2027-01-01'], {}])
        it(`rejects ${JSON.stringify(value)}`, async () => expectInvalid(await createWith({ [name]: value }), name));
      it('a JSON number is not of type string', async () =>
        expectMistyped(await createWith({ [name]: 1799582400 }), { [name]: 'string' }));
    });
  }

  it('in the texts of venues and organizers, what PHP takes for empty (0, false, [], null) is mistyped, and other values that are no text are invalid', async () => {
    const venue = (json: Json) => gateway.request('/venues', { as: 'admin', json: { venue: 'x', ...json } });
    for (const name of ['phone', 'website', 'image', 'description']) {
      for (const value of [0, false, [], null]) expectMistyped(await venue({ [name]: value }), { [name]: 'string' });
      for (const value of [true, ['x']]) expectInvalid(await venue({ [name]: value }), name);
    }
  });

  it('in the data of a venue in an event, what PHP takes for empty is no text, and other values that are no text are invalid', async () => {
    const names = ['phone', 'website', 'image', 'description', 'city'];
    const empty = await seededGateway();
    try {
      for (const value of [0, false, [], {}]) {
        const venueData = { venue: 'Hall', ...Object.fromEntries(names.map((name) => [name, value])) };
        const json = { title: 'x', ...times, venue: venueData };
        const { status, text, body } = await empty.request('/events', { as: 'admin', json });
        expect(status, text).to.equal(201);
        for (const name of names) expect(body.venue, JSON.stringify(value)).to.not.have.property(name);
      }
    } finally {
      await empty.stop();
    }
    for (const name of names)
      for (const value of [true, ['x'], 5])
        expectInvalid(await createWith({ venue: { venue: 'x', [name]: value } }), 'venue');
  });

  it('an image that is neither an id nor a URL is invalid for anonymous callers too', async () => {
    expectInvalid(await gateway.request('/events', { json: { title: 'x', ...times, image: 'foo_bar' } }), 'image');
  });

  it('a number as parent is an id, also where a category has it as its slug', async () => {
    const json = { name: 'x', parent: '77' };
    expectInvalid(await gateway.request('/categories', { as: 'admin', json }), 'parent');
    expectInvalid(await gateway.request('/categories?parent=77'), 'parent');
  });

  it('a decimal as parent is no id, and no slug', async () => {
    for (const parent of ['3.0', '3e0']) {
      expectInvalid(await gateway.request('/categories', { as: 'admin', json: { name: 'x', parent } }), 'parent');
      expectInvalid(await gateway.request(`/categories?parent=${parent}`), 'parent');
    }
    for (const parent of ['3', '%203', '03', '%2B3'])
      expect((await gateway.request(`/categories?parent=${parent}`)).status, parent).to.equal(200);
  });

  it('rejects a list of more ids than limits.idsPerParameter', async () => {
    const { status, body } = await gateway.request('/events', {
      as: 'admin',
      json: { title: 'x', ...times, venue: Array(1001).fill(6) },
    });
    expect([status, Object.keys(body.data.params)]).to.deep.equal([400, ['venue']]);
  });
});
