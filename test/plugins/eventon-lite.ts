// EventON Lite: the repeats in its key judge the series, and its own class the times that it shows.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { listedOccurrences, seriesChecks } from './series-checks.ts';
import { stateOf, untilWebhook } from './site-requests.ts';

/** The times that the plugin shows for each repeat. */
const repeatsOf = (site: PluginSite, postId: number): Promise<{ start: string; end: string }[]> =>
  site.php(
    `$shown = array();
    foreach ( get_post_meta( ${postId}, 'repeat_intervals', true ) as $index => $times ) {
      $event = new EVO_Event( ${postId}, '', $index ); $event->load_repeat( $index );
      $shown[] = array( 'start' => gmdate( 'Y-m-d H:i:s', $event->start_unix_raw ), 'end' => gmdate( 'Y-m-d H:i:s', $event->end_unix_raw ) );
    }
    sort( $shown );
    return $shown;`,
  );

const ownState = (site: PluginSite, id: unknown): Promise<Json> =>
  site.php(
    `$event = new EVO_Event( ${id} );
    return array( 'status' => $event->get_event_status(), 'reason' => (string) $event->get_status_reason(), 'mode' => $event->get_attendance_mode(), 'url' => (string) $event->virtual_url() );`,
  );

export const plugin: PluginTest = {
  mapping: 'eventon',
  columns: {
    recognised: {},
    read: {
      async 'a location has the address of the plugin'(site) {
        const [first] = await listedOccurrences(site, site.ids.weekly!);
        expect(first!.venue).to.include({ venue: 'Old Mill', address: '1 Mill Lane', city: 'Ely', country: 'England' });
      },
      async 'the state of events, as the plugin’s own class reads it; nothing where it only has defaults'(site) {
        const states = {
          silent: {},
          scheduled: { event_status: 'scheduled', attendance_mode: 'offline' },
          cancelled: { event_status: 'cancelled', event_status_reason: 'Storm' },
          oldstyle: { event_status: 'cancelled' },
          postponed: { event_status: 'postponed', event_status_reason: 'Snow' },
          moved: { event_status: 'moved_online', attendance_mode: 'online', online_url: 'https://meet.example/1' },
          rescheduled: { event_status: 'scheduled', attendance_mode: 'mixed' },
          tentative: {},
        };
        const words: Json = { cancelled: 'cancelled', postponed: 'postponed', movedonline: 'moved_online' };
        for (const [name, state] of Object.entries(states)) {
          const { body } = await site.request(`events/${site.ids[name]}`);
          expect(stateOf(body), name).to.deep.equal(state);
          const own = await ownState(site, site.ids[name]);
          const shown: Json = stateOf(body);
          expect(words[String(own.status)] ?? 'scheduled', name).to.equal(shown.event_status ?? 'scheduled');
          expect(own.mode, name).to.equal(shown.attendance_mode ?? 'offline');
          expect(own.reason, name).to.equal(shown.event_status_reason ?? '');
        }
        // The plugin leads visitors through the event's page, which hides the address until the event begins.
        const { online_url: url, attendance_mode: mode } = (await site.request(`events/${site.ids.virtual}`)).body;
        expect(mode).to.equal('online');
        expect(url).to.equal((await ownState(site, site.ids.virtual)).url);
        expect(String(url))
          .to.match(/event_access/)
          .and.not.match(/meet/);
      },
    },
    written: 'the mapping is read-only: the plugin computes several keys from those that it would write',
    shown: 'the gateway writes nothing',
    webhook: {
      async 'repeats that the plugin removes'(site) {
        const before = await listedOccurrences(site, site.ids.weekly!);
        await site.php(
          `$repeats = get_post_meta( ${site.ids.weekly}, 'repeat_intervals', true ); unset( $repeats[3] ); return update_post_meta( ${site.ids.weekly}, 'repeat_intervals', $repeats );`,
        );
        await untilWebhook(
          async () => (await listedOccurrences(site, site.ids.weekly!)).length === before.length - 1,
          'the gateway lists one occurrence less',
        );
        const ids = new Set(before.map(({ id }) => id));
        expect((await listedOccurrences(site, site.ids.weekly!)).filter(({ id }) => !ids.has(id))).to.deep.equal([]);
      },
    },
    series: seriesChecks((site) => repeatsOf(site, site.ids.weekly!)),
  },
};
