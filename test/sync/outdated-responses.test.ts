// Responses that are older than the replica do not overwrite it.

import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import { getImage, getRecord } from '../../src/store/records.ts';
import { unavailable } from '../cms/fake-cms.ts';
import { filledSite, syncedSite } from './filled-site.ts';
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

    it('that trashes an event cancels it in calendar files, although a poll finds it gone meanwhile', async () => {
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

    it('reads its record itself, although a poll is reading the same record', async () => {
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

    it('that trashes an event cancels it in calendar files, although a poll is deleting it', async () => {
      site = await syncedSite();
      site.cms.trashPost(10);
      const apply = site.replica.apply.bind(site.replica);
      const wasDeleted = Promise.withResolvers<void>();
      site.replica.apply = (changes) => {
        const changed = apply(changes);
        if (changes.deletes?.some(({ ids }) => ids.includes(10))) {
          site.replica.apply = apply;
          site.cms.beforeRequest = () => wasDeleted.promise;
          fetched = site.sync.fetchWritten([{ kind: 'event', id: 10, isTrashed: true }]);
          // The poll goes on in the next turn.
          setImmediate(() => setImmediate(wasDeleted.resolve));
        }
        return changed;
      };
      await site.poll();
      await fetched;
      expect(site.replica.apply).to.equal(apply);
      expect(site.replica.journal.cancelled(10)).to.include({ id: 10 });
    });

    it('stays in lists once it was fetched, also if an outdated response with it arrives meanwhile', async () => {
      site = await syncedSite();
      await site.settle();
      const [venue] = [...site.cms.posts.values()].filter(({ base }) => base === 'venues');
      const [shown] = [...site.cms.posts.values()].filter(({ base, featured }) => base === 'events' && featured > 0);
      const id = venue!.id;
      const image = shown!.featured;
      site.cms.edit(id, { title: 'Before' });
      const [pollReads, pollWent, isDone] = [1, 2, 3].map(() => Promise.withResolvers<void>());
      site.cms.afterRequest = ({ ids: read }) => {
        if (!read?.includes(id)) return undefined;
        site.cms.edit(id, { title: 'Written' });
        site.cms.deleteMedia(image);
        site.cms.afterRequest = ({ ids }) => {
          // The event loses its image, after the venue was fetched.
          if (!ids?.includes(shown!.id)) return undefined;
          site.cms.afterRequest = undefined;
          site.cms.beforeRequest = () => {
            pollWent!.resolve();
            return isDone!.promise;
          };
          pollReads!.resolve();
          return pollWent!.promise;
        };
        void site.sync.fetchChanged([{ kind: 'image', id: image }]);
        fetched = site.sync.fetchWritten([{ kind: 'venue', id }]);
        return pollReads!.promise;
      };
      const polled = site.poll();
      await pollReads!.promise;
      await fetched;
      const title = titleOf(site.replica, 'venue', id);
      isDone!.resolve();
      await polled;
      expect(title).to.equal('Written');
    });

    it('that could not be fetched in time is in lists again when its fetch ends', async () => {
      site = await syncedSite();
      site.cms.edit(10, { title: 'Written' });
      const [timeout, images] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const { setTimeout: sleep } = timers;
      Object.assign(timers, { setTimeout: () => timeout.promise });
      syncBuiltinESMExports();
      try {
        const [image] = site.cms.media.keys();
        site.cms.beforeRequest = ({ base }) => {
          if (base !== 'media') return undefined;
          timeout.resolve();
          return images.promise;
        };
        const batch = site.sync.fetchChanged([{ kind: 'image', id: image! }]);
        await site.sync.fetchWritten([{ kind: 'event', id: 10 }]);
        expect(titleOf(site.replica, 'event', 10)).to.equal(undefined);
        images.resolve();
        expect(await batch).to.equal(true);
        expect(titleOf(site.replica, 'event', 10)).to.equal('Written');
      } finally {
        Object.assign(timers, { setTimeout: sleep });
        syncBuiltinESMExports();
      }
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

    it('that deletes while all ids are compared hides no event that appears afterwards', async () => {
      site = filledSite();
      const [first, second] = [10, 12];
      for (const id of [first, second]) site.cms.editSilently(id, { status: 'draft' });
      site.sync.start();
      await site.sync.whenComplete();
      site.cms.editSilently(first, { status: 'publish' });
      site.cms.afterRequest = ({ base, offset, detail }) => {
        if (base !== 'events' || detail !== 'stamp' || offset !== 20) return undefined;
        site.cms.afterRequest = undefined;
        site.cms.erase(15);
        return site.sync.fetchWritten([{ kind: 'event', id: 15 }]);
      };
      await site.poll();
      expect(site.cms.afterRequest).to.equal(undefined);
      site.cms.editSilently(second, { status: 'publish' });
      await site.poll();
      expectInSync(site);
    });
  });

  describe('a response that was requested before another', () => {
    it('does not replace what that one brought', async () => {
      site = await syncedSite();
      site.cms.editSilently(10, { title: 'First' });
      site.cms.afterRequest = async ({ ids }) => {
        if (!ids?.includes(10)) return;
        site.cms.afterRequest = undefined;
        site.cms.edit(10, { title: 'Second' });
        await site.poll();
        expect(titleOf(site.replica, 'event', 10)).to.equal('Second');
      };
      await site.sync.fetchChanged([{ kind: 'event', id: 10 }]);
      expect(titleOf(site.replica, 'event', 10)).to.equal('Second');
    });

    it('does not bring back an event that that one lacked', async () => {
      site = await syncedSite();
      site.cms.afterRequest = async ({ ids }) => {
        if (!ids?.includes(10)) return;
        site.cms.afterRequest = undefined;
        site.cms.erase(10);
        await site.poll();
        expect(getRecord(site.replica.db, 'event', 10)).to.equal(undefined);
      };
      await site.sync.fetchChanged([{ kind: 'event', id: 10 }]);
      expect(getRecord(site.replica.db, 'event', 10)).to.equal(undefined);
    });
  });

  describe('of an image that a webhook names while a poll reads it', () => {
    let id: number;
    beforeEach(async () => {
      site = await syncedSite();
      await site.settle();
      id = [...site.cms.posts.values()].find(({ base, featured }) => base === 'events' && featured > 0)!.featured;
    });

    /** Runs `change` after the CMS has read the image for a poll, and before the response arrives. */
    function meanwhile(change: () => Promise<void> | void): void {
      const { images } = site.cms;
      site.cms.images = async (ids, options) => {
        const read = await images(ids, options);
        if (!ids.includes(id)) return read;
        site.cms.images = images;
        await change();
        return read;
      };
    }
    const named = () => site.sync.fetchChanged([{ kind: 'image', id }]);

    it('the response to the poll is thrown away', async () => {
      site.cms.replaceMedia(id);
      meanwhile(async () => {
        site.cms.cropMedia(id);
        expect(await named()).to.equal(true);
      });
      await site.poll();
      expectInSync(site);
    });

    it('the next poll reads it again, if the fetch fails', async () => {
      let fetched: Promise<boolean> | undefined;
      site.cms.replaceMedia(id);
      meanwhile(() => {
        site.cms.cropMedia(id);
        site.cms.beforeRequest = ({ base, ids }) => {
          if (base !== 'media' || !ids) return;
          site.cms.beforeRequest = undefined;
          unavailable();
        };
        fetched = named();
      });
      await site.poll();
      expect(await fetched).to.equal(false);
      await site.poll();
      expectInSync(site);
    });

    for (const [when, isAwaited] of [
      ['before the response to the poll', true],
      ['after it', false],
    ] as const)
      it(`it stays, if the poll found it hidden, and the fetch ends ${when}`, async () => {
        const image = site.cms.createMedia();
        id = image.id;
        site.cms.edit(10, { featured: id });
        site.cms.media.delete(id);
        let fetched: Promise<boolean> | undefined;
        meanwhile(async () => {
          site.cms.media.set(id, image);
          fetched = named();
          if (isAwaited) await fetched;
        });
        await site.poll();
        expect(await fetched).to.equal(true);
        expect(getImage(site.replica.db, id)).not.to.equal(undefined);
      });
  });

  it('an image stays that a webhook of its event brought while the response of an earlier poll lacks it', async () => {
    site = await syncedSite();
    await site.settle();
    const image = site.cms.createMedia();
    site.cms.edit(10, { featured: image.id });
    site.cms.media.delete(image.id);
    const { images } = site.cms;
    let isFetched = false;
    site.cms.images = async (ids, options) => {
      const read = await images(ids, options);
      if (!ids.includes(image.id)) return read;
      site.cms.images = images;
      site.cms.media.set(image.id, image);
      isFetched = await site.sync.fetchChanged([{ kind: 'event', id: 10 }]);
      return read;
    };
    await site.poll();
    expect(isFetched).to.equal(true);
    expectInSync(site);
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
