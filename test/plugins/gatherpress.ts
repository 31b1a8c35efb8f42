// GatherPress: its table of dates, its class Event and its calendar files judge what the gateway writes.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import { bothWays } from './both-ways.ts';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { arrives, stateOf, write } from './site-requests.ts';

const DATES = { start_date: '2031-08-01 10:00:00', end_date: '2031-08-01 12:00:00', timezone: 'Europe/Paris' };

/** The row of the plugin's own table. */
const rowOf = async (site: PluginSite, id: unknown): Promise<Json> =>
  site.php(
    `return $wpdb->get_row( "SELECT * FROM {$wpdb->prefix}gatherpress_events WHERE post_id = ${id}", ARRAY_A );`,
  );

/** What the plugin's class says of an event's venue. */
const venueOf = (site: PluginSite, id: unknown): Promise<Json> =>
  site.php(`return ( new GatherPress\\Core\\Event\\Event( ${id} ) )->get_venue_information();`);

/** The link that the plugin's class shows to those who attend. */
const onlineLinkOf = (site: PluginSite, id: unknown): Promise<string> =>
  site.php(
    `add_filter( 'gatherpress_force_online_event_link', '__return_true' );
    return ( new GatherPress\\Core\\Event\\Event( ${id} ) )->maybe_get_online_event_link();`,
  );

/** The calendar file of an event that the plugin offers to visitors. */
const calendarFile = (site: PluginSite, url: unknown) => site.page(`${new URL(String(url)).pathname}ical`);

const EVENT = 'new GatherPress\\Core\\Event\\Event( $id )';
const datetime = (key: string) => `( ${EVENT} )->get_datetime()['${key}']`;
const saved = (key: string) =>
  `( ${EVENT} )->save_datetimes( array( '${key}' => $value ) + array_intersect_key( ( ${EVENT} )->get_datetime(), array( 'datetime_start' => 1, 'datetime_end' => 1, 'timezone' => 1 ) ) )`;

const valueByValue = bothWays(
  {
    start_date: {
      values: () => ['2031-08-01 00:00:00', '2031-07-31 23:59:59', '2031-03-01 02:30:00'],
      read: datetime('datetime_start'),
      write: saved('datetime_start'),
    },
    timezone: {
      values: () => ['Europe/Paris', 'America/New_York', 'Asia/Kathmandu'],
      read: datetime('timezone'),
      write: saved('timezone'),
    },
    online_url: {
      values: () => ['https://meet.example/7', 'https://meet.example/?a=1&b=2'],
      read: "get_post_meta( $id, 'gatherpress_online_event_link', true )",
      write: "update_post_meta( $id, 'gatherpress_online_event_link', $value )",
    },
    venue: {
      values: ({ hall, mill }) => [hall, mill],
      read: `array( 'id' => get_page_by_path( substr( wp_get_object_terms( $id, '_gatherpress_venue' )[0]->slug, 1 ), OBJECT, 'gatherpress_venue' )->ID )`,
      write: "wp_set_object_terms( $id, '_' . get_post( $value )->post_name, '_gatherpress_venue' )",
    },
  },
  DATES,
);

