// Sources beside a CMS, through the API: what they say is served, merged, kept on failure, and never lost to the CMS's
// polls and scans.

import { expect } from 'chai';
import type { SourceEvent, SourceSnapshot } from '../../../src/cms/sources/source.ts';
import { FIRST_SOURCE_ID } from '../../../src/model/records.ts';
import { Sources } from '../../../src/sync/sources/sources.ts';
import { CREDENTIALS, createFakeCms } from '../../cms/fake-cms.ts';
import { type Json, startGateway, type TestGateway } from '../../start-gateway.ts';

/** Names whose ids are equal: of 2 ** 48 ids, some of 2 ** 26 tried names are. */
const COLLIDING = {
  oneSource: ['a63dop', 'abhos'],
  twoSources: ['a172167b', 'a14c0fe6'],
  venues: ['hall 8075682', 'hall 42190459'],
};
/** The next read begins at once, and waits for the test. */
const INTERVAL_MS = 1;
const VENUE = {
  ...{ name: 'Main Library', address: 'High Street 1', city: 'Springfield', country: '', province: '', state: '' },
  ...{ zip: '', phone: '', website: '', latitude: null, longitude: null },
};

function said(key: string, more: Partial<SourceEvent> = {}): SourceEvent {
  return {
    ...{ key, uid: key, title: `Event ${key}`, description: '<p>Text</p>', excerpt: '', cost: '', website: '' },
    ...{ start: '2027-05-01 18:00:00', end: '2027-05-01 20:00:00', timezone: 'Europe/Berlin', allDay: false },
    ...{ startUtc: '2027-05-01 16:00:00', endUtc: '2027-05-01 18:00:00' },
    ...{ url: `https://origin.example/${key}`, eventStatus: '', eventStatusReason: '', attendanceMode: '' },
    ...{ onlineUrl: '', categories: [], tags: [], organizers: [] },
    ...more,
  };
}

type Answer = SourceEvent[] | Error | undefined;

/** A source that answers when the test says what. */
class StubSource {
  isPartial = false;
  /** The validators of the last call that was answered. */
  previous: unknown;
  #next = Promise.withResolvers<Answer>();

  answer(next: Answer): void {
    this.#next.resolve(next);
  }

