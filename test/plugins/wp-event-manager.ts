// WP Event Manager: its expiry dates, its ticket option, and the fields of venues and organizers.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import { bothWays } from './both-ways.ts';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { arrives, stateOf, write } from './site-requests.ts';

const rowOf = async (site: PluginSite, id: number, key: string): Promise<string | undefined> =>
  (await site.rows(id)).find(([name]) => name === key)?.[1];

/** Runs the plugin's hourly task. Resolves with the event's status afterwards. */
const statusAfterExpiry = (site: PluginSite, id: number): Promise<string> =>
  site.php(
    `do_action( 'event_manager_check_for_expired_events' ); clean_post_cache( ${id} ); return get_post_status( ${id} );`,
  );

/** What the plugin's own functions say of an event. */
const ownState = (site: PluginSite, id: unknown): Promise<Json> =>
  site.php(`return array( 'cancelled' => is_event_cancelled( ${id} ), 'online' => is_event_online( ${id} ) );`);

const plain = (date: Date): string => date.toISOString().slice(0, 10);
const inDays = (days: number): string => plain(new Date(Date.now() + days * 86_400_000));

async function create(site: PluginSite, event: Json): Promise<number> {
  const json = { title: 'New event', start_date: `${inDays(5)} 10:00:00`, end_date: `${inDays(5)} 11:00:00`, ...event };
  const { status, body } = await site.request('events', { method: 'POST', json });
  expect(status, JSON.stringify(body)).to.equal(201);
  return Number(body.id);
}

const day = inDays(5);
const row = (key: string) => `update_post_meta( $id, '${key}', $value )`;

/** Its own screens store the rows as these do. */
const valueByValue = bothWays(
  {
    start_date: {
      values: () => [`${day} 00:00:00`, `${day} 09:59:00`],
      read: 'get_event_start_date( $id )',
      write: row('_event_start_date'),
    },
    timezone: {
      values: () => ['Europe/Paris', 'Asia/Kathmandu'],
      read: 'get_post( $id )->_event_timezone',
      write: row('_event_timezone'),
    },
    cost: {
      values: () => ['$15', '15€', '€12.50', '$10 - $20'],
      read: '( $GLOBALS["post"] = get_post( $id ) ) ? get_event_ticket_price( $id ) : null',
      write: row('_event_ticket_price'),
    },
    featured: { values: () => [true, false], read: 'is_event_featured( $id )', write: row('_featured') },
    venue: {
      values: ({ hall }) => [hall],
      read: "array( 'id' => (int) get_post( $id )->_event_venue_ids )",
      write: row('_event_venue_ids'),
    },
    organizer: {
      values: ({ players, council }) => [[players], [players, council]],
      read: "array_map( 'intval', get_post( $id )->_event_organizer_ids )",
      write: row('_event_organizer_ids'),
    },
  },
  { start_date: `${day} 10:00:00`, end_date: `${day} 11:00:00` },
);

