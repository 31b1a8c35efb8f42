// Advanced Custom Fields: required fields, typed fields, clearing, and the model of its field types.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import { ACF_TYPES } from '../mapping/field-types.ts';
import { bothWays } from './both-ways.ts';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { arrives, write } from './site-requests.ts';

/** A field as the plugin's own function returns it, without its display format. */
const field = (site: PluginSite, id: number | undefined, name: string): Promise<unknown> =>
  site.php(`return get_field( '${name}', ${id}, false );`);

const acf = (
  name: string,
  values: (ids: PluginSite['ids']) => unknown[],
  read = `get_field( '${name}', $id, false )`,
) => ({
  values,
  read,
  write: `update_field( 'field_happening_${name}', $value, $id )`,
});

const valueByValue = bothWays(
  {
    start_date: acf('event_start', () => ['2031-08-01 00:00:00', '2031-07-31 23:59:59']),
    cost: acf('price', () => ['15', '12.5', '1000'], "'$' . get_field( 'price', $id, false )"),
    website: acf('ticket_link', () => ['https://a.example/', 'https://b.example/?a=1&b=2']),
    all_day: acf('whole_day', () => [true, false], "(bool) get_field( 'whole_day', $id, false )"),
    featured: acf('featured', () => [true, false], "(bool) get_field( 'featured', $id, false )"),
    venue: acf('location', ({ hall }) => [hall], "array( 'id' => (int) get_field( 'location', $id, false ) )"),
    organizer: acf(
      'organisers',
      ({ players }) => [[players]],
      "array_map( 'intval', (array) get_field( 'organisers', $id, false ) )",
    ),
  },
  { start_date: '2031-08-01 10:00:00', end_date: '2031-08-01 12:00:00' },
);

export const plugin: PluginTest = {
  mapping: 'a file of its own',
  columns: {
    recognised: {},
    read: {
      async 'every field of an event'(site) {
        const { body } = await site.request(`events/${site.ids.concert}`);
        expect(body).to.include({
          start_date: '2031-05-01 19:30:00',
          cost: '$12.5',
          website: 'https://tickets.example/7',
        });
        expect(body.venue).to.include({ venue: 'Quay Hall', address: '1 Quay Street', city: 'Galway' });
        expect((body.organizer as Json[])[0]).to.include({ email: 'hello@players.example', phone: '+353 91 2' });
        expect((await site.request(`events/${site.ids.fair}`)).body.cost).to.equal('Free');
      },
    },
    written: {
      ...valueByValue,
      async 'one field, and the required ones stay'(site) {
        const { concert } = site.ids;
        expect((await write(site, `events/${concert}`, { cost: '20' })).cost).to.equal('$20');
        expect(await field(site, concert, 'price')).to.equal('20');
        expect(await field(site, concert, 'event_start')).to.equal('2031-05-01 19:30:00');
        expect(await field(site, concert, 'event_end')).to.equal('2031-05-01 22:00:00');
        await write(site, `venues/${site.ids.hall}`, { city: 'Cork' });
        expect(await field(site, site.ids.hall, 'street')).to.equal('1 Quay Street');
      },
      async 'an edit of a required field at the same moment stays'(site) {
        const { concert } = site.ids;
        const later = '2031-05-02 20:00:00';
        const edit = site.php(`return update_field( 'event_start', '${later}', ${concert} );`);
        let edited = false;
        void edit.then(() => {
          edited = true;
        });
        for (let cost = 1; !edited; cost += 1) await write(site, `events/${concert}`, { cost: String(cost) });
        expect(await field(site, concert, 'event_start')).to.equal(later);
        await write(site, `events/${concert}`, { start_date: '2031-05-01 19:30:00' });
      },
      async 'what was read'(site) {
        const { body } = await site.request(`events/${site.ids.concert}`);
        const { cost, website, featured, all_day } = body;
        const again = await write(site, `events/${site.ids.concert}`, { cost, website, featured, all_day });
        expect(again).to.include({ cost, website, featured, all_day });
        await write(site, `events/${site.ids.fair}`, { cost: 'Free' });
        expect(await field(site, site.ids.fair, 'price')).to.equal('0');
      },
      async 'and refuses what a number field cannot hold'(site) {
        for (const cost of ['$10 - $20', '€5', 'about 7', '12345678901234567.89']) {
          const body = await write(site, `events/${site.ids.concert}`, { title: 'Half', cost }, 400);
          expect((body.data as { params: Json }).params).to.have.property('cost');
        }
        expect((await site.request(`events/${site.ids.concert}`)).body.title).to.equal('Harbour concert');
      },
      async 'and clears every field that may be blank'(site) {
        const { players, fair } = site.ids;
        const organizer = await write(site, `organizers/${players}`, { email: '', website: '', phone: '' });
        expect(organizer).to.not.have.any.keys('email', 'website', 'phone');
        expect(await field(site, players, 'email')).to.be.oneOf(['', null]);
        await write(site, `events/${fair}`, { cost: '5', venue: site.ids.hall, organizer: [players] });
        const cleared = await write(site, `events/${fair}`, { cost: '', website: '', venue: [], organizer: [] });
        expect(cleared).to.deep.include({ cost: '', venue: [], organizer: [] });
        expect(await field(site, fair, 'price')).to.be.oneOf(['', null]);
      },
      async 'as the model of its field types says'(site) {
        const { fair, hall, players } = site.ids;
        // Of relations the ids, of the price no negative numbers: the field has a minimum.
        const values: Readonly<Record<string, unknown[]>> = {
          location: [hall],
          organisers: [[players]],
          price: [0, 12.5, 3],
        };
        const dates = { event_start: '2031-06-12 10:00:00', event_end: '2031-06-12 18:00:00' };
        for (const { kind = 'event', type, source, stored, afterWrite } of ACF_TYPES) {
          const name = (typeof source === 'string' ? source : source.at!).replace('acf.', '');
          const [path, required] = kind === 'event' ? [`happenings/${fair}`, dates] : [`organisers/${players}`, {}];
          for (const value of values[name] ??
            stored.filter((each) => each !== null && !(type === 'email' && each === ''))) {
            const response = await site.wordpress(`wp/v2/${path}`, {
              method: 'POST',
              json: { acf: { ...required, [name]: value } },
            });
            expect(response.status, JSON.stringify([type, response.body])).to.equal(200);
            const shown = (response.body.acf as Json)[name];
            expect(shown, `${type} ${JSON.stringify(value)}`).to.deep.equal(afterWrite(value));
          }
        }
      },
    },
    shown: {
      async "values in the site's own format"(site) {
        const shown = await site.php(`return get_field( 'event_start', ${site.ids.concert} );`);
        expect(shown).to.equal('01/05/2031 7:30 pm');
      },
    },
    webhook: {
      async 'a field that changes alone'(site) {
        await site.php(`return update_field( 'price', 99, ${site.ids.concert} );`);
        await arrives(site, `events/${site.ids.concert}`, ({ cost }) => cost === '$99');
      },
    },
    series: 'a field group has no recurring events',
  },
};
