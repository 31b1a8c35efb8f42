// The page size, and the URLs of a page, the next and the previous one.

import { expect } from 'chai';
import { pageUrls, requestedPage, totalPages } from '../../src/calendar/list-response.ts';

const LISTS = { perPage: 4, maxPerPage: 50 };

describe('pages', () => {
  it('have the configured size by default, and at most the maximum', () => {
    expect(requestedPage({}, LISTS)).to.deep.equal({ number: 1, limit: 4, offset: 0 });
    expect(requestedPage({ per_page: 100, page: 3 }, LISTS)).to.deep.equal({
      number: 3,
      limit: 50,
      offset: 100,
    });
  });

  it('have an offset that SQLite accepts, however high the page', () => {
    const { offset } = requestedPage({ page: 1e21, per_page: 50 }, LISTS);
    expect(Number.isSafeInteger(offset)).to.equal(true);
  });

  it('are counted by the total and their size; an empty list has none', () => {
    expect([totalPages(0, 4), totalPages(4, 4), totalPages(5, 4)]).to.deep.equal([0, 1, 2]);
  });
});

describe('URLs of the pages of a list', () => {
  const at = (page: number, sent: Record<string, unknown> = {}) =>
    pageUrls(
      {
        kind: 'event',
        urlValues: { ...sent, page, per_page: 3 },
        page: { number: page, limit: 3, offset: 0 },
        total: 9,
      },
      'B',
    );
  const dates = { start_date: '2026-11-20 00:00:00', status: 'publish' };

  it('have the form of The Events Calendar, rest_url encoded like the others', () => {
    expect(at(2, dates)).to.deep.equal({
      rest_url: 'B/events/?page=2&per_page=3&start_date=2026-11-20+00%3A00%3A00&status=publish',
      next_rest_url: 'B/events/?per_page=3&start_date=2026-11-20+00%3A00%3A00&status=publish&page=3',
      previous_rest_url: 'B/events/?per_page=3&start_date=2026-11-20+00%3A00%3A00&status=publish',
    });
  });

  it('have no next or previous page that does not exist', () => {
    expect(at(1)).to.not.have.property('previous_rest_url');
    expect(at(3)).to.not.have.property('next_rest_url');
  });

  it('encode a value that a parser would read differently', () => {
    expect(at(1, { search: 'a&b' }).rest_url).to.equal('B/events/?page=1&per_page=3&search=a%26b');
  });
});
