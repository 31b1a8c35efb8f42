// Responses that are older than the replica do not overwrite it.

import { expect } from 'chai';
import type { PostRecord } from '../../src/model/records.ts';
import { syncedSite } from './filled-site.ts';
import { expectInSync, RESYNC_INTERVAL_MS, type TestSite, titleOf } from './test-site.ts';

describe('outdated responses', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('a write of the gateway', () => {
    /** Runs `write` after the CMS has read the record for a poll, and before the response arrives. */
    function meanwhile(id: number, write: () => void): void {
      site.cms.afterRequest = ({ ids }) => {
        if (!ids?.includes(id)) return;
        site.cms.afterRequest = undefined;
        write();
      };
    }

    it('is not overwritten by a poll that started before it', async () => {
      site = await syncedSite();
      site.cms.edit(10, { title: 'Before' });
      meanwhile(10, () => {
        site.cms.edit(10, { title: 'Written' });
        site.replica.upsert([{ ...site.replica.get('event', 10)!, title: 'Written' }]);
        site.sync.recordWrite('event', 10);
      });
      await site.poll();
      expect(site.cms.afterRequest).to.equal(undefined);
      expect(titleOf(site.replica, 'event', 10)).to.equal('Written');
      await site.poll();
      expectInSync(site);
    });

    it('that deletes is not undone by a poll that started before it', async () => {
      site = await syncedSite();
      site.cms.edit(10, { title: 'Before' });
      meanwhile(10, () => {
        site.cms.erase(10);
        site.replica.delete('event', [10]);
        site.sync.recordWrite('event', 10);
      });
      await site.poll();
      expect(site.cms.afterRequest).to.equal(undefined);
      expect(site.replica.get('event', 10)).to.equal(undefined);
    });

    it('that creates is not undone by a reconciliation that started before it', async () => {
      site = await syncedSite();
      site.cms.erase(10);
      site.cms.afterRequest = ({ order }) => {
        if (order !== 'id') return;
        site.cms.afterRequest = undefined;
        const { id } = site.cms.createPost('events');
        site.replica.upsert([{ ...site.replica.get('event', 11)!, id }]);
        site.sync.recordWrite('event', id);
        createdId = id;
      };
      let createdId = 0;
      await site.poll();
      expect(createdId).to.be.greaterThan(0);
      expect(site.replica.get('event', createdId)).not.to.equal(undefined);
      await site.poll();
      expectInSync(site);
    });
  });

  describe('a response that is older than the replica', () => {
    it('does not replace it, and is accepted once the CMS has sent it for some minutes', async () => {
      site = await syncedSite();
      await site.poll();
      const restored = { ...site.cms.posts.get(10)! };
      site.cms.edit(10, { title: 'Written' });
      site.replica.upsert([
        {
          ...site.replica.get('event', 10)!,
          title: 'Written',
          modifiedUtc: new Date(site.cms.nowMs()).toISOString().slice(0, 19).replace('T', ' '),
        },
      ]);
      site.sync.recordWrite('event', 10);
      site.cms.editSilently(10, restored);
      for (let n = 0; n < 12; n += 1) await site.poll();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Written');
      const reason =
        'the CMS sends older versions of 1 records of "events", as after a restored backup: waiting for confirmation';
      expect(site.sync.status()).to.include({ state: 'stale', reason });
      expect(site.observations).to.deep.include({ type: 'sync-state', from: 'live', to: 'stale', why: reason });
      for (let n = 0; n < 30; n += 1) await site.poll();
      expectInSync(site);
      expect(site.sync.status().state).to.equal('live');
    });

    it('is not waited for any more after the record was deleted', async () => {
      site = await syncedSite();
      await site.poll();
      const older = { ...site.cms.posts.get(10)! };
      site.cms.edit(10, { title: 'Written' });
      await site.poll();
      site.cms.editSilently(10, older);
      await site.sync.fetchChanged([{ collection: 'events', id: 10 }]);
      for (let n = 0; n < 2; n += 1) await site.poll();
      expect(site.sync.status().state).to.equal('stale');
      site.cms.erase(10);
      await site.poll();
      expect(site.sync.status().state).to.equal('live');
      expectInSync(site);
    });

    it('does not undo the first publication of a draft, whose date and modification are then the same', async () => {
      site = await syncedSite();
      const { id } = site.cms.createPost('events', { status: 'draft', dateS: 0 });
      site.advance(3_600_000);
      await site.poll();
      const draft = { ...site.cms.posts.get(id)! };
      site.cms.edit(id, { status: 'publish', dateS: site.cms.nowMs() / 1000 });
      await site.poll();
      const published = { ...site.cms.posts.get(id)! };
      expect(site.replica.get('event', id)).to.include({ status: 'publish' });
      // A database behind the CMS lags.
      site.cms.editSilently(id, draft);
      await site.sync.fetchChanged([{ collection: 'events', id }]);
      expect(site.replica.get('event', id)).to.include({ status: 'publish' });
      site.cms.editSilently(id, published);
      await site.poll();
      expectInSync(site);
    });

    it('replaces at once a record whose time of modification is its publication date, which was ahead', async () => {
      site = await syncedSite();
      const dateS = site.cms.nowMs() / 1000 + 60;
      const { id } = site.cms.createPost('events', { dateS, modifiedS: dateS });
      await site.poll();
      site.cms.edit(id, { title: 'Edited' });
      site.advance(120_000);
      await site.poll();
      expect(titleOf(site.replica, 'event', id)).to.equal('Edited');
      expectInSync(site);
    });

    it('replaces it if the site moved to another time zone, and WordPress computes the time of a draft that was never changed', async () => {
      site = await syncedSite();
      const { id, modifiedS } = site.cms.createPost('events', {
        ...{ status: 'draft', modifiedS: site.cms.nowMs() / 1000, dateS: 0 },
      });
      await site.fullResync();
      const { modified, modifiedUtc } = site.replica.get('event', id) as PostRecord;
      site.cms.siteFacts = { ...site.cms.siteFacts, timezone: '+09:00' };
      site.cms.editSilently(id, { modifiedS: modifiedS - 7 * 3600 });
      // The next full resync, which takes six polls.
      site.advance(RESYNC_INTERVAL_MS);
      for (let n = 0; n < 6; n += 1) await site.poll();
      const moved = site.replica.get('event', id) as PostRecord;
      expect(moved).to.include({ modified });
      expect(moved.modifiedUtc < modifiedUtc, moved.modifiedUtc).to.equal(true);
      expectInSync(site);
    });

    it('does not replace a record that was published without a new modification time by the draft that it was', async () => {
      site = await syncedSite();
      const { id, modifiedS } = site.cms.createPost('events', {
        ...{ status: 'draft', modifiedS: site.cms.nowMs() / 1000, dateS: 0 },
      });
      await site.fullResync();
      const draft = site.replica.get('event', id) as PostRecord;
      site.replica.upsert([{ ...draft, status: 'publish' }]);
      site.sync.recordWrite('event', id);
      // A cache in front of the CMS still has the draft, with the time that WordPress computes in another zone.
      site.cms.siteFacts = { ...site.cms.siteFacts, timezone: '+09:00' };
      site.cms.editSilently(id, { modifiedS: modifiedS - 7 * 3600 });
      for (let n = 0; n < 12; n += 1) await site.poll();
      expect(site.replica.get('event', id)).to.include({ status: 'publish', modifiedUtc: draft.modifiedUtc });
    });
  });
});
