// The links of a list repeat every declared parameter.

import { expect } from 'chai';
import { LIST_PARAMETERS } from '../../src/interface/parameters.ts';
import { KINDS, type Kind, PLURALS } from '../../src/model/records.ts';
import { mappingWith } from '../mapping/samples.ts';
import type { TestGateway } from '../start-gateway.ts';
import { event, organizer, term, venue } from '../store/sample-records.ts';
import { seededGateway } from './seeded-gateway.ts';

const links = { venues: [21, 22], organizers: [26, 27], categories: [31, 32], tags: [41, 42], parent: 9 };
const upcoming = (id: number) =>
  event(id, {
    ...links,
    start: '2027-01-01 10:00:00',
    end: '2027-01-01 12:00:00',
    startUtc: '2027-01-01 15:00:00',
    endUtc: '2027-01-01 17:00:00',
    featured: true,
    searchText: 'Sample',
    customFields: { room: 'A' },
  });
const RECORDS = [
  ...[1, 2].map(upcoming),
  event(9),
  ...[21, 22].map((id) =>
    venue(id, { searchText: 'Sample', latitude: 1.5, longitude: 1.5, customFields: { room: 'A' } }),
  ),
  ...[26, 27].map((id) => organizer(id, { searchText: 'Sample', customFields: { room: 'A' } })),
  term('category', 30),
  ...[31, 32].map((id) => term('category', id, { name: `Sample ${id}`, parent: 30 })),
  ...[41, 42].map((id) => term('tag', id, { name: `Sample ${id}` })),
];

/**
 * A value of each parameter for which the list has several pages, with the other parameters that it needs. A new
 * parameter needs an entry.
 */
const SAMPLES: Record<string, string> = {
  page: '1',
  per_page: '1',
  start_date: '2026-12-01',
  end_date: '2027-12-01',
  starts_before: '2027-12-01',
  starts_after: '2026-12-01',
  ends_before: '2027-12-01',
  ends_after: '2026-12-01',
  strict_dates: 'true',
  search: 'Sample',
  categories: '31',
  tags: '41',
  venue: '21',
  organizer: '26',
  featured: 'true',
  status: 'publish',
  geoloc: 'true',
  geoloc_lat: '1.5&geoloc_lng=1.5',
  geoloc_lng: '1.5&geoloc_lat=1.5',
  geoloc_distance: '100&geoloc_lat=1.5&geoloc_lng=1.5',
  post_parent: '9',
  ticketed: 'false',
  event: '1',
  post: '1',
  has_events: 'true',
  only_with_upcoming: 'true',
  order: 'asc',
  orderby: 'name',
  hide_empty: 'true',
  parent: '30',
  modified_after: '0',
  'custom_fields[room]': 'A',
};
const SAMPLES_OF: Partial<Record<Kind, Record<string, string>>> = {
  event: { include: '1,2', order: 'desc', orderby: 'title' },
  category: { include: '31,32', exclude: '30' },
  tag: { include: '41,42', exclude: '43' },
};
/** A slug belongs to one term, so the list has one page. */
const ONE_PAGE: Record<string, string> = { slug: 'tag-41' };

describe('links of a list', () => {
  let gateway: TestGateway;
  before(async () => {
    const room = { custom_fields: { room: { at: 'meta.room', filter: true } } };
    const mapping = mappingWith(
      {},
      { venue: { posts: 'venues', ...room }, organizer: { posts: 'organizers', ...room } },
      room,
    );
    gateway = await seededGateway([...RECORDS, term('tag', 43)], { perPage: 1, mapping });
  });
  after(() => gateway.stop());

  for (const kind of KINDS)
    for (const { name } of LIST_PARAMETERS[kind])
      it(`repeat ${name} of ${PLURALS[kind]}`, async () => {
        const sent = name === 'custom_fields' ? 'custom_fields[room]' : name;
        const value = SAMPLES_OF[kind]?.[sent] ?? SAMPLES[sent] ?? ONE_PAGE[sent];
        expect(value, `SAMPLES lacks ${sent}`).to.be.a('string');
        const { body } = await gateway.request(`/${PLURALS[kind]}?${sent}=${value}`);
        const link = name in ONE_PAGE ? body.rest_url : body.next_rest_url;
        expect(link, JSON.stringify(body).slice(0, 500)).to.be.a('string');
        expect(new URL(link).searchParams.has(sent), link).to.equal(true);
      });
});
