// Pods: its own function pods()->field() judges what the gateway writes, and the model of its field types.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import { PODS_TYPES } from '../mapping/field-types.ts';
import { bothWays } from './both-ways.ts';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { arrives, write } from './site-requests.ts';

/** A field as the plugin's own function returns it; of related posts the ids. */
const field = (site: PluginSite, pod: string, id: unknown, name: string): Promise<unknown> =>
  site.php(`$value = pods( '${pod}', ${id} )->field( '${name}', array( 'output' => 'ids' ) ); return $value;`);

const pod = (name: string, values: (ids: PluginSite['ids']) => unknown[], cast = '') => ({
  values,
  read: `${cast} pods( 'event', $id )->field( '${name}', array( 'output' => 'ids' ) )`,
  write: `pods( 'event', $id )->save( '${name}', $value )`,
});

const valueByValue = bothWays(
  {
    start_date: pod('start_date', () => ['2031-08-01 00:00:00', '2031-07-31 23:59:59']),
    timezone: pod('timezone', () => ['Europe/Paris', 'UTC+5.5']),
    cost: pod('cost', () => ['$15', '15€', '€12.50', '$5 - $25', 'Free', 'Donation']),
    website: pod('website', () => ['https://a.example/', 'https://b.example/?a=1&b=2']),
    all_day: pod('all_day', () => [true, false], '(bool)'),
    featured: pod('featured', () => [true, false], '(bool)'),
    venue: {
      ...pod('venue', ({ hall, mill }) => [hall, mill]),
      read: "array( 'id' => (int) current( (array) pods( 'event', $id )->field( 'venue', array( 'output' => 'ids' ) ) ) )",
    },
    organizer: {
      ...pod('organizer', ({ players, council }) => [[players], [players, council]]),
      read: "array_map( 'intval', (array) pods( 'event', $id )->field( 'organizer', array( 'output' => 'ids' ) ) )",
    },
  },
  { start_date: '2031-08-01 10:00:00', end_date: '2031-08-01 12:00:00' },
);

