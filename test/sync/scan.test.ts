// The scan across processes: it is due, and ends, as if one process had made it.

import { expect } from 'chai';
import { compileMapping } from '../../src/mapping/compile.ts';
import { type ReadCall, unavailable } from '../cms/fake-cms.ts';
import { expectInSync, mapping, SCAN_INTERVAL_MS, type TestSite, testSite, titleOf } from './test-site.ts';

/** In pages of five more than three polls read. */
const EVENTS = 60;

describe('the scan', () => {
  let site: TestSite;
  let ids: number[];
  beforeEach(async () => {
    site = testSite();
    ids = Array.from({ length: EVENTS }, () => site.cms.createPost('events').id);
    // A new process re-reads the records of the newest second.
    site.advance(60_000);
    site.cms.createPost('events');
    site.sync.start();
    await site.settle();
  });
  afterEach(() => site.close());
  const edit = (id: number | undefined) => site.cms.editSilently(id ?? 0, { title: 'Edited silently' });
  const editedIds = () => ids.filter((id) => titleOf(site.replica, 'event', id) === 'Edited silently');
  const changes: Record<string, () => void | Promise<void>> = {
    'the gateway restarts': () => site.restart(),
  };

  for (const [name, change] of Object.entries(changes)) {
    it(`is due even if ${name} more often than that`, async () => {
      edit(ids[0]);
      const everyMs = SCAN_INTERVAL_MS / 5;
      for (let atMs = 0; atMs <= SCAN_INTERVAL_MS; atMs += everyMs) {
        await change();
        site.advance(everyMs);
        await site.poll();
      }
      expect(editedIds()).to.deep.equal([ids[0]]);
    });

    it(`begins again after ${name}`, async () => {
      edit(ids[0]);
      edit(ids.at(-1));
      site.advance(SCAN_INTERVAL_MS);
      await site.poll();
      expect(editedIds()).to.deep.equal([ids[0]]);
      await change();
      for (let n = 0; n < 4; n += 1) await site.poll();
      expect(editedIds()).to.deep.equal([ids[0], ids.at(-1)]);
      expect(site.sync.status().state).to.equal('live');
      expectInSync(site);
    });
  }
});

describe('a scan whose list changes meanwhile', () => {
  it('keeps a record that a deletion moves to a page that was read, while a creation keeps the total', async () => {
    const site = testSite();
    const ids = Array.from({ length: EVENTS }, () => site.cms.createPost('events').id);
    site.advance(60_000);
    site.cms.createPost('events');
    site.sync.start();
    await site.settle();
    // The first of the second page.
    site.cms.editSilently(ids[5]!, { title: 'Edited silently' });
    let pages = 0;
    site.cms.beforeRequest = ({ base, order, detail }) => {
      if (base !== 'events' || order !== 'id' || detail !== 'mapped' || ++pages !== 2) return;
      site.cms.erase(ids[0]!);
      site.cms.createPost('events');
    };
    await site.scan();
    expect(pages).to.be.greaterThan(2);
    expect(titleOf(site.replica, 'event', ids[5]!)).to.equal('Edited silently');
    expectInSync(site);
    await site.close();
  });
});

describe('a scan that fails', () => {
  it('is tried again at each poll, makes no poll fail, and leaves the replica stale until it succeeds', async () => {
    const site = testSite();
    const { id } = site.cms.createPost('events');
    // A new process re-reads the records of the newest second.
    site.advance(60_000);
    site.cms.createPost('events');
    site.sync.start();
    await site.settle();
    site.cms.editSilently(id, { title: 'Edited silently' });
    site.advance(SCAN_INTERVAL_MS);
    const triedMs: number[] = [];
    site.cms.beforeRequest = ({ base, order }) => {
      if (base !== 'events' || order !== 'id') return;
      triedMs.push(site.nowMs());
      unavailable();
    };
    site.observations.length = 0;
    for (let n = 0; n < 16; n += 1) {
      site.advance(10_000);
      expect(await site.sync.poll()).to.equal(true);
      // The poll after a failure reports it.
      if (n === 0) continue;
      expect(site.sync.state()).to.include({ phase: 'stale', failures: 0 });
      expect(site.sync.state().reason).to.equal('the scan: connect ECONNREFUSED');
    }
    expect(triedMs).to.have.length(16);
    expect(site.observations.filter(({ type }) => type === 'sync-state')).to.have.length(1);
    site.cms.beforeRequest = undefined;
    site.advance(30_000);
    for (let n = 0; n < 2; n += 1) await site.poll();
    expect(site.sync.status().state).to.equal('live');
    expect(titleOf(site.replica, 'event', id)).to.equal('Edited silently');
    await site.close();
  });
});

describe('a scan that a poll decides on', () => {
  /** Venues are named by a key of their own. */
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
  let site: TestSite;
  let id: number;
  let venues: number[];
  beforeEach(() => {
    site = testSite({ mapping: keyed });
    venues = [501, 502].map((key) => site.cms.createPost('venues', { meta: { key } }).id);
    id = site.cms.createPost('events', { meta: { place: 501 } }).id;
    // A new process re-reads the records of the newest second.
    site.advance(60_000);
    site.cms.createPost('events');
  });
  afterEach(() => site.close());

  const reasons: Record<string, { change: () => void }> = {
    "the site's facts changed": {
      change() {
        site.cms.siteFacts = { ...site.cms.siteFacts, name: 'Moved' };
      },
    },
    'a link table changed': {
      change() {
        venues.forEach((venue, n) => {
          site.cms.edit(venue, { meta: { key: 502 - n } });
        });
      },
    },
  };
  for (const [reason, { change }] of Object.entries(reasons))
    it(`because ${reason} is not forgotten if the process ends in that poll`, async () => {
      site.sync.start();
      await site.settle();
      site.cms.editSilently(id, { title: 'Edited silently' });
      change();
      // Of the scan, after the reason was saved.
      const isPage = ({ base, order }: ReadCall) => base === 'events' && order === 'id';
      site.cms.beforeRequest = (request) => (isPage(request) ? unavailable() : undefined);
      await site.restart();
      await site.poll();
      site.cms.beforeRequest = undefined;
      await site.restart();
      for (let n = 0; n < 4; n += 1) await site.poll();
      expect(titleOf(site.replica, 'event', id)).to.equal('Edited silently');
    });
});