  async read(previous: unknown, signal: AbortSignal): Promise<SourceSnapshot | undefined> {
    const stopped = new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const events = await Promise.race([this.#next.promise, stopped]);
    this.#next = Promise.withResolvers();
    this.previous = previous;
    if (events instanceof Error) throw events;
    if (!events) return undefined;
    return { events, remarks: [], isPartial: this.isPartial, validators: { etag: `"${events.length}"` } };
  }
}

describe('sources', () => {
  let cms: ReturnType<typeof createFakeCms>;
  let gateway: TestGateway;
  let library: StubSource;
  let theatre: StubSource;
  let sources: Sources;
  let nowMs = Date.UTC(2027, 0, 1);
  let onRead: (observation: { source: string; problem: string | undefined }) => void;

  const open = async (names = ['library', 'theatre'], merge = true) => {
    const stubs: Record<string, StubSource> = { library, theatre };
    sources = new Sources({
      sources: names.map((name) => ({
        ...{ name, events: `https://${name}.example/secret`, merge, reader: stubs[name]! },
        categories: name === 'library' ? ['Reading & Talks'] : [],
      })),
      replica: gateway.replica,
      site: () => gateway.sync.site(),
      whenComplete: () => gateway.sync.whenComplete(),
      intervalMs: INTERVAL_MS,
      observe: (observation) => {
        gateway.observations.push(observation);
        if (observation.type === 'source-read') onRead(observation);
      },
      nowMs: () => nowMs,
    });
    sources.start();
  };

  beforeEach(async () => {
    cms = createFakeCms(Date.now);
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS });
    library = new StubSource();
    theatre = new StubSource();
    await open();
  });
  afterEach(async () => {
    await sources.stop();
    await gateway.stop();
  });

  it('end no process if the replica is damaged: the gateway replaces it, and makes other ones', async () => {
    const { db } = gateway.replica;
    const number = db.number.bind(db);
    const damage = Promise.withResolvers<void>();
    db.number = () => {
      damage.resolve();
      throw new Error('database disk image is malformed');
    };
    library.answer([said('a')]);
    await damage.promise;
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    await sources.stop();
    db.number = number;
  });

  /** The source is read, and answers so. Resolves with whether that succeeded. */
  const read = async (name: 'library' | 'theatre', answer: Answer): Promise<boolean> => {
    const read = Promise.withResolvers<boolean>();
    onRead = ({ source, problem }) => source === name && read.resolve(problem === undefined);
    ({ library, theatre })[name].answer(answer);
    return read.promise;
  };
  const list = async (query = ''): Promise<Json[]> =>
    (await gateway.request(`/events?start_date=2020-01-01${query}`)).body.events;
  const titles = async (query = '') => (await list(query)).map(({ title }) => title).sort();

  it('are served with their venue, categories and name, and filtered by it', async () => {
    const organizers = [{ name: 'Friends', phone: '', website: '' }];
    await read('library', [said('a', { venue: VENUE, organizers, categories: ['Music'] })]);
    await read('theatre', [said('b', { start: '2027-05-02 18:00:00', startUtc: '2027-05-02 16:00:00' })]);
    const [event] = await list('&source=library');
    expect(event).to.deep.include({ title: 'Event a', source: 'library', url: 'https://origin.example/a' });
    expect(event.id).to.be.above(FIRST_SOURCE_ID);
    expect(event.venue.venue).to.equal('Main Library');
    expect(event.organizer[0].organizer).to.equal('Friends');
    expect(event.categories.map(({ name }: Json) => name)).to.deep.equal(['Music', 'Reading &amp; Talks']);
    expect(event).not.to.have.property('also_at');
    expect(await titles('&source=library,theatre')).to.deep.equal(['Event a', 'Event b']);
    expect(await titles('&source=nobody')).to.deep.equal([]);
    expect((await gateway.request('/events?source=No!')).body.data.params).to.have.keys('source');
  });

  it('have no website if their source names none', async () => {
    const website = 'https://band.example/';
    await read('library', [said('a'), said('b', { website })]);
    expect((await list()).map((event) => event.website)).to.have.members(['', website]);
  });

  it('are read five at a time', async () => {
    await sources.stop();
    const answers: (() => void)[] = [];
    const reader = {
      read: () => new Promise<undefined>((resolve) => void answers.push(() => resolve(undefined))),
    };
    const slow = { events: '', reader };
    sources = new Sources({
      sources: ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => ({ name, ...slow })),
      replica: gateway.replica,
      site: () => gateway.sync.site(),
      whenComplete: async () => undefined,
      // None is read twice.
      intervalMs: 3_600_000,
      observe: () => undefined,
    });
    sources.start();
    await new Promise(setImmediate);
    expect(answers).to.have.length(5);
    answers[0]!();
    while (answers.length < 6) await new Promise(setImmediate);
    for (const answer of answers) answer();
  });

  it('share a category as the first source that has it spells it', async () => {
    await read('library', [said('a', { categories: ['Music'] })]);
    await read('theatre', [said('b', { categories: ['MUSIC'] })]);
    const names = async () => (await gateway.request('/categories')).body.categories.map(({ name }: Json) => name);
    expect(await names())
      .to.include('Music')
      .and.not.to.include('MUSIC');
    await read('theatre', [said('b', { categories: ['MUSIC'], title: 'Other' })]);
    expect(await titles()).to.deep.equal(['Event a', 'Other']);
    expect(await names())
      .to.include('Music')
      .and.not.to.include('MUSIC');
    await read('library', [said('a')]);
    expect(await names())
      .to.include('MUSIC')
      .and.not.to.include('Music');
  });

  it("use the CMS's category of the same name", async () => {
    const { id } = cms.createTerm('event_categories', { name: 'Music' });
    await gateway.sync.poll();
    await read('library', [said('a', { categories: ['MUSIC'] })]);
    expect((await list())[0].categories.map((each: Json) => each.id)).to.include(id);
  });