export const plugin: PluginTest = {
  mapping: 'pods',
  columns: {
    recognised: {},
    read: {
      async 'every field of an event, its venue and its organizers'(site) {
        const { body } = await site.request(`events/${site.ids.concert}`);
        expect(body).to.include({
          start_date: '2031-05-01 19:30:00',
          utc_end_date: '2031-05-01 20:00:00',
          timezone: 'Europe/Paris',
          cost: '$12.50',
          website: 'https://tickets.example/7',
          featured: true,
          all_day: false,
        });
        expect(body.venue).to.include({ id: site.ids.hall, address: '1 Quay Street', city: 'Galway' });
        const [players] = body.organizer as Json[];
        expect(players).to.include({ organizer: 'The Players', email: 'hello@players.example' });
        expect((body.organizer as Json[]).map(({ id }) => id)).to.deep.equal([site.ids.players, site.ids.council]);
        expect((body.categories as Json[]).map(({ id }) => id)).to.deep.equal([site.ids.music]);
      },
      async 'hidden events in no list, and drafts for staff only'(site) {
        const { body } = await site.request('events?start_date=2031-05-01&end_date=2031-05-31');
        expect((body.events as Json[]).map(({ id }) => id)).to.deep.equal([site.ids.concert]);
        expect((await site.request(`events/${site.ids.draft}`)).status).to.be.oneOf([401, 403]);
        expect((await site.request(`events/${site.ids.draft}`, { as: 'admin' })).body.title).to.equal('Sketch');
      },
    },
    written: {
      ...valueByValue,
      async 'an event that the plugin reads'(site) {
        const { hall, players, council } = site.ids;
        const dates = { start_date: '2031-08-01 10:00:00', end_date: '2031-08-01 12:00:00' };
        const links = { venue: hall, organizer: [council, players] };
        const { id } = await write(
          site,
          'events',
          { title: 'Made', ...dates, ...links, cost: '$15', sticky: true },
          201,
        );
        for (const [name, value] of Object.entries(dates))
          expect(await field(site, 'event', id, name), name).to.equal(value);
        expect(await field(site, 'event', id, 'cost')).to.equal('$15');
        expect(await field(site, 'event', id, 'sticky_event')).to.be.oneOf([1, '1']);
        expect([await field(site, 'event', id, 'venue')].flat().map(Number)).to.deep.equal([hall]);
        expect([await field(site, 'event', id, 'organizer')].flat().map(Number)).to.deep.equal([council, players]);
      },
      async 'one field, and the others stay'(site) {
        const { concert } = site.ids;
        const rows = async () => (await site.rows(concert!)).filter(([key]) => !/^(cost|_edit_)/.test(key));
        const before = await rows();
        await write(site, `events/${concert}`, { cost: '$20' });
        expect(await field(site, 'event', concert, 'cost')).to.equal('$20');
        expect(await rows()).to.deep.equal(before);
      },
      async 'what was read'(site) {
        const { body } = await site.request(`events/${site.ids.concert}`);
        const { cost, website, featured, all_day, start_date, timezone } = body;
        const fields = { cost, website, featured, all_day, start_date, timezone };
        expect(await write(site, `events/${site.ids.concert}`, fields)).to.include(fields);
      },
      async 'and clears what may be blank'(site) {
        const { fair, hall, players } = site.ids;
        await write(
          site,
          `events/${fair}`,
          { cost: '5', venue: hall, organizer: [players], website: 'https://a.example/' },
          200,
        );
        const cleared = await write(site, `events/${fair}`, { cost: '', website: '', venue: [], organizer: [] });
        expect(cleared).to.deep.include({ cost: '', venue: [], organizer: [] });
        for (const name of ['cost', 'website']) expect(await field(site, 'event', fair, name), name).to.equal('');
        for (const name of ['venue', 'organizer'])
          expect([await field(site, 'event', fair, name)].flat().filter(Boolean), name).to.deep.equal([]);
        const organizer = await write(site, `organizers/${players}`, { email: '', phone: '' });
        expect(organizer).to.not.have.any.keys('email', 'phone');
        expect(await field(site, 'organizer', players, 'email')).to.equal('');
      },
      async 'as the model of its field types says'(site) {
        const { fair, players, council } = site.ids;
        const values: Readonly<Record<string, unknown[]>> = {
          featured: [0, 1],
          organizer: [[], [players], [players, council]],
        };
        for (const { kind = 'event', type, source, stored, afterWrite } of PODS_TYPES) {
          const name = typeof source === 'string' ? source : source.at!;
          const path = `wp/v2/${kind === 'event' ? `events/${fair}` : `organizers/${council}`}`;
          for (const value of values[name] ?? stored) {
            const sent = String(value).startsWith('0000-00-00') ? '' : value;
            const response = await site.wordpress(path, { method: 'POST', json: { [name]: sent } });
            expect(response.status, JSON.stringify([type, response.body])).to.equal(200);
            const shown = response.body[name];
            const reduced = Array.isArray(shown) ? shown.map(({ ID }: Json) => ({ ID: Number(ID) })) : shown;
            expect(reduced, `${type} ${JSON.stringify(sent)}`).to.deep.equal(afterWrite(sent));
          }
        }
      },
    },
    shown: {
      async 'the plugin’s template tags'(site) {
        const { id } = await write(
          site,
          'events',
          {
            title: 'On a page',
            start_date: '2031-08-01 10:00:00',
            end_date: '2031-08-01 11:00:00',
            cost: '$15',
            venue: site.ids.hall,
          },
          201,
        );
        const shown = await site.php(
          `return do_shortcode( '[pods name="event" id="${id}"]{@post_title}: {@cost}, {@start_date}, {@venue.post_title}, {@venue.city}[/pods]' );`,
        );
        expect(shown).to.equal('On a page: $15, 2031-08-01 10:00, Quay Hall, Galway');
      },
    },
    webhook: {
      async 'a field that the plugin saves, though the REST base is not the name of the type'(site) {
        await site.php(`return pods( 'event', ${site.ids.concert} )->save( 'cost', '$99' );`);
        await arrives(site, `events/${site.ids.concert}`, ({ cost }) => cost === '$99');
      },
      async 'another venue, and another city of it'(site) {
        await site.php(`return pods( 'event', ${site.ids.concert} )->save( 'venue', ${site.ids.mill} );`);
        await arrives(site, `events/${site.ids.concert}`, ({ venue }) => (venue as Json).id === site.ids.mill);
        await site.php(`return pods( 'venue', ${site.ids.mill} )->save( 'city', 'Ely' );`);
        await arrives(site, `events/${site.ids.concert}`, ({ venue }) => (venue as Json).city === 'Ely');
      },
      async 'an event that the plugin deletes'(site) {
        await site.php(`return pods( 'event' )->delete( ${site.ids.fair} );`);
        await arrives(site, `events/${site.ids.fair}`, (_, status) => status === 404);
      },
    },
    series: 'a pod has no recurring events',
  },
};
