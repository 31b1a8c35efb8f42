// A mass deletion waits until the CMS has confirmed it.

import { expect } from 'chai';
import { normalize } from '../../src/cms/wordpress/record-form.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { SERVICE } from '../cms/fake-cms.ts';
import { recordCounts } from '../store/record-counts.ts';
import { syncedSite } from './filled-site.ts';
import { expectInSync, type TestSite } from './test-site.ts';

describe('deletion guard', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('a mass deletion', () => {
    /** Lists omit these records; single reads find them. Returns the repair. */
    function omitFromLists(hidden: (id: number) => boolean): () => void {
      site.cms.omitted = hidden;
      return () => {
        site.cms.omitted = undefined;
      };
    }
    const ids = () => [...site.cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
    /** Polls every ten seconds for so many minutes. */
    async function pollMinutes(count: number): Promise<void> {
      for (let n = 0; n < count * 6; n += 1) await site.poll();
    }

    for (const visitor of [undefined, SERVICE]) {
      const account = visitor ? 'with an account' : 'as a visitor';
      it(`is executed after some minutes, during which the replica is stale, ${account}`, async () => {
        site = await syncedSite({ visitor });
        await site.poll();
        for (const id of ids()) site.cms.erase(id);
        await pollMinutes(4);
        expect(recordCounts(site.replica.db).event).to.equal(23);
        expect(site.sync.status().state).to.equal('stale');
        expect(site.sync.status().reason).to.contain('events');
        expect(await site.sync.poll()).to.equal(false);
        await pollMinutes(4);
        expect(site.sync.status().state).to.equal('live');
        expectInSync(site);
      });

      it(`is never executed while a broken plugin hides the records from lists, ${account}`, async () => {
        for (const hidden of [() => true, (id: number) => id % 2 === 0]) {
          site = await syncedSite({ visitor });
          await site.poll();
          const repair = omitFromLists(hidden);
          await pollMinutes(30);
          expect(recordCounts(site.replica.db).event).to.equal(23);
          expect(site.sync.status().state).to.equal('stale');
          expect(site.sync.status().reason).to.contain('exists when read by id');
          site.cms.edit(ids().find((id) => !hidden(id)) ?? 0, { title: 'Seen all the same' });
          repair();
          await site.poll();
          await site.poll();
          expect(site.sync.status().state).to.equal('live');
          expectInSync(site);
          if (hidden(1)) await site.close();
        }
      });
    }

    it('is executed immediately if webhooks report the records', async () => {
      site = await syncedSite();
      const deleted = ids();
      for (const id of deleted) site.cms.erase(id);
      await site.sync.fetchChanged(deleted.map((id) => ({ kind: 'event' as const, id })));
      expect(recordCounts(site.replica.db).event).to.equal(0);
      await site.poll();
      expect(site.sync.status().state).to.equal('live');
    });

    it('includes records that were moved to a status that lists leave out', async () => {
      for (const isReported of [false, true]) {
        site = await syncedSite();
        for (const id of ids()) site.cms.edit(id, { status: 'archive' });
        if (isReported) await site.sync.fetchChanged(ids().map((id) => ({ kind: 'event' as const, id })));
        else await pollMinutes(8);
        expect(recordCounts(site.replica.db).event).to.equal(0);
        await site.poll();
        expect(site.sync.status().state).to.equal('live');
        if (!isReported) await site.close();
      }
    });

    it('includes records that got a status of a plugin', async () => {
      const source = structuredClone(loadMapping('wordpress-meta').file);
      source.event.wordpress = { statuses: ['expired'] };
      site = await syncedSite({ mapping: compileMapping(source, 'expired.json') });
      site.cms.read = async (spec, id, _how, options = {}) =>
        normalize(spec, site.cms.response(site.cms.posts.get(id)!, options));
      for (const id of ids()) site.cms.edit(id, { status: 'expired' });
      await pollMinutes(8);
      expect(recordCounts(site.replica.db).event).to.equal(0);
    });

    it('is executed although more records are deleted meanwhile', async () => {
      site = await syncedSite();
      const [last = 0, ...others] = ids();
      for (const id of others.slice(0, 15)) site.cms.erase(id);
      await pollMinutes(4);
      site.cms.erase(last);
      await pollMinutes(3);
      expect(recordCounts(site.replica.db).event).to.equal(8);
      await pollMinutes(6);
      expect(site.sync.status().state).to.equal('live');
      expectInSync(site);
    });

    it('is more than ten records: ten are deleted immediately', async () => {
      site = await syncedSite();
      for (const id of ids().slice(0, 10)) site.cms.erase(id);
      await site.poll();
      expectInSync(site);
    });
  });
});
