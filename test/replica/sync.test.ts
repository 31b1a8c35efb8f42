// The copy keeps in step with a CMS that changes in every way WordPress changes.

import { expect } from 'chai';
import { UpstreamAway } from '../../src/errors.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { until } from '../until.ts';
import { AUTHOR, AUTHOR_ID, away, SERVICE } from './fake-wordpress.ts';
import { expectSame, mapping, type TestSite, testSite, titleOf } from './sync-site.ts';

describe('sync', () => {
  let site: TestSite;

  function begin(options: Parameters<typeof testSite>[0] = {}): TestSite {
    site = testSite(options);
    const { cms } = site;
    const category = cms.createTerm('event_categories');
    cms.createTerm('tags');
    const venue = cms.create('venues');
    cms.create('organizers');
    const picture = cms.createMedia();
    Object.assign(venue, { featured: cms.createMedia().id });
    for (let n = 0; n < 23; n += 1) {
      cms.clockMs += 60_000;
      cms.create('events', {
        meta: { start_date: '2026-05-01 10:00:00', end_date: '2026-05-01 12:00:00', venue_ids: [venue.id] },
        terms: { event_categories: n % 2 ? [category.id] : [], tags: [] },
        featured: n === 3 ? picture.id : 0,
      });
    }
    cms.clockMs += 60_000;
    return site;
  }

  async function copied(options?: Parameters<typeof testSite>[0]): Promise<TestSite> {
    begin(options);
    site.sync.start();
    await site.sync.complete();
    return site;
  }

  afterEach(() => site.close());

  describe('the first copy', () => {
    it('brings in everything, with progress', async () => {
      await copied();
      expectSame(site);
      expect(site.sync.status()).to.include({ state: 'live', complete: true, percent: 100 });
      expect(site.sync.status().collections.event).to.deep.equal({ done: 23, total: 23 });
      const steps = site.seen.filter((seen) => seen.type === 'sync-progress');
      // The whole is known before a part of it is told, so that the share only grows.
      const begun = steps.filter(({ done }) => done === 0).map(({ collection, total }) => [collection, total]);
      expect(steps.slice(0, 5).map(({ collection, total }) => [collection, total])).to.deep.equal(begun.slice(0, 5));
      expect(begun).to.deep.include(['event', 23]);
      expect(steps.filter(({ collection }) => collection === 'event').at(-1)).to.include({ done: 23, total: 23 });
    });

    it('loses nothing when records go and come in the middle of it', async () => {
      begin();
      let requests = 0;
      site.cms.before = () => {
        requests += 1;
        const events = [...site.cms.posts.values()].filter(({ base }) => base === 'events');
        if (requests > 10 && requests % 2 === 0) site.cms.erase(events[0]!.id);
        if (requests > 10 && requests % 3 === 0) site.cms.create('events', { dateS: 1_000_000_000 });
        if (requests > 20) site.cms.before = undefined;
      };
      site.sync.start();
      await site.sync.complete();
      await site.look();
      expectSame(site);
    });

    it('goes on where it was after a restart', async () => {
      begin();
      let events = 0;
      site.cms.before = ({ base, query }) => {
        if (base === 'events' && query.orderby === 'id' && ++events > 3) away();
      };
      site.sync.start();
      await until(() => site.sync.status().state === 'away', 'it hears that the CMS is away');
      expect(site.sync.status()).to.include({ complete: false });
      expect(site.sync.status().percent).to.be.within(1, 99);
      site.cms.before = undefined;
      site.cms.requests = [];
      await site.restart();
      await site.sync.complete();
      expectSame(site);
      expect(site.cms.requests.some(({ base, query }) => base === 'venues' && query.orderby === 'id')).to.equal(false);
    });
  });

  describe('taking records in', () => {
    it('lets others have their turn between slices of fifty at most, and of ten that go', async () => {
      await copied({ pageSize: 100 });
      let turns = 0;
      let running = true;
      const turn = () => {
        turns += 1;
        if (running) setImmediate(turn).unref();
      };
      const { replica } = site;
      const { put, remove } = replica;
      const slices: { records: number; turn: number; gone: boolean }[] = [];
      replica.put = (records, images) => {
        slices.push({ records: records.length, turn: turns, gone: false });
        return put(records, images);
      };
      replica.remove = (kind, ids) => {
        slices.push({ records: ids.length, turn: turns, gone: true });
        return remove(kind, ids);
      };
      const made = Array.from({ length: 200 }, () => site.cms.create('events'));
      turn();
      await site.look();
      for (const { id } of made) site.cms.erase(id);
      await site.settle();
      running = false;
      const taken = slices.filter(({ records }) => records > 0);
      for (const gone of [false, true]) {
        const some = taken.filter((slice) => slice.gone === gone);
        expect(some.reduce((sum, { records }) => sum + records, 0)).to.be.least(200);
        for (const { records } of some) expect(records).to.be.most(gone ? 10 : 50);
      }
      expect(new Set(taken.map((slice) => slice.turn)).size).to.equal(taken.length);
    });
  });

  describe('an idle round', () => {
    it('asks each collection, and the media, once', async () => {
      await copied({ pageSize: 100 });
      await site.look();
      await site.look();
      site.cms.requests = [];
      await site.look();
      expect(site.cms.requests.map(({ base }) => base)).to.deep.equal([
        ...['event_categories', 'tags', 'venues', 'organizers', 'events', 'media'],
      ]);
    });
  });

  it('asks once as well where more than a page changed in one second, half a minute later', async () => {
    await copied();
    for (const { id, base } of site.cms.posts.values()) if (base === 'events') site.cms.edit(id, { title: 'All' });
    for (let round = 0; round < 5; round += 1) await site.look();
    site.cms.requests = [];
    await site.look();
    expect(site.cms.requests.filter(({ base }) => base === 'events')).to.have.length(1);
    site.cms.edit(12, { title: 'One more' });
    await site.look();
    expectSame(site);
  });

  describe('one look is enough for', () => {
    const cases: Record<string, (id: number) => void> = {
      'a creation': () => site.cms.create('events', { dateS: Math.floor(site.cms.clockMs / 1000) }),
      'a creation dated back': () => site.cms.create('events', { dateS: 1_000_000_000 }),
      'many creations dated back in the middle of others': () => {
        for (let n = 0; n < 17; n += 1) site.cms.create('events', { dateS: 1_000_000_000 });
      },
      'a creation dated ahead': () => site.cms.create('events', { dateS: 4_000_000_000, status: 'future' }),
      'an edit': (id) => site.cms.edit(id, { title: 'Changed' }),
      'more edits than a page holds': () => {
        for (const { id, base } of site.cms.posts.values()) if (base === 'events') site.cms.edit(id, { title: 'All' });
      },
      'a slug change': (id) => site.cms.edit(id, { slug: 'other' }),
      'an unpublished record': (id) => site.cms.edit(id, { status: 'draft' }),
      trash: (id) => site.cms.trash(id),
      'trash and back': (id) => {
        site.cms.trash(id);
        site.cms.edit(id, { status: 'publish', slug: 'back' });
      },
      'a permanent deletion': (id) => site.cms.erase(id),
      'several permanent deletions': (id) => {
        for (let n = 0; n < 5; n += 1) site.cms.erase(id + 2 * n);
      },
      'a deletion and a creation': (id) => {
        site.cms.erase(id);
        site.cms.create('events');
      },
      'a term that is renamed': () => {
        for (const term of site.cms.terms.values()) term.name = 'Renamed';
      },
      'a term that comes': () => site.cms.createTerm('tags'),
      'a term that is deleted': () => site.cms.eraseTerm(1),
      'a term that is merged': () => site.cms.eraseTerm(1, site.cms.createTerm('event_categories').id),
      'a venue that is edited': () => site.cms.edit(3, { title: 'Hall' }),
      'a venue that is deleted': () => site.cms.erase(3),
      'an image that is replaced': () => site.cms.replaceMedia(5),
      'an image that is deleted': () => site.cms.eraseMedia(5),
      'an image of a venue that is deleted': () => site.cms.eraseMedia(6),
      'a new image': (id) => site.cms.edit(id, { featured: site.cms.createMedia().id }),
    };
    for (const [name, change] of Object.entries(cases)) {
      for (const service of [SERVICE, undefined]) {
        it(`${name} ${service ? 'with' : 'without'} a service account`, async () => {
          await copied({ service });
          await site.look();
          change(10);
          await site.look();
          expectSame(site);
        });
      }
    }

    it('a publication by the clock', async () => {
      for (const service of [SERVICE, undefined]) {
        await copied({ service });
        const dateS = Math.floor(site.cms.clockMs / 1000) + 60;
        const { id } = site.cms.create('events', { status: 'future', dateS });
        await site.look();
        site.pass(60_000);
        site.cms.cron();
        await site.look();
        expect(site.replica.get('event', id)?.status).to.equal('publish');
        expectSame(site);
        if (service) await site.close();
      }
    });
  });

  it('sees all of more images than a page holds that are replaced within one second', async () => {
    begin();
    const events = [...site.cms.posts.values()].filter(({ base }) => base === 'events');
    for (const { id } of events) site.cms.edit(id, { featured: site.cms.createMedia().id });
    site.sync.start();
    await site.sync.complete();
    for (let round = 0; round < 2; round += 1) await site.look();
    for (const { id } of site.cms.media.values()) site.cms.replaceMedia(id);
    await site.look();
    expectSame(site);
    for (let round = 0; round < 4; round += 1) await site.look();
    site.cms.requests = [];
    await site.look();
    expect(site.cms.requests.filter(({ base }) => base === 'media')).to.have.length(1);
  });

  it('sees a scheduled record published at last, however late, and asks for a hundred overdue ones at a look', async () => {
    await copied({ pageSize: 100 });
    const dateS = Math.floor(site.cms.clockMs / 1000) + 60;
    for (let n = 0; n < 130; n += 1) site.cms.create('events', { status: 'future', dateS });
    await site.look();
    site.pass(3_600_000);
    await site.look();
    site.cms.requests = [];
    await site.look();
    const asked = site.cms.requests.flatMap(({ query }) => String(query.include ?? '').split(',')).filter(Boolean);
    expect(asked).to.have.length(100);
    site.cms.cron();
    await site.look();
    await site.look();
    expectSame(site);
  });

  it('sees the second of two changes in the same second', async () => {
    await copied();
    site.cms.edit(10, { title: 'First' });
    await site.sync.look();
    expect(titleOf(site.replica, 'event', 10)).to.equal('First');
    site.cms.edit(10, { title: 'Second' });
    await site.look();
    expect(titleOf(site.replica, 'event', 10)).to.equal('Second');
  });

  it('sees the second change of a second within which it was started again', async () => {
    await copied();
    site.cms.edit(10, { title: 'First' });
    await site.sync.look();
    await site.restart();
    await site.sync.look();
    site.cms.edit(10, { title: 'Second' });
    await site.look();
    expect(titleOf(site.replica, 'event', 10)).to.equal('Second');
  });

  it('sees what was done to images while it did not run', async () => {
    await copied();
    await site.look();
    for (const change of [() => site.cms.replaceMedia(5), () => site.cms.eraseMedia(6)]) {
      await site.sync.stop();
      site.pass(20_000);
      change();
      await site.restart();
      await site.look();
      expectSame(site);
    }
  });

  it('does not look at the clocks of both machines together', async () => {
    for (const skewMs of [-3_600_000, 3_600_000]) {
      await copied({ skewMs });
      site.cms.edit(10, { title: 'First' });
      await site.sync.look();
      site.cms.edit(10, { title: 'Second' });
      site.cms.edit(11, { title: 'Other' });
      await site.look();
      expectSame(site);
      if (skewMs < 0) await site.close();
    }
  });

  it('mends in the slow pass what neither a date nor a total betrays', async () => {
    await copied();
    // Until what is as new as the newest is settled.
    for (let round = 0; round < 2; round += 1) await site.look();
    site.cms.quietly(10, { meta: { start_date: '2027-01-01 10:00:00', end_date: '2027-01-01 12:00:00' } });
    site.cms.quietly(12, { terms: { event_categories: [], tags: [2] } });
    site.cms.cutMedia(5);
    await site.look();
    expect(site.replica.get('event', 10)?.start).to.equal('2026-05-01 10:00:00');
    expect(site.replica.image(5)?.filesizeBytes).to.equal(101);
    await site.quiet();
    expect(site.replica.get('event', 10)?.start).to.equal('2027-01-01 10:00:00');
    expectSame(site);
  });

  it('reads everything again when the site moves to another zone', async () => {
    await copied();
    site.cms.siteFacts = { ...site.cms.siteFacts, timezone: 'UTC', name: 'Moved' };
    await site.quiet();
    expect(site.sync.site()).to.deep.equal(site.cms.siteFacts);
    expectSame(site);
  });

  it('brings in what another account sees when one is set or taken away', async () => {
    await copied({ service: undefined });
    site.cms.create('events', { status: 'draft' });
    for (const service of [SERVICE, undefined, SERVICE]) {
      await site.restart({ service });
      await site.quiet();
      expectSame(site);
    }
  });

  describe('events that name a venue by another key', () => {
    const keyed = compileMapping(
      {
        ...mapping.source,
        event: {
          ...mapping.source.event,
          fields: {
            start_date: 'meta.start_date',
            end_date: 'meta.end_date',
            venue: { at: 'meta.place', as: 'ids', via: { key: 'meta.key' } },
          },
        },
      },
      'test',
    );

    function places(): { venue: number; event: number } {
      site = testSite({ mapping: keyed });
      const venue = site.cms.create('venues', { meta: { key: 501 } }).id;
      for (let n = 0; n < 9; n += 1) site.cms.create('venues', { meta: { key: 600 + n } });
      const event = site.cms.create('events', { meta: { place: 501 } }).id;
      return { venue, event };
    }

    it('are joined, also after a restart and for a venue that comes later', async () => {
      const { venue, event } = places();
      site.sync.start();
      await site.sync.complete();
      expect(site.replica.get('event', event)?.venues).to.deep.equal([venue]);
      await site.restart();
      expect(site.sync.joins().venues?.idOf.get(501)).to.equal(venue);
      const late = site.cms.create('venues', { meta: { key: 700 } }).id;
      const other = site.cms.create('events', { meta: { place: 700 } }).id;
      await site.look();
      expect(site.replica.get('event', other)?.venues).to.deep.equal([late]);
      expect(site.replica.get('event', event)?.venues).to.deep.equal([venue]);
    });

    it('are joined when the venue comes after the event that names it', async () => {
      places();
      const event = site.cms.create('events', { meta: { place: 800 } }).id;
      site.sync.start();
      await site.sync.complete();
      expect(site.replica.get('event', event)?.venues).to.deep.equal([]);
      const late = site.cms.create('venues', { meta: { key: 800 } }).id;
      await site.look();
      expect(site.replica.get('event', event)?.venues).to.deep.equal([late]);
    });

    it('are joined at once when a notice tells of both', async () => {
      places();
      site.sync.start();
      await site.sync.complete();
      const venue = site.cms.create('venues', { meta: { key: 900 } }).id;
      const event = site.cms.create('events', { meta: { place: 900 } }).id;
      await site.sync.changed([
        { collection: 'events', id: event },
        { collection: 'venues', id: venue },
      ]);
      expect(site.replica.get('event', event)?.venues).to.deep.equal([venue]);
      const stored = () => site.sync.joins().venues?.storedOf;
      const other = site.cms.create('venues', { meta: { key: 901 } }).id;
      await site.sync.changed([{ collection: 'venues', id: other }]);
      await site.sync.refreshJoins();
      expect(stored()?.get(other)).to.equal(901);
    });

    it('are read again when a key passes to another venue', async () => {
      const { venue, event } = places();
      site.sync.start();
      await site.sync.complete();
      site.pass(5_000);
      site.cms.edit(venue, { meta: { key: 502 } });
      site.cms.edit(venue + 1, { meta: { key: 501 } });
      await site.look();
      await site.look();
      expect(site.replica.get('event', event)?.venues).to.deep.equal([venue + 1]);
      site.cms.quietly(venue, { meta: { key: 501 } });
      site.cms.quietly(venue + 1, { meta: { key: 502 } });
      await site.quiet();
      expect(site.replica.get('event', event)?.venues).to.deep.equal([venue]);
    });
  });

  it('keeps a venue that is text inside events as long as one of them has it', async () => {
    const inline = compileMapping(
      {
        name: 'inline',
        upstream: 'wordpress',
        event: {
          posts: 'events',
          fields: {
            start_date: 'meta.start_date',
            end_date: 'meta.end_date',
            venue: { inline: { venue: 'meta.place', city: 'meta.city' } },
          },
        },
      },
      'test',
    );
    site = testSite({ mapping: inline });
    const at = (place: string) => ({ meta: { place, city: 'Bonn' } });
    const [first, second] = [site.cms.create('events', at('Hall')).id, site.cms.create('events', at('Hall')).id];
    site.sync.start();
    await site.sync.complete();
    const halls = () => [
      ...site.replica
        .getMany(
          'venue',
          site.replica.ids('venue').map(({ id }) => id),
        )
        .values(),
    ];
    expect(halls().map(({ title, city }) => [title, city])).to.deep.equal([['Hall', 'Bonn']]);
    expect(site.replica.get('event', first)?.venues).to.deep.equal(halls().map(({ id }) => id));
    site.cms.edit(first, at('Yard'));
    await site.look();
    expect(halls().map(({ title }) => title)).to.have.members(['Hall', 'Yard']);
    site.cms.erase(second);
    await site.look();
    expect(halls().map(({ title }) => title)).to.deep.equal(['Yard']);
  });

  it('takes rows that repeat once, and trusts no total there', async () => {
    const event = { ...mapping.kinds.event, dedupe: true };
    site = testSite({ mapping: { ...mapping, kinds: { ...mapping.kinds, event } } });
    site.cms.repeats = 3;
    for (let n = 0; n < 12; n += 1) site.cms.create('events');
    site.sync.start();
    await site.sync.complete();
    expectSame(site);
    site.cms.erase(4);
    site.cms.edit(5, { title: 'Changed' });
    await site.look();
    expectSame(site);
  });

  describe('a write of our own', () => {
    /** Answers the question for this record with what was there before the gateway wrote. */
    function meanwhile(id: number, write: () => void): void {
      site.cms.after = ({ query }) => {
        if (
          !String(query.include ?? '')
            .split(',')
            .includes(String(id))
        )
          return;
        site.cms.after = undefined;
        write();
      };
    }

    it('is not undone by a look that began before it', async () => {
      await copied();
      site.cms.edit(10, { title: 'Before' });
      meanwhile(10, () => {
        site.cms.edit(10, { title: 'Ours' });
        site.replica.put([{ ...site.replica.get('event', 10)!, title: 'Ours' }]);
        site.sync.wrote('event', 10);
      });
      await site.look();
      expect(site.cms.after).to.equal(undefined);
      expect(titleOf(site.replica, 'event', 10)).to.equal('Ours');
      await site.look();
      expectSame(site);
    });

    it('that deletes is not undone either', async () => {
      await copied();
      site.cms.edit(10, { title: 'Before' });
      meanwhile(10, () => {
        site.cms.erase(10);
        site.replica.remove('event', [10]);
        site.sync.wrote('event', 10);
      });
      await site.look();
      expect(site.cms.after).to.equal(undefined);
      expect(site.replica.get('event', 10)).to.equal(undefined);
    });

    it('that creates is not taken out by a comparison that began before it', async () => {
      await copied();
      site.cms.erase(10);
      site.cms.after = ({ query }) => {
        if (query.orderby !== 'id') return;
        site.cms.after = undefined;
        const { id } = site.cms.create('events');
        site.replica.put([{ ...site.replica.get('event', 11)!, id }]);
        site.sync.wrote('event', id);
        // Whatever the list says about it now, it stays.
        made = id;
      };
      let made = 0;
      await site.look();
      expect(made).to.be.greaterThan(0);
      expect(site.replica.get('event', made)).not.to.equal(undefined);
      await site.look();
      expectSame(site);
    });
  });

  describe('a change notice', () => {
    it('fetches and removes at once', async () => {
      await copied();
      site.cms.edit(10, { title: 'Told' });
      site.cms.erase(12);
      const made = site.cms.create('events');
      site.cms.replaceMedia(5);
      await site.sync.changed([
        ...[10, 12, made.id].map((id) => ({ collection: 'events', id })),
        { collection: 'media', id: 5 },
        { collection: 'unknown', id: 1 },
      ]);
      expectSame(site);
    });

    it('brings in what the CMS did to other records: those of a term or an image that it deleted', async () => {
      await copied();
      site.cms.eraseTerm(1);
      site.cms.eraseMedia(5);
      site.cms.eraseMedia(6);
      await site.sync.changed([
        { collection: 'event_categories', id: 1 },
        { collection: 'media', id: 5 },
        { collection: 'media', id: 6 },
      ]);
      expectSame(site);
    });

    it('waits for the next round when the CMS is away', async () => {
      await copied();
      site.cms.quietly(10, { title: 'Told' });
      site.cms.before = away;
      await site.sync.changed([{ collection: 'events', id: 10 }]);
      site.cms.before = undefined;
      await site.look();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Told');
    });
  });

  describe('a CMS that is away', () => {
    it('is told of, waited for, and caught up with', async () => {
      await copied();
      site.cms.before = away;
      await site.look();
      expect(site.sync.status()).to.include({ state: 'lagging', complete: true, reason: 'connect ECONNREFUSED' });
      await site.look();
      const since = site.nowMs();
      site.pass(3_600_000);
      await site.look();
      expect(site.sync.status()).to.include({ state: 'away', sinceMs: since, complete: true });
      site.cms.before = undefined;
      site.cms.edit(10, { title: 'Meanwhile' });
      site.cms.erase(11);
      await site.look();
      expect(site.sync.status().state).to.equal('live');
      expect(site.sync.status()).not.to.have.property('reason');
      expectSame(site);
    });

    it('is nothing that a look claims to have seen', async () => {
      await copied();
      site.cms.before = away;
      expect(await site.sync.look()).to.equal(false);
      site.cms.before = undefined;
      expect(await site.sync.look()).to.equal(true);
      const looking = site.sync.look();
      await site.sync.stop();
      expect(await looking).to.equal(false);
    });

    it('does not keep a copy on disk from being used', async () => {
      await copied();
      site.cms.before = away;
      await site.restart();
      await site.sync.complete();
      await site.look();
      expect(site.sync.status()).to.include({ complete: true });
      expect(site.sync.site()).to.deep.equal(site.cms.siteFacts);
      expect(titleOf(site.replica, 'event', 10)).to.equal('Post 10');
    });

    it('tells since when after a restart as well', async () => {
      await copied();
      await site.look();
      const { lastInStepMs } = site.sync.status();
      expect(lastInStepMs).to.equal(site.nowMs());
      site.cms.before = away;
      site.pass(3_600_000);
      await site.restart();
      await site.sync.complete();
      await site.look();
      expect(site.sync.status()).to.include({ lastInStepMs });
    });

    it('is away when it refuses the service account, which is named without its password', async () => {
      await copied();
      site.cms.serviceIs = 'refused';
      await site.look();
      const { state, reason } = site.sync.status();
      expect(state).to.equal('away');
      expect(reason).to.contain('"sync"').and.not.contain('secret');
      expect(site.replica.counts().event).to.equal(23);
      site.cms.serviceIs = 'editor';
      await site.look();
      expect(site.sync.status().state).to.equal('live');
    });

    it('asks it again at once when it is this gateway that has to from now on, also in the middle of a round that fails', async () => {
      await copied();
      await site.look();
      site.cms.before = () => {
        site.cms.before = undefined;
        site.sync.takeOver([]);
        away();
      };
      site.cms.edit(10, { title: 'Meanwhile' });
      await site.look();
      for (let turn = 0; turn < 500 && site.sync.status().state !== 'live'; turn += 1) await new Promise(setImmediate);
      expect(site.sync.status().state).to.equal('live');
      expectSame(site);
    });

    it('takes a list that was counted after it was read for no refusal', async () => {
      await copied();
      const { list } = site.cms;
      let early = 0;
      site.cms.list = async (base, query, options) => {
        const page = await list(base, query, options);
        if (base === 'events' && page.items.length > 0 && early++ === 0) page.items.pop();
        return page;
      };
      site.cms.edit(10, { title: 'Read a moment earlier' });
      await site.look();
      expect(early).to.be.greaterThan(1);
      expect(site.sync.status().state).to.equal('live');
      expectSame(site);
    });

    it('does not empty the copy when the service account loses its rights', async () => {
      await copied();
      site.cms.serviceIs = 'author';
      await site.look();
      await site.look();
      expect(site.sync.status().state).to.equal('away');
      expect(site.sync.status().reason).to.contain('needs the right');
      await site.sync.changed([...site.cms.posts.values()].map(({ id, base }) => ({ collection: base, id })));
      expectSame(site);
    });
  });

  describe('an answer that is older than the replica', () => {
    it('does not replace it, and is believed when the CMS gives it for some minutes', async () => {
      await copied();
      await site.look();
      const old = { ...site.cms.posts.get(10)! };
      site.cms.edit(10, { title: 'Ours' });
      site.replica.put([
        {
          ...site.replica.get('event', 10)!,
          title: 'Ours',
          modifiedUtc: new Date(site.cms.clockMs).toISOString().slice(0, 19).replace('T', ' '),
        },
      ]);
      site.sync.wrote('event', 10);
      site.cms.quietly(10, old);
      for (let round = 0; round < 12; round += 1) await site.look();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Ours');
      for (let round = 0; round < 30; round += 1) await site.look();
      expectSame(site);
    });
  });

  describe('a large part of a collection', () => {
    /** Lists leave these records out; single reads find them. */
    function leaveOut(hidden: (id: number) => boolean): () => void {
      site.cms.leftOut = hidden;
      return () => {
        site.cms.leftOut = undefined;
      };
    }
    const ids = () => [...site.cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
    /** Looks for so many minutes, one every ten seconds. */
    async function minutes(count: number): Promise<void> {
      for (let round = 0; round < count * 6; round += 1) await site.look();
    }

    for (const service of [SERVICE, undefined]) {
      const account = service ? 'with' : 'without';
      it(`that is emptied goes after some minutes, and is said to be stale until then, ${account} a service account`, async () => {
        await copied({ service });
        await site.look();
        for (const id of ids()) site.cms.erase(id);
        await minutes(4);
        expect(site.replica.counts().event).to.equal(23);
        expect(site.sync.status().state).to.equal('lagging');
        expect(site.sync.status().reason).to.contain('events');
        expect(await site.sync.look()).to.equal(false);
        await minutes(4);
        expect(site.sync.status().state).to.equal('live');
        expectSame(site);
      });

      it(`that a broken plugin leaves out of lists never goes, ${account} a service account`, async () => {
        for (const hidden of [() => true, (id: number) => id % 2 === 0]) {
          await copied({ service });
          await site.look();
          const repair = leaveOut(hidden);
          await minutes(30);
          expect(site.replica.counts().event).to.equal(23);
          expect(site.sync.status().state).to.equal('lagging');
          expect(site.sync.status().reason).to.contain('asks for it by id');
          site.cms.edit(ids().find((id) => !hidden(id)) ?? 0, { title: 'Seen all the same' });
          repair();
          await site.look();
          await site.look();
          expect(site.sync.status().state).to.equal('live');
          expectSame(site);
          if (hidden(1)) await site.close();
        }
      });
    }

    it('goes at once where webhooks name the records, and these are missing when they are asked for', async () => {
      await copied();
      const gone = ids();
      for (const id of gone) site.cms.erase(id);
      await site.sync.changed(gone.map((id) => ({ collection: 'events', id })));
      expect(site.replica.counts().event).to.equal(0);
      await site.look();
      expect(site.sync.status().state).to.equal('live');
    });

    it('of ten records is a few, and goes at once', async () => {
      await copied();
      for (const id of ids().slice(0, 10)) site.cms.erase(id);
      await site.look();
      expectSame(site);
    });
  });

  describe('rows without what was asked for', () => {
    /** Every row passes through this on its way to the gateway. */
    function damaged(damage: (row: Record<string, unknown>, n: number) => object): void {
      const { list } = site.cms;
      undamaged = () => {
        site.cms.list = list;
      };
      site.cms.list = async (base, query, options) => {
        const page = await list(base, query, options);
        return { ...page, items: page.items.map((row, n) => ({ ...damage(row, n) })) };
      };
    }
    let undamaged = () => {};
    const without =
      (...names: string[]) =>
      (row: object) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
    const cases: Record<string, [string, Parameters<typeof damaged>[0]]> = {
      'a date of modification': ['modified_gmt', without('modified_gmt')],
      'a status': ['status', without('status')],
      'an id': ['id', without('id')],
      'fields of their own': ['meta', without('meta')],
      'the keys of their fields': ['meta', (row) => (row.meta ? { ...row, meta: [] } : row)],
      'a title, which is null': ['title', (row) => (row.title ? { ...row, title: null } : row)],
      'a text': ['content', (row) => (row.content ? { ...row, content: {} } : row)],
      categories: ['event_categories', (row) => (row.event_categories ? { ...row, event_categories: null } : row)],
      'fields of their own, every other one': ['meta', (row, n) => (n % 2 ? row : without('meta')(row))],
      'fields and dates': ['modified_gmt', without('meta', 'modified_gmt')],
    };
    for (const [name, [missing, damage]] of Object.entries(cases)) {
      for (const service of [SERVICE, undefined]) {
        it(`are unusable: ${name}, ${service ? 'with' : 'without'} a service account`, async () => {
          await copied({ service });
          for (let round = 0; round < 2; round += 1) await site.look();
          const before = site.replica.getMany(
            'event',
            site.replica.ids('event').map(({ id }) => id),
          );
          for (const [id] of before) site.cms.edit(id, { title: 'Meanwhile' });
          damaged(damage);
          for (let round = 0; round < 2; round += 1) await site.look();
          const { ids } = site.replica;
          expect(
            site.replica.getMany(
              'event',
              ids('event').map(({ id }) => id),
            ),
          ).to.deep.equal(before);
          expect(site.sync.status().state).to.equal('away');
          expect(site.sync.status().reason).to.contain(missing);
          undamaged();
          await site.look();
          expect(site.sync.status().state).to.equal('live');
          expectSame(site);
        });
      }
    }

    it('are unusable after a restart too, and usable once the CMS itself no longer describes the field', async () => {
      await copied();
      await site.look();
      damaged(without('author'));
      site.cms.edit(10, { title: 'Meanwhile' });
      await site.restart();
      await site.look();
      expect(site.sync.status().reason).to.contain('author');
      site.cms.described = ['title', 'meta', 'author'];
      await site.look();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Post 10');
      site.cms.described = ['title', 'meta'];
      await site.look();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Meanwhile');
      expect(site.sync.status().state).to.equal('live');
    });

    it('are unusable without the key that hides events, even if the CMS no longer describes it', async () => {
      const shown = (): void =>
        damaged((row) => (row.meta ? { ...row, meta: { ...row.meta, hide_from_listings: false } } : row));
      begin();
      shown();
      site.sync.start();
      await site.sync.complete();
      await site.look();
      site.cms.edit(10, { title: 'Meanwhile' });
      undamaged();
      site.cms.described = ['title', 'meta', 'meta.start_date', 'meta.end_date'];
      for (let turn = 0; turn < 3; turn += 1) await site.look();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Post 10');
      expect(site.sync.status().state).to.equal('away');
      expect(site.sync.status().reason).to.contain('meta.hide_from_listings');
      shown();
      await site.look();
      expect(titleOf(site.replica, 'event', 10)).to.equal('Meanwhile');
      expect(site.sync.status().state).to.equal('live');
    });

    it('are usable if they never had it: types differ in what they support', async () => {
      begin();
      damaged(without('author', 'featured_media', 'excerpt'));
      site.sync.start();
      await site.sync.complete();
      expect(site.sync.status().state).to.equal('live');
      expect(site.replica.counts().event).to.equal(23);
    });
  });

  describe('without a service account', () => {
    const STAFF = ['publish', 'draft', 'pending', 'private', 'future', 'trash'];
    const author = { credentials: AUTHOR, visibility: { others: ['publish'], own: STAFF, userId: AUTHOR_ID } };

    it('holds published records alone', async () => {
      begin({ service: undefined });
      site.cms.create('events', { status: 'draft', author: AUTHOR_ID });
      site.sync.start();
      await site.sync.complete();
      expect(site.replica.ids('event', { statuses: STAFF.slice(1) })).to.deep.equal([]);
      expectSame(site);
    });

    it('gathers what one caller may see, and lets go of what went', async () => {
      await copied({ service: undefined });
      const mine = [1, 2, 3, 4, 5, 6, 7].map(
        () => site.cms.create('events', { status: 'draft', author: AUTHOR_ID }).id,
      );
      const other = site.cms.create('events', { status: 'draft' }).id;
      await site.sync.gather(author, ['event']);
      const drafts = () => site.replica.ids('event', { statuses: ['draft'] }).map(({ id }) => id);
      expect(drafts()).to.deep.equal(mine);
      expect(site.replica.get('event', other)).to.equal(undefined);
      site.cms.erase(mine[0]!);
      site.cms.edit(mine[1]!, { status: 'publish' });
      await site.sync.gather(author, ['event']);
      expect(drafts()).to.deep.equal(mine.slice(2));
      await site.look();
      expect(site.replica.get('event', mine[1]!)?.status).to.equal('publish');
      expectSame(site);
      expect(drafts(), 'a look leaves the gathered ones alone').to.deep.equal(mine.slice(2));
    });

    it('does not count what was gathered', async () => {
      await copied({ service: undefined, pageSize: 100 });
      site.cms.create('events', { status: 'draft', author: AUTHOR_ID });
      await site.sync.gather(author, ['event', 'venue']);
      await site.look();
      await site.look();
      site.cms.requests = [];
      await site.look();
      expect(site.cms.requests).to.have.length(6);
    });

    it('tells when it cannot gather', async () => {
      await copied({ service: undefined });
      site.cms.before = away;
      let thrown: unknown;
      await site.sync.gather(author, ['event']).catch((error) => {
        thrown = error;
      });
      expect(thrown).to.be.instanceOf(UpstreamAway);
      site.cms.before = undefined;
      site.cms.requests = [];
      await site.sync.gather({ credentials: undefined, visibility: author.visibility }, ['event']);
      expect(site.cms.requests).to.deep.equal([]);
    });
  });

  it('does not end the process or look any more once stopped', async () => {
    await copied();
    await site.sync.stop();
    site.cms.requests = [];
    await site.sync.look();
    expect(site.cms.requests).to.deep.equal([]);
  });
});
