// The events of the pages as search engines read them: each property that Google requires or recommends, and schema.org's
// states, from what the record says and from nothing else.

import { expect } from 'chai';
import type { CalendarRecord, EventRecord, VenueRecord } from '../../../src/model/records.ts';
import type { Json } from '../../start-gateway.ts';
import { PUBLIC_URL } from '../../start-gateway.ts';
import { organizer, venue } from '../../store/sample-records.ts';
import { at, image, landingFixture, on } from './landing-fixture.ts';

const FULL: Partial<EventRecord> = {
  ...{ title: 'A &#8220;B&#8221;', description: '<p>Text</p>', image: 9, venues: [21], organizers: [26, 27] },
  ...{ startUtc: '2027-03-11 00:30:00', endUtc: '2027-03-11 02:00:00', cost: '10-15 €' },
  ...{ eventStatus: 'cancelled', attendanceMode: 'mixed', onlineUrl: 'https://meet.example/' },
};
const HALL: Partial<VenueRecord> = {
  ...{
    title: 'Hall',
    address: '1 Quay',
    city: 'Gullhaven',
    stateprovince: 'ME',
    zip: '04599',
    country: 'United States',
  },
};
const ADDRESS = {
  '@type': 'PostalAddress',
  streetAddress: '1 Quay',
  postalCode: '04599',
  addressLocality: 'Gullhaven',
  addressRegion: 'ME',
  addressCountry: 'United States',
};

/** Google's list for events: the property, what a full record gives, and what the record lacks if it is absent. */
const PROPERTIES: [
  property: string,
  need: 'required' | 'recommended',
  value: unknown,
  lacking: Partial<EventRecord>,
][] = [
  ['name', 'required', 'A “B”', { title: '' }],
  ['startDate', 'required', '2027-03-10T19:00:00-05:30', { start: '', end: '', startUtc: '', endUtc: '' }],
  [
    'location',
    'required',
    [
      { '@type': 'Place', name: 'Hall', address: ADDRESS },
      { '@type': 'VirtualLocation', url: 'https://meet.example/' },
    ],
    { venues: [], onlineUrl: '' },
  ],
  ['endDate', 'recommended', '2027-03-10T20:30:00-05:30', {}],
  ['description', 'recommended', 'Text', { description: '' }],
  ['image', 'recommended', 'https://cms.example/a.jpg', { image: 0 }],
  ['eventStatus', 'recommended', 'https://schema.org/EventCancelled', { eventStatus: '' }],
  ['eventAttendanceMode', 'recommended', 'https://schema.org/MixedEventAttendanceMode', { attendanceMode: '' }],
  [
    'organizer',
    'recommended',
    [
      { '@type': 'Organization', name: 'Choir', url: 'https://choir.example/' },
      { '@type': 'Organization', name: 'Town' },
    ],
    { organizers: [] },
  ],
  ['offers', 'recommended', { '@type': 'Offer', price: 10, priceCurrency: 'EUR' }, { cost: '' }],
  // No record says who performs, which other date an event had, or where tickets are sold.
  ['performer', 'recommended', undefined, {}],
  ['previousStartDate', 'recommended', undefined, {}],
];

describe('structured data of the pages', () => {
  const fixture = landingFixture();

  /** The events by their id, as the page of each has them. */
  async function dataOf(records: CalendarRecord[], query = '?event=1'): Promise<Json | undefined> {
    const linked = [
      organizer(26, { title: 'Choir', website: 'https://choir.example/' }),
      organizer(27, { title: 'Town', website: 'javascript:alert(1)' }),
    ];
    await fixture.start([...linked, ...records], [image(9, 'https://cms.example/a.jpg')]);
    const [, data] = /<script type="application\/ld\+json">(.*?)<\/script>/.exec(await fixture.get(query)) ?? [];
    return data === undefined ? undefined : JSON.parse(data)['@graph'][0];
  }

  it('has every property of a full record, and no other', async () => {
    const data = await dataOf([on(1, '10', FULL), venue(21, HALL)]);
    const named = PROPERTIES.filter(([, , value]) => value !== undefined).map(([property, , value]) => [
      property,
      value,
    ]);
    expect(data).to.deep.equal({ '@type': 'Event', url: `${PUBLIC_URL}/?event=1`, ...Object.fromEntries(named) });
  });

  for (const [property, need, , lacking] of PROPERTIES) {
    if (Object.keys(lacking).length === 0) continue;
    it(`${need === 'required' ? 'has no event' : 'leaves out the property'} without ${property}`, async () => {
      const data = await dataOf([on(1, '10', { ...FULL, ...lacking }), venue(21, HALL)]);
      if (need === 'required') expect(data).to.equal(undefined);
      else expect(Object.keys(data!)).to.not.include(property);
      if (need === 'recommended') expect(Object.keys(data!)).to.have.length(PROPERTIES.length - 1);
    });
  }

  it('has no place without an address, and no event for which that was the only location', async () => {
    const bare = venue(21, { title: 'Kulturhaus, Am Markt 1', address: '', city: '', country: '' });
    expect(await dataOf([on(1, '10', { ...FULL, onlineUrl: '' }), bare])).to.equal(undefined);
    await fixture.gateway.stop();
    const { location } = (await dataOf([on(1, '10', FULL), bare]))!;
    expect(location).to.deep.equal({ '@type': 'VirtualLocation', url: 'https://meet.example/' });
  });

  it('has the days alone of an all-day event', async () => {
    const days = at(1, '2027-03-11 00:00:00', '2027-03-12 23:59:59', { allDay: true, venues: [21] });
    expect(await dataOf([days, venue(21, HALL)])).to.include({ startDate: '2027-03-11', endDate: '2027-03-12' });
  });

  const COSTS: [cost: string, offers: object | undefined, isFree: true | undefined][] = [
    ['8 €', { '@type': 'Offer', price: 8, priceCurrency: 'EUR' }, undefined],
    ['12.50 GBP', { '@type': 'Offer', price: 12.5, priceCurrency: 'GBP' }, undefined],
    ['Free', undefined, true],
    ['0', undefined, true],
    // Nobody says which currency, and a phrase may be the price of something else.
    ['12', undefined, undefined],
    ['20 € per family', undefined, undefined],
    ['Donation', undefined, undefined],
  ];
  for (const [cost, offers, isFree] of COSTS)
    it(`has of the cost "${cost}" ${offers ? 'price and currency' : 'no offer'}`, async () => {
      const data = (await dataOf([on(1, '10', { ...FULL, cost }), venue(21, HALL)]))!;
      expect([data.offers, data.isAccessibleForFree]).to.deep.equal([offers, isFree]);
    });
});