export const plugin: PluginTest = {
  mapping: 'wp-event-manager',
  columns: {
    recognised: {
      async 'by its plugin'({ init }) {
        expect(init.text).to.match(/^Proposal +WP Event Manager:/m);
      },
    },
    read: {
      async 'a price, and a free event'(site) {
        expect((await site.request(`events/${site.ids.concert}`)).body.cost).to.equal('$15');
        expect((await site.request(`events/${site.ids.fair}`)).body.cost).to.equal('Free');
      },
      async 'organizers and a venue with their fields'(site) {
        const { body } = await site.request(`events/${site.ids.concert}`);
        expect(body.venue).to.include({ venue: 'Quay Hall', address: '1 Quay Street', zip: 'H91 X5' });
        expect(body.venue).to.include({ website: 'https://quay.example/' });
        const [players, council] = body.organizer as Json[];
        expect(players).to.include({ email: 'hello@players.example', website: 'https://players.example/' });
        expect(council).to.include({ organizer: 'Town Council' });
      },
      async 'a cancelled event and an online one; nothing of those of which the plugin says nothing'(site) {
        const { storm, concert } = site.ids;
        expect(await ownState(site, storm)).to.deep.equal({ cancelled: true, online: true });
        const state = { event_status: 'cancelled', attendance_mode: 'online' };
        expect(stateOf((await site.request(`events/${storm}`)).body)).to.deep.equal(state);
        expect(await ownState(site, concert)).to.deep.equal({ cancelled: false, online: false });
        expect(stateOf((await site.request(`events/${concert}`)).body)).to.deep.equal({});
      },
      async 'drafts for staff only'(site) {
        expect((await site.request(`events/${site.ids.draft}`)).status).to.be.oneOf([401, 403]);
        expect((await site.request(`events/${site.ids.draft}`, { as: 'admin' })).body.title).to.equal('Sketch');
      },
    },
    written: {
      ...valueByValue,
      async 'the dates in both keys, and links as the plugin stores them'(site) {
        const id = await create(site, { venue: site.ids.hall, organizer: [site.ids.players, site.ids.council] });
        expect(await rowOf(site, id, '_event_start_date')).to.equal(`${inDays(5)} 10:00:00`);
        expect(await rowOf(site, id, '_event_start_time')).to.equal('10:00:00');
        expect(await rowOf(site, id, '_event_venue_ids')).to.equal(String(site.ids.hall));
        const ids = await site.php(
          `return array_map( 'intval', get_post_meta( ${id}, '_event_organizer_ids', true ) );`,
        );
        expect(ids).to.deep.equal([site.ids.players, site.ids.council]);
      },
      async 'a postponed event expires after its new date'(site) {
        const id = await create(site, { status: 'draft' });
        await write(site, `events/${id}`, { status: 'publish' });
        const dates = { start_date: `${inDays(40)} 10:00:00`, end_date: `${inDays(40)} 11:00:00` };
        await write(site, `events/${id}`, dates);
        expect(await rowOf(site, id, '_event_expiry_date')).to.equal(inDays(40));
        expect(await statusAfterExpiry(site, id)).to.equal('publish');
      },
      async 'an event that moves into the past expires'(site) {
        const id = await create(site, {});
        const dates = { start_date: `${inDays(-3)} 10:00:00`, end_date: `${inDays(-3)} 11:00:00` };
        await write(site, `events/${id}`, dates);
        expect(await statusAfterExpiry(site, id)).to.equal('expired');
      },
      async "an administrator's own expiry date stays while the event is not moved"(site) {
        const id = await create(site, {});
        await site.php(`return update_post_meta( ${id}, '_event_expiry_date', '${inDays(2)}' );`);
        await write(site, `events/${id}`, { title: 'Another title', cost: '$7' });
        expect(await rowOf(site, id, '_event_expiry_date')).to.equal(inDays(2));
      },
      async 'the ticket option with the price'(site) {
        const id = await create(site, { cost: '$15' });
        const stored = async () => [
          await rowOf(site, id, '_event_ticket_price'),
          await rowOf(site, id, '_event_ticket_options'),
        ];
        expect(await stored()).to.deep.equal(['$15', 'paid']);
        expect((await write(site, `events/${id}`, { cost: 'Free' })).cost).to.equal('Free');
        expect(await stored()).to.deep.equal(['', 'free']);
        expect((await write(site, `events/${id}`, { cost: '$10 - $20' })).cost).to.equal('$10 – $20');
        expect(await stored()).to.deep.equal(['$10 - $20', 'paid']);
        expect((await write(site, `events/${id}`, { cost: '' })).cost).to.equal('');
        expect(await stored()).to.deep.equal(['', '']);
      },
      async 'whether it is cancelled and online, as the plugin’s functions read it'(site) {
        const id = await create(site, {});
        for (const [sent, own] of [
          [
            { event_status: 'cancelled', attendance_mode: 'online' },
            { cancelled: true, online: true },
          ],
          [
            { event_status: 'cancelled', attendance_mode: 'offline' },
            { cancelled: true, online: false },
          ],
        ] as const) {
          expect(stateOf(await write(site, `events/${id}`, sent))).to.deep.equal(sent);
          expect(await ownState(site, id)).to.deep.equal(own);
        }
        expect(stateOf(await write(site, `events/${id}`, { event_status: '', attendance_mode: '' }))).to.deep.equal({});
        expect(await ownState(site, id)).to.deep.equal({ cancelled: false, online: false });
        expect(await rowOf(site, id, '_cancelled')).to.equal('0');
        for (const [name, value] of [
          ['event_status', 'postponed'],
          ['event_status', 'scheduled'],
          ['attendance_mode', 'mixed'],
          ['event_status_reason', 'Storm'],
        ] as const) {
          const { status, body } = await site.request(`events/${id}`, { method: 'PATCH', json: { [name]: value } });
          expect([status, Object.keys((body.data as Json).params as Json)]).to.deep.equal([400, [name]]);
        }
      },
      async 'fields of organizers and venues'(site) {
        const email = 'desk@players.example';
        expect((await write(site, `organizers/${site.ids.players}`, { email })).email).to.equal(email);
        expect(await rowOf(site, site.ids.players ?? 0, '_organizer_email')).to.equal(email);
        const venue = await write(site, `venues/${site.ids.hall}`, { website: '' });
        expect(venue).to.not.have.property('website');
      },
    },
    shown: {
      async 'that an event is cancelled, on its page'(site) {
        const id = await create(site, { title: 'Shown storm', event_status: 'cancelled' });
        const { body } = await site.wordpress(`wp/v2/event_listing/${id}`);
        const { text } = await site.page(new URL(String(body.link)).pathname);
        expect(text).to.match(/This event has been cancelled/i);
      },
      async 'the price on the page of the event, with the venue and the organizers'(site) {
        const venue = { venue: 'The Loft', address: '2 Lane' };
        const organizer = [site.ids.players, { organizer: 'New "Troupe" & Co' }];
        const id = await create(site, { title: 'Shown event', cost: '$15', venue, organizer });
        await site.php(`update_option( 'event_manager_enable_event_ticket_prices_filter', 1 ); return 1;`);
        const { body } = await site.wordpress(`wp/v2/event_listing/${id}`);
        const page = () => site.page(new URL(String(body.link)).pathname);
        const { status, text } = await page();
        expect(status).to.equal(200);
        for (const shown of ['Shown event', '$15', 'The Loft', 'The Players', 'New "Troupe" & Co'])
          expect(text).to.include(shown);
        const made = (await site.request(`events/${id}`)).body.venue as Json;
        await write(site, `venues/${made.id}`, { venue: 'The Attic' });
        expect((await page()).text)
          .to.include('The Attic')
          .and.not.include('The Loft');
      },
    },
    webhook: {
      async 'a key that changes alone'(site) {
        await site.php(`return update_post_meta( ${site.ids.concert}, '_event_ticket_price', '$99' );`);
        await arrives(site, `events/${site.ids.concert}`, ({ cost }) => cost === '$99');
      },
    },
    series: 'the plugin has recurring events only in a paid add-on',
  },
};
