// EventON Lite: the repeats in its key judge the series, and its own class the times that it shows.

import { expect } from 'chai';
import type { PluginSite, PluginTest } from './plugin-test.ts';
import { listedOccurrences, seriesChecks } from './series-checks.ts';
import { untilWebhook } from './site-requests.ts';

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

export const plugin: PluginTest = {
  mapping: 'eventon',
  columns: {
    recognised: {},
    read: {
      async 'a location has the address of the plugin'(site) {
        const [first] = await listedOccurrences(site, site.ids.weekly!);
        expect(first!.venue).to.include({ venue: 'Old Mill', address: '1 Mill Lane', city: 'Ely', country: 'England' });
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
