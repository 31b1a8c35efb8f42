// The contract for read-only sites: the events come from the plugin, because the REST API cannot create them.

import { expect } from 'chai';
import type { Results } from './results.ts';
import { testSameAsFreshReplica } from './same-as-fresh-replica.ts';
import { reducedTo } from './samples.ts';
import type { Json, TestSite } from './test-site.ts';

const CONCERT = {
  title: 'Harbour concert',
  slug: 'harbour-concert',
  content: '<p>Music by the water.</p>',
  start: '2031-05-01 19:05:00',
  end: '2031-05-01 22:30:00',
  timezone: 'Europe/Paris',
  cost: '$12.50',
  website: 'https://tickets.example/7?a=1&b=2',
  venue: {
    name: 'Quay Hall',
    address: '1 Quay Street',
    city: 'Galway',
    state: 'Connacht',
    zip: 'H91 X5',
    country: 'Ireland',
    website: 'https://quay.example/',
  },
  organizer: {
    name: 'The Players',
    phone: '+353 91 2',
    email: 'hello@players.example',
    website: 'https://players.example/',
  },
  categories: ['Music'],
  tags: ['open air'],
};
const FAIR = {
  title: 'Village fair',
  slug: 'village-fair',
  content: '<p>All day long.</p>',
  start: '2031-06-12 00:00:00',
  end: '2031-06-12 23:59:59',
  all_day: true,
  venue: { name: 'Old Mill' },
  categories: ['Markets'],
  tags: ['family'],
};
const ZONE = 'America/New_York';

/** The events of a read-only site before the gateway's initial sync. */
export const seedEvents = async (seed: TestSite['seed']): Promise<TestSite['seeded']> => ({
  concert: await seed(CONCERT),
  fair: await seed(FAIR),
});

const titles = (body: Json): unknown[] => ((body.events ?? []) as Json[]).map(({ title }) => title).sort();
const ALL = 'start_date=2029-01-01&end_date=2033-01-01&per_page=50';

