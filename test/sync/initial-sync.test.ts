// The initial sync reads everything, continues after a restart, and yields to the event loop.

import { expect } from 'chai';
import fc from 'fast-check';
import { unavailable } from '../cms/fake-cms.ts';
import { recordIds } from '../store/record-counts.ts';
import { until } from '../until.ts';
import { filledSite, syncedSite } from './filled-site.ts';
import { expectInSync, mapping, type TestSite, testSite, titleOf } from './test-site.ts';

describe('initial sync and ingest', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('the initial sync', () => {
    it('reads everything and reports progress', async () => {
      site = await syncedSite();
      expectInSync(site);
      expect(site.sync.status()).to.include({ state: 'live', complete: true, percent: 100 });
      expect(site.sync.status().collections.event).to.deep.equal({ done: 23, total: 23 });
      const steps = site.observations.filter((seen) => seen.type === 'sync-progress');
      const events = steps.filter(({ collection }) => collection === 'events').map(({ done }) => done);
      expect(events).to.deep.equal([5, 10, 15, 20, 23]);
      expect(new Set(steps.map(({ collection }) => collection))).to.have.lengthOf(5);
    });

    it('reports ten steps of a large collection', async () => {
      site = filledSite();
      for (let n = 0; n < 177; n += 1) site.cms.createPost('events', { dateS: 1_000_000_000 });
      site.sync.start();
      await site.sync.whenComplete();
      const steps = site.observations.filter((seen) => seen.type === 'sync-progress');
      const events = steps.filter(({ collection }) => collection === 'events');
      expect(events.map(({ done }) => done)).to.deep.equal([20, 40, 60, 80, 100, 120, 140, 160, 180, 200]);
    });

    it('loses nothing when records are created and deleted meanwhile', async () => {
      site = filledSite();
      let requests = 0;
      site.cms.beforeRequest = () => {
        requests += 1;
        const events = [...site.cms.posts.values()].filter(({ base }) => base === 'events');
        if (requests > 10 && requests % 2 === 0) site.cms.erase(events[0]!.id);
        if (requests > 10 && requests % 3 === 0) site.cms.createPost('events', { dateS: 1_000_000_000 });
        if (requests > 20) site.cms.beforeRequest = undefined;
      };
      site.sync.start();
      await site.sync.whenComplete();
      await site.poll();
      expectInSync(site);
    });

    it('and two polls miss nothing, whatever is created, edited and deleted between their requests', async () => {
      const change = fc.record({ request: fc.nat({ max: 40 }), name: fc.nat({ max: 4 }), event: fc.nat({ max: 30 }) });
      await fc.assert(
        fc.asyncProperty(fc.array(change, { maxLength: 12, size: 'max' }), async (changes) => {
          site = filledSite();
          let requests = 0;
          site.cms.beforeRequest = () => {
            requests += 1;
            for (const { name, event } of changes.filter(({ request }) => request === requests)) {
              const events = [...site.cms.posts.values()].filter(({ base }) => base === 'events');
              const { id } = events[event % events.length]!;
              site.advance(1_000);
              if (name === 0) site.cms.createPost('events', { title: 'Created meanwhile' });
              if (name === 1) site.cms.edit(id, { title: 'Edited meanwhile' });
              if (name === 2) site.cms.edit(id, { status: 'draft' });
              if (name > 2) site.cms.erase(id);
            }
          };
          site.sync.start();
          await site.sync.whenComplete();
          site.cms.beforeRequest = undefined;
          for (let n = 0; n < 2; n += 1) await site.poll();
          expectInSync(site);
          await site.close();
        }),
        { numRuns: 100 },
      );
    }).timeout(60_000);

    it('misses no record that a deletion moves to a page that was read, while a creation keeps the total', async () => {
      site = filledSite();
      let pages = 0;
      site.cms.beforeRequest = ({ base, order, detail }) => {
        if (base !== 'events' || order !== 'id' || detail !== 'mapped' || ++pages !== 4) return;
        const events = [...site.cms.posts.values()].filter((post) => post.base === 'events');
        site.cms.erase(events[0]!.id);
        site.cms.createPost('events');
      };
      site.sync.start();
      await site.sync.whenComplete();
      expect(pages).to.be.greaterThan(3);
      expectInSync(site);
    });

    it('reads all others if the CMS has records that the adapter leaves out', async () => {
      const omitted = new Set<unknown>();
      site = filledSite({
        cms: (cms) => ({
          ...cms,
          site: (options) => cms.site(options),
          list: async (spec, ...args) => {
            const page = await cms.list(spec, ...args);
            const isOmitted = (id: unknown) => spec.collection === 'events' && omitted.has(id);
            return { ...page, records: page.records.filter(({ id }) => !isOmitted(id)) };
          },
        }),
      });
      const ids = [...site.cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
      // The first one, the last one of the first page, and the last one.
      for (const n of [0, 4, 22]) omitted.add(ids[n]);
      site.sync.start();
      await site.sync.whenComplete();
      await site.scan();
      const others = ids.filter((id) => !omitted.has(id));
      expect(recordIds(site.replica.db, 'event')).to.deep.equal(others);
      site.cms.edit(others[0]!, { title: 'Meanwhile' });
      site.cms.erase(others[1]!);
      await site.poll();
      expect(titleOf(site.replica, 'event', others[0]!)).to.equal('Meanwhile');
      expect(recordIds(site.replica.db, 'event')).to.have.length(others.length - 1);
      expect(site.sync.status().state).to.equal('live');
    });

    /** A site whose CMS became unavailable after three pages of events, and then available again. */
    async function interruptedSite(): Promise<TestSite> {
      site = filledSite();
      let pages = 0;
      site.cms.beforeRequest = ({ base, order }) => {
        if (base === 'events' && order === 'id' && ++pages > 3) unavailable();
      };
      site.sync.start();
      await until(() => site.sync.status().state === 'unreachable', 'the replica is unreachable');
      site.cms.beforeRequest = undefined;
      return site;
    }

    it('goes on after a failure, and begins again after a restart', async () => {
      site = await interruptedSite();
      expect(site.sync.status()).to.include({ complete: false });
      expect(site.sync.status().percent).to.be.within(1, 99);
      const readsVenues = () => site.cms.requests.some(({ base, detail }) => base === 'venues' && detail === 'mapped');
      site.cms.requests = [];
      await site.sync.poll();
      await site.sync.whenComplete();
      expectInSync(site);
      expect(readsVenues()).to.equal(false);
      await site.close();
      site = await interruptedSite();
      for (const { id } of [...site.cms.posts.values()].slice(0, 4)) site.cms.erase(id);
      site.cms.createPost('events');
      site.cms.requests = [];
      await site.restart();
      await site.sync.whenComplete();
      expectInSync(site);
      expect(readsVenues()).to.equal(true);
    });

    it('reads again what an earlier process has stored, also if its date is the same and the list hides it', async () => {
      site = filledSite();
      const [first, , , , , sixth] = [...site.cms.posts.values()].filter(({ base }) => base === 'events');
      site.cms.edit(sixth!.id, { title: 'In the garden' });
      site.sync.start();
      await site.sync.fetchWritten([{ kind: 'event', id: sixth!.id }]);
      await site.sync.stop();
      // In the same second.
      site.cms.edit(sixth!.id, { title: 'In the hall' });
      site.advance(20_000);
      let pages = 0;
      site.cms.beforeRequest = ({ base, order, detail }) => {
        if (base !== 'events' || order !== 'id' || detail !== 'mapped' || ++pages !== 2) return;
        // The first page has five events: now the sixth is one of them.
        site.cms.edit(first!.id, { status: 'draft' });
      };
      await site.restart();
      await site.settle();
      expectInSync(site);
    });

    it('reads again at once what it read before the site changed its time zone', async () => {
      site = await interruptedSite();
      site.cms.siteFacts = { ...site.cms.siteFacts, timezone: 'Asia/Tokyo' };
      await site.restart();
      await site.sync.whenComplete();
      // 16 polls of 10 s: the scan of each interval would begin later.
      for (let n = 0; n < 16; n += 1) await site.poll();
      expectInSync(site);
    });
  });

  describe('ingesting records', () => {
    it('yields to the event loop between batches of at most 50 upserts or 10 deletes', async () => {
      site = await syncedSite({ pageSize: 100 });
      let turns = 0;
      let running = true;
      const countTurn = () => {
        turns += 1;
        if (running) setImmediate(countTurn).unref();
      };
      const { replica } = site;
      const apply = replica.apply.bind(replica);
      const batches: { records: number; turn: number; isDelete: boolean }[] = [];
      replica.apply = (changes) => {
        const { upserts = [], deletes = [] } = changes;
        batches.push({ records: upserts.length, turn: turns, isDelete: false });
        batches.push({ records: deletes.flatMap(({ ids }) => ids).length, turn: turns, isDelete: true });
        return apply(changes);
      };
      const created = Array.from({ length: 200 }, () => site.cms.createPost('events'));
      countTurn();
      await site.poll();
      for (const { id } of created) site.cms.erase(id);
      await site.settle();
      running = false;
      const filled = batches.filter(({ records }) => records > 0);
      for (const isDelete of [false, true]) {
        const some = filled.filter((batch) => batch.isDelete === isDelete);
        expect(some.reduce((sum, { records }) => sum + records, 0)).to.be.least(200);
        for (const { records } of some) expect(records).to.be.most(isDelete ? 10 : 50);
      }
      expect(new Set(filled.map((batch) => batch.turn)).size).to.equal(filled.length);
    });
  });

  it('ingests repeated records once, and does not trust their total', async () => {
    const event = { ...mapping.kinds.event, dedupe: true };
    site = testSite({ mapping: { ...mapping, kinds: { ...mapping.kinds, event } } });
    site.cms.repeats = () => 3;
    for (let n = 0; n < 12; n += 1) site.cms.createPost('events');
    site.sync.start();
    await site.sync.whenComplete();
    expectInSync(site);
    site.cms.erase(4);
    site.cms.edit(5, { title: 'Changed' });
    await site.poll();
    expectInSync(site);
  });
});
