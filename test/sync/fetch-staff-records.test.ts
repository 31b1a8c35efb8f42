// A gateway without a service account fetches the private records of one caller.

import { expect } from 'chai';
import { CmsUnavailable } from '../../src/errors.ts';
import { CREDENTIALS, unavailable, userIdOf } from '../cms/fake-cms.ts';
import { filledSite, syncedSite } from './filled-site.ts';
import { expectInSync, type TestSite } from './test-site.ts';

describe('private records', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('without a service account', () => {
    const STAFF = ['publish', 'draft', 'pending', 'private', 'future', 'trash'];
    const author = {
      credentials: CREDENTIALS.author,
      visibility: { anyAuthor: ['publish'], ownOnly: STAFF, userId: userIdOf('author') },
    };

    it('the replica holds published records only', async () => {
      site = filledSite({ service: undefined });
      site.cms.createPost('events', { status: 'draft', author: userIdOf('author') });
      site.sync.start();
      await site.sync.whenComplete();
      expect(site.replica.stamps('event', { statuses: STAFF.slice(1) })).to.deep.equal([]);
      expectInSync(site);
    });

    it("a caller's private records are fetched, and deleted once the CMS no longer lists them", async () => {
      site = await syncedSite({ service: undefined });
      const mine = [1, 2, 3, 4, 5, 6, 7].map(
        () => site.cms.createPost('events', { status: 'draft', author: userIdOf('author') }).id,
      );
      const other = site.cms.createPost('events', { status: 'draft' }).id;
      await site.sync.fetchStaffRecords(author, 'event');
      const drafts = () => site.replica.stamps('event', { statuses: ['draft'] }).map(({ id }) => id);
      expect(drafts()).to.deep.equal(mine);
      expect(site.replica.get('event', other)).to.equal(undefined);
      site.cms.erase(mine[0]!);
      site.cms.edit(mine[1]!, { status: 'publish' });
      await site.sync.fetchStaffRecords(author, 'event');
      expect(drafts()).to.deep.equal(mine.slice(2));
      await site.poll();
      expect(site.replica.get('event', mine[1]!)?.status).to.equal('publish');
      expectInSync(site);
      expect(drafts(), 'a poll leaves private records alone').to.deep.equal(mine.slice(2));
    });

    it("a poll does not count a caller's private records", async () => {
      site = await syncedSite({ service: undefined, pageSize: 100 });
      site.cms.createPost('events', { status: 'draft', author: userIdOf('author') });
      await site.sync.fetchStaffRecords(author, 'event');
      await site.sync.fetchStaffRecords(author, 'venue');
      await site.poll();
      await site.poll();
      site.cms.requests = [];
      await site.poll();
      expect(site.cms.requests).to.have.length(6);
    });

    it('fetching private records fails if the CMS is unavailable', async () => {
      site = await syncedSite({ service: undefined });
      site.cms.beforeRequest = unavailable;
      let thrown: unknown;
      await site.sync.fetchStaffRecords(author, 'event').catch((error) => {
        thrown = error;
      });
      expect(thrown).to.be.instanceOf(CmsUnavailable);
      site.cms.beforeRequest = undefined;
      site.cms.requests = [];
      await site.sync.fetchStaffRecords({ credentials: undefined, visibility: author.visibility }, 'event');
      expect(site.cms.requests).to.deep.equal([]);
    });
  });
});
