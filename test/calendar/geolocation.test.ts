// Events by the coordinates of their venues, and coordinates in requests and responses.

import { expect } from 'chai';
import { compileMapping } from '../../src/mapping/compile.ts';
import type { CalendarRecord } from '../../src/model/records.ts';
import type { FakeCms } from '../cms/fake-cms.ts';
import { mappingWith, site, sourceWith } from '../mapping/samples.ts';
import { expectFieldsNamed, expectInvalid } from '../record/expectations.ts';
import type { Json, TestGateway } from '../start-gateway.ts';
import { venue } from '../store/sample-records.ts';
import { on } from './list-fixture.ts';
import { seededGateway } from './seeded-gateway.ts';

const BERLIN = { latitude: 52.52, longitude: 13.405 };
/** 26.6 km from the centre of Berlin. */
const POTSDAM = { latitude: 52.391, longitude: 13.064 };
const FIJI = { latitude: -17.8, longitude: 179.95 };
const SOUTH_POLE = { latitude: -90, longitude: 0 };

const RECORDS: CalendarRecord[] = [
  venue(21, BERLIN),
  venue(22, POTSDAM),
  venue(23, FIJI),
  venue(24, SOUTH_POLE),
  venue(25),
  venue(26, { ...BERLIN, status: 'private', author: 2 }),
  venue(27, { ...BERLIN, protected: true }),
  venue(28, { ...BERLIN, status: 'trash' }),
  on(1, { venues: [22] }),
  on(2, { venues: [21] }),
  on(3, { venues: [23] }),
  on(4, { venues: [24] }),
  on(5, { venues: [25] }),
  on(6, { venues: [26] }),
  on(7, { venues: [27] }),
  on(8, { venues: [28] }),
  on(9),
  on(10, { venues: [21], protected: true }),
  on(11, { venues: [25, 22] }),
];
const NEAR_BERLIN = 'geoloc_lat=52.52&geoloc_lng=13.405';

