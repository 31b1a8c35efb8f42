// My Calendar: `init` refuses it, because the REST API does not show its events.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import { type PluginTest, refused } from './plugin-test.ts';

export const plugin: PluginTest = {
  mapping: undefined,
  columns: {
    recognised: {
      async 'init names the plugin and the reason, and writes nothing'({ init }) {
        expect(init.text).to.match(/events in My Calendar\. The gateway cannot\s+serve[\s\S]*tables/);
        expect(init.text).to.not.include('wrote ');
      },
      async 'its events are in its tables, and their type is not in the REST API'(site) {
        const begin = `return $wpdb->get_col( 'SELECT event_begin FROM ' . my_calendar_table() . ' WHERE event_post = ${site.ids.concert}' );`;
        expect(await site.php(begin)).to.deep.equal(['2031-05-01']);
        expect((await site.wordpress('wp/v2/types')).body).to.not.have.any.keys('mc-events', 'mc-locations');
      },
      async 'its own route has public occurrences by day, and no time of a change'(site) {
        const { body } = await site.wordpress('my-calendar/v1/events?from=2031-05-01&to=2031-05-31', {
          as: 'anonymous',
        });
        const occurrences = Object.values(body as Record<string, Json[]>).flat();
        expect(occurrences.map(({ event_title }) => event_title)).to.include.members([
          'Harbour concert',
          'Weekly class',
        ]);
        expect(Object.keys(occurrences[0] ?? {}).filter((key) => /modif|updated|changed/.test(key))).to.deep.equal([]);
      },
    },
    ...refused('init refuses the site: its events are in tables of the plugin'),
  },
};
