// Sugar Calendar: `init` refuses it, because the REST API does not show the dates of its events.

import { expect } from 'chai';
import { type PluginTest, refused } from './plugin-test.ts';

export const plugin: PluginTest = {
  mapping: undefined,
  columns: {
    recognised: {
      async 'init names the plugin and the reason, and writes nothing'({ init }) {
        expect(init.text).to.match(/events in Sugar Calendar\. The gateway cannot\s+serve/);
        expect(init.text).to.not.include('wrote ');
      },
      async 'its dates are in its table, and in no meta of the post'(site) {
        const start = `return $wpdb->get_col( "SELECT start FROM {$wpdb->prefix}sc_events WHERE object_id = ${site.ids.concert}" );`;
        expect(await site.php(start)).to.deep.equal(['2031-05-01 19:30:00']);
        expect(JSON.stringify(await site.rows(site.ids.concert ?? 0))).to.not.include('2031-05-01');
      },
      async 'no route of the REST API has a date of it'(site) {
        const { body } = await site.wordpress<{ routes: Record<string, unknown> }>('');
        const routes = Object.keys(body.routes).filter((route) => /sugar|sc_event(?!_)/.test(route));
        expect(routes.filter((route) => !/setup-wizard|oauth|webhook/.test(route))).to.deep.equal([
          '/sugar-calendar/v1',
        ]);
      },
    },
    ...refused('init refuses the site: its dates are in a table of the plugin'),
  },
};
