// `json_ld` of events, venues and organizers in single reads.

import { expect } from 'chai';
import { eventJsonLd, organizerJsonLd, venueJsonLd } from '../../src/calendar/json-ld.ts';
import type { CalendarRecord } from '../../src/model/records.ts';
import { event, organizer, venue } from '../store/sample-records.ts';
import { big, CITY, NEW_YORK, serializerFixture } from './serializer-fixture.ts';

describe('json_ld', () => {
  const fixture = serializerFixture();
  const { one } = fixture;

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
    expect((await ld({ description: `<p>${WORDS.slice(0, 30).join(' ')}</p>` })).description).to.not.contain('hellip');
    const { description } = await ld({ excerpt: `<p>He said "it's" ${WORDS.join('  ')}</p>`, description: 'other' });
    expect(description).to.equal(`&lt;p&gt;He said &quot;it\\'s&quot; ${WORDS.join(' ')}&lt;/p&gt;\\n`);
  });

  it("has the text as typed, without WordPress's typography", async () => {
    const rendered = '<p>&#8220;Tom&#8221; &#038; Ann&#8217;s 2&#215;4 &#8212; a\\b &#8230;</p>';
    expect((await ld({ description: rendered })).description).to.equal(
      "&lt;p&gt;&quot;Tom&quot; &amp; Ann\\'s 2x4 -- a\\\\b ...&lt;/p&gt;\\n",
    );
  });

  // What The Events Calendar makes of the same texts: `preg_replace('#\\[.+\\]#U')`, `wp_kses`, `wp_trim_words`, `esc_js`.
  for (const [description, text] of [
    ['<p>I <3 jazz, kids <5 free.</p>\n<p>5 < 6 &amp; 7</p>', 'I &lt;3 jazz, kids &lt;5 free. 5 &lt; 6 &amp; 7'],
    ['<p>[vc_row][vc_column width="1/2"]Hello[/vc_column][/vc_row] world</p>', 'Hello world'],
    ['<p>Doors [1] at 7 [see <a href="/a">below</a>] and [open</p>\n<p>later]</p>', 'Doors at 7 and [open later]'],
    ['<style>#gallery-1 { margin: auto }</style><script>x()</script><div></div>', ''],
    ['<table><tr><td>19:00</td><td>Doors</td></tr></table>', '19:00Doors'],
    ['<img alt="5 > 3" src="x">Text', 'Text'],
  ] as const)
    it(`of the text ${description}`, async () => {
      const shown = (await ld({ description })).description;
      expect(shown).to.equal(text === '' ? '' : `&lt;p&gt;${text}&lt;/p&gt;\\n`);
    });

  it('has a bare < in its name', async () => {
    expect((await ld({ title: "I <3 Rock 'n' Roll" })).name).to.equal("I &lt;3 Rock \\'n\\' Roll");
  });

  it('has a line break in its name as a script writes it', async () => {
    expect((await ld({ title: 'Two\nlines' })).name).to.equal('Two\\nlines');
  });

  it('has the URL of the image', async () => expect((await ld({ image: 90 })).image).to.equal(big.url));

  it('marks a private event, and escapes tags in its title', async () => {
    const record = event(1, { ...NEW_YORK, status: 'private', title: 'T <b>x</b>' });
    const { name } = eventJsonLd(record, {
      location: undefined,
      organizer: undefined,
      image: undefined,
      timezone: record.timezone,
      offer: undefined,
    });
    expect(name).to.equal('Private: T &lt;b&gt;x&lt;/b&gt;');
  });

  it('marks a private venue or organizer, and one that was opened with its password', () => {
    const names = (more: object) => [
      venueJsonLd(venue(6, { title: 'Q & A', ...more })).name,
      organizerJsonLd(organizer(7, { title: 'Fred', ...more })).name,
    ];
    expect(names({ status: 'private' })).to.deep.equal(['Private: Q &amp; A', 'Private: Fred']);
    expect(names({ protected: true })).to.deep.equal(['Protected: Q &amp; A', 'Protected: Fred']);
    expect(names({ status: 'draft' })).to.deep.equal(['Q &amp; A', 'Fred']);
  });

  for (const [cost, price, priceCurrency] of [
    ['$10', '10', 'USD'],
    ['10-20', '10 – 20', 'USD'],
    ['Donation', 'Donation', 'USD'],
    ['$0', '0', 'USD'],
    ['€10', '10', 'EUR'],
    ['10,50', '10,50', 'USD'],
  ]) {
    it(`has the price ${price} in ${priceCurrency} for the cost ${cost}`, async () => {
      expect((await ld({ cost, date: '2026-11-20 21:44:08' })).offers).to.deep.equal({
        ...{
          '@type': 'Offer',
          price,
          priceCurrency,
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

  it('of a venue whose parts are "0" has none of them, as of empty ones', async () => {
    const { location } = await ld({ venues: [6] }, [venue(6, { title: 'H', zip: '0', city: '0' })]);
    expect((location as { address: object }).address).to.deep.equal({ '@type': 'PostalAddress' });
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
    expect((await fixture.gateway.request('/organizers/8')).body.json_ld).to.deep.equal(body.organizer);
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
    expect((await fixture.gateway.request('/events')).text).to.not.contain('json_ld');
  });

  it('has the images of the venue and the organizer', async () => {
    const { location, organizer: person } = await ld({ venues: [6], organizers: [8] }, [
      venue(6, { image: 90 }),
      organizer(8, { image: 91 }),
    ]);
    expect(location.image).to.equal(big.url);
    expect(person.image).to.equal(big.url);
  });

  it('has the time after the gap for one that the clock skips', async () => {
    const skipped = { start: '2027-03-14 02:30:00', startUtc: '2027-03-14 07:30:00' };
    const end = { end: '2027-03-14 04:00:00', endUtc: '2027-03-14 08:00:00' };
    expect(await ld({ ...skipped, ...end })).to.include({
      startDate: '2027-03-14T03:30:00-04:00',
      endDate: '2027-03-14T04:00:00-04:00',
    });
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
