// Every declared parameter of a list changes the list, and the URLs of its pages repeat it.

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
    eventStatus: 'cancelled',
    title: `Sample ${9 - id}`,
    searchText: 'Sample',
    customFields: { room: 'A' },
  });
const RECORDS = [
  ...[1, 2].map(upcoming),
  event(9),
  ...[21, 22].map((id) =>
    venue(id, { searchText: 'Sample', latitude: 1.5, longitude: 1.5, customFields: { room: 'A' } }),
  ),
  venue(23),
  ...[26, 27].map((id) => organizer(id, { searchText: 'Sample', customFields: { room: 'A' } })),
  organizer(28),
  term('category', 30, { name: 'Top' }),
  ...[31, 32].map((id) => term('category', id, { name: `Sample ${99 - id}`, parent: 30 })),
  term('category', 33),
  ...[41, 42].map((id) => term('tag', id, { name: `Sample ${99 - id}` })),
  term('tag', 43),
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
  strict_dates: 'true&starts_after=2027-01-01%2009:00:00',
  search: 'Sample',
  categories: '31',
  tags: '41',
  venue: '21',
  organizer: '26',
  featured: 'true',
  event_status: 'cancelled',
  status: 'publish',
  geoloc: 'true',
  geoloc_lat: '1.5&geoloc_lng=1.5',
  geoloc_lng: '1.5&geoloc_lat=1.5',
  geoloc_distance: '100&geoloc_lat=1.6&geoloc_lng=1.5',
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
  fields: 'id',
  source: 'library',
};
const SAMPLES_OF: Partial<Record<Kind, Record<string, string>>> = {
  event: { include: '1,2', order: 'desc', orderby: 'title' },
  category: { include: '31,32', exclude: '30' },
  tag: { include: '41,42', exclude: '43' },
};
/** Another value of each parameter, which leads to another list than the sample. A new parameter needs an entry. */
const OTHERS: Record<string, string> = {
  page: '2',
  per_page: '2',
  start_date: '2027-06-01',
  end_date: '2026-12-15',
  starts_before: '2026-12-15',
  starts_after: '2027-06-01',
  ends_before: '2026-12-15',
  ends_after: '2027-06-01',
  strict_dates: 'false&starts_after=2027-01-01%2009:00:00',
  search: 'Nothing',
  categories: '33',
  tags: '43',
  venue: '23',
  organizer: '28',
  featured: 'false',
  event_status: 'postponed,moved_online',
  status: 'draft',
  geoloc: 'false',
  geoloc_lat: '50&geoloc_lng=1.5',
  geoloc_lng: '50&geoloc_lat=1.5',
  geoloc_distance: '1&geoloc_lat=1.6&geoloc_lng=1.5',
  post_parent: '1',
  event: '9',
  post: '9',
  has_events: 'false',
  only_with_upcoming: 'false',
  order: 'desc',
  orderby: 'id',
  hide_empty: 'false',
  parent: '31',
  modified_after: '2030-01-01',
  slug: 'category-31',
  'custom_fields[room]': 'B',
  source: 'theatre',
};
const OTHERS_OF: Partial<Record<Kind, Record<string, string>>> = {
  event: { include: '1', order: 'asc', orderby: 'start_date' },
  category: { include: '31', exclude: '32' },
  tag: { include: '41', exclude: '41' },
};
/** A slug belongs to one term, so the list has one page. */
const ONE_PAGE: Record<string, string> = { slug: 'tag-41' };

