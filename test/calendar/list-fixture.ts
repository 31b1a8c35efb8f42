// For tests of lists: a gateway whose replica has records that the filters can tell apart.

import { expect } from 'chai';
import type { CalendarRecord } from '../../src/model/records.ts';
import type { Json, TestGateway } from '../start-gateway.ts';
import { event, organizer, term, venue } from '../store/sample-records.ts';
import { seededGateway } from './seeded-gateway.ts';

const day = (n: number) => `2027-01-${String(n).padStart(2, '0')}`;
/** An event on a day of January. */
export const on = (id: number, more: object = {}) =>
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

/** Starts a gateway before each test of the suite and stops it afterwards. */
export function listFixture() {
  const fixture = {
    gateway: undefined as unknown as TestGateway,

    async get(path: string, as?: string): Promise<Json> {
      const { status, body } = await fixture.gateway.request(path, { as });
      expect(status, JSON.stringify(body)).to.equal(200);
      return body;
    },

    async idsOf(path: string, as?: string): Promise<number[]> {
      const body = await fixture.get(path, as);
      const list = Object.values(body).find(Array.isArray) as Json[];
      expect(body.total, path).to.equal(list.length);
      return list.map(({ id }) => id);
    },
  };
  beforeEach(async () => {
    fixture.gateway = await seededGateway(RECORDS);
  });
  afterEach(() => fixture.gateway.stop());
  return fixture;
}
