// What the sync does when responses of the CMS are larger than it accepts: it reads pages in parts, and leaves
// out a record that is too large alone.

import { expect } from 'chai';
import { compileMapping } from '../../src/mapping/compile.ts';
import { getRecord, occurrenceIds } from '../../src/store/records.ts';
import { type FakePost, SERVICE } from '../cms/fake-cms.ts';
import { recordCounts } from '../store/record-counts.ts';
import { filledSite } from './filled-site.ts';
import { expectInSync, mapping, type TestSite, testSite, titleOf } from './test-site.ts';

const seriesMapping = compileMapping(
  { ...mapping.file, event: { ...mapping.file.event, readOnly: true, occurrences: {} } },
  'series',
);
/** Longer than any other record, shorter than `MAX_BYTES`. */
const LONG = 'long '.repeat(400);
const MAX_BYTES = 20_000;
const HUGE = 'huge '.repeat(MAX_BYTES / 5);

/** A series on so many days. */
const daily = (count: number): NonNullable<FakePost['occurrences']> =>
  Array.from({ length: count }, (_, n) => {
    const day = new Date(Date.UTC(2026, 0, 5 + n)).toISOString().slice(0, 10);
    return { start: `${day} 10:00:00`, end: `${day} 11:00:00` };
  });

describe('a response that is too large', () => {
  let site: TestSite;
  afterEach(() => site.close());

  async function sync(): Promise<void> {
    site.cms.maxBytes = MAX_BYTES;
    site.sync.start();
    await site.settle();
  }

  const warnings = () =>
    site.observations.flatMap((entry) =>
      entry.type === 'message' && entry.message.includes('larger than') ? entry.message : [],
    );
  const requests = (base: string) => site.cms.requests.filter((request) => request.base === base);

  for (const visitor of [undefined, SERVICE]) {
    describe(`${visitor ? 'with an account' : 'as a visitor'}`, () => {
      it('is read in parts: the initial sync, polls and the scan end with a replica that equals the CMS', async () => {
        site = filledSite({ visitor, pageSize: 100 });
        for (const { id, base } of site.cms.posts.values())
          if (base === 'events') site.cms.edit(id, { title: `${LONG}${id}` });
        await sync();
        expectInSync(site);
        for (const { id, base } of site.cms.posts.values())
          if (base === 'events') site.cms.edit(id, { title: `${LONG}${id} edited` });
        await site.poll();
        expectInSync(site);
        for (const { id, base } of site.cms.posts.values())
          if (base === 'events') site.cms.editSilently(id, { title: `${LONG}${id} silently` });
        await site.scan();
        expectInSync(site);
        expect(site.sync.status().state).to.equal('live');
      });

      it('with one record: the record is left out, which the log says at each scan, and the others are served', async () => {
        site = filledSite({ visitor });
        site.cms.edit(10, { title: HUGE });
        await sync();
        await site.scan();
        expect(site.sync.status()).to.include({ state: 'live', complete: true });
        // Once by the initial sync, and once by the scan.
        const warning = 'record 10 of "events" is larger than 5 MB: the gateway leaves it out';
        expect(warnings()).to.deep.equal([warning, warning]);
        expect(getRecord(site.replica.db, 'event', 10)).to.equal(undefined);
        expect(recordCounts(site.replica.db).event).to.equal(22);
        site.cms.edit(10, { title: 'Short again' });
        await site.poll();
        expect(site.sync.status().state).to.equal('live');
        await site.settle();
        expectInSync(site);
      });
    });
  }

  it('with one record costs polls no request as long as the record does not change, and one attempt when it does', async () => {
    site = filledSite();
    site.cms.edit(10, { title: HUGE });
    await sync();
    await site.poll();
    site.cms.requests.length = 0;
    await site.poll();
    expect(requests('events')).to.have.length(1);
    site.cms.edit(10, { title: `${HUGE} still` });
    for (let n = 0; n < 3; n += 1) await site.poll();
    site.cms.requests.length = 0;
    await site.poll();
    expect(requests('events')).to.have.length(1);
  });

  it('with a record that the replica has: it is removed, because the CMS may no longer show it to the public', async () => {
    site = filledSite();
    await sync();
    site.cms.edit(10, { title: HUGE });
    await site.poll();
    expect(getRecord(site.replica.db, 'event', 10)).to.equal(undefined);
    await site.restart();
    await site.settle();
    expect(site.sync.status().state).to.equal('live');
    await site.sync.fetchChanged([{ kind: 'event', id: 10 }]);
    expect(getRecord(site.replica.db, 'event', 10)).to.equal(undefined);
    site.cms.erase(10);
    await site.poll();
    expect(site.sync.status().state).to.equal('live');
    expectInSync(site);
  });

  it('is no reason to delete the records of lists that repeat them', async () => {
    const event = { ...mapping.file.event, dedupe: true };
    site = filledSite({ mapping: compileMapping({ ...mapping.file, event }, 'repeating'), pageSize: 20 });
    const newest = [...site.cms.posts.values()].findLast(({ base }) => base === 'events');
    site.cms.repeats = (id) => (id === newest?.id ? 25 : 1);
    for (const { id, base } of site.cms.posts.values())
      if (base === 'events' && id !== newest?.id) site.cms.edit(id, { title: `${LONG}${id}` });
    await sync();
    for (const { id, base } of site.cms.posts.values())
      if (base === 'events') site.cms.edit(id, { title: `${id === newest?.id ? '' : LONG}${id} edited` });
    await site.scan();
    expect(site.observations.filter((entry) => entry.type === 'sync-round' && entry.removed > 0)).to.deep.equal([]);
    expect(recordCounts(site.replica.db).event).to.equal(23);
    expect(titleOf(site.replica, 'event', 10)).to.equal(`${LONG}10 edited`);
  });

  describe('because of the occurrences of series', () => {
    it('is avoided by requests for a fifth of the usual number of records', async () => {
      site = testSite({ mapping: seriesMapping, pageSize: 100 });
      for (let n = 0; n < 30; n += 1) site.cms.createPost('events', { occurrences: daily(3) });
      site.advance(60_000);
      site.cms.maxBytes = undefined;
      site.sync.start();
      await site.settle();
      const limits = requests('events')
        .filter(({ detail, ids }) => detail === 'mapped' && !ids)
        .map(({ limit }) => limit);
      expect(new Set(limits)).to.deep.equal(new Set([20]));
      expectInSync(site);
    });

    it('leaves out the series with its occurrences', async () => {
      site = testSite({ mapping: seriesMapping });
      const series = site.cms.createPost('events', { occurrences: daily(8) });
      site.cms.createPost('events');
      site.advance(60_000);
      await sync();
      expect(occurrenceIds(site.replica.db, series.id)).to.have.length(8);
      site.cms.edit(series.id, { occurrences: daily(999) });
      await site.poll();
      expect(occurrenceIds(site.replica.db, series.id)).to.deep.equal([]);
      site.cms.edit(series.id, { occurrences: daily(9) });
      await site.poll();
      expectInSync(site);
    });
  });
});

describe('a page of long texts', () => {
  it('is written in several turns of the event loop, about one of the longest texts in each', async () => {
    const site = testSite({ pageSize: 100 });
    try {
      const text = 'long '.repeat(30_000);
      for (let n = 0; n < 8; n += 1) site.cms.createPost('events', { title: `Event ${n}`, content: text });
      const sizes: number[] = [];
      const apply = site.replica.apply.bind(site.replica);
      site.replica.apply = (changes) => {
        if (changes.upserts?.some(({ kind }) => kind === 'event')) sizes.push(changes.upserts.length);
        return apply(changes);
      };
      site.sync.start();
      await site.settle();
      expect(sizes.slice(0, 8)).to.deep.equal([1, 1, 1, 1, 1, 1, 1, 1]);
    } finally {
      site.close();
    }
  });
});
