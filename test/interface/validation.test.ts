// The two stages of validation and what each kind of parameter takes (interface-behaviour, "Conventions", 0.1, 3.2, 5.1, 5.7, 5.8).

import { expect } from 'chai';
import { filledGateway } from '../calendar/filled-gateway.ts';
import type { GatewayUnderTest, Json } from '../gateway-under-test.ts';
import { expectInvalid, expectMissing, expectMistyped } from '../record/expectations.ts';
import { event, organizer, term, venue } from '../replica/samples.ts';

const times = { start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

describe('validation', () => {
  let gateway: GatewayUnderTest;
  before(async () => {
    gateway = await filledGateway([event(1), venue(6), organizer(8), term('category', 3), term('tag', 4)]);
  });
  after(() => gateway.close());

  const create = (json: Json, as = 'admin') => gateway.ask('/events', { as, json });
  /** Refused by nothing else: these are as good as any. */
  const event_ = (more: Json) => create({ title: 'x', ...times, ...more });

  describe('stages', () => {
    it('the first names what fails in the order declared, not the order sent', async () => {
      expectInvalid(await gateway.ask('/events?end_date=bad&per_page=0&page=0'), 'page', 'per_page', 'end_date');
      expectInvalid(
        await gateway.ask('/venues?status=any&event=0&search=&page=x'),
        'page',
        'search',
        'event',
        'status',
      );
      expectInvalid(
        await gateway.ask('/categories?slug=&event=0&post=0&parent=0&orderby=&order=&include=&exclude=&search='),
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

    it('the second names wrong types in the order sent, the body before the query', async () => {
      expectMistyped(await event_({ date: 5, author: 1.5 }), {
        date: 'string',
        author: 'integer',
      });
      expectMistyped(
        await gateway.ask('/events?sticky=zz', {
          as: 'admin',
          json: { title: 'x', ...times, featured: 'no', all_day: 'zz' },
        }),
        { featured: 'boolean', all_day: 'boolean', sticky: 'boolean' },
      );
    });

    it('they never mix: a failure of the first hides the second', async () => {
      expectInvalid(await event_({ title: '', all_day: 'zz' }), 'title');
    });

    it('what is missing comes before both', async () => {
      expectMissing(await create({ title: '', all_day: 'zz' }), 'start_date', 'end_date');
      expectMissing(await gateway.ask('/venues', { json: { website: 'bad' } }), 'venue');
      expectMissing(await gateway.ask('/organizers', { json: {} }), 'organizer');
      expectMissing(await gateway.ask('/tags', { json: { name: null } }), 'name');
    });

    it('null counts as missing on create, and is a wrong type on update', async () => {
      expectMissing(await create({ title: null, ...times }), 'title');
      expectMistyped(await gateway.ask('/events/1', { as: 'admin', json: { title: null } }), { title: 'string' });
      expectMistyped(await gateway.ask('/tags/4', { as: 'admin', json: { name: null } }), { name: 'string' });
    });
  });

  /** Field -> values that are taken, fail the first stage, and fail the second with a type. */
  const KINDS: Record<string, { takes: Json[]; refuses: Json[]; mistypes?: [string, Json[]] }> = {
    title: { takes: ['x', ' 0', 'a<b>c</b>'], refuses: ['', '0', 5, [], ['x']] },
    description: { takes: ['x', ' '], refuses: ['', '0', 5, []], mistypes: ['string', [null]] },
    slug: { takes: ['x'], refuses: ['', 5, []], mistypes: ['string', [null]] },
    author: { takes: [5, '5'], refuses: ['me', 0, -1, ''], mistypes: ['integer', [1.5, null]] },
    date: {
      takes: ['2027-01-01', 'tomorrow', '@5', '1799582400'],
      refuses: ['', 'bad', []],
      mistypes: ['string', [5, null]],
    },
    date_utc: { takes: ['2027-01-01'], refuses: ['', 'bad'], mistypes: ['string', [5, null]] },
    status: {
      takes: ['publish', 'draft', 'pending', 'private', 'future'],
      refuses: ['', 'any', 'bogus', 'Draft', 'inherit', 'auto-draft', 5, []],
      mistypes: ['string', [null]],
    },
    timezone: {
      takes: ['Europe/Paris', 'europe/paris', 'EST', '+02:00', 'GMT+2', 'UTC', 'UTC+2', 'UTC-3.5', 'UTC+5:30', ''],
      refuses: ['Mars/Base', 'local', 'utc+2', 5],
      mistypes: ['string', [null]],
    },
    all_day: {
      takes: [true, false, 1, 0, '1', '0', 'true', 'FALSE', 'True'],
      refuses: [],
      mistypes: ['boolean', ['yes', 'no', 'on', '', '2', 2, null, 'zz']],
    },
    featured: { takes: [true, 'false'], refuses: [], mistypes: ['boolean', ['', null]] },
    image: { takes: [], refuses: ['', '0', 'x', 99, '99', []], mistypes: ['string', [null]] },
    cost: { takes: ['', null, 0, '10', ['10'], { a: '10' }, true], refuses: [] },
    website: {
      takes: [
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
      ],
      refuses: [
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
          5,
          true,
        ],
      ],
    },
    venue: {
      takes: [6, '6', [6], { id: 6 }, '', 0, null, [], {}],
      refuses: [99, 'x', 8, { city: 'x' }, { venue: 'x', website: 'bad' }, [6, 99], -6, 1.5],
    },
    organizer: { takes: [8, '8', [8, { id: 8 }], 0], refuses: [99, 'x', 6, { phone: '1' }, [8, 'x']] },
    categories: { takes: [3, '3', 'x', [3, 'y'], '', null, []], refuses: [[{ id: 3 }]] },
  };
  for (const [name, { takes, refuses, mistypes }] of Object.entries(KINDS)) {
    describe(name, () => {
      for (const value of takes) {
        it(`takes ${JSON.stringify(value)}`, async () => {
          // Nobody is told of the values first, so that nothing has to be written to learn that they pass.
          const answer = await gateway.ask('/events', { json: { title: 'x', ...times, [name]: value } });
          expect(answer.status, answer.text).to.equal(401);
        });
      }
      for (const value of refuses)
        it(`refuses ${JSON.stringify(value)}`, async () => expectInvalid(await event_({ [name]: value }), name));
      for (const value of mistypes?.[1] ?? [])
        it(`${JSON.stringify(value)} is no ${mistypes?.[0]}`, async () =>
          expectMistyped(await event_({ [name]: value }), { [name]: mistypes![0] }));
    });
  }

  for (const name of ['start_date', 'end_date']) {
    describe(name, () => {
      for (const value of ['2027-01-10', 'tomorrow', '1799582400', '1.7995824e9', '2027-02-30', '10 January 2027 5pm'])
        it(`takes ${value}`, async () =>
          expect((await gateway.ask('/events', { json: { title: 'x', ...times, [name]: value } })).status).to.equal(
            401,
          ));
      for (const value of ['', 'bad', '0', '0000-00-00 00:00:00', '25:00', ['2027-01-01'], {}])
        it(`refuses ${JSON.stringify(value)}`, async () => expectInvalid(await event_({ [name]: value }), name));
      it('a JSON number is no string', async () =>
        expectMistyped(await event_({ [name]: 1799582400 }), { [name]: 'string' }));
    });
  }

  it('a list of more ids than are looked up is refused by name', async () => {
    const { status, body } = await gateway.ask('/events', {
      as: 'admin',
      json: { title: 'x', ...times, venue: Array(1001).fill(6) },
    });
    expect([status, Object.keys(body.data.params)]).to.deep.equal([400, ['venue']]);
  });
});