describe('geolocation', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await seededGateway(RECORDS, { perPage: 50 });
  });
  after(() => gateway.stop());

  async function idsOf(query: string, as?: string): Promise<number[]> {
    const { status, body } = await gateway.request(`/events?${query}`, { as });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.total).to.equal(body.events.length);
    return body.events.map(({ id }: Json) => id);
  }

  const FOUND: [query: string, anonymous: number[]][] = [
    ['geoloc=true', [1, 2, 3, 4, 11]],
    ['geoloc=false', [5, 6, 7, 8, 9, 10]],
    [NEAR_BERLIN, [2]],
    [`${NEAR_BERLIN}&geoloc=true`, [2]],
    [`${NEAR_BERLIN}&geoloc=false`, []],
    [`${NEAR_BERLIN}&geoloc_distance=26`, [2]],
    [`${NEAR_BERLIN}&geoloc_distance=27.5`, [1, 2, 11]],
    [`${NEAR_BERLIN}&geoloc_distance=0`, [2]],
    [`${NEAR_BERLIN}&geoloc_distance=20038`, [1, 2, 3, 4, 11]],
    [`${NEAR_BERLIN}&geoloc_distance=1e2`, [1, 2, 11]],
    ['geoloc_lat=-17.8&geoloc_lng=-179.95', [3]],
    ['geoloc_lat=-90&geoloc_lng=180', [4]],
    ['geoloc_lat=-89.9&geoloc_lng=-77', [4]],
    ['geoloc_lat=90&geoloc_lng=-180', []],
    [`${NEAR_BERLIN}&geoloc_distance=100&venue=22,25`, [1, 11]],
    [`${NEAR_BERLIN}&venue=23`, []],
    [`${NEAR_BERLIN}&include=2,3`, [2]],
    [`${NEAR_BERLIN}&featured=true`, []],
  ];
  for (const [query, wanted] of FOUND) it(query, async () => expect(await idsOf(query)).to.deep.equal(wanted));

  it('finds private venues for those only who may see them, and protected ones for nobody', async () => {
    expect(await idsOf(NEAR_BERLIN, 'subscriber')).to.deep.equal([2]);
    expect(await idsOf(NEAR_BERLIN, 'author')).to.deep.equal([2]);
    expect(await idsOf(NEAR_BERLIN, 'contributor')).to.deep.equal([2, 6]); // their own
    expect(await idsOf(NEAR_BERLIN, 'editor')).to.deep.equal([2, 6]);
    expect(await idsOf('geoloc=false', 'editor')).to.deep.equal([5, 7, 8, 9, 10]);
  });

  const REFUSED: [query: string, names: string[]][] = [
    ['geoloc_lat=52', ['geoloc_lng']],
    ['geoloc_lng=13', ['geoloc_lat']],
    ['geoloc_distance=5', ['geoloc_lat', 'geoloc_lng']],
    ['geoloc_distance=5&geoloc_lng=13', ['geoloc_lat']],
    ['geoloc_lat=90.0001&geoloc_lng=13', ['geoloc_lat']],
    ['geoloc_lat=-91&geoloc_lng=13', ['geoloc_lat']],
    ['geoloc_lat=52&geoloc_lng=180.0001', ['geoloc_lng']],
    ['geoloc_lat=52&geoloc_lng=-181', ['geoloc_lng']],
    ['geoloc_lat=NaN&geoloc_lng=13', ['geoloc_lat']],
    ['geoloc_lat=Infinity&geoloc_lng=x', ['geoloc_lat', 'geoloc_lng']],
    ['geoloc_lat=&geoloc_lng=', ['geoloc_lat', 'geoloc_lng']],
    ['geoloc_lat[]=52&geoloc_lng=13', ['geoloc_lat']],
    [`${NEAR_BERLIN}&geoloc_distance=-1`, ['geoloc_distance']],
    [`${NEAR_BERLIN}&geoloc_distance=20039`, ['geoloc_distance']],
    [`${NEAR_BERLIN}&geoloc_distance=far`, ['geoloc_distance']],
  ];
  for (const [query, names] of REFUSED)
    it(`rejects ${query}`, async () => {
      const { status, body } = await gateway.request(`/events?${query}`);
      expect({ status, params: Object.keys(body.data.params) }).to.deep.equal({ status: 400, params: names });
    });

  it('is in the venue itself and in an event, only with coordinates, and never behind a password', async () => {
    const shown = { geo_lat: 52.52, geo_lng: 13.405 };
    expect((await gateway.request('/venues/21')).body).to.include(shown);
    expect((await gateway.request('/events/2')).body.venue).to.include(shown);
    for (const path of ['/venues/25', '/venues/27'])
      expect((await gateway.request(path)).body, path).to.not.have.any.keys('geo_lat', 'geo_lng');
    expect((await gateway.request('/venues/27', { as: 'admin' })).text).to.not.include('13.405');
  });

  it('is written with a venue, alone and in an event, and removed by an empty text and by null', async () => {
    const send = (path: string, json: Json, method = 'POST') => gateway.request(path, { as: 'admin', method, json });
    const hall = await send('/venues', { venue: 'Hall', geo_lat: '48.1', geo_lng: -4.5 });
    expect(hall.body).to.include({ geo_lat: 48.1, geo_lng: -4.5 });
    const times = { start_date: '2027-02-01 10:00', end_date: '2027-02-01 11:00' };
    const fair = await send('/events', { title: 'Fair', ...times, venue: { venue: 'Barn', geo_lat: 1, geo_lng: 2 } });
    expect(fair.body.venue).to.include({ geo_lat: 1, geo_lng: 2 });
    for (const [empty, path] of [
      ['', `/venues/${hall.body.id}`],
      [null, `/venues/${fair.body.venue.id}`],
    ] as const) {
      const { body } = await send(path, { geo_lat: empty, geo_lng: empty }, 'PUT');
      expect(body).to.not.have.any.keys('geo_lat', 'geo_lng');
    }
    expectInvalid(await send('/venues', { venue: 'Nowhere', geo_lat: 91, geo_lng: 0 }), 'geo_lat');
    expectInvalid(await send('/events', { title: 'Fair', ...times, venue: { venue: 'N', geo_lng: 181 } }), 'venue');
  });
});

