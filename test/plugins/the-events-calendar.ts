// The Events Calendar, with a block theme and with a classic one.

import { expect } from 'chai';
import type { Json } from '../live/json-client.ts';
import { until } from '../until.ts';
import type { PluginSite, PluginTest } from './plugin-test.ts';

const ALL = 'start_date=2019-01-01&end_date=2040-01-01&per_page=50';
const WEBHOOK_MS = 5000;

const idsOf = (records: unknown): number[] => ((records ?? []) as Json[]).map(({ id }) => Number(id));

/** The ids of a list of the plugin's own REST API. */
const originalIds = async (site: PluginSite, query: string): Promise<number[]> =>
  idsOf((await site.wordpress(`tribe/events/v1/events?${query}`, { as: 'anonymous' })).body.events);

const listedIds = async (site: PluginSite, query: string): Promise<number[]> =>
  idsOf((await site.request(`events?${query}`)).body.events);

export const plugin: PluginTest = {
  mapping: 'tribe-events-native',
  sites: [
    { name: 'block theme', theme: 'block' },
    { name: 'classic theme', theme: 'classic' },
  ],
  columns: {
    recognised: {},
    read: {
      async 'lists the events that the plugin lists, past ones too'(site) {
        expect(await listedIds(site, ALL)).to.deep.equal(await originalIds(site, ALL));
      },
    },
    written: {},
    shown: {},
    webhook: {
      async 'an event that the plugin changes'(site) {
        await site.php(`return tribe_events()->where( 'id', ${site.ids.fair} )->set( 'title', 'Town fair' )->save();`);
        await until(
          async () => (await site.request(`events/${site.ids.fair}`)).body.title === 'Town fair',
          'the gateway shows the new title',
          WEBHOOK_MS,
        );
      },
    },
    series: 'the plugin has recurring events only in its paid version',
  },
};