export async function testReadOnlySite(site: TestSite, results: Results): Promise<void> {
  const { check } = results;
  const { kinds } = site.mapping;
  const source = site.mapping.file;
  const mapped = (kind: 'event' | 'venue' | 'organizer', names: Json): Json => {
    const lines = source[kind]?.fields ?? {};
    return Object.fromEntries(Object.entries(names).filter(([name]) => Object.hasOwn(lines, name)));
  };
  const list = async (query: string): Promise<unknown[]> => {
    const { status, body } = await site.request(`events?${query}`);
    return status === 200 ? titles(body) : [status, body.code];
  };
  let concert: Json = {};

  await check('lists every event once', async () => {
    const { body, headers } = await site.request(`events?${ALL}`);
    expect(titles(body)).to.deep.equal(['Harbour concert', 'Village fair']);
    expect([body.total, headers.get('x-tec-total')]).to.deep.equal([2, '2']);
  });
  await check('reads an event by its id', async () => {
    concert = (await site.request(`events/${site.seeded.concert}`)).body;
    const { timezone, cost, website } = CONCERT;
    const expected: Json = {
      title: 'Harbour concert',
      slug: 'harbour-concert',
      description: CONCERT.content,
      status: 'publish',
      start_date: CONCERT.start,
      end_date: CONCERT.end,
      all_day: false,
      timezone: source.event.fields?.timezone ? timezone : ZONE,
      utc_start_date: source.event.fields?.timezone ? '2031-05-01 17:05:00' : '2031-05-01 23:05:00',
      utc_end_date: source.event.fields?.timezone ? '2031-05-01 20:30:00' : '2031-05-02 02:30:00',
      ...mapped('event', { cost, website }),
    };
    expect(reducedTo(concert, expected)).to.deep.equal(expected);
    expect((concert.categories as Json[]).map(({ name }) => name)).to.deep.equal(['Music']);
    expect((concert.tags as Json[]).map(({ name }) => name)).to.deep.equal(['open air']);
  });
  await check('reads it by its slug', async () => {
    expect((await site.request('events/by-slug/harbour-concert')).body).to.deep.equal(concert);
  });
  await check('reads an event of a whole day, in the zone of the site', async () => {
    const { body } = await site.request(`events/${site.seeded.fair}`);
    const expected = { all_day: true, start_date: FAIR.start, end_date: FAIR.end, timezone: ZONE };
    expect(reducedTo(body, expected)).to.deep.equal(expected);
    expect(body.utc_start_date).to.equal('2031-06-12 04:00:00');
  });
  await check('filters by date', async () => {
    expect(await list('start_date=2031-05-01&end_date=2031-05-31')).to.deep.equal(['Harbour concert']);
    expect(await list('start_date=2031-06-01&end_date=2031-06-30')).to.deep.equal(['Village fair']);
    expect(await list('start_date=2031-07-01&end_date=2031-07-31')).to.deep.equal([]);
  });
  const venue = concert.venue as Json | undefined;
  await check('filters by venue', async () => {
    expect(venue?.venue).to.equal('Quay Hall');
    expect(await list(`${ALL}&venue=${venue?.id}`)).to.deep.equal(['Harbour concert']);
    const other = (await site.request('events/by-slug/village-fair')).body.venue as Json;
    expect(other.venue).to.equal('Old Mill');
    expect(await list(`${ALL}&venue=${other.id}`)).to.deep.equal(['Village fair']);
    expect(await list(`${ALL}&venue=${venue?.id},${other.id}`)).to.deep.equal(['Harbour concert', 'Village fair']);
  });
  await check('reads the venue, alone and in the list', async () => {
    const { name, ...fields } = CONCERT.venue;
    const expected = { venue: name, ...mapped('venue', fields) };
    const { body } = await site.request(`venues/${venue?.id}`);
    expect(reducedTo(body, expected)).to.deep.equal(expected);
    expect(venue).to.deep.equal(body);
    expect((await site.request(`venues/by-slug/${body.slug}`)).body.id).to.equal(body.id);
    const { venues } = (await site.request('venues')).body as { venues: Json[] };
    expect(venues.map((each) => each.venue)).to.have.members(['Quay Hall', 'Old Mill']);
  });
  await check('filters by category and tag', async () => {
    const [category] = concert.categories as Json[];
    const [tag] = concert.tags as Json[];
    expect(await list(`${ALL}&categories=${category?.id}`)).to.deep.equal(['Harbour concert']);
    expect(await list(`${ALL}&tags=${tag?.slug}`)).to.deep.equal(['Harbour concert']);
    const names = async (path: string) => ((await site.request(path)).body[path] as Json[]).map(({ name }) => name);
    expect(await names('categories')).to.include.members(['Music', 'Markets']);
    expect(await names('tags')).to.include.members(['open air', 'family']);
  });
  if (kinds.organizer)
    await check('reads the organizer, and filters by it', async () => {
      const [person] = concert.organizer as Json[];
      const { name, ...fields } = CONCERT.organizer;
      const expected = { organizer: name, ...mapped('organizer', fields) };
      expect(reducedTo(person ?? {}, expected)).to.deep.equal(expected);
      expect(await list(`${ALL}&organizer=${person?.id}`)).to.deep.equal(['Harbour concert']);
      expect((await site.request(`organizers/${person?.id}`)).body.organizer).to.equal(name);
    });
  await check('searches', async () => expect(await list(`${ALL}&search=concert`)).to.deep.equal(['Harbour concert']));
  await check('rejects writes', async () => {
    const dates = { start_date: '2031-05-01 10:00', end_date: '2031-05-01 11:00' };
    const rejected = [
      await site.request('events', { method: 'POST', json: { title: 'New', ...dates } }),
      await site.request(`events/${site.seeded.concert}`, { method: 'POST', json: { title: 'New' } }),
      await site.request(`events/${site.seeded.concert}`, { method: 'DELETE' }),
      await site.request('venues', { method: 'POST', json: { venue: 'New' } }),
      await site.request('categories', { method: 'POST', json: { name: 'New' } }),
    ];
    const codes = rejected.map(({ status, body }) => `${status} ${body.code}`);
    expect(new Set(codes)).to.deep.equal(new Set(['403 rest_forbidden']));
  });
  await check('follows events that the site changes, adds and trashes', async () => {
    await site.seed({
      id: site.seeded.concert,
      title: 'Harbour concert, later',
      start: '2031-05-02 20:00:00',
      end: CONCERT.end.replace('-01 ', '-02 '),
    });
    const added = await site.seed({
      ...FAIR,
      title: 'Second fair',
      slug: 'second-fair',
      start: '2031-08-01 10:00:00',
      end: '2031-08-01 12:00:00',
      all_day: false,
    });
    await site.wordpress(`wp/v2/${kinds.event.collection}/${site.seeded.fair}`, { method: 'DELETE' });
    await site.nextPoll();
    expect(await list(ALL)).to.deep.equal(['Harbour concert, later', 'Second fair']);
    expect((await site.request(`events/${site.seeded.concert}`)).body.start_date).to.equal('2031-05-02 20:00:00');
    expect((await site.request(`events/${added}`)).body.start_date).to.equal('2031-08-01 10:00:00');
  });
  await testSameAsFreshReplica(site, results);
}