describe('coordinates that the mapping cannot store', () => {
  const times = { start_date: '2027-02-01 10:00', end_date: '2027-02-01 11:00' };
  let gateway: TestGateway;
  before(async () => {
    const fields = { geo_lat: { at: 'meta.lat', readOnly: true }, geo_lng: { at: 'meta.lng', readOnly: true } };
    const mapping = mappingWith({ venue: 'meta.venue_ids' }, { venue: { posts: 'venues', fields } });
    gateway = await seededGateway([], { mapping });
  });
  after(() => gateway.stop());

  const send = (path: string, json: Json, method = 'POST') => gateway.request(path, { as: 'admin', method, json });

  it('are refused by name', async () => {
    expectFieldsNamed(await send('/venues', { venue: 'Hall', geo_lat: 1 }), 'geo_lat');
    const { status, body } = await send('/events', { title: 'Fair', ...times, venue: { venue: 'Barn', geo_lng: 2 } });
    expect([status, body.code]).to.deep.equal([400, 'could-not-create-venue']);
    expect(Object.keys(body.data.params)).to.deep.equal(['geo_lng']);
    expect((await gateway.request('/venues?status=publish', { as: 'admin' })).body.total).to.equal(0);
  });

  it('may come back as a response has shown them, and be removed where there are none', async () => {
    const { status, body } = await send('/venues', { venue: 'Mill', geo_lat: '', geo_lng: '' });
    expect(status).to.equal(201);
    Object.assign((gateway.cms as FakeCms).posts.get(body.id)!.meta, { lat: '48.1', lng: '11.5' });
    const shown = { geo_lat: 48.1, geo_lng: 11.5 };
    expect((await send(`/venues/${body.id}`, { city: 'Ely', ...shown }, 'PUT')).status).to.equal(200);
    expectFieldsNamed(await send(`/venues/${body.id}`, { ...shown, geo_lat: 48.2 }, 'PUT'), 'geo_lat');
    expectFieldsNamed(await send(`/venues/${body.id}`, { geo_lng: null }, 'PUT'), 'geo_lng');
  });
});

describe('coordinates in a mapping', () => {
  const fields = { geo_lat: 'meta.lat', geo_lng: 'meta.lng' };
  const mapping = compileMapping(sourceWith({}, { venue: { posts: 'venues', fields } }), 'sample').kinds.venue!;
  const read = (lat: unknown, lng: unknown) => {
    const { latitude, longitude } = mapping.read({ id: 1, meta: { lat, lng } }, site);
    return [latitude, longitude];
  };

  it('are numbers or texts', () => {
    expect(read('52.52', '13.405')).to.deep.equal([52.52, 13.405]);
    expect(read(52.52, 13.405)).to.deep.equal([52.52, 13.405]);
    expect(read('0', '-0.5')).to.deep.equal([0, -0.5]);
    expect(mapping.write({ latitude: 1e-7, longitude: null }, { site })).to.deep.equal({
      meta: { lat: '1e-7', lng: '' },
    });
    expect(read('1e-7', '5')).to.deep.equal([1e-7, 5]);
  });

  it('are none if one is missing or impossible, or if both are zero', () => {
    for (const [lat, lng] of [
      ['52', ''],
      [undefined, '13'],
      ['0', '0.000000'],
      [0, 0],
      ['north', '13'],
      ['91', '13'],
      ['52', '-180.1'],
      [Number.NaN, 13],
      [[52], 13],
    ])
      expect(read(lat, lng), `${lat} ${lng}`).to.deep.equal([null, null]);
  });
});
