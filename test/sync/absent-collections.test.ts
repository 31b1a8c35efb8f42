// The sync of a site that lacks some of the mapping's collections, at the start or later.

import { expect } from 'chai';
import { getRecord } from '../../src/store/records.ts';
import { SERVICE } from '../cms/fake-cms.ts';
import { recordCounts } from '../store/record-counts.ts';
import { filledSite, syncedSite } from './filled-site.ts';
import { expectInSync, type TestSite, testSite } from './test-site.ts';

const EVENTS = 23;

describe('a collection that the site does not have', () => {
  let site: TestSite;
  afterEach(() => site.close());

  const counts = () => recordCounts(site.replica.db);
  const messages = () => site.observations.flatMap((entry) => (entry.type === 'message' ? entry.message : []));

  async function initialSyncFails(): Promise<void> {
    site.sync.start();
    for (let n = 0; site.sync.status().state !== 'unreachable' && n < 1000; n += 1) await new Promise(setImmediate);
  }

  for (const visitor of [undefined, SERVICE])
    it(`is left out of the initial sync, ${visitor ? 'with an account' : 'as a visitor'}`, async () => {
      site = filledSite({ visitor });
      site.cms.removed = new Set(['tags', 'organizers']);
      site.sync.start();
      await site.sync.whenComplete();
      await site.poll();
      expect(site.sync.status()).to.deep.include({ state: 'live', absent: ['tags', 'organizers'] });
      expect(counts()).to.include({ event: EVENTS, venue: 1, category: 1, tag: 0, organizer: 0 });
      expect(messages().filter((text) => text.includes('no collection "tags"'))).to.have.length(1);
    });

  for (const when of ['before', 'after'])
    it(`prevents the initial sync if it is that of the events, removed ${when} its first request`, async () => {
      site = filledSite();
      if (when === 'before') site.cms.removed = new Set(['events', 'tags']);
      else
        site.cms.beforeRequest = ({ base, offset }) => {
          if (base === 'events' && offset !== undefined) site.cms.removed = new Set(['events', 'tags']);
        };
      await initialSyncFails();
      expect(site.sync.status()).to.deep.include({
        complete: false,
        absent: when === 'before' ? ['tags', 'events'] : ['events'],
      });
      expect(site.sync.status().reason)
        .to.match(/^the site has no collection "events"\./)
        .and.contain('Activate the plugin that has it');
      site.cms.beforeRequest = undefined;
      site.cms.removed.clear();
      await site.settle();
      expect(site.sync.status()).to.deep.include({ state: 'live', absent: [] });
      expectInSync(site);
    });

  it('makes an empty replica stale if it is that of the events', async () => {
    site = testSite();
    site.sync.start();
    await site.sync.whenComplete();
    site.cms.removed = new Set(['events', 'tags']);
    await site.poll();
    expect(site.sync.status()).to.include({
      state: 'stale',
      reason: 'the site no longer has "events", of which the replica keeps 0 records',
    });
  });

  it('is read once it appears, with the events that have its terms', async () => {
    site = filledSite();
    site.cms.removed = new Set(['tags']);
    site.sync.start();
    await site.sync.whenComplete();
    site.cms.removed.clear();
    const tag = site.cms.createTerm('tags');
    site.cms.edit(10, { terms: { event_categories: [], tags: [tag.id] } });
    await site.poll();
    expect(counts().tag).to.equal(2);
    expectInSync(site);
  });

  it('keeps the records that were read before it disappeared, and makes the replica stale until it is back', async () => {
    site = await syncedSite();
    site.cms.removed = new Set(['events', 'venues', 'organizers', 'event_categories', 'tags']);
    for (let n = 0; n < 100; n += 1) {
      site.advance(600_000);
      await site.poll();
    }
    expect(counts()).to.deep.equal({ event: EVENTS, venue: 1, organizer: 1, category: 1, tag: 1 });
    const { state, reason, complete } = site.sync.status();
    expect({ state, complete }).to.deep.equal({ state: 'stale', complete: true });
    expect(reason).to.contain(`the site no longer has`).and.contain(`"events", of which the replica keeps ${EVENTS}`);
    site.cms.removed.clear();
    await site.scan();
    expect(site.sync.status()).to.deep.include({ state: 'live', absent: [] });
    expectInSync(site);
  });

  it('does not prevent the others from being kept current', async () => {
    site = await syncedSite();
    site.cms.removed = new Set(['tags']);
    site.cms.edit(10, { title: 'Meanwhile' });
    site.cms.erase(11);
    await site.poll();
    expect(getRecord(site.replica.db, 'event', 10)?.title).to.equal('Meanwhile');
    expect(getRecord(site.replica.db, 'event', 11)).to.equal(undefined);
    expect(site.sync.status().state).to.equal('stale');
    expect(counts().tag).to.equal(1);
  });

  it('is absent only if the site says so: a hidden route alone is a failure', async () => {
    site = await syncedSite();
    site.cms.unrouted = new Set(['events']);
    await site.poll();
    await site.poll();
    expect(site.sync.status()).to.deep.include({ state: 'unreachable', absent: [], reason: 'Refused: rest_no_route' });
    expect(counts().event).to.equal(EVENTS);
  });

  it('is not served in part if the site removes it during the initial sync', async () => {
    site = filledSite();
    let pages = 0;
    site.cms.beforeRequest = ({ base, offset }) => {
      if (base === 'events' && offset !== undefined) pages += 1;
      if (pages === 3) site.cms.removed.add('events');
    };
    await initialSyncFails();
    expect(site.sync.status()).to.include({ state: 'unreachable', complete: false });
    expect(site.sync.status().reason).to.contain('the site has no collection "events"');
    site.cms.beforeRequest = undefined;
    site.cms.removed.clear();
    await site.settle();
    expectInSync(site);
  });
});
