// The contract for sites whose events no REST write can make: their plugin makes them, the gateway shows them.

import { expect } from 'chai';
import { afterwards } from './afterwards.ts';
import { shown } from './samples.ts';
import type { Json, SiteUnderTest } from './site-under-test.ts';
import type { Tally } from './tally.ts';

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

export const seeds = { concert: 0, fair: 0 };

/** Fills the site before the gateway copies it. */
export async function fill(site: Pick<SiteUnderTest, 'seed'>): Promise<void> {
  seeds.concert = await site.seed(CONCERT);
  seeds.fair = await site.seed(FAIR);
}

const titles = (body: Json): unknown[] => ((body.events ?? []) as Json[]).map(({ title }) => title).sort();
const ALL = 'start_date=2029-01-01&end_date=2033-01-01&per_page=50';

/** Everything about one site. `concert` as the first answer shows it is given to `more`, the site's own checks. */
export async function proveReadOnly(site: SiteUnderTest, tally: Tally): Promise<void> {
  const { check } = tally;
  const { kinds } = site.mapping;
  const source = site.mapping.source;
  const mapped = (kind: 'event' | 'venue' | 'organizer', names: Json): Json => {
    const lines = source[kind]?.fields ?? {};
    return Object.fromEntries(Object.entries(names).filter(([name]) => Object.hasOwn(lines, name)));
  };
  const list = async (query: string): Promise<unknown[]> => {
    const { status, body } = await site.ask(`events?${query}`);
    return status === 200 ? titles(body) : [status, body.code];
  };
  let concert: Json = {};

  await check('lists every event once', async () => {
    const { body, headers } = await site.ask(`events?${ALL}`);
    expect(titles(body)).to.deep.equal(['Harbour concert', 'Village fair']);
    expect([body.total, headers.get('x-tec-total')]).to.deep.equal([2, '2']);
  });
  await check('reads an event by its id', async () => {
    concert = (await site.ask(`events/${seeds.concert}`)).body;
    const { timezone, cost, website } = CONCERT;
    const wanted: Json = {
      ...{ title: 'Harbour concert', slug: 'harbour-concert', description: CONCERT.content, status: 'publish' },
      ...{ start_date: CONCERT.start, end_date: CONCERT.end, all_day: false },
      timezone: source.event.fields?.timezone ? timezone : ZONE,
      utc_start_date: source.event.fields?.timezone ? '2031-05-01 17:05:00' : '2031-05-01 23:05:00',
      utc_end_date: source.event.fields?.timezone ? '2031-05-01 20:30:00' : '2031-05-02 02:30:00',
      ...mapped('event', { cost, website }),
    };
    expect(shown(concert, wanted)).to.deep.equal(wanted);
    expect((concert.categories as Json[]).map(({ name }) => name)).to.deep.equal(['Music']);
    expect((concert.tags as Json[]).map(({ name }) => name)).to.deep.equal(['open air']);
  });
  await check('reads it by its slug', async () => {
    expect((await site.ask('events/by-slug/harbour-concert')).body).to.deep.equal(concert);
  });
  await check('reads an event of a whole day, in the zone of the site', async () => {
    const { body } = await site.ask(`events/${seeds.fair}`);
    const wanted = { all_day: true, start_date: FAIR.start, end_date: FAIR.end, timezone: ZONE };
    expect(shown(body, wanted)).to.deep.equal(wanted);
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
    const other = (await site.ask('events/by-slug/village-fair')).body.venue as Json;
    expect(other.venue).to.equal('Old Mill');
    expect(await list(`${ALL}&venue=${other.id}`)).to.deep.equal(['Village fair']);
    expect(await list(`${ALL}&venue=${venue?.id},${other.id}`)).to.deep.equal(['Harbour concert', 'Village fair']);
  });
  await check('reads the venue, alone and in the list', async () => {
    const { name, ...fields } = CONCERT.venue;
    const wanted = { venue: name, ...mapped('venue', fields) };
    const { body } = await site.ask(`venues/${venue?.id}`);
    expect(shown(body, wanted)).to.deep.equal(wanted);
    expect(venue).to.deep.equal(body);
    expect((await site.ask(`venues/by-slug/${body.slug}`)).body.id).to.equal(body.id);
    const { venues } = (await site.ask('venues')).body as { venues: Json[] };
    expect(venues.map((one) => one.venue)).to.have.members(['Quay Hall', 'Old Mill']);
  });
  await check('filters by category and tag', async () => {
    const [category] = concert.categories as Json[];
    const [tag] = concert.tags as Json[];
    expect(await list(`${ALL}&categories=${category?.id}`)).to.deep.equal(['Harbour concert']);
    expect(await list(`${ALL}&tags=${tag?.slug}`)).to.deep.equal(['Harbour concert']);
    const names = async (path: string) => ((await site.ask(path)).body[path] as Json[]).map(({ name }) => name);
    expect(await names('categories')).to.include.members(['Music', 'Markets']);
    expect(await names('tags')).to.include.members(['open air', 'family']);
  });
  if (kinds.organizer)
    await check('shows the organizer, and filters by it', async () => {
      const [person] = concert.organizer as Json[];
      const { name, ...fields } = CONCERT.organizer;
      const wanted = { organizer: name, ...mapped('organizer', fields) };
      expect(shown(person ?? {}, wanted)).to.deep.equal(wanted);
      expect(await list(`${ALL}&organizer=${person?.id}`)).to.deep.equal(['Harbour concert']);
      expect((await site.ask(`organizers/${person?.id}`)).body.organizer).to.equal(name);
    });
  await check('searches', async () => expect(await list(`${ALL}&search=concert`)).to.deep.equal(['Harbour concert']));
  await check('refuses to write', async () => {
    const dates = { start_date: '2031-05-01 10:00', end_date: '2031-05-01 11:00' };
    const refused = [
      await site.ask('events', { method: 'POST', json: { title: 'New', ...dates } }),
      await site.ask(`events/${seeds.concert}`, { method: 'POST', json: { title: 'New' } }),
      await site.ask(`events/${seeds.concert}`, { method: 'DELETE' }),
      await site.ask('venues', { method: 'POST', json: { venue: 'New' } }),
      await site.ask('categories', { method: 'POST', json: { name: 'New' } }),
    ];
    const told = refused.map(({ status, body }) => `${status} ${body.code}`);
    expect(new Set(told)).to.deep.equal(new Set(['403 rest_forbidden']));
  });
  await check('shows what is changed and added on the site, and lets go of what is trashed there', async () => {
    await site.seed({
      id: seeds.concert,
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
    await site.native(`wp/v2/${kinds.event.base}/${seeds.fair}`, { method: 'DELETE' });
    await site.afterRound();
    expect(await list(ALL)).to.deep.equal(['Harbour concert, later', 'Second fair']);
    expect((await site.ask(`events/${seeds.concert}`)).body.start_date).to.equal('2031-05-02 20:00:00');
    expect((await site.ask(`events/${added}`)).body.start_date).to.equal('2031-08-01 10:00:00');
  });
  await afterwards(site, tally);
}
