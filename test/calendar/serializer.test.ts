// Records in responses: properties and types of events, venues, organizers, categories and tags.

import { expect } from 'chai';
import { BARE_ORGANIZER_KEYS, BARE_VENUE_KEYS, EVENT_KEYS, ZERO_DATE } from '../record/expectations.ts';
import { BASE, type Json } from '../start-gateway.ts';
import { event, organizer, term, venue } from '../store/sample-records.ts';
import { big, CITY, NEW_YORK, serializerFixture } from './serializer-fixture.ts';

describe('the serializer', () => {
  const fixture = serializerFixture();
  const { one } = fixture;

  describe('event', () => {
    it('has forty properties, and json_ld only in a single read', async () => {
      const single = await one('/events/1', [event(1, NEW_YORK)]);
      expect(Object.keys(single)).to.have.members([...EVENT_KEYS, 'json_ld']);
      const { events } = (await fixture.gateway.request('/events')).body;
      expect(Object.keys(events[0])).to.have.members(EVENT_KEYS);
    });

    it('has these types', async () => {
      const body = await one('/events/1', [event(1, { ...NEW_YORK, author: 3 })]);
      expect(body).to.deep.include({
        id: 1,
        author: '3',
        rest_url: `${BASE}/events/1`,
        global_id: 'cms.example?id=1',
        image: false,
        global_id_lineage: ['cms.example?id=1'],
        start_date_details: { year: '2027', month: '01', day: '10', hour: '10', minutes: '00', seconds: '00' },
        utc_end_date_details: { year: '2027', month: '01', day: '10', hour: '17', minutes: '00', seconds: '00' },
        venue: [],
        organizer: [],
        categories: [],
        tags: [],
        custom_fields: [],
        all_day: false,
      });
    });

    it('has its permalink as website if it has none of its own', async () => {
      const body = await one('/events/1', [event(1, { url: 'https://cms.example/event/a/' })]);
      expect(body.website).to.equal('https://cms.example/event/a/');
    });

    it('has a zero UTC date if it was never published', async () => {
      const body = await one('/events/1', [event(1, { ...NEW_YORK, dateUtc: '' })]);
      expect(body.date_utc).to.equal(ZERO_DATE);
    });

    it('may have no date: it is read by id, and no list by date has it', async () => {
      const undated = { title: 'To be announced', start: '', end: '', startUtc: '', endUtc: '' };
      const body = await one('/events/1', [event(1, { ...undated, timezone: 'Europe/Paris' })]);
      expect(body).to.include({ title: 'To be announced', start_date: '', utc_end_date: '', timezone_abbr: '' });
      expect(body.start_date_details).to.include({ year: '', seconds: '' });
      expect(body.json_ld).to.not.have.any.keys('startDate', 'endDate');
      expect((await fixture.gateway.request('/events?include=1')).body.total).to.equal(1);
      expect((await fixture.gateway.request('/events?start_date=0001-01-01')).body.total).to.equal(0);
    });

    for (const [timezone, start, wanted] of [
      ['America/New_York', '2027-01-10 10:00:00', 'EST'],
      ['America/New_York', '2027-07-10 10:00:00', 'EDT'],
      ['Europe/London', '2027-07-10 10:00:00', 'BST'],
      ['Etc/GMT+5', '2027-01-10 10:00:00', '-05'],
      ['Asia/Dubai', '2027-01-10 10:00:00', '+04'],
      ['Asia/Kathmandu', '2027-01-10 10:00:00', '+0545'],
      ['UTC+02:00', '2027-07-10 10:00:00', 'UTC+02:00'],
      ['+0200', '2027-07-10 10:00:00', 'GMT+0200'],
      ['GMT+2', '2027-07-10 10:00:00', 'GMT+0200'],
      ['est', '2027-07-10 10:00:00', 'EST'],
      ['utc', '2027-07-10 10:00:00', 'UTC'],
      ['Z', '2027-07-10 10:00:00', 'Z'],
    ] as const) {
      it(`abbreviates ${timezone} on ${start} as ${wanted}`, async () => {
        const body = await one('/events/1', [event(1, { timezone, start })]);
        expect(body).to.include({ timezone, timezone_abbr: wanted });
      });
    }

    it('has one venue as an object, several as a list, and organizers always as a list in their order', async () => {
      const records = [venue(6), venue(7), organizer(8), organizer(9)];
      const body = await one('/events/1', [...records, event(1, { venues: [7], organizers: [9, 8] })]);
      expect(body.venue.id).to.equal(7);
      expect(body.organizer.map(({ id }: Json) => id)).to.deep.equal([9, 8]);
      const several = await one('/events/1', [...records, event(1, { venues: [7, 6], organizers: [8] })]);
      expect(several.venue.map(({ id }: Json) => id)).to.deep.equal([7, 6]);
      expect(several.organizer).to.have.length(1);
    });

    it('has its image with the derived sizes, if there are any', async () => {
      const body = await one('/events/1', [event(1, { image: 90 }), event(2, { image: 91 })]);
      expect(body.image).to.deep.equal({
        url: big.url,
        id: 90,
        extension: 'png',
        width: 800,
        height: 600,
        filesize: 3236,
        sizes: {
          medium: {
            width: 300,
            height: 225,
            'mime-type': 'image/png',
            filesize: 845,
            url: 'https://cms.example/m.png',
          },
        },
      });
      const { image: withoutSizes } = (await fixture.gateway.request('/events/2')).body;
      expect(withoutSizes).to.not.have.property('sizes');
      expect(withoutSizes.original_image).to.equal('photo.png');
    });

    it('has terms with the properties of The Events Calendar', async () => {
      const parent = term('category', 30, { name: 'Top', slug: 'top' });
      const child = term('category', 31, { name: 'Sub &amp; "q"', slug: 'sub', parent: 30, description: 'd' });
      const body = await one('/events/1', [
        parent,
        child,
        event(1, { categories: [31] }),
        event(2, { categories: [31], status: 'draft' }),
      ]);
      expect(body.categories).to.deep.equal([
        {
          ...{
            name: 'Sub &amp; "q"',
            slug: 'sub',
            term_group: 0,
            term_taxonomy_id: 31,
            taxonomy: 'calendar_events_cat',
          },
          description: 'd',
          parent: 30,
          count: 1,
          filter: 'raw',
          id: 31,
          urls: { self: `${BASE}/categories/31`, collection: `${BASE}/categories`, up: `${BASE}/categories/30` },
        },
      ]);
    });
  });

  describe('venue and organizer', () => {
    it('omit empty values and "0"', async () => {
      expect(await one('/venues/6', [venue(6, { slug: '', status: 'publish' })])).to.not.have.property('slug');
      const single = await one('/venues/6', [venue(6, { zip: '0', city: '' }), organizer(8, { phone: '0' })]);
      expect(Object.keys(single)).to.have.members([...BARE_VENUE_KEYS, 'json_ld']);
      expect(Object.keys((await fixture.gateway.request('/organizers/8')).body)).to.have.members([
        ...BARE_ORGANIZER_KEYS,
        'json_ld',
      ]);
      expect(Object.keys((await fixture.gateway.request('/venues')).body.venues[0])).to.have.members(BARE_VENUE_KEYS);
    });

    it('have values that are not HTML-escaped', async () => {
      const body = await one('/venues/6', [
        venue(6, { ...CITY, website: 'http://v.example/?a&b', image: 91, showMap: false }),
      ]);
      expect(body).to.include({ ...CITY, website: 'http://v.example/?a&b', show_map: false, show_map_link: true });
      expect(body.image).to.include({ id: 91 });
    });

    it('are blank if a password protects them, without coordinates', async () => {
      const fields = { slug: 'pier', description: '<p>Hall</p>', latitude: 40.7, longitude: -74, image: 91, city: '' };
      const body = await one('/venues/6', [venue(6, { ...CITY, ...fields, protected: true })]);
      expect(body).to.deep.include({
        address: '',
        description: '',
        image: '',
        slug: 'pier',
        show_map: null,
        venue: [],
      });
      expect(body).to.not.have.any.keys('city', 'geo_lat', 'geo_lng', 'json_ld', 'custom_fields');
    });
  });

  describe('category and tag', () => {
    it('have these properties as resources', async () => {
      const body = await one('/tags/4', [
        term('tag', 4, { name: 'Free', slug: 'free', url: 'https://cms.example/tag/free/' }),
      ]);
      expect(body).to.deep.include({
        id: 4,
        count: 0,
        description: '',
        name: 'Free',
        slug: 'free',
        taxonomy: 'post_tag',
        meta: [],
        url: 'https://cms.example/tag/free/',
        urls: { self: `${BASE}/tags/4`, collection: `${BASE}/tags` },
      });
      expect(body).to.not.have.property('parent');
      expect(body._links.self[0].href).to.contain('/wp-json/wp/v2/');
      expect(body._links).to.include.keys('self', 'collection', 'curies').and.not.have.property('up');
      const [entry] = (await fixture.gateway.request('/tags?hide_empty=false')).body.tags;
      expect(entry).to.not.have.property('_links');
    });
  });
});
