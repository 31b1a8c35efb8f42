// Responses, URLs and pages of the five lists.

import { expect } from 'chai';
import { expectError, expectInvalid } from '../record/expectations.ts';
import { BASE } from '../start-gateway.ts';
import { listFixture } from './list-fixture.ts';

describe('lists', () => {
  const fixture = listFixture();
  const { get } = fixture;

  describe('response', () => {
    it('has its properties in order, numbers as totals, and no URLs of pages that do not exist', async () => {
      for (const name of ['events', 'venues', 'organizers', 'categories', 'tags']) {
        const { body, headers } = await fixture.gateway.request(`/${name}`);
        expect(Object.keys(body)).to.deep.equal([name, 'rest_url', 'total', 'total_pages']);
        expect(headers['x-tec-total']).to.equal(String(body.total));
        expect(headers['x-tec-totalpages']).to.equal('1');
        expect(headers).to.not.have.any.keys('x-wp-total', 'x-wp-totalpages');
      }
    });

    it('an empty list is 200 with totals of 0', async () => {
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

    it('a page after the last is 404 for events, venues and organizers, and empty for terms', async () => {
      for (const kind of ['event', 'venue', 'organizer'])
        expectError(await fixture.gateway.request(`/${kind}s?page=9`), {
          ...{
            status: 404,
            code: `${kind}-archive-page-not-found`,
            message: `The requested ${kind} archive page does not exist`,
          },
        });
      expectError(await fixture.gateway.request('/venues?search=nothing&page=2'), {
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

    it('per_page and page accept the numbers that PHP accepts', async () => {
      for (const name of ['events', 'venues', 'organizers', 'categories', 'tags']) {
        for (const value of ['0', '-1', 'abc', '', '1.5']) {
          expectInvalid(await fixture.gateway.request(`/${name}?per_page=${value}`), 'per_page');
          expectInvalid(await fixture.gateway.request(`/${name}?page=${value}`), 'page');
        }
        expectInvalid(await fixture.gateway.request(`/${name}?per_page[]=2`), 'per_page');
        expect((await get(`/${name}?per_page=2.0&page=01`)).total_pages).to.equal(
          Math.ceil((await get(`/${name}`)).total / 2),
        );
      }
      expect((await get('/events?per_page=%203')).rest_url).to.contain('per_page=3');
      expect((await get('/events?per_page=1e1')).rest_url).to.contain('per_page=10');
      expect((await get('/events?per_page=999')).rest_url).to.contain('per_page=50');
    });
  });

  describe('URLs of pages', () => {
    it('of events: encoded, the URLs of other pages with page last and without it for the first', async () => {
      const body = await get('/events?per_page=1&page=2');
      const encoded = 'start_date=2026-11-20+00%3A00%3A00&end_date=2028-11-21+23%3A59%3A59';
      expect(body.rest_url).to.equal(`${BASE}/events/?page=2&per_page=1&${encoded}&status=publish`);
      expect(body.next_rest_url).to.equal(`${BASE}/events/?per_page=1&${encoded}&status=publish&page=3`);
      expect(body.previous_rest_url).to.equal(`${BASE}/events/?per_page=1&${encoded}&status=publish`);
    });

    it('of events: in the order of The Events Calendar', async () => {
      const { rest_url } = await get(
        '/events?venue=22,21&featured=true&organizer[]=27&search=zeb&start_date=2027-01-01',
      );
      expect(rest_url).to.equal(
        `${BASE}/events/?page=1&per_page=10&start_date=2027-01-01+00%3A00%3A00&end_date=2028-11-21+23%3A59%3A59&search=zeb&status=publish&venue=22%2C21&organizer=27&featured=1`,
      );
    });

    it('have every parameter of the request', async () => {
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
      const next = await fixture.gateway.requestPath(next_rest_url.replace('https://calendar.example', ''));
      expect(next.body.total).to.equal(first.total);
    });

    it('encode a value that a parser would read differently', async () => {
      const { rest_url } = await get(`/events?search=${encodeURIComponent('a&b=c d#+%')}`);
      expect(new URL(rest_url).searchParams.get('search')).to.equal('a&b=c d#+%');
    });

    it('of venues: event and has_events as sent, then the status', async () => {
      const { rest_url } = await get('/venues?event=1&has_events=yes');
      expect(rest_url).to.equal(`${BASE}/venues/?page=1&per_page=10&event=1&has_events=yes&status=publish`);
    });

    it('of terms: have no query without parameters', async () => {
      const body = await get('/categories?per_page=1&page=2');
      expect((await get('/tags')).rest_url).to.equal(`${BASE}/tags/`);
      expect(body.next_rest_url).to.equal(`${BASE}/categories/?per_page=1&page=3`);
      expect(body.previous_rest_url).to.equal(`${BASE}/categories/?per_page=1`);
    });

    it('start with the mount path of the request', async () => {
      const { body } = await fixture.gateway.requestPath('/wp-json/tribe/events/v1/events?per_page=1');
      expect(body.next_rest_url).to.match(/^https:\/\/calendar\.example\/wp-json\/tribe\/events\/v1\/events\/\?/);
      expect(body.events[0].rest_url).to.equal('https://calendar.example/wp-json/tribe/events/v1/events/1');
    });
  });
});
