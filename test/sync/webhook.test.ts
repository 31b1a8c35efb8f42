// A webhook fetches what it reports, and what the CMS changed along with it.

import { expect } from 'chai';
import { unavailable } from '../cms/fake-cms.ts';
import { syncedSite } from './filled-site.ts';
import { expectInSync, type SiteOptions, type TestSite, titleOf } from './test-site.ts';

describe('webhooks', () => {
  let site: TestSite;
  afterEach(() => site.close());

  async function synced(options?: SiteOptions): Promise<void> {
    site = await syncedSite(options);
  }

  describe('a webhook', () => {
    it('fetches and deletes the records immediately', async () => {
      await synced();
      site.cms.edit(10, { title: 'Reported' });
      site.cms.erase(12);
      const created = site.cms.createPost('events');
      site.cms.replaceMedia(5);
      await site.sync.fetchChanged([
        ...[10, 12, created.id].map((id) => ({ collection: 'events', id })),
        { collection: 'media', id: 5 },
        { collection: 'unknown', id: 1 },
      ]);
      expectInSync(site);
    });

    it('fetches the records of a term or an image that the CMS deleted', async () => {
      await synced();
      site.cms.deleteTerm(1);
      site.cms.deleteMedia(5);
      site.cms.deleteMedia(6);
      await site.sync.fetchChanged([
        { collection: 'event_categories', id: 1 },
        { collection: 'media', id: 5 },
        { collection: 'media', id: 6 },
      ]);
      expectInSync(site);
    });

    it('leaves the records to the next poll when the CMS is unavailable', async () => {
      await synced();
      site.cms.editSilently(10, { title: 'Reported' });
      site.cms.beforeRequest = unavailable;
      await site.sync.fetchChanged([{ collection: 'events', id: 10 }]);
      site.cms.beforeRequest = undefined;
      await site.poll();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Reported');
    });
  });
});
