// Events Manager: its own list of events judges single events and series.

import { expect } from 'chai';
import { textLine, textLines } from '../../src/text/html.ts';
import type { Json } from '../live/json-client.ts';
import { until } from '../until.ts';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { listedOccurrences, seriesChecks } from './series-checks.ts';
import { arrives, stateOf, untilWebhook } from './site-requests.ts';

const ALWAYS = 'start_date=2000-01-01&end_date=2100-01-01&per_page=50';

interface Listed {
  title: string;
  start: string;
  end: string;
}

/** What the plugin lists to visitors within the window in which the gateway has occurrences. */
const ownList = (site: PluginSite, query = ''): Promise<Listed[]> =>
  site.php(
    `wp_set_current_user( 0 );
    return array_map(
      static fn( $event ) => array( 'title' => $event->event_name, 'start' => $event->start()->getDateTime(), 'end' => $event->end()->getDateTime() ),
      array_values( EM_Events::get( array( 'scope' => 'all', 'limit' => 0, 'orderby' => 'event_start_date,event_start_time,event_name' ${query} ) ) )
    );`,
  );

const ofWeekly = async (site: PluginSite) =>
  (await ownList(site)).flatMap(({ title, start, end }) => (title === 'Yoga' ? [{ start, end }] : []));

async function listed(site: PluginSite): Promise<Listed[]> {
  const events: Json[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const { body } = await site.request(`events?${ALWAYS}&page=${page}`);
    events.push(...(body.events as Json[]));
    pages = Number(body.total_pages);
  }
  return events.map(({ title, start_date, end_date }) => ({
    title: String(title),
    start: String(start_date),
    end: String(end_date),
  }));
}

const sorted = (list: Listed[]) =>
  list.map(({ title, start, end }) => `${start} ${end} ${title}`).sort((a, b) => (a < b ? -1 : 1));

/** Runs PHP with the weekly occurrence of this index as \`$event\`. */
const withOccurrence = (site: PluginSite, index: number, body: string) =>
  site.php(
    `$rows = $wpdb->get_col( "SELECT event_id FROM {$wpdb->prefix}em_events WHERE event_type = 'recurrence' AND event_name = 'Yoga' ORDER BY event_start" );
    $event = em_get_event( $rows[${index}] ); ${body}`,
  );

/** What the plugin's class says of an event, and the address of one that is at a URL. */
const ownState = (site: PluginSite, id: unknown): Promise<Json> =>
  site.php(
    `$event = em_get_event( ${id}, 'post_id' ); $place = $event->get_event_location();
    return array( 'status' => $event->get_active_status(), 'url' => $place ? $place->url : '' );`,
  );

const gatewayStatus = async (site: PluginSite): Promise<Json> =>
  (await (await fetch(`${site.gateway.adminUrl}/status`)).json()) as Json;

async function sameAsOwnList(site: PluginSite, what: string): Promise<void> {
  const own = JSON.stringify(sorted(await ownList(site)));
  await untilWebhook(async () => JSON.stringify(sorted(await listed(site))) === own, what);
}

