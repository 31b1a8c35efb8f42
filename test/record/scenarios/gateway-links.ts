// Venues, organizers, terms and images, on their own routes and as links of events.

import { expect } from 'chai';
import type { Json } from '../../start-gateway.ts';
import { defineTermsAndImages } from '../cases/terms-and-images.ts';
import {
  BARE_ORGANIZER_KEYS,
  BARE_VENUE_KEYS,
  expectError,
  expectInvalid,
  expectMistyped,
  withoutVolatileFields,
} from '../expectations.ts';
import { gatewayScenario } from '../gateway-scenario.ts';

const event = { title: 'Linked', start_date: '2027-01-10 10:00:00', end_date: '2027-01-10 12:00:00' };

export const scenario = gatewayScenario('gateway-links', { service: true }, (define) => {
  const as = 'admin';
  const ids = (list: Json[]) => list.map(({ id }) => id);
  let hall: Json;
  let choir: Json;
  let band: Json;

  define('a venue with only a name has these keys, with maps on', async ({ create, cms }) => {
    const { url } = await cms.site();
    hall = await create('/venues', { venue: 'Town Hall' });
    expect(Object.keys(hall)).to.have.members(BARE_VENUE_KEYS);
    expect(hall).to.include({
      venue: 'Town Hall',
      slug: 'town-hall',
      url: `${url}/venue/town-hall/`,
      status: 'publish',
    });
    expect(hall).to.include({ show_map: true, show_map_link: true });
  });

  define('an organizer with only a name has these keys', async ({ create, cms }) => {
    const { url } = await cms.site();
    choir = await create('/organizers', { organizer: 'Choir "One"' });
    expect(Object.keys(choir)).to.have.members(BARE_ORGANIZER_KEYS);
    expect(choir).to.include({ organizer: 'Choir &#8220;One&#8221;', url: `${url}/organizer/choir-one/` });
    band = await create('/organizers', {
      organizer: 'Band',
      email: ' any  text ',
      phone: '<b>555</b>',
      website: 'http://b.example/?x&y',
    });
    expect(band).to.include({ email: 'any text', phone: '555', website: 'http://b.example/?x&y' });
  });

  define('a draft venue has a slug', async ({ create }) => {
    const created = await create('/venues', { venue: 'Drafty Hall', status: 'draft' });
    expect(created).to.include({ slug: 'drafty-hall', status: 'draft' });
    expect(created.url).to.match(/\/\?post_type=\w+&p=\d+$/);
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
    define(`stateprovince of ${JSON.stringify(sent)} is ${wanted}`, async ({ create }) => {
      const created = await create('/venues', { venue: `State ${index}`, ...sent });
      expect(created.stateprovince).to.equal(wanted);
    });
  }

  define('plain texts of a venue are sanitized, not rendered; empty ones are omitted', async ({ create }) => {
    const created = await create('/venues', {
      venue: 'Clean',
      description: 'One\n\nTwo "q"',
      address: ' 1  <b>A</b> & "B" ',
      city: '',
      zip: '0',
      phone: '<script>x</script>5',
      show_map: 'no',
      show_map_link: 'YES',
    });
    expect(created).to.include({ address: '1 A & "B"', phone: '5', show_map: false, show_map_link: true });
    expect(created.description).to.equal('<p>One</p>\n<p>Two &#8220;q&#8221;</p>');
    expect(created).to.not.have.any.keys('city', 'zip', 'website', 'image');
  });

  define(
    'an update of a venue changes only the fields in the request; an empty text clears, an empty description does not',
    async ({ request, create }) => {
      const created = await create('/venues', {
        venue: 'Kept',
        description: 'D',
        phone: '1',
        city: 'C',
        show_map: '0',
        status: 'draft',
      });
      const { status, body } = await request(`/venues/${created.id}`, {
        as,
        method: 'PUT',
        json: { phone: '', description: '' },
      });
      expect(status).to.equal(200);
      expect(body).to.not.have.property('phone');
      // WordPress gives a draft the date of its last save.
      const kept = (record: Json) => withoutVolatileFields(record, 'phone', 'date');
      expect(kept(body)).to.deep.equal(kept(created));
    },
  );

  const REFUSED: [string, string, Json, Record<string, string> | undefined][] = [
    ['venue', 'venue', '', undefined],
    ['venue', 'city', 5, undefined],
    ['venue', 'city', null, { city: 'string' }],
    ['venue', 'show_map', true, { show_map: 'string' }],
    ['venue', 'show_map', null, { show_map: 'string' }],
    ['venue', 'website', 'example.com', undefined],
    ['venue', 'website', false, { website: 'string' }],
    ['venue', 'website', null, { website: 'string' }],
    ['organizer', 'organizer', 7, undefined],
    ['organizer', 'email', 7, undefined],
    ['organizer', 'phone', null, { phone: 'string' }],
    ['organizer', 'status', 'any', undefined],
    ['organizer', 'image', 'nothing', undefined],
  ];
  for (const [kind, name, value, types] of REFUSED) {
    define(`${kind}: ${name} ${JSON.stringify(value)} is rejected`, async ({ request }) => {
      const response = await request(`/${kind}s`, { as, json: { [kind]: 'x', [name]: value } });
      if (types) expectMistyped(response, types);
      else expectInvalid(response, name);
    });
  }

  define('a blank name is rejected', async ({ request }) => {
    for (const kind of ['venue', 'organizer'])
      expectError(await request(`/${kind}s`, { as, json: { [kind]: '  ' } }), {
        status: 400,
        code: `could-not-create-${kind}`,
        message: `The ${kind} could not be created from the provided data`,
      });
  });

  define(
    'embedded data that equals an existing record links it (duplicate), other data creates a new one; nothing is overwritten',
    async ({ request, create }) => {
      const first = await create('/venues', { venue: 'Twin', phone: '1', description: 'D' });
      const same = await request('/venues', { as, json: { venue: 'tWIN', phone: '1' } });
      expect([same.status, same.body.id]).to.deep.equal([201, first.id]);
      const other = await create('/venues', { venue: 'Twin', phone: '2' });
      expect(other.id).to.not.equal(first.id);
      expect(other.slug).to.equal('twin-2');
      expect((await request(`/venues/${first.id}`)).body).to.include({ phone: '1', venue: 'Twin' });
    },
  );

  define('venue accepts an id, lists, CSV, data and mixtures', async ({ create }) => {
    const linked = async (venue: Json) => (await create('/events', { ...event, venue })).venue;
    for (const value of [
      hall.id,
      String(hall.id),
      [hall.id],
      { id: hall.id },
      [{ id: hall.id }],
      [hall.id, hall.id],
      `${hall.id}, ${hall.id}`,
    ])
      expect((await linked(value)).id, JSON.stringify(value)).to.equal(hall.id);
    const created = await linked({ venue: 'Made inside', city: 'X', website: null });
    expect(created).to.include({ venue: 'Made inside', city: 'X', status: 'publish' });
    expect(ids(await linked([hall.id, { venue: 'Made inside', city: 'X' }]))).to.deep.equal([hall.id, created.id]);
    for (const none of [0, [], null, '', [0]]) expect(await linked(none), JSON.stringify(none)).to.deep.equal([]);
  });

  define('organizer accepts an id, lists, CSV, data and mixtures, in order, each once', async ({ create }) => {
    const linked = async (organizer: Json) => (await create('/events', { ...event, organizer })).organizer;
    expect(ids(await linked(choir.id))).to.deep.equal([choir.id]);
    expect(ids(await linked([band.id, choir.id, band.id]))).to.deep.equal([band.id, choir.id]);
    expect(ids(await linked(`${band.id},${choir.id}`))).to.deep.equal([band.id, choir.id]);
    const [created] = await linked({ organizer: 'Made inside' });
    expect(created.organizer).to.equal('Made inside');
    expect(ids(await linked([{ id: choir.id }, { organizer: 'Made inside' }, band.id]))).to.deep.equal([
      choir.id,
      created.id,
      band.id,
    ]);
    for (const none of [0, [], null, '', [0]]) expect(await linked(none), JSON.stringify(none)).to.deep.equal([]);
  });

  define('forms have linked records in brackets', async ({ request }) => {
    const base = new URLSearchParams(event).toString();
    const { status, body } = await request('/events', {
      as,
      form: `${base}&venue[]=${hall.id}&organizer[0][organizer]=By+form&organizer[1]=${band.id}&categories[]=By+form&tags=a,b`,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect(body.venue.id).to.equal(hall.id);
    expect(body.organizer.map((each: Json) => each.organizer)).to.deep.equal(['By form', 'Band']);
    expect(body.categories.map((each: Json) => each.name)).to.deep.equal(['By form']);
    expect(body.tags.map((each: Json) => each.slug)).to.deep.equal(['a', 'b']);
    expect((await request('/events', { as, form: `${base}&organizer[]=${choir.id}` })).body.organizer[0].id).to.equal(
      choir.id,
    );
  });

  define('an invalid link is rejected, and nothing changes', async ({ request, create }) => {
    const created = await create('/events', { ...event, venue: hall.id, organizer: [choir.id, band.id] });
    for (const venue of [
      999_999,
      choir.id,
      'Town Hall',
      { city: 'C' },
      { venue: 'x', website: 'bad' },
      [hall.id, 999_999],
    ])
      expectInvalid(await request(`/events/${created.id}`, { as, json: { title: 'Changed', venue } }), 'venue');
    for (const organizer of [999_999, hall.id, 'Band', { phone: '1' }, [{ organizer: 5 }]])
      expectInvalid(await request(`/events/${created.id}`, { as, json: { title: 'Changed', organizer } }), 'organizer');
    expect((await request(`/events/${created.id}`)).body).to.deep.include({ title: 'Linked' });
  });

  for (const value of [[], '', null, 0]) {
    define(`an update removes venue and organizers by ${JSON.stringify(value)}`, async ({ create }) => {
      const created = await create('/events', { ...event, venue: hall.id, organizer: [choir.id, band.id] });
      const changed = await create(`/events/${created.id}`, { venue: value });
      expect(changed.venue).to.deep.equal([]);
      expect(ids(changed.organizer)).to.deep.equal([choir.id, band.id]);
      expect((await create(`/events/${created.id}`, { organizer: value })).organizer).to.deep.equal([]);
    });
  }

  define('a trashed organizer is removed from its events, and returns when restored', async ({ request, create }) => {
    const leaver = await create('/organizers', { organizer: 'Leaves' });
    const created = await create('/events', { ...event, organizer: [leaver.id, band.id] });
    const { status, body } = await request(`/organizers/${leaver.id}`, { as, method: 'DELETE' });
    expect(status).to.equal(200);
    expect(body).to.include({ status: 'trash', slug: 'leaves__trashed' });
    expect(body).to.not.have.property('json_ld');
    expect(ids((await request(`/events/${created.id}`)).body.organizer)).to.deep.equal([band.id]);
    const trashed = { status: 410, code: 'organizer-is-in-trash', message: 'The organizer is already trashed' };
    expectError(await request(`/organizers/${leaver.id}`, { as, method: 'DELETE' }), trashed);
    expect((await request(`/organizers/${leaver.id}`, { as })).body.status).to.equal('trash');
    await create(`/organizers/${leaver.id}`, { status: 'publish' });
    expect(ids((await request(`/events/${created.id}`)).body.organizer)).to.deep.equal([leaver.id, band.id]);
  });

  define('a second delete of a venue is 410, by its new slug too', async ({ request, create }) => {
    const created = await create('/venues', { venue: 'Pulled down' });
    expect((await request('/venues/by-slug/pulled-down', { as, method: 'DELETE' })).body).to.include({
      id: created.id,
      status: 'trash',
    });
    const trashed = { status: 410, code: 'venue-is-in-trash', message: 'The venue is already trashed' };
    expectError(await request(`/venues/${created.id}`, { as, method: 'DELETE' }), trashed);
    expectError(await request('/venues/by-slug/pulled-down__trashed', { as, method: 'DELETE' }), trashed);
    expectInvalid(await request('/venues/by-slug/pulled-down', { as, method: 'DELETE' }), 'slug');
  });

  defineTermsAndImages(define);
});
