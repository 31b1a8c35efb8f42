// Event Organiser: its table of occurrences judges the series.

import { expect } from 'chai';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { listedOccurrences, seriesChecks } from './series-checks.ts';
import { arrives, untilWebhook } from './site-requests.ts';

/** The rows of the plugin's own table. */
const rowsOf = (site: PluginSite, postId: number): Promise<{ start: string; end: string }[]> =>
  site.php(
    `return $wpdb->get_results( "SELECT CONCAT(StartDate, ' ', StartTime) AS start, CONCAT(EndDate, ' ', FinishTime) AS end FROM {$wpdb->prefix}eo_events WHERE post_id = ${postId} ORDER BY 1" );`,
  );

export const plugin: PluginTest = {
  mapping: 'event-organiser',
  columns: {
    recognised: {},
    read: {
      async 'past events are listed'(site) {
        const query = 'events?start_date=2000-01-01&end_date=2100-01-01&search=Old fair';
        expect((await site.request(query)).body.total).to.equal(1);
      },
      async 'the list in wp/v2 has each event once, and as many as its total says'(site) {
        const events = await site.php<number>(
          "return count( get_posts( array( 'post_type' => 'event', 'numberposts' => -1, 'fields' => 'ids', 'group_events_by' => 'series', 'showpastevents' => true ) ) );",
        );
        expect(events).to.equal(3);
        expect(
          (await site.request('events?start_date=2000-01-01&end_date=2100-01-01&search=Concert')).body.total,
        ).to.equal(1);
      },
      async 'a venue has the address and the text of the plugin'(site) {
        const { body } = await site.request('venues/by-slug/old-mill');
        expect(body).to.include({
          address: '1 Mill Lane',
          city: 'Ely',
          state: 'Cambs',
          zip: 'CB7',
          country: 'England',
        });
        expect(body.description).to.contain('By the river.');
      },
      async 'without tags, which are off after the installation'(site) {
        expect(await site.php("return taxonomy_exists( 'event-tag' );")).to.equal(false);
        const { status, body } = await site.request('tags');
        expect([status, body.tags]).to.deep.equal([200, []]);
      },
    },
    written: 'the plugin keeps dates in a table of its own, which wp/v2 does not write',
    shown: 'the gateway writes nothing',
    webhook: {
      async 'an occurrence that the plugin deletes'(site) {
        const before = await listedOccurrences(site, site.ids.weekly!);
        await site.php(
          `$ids = array_keys( eo_get_the_occurrences( ${site.ids.weekly} ) ); return _eventorganiser_remove_occurrence( ${site.ids.weekly}, $ids[3] );`,
        );
        await untilWebhook(
          async () => (await listedOccurrences(site, site.ids.weekly!)).length === before.length - 1,
          'the gateway lists one occurrence less',
        );
        const listed = await listedOccurrences(site, site.ids.weekly!);
        expect(listed.map(({ start_date: start }) => start)).to.deep.equal(
          (await rowsOf(site, site.ids.weekly!)).map(({ start }) => start),
        );
        const ids = new Set(before.map(({ id }) => id));
        expect(listed.filter(({ id }) => !ids.has(id))).to.deep.equal([]);
      },
      async 'a series at another time of the day, with the same ids'(site) {
        const before = await listedOccurrences(site, site.ids.weekly!);
        await site.php(
          `$zone = eo_get_blog_timezone(); $old = eo_get_event_schedule( ${site.ids.weekly} ); return eo_update_event( ${site.ids.weekly}, array( 'start' => $old['start']->setTime( 17, 0 ), 'end' => $old['end']->setTime( 18, 0 ) ) );`,
        );
        await untilWebhook(
          async () => String((await listedOccurrences(site, site.ids.weekly!))[0]?.start_date).endsWith('17:00:00'),
          'the gateway shows the new time',
        );
        const listed = await listedOccurrences(site, site.ids.weekly!);
        expect(listed.map(({ id }) => id)).to.include.members(before.map(({ id }) => id));
      },
      async 'another address of a venue'(site) {
        await site.php(`return eo_update_venue( ${site.ids.venue}, array( 'city' => 'Cambridge' ) );`);
        await arrives(site, 'venues/by-slug/old-mill', ({ city }) => city === 'Cambridge');
      },
    },
    series: seriesChecks((site) => rowsOf(site, site.ids.weekly!)),
  },
};
