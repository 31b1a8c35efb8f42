// The contract for sites that the gateway writes to: everything that the mapping can hold is made, read, changed, cleared and deleted.

import { expect } from 'chai';
import { pngOf } from '../../png.ts';
import { afterwards } from './afterwards.ts';
import { eventSample, organizerSample, shown, venueSample } from './samples.ts';
import type { Json, SiteUnderTest } from './site-under-test.ts';
import type { Tally } from './tally.ts';

const ALL = 'start_date=2029-01-01&end_date=2033-01-01&per_page=50';

/** Everything about one site. */
export async function proveWritten(site: SiteUnderTest, tally: Tally): Promise<void> {
  const { check } = tally;
  const { kinds } = site.mapping;
  const can = (key: string): boolean => (kinds.event.writable as ReadonlySet<string>).has(key);

  async function write(path: string, json: Json, status: number, method = 'POST'): Promise<Json> {
    const answer = await site.ask(path, { method, json });
    if (answer.status !== status) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }
  const titles = async (query: string): Promise<unknown[]> =>
    ((await site.ask(`events?${ALL}&${query}`)).body.events as Json[]).map(({ title }) => title);
  const make = (kind: 'venue' | 'organizer' | 'category' | 'tag', path: string, sample: Json): Promise<number> =>
    !kinds[kind] || kinds[kind]?.readOnly
      ? Promise.resolve(0)
      : check(`makes a ${kind}`, async () => {
          const made = await write(path, sample, 201);
          expect(shown(made, sample)).to.deep.equal(sample);
          const read = await site.ask(`${path}/${made.id}`);
          expect(shown(read.body, sample)).to.deep.equal(sample);
          return Number(made.id);
        }).then((id) => id ?? 0);

  const image = await site.upload(pngOf(60, 40));
  const category = await make('category', 'categories', { name: 'Music', description: 'With notes' });
  const tag = await make('tag', 'tags', { name: 'open air' });
  const venue = await make('venue', 'venues', venueSample(site.mapping));
  const other = await make('venue', 'venues', { venue: 'Old Mill' });
  const organizer = await make('organizer', 'organizers', organizerSample(site.mapping));
  const linked: Json = {
    ...(category ? { categories: [category] } : {}),
    ...(tag ? { tags: [tag] } : {}),
    ...(venue ? { venue } : {}),
    ...(organizer ? { organizer: [organizer] } : {}),
  };
  const sample: Json = { ...eventSample(site.mapping), ...linked, image: String(image) };
  let event: Json = {};
  const stands = async (wanted: Json): Promise<void> => {
    expect(shown((await site.ask(`events/${event.id}`)).body, wanted), 'read').to.deep.equal(wanted);
  };

  await check('makes an event with everything', async () => {
    event = await write('events', sample, 201);
    expect(shown(event, sample), 'answer').to.deep.equal(sample);
    await stands(sample);
    if (can('timezone')) expect(event.utc_start_date).to.equal('2031-05-01 17:30:00');
  });
  await check('reads it by its slug', async () => {
    expect((await site.ask('events/by-slug/harbour-concert')).body.id).to.equal(event.id);
  });
  await check('makes a second one, with a venue and an organizer described inside', async () => {
    const inside: Json = {
      ...(venue
        ? { venue: { venue: 'New hall', ...(kinds.venue?.writable.has('address') ? { address: '2 Lane' } : {}) } }
        : {}),
      ...(organizer ? { organizer: [{ organizer: 'New troupe' }, organizer] } : {}),
    };
    const { slug, image: no, ...rest } = sample;
    const second = await write(
      'events',
      { ...rest, title: 'Second', start_date: '2031-06-10 10:00', end_date: '2031-06-10 11:00', ...inside },
      201,
    );
    if (venue) expect((second.venue as Json).venue).to.equal('New hall');
    if (organizer)
      expect((second.organizer as Json[]).map((one) => one.organizer)).to.deep.equal(['New troupe', 'The Players']);
    if (venue) expect(await titles(`venue=${(second.venue as Json).id}`)).to.deep.equal(['Second']);
  });
  if (can('allDay'))
    await check('makes one of two whole days', async () => {
      const days = { start_date: '2031-07-10', end_date: '2031-07-11', all_day: true, timezone: 'Europe/Paris' };
      const { body } = await site.ask(`events/${(await write('events', { title: 'Fair', ...days }, 201)).id}`);
      expect([body.all_day, body.start_date, body.end_date]).to.deep.equal([
        true,
        '2031-07-10 00:00:00',
        '2031-07-11 23:59:59',
      ]);
    });
  await check('filters by date', async () => {
    const between = async (start: string, end: string) =>
      ((await site.ask(`events?start_date=${start}&end_date=${end}`)).body.events as Json[]).map(({ title }) => title);
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
    ...{ title: 'Harbour concert, later', start_date: '2031-05-02 20:00:00', end_date: '2031-05-02 23:00:00' },
    ...(can('cost') ? { cost: 'Free' } : {}),
    ...(can('featured') ? { featured: false } : {}),
    ...(other ? { venue: other } : {}),
  };
  const changed = { ...sample, ...changes };
  await check('changes some of it and leaves the rest', async () => {
    const answer = await write(`events/${event.id}`, changes, 200);
    expect(shown(answer, changed), 'answer').to.deep.equal(changed);
    await stands(changed);
    if (other) expect(await titles(`venue=${other}`)).to.deep.equal(['Harbour concert, later']);
    if (venue) expect(await titles(`venue=${venue}`)).to.deep.equal([]);
  });
  await check('changes the start alone', async () => {
    const wanted = { ...changed, start_date: '2031-05-02 21:00:00' };
    await write(`events/${event.id}`, { start_date: wanted.start_date }, 200, 'PUT');
    await stands(wanted);
  });
  if (can('timezone'))
    await check('changes the zone alone', async () => {
      const answer = await write(`events/${event.id}`, { timezone: 'America/New_York' }, 200);
      expect([answer.start_date, answer.utc_start_date]).to.deep.equal(['2031-05-02 21:00:00', '2031-05-03 01:00:00']);
    });
  if (venue)
    await check('changes and clears fields of the venue', async () => {
      const { writable } = kinds.venue!;
      const changes: Json = {
        venue: 'Quay Hall II',
        ...(writable.has('city') ? { city: 'Cork' } : {}),
        ...(writable.has('phone') ? { phone: '' } : {}),
        ...(writable.has('website') ? { website: '' } : {}),
      };
      const wanted = { ...venueSample(site.mapping), ...changes };
      expect(shown(await write(`venues/${venue}`, changes, 200), wanted), 'answer').to.deep.equal(wanted);
      expect(shown((await site.ask(`venues/${venue}`)).body, wanted), 'read').to.deep.equal(wanted);
    });
  const clearing: readonly [string, string, unknown][] = [
    ['cost', 'cost', ''],
    ['website', 'website', ''],
    ['venue', 'venues', []],
    ['organizer', 'organizers', []],
    ['categories', 'categories', []],
    ['tags', 'tags', []],
  ];
  const cleared = clearing.filter(([, key]) => can(key));
  // Where the CMS cannot tell "none" from "never set", an event without a website shows its own address.
  const none = (name: string, empty: unknown) =>
    name === 'website' && !KEEPS_NO_WEBSITE.has(site.mapping.name) ? event.url : empty;
  for (const [name, , empty] of cleared)
    await check(`clears ${name}`, async () => {
      expect((await write(`events/${event.id}`, { [name]: empty }, 200))[name], 'answer').to.deep.equal(
        none(name, empty),
      );
    });
  await check('what was cleared stays so', async () => {
    await site.afterRound();
    const { body } = await site.ask(`events/${event.id}`);
    for (const [name, , empty] of cleared) expect(body[name], name).to.deep.equal(none(name, empty));
    if (other) expect(await titles(`venue=${other}`)).to.deep.equal([]);
  });
  await afterwards(site, tally);
  await check('deletes', async () => {
    expect((await write(`events/${event.id}`, {}, 200, 'DELETE')).status).to.equal('trash');
    expect((await site.ask(`events/${event.id}`)).status).to.be.oneOf([403, 404, 410]);
    expect(await titles('')).to.not.include('Harbour concert, later');
    const { body } = await site.native(`wp/v2/${kinds.event.base}/${event.id}?context=edit`);
    expect(body.status).to.equal('trash');
    await site.afterRound();
    expect(await titles('')).to.not.include('Harbour concert, later');
  });
  if (organizer)
    await check('takes a deleted organizer out of its events', async () => {
      const gone = await write(`organizers/${organizer}`, {}, 200, 'DELETE');
      expect([gone.id, gone.organizer, gone.status]).to.deep.equal([organizer, 'The Players', 'trash']);
      const { organizers } = (await site.ask('organizers')).body as { organizers: Json[] };
      expect(organizers.map((one) => one.organizer)).to.deep.equal(['New troupe']);
      await site.afterRound();
      const [second = {}] = ((await site.ask(`events?${ALL}&search=Second`)).body.events ?? []) as Json[];
      expect((second.organizer as Json[]).map((one) => one.organizer)).to.deep.equal(['New troupe']);
    });
}

/** Mappings that say how "no website" is stored. */
const KEEPS_NO_WEBSITE = new Set(['wordpress-meta']);
