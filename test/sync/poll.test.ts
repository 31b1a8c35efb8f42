// A poll sees every change that a date or a total shows; the scan corrects the others.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { CmsUnavailable } from '../../src/errors.ts';
import { getImage, getRecord } from '../../src/store/records.ts';
import { Replica } from '../../src/store/replica.ts';
import { Sync } from '../../src/sync/sync.ts';
import { createFakeCms, SERVICE, unavailable } from '../cms/fake-cms.ts';
import { until } from '../until.ts';
import { filledSite, syncedSite } from './filled-site.ts';
import { expectInSync, mapping, SCAN_INTERVAL_MS, type TestSite, titleOf } from './test-site.ts';

describe('poll', () => {
  let site: TestSite;
  afterEach(() => site.close());

  describe('an idle poll', () => {
    it('sends one request per collection, and one for the media', async () => {
      site = await syncedSite({ pageSize: 100 });
      await site.poll();
      await site.poll();
      site.cms.requests = [];
      await site.poll();
      expect(site.cms.requests.map(({ base }) => base)).to.deep.equal([
        ...['event_categories', 'tags', 'venues', 'organizers', 'events', 'media'],
      ]);
    });

    it('writes to the disk only once a minute, to save that the replica is current', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'poll-'));
      try {
        const file = join(folder, 'calendar.sqlite');
        // SQLite appends every page that it writes to this file.
        const written = () => readFileSync(`${file}-wal`);
        site = await syncedSite({ file });
        await site.scan();
        for (let minute = 0; minute < 2; minute += 1) {
          site.advance(60_000);
          await site.poll();
          const before = written();
          for (let n = 0; n < 5; n += 1) await site.poll();
          expect(written().equals(before)).to.equal(true);
          await site.poll();
          expect(written().equals(before)).to.equal(false);
        }
        site.advance(SCAN_INTERVAL_MS);
        // The scan takes two polls here. The third saves up to when the change journal is complete.
        for (let n = 0; n < 3; n += 1) await site.poll();
        const before = written();
        for (let n = 0; n < 3; n += 1) await site.poll();
        expect(written().equals(before)).to.equal(true);
      } finally {
        rmSync(folder, { recursive: true });
      }
    });
  });

  it('sends one request per collection half a minute after more than a page changed within one second', async () => {
    site = await syncedSite();
    for (const { id, base } of site.cms.posts.values()) if (base === 'events') site.cms.edit(id, { title: 'All' });
    for (let n = 0; n < 5; n += 1) await site.poll();
    site.cms.requests = [];
    await site.poll();
    expect(site.cms.requests.filter(({ base }) => base === 'events')).to.have.length(1);
    site.cms.edit(12, { title: 'One more' });
    await site.poll();
    expectInSync(site);
  });

  it('finds a deletion with a few requests, also if the CMS counts a record that it never lists', async () => {
    site = await syncedSite({
      cms: (cms) => ({
        ...cms,
        async list(spec, request, options) {
          const page = await cms.list(spec, request, options);
          return spec.collection === 'events' ? { ...page, total: page.total + 1 } : page;
        },
      }),
    });
    for (let n = 0; n < 200; n += 1) site.cms.createPost('events');
    // Until everything that was modified in the second of the newest modification is known.
    for (let n = 0; n < 5; n += 1) await site.poll();
    site.cms.requests = [];
    site.cms.erase(12);
    await site.poll();
    expectInSync(site);
    // The whole list of ids would be more than 40 pages of 5.
    expect(site.cms.requests.filter(({ base }) => base === 'events')).to.have.length.within(5, 20);
  });

  it('deletes a record that leaves the list of ids after its page was read', async () => {
    let drafted: number | undefined;
    site = filledSite({
      cms: (cms) => ({
        ...cms,
        async list(spec, request, options) {
          const page = await cms.list(spec, request, options);
          if (spec.collection !== 'events') return page;
          const { order, detail, offset = 0, modifiedAfterUtc } = request;
          const isListOfIds = order === 'id' && detail === 'stamp' && offset > 0 && modifiedAfterUtc === undefined;
          if (isListOfIds && site.sync.status().complete && drafted === undefined) {
            drafted = Number([...cms.posts.values()].find(({ base }) => base === 'events')?.id);
            cms.edit(drafted, { status: 'draft' });
          }
          // A plugin hides a record that WordPress counts: no deletion explains the total.
          return site.sync.status().complete ? { ...page, total: page.total + 1 } : page;
        },
      }),
    });
    site.sync.start();
    await site.sync.whenComplete();
    await site.poll();
    expect(drafted).to.be.a('number');
    await site.poll();
    expect(getRecord(site.replica.db, 'event', drafted!)).to.equal(undefined);
  });

  describe('one poll sees', () => {
    const cases: Record<string, (id: number) => void> = {
      'a creation': () => site.cms.createPost('events', { dateS: Math.floor(site.cms.nowMs() / 1000) }),
      'a creation dated back': () => site.cms.createPost('events', { dateS: 1_000_000_000 }),
      'many creations dated back among others': () => {
        for (let n = 0; n < 17; n += 1) site.cms.createPost('events', { dateS: 1_000_000_000 });
      },
      'a creation dated ahead': () => site.cms.createPost('events', { dateS: 4_000_000_000, status: 'future' }),
      'an edit': (id) => site.cms.edit(id, { title: 'Changed' }),
      'more edits than a page holds': () => {
        for (const { id, base } of site.cms.posts.values()) if (base === 'events') site.cms.edit(id, { title: 'All' });
      },
      'a slug change': (id) => site.cms.edit(id, { slug: 'other' }),
      'an unpublished record': (id) => site.cms.edit(id, { status: 'draft' }),
      'a trashed record': (id) => site.cms.trashPost(id),
      'a record that is trashed and restored': (id) => {
        site.cms.trashPost(id);
        site.cms.edit(id, { status: 'publish', slug: 'back' });
      },
      'a permanent deletion': (id) => site.cms.erase(id),
      'several permanent deletions': (id) => {
        for (let n = 0; n < 5; n += 1) site.cms.erase(id + 2 * n);
      },
      'a deletion and a creation': (id) => {
        site.cms.erase(id);
        site.cms.createPost('events');
      },
      'a renamed term': () => {
        for (const term of site.cms.terms.values()) term.name = 'Renamed';
      },
      'a new term': () => site.cms.createTerm('tags'),
      'a deleted term': () => site.cms.deleteTerm(1),
      'a merged term': () => site.cms.deleteTerm(1, site.cms.createTerm('event_categories').id),
      'an edited venue': () => site.cms.edit(3, { title: 'Hall' }),
      'a deleted venue': () => site.cms.erase(3),
      'a replaced image': () => site.cms.replaceMedia(5),
      'a deleted image': () => site.cms.deleteMedia(5),
      'a deleted image of a venue': () => site.cms.deleteMedia(6),
      'a new image': (id) => site.cms.edit(id, { featured: site.cms.createMedia().id }),
    };
    for (const [name, change] of Object.entries(cases)) {
      for (const visitor of [undefined, SERVICE]) {
        it(`${name} ${visitor ? 'with an account' : 'as a visitor'}`, async () => {
          site = await syncedSite({ visitor });
          await site.poll();
          change(10);
          await site.poll();
          expectInSync(site);
        });
      }
    }

    it('a scheduled publication', async () => {
      for (const visitor of [undefined, SERVICE]) {
        site = await syncedSite({ visitor });
        const dateS = Math.floor(site.cms.nowMs() / 1000) + 60;
        const { id } = site.cms.createPost('events', { status: 'future', dateS });
        await site.poll();
        site.advance(60_000);
        site.cms.runCron();
        await site.poll();
        expect(getRecord(site.replica.db, 'event', id)?.status).to.equal('publish');
        expectInSync(site);
        if (!visitor) await site.close();
      }
    });
  });

  it('sees more image replacements within one second than a page holds', async () => {
    site = filledSite();
    const events = [...site.cms.posts.values()].filter(({ base }) => base === 'events');
    for (const { id } of events) site.cms.edit(id, { featured: site.cms.createMedia().id });
    site.sync.start();
    await site.sync.whenComplete();
    for (let n = 0; n < 2; n += 1) await site.poll();
    for (const { id } of site.cms.media.values()) site.cms.replaceMedia(id);
    await site.poll();
    expectInSync(site);
    for (let n = 0; n < 4; n += 1) await site.poll();
    site.cms.requests = [];
    await site.poll();
    expect(site.cms.requests.filter(({ base }) => base === 'media')).to.have.length(1);
  });

  it('sees a deleted image although the CMS did not respond when the poll before asked for the images', async () => {
    site = await syncedSite();
    // For some polls every image of the last half minute is read again.
    for (let n = 0; n < 6; n += 1) await site.poll();
    site.cms.deleteMedia(5);
    site.cms.beforeRequest = ({ base, ids }) => {
      if (base !== 'media' || ids === undefined) return;
      site.cms.beforeRequest = undefined;
      unavailable();
    };
    await site.poll();
    expect(site.sync.status().state).to.equal('stale');
    await site.poll();
    expect(site.sync.status().state).to.equal('live');
    expectInSync(site);
  });

  for (const [what, change] of [
    ['deleted', () => site.cms.deleteMedia(5)],
    ['modified', () => site.cms.replaceMedia(5)],
  ] as const)
    it(`fails once, and not again until the scan, if the CMS cannot send an image that was ${what}`, async () => {
      site = await syncedSite();
      for (let n = 0; n < 6; n += 1) await site.poll();
      change();
      site.cms.beforeRequest = ({ base, ids }) => {
        if (base === 'media' && ids !== undefined) throw new CmsUnavailable('status', 'The CMS answered with 500.');
      };
      const states: string[] = [];
      for (let n = 0; n < 5; n += 1) {
        await site.poll();
        states.push(site.sync.status().state);
      }
      expect(states).to.deep.equal(['stale', 'live', 'live', 'live', 'live']);
    });

  it('leaves an image whose reads time out to the scan, and deletes what the CMS has deleted', async () => {
    site = await syncedSite();
    for (let n = 0; n < 6; n += 1) await site.poll();
    site.cms.replaceMedia(5);
    site.cms.beforeRequest = ({ base, ids }) => {
      if (base === 'media' && ids !== undefined) throw new CmsUnavailable('timeout', 'The CMS did not answer.');
    };
    const { id } = site.cms.createPost('events');
    await site.sync.fetchChanged([{ kind: 'event', id }]);
    site.cms.erase(id);
    const states: string[] = [];
    for (let n = 0; n < 5; n += 1) {
      await site.poll();
      states.push(site.sync.status().state);
    }
    expect(states).to.deep.equal(['stale', 'unreachable', 'unreachable', 'live', 'live']);
    expect(titleOf(site.replica, 'event', id)).to.equal(undefined);
  });

  it('reads an image that was modified again after a timeout, and after a 502 of a proxy', async () => {
    site = await syncedSite();
    for (const failure of [
      new CmsUnavailable('timeout', 'The CMS did not answer.'),
      new CmsUnavailable('status', 'The CMS answered with 502.', { status: 502 }),
    ]) {
      for (let n = 0; n < 6; n += 1) await site.poll();
      site.cms.replaceMedia(5);
      site.cms.beforeRequest = ({ base, ids }) => {
        if (base === 'media' && ids !== undefined) throw failure;
      };
      await site.poll();
      site.cms.beforeRequest = undefined;
      await site.poll();
      expectInSync(site);
    }
  });

  it('fails once, and not again until the scan, if the media library leaves out many images', async () => {
    site = filledSite();
    const events = [...site.cms.posts.values()].filter(({ base }) => base === 'events');
    for (const { id } of events) site.cms.edit(id, { featured: site.cms.createMedia().id });
    const spare = site.cms.createMedia();
    site.sync.start();
    await site.sync.whenComplete();
    for (let n = 0; n < 6; n += 1) await site.poll();
    site.cms.deleteMedia(spare.id);
    const { images } = site.cms;
    site.cms.images = async () => [];
    await site.poll();
    expect(site.sync.status()).to.include({
      state: 'stale',
      reason: "The CMS's list of media leaves out items that exist.",
    });
    await site.poll();
    expect(site.sync.status().state).to.equal('live');
    site.cms.images = images;
    expectInSync(site);
  });

  it('sees a scheduled record published at its date, and a scan sees one published much later', async () => {
    site = await syncedSite({ pageSize: 100 });
    const dateS = Math.floor(site.cms.nowMs() / 1000) + 60;
    for (let n = 0; n < 130; n += 1) site.cms.createPost('events', { status: 'future', dateS });
    await site.poll();
    site.advance(60_000);
    const [first] = [...site.cms.posts.values()].filter(({ status }) => status === 'future');
    site.cms.editSilently(first!.id, { status: 'publish' });
    await site.poll();
    expectInSync(site);
    site.advance(3_600_000);
    await site.poll();
    site.cms.runCron();
    await site.scan();
    expectInSync(site);
  });

  it('reads no scheduled record from the replica before its date has come', async () => {
    site = await syncedSite();
    for (let n = 0; n < 20; n += 1) site.cms.createPost('events', { status: 'future', dateS: 4_000_000_000 });
    const dateS = Math.floor(site.cms.nowMs() / 1000) + 3600;
    site.cms.createPost('events', { status: 'future', dateS });
    await site.poll();
    const { db } = site.replica;
    const parse = db.parse.bind(db);
    const read = new Set<string>();
    db.parse = (json) => {
      if (json.includes('"kind":"event"')) read.add(json);
      return parse(json);
    };
    for (let n = 0; n < 2; n += 1) await site.poll();
    expect([...read]).to.deep.equal([]);
    site.advance(3_600_000);
    site.cms.runCron();
    await site.poll();
    expectInSync(site);
  });

  it('sees the second of two changes within one second', async () => {
    site = await syncedSite();
    site.cms.edit(10, { title: 'First' });
    await site.sync.poll();
    expect(titleOf(site.replica, 'event', 10)).to.equal('First');
    site.cms.edit(10, { title: 'Second' });
    await site.poll();
    expect(titleOf(site.replica, 'event', 10)).to.equal('Second');
  });

  it('sees the second change of a second within which the process restarted', async () => {
    site = await syncedSite();
    site.cms.edit(10, { title: 'First' });
    await site.sync.poll();
    await site.restart();
    await site.sync.poll();
    site.cms.edit(10, { title: 'Second' });
    await site.poll();
    expect(titleOf(site.replica, 'event', 10)).to.equal('Second');
  });

  it('sees image changes that were made while no gateway ran', async () => {
    site = await syncedSite();
    await site.poll();
    for (const change of [() => site.cms.replaceMedia(5), () => site.cms.deleteMedia(6)]) {
      await site.sync.stop();
      site.advance(20_000);
      change();
      await site.restart();
      await site.poll();
      expectInSync(site);
    }
  });

  it('never compares the clocks of the two machines', async () => {
    for (const skewMs of [-3_600_000, 3_600_000]) {
      site = await syncedSite({ skewMs });
      site.cms.edit(10, { title: 'First' });
      await site.sync.poll();
      site.cms.edit(10, { title: 'Second' });
      site.cms.edit(11, { title: 'Other' });
      await site.poll();
      expectInSync(site);
      if (skewMs < 0) await site.close();
    }
  });

  it('corrects by a scan what neither a date nor a total shows', async () => {
    site = await syncedSite();
    // The newest records are re-read until their second is over.
    for (let n = 0; n < 2; n += 1) await site.poll();
    site.cms.editSilently(10, { meta: { start_date: '2027-01-01 10:00:00', end_date: '2027-01-01 12:00:00' } });
    site.cms.editSilently(12, { terms: { event_categories: [], tags: [2] } });
    site.cms.cropMedia(5);
    await site.poll();
    expect(getRecord(site.replica.db, 'event', 10)?.start).to.equal('2026-05-01 10:00:00');
    expect(getImage(site.replica.db, 5)?.filesizeBytes).to.equal(101);
    await site.scan();
    expect(getRecord(site.replica.db, 'event', 10)?.start).to.equal('2027-01-01 10:00:00');
    expectInSync(site);
  });

  it('re-reads everything when the site changes its time zone', async () => {
    site = await syncedSite();
    site.cms.siteFacts = { ...site.cms.siteFacts, timezone: 'UTC', name: 'Moved' };
    await site.scan();
    expect(site.sync.site()).to.deep.equal(site.cms.siteFacts);
    expectInSync(site);
  });

  it('sends no request once stopped', async () => {
    site = await syncedSite();
    await site.sync.stop();
    site.cms.requests = [];
    await site.sync.poll();
    expect(site.cms.requests).to.deep.equal([]);
  });
});

describe('a poll that another gateway may have', () => {
  it('is asked for with the interval between polls, of which the lease is a part', async () => {
    const replica = new Replica({ identity: 'test' });
    const asked: number[] = [];
    const nowMs = () => Date.UTC(2026, 0, 1, 6);
    const sync = new Sync({
      replica,
      cms: createFakeCms(nowMs),
      mapping,
      intervalMs: 10,
      nowMs,
      takesTurn: async (intervalMs) => asked.push(intervalMs) > 0,
      observe: () => undefined,
    });
    sync.start();
    await until(() => asked.length > 0, 'a poll after the initial sync');
    await sync.stop();
    replica.close();
    expect(asked[0]).to.equal(10);
  });
});
