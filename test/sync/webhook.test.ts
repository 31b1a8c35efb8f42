// A webhook fetches what it reports, and what the CMS changed along with it.

import { expect } from 'chai';
import { getImage } from '../../src/store/records.ts';
import { unavailable } from '../cms/fake-cms.ts';
import { until } from '../until.ts';
import { syncedSite } from './filled-site.ts';
import { expectInSync, SCAN_INTERVAL_MS, type TestSite, titleOf } from './test-site.ts';

describe('webhooks', () => {
  let site: TestSite;
  afterEach(() => site.close());

  for (const [name, read] of Object.entries({
    'a webhook': (id: number) => site.sync.fetchChanged([{ kind: 'image', id }]),
    async 'a poll'(id: number) {
      site.cms.replaceMedia(id);
      await site.poll();
    },
  }))
    it(`${name} brings an image that the CMS hid when its event was read`, async () => {
      site = await syncedSite();
      const image = site.cms.createMedia();
      site.cms.media.delete(image.id);
      site.cms.edit(10, { featured: image.id });
      for (let n = 0; n < 6; n += 1) await site.poll();
      expect(getImage(site.replica.db, image.id)).to.equal(undefined);
      site.cms.media.set(image.id, image);
      await read(image.id);
      expectInSync(site);
      expect(getImage(site.replica.db, image.id)).to.deep.equal(site.cms.image(image));
    });

  it('tell of the trash an event that a poll has found gone before', async () => {
    site = await syncedSite();
    const version = site.replica.version;
    site.cms.trashPost(10);
    site.cms.erase(12);
    await site.poll();
    expect(site.replica.journal.cancelled(10)).to.equal(undefined);
    const report = () => site.sync.fetchChanged([{ kind: 'event', id: 10, isTrashed: true }]);
    await report();
    expect(site.replica.journal.cancelled(10)).to.include({ id: 10 });
    expect(site.replica.journal.cancelled(12)).to.equal(undefined);
    expect(site.replica.version).to.be.greaterThan(version + 1);
    // A visitor reads it again, and then it is erased.
    site.cms.edit(10, { status: 'publish' });
    await site.poll();
    site.cms.erase(10);
    await site.poll();
    expect(site.replica.journal.cancelled(10)).to.equal(undefined);
  });

  describe('what a round of the sync counts', () => {
    const counted = (property: 'changed' | 'removed') =>
      site.observations.reduce((sum, each) => sum + (each.type === 'sync-round' ? each[property] : 0), 0);

    it('has what webhooks changed since the round before', async () => {
      site = await syncedSite();
      await site.settle();
      const [changed, removed] = [counted('changed'), counted('removed')];
      site.cms.edit(10, { title: 'Reported' });
      await site.sync.fetchChanged([{ kind: 'event', id: 10 }]);
      site.cms.erase(12);
      await site.sync.fetchChanged([{ kind: 'event', id: 12 }]);
      await site.poll();
      expect([counted('changed') - changed, counted('removed') - removed]).to.deep.equal([1, 1]);
    });

    it('has what a webhook changes while a poll reads other records', async () => {
      site = await syncedSite();
      await site.settle();
      const changed = counted('changed');
      const ids = [...site.cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
      for (const id of ids) site.cms.edit(id, { title: `Event ${id}` });
      const reported = ids.slice(0, 5).map((id) => ({ kind: 'event' as const, id }));
      await Promise.all([site.poll(), site.sync.fetchChanged(reported)]);
      await site.poll();
      expect(counted('changed') - changed).to.equal(ids.length);
    });
  });

  describe('a webhook', () => {
    it('fetches and deletes the records immediately', async () => {
      site = await syncedSite();
      site.cms.edit(10, { title: 'Reported' });
      site.cms.erase(12);
      const created = site.cms.createPost('events');
      site.cms.replaceMedia(5);
      await site.sync.fetchChanged([
        ...[10, 12, created.id].map((id) => ({ kind: 'event' as const, id })),
        { kind: 'image', id: 5 },
      ]);
      expectInSync(site);
    });

    it('fetches the records of a term or an image that the CMS deleted', async () => {
      site = await syncedSite();
      site.cms.deleteTerm(1);
      site.cms.deleteMedia(5);
      site.cms.deleteMedia(6);
      await site.sync.fetchChanged([
        { kind: 'category', id: 1 },
        { kind: 'image', id: 5 },
        { kind: 'image', id: 6 },
      ]);
      expectInSync(site);
    });

    it('is fetched in one of two batches, if it comes in a burst', async () => {
      site = await syncedSite();
      const events = Array.from({ length: 500 }, () => site.cms.createPost('events'));
      const requestsFor = async (fetch: () => Promise<unknown>) => {
        const before = site.cms.requests.length;
        await fetch();
        return site.cms.requests.length - before;
      };
      const webhook = ({ id }: { id: number }) => site.sync.fetchChanged([{ kind: 'event', id }]);
      // An import saves each of its 500 events twice, each time with a webhook of its own.
      const inBurst = await requestsFor(() => Promise.all([...events, ...events].map(webhook)));
      expectInSync(site);
      for (const { id } of events) site.cms.editSilently(id, { title: 'Imported again' });
      const changes = events.map(({ id }) => ({ kind: 'event' as const, id }));
      const inOne = await requestsFor(() => site.sync.fetchChanged(changes));
      expectInSync(site);
      expect(inBurst).to.be.at.most(2 * inOne);
    });

    it('is not lost if the CMS is being asked for the same record', async () => {
      site = await syncedSite();
      site.cms.editSilently(10, { title: 'First' });
      const change = [{ kind: 'event', id: 10 }] as const;
      let second: Promise<boolean> | undefined;
      site.cms.afterRequest = () => {
        site.cms.afterRequest = undefined;
        site.cms.editSilently(10, { title: 'Second' });
        second = site.sync.fetchChanged(change);
      };
      await site.sync.fetchChanged(change);
      expect(await second).to.equal(true);
      expect(titleOf(site.replica, 'event', 10)).to.equal('Second');
    });

    it('is followed by a poll at once if the CMS did not respond, however long the interval', async () => {
      site = await syncedSite();
      site.cms.editSilently(10, { title: 'Reported' });
      site.cms.beforeRequest = () => {
        site.cms.beforeRequest = undefined;
        unavailable();
      };
      expect(await site.sync.fetchChanged([{ kind: 'event', id: 10 }])).to.equal(false);
      await until(() => titleOf(site.replica, 'event', 10) === 'Reported', 'the poll after it', 5000);
    });

    it('is followed by another poll if it fails while a poll runs that has read these records already', async () => {
      site = await syncedSite();
      site.advance(SCAN_INTERVAL_MS);
      let isFailing = false;
      let fetched: boolean | undefined;
      site.cms.beforeRequest = () => {
        if (!isFailing) return;
        isFailing = false;
        unavailable();
      };
      site.cms.afterRequest = async ({ base, order, detail }) => {
        // A page of the scan, at the end of the poll.
        if (base !== 'events' || order !== 'id' || detail !== 'mapped' || fetched !== undefined) return;
        site.cms.afterRequest = undefined;
        site.cms.editSilently(10, { title: 'Reported' });
        isFailing = true;
        fetched = await site.sync.fetchChanged([{ kind: 'event', id: 10 }]);
      };
      await site.poll();
      expect(fetched).to.equal(false);
      await until(() => titleOf(site.replica, 'event', 10) === 'Reported', 'the poll after it', 5000);
    });

    it('leaves the records to the next poll when the CMS is unavailable', async () => {
      site = await syncedSite();
      for (let n = 0; n < 6; n += 1) await site.poll();
      site.cms.editSilently(11, { title: 'Reported' });
      site.cms.cropMedia(5);
      site.cms.beforeRequest = unavailable;
      await site.sync.fetchChanged([
        { kind: 'event', id: 11 },
        { kind: 'image', id: 5 },
      ]);
      site.cms.beforeRequest = undefined;
      await site.poll();
      expect(titleOf(site.replica, 'event', 11)).to.equal('Reported');
      expectInSync(site);
    });
  });
});