export const plugin: PluginTest = {
  mapping: 'gatherpress',
  // The source has no built blocks, and the plugin refuses to load without their folder.
  prepare: (folder) => {
    for (const name of ['blocks', 'variations/core']) mkdirSync(join(folder, 'build', name), { recursive: true });
  },
  columns: {
    recognised: {},
    read: {
      async 'dates, zone, venue and topic of an event'(site) {
        const { body } = await site.request(`events/${site.ids.concert}`);
        expect(body).to.include({
          start_date: '2031-05-01 19:30:00',
          utc_start_date: '2031-05-01 17:30:00',
          end_date: '2031-05-01 22:00:00',
          timezone: 'Europe/Paris',
        });
        expect(body.venue).to.include({ id: site.ids.hall, venue: 'Quay Hall', phone: '+353 91 1' });
        expect(body.venue).to.include({ address: '1 Quay Street, Galway', website: 'https://quay.example/' });
        expect((body.categories as Json[]).map(({ id }) => id)).to.deep.equal([site.ids.music]);
      },
      async 'an offset as zone, and an online event without venue'(site) {
        const { body } = await site.request(`events/${site.ids.call}`);
        expect(body).to.include({ timezone: '+05:30', utc_start_date: '2031-05-02 04:30:00' });
        expect(body.venue).to.deep.equal([]);
      },
      async 'which events are online, and where'(site) {
        const { call, hybrid, concert } = site.ids;
        const stateOfEvent = async (id: number | undefined) => stateOf((await site.request(`events/${id}`)).body);
        expect(await onlineLinkOf(site, call)).to.equal('https://meet.example/1');
        const online = { attendance_mode: 'online', online_url: 'https://meet.example/1' };
        expect(await stateOfEvent(call)).to.deep.equal(online);
        // The plugin's class names the place of an event that is both.
        expect(await venueOf(site, hybrid)).to.include({ name: 'Quay Hall' });
        expect(await stateOfEvent(hybrid)).to.deep.equal({ attendance_mode: 'mixed' });
        expect(await stateOfEvent(concert)).to.deep.equal({});
      },
      async 'past events, and drafts for staff only'(site) {
        const query = 'events?start_date=2020-01-01&end_date=2020-12-31';
        expect(((await site.request(query)).body.events as Json[]).map(({ id }) => id)).to.deep.equal([site.ids.past]);
        expect((await site.request(`events/${site.ids.draft}`)).status).to.be.oneOf([401, 403]);
        expect((await site.request(`events/${site.ids.draft}`, { as: 'admin' })).body.title).to.equal('Sketch');
      },
    },
    written: {
      ...valueByValue,
      async 'an event is in the plugin’s table, with its keys and its venue'(site) {
        const { id } = await write(site, 'events', { title: 'Made', ...DATES, venue: site.ids.hall }, 201);
        const dates = {
          datetime_start: DATES.start_date,
          datetime_start_gmt: '2031-08-01 08:00:00',
          datetime_end: DATES.end_date,
          datetime_end_gmt: '2031-08-01 10:00:00',
          timezone: 'Europe/Paris',
        };
        expect(await rowOf(site, id)).to.deep.equal({ post_id: String(id), ...dates });
        const keys = Object.fromEntries(await site.rows(Number(id)));
        for (const [key, value] of Object.entries(dates)) expect(keys[`gatherpress_${key}`], key).to.equal(value);
        expect(await venueOf(site, id)).to.include({ name: 'Quay Hall', address: '1 Quay Street, Galway' });
      },
      async 'a changed zone, start or end of an event that the plugin made'(site) {
        const { concert } = site.ids;
        await write(site, `events/${concert}`, { timezone: 'America/Chicago' });
        expect(await rowOf(site, concert)).to.include({
          datetime_start: '2031-05-01 19:30:00',
          datetime_start_gmt: '2031-05-02 00:30:00',
          timezone: 'America/Chicago',
        });
        await write(site, `events/${concert}`, { end_date: '2031-05-01 23:00:00' });
        expect(await rowOf(site, concert)).to.include({
          datetime_start: '2031-05-01 19:30:00',
          datetime_end: '2031-05-01 23:00:00',
        });
        await write(site, `events/${concert}`, { title: 'Harbour concert, again' });
        expect(await rowOf(site, concert)).to.include({ datetime_end_gmt: '2031-05-02 04:00:00' });
      },
      async 'fields of a venue, which the plugin shows at its events'(site) {
        const { id: venue } = await write(site, 'venues', { venue: 'Loft', address: '2 Lane', phone: '1' }, 201);
        const { id } = await write(site, 'events', { title: 'Upstairs', ...DATES, venue }, 201);
        await write(site, `venues/${venue}`, { venue: 'Attic', phone: '', website: 'https://attic.example/' });
        const shown = { name: 'Attic', address: '2 Lane', phone: '', website: 'https://attic.example/' };
        expect(await venueOf(site, id)).to.include(shown);
        await write(site, `events/${id}`, { venue: site.ids.mill });
        expect((await venueOf(site, id)).name).to.equal('Old Mill');
        await write(site, `events/${id}`, { venue: [] });
        expect((await venueOf(site, id)).name).to.equal('');
      },
      async 'a draft venue that is published has its term'(site) {
        const { id: venue } = await write(site, 'venues', { venue: 'Cellar', status: 'draft' }, 201);
        await write(site, `venues/${venue}`, { status: 'publish' });
        const { id } = await write(site, 'events', { title: 'Downstairs', ...DATES, venue }, 201);
        expect((await venueOf(site, id)).name).to.equal('Cellar');
      },
      async 'an online event keeps its term'(site) {
        const { call } = site.ids;
        const terms = () =>
          site.php(`return wp_get_object_terms( ${call}, '_gatherpress_venue', array( 'fields' => 'slugs' ) );`);
        const link = 'https://meet.example/7';
        const written = stateOf(await write(site, `events/${call}`, { online_url: link }));
        expect(written).to.deep.equal({ attendance_mode: 'online', online_url: link });
        expect(await onlineLinkOf(site, call)).to.equal(link);
        const refused = await site.request(`events/${call}`, { method: 'PATCH', json: { attendance_mode: 'offline' } });
        expect(refused.status).to.equal(400);
        expect(await terms()).to.deep.equal(['online-event']);
      },
    },
    shown: {
      async 'the calendar file of the event, and the dates of its page’s own class'(site) {
        const { id, url } = await write(site, 'events', { title: 'On a page', ...DATES, venue: site.ids.mill }, 201);
        const { status, text } = await calendarFile(site, url);
        expect(status).to.equal(200);
        for (const line of [
          'DTSTART:20310801T080000Z',
          'DTEND:20310801T100000Z',
          'SUMMARY:On a page',
          'LOCATION:Old Mill',
        ])
          expect(text).to.include(line);
        const shown = await site.php<string>(
          `return ( new GatherPress\\Core\\Event\\Event( ${id} ) )->get_display_datetime( 'both', 'Y-m-d H:i', 'H:i', 'to', 'yes' );`,
        );
        expect(shown).to.equal('2031-08-01 10:00 to 12:00 CEST');
      },
      async 'the site’s list of upcoming events'(site) {
        const listed = await site.php<string[]>(
          "return wp_list_pluck( ( new WP_Query( array( 'post_type' => 'gatherpress_event', 'gatherpress_event_query' => 'upcoming', 'posts_per_page' => 50 ) ) )->posts, 'post_title' );",
        );
        expect(listed).to.include('On a page').and.not.include('Old fair');
      },
    },
    webhook: {
      async 'dates that the plugin saves, which change no post'(site) {
        await site.php(
          `return ( new GatherPress\\Core\\Event\\Event( ${site.ids.concert} ) )->save_datetimes( array( 'datetime_start' => '2031-06-01 10:00:00', 'datetime_end' => '2031-06-01 11:00:00', 'timezone' => 'Europe/Paris' ) );`,
        );
        await arrives(site, `events/${site.ids.concert}`, ({ start_date: start }) => start === '2031-06-01 10:00:00');
      },
      async 'another venue, and another name and address of it'(site) {
        const { concert, mill } = site.ids;
        await site.php(`return wp_set_object_terms( ${concert}, '_old-mill', '_gatherpress_venue' );`);
        await arrives(site, `events/${concert}`, ({ venue }) => (venue as Json).id === mill);
        await site.php(
          `update_post_meta( ${mill}, 'gatherpress_address', '3 Mill Lane' ); return wp_update_post( array( 'ID' => ${mill}, 'post_title' => 'New Mill', 'post_name' => 'new-mill' ) );`,
        );
        const isThere = ({ venue }: Json) =>
          (venue as Json).venue === 'New Mill' && (venue as Json).address === '3 Mill Lane';
        await arrives(site, `events/${concert}`, isThere);
      },
      async 'a topic that is renamed, and an event that is deleted'(site) {
        await site.php(
          `return wp_update_term( ${site.ids.music}, 'gatherpress_topic', array( 'name' => 'Concerts' ) );`,
        );
        await arrives(site, `categories/${site.ids.music}`, ({ name }) => name === 'Concerts');
        await site.php(`return wp_delete_post( ${site.ids.past}, true );`);
        await arrives(site, `events/${site.ids.past}`, (_, status) => status === 404);
      },
    },
    series: 'the plugin has no recurring events',
  },
};
