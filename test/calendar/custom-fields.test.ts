// Custom fields: in responses, in creates and updates, and as filters.

import { expect } from 'chai';
import type { FakeCms } from '../cms/fake-cms.ts';
import { mappingWith } from '../mapping/samples.ts';
import { expectInvalid } from '../record/expectations.ts';
import type { Json, TestGateway } from '../start-gateway.ts';
import { remove, upsert } from '../store/changes.ts';
import { event, organizer, venue } from '../store/sample-records.ts';
import { on } from './list-fixture.ts';
import { addUnpublished, seededGateway } from './seeded-gateway.ts';

const CUSTOM_FIELDS = {
  last_bus: { at: 'meta.last_bus', filter: true },
  seats: { at: 'meta.seats', as: 'number', clearWith: null },
  outdoors: { at: 'meta.outdoors', type: 'boolean', label: 'In the open', filter: true },
  source: { at: 'meta.source', readOnly: true },
};
const ROOM = { custom_fields: { room: { at: 'meta.room', filter: true } } };
const mapping = mappingWith(
  { venue: 'meta.venue' },
  { venue: { posts: 'venues', ...ROOM }, organizer: { posts: 'organizers' } },
  { custom_fields: CUSTOM_FIELDS },
);

const times = { start_date: '2027-02-01 20:00', end_date: '2027-02-01 22:00' };
const shown = (label: string, value: string | boolean) => ({ label, value });

