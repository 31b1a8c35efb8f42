// The public view: the replica has of a published record what the CMS shows an anonymous reader, however the
// record came into the replica.

import { expect } from 'chai';
import { normalize } from '../../src/cms/wordpress/record-form.ts';
import { CmsUnavailable } from '../../src/errors.ts';
import { compileMapping } from '../../src/mapping/compile.ts';
import { loadMapping } from '../../src/mapping/load.ts';
import { type EventRecord, WITHHELD } from '../../src/model/records.ts';
import { PUBLIC_VISIBILITY } from '../../src/store/filters.ts';
import { type FakePost, membersOnlyText, POST_BASES, refuse, SERVICE } from '../cms/fake-cms.ts';
import { until } from '../until.ts';
import { expectInSync, RESYNC_INTERVAL_MS, type TestSite, testSite } from './test-site.ts';

const TIMES = { start_date: '2026-05-01 10:00:00', end_date: '2026-05-01 12:00:00' };

describe('public view', () => {
  let site: TestSite;

  function createSite(options: Parameters<typeof testSite>[0] = {}): TestSite {
    site = testSite(options);
    for (let n = 0; n < 12; n += 1) {
      site.advance(60_000);
      createEvent({ status: n === 0 ? 'draft' : 'publish' });
    }
    site.cms.createPost('venues');
    site.cms.createPost('organizers');
    site.advance(60_000);
    return site;
  }

  async function synced(options?: Parameters<typeof testSite>[0]): Promise<TestSite> {
    createSite(options);
    site.sync.start();
    await site.sync.whenComplete();
    site.cms.requests.length = 0;
    return site;
  }

  const createEvent = (fields: Partial<FakePost> = {}) => {
    const { id } = site.cms.createPost('events', { meta: TIMES, ...fields });
    return site.cms.posts.get(id)!;
  };
  const event = (id: number) => site.replica.get('event', id) as EventRecord | undefined;
  const eventIds = () => [...site.cms.posts.values()].filter(({ base }) => base === 'events').map(({ id }) => id);
  const shownToPublic = () =>
    site.replica.listEvents({ visibility: PUBLIC_VISIBILITY, order: 'start', limit: 100, offset: 0 }).ids;
  const foundByPublic = (text: string) =>
    site.replica.listEvents({
      visibility: PUBLIC_VISIBILITY,
      order: 'start',
      limit: 100,
      offset: 0,
      words: [{ text, not: false }],
    }).total;
  const anonymousRequests = () => site.cms.requests.filter(({ ids, view }) => ids !== undefined && view === 'public');
  /** Runs before each request for public views. */
  const beforePublicView = (run: () => void) => {
    site.cms.beforeRequest = ({ ids, view }) => {
      if (ids !== undefined && view === 'public') run();
    };
  };
  const fail = () => {
    throw new CmsUnavailable('timeout', 'no response');
  };
  const warnings = () =>
    site.observations.flatMap((event) => (event.type === 'message' && event.level === 'warn' ? [event.message] : []));

  function expectNoSecret(): void {
    for (const kind of ['event', 'venue', 'organizer'] as const) {
      for (const { id, status } of site.replica.stamps(kind)) {
        if (status !== 'publish') continue;
        expect(JSON.stringify(site.replica.get(kind, id))).to.not.include(membersOnlyText({ id }));
      }
    }
    expect(foundByPublic('members')).to.equal(0);
  }

  afterEach(() => site.close());

  it('is what the initial sync, a poll, a webhook and a full resync ingest, in every text and in searches', async () => {
    await synced();
    expectNoSecret();
    expectInSync(site);
    const { id } = createEvent();
    await site.poll();
    expect(event(id)?.description).to.equal(`<p>Post ${id}</p>`);
    site.cms.edit(id, { title: 'Edited' });
    await site.sync.fetchChanged([{ collection: 'events', id }]);
    expect(event(id)?.description).to.equal('<p>Edited</p>');
    expect(foundByPublic('edited')).to.equal(1);
    site.cms.editSilently(id, { title: 'Silent' });
    await site.fullResync();
    expect(event(id)?.description).to.equal('<p>Silent</p>');
    expectNoSecret();
    expectInSync(site);
  });

  it('is not read of a draft, which only staff see, until it is published', async () => {
    await synced();
    const [draft = 0] = eventIds();
    expect(event(draft)?.description).to.include(membersOnlyText({ id: draft }));
    expect(shownToPublic()).to.not.include(draft);
    site.cms.edit(draft, { status: 'publish' });
    await site.poll();
    expect(shownToPublic()).to.include(draft);
    expectNoSecret();
  });

  it('costs one more request per page of the initial sync, and none in an idle poll', async () => {
    createSite({ pageSize: 100 });
    site.sync.start();
    await site.sync.whenComplete();
    const pages = site.cms.requests.filter(
      ({ base, detail, view }) => POST_BASES.includes(base) && view === 'editor' && detail === 'mapped',
    );
    expect(anonymousRequests().length).to.equal(pages.length);
    await site.settle();
    site.cms.requests.length = 0;
    await site.poll();
    expect(anonymousRequests()).to.deep.equal([]);
  });

  it('withholds a published record that the CMS does not show to an anonymous reader', async () => {
    createSite();
    const hidden = createEvent({ hiddenFromPublic: true });
    site.sync.start();
    await site.sync.whenComplete();
    expect(event(hidden.id)?.status).to.equal(WITHHELD);
    expect(shownToPublic()).to.not.include(hidden.id);
    expect(foundByPublic(hidden.title.toLowerCase())).to.equal(0);
    await site.settle();
    site.cms.requests.length = 0;
    await site.poll();
    expect(anonymousRequests(), 'an idle poll').to.deep.equal([]);
    expectInSync(site);
    site.cms.editSilently(hidden.id, { hiddenFromPublic: false });
    await site.fullResync();
    expect(event(hidden.id)?.status).to.equal('publish');
    site.cms.erase(hidden.id);
    await site.fullResync();
    expect(event(hidden.id)).to.equal(undefined);
    expectInSync(site);
  });

  it('withholds a record that was unpublished between the two requests', async () => {
    await synced();
    const { id } = createEvent();
    beforePublicView(() => {
      site.cms.edit(id, { status: 'draft' });
      site.cms.beforeRequest = fail;
    });
    await site.sync.fetchChanged([{ collection: 'events', id }]);
    site.cms.beforeRequest = undefined;
    expect(shownToPublic()).to.not.include(id);
    await site.poll();
    expect(event(id)?.status).to.equal('draft');
    expectInSync(site);
  });

  for (const service of [SERVICE, undefined])
    it(`is read by id if an anonymous list counts it and leaves it out: ${service ? 'with' : 'without'} an account`, async () => {
      await synced({ service });
      const shown = shownToPublic();
      const { list } = site.cms;
      let isEmpty = true;
      site.cms.list = async (spec, request, options) => {
        const page = await list(spec, request, options);
        const isAnonymous = request.ids !== undefined && options?.credentials === undefined;
        return isAnonymous ? { ...page, records: isEmpty ? [] : page.records.slice(1) } : page;
      };
      await site.sync.fetchChanged(eventIds().map((id) => ({ collection: 'events', id })));
      await site.fullResync();
      expect(shownToPublic()).to.deep.equal(shown);
      isEmpty = false;
      for (const id of eventIds()) site.cms.edit(id, { title: `Changed ${id}` });
      await site.poll();
      expect(shown.map((id) => event(id)?.title)).to.deep.equal(shown.map((id) => `Changed ${id}`));
      expect(shownToPublic()).to.deep.equal(shown);
      expect(site.sync.status().state).to.equal('live');
    });

  it('is asked once by id of a record that an anonymous list counts and the CMS hides', async () => {
    createSite();
    const hidden = createEvent({ hiddenFromPublic: true });
    const { list, read } = site.cms;
    site.cms.list = async (spec, request, options) => {
      const page = await list(spec, request, options);
      const isCounted = request.ids?.includes(hidden.id) && options?.credentials === undefined;
      return isCounted ? { ...page, total: page.total + 1 } : page;
    };
    let reads = 0;
    site.cms.read = (spec, id, ...more) => {
      if (id === hidden.id) reads += 1;
      return read(spec, id, ...more);
    };
    site.sync.start();
    await site.sync.whenComplete();
    await site.fullResync();
    expect(event(hidden.id)?.status).to.equal(WITHHELD);
    expect(reads).to.equal(1);
    expectInSync(site);
  });

  it('leaves the record unchanged while the CMS does not send it, and is read again', async () => {
    await synced();
    const [, id = 0] = eventIds();
    site.cms.edit(id, { title: 'New title' });
    beforePublicView(fail);
    await site.poll();
    expect(event(id)?.title).to.equal(`Post ${id}`);
    expect(site.sync.status().state).to.equal('stale');
    expect(site.sync.status().publicView.event).to.equal('public');
    site.cms.beforeRequest = undefined;
    await site.poll();
    expect(event(id)?.title).to.equal('New title');
    expectNoSecret();
  });

  it('is not taken from a cache in front of the CMS that is outdated', async () => {
    await synced();
    const [, id = 0] = eventIds();
    const post = site.cms.posts.get(id)!;
    const older = { ...post };
    const before = event(id);
    site.cms.edit(id, { title: 'New title' });
    const newer = { ...post };
    site.cms.beforeRequest = ({ ids, view }) =>
      void Object.assign(post, ids !== undefined && view === 'public' ? older : newer);
    await site.poll();
    expect(event(id)).to.deep.equal(before);
    site.cms.beforeRequest = undefined;
    Object.assign(post, newer);
    await site.poll();
    expect(event(id)?.title).to.equal('New title');
    expectInSync(site);
  });

  describe('of a site that refuses anonymous readers', () => {
    const ALL = ['events', 'venues', 'organizers'];

    it('is that of the service account, which the log and the status report', async () => {
      createSite();
      for (const base of ALL) site.cms.closedToPublic.add(base);
      site.sync.start();
      await site.sync.whenComplete();
      expect(site.sync.status().publicView).to.deep.equal({
        event: 'account',
        venue: 'account',
        organizer: 'account',
      });
      expect(warnings().filter((text) => text.includes('as the CMS shows it to the service account')).length).to.equal(
        3,
      );
      const [, id = 0] = eventIds();
      expect(event(id)?.description).to.include(membersOnlyText({ id }));
      site.observations.length = 0;
      await site.restart();
      await until(() => warnings().length > 0, 'a warning at the start');
      expect(warnings()[0]).to.include('refuses anonymous readers');
    });

    it('is the same for all pages if the site refuses the first request only', async () => {
      site = testSite({ pageSize: 4 });
      site.cms.createPost('venues');
      for (let n = 0; n < 20; n += 1) createEvent({ status: n < 8 ? 'draft' : 'publish' });
      site.advance(60_000);
      let requests = 0;
      site.cms.beforeRequest = ({ base, ids, view }) => {
        if (base !== 'events' || ids === undefined || view !== 'public') return;
        requests += 1;
        if (requests === 1) site.cms.closedToPublic.add('events');
        else site.cms.closedToPublic.clear();
      };
      site.sync.start();
      await site.sync.whenComplete();
      expect(site.sync.status().publicView.event).to.equal('withheld');
      expect(shownToPublic()).to.deep.equal([]);
      site.cms.closedToPublic.clear();
      await site.fullResync();
      await site.fullResync();
      expect(shownToPublic().length).to.equal(12);
      expectInSync(site);
    });

    it('is public again once a full resync finds the site open', async () => {
      createSite();
      for (const base of ALL) site.cms.closedToPublic.add(base);
      site.sync.start();
      await site.sync.whenComplete();
      site.cms.closedToPublic.clear();
      await site.fullResync();
      await site.fullResync();
      expect(site.sync.status().publicView.event).to.equal('public');
      expectNoSecret();
      expectInSync(site);
    });

    it('stays public until the refusal has lasted ten minutes', async () => {
      await synced();
      const [, id = 0] = eventIds();
      for (const base of ALL) site.cms.closedToPublic.add(base);
      site.cms.edit(id, { title: 'New title' });
      await site.poll();
      await site.poll();
      expect(event(id)?.title).to.equal(`Post ${id}`);
      expect(site.sync.status().reason).to.match(/refuses anonymous readers of "\w+" \(401 rest_login_required\)/);
      expect(site.sync.status().publicView.event).to.equal('public');
      site.advance(RESYNC_INTERVAL_MS);
      await site.poll();
      expect(site.sync.status().publicView.event).to.equal('account');
      expect(event(id)?.title).to.equal('New title');
    });

    it('withholds the records if the site refuses one collection only', async () => {
      createSite();
      site.cms.closedToPublic.add('events');
      site.sync.start();
      await site.sync.whenComplete();
      expect(site.sync.status().publicView).to.deep.equal({ event: 'withheld', venue: 'public', organizer: 'public' });
      expect(shownToPublic()).to.deep.equal([]);
      expect(warnings()[0]).to.include('of "events" only: its records are shown to staff only');
    });
  });

  describe('of a record that a caller received', () => {
    const options = { bulkhead: 'callers', fairnessKey: '1' } as const;
    const asCaller = (post: FakePost) => site.cms.response(post, { credentials: SERVICE, view: 'editor' });
    const publicViewOf = (post: FakePost) =>
      site.sync.readPublicView('event', asCaller(post), { ...options, credentials: SERVICE });

    it('is read without the credentials of the caller', async () => {
      await synced();
      const post = createEvent();
      const record = await publicViewOf(post);
      expect(record?.content).to.deep.include({ rendered: `<p>${post.title}</p>\n` });
      expect(anonymousRequests().map(({ ids }) => ids)).to.deep.equal([[post.id]]);
      site.cms.requests.length = 0;
      expect((await publicViewOf(createEvent({ status: 'draft' })))?.content).to.have.property('raw');
      expect(site.cms.requests, 'of a draft').to.deep.equal([]);
    });

    it('is withheld if the CMS does not show it, and an error if the CMS does not respond', async () => {
      await synced();
      expect((await publicViewOf(createEvent({ hiddenFromPublic: true })))?.status).to.equal(WITHHELD);
      const post = createEvent();
      beforePublicView(fail);
      const error = await publicViewOf(post).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(CmsUnavailable);
    });

    it('is undefined if a write came between', async () => {
      await synced();
      const post = createEvent();
      beforePublicView(() => site.sync.recordWrite('event', post.id));
      expect(await publicViewOf(post)).to.equal(undefined);
    });

    it('is that of the service account if the site refuses anonymous readers, never that of the caller', async () => {
      createSite();
      for (const base of ['events', 'venues', 'organizers']) site.cms.closedToPublic.add(base);
      site.sync.start();
      await site.sync.whenComplete();
      const post = createEvent();
      const ofCaller = { ...asCaller(post), content: { raw: '', rendered: 'for the caller', protected: false } };
      const record = await site.sync.readPublicView('event', ofCaller, options);
      expect(JSON.stringify(record)).to.not.include('for the caller');
      expect(record?.content).to.deep.include({ rendered: `<p>${post.title}</p>\n${membersOnlyText(post)}` });
    });
  });

  describe('of a record with a status of a plugin', () => {
    const source = structuredClone(loadMapping('wordpress-meta').source);
    source.event.wordpress = { statuses: ['expired'] };
    const mapping = compileMapping(source, 'expired.json');
    let id: number;
    let reads: number[];
    let isRefused: boolean;

    /** WordPress shows an anonymous reader the expired event by id. */
    async function syncedWithExpired(prepare = () => {}): Promise<void> {
      createSite({ mapping, pageSize: 3 });
      // Pages overlap by one record: the next one is in one page only.
      createEvent();
      ({ id } = createEvent({ status: 'expired' }));
      // A new process re-reads the records of the newest second.
      site.advance(60_000);
      createEvent();
      [reads, isRefused] = [[], false];
      site.cms.read = async (spec, readId, _how, options = {}) => {
        reads.push(readId);
        expect([spec.collection, options.credentials]).to.deep.equal(['events', undefined]);
        if (isRefused) refuse('forbidden', 403, 'rest_forbidden');
        return normalize(spec, site.cms.response(site.cms.posts.get(readId)!, options));
      };
      prepare();
      site.sync.start();
      await site.sync.whenComplete();
      await site.settle();
    }

    it('is read by id, and again when the record changes', async () => {
      await syncedWithExpired();
      expect(reads).to.include(id);
      expect(shownToPublic()).to.include(id);
      expectNoSecret();
      site.cms.edit(id, { title: 'Over' });
      await site.poll();
      expect(event(id)?.title).to.equal('Over');
      expectNoSecret();
    });

    it('is read again in one of twelve full resyncs if the record does not change', async () => {
      await syncedWithExpired();
      reads.length = 0;
      for (let n = 0; n < 12; n += 1) await site.fullResync();
      expect(reads).to.deep.equal([id]);
      isRefused = true;
      for (let n = 0; n < 12; n += 1) await site.fullResync();
      expect(shownToPublic()).to.not.include(id);
    });

    it('is read again by the next full resync if the record was withheld', async () => {
      await syncedWithExpired();
      isRefused = true;
      site.cms.edit(id, { title: 'Over' });
      for (let n = 0; n < 3; n += 1) await site.poll();
      expect(event(id)?.status).to.equal(WITHHELD);
      isRefused = false;
      await site.fullResync();
      expect(shownToPublic()).to.include(id);
    });

    const open = () => site.cms.closedToPublic.clear();
    const close = () => {
      for (const base of POST_BASES) site.cms.closedToPublic.add(base);
    };
    const moveZone = () => {
      site.cms.siteFacts = { ...site.cms.siteFacts, timezone: 'America/New_York' };
    };
    const reasons: [reason: string, change: () => void, prepare?: () => void][] = [
      ['the site shows anonymous readers more', open, close],
      ['the site moved to another time zone', moveZone],
    ];
    for (const [reason, change, prepare] of reasons)
      it(`is read again by the full resync that starts because ${reason}, also if the process restarts`, async () => {
        await syncedWithExpired(prepare);
        change();
        site.advance(RESYNC_INTERVAL_MS);
        await site.poll();
        await site.restart();
        for (let n = 0; n < 16; n += 1) await site.poll();
        expectNoSecret();
        const post = site.cms.posts.get(id)!;
        const spec = mapping.kinds.event;
        const expected = spec.read(normalize(spec, site.cms.response(post)), site.cms.siteFacts);
        expect(event(id)).to.deep.include({ startUtc: expected.startUtc, description: expected.description });
      });

    it('is withheld if the site comes to refuse this collection only', async () => {
      await syncedWithExpired();
      site.cms.closedToPublic.add('events');
      for (let n = 0; n < 3; n += 1) await site.fullResync();
      expect(shownToPublic()).to.deep.equal([]);
    });
  });
});
