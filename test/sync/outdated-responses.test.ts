// Responses that are older than the replica do not overwrite it.

import { expect } from 'chai';
import { getRecord } from '../../src/store/records.ts';
import { syncedSite } from './filled-site.ts';
import { expectInSync, type TestSite, titleOf } from './test-site.ts';

describe('outdated responses', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('a write of the gateway', () => {
    let fetched = Promise.resolve();
    /** Runs `write` after the CMS has read the record for a poll, and before the response arrives. */
    function meanwhile(id: number, write: () => void): void {
      site.cms.afterRequest = ({ ids }) => {
        if (!ids?.includes(id)) return;
        site.cms.afterRequest = undefined;
        write();
        // Not awaited: it is fetched after this response, and a poll may end before.
        fetched = site.sync.fetchWritten([{ kind: 'event', id }]);
      };
    }

    it('is not overwritten by a poll that started before it', async () => {
      site = await syncedSite();
      site.cms.edit(10, { title: 'Before' });
      meanwhile(10, () => {
        site.cms.edit(10, { title: 'Written' });
      });
      await site.poll();
      await fetched;
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
      });
      await site.poll();
      await fetched;
      expect(site.cms.afterRequest).to.equal(undefined);
      expect(getRecord(site.replica.db, 'event', 10)).to.equal(undefined);
    });

    it('that moves an event to the trash is told of as such, also if a poll finds the event gone meanwhile', async () => {
      site = await syncedSite();
      site.cms.trashPost(10);
      const [fetchBegan, polled] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      site.cms.afterRequest = ({ ids }) => {
        if (!ids?.includes(10)) return undefined;
        // The response to the poll arrives after the fetch has begun, and before the response to the fetch.
        site.cms.afterRequest = () => {
          site.cms.afterRequest = undefined;
          fetchBegan.resolve();
          return polled.promise;
        };
        fetched = site.sync.fetchWritten([{ kind: 'event', id: 10, isTrashed: true }]);
        return fetchBegan.promise;
      };
      await site.poll();
      polled.resolve();
      await fetched;
      expect(site.cms.afterRequest).to.equal(undefined);
      expect(site.replica.journal.cancelled(10)).to.include({ id: 10 });
    });

    it('is fetched by itself while a poll reads the same record', async () => {
      site = await syncedSite();
      const [venue] = [...site.cms.posts.values()].filter(({ base }) => base === 'venues');
      site.cms.editSilently(10, { title: 'Written' });
      const [pollReads, wasFetched] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      let polled = Promise.resolve();
      site.cms.afterRequest = ({ base }) => {
        expect(base).to.equal('venues');
        // The event is noted as written, and not requested yet: the poll requests it first.
        site.cms.afterRequest = ({ ids }) => {
          if (!ids?.includes(10)) return undefined;
          site.cms.afterRequest = undefined;
          pollReads.resolve();
          return wasFetched.promise;
        };
        polled = site.poll();
        return pollReads.promise;
      };
      await site.sync.fetchWritten([
        { kind: 'venue', id: venue!.id },
        { kind: 'event', id: 10 },
      ]);
      expect(titleOf(site.replica, 'event', 10)).to.equal('Written');
      wasFetched.resolve();
      await polled;
      expectInSync(site);
    });

    it('that creates is not undone by a reconciliation that started before it', async () => {
      site = await syncedSite();
      site.cms.erase(10);
      site.cms.afterRequest = ({ order }) => {
        if (order !== 'id') return;
        site.cms.afterRequest = undefined;
        const { id } = site.cms.createPost('events');
        fetched = site.sync.fetchWritten([{ kind: 'event', id }]);
        createdId = id;
      };
      let createdId = 0;
      await site.poll();
      await fetched;
      expect(createdId).to.be.greaterThan(0);
      expect(getRecord(site.replica.db, 'event', createdId)).not.to.equal(undefined);
      await site.poll();
      expectInSync(site);
    });
  });

  describe('a response that is older than the replica', () => {
    it('replaces it if the record was requested by id, as after a restored backup', async () => {
      site = await syncedSite();
      const restored = { ...site.cms.posts.get(10)! };
      site.cms.edit(10, { title: 'Written' });
      await site.poll();
      site.cms.editSilently(10, restored);
      await site.sync.fetchChanged([{ kind: 'event', id: 10 }]);
      expect(titleOf(site.replica, 'event', 10)).to.equal(restored.title);
      await site.poll();
      expect(site.sync.status().state).to.equal('live');
      expectInSync(site);
    });

    it('is read again by id if it came with a page of a list', async () => {
      site = await syncedSite();
      const restored = { ...site.cms.posts.get(10)! };
      site.cms.edit(10, { title: 'Written' });
      await site.poll();
      site.cms.editSilently(10, restored);
      await site.scan();
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
  });
});
