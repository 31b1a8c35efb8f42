// What the gateway can know is checked before the first write of a request: nothing is created and then removed.

import { expect } from 'chai';
import { CREDENTIALS, createFakeCms, type FakeCms } from '../cms/fake-cms.ts';
import { mappingWith } from '../mapping/samples.ts';
import { expectInvalid } from '../record/expectations.ts';
import { type Json, startGateway, type TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { term, venue } from '../store/sample-records.ts';
import { NOW_MS } from './seeded-gateway.ts';

const mapping = mappingWith(
  {
    venue: { at: 'meta.venue', as: { ids: 'one' } },
    organizer: 'meta.organizers',
    cost: { at: 'meta.cost', as: 'number' },
    timezone: { at: 'meta.zone', as: 'zone' },
    categories: 'event_categories',
    tags: { at: 'meta.tag', as: { ids: 'one' } },
  },
  {
    venue: {
      posts: 'venues',
      fields: { zip: { at: 'meta.zip', as: 'number' } },
      custom_fields: { seats: { at: 'meta.seats', as: 'number' } },
    },
    organizer: { posts: 'organizers' },
  },
  { custom_fields: { seats: { at: 'meta.seats', as: 'number' } } },
);

describe('a request that the gateway can know to be invalid', () => {
  let cms: FakeCms;
  let gateway: TestGateway;
  beforeEach(async () => {
    cms = createFakeCms(() => NOW_MS);
    const options = { cms, service: CREDENTIALS.admin, as: CREDENTIALS, nowMs: () => NOW_MS };
    gateway = await startGateway({ ...options, mapping });
  });
  afterEach(() => gateway.stop());

  const times = { start_date: '2027-02-01 20:00', end_date: '2027-02-01 22:00' };
  const send = (path: string, json: Json, method = 'POST') => gateway.request(path, { as: 'admin', method, json });
  const VALID = {
    ...{ title: 'Fair', ...times, categories: ['New'], tags: ['Jazz'] },
    ...{ venue: { venue: 'Hall' }, organizer: [{ organizer: 'Band' }] },
  };
  const INVALID: Record<string, [change: Json, param: string]> = {
    'a custom field': [{ custom_fields: { seats: 'many' } }, 'custom_fields'],
    'an unknown custom field': [{ custom_fields: { chairs: '1' } }, 'custom_fields'],
    'a cost in words': [{ cost: 'ten' }, 'cost'],
    'two new tags where one can be stored': [{ tags: ['Jazz', 'Rock'] }, 'tags'],
    'two new venues where one can be stored': [{ venue: [{ venue: 'Hall' }, { venue: 'Barn' }] }, 'venue'],
    'a custom field of a venue after a valid one': [
      { venue: [{ venue: 'Hall' }, { venue: 'Barn', custom_fields: { seats: 'many' } }] },
      'venue',
    ],
    'a postcode of the venue': [{ venue: { venue: 'Hall', zip: 'none' } }, 'venue'],
    'an organizer without a name': [{ organizer: [{ organizer: 'Band' }, { organizer: ' ' }] }, 'organizer'],
  };

  for (const [what, [change, param]] of Object.entries(INVALID)) {
    it(`writes nothing: ${what}`, async () => {
      const created = await send('/events', { ...VALID, ...change });
      expect(created.status, created.text).to.equal(400);
      expect(created.text).to.include(param);
      expect(cms.writes).to.deep.equal([]);
      const { body } = await send('/events', { title: 'Fair', ...times });
      const before = cms.writes.length;
      const { title: _title, ...references } = VALID;
      const updated = await send(`/events/${body.id}`, { ...references, ...change }, 'PATCH');
      expect(updated.status, updated.text).to.equal(400);
      expect(cms.writes.length).to.equal(before);
    });
  }

  it('writes nothing: an existing venue and a new one where one can be stored', async () => {
    upsert(gateway.replica, [venue(2)]);
    const { body } = await send('/events', { ...VALID, venue: [2, { venue: 'Barn' }] });
    expect(body.data.params).to.deep.equal({ venue: 'only one can be stored here.' });
    expect(cms.writes).to.deep.equal([]);
  });

  it('writes nothing and names the parameter: an update with a blank name', async () => {
    for (const kind of ['venue', 'organizer']) {
      const { body } = await send(`/${kind}s`, { [kind]: 'Hall' });
      const before = cms.writes.length;
      expectInvalid(await send(`/${kind}s/${body.id}`, { [kind]: ' ' }, 'PATCH'), kind);
      expect(cms.writes.length).to.equal(before);
    }
  });

  it('is valid with the same name twice, which becomes one record', async () => {
    const { status, body } = await send('/events', { ...VALID, categories: ['New', 'new', ' NEW '] });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body.categories).to.have.length(1);
    const bases = cms.writes.map(({ base }) => base);
    expect(bases).to.deep.equal(['event_categories', 'tags', 'venues', 'organizers', 'events']);
  });

  it('is a new venue if its data has an empty id, as in The Events Calendar', async () => {
    for (const [index, id] of ['', null, 0].entries()) {
      const { status, body } = await send('/events', {
        title: 'Fair',
        ...times,
        venue: { id, venue: `Hall ${index}` },
      });
      expect([status, body.venue?.venue]).to.deep.equal([201, `Hall ${index}`]);
    }
  });

  it('attaches the category whose slug the text would get, as in The Events Calendar', async () => {
    const { body: category } = await send('/categories', { name: 'Rock & Roll', slug: 'rock-roll' });
    for (const text of ['Rock/Roll', 'rock roll', 'Rock &amp; Roll']) {
      const { body } = await send('/events', { title: 'Fair', ...times, categories: [text] });
      expect(body.categories.map(({ id }: Json) => id)).to.deep.equal([category.id]);
    }
  });

  it('attaches no category for a text without letters and digits, not even one that has no slug', async () => {
    upsert(gateway.replica, [term('category', 900, { name: 'Jazz', slug: '' })]);
    expect((await gateway.request('/events?categories=!!!')).status).to.equal(400);
    const { body } = await send('/events', { title: 'Fair', ...times, categories: ['!!!'] });
    expect(body.categories.map(({ name }: Json) => name)).to.deep.equal(['!!!']);
  });

  it('takes a negative number for no slug: -1 is not the category with the slug 1', async () => {
    upsert(gateway.replica, [term('category', 900, { name: 'One', slug: '1' })]);
    expect((await gateway.request('/events?categories=-1')).status).to.equal(400);
    const { status, body } = await send('/categories', { name: 'Child', parent: -1 });
    expect([status, Object.keys(body.data.params)]).to.deep.equal([400, ['parent']]);
  });

  it('is valid without an image: 0 means none for a venue, as in The Events Calendar', async () => {
    const { status, body } = await send('/venues', { venue: 'Hall', image: '0' });
    expect(status).to.equal(201);
    expect(body).to.not.have.property('image');
    expect((await send(`/venues/${body.id}`, { image: '0' }, 'PATCH')).status).to.equal(200);
  });

  it('is valid without a parent: null is none for a tag, as in The Events Calendar', async () => {
    expect((await send('/tags', { name: 'Free', parent: null })).status).to.equal(201);
    expect((await send('/tags', { name: 'Child', parent: 1 })).body.code).to.equal('rest_taxonomy_not_hierarchical');
  });

  it('writes nothing in a venue alone, neither at its creation nor later', async () => {
    const bad = { custom_fields: { seats: 'many' } };
    expect((await send('/venues', { venue: 'Hall', ...bad })).status).to.equal(400);
    expect(cms.writes).to.deep.equal([]);
    const { body } = await send('/venues', { venue: 'Hall' });
    expect((await send(`/venues/${body.id}`, bad, 'PATCH')).status).to.equal(400);
    expect(cms.writes).to.have.length(1);
  });

  it('distinguishes in its error a kind that the site lacks from one that the mapping has for reading only', async () => {
    await gateway.stop();
    const without = mappingWith({}, { organizer: undefined, venue: { posts: 'venues', readOnly: true } });
    gateway = await startGateway({ cms, as: CREDENTIALS, nowMs: () => NOW_MS, mapping: without });
    const refused = async (path: string, json: Json) => {
      const { status, body } = await send(path, json);
      return [status, body.message];
    };
    const none = [403, 'This site has no organizers.'];
    expect(await refused('/organizers', { organizer: 'Band' })).to.deep.equal(none);
    expect(await refused('/events', { title: 'Fair', ...times, organizer: { organizer: 'Band' } })).to.deep.equal(none);
    const venue = await refused('/venues', { venue: 'Hall' });
    expect(venue).to.deep.equal([403, 'This site offers its venues for reading only.']);
    expect(cms.writes).to.deep.equal([]);
  });

  it('says in its error that venues which are text inside events are for reading only', async () => {
    await gateway.stop();
    const text = mappingWith({ venue: { embedded: { venue: 'meta.place' } } }, { venue: undefined });
    gateway = await startGateway({ cms, as: CREDENTIALS, nowMs: () => NOW_MS, mapping: text });
    for (const [path, json] of [
      ['/venues', { venue: 'Hall' }],
      ['/events', { title: 'Fair', ...times, venue: { venue: 'Hall' } }],
    ] as const) {
      const { status, body } = await send(path, json);
      expect([status, body.message]).to.deep.equal([403, 'This site offers its venues for reading only.']);
    }
    expect(cms.writes).to.deep.equal([]);
  });

  it('uploads no image for a venue that it cannot create', async () => {
    await gateway.stop();
    const readOnly = mappingWith({ venue: 'meta.venue' }, { venue: { posts: 'venues', readOnly: true } });
    gateway = await startGateway({ cms, as: CREDENTIALS, nowMs: () => NOW_MS, mapping: readOnly });
    const image = { bytes: new Uint8Array(1), mimeType: 'image/png', filename: 'a.png' };
    gateway.services.imageFetcher.fetch = async () => image;
    const venue = { venue: 'Hall', image: 'https://elsewhere.example/a.png' };
    expect((await send('/venues', venue)).status).to.equal(403);
    expect((await send('/events', { title: 'Fair', ...times, venue })).status).to.equal(403);
    expect(cms.writes).to.deep.equal([]);
  });
});
