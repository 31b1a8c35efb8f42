// Another events/v1 API as a source: pages, politeness, lists that change while they are read, and hostile JSON.

import { expect } from 'chai';
import fc from 'fast-check';
import { PublicRequestError } from '../../../src/cms/public-request.ts';
import { createEventsSource } from '../../../src/cms/sources/events-api.ts';
import { MAX_SOURCE_EVENTS, type SourceEvent } from '../../../src/cms/sources/source.ts';
import { BODY_PARAMETERS } from '../../../src/interface/fields.ts';
import type { PostKind } from '../../../src/model/records.ts';
import { type EventsSite, event, startEventsSite } from './events-site.ts';

describe('an events/v1 API as a source', () => {
  let site: EventsSite;
  beforeEach(async () => {
    site = await startEventsSite();
  });
  afterEach(() => site.close());

  const signal = () => AbortSignal.timeout(30_000);
  const refused = async (): Promise<string> => {
    const error = await site.read().catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error);
    return (error as Error).message;
  };
  /** The only event of the site. */
  const readOne = async (fields: object): Promise<SourceEvent> => {
    site.pages = [[event(1, fields)]];
    const snapshot = await site.read();
    expect(snapshot?.remarks).to.deep.equal([]);
    return snapshot!.events[0]!;
  };
  const keys = (events: SourceEvent[] = []) => events.map(({ key }) => key);

  describe('pages', () => {
    it('are read one after another, at most one a second', async () => {
      site.pages = [[event(1)], [event(2)], [event(3)]];
      expect(keys((await site.read())?.events)).to.deep.equal(['1', '2', '3']);
      const times = site.requests.map(({ atMs }) => atMs - site.requests[0]!.atMs);
      expect(times).to.deep.equal([0, 1000, 2000]);
    });

    it('are of fifty events, from half a year ago to in two years', async () => {
      site.address += '/';
      await site.read();
      const query = Object.fromEntries(site.requests[0]!.url.searchParams);
      expect(query).to.deep.equal({ page: '1', per_page: '50', start_date: '2026-06-01', end_date: '2028-11-01' });
      expect(site.requests[0]!.url.pathname).to.equal('/wp-json/tribe/events/v1/events');
    });

    it('are never at an address that a response names', async () => {
      site.respond = (page, response) => {
        const next = 'http://127.0.0.1:1/internal?page=2';
        response.end(JSON.stringify({ events: [event(page)], ...(page === 1 && { next_rest_url: next }) }));
        return true;
      };
      expect(keys((await site.read())?.events)).to.deep.equal(['1', '2']);
    });

    it('end with an empty one, whatever their number is said to be', async () => {
      site.respond = (page, response) => {
        response.end(JSON.stringify({ events: page === 1 ? [event(1)] : [], total: 1, next_rest_url: 'https://x' }));
        return true;
      };
      expect(keys((await site.read())?.events)).to.deep.equal(['1']);
      expect(site.requests).to.have.length(2);
    });

    it('go on after one without an id that can be served, as of a gateway whose first page has occurrences alone', async () => {
      const occurrence = (n: number) => event(1, { id: 2_000_000_000_000_000 + n });
      site.pages = [[event(1)], [occurrence(1), occurrence(2)], [event(2)]];
      expect(keys((await site.read())?.events)).to.deep.equal(['1', '2']);
    });

    it('end with one that repeats those before it: some caches ignore the number of the page', async () => {
      site.respond = (_page, response) => {
        const next = 'https://x/?page=2';
        response.end(JSON.stringify({ events: [event(1), event(2)], total: 9, next_rest_url: next }));
        return true;
      };
      const snapshot = await site.read();
      expect(keys(snapshot?.events)).to.deep.equal(['1', '2']);
      expect(site.requests).to.have.length(2);
      expect(snapshot?.isPartial).to.equal(true);
    });

    it('end with one that repeats those before it, also if some of its events cannot be served', async () => {
      site.respond = (_page, response) => {
        const events = [event(1), { ...event(2), status: 'draft' }];
        return !!response.end(JSON.stringify({ events, total: 9, next_rest_url: 'https://x/?page=2' }));
      };
      expect(keys((await site.read())?.events)).to.deep.equal(['1']);
      expect(site.requests).to.have.length(2);
    });

    it('beyond 10 MB are left out, with a line', async () => {
      const long = event(1, { filler: 'x'.repeat(3_500_000) });
      site.pages = [[long], [{ ...long, id: 2 }], [{ ...long, id: 3 }], [event(4)], [event(5)]];
      const snapshot = await site.read();
      expect(keys(snapshot?.events)).to.deep.equal(['1', '2', '3']);
      expect(snapshot?.remarks).to.deep.equal([
        { reason: 'beyond 10 MB or 20,000 events', count: 1, example: 'page 4' },
      ]);
      // Partial: an event of page 4 that was on page 3 yesterday would be shown for ever.
      expect(snapshot?.isPartial).to.equal(false);
    });

    it('end after 20,000 events, with a line', async () => {
      const pageOf = (page: number) => Array.from({ length: 5000 }, (_, i) => event(page * 5000 + i + 1));
      site.pages = [0, 1, 2, 3, 4].map(pageOf);
      const snapshot = await site.read();
      expect(snapshot?.events).to.have.length(MAX_SOURCE_EVENTS);
      expect(snapshot?.remarks.map(({ example }) => example)).to.deep.equal(['page 5']);
      expect(snapshot?.isPartial).to.equal(false);
    }).timeout(60_000);
  });

  describe('a list that changes while it is read', () => {
    // What such a snapshot lacks is not taken for deleted.
    it('is known by an event that came twice: one before it was added, and moved it to the next page', async () => {
      site.pages = [
        [event(2), event(3)],
        [event(3), event(4)],
      ];
      const snapshot = await site.read();
      expect(keys(snapshot?.events)).to.deep.equal(['2', '3', '4']);
      expect(snapshot?.isPartial).to.equal(true);
    });

    it('is not told by events without an id', async () => {
      const unnamed = event(1, { id: undefined });
      site.pages = [
        [event(2), unnamed, unnamed],
        [event(3), unnamed],
      ];
      const snapshot = await site.read();
      expect(keys(snapshot?.events)).to.deep.equal(['2', '3']);
      expect(snapshot?.isPartial).to.equal(false);
    });

    it('is one whose reading ends at a page without ids: events of later pages are not known to be gone', async () => {
      const unnamed = event(1, { id: undefined });
      site.pages = [[event(1), unnamed], [unnamed, unnamed], [event(2)]];
      const snapshot = await site.read();
      expect(keys(snapshot?.events)).to.deep.equal(['1']);
      expect(snapshot?.isPartial).to.equal(true);
    });

    it('is known by its total: a deleted event moves one to a page that was read', async () => {
      site.pages = [
        [event(1), event(2)],
        [event(3), event(4)],
      ];
      site.respond = (page) => {
        // Event 1 is deleted after the first page: event 3 is on that page now.
        if (page === 2) site.pages = [[event(2), event(3)], [event(4)]];
        return false;
      };
      const snapshot = await site.read();
      expect(keys(snapshot?.events)).to.deep.equal(['1', '2', '4']);
      expect(snapshot?.isPartial).to.equal(true);
      expect((await site.read())?.isPartial).to.equal(false);
    });

    it('has failed if its last page is gone', async () => {
      site.pages = [[event(1)], [event(2)]];
      site.respond = (page) => {
        if (page === 2) site.pages = [[event(2)]];
        return false;
      };
      expect(await refused()).to.equal('answered with status 404');
    });
  });

  describe('a source that did not change', () => {
    const withEtags = () => {
      site.respond = (page, response) => {
        const etag = `"page-${page}-${JSON.stringify(site.pages[page - 1])}"`;
        if (site.requests.at(-1)!.ifNoneMatch === etag) return !!response.writeHead(304).end();
        response.setHeader('etag', etag);
        return false;
      };
    };

    it('is asked for each page with its ETag', async () => {
      withEtags();
      site.pages = [[event(1)], [event(2)]];
      const first = await site.read();
      site.requests.length = 0;
      expect(await site.reader().read(first!.validators, signal())).to.equal(undefined);
      expect(site.requests.map(({ ifNoneMatch }) => ifNoneMatch?.slice(0, 7))).to.deep.equal(['"page-1', '"page-2']);
    });

    it('is read whole if one page changed', async () => {
      withEtags();
      site.pages = [[event(1)], [event(2)]];
      const first = await site.read();
      site.pages = [[event(1)], [event(2, { title: 'Moved' })]];
      const second = await site.reader().read(first!.validators, signal());
      expect(second?.events.map(({ title }) => title)).to.deep.equal(['Event 1', 'Moved']);
    });
  });

  describe('a source that fails', () => {
    const answer = (status: number, headers: Record<string, string> = {}, body = '') => {
      site.respond = (_page, response) => !!response.writeHead(status, headers).end(body);
    };

    it('says what is there instead', async () => {
      answer(200, {}, '<!doctype html><p>Hello');
      expect(await refused()).to.equal('a web page instead of JSON');
      answer(200, {}, '{"events":[{"id":1,');
      expect(await refused()).to.equal('broken JSON instead of JSON');
      answer(200, {}, '{"code":"rest_no_route"}');
      expect(await refused()).to.equal('JSON without a list of events');
      answer(404);
      expect(await refused()).to.equal('answered with status 404');
      answer(200, {}, ' '.repeat(4 * 1024 * 1024 + 1));
      expect(await refused()).to.equal('too large');
      answer(200, {}, `{"events":[${'{},'.repeat(60_000)}{}]}`);
      expect(await refused()).to.equal('too many values');
    });

    it('in a later page is not taken for a shorter list', async () => {
      site.pages = [[event(1)], [event(2)]];
      site.respond = (page, response) => page === 2 && !!response.writeHead(500).end();
      expect(await refused()).to.equal('answered with status 500');
    });

    it('in a private network is not asked', async () => {
      const reader = createEventsSource(site.address, { allowPrivate: false }, async () => undefined);
      const error = await reader.read(undefined, signal()).catch((thrown: Error) => thrown);
      expect(error).to.be.instanceOf(PublicRequestError).with.property('message', '127.0.0.1 is not a public host');
      expect(site.requests).to.deep.equal([]);
    });
  });

  describe('an event', () => {
    it('keeps the instant that its source means when a clock shows a time twice', async () => {
      const night = { start_date: '2026-11-01 01:30:00', end_date: '2026-11-01 03:00:00' };
      expect((await readOne({ ...night, utc_start_date: '2026-11-01 06:30:00' })).startUtc).to.equal(
        '2026-11-01 06:30:00',
      );
      expect((await readOne({ ...night, utc_start_date: '2026-11-01 05:30:00' })).startUtc).to.equal(
        '2026-11-01 05:30:00',
      );
      // No clock of New York shows 01:30 then.
      expect((await readOne({ ...night, utc_start_date: '2026-11-03 05:30:00' })).startUtc).to.equal(
        '2026-11-01 05:30:00',
      );
    });

    it('that lasts whole days lasts them from midnight, also if the days of the site begin at five', async () => {
      const days = { all_day: true, start_date: '2027-01-10 05:00:00', end_date: '2027-01-12 04:59:59' };
      const { start, end, startUtc, endUtc, allDay } = await readOne(days);
      expect({ start, end, startUtc, endUtc, allDay }).to.deep.equal({
        ...{ start: '2027-01-10 00:00:00', end: '2027-01-11 23:59:59', allDay: true },
        ...{ startUtc: '2027-01-10 05:00:00', endUtc: '2027-01-12 04:59:59' },
      });
    });

    it('has what another gateway adds', async () => {
      const state = { event_status: 'cancelled', event_status_reason: 'Storm', attendance_mode: 'mixed' };
      const sent: Record<PostKind, Record<string, unknown>> = {
        event: { ...state, online_url: 'https://meet.example/1' },
        venue: { geo_lat: 53.1, geo_lng: -6.2 },
        organizer: {},
      };
      // Additions of the API that no source has: custom fields are the other site's own.
      const notCopied = ['custom_fields'];
      const read = await readOne({
        ...sent.event,
        venue: { venue: 'Quay', ...sent.venue },
        organizer: { organizer: 'Ann', ...sent.organizer },
      });
      for (const [kind, record] of [
        ['event', read],
        ['venue', read.venue],
        ['organizer', read.organizers[0]],
      ] as const)
        for (const { name, property, addition } of BODY_PARAMETERS[kind])
          if (addition && !notCopied.includes(name)) {
            const isSent = name in sent[kind];
            expect(isSent, `does src/cms/sources/events-api.ts copy ${name}? Send it, or name it above`).to.equal(true);
            expect(record, 'copied by src/cms/sources/events-api.ts').to.have.property(property!, sent[kind][name]);
          }
    });

    it('says nothing of its state if its source does not', async () => {
      const { eventStatus, attendanceMode, cost, website, url, venue, image } = await readOne({
        image: false,
        venue: [],
      });
      expect({ eventStatus, attendanceMode, cost, website, url, venue, image }).to.deep.equal({
        ...{ eventStatus: '', attendanceMode: '', cost: '', website: '', url: '', venue: undefined, image: undefined },
      });
    });

    it('has no scripts', async () => {
      const { title, description, excerpt, website, url, image, categories, venue, organizers } = await readOne({
        title: 'A <script>alert(1)</script><b onclick="x()">B</b> &amp; <img src=x onerror=x()>',
        description: '<p onclick="x()">Hi <script>alert(1)</script><a href="javascript:x()">y</a></p>',
        excerpt: '<iframe src="https://e.example"></iframe>E',
        website: 'javascript:alert(1)',
        url: 'https://e.example/"><script>',
        image: { url: 'data:image/png;base64,AAAA', width: 1, height: 1 },
        categories: [{ name: '<img src=x onerror=x()>Music' }],
        venue: { venue: 'Hall <script>x</script>', address: '<b>1</b> A St', website: 'ftp://x' },
        organizer: [{ organizer: '<i>Ann</i>', website: 'vbscript:x' }],
      });
      expect(title).to.equal('A B &amp;');
      expect(description).to.equal('<p>Hi <a rel="nofollow noopener">y</a></p>');
      expect(excerpt).to.equal('E');
      expect(website).to.equal('');
      expect(url).to.equal('https://e.example/%22%3E%3Cscript%3E');
      expect(image).to.equal(undefined);
      expect(categories).to.deep.equal(['Music']);
      expect(venue).to.include({ name: 'Hall', address: '1 A St', website: '' });
      expect(organizers).to.deep.equal([{ name: 'Ann', phone: '', website: '' }]);
    });

    it('keeps an address as its source writes it, without the entities of the original', async () => {
      const { website } = await readOne({ website: 'https://e.example/?a=1&amp;b=2' });
      expect(website).to.equal('https://e.example/?a=1&b=2');
    });

    it('has its cost as text: the original escapes it', async () => {
      expect((await readOne({ cost: 'a &amp; b' })).cost).to.equal('a & b');
      expect((await readOne({ cost: 10 })).cost).to.equal('10');
    });

    it('has texts that SQLite and UTF-8 can hold', async () => {
      const { title, description } = await readOne({ title: 'A\0\u0007\ud800B', description: '<pre>a\n\tb\0c</pre>' });
      expect(title).to.equal('A\ufffdB');
      expect(description).to.equal('<pre>a\n\tbc</pre>');
    });

    it('has links as on its page', async () => {
      const { description } = await readOne({
        url: 'https://e.example/event/a/',
        description: '<a href="../b/">b</a>',
      });
      expect(description).to.equal('<a href="https://e.example/event/b/" rel="nofollow noopener">b</a>');
    });

    it('without a global id is named by its site and id', async () => {
      expect((await readOne({})).uid).to.equal('127.0.0.1?id=1');
    });

    it('has each category once, and a hundred at most', async () => {
      const categories = ['Music', 'R&amp;D', 'Music', ''].map((name) => ({ name }));
      expect((await readOne({ categories })).categories).to.deep.equal(['Music', 'R&amp;D']);
      const many = Array.from({ length: 1000 }, (_, i) => ({ name: `Tag ${i}` }));
      expect((await readOne({ tags: many })).tags).to.have.length(100);
    });

    it('has the province of a venue whose site only sends both in one', async () => {
      const venue = { venue: 'Halle', country: 'Austria', stateprovince: 'Tirol' };
      expect((await readOne({ venue })).venue).to.include({ province: 'Tirol', state: '' });
      expect((await readOne({ venue: { ...venue, state: 'T' } })).venue).to.include({ province: '', state: 'T' });
    });

    it('has the first venue that has a name, and the place of it', async () => {
      const { venue } = await readOne({
        venue: [[], { venue: [] }, { venue: 'Quay', geo_lat: '53.1', geo_lng: -6.2 }],
      });
      expect(venue).to.include({ name: 'Quay', latitude: 53.1, longitude: -6.2 });
    });

    it('has the coordinates of its venue if both are said, also on the equator and at Greenwich', async () => {
      const placeOf = async (fields: object) => {
        const { latitude, longitude } = (await readOne({ venue: { venue: 'Quay', ...fields } })).venue!;
        return [latitude, longitude];
      };
      expect(await placeOf({ geo_lat: 0, geo_lng: 9.45 })).to.deep.equal([0, 9.45]);
      expect(await placeOf({ geo_lat: '51.48', geo_lng: '0' })).to.deep.equal([51.48, 0]);
      for (const fields of [
        {},
        { geo_lat: 0, geo_lng: 0 },
        { geo_lat: 51.48 },
        { geo_lat: '', geo_lng: 9.45 },
        { geo_lat: 51.48, geo_lng: 'east' },
        { geo_lat: 91, geo_lng: 5 },
      ])
        expect(await placeOf(fields), JSON.stringify(fields)).to.deep.equal([null, null]);
    });
  });

  it('leaves out what is no event or has no valid times, with the reason, and serves the rest', async () => {
    const leaveOut: [unknown, string][] = [
      ['text', 'no id'],
      [null, 'no id'],
      [[event(1)], 'no id'],
      [event(1, { id: '__proto__' }), 'no id'],
      [event(1, { id: 2 ** 60 }), 'no id'],
      [event(2, { status: 'draft' }), 'not published'],
      [event(3, { all_day: null }), 'protected by a password'],
      [event(4, { start_date: '2027-02-30 10:00:00' }), 'no valid times'],
      [event(5, { start_date: { year: 2027 } }), 'no valid times'],
      [event(6, { end_date: '2027-01-09 10:00:00' }), 'no valid times'],
      [event(7, { timezone: 'Mars/Olympus' }), 'an unknown time zone'],
      [event(8, { timezone: '' }), 'an unknown time zone'],
    ];
    site.pages = [[event(20), ...leaveOut.map(([json]) => json), event(21)]];
    const snapshot = await site.read();
    expect(keys(snapshot?.events)).to.deep.equal(['20', '21']);
    const reasons = leaveOut.map(([, reason]) => reason);
    const counts = Object.fromEntries(snapshot!.remarks.map(({ reason, count }) => [reason, count]));
    for (const reason of new Set(reasons))
      expect(counts[reason], reason).to.equal(reasons.filter((one) => one === reason).length);
    expect(snapshot?.remarks.find(({ reason }) => reason === 'not published')?.example).to.equal('2');
  });

  it('serves an event whatever its other properties are', async () => {
    const names = ['title description excerpt cost website url image categories tags venue organizer global_id'];
    const properties = [
      ...names,
      'event_status attendance_mode online_url date_utc modified_utc utc_start_date end_date',
    ];
    const record = fc.dictionary(fc.constantFrom(...properties.join(' ').split(' '), '__proto__'), fc.jsonValue());
    await fc.assert(
      fc.asyncProperty(record, async (fields) => {
        const text = JSON.stringify({ ...event(1), ...fields, end_date: undefined });
        site.respond = (_page, response) => !!response.end(`{"events":[${text}],"total":1,"total_pages":1}`);
        const { events, remarks } = (await site.read())!;
        expect(remarks).to.deep.equal([]);
        const [served] = events;
        expect(served).to.include({ key: '1', start: '2027-01-10 10:00:00', end: '2027-01-10 10:00:00' });
        const texts = [served!.title, served!.cost, served!.website, served!.uid, ...served!.categories];
        for (const one of texts) expect(one).to.be.a('string').and.have.length.at.most(2000);
        expect(({} as Record<string, unknown>).id).to.equal(undefined);
      }),
      { numRuns: 60 },
    );
  });

  it('cuts texts of any length', async () => {
    const { title, description, uid } = await readOne({
      ...{ title: 'é'.repeat(300_000), description: `<p>${'word '.repeat(100_000)}`, global_id: 'x'.repeat(500_000) },
    });
    expect(title).to.have.length(2000);
    expect(description).to.have.length.within(49_000, 50_010);
    expect(uid).to.have.length(2000);
  });
});
