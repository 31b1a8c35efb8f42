// Events that refer to venues without their ids, and venues that are text inside events.

import { expect } from 'chai';
import { compileMapping } from '../../src/mapping/compile.ts';
import type { MappingFile } from '../../src/mapping/mapping-file.ts';
import { getRecord, getRecords } from '../../src/store/records.ts';
import { recordIds } from '../store/record-counts.ts';
import { mapping, SCAN_INTERVAL_MS, type TestSite, testSite } from './test-site.ts';

describe('linked records without ids', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('events that refer to a venue by another key', () => {
    const keyed = compileMapping(
      {
        ...mapping.file,
        event: {
          ...mapping.file.event,
          fields: {
            start_date: 'meta.start_date',
            end_date: 'meta.end_date',
            venue: { at: 'meta.place', as: 'ids', via: { key: 'meta.key' } },
          },
        },
      },
      'test',
    );

    function createPlaces(): { venue: number; event: number } {
      site = testSite({ mapping: keyed });
      const venue = site.cms.createPost('venues', { meta: { key: 501 } }).id;
      for (let n = 0; n < 9; n += 1) site.cms.createPost('venues', { meta: { key: 600 + n } });
      const event = site.cms.createPost('events', { meta: { place: 501 } }).id;
      return { venue, event };
    }

    it('are linked, also after a restart and to a venue that is created later', async () => {
      const { venue, event } = createPlaces();
      site.sync.start();
      await site.sync.whenComplete();
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal([venue]);
      await site.restart();
      expect(site.sync.linkTables().venues?.idOf.get(501)).to.equal(venue);
      const late = site.cms.createPost('venues', { meta: { key: 700 } }).id;
      const other = site.cms.createPost('events', { meta: { place: 700 } }).id;
      await site.poll();
      expect(getRecord(site.replica.db, 'event', other)?.venues).to.deep.equal([late]);
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal([venue]);
    });

    it('stay linked over a restart while the site refuses visitors the venues', async () => {
      const { event } = createPlaces();
      site.sync.start();
      await site.sync.whenComplete();
      const before = getRecord(site.replica.db, 'event', event)?.venues;
      expect(before).to.have.length(1);
      site.cms.closedToPublic.add('venues');
      await site.poll();
      await site.restart();
      for (let polls = 0; polls < 4; polls += 1) await site.poll();
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal(before);
    });

    it('are linked when the venue is created after the event', async () => {
      createPlaces();
      const event = site.cms.createPost('events', { meta: { place: 800 } }).id;
      site.sync.start();
      await site.sync.whenComplete();
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal([]);
      const late = site.cms.createPost('venues', { meta: { key: 800 } }).id;
      await site.poll();
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal([late]);
    });

    it('are linked immediately when a webhook reports both', async () => {
      createPlaces();
      site.sync.start();
      await site.sync.whenComplete();
      const venue = site.cms.createPost('venues', { meta: { key: 900 } }).id;
      const event = site.cms.createPost('events', { meta: { place: 900 } }).id;
      await site.sync.fetchChanged([
        { kind: 'event', id: event },
        { kind: 'venue', id: venue },
      ]);
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal([venue]);
      const stored = () => site.sync.linkTables().venues?.storedIdOf;
      const other = site.cms.createPost('venues', { meta: { key: 901 } }).id;
      await site.sync.fetchChanged([{ kind: 'venue', id: other }]);
      await site.sync.refreshLinkTables();
      expect(stored()?.get(other)).to.equal(901);
    });

    it('are re-read when the key moves during a scan, which starts again', async () => {
      const { venue, event } = createPlaces();
      site.sync.start();
      await site.settle();
      site.advance(SCAN_INTERVAL_MS);
      site.cms.beforeRequest = async ({ base, order }) => {
        const isScan = base === 'events' && order === 'id';
        if (!isScan) return;
        site.cms.beforeRequest = undefined;
        site.cms.edit(venue, { meta: { key: 502 } });
        site.cms.edit(venue + 1, { meta: { key: 501 } });
        await site.sync.fetchChanged([venue, venue + 1].map((id) => ({ kind: 'venue' as const, id })));
      };
      await site.poll();
      expect(site.cms.beforeRequest).to.equal(undefined);
      expect(site.sync.status().state).to.equal('live');
      for (let n = 0; n < 4; n += 1) await site.poll();
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal([venue + 1]);
    });

    it('are re-read when the key moves to another venue', async () => {
      const { venue, event } = createPlaces();
      site.sync.start();
      await site.sync.whenComplete();
      site.advance(5_000);
      site.cms.edit(venue, { meta: { key: 502 } });
      site.cms.edit(venue + 1, { meta: { key: 501 } });
      await site.poll();
      await site.poll();
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal([venue + 1]);
      site.cms.editSilently(venue, { meta: { key: 501 } });
      site.cms.editSilently(venue + 1, { meta: { key: 502 } });
      await site.scan();
      expect(getRecord(site.replica.db, 'event', event)?.venues).to.deep.equal([venue]);
    });
  });

  const event: MappingFile['event'] = {
    posts: 'events',
    fields: {
      start_date: 'meta.start_date',
      end_date: 'meta.end_date',
      venue: { embedded: { venue: 'meta.place', city: 'meta.city' } },
    },
  };
  const embedding = compileMapping({ name: 'embedded', upstream: 'wordpress', event }, 'test');
  const at = (place: string) => ({ meta: { place, city: 'Bonn' } });

  it('keeps an embedded venue that a webhook brings again while a poll deletes many that no event has', async () => {
    site = testSite({ mapping: embedding, pageSize: 50 });
    const { cms, replica } = site;
    const ids = Array.from({ length: 20 }, (_, n) => cms.createPost('events', at(`Hall ${n}`)).id);
    const last = cms.createPost('events', at('Yard')).id;
    site.sync.start();
    await site.sync.whenComplete();
    for (const id of ids) cms.edit(id, at('Yard'));
    const apply = replica.apply.bind(replica);
    let fetched: Promise<boolean> | undefined;
    replica.apply = (changes) => {
      const changed = apply(changes);
      if (!changes.deletes?.some(({ kind }) => kind === 'venue')) return changed;
      replica.apply = apply;
      const venues = [...getRecords(replica.db, 'venue', recordIds(replica.db, 'venue')).values()];
      cms.edit(last, at(venues.findLast(({ title }) => title !== 'Yard')!.title));
      fetched = site.sync.fetchChanged([{ kind: 'event', id: last }]);
      return changed;
    };
    await site.poll();
    expect(await fetched).to.equal(true);
    const [venue] = getRecord(replica.db, 'event', last)!.venues;
    expect(getRecord(replica.db, 'venue', venue!)?.title).to.equal(cms.posts.get(last)!.meta.place);
  });

  it('counts no embedded venue among those of the collection of venues', async () => {
    site = testSite({ mapping: compileMapping({ ...mapping.file, event }, 'test') });
    const venues = [1, 2, 3].map(() => site.cms.createPost('venues').id);
    site.cms.createPost('events', at('Hall'));
    site.cms.createPost('events', at('Yard'));
    site.sync.start();
    await site.settle();
    expect(recordIds(site.replica.db, 'venue')).to.have.length(5);
    const decisions = () => site.observations.splice(0).filter(({ type }) => type === 'sync-decision');
    decisions();
    await site.poll();
    expect(decisions()).to.deep.equal([]);
    site.cms.erase(venues[1]!);
    await site.poll();
    const { collection } = site.mapping.kinds.venue!;
    const values = { surplus: 1, total: 2 };
    expect(decisions()).to.deep.include({
      type: 'sync-decision',
      collection,
      decision: 'search for deleted records',
      values,
    });
    expect(getRecord(site.replica.db, 'venue', venues[1]!)).to.equal(undefined);
  });

  it('keeps an embedded venue as long as one event has it', async () => {
    site = testSite({ mapping: embedding });
    const [first, second] = [
      site.cms.createPost('events', at('Hall')).id,
      site.cms.createPost('events', at('Hall')).id,
    ];
    site.sync.start();
    await site.sync.whenComplete();
    const halls = () => [...getRecords(site.replica.db, 'venue', recordIds(site.replica.db, 'venue')).values()];
    expect(halls().map(({ title, city }) => [title, city])).to.deep.equal([['Hall', 'Bonn']]);
    expect(getRecord(site.replica.db, 'event', first)?.venues).to.deep.equal(halls().map(({ id }) => id));
    site.cms.edit(first, at('Yard'));
    await site.poll();
    expect(halls().map(({ title }) => title)).to.have.members(['Hall', 'Yard']);
    site.cms.erase(second);
    await site.poll();
    expect(halls().map(({ title }) => title)).to.deep.equal(['Yard']);
  });
});