  it('are nothing that polls and scans of the CMS count or delete', async () => {
    cms.createPost('events', { title: 'Own', meta: { start_date: '2027-06-01 10:00:00' } });
    await gateway.sync.poll();
    const image = { url: 'https://origin.example/a.jpg', width: 0, height: 0 };
    await read('library', [said('a', { venue: VENUE, image, categories: ['Music'], tags: ['free'] })]);
    const before = await list();
    for (let n = 0; n < 3; n += 1) expect(await gateway.sync.poll()).to.equal(true);
    expect(gateway.sync.state().phase).to.equal('live');
    expect(await list()).to.deep.equal(before);
    expect(before.find(({ source }) => source === 'library').image.url).to.equal(image.url);
  });

  it('have the same ids in another replica, and after a restart', async () => {
    await read('library', [said('a'), said('b')]);
    const ids = (await list()).map(({ id }) => id);
    await sources.stop();
    await open();
    await read('library', undefined);
    expect(library.previous).to.deep.equal({ etag: '"2"' });
    expect((await list()).map(({ id }) => id)).to.deep.equal(ids);
  });

  describe('of which two names have one id', () => {
    it('show one event, the one with the lower key, and later passes change nothing of it', async () => {
      const [low, high] = COLLIDING.oneSource.map((key) => said(key));
      await read('library', [high!]);
      const [{ id }] = await list();
      await read('library', [high!, low!]);
      expect(await list()).to.have.length(1);
      expect((await list())[0]).to.deep.include({ id, title: low!.title });
      const token = (await gateway.request('/changes')).body.next_token;
      await read('theatre', [said('b')]);
      const { changes } = (await gateway.request(`/changes?since=${token}`)).body;
      expect(changes.map(({ change }: Json) => change)).to.deep.equal(['created']);
      await read('library', [high!]);
      expect((await list('&source=library'))[0]).to.deep.include({ id, title: high!.title });
    });

    it('show the event of the first source, also after a restart', async () => {
      const [first, second] = COLLIDING.twoSources.map((key) => said(key));
      await read('theatre', [second!, said('b')]);
      expect(await titles()).to.deep.equal([second!.title, 'Event b'].sort());
      await read('library', [first!]);
      expect(await titles()).to.deep.equal([first!.title, 'Event b'].sort());
      await sources.stop();
      await open();
      await read('theatre', undefined);
      expect(await titles()).to.deep.equal([first!.title, 'Event b'].sort());
      await read('library', []);
      expect(await titles()).to.deep.equal([second!.title, 'Event b'].sort());
    });

    it('show the venue that was named first', async () => {
      const [near, far] = COLLIDING.venues.map((name) => ({ ...VENUE, name, address: '' }));
      const venues = async () => (await list()).map(({ title, venue }) => [title, venue.venue]).sort();
      await read('library', [said('a', { venue: near! }), said('b', { venue: far! })]);
      expect(await venues()).to.deep.equal([
        ['Event a', near!.name],
        ['Event b', near!.name],
      ]);
      await read('library', [said('b', { venue: far! })]);
      expect(await venues()).to.deep.equal([['Event b', far!.name]]);
    });
  });

  it('are refused for writing, with a code of their own', async () => {
    await read('library', [said('a', { venue: VENUE, categories: ['Music'] })]);
    const [{ id, venue, categories }] = await list();
    const paths = [`/events/${id}`, `/venues/${venue.id}`, `/categories/${categories[0].id}`];
    for (const path of paths)
      for (const method of ['PUT', 'DELETE']) {
        const { status, body } = await gateway.request(path, { method, as: 'admin', json: { title: 'Mine' } });
        expect([status, body.code], `${method} ${path}`).to.deep.equal([403, 'calendar_source_read_only']);
      }
    expect((await gateway.request(`/events/${id}`, { method: 'DELETE' })).status).to.equal(401);
  });

  it('show an event of two sources once, and say where else it is and why', async () => {
    await read('library', [said('a', { title: 'Jazz &amp; Blues', venue: VENUE })]);
    await read('theatre', [said('x', { title: 'JAZZ &amp; blues!', venue: { ...VENUE, address: '' } })]);
    const [event, ...others] = await list();
    expect(others).to.deep.equal([]);
    expect(event).to.deep.include({ source: 'library' });
    expect(event.also_at).to.deep.equal([{ source: 'theatre', url: 'https://origin.example/x' }]);
    expect(await titles('&source=theatre')).to.deep.equal(['Jazz &amp; Blues']);
    const { merged, sources: shown } = sources.status();
    expect(merged).to.deep.equal([
      { source: 'theatre', key: 'x', eventId: event.id, why: 'same title, start and place' },
    ]);
    expect(shown.map(({ events, merged: count }) => [events, count])).to.deep.equal([
      [1, 0],
      [1, 1],
    ]);
    // It is an event of its own when the first source has it no more.
    await read('library', []);
    const [left] = await list();
    expect(left).to.deep.include({ source: 'theatre', url: 'https://origin.example/x' });
    expect(left).not.to.have.property('also_at');
  });

