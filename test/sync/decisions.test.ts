// Each decision of the sync is observed with its reason, the records and the values that led to it.

import { expect } from 'chai';
import { seriesIdOf } from '../../src/model/records.ts';
import type { ObservationOf } from '../../src/observability/observations.ts';
import { syncedSite } from './filled-site.ts';
import type { TestSite } from './test-site.ts';

type Decision = Omit<ObservationOf<'sync-decision'>, 'type'>;

describe('the decisions of the sync', () => {
  let site: TestSite;
  beforeEach(async () => {
    site = await syncedSite();
    await site.settle();
    site.observations.length = 0;
  });
  afterEach(() => site.close());

  /** Those since the last call. */
  function decisions(): Decision[] {
    const found = site.observations.flatMap((each) => {
      if (each.type !== 'sync-decision') return [];
      const { type: _, ...decision } = each;
      return [decision];
    });
    site.observations.length = 0;
    return found;
  }
  const events = (decision: string, values: object): Decision => ({ collection: 'events', decision, values });

  it('are none in an idle poll', async () => {
    await site.poll();
    expect(decisions()).to.deep.equal([]);
  });

  it('name why a record is fetched, and how a deleted one is found', async () => {
    site.cms.edit(10, { title: 'Edited' });
    await site.poll();
    expect(decisions()).to.deep.include(events('fetch', { ids: [10], reason: 'the list of changes differs' }));
    site.advance(60_000);
    await site.settle();
    decisions();
    const { length: count } = [...site.cms.posts.values()].filter(({ base }) => base === 'events');
    site.cms.erase(11);
    await site.poll();
    const total = count - 1;
    expect(decisions()).to.include.deep.members([
      events('the total differs', { total, held: count, extraInTotal: 0 }),
      events('search for deleted records', { surplus: 1, total }),
      events('fetch', { ids: [11], reason: 'the search finds them in no list' }),
      events('delete', { ids: [11], removed: 1 }),
    ]);
  });

  for (const [gone, deletedByPoll] of [
    [[10, 11], [11]],
    [[10], []],
  ] as const)
    it(`name as deleted [${deletedByPoll}] of [${gone}], if 10 is written while a poll reads it`, async () => {
      for (const id of gone) site.cms.erase(id);
      let fetched = Promise.resolve();
      site.cms.afterRequest = ({ ids }) => {
        if (!ids?.includes(10)) return;
        site.cms.afterRequest = undefined;
        fetched = site.sync.fetchWritten([{ kind: 'event', id: 10 }]);
      };
      await site.poll();
      await fetched;
      const deletions = decisions().filter(({ decision }) => decision === 'delete');
      expect(deletions).to.have.deep.members(
        [...deletedByPoll, 10].map((id) => events('delete', { ids: [id], removed: 1 })),
      );
    });

  it('name a webhook', async () => {
    site.cms.edit(10, { title: 'Edited' });
    await site.sync.fetchChanged([{ kind: 'event', id: 10 }]);
    expect(decisions()).to.deep.include(events('named by a webhook, a write or another gateway', { ids: [10] }));
  });

  it('name a mass deletion that waits, its review, and each page of a scan', async () => {
    const ids = [...site.cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => seriesIdOf(id));
    site.cms.omitted = () => true;
    await site.poll();
    const waiting = decisions().find(({ decision }) => decision === 'the deletion waits for confirmation');
    expect(waiting).to.deep.equal(events('the deletion waits for confirmation', { ids }));
    site.advance(5 * 60_000);
    await site.poll();
    expect(decisions().some(({ decision }) => decision === 'review of deletions that wait')).to.equal(true);
    site.cms.omitted = undefined;
    await site.scan();
    expect(decisions().some(({ decision }) => decision === 'scan: read a page')).to.equal(true);
  });
});