describe('parameters of a list', () => {
  let gateway: TestGateway;
  before(async () => {
    const room = { custom_fields: { room: { at: 'meta.room', filter: true } } };
    const mapping = mappingWith(
      {},
      { venue: { posts: 'venues', ...room }, organizer: { posts: 'organizers', ...room } },
      room,
    );
    gateway = await seededGateway(RECORDS, { perPage: 1, mapping });
    const row = { uid: '', url: '', ownId: 0, mergedBecause: 'same UID and start', noticed: '2026-11-01 10:00:00' };
    const rows = [1, 2].map((id) => ({ ...row, eventJson: '{}', source: 'library', key: `${id}`, eventId: id }));
    gateway.services.replica.apply({
      sourceRows: [...rows, { ...row, eventJson: '{}', source: 'theatre', key: '1', eventId: 1 }],
    });
  });
  after(() => gateway.stop());

  it('are repeated as The Events Calendar repeats them: equal ids as they were sent, an event as a whole number', async () => {
    const urlOf = async (path: string) => decodeURIComponent((await gateway.request(path)).body.rest_url);
    expect(await urlOf('/events?include=1,1')).to.match(/[?&]include=1,1(?:&|$)/);
    expect(await urlOf('/venues?event=9.0')).to.match(/[?&]event=9(?:&|$)/);
  });

  for (const kind of KINDS)
    for (const { name, addition, type } of LIST_PARAMETERS[kind]) {
      const sent = name === 'custom_fields' ? 'custom_fields[room]' : name;
      const sample = SAMPLES_OF[kind]?.[sent] ?? SAMPLES[sent] ?? ONE_PAGE[sent];
      const other = OTHERS_OF[kind]?.[sent] ?? OTHERS[sent];

      // The gateway refuses `ticketed=true`, as the original does without its extension. `fields` chooses no records.
      if (name !== 'ticketed' && name !== 'fields')
        it(`${name} changes the list of ${PLURALS[kind]}`, async () => {
          const lists = [];
          expect(sample, `SAMPLES lacks ${sent}`).to.be.a('string');
          expect(other, `OTHERS lacks ${sent}`).to.be.a('string');
          for (const value of [sample, other]) {
            const { status, body } = await gateway.request(`/${PLURALS[kind]}?${sent}=${value}`, { as: 'editor' });
            expect(status, `${sent}=${value}: ${JSON.stringify(body).slice(0, 500)}`).to.equal(200);
            lists.push([body.total, (body[PLURALS[kind]] as { id: number }[]).map(({ id }) => id)]);
          }
          const advice = `${sample} and ${other} give the same list: do RECORDS differ in it, and does the SQL use it?`;
          expect(lists[0], advice).to.not.deep.equal(lists[1]);
        });

      it(`the URLs of pages repeat ${name} of ${PLURALS[kind]}`, async () => {
        expect(sample, `SAMPLES lacks ${sent}`).to.be.a('string');
        const { body } = await gateway.request(`/${PLURALS[kind]}?${sent}=${sample}`);
        const link = name in ONE_PAGE ? body.rest_url : body.next_rest_url;
        expect(link, `two of RECORDS must have ${sample}: ${JSON.stringify(body).slice(0, 500)}`).to.be.a('string');
        expect(new URL(link).searchParams.has(sent), link).to.equal(true);
      });

      if (addition && type.schema.enum)
        // Clients of the original may send `orderby=price`, whose URLs then lack it.
        it(`the URLs of pages of ${PLURALS[kind]} lack a word of ${name} that has no effect`, async () => {
          const { status, body } = await gateway.request(`/${PLURALS[kind]}?${name}=price`);
          expect(status).to.equal(200);
          const message = '`urlValues` (src/calendar/) must repeat the value, not what was sent';
          expect(new URL(body.rest_url).searchParams.has(name), message).to.equal(false);
        });
    }

  for (const [path, sent] of [
    ['/events', 'categories[a]=33'],
    ['/categories', 'include[a]=31'],
    ['/events.ics', 'custom_fields[room]=A'],
    ['/events.atom', 'custom_fields[room]=A'],
  ] as const)
    it(`the URLs of ${path} repeat an object that is sent as a parameter: ${sent}`, async () => {
      const { text, body } = await gateway.request(`${path}?${sent}`);
      const unfolded = text.replaceAll('\r\n ', '');
      const link = body?.rest_url ?? /(?:SOURCE;VALUE=URI:|rel="self" href=")([^"\r]*)/.exec(unfolded)?.[1];
      const [name, value] = sent.split('=') as [string, string];
      expect(new URL(link).searchParams.get(name), link).to.equal(value);
    });
});
