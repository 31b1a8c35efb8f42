// After the gateway's clock was set back, polls and the full resync continue without waiting for the old
// time.

import { expect } from 'chai';
import { openReplica } from '../../src/store/replica.ts';
import { createSync } from '../../src/sync/sync.ts';
import { createFakeCms, SERVICE } from '../cms/fake-cms.ts';
import { until } from '../until.ts';
import { mapping, testSite } from './test-site.ts';

const DAY_MS = 86_400_000;

describe('a clock that was set back', () => {
  it('does not stop the polls', async () => {
    const nowMs = Date.UTC(2026, 0, 1);
    const cms = createFakeCms(() => nowMs);
    let polls = 0;
    let skewMs = DAY_MS;
    const replica = openReplica({ identity: 'test' });
    const sync = createSync({
      ...{ replica, cms, mapping, serviceCredentials: SERVICE, intervalMs: 10, nowMs: () => nowMs + skewMs },
      observe({ type }) {
        if (type !== 'sync-poll') return;
        polls += 1;
        skewMs = 0;
      },
    });
    sync.start();
    await until(() => polls > 3, 'further polls');
    await sync.stop();
    replica.close();
  });

  it('does not delay the full resync', async () => {
    const site = testSite();
    const { id } = site.cms.createPost('events', { title: 'Before' });
    site.sync.start();
    await site.settle();
    site.advance(-DAY_MS);
    site.cms.editSilently(id, { title: 'After' });
    for (let poll = 0; poll < 16; poll += 1) await site.poll();
    expect(site.replica.get('event', id)?.title).to.equal('After');
    await site.close();
  });
});
