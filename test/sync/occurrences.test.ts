// Series in the replica: every occurrence is an event, and belongs to the record of its series.

import { expect } from 'chai';
import type { CmsRecord } from '../../src/cms/port.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { seriesIdOf } from '../../src/model/records.ts';
import { getRecord, getRecords, occurrenceIds } from '../../src/store/records.ts';
import type { FakePost } from '../cms/fake-cms.ts';
import { recordCounts } from '../store/record-counts.ts';
import { mapping as baseMapping, expectInSync, type TestSite, testSite } from './test-site.ts';

const mapping = compileMapping(
  { ...baseMapping.file, event: { ...baseMapping.file.event, readOnly: true, occurrences: {} } },
  'series',
);

/** A series on so many days from the given one on. */
function daily(first: string, count: number): NonNullable<FakePost['occurrences']> {
  return Array.from({ length: count }, (_, n) => {
    const day = new Date(Date.parse(`${first}T00:00:00Z`) + n * 86_400_000).toISOString().slice(0, 10);
    return { start: `${day} 10:00:00`, end: `${day} 11:00:00` };
  });
}

describe('a series in the replica', () => {
  let site: TestSite;
  let series: FakePost;
  afterEach(() => site.close());

  async function synced(fields: Partial<FakePost> = {}): Promise<void> {
    site = testSite({ mapping });
    for (let n = 0; n < 30; n += 1) site.cms.createPost('events');
    series = site.cms.createPost('events', { occurrences: daily('2026-01-05', 8), ...fields });
    site.advance(60_000);
    site.sync.start();
    await site.sync.whenComplete();
    await site.settle();
  }

  const days = () =>
    [...getRecords(site.replica.db, 'event', occurrenceIds(site.replica.db, series.id)).values()].map(({ start }) =>
      start.slice(0, 10),
    );

  it('has each occurrence as an event, which does not count as a record of the CMS', async () => {
    await synced();
    expect(days()).to.have.length(8);
    expect(recordCounts(site.replica.db).event).to.equal(31);
    expectInSync(site);
  });

  it('costs an idle poll no request', async () => {
    await synced();
    site.advance(60_000);
    await site.poll();
    site.cms.requests.length = 0;
    await site.poll();
    expect(site.cms.requests.filter(({ base }) => base === 'events')).to.have.length(1);
  });

  it('loses and gains occurrences with an edit, and becomes a single event with another', async () => {
    await synced();
    site.cms.edit(series.id, { occurrences: [...daily('2026-01-05', 2), ...daily('2026-01-09', 6)], title: 'Moved' });
    await site.poll();
    expect(days()).to.have.length(8).and.not.include('2026-01-08');
    expectInSync(site);
    site.advance(60_000);
    const { occurrences: _, ...single } = series;
    site.cms.posts.set(series.id, { ...single, modifiedS: Math.floor(site.cms.nowMs() / 1000) });
    await site.poll();
    expect(days()).to.deep.equal([]);
    expectInSync(site);
  });

  it('has the occurrences of the latest request, if an earlier one is still being stored', async () => {
    await synced();
    site.cms.edit(series.id, { occurrences: daily('2026-02-05', 100) });
    const apply = site.replica.apply.bind(site.replica);
    let polled = Promise.resolve();
    site.cms.afterRequest = ({ ids }) => {
      if (!ids?.includes(series.id)) return;
      site.cms.afterRequest = undefined;
      site.cms.edit(series.id, { occurrences: daily('2026-03-05', 2) });
      let calls = 0;
      site.replica.apply = (changes) => {
        calls += 1;
        // The event is stored, and most of the hundred occurrences are not.
        if (calls === 2) polled = site.poll();
        return apply(changes);
      };
    };
    await site.sync.fetchChanged([{ kind: 'event', id: series.id }]);
    await polled;
    expect(days()).to.deep.equal(['2026-03-05', '2026-03-06']);
  });

  it('keeps its occurrences while responses lack them, although the schema of the collection does not name them', async () => {
    await synced();
    await site.poll();
    site.cms.schemaFields = ['title', 'meta', 'meta.start_date', 'meta.end_date', 'meta.hide_from_listings'];
    site.cms.edit(series.id, { title: 'Meanwhile' });
    const { list } = site.cms;
    site.cms.list = async (...request) => {
      const page = await list(...request);
      return { ...page, records: page.records.map(({ calendar_occurrences: _, ...record }) => record as CmsRecord) };
    };
    await site.poll();
    expect(days()).to.have.length(8);
    expect(site.sync.status().reason).to.contain('calendar_occurrences');
    site.cms.list = list;
    await site.poll();
    expect(days()).to.have.length(8);
    expectInSync(site);
  });

  it('moves with the window by a scan, without a change of the series', async () => {
    await synced();
    site.cms.editSilently(series.id, { occurrences: daily('2026-01-06', 8) });
    await site.scan();
    expect(days()[0]).to.equal('2026-01-06');
    expect(days()).to.have.length(8);
    expectInSync(site);
  });

  it('is read again with a webhook that reports it', async () => {
    await synced();
    site.cms.editSilently(series.id, { occurrences: daily('2026-01-05', 7) });
    await site.sync.fetchChanged([{ kind: 'event', id: series.id }]);
    expectInSync(site);
  });

  it('is not read again with every poll after another gateway asked for one of its occurrences', async () => {
    await synced();
    const [id = 0] = occurrenceIds(site.replica.db, series.id);
    site.cms.editSilently(series.id, { title: 'Reported' });
    expect(await site.sync.fetchChanged([{ kind: 'event', id }])).to.equal(true);
    expectInSync(site);
    site.advance(60_000);
    await site.poll();
    site.cms.requests.length = 0;
    await site.poll();
    expect(site.cms.requests.filter(({ base }) => base === 'events')).to.have.length(1);
  });

  it('is deleted with all occurrences', async () => {
    await synced();
    site.cms.erase(series.id);
    await site.poll();
    expect(days()).to.deep.equal([]);
    expect(getRecord(site.replica.db, 'event', series.id)).to.equal(undefined);
    expectInSync(site);
  });

  it('keeps its occurrences while a mass deletion waits for confirmation', async () => {
    await synced();
    site.cms.omitted = () => true;
    await site.poll();
    expect(site.sync.status().state).to.equal('stale');
    expect(days()).to.have.length(8);
    expect(recordCounts(site.replica.db).event).to.equal(31);
  });

  it('has no occurrence unless it is public', async () => {
    for (const fields of [{ status: 'draft' }, { status: 'trash' }, { hiddenFromPublic: true }]) {
      await synced(fields);
      expect(occurrenceIds(site.replica.db, series.id)).to.deep.equal([]);
      if (!('hiddenFromPublic' in fields)) await site.close();
    }
  });

  it('is read again when a term of an occurrence is deleted', async () => {
    site = testSite({ mapping });
    const category = site.cms.createTerm('event_categories');
    series = site.cms.createPost('events', {
      occurrences: daily('2026-01-05', 8),
      terms: { event_categories: [category.id], tags: [] },
    });
    site.advance(60_000);
    site.sync.start();
    await site.settle();
    site.cms.deleteTerm(category.id);
    await site.poll();
    await site.poll();
    expectInSync(site);
    const asked = site.cms.requests.flatMap(({ ids = [] }) => ids);
    expect(asked.filter((id) => seriesIdOf(id) !== id)).to.deep.equal([]);
  });

  it('equals the CMS even if it changes while a response is on its way', async () => {
    await synced();
    site.cms.edit(series.id, { occurrences: daily('2026-01-05', 3) });
    site.cms.afterRequest = ({ base, ids }) => {
      if (base !== 'events' || ids === undefined) return;
      site.cms.afterRequest = undefined;
      site.cms.edit(series.id, { occurrences: daily('2026-01-07', 5) });
    };
    await site.poll();
    await site.settle();
    expectInSync(site);
  });

  it('is complete after a restart that interrupted the writing of its occurrences', async () => {
    await synced();
    site.cms.edit(series.id, { occurrences: daily('2026-01-05', 100) });
    const apply = site.replica.apply.bind(site.replica);
    let failAfter = 2;
    site.replica.apply = (changes) => {
      if (changes.upserts) failAfter -= 1;
      if (failAfter < 0) throw new Error('killed');
      return apply(changes);
    };
    await site.poll();
    expect(days().length).to.be.lessThan(100);
    site.replica.apply = apply;
    await site.restart();
    await site.settle();
    expect(days()).to.have.length(100);
    expectInSync(site);
  });

  it('has at most a thousand occurrences, written in small batches', async () => {
    await synced();
    const sizes: number[] = [];
    const deletes: number[] = [];
    const apply = site.replica.apply.bind(site.replica);
    site.replica.apply = (changes) => {
      sizes.push(changes.upserts?.length ?? 0);
      deletes.push(...(changes.deletes ?? []).map(({ ids }) => ids.length));
      return apply(changes);
    };
    site.cms.edit(series.id, { occurrences: daily('2026-01-05', 10_000) });
    await site.poll();
    expect(days()).to.have.length(1000);
    expect(Math.max(...sizes)).to.be.at.most(50);
    expect(deletes).to.deep.equal([]);
    site.cms.erase(series.id);
    await site.poll();
    expect(days()).to.deep.equal([]);
    expect(Math.max(...deletes)).to.be.at.most(10);
  });
});
