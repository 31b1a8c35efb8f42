// Finding deleted records takes a few requests, however long the list is.

import { expect } from 'chai';
import fc from 'fast-check';
import { getRecord } from '../../src/store/records.ts';
import { findDeleted } from '../../src/sync/reconcile.ts';
import { expectInSync, testSite } from './test-site.ts';

/** A list of the CMS that counts its requests. */
function fakeList(ids: number[], pageSize: number) {
  const list = {
    requests: 0,
    async readFrom(offset: number) {
      list.requests += 1;
      return ids.slice(offset, offset + pageSize).map((id) => ({ id }));
    },
  };
  return list;
}

describe('finding deleted records', () => {
  it('finds the ids that the CMS no longer has, in any list', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1, max: 500 }), { maxLength: 60 }),
        fc.integer({ min: 1, max: 7 }),
        fc.func(fc.boolean()),
        async (ids, pageSize, isDeleted) => {
          ids.sort((a, b) => a - b);
          const deleted = ids.filter((id) => isDeleted(id));
          const remaining = ids.filter((id) => !deleted.includes(id));
          const { readFrom } = fakeList(remaining, pageSize);
          expect(await findDeleted(ids, deleted.length, pageSize, readFrom)).to.deep.equal(deleted);
        },
      ),
    );
  });

  it('takes about ten requests for each in a list of a hundred thousand', async () => {
    const ids = Array.from({ length: 100_000 }, (_, n) => n + 1);
    const remaining = ids.filter((id) => id !== 77_777 && id !== 5);
    const list = fakeList(remaining, 100);
    expect(await findDeleted(ids, 2, 100, list.readFrom)).to.deep.equal([5, 77_777]);
    expect(list.requests).to.be.at.most(26);
  });
});

describe('a deletion on a site of fifty pages of events, without a webhook', () => {
  it('shows within two polls, for 25 calls at most', async () => {
    const site = testSite({ pageSize: 20 });
    try {
      for (let n = 0; n < 1000; n += 1) site.cms.createPost('events', { title: `Event ${n}` });
      site.sync.start();
      await site.settle();
      // The first scan ends: its pages are no calls of the deletion.
      for (let n = 0; n < 20; n += 1) await site.poll();
      const ids = [...site.cms.posts.keys()];
      for (const id of [ids[17]!, ids[500]!, ids.at(-1)!]) {
        const before = site.cms.requests.length;
        site.cms.erase(id);
        await site.poll();
        await site.poll();
        expect(getRecord(site.replica.db, 'event', id)).to.equal(undefined);
        expect(site.cms.requests.length - before).to.be.at.most(25);
      }
      expectInSync(site);
    } finally {
      await site.close();
    }
  }).timeout(60_000);
});
