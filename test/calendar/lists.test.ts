// Envelopes, links and filters of the five lists (interface-behaviour 2, 3.2, 3.5, 3.6).

import { expect } from 'chai';
import { type CalendarRecord, type EventRecord, FIRST_INLINE_ID } from '../../src/records.ts';
import { BASE, type GatewayUnderTest, type Json } from '../gateway-under-test.ts';
import { expectInvalid, expectMistyped, expectRefused } from '../record/expectations.ts';
import { event, organizer, term, venue } from '../replica/samples.ts';
import { filledGateway } from './filled-gateway.ts';

const day = (n: number) => `2027-01-${String(n).padStart(2, '0')}`;
const on = (id: number, more: object = {}) =>
  event(id, {
    start: `${day(id)} 10:00:00`,
    end: `${day(id)} 11:00:00`,
    startUtc: `${day(id)} 15:00:00`,
    endUtc: `${day(id)} 16:00:00`,
    ...more,
  });

const RECORDS: CalendarRecord[] = [
  term('category', 31, { name: 'Music', slug: 'music' }),
  term('category', 32, { name: 'Jazz', slug: 'jazz', parent: 31 }),
  term('category', 33, { name: 'Empty', slug: 'empty' }),
  term('category', 34, { name: 'Numbered', slug: '31' }),
  term('tag', 41, { name: 'Free entry', slug: 'free' }),
  term('tag', 42, { name: 'Kids', slug: 'kids' }),
  venue(21, {
    title: 'Town Hall',
    city: 'Springfield',
    country: 'Norway',
    website: 'http://hall.example',
    searchText: 'Town Hall Springfield',
  }),
  venue(22, { title: 'Barn', date: '2026-02-01 10:00:00', searchText: 'Barn' }),
  venue(23, { title: 'Cellar', searchText: 'Cellar' }),
  organizer(26, { title: 'Choir', email: 'sing@choir.example', searchText: 'Choir sing@choir.example' }),
  organizer(27, { title: 'Band', searchText: 'Band' }),
  on(1, { categories: [32], tags: [41], venues: [21], organizers: [26], searchText: 'Été in the city of light' }),
  on(2, {
    categories: [31],
    tags: [42],
    venues: [22],
    organizers: [27, 26],
    featured: true,
    searchText: '<b>zeb</b>ra 100% a_b',
  }),
  on(3, { tags: [41, 42], searchText: 'Summer night jazz' }),
  on(4, { categories: [34], hidden: true }),
  on(5, { status: 'draft', categories: [33], author: 2, venues: [23] }),
];