  it('take a hall for the same if one source writes its address behind a comma', async () => {
    const at = (name: string, city = '') => ({ title: 'Jazz', venue: { ...VENUE, name, city, address: '' } });
    const isMerged = async (a: object, b: object) => {
      await read('library', [said('a', a)]);
      await read('theatre', [said('b', b)]);
      return (await list()).length === 1;
    };
    const long = at('Town Hall, 1 Main St, Springfield');
    expect(await isMerged(at('Town hall'), long)).to.equal(true);
    expect(await isMerged(long, at('Town Hall', 'Springfield'))).to.equal(true);
    for (const other of [
      // Another hall in the street, another part of the house, a hall of this name in another town, and none.
      at('Mill, 1 Main St, Springfield'),
      at('Town Hall, Cellar'),
      at('Main St'),
      at('Town Hall', 'Shelbyville'),
      at(', 1 Main St'),
    ])
      expect(await isMerged(long, other), JSON.stringify(other)).to.equal(false);
    expect(await isMerged(at('Hall A, 1 Main St'), at('Hall B, 1 Main St'))).to.equal(false);
    expect(await isMerged(at('Hall', 'Bath'), at('Hall, High St, Bath BA1 5AW, UK'))).to.equal(true);
    expect(await isMerged(at('Hall, A-1010 Wien'), at('Hall', 'Wien'))).to.equal(true);
    // The letters of a town are in the name of a street, of another town, or of the hall itself.
    for (const [town, elsewhere] of [
      ['Essen', 'Hall, Hessenring 3, Kassel'],
      ['York', 'Hall, 10 York St, Leeds'],
      ['York', 'Hall, New York'],
    ] as const)
      expect(await isMerged(at('Hall', town), at(elsewhere)), elsewhere).to.equal(false);
    expect(await isMerged(at('Berlin Bar', 'Berlin'), at('Berlin Bar, Hamburg'))).to.equal(false);
  });

  const createOwn = async () => {
    const meta = { start_date: '2027-05-01 18:00:00', end_date: '2027-05-01 20:00:00', timezone: 'Europe/Berlin' };
    const { id } = cms.createPost('events', { title: 'Own', meta: { ...meta, website: 'https://origin.example/a/' } });
    await gateway.sync.poll();
    return id;
  };

  it('show an event of the CMS once, also on a site that lists all events by its own clock', async () => {
    cms.siteFacts = { ...cms.siteFacts, timezone: 'America/New_York', settings: { timezoneMode: 'site' } };
    await sources.stop();
    await gateway.stop();
    gateway = await startGateway({ cms, service: CREDENTIALS.admin, as: CREDENTIALS });
    await open();
    const id = await createOwn();
    await read('library', [said('a')]);
    expect((await list()).map((event) => event.id)).to.deep.equal([id]);
  });

  it('show an event of the CMS before that of a source, and note it in /changes', async () => {
    const id = await createOwn();
    const token = (await gateway.request('/changes')).body.next_token;
    await read('library', [said('a'), said('b')]);
    const own = (await gateway.request(`/events/${id}`)).body;
    expect(own.also_at).to.deep.equal([{ source: 'library', url: 'https://origin.example/a' }]);
    expect(own).not.to.have.property('source');
    const { changes } = (await gateway.request(`/changes?since=${token}`)).body;
    const events = changes.filter(({ kind }: Json) => kind === 'event');
    expect(events.map(({ id: of, change }: Json) => [of === id, change]).sort()).to.deep.equal([
      [false, 'created'],
      [true, 'updated'],
    ]);
  });

