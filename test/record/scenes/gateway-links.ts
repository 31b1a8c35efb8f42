// Venues, organizers, terms and images, on their own routes and inside events (interface-behaviour 1.2-1.4, 1.6, 5.5-5.8, 6).

import { expect } from 'chai';
import type { Json } from '../../gateway-under-test.ts';
import { pngOf } from '../../png.ts';
import {
  BARE_ORGANIZER_KEYS,
  BARE_VENUE_KEYS,
  expectInvalid,
  expectMistyped,
  expectNamed,
  expectRefused,
  lasting,
} from '../expectations.ts';
import { gatewayScene, type Play } from '../gateway-scene.ts';

const event = { title: 'Linked', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

export const scene = gatewayScene('gateway-links', { service: true }, (rule) => {
  const as = 'admin';
  const ids = (list: Json[]) => list.map(({ id }) => id);
  let hall: Json;
  let choir: Json;
  let band: Json;

  rule('a venue with only a name has these keys, and maps are on', async ({ make, upstream }) => {
    const { url } = await upstream.site();
    hall = await make('/venues', { venue: 'Town Hall' });
    expect(Object.keys(hall)).to.have.members(BARE_VENUE_KEYS);
    expect(hall).to.include({
      venue: 'Town Hall',
      slug: 'town-hall',
      url: `${url}/venue/town-hall/`,
      status: 'publish',
    });
    expect(hall).to.include({ show_map: true, show_map_link: true });
  });

  rule('an organizer with only a name has these keys', async ({ make, upstream }) => {
    const { url } = await upstream.site();
    choir = await make('/organizers', { organizer: 'Choir "One"' });
    expect(Object.keys(choir)).to.have.members(BARE_ORGANIZER_KEYS);
    expect(choir).to.include({ organizer: 'Choir &#8220;One&#8221;', url: `${url}/organizer/choir-one/` });
    band = await make('/organizers', {
      organizer: 'Band',
      email: ' any  text ',
      phone: '<b>555</b>',
      website: 'http://b.example/?x&y',
    });
    expect(band).to.include({ email: 'any text', phone: '555', website: 'http://b.example/?x&y' });
  });

  rule('a draft venue has a slug from the start', async ({ make }) => {
    const made = await make('/venues', { venue: 'Drafty Hall', status: 'draft' });
    expect(made).to.include({ slug: 'drafty-hall', status: 'draft' });
    expect(made.url).to.match(/\/\?post_type=\w+&p=\d+$/);
  });

  const STATES: [Json, string | undefined][] = [
    [{ country: 'US', state: 'NY', province: 'P' }, 'NY'],
    [{ country: 'United States', province: 'P' }, 'P'],
    [{ state: 'NY' }, 'NY'],
    [{ country: 'usa', state: 'NY', province: 'P' }, 'P'],
    [{ country: 'France', state: 'NY' }, undefined],
    [{ country: 'France', state: 'NY', stateprovince: 'sent' }, 'sent'],
  ];
  for (const [index, [sent, wanted]] of STATES.entries()) {
    rule(`stateprovince of ${JSON.stringify(sent)} is ${wanted}`, async ({ make }) => {
      const made = await make('/venues', { venue: `State ${index}`, ...sent });
      expect(made.stateprovince).to.equal(wanted);
    });
  }

  rule('plain texts of a venue are cleaned, not rendered; empty ones are left out', async ({ make }) => {
    const made = await make('/venues', {
      ...{ venue: 'Clean', description: 'One\n\nTwo "q"', address: ' 1  <b>A</b> & "B" ', city: '', zip: '0' },
      ...{ phone: '<script>x</script>5', show_map: 'no', show_map_link: 'YES' },
    });
    expect(made).to.include({ address: '1 A & "B"', phone: '5', show_map: false, show_map_link: true });
    expect(made.description).to.equal('<p>One</p>\n<p>Two &#8220;q&#8221;</p>');
    expect(made).to.not.have.any.keys('city', 'zip', 'website', 'image');
  });

  rule(
    'an update of a venue changes what was sent; an empty text clears, an empty description does not',
    async ({ ask, make }) => {
      const made = await make('/venues', {
        venue: 'Kept',
        description: 'D',
        phone: '1',
        city: 'C',
        show_map: '0',
        status: 'draft',
      });
      const { status, body } = await ask(`/venues/${made.id}`, {
        as,
        method: 'PUT',
        json: { phone: '', description: '' },
      });
      expect(status).to.equal(200);
      expect(body).to.not.have.property('phone');
      expect(lasting(body)).to.deep.equal(lasting(made, 'phone'));
    },
  );

  const REFUSED: [string, string, Json, Record<string, string> | undefined][] = [
    ['venue', 'venue', '', undefined],
    ['venue', 'city', 5, undefined],
    ['venue', 'city', null, { city: 'string' }],
    ['venue', 'show_map', true, { show_map: 'string' }],
    ['venue', 'show_map', null, { show_map: 'string' }],
    ['venue', 'website', 'example.com', undefined],
    ['venue', 'website', false, undefined],
    ['venue', 'website', null, { website: 'string' }],
    ['organizer', 'organizer', 7, undefined],
    ['organizer', 'email', 7, undefined],
    ['organizer', 'phone', null, { phone: 'string' }],
    ['organizer', 'status', 'any', undefined],
    ['organizer', 'image', 'nothing', undefined],
  ];
  for (const [kind, name, value, types] of REFUSED) {
    rule(`${kind}: ${name} ${JSON.stringify(value)} is refused`, async ({ ask }) => {
      const answer = await ask(`/${kind}s`, { as, json: { [kind]: 'x', [name]: value } });
      if (types) expectMistyped(answer, types);
      else expectInvalid(answer, name);
    });
  }

  rule('a name of blanks could not be created', async ({ ask }) => {
    for (const kind of ['venue', 'organizer'])
      expectRefused(await ask(`/${kind}s`, { as, json: { [kind]: '  ' } }), {
        ...{ status: 400, code: `could-not-create-${kind}` },
        message: `The ${kind} could not be created from the provided data`,
      });
  });

  rule(
    'the same name with nothing that differs is the existing record, else a new one; nothing is overwritten',
    async ({ ask, make }) => {
      const first = await make('/venues', { venue: 'Twin', phone: '1', description: 'D' });
      const same = await ask('/venues', { as, json: { venue: 'tWIN', phone: '1' } });
      expect([same.status, same.body.id]).to.deep.equal([201, first.id]);
      const other = await make('/venues', { venue: 'Twin', phone: '2' });
      expect(other.id).to.not.equal(first.id);
      expect(other.slug).to.equal('twin-2');
      expect((await ask(`/venues/${first.id}`)).body).to.include({ phone: '1', venue: 'Twin' });
    },
  );

  rule('venue takes an id, lists, CSV, data and mixes alike', async ({ make }) => {
    const linked = async (venue: Json) => (await make('/events', { ...event, venue })).venue;
    for (const one of [
      hall.id,
      String(hall.id),
      [hall.id],
      { id: hall.id },
      [{ id: hall.id }],
      [hall.id, hall.id],
      `${hall.id}, ${hall.id}`,
    ])
      expect((await linked(one)).id, JSON.stringify(one)).to.equal(hall.id);
    const made = await linked({ venue: 'Made inside', city: 'X', website: null });
    expect(made).to.include({ venue: 'Made inside', city: 'X', status: 'publish' });
    expect(ids(await linked([hall.id, { venue: 'Made inside', city: 'X' }]))).to.deep.equal([hall.id, made.id]);
    for (const none of [0, [], null, '', [0]]) expect(await linked(none), JSON.stringify(none)).to.deep.equal([]);
  });

  rule('organizer takes an id, lists, CSV, data and mixes alike, in order, each once', async ({ make }) => {
    const linked = async (organizer: Json) => (await make('/events', { ...event, organizer })).organizer;
    expect(ids(await linked(choir.id))).to.deep.equal([choir.id]);
    expect(ids(await linked([band.id, choir.id, band.id]))).to.deep.equal([band.id, choir.id]);
    expect(ids(await linked(`${band.id},${choir.id}`))).to.deep.equal([band.id, choir.id]);
    const [made] = await linked({ organizer: 'Made inside' });
    expect(made.organizer).to.equal('Made inside');
    expect(ids(await linked([{ id: choir.id }, { organizer: 'Made inside' }, band.id]))).to.deep.equal([
      choir.id,
      made.id,
      band.id,
    ]);
    for (const none of [0, [], null, '', [0]]) expect(await linked(none), JSON.stringify(none)).to.deep.equal([]);
  });

  rule('forms name linked records in brackets', async ({ ask }) => {
    const base = new URLSearchParams(event).toString();
    const { status, body } = await ask('/events', {
      as,
      form: `${base}&venue[]=${hall.id}&organizer[0][organizer]=By+form&organizer[1]=${band.id}&categories[]=By+form&tags=a,b`,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body.venue.id).to.equal(hall.id);
    expect(body.organizer.map((one: Json) => one.organizer)).to.deep.equal(['By form', 'Band']);
    expect(body.categories.map((one: Json) => one.name)).to.deep.equal(['By form']);
    expect(body.tags.map((one: Json) => one.slug)).to.deep.equal(['a', 'b']);
    expect((await ask('/events', { as, form: `${base}&organizer[]=${choir.id}` })).body.organizer[0].id).to.equal(
      choir.id,
    );
  });

  rule('what is no linked record is refused, and nothing is changed', async ({ ask, make }) => {
    const made = await make('/events', { ...event, venue: hall.id, organizer: [choir.id, band.id] });
    for (const venue of [
      999_999,
      choir.id,
      'Town Hall',
      { city: 'C' },
      { venue: 'x', website: 'bad' },
      [hall.id, 999_999],
    ])
      expectInvalid(await ask(`/events/${made.id}`, { as, json: { title: 'Changed', venue } }), 'venue');
    for (const organizer of [999_999, hall.id, 'Band', { phone: '1' }, [{ organizer: 5 }]])
      expectInvalid(await ask(`/events/${made.id}`, { as, json: { title: 'Changed', organizer } }), 'organizer');
    expect((await ask(`/events/${made.id}`)).body).to.deep.include({ title: 'Linked' });
  });

  for (const value of [[], '', null, 0]) {
    rule(`an update removes venue and organizers by ${JSON.stringify(value)}`, async ({ make }) => {
      const made = await make('/events', { ...event, venue: hall.id, organizer: [choir.id, band.id] });
      const changed = await make(`/events/${made.id}`, { venue: value });
      expect(changed.venue).to.deep.equal([]);
      expect(ids(changed.organizer)).to.deep.equal([choir.id, band.id]);
      expect((await make(`/events/${made.id}`, { organizer: value })).organizer).to.deep.equal([]);
    });
  }

  rule('a trashed organizer leaves its events, and that one only; restored it comes back', async ({ ask, make }) => {
    const gone = await make('/organizers', { organizer: 'Leaves' });
    const made = await make('/events', { ...event, organizer: [gone.id, band.id] });
    const { status, body } = await ask(`/organizers/${gone.id}`, { as, method: 'DELETE' });
    expect(status).to.equal(200);
    expect(body).to.include({ status: 'trash', slug: 'leaves__trashed' });
    expect(body).to.not.have.property('json_ld');
    expect(ids((await ask(`/events/${made.id}`)).body.organizer)).to.deep.equal([band.id]);
    const trashed = { status: 410, code: 'organizer-is-in-trash', message: 'The organizer is already trashed' };
    expectRefused(await ask(`/organizers/${gone.id}`, { as, method: 'DELETE' }), trashed);
    expect((await ask(`/organizers/${gone.id}`, { as })).body.status).to.equal('trash');
    await make(`/organizers/${gone.id}`, { status: 'publish' });
    expect(ids((await ask(`/events/${made.id}`)).body.organizer)).to.deep.equal([gone.id, band.id]);
  });

  rule('a second deletion of a venue is 410, by its new slug too', async ({ ask, make }) => {
    const made = await make('/venues', { venue: 'Pulled down' });
    expect((await ask('/venues/by-slug/pulled-down', { as, method: 'DELETE' })).body).to.include({
      id: made.id,
      status: 'trash',
    });
    const trashed = { status: 410, code: 'venue-is-in-trash', message: 'The venue is already trashed' };
    expectRefused(await ask(`/venues/${made.id}`, { as, method: 'DELETE' }), trashed);
    expectRefused(await ask('/venues/by-slug/pulled-down__trashed', { as, method: 'DELETE' }), trashed);
    expectInvalid(await ask('/venues/by-slug/pulled-down', { as, method: 'DELETE' }), 'slug');
  });

  let music: Json;
  rule('a category as its own resource', async ({ ask, make, gateway, upstream }) => {
    const { url } = await upstream.site();
    const base = 'https://calendar.example/calendar/events/v1';
    const { status, body, headers } = await ask('/categories', {
      as,
      json: { name: ' Music  & "q" ', description: 'd <b>x</b> & y' },
    });
    music = body;
    expect(status).to.equal(201);
    expect(headers.location).to.equal(`${base}/categories/${music.id}`);
    expect(music).to.deep.include({
      ...{ count: 0, name: 'Music &amp; "q"', slug: 'music-q', taxonomy: 'calendar_events_cat', parent: 0, meta: [] },
      ...{ description: 'd <b>x</b> &amp; y', url: `${url}/events/category/music-q/` },
      urls: { self: `${base}/categories/${music.id}`, collection: `${base}/categories` },
    });
    expect(music).to.have.property('_links');
    const child = await make('/categories', { name: 'Jazz', parent: music.id });
    expect(child.url).to.equal(`${url}/events/category/music-q/jazz/`);
    expect(child.urls.up).to.equal(`${base}/categories/${music.id}`);
    expect(gateway.backing.replica.get('category', child.id)?.parent).to.equal(music.id);
    expect((await make(`/categories/${child.id}`, { parent: 0 })).parent).to.equal(0);
    expect((await make(`/categories/${child.id}`, { parent: music.id })).parent).to.equal(music.id);
    expect((await make(`/categories/${child.id}`, { parent: child.id })).parent).to.equal(music.id);
    const { body: gone } = await ask(`/categories/${music.id}`, { as, method: 'DELETE' });
    expect(gone).to.not.have.property('_links');
    expect(gone.id).to.equal(music.id);
    expect((await ask(`/categories/${child.id}`)).body.parent).to.equal(0);
    expectInvalid(await ask(`/categories/${music.id}`, { as, method: 'DELETE' }), 'id');
  });

  rule('a tag has no parent, and may be given none', async ({ ask, make, upstream }) => {
    const { url } = await upstream.site();
    const tag = await make('/tags', { name: 'Free' });
    expect(tag).to.include({ taxonomy: 'post_tag', url: `${url}/tag/free/` });
    expect(tag).to.not.have.property('parent');
    expectRefused(await ask('/tags', { as, json: { name: 'Child', parent: tag.id } }), {
      ...{ status: 400, code: 'rest_taxonomy_not_hierarchical' },
      message: 'Cannot set parent term, taxonomy is not hierarchical.',
    });
  });

  for (const [path, where] of [
    ['/categories', 'with this parent'],
    ['/tags', 'in this taxonomy'],
  ] as const) {
    rule(`${path}: a name that is taken is refused with the id of the term`, async ({ ask, make }) => {
      const { id } = await make(path, { name: 'Taken' });
      const { status, body } = await ask(path, { as, json: { name: 'tAKEN' } });
      expect({ status, body }).to.deep.equal({
        status: 400,
        body: {
          ...{ code: 'term_exists', message: `A term with the name provided already exists ${where}.` },
          data: { status: 400, term_id: id },
          additional_data: [id, id],
        },
      });
    });

    rule(`${path}: a caller's mistakes are 400, never 500`, async ({ ask, make }) => {
      const one = await make(path, { name: 'One of two', slug: `one-${path.slice(1)}` });
      const two = await make(path, { name: 'Two of two', slug: one.slug });
      expect(two.slug).to.equal(`one-${path.slice(1)}-2`);
      expectNamed(await ask(path, { as, json: { name: '   ' } }), 'name');
      expectNamed(await ask(path, { as, json: { name: 'x'.repeat(201) } }), 'name');
      expectNamed(await ask(`${path}/${two.id}`, { as, json: { slug: one.slug } }), 'slug');
      expectInvalid(await ask(path, { as, json: { name: 'x', slug: '' } }), 'slug');
      expectInvalid(await ask(path, { as, json: { name: 'x', description: 5 } }), 'description');
      expectMistyped(await ask(path, { as, json: { name: 'x', description: null } }), { description: 'string' });
      expect((await make(`${path}/${two.id}`, { name: 'One of two' })).name).to.equal('One of two');
    });
  }

  rule('parents of a category: an existing id, in every kind of refusal', async ({ ask, make }) => {
    const { id } = await make('/categories', { name: 'Parent' });
    for (const parent of [0, 999_999, 'no such'])
      expectInvalid(await ask('/categories', { as, json: { name: 'x', parent } }), 'parent');
    expectMistyped(await ask('/categories', { as, json: { name: 'x', parent: 'parent' } }), { parent: 'integer' });
    expectMistyped(await ask('/categories', { as, json: { name: 'x', parent: null } }), { parent: 'integer' });
    expect((await make('/categories', { name: 'Child by text', parent: String(id) })).parent).to.equal(id);
    const twin = await make('/categories', { name: 'Parent', parent: id });
    expect(twin.slug).to.equal('parent-parent');
  });

  rule('terms of an event by id, slug and name; new names are created, unknown ids dropped', async ({ make }) => {
    const known = await make('/tags', { name: 'Known Tag' });
    const made = await make('/events', {
      ...event,
      tags: [known.id, 'known-tag', 'Brand new', 0, 999_999, -known.id],
      categories: 'Parent, Fresh one',
    });
    expect(made.tags.map((one: Json) => one.name)).to.deep.equal(['Brand new', 'Known Tag']);
    expect(made.categories.map((one: Json) => one.name)).to.have.members(['Parent', 'Fresh one']);
    for (const text of ['known-tag', 'Known Tag', 'KNOWN TAG', String(known.id)])
      expect(ids((await make('/events', { ...event, tags: text })).tags), text).to.deep.equal([known.id]);
    const [entry] = made.tags;
    expect(Object.keys(entry)).to.have.members(
      'name slug term_group term_taxonomy_id taxonomy description parent count filter id urls'.split(' '),
    );
    expect(entry).to.include({ parent: 0, term_group: 0, filter: 'raw', taxonomy: 'post_tag' });
    for (const none of [[], '', [999_999]]) {
      await make(`/events/${made.id}`, { tags: [known.id] });
      expect((await make(`/events/${made.id}`, { tags: none })).tags, JSON.stringify(none)).to.deep.equal([]);
    }
    const kept = await make(`/events/${made.id}`, { categories: null });
    expect(kept.categories).to.have.length(2);
  });

  rule('a number among terms is an id without its fraction, and true is the name 1', async ({ make }) => {
    const { id } = await make('/categories', { name: 'Numbered' });
    const made = await make('/events', { ...event, categories: [id + 0.5, true], tags: ['0.5', String(-id), '1e9'] });
    expect(made.categories.map((one: Json) => one.name)).to.deep.equal(['1', 'Numbered']);
    expect(made.tags).to.deep.equal([]);
  });

  rule('objects among terms are refused by name', async ({ ask }) =>
    expectNamed(await ask('/events', { as, json: { ...event, tags: [{ name: 'x' }] } }), 'tags'),
  );

  rule('a term counts published events only', async ({ ask, make }) => {
    const { id } = await make('/categories', { name: 'Counted' });
    await make('/events', { ...event, categories: [id] });
    await make('/events', { ...event, categories: [id], status: 'draft' });
    expect((await ask(`/categories/${id}`)).body.count).to.equal(1);
  });

  const image = async ({ upstream, as: users }: Play, width: number, height: number, filename: string) =>
    upstream.upload({ bytes: pngOf(width, height), mimeType: 'image/png', filename }, { credentials: users.admin });

  rule('an image by id, by its URL on the site, and none', async (play) => {
    const { ask, make } = play;
    const big = await image(play, 800, 600, 'big.png');
    const small = await image(play, 40, 30, 'small.png');
    const made = await make('/events', { ...event, image: String(big.id) });
    expect(made.image).to.include({ id: big.id, url: big.url, extension: 'png', width: 800, height: 600 });
    expect(made.image.filesize).to.be.a('number');
    expect(made.image.sizes.thumbnail).to.have.keys('width', 'height', 'mime-type', 'filesize', 'url');
    expect(made.image.sizes).to.not.have.property('full');
    expect((await make(`/events/${made.id}`, { cost: 1 })).image.id).to.equal(big.id);
    const other = await make(`/events/${made.id}`, { image: small.url });
    expect(other.image).to.include({ id: small.id }).and.not.have.property('sizes');
    expectMistyped(await ask(`/events/${made.id}`, { as, json: { image: big.id } }), { image: 'string' });
    expectInvalid(await ask(`/events/${made.id}`, { as, json: { image: String(made.id) } }), 'image');
    const venue = await make('/venues', { venue: 'Pictured', image: String(big.id) });
    expect(venue.image.id).to.equal(big.id);
    expect(await make(`/venues/${venue.id}`, { image: '' })).to.not.have.property('image');
    expect((await ask(`/events/${made.id}`)).body.json_ld.image).to.equal(small.url);
  });
});
