// The sync while the CMS is down, refuses the service account, or counts wrongly.

import { expect } from 'chai';
import { CmsRejected, ReplicaError } from '../../src/errors.ts';
import { SERVICE, unavailable } from '../cms/fake-cms.ts';
import { recordCounts } from '../store/record-counts.ts';
import { filledSite, syncedSite } from './filled-site.ts';
import { expectInSync, type TestSite, testSite, titleOf } from './test-site.ts';

describe('sync and CMS failures', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('an unavailable CMS', () => {
    it('makes the replica stale, then unreachable, and live once the CMS responds again', async () => {
      site = await syncedSite();
      site.cms.beforeRequest = unavailable;
      await site.poll();
      expect(site.sync.status()).to.include({ state: 'stale', complete: true, reason: 'connect ECONNREFUSED' });
      await site.poll();
      const since = site.nowMs();
      site.advance(3_600_000);
      await site.poll();
      expect(site.sync.status()).to.include({ state: 'unreachable', sinceMs: since, complete: true });
      site.cms.beforeRequest = undefined;
      site.cms.edit(10, { title: 'Meanwhile' });
      site.cms.erase(11);
      await site.poll();
      expect(site.sync.status().state).to.equal('live');
      expect(site.sync.status().reason).to.equal(undefined);
      expectInSync(site);
    });

    it('makes a requested poll resolve with false', async () => {
      site = await syncedSite();
      site.cms.beforeRequest = unavailable;
      expect(await site.sync.poll()).to.equal(false);
      site.cms.beforeRequest = undefined;
      expect(await site.sync.poll()).to.equal(true);
      const pending = site.sync.poll();
      await site.sync.stop();
      expect(await pending).to.equal(false);
    });

    it('does not prevent a start with a replica on disk', async () => {
      site = await syncedSite();
      site.cms.beforeRequest = unavailable;
      await site.restart();
      await site.sync.whenComplete();
      await site.poll();
      expect(site.sync.status()).to.include({ complete: true });
      expect(site.sync.site()).to.deep.equal(site.cms.siteFacts);
      expect(titleOf(site.replica, 'event', 10)).to.equal('Post 10');
    });

    it('keeps the time of the last successful poll across a restart', async () => {
      site = await syncedSite();
      await site.poll();
      const { lastCaughtUpMs } = site.sync.status();
      expect(lastCaughtUpMs).to.equal(site.nowMs());
      site.cms.beforeRequest = unavailable;
      site.advance(3_600_000);
      await site.restart();
      await site.sync.whenComplete();
      await site.poll();
      expect(site.sync.status()).to.include({ lastCaughtUpMs });
    });

    it("is polled less and less often while the gateway's disk is full, which the log says once", async () => {
      site = await syncedSite();
      await site.poll();
      site.replica.db.replace = () => {
        throw new ReplicaError('unwritable', 'database or disk is full');
      };
      site.observations.length = 0;
      site.advance(60_000);
      for (let n = 0; n < 3; n += 1) await site.sync.poll();
      expect(site.sync.state()).to.include({ phase: 'stale', failures: 3 });
      expect(site.observations.filter(({ type }) => type === 'sync-state')).to.have.length(1);
      // Its last state cannot be saved.
      await site.sync.stop();
    });

    it('is unreachable when it refuses the account that stands for visitors, which the reason says without its password', async () => {
      site = await syncedSite({ visitor: SERVICE });
      site.cms.serviceRole = 'refused';
      for (let n = 0; n < 2; n += 1) await site.poll();
      const { state, reason } = site.sync.status();
      expect(state).to.equal('unreachable');
      expect(reason).to.contain('refuses the account of upstream.user').and.not.contain('secret');
      expect(recordCounts(site.replica.db).event).to.equal(23);
      site.cms.serviceRole = 'editor';
      await site.poll();
      expect(site.sync.status().state).to.equal('live');
    });

    it('is not assumed when the total of a list is newer than its page', async () => {
      site = await syncedSite();
      const { list } = site.cms;
      let early = 0;
      site.cms.list = async (spec, request, options) => {
        const page = await list(spec, request, options);
        if (spec.collection === 'events' && page.records.length > 0 && early++ === 0) page.records.pop();
        return page;
      };
      site.cms.edit(10, { title: 'Read a moment earlier' });
      await site.poll();
      expect(early).to.be.greaterThan(1);
      expect(site.sync.status().state).to.equal('live');
      expectInSync(site);
    });

    it('that refuses visitors changes nothing of what the public sees, and says so with the remedy', async () => {
      site = await syncedSite();
      for (const base of ['events', 'venues']) site.cms.closedToPublic.add(base);
      for (let n = 0; n < 360; n += 1) await site.poll();
      expect(recordCounts(site.replica.db)).to.include({ event: 23, venue: 1 });
      expect(site.sync.status()).to.include({ state: 'stale', readAs: 'visitor' });
      expect(site.sync.status().reason).to.equal(
        'the site refuses visitors "venues" (401 rest_login_required), "events" (401 rest_login_required): ' +
          'the gateway keeps what it has. To show the public what an account sees, set upstream.readAs to "account".',
      );
      site.cms.createTerm('tags', { name: 'Open to all' });
      await site.poll();
      expect(recordCounts(site.replica.db).tag).to.be.above(0);
      site.cms.closedToPublic.clear();
      site.cms.edit(10, { title: 'Seen again' });
      await site.poll();
      expect(site.sync.status().state).to.equal('live');
      expectInSync(site);
    });

    it('that lists its images and refuses to show them by id stays current in all else', async () => {
      let isRefused = false;
      site = testSite({
        cms: (cms) => ({
          ...cms,
          async images(...call) {
            if (isRefused) throw new CmsRejected('forbidden', 'no', { status: 403, code: 'firewall' });
            return cms.images(...call);
          },
        }),
      });
      site.sync.start();
      await site.sync.whenComplete();
      isRefused = true;
      const event = site.cms.createPost('events', { featured: site.cms.createMedia().id }).id;
      for (let polls = 0; polls < 3; polls += 1) await site.poll();
      site.cms.edit(event, { title: 'Read all the same' });
      await site.poll();
      expect(titleOf(site.replica, 'event', event)).to.equal('Read all the same');
      expect(site.sync.status()).to.include({ state: 'stale' });
      expect(site.sync.status().reason).to.include('refuses visitors "media"');
      site.cms.edit(event, { title: 'Told by a webhook' });
      expect(await site.sync.fetchChanged([{ kind: 'event', id: event }])).to.equal(true);
    });

    it('has no initial sync with a site that refuses visitors its events, but with the account that stands for them', async () => {
      site = filledSite();
      for (const base of ['events', 'venues']) site.cms.closedToPublic.add(base);
      site.sync.start();
      for (let n = 0; n < 100 && site.sync.status().state !== 'unreachable'; n += 1) await new Promise(setImmediate);
      expect(site.sync.status()).to.include({ state: 'unreachable', complete: false });
      expect(site.sync.status().reason).to.match(/refuses visitors: "events" .*upstream\.readAs/);
      await site.close();
      site = filledSite({ visitor: SERVICE });
      for (const base of ['events', 'venues']) site.cms.closedToPublic.add(base);
      site.sync.start();
      await site.settle();
      expect(site.sync.status()).to.include({ state: 'live', readAs: 'account' });
      expectInSync(site);
    });
  });
});
