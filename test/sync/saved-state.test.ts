// What the sync has saved, and something else has changed: a disk, or another program.

import { expect } from 'chai';
import { syncedSite } from './filled-site.ts';
import { expectInSync } from './test-site.ts';

describe('a saved state that no gateway writes', () => {
  const rows = [
    ['sync.site', '{'],
    ['sync.polled', 'null'],
    ['sync.linkTables', '['],
    ['sync.fields.event', '['],
    ['sync.lastCaughtUpMs', '1x'],
  ] as const;
  for (const [key, value] of rows)
    it(`counts as none: ${key} is ${value}`, async () => {
      const site = await syncedSite();
      try {
        site.replica.apply({ state: { [key]: value } });
        site.cms.edit([...site.cms.posts.keys()].at(-1)!, { title: 'Edited meanwhile' });
        await site.restart();
        await site.settle();
        expectInSync(site);
        expect(site.sync.status().state).to.equal('live');
      } finally {
        await site.close();
      }
    });
});
