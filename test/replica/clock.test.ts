// A gateway whose clock is set back: it goes on polling, and the full resync does not wait for the old time to come again.

import { expect } from 'chai';
import { openReplica } from '../../src/replica/store.ts';
import { createSync } from '../../src/replica/sync.ts';
import { until } from '../until.ts';
import { fakeWordPress, SERVICE } from './fake-wordpress.ts';
import { mapping, testSite } from './sync-site.ts';

const DAY_MS = 86_400_000;

describe('a clock that is set back', () => {
  it('does not keep the gateway from polling', async () => {
    const cms = fakeWordPress();
    let polls = 0;
    let aheadMs = DAY_MS;
    const replica = openReplica({ identity: 'test' });
    const sync = createSync({
      ...{ replica, upstream: cms, mapping, service: SERVICE, intervalMs: 10, nowMs: () => cms.clockMs + aheadMs },
      observe({ type }) {
        if (type !== 'sync-round') return;
        polls += 1;
        aheadMs = 0;
      },
    });
    sync.start();
    await until(() => polls > 3, 'further polls');
    await sync.stop();
    replica.close();
  });

  it('does not keep the gateway from reading everything again', async () => {
    const site = testSite();
    const { id } = site.cms.create('events', { title: 'Before' });
    site.sync.start();
    await site.settle();
    site.pass(-DAY_MS);
    site.cms.quietly(id, { title: 'After' });
    for (let poll = 0; poll < 16; poll += 1) await site.look();
    expect(site.replica.get('event', id)?.title).to.equal('After');
    await site.close();
  });
});