export const plugin: PluginTest = {
  mapping: 'events-manager',
  // The plugin installs itself with an administrator's first page of wp-admin; elsewhere its installer fails.
  setup: [['eval', 'return;', '--user=admin', "--exec=define( 'WP_ADMIN', true );"]],
  columns: {
    recognised: {},
    read: {
      async 'the events that the plugin lists to visitors, with their dates'(site) {
        const own = await ownList(site);
        expect(own.length).to.be.above(45);
        expect(sorted(await listed(site))).to.deep.equal(sorted(own));
      },
      async 'zone, whole days, category and the address of the location'(site) {
        const { body } = await site.request(`events/${site.ids.concert}`);
        expect(body).to.include({ timezone: 'Europe/Paris', all_day: false });
        expect(String(body.start_date)).to.match(/ 19:30:00$/);
        expect(body.venue).to.include({ id: site.ids.venue, venue: 'Old Mill', address: '1 Mill Lane', city: 'Ely' });
        expect(body.venue).to.include({ state: 'Cambs', zip: 'CB7' });
        expect((body.categories as Json[]).map(({ id }) => id)).to.deep.equal([site.ids.music]);
        expect((await site.request(`events/${site.ids.fair}`)).body.all_day).to.equal(true);
      },
      async 'the notes of an event and of a location, as the plugin shows them on its pages'(site) {
        for (const [path, own] of [
          [`events/${site.ids.fair}`, `em_get_event( ${site.ids.fair}, 'post_id' )->output( '#_EVENTNOTES' )`],
          [`venues/${site.ids.venue}`, `em_get_location( ${site.ids.venue}, 'post_id' )->output( '#_LOCATIONNOTES' )`],
        ] as const) {
          const { body } = await site.request(path);
          const notes = await site.php<string>(`return do_shortcode( ${own} );`);
          expect(textLines(String(body.description), 500)).to.deep.equal(textLines(notes, 500));
          const page = await site.page(new URL(String(body.url)).pathname);
          expect(textLine(page.text, 50_000)).to.include(textLine(String(body.description)));
        }
      },
      async 'the same description each time'(site) {
        const address = `${site.url}/wp-json/wp/v2/event/${site.ids.fair}`;
        const read = async () => {
          const response = await fetch(address, { headers: { 'user-agent': 'calendar-gateway' } });
          return ((await response.json()) as Json).content as { rendered: string };
        };
        const { rendered } = await read();
        expect(rendered).to.include('Second').and.not.include('em-view');
        expect((await read()).rendered).to.equal(rendered);
      },
      async 'a cancelled event by its id, and in no list'(site) {
        const { body } = await site.request(`events/${site.ids.cancelled}`);
        expect(body.hide_from_listings).to.equal(true);
        expect(stateOf(body)).to.deep.equal({ event_status: 'cancelled' });
        expect(await ownState(site, site.ids.cancelled)).to.deep.equal({ status: 'Cancelled', url: '' });
      },
      async 'an active event is scheduled, and one at a URL is online'(site) {
        const { concert, online } = site.ids;
        expect(await ownState(site, concert)).to.deep.equal({ status: 'Active', url: '' });
        const scheduled = { event_status: 'scheduled' };
        expect(stateOf((await site.request(`events/${concert}`)).body)).to.deep.equal(scheduled);
        const url = 'https://meet.example/?a=1&b=2';
        expect(await ownState(site, online)).to.deep.equal({ status: 'Active', url });
        const { body } = await site.request(`events/${online}`);
        expect(stateOf(body)).to.deep.equal({ ...scheduled, attendance_mode: 'online', online_url: url });
      },
      async 'drafts for staff only'(site) {
        expect((await site.request(`events/${site.ids.sketch}`)).status).to.be.oneOf([401, 403]);
        expect((await site.request(`events/${site.ids.sketch}`, { as: 'admin' })).body.title).to.equal('Sketch');
      },
      async 'what visitors may: of an event with a password its dates, of a draft or private one nothing'(site) {
        expect(await gatewayStatus(site)).to.include({ readAs: 'visitor' });
        const { locked, sketch, private: hidden, concert } = site.ids;
        const metaOf = async (id: unknown) => {
          const { body } = await site.wordpress<{ meta: Json }>(`wp/v2/event/${id}`, { as: 'anonymous' });
          return body.meta;
        };
        const own = await site.php<Json>(
          `$event = em_get_event( ${locked}, 'post_id' );
          return array( 'zone' => $event->event_timezone, 'day' => $event->event_start_date, 'place' => (string) $event->location_id );`,
        );
        // Both events are in the same location.
        expect(String((await metaOf(concert))._location_id)).to.equal(own.place);
        const { _event_start_date: day, _event_timezone: zone, _location_id: place } = await metaOf(locked);
        expect({ day, zone, place: place ?? '' }).to.deep.equal({ day: own.day, zone: own.zone, place: '' });
        for (const id of [sketch, hidden])
          expect((await site.wordpress(`wp/v2/event/${id}`, { as: 'anonymous' })).status, String(id)).to.equal(401);
        expect((await site.request(`events/${locked}`)).status).to.equal(403);
        expect((await site.request(`events/${hidden}`)).status).to.be.oneOf([401, 403]);
      },
      async 'the series as it was, while the database refuses its rows'(site) {
        const before = await listedOccurrences(site, site.ids.weekly!);
        const rename = (from: string, to: string) =>
          site.php(`return $wpdb->query( "RENAME TABLE {$wpdb->prefix}${from} TO {$wpdb->prefix}${to}" );`);
        await rename('em_event_recurrences', 'em_gone');
        try {
          const record = await site.page(`/wp-json/wp/v2/event/${site.ids.weekly}?calendar_occurrences=30,365`);
          expect(record.status).to.equal(500);
          await site.php(`wp_update_post( array( 'ID' => ${site.ids.weekly}, 'post_excerpt' => 'Touched' ) );`);
          await until(async () => (await gatewayStatus(site)).state !== 'live', 'a poll has failed', 60_000);
          expect(await listedOccurrences(site, site.ids.weekly!)).to.deep.equal(before);
        } finally {
          await rename('em_gone', 'em_event_recurrences');
        }
        await until(
          async () => String((await listedOccurrences(site, site.ids.weekly!))[0]?.excerpt).includes('Touched'),
          'the gateway reads the series again',
          60_000,
        );
      },
    },
    written: 'the plugin keeps dates in tables of its own, which wp/v2 does not write',
    shown: 'the gateway writes nothing',
    webhook: {
      async 'an occurrence that the plugin cancels, in its own table only'(site) {
        await withOccurrence(site, 5, 'return $event->cancel();');
        await sameAsOwnList(site, 'the cancelled occurrence is in no list');
      },
      async 'an occurrence that the plugin deletes'(site) {
        const before = await listedOccurrences(site, site.ids.weekly!);
        await withOccurrence(site, 7, 'return $event->delete( true );');
        await sameAsOwnList(site, 'the gateway lists one occurrence less');
        const ids = new Set(before.map(({ id }) => id));
        const after = await listedOccurrences(site, site.ids.weekly!);
        expect(after.filter(({ id }) => !ids.has(id))).to.deep.equal([]);
        expect(after.length).to.equal(before.length - 1);
      },
      async 'an event that the plugin cancels, which changes no post'(site) {
        await site.php(`return em_get_event( ${site.ids.fair}, 'post_id' )->cancel();`);
        await sameAsOwnList(site, 'the cancelled event is in no list');
      },
      async 'cancelled occurrences, which say so, if the plugin lists them'(site) {
        await site.php("return update_option( 'dbem_events_include_status_cancelled', 1 );");
        await withOccurrence(site, 9, 'return $event->cancel();');
        const own = await site.php<string[]>(
          `return $wpdb->get_col( "SELECT CONCAT( event_start_date, ' ', event_start_time ) FROM {$wpdb->prefix}em_events WHERE event_type = 'recurrence' AND event_name = 'Yoga' AND event_active_status = 0 ORDER BY event_start" );`,
        );
        const cancelled = async () => {
          const listed = await listedOccurrences(site, site.ids.weekly!);
          const those = listed.filter(({ event_status: status }) => status === 'cancelled');
          return JSON.stringify(those.map(({ start_date: start }) => start));
        };
        expect(own).to.have.length(2);
        await untilWebhook(async () => (await cancelled()) === JSON.stringify(own), 'both occurrences are cancelled');
        await site.php("return update_option( 'dbem_events_include_status_cancelled', 0 );");
        await withOccurrence(site, 9, 'return $event->set_active_status( 1 );');
        await sameAsOwnList(site, 'they are in no list again');
      },
      async 'another address of a location'(site) {
        await site.php(
          `$location = em_get_location( ${site.ids.venue}, 'post_id' ); $location->location_town = 'Cambridge'; return $location->save();`,
        );
        await arrives(site, `venues/${site.ids.venue}`, ({ city }) => city === 'Cambridge');
      },
      async 'a series that the plugin trashes'(site) {
        await site.php(`return em_get_event( ${site.ids.shifts}, 'post_id' )->delete();`);
        await sameAsOwnList(site, 'the series is gone');
      },
    },
    // The plugin makes the occurrences of a draft when it is published.
    series: seriesChecks(ofWeekly, ['private']),
  },
};