describe('custom fields', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await seededGateway([], { mapping });
  });
  afterEach(() => gateway.stop());

  const get = async (path: string, as?: string): Promise<Json> => (await gateway.request(path, { as })).body;
  const send = (path: string, json: Json, method = 'POST', as = 'admin') => gateway.request(path, { as, method, json });
  async function create(custom_fields: Json): Promise<Json> {
    const { status, body } = await send('/events', { title: 'Concert', ...times, custom_fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body;
  }

  describe('in responses', () => {
    it('have their names and labels in the order of the mapping; empty texts are left out', async () => {
      const { id } = await create({ outdoors: true, last_bus: '19:00', seats: '' });
      const wanted = { last_bus: shown('Last bus', '19:00'), outdoors: shown('In the open', true) };
      for (const body of [await get(`/events/${id}`), (await get('/events')).events[0]]) {
        expect(body.custom_fields).to.deep.equal(wanted);
        expect(Object.keys(body.custom_fields)).to.deep.equal(['last_bus', 'outdoors']);
      }
    });

    it('are an empty list in an event without any, and absent in a venue without any', async () => {
      upsert(gateway.services.replica, [
        on(1, { venues: [21] }),
        venue(21),
        venue(22, { customFields: { room: 'A' } }),
      ]);
      const body = await get('/events/1');
      expect(body.custom_fields).to.deep.equal([]);
      expect(body.venue).to.not.have.property('custom_fields');
      expect((await get('/venues/22')).custom_fields).to.deep.equal({ room: shown('Room', 'A') });
    });

    it('are hidden by the password of a record', async () => {
      upsert(gateway.services.replica, [
        on(1, { protected: true, customFields: { last_bus: 'secret-19' } }),
        venue(21, { protected: true, customFields: { room: 'secret-A' } }),
      ]);
      for (const path of ['/events', '/venues', '/venues/21'])
        expect((await gateway.request(path)).text, path).to.not.include('secret-');
      expect((await get('/events')).events[0].custom_fields).to.deep.equal([]);
    });
  });

  describe('in creates and updates', () => {
    it('change one by one, by a value or by what a response shows', async () => {
      const { id, custom_fields } = await create({ last_bus: '19:00', seats: 120 });
      expect(custom_fields.seats).to.deep.equal(shown('Seats', '120'));
      const item = `/events/${id}`;
      await send(item, { custom_fields: { seats: '80' } }, 'PATCH');
      expect((await get(item)).custom_fields).to.deep.equal({
        last_bus: shown('Last bus', '19:00'),
        seats: shown('Seats', '80'),
      });
      await send(item, { custom_fields: { last_bus: shown('Last bus', '18:30') } }, 'PATCH');
      await send(item, { title: 'Another' }, 'PATCH');
      expect((await get(item)).custom_fields.last_bus.value).to.equal('18:30');
      for (const none of [[], '', null, {}]) {
        expect((await send(item, { title: 'Third', custom_fields: none }, 'PATCH')).status).to.equal(200);
        expect(Object.keys((await get(item)).custom_fields)).to.deep.equal(['last_bus', 'seats']);
      }
      await send(item, { custom_fields: { last_bus: '', seats: null } }, 'PATCH');
      expect((await get(item)).custom_fields).to.deep.equal([]);
    });

    it('are in venues too, alone and in an event; a venue that differs in one is another venue', async () => {
      const hall = (room: string) => ({ venue: 'Hall', custom_fields: { room } });
      const { body } = await send('/venues', hall('A'));
      expect(body.custom_fields).to.deep.equal({ room: shown('Room', 'A') });
      const inEvent = async (room: string) =>
        (await send('/events', { title: 'Fair', ...times, venue: hall(room) })).body.venue;
      expect((await inEvent('A')).id).to.equal(body.id);
      const other = await inEvent('B');
      expect(other.id).to.not.equal(body.id);
      expect(other.custom_fields.room.value).to.equal('B');
    });

    const REFUSED: [name: string, value: Json][] = [
      ['a name that the mapping lacks', { doors: '19:00' }],
      ['a read-only field', { source: 'me' }],
      ['a list as a text', { last_bus: ['19:00'] }],
      ['an object without a value', { last_bus: { label: 'x' } }],
      ['a boolean as a text', { last_bus: true }],
      ['a text as a boolean', { outdoors: 'maybe' }],
      ['a word where the site stores a number', { seats: 'many' }],
      ['a list', ['19:00']],
      ['a text', '19:00'],
    ];
    for (const [name, custom_fields] of REFUSED)
      it(`refuse ${name}, and create nothing`, async () => {
        const { status, body } = await send('/events', { title: 'Concert', ...times, custom_fields });
        expect({ status, params: Object.keys(body.data.params) }).to.deep.equal({
          status: 400,
          params: ['custom_fields'],
        });
        expect((await get('/events', 'admin')).total).to.equal(0);
      });

    it('have a limit of length', async () => {
      const { status, body } = await send('/events', {
        title: 'Concert',
        ...times,
        custom_fields: { last_bus: 'x'.repeat(100_000) },
      });
      expect({ status, params: Object.keys(body.data.params) }).to.deep.equal({
        status: 400,
        params: ['custom_fields'],
      });
    });

    it('are ignored by a kind whose mapping has none, as by the original', async () => {
      const { status, body } = await send('/organizers', { organizer: 'Band', custom_fields: { any: 'thing' } });
      expect(status).to.equal(201);
      expect(body).to.not.have.property('custom_fields');
    });
  });

  describe('as filters', () => {
    beforeEach(() => {
      const fields = (last_bus: string, outdoors = false) => ({ customFields: { last_bus, outdoors } });
      upsert(gateway.services.replica, [
        on(1, fields('19:00')),
        on(2, fields('19:00', true)),
        on(3, fields('20:00', true)),
        on(4),
        on(5, { ...fields('19:00'), protected: true }),
        on(7, { ...fields('x'.repeat(201)) }),
        event(8, { customFields: { last_bus: '19:00' } }),
        venue(21, { customFields: { room: 'A' } }),
        venue(22, { customFields: { room: 'B' } }),
        venue(23, { customFields: { room: 'A' }, protected: true }),
        organizer(26),
      ]);
      const draft = on(6, { ...fields('19:00'), status: 'draft' });
      addUnpublished(gateway.cms as FakeCms, gateway.mapping, draft);
    });

    const FOUND: [path: string, ids: number[]][] = [
      ['/events?custom_fields[last_bus]=19:00', [1, 2]],
      ['/events?custom_fields%5Blast_bus%5D=19%3A00&custom_fields[outdoors]=1', [2]],
      ['/events?custom_fields[outdoors]=TRUE', [2, 3]],
      ['/events?custom_fields[outdoors]=false', [1, 7]],
      ['/events?custom_fields[last_bus]=19', []],
      ['/events?custom_fields[last_bus]=19:00&include=2,3', [2]],
      ['/venues?custom_fields[room]=A', [21]],
    ];
    for (const [path, ids] of FOUND)
      it(path, async () => {
        const { total, rest_url, ...body } = await get(path);
        const records = Object.values(body).find(Array.isArray) as Json[];
        expect(records.map(({ id }) => id)).to.deep.equal(ids);
        expect(total).to.equal(ids.length);
        expect(rest_url).to.include('custom_fields%5B');
      });

    it('find drafts for those who may see them', async () => {
      const { events } = await get('/events?custom_fields[last_bus]=19:00', 'editor');
      expect(events.map(({ id }: Json) => id)).to.deep.equal([1, 2, 6]);
    });

    it('follow a change and a deletion', async () => {
      const { replica } = gateway.services;
      const found = async () => (await get('/events?custom_fields[last_bus]=21:00')).events.map(({ id }: Json) => id);
      upsert(replica, [on(1, { customFields: { last_bus: '21:00' } })]);
      expect(await found()).to.deep.equal([1]);
      remove(replica, 'event', [1]);
      expect(await found()).to.deep.equal([]);
    });

    for (const query of [
      'custom_fields[seats]=80',
      'custom_fields[doors]=x',
      'custom_fields=x',
      'custom_fields[last_bus]=',
      'custom_fields[last_bus][]=x',
      'custom_fields[outdoors]=maybe',
      `custom_fields[last_bus]=${'x'.repeat(201)}`,
    ])
      it(`refuse ${query.slice(0, 60)}`, async () => {
        const { status, body } = await gateway.request(`/events?${query}`);
        expect({ status, params: Object.keys(body.data.params) }).to.deep.equal({
          status: 400,
          params: ['custom_fields'],
        });
      });

    it('refuse a filter on a kind without custom fields', async () =>
      expectInvalid(await gateway.request('/organizers?custom_fields=1'), 'custom_fields'));
  });
});
