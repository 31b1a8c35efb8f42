// Records in responses: properties, types and `json_ld` of events, venues, organizers, categories and tags.

import { expect } from 'chai';
import { decodeCost, serializeCost } from '../../src/calendar/cost.ts';
import { eventJsonLd } from '../../src/calendar/json-ld.ts';
import type { CalendarRecord, ImageRecord } from '../../src/model/records.ts';
import { BARE_ORGANIZER_KEYS, BARE_VENUE_KEYS, EVENT_KEYS, ZERO_DATE } from '../record/expectations.ts';
import { BASE, type Json, type TestGateway } from '../start-gateway.ts';
import { event, organizer, term, venue } from '../store/sample-records.ts';
import { seededGateway } from './seeded-gateway.ts';

const NEW_YORK = {
  start: '2027-01-10 10:00:00',
  end: '2027-01-10 12:00:00',
  timezone: 'America/New_York',
  startUtc: '2027-01-10 15:00:00',
  endUtc: '2027-01-10 17:00:00',
};
const big: ImageRecord = {
  id: 90,
  url: 'https://cms.example/big.png',
  extension: 'png',
  width: 800,
  height: 600,
  filesizeBytes: 3236,
  sizes: {
    medium: { width: 300, height: 225, mimeType: 'image/png', filesizeBytes: 845, url: 'https://cms.example/m.png' },
  },
};
const small: ImageRecord = { ...big, id: 91, sizes: {} };
const CITY = {
  address: '1 A & "B"',
  city: 'C',
  country: 'United States',
  province: 'P',
  state: 'NY',
  stateprovince: 'N<Y',
  zip: '10001',
  phone: '5"5',
};

