// What the public is shown of a published record: what the CMS renders for an anonymous reader, however the record came into the replica.

import { expect } from 'chai';
import { UpstreamAway } from '../../src/errors.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { fittedUpstream } from '../../src/mapping/fitting.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { type EventRecord, WITHHELD } from '../../src/records.ts';
import { PUBLIC } from '../../src/replica/filters.ts';
import { until } from '../until.ts';
import { type FakePost, SERVICE, secretOf } from './fake-wordpress.ts';
import { expectSame, PASS_MS, type TestSite, testSite } from './sync-site.ts';

const TIMES = { start_date: '2026-05-01 10:00:00', end_date: '2026-05-01 12:00:00' };

describe('the public rendering', () => {
  let site: TestSite;

  function begin(options: Parameters<typeof testSite>[0] = {}): TestSite {
    site = testSite(options);
    for (let n = 0; n < 12; n += 1) {
      site.cms.clockMs += 60_000;
      make({ status: n === 0 ? 'draft' : 'publish' });
    }
    site.cms.create('venues');
    site.cms.create('organizers');
    site.cms.clockMs += 60_000;
    return site;
  }

  async function synced(options?: Parameters<typeof testSite>[0]): Promise<TestSite> {
    begin(options);
    site.sync.start();
    await site.sync.complete();
    site.cms.requests.length = 0;
    return site;
  }

  const make = (fields: Partial<FakePost> = {}) => {
    const { id } = site.cms.create('events', { meta: TIMES, ...fields });
    return site.cms.posts.get(id)!;
  };
  const event = (id: number) => site.replica.get('event', id) as EventRecord | undefined;
  const eventIds = () => [...site.cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
  const shownToPublic = () => site.replica.events({ visibility: PUBLIC, order: 'start', limit: 100, offset: 0 }).ids;
  const foundByPublic = (text: string) =>
    site.replica.events({ visibility: PUBLIC, order: 'start', limit: 100, offset: 0, words: [{ text, not: false }] })
      .total;
  const anonymousRequests = () =>
    site.cms.requests.filter(({ query }) => query.include !== undefined && query.context === undefined);
  /** Runs before each request that asks for the public rendering. */
  const beforeRendering = (run: () => void) => {
    site.cms.before = ({ query }) => {
      if (query.include !== undefined && query.context === undefined) run();
    };
  };
  const isAway = () => {
    throw new UpstreamAway('timeout', 'no answer');
  };
  const warnings = () =>
    site.seen.flatMap((one) => (one.type === 'notice' && one.level === 'warn' ? [one.message] : []));

  function expectNoSecret(): void {
    for (const kind of ['event', 'venue', 'organizer'] as const) {
      for (const { id, status } of site.replica.ids(kind)) {
        if (status !== 'publish') continue;
        expect(JSON.stringify(site.replica.get(kind, id))).to.not.include(secretOf({ id }));
      }
    }
    expect(foundByPublic('members')).to.equal(0);
  }

  afterEach(() => site.close());

  it('is what the initial sync, a poll, a webhook and a full resync bring in, in every text and in searches', async () => {
    await synced();
    expectNoSecret();
    expectSame(site);
    const { id } = make();
    await site.look();
    expect(event(id)?.description).to.equal(`<p>Post ${id}</p>`);
    site.cms.edit(id, { title: 'Edited' });
    await site.sync.changed([{ collection: 'events', id }]);
    expect(event(id)?.description).to.equal('<p>Edited</p>');
    expect(foundByPublic('edited')).to.equal(1);
    site.cms.quietly(id, { title: 'Quietly' });
    await site.quiet();
    expect(event(id)?.description).to.equal('<p>Quietly</p>');
    expectNoSecret();
    expectSame(site);
  });

  it('is not that of a draft, which only staff see, and is asked for when the draft is published', async () => {
    await synced();
    const [draft = 0] = eventIds();
    expect(event(draft)?.description).to.include(secretOf({ id: draft }));
    expect(shownToPublic()).to.not.include(draft);
    site.cms.edit(draft, { status: 'publish' });
    await site.look();
    expect(shownToPublic()).to.include(draft);
    expectNoSecret();
  });

  it('costs one more request for each page of the initial sync, and none in a quiet poll', async () => {
    begin({ pageSize: 100 });
    site.sync.start();
    await site.sync.complete();
    const pages = site.cms.requests.filter(
      ({ query }) => query.context === 'edit' && /content/.test(`${query._fields}`),
    );
    expect(anonymousRequests().length).to.equal(pages.length);
    await site.settle();
    site.cms.requests.length = 0;
    await site.look();
    expect(anonymousRequests()).to.deep.equal([]);
  });

  it('withholds a published record that the CMS does not show to an anonymous reader', async () => {
    begin();
    const hidden = make({ hiddenFromPublic: true });
    site.sync.start();
    await site.sync.complete();
    expect(event(hidden.id)?.status).to.equal(WITHHELD);
    expect(shownToPublic()).to.not.include(hidden.id);
    expect(foundByPublic(hidden.title.toLowerCase())).to.equal(0);
    await site.settle();
    site.cms.requests.length = 0;
    await site.look();
    expect(anonymousRequests(), 'a quiet poll').to.deep.equal([]);
    expectSame(site);
    site.cms.quietly(hidden.id, { hiddenFromPublic: false });
    await site.quiet();
    expect(event(hidden.id)?.status).to.equal('publish');
    site.cms.erase(hidden.id);
    await site.quiet();
    expect(event(hidden.id)).to.equal(undefined);
    expectSame(site);
  });

  it('withholds a record that was withdrawn between the two requests', async () => {
    await synced();
    const { id } = make();
    beforeRendering(() => {
      site.cms.edit(id, { status: 'draft' });
      site.cms.before = isAway;
    });
    await site.sync.changed([{ collection: 'events', id }]);
    site.cms.before = undefined;
    expect(shownToPublic()).to.not.include(id);
    await site.look();
    expect(event(id)?.status).to.equal('draft');
    expectSame(site);
  });

  it('stays as it was while the CMS does not tell it, and is asked for again', async () => {
    await synced();
    const [, id = 0] = eventIds();
    site.cms.edit(id, { title: 'New title' });
    beforeRendering(isAway);
    await site.look();
    expect(event(id)?.title).to.equal(`Post ${id}`);
    expect(site.sync.status().state).to.equal('lagging');
    expect(site.sync.status().renderedFor.event).to.equal('public');
    site.cms.before = undefined;
    await site.look();
    expect(event(id)?.title).to.equal('New title');
    expectNoSecret();
  });

  it('is not taken from a cache before the CMS that still has the older one', async () => {
    await synced();
    const [, id = 0] = eventIds();
    const post = site.cms.posts.get(id)!;
    const older = { ...post };
    const before = event(id);
    site.cms.edit(id, { title: 'New title' });
    const newer = { ...post };
    site.cms.before = ({ query }) =>
      void Object.assign(post, query.include !== undefined && query.context === undefined ? older : newer);
    await site.look();
    expect(event(id)).to.deep.equal(before);
    site.cms.before = undefined;
    Object.assign(post, newer);
    await site.look();
    expect(event(id)?.title).to.equal('New title');
    expectSame(site);
  });

  describe('of a site that refuses anonymous readers', () => {
    const ALL = ['events', 'venues', 'organizers'];

    it('is the one for the service account, of which the log and the status tell', async () => {
      begin();
      for (const base of ALL) site.cms.closedToPublic.add(base);
      site.sync.start();
      await site.sync.complete();
      expect(site.sync.status().renderedFor).to.deep.equal({
        event: 'account',
        venue: 'account',
        organizer: 'account',
      });
      expect(
        warnings().filter((text) => text.includes('as the CMS renders it for the service account')).length,
      ).to.equal(3);
      const [, id = 0] = eventIds();
      expect(event(id)?.description).to.include(secretOf({ id }));
      site.seen.length = 0;
      await site.restart();
      await until(() => warnings().length > 0, 'a warning at the start');
      expect(warnings()[0]).to.include('refuses anonymous readers');
    });

    it('is the public one as soon as a full resync finds the site open', async () => {
      begin();
      for (const base of ALL) site.cms.closedToPublic.add(base);
      site.sync.start();
      await site.sync.complete();
      site.cms.closedToPublic.clear();
      await site.quiet();
      await site.quiet();
      expect(site.sync.status().renderedFor.event).to.equal('public');
      expectNoSecret();
      expectSame(site);
    });

    it('stays the public one until the refusal has lasted ten minutes', async () => {
      await synced();
      const [, id = 0] = eventIds();
      for (const base of ALL) site.cms.closedToPublic.add(base);
      site.cms.edit(id, { title: 'New title' });
      await site.look();
      await site.look();
      expect(event(id)?.title).to.equal(`Post ${id}`);
      expect(site.sync.status().reason).to.match(/refuses anonymous readers of "\w+" \(401 rest_login_required\)/);
      expect(site.sync.status().renderedFor.event).to.equal('public');
      site.pass(PASS_MS);
      await site.look();
      expect(site.sync.status().renderedFor.event).to.equal('account');
      expect(event(id)?.title).to.equal('New title');
    });

    it('withholds the records of a collection that alone is refused', async () => {
      begin();
      site.cms.closedToPublic.add('events');
      site.sync.start();
      await site.sync.complete();
      expect(site.sync.status().renderedFor).to.deep.equal({ event: 'withheld', venue: 'public', organizer: 'public' });
      expect(shownToPublic()).to.deep.equal([]);
      expect(warnings()[0]).to.include('of "events" alone: only staff are shown its records');
    });
  });

  describe('of a record that a caller was answered', () => {
    const options = { lane: 'callers', share: '1' } as const;
    const asCaller = (post: FakePost) => site.cms.nativePost(post, { credentials: SERVICE, context: 'edit' });
    const shown = (post: FakePost) => site.sync.shown('event', asCaller(post), { ...options, credentials: SERVICE });

    it('is asked for without the credentials of the caller', async () => {
      await synced();
      const post = make();
      const record = await shown(post);
      expect(record?.content).to.deep.include({ rendered: `<p>${post.title}</p>\n` });
      expect(anonymousRequests().map(({ query }) => query.include)).to.deep.equal([String(post.id)]);
      site.cms.requests.length = 0;
      expect((await shown(make({ status: 'draft' })))?.content).to.have.property('raw');
      expect(site.cms.requests, 'of a draft').to.deep.equal([]);
    });

    it('is withheld where the CMS does not show it, and an error where the CMS does not answer', async () => {
      await synced();
      expect((await shown(make({ hiddenFromPublic: true })))?.status).to.equal(WITHHELD);
      const post = make();
      beforeRendering(isAway);
      const error = await shown(post).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(UpstreamAway);
    });

    it('is unknown when a later write came between', async () => {
      await synced();
      const post = make();
      beforeRendering(() => site.sync.wrote('event', post.id));
      expect(await shown(post)).to.equal(undefined);
    });

    it('is that of the service account where the site refuses anonymous readers, never that of the caller', async () => {
      begin();
      for (const base of ['events', 'venues', 'organizers']) site.cms.closedToPublic.add(base);
      site.sync.start();
      await site.sync.complete();
      const post = make();
      const ofCaller = { ...asCaller(post), content: { raw: '', rendered: 'for the caller', protected: false } };
      const record = await site.sync.shown('event', ofCaller, options);
      expect(JSON.stringify(record)).to.not.include('for the caller');
      expect(record?.content).to.deep.include({ rendered: `<p>${post.title}</p>\n${secretOf(post)}` });
    });
  });

  it('of a record with a status of a plugin is read record by record, and again only when the record changes', async () => {
    const source = structuredClone(loadMapping('wordpress-meta').source);
    source.event.statuses = ['expired'];
    const mapping = compileMapping(source, 'expired.json');
    begin({ mapping, upstream: (cms) => fittedUpstream(cms, mapping) });
    const reads: number[] = [];
    const secret = make({ status: 'expired' });
    site.cms.read = async (base, id, _query, options = {}) => {
      reads.push(id);
      expect([base, options.credentials]).to.deep.equal(['events', undefined]);
      return site.cms.nativePost(site.cms.posts.get(id)!, options);
    };
    site.sync.start();
    await site.sync.complete();
    await site.settle();
    expect(reads).to.include(secret.id);
    expect(shownToPublic()).to.include(secret.id);
    expectNoSecret();
    reads.length = 0;
    await site.quiet();
    expect(reads).to.deep.equal([]);
    site.cms.edit(secret.id, { title: 'Over' });
    await site.look();
    expect(event(secret.id)?.title).to.equal('Over');
    expectNoSecret();
  });
});
