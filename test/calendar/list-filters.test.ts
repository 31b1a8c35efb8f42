// Filters of the lists of events, venues, organizers, categories and tags.

import { expect } from 'chai';
import { type EventRecord, FIRST_EMBEDDED_ID } from '../../src/model/records.ts';
import { expectInvalid, expectMistyped } from '../record/expectations.ts';
import { upsert } from '../store/changes.ts';
import { venue } from '../store/sample-records.ts';
import { listFixture, on } from './list-fixture.ts';

describe('list filters', () => {
  const fixture = listFixture();
  const { get, idsOf } = fixture;

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
      ['tags=kids&tags=free', [1, 2, 3]],
      ['categories=jazz&categories=33,music', [1, 2]],
      ['venue=21&venue=22&featured=false&featured=true', [2]], // of other parameters the last one counts
      ['include=1&include=3', [1, 3]],
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
      ['search=jazz%20-summer%20-zebra%20-xq', []],
      ['search=%22city%20of', [1]], // a phrase whose quote is never closed goes to the end
      ['search=%22of%20city', []],
      ["search='jazz'", [3]],
      ['search=%22the%22%20jazz', [3]], // stop words in quotes are dropped too
      ['search=%22-summer%20night%22%20city', [1]],
      ['search=zebra', []],
      ['search=-%20of', [2, 3]], // as `the`, the whole is one phrase: not ` of`
      ['search=%3Cb%3E', [2]],
      ['search=100%25', [2]],
      ['search=a_b', [2]],
      ['search=%20', [1, 2, 3]],
      ['include=3,1', [1, 3]],
      ['include[]=2&include[]=2', [2]],
      ['include=1,21,999', [1]],
      ['include=4', []],
      ['ticketed=false', [1, 2, 3]],
      // Empty parts of a list are left out, as in The Events Calendar.
      ['categories=32,', [1]],
      ['tags[]=&tags[]=41', [1, 3]],
      ['venue=,21,,22', [1, 2]],
      ['organizer=27,%20', [2]],
      ['include=1,', [1]],
      ['status=publish,', [1, 2, 3]],
      ['status[]=publish', [1, 2, 3]],
      ['orderby=x&order=x&offset=2&exclude=1&bogus=1', [1, 2, 3]],
    ];
    for (const [query, wanted] of FOUND) {
      it(query || 'none', async () => expect(await idsOf(`/events?${query}`)).to.deep.equal(wanted));
    }

    it('a hidden event is in no list, not even for an administrator, and can be read by id', async () => {
      expect(await idsOf('/events', 'admin')).to.deep.equal([1, 2, 3, 5]);
      expect((await get('/events/4')).hide_from_listings).to.equal(true);
    });

    it('rejects a search for four words of one or two letters, each of which takes a search in all texts', async () => {
      const { status, body } = await fixture.gateway.request('/events?search=-qz%20-xj%20-zq%20vq');
      expect([status, Object.keys(body.data.params)]).to.deep.equal([400, ['search']]);
      expect((await fixture.gateway.request('/events?search=-qz%20-xj%20-zq%20summer')).status).to.equal(200);
    });

    it('says of four long excluded words, which take as much, that they are too long', async () => {
      const words = ['a', 'b', 'c', 'd'].map((letter) => `-${letter.repeat(25)}`);
      const { status, body } = await fixture.gateway.request(`/events?search=${words.join('%20')}`);
      expect(status).to.equal(400);
      expect(body.data.params.search).to.include('excluded and long');
    });

    const REFUSED: [string, string][] = [
      ['categories=999', 'categories'],
      ['categories=', 'categories'],
      ['categories=,', 'categories'],
      ['status=,', 'status'],
      ['status=%20publish', 'status'], // exactly `publish`
      ['status=publish%20', 'status'],
      ['status[]=publish&status[]=%20publish', 'status'],
      ['categories=music&categories=nothing', 'categories'],
      ['page=1&page=0', 'page'],
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
      it(`rejects ${query}`, async () => expectInvalid(await fixture.gateway.request(`/events?${query}`), name));
    }
    for (const name of ['featured', 'geoloc', 'ticketed']) {
      for (const value of ['yes', 'maybe', '', '2']) {
        if (name === 'ticketed' && value === 'yes') continue;
        it(`rejects ${name}=${value}`, async () =>
          expectMistyped(await fixture.gateway.request(`/events?${name}=${value}`), { [name]: 'boolean' }));
      }
    }

    for (const value of ['true', '1', 'yes', 'Y', 'enabled']) {
      it(`ticketed=${value} requires the extension`, async () => {
        const { status, body } = await fixture.gateway.request(`/events?ticketed=${value}`);
        const message = 'Event Tickets plugin is not activated.';
        expect({ status, body }).to.deep.equal({
          status: 400,
          body: {
            code: 'rest_invalid_param',
            message: 'Invalid parameter(s): ticketed',
            data: {
              status: 400,
              params: { ticketed: message },
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
      ['/venues?search=hall%20-barn', []], // nothing is excluded: `-barn` must occur
      ['/venues?search=town-hall', []],
      ['/venues?search=town_hall', [21]],
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

    it('linked to a draft event: in filters of its author and of editors only', async () => {
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

    it('an embedded venue: only while a listed event contains it', async () => {
      const inside = FIRST_EMBEDDED_ID + 1;
      const cellar = venue(inside, { title: 'Secret cellar', slug: 'secret-cellar-1', searchText: 'Secret cellar' });
      const put = (fields: Partial<EventRecord>) =>
        upsert(fixture.gateway.services.replica, [on(6, { venues: [inside], author: 2, ...fields }), cellar]);
      const paths = [`/venues/${inside}`, '/venues/by-slug/secret-cellar-1', `/events?venue=${inside}`];
      const statusesFor = async (as?: string) => {
        const statuses = [];
        for (const path of paths) statuses.push((await fixture.gateway.request(path, { as })).status);
        return [...statuses, ...(await idsOf('/venues?search=secret', as))];
      };
      // The cached response of the public record must not outlive its publication.
      put({});
      for (const as of [undefined, 'author', 'editor'])
        expect(await statusesFor(as)).to.deep.equal([200, 200, 200, inside]);
      for (const fields of [{ status: 'draft' }, { status: 'private' }, { status: 'trash' }, { protected: true }]) {
        put(fields);
        for (const as of [undefined, 'editor']) expect(await statusesFor(as)).to.deep.equal([400, 400, 400]);
      }
      put({ hidden: true });
      expect(await statusesFor()).to.deep.equal([200, 200, 200]);
    });

    for (const query of ['event=21', 'event=999', 'event=0', 'event=x', 'event=']) {
      it(`rejects ${query}`, async () => expectInvalid(await fixture.gateway.request(`/venues?${query}`), 'event'));
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
      ['/categories?include=33&include=32&hide_empty=false', [33, 32]],
      ['/categories?exclude=music&exclude=32', [34]],
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
      [`/categories?page=${'9'.repeat(30)}`, 'page'],
      [`/categories?per_page=${'9'.repeat(30)}`, 'per_page'],
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
    for (const [path, name] of REFUSED)
      it(`rejects ${path}`, async () => expectInvalid(await fixture.gateway.request(path), name));
    for (const value of ['music', '31,32', '']) {
      it(`parent=${value}`, async () => {
        const response = await fixture.gateway.request(`/categories?parent=${value}`);
        if (value === '') expectInvalid(response, 'parent');
        else expectMistyped(response, { parent: 'integer' });
      });
    }
    it('hide_empty is a boolean', async () => {
      for (const value of ['maybe', ''])
        expectMistyped(await fixture.gateway.request(`/tags?hide_empty=${value}`), { hide_empty: 'boolean' });
    });
  });
});
