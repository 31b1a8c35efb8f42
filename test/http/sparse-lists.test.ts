// Lists with some properties of each record: `fields`.

import { expect } from 'chai';
import { seededGateway } from '../calendar/seeded-gateway.ts';
import type { TestGateway } from '../start-gateway.ts';
import { upsert } from '../store/changes.ts';
import { event, organizer, term, venue } from '../store/sample-records.ts';

const TIMES = { start: '2027-01-10 10:00:00', end: '2027-01-10 12:00:00' };

describe('fields of a list', () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    const linked = { venues: [21], organizers: [26], categories: [31], tags: [41] };
    gateway = await seededGateway([
      event(1, { ...TIMES, ...linked, title: 'One' }),
      event(2, { ...TIMES, title: 'Two' }),
      event(3, { ...TIMES, title: 'Draft', status: 'draft' }),
      venue(21, { city: 'Gullhaven' }),
      venue(22),
      organizer(26),
      term('category', 31),
      term('tag', 41),
    ]);
  });
  afterEach(() => gateway.stop());

  it('chooses the properties of each record, and keeps the envelope', async () => {
    const { body, headers } = await gateway.request('/events?fields=id,title,start_date');
    expect(body.events).to.deep.equal([
      { id: 1, title: 'One', start_date: TIMES.start },
      { id: 2, title: 'Two', start_date: TIMES.start },
    ]);
    expect(Object.keys(body)).to.deep.equal(['events', 'rest_url', 'total', 'total_pages']);
    expect(new URL(body.rest_url).searchParams.get('fields')).to.equal('id,title,start_date');
    expect(headers['x-tec-total']).to.equal('2');
  });

  for (const [plural, name] of [
    ['venues', 'venue'],
    ['organizers', 'organizer'],
    ['categories', 'slug'],
    ['tags', 'slug'],
  ] as const)
    it(`works for ${plural}`, async () => {
      const { body } = await gateway.request(`/${plural}?fields[]=${name}&fields[]=id`);
      for (const record of body[plural]) expect(Object.keys(record)).to.deep.equal([name, 'id']);
      expect(body[plural]).to.not.be.empty;
    });

  it('leaves out a property that a record lacks', async () => {
    const { body } = await gateway.request('/venues?fields=city');
    expect(body.venues).to.deep.include.members([{ city: 'Gullhaven' }, {}]);
  });

  it('applies to the lists of staff, and to the items that _fields leaves', async () => {
    const staff = await gateway.request('/events?fields=id,status', { as: 'editor' });
    expect(staff.body.events).to.deep.include({ id: 3, status: 'draft' });
    const { body } = await gateway.request('/events?fields=id,title&_fields=events.0.title,total');
    expect(body).to.deep.equal({ events: [{ title: 'One' }], total: 2 });
  });

  it('has an ETag of its own, which only changes with what it shows', async () => {
    const [whole, sparse] = [await gateway.request('/events'), await gateway.request('/events?fields=id')];
    expect(sparse.headers.etag).to.not.equal(whole.headers.etag);
    upsert(gateway.services.replica, [event(2, { ...TIMES, title: 'Renamed' })]);
    const again = await gateway.request('/events?fields=id', { headers: { 'if-none-match': sparse.headers.etag! } });
    expect(again.status).to.equal(304);
  });

  for (const [fields, refused] of [
    ['id,titel,no', 'titel, no'],
    ['id,json_ld', 'json_ld'],
    ['__proto__', '__proto__'],
    ['venue.city', 'venue.city'],
  ] as const)
    it(`refuses ${fields} with the names`, async () => {
      const { status, body } = await gateway.request(`/events?fields=${fields}`);
      expect([status, body.code]).to.deep.equal([400, 'rest_invalid_param']);
      expect(body.data.hints.fields).to.match(
        new RegExp(`^Not possible: ${refused}\\. Write one or several of: id, author, `),
      );
    });

  it('is limited in length, and may not be empty', async () => {
    const { body } = await gateway.request(`/events?fields=${'id,'.repeat(400)}`);
    expect(body.data.params).to.deep.equal({ fields: 'The value is too long: at most 1000 characters.' });
    expect((await gateway.request('/events?fields=')).status).to.equal(400);
  });

  it('is unknown to feeds and single reads', async () => {
    expect((await gateway.request('/events.ics?fields=nonsense')).status).to.equal(200);
    expect((await gateway.request('/events/1?fields=id')).body.title).to.equal('One');
  });
});
