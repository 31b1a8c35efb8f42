// The contract for writable sites: create, read, update, clear and delete everything that the mapping can write.

import { expect } from 'chai';
import { pngOf } from '../../png.ts';
import type { Results } from './results.ts';
import { testSameAsFreshReplica } from './same-as-fresh-replica.ts';
import { eventSample, organizerSample, reducedTo, venueSample } from './samples.ts';
import type { Json, TestSite } from './test-site.ts';

const ALL = 'start_date=2029-01-01&end_date=2033-01-01&per_page=50';

export async function testWritableSite(site: TestSite, results: Results): Promise<void> {
  const { check } = results;
  const { kinds } = site.mapping;
  const canWrite = (key: string): boolean => (kinds.event.writable as ReadonlySet<string>).has(key);

  async function write(path: string, json: Json, status: number, method = 'POST'): Promise<Json> {
    const response = await site.request(path, { method, json });
    if (response.status !== status)
      throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(response.body)}`);
    return response.body;
  }
  const titles = async (query: string): Promise<unknown[]> =>
    ((await site.request(`events?${ALL}&${query}`)).body.events as Json[]).map(({ title }) => title);
  const create = (kind: 'venue' | 'organizer' | 'category' | 'tag', path: string, sample: Json): Promise<number> =>
    !kinds[kind] || kinds[kind]?.readOnly
      ? Promise.resolve(0)
      : check(`creates a ${kind}`, async () => {
          const created = await write(path, sample, 201);
          expect(reducedTo(created, sample)).to.deep.equal(sample);
          const read = await site.request(`${path}/${created.id}`);
          expect(reducedTo(read.body, sample)).to.deep.equal(sample);
          return Number(created.id);
        }).then((id) => id ?? 0);

  const image = await site.upload(pngOf(60, 40));
  const category = await create('category', 'categories', { name: 'Music', description: 'With notes' });
  const tag = await create('tag', 'tags', { name: 'open air' });
  const venue = await create('venue', 'venues', venueSample(site.mapping));
  const other = await create('venue', 'venues', { venue: 'Old Mill' });
  const organizer = await create('organizer', 'organizers', organizerSample(site.mapping));
  const linked: Json = {
    ...(category ? { categories: [category] } : {}),
    ...(tag ? { tags: [tag] } : {}),
    ...(venue ? { venue } : {}),
    ...(organizer ? { organizer: [organizer] } : {}),
  };
  const sample: Json = { ...eventSample(site.mapping), ...linked, image: String(image) };
  let event: Json = {};
  const expectRead = async (expected: Json): Promise<void> => {
    expect(reducedTo((await site.request(`events/${event.id}`)).body, expected), 'read').to.deep.equal(expected);
  };

  await check('creates an event with every field', async () => {
    event = await write('events', sample, 201);
    expect(reducedTo(event, sample), 'response').to.deep.equal(sample);
    await expectRead(sample);
    if (canWrite('timezone')) expect(event.utc_start_date).to.equal('2031-05-01 17:30:00');
  });
  await check('reads it by its slug', async () => {
    expect((await site.request('events/by-slug/harbour-concert')).body.id).to.equal(event.id);
  });
  await check('creates an event with an embedded new venue and organizer', async () => {
    const embedded: Json = {
      ...(venue
        ? { venue: { venue: 'New hall', ...(kinds.venue?.writable.has('address') ? { address: '2 Lane' } : {}) } }
        : {}),
      ...(organizer ? { organizer: [{ organizer: 'New troupe' }, organizer] } : {}),
    };
    const { slug, image: _image, ...rest } = sample;
    const second = await write(
      'events',
      { ...rest, title: 'Second', start_date: '2031-06-10 10:00', end_date: '2031-06-10 11:00', ...embedded },
      201,
    );
    if (venue) expect((second.venue as Json).venue).to.equal('New hall');
    if (organizer)
      expect((second.organizer as Json[]).map((each) => each.organizer)).to.deep.equal(['New troupe', 'The Players']);
    if (venue) expect(await titles(`venue=${(second.venue as Json).id}`)).to.deep.equal(['Second']);
  });
  if (canWrite('allDay'))
    await check('creates an event of two whole days', async () => {
      const days = { start_date: '2031-07-10', end_date: '2031-07-11', all_day: true, timezone: 'Europe/Paris' };
      const { body } = await site.request(`events/${(await write('events', { title: 'Fair', ...days }, 201)).id}`);
      expect([body.all_day, body.start_date, body.end_date]).to.deep.equal([
        true,
        '2031-07-10 00:00:00',
        '2031-07-11 23:59:59',
      ]);
    });
  await check('filters by date', async () => {
    const between = async (start: string, end: string) =>
      ((await site.request(`events?start_date=${start}&end_date=${end}`)).body.events as Json[]).map(
        ({ title }) => title,
      );
    expect(await between('2031-05-01', '2031-05-01')).to.deep.equal(['Harbour concert']);
    expect(await between('2031-06-01', '2031-06-30')).to.deep.equal(['Second']);
    expect(await between('2031-09-01', '2031-09-30')).to.deep.equal([]);
  });
  await check('filters by venue, organizer, category and tag', async () => {
    if (venue) expect(await titles(`venue=${venue}`)).to.deep.equal(['Harbour concert']);
    if (other) expect(await titles(`venue=${other}`)).to.deep.equal([]);
    if (organizer) expect(await titles(`organizer=${organizer}`)).to.deep.equal(['Harbour concert', 'Second']);
    if (category) expect(await titles(`categories=${category}`)).to.deep.equal(['Harbour concert', 'Second']);
    if (tag) expect(await titles(`tags=${tag}`)).to.deep.equal(['Harbour concert', 'Second']);
  });

  const changes: Json = {
    title: 'Harbour concert, later',
    start_date: '2031-05-02 20:00:00',
    end_date: '2031-05-02 23:00:00',
    ...(canWrite('cost') ? { cost: 'Free' } : {}),
    ...(canWrite('featured') ? { featured: false } : {}),
    ...(other ? { venue: other } : {}),
  };
  const changed = { ...sample, ...changes };
  await check('updates some fields and leaves the others', async () => {
    const response = await write(`events/${event.id}`, changes, 200);
    expect(reducedTo(response, changed), 'response').to.deep.equal(changed);
    await expectRead(changed);
    if (other) expect(await titles(`venue=${other}`)).to.deep.equal(['Harbour concert, later']);
    if (venue) expect(await titles(`venue=${venue}`)).to.deep.equal([]);
  });
  await check('updates only the start', async () => {
    const expected = { ...changed, start_date: '2031-05-02 21:00:00' };
    await write(`events/${event.id}`, { start_date: expected.start_date }, 200, 'PUT');
    await expectRead(expected);
  });
  if (canWrite('timezone'))
    await check('updates only the time zone', async () => {
      const response = await write(`events/${event.id}`, { timezone: 'America/New_York' }, 200);
      expect([response.start_date, response.utc_start_date]).to.deep.equal([
        '2031-05-02 21:00:00',
        '2031-05-03 01:00:00',
      ]);
    });
  if (venue)
    await check('updates and clears fields of the venue', async () => {
      const { writable } = kinds.venue!;
      const changes: Json = {
        venue: 'Quay Hall II',
        ...(writable.has('city') ? { city: 'Cork' } : {}),
        ...(writable.has('phone') ? { phone: '' } : {}),
        ...(writable.has('website') ? { website: '' } : {}),
      };
      const expected = { ...venueSample(site.mapping), ...changes };
      expect(reducedTo(await write(`venues/${venue}`, changes, 200), expected), 'response').to.deep.equal(expected);
      expect(reducedTo((await site.request(`venues/${venue}`)).body, expected), 'read').to.deep.equal(expected);
    });
  const clearing: readonly [string, string, unknown][] = [
    ['cost', 'cost', ''],
    ['website', 'website', ''],
    ['venue', 'venues', []],
    ['organizer', 'organizers', []],
    ['categories', 'categories', []],
    ['tags', 'tags', []],
  ];
  const cleared = clearing.filter(([, key]) => canWrite(key));
  // If the CMS cannot distinguish "none" from "never set", an event without a website shows its own address.
  const emptyOf = (name: string, empty: unknown) =>
    name === 'website' && !STORES_NO_WEBSITE.has(site.mapping.name) ? event.url : empty;
  for (const [name, , empty] of cleared)
    await check(`clears ${name}`, async () => {
      expect((await write(`events/${event.id}`, { [name]: empty }, 200))[name], 'response').to.deep.equal(
        emptyOf(name, empty),
      );
    });
  await check('keeps cleared fields empty', async () => {
    await site.nextPoll();
    const { body } = await site.request(`events/${event.id}`);
    for (const [name, , empty] of cleared) expect(body[name], name).to.deep.equal(emptyOf(name, empty));
    if (other) expect(await titles(`venue=${other}`)).to.deep.equal([]);
  });
  await testSameAsFreshReplica(site, results);
  await check('deletes', async () => {
    expect((await write(`events/${event.id}`, {}, 200, 'DELETE')).status).to.equal('trash');
    expect((await site.request(`events/${event.id}`)).status).to.be.oneOf([403, 404, 410]);
    expect(await titles('')).to.not.include('Harbour concert, later');
    const { body } = await site.wordpress(`wp/v2/${kinds.event.collection}/${event.id}?context=edit`);
    expect(body.status).to.equal('trash');
    await site.nextPoll();
    expect(await titles('')).to.not.include('Harbour concert, later');
  });
  if (organizer)
    await check('removes a deleted organizer from its events', async () => {
      const deleted = await write(`organizers/${organizer}`, {}, 200, 'DELETE');
      expect([deleted.id, deleted.organizer, deleted.status]).to.deep.equal([organizer, 'The Players', 'trash']);
      const { organizers } = (await site.request('organizers')).body as { organizers: Json[] };
      expect(organizers.map((each) => each.organizer)).to.deep.equal(['New troupe']);
      await site.nextPoll();
      const [second = {}] = ((await site.request(`events?${ALL}&search=Second`)).body.events ?? []) as Json[];
      expect((second.organizer as Json[]).map((each) => each.organizer)).to.deep.equal(['New troupe']);
    });
}

/** Mappings with a value for "no website". */
const STORES_NO_WEBSITE = new Set(['wordpress-meta', 'tribe-events-native']);