  it('stay two events if their addresses differ in the fragment alone, such as #/details/jazz', async () => {
    const page = (name: string) => ({ url: `https://town.example/events/#/details/${name}` });
    await read('library', [said('a', page('jazz'))]);
    await read('theatre', [said('b', page('opera')), said('c', page('jazz'))]);
    expect(await titles()).to.deep.equal(['Event a', 'Event b']);
    expect(sources.status().merged.map(({ key, why }) => [key, why])).to.deep.equal([['c', 'same address and start']]);
  });

  it('are not merged if the settings say so', async () => {
    await sources.stop();
    await open(['library', 'theatre'], false);
    await read('library', [said('a')]);
    await read('theatre', [said('a')]);
    expect(await list()).to.have.length(2);
  });

  it('keep their events when they fail, and say why without their address', async () => {
    await read('library', [said('a')]);
    expect(await read('library', new Error('no answer of https://library.example/secret'))).to.equal(false);
    expect(await titles()).to.deep.equal(['Event a']);
    expect(sources.status().sources[0]!.problem).to.equal('no answer of its address');
    expect(JSON.stringify(gateway.observations)).not.to.contain('/secret');
    await read('library', undefined);
    expect(sources.status().sources[0]!.problem).to.equal(undefined);
  });

  it('say when they were last read, also if nothing changed since', async () => {
    const readMs = () => sources.status().sources[0]!.readMs;
    const startMs = nowMs;
    await read('library', [said('a')]);
    nowMs += 60_000;
    await read('library', undefined);
    expect(readMs()).to.equal(startMs + 60_000);
    nowMs += 60_000;
    await read('library', new Error('no answer'));
    expect(readMs()).to.equal(startMs + 60_000);
    expect(library.previous).to.deep.equal({ etag: '"1"' });
  });

  it('keep what a broken answer lacks', async () => {
    await read('library', [said('a'), said('b')]);
    library.isPartial = true;
    expect(await read('library', [said('a', { title: 'Changed' })])).to.equal(true);
    expect(await titles()).to.deep.equal(['Changed', 'Event b']);
    library.isPartial = false;
    await read('library', [said('a', { title: 'Changed' })]);
    expect(await titles()).to.deep.equal(['Changed']);
  });

  it('change only what is shown otherwise', async () => {
    await read('theatre', [said('x', { title: 'Jazz', venue: VENUE }), said('y')]);
    let token = (await gateway.request('/changes')).body.next_token;
    const changedEvents = async () => {
      const { changes, next_token } = (await gateway.request(`/changes?since=${token}`)).body;
      token = next_token;
      const events = changes.filter(({ kind }: Json) => kind === 'event');
      return events.map(({ change }: Json) => change).sort();
    };
    await read('library', [said('a')]);
    expect(await changedEvents()).to.deep.equal(['created']);
    await read('library', [said('a'), said('b', { title: 'JAZZ', venue: VENUE })]);
    expect(await changedEvents()).to.deep.equal(['created', 'deleted']);
    expect(await titles()).to.deep.equal(['Event a', 'Event y', 'JAZZ']);
    expect((await list()).find(({ title }) => title === 'JAZZ')!.also_at[0].source).to.equal('theatre');
    await read('library', [said('b', { title: 'JAZZ', venue: VENUE })]);
    expect(await changedEvents()).to.deep.equal(['deleted']);
  });

  it('that lose more than half of their events are believed at the second look', async () => {
    const all = ['a', 'b', 'c', 'd', 'e'].map((key) => said(key));
    await read('library', all);
    expect(await read('library', all.slice(0, 2))).to.equal(false);
    expect(await list()).to.have.length(5);
    expect(sources.status().sources[0]!.problem).to.contain('3 of 5 events are gone');
    expect(await read('library', all.slice(0, 2))).to.equal(true);
    expect(library.previous).to.equal(undefined);
    expect(await list()).to.have.length(2);
  });

  it('that the settings no longer name are gone with all that they brought', async () => {
    await read('library', [said('a', { venue: VENUE, categories: ['Music'] })]);
    await read('theatre', [said('b')]);
    await sources.stop();
    await open(['theatre']);
    await read('theatre', undefined);
    expect(await titles()).to.deep.equal(['Event b']);
    expect((await gateway.request('/venues')).body.venues ?? []).to.deep.equal([]);
    expect((await gateway.request('/categories?hide_empty=0')).body.categories).to.deep.equal([]);
  });
});