describe('lists', () => {
  let gateway: GatewayUnderTest;
  beforeEach(async () => {
    gateway = await filledGateway(RECORDS);
  });
  afterEach(() => gateway.close());

  const get = async (path: string, as?: string): Promise<Json> => {
    const { status, body } = await gateway.ask(path, { as });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const idsOf = async (path: string, as?: string): Promise<number[]> => {
    const body = await get(path, as);
    const list = Object.values(body).find(Array.isArray) as Json[];
    expect(body.total, path).to.equal(list.length);
    return list.map(({ id }) => id);
  };

  describe('envelope', () => {
    it('has its keys in order, numbers as totals, and no neighbours where there are none', async () => {
      for (const name of ['events', 'venues', 'organizers', 'categories', 'tags']) {
        const { body, headers } = await gateway.ask(`/${name}`);
        expect(Object.keys(body)).to.deep.equal([name, 'rest_url', 'total', 'total_pages']);
        expect(headers['x-tec-total']).to.equal(String(body.total));
        expect(headers['x-tec-totalpages']).to.equal('1');
        expect(headers).to.not.have.any.keys('x-wp-total', 'x-wp-totalpages');
      }
    });

    it('an empty list is 200 with zeros', async () => {
      for (const [name, query] of [
        ['events', 'start_date=2020-01-01&end_date=2020-01-02'],
        ['venues', 'search=nothing'],
        ['organizers', 'search=nothing'],
        ['categories', 'search=nothing'],
        ['tags', 'slug=nothing'],
      ] as const) {
        const body = await get(`/${name}?${query}`);
        expect(body, name).to.deep.include({ [name]: [], total: 0, total_pages: 0 });
      }
    });

    it('a page behind the last is 404 for events, venues and organizers, and empty for terms', async () => {
      for (const kind of ['event', 'venue', 'organizer'])
        expectRefused(await gateway.ask(`/${kind}s?page=9`), {
          ...{
            status: 404,
            code: `${kind}-archive-page-not-found`,
            message: `The requested ${kind} archive page does not exist`,
          },
        });
      expectRefused(await gateway.ask('/venues?search=nothing&page=2'), {
        ...{
          status: 404,
          code: 'venue-archive-page-not-found',
          message: 'The requested venue archive page does not exist',
        },
      });
      const body = await get('/categories?page=999');
      expect(body).to.deep.include({ categories: [], total: 3, total_pages: 1 });
      expect(body.previous_rest_url).to.equal(`${BASE}/categories/?page=998`);
    });

    it('per_page and page take the numbers that PHP takes, and nothing else', async () => {
      for (const name of ['events', 'venues', 'organizers', 'categories', 'tags']) {
        for (const value of ['0', '-1', 'abc', '', '1.5']) {
          expectInvalid(await gateway.ask(`/${name}?per_page=${value}`), 'per_page');
          expectInvalid(await gateway.ask(`/${name}?page=${value}`), 'page');
        }
        expectInvalid(await gateway.ask(`/${name}?per_page[]=2`), 'per_page');
        expect((await get(`/${name}?per_page=2.0&page=01`)).total_pages).to.equal(
          Math.ceil((await get(`/${name}`)).total / 2),
        );
      }
      expect((await get('/events?per_page=%203')).rest_url).to.contain('per_page=3');
      expect((await get('/events?per_page=1e1')).rest_url).to.contain('per_page=10');
      expect((await get('/events?per_page=999')).rest_url).to.contain('per_page=50');
    });
  });

  describe('links', () => {
    it('of events: raw by itself, encoded to the neighbours, page last and none for the first', async () => {
      const body = await get('/events?per_page=1&page=2');
      const dates = 'start_date=2026-11-20 00:00:00&end_date=2028-11-21 23:59:59';
      const encoded = dates.replaceAll(' ', '+').replaceAll(':', '%3A');
      expect(body.rest_url).to.equal(`${BASE}/events/?page=2&per_page=1&${dates}&status=publish`);
      expect(body.next_rest_url).to.equal(`${BASE}/events/?per_page=1&${encoded}&status=publish&page=3`);
      expect(body.previous_rest_url).to.equal(`${BASE}/events/?per_page=1&${encoded}&status=publish`);
    });

    it('of events: in the order of the original, encoded once venue, organizer or featured is there', async () => {
      const { rest_url } = await get(
        '/events?venue=22,21&featured=true&organizer[]=27&search=zeb&start_date=2027-01-01',
      );
      expect(rest_url).to.equal(
        `${BASE}/events/?page=1&per_page=10&start_date=2027-01-01+00%3A00%3A00&end_date=2028-11-21+23%3A59%3A59&search=zeb&status=publish&venue=22,21&organizer=27&featured=1`,
      );
    });

    it('keep every parameter that was sent', async () => {
      const sent = 'categories=music&tags=free,kids&strict_dates=1&per_page=1&starts_after=2026-01-01';
      const { next_rest_url } = await get(`/events?${sent}`);
      const query = new URL(next_rest_url).searchParams;
      expect(Object.fromEntries(query)).to.include({
        categories: 'music',
        tags: 'free,kids',
        strict_dates: '1',
        page: '2',
      });
      expect(query.get('starts_after')).to.equal('2026-01-01 00:00:00');
      const first = await get(`/events?${sent}`);
      const next = await gateway.askAt(next_rest_url.replace('https://calendar.example', ''));
      expect(next.body.total).to.equal(first.total);
    });

    it('a value that would be read differently is encoded', async () => {
      const { rest_url } = await get(`/events?search=${encodeURIComponent('a&b=c d#+%')}`);
      expect(new URL(rest_url).searchParams.get('search')).to.equal('a&b=c d#+%');
    });

    it('of venues: event and has_events as sent, then the status', async () => {
      const { rest_url } = await get('/venues?event=1&has_events=yes');
      expect(rest_url).to.equal(`${BASE}/venues/?page=1&per_page=10&event=1&has_events=yes&status=publish`);
    });

    it('of terms: bare without parameters', async () => {
      const body = await get('/categories?per_page=1&page=2');
      expect((await get('/tags')).rest_url).to.equal(`${BASE}/tags/`);
      expect(body.next_rest_url).to.equal(`${BASE}/categories/?per_page=1&page=3`);
      expect(body.previous_rest_url).to.equal(`${BASE}/categories/?per_page=1`);
    });

    it('name the mount that was called', async () => {
      const { body } = await gateway.askAt('/wp-json/tribe/events/v1/events?per_page=1');
      expect(body.next_rest_url).to.match(/^https:\/\/calendar\.example\/wp-json\/tribe\/events\/v1\/events\/\?/);
      expect(body.events[0].rest_url).to.equal('https://calendar.example/wp-json/tribe/events/v1/events/1');
    });
  });

  describe('filters of events', () => {
    const FOUND: [string, number[]][] = [
      ['', [1, 2, 3]],
      ['categories=31', []],
      ['categories=music', [1, 2]],
      ['categories=MUSIC', [1, 2]],
      ['categories=32', [1]],
      ['categories=jazz,%20music', [1, 2]],
      ['categories[]=jazz&categories[]=33', [1]],
      ['tags=41', [1, 3]],
      ['tags=41,42', [1, 2, 3]],
      ['tags=42,41', [1, 2, 3]],
      ['tags=free', [1, 3]],
      ['venue=21', [1]],
      ['venue=21,22', [1, 2]],
      ['venue[]=21&tags=41', [1]],
      ['organizer=26', [1, 2]],
      ['organizer=27&featured=true', [2]],
      ['featured=TRUE', [2]],
      ['featured=0', [1, 3]],
      ['search=ete', [1]],
      ['search=CITY%20light', [1]],
      ['search=light+the+city', [1]],
      ['search=%22of%20light%22', [1]],
      ['search=jazz%20-summer', []],
      ['search=summer%20-rain', [3]],
      ['search=%22city%20of', [1]], // a phrase whose quote is never closed goes to the end
      ['search=%22of%20city', []],
      ["search='jazz'", [3]],
      ['search=%22the%22%20jazz', [3]], // a stop word is one in quotes too
      ['search=%22-summer%20night%22%20city', [1]],
      ['search=zebra', []],
      ['search=%3Cb%3E', [2]],
      ['search=100%25', [2]],
      ['search=a_b', [2]],
      ['search=%20', [1, 2, 3]],
      ['include=3,1', [1, 3]],
      ['include[]=2&include[]=2', [2]],
      ['include=1,21,999', [1]],
      ['include=4', []],
      ['ticketed=false', [1, 2, 3]],
      ['geoloc=true&geoloc_lat=x&geoloc_lng=y', [1, 2, 3]],
      ['orderby=x&order=x&offset=2&exclude=1&bogus=1', [1, 2, 3]],
    ];
    for (const [query, wanted] of FOUND) {
      it(query || 'none', async () => expect(await idsOf(`/events?${query}`)).to.deep.equal(wanted));
    }

    it('a hidden event is in no list, also not for admin, and is read by id', async () => {
      expect(await idsOf('/events', 'admin')).to.deep.equal([1, 2, 3, 5]);
      expect((await get('/events/4')).hide_from_listings).to.equal(true);
    });

    const REFUSED: [string, string][] = [
      ['categories=999', 'categories'],
      ['categories=', 'categories'],
      ['categories=music,nothing', 'categories'],
      ['tags=music', 'tags'],
      ['venue=26', 'venue'],
      ['venue=town-hall', 'venue'],
      ['venue=21,0', 'venue'],
      ['organizer=', 'organizer'],
      ['include=0', 'include'],
      ['include=1,abc', 'include'],
      ['include=-5', 'include'],
      ['include=1.5', 'include'],
      ['post_parent=0', 'post_parent'],
      ['post_parent=21', 'post_parent'],
      ['search=', 'search'],
      ['search=0', 'search'],
      ['search[]=a', 'search'],
      ['strict_dates=', 'strict_dates'],
    ];
    for (const [query, name] of REFUSED) {
      it(`refuses ${query}`, async () => expectInvalid(await gateway.ask(`/events?${query}`), name));
    }
    for (const name of ['featured', 'geoloc', 'ticketed']) {
      for (const value of ['yes', 'maybe', '', '2']) {
        if (name === 'ticketed' && value === 'yes') continue;
        it(`refuses ${name}=${value}`, async () =>
          expectMistyped(await gateway.ask(`/events?${name}=${value}`), { [name]: 'boolean' }));
      }
    }

    for (const value of ['true', '1', 'yes']) {
      it(`ticketed=${value} needs the extension`, async () => {
        const { status, body } = await gateway.ask(`/events?ticketed=${value}`);
        const message = 'Event Tickets plugin is not activated.';
        expect({ status, body }).to.deep.equal({
          status: 400,
          body: {
            ...{ code: 'rest_invalid_param', message: 'Invalid parameter(s): ticketed' },
            data: {
              ...{ status: 400, params: { ticketed: message } },
              details: { ticketed: { code: 'event-tickets-not-active', message, data: { status: 400 } } },
            },
          },
        });
      });
    }
  });

  describe('venues and organizers', () => {
    const FOUND: [string, number[]][] = [
      ['/venues', [22, 21, 23]],
      ['/venues?search=spring%20hall', [21]],
      ['/venues?search=norway', []],
      ['/venues?search=hall.example', []],
      ['/venues?search=hall%20-town', [21]], // nothing is excluded
      ['/venues?search=%22hall%20town%22', [21]], // no phrases
      ['/venues?search=the%20hall', []], // no stop words
      ['/venues?search=%25', []],
      ['/organizers?search=CHOIR.example', [26]],
      ['/organizers?search=@example', [26]],
      ['/venues?event=1', [21]],
      ['/venues?event=5', []],
      ['/venues?has_events=true', [22, 21]],
      ['/venues?has_events=on', [22, 21]],
      ['/venues?has_events=maybe', [23]],
      ['/venues?has_events=', [23]],
      ['/venues?only_with_upcoming=1', [22, 21]],
      ['/venues?only_with_upcoming=false', [22, 21, 23]],
      ['/organizers?event=2', [26, 27]],
      ['/venues?event=1&has_events=false', []],
    ];
    for (const [path, wanted] of FOUND) it(path, async () => expect(await idsOf(path)).to.deep.equal(wanted));

    it('of a draft event: for its author and editors, not for others', async () => {
      for (const [as, found] of [
        ['contributor', [23]],
        ['editor', [23]],
        ['author', []],
        [undefined, []],
      ] as const) {
        expect(await idsOf('/venues?event=5', as), String(as)).to.deep.equal(found);
        expect(await idsOf('/categories?event=5&hide_empty=0', as), String(as)).to.deep.equal(found.length ? [33] : []);
        expect(await idsOf('/categories?post=5&hide_empty=0', as), String(as)).to.deep.equal(found.length ? [33] : []);
      }
    });

    it('a venue that is text inside events: for those alone who see one of them', async () => {
      const inside = FIRST_INLINE_ID + 1;
      const cellar = venue(inside, { title: 'Secret cellar', slug: 'secret-cellar-1', searchText: 'Secret cellar' });
      const put = (fields: Partial<EventRecord>) =>
        gateway.backing.replica.put([on(5, { venues: [inside], author: 2, ...fields }), cellar]);
      const paths = [`/venues/${inside}`, '/venues/by-slug/secret-cellar-1', `/events?venue=${inside}`];
      const told = async (as?: string) => {
        const statuses = [];
        for (const path of paths) statuses.push((await gateway.ask(path, { as })).status);
        return [...statuses, ...(await idsOf('/venues?search=secret', as))];
      };
      // Kept for everybody while it was public, and no longer when it is not.
      put({});
      for (const as of [undefined, 'author', 'editor']) expect(await told(as)).to.deep.equal([200, 200, 200, inside]);
      for (const fields of [{ status: 'draft' }, { status: 'private' }, { status: 'future' }]) {
        put(fields);
        for (const as of [undefined, 'subscriber', 'author'])
          expect(await told(as), `${as} ${fields.status}`).to.deep.equal([400, 400, 400]);
        for (const as of ['contributor', 'editor'])
          expect(await told(as), `${as} ${fields.status}`).to.deep.equal([200, 200, 200, inside]);
      }
      for (const fields of [{ status: 'trash' }, { protected: true }]) {
        put(fields);
        for (const as of [undefined, 'editor']) expect(await told(as)).to.deep.equal([400, 400, 400]);
      }
      put({ hidden: true });
      expect(await told()).to.deep.equal([200, 200, 200]);
    });

    for (const query of ['event=21', 'event=999', 'event=0', 'event=x', 'event=']) {
      it(`refuses ${query}`, async () => expectInvalid(await gateway.ask(`/venues?${query}`), 'event'));
    }
  });

  describe('terms', () => {
    const FOUND: [string, number[]][] = [
      ['/categories', [32, 31, 34]],
      ['/categories?hide_empty=false', [33, 32, 31, 34]],
      ['/categories?hide_empty=0&orderby=id&order=DESC', [34, 33, 32, 31]],
      ['/categories?parent=31', [32]],
      ['/categories?include=33', []],
      ['/categories?include=33,32&hide_empty=false', [33, 32]],
      ['/categories?include=music', [31]],
      ['/categories?exclude=music', [32, 34]],
      ['/categories?exclude=32&include=32', [32]],
      ['/categories?search=AZ', [32]],
      ['/categories?slug=JAZZ', [32]],
      ['/categories?slug=jazz,music', []],
      ['/categories?post=2', [31]],
      ['/categories?post=2&event=1', [32]],
      ['/tags?event=3', [41, 42]],
      ['/tags?parent=31', [41, 42]],
      ['/tags?orderby=slug&order=desc', [42, 41]],
    ];
    for (const [path, wanted] of FOUND) it(path, async () => expect(await idsOf(path)).to.deep.equal(wanted));

    const REFUSED: [string, string][] = [
      ['/categories?include=999', 'include'],
      ['/categories?include=41', 'include'],
      ['/categories?exclude=', 'exclude'],
      ['/categories?order=', 'order'],
      ['/categories?order=foo', 'order'],
      ['/categories?orderby=foo', 'orderby'],
      ['/categories?parent=0', 'parent'],
      ['/categories?parent=nothing', 'parent'],
      ['/categories?post=21', 'post'],
      ['/tags?event=0', 'event'],
      ['/tags?slug=', 'slug'],
      ['/tags?slug[]=x', 'slug'],
      ['/tags?search=', 'search'],
    ];
    for (const [path, name] of REFUSED) it(`refuses ${path}`, async () => expectInvalid(await gateway.ask(path), name));
    for (const value of ['music', '31,32', '']) {
      it(`parent=${value}`, async () => {
        const answer = await gateway.ask(`/categories?parent=${value}`);
        if (value === '') expectInvalid(answer, 'parent');
        else expectMistyped(answer, { parent: 'integer' });
      });
    }
    it('hide_empty is a boolean', async () => {
      for (const value of ['maybe', ''])
        expectMistyped(await gateway.ask(`/tags?hide_empty=${value}`), { hide_empty: 'boolean' });
    });

    it('context=embed shortens entries; edit shows nobody anything in a list; an unknown one shows nothing', async () => {
      const EMBEDDED = ['id', 'name', 'slug', 'taxonomy', 'url', 'urls'];
      const { tags } = await get('/tags?context=embed');
      for (const tag of tags) expect(Object.keys(tag)).to.have.members(EMBEDDED);
      expect(Object.keys(await get('/tags/41?context=embed'))).to.have.members([...EMBEDDED, '_links']);
      expect(await get('/tags?context=edit')).to.deep.include({ tags: [], total: 2 });
      expect((await get('/tags?context=edit', 'admin')).tags).to.have.length(2);
      expect((await get('/tags?context=nothing')).tags).to.deep.equal([[], []]);
      expect(Object.keys(await get('/tags/41?context=nothing'))).to.deep.equal(['_links']);
    });
  });
});