describe('the serializer', () => {
  let gateway: TestGateway;
  afterEach(() => gateway.stop());

  async function one(path: string, records: CalendarRecord[], as?: string): Promise<Json> {
    gateway = await seededGateway(records, { images: [big, small] });
    const { status, body } = await gateway.request(path, { as });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }

  describe('event', () => {
    it('has forty properties, and json_ld only in a single read', async () => {
      const single = await one('/events/1', [event(1, NEW_YORK)]);
      expect(Object.keys(single)).to.have.members([...EVENT_KEYS, 'json_ld']);
      const { events } = (await gateway.request('/events')).body;
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
      const body = await one(
        '/events?status=draft',
        [event(1, { ...NEW_YORK, status: 'draft', dateUtc: '' })],
        'admin',
      );
      expect(body.events[0].date_utc).to.equal(ZERO_DATE);
    });

    it('may have no date: it is read by id, and no list by date has it', async () => {
      const undated = { title: 'To be announced', start: '', end: '', startUtc: '', endUtc: '' };
      const body = await one('/events/1', [event(1, { ...undated, timezone: 'Europe/Paris' })]);
      expect(body).to.include({ title: 'To be announced', start_date: '', utc_end_date: '', timezone_abbr: '' });
      expect(body.start_date_details).to.include({ year: '', seconds: '' });
      expect(body.json_ld).to.not.have.any.keys('startDate', 'endDate');
      expect((await gateway.request('/events?include=1')).body.total).to.equal(1);
      expect((await gateway.request('/events?start_date=0001-01-01')).body.total).to.equal(0);
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
      await gateway.stop();
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
      expect((await gateway.request('/events/2')).body.image).to.not.have.property('sizes');
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
      const single = await one('/venues/6', [venue(6, { zip: '0', city: '' }), organizer(8, { phone: '0' })]);
      expect(Object.keys(single)).to.have.members([...BARE_VENUE_KEYS, 'json_ld']);
      expect(Object.keys((await gateway.request('/organizers/8')).body)).to.have.members([
        ...BARE_ORGANIZER_KEYS,
        'json_ld',
      ]);
      expect(Object.keys((await gateway.request('/venues')).body.venues[0])).to.have.members(BARE_VENUE_KEYS);
    });

    it('have values that are not HTML-escaped', async () => {
      const body = await one('/venues/6', [
        venue(6, { ...CITY, website: 'http://v.example/?a&b', image: 91, showMap: false }),
      ]);
      expect(body).to.include({ ...CITY, website: 'http://v.example/?a&b', show_map: false, show_map_link: true });
      expect(body.image).to.include({ id: 91 });
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
      const [entry] = (await gateway.request('/tags?hide_empty=false')).body.tags;
      expect(entry).to.not.have.property('_links');
    });
  });

  describe('json_ld', () => {
    const WORDS = Array.from({ length: 35 }, (_, i) => `w${i + 1}`);
    const ld = async (more: object, others: CalendarRecord[] = []) =>
      (await one('/events/1', [...others, event(1, { ...NEW_YORK, url: 'https://cms.example/event/a/', ...more })]))
        .json_ld;

    it('of an event without optional fields', async () => {
      expect(await ld({ title: 'A &#038; b' })).to.deep.equal({
        ...{
          '@context': 'http://schema.org',
          '@type': 'Event',
          name: 'A &#038; b',
          description: '',
          url: 'https://cms.example/event/a/',
        },
        eventAttendanceMode: 'https://schema.org/OfflineEventAttendanceMode',
        eventStatus: 'https://schema.org/EventScheduled',
        startDate: '2027-01-10T10:00:00-05:00',
        endDate: '2027-01-10T12:00:00-05:00',
        performer: 'Organization',
      });
    });

    it('has thirty words of the description, or the whole excerpt', async () => {
      expect((await ld({ description: `<p>${WORDS.join('\n')}</p>` })).description).to.equal(
        `&lt;p&gt;${WORDS.slice(0, 30).join(' ')} [&hellip;]&lt;/p&gt;\\n`,
      );
      await gateway.stop();
      expect((await ld({ description: `<p>${WORDS.slice(0, 30).join(' ')}</p>` })).description).to.not.contain(
        'hellip',
      );
      await gateway.stop();
      const { description } = await ld({ excerpt: `<p>He said "it's" ${WORDS.join('  ')}</p>`, description: 'other' });
      expect(description).to.equal(`&lt;p&gt;He said &quot;it\\'s&quot; ${WORDS.join(' ')}&lt;/p&gt;\\n`);
    });

    it("has the text as typed, without WordPress's typography", async () => {
      const rendered = '<p>&#8220;Tom&#8221; &#038; Ann&#8217;s 2&#215;4 &#8212; a\\b &#8230;</p>';
      expect((await ld({ description: rendered })).description).to.equal(
        "&lt;p&gt;&quot;Tom&quot; &amp; Ann\\'s 2x4 -- a\\\\b ...&lt;/p&gt;\\n",
      );
    });

    it('has the URL of the image', async () => expect((await ld({ image: 90 })).image).to.equal(big.url));

    it('marks a private event, and escapes tags in its title', async () => {
      gateway = await seededGateway();
      const record = event(1, { ...NEW_YORK, status: 'private', title: 'T <b>x</b>' });
      const cost = serializeCost(decodeCost(''), { symbol: '$', position: 'prefix' });
      const { name } = eventJsonLd(record, { venue: undefined, organizer: undefined, image: undefined, cost });
      expect(name).to.equal('Private: T &lt;b&gt;x&lt;/b&gt;');
    });

    for (const [cost, price] of [
      ['$10', '10'],
      ['10-20', '10 – 20'],
      ['Donation', 'Donation'],
      ['$0', '0'],
      ['€10', '10'],
      ['10,50', '10,50'],
    ]) {
      it(`has the price ${price} for the cost ${cost}`, async () => {
        expect((await ld({ cost, date: '2026-11-20 21:44:08' })).offers).to.deep.equal({
          ...{
            '@type': 'Offer',
            price,
            priceCurrency: 'USD',
            url: 'https://cms.example/event/a/',
            category: 'primary',
          },
          availability: 'inStock',
          validFrom: '2026-11-20T00:00:00+00:00',
        });
      });
    }

    it('of a venue is escaped, except the region', async () => {
      const { location } = await ld({ venues: [6] }, [venue(6, { title: 'H', ...CITY, website: 'http://v.example/' })]);
      expect(location).to.deep.equal({
        '@type': 'Place',
        name: 'H',
        description: '',
        url: '',
        address: {
          ...{
            '@type': 'PostalAddress',
            streetAddress: '1 A &amp; &quot;B&quot;',
            addressLocality: 'C',
            addressRegion: 'N<Y',
          },
          postalCode: '10001',
          addressCountry: 'United States',
        },
        telephone: '5&quot;5',
        sameAs: 'http://v.example/',
      });
    });

    it('of a venue with only a name', async () => {
      const { location } = await ld({ venues: [6] }, [venue(6, { title: 'H' })]);
      expect(location).to.deep.equal({
        ...{
          '@type': 'Place',
          name: 'H',
          description: '',
          url: '',
          address: { '@type': 'PostalAddress' },
          telephone: '',
          sameAs: '',
        },
      });
    });

    it('has the first organizer, with the e-mail address obfuscated the same way each time', async () => {
      const people = [organizer(8, { title: 'O', email: 'a@b.example', website: 'http://o.example/' }), organizer(9)];
      const body = await ld({ organizers: [8, 9] }, people);
      expect(body.organizer).to.include({
        '@type': 'Person',
        name: 'O',
        url: 'http://o.example/',
        sameAs: 'http://o.example/',
      });
      const plain = body.organizer.email.replace(/&#(\d+);/g, (_: string, code: string) =>
        String.fromCodePoint(Number(code)),
      );
      expect(plain).to.equal('a@b.example');
      expect(body.organizer.email).to.not.equal('a@b.example');
      expect((await gateway.request('/organizers/8')).body.json_ld).to.deep.equal(body.organizer);
      expect(body.organizer).to.not.have.property('@context');
    });

    it('is on the linked records of a single event too, and nowhere in lists', async () => {
      const body = await one('/events/1', [
        venue(6),
        organizer(8),
        event(1, { ...NEW_YORK, venues: [6], organizers: [8] }),
      ]);
      expect(body.venue).to.have.property('json_ld');
      expect(body.organizer[0]).to.have.property('json_ld');
      expect((await gateway.request('/events')).text).to.not.contain('json_ld');
    });

    it('of an all-day event runs from midnight to one second before midnight', async () => {
      const days = {
        allDay: true,
        start: '2027-01-10 00:00:00',
        end: '2027-01-11 23:59:59',
        startUtc: '2027-01-10 05:00:00',
        endUtc: '2027-01-12 04:59:59',
      };
      expect(await ld(days)).to.include({
        startDate: '2027-01-10T00:00:00-05:00',
        endDate: '2027-01-11T23:59:59-05:00',
      });
    });
  });
});
