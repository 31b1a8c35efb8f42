// After the gateway's wall clock was set back or forward, polls, the scan and mass deletions wait as
// long as before.

import { expect } from 'chai';
import { getRecord } from '../../src/store/records.ts';
import { Replica } from '../../src/store/replica.ts';
import { Sync } from '../../src/sync/sync.ts';
import { createFakeCms } from '../cms/fake-cms.ts';
import { recordCounts } from '../store/record-counts.ts';
import { until } from '../until.ts';
import { mapping, testSite } from './test-site.ts';

const DAY_MS = 86_400_000;

describe('a wall clock that was set', () => {
  it('back does not stop the polls', async () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const cms = createFakeCms(() => nowMs);
    let polls = 0;
    let skewMs = DAY_MS;
    const replica = new Replica({ identity: 'test' });
    const sync = new Sync({
      replica,
      cms,
      mapping,
      intervalMs: 10,
      nowMs: () => nowMs + skewMs,
      observe({ type }) {
        if (type !== 'sync-round') return;
        polls += 1;
        skewMs = 0;
      },
    });
    sync.start();
    await until(() => polls > 3, 'further polls');
    await sync.stop();
    replica.close();
  });

  it('back does not delay a mass deletion', async () => {
    const site = testSite();
    const ids = Array.from({ length: 60 }, () => site.cms.createPost('events').id);
    site.sync.start();
    await site.settle();
    for (const id of ids.slice(0, 50)) site.cms.posts.delete(id);
    await site.poll();
    expect(site.sync.status().reason).to.match(/leave out 50 records/);
    site.setClock(-DAY_MS);
    await site.settle();
    expect([site.sync.status().state, recordCounts(site.replica.db).event]).to.deep.equal(['live', 10]);
    await site.close();
  });

  it('forward does not shorten the wait before a mass deletion', async () => {
    const site = testSite();
    const ids = Array.from({ length: 60 }, () => site.cms.createPost('events').id);
    site.sync.start();
    await site.settle();
    for (const id of ids.slice(0, 50)) site.cms.posts.delete(id);
    for (let n = 0; n < 6; n += 1) {
      await site.poll();
      site.setClock(DAY_MS);
    }
    expect(recordCounts(site.replica.db).event).to.equal(60);
    await site.close();
  });

  it('back does not delay the scan', async () => {
    const site = testSite();
    const { id } = site.cms.createPost('events', { title: 'Before' });
    site.sync.start();
    await site.settle();
    site.setClock(-DAY_MS);
    site.cms.editSilently(id, { title: 'After' });
    await site.scan();
    expect(getRecord(site.replica.db, 'event', id)?.title).to.equal('After');
    await site.close();
  });
});
