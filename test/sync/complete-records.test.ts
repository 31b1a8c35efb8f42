// Records that lack a requested field are rejected.

import { expect } from 'chai';
import { getRecords } from '../../src/store/records.ts';
import { SERVICE } from '../cms/fake-cms.ts';
import { recordCounts, recordIds } from '../store/record-counts.ts';
import { filledSite, syncedSite } from './filled-site.ts';
import { expectInSync, type TestSite, titleOf } from './test-site.ts';

describe('completeness of records', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('incomplete records', () => {
    /** Changes every record on its way to the gateway. */
    function damage(change: (row: Record<string, unknown>, n: number) => object): void {
      const { list } = site.cms;
      repair = () => {
        site.cms.list = list;
      };
      site.cms.list = async (...args) => {
        const page = await list(...args);
        return { ...page, records: page.records.map((row, n) => ({ ...change(row, n) })) };
      };
    }
    let repair = () => {};
    const without =
      (...names: string[]) =>
      (row: object) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
    const cases: Record<string, [string, Parameters<typeof damage>[0]]> = {
      'a modification time': ['modified_gmt', without('modified_gmt')],
      'a status': ['status', without('status')],
      'an id': ['id', without('id')],
      meta: ['meta', without('meta')],
      'meta keys': ['meta', (row) => (row.meta ? { ...row, meta: [] } : row)],
      'meta in every other record': ['meta', (row, n) => (n % 2 ? row : without('meta')(row))],
      'meta and a modification time': ['modified_gmt', without('meta', 'modified_gmt')],
    };
    for (const [name, [missing, change]] of Object.entries(cases)) {
      for (const visitor of [undefined, SERVICE]) {
        it(`are rejected: without ${name}, ${visitor ? 'with an account' : 'as a visitor'}`, async () => {
          site = await syncedSite({ visitor });
          for (let n = 0; n < 2; n += 1) await site.poll();
          const before = getRecords(site.replica.db, 'event', recordIds(site.replica.db, 'event'));
          for (const [id] of before) site.cms.edit(id, { title: 'Meanwhile' });
          damage(change);
          for (let n = 0; n < 2; n += 1) await site.poll();
          expect(getRecords(site.replica.db, 'event', recordIds(site.replica.db, 'event'))).to.deep.equal(before);
          expect(site.sync.status().state).to.equal('unreachable');
          expect(site.sync.status().reason).to.contain(missing);
          repair();
          await site.poll();
          expect(site.sync.status().state).to.equal('live');
          expectInSync(site);
        });
      }
    }

    it('are rejected without the key that hides events, also after a restart', async () => {
      const showKey = (): void =>
        damage((row) => (row.meta ? { ...row, meta: { ...row.meta, hide_from_listings: false } } : row));
      site = filledSite();
      showKey();
      site.sync.start();
      await site.sync.whenComplete();
      await site.poll();
      site.cms.edit(10, { title: 'Meanwhile' });
      repair();
      await site.restart();
      for (let turn = 0; turn < 3; turn += 1) await site.poll();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Post 10');
      expect(site.sync.status().state).to.equal('unreachable');
      expect(site.sync.status().reason).to.contain('meta.hide_from_listings');
      showKey();
      await site.poll();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Meanwhile');
      expect(site.sync.status().state).to.equal('live');
    });

    it('are accepted if no record ever had the field', async () => {
      site = filledSite();
      damage(without('author', 'featured_media', 'excerpt'));
      site.sync.start();
      await site.sync.whenComplete();
      expect(site.sync.status().state).to.equal('live');
      expect(recordCounts(site.replica.db).event).to.equal(23);
    });
  });
});
